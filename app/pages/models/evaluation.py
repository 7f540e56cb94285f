"""How far a model may be believed: its numbers for each kind of text, said in words, and its calibration."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app import theme
from app.strings import format_number, say
from app.widgets.basics import IconLabel, label
from app.widgets.notice import Notice
from models.evaluation import Evaluation, Measured

_SIDE = 64


class EvaluationView(QWidget):
    """One block a kind of text: the good ones say so, the weak ones say what to do instead."""

    def __init__(self, evaluation: Evaluation) -> None:
        super().__init__()
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(theme.M)
        head = QHBoxLayout()
        head.addWidget(label(say("How far to believe it"), "strong"))
        head.addWidget(label(evaluation.label, "pill"))
        head.addStretch(1)
        box.addLayout(head)
        weak = [kind.name for kind in evaluation.kinds if not kind.good]
        if weak:
            box.addWidget(
                Notice(
                    say(
                        "Weak or unknown for: {kinds}. {advice}",
                        kinds=", ".join(weak),
                        advice=evaluation.stronger,
                    ),
                    "warning",
                )
            )
        for kind in evaluation.kinds:
            box.addLayout(_kind_row(kind))
        for note in evaluation.notes:
            box.addWidget(label(note, "small", wrap=True))


def _kind_row(kind: Measured) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(theme.M)
    row.addWidget(CalibrationCurve(kind), 0, Qt.AlignmentFlag.AlignTop)
    words = QVBoxLayout()
    words.setSpacing(2)
    head = QHBoxLayout()
    head.setSpacing(theme.XS)
    head.addWidget(
        IconLabel(
            "check" if kind.good else "warning", "supported" if kind.good else "not_found", 16
        )
    )
    head.addWidget(label(kind.name[:1].upper() + kind.name[1:], "strong"), 1)
    words.addLayout(head)
    words.addWidget(label(describe_numbers(kind), "small", wrap=True))
    words.addWidget(label(kind.in_words, "muted", wrap=True))
    row.addLayout(words, 1)
    return row


def describe_numbers(kind: Measured) -> str:
    """Accuracy, ranking and calibration of one kind of text on a line."""
    parts = [
        say("{count} pairs", count=format_number(kind.n)),
        say("supported or not: {share} right", share=f"{kind.binary:.0%}"),
    ]
    if kind.accuracy is not None:
        parts.append(say("three classes: {share}", share=f"{kind.accuracy:.0%}"))
    if kind.auc is not None:
        parts.append(say("AUC {value}", value=f"{kind.auc:.2f}"))
    parts.append(say("calibration error {value}", value=f"{kind.ece:.2f}"))
    parts.append(
        say("contradiction told apart")
        if kind.contradiction_shown
        else say("contradiction not told apart")
    )
    return " · ".join(parts)


class CalibrationCurve(QWidget):
    """Predicted against observed share of entailed pairs; on the diagonal the numbers mean what they say."""

    def __init__(self, kind: Measured) -> None:
        super().__init__()
        self._kind = kind
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        bins = "; ".join(f"{p:.0%}: {share:.0%} ({n})" for p, share, n in kind.curve)
        self.setAccessibleName(say("Calibration for {kind}", kind=kind.name))
        self.setAccessibleDescription(bins)
        self.setToolTip(
            say("Said probability: share that was so (pairs)") + "\n" + bins.replace("; ", "\n")
        )
        theme.notifier().changed.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        side = theme.current().px(_SIDE)
        self.setFixedSize(side, side)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        current = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(3, 3, -3, -3)
        painter.setPen(QPen(current.color("border"), 1))
        painter.setBrush(current.color("surface"))
        painter.drawRoundedRect(area, 4, 4)
        painter.setPen(QPen(current.color("muted"), 1, Qt.PenStyle.DashLine))
        painter.drawLine(area.bottomLeft(), area.topRight())
        points = [
            QPointF(area.left() + p * area.width(), area.bottom() - share * area.height())
            for p, share, _n in self._kind.curve
        ]
        color = current.color("accent")
        painter.setPen(QPen(color, current.px(1.5)))
        painter.drawPolyline(points)
        painter.setBrush(color)
        most = max((n for *_rest, n in self._kind.curve), default=1)
        for point, (_p, _share, n) in zip(points, self._kind.curve, strict=True):
            radius = current.px(1.5 + 2.0 * (n / most) ** 0.5)
            painter.drawEllipse(point, radius, radius)
