"""Opening the window: as little as possible before it shows."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

#: Milliseconds.
_AFTER_SHOWING = 100


def run_window(argv: list[str]) -> int:
    """Show the window and stay in it until it is closed.

    Parameters
    ----------
    argv
        Nothing, ``--demo``, or a workspace file to open.

    Returns
    -------
    int
        The exit code.
    """
    from PySide6.QtCore import QLocale, QTimer
    from PySide6.QtWidgets import QApplication

    from app import errors, theme
    from app.session import Session
    from app.windows.collecting import QuietCollector
    from app.windows.main import MainWindow
    from core.settings import load_settings

    _say_when_no_display()
    QLocale.setDefault(QLocale(QLocale.Language.English))
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    app.setApplicationName("Rifugio")
    app.setDesktopFileName("rifugio")
    errors.start_log()
    settings = load_settings()
    theme.apply_theme(app, settings.theme, settings.text_scale)
    session = Session(settings, parent=app)
    window = MainWindow(session)
    hooks = errors.ExceptionHooks(lambda error: errors.show_error(error, window), app)
    window.show()
    collector = QuietCollector(window.idle, window)
    session.workspace_changed.connect(collector.collect_soon)
    # Opening a workspace needs the storage, whose import takes longer than all of the above: once the window
    # is there, so that it does not wait for it.
    QTimer.singleShot(
        _AFTER_SHOWING,
        session,
        lambda: session.jobs.run(None, importlib.import_module, "core.storage.undo"),
    )
    if "--demo" in argv:
        window.welcome.open_demo()
    elif argv:
        window.open_path(Path(argv[0]))
    else:
        window.welcome.take_focus()
    try:
        return app.exec()
    finally:
        hooks.remove()
        collector.stop()
        session.close()
        errors.stop_log()


def _say_when_no_display() -> None:
    """Say in words what Qt would say by aborting."""
    from core.errors import KnownError

    if sys.platform.startswith("linux") and not any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    ):
        raise KnownError(
            "There is no display to open the window on.",
            remedy="Use the command line: 'rifugio --help' lists what it does.",
        )
