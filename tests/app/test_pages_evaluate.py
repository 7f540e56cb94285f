"""Runs, Review, Results and Queue, driven in a real window with scripted models."""

from __future__ import annotations

import csv
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.pages.review.items import pick_item
from app.pages.runs import dialogs
from app.pages.runs.dialogs import RunDialog, SystemDialog
from app.session import Session
from app.windows.main import MainWindow
from core.errors import ModelError
from core.ports import Cancellation, Generation, GenerationRequest, Piece
from core.runs.verbs import add_run, add_system, select_examples
from core.storage import Workspace
from core.types import RATING_AXES, Job, Output, Rating, ReviewItem, Run, System
from models.catalog import CatalogEntry
from models.fake import FakeGenerator
from tests.app.conftest import find_dialog

SECRET = "Top Secret 9B"
MODEL = "secret-model-9b"
ANSWER = "# Subjective\n\nA cough.\n\n# Objective\n\nNo fever.\n\n# Assessment\n\nA cold.\n\n# Plan\n\nRest."


class HeldGenerator(FakeGenerator):
    """Writes a few words and no more while it is ``held``, until it is told to stop."""

    held = False

    def generate(
        self,
        request: GenerationRequest,
        *,
        on_piece: Callable[[Piece], None] | None = None,
        cancel: Cancellation | None = None,
    ) -> Generation:
        count = 0

        def pass_on(piece: Piece) -> None:
            nonlocal count
            count += 1
            if on_piece is not None:
                on_piece(piece)
            while self.held and count > 5 and not (cancel is not None and cancel.cancelled):
                time.sleep(0.005)

        return super().generate(request, on_piece=pass_on, cancel=cancel)


class ScriptedModels:
    """Hands out one scripted generator."""

    def __init__(self) -> None:
        self.fake = HeldGenerator(answers=(ANSWER,))
        self.asked: list[str | None] = []

    def generator(self, model_id: str | None = None) -> FakeGenerator:
        self.asked.append(model_id)
        return self.fake

    def close(self) -> None:
        self.fake.close()


@pytest.fixture
def models() -> ScriptedModels:
    return ScriptedModels()


@pytest.fixture
def window(open_window: Callable[..., MainWindow], models: ScriptedModels) -> MainWindow:
    """The demo workspace in a window, with a system that has a telling name."""
    window = open_window(make_models=lambda: models)
    window.session.workspace.transact_job(
        "System", "", add_system, SECRET, model_id=MODEL, model_sha256="0" * 64
    )
    return window


def start_run(window: MainWindow, count: int = 2) -> Run:
    """A run written down and started as the page does it."""
    workspace = window.session.workspace
    system = workspace.find(System)[0]
    ids = select_examples(workspace, str(count))
    run = workspace.transact_job("Run", "", add_run, system.id, ids).value
    page = window.work.page("runs")
    page.runner.start(run.id, score=True)
    return run


def finish_run(window: MainWindow, qtbot: QtBot, count: int = 2) -> Run:
    """A run, written and scored."""
    run = start_run(window, count)
    runner = window.work.page("runs").runner
    workspace = window.session.workspace
    qtbot.waitUntil(lambda: workspace.value("SELECT count(*) FROM score") == 3 * count)
    qtbot.waitUntil(lambda: not runner.run_id and not runner.is_scoring(run.id))
    return run


def job_of(workspace: Workspace, run: Run) -> Job:
    return workspace.get(Job, run.job_id)


def texts_of(widget: QWidget) -> str:
    """All that a widget says: labels, tooltips, names, window titles."""
    found = []
    for part in [widget, *widget.findChildren(QWidget)]:
        found += [part.accessibleName(), part.toolTip(), part.windowTitle()]
        found.append(part.text() if isinstance(part, QLabel) else "")
        plain = getattr(part, "toPlainText", None)
        found.append(plain() if plain else "")
        text = getattr(part, "text", None)
        found.append(str(text() if callable(text) else text or ""))
    return "\n".join(found)


# -- runs ------------------------------------------------------------------------------------


