"""Graphviz's DOT language, as far as a drawing of steps needs it: nodes, edges, attributes, subgraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from core.errors import InputError

_TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|/\*.*?\*/|(?m:^\#[^\n]*))|(?P<arrow>->|--)|(?P<mark>[{}\[\];,=:+])"""
    r"""|"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<word>-?(?:(?!->|--)[^\s{}\[\];,=:+"<>])+)"""
    r"""|<(?P<html>(?:[^<>]|<[^<>]*>)*)>""",
    re.DOTALL,
)


@dataclass(slots=True)
class DotGraph:
    """What a file says. ``clusters`` are titles of subgraphs named cluster..., with their nodes."""

    name: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    edges: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    clusters: list[tuple[str, list[str]]] = field(default_factory=list)


def quote(text: str) -> str:
    """A text as DOT writes it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def parse_dot(text: str) -> DotGraph:
    """Read a directed graph.

    Raises
    ------
    InputError
        When it is no directed graph, or a place cannot be read; names the line.
    """
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(self._split())
        self._at = 0
        self._graph = DotGraph()

    def parse(self) -> DotGraph:
        if self._peek().casefold() == "strict":
            self._take()
        if self._take().casefold() != "digraph":
            self._fail("It is no directed graph", "Write 'digraph' instead of 'graph'.")
        if self._peek() != "{":
            self._graph.name = self._take()
        self._expect("{")
        self._body(None)
        return self._graph

    # -- statements ----------------------------------------------------------------------

    def _body(self, cluster: list[str] | None) -> dict[str, str]:
        own: dict[str, str] = {}
        while True:
            token = self._peek()
            if token == "":
                self._fail("A brace is not closed", "Add the missing '}'.")
            if token == "}":
                self._take()
                return own
            if token in (";", ","):
                self._take()
                continue
            self._statement(own, cluster)

    def _statement(self, own: dict[str, str], cluster: list[str] | None) -> None:
        token = self._peek()
        if token.casefold() == "subgraph" or token == "{":
            self._chain([self._subgraph(cluster)], cluster)
            return
        quoted = self._is_quoted()
        name = self._take()
        if not quoted and name.casefold() in ("graph", "node", "edge"):
            attributes = self._attributes()
            if name.casefold() == "graph":
                own.update(attributes)
                if cluster is None:
                    self._graph.attributes.update(attributes)
            return
        if self._peek() == "=":
            self._take()
            value = self._take()
            own[name] = value
            if cluster is None:
                self._graph.attributes[name] = value
            return
        self._skip_port()
        self._note(name, cluster)
        if self._peek() == "->":
            self._chain([[name]], cluster)
            return
        if self._peek() == "--":
            self._fail("It has an edge without direction", "Write '->'.")
        self._graph.nodes[name].update(self._attributes())

    def _chain(self, ends: list[list[str]], cluster: list[str] | None) -> None:
        while self._peek() == "->":
            self._take()
            if self._peek().casefold() == "subgraph" or self._peek() == "{":
                ends.append(self._subgraph(cluster))
            else:
                name = self._take()
                self._skip_port()
                self._note(name, cluster)
                ends.append([name])
        attributes = self._attributes()
        for before, after in pairwise(ends):
            for start in before:
                for end in after:
                    self._graph.edges.append((start, end, attributes))

    def _subgraph(self, cluster: list[str] | None) -> list[str]:
        name = ""
        if self._peek().casefold() == "subgraph":
            self._take()
            if self._peek() != "{":
                name = self._take()
        self._expect("{")
        nodes: list[str] = []
        own = self._body(nodes)
        if name.startswith("cluster") and nodes:
            self._graph.clusters.append((own.get("label", name), list(dict.fromkeys(nodes))))
        if cluster is not None:
            cluster += nodes
        return list(dict.fromkeys(nodes))

    def _attributes(self) -> dict[str, str]:
        found: dict[str, str] = {}
        while self._peek() == "[":
            self._take()
            while self._peek() != "]":
                if self._peek() in (",", ";"):
                    self._take()
                    continue
                if self._peek() in ("", "}"):
                    self._fail("A bracket is not closed", "Add the missing ']'.")
                name = self._take()
                value = "true"
                if self._peek() == "=":
                    self._take()
                    value = self._take()
                found[name] = value
            self._take()
        return found

    def _note(self, name: str, cluster: list[str] | None) -> None:
        self._graph.nodes.setdefault(name, {})
        if cluster is not None:
            cluster.append(name)

    def _skip_port(self) -> None:
        while self._peek() == ":":
            self._take()
            self._take()

    # -- tokens --------------------------------------------------------------------------

    def _split(self) -> Iterator[tuple[str, bool, int]]:
        at = 0
        while at < len(self._text):
            found = _TOKEN.match(self._text, at)
            if found is None:
                line = self._text.count("\n", 0, at) + 1
                raise InputError(
                    f"cannot be read at '{self._text[at : at + 12].strip()}'.",
                    path="DOT",
                    line=line,
                    remedy="Correct that place.",
                )
            at = found.end()
            if found["blank"] is not None:
                continue
            if found["quoted"] is not None:
                yield _unescape(found["quoted"]), True, found.start()
            elif found["html"] is not None:
                yield re.sub(r"<[^<>]*>", " ", found["html"]), True, found.start()
            else:
                yield found[0], False, found.start()

    def _peek(self) -> str:
        if self._at >= len(self._tokens):
            return ""
        text, quoted, _ = self._tokens[self._at]
        # A quoted brace is text.
        return f"\0{text}" if quoted else text

    def _is_quoted(self) -> bool:
        return self._at < len(self._tokens) and self._tokens[self._at][1]

    def _take(self) -> str:
        if self._at >= len(self._tokens):
            self._fail("It ends too early", "Check whether the file is whole.")
        text = self._tokens[self._at][0]
        self._at += 1
        while self._at + 1 < len(self._tokens) and self._tokens[self._at][:2] == ("+", False):
            text += self._tokens[self._at + 1][0]
            self._at += 2
        return text

    def _expect(self, mark: str) -> None:
        if self._peek() != mark:
            self._fail(f"'{mark}' is missing", f"Add '{mark}'.")
        self._at += 1

    def _fail(self, what: str, remedy: str) -> None:
        place = self._tokens[min(self._at, len(self._tokens) - 1)][2] if self._tokens else 0
        line = self._text.count("\n", 0, place) + 1
        raise InputError(f"{what}.", path="DOT", line=line, remedy=remedy)


def _unescape(text: str) -> str:
    text = text.replace("\\\n", "")
    return re.sub(
        r"\\(.)",
        lambda found: {"n": "\n", "l": "\n", "r": "\n"}.get(found[1], found[1]),
        text,
    )
