"""Post-editing a draft: an append a save, tracked changes folded out of them, and the saved example.

The draft is never touched. What stands now is the draft with its chain of revisions applied, from the
post-edit's head back through each revision's parent; undo takes the last one away again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.editing.edit_types import suggest_edit_type
from core.editing.tracked import Change, Patch, Tracked, apply_patch, list_changes
from core.errors import ConflictError, UsageError
from core.examples.drafting import wanted_sections
from core.examples.verbs import add_example, edit_example
from core.ids import new_id, now
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.types import Example, SectionText, Task
from core.types.documents import (
    EDIT_TYPES,
    ChangeNote,
    CritiquePoint,
    CritiqueState,
    Draft,
    DraftRequest,
    PostEdit,
    Revision,
)


@dataclass(frozen=True, slots=True)
class PostEditState:
    """All that the post-edit of a draft is now. ``inputs`` is how many sections are input."""

    post_edit: PostEdit
    request: DraftRequest
    draft: Draft
    task: Task
    titles: tuple[str, ...]
    inputs: int
    texts: tuple[Tracked, ...]
    revisions: int
    notes: dict[str, ChangeNote]
    critique: tuple[CritiquePoint, ...]

    @property
    def changes(self) -> list[tuple[int, Change]]:
        """(section, change) of every tracked change, in order."""
        return [
            (number, change)
            for number, text in enumerate(self.texts)
            for change in list_changes(text)
        ]


def start_post_edit(tx: Transaction, request_id: str) -> PostEdit:
    """Begin, or go on, editing the draft that was chosen.

    Raises
    ------
    UsageError
        When no draft was chosen.
    """
    request = tx.get(DraftRequest, request_id)
    if not request.chosen_id:
        raise UsageError("No draft is chosen.", remedy="Choose the most plausible draft first.")
    found = tx.find(
        PostEdit, "request_id = ? AND draft_id = ?", (request_id, request.chosen_id), limit=1
    )
    if request.state not in ("editing", "saved"):
        tx.update(DraftRequest, request_id, state="editing")
    if found:
        return found[0]
    return tx.insert(
        PostEdit(
            id=new_id(), request_id=request_id, draft_id=request.chosen_id, person_id=tx.person
        )
    )


def load_post_edit(reads: Reads, post_edit_id: str) -> PostEditState:
    """Fold the revisions of a post-edit into what stands now."""
    post_edit = reads.get(PostEdit, post_edit_id)
    request = reads.get(DraftRequest, post_edit.request_id)
    draft = reads.get(Draft, post_edit.draft_id)
    task = reads.get(Task, request.task_id)
    texts = [Tracked(section.text) for section in draft.sections]
    chain = revisions_of(reads, post_edit)
    for revision in chain:
        texts[revision.section] = apply_patch(texts[revision.section], _patch(revision))
    notes, points = read_beside(reads, post_edit_id)
    return PostEditState(
        post_edit,
        request,
        draft,
        task,
        tuple(section.title for section in draft.sections),
        wanted_sections(task, request)[1],
        tuple(texts),
        len(chain),
        notes,
        points,
    )


def read_beside(
    reads: Reads, post_edit_id: str
) -> tuple[dict[str, ChangeNote], tuple[CritiquePoint, ...]]:
    """The notes on changes, by change, and the critique of a post-edit."""
    notes = reads.find(ChangeNote, "post_edit_id = ?", (post_edit_id,))
    points = reads.find(CritiquePoint, "post_edit_id = ?", (post_edit_id,), order_by="position, id")
    return {note.change: note for note in notes}, tuple(points)


def revisions_of(reads: Reads, post_edit: PostEdit) -> list[Revision]:
    """The revisions that make up what stands now, oldest first."""
    found = {r.id: r for r in reads.find(Revision, "post_edit_id = ?", (post_edit.id,))}
    chain = []
    head = post_edit.head
    while head:
        chain.append(found[head])
        head = found[head].parent
    return chain[::-1]


def _patch(revision: Revision) -> Patch:
    return Patch(revision.start, len(revision.removed), revision.text, revision.spans, 0)


@dataclass(frozen=True, slots=True)
class SectionEdit:
    """A patch to a section, with the displayed text that it replaces."""

    section: int
    removed: str
    patch: Patch


def post_edit_section(
    tx: Transaction, post_edit_id: str, head: str, edits: Sequence[SectionEdit], action: str
) -> str:
    """Append what was edited; returns the new head.

    Parameters
    ----------
    head
        The revision on which the edits were made.
    action
        What was done: 'typed', 'accept', 'reject', 'assistant'.

    Raises
    ------
    ConflictError
        When somebody else saved meanwhile; nothing is written then.
    """
    post_edit = tx.get(PostEdit, post_edit_id)
    if post_edit.head != head:
        raise ConflictError(
            "This text was changed meanwhile.", remedy="What you see is being read anew."
        )
    number = tx.get(Revision, head).number if head else 0
    for edit in edits:
        number += 1
        revision = tx.insert(
            Revision(
                id=new_id(),
                post_edit_id=post_edit_id,
                parent=head,
                number=number,
                section=edit.section,
                start=edit.patch.start,
                removed=edit.removed,
                text=edit.patch.text,
                spans=edit.patch.spans,
                action=action,
                person_id=tx.person,
                time=now(),
            )
        )
        head = revision.id
    tx.update(PostEdit, post_edit_id, head=head)
    return head


def note_change(
    tx: Transaction,
    post_edit_id: str,
    change: str,
    *,
    edit_type: str | None = None,
    comment: str | None = None,
) -> ChangeNote:
    """Confirm the type of a change, or comment on it."""
    if edit_type and edit_type not in EDIT_TYPES:
        raise UsageError(
            f"'{edit_type}' is no type of edit.", remedy=f"Use one of {', '.join(EDIT_TYPES)}."
        )
    fields: dict[str, Any] = {}
    if edit_type is not None:
        fields["edit_type"] = edit_type
    if comment is not None:
        fields["comment"] = comment
    found = tx.find(ChangeNote, "post_edit_id = ? AND change = ?", (post_edit_id, change))
    if found:
        return tx.update(ChangeNote, found[0].id, **fields)
    return tx.insert(ChangeNote(id=new_id(), post_edit_id=post_edit_id, change=change, **fields))


def confirm_edit_types(tx: Transaction, post_edit_id: str) -> int:
    """Confirm the suggested type of every change that has none yet; returns how many."""
    state = load_post_edit(tx, post_edit_id)
    confirmed = 0
    for section, change in state.changes:
        note = state.notes.get(change.id)
        if note is None or not note.edit_type:
            suggested = suggest_edit_type(change, state.texts[section].original, state.changes)
            note_change(tx, post_edit_id, change.id, edit_type=suggested)
            confirmed += 1
    return confirmed


def add_critique(
    tx: Transaction, post_edit_id: str, points: Sequence[str], model_id: str
) -> list[CritiquePoint]:
    """Keep a model's critique; points said before are left out."""
    known = tx.find(CritiquePoint, "post_edit_id = ?", (post_edit_id,))
    said = {point.text.casefold() for point in known}
    return [
        tx.insert(
            CritiquePoint(
                id=new_id(),
                post_edit_id=post_edit_id,
                position=len(known) + place,
                text=text,
                model_id=model_id,
            )
        )
        for place, text in enumerate(points)
        if text.casefold() not in said
    ]


