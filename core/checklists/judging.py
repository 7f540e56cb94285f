"""Judging: is the reference's content on an item contained in the output's, and the other way?

Judges are a person, a language model (the probability of Yes, and a reason), and an entailment model.
Each writes a `Judgement` with a `Verdict` an item; pools of them are formed when scores are computed
(`core.checklists.scores`). Items that have nothing on a side, or do not apply, are not asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core.checklists.asking import choose_each, describe_error, is_close
from core.checklists.pairs import ItemPair, judgement_of, pairs_to_judge, set_verdict
from core.checklists.spans import stands_in
from core.errors import ConflictError, ModelError
from core.ids import new_id
from core.nli.exact import check_exactly
from core.nli.support import THRESHOLD, find_support
from core.ports import (
    Cancellation,
    Choice,
    EntailmentModel,
    GenerationRequest,
    Progress,
    ProgressCallback,
    TextGenerator,
    no_progress,
)
from core.runs.prompts import prompt_hash, render_prompt
from core.runs.verbs import task_and_field
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.types import Example
from core.types.rubrics import Checklist, JudgeKind, Judgement, Verdict

JUDGE_PROMPT, REASON_PROMPT = "clear_judge", "clear_reason"
Reasons = Literal["none", "differences", "all"]

_OPTIONS = ("Yes", "No")
_REASON_TOKENS = 60
#: Exact differences that make one text contradict the other rather than say less.
_HARD = frozenset({"number", "unit", "date", "dose", "negation"})


@dataclass(frozen=True, slots=True)
class _Asked:
    """One direction of one item: is ``b`` contained in ``a``?"""

    pair: ItemPair
    side: Literal["recall", "precision"]

    @property
    def a(self) -> str:
        return self.pair.output if self.side == "recall" else self.pair.reference

    @property
    def b(self) -> str:
        return self.pair.reference if self.side == "recall" else self.pair.output


def start_judgement(
    tx: Transaction,
    reference_id: str,
    output_checklist_id: str,
    *,
    judge_kind: JudgeKind = "person",
    judge: str | None = None,
    signature: dict[str, Any] | None = None,
) -> Judgement:
    """The judge's comparison of two checklists of one rubric and example, made when there is none.

    Raises
    ------
    ConflictError
        When they are of different rubrics or examples.
    """
    name = tx.person if judge is None else judge
    found = judgement_of(tx, reference_id, output_checklist_id, judge_kind, name)
    if found is not None:
        return found
    reference, output = tx.get(Checklist, reference_id), tx.get(Checklist, output_checklist_id)
    same = (reference.rubric_id, reference.example_id) == (output.rubric_id, output.example_id)
    if not same or reference.output_id or not output.output_id:
        raise ConflictError(
            "These two checklists cannot be compared.",
            remedy="Take the reference's and an output's of the same rubric and example.",
        )
    return tx.insert(
        Judgement(
            id=new_id(),
            reference_id=reference_id,
            output_checklist_id=output_checklist_id,
            judge_kind=judge_kind,
            judge=name,
            signature=signature or {},
        )
    )


def record_verdict(
    tx: Transaction,
    reference_id: str,
    output_checklist_id: str,
    item_id: str,
    *,
    recall: bool,
    precision: bool,
    contradicted: bool = False,
    reason: str = "",
    adjudicate: bool = False,
) -> Verdict:
    """A person's verdict on one item; ``adjudicate`` settles what other judges disagree on."""
    kind: JudgeKind = "adjudication" if adjudicate else "person"
    judgement = start_judgement(tx, reference_id, output_checklist_id, judge_kind=kind)
    return set_verdict(
        tx,
        judgement.id,
        item_id,
        recall=float(recall),
        precision=float(precision),
        contradicted=contradicted and not (recall and precision),
        reason=reason.strip(),
        unscored="",
    )


def clear_verdict(
    tx: Transaction, reference_id: str, output_checklist_id: str, item_id: str
) -> None:
    """Take back one's own verdict on an item."""
    judgement = judgement_of(tx, reference_id, output_checklist_id, "person", tx.person)
    if judgement is not None:
        for verdict in tx.find(
            Verdict, "judgement_id = ? AND item_id = ?", (judgement.id, item_id)
        ):
            tx.delete(Verdict, verdict.id)


