"""Reports: the numbers recomputed independently, redaction, one file without references, PDF."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.editing_bench.bench import add_copy_baseline, import_edits, score_bench_run
from core.editing_bench.formats import read_edits
from core.errors import Cancelled
from core.exchange.imports import import_records, read_import
from core.judges.results import PEOPLE, WinRateRow
from core.metrics.agreement import Agreement
from core.metrics.base import MetricScore
from core.metrics.bootstrap import SAMPLES, SEED, Interval
from core.metrics.comparison import Difference
from core.metrics.registry import create
from core.ports import Cancellation, Progress
from core.report.content import ComparedPair
from core.report.figures import Line, means_figure, shares_figure
from core.report.html import ReportOptions, print_report, render_report, write_report
from core.report.summary import AGREE, BEST, summarise
from core.report.verdict import say_best
from core.runs.compare import Comparison
from core.runs.engine import execute_run
from core.runs.human_agreement import AgreementRow, HumanAgreement
from core.runs.measures import measure_name
from core.runs.results import ResultRow
from core.runs.scoring import score_run
from core.runs.tags import tag_output
from core.runs.verbs import add_run, add_system, select_examples
from core.storage import Workspace
from core.types import Example, Output, Person, Preference, Rating, Run, Score, System
from models.fake import FakeGenerator
from tests.core.test_editing_bench import write_jfleg
from tests.core.test_judges import ScriptedJudge, judge_all, longer
from tests.core.test_results import compare_all, person, rate
from tests.shared_data import shared_path
from tests.strict_html import read_strictly


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """A plain workspace: deriving a key for each test would take longer than the tests."""
    with Workspace.create(tmp_path / "test.rifugio", None) as opened:
        yield opened


NOTE = (
    "# Subjective\n\nThe patient reports pain.\n\n# Objective: examination\n\nNormal findings.\n\n"
    "# Objective: results\n\nNone.\n\n# Assessment and plan\n\nRest, and come back in a week."
)
LONGER_NOTE = NOTE.replace("Rest,", "Rest, ice, and elevation of the limb for three days,")


class Tables(HTMLParser):
    """The text of every table cell, a list of rows each."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self._cell: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "tr" and self.tables:
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self._cell = []

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self._cell is not None and self.tables:
            self.tables[-1][-1].append(" ".join("".join(self._cell).split()))
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)


def tables_of(html: str) -> dict[str, list[list[str]]]:
    """Tables by their first heading row, joined."""
    parser = Tables()
    parser.feed(html)
    return {" | ".join(table[0]): table[1:] for table in parser.tables if table}


def build(workspace: Workspace, examples: int) -> dict[str, Run]:
    """Three systems over real encounters: two parameter sets and one set of imported outputs; judged by
    two people blind and one language model."""
    found, _ = read_import(shared_path("data", "aci-bench", "valid.csv"), "examples")
    workspace.transact("Import", "", import_records, "valid.csv", "examples", found)
    ids = select_examples(workspace, str(examples))
    runs = {}
    for name, answer, params in (
        ("Small", NOTE, {"temperature": 0.0}),
        ("Small, warm", LONGER_NOTE, {"temperature": 0.8}),
    ):
        system = workspace.transact(
            "Add", "", add_system, name, model_id="fake-generator", params=params
        ).value
        runs[name] = workspace.transact_job("Run", "", add_run, system.id, ids).value
        execute_run(workspace, runs[name].id, FakeGenerator(answers=(answer,)))
    lines = [
        {"example": i, "system": "Imported", "output": workspace.get(Example, i).output[0].text}
        for i in ids
    ]
    from core.exchange.records import Record, Records

    records = Records([Record(n, line) for n, line in enumerate(lines, 1)])
    workspace.transact("Import", "", import_records, "outputs.jsonl", "outputs", records)
    imported = workspace.find(System, "name = 'Imported'")[0]
    runs["Imported"] = workspace.find(Run, "system_id = ?", (imported.id,))[0]
    metrics = {name: create(name) for name in ("section_presence", "rougeL", "length")}
    for run in runs.values():
        score_run(workspace, run.id, metrics)
    draw = random.Random(5)
    for name in ("Ann", "Ben"):
        who = person(workspace, name)
        rate(workspace, who, lambda _o, _a: draw.randint(1, 5))
        compare_all(workspace, who, lambda _l, _r: draw.randint(1, 5))
    judge_all(
        workspace, list(runs.values()), {"Judge": ScriptedJudge(answers=("So.",), rule=longer)}
    )
    return runs


