"""Checklists: mapping by a person and by a model, failures item by item."""

from __future__ import annotations

import json

import pytest

from core.checklists import verbs
from core.checklists.asking import is_refusal
from core.checklists.mapping import (
    answer_grammar,
    group_items,
    map_with_model,
    read_group_answer,
)
from core.errors import ConflictError, UsageError, WorkerDiedError
from core.ports import (
    Generation,
)
from core.rubrics.verbs import edit_rubric_item
from core.storage.undo import undo
from core.types import Output
from tests.core.checklists_case import OUTPUT, Case, ScriptedMapper, case

#: Fixtures, for the tests below.
__all__ = ["case"]


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
