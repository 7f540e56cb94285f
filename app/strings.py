"""Words the window shows: the way to translate them, and numbers, times and names put into words."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from PySide6.QtCore import QCoreApplication, QDate, QDateTime, QLocale

_CONTEXT = "rifugio"
_FIRST_STRONG, _POP = "\u2068", "\u2069"
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
#: Han, Hiragana, Katakana, with the punctuation that belongs to them.
_IDEOGRAPHS = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)

#: What one system or another has no room for in a file's name.
_NOT_IN_NAMES = '<>:"/\\|?*'


def say(text: str, /, **values: object) -> str:
    """A sentence in the person's language. ``values`` fill its named blanks after translation.

    Examples
    --------
    ``say("{count} examples", count=3)``
    """
    translated = QCoreApplication.translate(_CONTEXT, text)
    if not values:
        return translated
    return translated.format(**{name: isolate(value) for name, value in values.items()})


def isolate(value: object) -> object:
    """A text with right-to-left letters in marks that keep its order apart from the sentence around it."""
    if isinstance(value, str) and not value.isascii() and _RIGHT_TO_LEFT.search(value):
        return value if value.startswith(_FIRST_STRONG) else f"{_FIRST_STRONG}{value}{_POP}"
    return value


def count_words(text: str) -> int:
    """Words between spaces; in Chinese and Japanese, which write none, each character counts."""
    if text.isascii():
        return len(text.split())
    signs = len(_IDEOGRAPHS.findall(text))
    return signs + len(_IDEOGRAPHS.sub(" ", text).split()) if signs else len(text.split())


def count_of(number: int, one: str, many: str) -> str:
    """A number with its noun: ``count_of(1, "example", "examples")`` is '1 example'."""
    return f"{format_number(number)} {one if number == 1 else many}"


def format_number(number: float, decimals: int = 0) -> str:
    """A number with the locale's separators."""
    if decimals == 0:
        return QLocale().toString(round(number))
    return QLocale().toString(float(number), "f", decimals)


def format_bytes(size: int) -> str:
    """A file size, such as '98.4 MB'."""
    value = float(size)
    for unit in ("bytes", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.0f} {unit}" if unit in ("bytes", "kB") else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError("unreachable")


def format_duration(seconds: float) -> str:
    """A stretch of time, coarse enough to be read at a glance: '40 s', '3 min', '1 h 50 min'."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{round(hours / 24)} days"


def format_rate(per_second: float, noun: str) -> str:
    """A speed in a unit that gives a readable number: '31 tokens a second', '4 outputs a minute'."""
    if noun == "bytes":
        return f"{format_bytes(round(per_second))} a second"
    if per_second >= 1:
        return f"{per_second:.0f} {noun} a second"
    if per_second * 60 >= 1:
        return f"{per_second * 60:.0f} {noun} a minute"
    return f"{per_second * 3600:.0f} {noun} an hour"


def parse_time(stamp: str) -> datetime:
    """A stored UTC time in this machine's zone."""
    return datetime.fromisoformat(stamp.replace("Z", "+00:00")).astimezone()


def format_time(stamp: str) -> str:
    """A stored time as a person says it: 14:05 today, 30 Nov 2026 otherwise; '' for ''."""
    if not stamp:
        return ""
    moment = parse_time(stamp)
    today = datetime.now(UTC).astimezone().date()
    if moment.date() == today:
        return f"{moment:%H:%M}"
    return QLocale().toString(QDate(moment.date()), "d MMM yyyy")


def format_moment(moment: datetime) -> str:
    """A date and a time of day here: '30 Nov 2026, 08:44'."""
    return QLocale().toString(
        QDateTime(moment.astimezone().replace(tzinfo=None)), "d MMM yyyy, HH:mm"
    )


def for_file_name(text: str, *, instead: str) -> str:
    """A text without what one system or another has no room for in a file's name."""
    return "".join(
        instead if sign in _NOT_IN_NAMES or not sign.isprintable() else sign for sign in text
    )


def shorten(text: str, length: int = 80) -> str:
    """One line of a text, cut at a word; ready to stand in a sentence."""
    line = " ".join(text.split())
    if len(line) > length:
        cut = line[:length]
        line = (cut.rsplit(" ", 1)[0] if " " in cut[length // 2 :] else cut) + " …"
    return str(isolate(line))
