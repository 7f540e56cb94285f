"""What the list of graphs shows, and what it can be narrowed to."""

from __future__ import annotations

import json
from typing import Any

from app.strings import say
from app.widgets.id_table import TableColumn, TableSource

ROLE_WORDS = {"gold": "Gold", "annotation": "Annotation", "training": "Training", "model": "Model"}


def role_word(value: Any) -> str:
    """What kind of graph it is, in a word."""
    return say(ROLE_WORDS.get(str(value), str(value)))


def _assumption_line(value: Any) -> str:
    """The assumptions, which are kept as JSON, on one line."""
    try:
        return "; ".join(json.loads(value or "[]"))
    except ValueError:
        return ""


SOURCE = TableSource(
    "graph g",
    columns=(
        TableColumn("task", "Task", "g.task", order="g.task COLLATE NOCASE", width=0,
                    tooltip=lambda row: f"{row['task']}\n{_assumption_line(row['assumption'])}"),
        TableColumn("role", "Kind", "g.role", order="g.role", width=8, text=role_word),
    ),
    id="g.id",
    where="g.deleted = 0",
    search=("g.task", "g.assumptions"),
    extra={"assumption": "g.assumptions"},
    kinds=("graph", "graph_step"),
)  # fmt: skip

#: What the list can be narrowed to: (name, words, SQL). ``?`` is the person at work.
_RESULT = "(g.role = 'model' AND json_extract(g.made, '$.job') IS NOT NULL)"
FILTERS = (
    ("all", "All graphs", f"NOT {_RESULT}"),
    (
        "mine",
        "To do for me",
        "g.state = 'open' AND g.role IN ('annotation', 'training') AND g.person_id IN (?, '')",
    ),
    ("gold", "Gold graphs", "g.role = 'gold'"),
    ("results", "Results of methods", _RESULT),
)
