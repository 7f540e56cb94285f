"""The demo's content: fictional tasks, examples, a rubric and a graph, written for Rifugio."""

from __future__ import annotations

from core.exchange.imports import ImportReport, import_records, read_import
from core.graphs.samples import fill_graphs
from core.resources import resource_path
from core.storage.transaction import Transaction


def fill_demo(tx: Transaction) -> ImportReport:
    """Add the sample tasks, examples, rubric and graph to a new workspace."""
    total = ImportReport("samples")
    for kind in ("tasks", "examples", "rubrics"):
        path = resource_path("samples", f"{kind}.jsonl")
        report = import_records(tx, path.name, kind, read_import(path, kind)[0])
        for name, count in report.added.items():
            total.added[name] = total.added.get(name, 0) + count
        total.skipped += report.skipped
    graphs = fill_graphs(tx, most=1)
    total.added["graph"] = len(graphs.ids)
    total.skipped += graphs.skipped
    return total