def judge_with_model(
    workspace: Workspace,
    reference_id: str,
    output_checklist_id: str,
    generator: TextGenerator,
    *,
    person: str = "",
    reasons: Reasons = "differences",
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> Judgement:
    """Let a language model judge what it has not judged yet.

    Parameters
    ----------
    reasons
        For which items the model also says why: those it does not find equal, all, or none.
    """
    info = generator.info
    signature = {
        "model": info.id,
        "sha256": info.sha256,
        "prompt": prompt_hash(JUDGE_PROMPT)[:12],
        "reason_prompt": prompt_hash(REASON_PROMPT)[:12],
        "temperature": 0,
        "version": 1,
    }
    judgement = _start(
        workspace, person, reference_id, output_checklist_id, "model", info.id, signature
    )
    pairs = pairs_to_judge(workspace, judgement)
    field = _field_of(workspace, judgement)
    asked = [_Asked(pair, side) for pair in pairs for side in ("recall", "precision")]
    questions = [
        render_prompt(JUDGE_PROMPT, {"field": field, "item": q.pair.item, "a": q.a, "b": q.b})
        for q in asked
    ]
    done = failed = 0
    progress(Progress(0, len(pairs)))

    def take(start: int, answers: Sequence[Choice | ModelError]) -> None:
        nonlocal done, failed
        # Chunks are of even length, so that both directions of an item come together.
        for place in range(0, len(answers), 2):
            pair = asked[start + place].pair
            fields = _from_choices(answers[place], answers[place + 1])
            _note_differences(pair, fields)
            if not fields["unscored"] and _wants_reason(reasons, fields):
                fields["reason"] = _ask_reason(generator, field, pair, fields, cancel)
            workspace.transact_job("Judge", person, _keep, judgement.id, pair.item.id, fields)
            done += 1
            failed += bool(fields["unscored"])
            progress(Progress(done, len(pairs), failed))

    choose_each(generator, questions, [_OPTIONS] * len(questions), cancel=cancel, on_answers=take)
    return _finish(workspace, person, judgement, failed)


def judge_with_entailment(
    workspace: Workspace,
    reference_id: str,
    output_checklist_id: str,
    model: EntailmentModel,
    *,
    person: str = "",
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> Judgement:
    """Let an entailment model judge what it has not judged yet.

    A text is contained in another when each of its sentences is entailed; the probability is that of
    the weakest. A sentence that stands in the other text word for word is contained, whatever the model
    says: small ones doubt long sentences that are the same on both sides.
    """
    info = model.info
    signature = {
        "model": info.id,
        "sha256": info.sha256,
        "threshold": THRESHOLD,
        "sentences": "weakest",
        "verbatim": True,
        "version": 2,
    }
    judgement = _start(
        workspace, person, reference_id, output_checklist_id, "nli", info.id, signature
    )
    pairs = pairs_to_judge(workspace, judgement)
    failed = 0
    progress(Progress(0, len(pairs)))
    for done, pair in enumerate(pairs, 1):
        if cancel is not None:
            cancel.raise_if_cancelled()
        try:
            recall = _entailed(model, pair.output, pair.reference, cancel)
            precision = _entailed(model, pair.reference, pair.output, cancel)
            fields = _fields(recall, precision)
            _note_differences(pair, fields)
        except ModelError as error:
            failed += 1
            fields = _unscored(describe_error(error))
        workspace.transact_job("Judge", person, _keep, judgement.id, pair.item.id, fields)
        progress(Progress(done, len(pairs), failed))
    return _finish(workspace, person, judgement, failed)


def _entailed(
    model: EntailmentModel, premise: str, hypothesis: str, cancel: Cancellation | None
) -> float:
    if stands_in(premise, hypothesis):
        return 1.0
    claims = find_support(hypothesis, premise, model, cancel=cancel)
    return min(
        (1.0 if stands_in(premise, claim.text) else claim.support for claim in claims), default=1.0
    )


def _from_choices(first: Choice | ModelError, second: Choice | ModelError) -> dict[str, Any]:
    for answer in (first, second):
        if isinstance(answer, ModelError):
            return _unscored(describe_error(answer))
    assert isinstance(first, Choice)
    assert isinstance(second, Choice)
    fields = _fields(first.probabilities[0], second.probabilities[0])
    if is_close(first) or is_close(second):
        fields["reason"] = "Close: Yes and No were nearly as likely."
    return fields


def _fields(recall: float, precision: float) -> dict[str, Any]:
    return {
        "recall": float(recall >= THRESHOLD),
        "precision": float(precision >= THRESHOLD),
        "recall_probability": round(recall, 6),
        "precision_probability": round(precision, 6),
        "contradicted": False,
        "reason": "",
        "unscored": "",
    }


def _unscored(reason: str) -> dict[str, Any]:
    return {
        "recall": None,
        "precision": None,
        "recall_probability": None,
        "precision_probability": None,
        "contradicted": False,
        "reason": "",
        "unscored": reason,
    }


def _note_differences(pair: ItemPair, fields: dict[str, Any]) -> None:
    """Where judged unlike, say which numbers, dates, doses or negations the output has otherwise."""
    if fields["unscored"] or (fields["recall"] and fields["precision"]):
        return
    hard = [d for d in check_exactly(pair.output, pair.reference) if d.kind in _HARD]
    if hard:
        fields["contradicted"] = True
        found = "; ".join(
            f"{d.kind} '{d.text}', the reference has '{d.evidence}'" for d in hard[:3]
        )
        fields["reason"] = " ".join(filter(None, (fields["reason"], f"Exact check: {found}.")))


def _wants_reason(reasons: Reasons, fields: dict[str, Any]) -> bool:
    if reasons == "all":
        return True
    return reasons == "differences" and not (fields["recall"] and fields["precision"])


def _ask_reason(
    generator: TextGenerator,
    field: str,
    pair: ItemPair,
    fields: dict[str, Any],
    cancel: Cancellation | None,
) -> str:
    """The model's sentence, behind what is known already; a failure leaves the verdict as it is."""
    words = {
        (True, True): "both say the same",
        (True, False): "the output contains the reference and says more",
        (False, True): "the output says less than the reference",
        (False, False): "neither contains the other",
    }[bool(fields["recall"]), bool(fields["precision"])]
    messages = render_prompt(
        REASON_PROMPT,
        {
            "field": field,
            "item": pair.item,
            "a": pair.reference,
            "b": pair.output,
            "verdict": words,
        },
    )
    try:
        answer = generator.generate(
            GenerationRequest(messages=messages, max_tokens=_REASON_TOKENS, temperature=0.0),
            cancel=cancel,
        )
    except ModelError:
        return str(fields["reason"])
    said = " ".join(answer.text.split())
    if answer.finish == "length" and said:
        said += " …"
    return " ".join(filter(None, (fields["reason"], said)))


def _start(
    workspace: Workspace,
    person: str,
    reference_id: str,
    output_checklist_id: str,
    kind: JudgeKind,
    judge: str,
    signature: dict[str, Any],
) -> Judgement:
    return workspace.transact_job(
        "Judge",
        person,
        start_judgement,
        reference_id,
        output_checklist_id,
        judge_kind=kind,
        judge=judge,
        signature=signature,
    ).value


def _keep(tx: Transaction, judgement_id: str, item_id: str, fields: dict[str, Any]) -> None:
    set_verdict(tx, judgement_id, item_id, **fields)


def _finish(workspace: Workspace, person: str, judgement: Judgement, failed: int) -> Judgement:
    def close(tx: Transaction) -> Judgement:
        return tx.update(Judgement, judgement.id, state="draft" if failed else "done")

    return workspace.transact_job("Judge", person, close).value


def _field_of(workspace: Workspace, judgement: Judgement) -> str:
    checklist = workspace.get(Checklist, judgement.reference_id)
    return task_and_field(workspace, workspace.get(Example, checklist.example_id))[1]
