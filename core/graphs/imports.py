"""Bringing graphs of a file into a workspace and out again, one transaction a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.errors import KnownError
from core.exchange.records import Skipped
from core.graphs.drafts import GraphDraft, write_draft
from core.graphs.formats import write_graphs
from core.graphs.model import load_graphs
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.types.graphs import GraphRole, TaskGraph


@dataclass(slots=True)
class GraphImport:
    """Ids of the graphs that came in; ``skipped`` are records left out, ``aside`` what was set aside."""

    file: str
    ids: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    aside: list[Skipped] = field(default_factory=list)

    @property
    def added(self) -> list[str]:
        """The ids again, under the name that other imports have."""
        return self.ids


def import_graphs(
    tx: Transaction,
    name: str,
    drafts: Sequence[GraphDraft],
    skipped: Iterable[Skipped] = (),
    *,
    role: GraphRole | None = None,
    split: str = "",
) -> GraphImport:
    """Write graphs read by `core.graphs.formats.read_graphs`.

    Parameters
    ----------
    role, split
        Of the graphs of which the file says neither; annotations without a split unless given.
    """
    report = GraphImport(name, skipped=list(skipped))
    for draft in drafts:
        fields: dict[str, object] = {}
        if role is not None and "role" not in draft.fields:
            fields["role"] = role
        if split and "split" not in draft.fields:
            fields["split"] = split
        try:
            report.ids.append(write_draft(tx, draft, **fields).id)
        except KnownError as error:
            report.skipped.append(Skipped(draft.line, str(error)))
            continue
        report.aside += [Skipped(draft.line, problem) for problem in draft.problems]
    report.skipped.sort(key=lambda entry: entry.line)
    return report


def export_graphs(
    reads: Reads, path: Path, format: str = "tasklama", ids: Sequence[str] | None = None
) -> int:
    """Write graphs to a file, all of them in the order they came unless ``ids`` are given."""
    chosen = [graph.id for graph in reads.find(TaskGraph)] if ids is None else list(ids)
    return write_graphs(load_graphs(reads, chosen), format, path)
