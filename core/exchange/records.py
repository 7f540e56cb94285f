"""Reading records out of JSONL, JSON and CSV files, with the line of each and clear words for bad ones."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from core.errors import InputError

RecordFormat = Literal["jsonl", "json", "csv"]

#: A field of a CSV file may be as long as a whole document.
_LARGEST_FIELD = 2**31 - 1

_FEW_LETTERS = 48
_SIGNS = "‚„…‹›•–—™§°±²³µ·¿¡«»£¥©®¹ºª½¼¾×÷€"
_WESTERN = frozenset(
    "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜàáâãäåæçèéêëìíîïñòóôõöøùúûüÿßŒœŠšŽž‘’“”´\u00a0" + _SIGNS
)


@dataclass(frozen=True, slots=True)
class Record:
    """One record and the line on which it begins, counted from 1."""

    line: int
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that was left out and why."""

    line: int
    reason: str


@dataclass(slots=True)
class Records:
    """What a file holds: records, and lines that could not be read."""

    records: list[Record] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def read_text(path: Path) -> str:
    """A file's text in whatever encoding it is, byte-order marks removed.

    Raises
    ------
    InputError
        When it cannot be opened or is not text.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror or error}.",
            path=path,
            remedy="Check the name and your rights.",
        ) from error
    for mark, encoding in (
        (b"\xef\xbb\xbf", "utf-8-sig"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        if data.startswith(mark):
            try:
                return data.decode(encoding)
            except UnicodeDecodeError:
                break
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        found = _western(data) or _guessed(data)
        if found is None:
            raise InputError(
                "is not text in an encoding that can be recognised.",
                path=path,
                remedy="Save it as UTF-8.",
            ) from None
        text = found
    if "\0" in text:
        raise InputError("is not a text file.", path=path, remedy="Choose a JSONL or CSV file.")
    return text


def _guessed(data: bytes) -> str | None:
    import charset_normalizer

    guess = charset_normalizer.from_bytes(data).best()
    return None if guess is None else str(guess)


def _western(data: bytes) -> str | None:
    """A text with few letters outside ASCII as Windows-1252, where it reads as a western language.

    Statistics need more letters than a small table has, and then take an e with an accent for a letter
    of another alphabet. None where it does not read so, or has letters enough for statistics.
    """
    if sum(byte > 127 for byte in data) > _FEW_LETTERS:
        return None
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        return None
    foreign = {char for char in text if ord(char) > 127}
    # Between two letters a sign is a letter of another alphabet.
    if not foreign <= _WESTERN or re.search(rf"[^\W\d_][{_SIGNS}][^\W\d_]", text):
        return None
    words = [word for word in re.findall(r"[^\W\d_]+", text) if not word.isascii()]
    accents = sum(ord(char) > 127 for word in words for char in word)
    return text if accents <= 0.5 * sum(map(len, words)) + 1 else None


def guess_format(path: Path, text: str) -> RecordFormat:
    """The format from the file's name, else from its first character."""
    suffix = path.suffix.casefold()
    if suffix in (".csv", ".tsv"):
        return "csv"
    head = text.lstrip()[:1]
    if suffix in (".jsonl", ".ndjson"):
        return "jsonl"
    if suffix == ".json":
        return "json" if head == "[" or not _is_json_lines(text) else "jsonl"
    return "jsonl" if head == "{" else "json" if head == "[" else "csv"


def _is_json_lines(text: str) -> bool:
    first = text.lstrip().split("\n", 1)[0]
    try:
        return isinstance(json.loads(first), dict)
    except ValueError:
        return False


def read_records(path: Path, format: RecordFormat | None = None) -> Records:
    """All records of a file; a bad line is skipped with its reason and never stops the rest."""
    text = read_text(path)
    if not text.strip():
        raise InputError("is empty.", path=path, remedy="Choose a file with at least one record.")
    chosen = format or guess_format(path, text)
    if chosen == "csv":
        return _read_csv(path, text)
    if chosen == "json":
        return _read_json(path, text)
    return _read_jsonl(text)


