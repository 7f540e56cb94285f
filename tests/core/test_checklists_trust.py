"""Trust in judges, checks of checklists, tags, lengths, mappers, plans, the pair of runs, the linter."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest

from core.checklists import verbs
from core.checklists.analyses import (
    bin_lengths,
    results_by_skill,
    results_by_tag,
    start_rubric_pair,
)
from core.checklists.checks import check_and_keep, check_coverage
from core.checklists.judging import judge_with_entailment, record_verdict
from core.checklists.mappers import compare_mappers, shared_words
from core.checklists.mapping import answer_grammar
from core.checklists.runs import Plan, missing_outputs, plan_outputs, run_plan
from core.checklists.scores import Judge, samples_of
from core.checklists.skills import SKILLS, read_skills, set_skills, skills_of, tag_with_model
from core.checklists.trust import (
    compare_judges,
    coverage_points,
    difficulty_points,
    draw_sample,
    main_expert,
    sample_of,
    trust_table,
)
from core.checklists.verbs import Target
from core.errors import ConflictError, MissingModelError, UsageError
from core.people import add_person
from core.ports import Cancellation, Choice, Generation, GenerationRequest, Message
from core.rubrics.linter import lint_items
from core.rubrics.suggestions import (
    compare_with_expert,
    dismiss_suggestion,
    keep_suggestions,
    read_suggestions,
    suggest_items,
    suggestions_of,
    take_suggestion,
)
from core.rubrics.verbs import add_rubric, add_rubric_item, rubric_items, tag_rubric_items
from core.runs.engine import execute_run
from core.runs.verbs import add_imported_output, add_system
from core.storage import Transaction, Workspace
from core.types import Example, Job, Output, RubricItem, Run, Score, System
from models.fake import FakeEmbedder, FakeEntailment, FakeGenerator
from tests.factories import make_example, make_task

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]


@pytest.fixture
def ann(workspace: Workspace) -> str:
    return workspace.transact("Add", "", add_person, "Ann").value.id


@pytest.fixture
def filled(workspace: Workspace, ann: str) -> str:
    """A rubric of ten items on six examples, all mapped alike by Ann; its id."""

    def fill(tx: Transaction) -> str:
        task = make_task(tx)
        rubric = add_rubric(tx, task.id, "Ten")
        for number, word in enumerate(WORDS):
            add_rubric_item(tx, rubric.id, word.title(), group="even" if number % 2 else "odd")
        run = tx.insert(Run(id="run", system_id=add_system(tx, "Imported").id))
        text = ". ".join(WORDS) + "."
        for number in range(6):
            example = make_example(tx, task.id, f"Case {number}. {text}")
            output = add_imported_output(
                tx, run.id, example.id, text, sections=(), missing=(), position=number
            )
            for output_id in ("", output.id):
                checklist = verbs.start_checklist(tx, Target(rubric.id, example.id, output_id))
                for item, word in zip(rubric_items(tx, rubric.id), WORDS, strict=True):
                    verbs.write_entry(tx, checklist.id, item.id, word)
                verbs.finish_checklist(tx, checklist.id)
        return rubric.id

    return workspace.transact("Fill", ann, fill).value


def judge_by_hand(workspace: Workspace, person: str, rubric_id: str, wrong: int) -> None:
    """Ann's verdicts: every ``wrong``th item is not the same."""
    items = rubric_items(workspace, rubric_id)
    for example in workspace.find(Example):
        (output,) = workspace.find(Output, "example_id = ?", (example.id,))
        left = verbs.checklists_of(workspace, Target(rubric_id, example.id))[0]
        right = verbs.checklists_of(workspace, Target(rubric_id, example.id, output.id))[0]
        for number, item in enumerate(items):
            same = number % wrong != 0
            workspace.transact(
                "Judge", person, record_verdict, left.id, right.id, item.id,
                recall=same, precision=True,
            )  # fmt: skip


# -- trust ---------------------------------------------------------------------------------


def test_a_judge_nobody_checked_is_said_to_be_so(workspace: Workspace, filled: str) -> None:
    judge_all_by_entailment(workspace, filled)
    (row,) = trust_table(workspace, filled)
    assert (row.belief, row.kappa) == ("unchecked", None)
    assert "Nobody has checked" in row.words
    assert difficulty_points(workspace) == []


