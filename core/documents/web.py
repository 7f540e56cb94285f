"""Reading HTML: what a reader of the page sees, as lines of text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from core.documents.text import decode_text, unify_lines

_HIDDEN = {"script", "style", "template", "noscript", "head", "svg", "iframe", "object"}
_BLOCKS = {
    *("p", "div", "section", "article", "header", "footer", "main", "aside", "nav", "ul", "ol"),
    *("table", "tr", "blockquote", "figure", "figcaption", "dl", "dt", "dd", "form", "address"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "li", "pre", "body", "html", "hr"),
}
_VOID = {"br", "img", "hr", "meta", "link", "input", "area", "base", "col", "embed", "wbr"}
_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([\w-]+)""", re.IGNORECASE)


def read_html(data: bytes) -> str:
    """The text of an HTML page; headings begin with '#', list items with '-' or a number.

    Raises
    ------
    NotTextError
        When the bytes are no text.
    """
    found = _CHARSET.search(data[:4096])
    parser = _Parser()
    parser.feed(decode_text(data, declared=found.group(1).decode() if found else ""))
    parser.close()
    return parser.text()


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._lines: list[str] = [""]
        self._hidden: list[str] = []
        self._lists: list[int | None] = []
        self._pre = 0
        self._cells = 0

    def text(self) -> str:
        lines = [line.rstrip() for line in self._lines]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _HIDDEN:
            self._hidden.append(tag)
        if self._hidden:
            return
        if tag == "br":
            self._lines.append("")
        elif tag in ("td", "th"):
            if self._cells:
                self._lines[-1] = self._lines[-1].rstrip() + " | "
            self._cells += 1
        elif tag in _BLOCKS:
            # A paragraph inside a cell does not begin a row of its own.
            if not (self._cells and tag in ("p", "div")):
                self._break(blank=tag not in ("li", "tr", "dt", "dd"))
            if tag == "tr":
                self._cells = 0
            elif tag in ("ul", "ol"):
                self._lists.append(0 if tag == "ol" else None)
            elif tag == "li":
                self._lines[-1] = self._mark()
            elif re.fullmatch(r"h[1-6]", tag):
                self._lines[-1] = "#" * int(tag[1]) + " "
            elif tag == "pre":
                self._pre += 1

    def handle_endtag(self, tag: str) -> None:
        if self._hidden:
            if tag in self._hidden:
                while self._hidden.pop() != tag:
                    pass
            return
        if tag in _VOID:
            return
        if tag in ("ul", "ol") and self._lists:
            self._lists.pop()
        if tag == "pre":
            self._pre = max(0, self._pre - 1)
        if tag in ("table", "tr"):
            self._cells = 0
        if tag in _BLOCKS and not (self._cells and tag in ("p", "div")):
            self._break(blank=tag not in ("li", "tr", "dt", "dd"))

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        if self._pre:
            first, *rest = unify_lines(data).split("\n")
            self._lines[-1] += first
            self._lines += rest
            return
        words = re.sub(r"[ \t\n\r\f]+", " ", data)
        if self._lines[-1] in ("",) or self._lines[-1].endswith((" ", "\n")):
            words = words.lstrip(" ")
        self._lines[-1] += words

    def _mark(self) -> str:
        indent = "  " * max(0, len(self._lists) - 1)
        if self._lists and self._lists[-1] is not None:
            self._lists[-1] += 1
            return f"{indent}{self._lists[-1]}. "
        return f"{indent}- "

    def _break(self, *, blank: bool) -> None:
        if self._lines[-1].strip():
            self._lines.append("")
        if blank and len(self._lines) > 1 and self._lines[-2].strip():
            self._lines.append("")
