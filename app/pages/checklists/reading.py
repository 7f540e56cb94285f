"""What the checklist page reads: rubrics, texts of one, and one output beside its reference under a judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.checklists.pairs import ItemPair, read_pairs
from core.checklists.scores import (
    ItemResult,
    Judge,
    SampleResult,
    find_disagreements,
    judge_name,
    judges_of,
    open_disagreements,
    sample_result,
)
from core.checklists.trust import sample_of
from core.checklists.verbs import Target, checklists_of, entries_of, is_stale, text_of
from core.errors import ConflictError
from core.review.blinding import results_hidden
from core.rubrics.verbs import items_for
from core.storage.workspace import Workspace
from core.types import Person, Rubric, RubricItem
from core.types.rubrics import Checklist, ChecklistEntry

_TEXTS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRow:
    """One text to choose: an output, or with ``output_id`` '' an example that has none."""

    example_id: str
    output_id: str
    title: str

    @property
    def key(self) -> str:
        return f"{self.example_id}:{self.output_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricTexts:
    """What can be chosen under a rubric. ``queue`` are keys of texts in dispute, ``sample`` those drawn."""

    rubric: Rubric
    texts: tuple[TextRow, ...]
    judges: tuple[tuple[str, Judge], ...]
    queue: tuple[str, ...]
    sample: tuple[str, ...]
    hidden: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side: its text, checklists to choose from (label, id or 'own'), the entries of the chosen one."""

    target: Target
    text: str
    problem: str
    choices: tuple[tuple[str, str], ...]
    checklist: Checklist | None
    entries: Mapping[str, ChecklistEntry]
    stale: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """An output beside the reference. ``result`` is None where one side has no checklist yet."""

    row: TextRow
    items: tuple[RubricItem, ...]
    reference: Side
    output: Side | None
    pairs: tuple[ItemPair, ...]
    result: SampleResult | None
    own: SampleResult | None
    disputed: frozenset[str]

    def item_result(self, item_id: str) -> ItemResult | None:
        """An item under the judge shown."""
        if self.result is None:
            return None
        return next((r for r in self.result.items if r.item.id == item_id), None)


def read_rubrics(workspace: Workspace) -> list[tuple[str, str]]:
    """(title with task, id) of all rubrics."""
    rows = workspace.query(
        "SELECT r.id, r.title, t.objective FROM rubric r JOIN task t ON t.id = r.task_id"
        " WHERE r.deleted = 0 ORDER BY r.title COLLATE NOCASE, r.id"
    )
    return [(f"{row['title']} · {row['objective']}", row["id"]) for row in rows]


def read_texts(workspace: Workspace, rubric_id: str, person_id: str) -> RubricTexts:
    """Texts and judges of a rubric; names of models and runs only where one does not work blind."""
    rubric = workspace.get(Rubric, rubric_id)
    hidden = results_hidden(workspace, person_id)
    rows = workspace.query(
        "SELECT e.id AS example, e.title, o.id AS output, o.pseudonym, y.name AS system FROM example e"
        " LEFT JOIN output o ON o.example_id = e.id AND o.deleted = 0 AND o.state = 'done'"
        " LEFT JOIN run r ON r.id = o.run_id LEFT JOIN system y ON y.id = r.system_id"
        " WHERE e.task_id = ? AND e.deleted = 0 ORDER BY e.title COLLATE NOCASE, e.id, o.pseudonym"
        " LIMIT ?",
        (rubric.task_id, _TEXTS),
    )
    texts = []
    for row in rows:
        if not row["output"]:
            title = f"{row['title']} · no output yet"
        elif hidden:
            title = f"{row['title']} · {row['pseudonym']}"
        else:
            title = f"{row['title']} · {row['system']}"
        texts.append(TextRow(example_id=row["example"], output_id=row["output"] or "", title=title))
    own = Judge("person", person_id)
    judges = [("My verdicts", own)]
    if not hidden:
        judges += [
            (judge_name(workspace, judge), judge)
            for judge in judges_of(workspace, rubric_id)
            if judge != own
        ]
    keys = {text.output_id: text.key for text in texts if text.output_id}
    return RubricTexts(
        rubric=rubric,
        texts=tuple(texts),
        judges=tuple(judges),
        queue=tuple(
            keys[output]
            for _, output, _, _ in (() if hidden else open_disagreements(workspace, rubric_id))
            if output in keys
        ),
        sample=tuple(
            keys[drawn.output_id]
            for drawn in sample_of(workspace, rubric_id)
            if drawn.output_id in keys
        ),
        hidden=hidden,
    )


def read_comparison(
    workspace: Workspace,
    rubric_id: str,
    row: TextRow,
    person_id: str,
    judge: Judge,
    reference_choice: str,
    output_choice: str,
) -> Comparison:
    """One text's two sides under a judge.

    Parameters
    ----------
    reference_choice, output_choice
        Ids of checklists, '' for the first there is, 'own' for one's own whether there is one or not.
    """
    reference = _read_side(
        workspace, Target(rubric_id, row.example_id), person_id, reference_choice
    )
    output = None
    if row.output_id:
        target = Target(rubric_id, row.example_id, row.output_id)
        output = _read_side(workspace, target, person_id, output_choice)
    pairs: tuple[ItemPair, ...] = ()
    result = own = None
    disputed: frozenset[str] = frozenset()
    if reference.checklist is not None and output is not None and output.checklist is not None:
        left, right = reference.checklist, output.checklist
        pairs = tuple(read_pairs(workspace, left.id, right.id))
        result = sample_result(workspace, left, right, judge)
        own = sample_result(workspace, left, right, Judge("person", person_id))
        if not results_hidden(workspace, person_id):
            found = find_disagreements(workspace, left.id, right.id)
            disputed = frozenset(pair.item.id for pair, _ in found)
    return Comparison(
        row=row,
        items=tuple(items_for(workspace, rubric_id, row.example_id)),
        reference=reference,
        output=output,
        pairs=pairs,
        result=result,
        own=own,
        disputed=disputed,
    )


def _read_side(workspace: Workspace, target: Target, person_id: str, choice: str) -> Side:
    problem = text = ""
    try:
        text = text_of(workspace, target)
    except ConflictError as error:
        problem = str(error)
    hidden = results_hidden(workspace, person_id)
    found = [
        checklist
        for checklist in checklists_of(workspace, target)
        if not hidden or checklist.mapper_kind == "imported" or checklist.mapper == person_id
    ]
    names = {person.id: person.name for person in workspace.find(Person)}
    own = next((c for c in found if c.mapper_kind == "person" and c.mapper == person_id), None)
    choices = [("Mine", own.id if own else "own")]
    choices += [(_mapper_name(c, names), c.id) for c in found if c is not own]
    chosen: Checklist | None = None
    if choice not in ("", "own"):
        chosen = next((c for c in found if c.id == choice), None)
    if chosen is None:
        chosen = own if choice == "own" else (own or (found[0] if found else None))
    return Side(
        target=target,
        text=text,
        problem=problem,
        choices=tuple(choices),
        checklist=chosen,
        entries=entries_of(workspace, chosen.id) if chosen else {},
        stale=chosen is not None and bool(text) and is_stale(workspace, chosen),
    )


def _mapper_name(checklist: Checklist, names: Mapping[str, str]) -> str:
    if checklist.mapper_kind == "person":
        return names.get(checklist.mapper, "Somebody")
    if checklist.mapper_kind == "imported":
        return f"{checklist.mapper} (imported)"
    return f"{checklist.mapper} (model)"
