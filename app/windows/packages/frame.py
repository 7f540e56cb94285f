"""What both dialogs of packages are: their work goes on when they are closed, and F1 explains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from app.errors import in_words
from app.strings import say
from app.widgets.basics import Scroller, row
from app.widgets.buttons import Button
from app.widgets.dialogs import Dialog
from app.widgets.inputs import Form, text_field
from app.widgets.notice import Notice
from core.errors import RifugioError
from core.ports import Cancellation

T = TypeVar("T")


class PackageDialog(Dialog):
    """Runs its work as a job of the window: a lock closes the dialog at once and waits for no job, and
    what is being written is written to its end."""

    def __init__(self, title: str, parent: QWidget, *, width: int, height: int) -> None:
        super().__init__(title, parent, width=width)
        self.prefer_size(width, height)
        self._left = False
        #: Whether a job of it is under way.
        self.busy = False
        scroller = Scroller()
        scroller.setAccessibleName(title)
        self.content = scroller.box
        self.body.addWidget(scroller, 1)
        self.notice = Notice("", "danger")
        self.notice.hide()
        self.body.addWidget(self.notice)
        self.finished.connect(self._leave)
        self.session.shortcuts.bind(self, "help", self.show_help)

    @property
    def window_below(self) -> Any:
        """The main window, whose toast says what is done."""
        return self.parentWidget()

    def make_file_form(self) -> Form:
        """A form with `file`, the field for the package's file, and `choose_button` beside it."""
        self.file = text_field(say("File"))
        self.choose_button = Button(say("Choose …"))
        self.choose_button.setAccessibleName(say("Choose the file"))
        place = QWidget()
        line = row(self.choose_button)
        line.insertWidget(0, self.file, 1)
        place.setLayout(line)
        form = Form()
        form.add(say("File"), place).setBuddy(self.file)
        return form

    def run(
        self,
        label: str,
        work: Callable[[Cancellation], T],
        done: Callable[[T], object],
        *,
        told: Callable[[T], str] | None = None,
    ) -> None:
        """Do something on a worker thread.

        Parameters
        ----------
        label
            What the bottom bar calls it; it names nobody, since the bar shows it to who works blind.
        done
            Called with the value, if the dialog is still there.
        told
            What the window says in passing when the dialog is not; without it nothing is said, and
            errors are nobody's any more.
        """
        self.notice.hide()
        self.busy = True
        self.show_busy()
        session, window = self.session, self.window_below

        def task(*, progress: object, cancel: Cancellation) -> T:
            return work(cancel)

        def take(value: T) -> None:
            if not self._left:
                self.busy = False
                self.show_busy()
                done(value)
            elif told is not None and session.has_workspace:
                window.toast.say(told(value))

        def fail(error: BaseException) -> None:
            if not self._left:
                self.busy = False
                self.show_busy()
                self.complain_of(error)
            elif told is not None:
                session.jobs.failed.emit(error, window)

        pending = session.jobs.start(window, label, task)
        pending.success(take).failure(fail)

    def show_busy(self) -> None:
        """Follow `busy`: what may be pressed now."""

    def complain(self, text: str) -> None:
        """Say what is wrong, in the dialog."""
        self.notice.set_text(text)
        self.notice.show()

    def complain_of(self, error: BaseException) -> None:
        """Say an error in its own words."""
        if isinstance(error, RifugioError | OSError):
            message, remedy, _details = in_words(error)
            self.complain(f"{message} {remedy}".strip())
        else:
            self.session.jobs.failed.emit(error, self)

    def forget(self) -> None:
        """Let go of what nobody is to see or find any more, on the way out."""

    @Slot()
    def show_help(self) -> None:
        """What packages are."""
        from app.windows.help import HelpWindow

        HelpWindow(self, "packages").open()

    @Slot()
    def _leave(self) -> None:
        self._left = True
        self.forget()


def note_words() -> str:
    """How a file and its passphrase are sent."""
    return say(
        "Send the file and its passphrase by different ways: the file by mail, say, and the passphrase "
        "by telephone."
    )
