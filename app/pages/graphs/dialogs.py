"""Making and exporting graphs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from app.canvas.document import GraphDocument
from app.canvas.export import PICTURES, export_picture
from app.canvas.scene import GraphScene
from app.operations import run_query, run_verb, session_of
from app.strings import for_file_name, say
from app.widgets.basics import label
from app.widgets.dialogs import Dialog, choose_new_file
from app.widgets.editors import ProseEditor
from app.widgets.inputs import ComboBox, Form, text_field
from core.errors import KnownError
from core.graphs.imports import export_graphs
from core.graphs.verbs import add_graph

#: What some system refuses in the name of a file.
_NAME_LENGTH = 40

#: What a graph is written as: (format, words, file ending, all graphs).
WAYS = (
    ("tasklama", "All graphs, in TaskLAMA's published shape (JSONL)", "jsonl", True),
    ("jsonl", "All graphs with places, groups and suggestions (JSONL)", "jsonl", True),
    ("json", "This graph as JSON", "json", False),
    ("graphml", "This graph as GraphML", "graphml", False),
    ("dot", "This graph for Graphviz (DOT)", "dot", False),
    ("svg", "Picture with sharp lines (SVG)", "svg", False),
    ("png", "Picture (PNG)", "png", False),
    ("pdf", "Page (PDF)", "pdf", False),
)


class NewGraphDialog(Dialog):
    """Task and assumptions of a new graph; calls ``made`` with its id."""

    def __init__(self, parent: QWidget, made: Callable[[str], object], *, task: str = "") -> None:
        super().__init__(say("New graph"), parent, width=480)
        self._made = made
        form = Form()
        self.task = text_field(
            say("Task"), task, placeholder=say("What is to be done, such as 'make a cup of tea'")
        )
        form.add(say("Task"), self.task)
        self.assumptions = ProseEditor(
            say("Assumptions"), placeholder=say("One a line, such as 'with loose leaves'"), lines=2
        )
        form.add(
            say("Assumptions"),
            self.assumptions,
            say("Under which the steps hold. Leave it empty where none is needed."),
        )
        self.body.addLayout(form)
        self.words = label("", "error", wrap=True)
        self.words.hide()
        self.body.addWidget(self.words)
        self.add_cancel()
        self.make_button = self.add_button(say("Make the graph"), self._accept, "primary")
        (self.assumptions if task else self.task).setFocus()

    @Slot()
    def _accept(self) -> None:
        run_verb(
            self,
            say("Add graph"),
            add_graph,
            self.task.text(),
            self.assumptions.text.splitlines(),
        ).success(self._done).failure(self._refuse)

    def _done(self, outcome: Any) -> None:
        self.accept()
        self._made(outcome.value.id)

    def _refuse(self, error: BaseException) -> None:
        self.words.setText(str(error) if isinstance(error, KnownError) else repr(error))
        self.words.show()


def name_file(task: str) -> str:
    """A task as the name of a file on any system: its letters of any script, cut at a word.

    Examples
    --------
    >>> name_file("Change a wound/dressing: sterile?")
    'Change a wound dressing sterile'
    """
    words, name = for_file_name(task, instead=" ").split(), ""
    for word in words:
        longer = f"{name} {word}" if name else word
        if len(longer) > _NAME_LENGTH:
            break
        name = longer
    return name.strip(" .") or (words[0][:_NAME_LENGTH].strip(" .") if words else "") or "graph"


class ExportDialog(Dialog):
    """What to write and as what; the file is asked for then."""

    def __init__(self, parent: QWidget, document: GraphDocument, scene: GraphScene) -> None:
        super().__init__(say("Export"), parent, width=480)
        self._page = parent
        self._document, self._scene = document, scene
        form = Form()
        self.way = ComboBox(say("Write"))
        self.way.fill([(say(text), number) for number, (_, text, _, _) in enumerate(WAYS)], 0)
        form.add(say("Write"), self.way)
        self.body.addLayout(form)
        self.body.addWidget(
            label(say("Files are not encrypted. Suggestions are left out of the published shape."),
                  "muted", wrap=True)
        )  # fmt: skip
        self.add_cancel()
        self.add_button(say("Choose a file"), self._choose, "primary")

    @Slot()
    def _choose(self) -> None:
        format, _, ending, everything = WAYS[self.way.value]
        graph = self._document.graph
        if graph is None:
            return
        name = say("graphs") if everything else name_file(graph.graph.task)
        choose_new_file(
            self._page,
            say("Export"),
            f"*.{ending}",
            f"{name}.{ending}",
            partial(self._write, format, everything),
        )
        self.accept()

    def _write(self, format: str, everything: bool, paths: list[Path]) -> None:
        write_export(self._page, self._document, self._scene, format, everything, paths[0])


def write_export(
    page: QWidget,
    document: GraphDocument,
    scene: GraphScene,
    format: str,
    everything: bool,
    path: Path,
) -> None:
    """Write a picture on this thread, which draws, or graphs off it."""
    told = say("Written to {name}, not encrypted.", name=path.name)
    if format in PICTURES:
        graph = document.graph
        try:
            export_picture(scene, path, graph.graph.task if graph is not None else "")
        except (KnownError, OSError) as error:
            document.refused.emit(error)
            return
        document.said.emit(told)
        return
    workspace = session_of(page).workspace
    ids = None if everything else [document.graph_id]
    run_query(page, export_graphs, workspace, path, format, ids).success(
        lambda _count: document.said.emit(told)
    )
