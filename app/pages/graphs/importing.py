"""Bringing graphs of files in: what the files do not say is asked, then each is one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from app.operations import run_query, run_verb
from app.pages.graphs.about import ROLES, SPLITS
from app.strings import count_of, isolate, say
from app.widgets.basics import label
from app.widgets.dialogs import Dialog, choose_files
from app.widgets.inputs import ComboBox, Form
from core.exchange.records import Skipped
from core.graphs.drafts import GraphDraft
from core.graphs.formats import read_graphs
from core.graphs.imports import GraphImport, import_graphs
from core.types.graphs import GraphRole

FILTER = "Graphs (*.jsonl *.json *.graphml *.dot *.gv);;All files (*)"

#: Told when a file is in: words for the person, and the first graph's id.
Done = Callable[[str, str], object]


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file as it was read."""

    path: Path
    drafts: list[GraphDraft]
    skipped: list[Skipped]

    @property
    def is_bare(self) -> bool:
        """Whether it leaves open what kind of graphs it holds, as TaskLAMA's files do."""
        return any("role" not in draft.fields for draft in self.drafts)


def choose_and_import(page: QWidget, done: Done) -> None:
    """Let the person choose files and bring their graphs in."""
    choose_files(
        page, say("Import graphs"), FILTER, lambda paths: import_files(page, paths, done), many=True
    )


def import_files(page: QWidget, paths: Sequence[Path], done: Done) -> None:
    """Read files off the UI thread, ask what they do not say, then write them one by one."""

    def read() -> list[ReadFile]:
        return [ReadFile(path, *read_graphs(path)[:2]) for path in paths]

    def take(files: list[ReadFile]) -> None:
        if any(file.is_bare for file in files):
            ImportDialog(page, files, partial(_write_all, page, files, done)).open()
        else:
            _write_all(page, files, done, None, "")

    run_query(page, read).success(take)


def _write_all(
    page: QWidget, files: Sequence[ReadFile], done: Done, role: GraphRole | None, split: str
) -> None:
    for file in files:
        run_verb(
            page,
            say("Import {name}", name=file.path.name),
            import_graphs,
            file.path.name,
            file.drafts,
            file.skipped,
            role=role,
            split=split,
        ).success(lambda outcome: _tell(outcome.value, done))


def _tell(report: GraphImport, done: Done) -> None:
    words = [say("{what} imported", what=count_of(len(report.ids), "graph", "graphs"))]
    for found, text in (
        (report.skipped, say("{count} left out (line {line}: {reason})")),
        (report.aside, say("{count} entries set aside (line {line}: {reason})")),
    ):
        if found:
            words.append(
                text.format(count=len(found), line=found[0].line, reason=isolate(found[0].reason))
            )
    done("; ".join(words), report.ids[0] if report.ids else "")


class ImportDialog(Dialog):
    """What graphs are for which their files do not say it."""

    def __init__(
        self,
        parent: QWidget,
        files: Sequence[ReadFile],
        write: Callable[[GraphRole | None, str], object],
    ) -> None:
        super().__init__(say("Import graphs"), parent, width=480)
        self._write = write
        count = sum(len(file.drafts) for file in files)
        where = files[0].path.name if len(files) == 1 else count_of(len(files), "file", "files")
        self.body.addWidget(
            label(
                say("{what} in {where}.", what=count_of(count, "graph", "graphs"), where=where),
                wrap=True,
            )
        )
        form = Form()
        self.role = ComboBox(say("Kind"), stretch=True)
        self.role.fill([(say(text), value) for value, text in ROLES], "gold")
        form.add(say("Kind"), self.role, say("Methods and training rounds need gold graphs."))
        self.split = ComboBox(say("Split"), stretch=True)
        self.split.fill([(say(text), value) for value, text in SPLITS], _guess_split(files))
        form.add(say("Split"), self.split)
        self.body.addLayout(form)
        self.add_cancel()
        self.add_button(say("Import"), self._accept, "primary")

    @Slot()
    def _accept(self) -> None:
        self.accept()
        self._write(self.role.value, str(self.split.value or ""))


def _guess_split(files: Sequence[ReadFile]) -> str:
    """The split that the names of all files name, as published files are called; else ''."""
    found = set()
    for file in files:
        name = file.path.stem.casefold()
        found.add(next((value for value, _ in SPLITS if value and value[:3] in name), ""))
    return found.pop() if len(found) == 1 else ""