def _read_jsonl(text: str) -> Records:
    found = Records()
    for line, content in enumerate(text.split("\n"), start=1):
        if not content.strip():
            continue
        try:
            value = json.loads(content)
        except (ValueError, RecursionError) as error:
            found.skipped.append(Skipped(line, f"not valid JSON: {error}"))
            continue
        if isinstance(value, dict):
            found.records.append(Record(line, value))
        else:
            found.skipped.append(Skipped(line, "not a JSON object"))
    return found


def _read_json(path: Path, text: str) -> Records:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise InputError(
            f"is not valid JSON: {error}.", path=path, line=line, remedy="Correct that place."
        ) from error
    if isinstance(value, dict) and isinstance(value.get("data"), list):
        value = value["data"]
    entries = value if isinstance(value, list) else [value]
    found = Records()
    for number, entry in enumerate(entries, start=1):
        if isinstance(entry, dict):
            found.records.append(Record(number, entry))
        else:
            found.skipped.append(Skipped(number, "not a JSON object"))
    return found


def _read_csv(path: Path, text: str) -> Records:
    csv.field_size_limit(_LARGEST_FIELD)
    named, begin = _named_delimiter(text)
    text = text[begin:]
    delimiter = "\t" if path.suffix.casefold() == ".tsv" else named or _guess_delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    found = Records()
    header: list[str] | None = None
    for line, row in _numbered_rows(reader, found, before=1 if begin else 0):
        if header is None:
            header = [name.strip() for name in row]
            doubled = {name for name in header if header.count(name) > 1}
            if doubled:
                raise InputError(
                    f"has two columns called '{sorted(doubled)[0]}'.",
                    path=path,
                    line=line,
                    remedy="Rename one of them.",
                )
        elif not any(cell.strip() for cell in row):
            continue
        elif len(row) != len(header):
            found.skipped.append(
                Skipped(line, f"{len(row)} cells where the header has {len(header)}")
            )
        else:
            found.records.append(Record(line, dict(zip(header, row, strict=True))))
    return found


def _numbered_rows(
    reader: Any, found: Records, *, before: int = 0
) -> Iterator[tuple[int, list[str]]]:
    """Rows and the line each begins on; ``before`` counts lines that were taken off."""
    while True:
        start = reader.line_num + 1 + before
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            reason = str(error)
            if reason == "unexpected end of data":
                reason = "its quote is never closed, and takes in all that follows"
            found.skipped.append(Skipped(start, f"not valid CSV: {reason}"))
            continue
        if row:
            yield start, row


def _guess_delimiter(text: str) -> str:
    """What stands between the names of the header; what a quoted name holds does not count."""
    header = re.split(r"[\r\n]", re.sub(r'"[^"]*"', '""', text.lstrip()), maxsplit=1)[0]
    return max(",;\t|", key=header.count)


def _named_delimiter(text: str) -> tuple[str, int]:
    """The sign that a first line ``sep=;`` names, as Excel writes it, and where the table begins."""
    named = re.match(r"sep=(.)\r?\n", text, re.IGNORECASE)
    return (named.group(1), named.end()) if named else ("", 0)


def apply_map(values: Mapping[str, Any], mapping: Mapping[str, str]) -> dict[str, Any]:
    """Rename a record's keys: ``mapping`` goes from the file's name to ours."""
    return {mapping.get(key, key): value for key, value in values.items()}


def parse_map(text: str) -> dict[str, str]:
    """Read ``a=b,c=d`` as given to ``--map``.

    Examples
    --------
    >>> parse_map("dialogue=input.Transcript,note=output.Note")
    {'dialogue': 'input.Transcript', 'note': 'output.Note'}
    """
    mapping: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        source, equals, target = part.partition("=")
        if not equals or not source.strip() or not target.strip():
            raise InputError(
                f"'{part}' is not a mapping.",
                remedy="Write NAME-IN-FILE=OUR-NAME, joined by commas.",
            )
        mapping[source.strip()] = target.strip()
    return mapping