def bootstrap(values: list[float]) -> tuple[float, float]:
    """The interval, written down again from its definition."""
    data = np.asarray(values)
    picks = np.random.default_rng(SEED).integers(0, len(data), (SAMPLES, len(data)), dtype=np.int32)
    low, high = np.quantile(data[picks].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


def test_three_systems_two_people_one_judge_and_the_numbers_recomputed(
    workspace: Workspace,
) -> None:
    """The report's numbers follow from the stored rows by other means than the report's own."""
    runs = build(workspace, 3)
    html, count = render_report(workspace)
    assert count == 9
    tables = tables_of(html)
    results = tables["System | Metric | Mean | 95 % interval | n | Unscored"]
    shown = {(row[0], row[1]): row for row in results if len(row) == 6}
    names = {run.id: name for name, run in runs.items()}
    scores: dict[tuple[str, str], list[float]] = defaultdict(list)
    outputs = {output.id: output for output in workspace.find(Output)}
    for score in sorted(workspace.find(Score), key=lambda s: s.output_id):
        if score.value is not None:
            scores[names[outputs[score.output_id].run_id], score.metric].append(score.value)
    # What two people say of an output is one value.
    by_output: dict[tuple[str, str], list[float]] = defaultdict(list)
    for rating in workspace.find(Rating):
        by_output[rating.output_id, rating.axis].append(rating.value)
    for (output, axis), marks in sorted(by_output.items()):
        measure = f"rating: {axis.replace('_', ' ')}"
        scores[names[outputs[output].run_id], measure].append(sum(marks) / len(marks))
    assert set(shown) == {(system, measure_name(metric)) for system, metric in scores}
    assert len(scores) == 3 * (3 + 5)
    for (system, metric), values in scores.items():
        key = system, measure_name(metric)
        digits = 1 if metric == "length" else 3
        mean = sum(values) / len(values)
        assert shown[key][2] == f"{mean:,.{digits}f}", key
        assert shown[key][4] == str(len(values))
        low, high = bootstrap(values)
        low_shown, high_shown = (float(v.replace(",", "")) for v in shown[key][3].split(" to "))
        slack = 0.06 if digits == 1 else 0.02 if metric.startswith("rating") else 0.002
        assert low_shown == pytest.approx(low, abs=slack * max(1.0, high - low)), key
        assert high_shown == pytest.approx(high, abs=slack * max(1.0, high - low)), key

    head = (
        "Judge | System | Base | Win rate | 95 % interval | Length-penalised | Wins, ties, losses"
    )
    rates = tables[head]
    base = rates[0][2]
    votes: dict[frozenset[str], list[str]] = defaultdict(list)
    for preference in workspace.find(Preference):
        left = names[outputs[preference.left_output_id].run_id]
        right = names[outputs[preference.right_output_id].run_id]
        if base in (left, right):
            chosen = {"left": left, "right": right}.get(preference.choice, "tie")
            pair = frozenset((preference.left_output_id, preference.right_output_id))
            votes[pair].append(chosen)
    points: dict[str, list[float]] = defaultdict(list)
    for pair, chosen in votes.items():
        systems = {names[outputs[output].run_id] for output in pair}
        (candidate,) = systems - {base}
        decided = chosen[0] if chosen[0] == chosen[1] else "tie"
        points[candidate].append({candidate: 1.0, "tie": 0.5}.get(decided, 0.0))
    of_people = {row[1]: row[3] for row in rates if row[0] == PEOPLE}
    assert of_people == {
        name: f"{sum(values) / len(values) * 100:.0f} %" for name, values in points.items()
    }
    assert {row[0] for row in rates} == {PEOPLE, "Judge"}
    agreement = tables["Measure | Without ties | n | With ties | n"]
    assert {row[0] for row in agreement} >= {
        "Longer wins (baseline)", "ROUGE-L", "Sections present", "Length, words", "Judge (judge)"
    }  # fmt: skip
    beside = tables["Measure | Imported | Small | Small, warm"]
    for row in beside:
        for system, cell in zip(("Imported", "Small", "Small, warm"), row[1:], strict=True):
            assert cell == f"{shown[system, row[0]][2]}{shown[system, row[0]][3]}"
    assert "Which is better" in html
    assert "What this cannot tell" in html
    assert "rougeL" in html.partition("To repeat it")[2]


def test_a_report_is_one_file_without_scripts_or_outside_references(
    workspace: Workspace, tmp_path: Path
) -> None:
    build(workspace, 2)
    path = tmp_path / "r.html"
    told: list[Progress] = []
    assert write_report(workspace, path, progress=told.append) == 6
    assert [(p.done, p.total) for p in told] == [(n, 6) for n in range(7)]
    stopped = Cancellation()
    stopped.cancel()
    with pytest.raises(Cancelled):
        write_report(workspace, tmp_path / "stopped.html", cancel=stopped)
    assert not (tmp_path / "stopped.html").exists()
    html = path.read_text(encoding="utf-8")
    assert "<script" not in html
    assert not re.search(r"src\s*=|href=[^#]{2}|url\(|@import|https?://", html)
    assert "default-src 'none'" in html
    assert html.count("<svg") >= 8
    assert read_strictly(html) == []
    assert html.count('<a href="#output-') == 6


def test_a_redacted_report_holds_no_text_of_the_workspace(workspace: Workspace) -> None:
    build(workspace, 2)
    options = ReportOptions(redact=True, question="Does Mr Smith get better notes?")
    for for_print in (False, True):
        html, count = render_report(workspace, options=options, for_print=for_print)
        assert count == 0
        assert "Texts are left out" in html
        assert for_print or read_strictly(html) == []
        for example in workspace.find(Example):
            assert example.title not in html
            for section in (*example.input, *example.output):
                assert section.text[:60] not in html
        for secret in ("The patient reports pain", "Smith", "so", workspace.path.stem):
            assert secret not in re.sub(r"<style>.*?</style>", "", html, flags=re.S).split(), secret
    assert "rougeL" in html


def test_text_of_the_workspace_cannot_become_markup(workspace: Workspace) -> None:
    system = workspace.transact(
        "Add", "", add_system, "<b onclick=x>Bold</b>", model_id="fake"
    ).value
    from tests.factories import make_example, make_task

    task = workspace.transact("T", "", make_task).value
    example = workspace.transact("E", "", make_example, task.id, "<img src=x onerror=y>").value
    run = workspace.transact_job("R", "", add_run, system.id, [example.id]).value
    execute_run(workspace, run.id, FakeGenerator(answers=("<script>alert(1)</script>",)))
    score_run(workspace, run.id, {"length": create("length")})
    html, _ = render_report(workspace, options=ReportOptions(question="<i>why</i>"))
    for raw in ("<img", "<script>alert", "<b onclick", "<i>why"):
        assert raw not in html
    assert read_strictly(html) == []


def test_an_empty_workspace_has_a_report_too(workspace: Workspace) -> None:
    html, count = render_report(workspace)
    assert count == 0
    assert "Nothing is scored yet." in html
    assert read_strictly(html) == []


def test_figures_say_what_they_show_and_stay_within_their_scale() -> None:
    lines = [
        Line("A <system>", 0.5, 0.4, 0.6, "0.500", (0.1, 0.9)),
        Line("B", None, text="–"),
        Line("C", 7.0, 6.0, 8.0, "7"),
    ]
    svg = means_figure("ROUGE & co", lines, low=0.0, high=1.0)
    assert "A &lt;system&gt;" in svg
    assert 'aria-label="ROUGE &amp; co"' in svg
    assert svg.count('class="mean"') == 2
    places = [float(x) for x in re.findall(r'c?x1?="([\d.]+)"', svg)]
    assert max(places) <= 230 + 470 + 10
    bars = shares_figure("Shares", [Line("longer", 0.25, plain=True), Line("x", 1.0)])
    assert bars.count("<rect") == 2
    assert 'class="half"' in bars


class KeepingPrinter:
    """Takes the page instead of printing it."""

    def print_html(self, html: str, path: Path) -> None:
        path.write_text(html, encoding="utf-8")


def test_the_print_form_is_plain_and_goes_through_the_port(
    workspace: Workspace, tmp_path: Path
) -> None:
    build(workspace, 2)
    path = tmp_path / "r.pdf"
    assert print_report(workspace, path, KeepingPrinter()) == 6
    html = path.read_text(encoding="utf-8")
    assert "var(--" not in html
    # Each figure is drawn alone, so it brings its colours and its title.
    assert html.count("<svg") == html.count("<style>text{") >= 8


def won(system: str, value: float, low: float, high: float, n: int = 20) -> WinRateRow:
    plain = MetricScore(value=value, components={"low": low, "high": high, "n": n})
    return WinRateRow(PEOPLE, system, system, "b", "Base", plain, plain)


def answers(**found: Any) -> dict[str, tuple[str, ...]]:
    """Question to sentences."""
    return {answer.question: answer.sentences for answer in summarise(**found)}


def test_what_is_said_first_follows_from_the_numbers() -> None:
    sure = won("Better", 0.8, 0.6, 0.95)
    open_ = won("Other", 0.6, 0.4, 0.8)
    worse = won("Worse", 0.2, 0.05, 0.4)
    said = answers(rates=[sure, open_, worse])[BEST]
    assert "'Better' to 'Base' in 80 % of 20 pairs" in said[0]
    assert said[0].endswith("more often than not.")
    assert "leave open" in said[1]
    assert said[2].endswith("less often than not.")
    (said_of_few,) = answers(rates=[won("Better", 1.0, 1.0, 1.0, n=2)])[BEST]
    assert said_of_few.endswith("too few to tell it from chance.")

    def row(system: str, metric: str, mean: float) -> ResultRow:
        return ResultRow(system, system, metric, Interval(mean, None, None, None, 5), 0)

    def pair(metric: str, p: float, n: int = 9) -> ComparedPair:
        difference = Difference(value=0.1, low=0.0, high=0.2, p=p, n=n, reason=None, signature="")
        return ComparedPair("A", "B", Comparison(metric, difference, (), (), 0), "")

    rows = [row(s, m, v) for m in ("rougeL", "nli", "length") for s, v in (("A", 0.3), ("B", 0.4))]
    rows += [row("A", "clear", 0.5), row("B", "clear", 0.5)]
    compared = [pair("rougeL", 0.01), pair("nli", 0.4), pair("length", 0.01), pair("clear", 1.0)]
    nobody, *said_of_metrics = answers(rows=rows, compared=compared)[BEST]
    assert nobody.startswith("Nobody has rated or compared outputs")
    assert said_of_metrics == [
        "ROUGE-L is highest for 'B', and the difference to 'A' is unlikely by chance.",
        "NLI is highest for 'B', but chance alone may explain the difference to 'A'.",
        "CLEAR F1 is the same for 'A' and 'B', and no other is higher.",
    ]
    said_of_few = answers(rows=rows[:2], compared=[pair("rougeL", 0.0002, 2)])[BEST][1]
    assert "on too few examples to tell the difference to 'A' from chance" in said_of_few
    assert summarise() == []


def test_a_system_is_best_only_beyond_chance_against_every_other() -> None:
    examples = [f"e{n}" for n in range(12)]
    low = {e: 2.0 + n % 3 * 0.5 for n, e in enumerate(examples)}
    high = {e: low[e] + 1.0 + n % 2 * 0.5 for n, e in enumerate(examples)}
    middling = {e: high[e] + (-0.6, 0.4)[n % 2] for n, e in enumerate(examples)}
    sure = say_best({"A": low, "B": high})
    assert sure.startswith("'B' is best by people's ratings")
    assert "'B' 3.8 and 'A' 2.5" in sure
    assert "over 12 examples it lies 1.2 above 'A'" in sure
    unsure = say_best({"A": low, "B": high, "C": middling})
    assert unsure.startswith("No system is shown to be best.")
    assert unsure.endswith("'B' is highest, and chance may explain its lead over 'C'.")
    few = say_best({"A": {"e": 2.0, "f": 2.0}, "B": {"e": 5.0, "f": 5.0}})
    assert few.endswith("on too few examples to tell its lead over 'A' from chance.")
    assert say_best({"A": low}) == ""
    # Of many systems one is highest by luck: what is sure against one other is not against ten.
    gaps = (1.0, -0.2, 0.8, -0.1, 0.7, 0.2, 0.9, -0.3, 0.6, 0.3, 1.0, -0.1)
    slight = {e: 3.0 + gap for e, gap in zip(examples, gaps, strict=True)}
    even = dict.fromkeys(examples, 3.0)
    assert say_best({"Best": slight, "Other": even}).startswith("'Best' is best")
    many = {f"S{n}": even for n in range(10)}
    crowded = say_best({"Best": slight, **many})
    assert crowded.startswith("No system is shown to be best")
    assert "'S2' 3.0, and 7 others" in crowded


def test_where_systems_fail_is_said_and_shown(workspace: Workspace) -> None:
    runs = build(workspace, 3)
    ann = workspace.find(Person)[0].id
    outputs = workspace.find(Output, "run_id = ?", (runs["Small"].id,))
    for output, tag in ((outputs[0], "wrong"), (outputs[0], "verbose"), (outputs[1], "wrong")):
        workspace.transact("Tag", ann, tag_output, output.id, ann, tag)
    html, _ = render_report(workspace)
    tables = tables_of(html)
    marked = tables[
        "System | Outputs | Marked | Lacking depth | Verbose | Missing information | Wrong | Structure"
    ]
    assert ["Small", "3", "2", "0", "1", "0", "2", "0"] in marked
    assert "People marked something as wrong in 2 of 9 outputs, most often 'wrong' (2)." in (
        unescape(html)
    )
    left_out = tables["System | Section | Outputs without it"]
    assert {tuple(row) for row in left_out} == {
        ("Imported", title, "3 of 3")
        for title in ("Assessment and plan", "Objective: examination", "Objective: results")
    }
    means: dict[str, list[float]] = defaultdict(list)
    for rating in workspace.find(Rating):
        means[rating.output_id].append(rating.value)
    lowest = min(sum(values) / len(values) for values in means.values())
    assert tables["Example | System | Value"][0][2] == f"{lowest:.3f}"
    redacted, _ = render_report(workspace, options=ReportOptions(redact=True))
    assert "Example | System | Value" not in tables_of(redacted)
    # Without ratings the first measure of which more is better decides.
    one, _ = render_report(workspace, run_id=runs["Imported"].id)
    assert "The lowest outputs by people" in unescape(one)


@pytest.mark.parametrize(
    ("n", "low", "words"),
    [
        (4, 0.7, "cannot be told yet"),
        (40, 0.7, "It does better than that rule."),
        (40, 0.5, "That it does better than that rule is not shown."),
    ],
)
def test_agreement_is_set_beside_the_longer_one_wins(n: int, low: float, words: str) -> None:
    def entry(name: str, kind: Any, value: float) -> AgreementRow:
        found = Agreement(measure="percentage", value=value, n=n, low=low, high=0.9)
        return AgreementRow(name, kind, found, found)

    human = HumanAgreement(
        (
            entry("rougeL", "metric", 0.8),
            entry("Qwen", "judge", 0.7),
            entry("longer wins", "baseline", 0.6),
        ),
        n,
        "pairs",
    )
    said = answers(human=human)[AGREE]
    assert words in said[0]
    assert said[1:] == (("The judge 'Qwen' does so in 70 %.",) if n > 4 else ())


@pytest.mark.parametrize(
    ("alpha", "words"), [(0.85, "firm"), (0.7, "tentative"), (0.2, "too little to take")]
)
def test_it_is_said_whether_people_agree_among_themselves(alpha: float, words: str) -> None:
    found = Agreement(measure="alpha", value=alpha, n=20)
    (said,) = answers(raters={"alpha_nominal": found})[AGREE]
    assert f"is {alpha:.2f} over 20 pairs" in said
    assert words in said
    few = Agreement(measure="alpha", value=alpha, n=5)
    assert AGREE not in answers(raters={"alpha_nominal": few})


def test_a_report_of_the_editing_benchmark_alone_shows_it_on_the_published_scale(
    workspace: Workspace, tmp_path: Path
) -> None:
    workspace.transact("Import", "", import_edits, read_edits(write_jfleg(tmp_path)))
    (run,) = workspace.transact_job("Copy", "", add_copy_baseline).value
    scores = score_bench_run(workspace, run.id)
    html, _count = render_report(workspace)
    assert "<h2>Systems</h2>" not in html
    assert read_strictly(html) == []
    assert "Nothing is scored yet." not in html
    head = (
        "Metric | System | Instructions | Average | Highest | Lowest | Variation | Copy"
        " | Supervised"
    )
    rows = {row[0]: row for row in tables_of(html)[head]}
    assert rows["jfleg, fluency"] == ["jfleg, fluency"]
    gleu = scores["gleu"].value
    assert gleu is not None
    assert rows["GLEU *"][3] == f"{gleu * 100:.1f}"
    assert rows["GLEU *"][8] == "62.4"
    assert rows["SARI *"][3] == f"{scores['sari'].value:.1f}"
    # The copy follows no instruction.
    assert "By instruction" not in html
