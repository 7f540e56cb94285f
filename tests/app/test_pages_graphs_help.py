"""Round the canvas of the graph studio: files, checks, suggestions, comparison, training, methods."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app.canvas.items import StepItem
from app.pages.graphs.about import PassDialog
from app.pages.graphs.dialogs import NewGraphDialog, name_file, write_export
from app.pages.graphs.importing import ImportDialog, import_files
from app.pages.graphs.methods import MethodsDialog
from app.pages.graphs.suggest import EDGE_WAYS, STEP_WAYS, describe_maker
from core.graphs import suggestions, verbs
from core.graphs.model import load_graph
from core.people import add_person
from core.storage import Workspace
from core.types.graphs import GraphMatch, GraphScore, GraphStep, TaskGraph
from tests.app.conftest import find_dialog, open_empty, open_for_reading
from tests.app.graphs_studio import (
    EDGES,
    STEPS,
    FakeModels,
    OpenWindow,
    agree,
    graph_file,
    rows,
    settled,
    studio,
)
from tests.event_loop import spin

#: Fixtures of the studio, for the tests below.
__all__ = ["graph_file", "studio"]


def answer_import(**choices: str) -> bool:
    """Answer the dialog that asks what imported graphs are, once it is there."""
    dialog = find_dialog(ImportDialog)
    if not isinstance(dialog, ImportDialog):
        return False
    for name, value in choices.items():
        getattr(dialog, name).choose(value)
    dialog._accept()
    return True


def test_files_go_out_and_come_in(studio: Any, tmp_path: Path, qtbot: QtBot) -> None:
    window, page = studio()
    told: list[tuple[str, str]] = []
    scene = page.pane.canvas.graph_scene
    for format in ("tasklama", "graphml", "dot", "json"):
        path = tmp_path / ("g.jsonl" if format == "tasklama" else f"g.{format}")
        write_export(page, page.document, scene, format, False, path)
        qtbot.waitUntil(lambda path=path: path.exists() and path.stat().st_size > 0)
        count = len(told)
        import_files(page, [path], lambda words, first: told.append((words, first)))
        # Some formats do not say what kind of graph it is, which is asked then.
        qtbot.waitUntil(lambda count=count: (answer_import(), len(told) > count)[1])
        assert told[-1][0] == "1 graph imported"
        again = load_graph(window.session.workspace, told[-1][1])
        assert [step.text for step in again.steps] == STEPS
        assert set(again.edges) == set(EDGES)


def test_a_file_with_a_circle_says_what_was_set_aside(
    studio: Any, tmp_path: Path, qtbot: QtBot
) -> None:
    _window, page = studio()
    path = tmp_path / "c.json"
    path.write_text(json.dumps({"steps": ["a", "b"], "edges": [[0, 1], [1, 0]]}))
    import_files(page, [path], page._on_imported)
    qtbot.waitUntil(answer_import)
    qtbot.waitUntil(lambda: page.document.graph is not None and len(page.document.graph.steps) == 2)
    assert len(page.document.graph.links) == 1
    assert "could not become part" in page.pane.hint.text
    assert "closes the circle" in page.about.aside.text()


def test_what_a_published_file_does_not_say_is_asked(
    studio: Any, tmp_path: Path, qtbot: QtBot
) -> None:
    _window, page = studio()
    path = tmp_path / "validation.jsonl"
    record = {"task": "fold a map", "assumptions": [], "substeps": [{"stepId": 0, "step": "fold"}],
              "dependencies": []}  # fmt: skip
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    import_files(page, [path], page._on_imported)
    qtbot.waitUntil(lambda: find_dialog(ImportDialog) is not None)
    dialog = find_dialog(ImportDialog)
    assert isinstance(dialog, ImportDialog)
    assert (dialog.role.value, dialog.split.value) == ("gold", "validation")
    dialog._accept()
    qtbot.waitUntil(lambda: page.document.graph is not None and len(page.document.graph.steps) == 1)
    made = page.document.graph.graph
    assert (made.role, made.split) == ("gold", "validation")


@pytest.mark.parametrize(
    ("task", "name"),
    [
        ("Change a wound/dressing: sterile?", "Change a wound dressing sterile"),
        ("צילום \u2068של\u2069 הלב", "צילום של הלב"),
        ("हिन्दी में काम", "हिन्दी में काम"),
        ("a" * 90, "a" * 40),
        ("word " * 20, "word word word word word word word word"),
        ("???", "graph"),
        ("...", "graph"),
    ],
)
def test_a_task_names_a_file(task: str, name: str) -> None:
    assert name_file(task) == name


def test_checks_show_and_mend(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    page.tabs.setCurrentWidget(page.checks)
    assert page.checks.verdict.text() == "Nothing stands out."
    page.document.rename_step(page.document.graph.steps[0].id, "Boiling the water")
    qtbot.waitUntil(lambda: page.checks.count == 1)
    assert page.tabs.tabText(1) == "Checks 1"
    issue = next(iter(page.document.issues.values()))[0]
    page.document.apply_fix(page.document.graph.steps[0].id, issue.fix)
    qtbot.waitUntil(lambda: page.checks.count == 0)
    page.document.add_step("Boil the water")
    qtbot.waitUntil(lambda: page.checks.count == 2)
    rules = {issue.rule for found in page.document.issues.values() for issue in found}
    assert rules == {"duplicate"}
    twin = page.document.graph.steps[-1].id
    page.document.apply_fix(twin, page.document.issues[twin][0].fix)
    qtbot.waitUntil(lambda: len(rows(window, page).steps) == 5)
    page.checks.look_for_meanings()
    qtbot.waitUntil(page.checks.meaning_button.isEnabled)
    # Where only the person knows what is meant, the step is opened for typing.
    first = page.document.graph.steps[0].id
    page.checks.edit_asked.emit(first)
    assert page.pane.canvas.editor is not None
    page.pane.canvas.editor.finish(False)


def test_a_models_suggestions_are_ghosts_until_accepted(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    page.tabs.setCurrentWidget(page.suggest)
    page.pane.canvas.centerOn(4000, 4000)
    page.suggest.suggest_steps()
    assert not page.suggest.steps_button.isEnabled()
    qtbot.waitUntil(lambda: len(rows(window, page).steps) == 6)
    # A model drew, not a hand: what it drew is brought into view.
    canvas = page.pane.canvas
    qtbot.waitUntil(lambda: canvas.seen_rect().contains(canvas.graph_scene.content_rect()))
    qtbot.waitUntil(lambda: settled(window, page) and page.suggest.steps_button.isEnabled())
    ghost = page.document.graph.steps[-1]
    assert (ghost.text, ghost.suggested) == ("Find a cup", "Fake generator, icl")
    card: StepItem = page.pane.canvas.graph_scene.cards[ghost.id]
    assert card.suggested
    page.suggest.edge_way.choose("linear")
    page.suggest.suggest_edges()
    qtbot.waitUntil(lambda: len(page.document.suggested()[1]) > 0)
    qtbot.waitUntil(lambda: settled(window, page))
    page.pane.canvas.setFocus()
    page.document.select([ghost.id])
    qtbot.keyClick(page.pane.canvas, Qt.Key.Key_A)
    qtbot.waitUntil(lambda: not rows(window, page).by_id[ghost.id].suggested)
    page.suggest.reject_all()
    qtbot.waitUntil(lambda: sum(map(len, page.document.suggested())) == 0)
    qtbot.waitUntil(lambda: settled(window, page))
    agree(page)


def test_who_suggests_is_said_in_words() -> None:
    assert describe_maker("Small, icl", STEP_WAYS) == "Small · One sequence"
    assert describe_maker("Small, q4, cot", EDGE_WAYS) == "Small, q4 · Pair by pair, thinking first"
    assert describe_maker("Dr Bo", STEP_WAYS) == "Dr Bo"
    assert describe_maker("Bo, MD", STEP_WAYS) == "Bo, MD"


def test_what_would_close_a_circle_stays_suggested(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    ids = [step.id for step in page.document.graph.steps]
    window.session.workspace.transact(
        "S", "", suggestions.suggest_dependencies, page.document.graph_id, [(ids[4], ids[0])], "m"
    )
    qtbot.waitUntil(lambda: len(page.document.suggested()[1]) == 1)
    page.pane.accept_all()
    qtbot.waitUntil(lambda: "stay suggested" in page.pane.notice.text)
    assert len(rows(window, page).links) == 4


def test_comparing_marks_both_canvases_and_can_be_corrected(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    workspace = window.session.workspace
    gold_id = page.document.graph_id
    drawn = workspace.transact(
        "C", window.session.person_id, verbs.add_graph, "make tea", ["with leaves"],
        steps=[*STEPS[:4], "Dance on tables"], edges=[(3, 0), (1, 2), (2, 3)],
    ).value  # fmt: skip
    page._on_made(drawn.id)
    qtbot.waitUntil(lambda: page.document.graph is not None and page.document.graph_id == drawn.id)
    qtbot.waitUntil(lambda: page.document.graph is not None)
    page.tabs.setCurrentWidget(page.compare)
    qtbot.waitUntil(lambda: page.compare.compared is not None)
    assert page.compare.gold_id == gold_id
    assert "4 matched, 1 missing, 1 extra" in page.compare.verdict.text()
    assert "1 reversed" in page.compare.verdict.text()
    qtbot.waitUntil(lambda: len(page.beside.pane.canvas.graph_scene.cards) == 5)
    qtbot.waitUntil(lambda: "missing" in page.beside.pane.document.step_status.values())
    statuses = [card.status for card in page.pane.canvas.graph_scene.cards.values()]
    assert sorted(statuses) == ["extra", "matched", "matched", "matched", "matched"]
    ours, theirs = page.document.graph.steps[4].id, page.beside.pane.document.graph.steps[4].id
    page.document.select([ours])
    page.beside.pane.document.select([theirs])
    assert page.compare.match_button.isEnabled()
    page.compare.match_selected()
    qtbot.waitUntil(lambda: "5 matched, 0 missing" in page.compare.verdict.text())
    assert workspace.count(GraphMatch) == 1
    page.compare.keep_scores()
    qtbot.waitUntil(lambda: workspace.count(GraphScore) == 8)
    page.compare.reset()
    qtbot.waitUntil(lambda: "4 matched" in page.compare.verdict.text())
    page.compare.settle_both()
    qtbot.waitUntil(lambda: workspace.count(TaskGraph) == 3)
    page.tabs.setCurrentWidget(page.outline)
    qtbot.waitUntil(lambda: page.document.step_status == {} and page.beside.isHidden())


def test_another_assumption_stands_beside(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    page.show_another()
    dialog = find_dialog(NewGraphDialog)
    assert isinstance(dialog, NewGraphDialog)
    assert dialog.task.text() == "make tea"
    dialog.assumptions.setPlainText("with bags")
    dialog._accept()
    first = page.document.graph_id
    qtbot.waitUntil(lambda: page.document.graph is not None and page.document.graph_id != first)
    page.toggle_beside()
    qtbot.waitUntil(lambda: page.beside.pane.document.graph is not None)
    assert page.beside.pane.document.graph_id == first
    assert page.beside.pane.document.graph.graph.assumptions == ("with leaves",)
    page.beside.pane.document.add_step("Drink the tea")
    qtbot.waitUntil(
        lambda: window.session.workspace.count(GraphStep, "graph_id = ?", (first,)) == 6
    )
    page.toggle_beside()
    assert page.beside.isHidden()


def test_work_is_finished_passed_on_and_trained(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    workspace = window.session.workspace
    page.tabs.setCurrentWidget(page.about)
    gold = page.document.graph_id
    page.about.train()
    qtbot.waitUntil(lambda: page.document.graph is not None and page.document.graph_id != gold)
    assert page.document.graph.graph.role == "training"
    assert "training round" in page.pane.hint.text
    training = page.document.graph_id
    page.tabs.setCurrentWidget(page.compare)
    qtbot.waitUntil(lambda: page.compare.choice.count() > 0)
    # What is to be found is not shown while it is looked for.
    assert page.compare.done_button.isVisible() and not page.compare.list.isVisible()
    assert page.beside is None or page.beside.isHidden()
    page.compare.done_button.click()
    qtbot.waitUntil(lambda: page.compare.compared is not None)
    assert workspace.get(TaskGraph, training).state == "done"
    assert any("Half drawn" in text for text in page.compare.compared.feedback.mistakes)
    assert page.beside is not None and not page.beside.isHidden()
    assert page.compare.list.isVisible() and not page.compare.done_button.isVisible()
    page.tabs.setCurrentWidget(page.about)
    assert page.list_button.isChecked(), "the list is back once one canvas has the room"
    page.about.role.setCurrentIndex(page.about.role.findData("annotation"))
    page.about.saver.flush()
    qtbot.waitUntil(lambda: workspace.get(TaskGraph, training).role == "annotation")
    page.about.reopen()
    qtbot.waitUntil(lambda: page.about.pass_button.isVisible())
    page.about.pass_on()
    dialog = find_dialog(PassDialog)
    assert isinstance(dialog, PassDialog)
    qtbot.keyClicks(dialog.reason, "not mine")
    dialog._accept()
    qtbot.waitUntil(lambda: workspace.get(TaskGraph, training).note == "not mine")


def test_a_graph_is_given_to_a_person(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    workspace = window.session.workspace
    person = workspace.transact("P", "", add_person, "Bo").value.id
    page.tabs.setCurrentWidget(page.about)
    qtbot.waitUntil(lambda: page.about.person.findData(person) >= 0)
    page.about.person.setCurrentIndex(page.about.person.findData(person))
    graph = page.document.graph_id
    qtbot.waitUntil(lambda: workspace.get(TaskGraph, graph).person_id == person)


def test_the_table_of_methods_fills(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    workspace = window.session.workspace
    workspace.transact("A", "", verbs.add_graph, "other", role="gold", steps=["Sew", "Cut"])
    page.show_methods()
    dialog = find_dialog(MethodsDialog)
    assert isinstance(dialog, MethodsDialog)
    qtbot.waitUntil(lambda: "There are 2 gold graphs" in dialog.state.text())
    assert not dialog.tabs.isVisible()
    dialog.start()
    qtbot.waitUntil(lambda: dialog.tables["edges"].rowCount() == 7, timeout=60_000)
    assert dialog.state.text().startswith("30 of 30")
    steps = dialog.tables["steps"]
    assert (steps.rowCount(), steps.item(0, 0).text()) == (8, "One sequence")
    assert "[" in steps.item(0, 2).text()
    dialog.copy_table()
    copied = QGuiApplication.clipboard().text().splitlines()
    assert len(copied) == 17 and copied[1].startswith("One sequence\ttold\t")
    dialog.reject()


def test_an_empty_workspace_offers_the_samples(
    make_window: OpenWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    window = open_empty(make_window, qtbot, tmp_path, make_models=FakeModels)
    window.work.choose("graphs")
    page = window.work.page("graphs")
    qtbot.waitUntil(lambda: page.is_empty_shown)
    page.add_samples()
    qtbot.waitUntil(lambda: len(page.listing.model.ids) == 10)
    qtbot.waitUntil(lambda: len(page.pane.canvas.graph_scene.cards) >= 9)
    agree(page)


def test_reading_only_changes_nothing(
    make_window: OpenWindow, graph_file: Path, qtbot: QtBot
) -> None:
    window = make_window(make_models=FakeModels)
    with Workspace.open(graph_file):
        open_for_reading(window, graph_file, qtbot)
        window.work.choose("graphs")
        page = window.work.page("graphs")
        qtbot.waitUntil(lambda: len(page.pane.canvas.graph_scene.cards) == 5)
        page.pane.canvas.add_step()
        assert page.pane.canvas.editor is None
        page.document.add_step("Never")
        spin(40)
        assert len(rows(window, page).steps) == 5
        assert not page.outline.view.outline.flags(page.outline.view.outline.index(0, 1)) & (
            Qt.ItemFlag.ItemIsEditable
        )
        window.close()


def test_the_list_is_narrowed(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    workspace, person = window.session.workspace, window.session.person_id
    made = {"job": "j", "part": "steps", "method": "icl", "assumption": True}
    result = workspace.transact("A", "", verbs.add_graph, "x", role="model", made=made).value
    mine = workspace.transact("A", person, verbs.add_graph, "y").value
    gold = page.document.graph_id
    for name, ids in (("results", [result.id]), ("mine", [mine.id]), ("gold", [gold]),
                      ("all", [gold, mine.id])):  # fmt: skip
        page.filter.setCurrentIndex(page.filter.findData(name))
        qtbot.waitUntil(lambda ids=ids: list(page.listing.model.ids) == ids)
    assert not page.is_empty_shown


def test_the_place_is_kept(studio: Any, qtbot: QtBot) -> None:
    _window, page = studio()
    page.tabs.setCurrentIndex(1)
    place = page.place()
    assert place["tab"] == 1
    page.restore({"graph": place["graph"], "tab": 4})
    assert page.tabs.currentIndex() == 4
    page.restore({"graph": "gone", "tab": 99})
    assert page.tabs.currentIndex() == 4
