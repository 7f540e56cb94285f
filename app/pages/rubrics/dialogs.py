"""New rubric (empty, from a template, from a file), pasting many items, splitting one, merging several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.operations import run_query, run_verb
from app.strings import count_of, say, shorten
from app.widgets.basics import Scroller, label
from app.widgets.dialogs import Dialog
from app.widgets.editors import LineEditor, ProseEditor
from app.widgets.inputs import ComboBox, Form
from app.widgets.notice import Notice
from core.errors import KnownError
from core.rubrics.drafts import ItemDraft, parse_pasted, split_suggestion
from core.rubrics.imports import RubricFile, add_rubric_file, read_rubric_files
from core.rubrics.templates import rubric_template, rubric_templates, use_template
from core.rubrics.verbs import (
    add_rubric,
    add_rubric_items,
    edit_rubric,
    merge_rubric_items,
    split_rubric_item,
)
from core.storage.workspace import Workspace
from core.types import Rubric, RubricItem, Task


class NewRubricDialog(Dialog):
    """Empty for a task, or one of the eleven templates."""

    def __init__(self, parent: QWidget, done: Callable[[str], object]) -> None:
        super().__init__(say("New rubric"), parent)
        self._done = done
        form = Form()
        self.template = ComboBox(say("Begin with"))
        self.template.fill(
            [
                (say("an empty list"), ""),
                *(
                    (
                        f"{template.code} {template.title} ({len(template.items)})",
                        template.code,
                    )
                    for template in rubric_templates()
                ),
            ]
        )
        self.template.currentIndexChanged.connect(self._show)
        form.add(say("Begin with"), self.template)
        self.about = label("", "small", wrap=True)
        form.addRow(self.about)
        form.add_gap()
        self.task = ComboBox(say("Task"))
        form.add(say("Task"), self.task)
        self.name = LineEditor(say("Title"), placeholder=say("What it is for"))
        self._name_label = form.add(say("Title"), self.name)
        self.body.addLayout(form)
        self.notice = Notice(
            say(
                "A rubric is for a task. Describe one under Tasks first, or begin with a template."
            ),
            "warning",
        )
        self.notice.hide()
        self.body.addWidget(self.notice)
        self.add_cancel()
        self.make = self.add_button(say("Add rubric"), self._add, "primary")
        # Not before its task is there: keys can be faster than the list.
        self.make.setEnabled(False)
        self._tasks: list[tuple[str, str]] | None = None
        run_query(self, _tasks, self.session.workspace).success(self._fill)

    def _fill(self, tasks: list[tuple[str, str]]) -> None:
        self._tasks = tasks
        self._show()

    @Slot()
    def _show(self, *_: object) -> None:
        code = self.template.value
        chosen = self.task.value
        entries = [(shorten(objective, 70), key) for key, objective in self._tasks or ()]
        if code:
            template = rubric_template(code)
            self.about.setText(f"{template.label}. {template.source}")
            entries.insert(0, (say("its own: {task}", task=shorten(template.objective, 60)), ""))
        else:
            self.about.setText(say("Items are written one by one, or pasted from a list or table."))
        self.task.fill(entries, chosen if chosen in [key for _, key in entries] else None)
        self.name.setVisible(not code)
        self._name_label.setVisible(not code)
        self.make.setEnabled(bool(entries))
        self.notice.setVisible(self._tasks is not None and not entries)

    @Slot()
    def _add(self) -> None:
        code, task_id = self.template.value, self.task.value
        if code:
            pending = run_verb(self, say("Add rubric"), use_template, code, task_id=task_id or "")
        else:
            title = self.name.text().strip()
            pending = run_verb(self, say("Add rubric"), add_rubric, task_id, title)
        pending.success(self._added)

    def _added(self, outcome: Any) -> None:
        done = self._done
        self.accept()
        done(outcome.value.id)


class RenameRubricDialog(Dialog):
    """Another title for a rubric, and what is worth knowing of it."""

    def __init__(self, parent: QWidget, rubric: Rubric) -> None:
        super().__init__(say("Rename the rubric"), parent)
        self._rubric = rubric
        form = Form()
        self.name = LineEditor(say("Title"), placeholder=say("What it is for"))
        self.name.load(rubric.title)
        form.add(say("Title"), self.name)
        self.notes = ProseEditor(say("Notes"), lines=3)
        self.notes.load(rubric.notes)
        form.add(say("Notes"), self.notes)
        self.body.addLayout(form)
        self.add_cancel()
        self.make = self.add_button(say("Rename"), self._rename, "primary")
        self.name.edited.connect(self._look)
        self.name.selectAll()

    @Slot()
    def _look(self) -> None:
        self.make.setEnabled(bool(self.name.text().strip()))

    @Slot()
    def _rename(self) -> None:
        run_verb(
            self,
            say("Rename rubric"),
            edit_rubric,
            self._rubric.id,
            title=self.name.text().strip(),
            notes=self.notes.text,
        ).success(lambda _outcome: self.accept())


class ImportRubricDialog(Dialog):
    """Which task the rubrics of a file are for, with what they hold."""

    def __init__(self, parent: QWidget, path: Path, done: Callable[[str], object]) -> None:
        super().__init__(say("Import {name}", name=path.name), parent)
        self._path, self._done = path, done
        self._found: list[RubricFile] = []
        form = Form()
        self.task = ComboBox(say("Task"))
        form.add(say("Task"), self.task, say("For rubrics that name none."))
        self.about = label(say("Reading …"), wrap=True)
        self.body.addLayout(form)
        self.body.addWidget(self.about)
        self.notice = Notice("", "warning")
        self.notice.hide()
        self.body.addWidget(self.notice)
        self.add_cancel()
        self.make = self.add_button(say("Import"), self._import, "primary")
        self.make.setEnabled(False)
        run_query(self, _read_file, self.session.workspace, path).success(self._fill).failure(
            self._refuse
        )

    def _fill(self, found: tuple[list[tuple[str, str]], list[RubricFile]]) -> None:
        tasks, self._found = found
        self.task.fill([(shorten(objective, 70), key) for key, objective in tasks])
        lines = []
        for rubric in self._found:
            count = len(rubric.items) + sum(map(len, rubric.own_items.values()))
            line = f"{rubric.title}: {count_of(count, 'item', 'items')}"
            if rubric.samples:
                checklists = count_of(len(rubric.samples), "checklist", "checklists")
                line += say(", with {checklists}", checklists=checklists)
            lines.append(line)
        self.about.setText("\n".join(lines))
        ready = bool(tasks) or all(rubric.task for rubric in self._found)
        self.make.setEnabled(ready)
        if not ready:
            self.notice.set_text(say("A rubric is for a task. Describe one under Tasks first."))
            self.notice.show()

    def _refuse(self, error: BaseException) -> None:
        self.about.hide()
        self.notice.set_text(str(error))
        self.notice.show()

    @Slot()
    def _import(self) -> None:
        run_verb(
            self,
            say("Import {name}", name=self._path.name),
            _import_all,
            self._found,
            self.task.value or "",
        ).success(self._imported)

    def _imported(self, outcome: Any) -> None:
        done = self._done
        self.accept()
        done(outcome.value)


class PasteDialog(Dialog):
    """A list or table becomes items; shows what it is read as before anything is added."""

    def __init__(
        self, parent: QWidget, rubric_id: str, after: str, done: Callable[[list[str]], object]
    ) -> None:
        super().__init__(say("Paste items"), parent, width=640)
        self._rubric_id, self._after, self._done = rubric_id, after, done
        self._drafts: list[ItemDraft] = []
        words = say(
            "One item a line, or a table copied from Word or a spreadsheet. 'Title: what to look for' "
            "is parted at the colon; a line that ends with a colon is a group."
        )
        self.body.addWidget(label(words, "muted", wrap=True))
        self.text = ProseEditor(say("Text to paste"), lines=8)
        self.text.edited.connect(self._read)
        self.body.addWidget(self.text, 1)
        self.about = label("", wrap=True)
        preview = Scroller()
        preview.setMinimumHeight(120)
        preview.box.addWidget(self.about)
        preview.box.addStretch(1)
        self.body.addWidget(preview, 1)
        self.add_cancel()
        self.make = self.add_button(say("Add items"), self._add, "primary")
        self.text.load(QGuiApplication.clipboard().text())
        self._read()
        self.text.setFocus()

    @Slot()
    def _read(self) -> None:
        try:
            self._drafts = parse_pasted(self.text.text)
        except KnownError as error:
            self._drafts = []
            self.about.setText(str(error))
        else:
            lines = [count_of(len(self._drafts), "item", "items")]
            group = ""
            for number, draft in enumerate(self._drafts, 1):
                if draft.group != group:
                    group = draft.group
                    lines.append(group)
                rest = f": {shorten(draft.description, 70)}" if draft.description else ""
                lines.append(f"{number}. {draft.title}{rest}")
            self.about.setText("\n".join(lines))
        self.make.setEnabled(bool(self._drafts))

    @Slot()
    def _add(self) -> None:
        run_verb(
            self,
            say("Paste {count}", count=count_of(len(self._drafts), "item", "items")),
            add_rubric_items,
            self._rubric_id,
            self._drafts,
            after=self._after,
        ).success(self._added)

    def _added(self, outcome: Any) -> None:
        done = self._done
        self.accept()
        done([item.id for item in outcome.value])


class SplitDialog(Dialog):
    """An item's parts, one a line, to be put right before they become items."""

    def __init__(
        self, parent: QWidget, item: RubricItem, at: int, done: Callable[[list[str]], object]
    ) -> None:
        super().__init__(say("Split '{title}'", title=shorten(item.title, 50)), parent, width=600)
        self._item, self._done = item, done
        words = say("Each line becomes an item: 'Title: what to look for'.")
        self.body.addWidget(label(words, "muted", wrap=True))
        self.text = ProseEditor(say("Parts"), lines=6)
        parts = split_suggestion(item.title, item.description, at if at > 0 else None)
        self.text.load("\n".join(_part_line(*part) for part in parts))
        self.text.edited.connect(self._check)
        self.body.addWidget(self.text, 1)
        self.add_cancel()
        self.make = self.add_button(say("Split"), self._split, "primary")
        self._check()
        self.text.setFocus()

    @property
    def parts(self) -> list[tuple[str, str]]:
        """The lines as (title, description)."""
        found = []
        for line in self.text.text.splitlines():
            title, _, description = line.partition(": ")
            if title.strip():
                found.append((title.strip().rstrip(":"), description.strip()))
        return found

    @Slot()
    def _check(self) -> None:
        self.make.setEnabled(len(self.parts) > 1)

    @Slot()
    def _split(self) -> None:
        run_verb(self, say("Split item"), split_rubric_item, self._item.id, self.parts).success(
            self._made
        )

    def _made(self, outcome: Any) -> None:
        done = self._done
        self.accept()
        done([item.id for item in outcome.value])


