"""What the Documents page asks of the workspace and the models, off the UI thread."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.documents.library import document_original, document_text, passages_of
from core.documents.pdf import DrawnPage, draw_page, find_on_page
from core.documents.search import Hit, search_passages
from core.documents.vectors import count_missing, embed_passages, model_key
from core.errors import KnownError
from core.ports import Cancellation, Embedder, PairScorer, ProgressCallback
from core.storage.workspace import Workspace
from core.types.documents import Document

#: Characters of a document without pages that are shown at a time.
PART = 20_000


def find_embedder(models: Any) -> Embedder | None:
    """The embedder of this machine, None where there is none: the search then goes by words."""
    make = getattr(models, "embedder", None)
    if make is None:
        return None
    try:
        embedder: Embedder = make()
    except KnownError:
        return None
    return embedder


def find_reranker(models: Any) -> PairScorer | None:
    """The reranker imported on this machine, None where there is none that works."""
    make = getattr(models, "pair_scorer", None)
    if make is None:
        return None
    from models.catalog import list_models

    for entry in list_models():
        if entry.role == "reranker":
            try:
                scorer: PairScorer = make(entry.id)
            except KnownError:
                continue
            return scorer
    return None


def count_unembedded(workspace: Workspace, models: Any) -> int:
    """How many passages the embedder of this machine has not read; 0 where there is no embedder."""
    if workspace.read_only or not workspace.count(Document):
        return 0
    embedder = find_embedder(models)
    return 0 if embedder is None else count_missing(workspace, model_key(embedder))


def embed_all(
    workspace: Workspace, models: Any, *, progress: ProgressCallback, cancel: Cancellation
) -> int:
    """Embed what is not embedded; for a thread of its own."""
    embedder = find_embedder(models)
    if embedder is None:
        return 0
    return embed_passages(workspace, embedder, progress=progress, cancel=cancel)


def search(
    workspace: Workspace, models: Any, query: str, document_ids: Sequence[str], field_id: str
) -> tuple[list[Hit], bool]:
    """The best passages, and whether meaning was searched beside words."""
    embedder = find_embedder(models)
    hits = search_passages(
        workspace,
        query,
        k=12,
        embedder=embedder,
        reranker=find_reranker(models),
        document_ids=document_ids,
        field_id=field_id,
    )
    return hits, embedder is not None


@dataclass(frozen=True, slots=True)
class Leaf:
    """One page, or part, of a document as it is shown.

    ``start`` is where its text begins in the document's; ``marked`` a stretch of that text, in code
    points of the part; ``boxes`` the same on the drawn page, as shares of its size.
    """

    document: Document
    page: int
    count: int
    text: str
    start: int
    marked: tuple[int, int] | None
    drawn: DrawnPage | None
    boxes: tuple[tuple[float, float, float, float], ...]
    problem: str = ""


def read_leaf(
    workspace: Workspace,
    document_id: str,
    page: int,
    span: tuple[int, int] | None,
    width: int,
) -> Leaf:
    """A page of a document, drawn ``width`` pixels wide where it is a PDF.

    Parameters
    ----------
    page
        From 1; 0 for the page on which ``span`` begins.
    span
        A stretch of the document's text to mark.
    """
    document = workspace.get(Document, document_id)
    text, pages = document_text(workspace, document_id)
    starts = pages if document.format == "pdf" else part_starts(text)
    if page < 1:
        page = bisect_right(starts, span[0]) if span else 1
    page = min(page, len(starts))
    start = starts[page - 1]
    end = starts[page] if page < len(starts) else len(text)
    marked = None
    if span is not None and span[0] < end and span[1] > start:
        marked = (max(span[0], start) - start, min(span[1], end) - start)
    drawn, boxes, problem = None, [], ""
    if document.format == "pdf":
        try:
            original = document_original(workspace, document_id)
            drawn = draw_page(original, page - 1, width)
            if marked is not None:
                boxes = find_on_page(original, page - 1, text[start:end][marked[0] : marked[1]])
        except KnownError as error:
            problem = str(error)
    return Leaf(
        document, page, len(starts), text[start:end], start, marked, drawn, tuple(boxes), problem
    )


def part_starts(text: str) -> tuple[int, ...]:
    """Where the parts begin in which a long text without pages is shown, each at a line's beginning."""
    starts = [0]
    while starts[-1] + PART < len(text):
        place = text.rfind("\n", starts[-1] + PART // 2, starts[-1] + PART)
        starts.append(place + 1 if place > 0 else starts[-1] + PART)
    return tuple(starts)


def count_passages(workspace: Workspace, document_id: str) -> int:
    """How many passages a document was cut into."""
    return len(passages_of(workspace, document_id))
