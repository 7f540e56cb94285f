"""A strict reading of a page: what browsers forgive, and what keeps a page from being read aloud."""

from __future__ import annotations

from html.parser import HTMLParser

#: Elements without an end.
_VOID = frozenset({"br", "meta", "hr", "img", "input", "link", "wbr"})
#: What may stand in a paragraph, a heading or a link.
_PHRASING = frozenset({"a", "b", "br", "code", "i", "img", "small", "span", "svg", "em", "strong"})
_ONLY_PHRASING = frozenset({"p", "h1", "h2", "h3", "h4", "span", "b", "code", "a"})
_PARENTS = {
    "td": {"tr"}, "th": {"tr"}, "tr": {"thead", "tbody", "table"}, "thead": {"table"},
    "tbody": {"table"}, "caption": {"table"}, "li": {"ul", "ol"}, "summary": {"details"},
}  # fmt: skip


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.faults: list[str] = []
        self.open: list[str] = []
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.levels: list[int] = []
        self.captions: list[bool] = []
        self.found: set[str] = set()

    def fault(self, text: str) -> None:
        self.faults.append(f"line {self.getpos()[0]}: {text}")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if len(values) != len(attrs):
            self.fault(f"<{tag}> has an attribute twice")
        parent = self.open[-1] if self.open else ""
        in_svg = "svg" in self.open
        if tag in _PARENTS and parent not in _PARENTS[tag]:
            self.fault(f"<{tag}> in <{parent}>")
        if parent in _ONLY_PHRASING and not in_svg and tag not in _PHRASING:
            self.fault(f"<{tag}> in <{parent}>")
        self._read_attributes(tag, values)
        self._read_meaning(tag, values, parent)
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if "svg" not in self.open and tag not in _VOID:
            self.fault(f"<{tag}/> ends itself")
        self._read_attributes(tag, dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1] != tag:
            self.fault(f"</{tag}> while <{self.open[-1] if self.open else ''}> is open")
            return
        self.open.pop()
        if tag == "table" and not self.captions.pop():
            self.fault("a table without a caption")

    def _read_attributes(self, tag: str, values: dict[str, str | None]) -> None:
        if "id" in values:
            self.ids.append(values["id"] or "")
        for name, value in values.items():
            if name in ("src", "href", "xlink:href", "action", "srcset", "data", "poster"):
                if (value or "").startswith("#"):
                    self.targets.append((value or "")[1:])
                else:
                    self.fault(f"<{tag}> refers to {value}")
            if name.startswith("on"):
                self.fault(f"<{tag}> has a script")
        if tag in ("script", "link", "iframe", "object", "embed", "base"):
            self.fault(f"a <{tag}>")

    def _read_meaning(self, tag: str, values: dict[str, str | None], parent: str) -> None:
        if tag == "html" and values.get("lang"):
            self.found.add("lang")
        if tag == "meta" and (values.get("charset") or "").lower() == "utf-8":
            self.found.add("charset")
        if tag in ("title", "main", "h1") and "svg" not in self.open:
            self.found.add(tag)
        if tag in ("h1", "h2", "h3", "h4"):
            level = int(tag[1])
            if self.levels and level > self.levels[-1] + 1:
                self.fault(f"<{tag}> after <h{self.levels[-1]}>")
            self.levels.append(level)
        if tag == "svg" and not (values.get("role") == "img" and values.get("aria-label")):
            self.fault("a figure without a name")
        if tag == "img" and "alt" not in values:
            self.fault("a picture without words")
        if tag == "th" and values.get("scope") not in ("col", "row"):
            self.fault("a heading of a table without scope")
        if tag == "table":
            self.captions.append(False)
        if tag == "caption" and self.captions:
            self.captions[-1] = True


def read_strictly(html: str) -> list[str]:
    """What is wrong with a page: its nesting, ids, references, headings, tables, figures, language."""
    reader = _Reader()
    if not html.lstrip().lower().startswith("<!doctype html>"):
        reader.fault("no doctype")
    reader.feed(html)
    reader.close()
    reader.faults += [f"<{tag}> is never closed" for tag in reader.open]
    reader.faults += sorted({f"id {i} twice" for i in reader.ids if reader.ids.count(i) > 1})
    known = set(reader.ids)
    reader.faults += [f"#{target} is nowhere" for target in reader.targets if target not in known]
    wanted = {"lang", "charset", "title", "main", "h1"}
    reader.faults += [f"no {name}" for name in sorted(wanted - reader.found)]
    return reader.faults