def settle_critique(tx: Transaction, point_id: str, state: CritiqueState) -> CritiquePoint:
    """Mark a point of the critique valid, fixed, rejected, or open again."""
    return tx.update(CritiquePoint, point_id, state=state)


def add_time(tx: Transaction, post_edit_id: str, seconds: float) -> PostEdit:
    """Count time spent editing."""
    post_edit = tx.get(PostEdit, post_edit_id)
    return tx.update(PostEdit, post_edit_id, seconds=round(post_edit.seconds + seconds, 1))


def save_as_example(tx: Transaction, post_edit_id: str) -> Example:
    """Make the example, or bring it up to date: what stands with every change taken.

    The draft before editing, its evidence, ratings and changes stay beside it, named in ``meta``.

    Raises
    ------
    UsageError
        When an output section is empty.
    """
    state = load_post_edit(tx, post_edit_id)
    made = [
        SectionText(title=title, text=text.current.strip())
        for title, text in zip(state.titles, state.texts, strict=True)
    ]
    inputs = (*state.request.input, *made[: state.inputs])
    outputs = tuple(made[state.inputs :])
    empty = [section.title for section in outputs if not section.text]
    if empty:
        raise UsageError(
            f"Nothing is written under {', '.join(empty)}.", remedy="Write it, then save again."
        )
    meta = {
        "request": state.request.id,
        "draft": state.draft.id,
        "post_edit": post_edit_id,
        "model": state.request.model_id,
        "model_sha256": state.request.model_sha256,
        "seed": state.draft.seed,
        "setting": state.request.setting,
        "evidence": [
            {
                "document": e.document,
                "page": e.page,
                "start": e.start,
                "end": e.end,
                "sha256": e.sha256,
            }
            for e in state.request.evidence
        ],
    }
    if state.request.example_id and tx.find(Example, "id = ?", (state.request.example_id,)):
        example = edit_example(
            tx, state.request.example_id, input=inputs, output=outputs, meta=meta
        )
    else:
        title = state.request.title if state.request.title != state.task.objective else ""
        example = add_example(
            tx, state.task.id, input=inputs, output=outputs, title=title, meta=meta
        )
    tx.update(DraftRequest, state.request.id, example_id=example.id, state="saved")
    return example
