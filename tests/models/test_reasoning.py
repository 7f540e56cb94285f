"""Reasoning traces are told from answers, however the text is cut up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ports import Piece
from models.reasoning import ReasoningSplitter


def split(parts: list[str], *, inside: bool = False) -> tuple[str, str]:
    splitter = ReasoningSplitter(inside=inside)
    pieces: list[Piece] = []
    for part in parts:
        pieces += splitter.feed(part)
    pieces += splitter.finish()
    answer = "".join(piece.text for piece in pieces if not piece.thinking)
    return answer, "".join(piece.text for piece in pieces if piece.thinking)


@pytest.mark.parametrize(
    ("text", "answer", "thinking"),
    [
        ("plain", "plain", ""),
        ("<think>why</think>So.", "So.", "why"),
        ("a<thinking>b</thinking>c<think>d</think>e", "ace", "bd"),
        ("<think>never closed", "", "never closed"),
        ("1 < 2 and <thin", "1 < 2 and <thin", ""),
        ("[THINK]x[/THINK]y", "y", "x"),
    ],
)
def test_traces_of_known_families(text: str, answer: str, thinking: str) -> None:
    assert split([text]) == (answer, thinking)


def test_a_trace_opened_by_the_prompt() -> None:
    assert split(["why</think>So."], inside=True) == ("So.", "why")


@given(st.text("<>/think ab"), st.integers(1, 5))
def test_the_way_a_text_is_cut_makes_no_difference(text: str, size: int) -> None:
    parts = [text[start : start + size] for start in range(0, len(text), size)]
    assert split(parts) == split([text])
