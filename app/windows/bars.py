"""The bars around a page: above, which workspace and who; below, what runs and what undo would undo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QSizePolicy, QWidget

from app import theme
from app.jobs import LongJob
from app.session import Session
from app.shortcuts import Shortcuts
from app.strings import format_bytes, format_duration, format_number, format_rate, say
from app.widgets.basics import ElidedLabel, label
from app.widgets.buttons import Button
from app.windows.packages.watch import package_words

if TYPE_CHECKING:
    from core.storage.undo import UndoEntry

#: How much width there is for the bars' words.
Room = Literal["wide", "compact", "narrow"]


class TopBar(QFrame):
    """Workspace, encryption, offline, search, person, lock."""

    palette_asked = Signal()
    person_asked = Signal()
    lock_asked = Signal()
    help_asked = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setProperty("role", "bar-top")
        self.setAccessibleName(say("Workspace"))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.L, 6, theme.M, 6)
        layout.setSpacing(theme.S)
        self._brand = label("Rifugio", "strong")
        self._workspace = ElidedLabel()
        self._workspace.setProperty("role", "muted")
        self._encrypted = label("", "pill")
        self._read_only = label(say("Read only"), "pill-warning")
        self._offline = label(say("Offline"), "pill")
        self._offline.setToolTip(say("Rifugio opens no network connection; the app refuses them."))
        layout.addWidget(self._brand)
        layout.addSpacing(theme.S)
        layout.addWidget(self._workspace, 1)
        for pill in (self._encrypted, self._read_only, self._offline):
            layout.addWidget(pill, 0, Qt.AlignmentFlag.AlignVCenter)
        layout.addStretch(1)
        keys = session.shortcuts
        self._palette = _BarButton(say("Search or run a command"), "search", keys, "palette")
        self._palette.clicked.connect(self.palette_asked)
        self._person = Button("", "quiet", icon="person")
        self._person.clicked.connect(self.person_asked)
        self._lock = _BarButton(say("Lock"), "lock", keys, "lock")
        self._lock.clicked.connect(self.lock_asked)
        self._help = _BarButton(say("Help"), "help", keys, "help")
        self._help.clicked.connect(self.help_asked)
        for button in (self._palette, self._person, self._lock, self._help):
            layout.addWidget(button)
        session.workspace_changed.connect(self.refresh)
        session.person_changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show which workspace is open and who works in it."""
        if not self._session.has_workspace:
            return
        workspace = self._session.workspace
        self._workspace.setText(workspace.path.name)
        self._workspace.setMaximumWidth(self._workspace.sizeHint().width() + 4)
        self._encrypted.setText(say("Encrypted") if workspace.encrypted else say("Not encrypted"))
        self._encrypted.setProperty("role", "pill" if workspace.encrypted else "pill-warning")
        self._encrypted.style().polish(self._encrypted)
        self._read_only.setVisible(workspace.read_only)
        name = self._session.person.name
        self._person.setText(name)
        self._person.setAccessibleName(say("Working as {name}", name=name))
        self._person.setToolTip(say("Change who is working"))

    def set_room(self, room: Room) -> None:
        """Make do with less width: shorter words, then icons; keys are shown in any case."""
        search = say("Search or run a command") if room == "wide" else say("Search")
        for button, words in (
            (self._palette, search),
            (self._lock, say("Lock")),
            (self._help, say("Help")),
        ):
            button.setText("" if room == "narrow" else words)
            button.setAccessibleName(words)
            button.setToolTip(words if room == "narrow" else "")
        self._brand.setVisible(room == "wide")


class _BarButton(Button):
    """A quiet button that shows a key which the window itself listens to."""

    def __init__(self, text: str, icon: str, shortcuts: Shortcuts, action: str) -> None:
        super().__init__(text, "quiet", icon=icon)
        self._keys = shortcuts
        self._name = action
        shortcuts.changed.connect(self._follow)
        self._follow()

    def _follow(self) -> None:
        self.set_hint(self._keys.hint(self._name))


