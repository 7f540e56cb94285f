"""Taking over what was done in another copy of a workspace, or in a package that came back.

Every copy writes its history under an origin of its own. A merge takes over the entries that this
workspace lacks as they stand, hashes and all, and lets each row be what all its entries together make of
it: of each column the latest one counts, whichever copy it is from. So it does not matter who merges
whom first, and a second merge of the same file changes nothing. What came second where two changed the
same is told and stays in the history, from which it can be restored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.documents.library import take_document
from core.errors import BugError, ConflictError, InputError
from core.exchange.merge_report import MergeReport
from core.exchange.merge_rows import person_name, settle_row
from core.exchange.packages import PackageInfo, package_info
from core.exchange.settling import settle_twins
from core.storage.audit import chain_entries, chain_heads, check_chain
from core.storage.backups import back_up_if_due
from core.storage.reads import Reads
from core.storage.taken import taken_key, taken_packages
from core.storage.titles import kind_words
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace

#: Rows of these kinds stand behind a job, which has no history.
_WITH_JOB = ("run", "draft_request")
#: A job that went on in another copy does not go on here by itself.
_UNFINISHED = ("queued", "running")


class _PreviewError(Exception):
    """Takes a preview's report out of the transaction that is rolled back."""

    def __init__(self, report: MergeReport) -> None:
        super().__init__()
        self.report = report


def preview_merge(workspace: Workspace, other: Reads, person: str) -> MergeReport:
    """What `merge` would do; the same is done and taken back, so that nothing is guessed.

    Raises
    ------
    InputError, ConflictError
    """

    _refuse_unfit(workspace, other)

    def look(tx: Transaction) -> None:
        raise _PreviewError(_take_over(tx, other))

    try:
        workspace.run_transaction("Look at a merge", person, look, undoable=False)
    except _PreviewError as preview:
        return preview.report
    raise BugError("A look at a merge came to no end.")


def merge(workspace: Workspace, other: Reads, person: str) -> MergeReport:
    """Take over what another copy, or a package, has that this workspace lacks; all or nothing.

    Where there is something to take over, a backup is made before. Undo leaves merges alone.

    Parameters
    ----------
    other
        The other workspace, open for reading.
    person
        Who merges; what came in keeps the names of those who did it.

    Raises
    ------
    InputError
        When the other's history is not whole, or refers to what is in neither.
    ConflictError
        When two copies of one file were both worked in, so that their histories part.
    """
    _refuse_unfit(workspace, other)
    mine = {head.origin: head.seq for head in chain_heads(workspace)}
    if any(head.seq > mine.get(head.origin, 0) for head in chain_heads(other)):
        back_up_if_due(workspace, "before-merge")
    return workspace.run_transaction(
        "Merge", person, lambda tx: _take_over(tx, other), undoable=False
    ).value


def _refuse_unfit(workspace: Reads, other: Reads) -> None:
    """Before the writer is kept busy: what cannot be merged, whatever is in it."""
    if package_info(workspace) is not None:
        raise ConflictError(
            "This workspace is a package.",
            remedy="Merge it into the workspace it came from, not the other way round.",
        )
    findings = check_chain(other)
    if findings:
        raise InputError(
            f"The other file's history is not whole: {findings[0].message} ({findings[0].place})",
            remedy="Ask for it again; nothing was taken over.",
        )


def _take_over(tx: Transaction, other: Reads) -> MergeReport:
    report = MergeReport(package=package_info(other))
    tx.query("PRAGMA defer_foreign_keys = ON")
    new = _copy_history(tx, other)
    report.entries = sum(len(entries) for entries in new.values())
    if not report.entries:
        return report
    _mark_packages(tx, other, report.package)
    taken = taken_packages(tx)
    known = _known_there(other, report.package)
    mine_new: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for entries in new.values():
        for entry in entries:
            mine_new.setdefault((entry["kind"], entry["row"]), []).append(entry)
    for (kind, row), entries in mine_new.items():
        settle_row(tx, kind, row, entries, known, taken, report)
    _take_what_has_no_history(tx, other, report)
    _name_people(tx, new.values(), report)
    report.settled = settle_twins(tx, {kind for kind, _row in mine_new})
    _refuse_torn(tx)
    return report


