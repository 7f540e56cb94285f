"""Ten tasks of clinic, court, classroom and laboratory with gold graphs, written for Rifugio."""

from __future__ import annotations

from core.graphs.formats import read_graphs
from core.graphs.imports import GraphImport, import_graphs
from core.resources import resource_path
from core.storage.transaction import Transaction
from core.types.graphs import TaskGraph


def fill_graphs(tx: Transaction, *, most: int | None = None) -> GraphImport:
    """Add the sample graphs to a workspace, or the first few; those it has already stay as they are."""
    path = resource_path("samples", "graphs.jsonl")
    drafts, skipped, _ = read_graphs(path)
    there = {(g.task, tuple(g.assumptions)) for g in tx.find(TaskGraph, "role = 'gold'")}
    fresh = [
        draft for draft in drafts[:most] if (draft.task, tuple(draft.assumptions)) not in there
    ]
    return import_graphs(tx, path.name, fresh, skipped)