class BottomBar(QFrame):
    """The oldest running job with its rate, time left and a way to stop it; save state; undo."""

    undo_asked = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._job: LongJob | None = None
        self.setProperty("role", "bar-bottom")
        self.setAccessibleName(say("Status"))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.L, 2, theme.M, 2)
        layout.setSpacing(theme.M)
        self.job_label = ElidedLabel()
        self.job_label.setProperty("role", "small")
        # Its own width counts: a label that ignores it would lie under the bar.
        self.job_label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setFixedWidth(theme.current().px(160))
        self.rate_label = label("", "small")
        self.cancel_button = Button(say("Stop"), "quiet", icon="stop")
        self.cancel_button.clicked.connect(self._cancel)
        self.note_label = label("", "small")
        self.package_label = ElidedLabel()
        self.package_label.setProperty("role", "small")
        self.package_label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.undo_button = Button("", "quiet", icon="undo")
        self.undo_button.clicked.connect(self.undo_asked)
        layout.addWidget(self.job_label)
        layout.addWidget(self._bar)
        layout.addWidget(self.rate_label)
        layout.addWidget(self.cancel_button)
        layout.addStretch(1)
        layout.addWidget(self.package_label)
        layout.addWidget(self.note_label)
        layout.addWidget(self.undo_button)
        self._tick = QTimer(self)
        self._tick.setInterval(1000)
        self._tick.timeout.connect(self._show_progress)
        session.jobs.changed.connect(self._take_job)
        session.package_found.connect(self._show_package)
        session.workspace_changed.connect(self._show_package)
        self._show_package()
        session.shortcuts.changed.connect(self._show_undo_key)
        self._take_job()
        self.show_undo(None)
        self.setMinimumHeight(theme.current().px(32))

    def say(self, text: str) -> None:
        """A lasting word at the right, such as 'Saved on disk 09:42'."""
        self.note_label.setText(text)

    @Slot()
    def _show_package(self) -> None:
        """Say that what is open is a package, and what to do with it."""
        package = self._session.package
        self.package_label.setVisible(package is not None)
        self.package_label.setText(package_words(package) if package is not None else "")

    def show_undo(self, entry: UndoEntry | None) -> None:
        """Say what undo would undo."""
        self.undo_button.setVisible(entry is not None)
        if entry is not None:
            self.undo_button.setText(say("Undo: {label}", label=entry.label))
            self._show_undo_key()

    def _show_undo_key(self) -> None:
        self.undo_button.set_hint(self._session.shortcuts.hint("undo"))

    def _take_job(self) -> None:
        jobs = self._session.jobs.long_jobs
        job = jobs[0] if jobs else None
        if job is not self._job:
            self._job = job
            if job is not None:
                job.progressed.connect(self._show_progress)
        shown = job is not None
        for widget in (self.job_label, self._bar, self.rate_label, self.cancel_button):
            widget.setVisible(shown)
        if shown:
            self._tick.start()
        else:
            self._tick.stop()
        self._show_progress()

    def _show_progress(self) -> None:
        job = self._job
        if job is None:
            return
        done, total = job.progress.done, job.progress.total
        more = len(self._session.jobs.long_jobs) - 1
        number = format_bytes if job.noun == "bytes" else format_number
        count = (
            number(done)
            if total is None
            else say("{done} of {total}", done=number(done), total=number(total))
        )
        others = say(" (and {more} more)", more=more) if more else ""
        text = f"{job.label}: {count}{others}" if total or done else f"{job.label}{others}"
        self.job_label.setText(text)
        self.job_label.setMaximumWidth(theme.current().px(360))
        self._bar.setRange(0, total or 0)
        self._bar.setValue(done)
        self._bar.setAccessibleName(text)
        parts = []
        if job.rate is not None:
            parts.append(format_rate(job.rate, job.noun))
        if job.seconds_left is not None and done < (total or 0):
            parts.append(say("about {time} left", time=format_duration(job.seconds_left)))
        if job.progress.failed:
            parts.append(say("{count} failed", count=format_number(job.progress.failed)))
        if job.progress.message:
            parts.append(job.progress.message)
        if job.cancellation.cancelled:
            parts = [say("stopping …")]
        self.rate_label.setText(" · ".join(parts))
        self.cancel_button.setEnabled(not job.cancellation.cancelled)
        self.cancel_button.setAccessibleName(say("Stop {label}", label=job.label))

    def _cancel(self) -> None:
        if self._job is not None:
            self._job.cancel()
