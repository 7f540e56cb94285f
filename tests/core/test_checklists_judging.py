"""Judging checklists by people, models, entailment and pools: verdicts, numbers, disagreements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from core.checklists import verbs
from core.checklists.asking import choose_each
from core.checklists.judging import (
    clear_verdict,
    judge_with_entailment,
    judge_with_model,
    record_verdict,
)
from core.checklists.scores import (
    Judge,
    count_close,
    find_disagreements,
    item_means,
    judges_of,
    keep_score,
    open_disagreements,
    sample_result,
    samples_of,
    task_score,
)
from core.checklists.spans import stands_in
from core.errors import WorkerDiedError
from core.ports import (
    Choice,
    Entailment,
    Message,
)
from core.storage.undo import undo
from core.types import Score
from core.types.rubrics import ChecklistEntry, Judgement, Verdict
from models.fake import FakeEntailment, FakeGenerator
from tests.core.checklists_case import Case, case

#: Fixtures, for the tests below.
__all__ = ["case"]


def test_a_persons_verdicts_give_the_numbers_worked_out_by_hand(case: Case) -> None:
    left, right = case.map_by_hand()
    case.do(record_verdict, left, right, case.items["Onset"].id, recall=True, precision=True)
    case.do(
        record_verdict,
        left,
        right,
        case.items["Drugs"].id,
        recall=False,
        precision=False,
        contradicted=True,
    )
    judge = Judge("person", case.person)
    (sample,) = samples_of(case.workspace, case.rubric, judge)
    assert {r.item.title: r.status for r in sample.items} == {
        "Onset": "right",
        "Drugs": "contradicted",
        "Plan": "missing",
        "Family": "added",
        "Doses": "not_applicable",
    }
    # Onset 1/1, Drugs 0/0, Plan 0/0, Family 0/0, Doses N/A on both sides 1/1.
    assert sample.score.value == pytest.approx(0.4)
    assert sample.score.components["accuracy"] == pytest.approx(0.4)
    assert sample.score.components["coverage"] == pytest.approx(2 / 3)
    assert sample.score.components["without_na"]["f1"] == pytest.approx(0.25)
    assert sample.score.components["unscored_items"] == 0


def test_an_item_nobody_judged_is_left_out_and_said(case: Case) -> None:
    left, right = case.map_by_hand()
    case.do(record_verdict, left, right, case.items["Onset"].id, recall=True, precision=True)
    (sample,) = samples_of(case.workspace, case.rubric, Judge("person", case.person))
    assert sample.score.components["unscored_items"] == 1
    assert sample.score.components["reasons"] == {"It has not been judged.": 1}
    assert sample.score.value == pytest.approx(0.5)
    case.do(clear_verdict, left, right, case.items["Onset"].id)
    (sample,) = samples_of(case.workspace, case.rubric, Judge("person", case.person))
    assert sample.score.components["unscored_items"] == 2


def test_a_condition_that_cannot_be_told_leaves_its_item_unscored(case: Case) -> None:
    reference = case.do(verbs.start_checklist, case.reference_target)
    output = case.do(verbs.start_checklist, case.output_target)
    sample = sample_result(case.workspace, reference, output, Judge("person", case.person))
    assert sample.score.value is None
    doses = next(r for r in sample.items if r.item.title == "Doses")
    assert "cannot be told" in doses.reason


@dataclass
class ScriptedJudge(FakeGenerator):
    """Says Yes when the words of B stand in A; dies where told to; counts its questions."""

    die_on: str = ""
    questions: int = 0

    def choose(self, messages: Sequence[Message], options: Sequence[str]) -> Choice:
        self.questions += 1
        text = messages[-1].content
        if self.die_on and f"Item: {self.die_on}" in text:
            raise WorkerDiedError("The worker ended.")
        a = text.split("Text A: ")[1].split("\n")[0].casefold()
        b = text.split("Text B: ")[1].split("\n")[0].casefold()
        return Choice((0.9, 0.1) if b in a else (0.2, 0.8), 1.0)


def test_a_model_judges_both_ways_with_probability_and_reason(case: Case) -> None:
    left, right = case.map_by_hand()
    judge = ScriptedJudge(answers=("The dose differs.",))
    made = judge_with_model(case.workspace, left, right, judge)
    assert (judge.questions, made.state) == (4, "done")
    verdicts = {v.item_id: v for v in case.workspace.find(Verdict)}
    onset, drugs = verdicts[case.items["Onset"].id], verdicts[case.items["Drugs"].id]
    assert (onset.recall, onset.recall_probability, onset.reason) == (1.0, 0.9, "")
    assert (drugs.recall, drugs.precision, drugs.contradicted) == (0.0, 0.0, True)
    assert "The dose differs." in drugs.reason
    assert "dose" in drugs.reason.split("Exact check: ")[1]
    judge_with_model(case.workspace, left, right, judge)
    assert judge.questions == 4


def test_a_judge_that_dies_at_one_item_leaves_it_unscored_and_a_retry_does_only_that(
    case: Case,
) -> None:
    left, right = case.map_by_hand()
    made = judge_with_model(
        case.workspace, left, right, ScriptedJudge(die_on="Drugs"), reasons="none"
    )
    assert made.state == "draft"
    (sample,) = samples_of(case.workspace, case.rubric, Judge("model", "fake-generator"))
    assert sample.score.components["reasons"] == {"The judge failed: The worker ended.": 1}
    assert sample.score.value == pytest.approx(0.5)
    again = ScriptedJudge()
    made = judge_with_model(case.workspace, left, right, again, reasons="none")
    assert (again.questions, made.state) == (2, "done")
    assert case.workspace.count(Verdict) == 2
    assert case.workspace.count(Judgement) == 1


def test_an_entailment_model_takes_the_weakest_sentence(case: Case) -> None:
    left, right = case.map_by_hand()
    judge_with_entailment(case.workspace, left, right, FakeEntailment())
    verdicts = {v.item_id: v for v in case.workspace.find(Verdict)}
    assert verdicts[case.items["Onset"].id].recall == 1.0
    assert verdicts[case.items["Drugs"].id].recall_probability == pytest.approx(0.75)


class Doubter(FakeEntailment):
    """Finds nothing entailed."""

    def entail(self, pairs: Sequence[tuple[str, str]], **_: Any) -> list[Entailment]:
        return [Entailment(0.1, 0.9, 0.0) for _ in pairs]


def test_the_same_words_are_contained_whatever_the_entailment_model_says(case: Case) -> None:
    left, right = case.map_by_hand()
    case.do(verbs.write_entry, left, case.items["Drugs"].id, "He takes 5 mg. He is married.")
    case.do(verbs.write_entry, right, case.items["Drugs"].id, "He is  married")
    judge_with_entailment(case.workspace, left, right, Doubter())
    verdict = next(v for v in case.workspace.find(Verdict) if v.item_id == case.items["Drugs"].id)
    assert (verdict.recall, verdict.precision) == (0.0, 1.0)
    assert not stands_in("He takes 15 mg.", "5 mg.")
    assert stands_in("He takes 5 mg.", "takes\n5 MG.")


def test_pools_disagreements_and_adjudication(case: Case) -> None:
    left, right = case.map_by_hand()
    onset, drugs = case.items["Onset"].id, case.items["Drugs"].id
    for item in (onset, drugs):
        case.do(record_verdict, left, right, item, recall=True, precision=False)
    judge_with_model(case.workspace, left, right, ScriptedJudge(), reasons="none")
    judge_with_entailment(case.workspace, left, right, FakeEntailment())
    assert [j.key.split(":")[0] for j in judges_of(case.workspace, case.rubric)] == [
        "person",
        "model",
        "nli",
        "pool",
        "pool",
    ]
    mean, majority = (
        samples_of(case.workspace, case.rubric, Judge("pool", pooling=pooling))[0]
        for pooling in ("mean", "majority")
    )
    # Of the two models: Onset 1 and 1; Drugs 0 and 1 both ways. The person is no part of the pool.
    found = {r.item.title: (r.recall, r.precision) for r in mean.items}
    assert (found["Onset"], found["Drugs"]) == ((1.0, 1.0), (0.5, 0.5))
    found = {r.item.title: (r.recall, r.precision) for r in majority.items}
    assert (found["Onset"], found["Drugs"]) == ((1.0, 1.0), (0.0, 0.0))
    assert count_close([mean, majority]) == 0
    assert [pair.item.title for pair, _ in find_disagreements(case.workspace, left, right)] == [
        "Onset",
        "Drugs",
    ]
    assert len(open_disagreements(case.workspace, case.rubric)) == 1
    for item in (onset, drugs):
        case.do(record_verdict, left, right, item, recall=True, precision=True, adjudicate=True)
    assert open_disagreements(case.workspace, case.rubric) == []
    settled = samples_of(case.workspace, case.rubric, Judge("pool"))[0]
    assert {r.item.title: r.recall for r in settled.items}["Drugs"] == 1.0


def test_task_numbers_have_errors_and_missing_outputs_count_as_nothing(case: Case) -> None:
    left, right = case.map_by_hand()
    for title in ("Onset", "Drugs"):
        case.do(record_verdict, left, right, case.items[title].id, recall=True, precision=True)
    judge = Judge("person", case.person)
    samples = samples_of(case.workspace, case.rubric, judge)
    one = task_score(samples, judge)
    assert one.value == pytest.approx(0.6)
    assert "errors" not in one.components
    with_missing = task_score(samples, judge, missing=1)
    assert with_missing.value == pytest.approx(0.3)
    assert with_missing.components["missing_outputs"] == 1
    assert with_missing.components["errors"]["f1"] > 0
    means = item_means(samples)
    assert means[case.items["Onset"].id][1].mean == 1.0
    score = case.do(keep_score, samples[0])
    assert case.workspace.get(Score, score.id).metric == "clear"
    assert f"judge:person:{case.person}" in score.signature


def test_choices_go_on_past_a_failure() -> None:
    questions = [(Message("user", f"Item: {name}\nText A: x\nText B: x"),) for name in "abc"]
    answers = choose_each(ScriptedJudge(die_on="b"), questions, [("Yes", "No")] * 3)
    assert [type(answer).__name__ for answer in answers] == ["Choice", "WorkerDiedError", "Choice"]


def test_a_deleted_checklist_takes_its_verdicts_along_and_undo_brings_all_back(
    case: Case, tmp_path: Path
) -> None:
    left, right = case.map_by_hand()
    case.do(record_verdict, left, right, case.items["Onset"].id, recall=True, precision=True)
    case.do(verbs.delete_checklist, right)
    assert case.workspace.count(Verdict) == 0
    assert case.workspace.count(ChecklistEntry, "checklist_id = ?", (right,)) == 0
    undo(case.workspace, case.person)
    assert case.workspace.count(Verdict) == 1
