"""The icons: one family of 24-unit line drawings, coloured with the theme's ink and sharp at any size."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app import theme

_FRAME = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="{ink}" '
    'stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round">{body}</svg>'
)


def _path(*data: str) -> str:
    return "".join(f'<path d="{d}"/>' for d in data)


def _circle(x: float, y: float, r: float) -> str:
    return f'<circle cx="{x}" cy="{y}" r="{r}"/>'


def _rect(x: float, y: float, w: float, h: float, r: float = 2) -> str:
    return f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="{r}"/>'


_DRAWINGS: Mapping[str, str] = {
    "queue": _path("M4 6h16", "M4 12h16", "M4 18h9", "M17 17l2 2 3-4"),
    "tasks": _rect(5, 4, 14, 17) + _path("M9 3h6v3H9z", "M9 11h6", "M9 15h4"),
    "rubrics": _path(
        "M4 6l1.5 1.5L8 5",
        "M4 12l1.5 1.5L8 11",
        "M4 18l1.5 1.5L8 17",
        "M12 6h8",
        "M12 12h8",
        "M12 18h8",
    ),
    "examples": _path("M6 3h8l5 5v13H6z", "M14 3v5h5", "M9 13h7", "M9 17h5"),
    "runs": _path("M7 4.5v15l12-7.5z"),
    "review": _path("M12 3.5l2.6 5.4 5.9.8-4.3 4.1 1 5.9-5.2-2.8-5.2 2.8 1-5.9-4.3-4.1 5.9-.8z"),
    "results": _path("M4 20h16", "M7 16v-5", "M12 16V6", "M17 16v-8"),
    "models": _rect(6, 6, 12, 12)
    + _rect(10, 10, 4, 4, 1)
    + _path(
        "M9 6V3", "M15 6V3", "M9 21v-3", "M15 21v-3", "M3 9h3", "M3 15h3", "M18 9h3", "M18 15h3"
    ),
    "settings": _path("M4 7h10", "M18 7h2", "M4 17h2", "M10 17h10")
    + _circle(16, 7, 2)
    + _circle(8, 17, 2),
    "graphs": _circle(6, 6, 2.5)
    + _circle(18, 8, 2.5)
    + _circle(10, 18, 2.5)
    + _path("M8.4 6.5l7.1 1.1", "M16.6 10l-5.2 6"),
    "documents": _path("M8 3h8l4 4v10H8z", "M16 17v4H4V8h4", "M16 3v4h4"),
    "search": _circle(11, 11, 6) + _path("M15.5 15.5L20 20"),
    "plus": _path("M12 5v14", "M5 12h14"),
    "close": _path("M6 6l12 12", "M18 6L6 18"),
    "check": _path("M5 12.5l4.5 4.5L19 7.5"),
    "lock": _rect(5, 11, 14, 9) + _path("M8 11V8a4 4 0 0 1 8 0v3"),
    "unlock": _rect(5, 11, 14, 9) + _path("M8 11V8a4 4 0 0 1 7.5-2"),
    "offline": _path(
        "M3 3l18 18",
        "M5 12.5a10 10 0 0 1 4-2.3",
        "M19 12.5a10 10 0 0 0-5-2.6",
        "M8.5 16a5 5 0 0 1 5-1",
        "M12 19.5h.01",
    ),
    "person": _circle(12, 8, 4) + _path("M4.5 20.5c.8-4 3.8-6 7.5-6s6.7 2 7.5 6"),
    "open": _path("M3 19V6h6l2 2.5h8V11", "M3 19l3-8h16l-3 8z"),
    "download": _path("M12 4v11", "M7.5 11L12 15.5 16.5 11", "M5 20h14"),
    "upload": _path("M12 16V5", "M7.5 9L12 4.5 16.5 9", "M5 20h14"),
    "help": _circle(12, 12, 9)
    + _path("M9.3 9.5a2.8 2.8 0 1 1 4 2.5c-.9.5-1.3 1-1.3 2", "M12 17h.01"),
    "info": _circle(12, 12, 9) + _path("M12 11v5.5", "M12 7.5h.01"),
    "warning": _path("M12 4l9 16H3z", "M12 10v4.5", "M12 17.5h.01"),
    "error": _circle(12, 12, 9) + _path("M12 7v6", "M12 16.5h.01"),
    "stop": _rect(6, 6, 12, 12),
    "pause": _path("M8 5v14", "M16 5v14"),
    "undo": _path("M8 5L4 9l4 4", "M4 9h10a6 6 0 0 1 0 12h-4"),
    "redo": _path("M16 5l4 4-4 4", "M20 9H10a6 6 0 0 0 0 12h4"),
    "refresh": _path("M20 11a8 8 0 1 0-2 6", "M20 5v6h-6"),
    "eye": _path("M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12z")
    + _circle(12, 12, 2.8),
    "eye-off": _path(
        "M3 3l18 18",
        "M9.5 6a9 9 0 0 1 2.5-.5c6 0 9.5 6.5 9.5 6.5a17 17 0 0 1-3 3.7",
        "M6.3 7.5A16 16 0 0 0 2.5 12S6 18.5 12 18.5a9 9 0 0 0 4.5-1.2",
    ),
    "edit": _path("M4 20l1-4.5L16.5 4l3.5 3.5L8.5 19z", "M14 6.5l3.5 3.5"),
    "trash": _path("M5 7h14", "M9 7V4h6v3", "M7 7l1 13h8l1-13"),
    "copy": _rect(8, 8, 12, 12) + _path("M16 8V4H4v12h4"),
    "chevron-down": _path("M6 9l6 6 6-6"),
    "chevron-up": _path("M6 15l6-6 6 6"),
    "chevron-right": _path("M9 6l6 6-6 6"),
    "chevron-left": _path("M15 6l-6 6 6 6"),
    "arrow-right": _path("M5 12h14", "M13 6l6 6-6 6"),
    "export": _path("M12 15V4", "M8 8l4-4 4 4", "M5 13v7h14v-7"),
    "import": _path("M12 4v11", "M8 11l4 4 4-4", "M5 13v7h14v-7"),
    "keyboard": _rect(3, 6, 18, 12)
    + _path("M7 10h.01", "M11 10h.01", "M15 10h.01", "M17 14h.01", "M7 14h.01", "M10 14h4"),
    "clock": _circle(12, 12, 9) + _path("M12 7v5.5l3.5 2"),
    "filter": _path("M4 5h16l-6 7.5V20l-4-2v-5.5z"),
    "columns": _rect(3, 4, 18, 16) + _path("M12 4v16"),
    "book": _path("M5 4h10a4 4 0 0 1 4 4v12H8a3 3 0 0 1-3-3z", "M5 17a3 3 0 0 1 3-3h11"),
    "package": _path("M12 3l8 4v10l-8 4-8-4V7z", "M4 7l8 4 8-4", "M12 11v10", "M8 5l8 4"),
    "shield": _path("M12 3l8 3v6c0 5-3.5 8-8 9.5C7.5 20 4 17 4 12V6z", "M8.5 12l2.5 2.5 4.5-5"),
    "skip": _path("M5 5v14l9-7z", "M19 5v14"),
    "connect": _circle(6, 6, 2.5)
    + _circle(18, 18, 2.5)
    + _path("M8 8c5 1 7 3 7.6 6.6", "M12.6 13.2l3 1.6 1.8-3"),
    "layout": _rect(9, 3, 6, 5, 1)
    + _rect(3, 16, 6, 5, 1)
    + _rect(15, 16, 6, 5, 1)
    + _path("M12 8v4", "M6 16v-4h12v4"),
    "fit": _path("M4 9V4h5", "M20 9V4h-5", "M4 15v5h5", "M20 15v5h-5"),
    "zoom-in": _circle(11, 11, 6) + _path("M15.5 15.5L20 20", "M11 8.5v5", "M8.5 11h5"),
    "zoom-out": _circle(11, 11, 6) + _path("M15.5 15.5L20 20", "M8.5 11h5"),
    "grid": _path("M4 9h16", "M4 15h16", "M9 4v16", "M15 4v16"),
    "group": _rect(3, 5, 18, 15) + _rect(6, 10, 5, 5, 1) + _rect(13, 12, 5, 5, 1),
    "spark": _path(
        "M12 3l1.8 5.2L19 10l-5.2 1.8L12 17l-1.8-5.2L5 10l5.2-1.8z", "M18 16v4", "M16 18h4"
    ),
    "compare": _rect(3, 5, 7, 14) + _rect(14, 5, 7, 14) + _path("M10 12h4"),
    "more": _circle(6, 12, 0.8) + _circle(12, 12, 0.8) + _circle(18, 12, 0.8),
    "comment": _path("M4 5h16v11H10l-4 4v-4H4z"),
}

NAMES = tuple(_DRAWINGS)

_cache: dict[tuple[str, str, int, float], QPixmap] = {}


def svg(name: str, color: str) -> str:
    """An icon's drawing in a colour.

    Raises
    ------
    KeyError
        When there is no icon of that name.
    """
    return _FRAME.format(ink=color, body=_DRAWINGS[name])


def pixmap(name: str, color: str, size: int) -> QPixmap:
    """An icon drawn at a logical size for the primary screen."""
    app = QGuiApplication.instance()
    ratio = app.devicePixelRatio() if isinstance(app, QGuiApplication) else 1.0
    key = (name, color, size, ratio)
    if key not in _cache:
        drawn = QPixmap(QSize(round(size * ratio), round(size * ratio)))
        drawn.fill(Qt.GlobalColor.transparent)
        painter = QPainter(drawn)
        QSvgRenderer(QByteArray(svg(name, color).encode())).render(
            painter, QRectF(0, 0, drawn.width(), drawn.height())
        )
        painter.end()
        drawn.setDevicePixelRatio(ratio)
        _cache[key] = drawn
    return _cache[key]


def icon(name: str, token: str = "muted", *, on_token: str | None = None, size: int = 18) -> QIcon:
    """An icon in a token's colour, and in another when its button is checked."""
    current = theme.current()
    side = current.px(size)
    made = QIcon(pixmap(name, getattr(current.tokens, token), side))
    made.addPixmap(pixmap(name, current.tokens.muted, side), QIcon.Mode.Disabled)
    if on_token is not None:
        made.addPixmap(
            pixmap(name, getattr(current.tokens, on_token), side),
            QIcon.Mode.Normal,
            QIcon.State.On,
        )
    return made
