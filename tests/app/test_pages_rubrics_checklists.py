"""The checklist page through the real window: mapping and judging by keys, models as jobs, numbers, trust."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from pyqtgraph import PlotWidget
from PySide6.QtCore import QPoint, Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from app.pages.checklists.page import Page
from app.pages.checklists.result_list import ResultModel, ResultRow
from app.pages.checklists.run_dialog import RunDialog
from app.pages.checklists.tables import PlainTable, Point, ScatterCard
from app.pages.checklists.text_view import TextView, split_text
from app.widgets.basics import Card
from app.windows.main import MainWindow
from core.checklists.runs import Plan
from core.checklists.scores import Judge, samples_of
from core.checklists.verbs import entries_of
from core.ports import Choice, Generation, GenerationRequest, Message
from core.review.blinding import set_blinding
from core.review.verbs import fill_queue
from core.rubrics.verbs import rubric_items
from core.runs.verbs import add_imported_output, add_system
from core.storage import Workspace
from core.types import Example, Rubric, RubricItem, Run, Score
from core.types.rubrics import Checklist, Judgement, TrustSample, Verdict
from models.fake import FakeEntailment, FakeGenerator
from tests.app.conftest import find_dialog, open_empty

OpenWindow = Callable[..., MainWindow]
OUTPUT = "# Subjective\n\nThe pain began on Saturday. He takes ramipril 10 mg.\n\n# Plan\n\nReturn soon 😀."


class EchoModel(FakeGenerator):
    """Maps every item to a word that stands in both texts, and judges by words."""

    def generate(self, request: GenerationRequest, **kwargs: object) -> Generation:
        prompt = request.messages[-1].content
        if request.grammar is not None:
            return Generation(text="{}")
        if prompt.startswith("Item:"):
            return Generation(text="It differs.")
        return Generation(text="Saturday")

    def choose(self, messages: Sequence[Message], options: Sequence[str]) -> Choice:
        text = messages[-1].content
        if "Text A: " not in text:
            return Choice((0.7, 0.3), 1.0)
        a, b = (text.split(f"Text {name}: ")[1].split("\n")[0] for name in "AB")
        return Choice((0.9, 0.1) if b in a else (0.1, 0.9), 1.0)


class Models:
    """The two models of a machine."""

    def generator(self, *_: object) -> EchoModel:
        return EchoModel()

    def entailment(self, *_: object) -> FakeEntailment:
        return FakeEntailment()

    def close(self) -> None:
        """Nothing to end."""


@pytest.fixture
def window(demo_file: Path, make_window: OpenWindow, qtbot: QtBot) -> MainWindow:
    """The demo with one imported output of the SOAP task's first example."""
    with Workspace.open(demo_file) as workspace:
        rubric = workspace.find(Rubric)[0]
        example = workspace.find(Example, "task_id = ?", (rubric.task_id,))[0]

        def fill(tx) -> None:  # type: ignore[no-untyped-def]
            system = add_system(tx, "Secret system")
            run = tx.insert(Run(id="run", system_id=system.id))
            add_imported_output(tx, run.id, example.id, OUTPUT, sections=(), missing=(), position=0)

        workspace.transact_job("Fill", "", fill)
    made = make_window(make_models=Models)
    made.open_path(demo_file)
    qtbot.waitUntil(lambda: made.session.has_workspace)
    return made


def open_page(window: MainWindow, qtbot: QtBot) -> Page:
    window.work.choose("checklists")
    page = window.work.page("checklists")
    assert isinstance(page, Page)
    qtbot.waitUntil(lambda: page.compare.comparison is not None)
    place = next(
        n for n in range(page.text_box.count()) if not page.text_box.itemData(n).endswith(":")
    )
    page.text_box.setCurrentIndex(place)
    qtbot.waitUntil(
        lambda: (
            page.compare.comparison is not None
            and page.compare.comparison.output is not None
            and len(page.compare.panel.model.rows) == 6
        )
    )
    return page


