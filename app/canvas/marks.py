"""Signs and colours of what a comparison says: the same on cards, curves, and in lists."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen

from app import theme
from app.canvas import cards

#: Below this zoom a card is a plain shape: nobody can read its text.
FAR = 0.34
SIGNS = {"matched": "✓", "missing": "+", "extra": "−", "reversed": "⇄", "implied": "≈"}
#: Token of each status of a comparison.
STATUS_TOKENS = {
    "matched": "inserted",
    "missing": "not_found",
    "extra": "contradicted",
    "reversed": "danger",
    "implied": "muted",
}


def paint_sign(painter: QPainter, centre: QPointF, status: str, color: QColor) -> None:
    """A round badge with the sign of a status."""
    current = theme.current()
    painter.setPen(QPen(current.color("surface"), 1.5))
    painter.setBrush(color)
    painter.drawEllipse(centre, 9, 9)
    font = QFont(cards.card_font())
    font.setPixelSize(12)
    font.setWeight(QFont.Weight.Bold)
    painter.setFont(font)
    painter.setPen(current.color("surface"))
    box = QRectF(centre.x() - 9, centre.y() - 9, 18, 18)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, SIGNS[status])