def judge_all_by_entailment(workspace: Workspace, rubric_id: str) -> None:
    for example in workspace.find(Example):
        (output,) = workspace.find(Output, "example_id = ?", (example.id,))
        left = verbs.checklists_of(workspace, Target(rubric_id, example.id))[0]
        right = verbs.checklists_of(workspace, Target(rubric_id, example.id, output.id))[0]
        judge_with_entailment(workspace, left.id, right.id, FakeEntailment())


def test_a_judge_is_measured_against_the_expert(
    workspace: Workspace, ann: str, filled: str
) -> None:
    judge_all_by_entailment(workspace, filled)
    judge_by_hand(workspace, ann, filled, wrong=2)
    expert = main_expert(workspace, filled)
    assert expert == Judge("person", ann)
    rows = {row.judge.kind: row for row in trust_table(workspace, filled)}
    # The entailment judge finds everything equal: half of Ann's recall verdicts are No, none of precision.
    row = rows["nli"]
    assert row.percentage is not None and row.percentage.value == pytest.approx(0.75)
    assert row.kappa is not None and row.kappa.value == pytest.approx(0.0)
    assert (row.belief, row.outputs, row.kappa.n) == ("distrust", 6, 120)
    assert len(row.items) == 10
    itself = compare_judges(workspace, filled, expert, expert)
    assert (itself.belief, itself.kappa.value) == ("believe", 1.0)  # type: ignore[union-attr]
    (point, *_) = difficulty_points(workspace)
    # Recall 1/2, precision 1: F1 is 2/3.
    assert point.f1 == pytest.approx(2 / 3)


def test_a_sample_is_drawn_evenly_and_repeatably(
    workspace: Workspace, ann: str, filled: str
) -> None:
    first = workspace.transact("Draw", ann, draw_sample, filled, 4, 7).value
    again = workspace.transact("Draw", ann, draw_sample, filled, 4, 7).value
    assert [d.output_id for d in first] == [d.output_id for d in again]
    assert len(sample_of(workspace, filled)) == len({d.output_id for d in again}) == 4
    with pytest.raises(ConflictError, match="No output has been mapped"):
        workspace.transact("Draw", ann, draw_sample, "none", 4, 7)


def test_coverage_and_correctness_are_told_apart(
    workspace: Workspace, ann: str, filled: str
) -> None:
    judge_by_hand(workspace, ann, filled, wrong=2)
    points = coverage_points(samples_of(workspace, filled, Judge("person", ann)))
    assert [(p.coverage, p.correctness) for p in points] == [(1.0, 1.0)] * 6


# -- analyses ------------------------------------------------------------------------------


def test_results_by_tag_and_skill(workspace: Workspace, ann: str, filled: str) -> None:
    judge_by_hand(workspace, ann, filled, wrong=2)
    items = rubric_items(workspace, filled)
    workspace.transact("Tag", ann, tag_rubric_items, [items[0].id, items[1].id], ["first"])
    samples = samples_of(workspace, filled, Judge("person", ann))
    rows = {row.name: row for row in results_by_tag(samples)}
    assert rows["odd"].f1 == 0.0
    assert rows["even"].f1 == 1.0
    assert (rows["first"].kind, rows["odd"].kind) == ("tag", "group")
    assert (rows["first"].recall, rows["first"].items, rows["first"].verdicts) == (0.5, 2, 12)
    workspace.transact("Tag", ann, set_skills, items[1].id, {"ordering": 3}, reasoning=2)
    skills = {(row.kind, row.name): row for row in results_by_skill(workspace, filled, samples)}
    assert skills["skill", SKILLS["ordering"]].f1 == 1.0
    assert skills["reasoning", "some"].items == 1
    with pytest.raises(UsageError, match="is no skill"):
        workspace.transact("Tag", ann, set_skills, items[1].id, {"juggling": 1})