def select(view: TextView, words: str) -> None:
    start = view.whole.index(words)
    view.select_span(start, start + len(words))


def status(page: Page) -> dict[str, str]:
    return {row.item.title: row.status for row in page.compare.panel.model.rows}


def test_the_result_model_is_a_sound_model(qtmodeltester: ModelTester) -> None:
    item = RubricItem(id="1", rubric_id="r", position=1.0, title="T")
    model = ResultModel()
    model.set_rows([ResultRow(item, "right", "a", "b"), ResultRow(item, "missing", "a", "", True)])
    qtmodeltester.check(model)


def test_places_in_a_text_are_those_of_the_whole(qtbot: QtBot) -> None:
    view = TextView("Text")
    qtbot.addWidget(view)
    text = "Before 😀\n\n# One\n\nAlpha 😀 beta.\n\n## Two ##\n\nGamma."
    view.set_whole(text)
    assert [(p.title, text[p.start : p.end]) for p in split_text(text)] == [
        ("", "Before 😀"),
        ("One", "Alpha 😀 beta."),
        ("Two", "Gamma."),
    ]
    for words in ("beta", "Gamma.", "😀 beta", "Before"):
        select(view, words)
        assert view.textCursor().selectedText() == words
        found = view.selection()
        assert found is not None
        assert text[found[0] : found[1]] == words


def test_a_table_without_rows_says_what_would_stand_there(qtbot: QtBot) -> None:
    card = Card("Rows")
    table = PlainTable("Rows", ["Name", "Number"], "Nothing yet.")
    card.add(table)
    card.add(table.empty)
    qtbot.addWidget(card)
    card.show()
    table.load([])
    assert (table.isVisible(), table.empty.isVisible()) == (False, True)
    table.load([("a", "1")])
    assert (table.isVisible(), table.empty.isVisible()) == (True, False)


def test_points_of_one_place_are_one_larger_point(qtbot: QtBot) -> None:
    card = ScatterCard("Plot", "x", "y", "note", danger="much said, and wrong")
    qtbot.addWidget(card)
    card.load([Point(0.5, 0.5, "a"), Point(0.5, 0.5, "b"), Point(1.0, 0.0, "c")], (), "")
    (scatter,) = (i for i in card.findChild(PlotWidget).getPlotItem().items if hasattr(i, "points"))
    found = {point.data(): point.size() for point in scatter.points()}
    assert found["a\nb"] == pytest.approx(found["c"] * 2**0.5)


