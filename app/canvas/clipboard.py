"""Steps on the clipboard: with their dependencies for ourselves, as lines of text for others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QGuiApplication

from core.graphs.model import StepGraph

MIME = "application/x-rifugio-steps"
_OFFSET = 32.0
#: A clipboard of more lines is not pasted as steps without reason.
MOST_LINES = 2_000


@dataclass(frozen=True, slots=True)
class Clip:
    """Copied steps: texts, edges between their places, and where their cards stood."""

    texts: tuple[str, ...]
    edges: tuple[tuple[int, int], ...] = ()
    places: tuple[tuple[float, float], ...] | None = None


def copy_steps(
    graph: StepGraph, ids: Sequence[str], places: dict[str, tuple[float, float]]
) -> None:
    """Put steps on the clipboard."""
    inner = {step: number for number, step in enumerate(ids)}
    value = {
        "texts": [graph.by_id[step].text for step in ids],
        "edges": [
            [inner[link.before_id], inner[link.after_id]]
            for link in graph.links
            if link.before_id in inner and link.after_id in inner
        ],
        "places": [list(places.get(step, (0.0, 0.0))) for step in ids],
    }
    data = QMimeData()
    data.setData(MIME, json.dumps(value).encode())
    data.setText("\n".join(graph.by_id[step].text for step in ids))
    QGuiApplication.clipboard().setMimeData(data)


def read_clip() -> Clip | None:
    """What the clipboard holds as steps: copied ones, or a line of text each; None for nothing."""
    data = QGuiApplication.clipboard().mimeData()
    if data is None:
        return None
    if data.hasFormat(MIME):
        try:
            value = json.loads(bytes(data.data(MIME).data()))
            texts = tuple(str(text) for text in value["texts"])
            edges = tuple((int(a), int(b)) for a, b in value["edges"])
            places = tuple((float(x) + _OFFSET, float(y) + _OFFSET) for x, y in value["places"])
        except (ValueError, KeyError, TypeError):
            return None
        sound = len(places) == len(texts) and all(
            0 <= end < len(texts) for edge in edges for end in edge
        )
        return Clip(texts, edges, places) if sound else None
    if data.hasText():
        lines = [" ".join(line.split()) for line in data.text().splitlines()]
        texts = tuple(line for line in lines if line)[:MOST_LINES]
        return Clip(texts) if texts else None
    return None
