"""What judges say: win rates, ratings, what sways them, and every pair with their reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.pages.results.cards import ResultsView, interval_text, mean_text, note_card, share_text
from app.pages.results.judged_dialog import verdict_words
from app.pages.results.lists import RowsColumn, RowsTable
from app.pages.results.plot import Share, ShareBars
from app.strings import say
from app.widgets.basics import Card, label
from app.widgets.notice import Notice
from core.judges.answers import AxisMeans, JudgedRow, axis_means, judge_warnings, judged_rows
from core.judges.results import Bias, WinRateRow, bias_rows, win_rates
from core.storage.workspace import Workspace
from core.types import RATING_AXES, System

#: More judged pairs than this are not listed; those that are looked at first are.
_MOST_PAIRS = 500


@dataclass(frozen=True, slots=True)
class Judged:
    """Everything about judges that is shown."""

    bases: tuple[tuple[str, str], ...]
    base_id: str
    rates: tuple[WinRateRow, ...]
    biases: tuple[Bias, ...]
    ratings: tuple[AxisMeans, ...] = ()
    pairs: tuple[JudgedRow, ...] = ()
    pairs_in_all: int = 0


def has_judgements(workspace: Workspace) -> bool:
    """Whether people compared pairs or a language model judged something."""
    return bool(
        workspace.value(
            "SELECT EXISTS (SELECT 1 FROM preference WHERE deleted = 0)"
            " OR EXISTS (SELECT 1 FROM judge_answer WHERE deleted = 0)"
        )
    )


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
    pairs, in_all = judged_rows(workspace, limit=_MOST_PAIRS)
    return Judged(
        tuple(systems),
        base,
        tuple(rates),
        tuple(bias_rows(workspace)),
        tuple(axis_means(workspace)),
        tuple(pairs),
        in_all,
    )


class JudgesView(ResultsView):
    """Win rates against a base, ratings, bias of each judge, and what it said pair by pair."""

    #: A judged pair was opened.
    opened = Signal(object)

    def show_judged(self, found: Judged) -> None:
        """Show what was read."""
        if not found.rates and not found.biases and not found.ratings:
            self.fill(
                note_card(
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
        cards: list[QWidget] = [
            Notice(text, "warning") for text in judge_warnings(found.biases, found.ratings)
        ]
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
        if found.ratings:
            cards.append(self._ratings(found.ratings))
        if found.biases:
            cards.append(self._biases(found.biases))
        if found.pairs:
            cards.append(self._pairs(found))
        self.fill(*cards)

    @staticmethod
    def _ratings(ratings: Sequence[AxisMeans]) -> Card:
        table = RowsTable(
            (
                RowsColumn(say("System"), 0),
                RowsColumn(say("Judge"), 16),
                *(RowsColumn(_axis_title(axis), 14, right=True) for axis in RATING_AXES),
            ),
            say("Ratings by judges, 1 to 5"),
        )
        table.rows.show(
            [(row.system, row.judge, *(mean_text(mean) for mean in row.axes)) for row in ratings]
        )
        card = Card(say("Ratings by judges, 1 to 5"))
        card.add(table)
        return card

    def _pairs(self, found: Judged) -> Card:
        table = RowsTable(
            (
                RowsColumn(say("Example"), 0),
                RowsColumn(say("Systems"), 30),
                RowsColumn(say("Judge"), 16),
                RowsColumn(say("Verdict"), 16),
                RowsColumn(say("In both orders"), 13),
                RowsColumn(say("People"), 16),
            ),
            say("What judges said of each pair"),
        )
        table.rows.show(
            [
                (
                    row.example,
                    f"{row.first_system} · {row.second_system}",
                    row.judge,
                    verdict_words(row, row.choice),
                    say("alike") if row.consistent else say("contradicts"),
                    verdict_words(row, row.people),
                )
                for row in found.pairs
            ],
            found.pairs,
        )
        table.opened.connect(self.opened)
        note = say("{shown} of {all}", shown=len(found.pairs), all=found.pairs_in_all)
        return _explained(
            Card(say("Pair by pair, with the reasons"), note),
            table,
            say(
                "Where judge and people differ comes first. Enter shows both outputs and what the "
                "judge said in each order."
            ),
        )

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
                    share_text(row.plain.value),
                    share_text(row.penalised.value),
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
        return _explained(
            Card(say("In numbers")),
            table,
            say(
                "Length-penalised: a win counts base words / candidate words where the candidate "
                "is longer."
            ),
        )

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
                    interval_text(bias.first_shown),
                    interval_text(bias.consistent),
                    interval_text(bias.longer),
                    interval_text(bias.people_longer),
                    str(bias.unanswered),
                )
                for bias in biases
            ]
        )
        return _explained(
            Card(say("What sways each judge")),
            table,
            say(
                "A judge that looks at the content alone prefers what it is shown first in 50 % of "
                "its decisions, and answers alike in both orders."
            ),
        )


def _axis_title(axis: str) -> str:
    """One of the five axes for people."""
    return say(axis.replace("_", " ").capitalize())


def _explained(card: Card, table: RowsTable, words: str) -> Card:
    """A card of a table and, in small under it, how the table is to be read."""
    card.add(table)
    card.add(label(words, "small", wrap=True))
    return card
