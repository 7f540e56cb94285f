"""Blind means blind: no name of a system, model, run or other person in any widget, log, export or file
name while one works blind; and the comparison of pairs by keys."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QComboBox,
    QFileDialog,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.pages.review import desk as desk_module
from app.pages.runs import page as runs_page
from app.windows.main import MainWindow
from core.people import add_person
from core.review.blinding import is_blind, results_hidden, set_blinding
from core.review.pairs import draw_pairs, submit_pair
from core.review.verbs import fill_queue
from core.runs.engine import execute_run
from core.runs.scoring import DEFAULT_METRICS, score_run
from core.runs.verbs import add_run, add_system, select_examples
from core.storage import Workspace
from core.types import Person, Preference, Run
from core.types.evaluation import PairItem, RubricTick
from models.fake import FakeGenerator
from tests.app.conftest import settle
from tests.app.test_pages_evaluate import ANSWER, texts_of
from tests.core.test_judges import ScriptedJudge, judge_all

SYSTEMS = ("Topsecret Alpha 9B", "Topsecret Beta 70B")
MODEL = "topsecret-model"
COLLEAGUE = "Dr Whistleblower"


class ScriptedModels:
    """Hands out one scripted generator."""

    def __init__(self) -> None:
        self.fake = FakeGenerator(answers=(ANSWER,))

    def generator(self, _model_id: str | None = None) -> FakeGenerator:
        return self.fake

    def close(self) -> None:
        self.fake.close()


def fill(workspace: Workspace) -> None:
    """Two systems with telling names on two examples, scored and judged, and a colleague's choices."""
    from core.metrics.registry import create

    runs = []
    for number, name in enumerate(SYSTEMS):
        system = workspace.transact_job("S", "", add_system, name, model_id=MODEL).value
        ids = select_examples(workspace, "2")
        run = workspace.transact_job("R", "", add_run, system.id, ids).value
        answer = ANSWER.replace("A cough.", "A cough since Monday.") if number else ANSWER
        execute_run(workspace, run.id, FakeGenerator(answers=(answer,)))
        score_run(workspace, run.id, {n: create(n) for n in DEFAULT_METRICS})
        runs.append(run)
    judge_all(workspace, runs, {SYSTEMS[0]: ScriptedJudge(answers=("So.",))})
    other = workspace.transact_job("P", "", add_person, COLLEAGUE).value.id
    workspace.transact_job("D", other, draw_pairs, other)
    for item in workspace.find(PairItem, "person_id = ?", (other,)):
        workspace.transact_job("C", other, submit_pair, item.id, 1, "Their words.")


@pytest.fixture
def window(open_window: Callable[..., MainWindow]) -> MainWindow:
    window = open_window(make_models=ScriptedModels)
    fill(window.session.workspace)
    return window


def compare(window: MainWindow, qtbot: QtBot) -> object:
    """The Review page comparing pairs, the first one shown."""
    page = window.work.show_page("review")
    page.show_mode("compare")
    qtbot.waitUntil(lambda: page.pairs._counts.possible > 0)
    page.pairs.make_pairs()
    qtbot.waitUntil(lambda: bool(page.pairs.item_id))
    return page


def all_words() -> Iterator[str]:
    """Everything any widget of the application says or holds, shown or not."""
    for top in QApplication.topLevelWidgets():
        yield texts_of(top)
        for part in [top, *top.findChildren(QWidget)]:
            yield part.accessibleDescription()
            yield part.statusTip()
            yield part.whatsThis()
            yield str(part.property("placeholderText") or "")
            if isinstance(part, QComboBox):
                yield from (part.itemText(n) for n in range(part.count()))
            if isinstance(part, QAbstractItemView) and part.model() is not None:
                model = part.model()
                for row in range(model.rowCount()):
                    for column in range(model.columnCount()):
                        index = model.index(row, column)
                        for role in (
                            Qt.ItemDataRole.DisplayRole,
                            Qt.ItemDataRole.ToolTipRole,
                            Qt.ItemDataRole.AccessibleTextRole,
                        ):
                            yield str(index.data(role) or "")


def secrets(window: MainWindow) -> list[str]:
    runs = [run.id for run in window.session.workspace.find(Run)]
    return [*SYSTEMS, "Topsecret", MODEL, COLLEAGUE, "Their words", *runs]


def check(window: MainWindow, where: str) -> None:
    """No secret in anything the application holds on to be seen."""
    said = "\n".join(all_words())
    for secret in secrets(window):
        assert secret not in said, f"{secret} on {where}"


