"""Taking documents into the workspace, with originals, text and passages; reading and removing them.

A file is read whole before anything of it is written, and written in one transaction: a job that is
stopped leaves nothing of the file it was at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from core.documents.passages import OVERLAP, WINDOW, cut_passages
from core.documents.readers import ReadDocument, find_documents, read_document, read_file
from core.errors import Cancelled, ConflictError, InputError, KnownError, NotFoundError
from core.ids import new_id, now
from core.ports import Cancellation, Progress, ProgressCallback, no_progress
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.types.documents import Document, Passage

_PASSAGE_COLUMNS = 'id, document_id, number, page, page_end, "start", "end", sha256, text'


@dataclass(slots=True)
class LibraryReport:
    """What an import did: documents added, files known already, files that could not be read."""

    added: list[Document] = field(default_factory=list)
    known: list[tuple[Path, str]] = field(default_factory=list)
    failed: list[tuple[Path, str]] = field(default_factory=list)
    passages: int = 0
    stopped: bool = False

    @property
    def notes(self) -> list[str]:
        """What is to be said of documents that came in only partly."""
        return [f"{doc.file}: {note}" for doc in self.added for note in doc.notes]


def import_documents(
    workspace: Workspace,
    paths: Iterable[Path],
    person: str,
    *,
    field_id: str = "",
    window: int = WINDOW,
    overlap: int = OVERLAP,
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> LibraryReport:
    """Import files and folders; what cannot be read is reported and never stops the rest.

    Progress counts bytes. Stopping keeps the documents that were finished before and leaves nothing
    of the one being read.
    """
    report = LibraryReport()
    cancel = cancel or Cancellation()
    files = find_documents(paths)
    sizes = [_size(path) for path in files]
    total, done = sum(sizes), 0
    for path, size in zip(files, sizes, strict=True):

        def on_page(
            page: int, pages: int, *, path: Path = path, size: int = size, before: int = done
        ) -> None:
            cancel.raise_if_cancelled()
            message = f"{path.name}, page {page + 1} of {pages}"
            here = before + size * page // pages
            progress(Progress(here, total, len(report.failed), message))

        try:
            cancel.raise_if_cancelled()
            progress(Progress(done, total, len(report.failed), path.name))
            _import_one(workspace, path, person, report, field_id, window, overlap, on_page, cancel)
        except Cancelled:
            report.stopped = True
            return report
        except InputError as error:
            report.failed.append((path, " ".join(str(error).split())))
        done += size
        progress(Progress(done, total, len(report.failed), path.name))
    return report


def _import_one(
    workspace: Workspace,
    path: Path,
    person: str,
    report: LibraryReport,
    field_id: str,
    window: int,
    overlap: int,
    on_page: object,
    cancel: Cancellation,
) -> None:
    data = read_file(path)
    try:
        read = read_document(path, data, on_page)  # type: ignore[arg-type]
    except (Cancelled, InputError):
        raise
    except KnownError as error:
        raise InputError(error.message, path=path, remedy=error.remedy) from error
    twin = find_twin(workspace, read)
    if twin is not None:
        report.known.append((path, twin.title))
        return
    identifier = new_id()
    passages = cut_passages(identifier, read.text, read.starts, window=window, overlap=overlap)
    cancel.raise_if_cancelled()
    document = workspace.transact_job(
        f"Import {path.name}",
        person,
        add_document,
        read,
        passages,
        document_id=identifier,
        field_id=field_id,
        window=window,
        overlap=overlap,
    ).value
    report.added.append(document)
    report.passages += len(passages)


def _size(path: Path) -> int:
    try:
        return max(1, path.stat().st_size)
    except OSError:
        return 1


def find_twin(reads: Reads, read: ReadDocument) -> Document | None:
    """A document of the same bytes, or of the same text in another file."""
    found = reads.find(
        Document, "sha256 = ? OR text_sha256 = ?", (read.sha256, read.text_sha256), limit=1
    )
    return found[0] if found else None


def add_document(
    tx: Transaction,
    read: ReadDocument,
    passages: Sequence[Passage],
    *,
    document_id: str,
    field_id: str = "",
    window: int = WINDOW,
    overlap: int = OVERLAP,
) -> Document:
    """Write a document that was read, with its original and its passages.

    Raises
    ------
    ConflictError
        When it is in the workspace already.
    """
    if find_twin(tx, read) is not None:
        raise ConflictError(f"{read.name} is in the workspace already.")
    document = tx.insert(
        Document(
            id=document_id,
            title=Path(read.name).stem,
            file=read.name,
            format=read.format,
            sha256=read.sha256,
            text_sha256=read.text_sha256,
            bytes=len(read.data),
            pages=len(read.starts),
            characters=len(read.text),
            field_id=field_id,
            window=window,
            overlap=overlap,
            recognised=read.recognised,
            notes=read.notes,
            added=now(),
        )
    )
    tx.execute_unlogged(
        "INSERT INTO document_content VALUES (?, ?, ?, ?)",
        (document_id, read.data, read.text, msgspec.json.encode(read.starts).decode()),
    )
    _insert_passages(tx, passages)
    return document


def _insert_passages(tx: Transaction, passages: Sequence[Passage]) -> None:
    for p in passages:
        tx.execute_unlogged(
            f"INSERT INTO passage ({_PASSAGE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (p.id, p.document_id, p.number, p.page, p.page_end, p.start, p.end, p.sha256, p.text),
        )
    if passages:
        tx.execute_unlogged(
            "INSERT INTO passage_fts (rowid, text) SELECT n, text FROM passage"
            " WHERE document_id = ? ORDER BY n",
            (passages[0].document_id,),
        )
    tx.execute_unlogged("UPDATE search_state SET value = value + 1 WHERE key = 'generation'")


def take_document(tx: Transaction, other: Reads, document_id: str) -> None:
    """Bring over a document's original and passages from another workspace, where this one has others."""
    mine, theirs = (_cut(reads, document_id) for reads in (tx, other))
    if not theirs or mine == theirs:
        return
    if not tx.query("SELECT 1 FROM document_content WHERE document_id = ?", (document_id,)):
        for row in other.query(
            "SELECT document_id, original, text, starts FROM document_content"
            " WHERE document_id = ?",
            (document_id,),
        ):
            tx.execute_unlogged(
                "INSERT INTO document_content VALUES (?, ?, ?, ?)", tuple(row.values())
            )
    remove_passages(tx, document_id)
    rows = other.query(
        f"SELECT {_PASSAGE_COLUMNS} FROM passage WHERE document_id = ? ORDER BY number",
        (document_id,),
    )
    _insert_passages(tx, [Passage(**row) for row in rows])


