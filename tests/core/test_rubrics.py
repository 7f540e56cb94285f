"""Rubrics: items in order, conditions, splitting and merging, pasted lists, versions, reviews, the lock."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ConflictError, UsageError
from core.people import add_person
from core.rubrics import verbs, versions
from core.rubrics.conditions import (
    find_applicable,
    find_cycle,
    parse_condition,
    rename_in_condition,
)
from core.rubrics.drafts import ItemDraft, parse_pasted, split_suggestion
from core.rubrics.templates import rubric_templates, use_template
from core.storage import Workspace
from core.storage.undo import redo, undo, undoable
from core.types import Rubric, RubricItem, Task
from tests.factories import make_task


@pytest.fixture
def ann(workspace: Workspace) -> str:
    return workspace.transact("Add", "", add_person, "Ann").value.id


@pytest.fixture
def rubric(workspace: Workspace, ann: str) -> Rubric:
    def fill(tx):  # type: ignore[no-untyped-def]
        made = verbs.add_rubric(tx, make_task(tx).id, "Note")
        for title in ("A", "B", "C", "D"):
            verbs.add_rubric_item(tx, made.id, title, description=f"about {title}")
        return made

    return workspace.transact("Fill", ann, fill).value


def titles(workspace: Workspace, rubric: Rubric) -> str:
    return "".join(item.title for item in verbs.rubric_items(workspace, rubric.id))


def item(title: str, condition: str = "") -> RubricItem:
    return RubricItem(
        id=title.casefold(), rubric_id="r", position=0.0, title=title, condition=condition
    )


# -- conditions ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ('"Appeal" is "yes"', {"appeal": "Yes, in March."}, True),
        ('"Appeal" is yes', {"appeal": "yesterday"}, False),
        ('"Appeal" is not "yes"', {"appeal": "no"}, True),
        ('"Appeal"', {"appeal": "  "}, False),
        ('"Appeal" is present', {"appeal": None}, None),
        ('"Appeal" is absent', {"appeal": ""}, True),
        ('"A" and "B"', {"a": "", "b": None}, False),
        ('"A" and "B"', {"a": "x", "b": None}, None),
        ('"A" or "B"', {"a": "x", "b": None}, True),
        ('not ("A" or "B" contains "REVERSED")', {"a": "", "b": "It was reversed."}, False),
        ('"Number" >= 3', {"number": "about 1,200 people"}, True),
        ('"Number" < 3', {"number": "several"}, False),
        ("“Appeal” is present", {"appeal": "x"}, True),
        ('"A" or "B" and "C"', {"a": "x", "b": "", "c": ""}, True),
    ],
)
def test_a_formula_reckons_with_three_values(
    text: str, values: dict[str, str | None], expected: bool | None
) -> None:
    assert parse_condition(text).holds(values) is expected


def test_plain_words_are_a_question_that_nobody_answered() -> None:
    condition = parse_condition("only if the case was appealed")
    assert condition.is_question
    assert condition.holds({}) is None
    assert parse_condition("").holds({}) is True


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('"A" is', "7"),
        ('"A" "B"', "6"),
        ('("A"', "5"),
        ('"A', "1"),
        ('"A" > many', "7"),
        ('""', "2"),
    ],
)
def test_a_formula_that_cannot_be_read_says_where(text: str, place: str) -> None:
    with pytest.raises(UsageError, match=f"character {place}"):
        parse_condition(text)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    try:
        found = parse_condition(text).holds({"a": "x"})
    except UsageError:
        found = None
    assert found in (True, False, None)


def test_what_does_not_apply_says_nothing_to_later_conditions() -> None:
    items = [
        item("Settled"),
        item("Terms", '"Settled" is "yes"'),
        item("Dates", '"Terms" is present'),
        item("Monitor", "only if there was one"),
    ]
    values = {"settled": "no", "terms": "ten years", "dates": "2001", "monitor": "x"}
    assert find_applicable(items, values, {"monitor": False}) == {
        "settled": True,
        "terms": False,
        "dates": False,
        "monitor": False,
    }
    unknown = find_applicable(items, {**values, "settled": None}, {})
    assert unknown == {"settled": True, "terms": None, "dates": None, "monitor": True}


def test_circles_are_found_and_never_followed_for_ever() -> None:
    items = [item("A", '"B"'), item("B", '"C"'), item("C", '"A"'), item("D", '"A"')]
    assert set(find_cycle(items)) == {"A", "B", "C"}
    assert find_applicable(items, {"a": "x", "b": "x", "c": "x"}, {})["a"] is None


def test_renaming_touches_titles_and_not_values() -> None:
    text = '"Old" is "Old" and not "Old" contains "Old" or ("old")'
    expected = '"New" is "Old" and not "New" contains "Old" or ("New")'
    assert rename_in_condition(text, "old", "New") == expected
    assert rename_in_condition("only if old", "old", "New") == "only if old"


# -- items ---------------------------------------------------------------------------------


def test_items_move_and_undo_brings_each_place_back(
    workspace: Workspace, rubric: Rubric, ann: str
) -> None:
    items = verbs.rubric_items(workspace, rubric.id)
    workspace.transact("Move", ann, verbs.move_rubric_item, items[3].id, 0)
    assert titles(workspace, rubric) == "DABC"
    workspace.transact("Move", ann, verbs.move_rubric_item, items[0].id, 99)
    assert titles(workspace, rubric) == "DBCA"
    undo(workspace, ann)
    undo(workspace, ann)
    assert titles(workspace, rubric) == "ABCD"
    redo(workspace, ann)
    assert titles(workspace, rubric) == "DABC"


def test_a_place_can_be_halved_for_ever(workspace: Workspace, rubric: Rubric, ann: str) -> None:
    def swap(tx):  # type: ignore[no-untyped-def]
        for _ in range(200):
            second = verbs.rubric_items(tx, rubric.id)[2]
            verbs.move_rubric_item(tx, second.id, 1)

    workspace.transact("Move", ann, swap)
    assert titles(workspace, rubric) == "ABCD"
    positions = [found.position for found in verbs.rubric_items(workspace, rubric.id)]
    assert positions == sorted(set(positions))


def test_a_new_title_is_followed_by_conditions(
    workspace: Workspace, rubric: Rubric, ann: str
) -> None:
    first, second, *_ = verbs.rubric_items(workspace, rubric.id)
    workspace.transact("Edit", ann, verbs.edit_rubric_item, second.id, condition='"A" is present')
    workspace.transact("Edit", ann, verbs.edit_rubric_item, first.id, title='The "first"')
    assert workspace.get(RubricItem, second.id).condition == "\"The 'first'\" is present"


def test_a_condition_in_a_circle_is_refused_and_nothing_changes(
    workspace: Workspace, rubric: Rubric, ann: str
) -> None:
    first, second, *_ = verbs.rubric_items(workspace, rubric.id)
    workspace.transact("Edit", ann, verbs.edit_rubric_item, second.id, condition='"A"')
    with pytest.raises(UsageError, match="circle"):
        workspace.transact("Edit", ann, verbs.edit_rubric_item, first.id, condition='"B"')
    assert workspace.get(RubricItem, first.id).condition == ""


def test_split_and_merge_keep_what_belongs_and_undo_in_one_step(
    workspace: Workspace, rubric: Rubric, ann: str
) -> None:
    first, second, third, _ = verbs.rubric_items(workspace, rubric.id)
    workspace.transact("Tag", ann, verbs.tag_rubric_items, [first.id, second.id], [" law ", "law"])
    workspace.transact("Edit", ann, verbs.edit_rubric_item, third.id, condition='"B" is present')
    parts = [("B1", "one"), ("B2", "two"), ("B3", "three")]
    made = workspace.transact("Split", ann, verbs.split_rubric_item, second.id, parts).value
    assert titles(workspace, rubric) == "AB1B2B3CD"
    assert made[0].id == second.id
    assert [verbs.tags_of(part) for part in made] == [("law",)] * 3
    assert workspace.get(RubricItem, third.id).condition == '"B1" is present'
    ids = [part.id for part in made]
    merged = workspace.transact("Merge", ann, verbs.merge_rubric_items, ids, title="B").value
    assert titles(workspace, rubric) == "ABCD"
    assert merged.description == "one\ntwo\nthree"
    undo(workspace, ann)
    undo(workspace, ann)
    assert titles(workspace, rubric) == "ABCD"
    assert workspace.get(RubricItem, second.id).description == "about B"


def test_a_merged_item_does_not_depend_on_itself(
    workspace: Workspace, rubric: Rubric, ann: str
) -> None:
    first, second, third, _ = verbs.rubric_items(workspace, rubric.id)
    workspace.transact("Edit", ann, verbs.edit_rubric_item, first.id, condition='"B"')
    workspace.transact("Edit", ann, verbs.edit_rubric_item, third.id, condition='"B"')
    merged = workspace.transact("Merge", ann, verbs.merge_rubric_items, [second.id, first.id]).value
    assert (merged.id, merged.title, merged.condition) == (first.id, "A and B", "")
    assert workspace.get(RubricItem, third.id).condition == '"A and B"'


def test_an_item_may_count_for_one_example_only(
    workspace: Workspace, rubric: Rubric, ann: str
) -> None:
    first = verbs.rubric_items(workspace, rubric.id)[0]
    workspace.transact("Assign", ann, verbs.assign_rubric_item, first.id, "e1")
    assert len(verbs.items_for(workspace, rubric.id, "e1")) == 4
    assert len(verbs.items_for(workspace, rubric.id, "e2")) == 3


# -- pasting -------------------------------------------------------------------------------


def test_a_list_is_read_with_bullets_numbers_groups_and_descriptions() -> None:
    text = (
        "Subjective:\r\n"
        "1. Onset: when it began\n"
        "2) Duration – how long\n"
        "\n"
        "## Plan\n"
        "• Follow-up\n"
        "[ ] Drugs with dose\n"
        "A long line that is a description and no title, because it goes on and on until nobody"
        " would call it a title any more.\n"
    )
    drafts = parse_pasted(text)
    assert [(d.group, d.title, d.description) for d in drafts[:4]] == [
        ("Subjective", "Onset", "when it began"),
        ("Subjective", "Duration", "how long"),
        ("Plan", "Follow-up", ""),
        ("Plan", "Drugs with dose", ""),
    ]
    assert drafts[4].description.startswith("A long line")
    assert len(drafts[4].title) <= 60


def test_a_table_from_word_is_read_by_its_headings() -> None:
    text = (
        "Item\tWhat to look for\tType\tChoices\tOnly if\tWeight\n"
        'Appeal\t"Who appealed,\nand when"\tyes/no\t\t\t2\n'
        'Outcome\tHow it ended\t\twon; lost\t"""Appeal"" is ""yes"""\t\n'
        "\t\t\t\t\t\n"
    )
    appeal, outcome = parse_pasted(text)
    assert appeal == ItemDraft(
        title="Appeal", description="Who appealed,\nand when", kind="yes_no", weight=2.0
    )
    assert (outcome.kind, outcome.options) == ("one_of", ("won", "lost"))
    assert outcome.condition == '"Appeal" is "yes"'


def test_a_table_without_headings_is_title_description_example() -> None:
    (found,) = parse_pasted("Onset\tWhen it began\tthree days ago")
    assert (found.title, found.description, found.example) == (
        "Onset",
        "When it began",
        "three days ago",
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Title\tWeight\nA\theavy", "row 2"),
        ("Title\tKind\nA\tpicture", "kind 'picture'"),
        ("Title\tGroup\n\tx", "row 2 has no title"),
    ],
)
def test_a_bad_row_is_named(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parse_pasted(text)


def test_where_an_item_could_part() -> None:
    assert split_suggestion("Dose", "What dose? How often?") == [
        ("Dose", "What dose?"),
        ("How often", "How often?"),
    ]
    assert [title for title, _ in split_suggestion("Onset and duration", "")] == [
        "Onset",
        "Duration",
    ]
    assert split_suggestion("T", "one two", at=4) == [("T", "one"), ("Two", "two")]


# -- versions ------------------------------------------------------------------------------


def test_versions_tell_what_changed_and_come_back(
    workspace: Workspace, rubric: Rubric, ann: str
) -> None:
    first = workspace.transact("Save", ann, versions.save_version, rubric.id, "start").value
    _, b, c, d = verbs.rubric_items(workspace, rubric.id)
    workspace.transact("Edit", ann, verbs.edit_rubric_item, b.id, description="other")
    workspace.transact("Move", ann, verbs.move_rubric_item, d.id, 0)
    workspace.transact("Delete", ann, verbs.delete_rubric_item, c.id)
    workspace.transact("Add", ann, verbs.add_rubric_item, rubric.id, "E")
    second = workspace.transact("Save", ann, versions.save_version, rubric.id).value
    assert second.number == 2
    found = {
        (change.kind, change.title): change.fields
        for change in versions.compare_items(first.items, second.items)
    }
    assert found == {
        ("moved", "D"): {},
        ("changed", "B"): {"description": ("about B", "other")},
        ("added", "E"): {},
        ("removed", "C"): {},
    }
    with pytest.raises(ConflictError, match="Nothing has changed"):
        workspace.transact("Save", ann, versions.save_version, rubric.id)
    workspace.transact("Restore", ann, versions.restore_version, first.id)
    assert versions.current_items(workspace, rubric.id) == first.items
    assert verbs.rubric_items(workspace, rubric.id)[2].id == c.id
    undo(workspace, ann)
    assert versions.current_items(workspace, rubric.id) == second.items


def test_a_review_takes_a_second_expert_and_a_lock_holds(
    workspace: Workspace, rubric: Rubric, ann: str
) -> None:
    ben = workspace.transact("Add", "", add_person, "Ben").value.id
    workspace.transact("Ask", ann, versions.ask_review, rubric.id)
    with pytest.raises(ConflictError, match="second expert"):
        workspace.transact("Review", ann, versions.review_rubric, rubric.id, "approved")
    workspace.transact("Review", ben, versions.review_rubric, rubric.id, "changes", "Too long")
    assert workspace.get(Rubric, rubric.id).state == "draft"
    workspace.transact("Ask", ann, versions.ask_review, rubric.id)
    workspace.transact("Review", ben, versions.review_rubric, rubric.id, "approved")
    assert versions.is_reviewed(workspace, rubric.id)
    workspace.transact("Lock", ann, versions.lock_rubric, rubric.id)
    item_id = verbs.rubric_items(workspace, rubric.id)[0].id
    with pytest.raises(ConflictError, match="is locked"):
        workspace.transact("Edit", ann, verbs.edit_rubric_item, item_id, title="X")
    workspace.transact("Reopen", ann, versions.reopen_rubric, rubric.id)
    workspace.transact("Edit", ann, verbs.edit_rubric_item, item_id, title="X")
    assert not versions.is_reviewed(workspace, rubric.id)


def test_comments_are_kept_by_item_and_settled(
    workspace: Workspace, rubric: Rubric, ann: str
) -> None:
    first = verbs.rubric_items(workspace, rubric.id)[0]
    made = workspace.transact(
        "Comment", ann, versions.add_comment, rubric.id, " Why? ", item_id=first.id
    ).value
    workspace.transact("Settle", ann, versions.resolve_comment, made.id)
    (found,) = versions.comments_of(workspace, rubric.id)
    assert (found.text, found.item_id, found.state) == ("Why?", first.id, "resolved")


# -- templates -----------------------------------------------------------------------------


def test_the_eleven_templates_have_the_published_numbers_and_say_whose_they_are() -> None:
    found = {template.code: template for template in rubric_templates()}
    published = {
        "T1": 26,
        "T2": 41,
        "T3": 6,
        "T4": 7,
        "T5": 20,
        "T6": 29,
        "T7": 6,
        "T8": 5,
        "T11": 6,
    }
    assert list(found) == [f"T{number}" for number in range(1, 12)]
    assert {code: len(found[code].items) for code in published} == published
    ours = {code for code, template in found.items() if template.origin == "ours"}
    assert ours == {"T2", "T5", "T9", "T10"}
    assert "not yet reviewed by an expert" in found["T2"].label
    for template in found.values():
        assert template.source
        assert all(draft.description for draft in template.items)
        names = {draft.title.casefold() for draft in template.items}
        for draft in template.items:
            assert parse_condition(draft.condition).titles <= names


def test_a_template_brings_its_task_once(workspace: Workspace, ann: str) -> None:
    first = workspace.transact("Use", ann, use_template, "t6").value
    second = workspace.transact("Use", ann, use_template, "T6").value
    assert first.task_id == second.task_id
    assert workspace.count(RubricItem, "rubric_id = ?", (first.id,)) == 29
    assert workspace.get(Task, first.task_id).output_sections[1].title == "Objective: examination"
    assert "Adapted" in first.notes
    entry = undoable(workspace, ann)
    assert entry is not None and entry.label == "Use"
    undo(workspace, ann)
    assert workspace.count(Rubric) == 1
