"""What stands beside the plots: agreement with people, what judges say, time and tokens, tags."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtWidgets import QWidget

from app import theme
from app.pages.results.cards import ResultsView, note_card
from app.pages.results.lists import RowsColumn, RowsTable
from app.pages.results.output_dialog import tag_word
from app.pages.results.plot import Share, ShareBars
from app.pages.results.table import measure_title
from app.strings import count_of, format_duration, format_number, say
from app.widgets.basics import Card
from core.metrics.agreement import Agreement
from core.runs.human_agreement import HumanAgreement, human_agreement
from core.runs.results import SystemCost, cost_rows
from core.runs.tags import count_tags
from core.storage.workspace import Workspace
from core.types.evaluation import OUTPUT_TAGS


@dataclass(frozen=True, slots=True)
class Spent:
    """Time and tokens by system, and how many outputs of each bear which tag."""

    costs: tuple[SystemCost, ...]
    tags: dict[tuple[str, str], int]


def read_spent(workspace: Workspace) -> Spent:
    """Time, tokens and tags."""
    return Spent(tuple(cost_rows(workspace)), count_tags(workspace))


read_agreement: Callable[[Workspace], HumanAgreement] = human_agreement


class AgreementView(ResultsView):
    """Every metric and judge against people's choices, with ties and without, 'longer wins' included."""

    def show_agreement(self, found: HumanAgreement) -> None:
        """Show what was read."""
        if not found.rows:
            self.fill(
                note_card(
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


#: Room the views leave at least.
VIEW_HEIGHT = 260


def fit_view(view: QWidget) -> None:
    """Leave a view its least height in the text size of now."""
    view.setMinimumHeight(theme.current().px(VIEW_HEIGHT))
