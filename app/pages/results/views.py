"""What stands beside the plots: agreement with people, what judges say, time and tokens, tags."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app import theme
from app.pages.results.figure import Figure
from app.pages.results.lists import RowsColumn, RowsTable
from app.pages.results.output_dialog import tag_word
from app.pages.results.plot import Share, ShareBars
from app.pages.results.table import measure_title
from app.strings import count_of, format_duration, format_number, say
from app.widgets.basics import Card, Scroller, clear_layout, label
from core.judges.results import Bias, WinRateRow, bias_rows, win_rates
from core.metrics.agreement import Agreement
from core.metrics.bootstrap import Interval
from core.runs.human_agreement import HumanAgreement, human_agreement
from core.runs.results import SystemCost, cost_rows
from core.runs.tags import count_tags
from core.storage.workspace import Workspace
from core.types import System
from core.types.evaluation import OUTPUT_TAGS


@dataclass(frozen=True, slots=True)
class Judged:
    """Everything about judges that is shown."""

    bases: tuple[tuple[str, str], ...]
    base_id: str
    rates: tuple[WinRateRow, ...]
    biases: tuple[Bias, ...]


@dataclass(frozen=True, slots=True)
class Spent:
    """Time and tokens by system, and how many outputs of each bear which tag."""

    costs: tuple[SystemCost, ...]
    tags: dict[tuple[str, str], int]


def read_judged(workspace: Workspace, base_id: str) -> Judged:
    """Win rates against a base (the first system where none is given) and what sways the judges."""
    systems = [
        (system.name, system.id)
        for system in workspace.find(System, order_by="name COLLATE NOCASE")
        if workspace.value("SELECT 1 FROM run WHERE system_id = ? AND deleted = 0", (system.id,))
    ]
    known = {system_id for _name, system_id in systems}
    base = base_id if base_id in known else systems[0][1] if systems else ""
    rates = win_rates(workspace, base) if base else []
    return Judged(tuple(systems), base, tuple(rates), tuple(bias_rows(workspace)))


def read_spent(workspace: Workspace) -> Spent:
    """Time, tokens and tags."""
    return Spent(tuple(cost_rows(workspace)), count_tags(workspace))


read_agreement: Callable[[Workspace], HumanAgreement] = human_agreement


class ResultsView(Scroller):
    """A column of cards that is filled anew."""

    saved = Signal(object)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)

    def fill(self, *cards: QWidget) -> None:
        """Show other cards."""
        clear_layout(self.box)
        for card in cards:
            if isinstance(card, Figure):
                card.saved.connect(self.saved)
            self.box.addWidget(card)
        self.box.addStretch(1)


def _note(title: str, text: str) -> Card:
    card = Card(title)
    card.add(label(text, "muted", wrap=True))
    return card


class AgreementView(ResultsView):
    """Every metric and judge against people's choices, with ties and without, 'longer wins' included."""

    def show_agreement(self, found: HumanAgreement) -> None:
        """Show what was read."""
        if not found.rows:
            self.fill(
                _note(
                    say("Agreement with people"),
                    say(
                        "Compare pairs in Review, or rate two outputs of the same example: then it "
                        "is shown here which metrics and judges choose as people do, and whether "
                        "they do better than 'the longer one wins'."
                    ),
                )
            )
            return
        whence = (
            say("pairs that people compared")
            if found.source == "pairs"
            else say("pairs made from people's ratings")
        )
        note = f"{count_of(found.pairs, 'pair', 'pairs')}, {whence}"
        bars = ShareBars(
            say("Agreement with people, ties left out"),
            note,
            [
                _share(_measure_name(row.name, row.kind), row.without_ties, row.kind == "baseline")
                for row in found.rows
            ],
            half=True,
        )
        bars.file_name = "agreement"
        columns = (
            RowsColumn(say("Measure"), 0),
            RowsColumn(say("Without ties"), 19, right=True),
            RowsColumn(say("Pairs"), 6, right=True),
            RowsColumn(say("With ties"), 19, right=True),
            RowsColumn(say("Pairs"), 6, right=True),
        )
        table = RowsTable(columns, say("Agreement with people"))
        table.rows.show(
            [
                (
                    _measure_name(row.name, row.kind),
                    _percent(row.without_ties),
                    str(row.without_ties.n),
                    _percent(row.with_ties),
                    str(row.with_ties.n),
                )
                for row in found.rows
            ]
        )
        card = Card(say("In numbers"))
        card.add(table)
        self.fill(bars, card)