def test_mapping_and_judging_by_keys(window: MainWindow, qtbot: QtBot) -> None:
    page = open_page(window, qtbot)
    view, workspace = page.compare, window.session.workspace
    view.panel.list.select_row(0)
    select(view.output.view, "on Saturday")
    view.output.view.setFocus()
    qtbot.keyClick(view.output.view, Qt.Key.Key_F)
    qtbot.waitUntil(lambda: workspace.count(Checklist) == 1)
    qtbot.waitUntil(lambda: view.panel.list.currentIndex().row() == 1)
    qtbot.waitUntil(lambda: view.comparison.output.checklist is not None)
    entry = next(iter(entries_of(workspace, view.comparison.output.checklist.id).values()))
    assert (entry.text, OUTPUT[entry.start : entry.end]) == ("on Saturday", "on Saturday")
    select(view.output.view, "ramipril 10 mg")
    qtbot.keyClick(view.output.view, Qt.Key.Key_F)
    qtbot.waitUntil(lambda: view.panel.list.currentIndex().row() == 2)
    qtbot.keyClick(view.output.view, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: view.comparison.output.checklist.state == "done")
    qtbot.waitUntil(lambda: list(status(page).values()) == ["found"] * 2 + ["nothing"] * 4)
    qtbot.keyClick(view.output.view, Qt.Key.Key_S)
    assert view.side == "reference"
    reference = view.reference.view
    qtbot.waitUntil(reference.hasFocus)
    view.panel.list.select_row(0)
    select(reference, reference.whole[reference.whole.index("\n\n") + 2 :][:30].strip())
    qtbot.keyClick(reference, Qt.Key.Key_F)
    qtbot.waitUntil(lambda: view.comparison.reference.checklist is not None)
    qtbot.keyClick(reference, Qt.Key.Key_W)
    qtbot.waitUntil(view.panel.own_words.hasFocus)
    qtbot.keyClicks(view.panel.own_words, "ramipril 5 mg, as far as one knows")
    qtbot.keyClick(view.panel.own_words, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: view.panel.list.currentIndex().row() == 2)
    qtbot.keyClick(view.panel.list, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: view.comparison.reference.checklist.state == "done")
    qtbot.waitUntil(lambda: len(view.comparison.pairs) == 6)
    view.panel.list.select_row(0)
    view.panel.list.setFocus()
    qtbot.keyClick(view.panel.list, Qt.Key.Key_1)
    qtbot.waitUntil(lambda: workspace.count(Verdict) == 1)
    qtbot.keyClick(view.panel.list, Qt.Key.Key_5)
    qtbot.waitUntil(lambda: workspace.count(Verdict) == 2)
    qtbot.waitUntil(
        lambda: (
            list(status(page).values())
            == ["right", "contradicted", "absent", "absent", "absent", "absent"]
        )
    )
    assert "F1 0.83" in page.compare.panel.note_label.full_text
    assert "≠ 1 contradicted" in view.panel.legend.accessibleName()
    assert {"✓", "≠"} <= {sign for _, _, signs in view.output.view.signs() for sign in signs}
    qtbot.keyClick(view.panel.list, Qt.Key.Key_Home)
    qtbot.keyClick(view.panel.list, Qt.Key.Key_G)
    assert view.panel.list.currentIndex().row() == 1
    # A click on a marked place goes to its item.
    view.output.view.pointed.emit(OUTPUT.index("Saturday"))
    assert view.panel.list.currentIndex().row() == 0
    view.panel.list.select_row(1)
    assert view.panel.buttons["against"].isChecked()
    qtbot.keyClick(view.panel.list, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: list(status(page).values())[1] == "unscored")


def test_letters_typed_in_the_field_are_no_commands(window: MainWindow, qtbot: QtBot) -> None:
    page = open_page(window, qtbot)
    page.compare.panel.own_words.setFocus()
    qtbot.waitUntil(page.compare.panel.own_words.hasFocus)
    qtbot.keyClicks(page.compare.panel.own_words, "n1x5fa")
    assert page.compare.panel.own_words.text() == "n1x5fa"
    assert window.session.workspace.count(Checklist) == 0


def test_a_model_maps_and_judges_in_the_background(window: MainWindow, qtbot: QtBot) -> None:
    page = open_page(window, qtbot)
    workspace = window.session.workspace
    rubric = workspace.find(Rubric)[0]
    row = page.texts.texts[page.text_box.currentIndex()]
    plan = Plan(rubric_id=rubric.id, outputs=((row.example_id, row.output_id),))
    page.start(plan, "", "")
    qtbot.waitUntil(lambda: workspace.count(Score, "metric = 'clear'") == 1, timeout=10_000)
    qtbot.waitUntil(page.run_button.isEnabled)
    qtbot.waitUntil(lambda: page.judge_box.count() == 2)
    page.judge_box.setCurrentIndex(1)
    qtbot.waitUntil(lambda: set(status(page).values()) == {"right"})
    verdicts = workspace.count(Verdict)
    page.start(plan, "", "")
    qtbot.waitUntil(lambda: workspace.count(Score, "metric = 'clear'") == 2, timeout=10_000)
    assert workspace.count(Verdict) == verdicts
    assert workspace.count(Judgement) == 1
    page.tabs.setCurrentIndex(1)
    qtbot.waitUntil(lambda: page.numbers.task.rowCount() == 2)
    assert page.numbers.task.item(0, 1).text().startswith("1.000")
    qtbot.waitUntil(lambda: "Nobody has checked" in page.numbers.warning.text)
    page.tabs.setCurrentIndex(2)
    qtbot.waitUntil(lambda: page.trust.judges.rowCount() == 1)
    assert "not checked" in page.trust.judges.item(0, 1).text()
    assert page.trust.warning.isVisible()
    page.trust.draw()
    qtbot.waitUntil(lambda: workspace.count(TrustSample) == 1)
    qtbot.waitUntil(lambda: page.trust.sample.rowCount() == 1)
    page.trust.open_next()
    assert page.tabs.currentIndex() == 0


