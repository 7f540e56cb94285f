"""Code points and UTF-16 units, against Python's own encoder."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.text_offsets import OffsetMap, to_code_points, to_utf16, utf16_length

TEXTS = st.text(st.sampled_from("aé漢ش👩‍⚕️😀\n"), max_size=30)


@given(TEXTS)
def test_every_offset_goes_there_and_back(text: str) -> None:
    offsets = OffsetMap(text)
    for offset in range(len(text) + 1):
        units = len(text[:offset].encode("utf-16-le")) // 2
        assert to_utf16(text, offset) == units == offsets.to_utf16(offset)
        assert to_code_points(text, units) == offset
    assert utf16_length(text) == len(text.encode("utf-16-le")) // 2


def test_inside_a_pair_means_its_beginning() -> None:
    assert to_code_points("a😀b", 2) == 1
    assert to_code_points("😀😀", 3) == 1


def test_out_of_range_is_brought_back() -> None:
    offsets = OffsetMap("a😀")
    assert offsets.to_utf16(99) == 3
    assert offsets.to_code_points(99) == 2
    assert offsets.to_code_points(-1) == 0
