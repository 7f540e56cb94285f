"""The strict reader finds what it is there to find."""

from __future__ import annotations

import pytest

from tests.strict_html import read_strictly

PAGE = (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>A</title></head>'
    "<body><main><h1>A</h1>{}</main></body></html>"
)
TABLE = "<table><caption>C</caption><tbody><tr><td>1</td></tr></tbody></table>"


def test_a_sound_page_has_no_faults() -> None:
    body = f'<nav><a href="#here">Here</a></nav><h2 id="here">B</h2>{TABLE}<p>x<br>y</p>'
    assert read_strictly(PAGE.format(body)) == []


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("<p><b>x</p></b>", "</p> while <b> is open"),
        ("<p><div>x</div></p>", "<div> in <p>"),
        ("<tr></tr>", "<tr> in <main>"),
        ('<p id="a">x</p><p id="a">y</p>', "id a twice"),
        ('<a href="#gone">x</a>', "#gone is nowhere"),
        ('<a href="https://a.example">x</a>', "<a> refers to https://a.example"),
        ('<img src="x.png" alt="">', "<img> refers to x.png"),
        ("<h3>x</h3>", "<h3> after <h1>"),
        ("<svg></svg>", "a figure without a name"),
        ("<table><tbody></tbody></table>", "a table without a caption"),
        (TABLE.replace("td", "th"), "a heading of a table without scope"),
        ('<p onclick="x()">x</p>', "<p> has a script"),
        ("<section>", "</main> while <section> is open"),
    ],
)
def test_each_fault_is_found(body: str, fault: str) -> None:
    assert any(fault in found for found in read_strictly(PAGE.format(body)))


def test_a_page_says_its_language_and_charset() -> None:
    bare = PAGE.format("").replace(' lang="en"', "").replace('<meta charset="utf-8">', "")
    assert read_strictly(bare) == ["no charset", "no lang"]
    assert read_strictly(PAGE.format("")[15:])[0].endswith("no doctype")
