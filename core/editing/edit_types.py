"""What kind of edit a change is, guessed by its words; the expert confirms or corrects it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.editing.tracked import Change
from core.types.documents import EditType

_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)?")
_STOP_TEXT = (
    "a an and are as at be been but by for from had has have he her his i in is it its no "
    "not of on or our she so some such than that the their them then there these they "
    "this those to too very was we were which who will with would you your also however "
    "moreover therefore thus"
)
_STOP = frozenset(re.findall(r"\w+", _STOP_TEXT))
_MOVED_WORDS = 4


def suggest_edit_type(
    change: Change, original: str, changes: Sequence[tuple[int, Change]] = ()
) -> EditType:
    """The likely type of a change (DOLOMITES's types of edits).

    Parameters
    ----------
    original
        The section as it was before any change.
    changes
        All changes of the document, to see what was only moved.
    """
    gone, come = _content(change.before), _content(change.after)
    if _is_moved(change, changes):
        return "reorganisation"
    if not change.after.strip():
        return "deletion" if gone else "stylistic"
    if _numbers(change.before) != _numbers(change.after):
        return "update" if change.before.strip() else "fact_addition"
    if sorted(gone) == sorted(come):
        return "reorganisation" if gone != come else "stylistic"
    known = set(_content(original))
    new = [word for word in come if word not in known]
    if not change.before.strip():
        return "fact_addition" if new else "stylistic"
    lost = [word for word in gone if word not in come]
    if not new and lost and len(come) < len(gone) / 2:
        return "deletion"
    if len(new) >= 2 and len(come) >= 2 * max(1, len(gone)):
        return "fact_addition"
    names = {word for word in _WORD.findall(change.after) if word[:1].isupper()}
    names_before = {word for word in _WORD.findall(change.before) if word[:1].isupper()}
    if names != names_before and names - names_before and names_before - names:
        return "update"
    return "stylistic"


def _is_moved(change: Change, changes: Sequence[tuple[int, Change]]) -> bool:
    here = _content(change.before) or _content(change.after)
    if len(here) < _MOVED_WORDS:
        return False
    for _section, other in changes:
        if other.id == change.id:
            continue
        there = _content(other.after) if change.before.strip() else _content(other.before)
        if there and len(set(here) & set(there)) >= 0.8 * max(len(set(here)), len(set(there))):
            return True
    return False


def _content(text: str) -> list[str]:
    return [w for word in _WORD.findall(text) if (w := word.casefold()) not in _STOP]


def _numbers(text: str) -> list[str]:
    return [word for word in _WORD.findall(text) if word[0].isdigit()]
