"""The published TaskLAMA shape, one graph a line: read and written so that what came in goes out again.

``{task, assumptions: [{assumption}], substeps: [{stepId, step}], dependencies: [{subtask1, relation,
subtask2}]}``; dependencies name steps by their text. Our own lines have the further key ``rifugio``
with places, groups, suggestions and the graph's state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.errors import InputError
from core.graphs.drafts import DraftLink, DraftStep, GraphDraft, draft_of
from core.graphs.model import StepGraph, quote_step
from core.graphs.verbs import clean_text
from core.types.graphs import BEFORE

OWN_KEY = "rifugio"
_IDS = ("subtask1Id", "subtask2Id")
_PAIRS = ([float, float], [int, int], [int, float], [float, int])


def is_tasklama(values: Mapping[str, Any]) -> bool:
    """Whether a record has the published shape."""
    return "task" in values and (
        "substeps" in values or ("dependencies" in values and "steps" not in values)
    )


def read_graph_record(values: Mapping[str, Any], line: int = 1) -> GraphDraft:
    """A record as a draft; what does not fit is set aside with its reason.

    Raises
    ------
    InputError
        When it has no task, or its lists are no lists.
    """
    task = values.get("task")
    if not isinstance(task, str) or not task.strip():
        raise InputError("it names no task.", remedy='Give {"task": "..."}.')
    draft = GraphDraft(
        task=clean_text(task), assumptions=_read_assumptions(values), line=line, fields={}
    )
    record = {k: None if k in ("substeps", "dependencies") else v for k, v in values.items()}
    own = record.get(OWN_KEY)
    if isinstance(own, Mapping):
        record.pop(OWN_KEY)
    draft.fields["extra"] = {"record": record}
    for at, value in enumerate(_list(values, "substeps")):
        text = value if isinstance(value, str) else _text(value, "step")
        if not text.strip():
            draft.set_aside("substeps", at, value, f"The step {at + 1} has no text; set aside.")
            continue
        draft.steps.append(DraftStep(text=clean_text(text), extra={"record": value}))
    _read_links(draft, _list(values, "dependencies"))
    if isinstance(own, Mapping):
        _read_own(draft, own)
    return draft.settle()


def _read_links(draft: GraphDraft, values: Sequence[Any]) -> None:
    places: dict[str, int] = {}
    ids: dict[str, int] = {}
    for number, step in enumerate(draft.steps):
        record = step.extra["record"]
        raw = record if isinstance(record, str) else _text(record, "step")
        for key in (raw, step.text, step.text.casefold()):
            places.setdefault(key, number)
        if isinstance(record, Mapping) and "stepId" in record:
            ids[str(record["stepId"])] = number
    for at, value in enumerate(values):
        if not isinstance(value, Mapping):
            draft.set_aside("dependencies", at, value, "A dependency is no object; set aside.")
            continue
        ends = []
        for key, id_key in zip(("subtask1", "subtask2"), _IDS, strict=True):
            text = _text(value, key)
            found = ids.get(str(value[id_key])) if id_key in value else None
            for name in (text, clean_text(text), clean_text(text).casefold()):
                found = places.get(name) if found is None else found
            if found is None:
                reason = f"A dependency names a step that is not there: {quote_step(text)}."
                draft.set_aside("dependencies", at, dict(value), reason)
                break
            ends.append(found)
        else:
            relation = _text(value, "relation") or BEFORE
            if relation.strip().casefold() != BEFORE.casefold():
                reason = f"The relation {quote_step(relation)} is not known; set aside."
                draft.set_aside("dependencies", at, dict(value), reason)
                continue
            draft.links.append(
                DraftLink(
                    before=ends[0],
                    after=ends[1],
                    at=at,
                    relation=relation,
                    extra={"record": dict(value)},
                )
            )


def write_graph_record(graph: StepGraph, *, own: bool = False) -> dict[str, Any]:
    """A graph as a record of the published shape; with ``own`` what only Rifugio knows goes along.

    Suggestions are no part of the graph and appear only among the latter.
    """
    draft = draft_of(graph, suggestions=False)
    before = draft.fields["extra"].get("record")
    record = dict(before) if isinstance(before, Mapping) else {}
    if clean_text(str(record.get("task", ""))) != draft.task:
        record["task"] = draft.task
    if "assumptions" not in record or _read_assumptions(record) != draft.assumptions:
        record["assumptions"] = [{"assumption": text} for text in draft.assumptions]
    steps = _write_steps(draft)
    links = [_write_link(draft, steps, link) for link in draft.links]
    record["substeps"] = _put_back(draft, "substeps", steps)
    record["dependencies"] = _put_back(draft, "dependencies", links)
    if not before:
        order = ("task", "assumptions", "substeps", "dependencies")
        record = {key: record[key] for key in order}
    if own:
        extra = _write_own(graph)
        if extra:
            record[OWN_KEY] = extra
    return record


def _write_steps(draft: GraphDraft) -> list[Any]:
    used = [
        step.extra["record"]["stepId"]
        for step in draft.steps
        if isinstance(step.extra.get("record"), Mapping) and "stepId" in step.extra["record"]
    ]
    numbers = [number for number in used if isinstance(number, int)]
    following = max(numbers) + 1 if numbers else 0
    steps: list[Any] = []
    for step in draft.steps:
        record = step.extra.get("record")
        if isinstance(record, str):
            steps.append(record if clean_text(record) == step.text else step.text)
        elif isinstance(record, Mapping):
            same = clean_text(_text(record, "step")) == step.text
            steps.append(dict(record) if same else {**record, "step": step.text})
        else:
            steps.append({"stepId": following, "step": step.text})
            following += 1
    return steps


def _write_link(draft: GraphDraft, steps: Sequence[Any], link: DraftLink) -> dict[str, Any]:
    record = link.extra.get("record")
    made = dict(record) if isinstance(record, Mapping) else {}
    fresh = not made
    for key, id_key, place in zip(
        ("subtask1", "subtask2"), _IDS, (link.before, link.after), strict=True
    ):
        text = draft.steps[place].text
        if fresh or clean_text(_text(made, key)).casefold() != text.casefold():
            made[key] = text
        twins = sum(step.text.casefold() == text.casefold() for step in draft.steps)
        value = steps[place]
        if (id_key in made or fresh) and isinstance(value, Mapping) and twins > 1:
            made[id_key] = value.get("stepId")
        elif id_key in made:
            made.pop(id_key)
    if fresh:
        keys = ("subtask1", "relation", "subtask2", *_IDS)
        made["relation"] = link.relation
        made = {key: made[key] for key in keys if key in made}
    return made


def _put_back(draft: GraphDraft, where: str, values: list[Any]) -> list[Any]:
    """Values with what was set aside at the places it came from."""
    for entry in sorted((e for e in draft.aside if e["list"] == where), key=lambda e: e["at"]):
        values.insert(min(int(entry["at"]), len(values)), entry["value"])
    return values


def _write_own(graph: StepGraph) -> dict[str, Any]:
    draft = draft_of(graph)
    order = [*graph.accepted, *(step for step in graph.steps if step.suggested)]
    place = {step.id: number for number, step in enumerate(order)}
    own: dict[str, Any] = {}
    for name, plain in (
        ("role", "annotation"), ("state", "open"), ("split", ""), ("source_text", ""), ("note", "")
    ):  # fmt: skip
        if draft.fields[name] != plain:
            own[name] = draft.fields[name]
    if any(step.x is not None for step in order):
        own["places"] = [None if step.x is None else [step.x, step.y] for step in order]
    if graph.groups:
        own["groups"] = [
            {
                "title": group.title,
                "steps": [place[step.id] for step in order if step.group_id == group.id],
            }
            for group in graph.groups
        ]
    suggested = [step for step in order if step.suggested]
    if suggested:
        own["suggested_steps"] = [{"step": s.text, "by": s.suggested} for s in suggested]
    links = [link for link in graph.dependencies if link.suggested]
    if links:
        own["suggested_dependencies"] = [
            {"before": place[d.before_id], "after": place[d.after_id], "by": d.suggested}
            for d in links
        ]
    return own


def _read_own(draft: GraphDraft, own: Mapping[str, Any]) -> None:
    for name in ("role", "state", "split", "source_text", "note"):
        if isinstance(own.get(name), str):
            draft.fields[name] = own[name]
    if draft.fields.get("role") not in (None, "gold", "annotation", "training", "model"):
        draft.fields.pop("role")
    # Ours to begin with, so its kind is known though the plain one is not written.
    draft.fields.setdefault("role", "annotation")
    if draft.fields.get("state") not in (None, "open", "done", "skipped"):
        draft.fields.pop("state")
    for entry in _list(own, "suggested_steps"):
        if isinstance(entry, Mapping) and _text(entry, "step").strip():
            by = _text(entry, "by") or "somebody"
            draft.steps.append(DraftStep(text=clean_text(_text(entry, "step")), suggested=by))
    size = len(draft.steps)
    places: list[Any] = _list(own, "places")
    groups: dict[int, int] = {}
    for entry in _list(own, "groups"):
        if isinstance(entry, Mapping) and _text(entry, "title").strip():
            draft.groups.append(_text(entry, "title"))
            for number in _list(entry, "steps"):
                if isinstance(number, int) and 0 <= number < size:
                    groups[number] = len(draft.groups) - 1
    for number, step in enumerate(draft.steps):
        pair = places[number] if number < len(places) else None
        has_place = isinstance(pair, list | tuple) and [*map(type, pair)] in _PAIRS
        x, y = map(float, pair) if has_place and pair is not None else (None, None)
        draft.steps[number] = DraftStep(
            text=step.text,
            x=x,
            y=y,
            group=groups.get(number),
            suggested=step.suggested,
            extra=step.extra,
        )
    for entry in _list(own, "suggested_dependencies"):
        ends = [entry.get(key) for key in ("before", "after")] if isinstance(entry, Mapping) else []
        if len(ends) == 2 and all(isinstance(n, int) and 0 <= n < size for n in ends):
            by = _text(entry, "by") or "somebody"
            at = len(draft.links)
            draft.links.append(
                DraftLink(before=ends[0], after=ends[1], at=at, suggested=by)  # type: ignore[arg-type]
            )


def _read_assumptions(values: Mapping[str, Any]) -> tuple[str, ...]:
    found = values.get("assumptions")
    entries: Iterable[Any] = found if isinstance(found, list | tuple) else [found]
    texts = [entry if isinstance(entry, str) else _text(entry, "assumption") for entry in entries]
    return tuple(text.strip() for text in texts if text.strip())


def _text(value: Any, key: str) -> str:
    found = value.get(key) if isinstance(value, Mapping) else None
    return found if isinstance(found, str) else "" if found is None else str(found)


def _list(values: Mapping[str, Any], key: str) -> list[Any]:
    found = values.get(key)
    if found is None:
        return []
    if not isinstance(found, list | tuple):
        raise InputError(f"its {key} are no list.", remedy=f'Give {{"{key}": [...]}}.')
    return list(found)