def test_empty_runs_page_offers_the_first_step(window: MainWindow, qtbot: QtBot) -> None:
    page = window.work.show_page("runs")
    qtbot.waitUntil(lambda: page.is_empty_shown)
    page._empty.buttons[0].click()
    qtbot.waitUntil(lambda: find_dialog(RunDialog) is not None)
    dialog = find_dialog(RunDialog)
    assert isinstance(dialog, RunDialog)
    qtbot.waitUntil(dialog.start_button.isEnabled)
    dialog.limit.setValue(1)
    qtbot.waitUntil(lambda: "1 output " in dialog.count_label.text())
    dialog.start_button.click()
    workspace = window.session.workspace
    qtbot.waitUntil(lambda: workspace.count(Output, "state = 'done'") == 1)
    qtbot.waitUntil(lambda: not page.is_empty_shown)
    qtbot.waitUntil(lambda: workspace.value("SELECT count(*) FROM score") == 3)
    qtbot.waitUntil(lambda: page.detail.counts_label.text() == "1 of 1 written · 1 scored")


def tiny_model(folder: Path) -> CatalogEntry:
    """A model that writes, as the catalogue has it."""
    return CatalogEntry(
        id="tiny", name="Tiny", role="generator", format="gguf", folder=folder, sha256="1" * 64
    )


