"""CLEAR from end to end: a clinical encounter and a scripted expert, a worker that dies, the default model.

The encounter is read from the published sample and never stored here: the expert's script names
sentences by number. The sheet below was worked out by hand.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from core.checklists.judging import record_verdict
from core.checklists.mapping import map_with_model
from core.checklists.pairs import read_pairs
from core.checklists.runs import Plan, run_plan
from core.checklists.scores import (
    Judge,
    item_means,
    keep_score,
    samples_of,
    task_score,
)
from core.checklists.verbs import (
    Target,
    entries_of,
    fill_entry,
    finish_checklist,
    mark_entry,
    start_checklist,
    text_of,
)
from core.exchange.imports import import_records, read_import
from core.nli.support import find_sentences
from core.people import add_person
from core.rubrics.templates import use_template
from core.rubrics.verbs import add_rubric, add_rubric_item, edit_rubric_item, rubric_items
from core.rubrics.versions import lock_rubric
from core.runs.verbs import add_imported_output, add_system
from core.storage import Transaction, Workspace
from core.types import Example, Output, Rubric, RubricItem, Run, Score
from models.hosted import HostedGenerator
from models.local import LocalModels
from tests.factories import make_example, make_task
from tests.shared_data import shared_path

#: The expert's sheet: for each of the 29 items in order what the two sides have and how they compare.
#: '=' the same, '<' the output says less, '>' more, 'x' something else, '!' contradicts,
#: '-' missing in the output, '+' only in the output, '.' in neither, '/' does not apply.
SHEET = "=.==<=>==///=x==-.=!=<=-.+.-."

# Worked out by hand: 12 '=', 2 '<', 1 '>', 1 'x', 1 '!', 3 '-', 1 '+', 5 '.', 3 '/' are 29.
#   recall 1:    12 '=' + 1 '>' + 5 '.' + 3 '/' = 21     precision 1: 12 '=' + 2 '<' + 5 + 3 = 22
#   accuracy:    12 '=' + 5 '.' + 3 '/'         = 20     coverage: 17 of the 20 items the reference has
RECALL, PRECISION, ACCURACY, COVERAGE = 21 / 29, 22 / 29, 20 / 29, 17 / 20
F1 = 924 / 1247
#   without what is N/A on both sides: 13 and 14 of 21, F1 = 2 * 13 * 14 / (21 * 27)
F1_WITHOUT_NA = 364 / 567

_VERDICTS = {
    "=": (True, True, False),
    "<": (False, True, False),
    ">": (True, False, False),
    "x": (False, False, False),
    "!": (False, False, True),
}


def test_the_sheet_is_what_the_comment_says() -> None:
    counts = [12, 2, 1, 1, 1, 3, 1, 5, 3]
    assert [SHEET.count(sign) for sign in "=<>x!-+./"] == counts


def fill_encounter(workspace: Workspace) -> tuple[str, Rubric, Output]:
    """One encounter, the T6 rubric, and an output that is the reference without its second half."""
    person = workspace.transact("Add", "", add_person, "Dr Rossi").value.id
    path = shared_path("data", "aci-bench", "valid.csv")
    found, kind = read_import(path, "examples")
    assert kind == "aci-bench"
    found.records[:] = found.records[:1]
    workspace.transact("Import", person, import_records, path.name, "examples", found)
    rubric = workspace.transact("Template", person, use_template, "T6").value
    example = workspace.find(Example)[0]
    assert rubric.task_id == example.task_id

    def write(tx: Transaction) -> Output:
        system = add_system(tx, "Imported")
        run = tx.insert(Run(id="run", system_id=system.id))
        text = "\n\n".join(section.text for section in example.output)
        return add_imported_output(
            tx, run.id, example.id, text, sections=(), missing=(), position=0
        )

    return person, rubric, workspace.transact("Output", person, write).value


def work_as_expert(workspace: Workspace, person: str, rubric: Rubric, output: Output) -> None:
    """Map both sides sentence by sentence and judge by the sheet."""
    items = rubric_items(workspace, rubric.id)
    example_id = output.example_id
    ids = []
    for output_id, empty in (("", ".+/"), (output.id, "./-")):
        target = Target(rubric.id, example_id, output_id)
        text = text_of(workspace, target)
        spans = find_sentences(text)
        checklist = workspace.transact("Start", person, start_checklist, target).value
        for number, (item, sign) in enumerate(zip(items, SHEET, strict=True)):
            if sign == "/" and not output_id:
                state = "not_applicable"
                workspace.transact("Mark", person, mark_entry, checklist.id, item.id, state)
            elif sign not in empty:
                start, end = spans[number % len(spans)]
                workspace.transact(
                    "Fill", person, fill_entry, checklist.id, item.id, start=start, end=end
                )
        workspace.transact("Finish", person, finish_checklist, checklist.id)
        ids.append(checklist.id)
    for pair, sign in zip(read_pairs(workspace, *ids), SHEET, strict=True):
        assert pair.asked == (sign in _VERDICTS)
        if pair.asked:
            recall, precision, against = _VERDICTS[sign]
            workspace.transact(
                "Judge",
                person,
                record_verdict,
                *ids,
                pair.item.id,
                recall=recall,
                precision=precision,
                contradicted=against,
            )


def test_an_encounter_through_the_rubric_by_a_scripted_expert(workspace: Workspace) -> None:
    person, rubric, output = fill_encounter(workspace)
    workspace.transact("Lock", person, lock_rubric, rubric.id)
    work_as_expert(workspace, person, rubric, output)
    judge = Judge("person", person)
    (sample,) = samples_of(workspace, rubric.id, judge)
    parts = sample.score.components
    assert sample.score.value == pytest.approx(F1)
    assert (parts["recall"], parts["precision"]) == pytest.approx((RECALL, PRECISION))
    assert (parts["accuracy"], parts["coverage"]) == pytest.approx((ACCURACY, COVERAGE))
    assert parts["without_na"]["f1"] == pytest.approx(F1_WITHOUT_NA)
    assert (parts["items"], parts["items_na"], parts["unscored_items"]) == (29, 8, 0)
    words = {
        "=": "right", "<": "incomplete", ">": "excess", "x": "wrong", "!": "contradicted",
        "-": "missing", "+": "added", ".": "absent", "/": "not_applicable",
    }  # fmt: skip
    assert [result.status for result in sample.items] == [words[sign] for sign in SHEET]
    task = task_score([sample], judge)
    assert task.value == pytest.approx(F1)
    assert task.notes == ("One sample: there is no standard error.",)
    means = item_means([sample])
    assert [means[result.item.id][1].n for result in sample.items] == [
        0 if sign in "./" else 1 for sign in SHEET
    ]
    score = workspace.transact("Score", person, keep_score, sample).value
    assert workspace.get(Score, score.id).signature.startswith("clear|")
    # What an entry rests on is in the text, word for word.
    text = text_of(workspace, Target(rubric.id, output.example_id, output.id))
    for entry in entries_of(workspace, sample.checklist_id).values():
        if entry.state == "filled":
            assert " ".join(text[entry.start : entry.end].split()) == entry.text


@pytest.fixture
def twenty(workspace: Workspace) -> tuple[Workspace, Target, list[RubricItem]]:
    """A rubric of twenty items of which the fake worker dies at the seventeenth."""

    def fill(tx: Transaction) -> tuple[str, str]:
        task = make_task(tx)
        rubric = add_rubric(tx, task.id, "Twenty")
        for number in range(1, 21):
            title = "Things to die for" if number == 17 else f"Item {number}"
            add_rubric_item(tx, rubric.id, title, group=str(number // 6))
        return rubric.id, make_example(tx, task.id).id

    rubric_id, example_id = workspace.transact("Fill", "", fill).value
    return workspace, Target(rubric_id, example_id), rubric_items(workspace, rubric_id)


def test_a_worker_that_dies_at_item_17_costs_that_item_only(
    twenty: tuple[Workspace, Target, list[RubricItem]],
) -> None:
    workspace, target, items = twenty
    model = HostedGenerator({"engine": "fake", "answers": ["The patient coughs."]})
    try:
        checklist = map_with_model(workspace, target, model)
        entries = entries_of(workspace, checklist.id)
        states = [entries[item.id].state for item in items]
        assert states == ["filled"] * 16 + ["unscored"] + ["filled"] * 3
        assert "SIGKILL" in entries[items[16].id].reason
        assert "last words" in entries[items[16].id].reason
        assert checklist.state == "draft"
        workspace.transact("Edit", "", edit_rubric_item, items[16].id, title="Item 17")
        seen: list[int | None] = []
        checklist = map_with_model(
            workspace, target, model, progress=lambda progress: seen.append(progress.total)
        )
    finally:
        model.close()
    assert set(seen) == {1}
    assert checklist.state == "done"
    assert entries_of(workspace, checklist.id)[items[16].id].state == "filled"


@pytest.mark.models
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.xdist_group("models")
def test_the_default_model_takes_an_encounter_through_the_rubric(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w.rifugio", None) as workspace, LocalModels() as models:
        _, rubric, output = fill_encounter(workspace)
        # A short stretch of the encounter, so that a small machine has it done in a minute.
        short = output.text[:600]

        def shorten(tx: Transaction) -> None:
            example = tx.get(Example, output.example_id)
            section = example.output[0]
            tx.update(Output, output.id, text=short)
            tx.update(Example, example.id, output=(type(section)(title="Note", text=short),))

        workspace.transact("Shorten", "", shorten)
        for item in rubric_items(workspace, rubric.id)[5:]:
            workspace.transact("Delete", "", lambda tx, i=item: tx.delete(RubricItem, i.id))
        plan = Plan(rubric_id=rubric.id, outputs=((output.example_id, output.id),), reasons="none")
        generator = models.generator(context=2048)
        job = run_plan(workspace, plan, generator=lambda: generator)
        assert job.state == "done"
        (sample,) = samples_of(workspace, rubric.id, Judge("model", generator.info.id))
        scored = [result for result in sample.items if result.status != "unscored"]
        reasons = [result.reason for result in sample.items if result.status == "unscored"]
        assert len(scored) + len(reasons) == 5
        assert all(reasons)
        if scored:
            assert sample.score.value is not None
            assert 0.0 <= sample.score.value <= 1.0
        assert workspace.count(Score, "metric = 'clear'") == 1
