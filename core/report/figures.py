"""Figures of the report as SVG drawn by hand: means with intervals, and shares as bars.

On a page they are dressed by its style sheet; for print each brings its own, since it is drawn alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

_ROW, _LEFT, _WIDTH, _RIGHT = 30, 230, 470, 90
#: Room for a title, which in print is a part of the figure, so that no page ends between them.
_TITLE = 34


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a figure: its name, a value with bounds, the text beside it, and dots behind it."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    text: str = ""
    dots: Sequence[float] = ()
    plain: bool = False


#: What the page's style sheet says of figures, in the light colours.
_PRINT_STYLE = (
    "<style>text{font-family:Inter;font-size:12px;fill:#1F2328}.tick{fill:#686C73;font-size:11px}.title{font-size:14px;font-weight:600}"
    ".grid{stroke:#E3E0D9}.half{stroke:#686C73;stroke-dasharray:2 3}.bar,.mean{fill:#1F6F6B}"
    ".plain{fill:#C9C5BC}.dot{fill:#0072B2;fill-opacity:.28}"
    ".bounds{stroke:#1F2328;stroke-width:2}</style>"
)


def means_figure(
    title: str, lines: Sequence[Line], *, low: float, high: float, for_print: bool = False
) -> str:
    """Dots, mean and interval of each line on a scale from ``low`` to ``high``."""
    return _figure(title, lines, low, high, bars=False, for_print=for_print)


def shares_figure(title: str, lines: Sequence[Line], *, for_print: bool = False) -> str:
    """Bars from 0 to 100 % with their intervals and a line at one half."""
    return _figure(title, lines, 0.0, 1.0, bars=True, for_print=for_print)


def _figure(
    title: str, lines: Sequence[Line], low: float, high: float, *, bars: bool, for_print: bool
) -> str:
    span = high - low if high > low else 1.0

    def x(value: float) -> float:
        return round(_LEFT + (min(max(value, low), high) - low) / span * _WIDTH, 1)

    top = _TITLE if for_print else 0
    height = _ROW * len(lines) + 30 + top
    width = _LEFT + _WIDTH + _RIGHT
    size = 'width="100%"'
    if for_print:
        size = f'xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
    parts = [
        f'<svg class="figure" role="img" aria-label="{escape(title, quote=True)}"'
        f' viewBox="0 0 {width} {height}" {size}>',
        f"<title>{escape(title)}</title>",
    ]
    if for_print:
        parts += [_PRINT_STYLE, f'<text class="title" x="0" y="20">{escape(title)}</text>']
    for value in _ticks(low, low + span):
        words = f"{value * 100:.0f} %" if bars else f"{value:,.6g}"
        parts.append(
            f'<line class="grid" x1="{x(value)}" x2="{x(value)}" y1="{top + 4}" y2="{height - 22}"/>'
            f'<text class="tick" x="{x(value)}" y="{height - 6}" text-anchor="middle">{words}</text>'
        )
    for place, line in enumerate(lines):
        y = top + _ROW * place + _ROW / 2 + 4
        parts.append(
            f'<text class="name" x="{_LEFT - 12}" y="{y + 4}" text-anchor="end">'
            f"{escape(_cut(line.name))}</text>"
        )
        parts += [
            f'<circle class="dot" cx="{x(value)}" cy="{y + _jitter(n)}" r="2.5"/>'
            for n, value in enumerate(line.dots)
        ]
        if line.value is not None and bars:
            kind = "plain" if line.plain else "bar"
            parts.append(
                f'<rect class="{kind}" x="{_LEFT}" y="{y - 7}" width="{x(line.value) - _LEFT}"'
                ' height="14" rx="2"/>'
            )
        if line.low is not None and line.high is not None:
            parts.append(
                f'<line class="bounds" x1="{x(line.low)}" x2="{x(line.high)}" y1="{y}" y2="{y}"/>'
            )
        if line.value is not None and not bars:
            parts.append(f'<circle class="mean" cx="{x(line.value)}" cy="{y}" r="5"/>')
        parts.append(
            f'<text class="value" x="{_LEFT + _WIDTH + 10}" y="{y + 4}">{escape(line.text)}</text>'
        )
    if bars:
        parts.append(
            f'<line class="half" x1="{x(0.5)}" x2="{x(0.5)}" y1="{top + 4}" y2="{height - 22}"/>'
        )
    return "".join([*parts, "</svg>"])


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers from ``low`` to ``high``, four to seven of them; quarters of 0 to 1."""
    span = high - low
    size = 10.0 ** floor(log10(span))
    step = next(s * size for s in (0.2, 0.25, 0.5, 1.0, 2.0) if span / (s * size) <= 6.0)
    if (low, high) == (0.0, 1.0):
        step = 0.25
    first = ceil(low / step - 1e-9)
    return [round(n * step, 10) for n in range(first, floor(high / step + 1e-9) + 1)]


def _cut(text: str, length: int = 32) -> str:
    """A name that has room: names of systems that are one model often differ at their ends."""
    half = (length - 1) // 2
    return text if len(text) <= length else f"{text[:half].rstrip()}…{text[-half:].lstrip()}"


def _jitter(place: int) -> float:
    return round(((place * 0.618034) % 1.0 - 0.5) * 14, 1)
