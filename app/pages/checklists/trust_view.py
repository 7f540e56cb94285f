"""Which judge may be believed: agreement with an expert on a sample drawn for it, mappers, difficulty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import theme
from app.operations import run_query, run_verb
from app.pages.checklists.tables import PlainTable, Point, ScatterCard
from app.session import Session
from app.strings import count_of, say, shorten
from app.widgets.basics import Card, Scroller, label, row
from app.widgets.buttons import Button
from app.widgets.inputs import spin_box
from app.widgets.notice import Notice
from core.checklists.mappers import MapperScore, compare_mappers
from core.checklists.scores import judge_name
from core.checklists.trust import (
    Difficulty,
    Trust,
    difficulty_points,
    draw_sample,
    main_expert,
    sample_of,
    trust_table,
)
from core.metrics.agreement import Agreement
from core.rubrics.verbs import rubric_items
from core.storage.workspace import Workspace
from core.types.rubrics import TrustSample

_SAMPLE, _SEED = 20, 20_240_501
_BELIEFS = {
    "believe": "✓ may be believed",
    "caution": "◐ with caution",
    "distrust": "✕ not to be believed",
    "unchecked": "? not checked",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustFacts:
    """All that is shown for a rubric."""

    rows: tuple[tuple[str, Trust], ...]
    expert: str
    titles: Mapping[str, str]
    sample: tuple[tuple[TrustSample, str, bool], ...]
    difficulty: tuple[tuple[str, Difficulty], ...]
    mappers: tuple[MapperScore, ...]


class TrustView(QWidget):
    """Read anew when shown."""

    said = Signal(str)
    opened = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._rubric_id = ""
        self._generation = 0
        self._next = ""
        scroller = Scroller()
        self.hidden = Notice(
            say("What judges said is hidden while you work blind and outputs wait for you."), "info"
        )
        self.hidden.hide()
        self.warning = Notice("", "warning")
        self.warning.hide()
        scroller.box.addWidget(self.hidden)
        scroller.box.addWidget(self.warning)
        self._cards = [
            self._make_judges(),
            self._make_sample(),
            self._make_difficulty(),
            self._make_items(),
            self._make_mappers(),
        ]
        for card in self._cards:
            scroller.box.addWidget(card)
        scroller.box.addStretch(1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, theme.S, 0, 0)
        outer.addWidget(scroller)

    def set_hidden(self, hidden: bool) -> None:
        """Whether judges' words are hidden since one works blind."""
        self.hidden.setVisible(hidden)
        for place, card in enumerate(self._cards):
            card.setVisible(not hidden or place == 1)

    def show_rubric(self, rubric_id: str) -> None:
        """Reckon and show."""
        self._rubric_id = rubric_id
        self._generation += 1
        generation = self._generation

        def take(found: TrustFacts) -> None:
            if generation == self._generation:
                self._show(found)

        run_query(
            self, read_trust, self.session.workspace, rubric_id, self.session.person_id
        ).success(take)

    @Slot()
    def draw(self) -> None:
        """Draw outputs for an expert to judge."""
        if not self._rubric_id:
            self.said.emit(say("There is no rubric yet. Make one under Rubrics first."))
        else:
            run_verb(
                self,
                say("Draw outputs for checking"),
                draw_sample,
                self._rubric_id,
                int(self.count.value()),
                _SEED,
            ).success(
                lambda outcome: self.said.emit(
                    say("{words} drawn", words=count_of(len(outcome.value), "output", "outputs"))
                )
            )

    @Slot()
    def open_next(self) -> None:
        """Open the next drawn output without one's own verdicts."""
        if self._next:
            self.opened.emit(self._next)
        else:
            self.said.emit(say("Every output drawn has your verdicts."))

    # -- parts ---------------------------------------------------------------------------

    def _make_judges(self) -> Card:
        card = Card(say("Judges against the expert"))
        self.judges = PlainTable(
            say("Judges against the expert"),
            [
                say("Judge"), say("Belief"), say("Kappa"), say("Equal"), say("Pearson"),
                say("Pearson of F1"), say("Verdicts"),
            ],
            say("No judge has judged anything under this rubric yet. Map and judge some outputs first."),
        )  # fmt: skip
        card.add(self.judges)
        card.add(self.judges.empty)
        self.words = label("", wrap=True)
        card.add(self.words)
        return card

    def _make_sample(self) -> Card:
        card = Card(say("Sample for checking"))
        words = say(
            "Judge these outputs yourself, without looking at the machine's verdicts; what the two of you "
            "say is compared."
        )
        card.add(label(words, "muted", wrap=True))
        self.count = spin_box(say("Outputs to draw"), 1, 500, _SAMPLE)
        self.draw_button = Button(say("Draw"), icon="refresh")
        self.draw_button.clicked.connect(self.draw)
        self.next_button = Button(say("Judge the next"), "primary")
        self.next_button.clicked.connect(self.open_next)
        card.add(row(label(say("Outputs")), self.count, self.draw_button, self.next_button, None))
        self.sample = PlainTable(
            say("Sample for checking"),
            [say("Output"), say("Your verdicts")],
            say("Nothing has been drawn yet."),
        )
        self.sample.opened.connect(self.opened)
        card.add(self.sample)
        card.add(self.sample.empty)
        return card

    def _make_difficulty(self) -> Card:
        self.difficulty = ScatterCard(
            say("Harder tasks agree less"),
            say("F1 by the expert (easier to the right)"),
            say("kappa with the expert"),
            say(
                "A point is a rubric and a judge. A judge believed on an easy task need not be on a hard one."
            ),
            low=-0.2,
        )
        return self.difficulty

    def _make_items(self) -> Card:
        card = Card(say("By item"))
        self.items = PlainTable(
            say("Kappa by item"),
            [say("Item"), say("Judge"), say("Kappa"), say("Verdicts")],
            say(
                "Once a judge and you have judged the same outputs, each item's agreement stands here."
            ),
        )
        card.add(self.items)
        card.add(self.items.empty)
        return card

    def _make_mappers(self) -> Card:
        card = Card(say("Mappers against you"))
        words = say(
            "Checklists of the same texts beside your finished ones. Presence asks only whether there is "
            "something on an item; F1 compares the words."
        )
        card.add(label(words, "muted", wrap=True))
        self.mappers = PlainTable(
            say("Mappers against you"),
            [
                say("Mapper"), say("F1"), say("Precision"), say("Recall"), say("Presence F1"),
                say("Texts"), say("Unscored items"),
            ],
            say("Finish a checklist of a text that a model mapped, too, and the two are compared here."),
        )  # fmt: skip
        card.add(self.mappers)
        card.add(self.mappers.empty)
        return card

    # -- showing -------------------------------------------------------------------------

    def _show(self, found: TrustFacts) -> None:
        self.judges.load(
            [
                (
                    name,
                    say(_BELIEFS[trust.belief]),
                    _bounds(trust.kappa),
                    _bounds(trust.percentage),
                    _bounds(trust.pearson),
                    _bounds(trust.sample_pearson),
                    str(trust.kappa.n if trust.kappa else 0),
                )
                for name, trust in found.rows
            ],
            tips=[trust.words for _, trust in found.rows],
        )
        lines = [f"{name}: {trust.words}" for name, trust in found.rows]
        if found.expert:
            lines.insert(0, say("The expert is {name}.", name=found.expert))
        self.words.setText("\n".join(lines))
        self.words.setVisible(bool(found.rows))
        unchecked = [name for name, trust in found.rows if trust.belief == "unchecked"]
        self.warning.set_text(
            say(
                "Nobody checked {names}. Judge a sample before relying on these numbers.",
                names=", ".join(unchecked),
            )
        )
        self.warning.setVisible(bool(unchecked))
        self.sample.load(
            [
                (shorten(name, 70), say("judged") if judged else say("open"))
                for _, name, judged in found.sample
            ],
            [drawn.output_id for drawn, _, _ in found.sample],
        )
        self._next = next((d.output_id for d, _, judged in found.sample if not judged), "")
        self.next_button.setEnabled(bool(self._next))
        names = list(dict.fromkeys(name for name, _ in found.difficulty))
        self.difficulty.load(
            [
                Point(
                    point.f1,
                    point.kappa,
                    say(
                        "{title}, {judge}: F1 {f1:.2f}, kappa {kappa:.2f}",
                        title=point.title,
                        judge=name,
                        f1=point.f1,
                        kappa=point.kappa,
                    ),
                    names.index(name),
                )
                for name, point in found.difficulty
            ],
            names,
            say("No judge has been checked on any rubric yet."),
        )
        rows = []
        for name, trust in found.rows:
            for item_id, kappa in trust.items.items():
                if trust.judge.kind != "pool":
                    title = found.titles.get(item_id, "")
                    rows.append((title, name, _bounds(kappa), str(kappa.n)))
        self.items.load(sorted(rows))
        self.mappers.load(
            [
                (
                    mapper.mapper,
                    _number(mapper.f1),
                    _number(mapper.precision),
                    _number(mapper.recall),
                    _number(mapper.presence_f1),
                    str(mapper.texts),
                    str(mapper.unscored),
                )
                for mapper in found.mappers
            ]
        )


