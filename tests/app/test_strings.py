"""Numbers, times and other people's words in sentences."""

from __future__ import annotations

import pytest

from app.strings import count_words, isolate, say, shorten

ARABIC = "اكتب ملاحظة SOAP"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("two words", 2),
        ("患者主诉胸痛三天", 8),
        ("服用 Metformin 500 mg", 5),
        ("ひらがな", 4),
        (ARABIC, 3),
        ("한국어 문장", 2),
    ],
)
def test_words_are_counted_in_any_script(text: str, words: int) -> None:
    assert count_words(text) == words


def test_right_to_left_words_keep_to_themselves() -> None:
    assert say("{name} · 2 of 5", name=ARABIC) == f"\u2068{ARABIC}\u2069 · 2 of 5"
    assert say("{name} · 2 of 5", name="A task") == "A task · 2 of 5"
    assert isolate(isolate(ARABIC)) == isolate(ARABIC)
    assert shorten(ARABIC) == isolate(ARABIC)
    assert isolate(7) == 7


def test_shortening_cuts_at_a_word() -> None:
    assert shorten("one two three four", 12) == "one two …"
    assert shorten(" one\n two ", 12) == "one two"
