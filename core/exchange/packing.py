"""Making a package: what one person needs to review blind, or all there is for somebody who works along."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from core.documents.library import take_document
from core.errors import ConflictError, NotFoundError
from core.exchange.packages import META_KEY, PackageInfo, PackageKind
from core.exchange.privacy import PRIVATE_SQL, is_private_meta
from core.ids import new_id, now
from core.storage.audit import chain_heads
from core.storage.cipher import inspect_file
from core.storage.files import put_in_place, remove_with_companions
from core.storage.kinds import KINDS, encode_row
from core.storage.reads import Reads
from core.storage.references import AMONG, pack_ids
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.types import Person, Run, System

#: Names a system has in a package that hides which one wrote what.
HIDDEN = "Hidden"
#: What of an output would tell who wrote it, and what stands there instead.
_TELLING: Mapping[str, Any] = {
    "position": 0,
    "thinking": "",
    "finish": "",
    "error": "",
    "prompt_tokens": 0,
    "completion_tokens": 0,
    "seconds": 0.0,
    "finished": "",
    "meta": "{}",
}
_QUEUED = (
    "SELECT output_id FROM review_item WHERE person_id = ?1 AND deleted = 0"
    " UNION SELECT left_output_id FROM pair_item WHERE person_id = ?1 AND deleted = 0"
    " UNION SELECT right_output_id FROM pair_item WHERE person_id = ?1 AND deleted = 0"
)
#: Kinds whose rows of one person go along with their reviews.
_OWN = (
    "blinding",
    "review_item",
    "pair_item",
    "rating",
    "preference",
    "output_tag",
    "rubric_tick",
    "rater_profile",
)
_PRIVATE = "SELECT e.id FROM example e WHERE " + PRIVATE_SQL
#: Drafts of private references, which must not leave either, and all that hangs on them.
_PRIVATE_REQUESTS = f"SELECT id FROM draft_request WHERE example_id IN ({_PRIVATE})"
_PRIVATE_POST_EDITS = f"SELECT id FROM post_edit WHERE request_id IN ({_PRIVATE_REQUESTS})"
_WITHHELD = {
    "draft_request": f"id IN ({_PRIVATE_REQUESTS})",
    "draft": f"request_id IN ({_PRIVATE_REQUESTS})",
    "draft_rating": f"draft_id IN (SELECT id FROM draft WHERE request_id IN ({_PRIVATE_REQUESTS}))",
    "post_edit": f"request_id IN ({_PRIVATE_REQUESTS})",
    "post_edit_revision": f"post_edit_id IN ({_PRIVATE_POST_EDITS})",
    "change_note": f"post_edit_id IN ({_PRIVATE_POST_EDITS})",
    "critique_point": f"post_edit_id IN ({_PRIVATE_POST_EDITS})",
}
_OF_PRIVATE = f"SELECT id FROM checklist WHERE output_id = '' AND example_id IN ({_PRIVATE})"
#: What quotes a private reference in rows that others rest on: which rows, and what stands there then.
_BLANKED: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "checklist": (f"id IN ({_OF_PRIVATE})", {"text_sha256": ""}),
    "checklist_entry": (
        f"checklist_id IN ({_OF_PRIVATE})",
        {"text": "", "start": -1, "end": -1, "reason": "", "check": "{}"},
    ),
    "verdict": (
        f"judgement_id IN (SELECT id FROM judgement WHERE reference_id IN ({_OF_PRIVATE}))",
        {"reason": ""},
    ),
}


@dataclass(frozen=True, slots=True)
class Packed:
    """What is in a package, rows by kind, and whether it hides which system wrote what."""

    path: Path
    kind: PackageKind
    counts: Mapping[str, int]
    hides_names: bool


def pack_reviews(
    workspace: Workspace, path: Path, passphrase: str, person: Person, *, hide_names: bool = True
) -> Packed:
    """A package of what stands in a person's queues: outputs, pairs, and what they are judged by.

    With ``hide_names`` it holds no system, no run, and nothing of an output but its text: what the
    package lacks, nobody can look up. Others' judgements are never in it, nor are private references.

    Raises
    ------
    NotFoundError
        When nothing is in the person's queues.
    ConflictError
        When the file is there already, or the passphrase is too short.
    """
    outputs = [row["output_id"] for row in workspace.query(_QUEUED, (person.id,))]
    if not outputs:
        raise NotFoundError(
            f"Nothing waits for {person.name}.",
            remedy="Fill their queue or give them pairs first, or pack everything.",
        )

    def fill(tx: Transaction) -> dict[str, int]:
        return _fill_reviews(tx, workspace, person, outputs, hide_names)

    return _pack(workspace, path, passphrase, person, "reviews", fill, hide_names)


def pack_everything(workspace: Workspace, path: Path, passphrase: str, person: Person) -> Packed:
    """A package of all there is, without history, for somebody who works along.

    Private references, and the drafts they were made from, are not in it.

    Raises
    ------
    ConflictError
        When the file is there already, or the passphrase is too short.
    """

    def fill(tx: Transaction) -> dict[str, int]:
        return _fill_everything(tx, workspace)

    return _pack(workspace, path, passphrase, person, "everything", fill, False)


def _pack(
    workspace: Workspace,
    path: Path,
    passphrase: str,
    person: Person,
    kind: PackageKind,
    fill: Callable[[Transaction], dict[str, int]],
    hides_names: bool,
) -> Packed:
    if inspect_file(path) != "missing":
        raise ConflictError(f"{path} is there already.", remedy="Choose another name.")
    # Under another name until it is whole: half a package would open like a whole one.
    part = path.with_name(f".{path.name}.part")
    remove_with_companions(part)
    try:
        with Workspace.create(part, passphrase) as package:
            info = PackageInfo(
                kind=kind,
                workspace=workspace.origin,
                person=person.id,
                made=now(),
                known={head.origin: head.seq for head in chain_heads(workspace)},
            )

            def write(tx: Transaction) -> dict[str, int]:
                tx.query("PRAGMA defer_foreign_keys = ON")
                tx.execute_unlogged(
                    "INSERT INTO meta (key, value) VALUES (?, ?)",
                    (META_KEY, msgspec.json.encode(info).decode()),
                )
                return fill(tx)

            counts = package.transact_job("Pack", "", write).value
        put_in_place(part, path)
    finally:
        remove_with_companions(part)
    return Packed(path, kind, {k: n for k, n in counts.items() if n}, hides_names)


def _fill_reviews(
    tx: Transaction, source: Reads, person: Person, outputs: Sequence[str], hide_names: bool
) -> dict[str, int]:
    ids = pack_ids(outputs)
    examples = f"SELECT example_id FROM output WHERE id IN {AMONG}"
    tasks = f"SELECT task_id FROM example WHERE id IN ({examples})"
    rubrics = f"SELECT id FROM rubric WHERE task_id IN ({tasks}) AND deleted = 0"
    runs = f"SELECT run_id FROM output WHERE id IN {AMONG}"
    wanted = {
        "field": f"id IN (SELECT field_id FROM task WHERE id IN ({tasks}))",
        "task": f"id IN ({tasks})",
        "example": f"id IN ({examples})",
        "rubric": f"id IN ({rubrics})",
        "rubric_item": f"rubric_id IN ({rubrics}) AND deleted = 0",
    }
    hidden: dict[str, Any] = {}
    if hide_names:
        hidden = {**_TELLING, **_write_hidden_run(tx)}
    else:
        wanted["system"] = f"id IN (SELECT system_id FROM run WHERE id IN ({runs}))"
        wanted["run"] = f"id IN ({runs})"
    counts = {"person": _copy(tx, source, "person", "id = ?", (person.id,))}
    for kind, where in wanted.items():
        counts[kind] = _copy(tx, source, kind, where, (ids,))
    counts["output"] = _copy(tx, source, "output", f"id IN {AMONG}", (ids,), hidden)
    for kind in _OWN:
        counts[kind] = _copy(tx, source, kind, _own_rows(kind), (person.id, ids))
    return counts


def _own_rows(kind: str) -> str:
    """Which rows of a kind are this person's, and about outputs in the package: ?1 and ?2."""
    about = [name for name in KINDS[kind].columns if name.endswith("output_id")]
    among = AMONG.replace("?", "?2")
    parts = ["person_id = ?1", "deleted = 0", "?2 != ''", *(f"{name} IN {among}" for name in about)]
    return " AND ".join(parts)


