"""Experiments: systems by prompts on the same examples, written down as a whole before anything is run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import ConflictError, UsageError
from core.ids import new_id
from core.runs.verbs import add_run, retry_failed
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.types import System
from core.types.evaluation import ContextPolicy, Experiment, ExperimentRun


@dataclass(frozen=True, slots=True)
class Cell:
    """One system with one prompt: its run, how far it is, and how many outputs failed."""

    run_id: str
    system: str
    prompt: str
    total: int
    done: int
    failed: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """How long an experiment may take, from what the same systems took so far.

    ``unknown`` names systems that have written nothing yet; they are taken to be as fast as the mean
    of the others.
    """

    outputs: int
    seconds: float | None
    unknown: tuple[str, ...]


def add_experiment(
    tx: Transaction,
    name: str,
    system_ids: Sequence[str],
    example_ids: Sequence[str],
    *,
    prompts: Sequence[str] = ("",),
    policy: ContextPolicy = "refuse",
    notes: str = "",
) -> Experiment:
    """Write down an experiment and a run for each system and prompt, one system after the other so
    that one model at a time is in memory.

    Parameters
    ----------
    prompts
        Names of prompts; '' for each system's own.
    """
    name = name.strip()
    if not name:
        raise UsageError("An experiment needs a name.", remedy="Say what it is to find out.")
    if tx.count(Experiment, "name = ? COLLATE NOCASE", (name,)):
        raise ConflictError(f"There is an experiment '{name}' already.", remedy="Rename it.")
    if not system_ids:
        raise UsageError("The experiment has no systems.", remedy="Choose one at least.")
    experiment = tx.insert(
        Experiment(
            id=new_id(), name=name, example_ids=tuple(example_ids), policy=policy, notes=notes
        )
    )
    position = 0
    for system_id in system_ids:
        for prompt in prompts or ("",):
            run = add_run(
                tx,
                system_id,
                example_ids,
                prompt=prompt,
                policy=policy,
                signature={"experiment": experiment.id},
            )
            tx.insert(
                ExperimentRun(
                    id=new_id(),
                    experiment_id=experiment.id,
                    run_id=run.id,
                    prompt=str(run.signature["prompt"]),
                    position=position,
                )
            )
            position += 1
    return experiment


def experiment_cells(reads: Reads, experiment_id: str) -> list[Cell]:
    """The matrix of an experiment, in the order in which it runs."""
    return [
        Cell(row["run_id"], row["name"], row["prompt"], row["total"], row["done"], row["failed"])
        for row in reads.query(
            "SELECT x.run_id, y.name, x.prompt, count(o.id) AS total,"
            " coalesce(sum(o.state = 'done'), 0) AS done,"
            " coalesce(sum(o.state = 'failed'), 0) AS failed FROM experiment_run x"
            " JOIN run r ON r.id = x.run_id JOIN system y ON y.id = r.system_id"
            " JOIN output o ON o.run_id = r.id AND o.deleted = 0"
            " WHERE x.experiment_id = ? AND x.deleted = 0 GROUP BY x.id ORDER BY x.position",
            (experiment_id,),
        )
    ]


def unfinished_runs(reads: Reads, experiment_id: str) -> list[str]:
    """Runs of an experiment that have something to write, in order."""
    return [
        cell.run_id
        for cell in experiment_cells(reads, experiment_id)
        if cell.done + cell.failed < cell.total
    ]


def retry_experiment(tx: Transaction, experiment_id: str) -> int:
    """Put every failed output of an experiment back to pending; returns how many."""
    runs = tx.find(ExperimentRun, "experiment_id = ?", (experiment_id,))
    return sum(retry_failed(tx, run.run_id) for run in runs)


def estimate_time(
    reads: Reads, system_ids: Sequence[str], examples: int, prompts: int = 1
) -> Estimate:
    """How long so many examples may take, before anything is started."""
    seconds: list[float] = []
    unknown = []
    for system_id in system_ids:
        mean = reads.value(
            "SELECT avg(o.seconds) FROM run r JOIN output o INDEXED BY output_run_facts"
            " ON o.run_id = r.id AND o.state = 'done' AND o.deleted = 0"
            " WHERE r.system_id = ? AND r.deleted = 0 AND o.seconds > 0",
            (system_id,),
        )
        if mean is None:
            unknown.append(reads.get(System, system_id).name)
        else:
            seconds.append(mean)
    outputs = examples * prompts * len(system_ids)
    if not seconds:
        return Estimate(outputs, None, tuple(unknown))
    mean = sum(seconds) / len(seconds)
    total = (sum(seconds) + mean * len(unknown)) * examples * prompts
    return Estimate(outputs, total, tuple(unknown))