def test_no_name_anywhere_while_one_works_blind(
    window: MainWindow, qtbot: QtBot, own_home: Path, tmp_path: Path
) -> None:
    workspace = window.session.workspace
    queue = window.work.show_page("queue")
    queue.set_blind(True)
    qtbot.waitUntil(lambda: is_blind(workspace, window.session.person_id))
    qtbot.waitUntil(queue.blind_button.isChecked)
    qtbot.waitUntil(lambda: len(queue.model.ids) == 4)
    check(window, "queue")
    page = compare(window, qtbot)
    qtbot.waitUntil(lambda: page.pairs._counts.total == 2)
    check(window, "comparison")
    page.show_mode("rate")
    qtbot.waitUntil(lambda: bool(page.rating.item_id))
    check(window, "rating")
    for name in ("results", "runs"):
        shut = window.work.show_page(name)
        qtbot.waitUntil(lambda shut=shut: shut.is_empty_shown)
        qtbot.waitUntil(lambda shut=shut: not shut._stale)
        settle(window, qtbot)
        check(window, name)
        assert [c.text for c in shut.commands() if "Topsecret" in c.text] == []
    # A run of another system that goes on meanwhile says nothing either.
    system = workspace.transact_job("S", "", add_system, "Topsecret Gamma", model_id=MODEL).value
    run = workspace.transact_job("R", "", add_run, system.id, select_examples(workspace, "1")).value
    window.work.page("runs").runner.start(run.id)
    check(window, "a run under way")
    qtbot.waitUntil(lambda: not window.work.page("runs").runner.run_id)
    # What the file dialogs would call the files.
    results = window.work.show_page("results")
    results.export()
    results.make_report()
    assert not [d for d in window.findChildren(QFileDialog) if d.isVisible()]
    logs = [
        p.read_text(encoding="utf-8", errors="replace") for p in own_home.rglob("*") if p.is_file()
    ]
    for secret in secrets(window):
        assert all(secret not in text for text in logs), f"{secret} in a log or setting"
        names = [p.name for folder in (own_home, tmp_path) for p in folder.rglob("*")]
        assert all(secret not in name for name in names)


