"""Prompts by names for people."""

from __future__ import annotations

from app.strings import say

_WORDS = {
    "long_form": "the whole document at once",
    "long_form_section": "section by section",
}


def prompt_words(name: str) -> str:
    """A shipped prompt in words, another one by its name."""
    return say(_WORDS.get(name, name))
