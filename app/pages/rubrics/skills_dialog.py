"""Which skills an item asks for: eight, with levels, and levels of knowledge and reasoning."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QGridLayout, QWidget

from app import theme
from app.operations import run_query, run_verb
from app.strings import say, shorten
from app.widgets.basics import label
from app.widgets.dialogs import Dialog
from app.widgets.inputs import ComboBox
from core.checklists.skills import LEVELS, SKILLS, set_skills, skills_of
from core.storage.workspace import Workspace
from core.types import RubricItem
from core.types.rubrics import ItemSkills

_EXTRA = {
    "knowledge": "Professional knowledge",
    "reasoning": "Reasoning",
}


class SkillsDialog(Dialog):
    """Results by skill are under Checklists, Numbers."""

    def __init__(self, parent: QWidget, item: RubricItem) -> None:
        super().__init__(say("Skills for '{title}'", title=shorten(item.title, 50)), parent)
        self._item = item
        words = say("What a writer needs to get the item right. A model's tags give way to yours.")
        self.body.addWidget(label(words, "muted", wrap=True))
        grid = QGridLayout()
        grid.setVerticalSpacing(theme.XS)
        self.boxes: dict[str, ComboBox] = {}
        levels = [(say("none"), 0), *((say(word), n) for n, word in enumerate(LEVELS, 1))]
        for place, (key, words) in enumerate({**SKILLS, **_EXTRA}.items()):
            box = ComboBox(say(words))
            box.fill(levels, 0)
            caption = label(say(words))
            caption.setBuddy(box)
            grid.addWidget(caption, place, 0)
            grid.addWidget(box, place, 1)
            self.boxes[key] = box
        grid.setColumnStretch(0, 1)
        self.body.addLayout(grid)
        self.source = label("", "small")
        self.body.addWidget(self.source)
        self.add_cancel()
        self.keep = self.add_button(say("Keep"), self._keep, "primary")
        run_query(self, _read, self.session.workspace, item).success(self._fill)

    def _fill(self, tagged: ItemSkills | None) -> None:
        if tagged is None:
            return
        levels = {**tagged.skills, "knowledge": tagged.knowledge, "reasoning": tagged.reasoning}
        for key, box in self.boxes.items():
            box.choose(levels.get(key, 0))
        if tagged.source != self.session.person_id:
            self.source.setText(say("Tagged by {name}.", name=tagged.source))

    @Slot()
    def _keep(self) -> None:
        levels = {key: int(box.value or 0) for key, box in self.boxes.items()}
        knowledge, reasoning = levels.pop("knowledge"), levels.pop("reasoning")
        run_verb(
            self,
            say("Tag skills"),
            set_skills,
            self._item.id,
            levels,
            knowledge=knowledge,
            reasoning=reasoning,
        ).success(lambda _outcome: self.accept())


def _read(workspace: Workspace, item: RubricItem) -> ItemSkills | None:
    return skills_of(workspace, item.rubric_id).get(item.id)
