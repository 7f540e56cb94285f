"""Printed pages: a heading is never the last thing on one, nothing is lost, and each has its number."""

from __future__ import annotations

import pypdfium2 as pdfium
import pytest
from PySide6.QtWidgets import QApplication

from app.pages.results.pdf import pdf_bytes


def pages_of(html: str) -> list[str]:
    """The letters of each page without white space, read back from the file."""
    document = pdfium.PdfDocument(pdf_bytes(html))
    try:
        return ["".join(page.get_textpage().get_text_range().split()) for page in document]
    finally:
        document.close()


def test_what_is_copied_from_a_page_is_what_stands_there(qapp: QApplication) -> None:
    words = "SmolLM2 (Q4_1), 12:30, A-B: 5 mg"
    (page,) = pages_of(f"<p style='font-family: Inter'>{words}</p>")
    assert page == words.replace(" ", "") + "1"


@pytest.mark.parametrize("below", ["<p>Below</p>", "<table><tr><td>Below</td></tr></table>"])
def test_a_heading_stays_with_what_follows_it(qapp: QApplication, below: str) -> None:
    moved = 0
    # Wherever the end of a page falls.
    for count in range(30, 66, 2):
        before = "".join(f"<p>Line {n}.</p>" for n in range(count))
        pages = pages_of(f"{before}<h2>Results</h2><h3>By system</h3>{below}")
        (place,) = [n for n, text in enumerate(pages) if "Results" in text]
        assert "ResultsBysystemBelow" in pages[place]
        moved += place > 0 and pages[place].startswith("Results")
        assert "".join(pages).count("Line") == count
        assert all(text.endswith(str(n + 1)) for n, text in enumerate(pages))
    assert moved
