"""What happened to one row, and what was deleted: looked at, and brought back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from app import theme
from app.operations import run_query, run_verb
from app.strings import format_moment, parse_time, say
from app.widgets.basics import Card, label, row
from app.widgets.dialogs import Dialog
from app.widgets.reader import Reader
from app.windows.safety.entries import EntryList
from core.changes import Outcome
from core.types import SectionText

if TYPE_CHECKING:
    from app.pages.base import Page
    from core.storage.history import HistoryEntry, RowHistory

#: What a page's place calls the row it shows, which is also the row's kind.
_SHOWN_KINDS = ("task", "example", "rubric", "document", "graph")
#: Kinds whose deleted rows are offered.
_OFFERED = ("task", "example", "rubric", "rubric_item", "document", "graph", "system")
_DELETED_SHOWN = 300


def row_in_view(page: Page | None) -> tuple[str, str] | None:
    """Kind and id of the row a page shows; None where it shows none with a history."""
    place = page.place() if page is not None else {}
    for kind in _SHOWN_KINDS:
        row_id = place.get(kind)
        if isinstance(row_id, str) and row_id:
            return kind, row_id
    return None


class HistoryDialog(Dialog):
    """The changes of a row, newest first; each with what was before and after, and the way back."""

    def __init__(self, kind: str, row_id: str, parent: QWidget) -> None:
        super().__init__(say("History"), parent, width=860)
        self._kind = kind
        self._row = row_id
        self._entries: list[HistoryEntry] = []
        self.words = label("", "muted", wrap=True)
        self.body.addWidget(self.words)
        self.list = EntryList(say("Changes"))
        self.list.currentRowChanged.connect(self._on_chosen)
        changes = Card(say("Changes"))
        changes.setMinimumHeight(theme.current().px(360))
        changes.add(self.list, 1)
        self.before = Reader(say("Before"))
        self.after = Reader(say("After"))
        cards = []
        for title, reader in ((say("Before"), self.before), (say("After"), self.after)):
            card = Card(title)
            card.add(reader, 1)
            cards.append(card)
        columns = row(spacing=theme.M)
        columns.addWidget(changes, 5)
        for card in cards:
            columns.addWidget(card, 5)
        self.body.addLayout(columns, 1)
        self.add_cancel(say("Close"))
        self.restore_button = self.add_button(
            say("Go back to how it was after this change"), self.restore
        )
        self.restore_button.setEnabled(False)
        self.session.bus.changed.connect(self._reload)
        self._reload()

    @Slot()
    def restore(self) -> None:
        """Put the row back as it was after the chosen change; undo takes that back."""
        from core.storage.history import restore_row

        entry = self._current
        if entry is not None:
            run_verb(
                self,
                say("Go back to an earlier state"),
                restore_row,
                self._kind,
                self._row,
                entry.change,
            ).success(self._on_restored)

    @property
    def _current(self) -> HistoryEntry | None:
        place = self.list.currentRow()
        return self._entries[place] if 0 <= place < len(self._entries) else None

    @Slot()
    def _reload(self) -> None:
        if not self.session.has_workspace:
            return
        workspace = self.session.workspace

        def read() -> RowHistory:
            from core.storage.history import row_history

            return row_history(workspace, self._kind, self._row)

        run_query(self, read).success(self._fill)

    def _fill(self, history: RowHistory) -> None:
        from core.storage.titles import kind_words

        if [e.change for e in history.entries] == [e.change for e in self._entries]:
            return
        self._entries = history.entries
        title = say("History of the {kind}", kind=kind_words(history.kind))
        self.setWindowTitle(title)
        self.title_label.setText(title)
        gone = say("deleted now") if history.deleted else ""
        self.words.setText(", ".join(part for part in (history.name, gone) if part))
        self.list.clear()
        for entry in history.entries:
            who = entry.person or say("Rifugio")
            when = format_moment(parse_time(entry.time))
            self.list.add(f"{entry.label}\n{when}, {who}")
        if history.entries:
            self.list.setCurrentRow(0)
            self.list.setFocus()

    def _on_chosen(self, place: int) -> None:
        entry = self._current
        self.restore_button.setEnabled(
            entry is not None and place > 0 and not self.session.workspace.read_only
        )
        self.before.set_sections(_sections(entry.before) if entry else ())
        self.after.set_sections(_sections(entry.after) if entry else ())

    def _on_restored(self, outcome: Outcome[bool]) -> None:
        if not outcome.value:
            self.words.setText(say("It is like that already."))


class DeletedDialog(Dialog):
    """Lists what was deleted, newest first, each a step from its history."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(say("Deleted"), parent, width=560)
        self._rows: list[dict[str, Any]] = []
        self.words = label(
            say("Nothing is gone for good: open its history and go back to an earlier state."),
            "muted",
            wrap=True,
        )
        self.body.addWidget(self.words)
        self.list = EntryList(say("Deleted"))
        self.list.setMinimumHeight(theme.current().px(320))
        self.list.itemActivated.connect(self.open_history)
        self.body.addWidget(self.list, 1)
        self.add_cancel(say("Close"))
        self.open_button = self.add_button(say("Open its history …"), self.open_history, "primary")
        run_query(self, self._read).success(self._fill)

    @Slot()
    def open_history(self) -> None:
        """Show the history of the chosen row."""
        place = self.list.currentRow()
        if 0 <= place < len(self._rows):
            found = self._rows[place]
            parent = self.parentWidget()
            assert parent is not None
            self.accept()
            HistoryDialog(found["kind"], found["id"], parent).open()

    def _read(self) -> list[dict[str, Any]]:
        from core.storage.titles import row_name

        rows: list[dict[str, Any]] = []
        for kind in _OFFERED:
            found = self.session.workspace.query(
                f'SELECT * FROM "{kind}" WHERE deleted = 1 ORDER BY updated DESC LIMIT ?',
                (_DELETED_SHOWN,),
            )
            rows += [
                {"kind": kind, "id": r["id"], "name": row_name(r), "when": r["updated"]}
                for r in found
            ]
        return sorted(rows, key=lambda r: str(r["when"]), reverse=True)[:_DELETED_SHOWN]

    def _fill(self, rows: list[dict[str, Any]]) -> None:
        from core.storage.titles import kind_words

        self._rows = rows
        for found in rows:
            name = found["name"] or say("without a name")
            kind = kind_words(found["kind"]).capitalize()
            when = format_moment(parse_time(found["when"]))
            self.list.add(f"{name}\n{kind}, {when}")
        self.open_button.setEnabled(bool(rows))
        if rows:
            self.list.setCurrentRow(0)
            self.list.setFocus()
        else:
            self.words.setText(say("Nothing has been deleted."))


def _sections(columns: dict[str, Any]) -> tuple[SectionText, ...]:
    """Stored columns as sections to read."""
    return tuple(
        SectionText(title=name.replace("_", " ").capitalize(), text=text)
        for name, value in columns.items()
        if not name.endswith("_id") and name != "id" and (text := _as_text(value))
    )


def _as_text(value: Any) -> str:
    """A stored value in words; lists and the like are kept as JSON."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            return _plain(msgspec.json.decode(value))
        except msgspec.DecodeError:
            return value
    return "" if value is None else str(value)


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        if set(value) == {"title", "text"}:
            return f"{value['title']}\n{value['text']}".strip()
        return "\n".join(f"{key}: {_plain(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return "\n\n".join(_plain(inner) for inner in value)
    return "" if value is None else str(value)
