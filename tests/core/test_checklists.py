"""Checklists: spans, mapping, judging, conditions, CLEAR's numbers, failures item by item."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from core.checklists import verbs
from core.checklists.asking import choose_each, is_refusal
from core.checklists.judging import (
    clear_verdict,
    judge_with_entailment,
    judge_with_model,
    record_verdict,
)
from core.checklists.mapping import (
    answer_grammar,
    group_items,
    map_with_model,
    read_group_answer,
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
from core.checklists.spans import find_span, find_spans, place_answer, stands_in
from core.checklists.verbs import Target
from core.errors import ConflictError, ModelError, UsageError, WorkerDiedError
from core.people import add_person
from core.ports import (
    Choice,
    Entailment,
    Generation,
    GenerationRequest,
    Message,
)
from core.rubrics.verbs import add_rubric, add_rubric_item, edit_rubric_item, rubric_items
from core.runs.verbs import add_imported_output, add_system
from core.storage import Transaction, Workspace
from core.storage.undo import undo
from core.types import Output, RubricItem, Run, Score
from core.types.rubrics import ChecklistEntry, Judgement, Verdict
from models.fake import FakeEntailment, FakeGenerator
from tests.factories import make_example, make_task

REFERENCE = "Onset: three days ago. Drugs: ramipril 5 mg daily. Plan: return in two weeks."
OUTPUT = "The cough began three days ago. He takes ramipril 10 mg daily. He is married."


@dataclass
class Case:
    """A rubric of five items with a reference and an output."""

    workspace: Workspace
    person: str
    rubric: str
    example: str
    output: str
    items: dict[str, RubricItem]

    @property
    def reference_target(self) -> Target:
        return Target(self.rubric, self.example)

    @property
    def output_target(self) -> Target:
        return Target(self.rubric, self.example, self.output)

    def do(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return self.workspace.transact("Do", self.person, verb, *args, **kwargs).value

    def map_by_hand(self) -> tuple[str, str]:
        """Both checklists, filled; ids."""
        left = self.do(verbs.start_checklist, self.reference_target).id
        right = self.do(verbs.start_checklist, self.output_target).id
        for title, text in (
            ("Onset", "three days ago"),
            ("Drugs", "ramipril 5 mg daily"),
            ("Plan", "return in two weeks"),
        ):
            self.do(verbs.write_entry, left, self.items[title].id, text)
        for title, text in (
            ("Onset", "three days ago"),
            ("Drugs", "ramipril 10 mg daily"),
            ("Family", "He is married"),
        ):
            self.do(verbs.write_entry, right, self.items[title].id, text)
        self.do(verbs.finish_checklist, left)
        self.do(verbs.finish_checklist, right)
        return left, right


@pytest.fixture
def case(workspace: Workspace) -> Case:
    def fill(tx: Transaction) -> Case:
        person = add_person(tx, "Ann").id
        task = make_task(tx)
        example = make_example(tx, task.id, REFERENCE)
        example = tx.update(type(example), example.id, output=(example.output[0],))
        rubric = add_rubric(tx, task.id, "Note")
        for title, condition in (
            ("Onset", ""),
            ("Drugs", ""),
            ("Plan", ""),
            ("Family", ""),
            ("Doses", '"Drugs" is absent'),
        ):
            add_rubric_item(tx, rubric.id, title, condition=condition, group="All")
        system = add_system(tx, "Imported")
        run = tx.insert(Run(id="run", system_id=system.id))
        output = add_imported_output(
            tx, run.id, example.id, OUTPUT, sections=(), missing=(), position=0
        )
        items = {item.title: item for item in rubric_items(tx, rubric.id)}
        return Case(workspace, person, rubric.id, example.id, output.id, items)

    return workspace.transact("Fill", "", fill).value


@dataclass
class ScriptedMapper(FakeGenerator):
    """Answers by item title: plain texts, or errors to raise. Groups get JSON of the same."""

    texts: dict[str, Any] = field(default_factory=dict)
    group_answer: str | None = None
    asked: list[str] = field(default_factory=list)

    def generate(self, request: GenerationRequest, **kwargs: Any) -> Generation:
        prompt = request.messages[-1].content
        if request.grammar is not None:
            self.asked.append("group")
            if self.group_answer is not None:
                return Generation(text=self.group_answer)
            lines = [
                line.split(". ", 1)[1].split(":")[0].split(" (")[0]
                for line in prompt.splitlines()
                if line[:1].isdigit()
            ]
            return Generation(
                text=json.dumps({str(n): self._say(t) for n, t in enumerate(lines, 1)})
            )
        title = prompt.rsplit("Item: ", 1)[1].split(" (")[0].split(":")[0].strip()
        self.asked.append(title)
        answer = self._say(title)
        if isinstance(answer, Generation):
            return answer
        return Generation(text=answer)

    def _say(self, title: str) -> Any:
        answer = self.texts.get(title, "N/A")
        if isinstance(answer, ModelError):
            raise answer
        return answer


# -- spans ---------------------------------------------------------------------------------


def test_a_span_is_found_in_other_case_and_line_breaks_and_in_code_points() -> None:
    text = "😀 He takes\nRamipril   5 mg, daily."
    span = find_span(text, "ramipril 5 mg")
    assert span is not None
    assert text[span.start : span.end] == "Ramipril   5 mg"


def test_a_span_of_nearly_the_same_words_covers_whole_words() -> None:
    text = "The patient takes five milligrams of ramipril every morning. Lungs are clear."
    span = find_span(text, "takes five milligrams of ramipril each morning")
    assert span is not None
    assert text[span.start : span.end].startswith("takes five")
    assert text[span.start - 1] == " "
    assert 0.8 <= span.likeness < 1


def test_what_is_not_in_the_text_has_no_span() -> None:
    assert find_spans("Lungs are clear.", "penicillin allergy since childhood") == []
    # Parts word for word, though the whole is nearly one stretch.
    text = "Carla Reyes, an aide, sued Evergreen Care, Inc. in March."
    found = find_spans(text, "Carla Reyes, an aide; Evergreen Care, Inc.")
    assert [text[s.start : s.end] for s in found] == [
        "Carla Reyes, an aide",
        "Evergreen Care, Inc",
    ]
    assert find_span("CURRENT MEDICATIONS: none", "Education.") is None
    assert find_span("", "x") is None
    assert find_span("x", " ") is None


def test_a_reworded_answer_is_traced_to_the_sentence_it_is_likest() -> None:
    text = "Mr White is a 58-year-old male. He takes lisinopril 20 mg a day. Lungs are clear."
    place = place_answer(text, "The patient is 58 years old; daily lisinopril of 20 mg.")
    found = [text[start:end] for start, end in place["check"]["spans"]]
    assert found == [
        "Mr White is a 58-year-old male.",
        "He takes lisinopril 20 mg a day.",
    ]
    assert place["check"]["near"]
    assert text[place["start"] : place["end"]] == found[0]
    assert "near" not in place_answer(text, "lisinopril 20 mg")["check"]
    assert place_answer(text, "chronic kidney disease")["start"] == -1


def test_parts_of_a_list_are_found_one_by_one() -> None:
    spans = find_spans(
        "Mother: diabetes. Uncle healthy. Father: gout.", "Mother: diabetes; Father: gout"
    )
    assert [(span.start, span.end) for span in spans] == [(0, 16), (33, 45)]


# -- mapping by a person -------------------------------------------------------------------


def test_a_selection_fills_an_item_and_keeps_its_place(case: Case) -> None:
    checklist = case.do(verbs.start_checklist, case.output_target)
    item = case.items["Drugs"].id
    start = OUTPUT.index("ramipril")
    case.do(verbs.fill_entry, checklist.id, item, start=start, end=start + 8)
    case.do(verbs.fill_entry, checklist.id, item, start=0, end=3, add=True)
    entry = verbs.entries_of(case.workspace, checklist.id)[item]
    assert entry.text == "The; ramipril"
    assert verbs.spans_of(entry) == [[0, 3], [start, start + 8]]
    undo(case.workspace, case.person)
    assert verbs.entries_of(case.workspace, checklist.id)[item].text == "ramipril"
    with pytest.raises(UsageError, match="No text is selected"):
        case.do(verbs.fill_entry, checklist.id, item, start=5, end=500)


def test_own_words_find_their_place_and_na_is_understood(case: Case) -> None:
    checklist = case.do(verbs.start_checklist, case.reference_target)
    entry = case.do(verbs.write_entry, checklist.id, case.items["Drugs"].id, "Ramipril 5 MG")
    text = verbs.text_of(case.workspace, case.reference_target)
    assert text[entry.start : entry.end] == "ramipril 5 mg"
    assert case.do(verbs.write_entry, checklist.id, case.items["Plan"].id, " n.a. ").state == "na"


def test_a_changed_text_starts_a_new_checklist(case: Case) -> None:
    first = case.do(verbs.start_checklist, case.output_target)
    assert case.do(verbs.start_checklist, case.output_target).id == first.id
    case.do(lambda tx: tx.update(Output, case.output, text="Another text."))
    assert verbs.is_stale(case.workspace, first)
    assert case.do(verbs.start_checklist, case.output_target).id != first.id


def test_an_output_without_text_is_refused_in_words(case: Case) -> None:
    case.do(lambda tx: tx.update(Output, case.output, state="failed", error="It broke."))
    with pytest.raises(ConflictError, match="It broke"):
        case.do(verbs.start_checklist, case.output_target)


# -- mapping by a model --------------------------------------------------------------------


def test_a_model_maps_groups_and_its_spans_are_found(case: Case) -> None:
    mapper = ScriptedMapper(texts={"Onset": "three days ago", "Drugs": "ramipril 10 mg daily"})
    checklist = map_with_model(case.workspace, case.output_target, mapper)
    entries = verbs.entries_of(case.workspace, checklist.id)
    drugs = entries[case.items["Drugs"].id]
    assert OUTPUT[drugs.start : drugs.end] == "ramipril 10 mg daily"
    assert entries[case.items["Plan"].id].state == "na"
    assert mapper.asked == ["group"]
    assert checklist.state == "done"
    assert checklist.signature["sha256"] == mapper.info.sha256


def test_each_failure_is_one_items_and_a_retry_asks_only_for_it(case: Case) -> None:
    mapper = ScriptedMapper(
        group_answer='{"1": "three days ago", "2": oops',
        texts={
            "Drugs": Generation(text="and on and on", finish="length"),
            "Plan": "",
            "Family": "I'm sorry, but as an AI language model I cannot read this.",
            "Doses": WorkerDiedError("The worker ended.", details="segfault\nlast words"),
        },
    )
    seen = []
    checklist = map_with_model(case.workspace, case.output_target, mapper, progress=seen.append)
    entries = verbs.entries_of(case.workspace, checklist.id)
    reasons = {title: entries[item.id].reason for title, item in case.items.items()}
    assert entries[case.items["Onset"].id].text == "three days ago"
    assert "did not end" in reasons["Drugs"]
    assert "nothing" in reasons["Plan"]
    assert "refused" in reasons["Family"]
    assert reasons["Doses"] == "The worker ended. (last words)"
    assert checklist.state == "draft"
    assert (seen[-1].done, seen[-1].total, seen[-1].failed) == (5, 5, 4)
    again = ScriptedMapper(texts={"Plan": "He is married"})
    checklist = map_with_model(case.workspace, case.output_target, again, grouped=False)
    assert again.asked == ["Drugs", "Plan", "Family", "Doses"]
    assert checklist.state == "done"
    assert verbs.entries_of(case.workspace, checklist.id)[case.items["Onset"].id].text == (
        "three days ago"
    )


def test_the_question_given_back_is_no_answer(case: Case) -> None:
    case.do(edit_rubric_item, case.items["Plan"].id, description="What is to be done next.")
    # In the group an item's words stand under another, and alone again: that item is unscored.
    mapper = ScriptedMapper(
        group_answer=json.dumps(
            {"1. Onset": "three days ago", "2": "Plan: What is to be done next.", "3": "onset"}
        ),
        texts={"Drugs": "ramipril 10 mg daily", "Plan": "What is to be done next"},
    )
    checklist = map_with_model(case.workspace, case.output_target, mapper)
    entries = verbs.entries_of(case.workspace, checklist.id)
    assert mapper.asked == ["group", "Drugs", "Plan", "Family", "Doses"]
    assert entries[case.items["Drugs"].id].text == "ramipril 10 mg daily"
    plan = entries[case.items["Plan"].id]
    assert (plan.state, plan.reason) == ("unscored", "The model repeated the question.")


def test_a_group_of_nothing_but_na_is_asked_again_item_by_item(case: Case) -> None:
    nothing = json.dumps({str(number): "N/A" for number in range(1, 6)})
    mapper = ScriptedMapper(group_answer=nothing, texts={"Drugs": "ramipril 10 mg daily"})
    checklist = map_with_model(case.workspace, case.output_target, mapper)
    states = [e.state for e in verbs.entries_of(case.workspace, checklist.id).values()]
    assert mapper.asked == ["group", "Onset", "Drugs", "Plan", "Family", "Doses"]
    assert (states.count("filled"), states.count("na")) == (1, 4)


def test_what_stands_nowhere_in_the_text_is_no_answer(case: Case) -> None:
    mapper = ScriptedMapper(
        texts={"Drugs": "metformin 850 mg twice", "Onset": "A cough that began three days back."}
    )
    checklist = map_with_model(case.workspace, case.output_target, mapper)
    entries = verbs.entries_of(case.workspace, checklist.id)
    drugs, onset = entries[case.items["Drugs"].id], entries[case.items["Onset"].id]
    assert drugs.state == "unscored"
    assert drugs.reason == (
        "What the model says stands nowhere in the text: 'metformin 850 mg twice'."
    )
    assert onset.state == "filled"
    assert OUTPUT[onset.start : onset.end] == "The cough began three days ago"
    # A person may take it all the same.
    case.do(verbs.write_entry, checklist.id, drugs.item_id, "metformin 850 mg twice")
    assert verbs.entries_of(case.workspace, checklist.id)[drugs.item_id].state == "filled"


def test_a_title_that_stands_in_the_text_is_an_answer(case: Case) -> None:
    case.do(edit_rubric_item, case.items["Family"].id, title="married")
    mapper = ScriptedMapper(texts={"married": "Married"})
    checklist = map_with_model(case.workspace, case.output_target, mapper)
    entry = verbs.entries_of(case.workspace, checklist.id)[case.items["Family"].id]
    assert (entry.state, OUTPUT[entry.start : entry.end]) == ("filled", "married")


def test_keys_of_a_group_say_what_is_asked() -> None:
    grammar = answer_grammar(["Age", 'The "real"\nreason'])
    assert r'"\"1. Age\":" ws value' in grammar
    assert "2. The 'real' reason" in grammar
    # Cut off in the second value, the first is read.
    assert read_group_answer('{"1. Age": "58", "2. The', 2) == {1: "58"}


def test_what_a_person_corrected_is_kept_and_marked(case: Case) -> None:
    checklist = map_with_model(case.workspace, case.output_target, ScriptedMapper())
    case.do(verbs.write_entry, checklist.id, case.items["Family"].id, "married")
    map_with_model(case.workspace, case.output_target, ScriptedMapper())
    entry = verbs.entries_of(case.workspace, checklist.id)[case.items["Family"].id]
    assert (entry.text, entry.edited) == ("married", True)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"1": "a", "2": "N/A"}', {1: "a", 2: "N/A"}),
        ('Sure! ```json\n{"1": ["a", "b"], "2": null}\n```', {1: "a; b", 2: "N/A"}),
        ('{"1": "a \\"q\\"", "2": "cut of', {1: 'a "q"'}),
        ('{"1. Onset": true, "7": "x", "2": 3}', {1: "Yes", 2: "3"}),
        ("no JSON at all", {}),
        ('{"1": "line\nbreak"}', {1: "line\nbreak"}),
    ],
)
def test_a_group_answer_is_read_as_far_as_it_goes(answer: str, expected: dict[int, str]) -> None:
    assert read_group_answer(answer, 2) == expected


def test_groups_are_never_too_large(case: Case) -> None:
    items = [case.items["Onset"]] * 20
    assert [len(group) for group in group_items(items)] == [8, 8, 4]


def test_refusals_are_told_from_findings() -> None:
    assert is_refusal("I'm sorry, I can't help with that.")
    assert not is_refusal("The patient cannot walk and is sorry about it.")


# -- judging -------------------------------------------------------------------------------


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
