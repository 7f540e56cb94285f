"""Cutting texts into passages, and making the lines of a page flow."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.documents.passages import cut_passages
from core.documents.text import decode_text, flow_lines, tidy


@given(st.text(min_size=1, max_size=3000), st.integers(200, 600), st.integers(0, 90))
def test_passages_cover_the_text_in_order(text: str, window: int, overlap: int) -> None:
    passages = cut_passages("d", text, window=window, overlap=overlap)
    covered = 0
    for passage in passages:
        assert passage.text == text[passage.start : passage.end]
        assert len(passage.text) <= window
        assert not text[covered : passage.start].strip()
        covered = max(covered, passage.end)
    assert not text[covered:].strip()


def test_a_cut_parts_neither_accents_nor_joined_emoji() -> None:
    text = "a" * 199 + "👨🏻\u200d🚒" + "e\u0301" * 200
    for passage in cut_passages("d", text, window=200, overlap=20):
        assert passage.text[0] not in "\u0301\u200d🏻"
        assert not passage.text.endswith("\u200d")


@given(st.text(alphabet="ab .\n#-|é", max_size=200))
def test_lines_made_to_flow_keep_every_place(text: str) -> None:
    flown = flow_lines(text)
    assert len(flown) == len(text)
    assert all(a == b or (a, b) == ("\n", " ") for a, b in zip(text, flown, strict=True))


def test_the_lines_of_a_narrow_page_flow_and_headings_stay() -> None:
    page = (
        "2 Clinical assessment\nAnginal pain is a constricting discomfort in the front of the\n"
        "chest; it is precipitated by physical exertion and relieved by\nrest.\n"
        "- A list item that is as long as any other line of this page\nEnd"
    )
    assert flow_lines(page).split("\n") == [
        "2 Clinical assessment",
        "Anginal pain is a constricting discomfort in the front of the chest; it is precipitated by"
        " physical exertion and relieved by rest.",
        "- A list item that is as long as any other line of this page",
        "End",
    ]


def test_ligatures_become_letters() -> None:
    assert tidy("e\ufb03cient adip\ufffeiscing soft\u00ad\nware") == "efficient adipiscing software"
    assert decode_text("naïve".encode("latin-1")) == "naïve"
    assert decode_text("a\r\nb\rc".encode("utf-16-le")) == "a\nb\nc"
