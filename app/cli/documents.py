"""Verbs on documents and what is made of them: import --as documents, search, draft."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from app.cli.common import (
    ProgressLine,
    add_common,
    cancel_on_interrupt,
    open_workspace,
    print_result,
)
from core.errors import KnownError, NotFoundError
from core.storage import Workspace
from core.types.documents import Document

_SHOWN = 160


def add_parsers(verbs: Any) -> None:
    """search, draft."""
    search = verbs.add_parser("search", help="find passages by words and by meaning")
    add_common(search, workspace=True)
    search.add_argument("query", metavar="QUERY")
    search.add_argument("-k", type=int, default=5, metavar="N", help="how many passages")
    search.add_argument("--in", dest="documents", nargs="+", default=[], metavar="DOC")
    search.add_argument("--field", default="", help="only documents of this field")
    search.add_argument("--words-only", action="store_true", help="without the embedding model")
    search.add_argument("--reranker", metavar="ID", help="a model that orders the best ones anew")
    search.set_defaults(run=_search)

    draft = verbs.add_parser("draft", help="drafts of an example from evidence")
    add_common(draft, workspace=True)
    draft.add_argument("--task", required=True, metavar="T")
    draft.add_argument("--from", dest="documents", nargs="+", default=[], metavar="DOC")
    draft.add_argument("-n", type=int, default=4, metavar="N", help="how many drafts, at most 10")
    draft.add_argument("--query", action="append", default=[], metavar="Q", help="instead of the "
                       "queries the model proposes; may be given again")  # fmt: skip
    draft.add_argument("--one-document", action="store_true", help="evidence from one document")
    draft.add_argument("--model", metavar="ID")
    draft.add_argument("--seed", type=int, default=0)
    draft.add_argument("--max-tokens", type=int, default=1024, metavar="N")
    draft.set_defaults(run=_draft)


def import_documents_command(args: argparse.Namespace) -> int:
    """``import WS FILE... --as documents``: files and folders; what cannot be read is told."""
    from core.documents.library import import_documents

    with open_workspace(args) as workspace, cancel_on_interrupt() as cancel:
        report = import_documents(
            workspace,
            args.files,
            "",
            progress=ProgressLine("Importing", "bytes"),
            cancel=cancel,
        )
        if report.added and not cancel.cancelled:
            _embed(workspace, cancel)
    for path, reason in report.failed:
        print(f"{path}: skipped, {reason.removeprefix(f'{path}: ')}", file=sys.stderr)
    for path, twin in report.known:
        print(f"{path}: skipped, it is in the workspace already as '{twin}'", file=sys.stderr)
    for note in report.notes:
        print(note, file=sys.stderr)
    value = {
        "added": [
            {"id": d.id, "title": d.title, "file": d.file, "pages": d.pages, "sha256": d.sha256}
            for d in report.added
        ],
        "known": [{"file": str(path), "as": twin} for path, twin in report.known],
        "failed": [{"file": str(path), "reason": reason} for path, reason in report.failed],
        "passages": report.passages,
        "stopped": report.stopped,
    }
    text = (
        f"Added {len(report.added)} documents with {report.passages} passages; "
        f"{len(report.known)} known already, {len(report.failed)} could not be read."
    )
    print_result(args, value, text)
    return 0 if (report.added or report.known) and not report.stopped else 1


def _embed(workspace: Workspace, cancel: Any) -> None:
    """Embed what came in; without a model the search goes by words."""
    from app import services
    from core.documents.vectors import embed_passages

    try:
        embedder = services.embedder()
        embed_passages(
            workspace, embedder, progress=ProgressLine("Embedding", "passages"), cancel=cancel
        )
    except KnownError as error:
        print(f"Not embedded, the search goes by words alone: {error}", file=sys.stderr)


def find_documents_named(workspace: Workspace, names: list[str]) -> list[str]:
    """Ids of documents given by id, title or file name.

    Raises
    ------
    NotFoundError
        When there is none of that name.
    """
    ids = []
    for name in names:
        base = Path(name).name
        found = workspace.find(
            Document, "id = ? OR title = ? COLLATE NOCASE OR file = ?", (name, name, base)
        )
        if not found:
            raise NotFoundError(
                f"There is no document '{name}' in this workspace.",
                remedy="Import it first: rifugio import WS FILE --as documents.",
            )
        ids += [document.id for document in found]
    return ids


def _search(args: argparse.Namespace) -> int:
    from app import services
    from core.documents.search import search_passages
    from core.types import Field

    with open_workspace(args, write=False) as workspace:
        embedder = None
        if not args.words_only:
            try:
                embedder = services.embedder()
            except KnownError as error:
                print(f"Searching by words alone: {error}", file=sys.stderr)
        fields = workspace.find(Field, "name = ? COLLATE NOCASE", (args.field,))
        if args.field and not fields:
            raise NotFoundError(f"There is no field '{args.field}' in this workspace.")
        hits = search_passages(
            workspace,
            args.query,
            k=max(1, args.k),
            embedder=embedder,
            reranker=services.pair_scorer(args.reranker) if args.reranker else None,
            document_ids=find_documents_named(workspace, args.documents),
            field_id=fields[0].id if fields else "",
        )
    value = [
        {
            "document": hit.document,
            "document_id": hit.passage.document_id,
            "passage": hit.passage.id,
            "page": hit.passage.page,
            "start": hit.passage.start,
            "end": hit.passage.end,
            "score": hit.score,
            "word_rank": hit.word_rank,
            "vector_rank": hit.vector_rank,
            "text": hit.passage.text,
        }
        for hit in hits
    ]
    lines = [
        f"{n}. {hit.document}, page {hit.passage.page}: "
        + " ".join(hit.passage.text[hit.start : hit.start + _SHOWN].split())
        for n, hit in enumerate(hits, 1)
    ]
    print_result(args, {"hits": value}, "\n".join(lines) or "Nothing found.")
    return 0


def _draft(args: argparse.Namespace) -> int:
    from app import services
    from core.examples.drafting import execute_request, offer_drafts, prepare_request
    from core.tasks.verbs import find_task
    from core.types.documents import Draft

    with open_workspace(args) as workspace, cancel_on_interrupt() as cancel:
        task = find_task(workspace, args.task)
        documents = find_documents_named(workspace, args.documents)
        generator = services.generator(args.model)
        try:
            embedder = services.embedder()
        except KnownError as error:
            print(f"Searching by words alone: {error}", file=sys.stderr)
            embedder = None
        try:
            request = prepare_request(
                workspace,
                task.id,
                generator,
                "",
                embedder=embedder,
                queries=tuple(args.query),
                document_ids=tuple(documents),
                setting="one" if args.one_document else "several",
                count=args.n,
                seed=args.seed,
                params={"max_tokens": args.max_tokens},
            )
            job = execute_request(
                workspace,
                request.id,
                generator,
                progress=ProgressLine("Drafting", "drafts"),
                cancel=cancel,
            )
        finally:
            generator.close()
        workspace.transact_job("Offer drafts", "", offer_drafts, request.id)
        drafts = workspace.find(Draft, "request_id = ?", (request.id,), order_by="position")
    value = {
        "request": request.id,
        "state": job.state,
        "queries": list(request.queries),
        "evidence": [
            {"document": e.document, "page": e.page, "start": e.start, "end": e.end}
            for e in request.evidence
        ],
        "drafts": [
            {"id": d.id, "state": d.state, "seed": d.seed, "text": d.text, "error": d.error}
            for d in drafts
        ],
    }
    done = sum(draft.state == "done" for draft in drafts)
    text = (
        f"{done} of {len(drafts)} drafts of '{task.objective}' from "
        f"{len(request.evidence)} passages; choose one on the Drafts page."
    )
    print_result(args, value, text)
    return 0 if done else 1
