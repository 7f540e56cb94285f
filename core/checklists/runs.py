"""Mapping and judging many texts as one job: a row that says how far it is, resumed by running it again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from core.checklists.judging import Reasons, judge_with_entailment, judge_with_model
from core.checklists.mapping import map_with_model
from core.checklists.scores import Judge, keep_score, sample_result
from core.checklists.verbs import Target, checklists_of, find_checklist
from core.errors import Cancelled, ConflictError, KnownError, NotFoundError, UsageError
from core.jobs import JobClock, add_job
from core.ports import (
    Cancellation,
    EntailmentModel,
    Progress,
    ProgressCallback,
    TextGenerator,
    no_progress,
)
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.types import Job, Rubric
from core.types.rubrics import Checklist, Judgement

JudgeBy = Literal["none", "model", "nli"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be done with which texts. ``outputs`` are (example id, output id), '' for none."""

    rubric_id: str
    outputs: tuple[tuple[str, str], ...]
    map_references: bool = True
    map_outputs: bool = True
    judge: JudgeBy = "model"
    reasons: Reasons = "differences"


def plan_outputs(
    reads: Reads, rubric_id: str, *, run_id: str = "", example_id: str = ""
) -> tuple[tuple[str, str], ...]:
    """Outputs of a rubric's task, of one run or example where given; an example without any stands alone."""
    where = "e.task_id = ? AND e.deleted = 0"
    parameters = [reads.get(Rubric, rubric_id).task_id]
    if example_id:
        where += " AND e.id = ?"
        parameters.append(example_id)
    join = "LEFT JOIN output o ON o.example_id = e.id AND o.deleted = 0 AND o.state = 'done'"
    if run_id:
        where += " AND o.run_id = ?"
        parameters.append(run_id)
    rows = reads.query(
        f"SELECT e.id AS example, o.id AS output FROM example e {join} WHERE {where}"
        " ORDER BY e.id, o.id",
        parameters,
    )
    return tuple((row["example"], row["output"] or "") for row in rows)


def missing_outputs(reads: Reads, rubric_id: str, run_id: str) -> int:
    """Outputs of a run that were never written; CLEAR counts them as 0."""
    return int(
        reads.value(
            "SELECT count(*) FROM output o JOIN example e ON e.id = o.example_id"
            " JOIN rubric r ON r.task_id = e.task_id"
            " WHERE r.id = ? AND o.run_id = ? AND o.state = 'failed' AND o.deleted = 0",
            (rubric_id, run_id),
        )
    )


def run_plan(
    workspace: Workspace,
    plan: Plan,
    *,
    generator: Callable[[], TextGenerator] | None = None,
    entailment: Callable[[], EntailmentModel] | None = None,
    person: str = "",
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> Job:
    """Map and judge; texts done before are passed over, an item that failed before is tried again.

    A text that cannot be mapped (no reference, not written) counts as failed with its reason in the
    job's message, and the rest goes on.

    Parameters
    ----------
    generator, entailment
        Give the models when they are first needed.
    """
    if not plan.outputs:
        raise UsageError(
            "There is no text to map.", remedy="Import examples or run a system first."
        )
    rubric = workspace.get(Rubric, plan.rubric_id)
    job = workspace.transact_job(
        "Checklists", person, _add_plan_job, f"Checklists: {rubric.title}", plan
    ).value
    clock = JobClock(workspace, job)
    runner = _Runner(workspace, plan, generator, entailment, person, cancel)
    done = failed = 0
    reasons: list[str] = []
    try:
        for example_id, output_id in plan.outputs:
            progress(Progress(done, len(plan.outputs), failed))
            if cancel is not None:
                cancel.raise_if_cancelled()
            try:
                unscored = runner.do(example_id, output_id)
            except Cancelled:
                raise
            except (ConflictError, NotFoundError) as error:
                failed += 1
                reasons.append(error.message)
            else:
                if unscored:
                    failed += 1
                    reasons.append(f"{unscored} items are unscored")
            done += 1
            workspace.transact_job(job.label, person, _count, clock, done, failed)
        progress(Progress(done, len(plan.outputs), failed))
    except Cancelled:
        return clock.finish("cancelled", "Stopped; what was done is kept.")
    except KnownError as error:
        clock.finish("failed", str(error))
        raise
    most = f" {reasons[0]}." if reasons else ""
    return clock.finish("done", f"{failed} of {done} are incomplete.{most}" if failed else "")


class _Runner:
    """One plan under way."""

    def __init__(
        self,
        workspace: Workspace,
        plan: Plan,
        generator: Callable[[], TextGenerator] | None,
        entailment: Callable[[], EntailmentModel] | None,
        person: str,
        cancel: Cancellation | None,
    ) -> None:
        self._workspace = workspace
        self._plan = plan
        self._make_generator = generator
        self._make_entailment = entailment
        self._generator: TextGenerator | None = None
        self._entailment: EntailmentModel | None = None
        self._person = person
        self._cancel = cancel

    def do(self, example_id: str, output_id: str) -> int:
        """Map and judge one text; returns how many of its items stay unscored."""
        reference = self._map(Target(self._plan.rubric_id, example_id), self._plan.map_references)
        if not output_id:
            return 0
        output = self._map(
            Target(self._plan.rubric_id, example_id, output_id), self._plan.map_outputs
        )
        if self._plan.judge == "none" or reference is None or output is None:
            return 0
        judgement = self._judge(reference, output)
        sample = sample_result(
            self._workspace, reference, output, Judge(judgement.judge_kind, judgement.judge)
        )
        self._workspace.transact_job("Score", self._person, keep_score, sample)
        return int(sample.score.components.get("unscored_items", 0))

    def _map(self, target: Target, wanted: bool) -> Checklist | None:
        """A finished checklist of a target: a person's where there is one, else the model's."""
        done = [c for c in checklists_of(self._workspace, target) if c.state == "done"]
        if not wanted:
            return done[0] if done else None
        generator = self._need_generator()
        own = find_checklist(self._workspace, target, "model", generator.info.id)
        if own is None or own.state != "done":
            own = map_with_model(
                self._workspace, target, generator, person=self._person, cancel=self._cancel
            )
        by_hand = [c for c in done if c.mapper_kind != "model"]
        return by_hand[0] if by_hand and not target.output_id else own

    def _judge(self, reference: Checklist, output: Checklist) -> Judgement:
        if self._plan.judge == "nli":
            if self._entailment is None and self._make_entailment is not None:
                self._entailment = self._make_entailment()
            assert self._entailment is not None
            return judge_with_entailment(
                self._workspace,
                reference.id,
                output.id,
                self._entailment,
                person=self._person,
                cancel=self._cancel,
            )
        return judge_with_model(
            self._workspace,
            reference.id,
            output.id,
            self._need_generator(),
            person=self._person,
            reasons=self._plan.reasons,
            cancel=self._cancel,
        )

    def _need_generator(self) -> TextGenerator:
        if self._generator is None:
            assert self._make_generator is not None
            self._generator = self._make_generator()
        return self._generator


def _add_plan_job(tx: Transaction, label: str, plan: Plan) -> Job:
    spec = {"rubric": plan.rubric_id, "judge": plan.judge, "reasons": plan.reasons}
    return add_job(tx, "checklists", label, total=len(plan.outputs), spec=spec)


def _count(tx: Transaction, clock: JobClock, done: int, failed: int) -> None:
    clock.set(tx, state="running", done=done, failed=failed)