# -- history -----------------------------------------------------------------------------


def _copy_history(tx: Transaction, other: Reads) -> dict[str, list[Mapping[str, Any]]]:
    """Write the other's entries that are new here into the history; by origin, in their order."""
    mine = {head.origin: head for head in chain_heads(tx)}
    found: dict[str, list[Mapping[str, Any]]] = {}
    for head in chain_heads(other):
        here = mine.get(head.origin)
        since = here.seq if here else 0
        if here is not None:
            _refuse_parted(tx, other, head.origin, min(since, head.seq))
        if head.seq <= since:
            continue
        found[head.origin] = list(chain_entries(other, head.origin, after=since))
        for entry in found[head.origin]:
            names = ", ".join(f'"{name}"' for name in entry)
            marks = ", ".join("?" * len(entry))
            tx.execute_unlogged(
                f"INSERT INTO change ({names}) VALUES ({marks})", tuple(entry.values())
            )
        tx.set_head(head.origin, head.seq, head.hash)
    return found


def _refuse_parted(tx: Reads, other: Reads, origin: str, seq: int) -> None:
    ask = "SELECT hash FROM change WHERE origin = ? AND seq = ?"
    if tx.value(ask, (origin, seq)) != other.value(ask, (origin, seq)):
        raise ConflictError(
            "The two files are copies of one file that were both worked in, so that neither history"
            " continues the other.",
            remedy="Export what is new in one and import it into the other. Give work to others as a"
            " package, which can be merged.",
        )


def _mark_packages(tx: Transaction, other: Reads, package: PackageInfo | None) -> None:
    """Remember whose history comes from a package, since part of it is not to be heeded."""
    marks = dict(taken_packages(other))
    if package is not None:
        marks[str(other.value("SELECT value FROM meta WHERE key = 'origin'"))] = package.kind
    for origin, kind in marks.items():
        tx.execute_unlogged(
            "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (taken_key(origin), kind)
        )


def _known_there(other: Reads, package: PackageInfo | None) -> Mapping[str, int]:
    """How far each origin's history was known to those who worked in the other file."""
    known = {head.origin: head.seq for head in chain_heads(other)}
    for origin, seq in (package.known if package else {}).items():
        known[origin] = max(seq, known.get(origin, 0))
    return known


def _name_people(
    tx: Reads, entries: Iterable[Sequence[Mapping[str, Any]]], report: MergeReport
) -> None:
    counts = Counter(entry["person"] for of_origin in entries for entry in of_origin)
    for person, count in counts.items():
        name = person_name(tx, person)
        report.people[name] = report.people.get(name, 0) + count


# -- what has no history -----------------------------------------------------------------


def _take_what_has_no_history(tx: Transaction, other: Reads, report: MergeReport) -> None:
    """Bring the texts of documents that came in, and the jobs behind runs and drafts."""
    if report.added.get("document") or report.changed.get("document"):
        ask = 'SELECT id, "window", overlap FROM document WHERE deleted = 0'
        theirs = {row["id"]: row for row in other.query(ask)}
        for row in tx.query(ask):
            # Where both cut it differently, the passages follow the cut that stands.
            if theirs.get(row["id"]) == row:
                take_document(tx, other, row["id"])
    for kind in _WITH_JOB:
        if not report.added.get(kind):
            continue
        for row in tx.query(
            f"SELECT DISTINCT r.job_id FROM \"{kind}\" r WHERE r.job_id != ''"
            " AND NOT EXISTS (SELECT 1 FROM job j WHERE j.id = r.job_id)"
        ):
            for job in other.query("SELECT * FROM job WHERE id = ?", (row["job_id"],)):
                state = "cancelled" if job["state"] in _UNFINISHED else job["state"]
                tx.insert_unlogged("job", {**job, "state": state})


def _refuse_torn(tx: Reads) -> None:
    rows = tx.query("PRAGMA foreign_key_check")
    if rows:
        raise InputError(
            f"A {kind_words(rows[0]['table'])} of the other file belongs to a"
            f" {kind_words(rows[0]['parent'])} that is in neither file.",
            remedy="Merge the workspace it was made in first; nothing was taken over.",
        )