def test_a_models_tags_give_way_to_a_persons(workspace: Workspace, ann: str, filled: str) -> None:
    answer = json.dumps({"finding": 2, "judging": 9, "knowledge": 3, "tone": 1})
    assert read_skills(f"Here: {answer}") == ({"finding": 2}, 3, 0)
    assert read_skills("no idea") == ({}, 0, 0)
    items = rubric_items(workspace, filled)
    failed = tag_with_model(workspace, filled, FakeGenerator(answers=(answer, "?")))
    assert failed == 5
    workspace.transact("Tag", ann, set_skills, items[0].id, {"finding": 4})
    assert skills_of(workspace, filled)[items[0].id].skills == {"finding": 4}
    assert len(skills_of(workspace, filled)) == 5


def test_lengths_are_binned_where_they_differ_enough() -> None:
    alike = bin_lengths("input", [(100 + n, 0.5) for n in range(9)])
    assert alike.rows == ()
    assert "like length" in alike.reason
    apart = bin_lengths("input", [(100 * n, n / 10) for n in range(1, 10)])
    assert [(row.low, row.high, row.outputs) for row in apart.rows] == [
        (100, 300, 3),
        (400, 600, 3),
        (700, 900, 3),
    ]
    assert [row.f1 for row in apart.rows] == pytest.approx([0.2, 0.5, 0.8])
    assert bin_lengths("output", [(1, 1.0)]).reason.startswith("Too few")


def test_mappers_are_compared_with_the_expert(workspace: Workspace, ann: str, filled: str) -> None:
    items = rubric_items(workspace, filled)
    example = workspace.find(Example)[0]

    def map_half(tx: Transaction) -> None:
        checklist = verbs.start_checklist(
            tx, Target(filled, example.id), mapper_kind="imported", mapper="half"
        )
        for item, word in zip(items[:5], WORDS, strict=False):
            verbs.write_entry(tx, checklist.id, item.id, word)
        verbs.finish_checklist(tx, checklist.id)

    workspace.transact("Map", ann, map_half)
    (score,) = compare_mappers(workspace, filled, ann)
    assert (score.mapper, score.texts) == ("half", 1)
    assert score.presence_f1 == pytest.approx(2 * 5 / 15)
    assert score.f1 == pytest.approx(0.5)
    assert shared_words("a a b", "a b c") == pytest.approx(2 / 3)


def test_a_pair_of_runs_differs_by_the_rubric_alone(
    workspace: Workspace, ann: str, filled: str
) -> None:
    system = workspace.transact("Add", ann, add_system, "S", model_id="fake-generator").value
    plain, shown = workspace.transact("Pair", ann, start_rubric_pair, system.id, filled).value
    twin = workspace.get(System, shown.system_id)
    assert (twin.name, twin.prompt) == ("S, rubric in the prompt", "rubric_long_form")
    prompts = []
    for run in (plain, shown):
        model = FakeGenerator()
        execute_run(workspace, run.id, model)
        prompts.append(model.requests[0].messages[-1].content)
    assert "Alpha" not in prompts[0].split("Input")[0]
    added = [line for line in prompts[1].splitlines() if line not in prompts[0].splitlines()]
    assert added[-10:] == [f"- {word.title()}" for word in WORDS]
    again = workspace.transact("Pair", ann, start_rubric_pair, system.id, filled).value
    assert again[1].system_id == shown.system_id


# -- checks --------------------------------------------------------------------------------


class SeesAlpha(FakeGenerator):
    """Says Yes about the first item only."""

    def choose(self, messages: Sequence[Message], options: Sequence[str]) -> Choice:
        yes = 0.9 if "Item: Alpha" in messages[-1].content else 0.1
        return Choice((yes, 1 - yes), 1.0)


