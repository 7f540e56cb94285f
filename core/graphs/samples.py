"""Ten tasks of clinic, court, classroom and laboratory with gold graphs, written for Rifugio."""

from __future__ import annotations

from core.graphs.formats import read_graphs
from core.graphs.imports import GraphImport, import_graphs
from core.resources import resource_path
from core.storage.transaction import Transaction


def fill_graphs(tx: Transaction) -> GraphImport:
    """Add the sample graphs to a workspace."""
    path = resource_path("samples", "graphs.jsonl")
    drafts, skipped, _ = read_graphs(path)
    return import_graphs(tx, path.name, drafts, skipped)
