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


_STATE_WORDS = {"done": "done", "skipped": "passed on"}


def describe_row(value: Any) -> str:
    """A row of the list on two lines: the task; the kind of graph and its assumptions.

    ``value`` is a JSON list of task, kind, state and assumptions.
    """
    task, role, state, assumptions = json.loads(value)
    words = [role_word(role)]
    if state in _STATE_WORDS and role in ("annotation", "training"):
        words.append(say(_STATE_WORDS[state]))
    words += json.loads(assumptions or "[]")
    return f"{task}\n{' · '.join(words)}"


SOURCE = TableSource(
    "graph g",
    columns=(
        TableColumn(
            "task",
            "Task",
            "json_array(g.task, g.role, g.state, g.assumptions)",
            order="g.task COLLATE NOCASE",
            width=0,
            text=describe_row,
            tooltip=lambda row: describe_row(row["task"]),
        ),
    ),
    id="g.id",
    where="g.deleted = 0",
    search=("g.task", "g.assumptions"),
    kinds=("graph", "graph_step"),
)

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