def test_checks_find_what_is_not_there_and_what_was_left_out(
    workspace: Workspace, ann: str
) -> None:
    text = (
        "The patient has had a cough for three days. He takes ramipril 5 mg every morning. "
        "His mother lives in Turin with two cats."
    )

    def fill(tx: Transaction) -> tuple[str, str]:
        task = make_task(tx)
        rubric = add_rubric(tx, task.id, "R")
        example = make_example(tx, task.id)
        example = tx.update(
            Example, example.id, output=(type(example.output[0])(title="", text=text),)
        )
        for title in ("Alpha", "Beta", "Cough", "Drugs"):
            add_rubric_item(tx, rubric.id, title)
        checklist = verbs.start_checklist(tx, Target(rubric.id, example.id))
        items = rubric_items(tx, rubric.id)
        verbs.write_entry(tx, checklist.id, items[2].id, "a cough for three days")
        verbs.write_entry(tx, checklist.id, items[3].id, "He takes ramipril 50 mg every morning")
        verbs.finish_checklist(tx, checklist.id)
        return checklist.id, items[3].id

    checklist_id, drugs = workspace.transact("Fill", ann, fill).value
    found = {check.item.title: check for check in check_and_keep(workspace, checklist_id)}
    assert found["Cough"].support == "verbatim"
    assert found["Drugs"].support == "not found"
    assert "50" in found["Drugs"].differences[0]
    kept = verbs.entries_of(workspace, checklist_id)[drugs]
    assert kept.check["support"] == "not found"
    assert verbs.spans_of(kept)
    with_model = check_and_keep(workspace, checklist_id, FakeEntailment())
    assert {c.item.title: c.support for c in with_model}["Drugs"] == "supported"
    coverage = check_coverage(workspace, checklist_id, SeesAlpha())
    assert [text[a:b] for a, b in coverage.sentences] == [
        "His mother lives in Turin with two cats."
    ]
    assert coverage.share_used == pytest.approx(2 / 3)
    assert [(item.title, share) for item, share in coverage.suspected] == [("Alpha", 0.9)]


# -- plans ---------------------------------------------------------------------------------


class Mapper(FakeGenerator):
    """Answers every item with its own title, and judges Yes."""

    def generate(self, request: GenerationRequest, **_: Any) -> Generation:
        prompt = request.messages[-1].content
        if request.grammar is not None:
            lines = re.findall(r"^(\d+)\. ([^:(\n]+)", prompt, re.MULTILINE)
            titles = [title.strip() for _, title in lines]
            assert request.grammar == answer_grammar(titles)
            return Generation(
                text=json.dumps({f"{n}. {t}": WORDS[n - 1] for n, t in enumerate(titles, 1)})
            )
        return Generation(text=prompt.rsplit("Item: ", 1)[-1].split("\n")[0])

    def choose(self, messages: Sequence[Message], options: Sequence[str]) -> Choice:
        return Choice((0.9, 0.1), 1.0)


def test_a_plan_is_a_job_that_goes_on_where_it_stopped(workspace: Workspace, filled: str) -> None:
    outputs = plan_outputs(workspace, filled, run_id="run")
    assert len(outputs) == 6
    cancel = Cancellation()
    seen: list[int] = []

    def stop_after_two(progress: Any) -> None:
        seen.append(progress.done)
        if progress.done == 2:
            cancel.cancel()

    plan = Plan(rubric_id=filled, outputs=outputs, reasons="none")
    job = run_plan(workspace, plan, generator=Mapper, progress=stop_after_two, cancel=cancel)
    assert (job.state, job.done, workspace.count(Score)) == ("cancelled", 2, 2)
    job = run_plan(workspace, plan, generator=Mapper)
    assert (job.state, job.done, job.failed) == ("done", 6, 0)
    assert workspace.count(Job, "kind = 'checklists'") == 2
    samples = samples_of(workspace, filled, Judge("model", "fake-generator"))
    assert [sample.score.value for sample in samples] == [1.0] * 6
    with pytest.raises(UsageError, match="no text"):
        run_plan(workspace, Plan(rubric_id=filled, outputs=()), generator=Mapper)


def test_a_missing_model_ends_the_plan_with_its_words(workspace: Workspace, filled: str) -> None:
    def no_model() -> FakeGenerator:
        raise MissingModelError("There is no model.")

    plan = Plan(rubric_id=filled, outputs=plan_outputs(workspace, filled))
    with pytest.raises(MissingModelError):
        run_plan(workspace, plan, generator=no_model)
    (job,) = workspace.find(Job, "kind = 'checklists'")
    assert (job.state, job.message) == ("failed", "There is no model.")