def test_the_run_dialog_offers_models_and_starts(window: MainWindow, qtbot: QtBot) -> None:
    page = open_page(window, qtbot)
    started: list[Plan] = []
    page.start = lambda plan, *_: started.append(plan)  # type: ignore[method-assign]
    page.show_run()
    dialog = find_dialog(RunDialog)
    assert isinstance(dialog, RunDialog)
    dialog._fill(([("Echo", "echo")], [("Entail", "entail")]))
    dialog.judge.setCurrentIndex(dialog.judge.findData("nli:entail"))
    dialog.reasons.setCurrentIndex(2)
    dialog.go.click()
    assert len(started) == 1
    assert (started[0].judge, started[0].reasons, len(started[0].outputs)) == ("nli", "none", 1)


def test_checks_name_what_is_not_in_the_text(window: MainWindow, qtbot: QtBot) -> None:
    page = open_page(window, qtbot)
    view = page.compare
    view.activate("output")
    view.panel.list.select_row(0)
    view.panel.own_words.setText("an allergy to penicillin")
    view.panel._write()
    qtbot.waitUntil(lambda: view.comparison.output.checklist is not None)
    view.check()
    # The first sentence ever split loads the splitter.
    qtbot.waitUntil(view.notice.isVisible, timeout=30_000)
    assert "Onset and trigger" in view.notice.text
    assert "0% of the sentences" in view.notice.text
    view.mark_na()
    qtbot.waitUntil(lambda: "nothing" in view.panel.model.rows[1].right)
    view.check_with_model()
    qtbot.waitUntil(lambda: "The model sees something on" in view.notice.text)


def test_blind_means_no_names(window: MainWindow, qtbot: QtBot) -> None:
    workspace, person = window.session.workspace, window.session.person_id
    workspace.transact_job("Blind", person, set_blinding, person, True)
    workspace.transact_job("Queue", person, fill_queue, person, 1)
    page = open_page(window, qtbot)
    shown = [page.text_box.itemText(n) for n in range(page.text_box.count())]
    assert not any("Secret" in text for text in shown)
    assert page.notice.isVisible()
    assert page.judge_box.count() == 1
    page.tabs.setCurrentIndex(1)
    qtbot.waitUntil(lambda: page.numbers.task.rowCount() == 1)


def test_without_a_rubric_the_page_says_where_to_begin(
    make_window: OpenWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    window = open_empty(make_window, qtbot, tmp_path)
    window.work.choose("checklists")
    page = window.work.page("checklists")
    qtbot.waitUntil(lambda: page.is_empty_shown)
    page._empty.buttons[0].click()
    assert window.work.current == "rubrics"


@pytest.mark.parametrize("size", [(1100, 700), (1440, 900)])
def test_nothing_is_cut_off(window: MainWindow, qtbot: QtBot, size: tuple[int, int]) -> None:
    window.resize(*size)
    page = open_page(window, qtbot)
    for widget in (page.run_button, page.judge_box, *page.compare.panel.buttons.values()):
        right = widget.mapTo(window, QPoint(widget.width(), 0)).x()
        assert right <= window.width()
    assert page.compare.panel.list.height() > 60


def test_the_numbers_of_a_person_are_the_verbs(window: MainWindow, qtbot: QtBot) -> None:
    page = open_page(window, qtbot)
    workspace = window.session.workspace
    rubric = workspace.find(Rubric)[0]
    assert len(rubric_items(workspace, rubric.id)) == 6
    assert samples_of(workspace, rubric.id, Judge("person", page.session.person_id)) == []
