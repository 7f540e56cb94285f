"""Reading metric options, which come as text, with a clear word for a bad one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import UsageError


def read_flag(name: str, value: str | bool) -> bool:
    """``true`` or ``false``, also ``1``/``0`` and ``yes``/``no``."""
    text = str(value).casefold()
    if text in ("1", "true", "yes"):
        return True
    if text in ("0", "false", "no", "none"):
        return False
    raise UsageError(f"{name}={value} is neither true nor false.", remedy=f"Write {name}=true.")


def read_choice(name: str, value: str, choices: Sequence[str]) -> str:
    """One of the choices."""
    if value not in choices:
        raise UsageError(
            f"{name}={value} is not possible.", remedy=f"Use one of {', '.join(choices)}."
        )
    return value


def need_text(item: Mapping[str, Any], key: str) -> str:
    """A text of an item."""
    value = item.get(key)
    if not isinstance(value, str):
        raise UsageError(f"'{key}' is missing or no text.", remedy=f'Give {{"{key}": "..."}}.')
    return value


def need_texts(item: Mapping[str, Any], key: str) -> list[str]:
    """A list of at least one text of an item."""
    value = item.get(key)
    if not isinstance(value, list | tuple) or not value or not {*map(type, value)} == {str}:
        raise UsageError(
            f"'{key}' is missing, empty, or not a list of texts.",
            remedy=f'Give {{"{key}": ["..."]}}.',
        )
    return list(value)


def read_whole(name: str, value: str | int, low: int = 0, high: int = 2**31 - 1) -> int:
    """A whole number between two bounds, both included."""
    try:
        number = int(value)
    except ValueError:
        number = low - 1
    if not low <= number <= high:
        raise UsageError(
            f"{name}={value} is no whole number from {low} to {high}.",
            remedy=f"Write for example {name}={low}.",
        )
    return number
