"""Where the window was, and where in each workspace one was: kept in the settings, never in the file."""

from __future__ import annotations

import base64
import json
from typing import Any

from PySide6.QtCore import QByteArray
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMainWindow

from app.session import Session

_KEPT = 8
_WIDTH, _HEIGHT = 1440, 900
_LEAST_WIDTH, _LEAST_HEIGHT = 900, 600
#: What the desktop's own bars take.
_EDGE = 80


def kept_place(session: Session) -> dict[str, Any]:
    """Where one was in the open workspace; empty for a new one."""
    try:
        kept = json.loads(session.settings.window.get(f"place:{session.workspace.origin}", "{}"))
    except ValueError:
        return {}
    return kept if isinstance(kept, dict) else {}


def keep_place(session: Session, place: dict[str, Any]) -> None:
    """Remember where one is in the open workspace, and forget the oldest of the others."""
    name = f"place:{session.workspace.origin}"
    window = {key: value for key, value in session.settings.window.items() if key != name}
    places = [key for key in window if key.startswith("place:")]
    for old in places[: max(0, len(places) - _KEPT + 1)]:
        del window[old]
    window[name] = json.dumps(place)
    session.update_settings(window=window)


def restore_geometry(window: QMainWindow, session: Session) -> None:
    """The window's size and place as it was left; at first as large as there is room for."""
    kept = session.settings.window.get("geometry", "")
    if kept and window.restoreGeometry(QByteArray(base64.b64decode(kept))):
        return
    screen = QGuiApplication.primaryScreen()
    room = screen.availableSize() if screen is not None else window.minimumSize()
    window.resize(
        min(_WIDTH, max(_LEAST_WIDTH, room.width() - _EDGE)),
        min(_HEIGHT, max(_LEAST_HEIGHT, room.height() - _EDGE)),
    )


def keep_geometry(window: QMainWindow, session: Session) -> None:
    """Remember the window's size and place."""
    data = bytes(window.saveGeometry().data())
    kept = {**session.settings.window, "geometry": base64.b64encode(data).decode()}
    session.update_settings(window=kept)