def test_an_output_never_written_is_counted(workspace: Workspace, filled: str) -> None:
    output = workspace.find(Output)[0]
    workspace.transact("Fail", "", lambda tx: tx.update(Output, output.id, state="failed"))
    assert missing_outputs(workspace, filled, "run") == 1
    assert len(plan_outputs(workspace, filled, run_id="run")) == 5


# -- linter and suggestions ----------------------------------------------------------------


def item(title: str, description: str = "x y", **fields: Any) -> RubricItem:
    return RubricItem(
        id=title, rubric_id="r", position=0.0, title=title, description=description, **fields
    )


@pytest.mark.parametrize(
    ("bad", "flaw"),
    [
        (item("Clear structure"), "subjective"),
        (item("Dose and frequency of the drug"), "compound"),
        (item("Dose", "What dose? How often?"), "compound"),
        (item("What the judge intended"), "unanswerable"),
        (item("Findings", "Fever, cough, etc."), "untestable"),
        (item("Findings", ""), "untestable"),
        (item("Outcome of the case", kind="one_of", options=("won",)), "options"),
        (item("Outcome of the case", condition='"Appeal" is "yes"'), "condition"),
        (item("Outcome of the case", condition='"Outcome" is'), "condition"),
    ],
)
def test_the_linter_names_the_flaw(bad: RubricItem, flaw: str) -> None:
    assert [finding.flaw for finding in lint_items([bad])] == [flaw]


def test_the_linter_lets_good_items_pass_and_finds_overlaps() -> None:
    good = [
        item("Filing date", "The day on which the complaint was filed."),
        item("Drugs with dose", "Each medicine with its dose.", kind="list"),
        item("Signs and symptoms", "What the patient reports.", kind="list"),
    ]
    assert lint_items(good) == []
    twice = [*good, item("Date of filing", "The day on which the complaint was filed")]
    (found,) = lint_items(twice, FakeEmbedder())
    assert (found.flaw, found.other_id) == ("overlapping", "Filing date")


@pytest.mark.parametrize(
    "answer",
    [
        '[{"title": "Dose", "description": "with unit"}, {"item": "Date"}]',
        "Here are items:\n- Dose: with unit\n- Date\n",
        "1. **Dose**: with unit\n2. Date",
    ],
)
def test_suggestions_are_read_in_any_form(answer: str) -> None:
    assert [(title, words) for title, words, _ in read_suggestions(answer)] == [
        ("Dose", "with unit"),
        ("Date", ""),
    ]


def test_suggestions_are_no_items_until_taken(workspace: Workspace, ann: str, filled: str) -> None:
    model = FakeGenerator(answers=("- Alpha: known\n- Allergies: each\n- Style: nice",))
    kept = suggest_items(workspace, filled, model, person=ann)
    assert [suggestion.title for suggestion in kept] == ["Allergies", "Style"]
    assert "- Alpha" in model.requests[0].messages[-1].content
    assert len(rubric_items(workspace, filled)) == 10
    taken = workspace.transact("Take", ann, take_suggestion, kept[0].id).value
    workspace.transact("No", ann, dismiss_suggestion, kept[1].id, "subjective")
    assert taken.extra["suggested_by"] == "fake-generator"
    with pytest.raises(ConflictError):
        workspace.transact("Take", ann, take_suggestion, kept[0].id)
    found = compare_with_expert(rubric_items(workspace, filled), suggestions_of(workspace, filled))
    assert len(found.matched) == 1
    assert len(found.omitted) == 10
    assert (found.extra, found.faults["subjective"]) == ((), 1)
    assert found.share_found == pytest.approx(1 / 11)


def test_a_models_items_are_paired_with_the_experts(workspace: Workspace, filled: str) -> None:
    found = [("Dose of drug", "each dose", ""), ("Alpha", "", "")]
    workspace.transact("Suggest", "", keep_suggestions, filled, found, "m")
    own = [item("Dose of the drug", "each dose"), item("Family", "who is ill")]
    for embedder in (None, FakeEmbedder(dimensions=512)):
        compared = compare_with_expert(own, suggestions_of(workspace, filled), embedder)
        assert [pair[0] for pair in compared.matched] == ["Dose of the drug"]
        assert compared.omitted == ("Family",)