def test_no_run_is_read_before_it_is_known_whether_one_works_blind(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, me = window.session.workspace, window.session.person_id
    workspace.transact_job("Blind", me, set_blinding, me, True)
    workspace.transact_job("Fill", me, fill_queue, me, 1)
    known = threading.Event()

    def find_out(reads: Workspace, person_id: str) -> int:
        known.wait(60)
        return results_hidden(reads, person_id)

    monkeypatch.setattr(runs_page, "results_hidden", find_out)
    page = window.work.show_page("runs")
    try:
        qtbot.waitUntil(lambda: not page.model.loading)
        assert page.model.rowCount() == 0 and not page.is_empty_shown
        check(window, "runs, before it is known")
    finally:
        known.set()
    qtbot.waitUntil(lambda: page.is_empty_shown)
    check(window, "runs")
    workspace.transact_job("Blind", me, set_blinding, me, False)
    qtbot.waitUntil(lambda: page.model.rowCount() == 2 and not page.is_empty_shown)
    # Blind again, the rows are gone with the names.
    workspace.transact_job("Blind", me, set_blinding, me, True)
    qtbot.waitUntil(lambda: page.is_empty_shown)
    assert page.model.rowCount() == 0
    check(window, "runs, blind again")


def test_results_open_when_ones_own_judgements_are_in(window: MainWindow, qtbot: QtBot) -> None:
    workspace, me = window.session.workspace, window.session.person_id
    queue = window.work.show_page("queue")
    queue.set_blind(True)
    qtbot.waitUntil(lambda: is_blind(workspace, me))
    results = window.work.show_page("results")
    qtbot.waitUntil(lambda: results.is_empty_shown)
    assert not results.report_button.isEnabled()
    workspace.transact_job("Fill", me, fill_queue, me, 1)

    def hand_in(tx: object) -> None:
        tx.execute_unlogged("UPDATE review_item SET state = 'submitted'")  # type: ignore[attr-defined]

    workspace.transact_job("Hand in", me, hand_in)
    results.reload()
    qtbot.waitUntil(lambda: not results.is_empty_shown)
    qtbot.waitUntil(lambda: results.model.rowCount() == 2)
    assert results.report_button.isEnabled()


def test_without_blinding_results_are_shown_as_ever(window: MainWindow, qtbot: QtBot) -> None:
    results = window.work.show_page("results")
    qtbot.waitUntil(lambda: results.model.rowCount() == 2)
    assert not results.is_empty_shown


# -- pairs -----------------------------------------------------------------------------------


def test_pairs_are_compared_by_keys_alone(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk_module, "QUICK_SECONDS", 0.0)
    page = compare(window, qtbot)
    workspace, pairs = window.session.workspace, page.pairs
    assert page.title_label.text() == "Blind comparison"
    first = pairs.item_id
    qtbot.keyClick(pairs.left, "4")
    qtbot.waitUntil(lambda: pairs.strength == 4)
    qtbot.keyClick(pairs.left, "c")
    qtbot.waitUntil(pairs.comment.hasFocus)
    qtbot.keyClicks(pairs.comment, "2 mistakes")
    qtbot.keyClick(pairs.comment, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: workspace.get(PairItem, first).state == "submitted")
    item = workspace.get(PairItem, first)
    (mine,) = workspace.find(Preference, "person_id = ?", (window.session.person_id,))
    assert (mine.choice, mine.strength, mine.comment) == ("right", 4, "2 mistakes")
    assert (mine.left_output_id, mine.right_output_id) == (
        item.left_output_id,
        item.right_output_id,
    )
    assert item.seconds >= 0
    qtbot.waitUntil(lambda: pairs.item_id not in ("", first))
    assert pairs.strength is None
    assert pairs.comment.text == ""
    pairs.left.setFocus()
    qtbot.keyClick(pairs.left, "s")
    qtbot.waitUntil(lambda: workspace.count(PairItem, "state = 'skipped'") == 1)
    qtbot.waitUntil(lambda: not pairs.item_id or page.is_empty_shown)


def test_a_decision_is_asked_for_and_haste_questioned_once(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However slow the machine, this is soon.
    monkeypatch.setattr(desk_module, "QUICK_SECONDS", 600.0)
    page = compare(window, qtbot)
    workspace, pairs = window.session.workspace, page.pairs
    first = pairs.item_id
    pairs.submit()
    assert "Choose which is better" in pairs.notice.text
    pairs.choose(3)
    pairs.submit()
    assert "within a second" in pairs.notice.text
    assert workspace.get(PairItem, first).state == "pending"
    pairs.submit()
    qtbot.waitUntil(lambda: workspace.get(PairItem, first).state == "submitted")
    assert workspace.find(Preference, "strength = 3")


def test_an_earlier_choice_stays_editable(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk_module, "QUICK_SECONDS", 0.0)
    page = compare(window, qtbot)
    workspace, pairs = window.session.workspace, page.pairs
    first = pairs.item_id
    pairs.choose(1)
    pairs.submit()
    qtbot.waitUntil(lambda: pairs.item_id not in ("", first))
    pairs.show_previous()
    qtbot.waitUntil(lambda: pairs.item_id == first)
    assert pairs.strength == 1
    pairs.choose(5)
    pairs.submit()
    mine = "person_id = ?", (window.session.person_id,)
    qtbot.waitUntil(lambda: [p.strength for p in workspace.find(Preference, *mine)] == [5])


def test_ticks_are_ones_own_and_differences_are_marked(window: MainWindow, qtbot: QtBot) -> None:
    page = compare(window, qtbot)
    workspace, pairs = window.session.workspace, page.pairs
    if not pairs.view.rubric:
        pairs.show_next()
        qtbot.waitUntil(lambda: bool(pairs.view.rubric))
    output, item = next(iter(pairs.ticks.buttons))
    button = pairs.ticks.buttons[output, item]
    assert "not ticked" in button.accessibleName()
    button.click()
    qtbot.waitUntil(lambda: [t.tick for t in workspace.find(RubricTick)] == ["yes"])
    button.click()
    qtbot.waitUntil(lambda: [t.tick for t in workspace.find(RubricTick)] == ["no"])
    assert workspace.find(RubricTick)[0].person_id == window.session.person_id
    assert not pairs.left.extraSelections()
    pairs.differences.setChecked(True)
    marked = len(pairs.left.extraSelections()) + len(pairs.right.extraSelections())
    assert marked > 0
    pairs.show_panel("input")
    assert pairs.panel_text.toPlainText()


def test_another_person_gets_a_queue_and_a_screen_of_their_own(
    window: MainWindow, qtbot: QtBot
) -> None:
    page = compare(window, qtbot)
    first = page.pairs.item_id
    other = window.session.workspace.find(Person, "name = ?", (COLLEAGUE,))[0]
    window.session.set_person(other)
    page.pairs.refresh()
    qtbot.waitUntil(lambda: page.pairs.item_id != first)


def test_comparing_comes_back_to_the_pair_and_the_mode(window: MainWindow, qtbot: QtBot) -> None:
    page = compare(window, qtbot)
    qtbot.waitUntil(lambda: page.pairs._counts.total == 2)
    first = page.pairs.item_id
    page.pairs.show_next()
    # What comes meanwhile does not overtake the way to another pair.
    page.reload()
    qtbot.waitUntil(lambda: page.pairs.item_id != first)
    kept = page.place()
    window.work.clear()
    again = window.work.show_page("review", kept)
    assert again.comparing
    qtbot.waitUntil(lambda: again.pairs.item_id == kept["pair"]["item"])
    assert again.title_label.text() == "Blind comparison"
    assert "pair 2 of 2" in again.subtitle_label.text()
    again.show_mode("rate")
    qtbot.waitUntil(lambda: bool(again.rating.item_id))
    assert "pair" not in again.subtitle_label.text()


def test_what_was_typed_is_saved_before_somebody_else_sits_down(
    window: MainWindow, qtbot: QtBot
) -> None:
    page = compare(window, qtbot)
    workspace, first = window.session.workspace, page.pairs.item_id
    page.pairs.comment.setPlainText("Mine, not theirs.")
    page.pairs.saver.touch()
    window.commands.choose_person()
    assert workspace.get(PairItem, first).comment == "Mine, not theirs."
    other = workspace.find(Person, "name = ?", (COLLEAGUE,))[0]
    window.session.set_person(other)
    assert page.pairs.comment.text == ""
    assert not page.pairs.left.toPlainText()