def test_system_dialog_makes_a_system(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    entry = tiny_model(tmp_path)
    monkeypatch.setattr(dialogs, "list_models", lambda: [entry])
    page = window.work.show_page("runs")
    made: list[System] = []
    dialog = SystemDialog(page, made.append)
    dialog.open()
    qtbot.waitUntil(dialog.add_system_button.isEnabled)
    assert dialog.name.text() == "Tiny"
    dialog.name.setText(SECRET)
    dialog.add_system_button.click()
    qtbot.waitUntil(dialog.notice.isVisible)
    assert "already" in dialog.notice.text
    dialog.name.setText("Tiny, sections")
    dialog.mode.choose("sections")
    dialog.temperature.setValue(0.7)
    dialog.max_tokens.setValue(512)
    dialog.add_system_button.click()
    qtbot.waitUntil(lambda: bool(made))
    assert made[0].params == {
        "mode": "sections",
        "max_tokens": 512,
        "temperature": 0.7,
        "seed": 0,
    }
    assert made[0].model_sha256 == "1" * 64


def test_a_late_list_of_models_takes_the_keyboard_from_nobody(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    entry = tiny_model(tmp_path)
    come = threading.Event()

    def list_late() -> list[CatalogEntry]:
        come.wait()
        return [entry]

    monkeypatch.setattr(dialogs, "list_models", list_late)
    dialog = SystemDialog(window.work.show_page("runs"), lambda _system: None)
    try:
        with qtbot.waitActive(dialog):
            dialog.open()
        qtbot.waitUntil(dialog.name.hasFocus)
        dialog.max_tokens.setFocus()
        dialog.max_tokens.selectAll()
        qtbot.keyClicks(dialog.max_tokens, "4")
    finally:
        come.set()
    qtbot.waitUntil(dialog.add_system_button.isEnabled)
    assert dialog.max_tokens.hasFocus()
    qtbot.keyClicks(QApplication.focusWidget(), "0")
    assert dialog.max_tokens.value() == 40
    dialog.close()


def test_text_streams_stops_and_resumes(
    window: MainWindow, models: ScriptedModels, qtbot: QtBot
) -> None:
    models.fake.held = True
    page = window.work.show_page("runs")
    run = start_run(window, 2)
    qtbot.waitUntil(lambda: "A cough" in page.detail.reader.toPlainText())
    qtbot.waitUntil(page.detail.stop_button.isVisible)
    workspace = window.session.workspace
    assert workspace.count(Output, "state = 'done'") == 0, "text must show before the end"
    qtbot.keyClick(page, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: job_of(workspace, run).state == "cancelled")
    qtbot.waitUntil(page.detail.resume_button.isVisible)
    qtbot.waitUntil(lambda: page.detail.state_label.text() == "Stopped")
    models.fake.held = False
    page.detail.resume_button.click()
    qtbot.waitUntil(lambda: job_of(workspace, run).state == "done")
    assert workspace.count(Output, "state = 'done'") == 2
    assert set(models.asked) == {MODEL}


def test_failed_outputs_say_why_and_are_tried_again(
    window: MainWindow, models: ScriptedModels, qtbot: QtBot
) -> None:
    models.fake.fail_on = {"SOAP": ModelError("The worker ended.", remedy="Try again.")}
    page = window.work.show_page("runs")
    workspace = window.session.workspace
    run = start_run(window, 1)
    qtbot.waitUntil(lambda: job_of(workspace, run).failed == 1)
    qtbot.waitUntil(page.detail.retry_button.isVisible)
    qtbot.waitUntil(lambda: "1 failed" in page.detail.counts_label.text())
    output = workspace.find(Output)[0]
    qtbot.waitUntil(lambda: page.detail.outputs.row_of(output.id) == 0)
    page.detail.table.select_id(output.id)
    qtbot.waitUntil(lambda: "The worker ended" in page.detail.reason.text)
    models.fake.fail_on = {}
    page.detail.retry_button.click()
    qtbot.waitUntil(lambda: workspace.get(Output, output.id).state == "done")


def test_a_second_run_waits_for_the_first(
    window: MainWindow, models: ScriptedModels, qtbot: QtBot
) -> None:
    models.fake.delay = 0.01
    workspace = window.session.workspace
    first, second = start_run(window, 1), start_run(window, 1)
    runner = window.work.page("runs").runner
    assert runner.is_active(first.id)
    assert runner.is_waiting(second.id)
    qtbot.waitUntil(lambda: job_of(workspace, second).state == "done")
    assert job_of(workspace, first).state == "done"
    qtbot.waitUntil(lambda: workspace.value("SELECT count(*) FROM score") == 6)
    qtbot.waitUntil(lambda: not window.session.jobs.long_jobs)


# -- queue and review ------------------------------------------------------------------------


def test_queue_fills_counts_and_opens_the_review(window: MainWindow, qtbot: QtBot) -> None:
    finish_run(window, qtbot)
    page = window.work.show_page("queue")
    qtbot.waitUntil(lambda: len(page.model.ids) == 2)
    qtbot.waitUntil(lambda: page.filters["pending"].text() == "Pending 2")
    assert page.filters["submitted"].text() == "Submitted 0"
    wanted = page.model.ids[1]
    page.table.select_id(wanted)
    page.table.setFocus()
    qtbot.keyClick(page.table, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.work.current == "review")
    review = window.work.current_page
    qtbot.waitUntil(lambda: review.rating.item_id == wanted)


def test_enter_presses_a_button_of_the_queue_and_hands_in_under_review(
    window: MainWindow, qtbot: QtBot
) -> None:
    finish_run(window, qtbot)
    workspace = window.session.workspace
    page = window.work.show_page("queue")
    qtbot.waitUntil(lambda: bool(page.model.ids))
    page.filters["submitted"].setFocus()
    qtbot.keyClick(page.filters["submitted"], Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not page.model.ids)
    assert window.work.current == "queue"
    window.work.choose("review")
    review = window.work.current_page
    qtbot.waitUntil(lambda: bool(review.rating.item_id))
    first = review.rating.item_id
    for bar in review.rating.ratings.bars.values():
        bar.rate(4)
    qtbot.waitUntil(lambda: workspace.count(Rating) == 5)
    review.rating.source_button.setFocus()
    qtbot.keyClick(review.rating.source_button, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: workspace.get(ReviewItem, first).state == "submitted")


def test_queue_without_outputs_says_what_it_is_for(window: MainWindow, qtbot: QtBot) -> None:
    page = window.work.show_page("queue")
    qtbot.waitUntil(lambda: page.is_empty_shown)
    page._empty.buttons[0].click()
    assert window.work.current == "runs"


def open_review(window: MainWindow, qtbot: QtBot, count: int = 2) -> Any:
    finish_run(window, qtbot, count)
    window.work.choose("review")
    page = window.work.current_page
    qtbot.waitUntil(lambda: page.rating.view is not None and not page.is_empty_shown)
    return page.rating


def test_review_by_keys_alone(window: MainWindow, qtbot: QtBot) -> None:
    page = open_review(window, qtbot)
    workspace = window.session.workspace
    first = page.item_id
    for key in "45321":
        qtbot.keyClick(page.output, key)
    qtbot.waitUntil(lambda: workspace.count(Rating) == 5)
    by_axis = {rating.axis: rating.value for rating in workspace.find(Rating)}
    assert [by_axis[axis] for axis in RATING_AXES] == [4, 5, 3, 2, 1]
    assert workspace.get(ReviewItem, first).state == "draft"
    qtbot.keyClick(page.output, "c")
    qtbot.waitUntil(page.comment.hasFocus)
    # Digits and Enter are text now, not ratings and not a submission.
    qtbot.keyClicks(page.comment, "12 mg")
    qtbot.keyClick(page.comment, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: workspace.get(ReviewItem, first).state == "submitted")
    assert workspace.get(ReviewItem, first).comment == "12 mg"
    assert workspace.count(Rating) == 5
    qtbot.waitUntil(lambda: page.item_id not in ("", first))
    assert page.ratings.values == {}
    assert page.comment.text == ""
    page.output.setFocus()
    second = page.item_id
    for _ in RATING_AXES:
        qtbot.keyClick(page.output, "3")
    qtbot.keyClick(page.output, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: workspace.get(ReviewItem, second).state == "submitted")
    qtbot.waitUntil(lambda: window.work.current_page.is_empty_shown)


def test_review_refuses_half_a_rating_and_keeps_the_draft(window: MainWindow, qtbot: QtBot) -> None:
    page = open_review(window, qtbot)
    workspace = window.session.workspace
    page.rate(4)
    page.submit()
    assert "Factual correctness" in page.notice.text
    assert page.ratings.active == "factual_correctness"
    qtbot.waitUntil(lambda: workspace.count(Rating) == 1)
    assert workspace.get(ReviewItem, page.item_id).state == "draft"


def test_skip_next_previous_and_editing_again(window: MainWindow, qtbot: QtBot) -> None:
    page = open_review(window, qtbot)
    workspace = window.session.workspace
    first = page.item_id
    qtbot.keyClick(page.output, "s")
    qtbot.waitUntil(lambda: page.item_id != first)
    assert workspace.get(ReviewItem, first).state == "skipped"
    second = page.item_id
    qtbot.keyClick(page.output, "k")
    qtbot.waitUntil(lambda: page.item_id == first)
    for _ in RATING_AXES:
        page.rate(5)
    page.submit()
    qtbot.waitUntil(lambda: workspace.get(ReviewItem, first).state == "submitted")
    qtbot.waitUntil(lambda: page.item_id == second)
    page.show_previous()
    qtbot.waitUntil(lambda: page.item_id == first)
    assert page.ratings.values == dict.fromkeys(RATING_AXES, 5)


def test_undo_takes_a_rating_back_on_the_page(window: MainWindow, qtbot: QtBot) -> None:
    page = open_review(window, qtbot)
    workspace = window.session.workspace
    page.rate(4)
    qtbot.waitUntil(lambda: workspace.count(Rating) == 1)
    qtbot.waitUntil(lambda: page._writing == 0)
    window.undoing.undo()
    qtbot.waitUntil(lambda: page.ratings.values == {})
    assert workspace.count(Rating) == 0


def test_review_comes_back_to_the_item_after_another_page(window: MainWindow, qtbot: QtBot) -> None:
    page = open_review(window, qtbot, 3)
    page.show_next()
    first = page.item_id
    qtbot.waitUntil(lambda: page.item_id != first)
    kept = window.work.current_page.place()
    window.work.clear()
    again = window.work.show_page("review", kept)
    qtbot.waitUntil(lambda: again.rating.item_id == kept["item"])


def test_blind_pages_name_no_system_no_model_no_run(window: MainWindow, qtbot: QtBot) -> None:
    review = open_review(window, qtbot)
    review.rate(4)
    qtbot.waitUntil(lambda: window.session.workspace.count(Rating) == 1)
    queue = window.work.show_page("queue")
    qtbot.waitUntil(lambda: bool(queue.model.ids))
    rows = [queue.model.row_at(row) for row in range(len(queue.model.ids))]
    run = window.session.workspace.find(Run)[0]
    said = texts_of(window.work.page("review")) + texts_of(queue) + repr(rows)
    said += texts_of(window.work.bottom) + texts_of(window.work.top)
    assert review.view.pseudonym in said
    for secret in (SECRET, MODEL, run.id, "fake-generator"):
        assert secret not in said


def test_picking_items() -> None:
    items = [("a", "submitted"), ("b", "pending"), ("c", "draft"), ("d", "skipped")]
    assert pick_item(items, "") == "c"
    assert pick_item(items, "gone") == "b"
    assert pick_item(items, "d") == "d"
    assert pick_item(items, "a", 1) == "b"
    assert pick_item(items, "a", -1) == "a"
    assert pick_item(items, "d", 1) == "d"
    assert pick_item(items, "c", 2) == "b"
    assert pick_item([("a", "draft")], "a", 2) == ""
    assert pick_item([], "") == ""


# -- results ---------------------------------------------------------------------------------


def test_results_table_plots_drill_down_and_files(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    from app.pages.results.output_dialog import OutputDialog

    review = open_review(window, qtbot)
    for _ in RATING_AXES:
        review.rate(4)
    reviewed = window.session.workspace.get(ReviewItem, review.item_id).output_id
    review.submit()
    qtbot.waitUntil(lambda: window.session.workspace.count(ReviewItem, "state = 'submitted'") == 1)
    window.work.choose("results")
    page = window.work.current_page
    qtbot.waitUntil(lambda: page.model.rowCount() == 1)
    results = page.model.results
    assert results.metrics[:3] == ("section_presence", "rougeL", "length")
    assert results.metrics[3:] == tuple(f"rating: {a.replace('_', ' ')}" for a in RATING_AXES)
    assert page.model.index(0, 0).data() == SECRET
    assert page.model.index(0, 4).data() == "4.00"
    assert "±" in page.model.index(0, 3).data()
    qtbot.waitUntil(lambda: len(page.plots.drawn) == 8)

    page.table.setCurrentIndex(page.model.index(0, 4))
    qtbot.waitUntil(lambda: len(page.behind.ids) == 1)
    assert page.behind.row_at(0)["output"] == reviewed
    page.behind_card.open_first_output()
    qtbot.waitUntil(lambda: find_dialog(OutputDialog) is not None)
    dialog = find_dialog(OutputDialog)
    assert isinstance(dialog, OutputDialog)
    qtbot.waitUntil(lambda: "A cough." in dialog.output.toPlainText())
    dialog.accept()

    from app.pages.results.export_dialog import write_export
    from app.pages.results.report_dialog import write_report_file
    from core.report.html import ReportOptions

    table, report = tmp_path / "results.csv", tmp_path / "report.html"
    write_export(page, table, "results", "csv", "", page._on_written)
    write_report_file(page, report, ReportOptions(), page._on_written)
    qtbot.waitUntil(lambda: table.exists() and report.exists())
    with table.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["measure"] for row in rows].count("rougeL") == 1
    depth = next(row for row in rows if row["measure"] == "rating: depth")
    assert (depth["system"], float(depth["mean"]), depth["n"]) == (SECRET, 4.0, "1")
    assert SECRET in report.read_text(encoding="utf-8")


def test_results_hide_the_text_of_what_is_still_to_be_reviewed(
    window: MainWindow, qtbot: QtBot
) -> None:
    from app.pages.results.output_dialog import OutputDialog

    open_review(window, qtbot)
    window.work.choose("results")
    page = window.work.current_page
    qtbot.waitUntil(lambda: len(page.behind.ids) == 2)
    page.behind_card.open_first_output()
    qtbot.waitUntil(lambda: find_dialog(OutputDialog) is not None)
    dialog = find_dialog(OutputDialog)
    assert isinstance(dialog, OutputDialog)
    qtbot.waitUntil(lambda: not dialog.notice.isHidden())
    assert dialog.output.toPlainText() == ""
    dialog.accept()


def test_results_without_scores_point_to_the_first_step(window: MainWindow, qtbot: QtBot) -> None:
    page = window.work.show_page("results")
    qtbot.waitUntil(lambda: page.is_empty_shown)
    assert not page.export_button.isEnabled()


def test_a_run_is_scored_with_the_metrics_that_are_ticked(
    session: Session, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.pages.runs import score_dialog
    from app.pages.runs.score_dialog import OUTPUT_METRICS, ScoreDialog
    from core.runs.scoring import DEFAULT_METRICS

    judge = CatalogEntry(id="nli", name="Small", role="nli", format="onnx-nli", folder=tmp_path)
    monkeypatch.setattr(score_dialog, "list_models", lambda: [judge])
    chosen: list[str] = []
    parent = QWidget()
    parent.session = session  # type: ignore[attr-defined]
    dialog = ScoreDialog(parent, chosen.extend)
    assert dialog.names == list(DEFAULT_METRICS)
    # What an entailment model says is offered where there is one, with its name.
    qtbot.waitUntil(lambda: "nli" in dialog.boxes)
    assert "By Small" in dialog.boxes["nli"].accessibleDescription()
    for name, box in dialog.boxes.items():
        assert "\n" in box.toolTip()
        box.setChecked(name in ("bleu", "nli"))
    dialog.score_button.click()
    assert chosen == ["bleu", "nli"]
    assert "bleu" in OUTPUT_METRICS
    dialog.deleteLater()
    parent.deleteLater()


def test_the_help_says_of_each_metric_what_its_code_says() -> None:
    from app.windows.help import help_topics, read_topic
    from core.metrics.registry import describe, names

    assert ("metrics", "Metrics") in help_topics()
    text = read_topic("metrics")
    for name in names():
        assert describe(name) in text
