"""The list of runs: what stands in its columns, and where it comes from."""

from __future__ import annotations

from app.pages.runs.detail import state_word
from app.pages.runs.prompt_words import prompt_words
from app.strings import format_time
from app.widgets.id_table import TableColumn, TableSource

_COUNT = "(SELECT count(*) FROM output o WHERE o.run_id = r.id AND o.deleted = 0{more})"
_DONE = _COUNT.format(more=" AND o.state IN ('done', 'failed')")
_FAILED = _COUNT.format(more=" AND o.state = 'failed'")

# Runs of one system are told apart by the instruction, and within an experiment by the prompt.
_NAME = (
    "y.name || coalesce(' · ' || nullif(json_extract(r.signature, '$.instruction'), ''),"
    " CASE WHEN (SELECT count(DISTINCT x.prompt) FROM experiment_run x WHERE x.experiment_id ="
    " json_extract(r.signature, '$.experiment')) > 1"
    " THEN ' · ' || json_extract(r.signature, '$.prompt') END, '')"
)


def _run_name(value: object) -> str:
    """A system's name, and what tells its run apart in words."""
    name, mark, prompt = str(value).rpartition(" · ")
    return f"{name}{mark}{prompt_words(prompt)}"


RUNS = TableSource(
    "run r JOIN system y ON y.id = r.system_id LEFT JOIN job j ON j.id = r.job_id",
    columns=(
        TableColumn(
            "system", "System", _NAME, order="y.name COLLATE NOCASE", width=0, text=_run_name
        ),
        TableColumn(
            "started", "Started", "r.started", order="r.started", width=8, text=format_time
        ),
        TableColumn(
            "state", "State", "coalesce(j.state, '')", order="j.state", width=9, text=state_word
        ),
        TableColumn(
            "done",
            "Written",
            f"{_DONE} || ' / ' || {_COUNT.format(more='')}",
            order=_DONE,
            width=7,
            right=True,
        ),
        TableColumn(
            "failed", "Failed", f"nullif({_FAILED}, 0)", order=_FAILED, width=5, right=True
        ),
    ),
    id="r.id",
    where="r.deleted = 0",
    search=("y.name",),
    kinds=("run", "system", "job", "output"),
)