class MergeDialog(Dialog):
    """The title of the item that several become."""

    def __init__(
        self, parent: QWidget, items: Sequence[RubricItem], done: Callable[[list[str]], object]
    ) -> None:
        super().__init__(say("Merge {count} items", count=len(items)), parent)
        self._ids, self._done = [item.id for item in items], done
        form = Form()
        self.name = LineEditor(say("Title of the merged item"))
        self.name.load(" and ".join(item.title for item in items))
        form.add(
            say("Title"),
            self.name,
            say("Descriptions and examples are joined; conditions that named one of them name it."),
        )
        self.body.addLayout(form)
        self.add_cancel()
        self.add_button(say("Merge"), self._merge, "primary")
        self.name.selectAll()
        self.name.setFocus()

    @Slot()
    def _merge(self) -> None:
        run_verb(
            self,
            say("Merge items"),
            merge_rubric_items,
            self._ids,
            title=self.name.text(),
        ).success(self._made)

    def _made(self, outcome: Any) -> None:
        done = self._done
        self.accept()
        done([outcome.value.id])


def _part_line(title: str, description: str) -> str:
    return f"{title}: {description}" if description else title


def _tasks(workspace: Workspace) -> list[tuple[str, str]]:
    tasks = workspace.find(Task, order_by="objective COLLATE NOCASE", limit=500)
    return [(task.id, task.objective) for task in tasks]


def _read_file(workspace: Workspace, path: Path) -> tuple[list[tuple[str, str]], list[RubricFile]]:
    return _tasks(workspace), read_rubric_files(path)


def _import_all(tx: Any, found: Sequence[RubricFile], task_id: str) -> str:
    """All rubrics of a file, with their checklists; the id of the last."""
    from core.checklists.exchange import add_imported_checklists

    last = ""
    for rubric_file in found:
        rubric = add_rubric_file(tx, rubric_file, task=task_id)
        add_imported_checklists(tx, rubric.id, rubric_file.samples, rubric_file.title)
        last = rubric.id
    return last
