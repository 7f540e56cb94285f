"""The outline: the graph as a list, each step with what it comes after and before, all typed.

It is the canvas's twin for the keyboard and for screen readers: whatever can be drawn can be typed here.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFont, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QLineEdit,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app import icons, theme
from app.canvas.document import GraphDocument
from app.canvas.marks import SIGNS
from app.strings import count_of, say
from app.widgets.id_view import CellDelegate
from core.errors import UsageError
from core.graphs.links import parse_numbers
from core.graphs.linter import lint_text

AnyIndex = QModelIndex | QPersistentModelIndex

NUMBER, TEXT, AFTER, BEFORE = range(4)
# Asked for thousands of times while rows are selected; joining flags in Python takes its time.
_FIXED = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
_EDITABLE = _FIXED | Qt.ItemFlag.ItemIsEditable


class OutlineModel(QAbstractTableModel):
    """Rows are the document's steps in the order of the list."""

    def __init__(self, document: GraphDocument) -> None:
        super().__init__(document)
        self.document = document
        self._ids: list[str] = []
        document.changed.connect(self.sync)
        document.marks_changed.connect(self._repaint)
        self.sync()

    @property
    def ids(self) -> list[str]:
        """Step ids in order."""
        return self._ids

    def row_of(self, step_id: str) -> int:
        """The row of a step; -1 when it is not there."""
        graph = self.document.graph
        return graph.numbers.get(step_id, 0) - 1 if graph is not None else -1

    def sync(self) -> None:
        """Take over the document's graph."""
        graph = self.document.graph
        ids = [step.id for step in graph.steps] if graph is not None else []
        if ids == self._ids:
            self._repaint()
            return
        self.beginResetModel()
        self._ids = ids
        self.endResetModel()

    def _repaint(self) -> None:
        if self._ids:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._ids) - 1, 3))

    # -- Qt ------------------------------------------------------------------------------

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._ids)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else 4

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return (say("No."), say("Step"), say("After"), say("Before"))[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return (
                "",
                "",
                say("Numbers of the steps that must be done before this one"),
                say("Numbers of the steps that can only be done after this one"),
            )[section]
        return None

    def flags(self, index: AnyIndex) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        if index.column() == NUMBER or self.document.read_only:
            return _FIXED
        return _EDITABLE

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        graph = self.document.graph
        if not index.isValid() or graph is None or index.row() >= len(self._ids):
            return None
        step = graph.by_id.get(self._ids[index.row()])
        if step is None:
            return None
        column = index.column()
        issues = self.document.issues.get(step.id, ())
        status = self.document.step_status.get(step.id, "")
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            text = self._text(step.id, column)
            if column == NUMBER and role == Qt.ItemDataRole.DisplayRole and status:
                return f"{SIGNS[status]} {text}"
            return text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self._spoken(step.id, column, status)
        if role == Qt.ItemDataRole.ToolTipRole and column == TEXT:
            lines = [step.text, *self._in_group(step.id), *(issue.message for issue in issues)]
            return "\n".join(lines)
        if role == Qt.ItemDataRole.DecorationRole and column == TEXT and issues:
            return icons.icon("warning", "warning", size=15)
        if role == Qt.ItemDataRole.FontRole and step.suggested and column == TEXT:
            font = QFont(theme.current().ui_font())
            font.setItalic(True)
            return font
        if role == Qt.ItemDataRole.ForegroundRole and (step.suggested or column == NUMBER):
            return theme.current().color("muted")
        if role == Qt.ItemDataRole.BackgroundRole and step.id in self.document.path:
            return theme.current().color("danger_ground")
        return None

    def setData(self, index: AnyIndex, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        graph = self.document.graph
        if role != Qt.ItemDataRole.EditRole or graph is None or not index.isValid():
            return False
        step_id = self._ids[index.row()]
        text = str(value).strip()
        if index.column() == TEXT:
            if text:
                self.document.rename_step(step_id, text)
            return bool(text)
        if text == self._text(step_id, index.column()):
            return True
        try:
            numbers = parse_numbers(text, len(self._ids))
        except UsageError as error:
            self.document.refused.emit(error)
            return False
        ids = [self._ids[number - 1] for number in numbers]
        if index.column() == AFTER:
            self.document.set_parents(step_id, ids)
        else:
            self.document.set_children(step_id, ids)
        return True

    def _text(self, step_id: str, column: int) -> str:
        graph = self.document.graph
        assert graph is not None
        if column == NUMBER:
            return str(graph.numbers[step_id])
        if column == TEXT:
            return graph.by_id[step_id].text
        near = graph.parents if column == AFTER else graph.children
        return ", ".join(str(graph.numbers[other]) for other in near[step_id])

    def _in_group(self, step_id: str) -> list[str]:
        """The group a step is in, in words."""
        graph = self.document.graph
        assert graph is not None
        group_id = graph.by_id[step_id].group_id
        return [
            say("in the group {name}", name=group.title)
            for group in graph.groups
            if group.id == group_id
        ]

    def _spoken(self, step_id: str, column: int, status: str) -> str:
        graph = self.document.graph
        assert graph is not None
        text = self._text(step_id, column)
        if column == NUMBER:
            return say("Step {number}", number=text) + (f", {status}" if status else "")
        if column == TEXT:
            words = [text]
            if graph.by_id[step_id].suggested:
                words.append(say("suggested by {who}", who=graph.by_id[step_id].suggested))
            words += self._in_group(step_id)
            words += [issue.message for issue in self.document.issues.get(step_id, ())]
            return ". ".join(words)
        if not text:
            return say("after no step") if column == AFTER else say("before no step")
        if column == AFTER:
            return say("after {numbers}", numbers=text)
        return say("before {numbers}", numbers=text)


class OutlineView(QTableView):
    """Enter or F2 types in the current cell; Alt with Up and Down moves a step."""

    #: Lint of what is being typed; '' for none.
    hinted = Signal(str)

    def __init__(self, document: GraphDocument, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.document = document
        self.outline = OutlineModel(document)
        self._silent = False
        self.setAccessibleName(name)
        self.setModel(self.outline)
        self.setItemDelegate(_OutlineDelegate(self))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("role", "bare")
        self.setShowGrid(False)
        self.setWordWrap(True)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.EditKeyPressed
        )
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(TEXT, QHeaderView.ResizeMode.Stretch)
        document.selection_changed.connect(self._take_selection)
        self.outline.modelReset.connect(self._take_selection)
        theme.notifier().changed.connect(self._fit)
        self._fit()

    def edit_text(self, step_id: str) -> None:
        """Begin typing a step's text."""
        row = self.outline.row_of(step_id)
        if row >= 0:
            index = self.outline.index(row, TEXT)
            self.setCurrentIndex(index)
            self.edit(index)

    def edit_current(self) -> None:
        """Begin typing in the current cell; in the number's, the step's text."""
        index = self.currentIndex()
        if index.isValid():
            if index.column() == NUMBER:
                index = self.outline.index(index.row(), TEXT)
                self.setCurrentIndex(index)
            self.edit(index)

    def _fit(self) -> None:
        current = theme.current()
        self.verticalHeader().setDefaultSectionSize(current.px(42))
        header = self.horizontalHeader()
        for column, width in ((NUMBER, 46), (AFTER, 64), (BEFORE, 64)):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
            self.setColumnWidth(column, current.px(width))

    def _take_selection(self) -> None:
        """Select the rows that the document says are selected."""
        self._silent = True
        wanted = QItemSelection()
        for step_id in self.document.steps:
            row = self.outline.row_of(step_id)
            if 0 <= row < self.outline.rowCount():
                wanted.select(self.outline.index(row, 0), self.outline.index(row, 3))
        model = self.selectionModel()
        model.select(wanted, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        row = self.outline.row_of(self.document.current)
        if 0 <= row < self.outline.rowCount():
            column = max(TEXT, self.currentIndex().column())
            index = self.outline.index(row, column)
            if index != self.currentIndex():
                model.setCurrentIndex(index, QItemSelectionModel.SelectionFlag.NoUpdate)
            self.scrollTo(index)
        self._silent = False

    # -- Qt ------------------------------------------------------------------------------

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        super().selectionChanged(selected, deselected)
        self._tell()

    def currentChanged(self, current: AnyIndex, previous: AnyIndex) -> None:
        super().currentChanged(current, previous)
        self._tell()

    def _tell(self) -> None:
        if self._silent:
            return
        rows = sorted({index.row() for index in self.selectionModel().selectedRows()})
        ids = [self.outline.ids[row] for row in rows if row < len(self.outline.ids)]
        row = self.currentIndex().row()
        current = self.outline.ids[row] if 0 <= row < len(self.outline.ids) else ""
        self.document.select(ids, (), current=current if current in ids else "")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and self.state() != QAbstractItemView.State.EditingState:
            self.edit_current()
            return
        alt = event.modifiers() & Qt.KeyboardModifier.AltModifier
        if alt and event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down) and self.document.current:
            self.document.move_step(
                self.document.current, -1 if event.key() == Qt.Key.Key_Up else 1
            )
            return
        super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(360, 320)

    def minimumSizeHint(self) -> QSize:
        return QSize(220, 120)


class _OutlineDelegate(CellDelegate):
    """Fields for typing texts and numbers, the texts linted on the way."""

    def createEditor(
        self, parent: QWidget, option: QStyleOptionViewItem, index: AnyIndex
    ) -> QWidget:
        view: OutlineView = self.parent()  # type: ignore[assignment]
        editor = QLineEdit(parent)
        step = str(index.row() + 1)
        if index.column() == TEXT:
            editor.setAccessibleName(say("Text of step {number}", number=step))
            step_id = view.outline.ids[index.row()]
            editor.textChanged.connect(lambda text: view.hinted.emit(self._hint(text, step_id)))
        elif index.column() == AFTER:
            editor.setAccessibleName(say("Steps before step {number}", number=step))
            editor.setPlaceholderText("1, 3-5")
        else:
            editor.setAccessibleName(say("Steps after step {number}", number=step))
            editor.setPlaceholderText("1, 3-5")
        return editor

    def destroyEditor(self, editor: QWidget, index: AnyIndex) -> None:
        view: OutlineView = self.parent()  # type: ignore[assignment]
        view.hinted.emit("")
        super().destroyEditor(editor, index)

    def _hint(self, text: str, step_id: str) -> str:
        view: OutlineView = self.parent()  # type: ignore[assignment]
        graph = view.document.graph
        if graph is None or step_id not in graph.by_id or len(text.split()) < 2:
            return ""
        before = [graph.by_id[parent].text for parent in graph.parents.get(step_id, ())]
        issues = lint_text(text, graph.graph.assumptions, before)
        return issues[0].message if issues else ""

    def setEditorData(self, editor: QWidget, index: AnyIndex) -> None:
        if isinstance(editor, QLineEdit):
            editor.setText(str(index.data(Qt.ItemDataRole.EditRole) or ""))
            editor.selectAll()

    def setModelData(self, editor: QWidget, model: Any, index: AnyIndex) -> None:
        if isinstance(editor, QLineEdit):
            model.setData(index, editor.text(), Qt.ItemDataRole.EditRole)

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, index: AnyIndex
    ) -> None:
        box = option.rect.adjusted(0, 1, 0, -1)
        if index.column() != TEXT:
            # Numbers want more room than their narrow column has.
            box.setWidth(max(box.width(), theme.current().px(110)))
            view: OutlineView = self.parent()  # type: ignore[assignment]
            box.moveRight(min(box.right(), view.viewport().width() - 2))
        editor.setGeometry(box)


def summary(document: GraphDocument) -> str:
    """How much is in a graph: '8 steps · 9 dependencies · 2 suggested'."""
    graph = document.graph
    if graph is None:
        return ""
    parts = [
        count_of(len(graph.accepted), "step", "steps"),
        count_of(len(graph.links), "dependency", "dependencies"),
    ]
    suggested = sum(map(len, document.suggested()))
    if suggested:
        parts.append(say("{count} suggested", count=suggested))
    return " · ".join(parts)