def _write_hidden_run(tx: Transaction) -> dict[str, Any]:
    """Put one run of one system in the place of all; what an output says of its own then."""
    stamps = {"created": now(), "updated": now(), "origin": tx.origin}
    system = System(id=new_id(), name=HIDDEN, kind="imported")
    run = Run(id=new_id(), system_id=system.id)
    tx.insert_unlogged("system", encode_row(system) | stamps)
    tx.insert_unlogged("run", encode_row(run) | stamps)
    return stamps | {"run_id": run.id}


def _fill_everything(tx: Transaction, source: Reads) -> dict[str, int]:
    counts = {}
    for kind in KINDS:
        withheld = _WITHHELD.get(kind)
        where = f"NOT {withheld}" if withheld else "1"
        counts[kind] = _copy(tx, source, kind, where, ())
    for row in source.query("SELECT id FROM document"):
        take_document(tx, source, row["id"])
    return counts


def _copy(
    tx: Transaction,
    source: Reads,
    kind: str,
    where: str,
    parameters: Sequence[Any],
    instead: Mapping[str, Any] = MappingProxyType({}),
) -> int:
    """Copy rows as they are but for some columns; how many. A private reference is left behind."""
    rows: list[Mapping[str, Any]] = [{**row, **instead} for row in source.query(
        f'SELECT * FROM "{kind}" WHERE {where} ORDER BY id', parameters
    )]  # fmt: skip
    if kind == "example":
        rows = [_public_example(row) for row in rows]
    if kind in _BLANKED:
        which, blank = _BLANKED[kind]
        ids = {row["id"] for row in source.query(f'SELECT id FROM "{kind}" WHERE {which}')}
        rows = [{**row, **blank} if row["id"] in ids else row for row in rows]
    for row in rows:
        tx.insert_unlogged(kind, row)
    return len(rows)


def _public_example(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """An example as far as it may leave: without a private reference, and the edits that lead to it."""
    meta = msgspec.json.decode(row["meta"])
    if not is_private_meta(row["split"], meta):
        return row
    meta.pop("edits", None)
    return {**row, "output": "[]", "meta": msgspec.json.encode(meta).decode()}
