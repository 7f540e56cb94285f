"""Graphs as files: TaskLAMA's JSONL, GraphML, DOT and a JSON of our own, read and written."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from core.errors import InputError, UsageError
from core.exchange.records import Skipped, read_records, read_text
from core.graphs.dot import parse_dot, quote
from core.graphs.drafts import DraftLink, DraftStep, GraphDraft, draft_of
from core.graphs.model import StepGraph
from core.graphs.tasklama import is_tasklama, read_graph_record, write_graph_record
from core.settings import write_atomically
from core.types.graphs import BEFORE

GraphFormat = Literal["tasklama", "jsonl", "graphml", "dot", "json"]
FORMATS: tuple[GraphFormat, ...] = ("tasklama", "jsonl", "graphml", "dot", "json")
#: Formats that hold one graph a file.
SINGLE: frozenset[str] = frozenset({"graphml", "dot", "json"})
_SUFFIXES = {".graphml": "graphml", ".gml": "", ".dot": "dot", ".gv": "dot"}
#: Points of a DOT position in one unit of ours.
_POINTS = 0.75


def read_graphs(path: Path, *, format: str = "auto") -> tuple[list[GraphDraft], list[Skipped], str]:
    """The graphs of a file, records left out with their reasons, and the format found.

    Raises
    ------
    InputError
        When the file cannot be read at all.
    """
    if format not in ("auto", *FORMATS):
        raise UsageError(
            f"The format '{format}' is not known.", remedy=f"Use auto, {', '.join(FORMATS)}."
        )
    chosen = format
    text = read_text(path)
    if chosen == "auto":
        chosen = _SUFFIXES.get(path.suffix.casefold(), "") or _guess(text)
    if chosen in ("graphml", "dot"):
        reader = read_graphml if chosen == "graphml" else read_dot
        try:
            return [reader(text, path.stem)], [], chosen
        except InputError as error:
            raise InputError(
                str(error.args[0]), path=path, line=None, remedy=error.remedy
            ) from error
    records = read_records(path)
    drafts, skipped = [], list(records.skipped)
    for record in records.records:
        try:
            drafts.append(_read_record(record.values, record.line, path.stem))
        except InputError as error:
            skipped.append(Skipped(record.line, str(error)))
    if chosen == "auto" or chosen == "records":
        published = any(is_tasklama(record.values) for record in records.records)
        chosen = "tasklama" if published else "json"
    return drafts, skipped, chosen


def _guess(text: str) -> str:
    head = text.lstrip()[:400].casefold()
    if head.startswith("<"):
        return "graphml"
    if head.startswith(("digraph", "strict", "graph ")):
        return "dot"
    return "records"


def _read_record(values: Mapping[str, Any], line: int, name: str) -> GraphDraft:
    if is_tasklama(values):
        return read_graph_record(values, line)
    if isinstance(values.get("steps"), list | tuple):
        return read_json(values, name, line)
    raise InputError(
        "it is no graph: it has neither 'substeps' nor 'steps'.",
        remedy="Give TaskLAMA's shape, or steps and dependencies.",
    )


def write_graphs(graphs: Sequence[StepGraph], format: str, path: Path) -> int:
    """Write graphs to a file; returns how many.

    Raises
    ------
    UsageError
        When the format holds one graph only and several are given.
    """
    if format not in FORMATS:
        raise UsageError(
            f"Graphs cannot be written as '{format}'.", remedy=f"Use {', '.join(FORMATS)}."
        )
    if format in SINGLE and len(graphs) != 1:
        raise UsageError(
            f"A {format} file holds one graph, not {len(graphs)}.",
            remedy="Choose one graph, or the format jsonl.",
        )
    write_atomically(path, format_graphs(graphs, format).encode())
    return len(graphs)


def format_graphs(graphs: Sequence[StepGraph], format: str) -> str:
    """Graphs as text of a format."""
    if format in ("tasklama", "jsonl"):
        records = [write_graph_record(graph, own=format == "jsonl") for graph in graphs]
        return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    writer = {"graphml": write_graphml, "dot": write_dot, "json": write_json}[format]
    return writer(graphs[0])


# -- our JSON ----------------------------------------------------------------------------


def write_json(graph: StepGraph) -> str:
    """One graph with everything a drawing needs, indented."""
    draft = draft_of(graph)
    value = {
        "task": draft.task,
        "assumptions": list(draft.assumptions),
        "steps": [
            {
                "text": step.text,
                **({} if step.x is None else {"x": step.x, "y": step.y}),
                **({} if step.group is None else {"group": draft.groups[step.group]}),
                **({"suggested": step.suggested} if step.suggested else {}),
            }
            for step in draft.steps
        ],
        "dependencies": [
            {
                "before": link.before,
                "after": link.after,
                **({"suggested": link.suggested} if link.suggested else {}),
            }
            for link in draft.links
        ],
    }
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def read_json(values: Mapping[str, Any], name: str = "", line: int = 1) -> GraphDraft:
    """A graph of our JSON, or of the shape metrics take (``steps`` as texts, ``edges`` as pairs)."""
    draft = GraphDraft(task=str(values.get("task") or name or "Graph").strip(), line=line)
    assumptions = values.get("assumptions") or ()
    if isinstance(assumptions, str):
        assumptions = (assumptions,)
    draft.assumptions = tuple(str(text).strip() for text in assumptions if str(text).strip())
    places: dict[int, int] = {}
    for at, value in enumerate(values["steps"]):
        entry = value if isinstance(value, Mapping) else {"text": value}
        text = entry.get("text", entry.get("step"))
        if not isinstance(text, str) or not text.strip():
            draft.set_aside("substeps", at, value, f"The step {at + 1} has no text; set aside.")
            continue
        places[at] = len(draft.steps)
        draft.steps.append(
            DraftStep(
                text=text,
                x=_number(entry.get("x")),
                y=_number(entry.get("y")),
                group=_group(draft, entry.get("group")),
                suggested=str(entry.get("suggested") or ""),
            )
        )
    links = values.get("dependencies", values.get("edges")) or ()
    for at, value in enumerate(links):
        if isinstance(value, Mapping):
            ends = [value.get("before"), value.get("after")]
        else:
            ends = list(value) if isinstance(value, list | tuple) else []
        pair = [places.get(end, -1) if isinstance(end, int) else -1 for end in ends]
        if len(pair) != 2 or min(pair) < 0:
            reason = f"The dependency {at + 1} does not join two steps; set aside."
            draft.set_aside("dependencies", at, value, reason)
            continue
        suggested = str(value.get("suggested") or "") if isinstance(value, Mapping) else ""
        draft.links.append(DraftLink(before=pair[0], after=pair[1], at=at, suggested=suggested))
    return draft.settle()


# -- GraphML -----------------------------------------------------------------------------


def write_graphml(graph: StepGraph) -> str:
    """One graph as GraphML, readable by yEd, Gephi and networkx."""
    import networkx

    draft = draft_of(graph)
    made: networkx.DiGraph[str] = networkx.DiGraph()
    made.graph["task"] = draft.task
    made.graph["assumptions"] = json.dumps(list(draft.assumptions), ensure_ascii=False)
    for number, step in enumerate(draft.steps):
        values: dict[str, Any] = {"label": _xml_text(step.text)}
        if step.x is not None and step.y is not None:
            values |= {"x": step.x, "y": step.y}
        if step.group is not None:
            values["group"] = _xml_text(draft.groups[step.group])
        if step.suggested:
            values["suggested"] = _xml_text(step.suggested)
        made.add_node(f"n{number}", **values)
    for link in draft.links:
        values = {"relation": link.relation}
        if link.suggested:
            values["suggested"] = _xml_text(link.suggested)
        made.add_edge(f"n{link.before}", f"n{link.after}", **values)
    stream = io.BytesIO()
    networkx.write_graphml_xml(made, stream, encoding="utf-8", prettyprint=True)
    return stream.getvalue().decode() + "\n"


def read_graphml(text: str, name: str = "") -> GraphDraft:
    """The first graph of a GraphML file.

    Raises
    ------
    InputError
        When it cannot be read, or declares entities of its own.
    """
    import networkx

    if "<!ENTITY" in text or "<!DOCTYPE" in text:
        raise InputError("declares entities of its own.", remedy="Remove the DOCTYPE.")
    try:
        found = networkx.read_graphml(io.BytesIO(text.encode()))
    except Exception as error:
        raise InputError(
            f"is no GraphML: {' '.join(str(error).split()) or type(error).__name__}.",
            remedy="Export it again as GraphML.",
        ) from error
    task = str(found.graph.get("task") or name or "Graph")
    try:
        assumptions = tuple(json.loads(found.graph.get("assumptions") or "[]"))
    except (ValueError, TypeError):
        assumptions = (str(found.graph["assumptions"]),)
    draft = GraphDraft(task=task, assumptions=tuple(map(str, assumptions)))
    places = {}
    for node, values in found.nodes(data=True):
        label = values.get("label") or values.get("text") or values.get("name") or node
        places[node] = len(draft.steps)
        draft.steps.append(
            DraftStep(
                text=str(label),
                x=_number(values.get("x")),
                y=_number(values.get("y")),
                group=_group(draft, values.get("group")),
                suggested=str(values.get("suggested") or ""),
            )
        )
    for at, (start, end, values) in enumerate(found.edges(data=True)):
        draft.links.append(
            DraftLink(
                before=places[start],
                after=places[end],
                at=at,
                relation=str(values.get("relation") or BEFORE),
                suggested=str(values.get("suggested") or ""),
            )
        )
    return draft.settle()


# -- DOT ---------------------------------------------------------------------------------


def write_dot(graph: StepGraph) -> str:
    """One graph for Graphviz."""
    draft = draft_of(graph)
    lines = [
        f"digraph {quote(draft.task)} {{",
        f"  assumptions={quote(json.dumps(list(draft.assumptions), ensure_ascii=False))};",
        '  node [shape=box, style=rounded, fontname="Inter"];',
    ]
    for number, step in enumerate(draft.steps):
        values = [f"label={quote(step.text)}"]
        if step.x is not None and step.y is not None:
            values.append(f'pos="{step.x * _POINTS:g},{-step.y * _POINTS:g}"')
        if step.suggested:
            values += ["style=dashed", f"suggested={quote(step.suggested)}"]
        lines.append(f"  n{number} [{', '.join(values)}];")
    for number, title in enumerate(draft.groups):
        inside = [f"n{place};" for place, step in enumerate(draft.steps) if step.group == number]
        lines.append(f"  subgraph cluster_{number} {{ label={quote(title)}; {' '.join(inside)} }}")
    for link in draft.links:
        more = f" [style=dashed, suggested={quote(link.suggested)}]" if link.suggested else ""
        lines.append(f"  n{link.before} -> n{link.after}{more};")
    return "\n".join([*lines, "}", ""])


def read_dot(text: str, name: str = "") -> GraphDraft:
    """A directed graph of Graphviz; clusters become groups."""
    found = parse_dot(text)
    draft = GraphDraft(
        task=(found.name or found.attributes.get("label") or name or "Graph").strip()
    )
    try:
        draft.assumptions = tuple(map(str, json.loads(found.attributes.get("assumptions", "[]"))))
    except (ValueError, TypeError):
        draft.assumptions = (found.attributes["assumptions"],)
    groups: dict[str, int] = {}
    for title, nodes in found.clusters:
        draft.groups.append(title)
        groups |= {node: len(draft.groups) - 1 for node in nodes}
    places = {}
    for node, values in found.nodes.items():
        position = [_number(part) for part in values.get("pos", "").strip("!").split(",")]
        x, y = position if len(position) == 2 else (None, None)
        places[node] = len(draft.steps)
        label = values.get("label", node).replace("\\N", node)
        draft.steps.append(
            DraftStep(
                text=label.strip() or node,
                x=None if x is None or y is None else round(x / _POINTS, 2),
                y=None if x is None or y is None else round(-y / _POINTS, 2),
                group=groups.get(node),
                suggested=values.get("suggested", ""),
            )
        )
    for at, (start, end, values) in enumerate(found.edges):
        draft.links.append(
            DraftLink(
                before=places[start],
                after=places[end],
                at=at,
                suggested=values.get("suggested", ""),
            )
        )
    return draft.settle()


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if abs(number) < 1e9 else None


def _group(draft: GraphDraft, title: Any) -> int | None:
    if not isinstance(title, str) or not title.strip():
        return None
    if title not in draft.groups:
        draft.groups.append(title)
    return draft.groups.index(title)


def _xml_text(text: str) -> str:
    """A text without the control characters that XML cannot hold."""
    return "".join(
        c for c in text if c in "\t\n\r" or (ord(c) >= 32 and not 0xD800 <= ord(c) < 0xE000)
    )
