"""A pane: one graph's canvas with its tools, and what was refused or deserves a look, in words."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QVBoxLayout, QWidget

from app import theme
from app.canvas.clipboard import copy_steps, read_clip
from app.canvas.document import GraphDocument
from app.canvas.view import CanvasView
from app.session import Session
from app.strings import say
from app.widgets.basics import ElidedLabel
from app.widgets.buttons import IconButton
from app.widgets.dialogs import Dialog
from app.widgets.inputs import Form, text_field
from app.widgets.notice import Notice
from core.errors import RifugioError
from core.graphs.hints import hint_graph
from core.graphs.model import describe_assumptions
from core.graphs.verbs import rename_group
from core.types.graphs import StepGroup

#: Below these widths the heading needs the room of the zoom buttons, whose keys and wheel remain, and
#: of those that the menu has, too.
_ROOMY, _TIGHT = 440, 400


class GraphPane(QFrame):
    """Canvas over a document. The primary pane of the page also answers to its keys."""

    #: The person works in this pane now.
    entered = Signal()
    said = Signal(str)

    def __init__(self, session: Session, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.setProperty("role", "card")
        self.document = GraphDocument(session, self)
        self.canvas = CanvasView(self.document, name)
        self.heading = ElidedLabel()
        self.heading.setProperty("role", "strong")
        self.assumption = ElidedLabel()
        self.assumption.setProperty("role", "small")
        self.notice = Notice("", "danger")
        self.notice.hide()
        self.hint = Notice("", "info")
        self.hint.hide()
        self._tools: list[IconButton] = []
        tools = QHBoxLayout()
        tools.setSpacing(2)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(self.heading)
        words.addWidget(self.assumption)
        tools.addLayout(words, 1)
        self.add_button = self._tool(tools, "plus", say("Add a step (N)"), self.canvas.add_step)
        self.connect_button = self._tool(
            tools,
            "connect",
            say("Draw a dependency from the current step (C)"),
            self.connect_current,
        )
        self.layout_button = self._tool(tools, "layout", say("Lay out (L)"), self.document.lay_out)
        self._zooms = (
            self._tool(tools, "zoom-out", say("Zoom out (-)"), self.canvas.zoom_out),
            self._tool(tools, "zoom-in", say("Zoom in (+)"), self.canvas.zoom_in),
        )
        self._tool(tools, "fit", say("Show the whole graph (0)"), self.canvas.fit)
        self.more_button = self._tool(
            tools, "more", say("More to do with the graph"), self._show_more
        )
        box = QVBoxLayout(self)
        box.setContentsMargins(theme.M, theme.S, theme.M, theme.M)
        box.setSpacing(theme.S)
        box.addLayout(tools)
        box.addWidget(self.notice)
        box.addWidget(self.hint)
        box.addWidget(self.canvas, 1)
        self.canvas.menu_asked.connect(self.show_menu)
        self.document.changed.connect(self._on_changed)
        self.document.refused.connect(self.show_refusal)
        self.document.said.connect(self.said)
        self.document.marks_changed.connect(self._clear_refusal)
        self._on_changed()

    def _tool(
        self, layout: QHBoxLayout, icon: str, name: str, slot: Callable[[], object]
    ) -> IconButton:
        button = IconButton(icon, name)
        button.clicked.connect(lambda: slot())
        layout.addWidget(button)
        self._tools.append(button)
        return button

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for least, buttons in (
            (_ROOMY, self._zooms),
            (_TIGHT, (self.connect_button, self.layout_button)),
        ):
            roomy = self.width() >= theme.current().px(least)
            for button in buttons:
                button.setVisible(roomy)

    # -- what is told --------------------------------------------------------------------

    @Slot(object)
    def show_refusal(self, error: object) -> None:
        """Say why something was not done; a circle is marked on the canvas besides."""
        text = str(error) if isinstance(error, RifugioError) else say("That could not be done.")
        self.notice.set_text(text)
        self.notice.show()
        self.canvas.announce(text)
        if not isinstance(error, RifugioError) and isinstance(error, BaseException):
            self.session.jobs.failed.emit(error, self)

    def _clear_refusal(self) -> None:
        if not self.document.path and self.notice.isVisible():
            self.notice.hide()

    def _on_changed(self) -> None:
        graph = self.document.graph
        self.heading.setText(graph.graph.task if graph is not None else say("No graph"))
        assumption = describe_assumptions(graph.graph.assumptions) if graph is not None else ""
        self.assumption.setText(say("Assuming: {what}", what=assumption) if assumption else "")
        self.assumption.setVisible(bool(assumption))
        for button in self._tools:
            button.setEnabled(graph is not None)
        self._show_hint()
        if not self.document.path:
            self.notice.hide()

    def _show_hint(self) -> None:
        graph = self.document.graph
        text = ""
        if graph is not None and graph.graph.role == "training" and graph.graph.state == "open":
            text = say(
                "A training round: draw arrows from what must be done first. When you are done, "
                "'Compare' gives the feedback."
            )
        elif graph is not None and not graph.steps:
            text = say(
                "Press N or double-click to add the first step; drag from a card's dot to connect."
            )
        elif graph is not None and len(graph.steps) > 1 and not graph.dependencies:
            text = say(
                "Drag from the dot below a card to the step that can only be done after it, or "
                "press C. Dropped on free ground, it makes a new step."
            )
        elif graph is not None and graph.circle:
            text = hint_graph(graph)[0].message
        elif graph is not None and self.canvas.graph_scene.crowded:
            text = say(
                "Dependencies that follow from others are not drawn here: there are too many to see."
            )
        elif graph is not None and graph.graph.aside:
            text = say(
                "{count} entries of the file could not become part of the graph; see 'About'.",
                count=len(graph.graph.aside),
            )
        self.hint.set_text(text)
        self.hint.setVisible(bool(text))

    # -- what the person does ------------------------------------------------------------

    @Slot()
    def connect_current(self) -> None:
        """Draw a dependency from the current step by keyboard."""
        self.canvas.setFocus(Qt.FocusReason.OtherFocusReason)
        self.canvas.start_connecting()

    @Slot()
    def copy(self) -> None:
        """Copy the selected steps."""
        graph, ids = self.document.graph, self.document.selected_in_order()
        if graph is not None and ids:
            copy_steps(graph, ids, self.document.places)

    @Slot()
    def cut(self) -> None:
        """Copy the selected steps and delete them."""
        if self.document.selected_in_order():
            self.copy()
            self.document.delete_selected()

    @Slot()
    def paste(self) -> None:
        """Paste steps, or lines of text as steps."""
        clip = read_clip()
        if clip is not None:
            self.document.paste(clip.texts, clip.edges, clip.places)

    @Slot()
    def duplicate(self) -> None:
        """Copies of the selected steps with the dependencies between them."""
        graph, ids = self.document.graph, self.document.selected_in_order()
        if graph is None or not ids:
            return
        inner = {step: number for number, step in enumerate(ids)}
        edges = [
            (inner[link.before_id], inner[link.after_id])
            for link in graph.links
            if link.before_id in inner and link.after_id in inner
        ]
        places = [(x + 32.0, y + 32.0) for x, y in (self.document.places[step] for step in ids)]
        self.document.paste([graph.by_id[step].text for step in ids], edges, places)

    @Slot()
    def select_all(self) -> None:
        """Select every step."""
        if self.document.graph is not None:
            self.document.select(self.document.graph.by_id)

    @Slot()
    def group(self) -> None:
        """Name a frame around the selected steps."""
        if self.document.selected_in_order() and not self.document.read_only:
            GroupDialog(self, self.document.group_selected).open()

    def _selected_group(self) -> StepGroup | None:
        """The group that all selected steps are in."""
        graph = self.document.graph
        if graph is None:
            return None
        ids = {graph.by_id[step].group_id for step in self.document.steps if step in graph.by_id}
        return next((group for group in graph.groups if ids == {group.id}), None)

    @Slot()
    def rename_group(self) -> None:
        """Change the name of the selected steps' frame."""
        group = self._selected_group()
        if group is not None and not self.document.read_only:
            rename = partial(self.document.run, say("Rename group"), rename_group, group.id)
            GroupDialog(self, rename, group.title).open()

    @Slot()
    def accept(self) -> None:
        """Accept the selected suggestions."""
        steps, links = self._selected_suggestions()
        if steps or links:
            self.document.accept(steps, links)

    @Slot()
    def reject(self) -> None:
        """Reject the selected suggestions."""
        steps, links = self._selected_suggestions()
        if steps or links:
            self.document.reject(steps, links)

    @Slot()
    def accept_all(self) -> None:
        """Accept every suggestion."""
        steps, links = self.document.suggested()
        if steps or links:
            self.document.accept(steps, links)

    def _selected_suggestions(self) -> tuple[list[str], list[str]]:
        steps, links = self.document.suggested()
        chosen = self.document.steps
        graph = self.document.graph
        own_links = [link for link in links if link in self.document.links]
        if graph is not None and chosen:
            # A selected card stands for the suggested arrows between selected cards, too.
            own_links += [
                link.id
                for link in graph.dependencies
                if link.id in links and {link.before_id, link.after_id} <= chosen
            ]
        return [step for step in steps if step in chosen], own_links

    def set_snap(self, on: bool) -> None:
        """Let cards settle on the grid, or anywhere."""
        self.canvas.snap = on

    # -- menus ---------------------------------------------------------------------------

    def _show_more(self) -> None:
        self.show_menu(self.more_button.mapToGlobal(QPoint(0, self.more_button.height())))

    @Slot(QPoint)
    def show_menu(self, point: QPoint) -> None:
        """Everything that can be done with the selection and the graph."""
        menu = self.make_menu()
        menu.popup(point)

    def make_menu(self) -> QMenu:
        """The menu, made for what is selected now."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        document, keys = self.document, self.session.shortcuts
        steps, ties = document.selected_in_order(), document.links

        def entry(text: str, slot: Callable[[], Any], action: str = "", on: bool = True) -> None:
            hint = keys.hint(action) if action else ""
            made = menu.addAction(f"{text}\t{hint}" if hint else text)
            made.triggered.connect(lambda: slot())
            made.setEnabled(on and not (document.read_only and action not in ("graphs.copy", "")))

        entry(say("Add a step"), self.canvas.add_step, "graphs.add-step")
        entry(say("Add a step after"), self.canvas.add_after, "graphs.add-after", bool(steps))
        entry(say("Edit the text"), self.canvas.rename_current, "graphs.rename", bool(steps))
        entry(say("Draw a dependency"), self.connect_current, "graphs.connect", bool(steps))
        entry(say("Delete"), document.delete_selected, "graphs.delete", bool(steps or ties))
        menu.addSeparator()
        entry(say("Copy"), self.copy, "graphs.copy", bool(steps))
        entry(say("Paste"), self.paste, "graphs.paste")
        entry(say("Duplicate"), self.duplicate, "graphs.duplicate", bool(steps))
        menu.addSeparator()
        entry(say("Group …"), self.group, "graphs.group", bool(steps))
        entry(say("Rename the group …"), self.rename_group, "", bool(self._selected_group()))
        entry(say("Ungroup"), document.ungroup_selected, "graphs.ungroup", bool(steps))
        menu.addSeparator()
        entry(say("Lay out"), document.lay_out, "graphs.layout")
        snap = menu.addAction(say("Snap to the grid"))
        snap.setCheckable(True)
        snap.setChecked(self.canvas.snap)
        snap.toggled.connect(self.set_snap)
        hide = menu.addAction(say("Hide dependencies that follow from others"))
        hide.setCheckable(True)
        hide.setChecked(document.hide_shortcuts)
        hide.toggled.connect(document.set_hide_shortcuts)
        graph = document.graph
        shortcuts = len(graph.shortcuts) if graph is not None else 0
        remove = menu.addAction(say("Remove them ({count})", count=shortcuts))
        remove.triggered.connect(document.remove_shortcuts)
        remove.setEnabled(bool(shortcuts) and not document.read_only)
        return menu


class GroupDialog(Dialog):
    """Asks for the name of a frame."""

    def __init__(self, parent: QWidget, done: Callable[[str], object], title: str = "") -> None:
        super().__init__(
            say("Rename the group") if title else say("Group steps"), parent, width=420
        )
        self._done = done
        form = Form()
        self.title_field = text_field(say("Name of the group"), title)
        form.add(say("Name of the group"), self.title_field)
        self.body.addLayout(form)
        self.add_cancel()
        self.add_button(say("Rename") if title else say("Group"), self._accept, "primary")
        self.title_field.setFocus()

    @Slot()
    def _accept(self) -> None:
        title = self.title_field.text().strip()
        if title:
            self._done(title)
            self.accept()
