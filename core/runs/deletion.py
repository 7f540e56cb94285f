"""Deleting a run with all that rests on its outputs; undo brings all of it back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.errors import ConflictError
from core.storage.kinds import KINDS
from core.storage.reads import Reads
from core.storage.references import AMONG, References, pack_ids
from core.storage.transaction import Transaction
from core.types import Run
from core.types.evaluation import Experiment

#: What people wrote or decided about outputs, as opposed to what programs reckoned.
_OF_PEOPLE = ("rating", "preference", "adjudication", "output_tag", "rubric_tick")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContents:
    """What goes with a run: ``judgements`` are those of people, ``scores`` those of programs."""

    outputs: int
    judgements: int
    scores: int
    checklists: int


def contents_of(reads: Reads, run_id: str) -> RunContents:
    """Count what deleting a run takes along."""
    return _count(_find_hanging(reads, run_id))


def delete_run(tx: Transaction, run_id: str) -> RunContents:
    """Delete a run with its outputs, their scores, and everything people said of them.

    Its system and its examples stay. An experiment goes with the last of its runs.

    Raises
    ------
    ConflictError
        While the run is being written, scored or judged.
    """
    tx.get(Run, run_id)
    busy = tx.query("SELECT kind FROM job WHERE state = 'running' AND instr(spec, ?)", (run_id,))
    if busy:
        raise ConflictError(
            "The run is still at work.", remedy="Stop it first, or wait until it is done."
        )
    found = _find_hanging(tx, run_id)
    experiments = {
        row["experiment_id"]
        for row in tx.query(
            "SELECT experiment_id FROM experiment_run WHERE run_id = ? AND deleted = 0", (run_id,)
        )
    }
    for kind, ids in found.items():
        for row in ids:
            tx.delete(KINDS[kind].type, row)
    tx.delete(Run, run_id)
    for experiment in experiments:
        left = "SELECT count(*) FROM experiment_run WHERE experiment_id = ? AND deleted = 0"
        if not tx.value(left, (experiment,)):
            tx.delete(Experiment, experiment)
    return _count(found)


def _count(found: Mapping[str, Sequence[str]]) -> RunContents:
    def count(*kinds: str) -> int:
        return sum(len(found.get(kind, ())) for kind in kinds)

    return RunContents(
        outputs=count("output"),
        judgements=count(*_OF_PEOPLE),
        scores=count("score", "run_score", "judge_answer"),
        checklists=count("checklist"),
    )


def _find_hanging(reads: Reads, run_id: str) -> dict[str, list[str]]:
    """Ids of what goes with a run, by kind."""
    references = References(reads)
    found = references.hanging("run", [run_id])
    # A checklist names its output without a foreign key, for it may have none.
    checklists = reads.query(
        f"SELECT id FROM checklist WHERE deleted = 0 AND output_id IN {AMONG}",
        (pack_ids(found.get("output", ())),),
    )
    if checklists:
        ids = [row["id"] for row in checklists]
        for kind, rows in {**references.hanging("checklist", ids), "checklist": ids}.items():
            found[kind] = list(dict.fromkeys([*found.get(kind, ()), *rows]))
    return found
