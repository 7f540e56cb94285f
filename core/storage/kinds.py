"""Which value type lies in which table, and how its fields become columns."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Any, TypeVar

import msgspec

from core import types
from core.errors import BugError
from core.types import documents, evaluation, graphs, rubrics

T = TypeVar("T")


_SCALARS = (str, int, float, bool, type(None))


@dataclass(frozen=True, slots=True)
class Kind:
    """A value type's table. ``logged`` rows go through the change table and can be merged."""

    name: str
    type: type
    columns: tuple[str, ...]
    json_columns: frozenset[str]
    bool_columns: frozenset[str]
    logged: bool = True


def _is_scalar(annotation: Any) -> bool:
    if typing.get_origin(annotation) is typing.Literal:
        return True
    if typing.get_origin(annotation) in (typing.Union, UnionType):
        return all(argument in _SCALARS for argument in typing.get_args(annotation))
    return annotation in _SCALARS


def _make_kind(name: str, type_: type, *, logged: bool = True) -> Kind:
    hints = typing.get_type_hints(type_)
    columns = tuple(field.name for field in dataclasses.fields(type_))
    return Kind(
        name=name,
        type=type_,
        columns=columns,
        json_columns=frozenset(c for c in columns if not _is_scalar(hints[c])),
        bool_columns=frozenset(c for c in columns if hints[c] is bool),
        logged=logged,
    )


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        _make_kind("person", types.Person),
        _make_kind("field", types.Field),
        _make_kind("task", types.Task),
        _make_kind("task_validation", types.TaskValidation),
        _make_kind("example", types.Example),
        _make_kind("rubric", types.Rubric),
        _make_kind("rubric_item", types.RubricItem),
        _make_kind("system", types.System),
        _make_kind("run", types.Run),
        _make_kind("output", types.Output),
        _make_kind("score", types.Score),
        _make_kind("rating", types.Rating),
        _make_kind("preference", types.Preference),
        _make_kind("review_item", types.ReviewItem),
        _make_kind("job", types.Job, logged=False),
        *(
            _make_kind(name, type_)
            for room in (documents, rubrics, graphs, evaluation)
            for name, type_ in room.STORED.items()
        ),
    )
}
_BY_TYPE = {kind.type: kind for kind in KINDS.values()}


def kind_of(type_: type) -> Kind:
    """The kind of a value type.

    Raises
    ------
    BugError
        When the type is not stored.
    """
    try:
        return _BY_TYPE[type_]
    except KeyError:
        raise BugError(f"{type_.__name__} is not a stored type.") from None


def encode_column(kind: Kind, column: str, value: Any) -> Any:
    """A field's value as SQLite stores it."""
    if column in kind.json_columns:
        return msgspec.json.encode(value).decode()
    return int(value) if column in kind.bool_columns else value


def encode_row(value: Any) -> dict[str, Any]:
    """All fields of a value as columns."""
    kind = kind_of(type(value))
    return {column: encode_column(kind, column, getattr(value, column)) for column in kind.columns}


_decoders: dict[tuple[type, str], msgspec.json.Decoder[Any]] = {}


def _decoder(type_: type, column: str) -> msgspec.json.Decoder[Any]:
    found = _decoders.get((type_, column))
    if found is None:
        found = msgspec.json.Decoder(typing.get_type_hints(type_)[column])
        _decoders[type_, column] = found
    return found


def decode_row(type_: type[T], row: Mapping[str, Any]) -> T:
    """The value a row holds."""
    kind = kind_of(type_)
    fields: dict[str, Any] = {}
    for column in kind.columns:
        value = row[column]
        if column in kind.json_columns:
            value = _decoder(type_, column).decode(value)
        elif column in kind.bool_columns:
            value = bool(value)
        fields[column] = value
    return type_(**fields)
