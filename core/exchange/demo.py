"""The demo's content: fictional tasks, examples, a rubric, a graph and outputs, written for Rifugio."""

from __future__ import annotations

from core.exchange.imports import ImportReport, import_records, read_import
from core.graphs.samples import fill_graphs
from core.resources import resource_path
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.types import Run


def fill_demo(tx: Transaction) -> ImportReport:
    """Add the sample tasks, examples, rubric and graph to a new workspace."""
    total = ImportReport("samples")
    for kind in ("tasks", "examples", "rubrics"):
        _add(_import(tx, kind), total)
    graphs = fill_graphs(tx, most=1)
    total.added["graph"] = len(graphs.ids)
    total.skipped += graphs.skipped
    return total


def fill_outputs(workspace: Workspace, person_id: str) -> ImportReport:
    """Add what two invented systems wrote for the sample examples, scored by the quick metrics.

    So there is something to review and to compare before a model is there. One of the two is terse and
    leaves things out, the other reads well and is wrong in places.
    """
    from core.metrics.registry import create
    from core.runs.scoring import DEFAULT_METRICS, score_run

    report = workspace.transact_job("Fill the demo", person_id, _import, "outputs").value
    metrics = {name: create(name) for name in DEFAULT_METRICS}
    for run in workspace.find(Run):
        score_run(workspace, run.id, metrics)
    return report


def _import(tx: Transaction, kind: str) -> ImportReport:
    path = resource_path("samples", f"{kind}.jsonl")
    return import_records(tx, path.name, kind, read_import(path, kind)[0])


def _add(report: ImportReport, total: ImportReport) -> None:
    for name, count in report.added.items():
        total.added[name] = total.added.get(name, 0) + count
    total.skipped += report.skipped