def read_trust(workspace: Workspace, rubric_id: str, person_id: str) -> TrustFacts:
    """Trust of all judges under a rubric."""
    expert = main_expert(workspace, rubric_id)
    rows = workspace.query(
        "SELECT o.id, o.pseudonym, e.title FROM output o JOIN example e ON e.id = o.example_id"
        " JOIN trust_sample s ON s.output_id = o.id WHERE s.rubric_id = ? AND s.deleted = 0",
        (rubric_id,),
    )
    names = {row["id"]: f"{row['title']} · {row['pseudonym']}" for row in rows}
    judged = {
        row["output_id"]
        for row in workspace.query(
            "SELECT c.output_id FROM judgement j JOIN checklist c ON c.id = j.output_checklist_id"
            " JOIN verdict v ON v.judgement_id = j.id AND v.deleted = 0"
            " WHERE c.rubric_id = ? AND j.judge_kind = 'person' AND j.judge = ? AND j.deleted = 0",
            (rubric_id, person_id),
        )
    }
    return TrustFacts(
        rows=tuple(
            (judge_name(workspace, trust.judge), trust)
            for trust in trust_table(workspace, rubric_id)
        ),
        expert=judge_name(workspace, expert) if expert else "",
        titles={item.id: item.title for item in rubric_items(workspace, rubric_id)},
        sample=tuple(
            (drawn, names.get(drawn.output_id, drawn.output_id), drawn.output_id in judged)
            for drawn in sample_of(workspace, rubric_id)
        ),
        difficulty=tuple(
            (judge_name(workspace, point.judge), point) for point in difficulty_points(workspace)
        ),
        mappers=tuple(compare_mappers(workspace, rubric_id, person_id)),
    )


def _bounds(agreement: Agreement | None) -> str:
    if agreement is None or agreement.value is None:
        return "–"
    if agreement.low is None or agreement.high is None:
        return f"{agreement.value:.2f}"
    return f"{agreement.value:.2f} [{agreement.low:.2f}, {agreement.high:.2f}]"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