class JudgesView(ResultsView):
    """Win rates against a base, and position and length bias of each judge."""

    def show_judged(self, found: Judged) -> None:
        """Show what was read."""
        if not found.rates and not found.biases:
            self.fill(
                _note(
                    say("Judges"),
                    say(
                        "Let a language model judge pairs or rate outputs (Runs, 'Judge'), or compare "
                        "pairs yourself in Review: win rates against a base system are shown here, "
                        "and what sways each judge besides the content."
                    ),
                )
            )
            return
        base = next((name for name, system in found.bases if system == found.base_id), "")
        cards: list[QWidget] = []
        if found.rates:
            bars = ShareBars(
                say("Win rate, ties half"),
                say("against {base}", base=base),
                [
                    Share(
                        f"{row.system} · {row.judge}",
                        row.plain.value,
                        row.plain.components.get("low"),
                        row.plain.components.get("high"),
                        row.plain.components.get("n", 0),
                        row.plain.unscored or "",
                    )
                    for row in found.rates
                ],
                half=True,
            )
            bars.file_name = "win rates"
            cards += [bars, self._rates(found.rates)]
        if found.biases:
            cards.append(self._biases(found.biases))
        self.fill(*cards)

    @staticmethod
    def _rates(rates: Sequence[WinRateRow]) -> Card:
        table = RowsTable(
            (
                RowsColumn(say("System"), 0),
                RowsColumn(say("Judge"), 16),
                RowsColumn(say("Win rate"), 8, right=True),
                RowsColumn(say("Length-penalised"), 8, right=True),
                RowsColumn(say("Wins, ties, losses"), 12, right=True),
            ),
            say("Win rates"),
        )
        table.rows.show(
            [
                (
                    row.system,
                    row.judge,
                    _share_text(row.plain.value),
                    _share_text(row.penalised.value),
                    "{wins}, {ties}, {losses}".format(
                        **{
                            key: row.plain.components.get(key, 0)
                            for key in ("wins", "ties", "losses")
                        }
                    ),
                )
                for row in rates
            ]
        )
        card = Card(say("In numbers"))
        card.add(table)
        card.add(
            label(
                say(
                    "Length-penalised: a win counts base words / candidate words where the candidate "
                    "is longer."
                ),
                "small",
                wrap=True,
            )
        )
        return card

    @staticmethod
    def _biases(biases: Sequence[Bias]) -> Card:
        table = RowsTable(
            (
                RowsColumn(say("Judge"), 0),
                RowsColumn(say("First shown wins"), 17, right=True),
                RowsColumn(say("Same in both orders"), 17, right=True),
                RowsColumn(say("Longer wins"), 17, right=True),
                RowsColumn(say("Longer wins, people"), 17, right=True),
                RowsColumn(say("No answer"), 6, right=True),
            ),
            say("What sways each judge"),
        )
        table.rows.show(
            [
                (
                    bias.judge,
                    _interval(bias.first_shown),
                    _interval(bias.consistent),
                    _interval(bias.longer),
                    _interval(bias.people_longer),
                    str(bias.unanswered),
                )
                for bias in biases
            ]
        )
        card = Card(say("What sways each judge"))
        card.add(table)
        card.add(
            label(
                say(
                    "A judge that looks at the content alone prefers what it is shown first in 50 % of "
                    "its decisions, and answers alike in both orders."
                ),
                "small",
                wrap=True,
            )
        )
        return card


class SpentView(ResultsView):
    """What each system's outputs took, and what people marked as wrong with them."""

    def show_spent(self, found: Spent) -> None:
        """Show what was read."""
        table = RowsTable(
            (
                RowsColumn(say("System"), 0),
                RowsColumn(say("Outputs"), 7, right=True),
                RowsColumn(say("Failed"), 6, right=True),
                RowsColumn(say("Words"), 7, right=True),
                RowsColumn(say("Tokens read"), 10, right=True),
                RowsColumn(say("Tokens written"), 10, right=True),
                RowsColumn(say("Time"), 9, right=True),
                RowsColumn(say("Tokens a second"), 8, right=True),
            ),
            say("Time and tokens by system"),
        )
        table.rows.show([_cost_cells(cost) for cost in found.costs])
        card = Card(say("Time and tokens"))
        card.add(table)
        cards: list[QWidget] = [card]
        if found.tags:
            cards.append(self._tags(found))
        self.fill(*cards)

    @staticmethod
    def _tags(found: Spent) -> Card:
        table = RowsTable(
            (
                RowsColumn(say("System"), 0),
                *(RowsColumn(tag_word(tag), 9, right=True) for tag in OUTPUT_TAGS),
            ),
            say("What people marked as wrong"),
        )
        names = sorted({name for name, _tag in found.tags}, key=str.casefold)
        table.rows.show(
            [
                (name, *(str(found.tags.get((name, tag), 0)) for tag in OUTPUT_TAGS))
                for name in names
            ]
        )
        card = Card(say("What is wrong, outputs marked"))
        card.add(table)
        return card


def _cost_cells(cost: SystemCost) -> tuple[str, ...]:
    dash = "–"
    return (
        cost.system,
        format_number(cost.outputs),
        format_number(cost.failed),
        format_number(cost.words),
        format_number(cost.prompt_tokens) if cost.prompt_tokens else dash,
        format_number(cost.completion_tokens) if cost.completion_tokens else dash,
        format_duration(cost.seconds) if cost.seconds else dash,
        format_number(cost.tokens_a_second, 1) if cost.tokens_a_second else dash,
    )


def _measure_name(name: str, kind: str) -> str:
    if kind == "baseline":
        return say("Longer wins (baseline)")
    return measure_title(name) if kind == "metric" else say("Judge: {name}", name=name)


def _share(name: str, agreement: Agreement, plain: bool) -> Share:
    return Share(
        name,
        agreement.value,
        agreement.low,
        agreement.high,
        agreement.n,
        agreement.reason or "",
        plain,
    )


def _percent(agreement: Agreement) -> str:
    if agreement.value is None:
        return say("no value")
    text = f"{agreement.value * 100:.0f} %"
    if agreement.low is not None and agreement.high is not None:
        text += f" [{agreement.low * 100:.0f}, {agreement.high * 100:.0f}]"
    return text


def _share_text(value: float | None) -> str:
    return say("no value") if value is None else f"{value * 100:.0f} %"


def _interval(interval: Interval) -> str:
    if interval.mean is None:
        return "–"
    text = f"{interval.mean * 100:.0f} %"
    if interval.low is not None and interval.high is not None:
        text += f" [{interval.low * 100:.0f}, {interval.high * 100:.0f}]"
    return text


def written_words(path: Path) -> str:
    """What is said once a file is written."""
    return say("Wrote {name}. It is not encrypted.", name=path.name)


#: Room the views leave at least.
VIEW_HEIGHT = 260


def fit_view(view: QWidget) -> None:
    """Leave a view its least height in the text size of now."""
    view.setMinimumHeight(theme.current().px(VIEW_HEIGHT))