def _cut(reads: Reads, document_id: str) -> list[str]:
    """The ids of a document's passages in order."""
    rows = reads.query(
        "SELECT id FROM passage WHERE document_id = ? ORDER BY number", (document_id,)
    )
    return [row["id"] for row in rows]


def recut_document(tx: Transaction, document_id: str, *, window: int, overlap: int) -> Document:
    """Cut a document into passages of another size; their vectors are made anew afterwards."""
    document = tx.get(Document, document_id)
    text, starts = document_text(tx, document_id)
    passages = cut_passages(document_id, text, starts, window=window, overlap=overlap)
    remove_passages(tx, document_id)
    _insert_passages(tx, passages)
    return tx.update(Document, document.id, window=window, overlap=overlap)


def remove_passages(tx: Transaction, document_id: str) -> None:
    """Take a document's passages, their words and vectors out of the search."""
    inner = "(SELECT n FROM passage WHERE document_id = ?)"
    tx.execute_unlogged(
        "INSERT INTO passage_fts (passage_fts, rowid, text)"
        " SELECT 'delete', n, text FROM passage WHERE document_id = ?",
        (document_id,),
    )
    tx.execute_unlogged(f"DELETE FROM passage_vector WHERE n IN {inner}", (document_id,))
    tx.execute_unlogged("DELETE FROM passage WHERE document_id = ?", (document_id,))
    tx.execute_unlogged("UPDATE search_state SET value = value + 1 WHERE key = 'generation'")


def edit_document(tx: Transaction, /, document_id: str, **fields: str) -> Document:
    """Change a document's title or field (``title``, ``field_id``)."""
    return tx.update(Document, document_id, **fields)


def delete_document(tx: Transaction, document_id: str) -> None:
    """Delete a document; examples made from it keep the passages they used. Undo brings it back."""
    tx.delete(Document, document_id)
    tx.execute_unlogged("UPDATE search_state SET value = value + 1 WHERE key = 'generation'")


def document_text(reads: Reads, document_id: str) -> tuple[str, tuple[int, ...]]:
    """A document's text and the offsets at which its pages begin."""
    rows = reads.query(
        "SELECT text, starts FROM document_content WHERE document_id = ?", (document_id,)
    )
    if not rows:
        raise NotFoundError("This document's text is not in this workspace.")
    return rows[0]["text"], tuple(msgspec.json.decode(rows[0]["starts"]))


def document_original(reads: Reads, document_id: str) -> bytes:
    """The bytes of the file as it was imported."""
    found = reads.value(
        "SELECT original FROM document_content WHERE document_id = ?", (document_id,)
    )
    if found is None:
        raise NotFoundError("This document's original is not in this workspace.")
    return bytes(found)


def passages_of(reads: Reads, document_id: str) -> list[Passage]:
    """A document's passages in order."""
    return [
        Passage(**row)
        for row in reads.query(
            f"SELECT {_PASSAGE_COLUMNS} FROM passage WHERE document_id = ? ORDER BY number",
            (document_id,),
        )
    ]


def passages_by_number(reads: Reads, numbers: Sequence[int]) -> dict[int, Passage]:
    """Passages by their row numbers in the search index."""
    marks = ", ".join("?" * len(numbers))
    rows = reads.query(f"SELECT n, {_PASSAGE_COLUMNS} FROM passage WHERE n IN ({marks})", numbers)
    return {row.pop("n"): Passage(**row) for row in rows}
