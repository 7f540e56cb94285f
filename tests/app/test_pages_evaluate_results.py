"""The Results page's splits, views, comparison, tags, figures and reports; Runs' experiment, judge and
import dialogs; disputed pairs."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QTextDocument
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.pages.results.behind import behind_filter
from app.pages.results.compare import CompareDialog, DifferenceDialog
from app.pages.results.export_dialog import ExportDialog, write_export
from app.pages.results.judged_dialog import JudgedDialog
from app.pages.results.lists import RowsTable
from app.pages.results.output_dialog import OutputDialog
from app.pages.results.pdf import _turn_paragraphs
from app.pages.results.report_dialog import ReportDialog, write_report_file
from app.pages.results.table import SPLITS
from app.pages.review.adjudicate import AdjudicateDialog
from app.pages.runs.bench_dialog import BenchDialog
from app.pages.runs.experiment_dialog import ExperimentDialog
from app.pages.runs.experiment_view import ExperimentView
from app.pages.runs.import_dialog import ImportOutputsDialog, SkippedDialog, report_words
from app.pages.runs.judge_dialog import JudgeDialog
from app.widgets.inputs import ComboBox
from app.windows.main import MainWindow
from core.editing_bench.bench import add_copy_baseline, import_edits, score_bench_run
from core.editing_bench.formats import read_edits
from core.exchange.exports import EXPORTS
from core.exchange.imports import ImportReport
from core.people import add_person
from core.report.html import ReportOptions
from core.review.pairs import draw_pairs, submit_pair
from core.types import Output, System
from core.types.evaluation import Adjudication, Experiment, ImportMapping, OutputTag, PairItem
from tests.app.conftest import find_dialog
from tests.app.test_pages_evaluate_blind import SYSTEMS, ScriptedModels, fill
from tests.core.test_editing_bench import write_jfleg


@pytest.fixture
def window(open_window: Callable[..., MainWindow]) -> MainWindow:
    window = open_window(make_models=ScriptedModels)
    fill(window.session.workspace)
    return window


def pick(box: ComboBox, value: object) -> None:
    """Choose an entry as a person does."""
    box.setCurrentIndex(box.findData(value))


def results(window: MainWindow, qtbot: QtBot) -> object:
    page = window.work.show_page("results")
    qtbot.waitUntil(lambda: page.model.rowCount() == 2)
    return page


def hand_in(window: MainWindow) -> None:
    """Everything that waits for a person is judged."""
    for table in ("review_item", "pair_item"):
        window.session.workspace.transact_job(
            "Hand in",
            "",
            lambda tx, table=table: tx.execute_unlogged(f"UPDATE {table} SET state = 'submitted'"),
        )


def test_every_split_shows_its_lines_and_the_outputs_behind_them(
    window: MainWindow, qtbot: QtBot
) -> None:
    page = results(window, qtbot)
    for by, _words in reversed(SPLITS):
        pick(page.split_box, by)
        qtbot.waitUntil(lambda by=by: page.model.results.by == by)
        if by in ("expert", "item"):
            # Nobody has rated, and no rubric item was judged.
            assert page.model.rowCount() == 0
            continue
        name = page.model.index(0, 0).data()
        assert (" · " in name) == bool(by)
        page.table.setCurrentIndex(page.model.index(0, 1))
        qtbot.waitUntil(lambda: page.behind.loaded_once and not page.behind.loading)
        qtbot.waitUntil(lambda: len(page.behind.ids) > 0)


def test_the_worst_outputs_come_first(window: MainWindow, qtbot: QtBot) -> None:
    page = results(window, qtbot)
    column = page.model.results.metrics.index("length") + 1
    page.table.setCurrentIndex(page.model.index(0, column))
    qtbot.waitUntil(lambda: len(page.behind.ids) == 2)
    values = [page.behind.row_at(row)["value"] for row in range(2)]
    assert values == sorted(values)
    assert page.behind_card.heading.full_text.endswith(SYSTEMS[0])


def test_filters_behind_a_cell_are_those_of_its_group() -> None:
    assert behind_filter("length", "s\n100-299 words", "m")[1] == ["s", "m", 100, 299]
    assert behind_filter("length", "s\n600 words or more", "m")[1] == ["s", "m", 600]
    assert behind_filter("field", "s\nLaw", "m")[1] == ["s", "m", "Law"]
    assert behind_filter("", "s", "m")[1] == ["s", "m"]
    assert behind_filter("item", "s\nOnset", "item recall")[1] == ["s", "clear"]


def test_views_show_agreement_judges_and_costs(window: MainWindow, qtbot: QtBot) -> None:
    page = results(window, qtbot)
    page.view_buttons["agreement"].click()
    qtbot.waitUntil(lambda: page.agreement.box.count() == 3)
    bars = page.agreement.box.itemAt(0).widget()
    names = {share.name for share in bars.shares}
    assert "Longer wins (baseline)" in names
    assert f"Judge: {SYSTEMS[0]}" in names
    assert bars.plot.accessibleDescription().count(";") == len(bars.shares) - 1
    page.view_buttons["judges"].click()
    qtbot.waitUntil(lambda: page.judges.box.count() == 5)
    assert page.behind_card.isHidden()
    pairs = page.judges.box.itemAt(3).widget().findChild(RowsTable)
    pairs.setCurrentIndex(pairs.rows.index(0, 0))
    # What one has yet to judge oneself stays shut; then the judge's reasons are there.
    for waits in (True, False):
        if not waits:
            hand_in(window)
        qtbot.keyClick(pairs, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: find_dialog(JudgedDialog) is not None)
        dialog = find_dialog(JudgedDialog)
        assert isinstance(dialog, JudgedDialog)
        if waits:
            qtbot.waitUntil(dialog.notice.isVisible)
            assert not dialog.readers[0].toPlainText()
        else:
            qtbot.waitUntil(lambda dialog=dialog: dialog.answers.box.count() == 3)
            assert SYSTEMS[0] in dialog.facts.text()
            assert "shown first" in dialog.answers.box.itemAt(0).widget().accessibleName()
        dialog.accept()
        qtbot.waitUntil(lambda: find_dialog(JudgedDialog) is None)
    assert page.base_box.count() == 2
    before = page.judges.box.itemAt(0).widget()
    page.base_box.setCurrentIndex(1 - page.base_box.currentIndex())
    qtbot.waitUntil(lambda: page.judges.box.itemAt(0).widget() is not before)
    page.view_buttons["cost"].click()
    qtbot.waitUntil(lambda: page.spent.box.count() == 2)
    assert page.place()["view"] == "cost"


def test_what_is_judged_and_not_scored_is_shown(window: MainWindow, qtbot: QtBot) -> None:
    workspace = window.session.workspace
    workspace.transact_job(
        "Take scores away", "", lambda tx: tx.execute_unlogged("UPDATE score SET deleted = 1")
    )
    page = window.work.show_page("results")
    qtbot.waitUntil(lambda: page.judges.box.count() == 5)
    assert not page.is_empty_shown
    assert page.view_name == "judges"
    assert page.table_card.isHidden()
    assert page.report_button.isEnabled()
    assert not page.compare_button.isEnabled()


def test_data_is_written_for_other_tools(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    page = results(window, qtbot)
    page.export_button.click()
    qtbot.waitUntil(lambda: find_dialog(ExportDialog) is not None)
    dialog = find_dialog(ExportDialog)
    assert isinstance(dialog, ExportDialog)
    assert not dialog.format.isEnabled()
    for what in EXPORTS:
        pick(dialog.what, what)
        assert [dialog.format.itemData(n) for n in range(dialog.format.count())] == list(
            EXPORTS[what]
        )
    dialog.reject()
    written: list[int] = []
    for what, format in (("examples", "inspect"), ("examples", "lm-eval"), ("results", "csv")):
        path = tmp_path / f"{format}.{'csv' if format == 'csv' else 'jsonl'}"
        write_export(page, path, what, format, "", lambda _path, count: written.append(count))
        qtbot.waitUntil(path.exists)
    qtbot.waitUntil(lambda: len(written) == 3)
    assert all(written)
    assert (tmp_path / "inspect.py").exists()
    assert (tmp_path / "lm-eval.yaml").exists()


def test_figures_are_saved_as_svg_png_and_numbers(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    page = results(window, qtbot)
    qtbot.waitUntil(lambda: len(page.plots.drawn) > 1)
    figure = page.plots.drawn[1]
    # Other results are drawn into the plots that are there: making them anew would be felt.
    page.refresh(None)
    qtbot.waitUntil(lambda: not page.plots.busy)
    assert page.plots.drawn[1] is figure
    for suffix in ("svg", "png", "csv"):
        path = tmp_path / f"figure.{suffix}"
        figure.write(path)
        qtbot.waitUntil(path.exists)
    svg = (tmp_path / "figure.svg").read_text(encoding="utf-8")
    assert svg.lstrip().startswith("<?xml")
    assert "<svg" in svg
    # At the screen's resolution: at another one the axes would be drawn beside their marks.
    found = re.search(r'width="([\d.]+)mm".*?viewBox="0 0 (\d+) ', svg, re.DOTALL)
    assert found is not None
    millimetres, width = map(float, found.groups())
    assert millimetres == pytest.approx(width / figure.plot.logicalDpiX() * 25.4, abs=0.2)
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    with (tmp_path / "figure.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows[0][:3] == ["system", "measure", "mean"]
    assert {row[0] for row in rows[1:]} == set(SYSTEMS)
    assert len(rows[1][6].split()) == 2


def test_two_systems_are_compared_and_their_difference_opened(
    window: MainWindow, qtbot: QtBot
) -> None:
    page = results(window, qtbot)
    page.compare_button.click()
    qtbot.waitUntil(lambda: find_dialog(CompareDialog) is not None)
    dialog = find_dialog(CompareDialog)
    assert isinstance(dialog, CompareDialog)
    qtbot.waitUntil(lambda: dialog.comparison is not None)
    pick(dialog.measure, "length")
    qtbot.waitUntil(lambda: dialog.comparison.metric == "length")
    assert dialog.verdict.text().startswith(f"{SYSTEMS[1]} is 2.000 higher than {SYSTEMS[0]}")
    assert dialog.counts.text() == "2 higher, 0 lower, 0 the same of 2 examples"
    assert [card.accessibleName() for card in dialog.cards] == ["Higher", "Lower"]
    assert dialog.better.rows.rowCount() == 2
    assert dialog.better.rows.index(0, 3).data() == "+2.0"
    dialog.better.setFocus()
    dialog.better.setCurrentIndex(dialog.better.rows.index(0, 0))
    qtbot.keyClick(dialog.better, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: find_dialog(DifferenceDialog) is not None)
    difference = find_dialog(DifferenceDialog)
    assert isinstance(difference, DifferenceDialog)
    qtbot.waitUntil(lambda: "Monday" in difference.readers[1].toPlainText())
    assert difference.readers[1].extraSelections()
    difference.accept()
    dialog.accept()


def test_an_output_is_tagged_as_a_whole_and_by_its_words(window: MainWindow, qtbot: QtBot) -> None:
    workspace = window.session.workspace
    page = results(window, qtbot)
    # What still waits for one's own review is hidden.
    workspace.transact_job(
        "Hand in", "", lambda tx: tx.execute_unlogged("UPDATE review_item SET state = 'submitted'")
    )
    output = workspace.find(Output)[0]
    dialog = OutputDialog(page, output.id)
    dialog.open()
    qtbot.waitUntil(lambda: "A cough." in dialog.output.toPlainText())
    dialog.tag_buttons["verbose"].click()
    qtbot.waitUntil(lambda: [t.tag for t in workspace.find(OutputTag)] == ["verbose"])
    qtbot.waitUntil(lambda: bool(dialog._view.tags))
    assert dialog.tag_buttons["verbose"].isChecked()
    dialog.tag_buttons["verbose"].click()
    qtbot.waitUntil(lambda: workspace.find(OutputTag) == [])
    cursor = dialog.output.document().find("No fever")
    dialog.output.setTextCursor(cursor)
    dialog.toggle_tag("wrong")
    qtbot.waitUntil(lambda: len(workspace.find(OutputTag)) == 1)
    (tag,) = workspace.find(OutputTag)
    assert output.text[tag.start : tag.end] == "No fever"
    qtbot.waitUntil(lambda: "No fever" in dialog.tags_label.text())
    assert dialog.output.extraSelections()
    dialog.accept()


def test_reports_are_written_as_html_and_pdf_with_and_without_texts(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    page = results(window, qtbot)
    page.report_button.click()
    qtbot.waitUntil(lambda: find_dialog(ReportDialog) is not None)
    dialog = find_dialog(ReportDialog)
    assert isinstance(dialog, ReportDialog)
    dialog.redact.setChecked(True)
    dialog.question.setPlainText("Which is better?")
    options = dialog.options
    assert options == ReportOptions(redact=True, question="Which is better?")
    dialog.reject()
    written: list[Path] = []
    for path, chosen in (
        (tmp_path / "a.html", options),
        (tmp_path / "b.pdf", ReportOptions()),
    ):
        write_report_file(page, path, chosen, lambda path, _count: written.append(path))
        qtbot.waitUntil(path.exists, timeout=15_000)
    qtbot.waitUntil(lambda: len(written) == 2)
    assert "Texts are left out" in written[0].read_text(encoding="utf-8")
    assert written[1].read_bytes().startswith(b"%PDF")


def test_the_benchmark_has_a_view_once_it_was_run(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    workspace = window.session.workspace
    page = results(window, qtbot)
    assert page.view_buttons["bench"].isHidden()
    found = read_edits(write_jfleg(tmp_path))
    workspace.transact_job("I", "", import_edits, found)
    (copy,) = workspace.transact_job("C", "", add_copy_baseline).value
    score_bench_run(workspace, copy.id)
    page.reload()
    qtbot.waitUntil(page.view_buttons["bench"].isVisible)
    assert page.model.rowCount() == 2  # The copy stands in the benchmark's tables alone.
    page.view_buttons["bench"].click()
    qtbot.waitUntil(lambda: page.bench.box.count() == 6)
    assert page.bench.wanted[:2] == ("jfleg", "gleu")
    pick(page.bench.measure, "sari")
    qtbot.waitUntil(lambda: page.bench.box.itemAt(3).widget().file_name == "jfleg sari boxes")
    heat = page.bench.box.itemAt(4).widget()
    assert heat.lines()[0][0] == "metric"


# -- runs ------------------------------------------------------------------------------------


def test_an_experiment_is_planned_and_run(window: MainWindow, qtbot: QtBot) -> None:
    page = window.work.show_page("runs")
    page.experiment_button.click()
    qtbot.waitUntil(lambda: find_dialog(ExperimentDialog) is not None)
    dialog = find_dialog(ExperimentDialog)
    assert isinstance(dialog, ExperimentDialog)
    qtbot.waitUntil(lambda: len(dialog.systems) == 2)
    assert not dialog.start_button.isEnabled()
    dialog.name.setText("Which is better?")
    dialog.limit.setValue(1)
    qtbot.waitUntil(lambda: "2 outputs will be written" in dialog.plan_label.text())
    dialog.prompts["long_form_section"].setChecked(True)
    qtbot.waitUntil(lambda: "4 outputs will be written" in dialog.plan_label.text())
    pick(dialog.policy, "truncate")
    dialog.score.setChecked(False)
    dialog.start_button.click()
    workspace = window.session.workspace
    qtbot.waitUntil(lambda: workspace.count(Experiment) == 1)
    qtbot.waitUntil(lambda: workspace.count(Output, "state = 'done'") == 8, timeout=15_000)
    qtbot.waitUntil(lambda: not page.runner.run_id)
    # Seen again as a matrix, from any of its runs.
    qtbot.waitUntil(page.detail.experiment_button.isVisible)
    page.detail.experiment_button.click()
    qtbot.waitUntil(lambda: find_dialog(ExperimentView) is not None)
    matrix = find_dialog(ExperimentView)
    assert isinstance(matrix, ExperimentView)
    qtbot.waitUntil(lambda: matrix.table is not None)
    titles = [column.title for column in matrix.table.rows.columns]
    assert titles == ["System", "the whole document at once", "section by section"]
    assert [row[1:] for row in matrix.table.rows.rows] == [("1 of 1", "1 of 1")] * 2
    assert "are cut at the end" in matrix.facts.text()
    assert not matrix.resume_button.isEnabled()
    assert not matrix.retry_button.isEnabled()
    matrix.table.setCurrentIndex(matrix.table.rows.index(1, 2))
    qtbot.keyClick(matrix.table, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "section by section" in page.detail.facts_label.text())
    names = {str(page.model.index(row, 0).data()) for row in range(page.model.rowCount())}
    assert any(name.endswith(" · section by section") for name in names)


def test_judges_are_chosen_and_asked(window: MainWindow, qtbot: QtBot) -> None:
    page = window.work.show_page("runs")
    page.judge_button.click()
    qtbot.waitUntil(lambda: find_dialog(JudgeDialog) is not None)
    dialog = find_dialog(JudgeDialog)
    assert isinstance(dialog, JudgeDialog)
    qtbot.waitUntil(lambda: "4 answers" in dialog.count_label.text())
    pick(dialog.kind, "axis")
    qtbot.waitUntil(dialog.start_button.isEnabled)
    with qtbot.waitSignal(page.runner.judged, timeout=15_000) as done:
        dialog.start_button.click()
    assert done.args[0].state == "done"
    count = window.session.workspace.value(
        "SELECT count(*) FROM judge_answer WHERE kind = 'axis' AND value IS NOT NULL"
    )
    assert count == 4 * 5


def test_outputs_are_imported_with_a_mapping_that_is_remembered(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    workspace = window.session.workspace
    path = tmp_path / "cloud.csv"
    path.write_text(
        "case;llm;answer\nCough after a cold;Cloud;# Plan\nnobody;Cloud;x\nshort\n",
        encoding="utf-8",
    )
    page = window.work.show_page("runs")
    reports: list[ImportReport] = []
    dialog = ImportOutputsDialog(page, reports.append)
    dialog.open()
    dialog.take_file(path)
    qtbot.waitUntil(lambda: set(dialog.boxes) == {"case", "llm", "answer"})
    # What names do not tell, values do; what is still missing is asked for before anything is read.
    assert dialog.boxes["llm"].value == "system"
    assert "Say which column holds the text of the output" in dialog.notice.text
    assert not dialog.import_button.isEnabled()
    for column, target in (("case", "example"), ("llm", "system"), ("answer", "output")):
        pick(dialog.boxes[column], target)
    assert dialog.table.rows.index(0, 1).data() == "Cloud"
    assert "line 4" in dialog.notice.text
    pick(dialog.boxes["llm"], "output")
    assert not dialog.import_button.isEnabled()
    pick(dialog.boxes["llm"], "system")
    dialog.import_button.click()
    qtbot.waitUntil(lambda: bool(reports))
    assert reports[0].added == {"system": 1, "output": 1}
    assert [s.line for s in reports[0].skipped] == [3, 4]
    assert workspace.find(System, "name = 'Cloud'")
    assert workspace.find(ImportMapping)[0].mapping == {
        "case": "example",
        "llm": "system",
        "answer": "output",
    }
    told = SkippedDialog(page, reports[0])
    told.open()
    assert [told.table.rows.index(row, 0).data() for row in range(2)] == ["3", "4"]
    told.copy_button.click()
    assert QGuiApplication.clipboard().text().startswith("3\tthere is no single example")
    told.accept()
    assert report_words(reports[0]) == "Added 1 system, 1 output from cloud.csv."
    again = ImportOutputsDialog(page, reports.append)
    again.open()
    again.take_file(path)
    qtbot.waitUntil(lambda: bool(again.boxes))
    assert again.boxes["llm"].value == "system"
    again.reject()


def test_a_disputed_pair_is_decided_with_a_reason(window: MainWindow, qtbot: QtBot) -> None:
    workspace = window.session.workspace
    other = workspace.transact_job("P", "", add_person, "Third").value.id
    workspace.transact_job("D", other, draw_pairs, other)
    (first,) = [
        i
        for i in workspace.find(PairItem, "person_id = ?", (other,), order_by="position")
        if i.position == 0
    ]
    before = workspace.find(PairItem, "person_id <> ?", (other,))
    same = next(
        i
        for i in before
        if {i.left_output_id, i.right_output_id} == {first.left_output_id, first.right_output_id}
    )
    strength = 5 if same.left_output_id == first.left_output_id else 1
    workspace.transact_job("C", other, submit_pair, first.id, strength, "Mine.")
    page = window.work.show_page("review")
    dialog = AdjudicateDialog(page)
    dialog.open()
    qtbot.waitUntil(lambda: bool(dialog.votes_label.text()))
    assert "in your own queue" in dialog.votes_label.text()
    workspace.transact_job(
        "Hand in", "", lambda tx: tx.execute_unlogged("UPDATE review_item SET state = 'submitted'")
    )
    dialog._load()
    qtbot.waitUntil(lambda: dialog.pair is not None)
    assert "1 to decide" in dialog.votes_label.text()
    dialog.decide()
    assert "give the reason" in dialog.notice.text
    dialog.choices["second"].click()
    dialog.why.setPlainText("It has the date.")
    right = dialog.pair.right_id
    dialog.decide()
    qtbot.waitUntil(lambda: workspace.count(Adjudication) == 1)
    (decided,) = workspace.find(Adjudication)
    assert getattr(decided, f"{decided.choice}_output_id") == right
    qtbot.waitUntil(lambda: dialog.pair is None)
    dialog.accept()


def test_the_editing_benchmark_is_imported_started_and_scored(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    page = window.work.show_page("runs")
    reports: list[ImportReport] = []
    importing = ImportOutputsDialog(page, reports.append)
    importing.open()
    pick(importing.kind, "edits")
    importing.take_file(write_jfleg(tmp_path))
    qtbot.waitUntil(importing.import_button.isEnabled)
    assert importing.table.rows.index(0, 1).data() == "He go to school ."
    importing.import_button.click()
    qtbot.waitUntil(lambda: bool(reports))
    assert reports[0].added == {"text to edit": 3}
    dialog = BenchDialog(page, page._on_experiment)
    dialog.open()
    qtbot.waitUntil(lambda: set(dialog.tasks) == {"fluency"})
    assert "33 texts" in dialog.count_label.text()
    pick(dialog.prompts, "first")
    assert "3 texts" in dialog.count_label.text()
    dialog.start_button.click()
    workspace = window.session.workspace
    scored = "SELECT count(DISTINCT run_id) FROM run_score"
    qtbot.waitUntil(lambda: workspace.value(scored) == 2, timeout=20_000)
    qtbot.waitUntil(lambda: not page.runner.run_id and not page.runner._scoring)


def test_a_printed_paragraph_runs_as_its_first_letter_does(qapp: QApplication) -> None:
    document = QTextDocument()
    document.setHtml('<p dir="ltr">المريضة paracetamol 500 mg.</p><p dir="ltr">500 mg مرتين</p>')
    _turn_paragraphs(document)
    first = document.begin()
    assert first.textDirection() == Qt.LayoutDirection.RightToLeft
    assert first.next().textDirection() == Qt.LayoutDirection.LeftToRight
