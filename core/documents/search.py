"""Hybrid search: FTS5's BM25 and embeddings, fused by reciprocal rank (Cormack et al., 2009)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.documents.library import passages_by_number
from core.documents.vectors import IndexCache, Ints, VectorIndex, model_key
from core.errors import UsageError
from core.ports import Embedder, PairScorer
from core.storage.workspace import Workspace
from core.types.documents import Document, Evidence, Passage

#: The constant of reciprocal rank fusion.
_RRF = 60
_DEPTH = 100
_RERANKED = 30
_MOST_WORDS = 12
_MOST_ASKED = 32
_SHORTEST_STEM = 4
#: How many passages BM25 ranks at most, roughly: common words say little and cost much.
_MOST_RANKED = 3_000

_cache = IndexCache()


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found. ``start`` and ``end`` are the best window in it, (0, 0) when words found it.

    ``word_rank`` and ``vector_rank`` count from 1, None where that search did not find it.
    """

    passage: Passage
    document: str
    score: float
    word_rank: int | None
    vector_rank: int | None
    start: int
    end: int


def search_passages(
    workspace: Workspace,
    query: str,
    *,
    k: int = 5,
    embedder: Embedder | None = None,
    reranker: PairScorer | None = None,
    document_ids: Sequence[str] = (),
    field_id: str = "",
    index: VectorIndex | None = None,
) -> list[Hit]:
    """The ``k`` passages that fit a query best.

    Parameters
    ----------
    embedder
        None searches by words alone. Passages without vectors are then found by words only.
    reranker
        A cross-encoder that puts the best thirty into its own order.
    document_ids, field_id
        Only passages of these documents, and of documents of this field.

    Raises
    ------
    UsageError
        When the query is empty.
    """
    if not query.strip():
        raise UsageError("There is nothing to search for.", remedy="Type some words.")
    where, parameters = _filter(document_ids, field_id)
    by_words = _search_words(workspace, query, where, parameters)
    near = {}
    if embedder is not None:
        index = index or _cache.get(workspace, model_key(embedder))
        if len(index):
            allowed = _allowed(workspace, where, parameters) if document_ids or field_id else None
            vector = embedder.embed([query])[0]
            near = {hit.n: hit for hit in index.search(vector, _DEPTH, allowed)}
    word_ranks = {n: rank for rank, n in enumerate(by_words, 1)}
    vector_ranks = {n: rank for rank, n in enumerate(near, 1)}
    scores = {
        n: sum(1 / (_RRF + ranks[n]) for ranks in (word_ranks, vector_ranks) if n in ranks)
        for n in {**word_ranks, **vector_ranks}
    }
    order = sorted(scores, key=lambda n: (-scores[n], n))[: max(k, _RERANKED if reranker else k)]
    passages = passages_by_number(workspace, order)
    if reranker is not None and order:
        told = reranker.score([(query, passages[n].text) for n in order])
        scores = dict(zip(order, told, strict=True))
        order.sort(key=lambda n: -scores[n])
    order = order[:k]
    titles = _titles(workspace, {passages[n].document_id for n in order})
    hits = []
    for n in order:
        window = near.get(n)
        hits.append(
            Hit(
                passages[n],
                titles.get(passages[n].document_id, ""),
                scores[n],
                word_ranks.get(n),
                vector_ranks.get(n),
                window.start if window else 0,
                window.end if window else 0,
            )
        )
    return hits


def gather_evidence(
    workspace: Workspace,
    queries: Sequence[str],
    *,
    k: int = 5,
    one_document: bool = False,
    embedder: Embedder | None = None,
    reranker: PairScorer | None = None,
    document_ids: Sequence[str] = (),
    field_id: str = "",
) -> list[Evidence]:
    """The ``k`` passages that several queries together find best, from one document or from several.

    The queries' rankings are fused by reciprocal rank. For one document it is the document whose best
    ``k`` passages have the greatest sum (DOLOMITES, example creation: single- and multi-document).
    """
    scores: dict[str, float] = {}
    found: dict[str, Hit] = {}
    for query in queries:
        if not query.strip():
            continue
        hits = search_passages(
            workspace,
            query,
            k=50,
            embedder=embedder,
            reranker=reranker,
            document_ids=document_ids,
            field_id=field_id,
        )
        for rank, hit in enumerate(hits, 1):
            found.setdefault(hit.passage.id, hit)
            scores[hit.passage.id] = scores.get(hit.passage.id, 0.0) + 1 / (_RRF + rank)
    order = sorted(scores, key=lambda i: (-scores[i], i))
    if one_document and order:
        sums: dict[str, list[float]] = {}
        for identifier in order:
            sums.setdefault(found[identifier].passage.document_id, []).append(scores[identifier])
        best = max(sums, key=lambda d: sum(sums[d][:k]))
        order = [i for i in order if found[i].passage.document_id == best]
    return [
        to_evidence(found[i].passage, found[i].document, round(scores[i], 6)) for i in order[:k]
    ]


def to_evidence(passage: Passage, document: str, score: float = 0.0) -> Evidence:
    """A passage as evidence, with its text."""
    return Evidence(
        passage_id=passage.id,
        document_id=passage.document_id,
        document=document,
        page=passage.page,
        start=passage.start,
        end=passage.end,
        sha256=passage.sha256,
        text=passage.text,
        score=score,
    )


def _filter(document_ids: Sequence[str], field_id: str) -> tuple[str, list[str]]:
    where, parameters = "d.deleted = 0", []
    if document_ids:
        where += f" AND d.id IN ({', '.join('?' * len(document_ids))})"
        parameters += list(document_ids)
    if field_id:
        where += " AND d.field_id = ?"
        parameters.append(field_id)
    return where, parameters


def _allowed(workspace: Workspace, where: str, parameters: Sequence[str]) -> Ints:
    rows = workspace.query(
        f"SELECT p.n FROM passage p JOIN document d ON d.id = p.document_id WHERE {where}",
        parameters,
    )
    return np.array([row["n"] for row in rows], dtype=np.int64)


def _search_words(
    workspace: Workspace, query: str, where: str, parameters: Sequence[str]
) -> list[int]:
    """Row numbers of the passages that have the query's words, best BM25 first."""
    words = _telling_words(workspace, query)
    if not words:
        return []
    match = " OR ".join(words)
    if where == "d.deleted = 0" and not parameters:
        # Ranking first and looking up documents afterwards spares a join for every match.
        rows = workspace.query(
            """SELECT f.n FROM (SELECT rowid AS n, rank AS r FROM passage_fts
                   WHERE passage_fts MATCH ? ORDER BY rank LIMIT ?) f
               JOIN passage p ON p.n = f.n JOIN document d ON d.id = p.document_id
               WHERE d.deleted = 0 ORDER BY f.r, f.n LIMIT ?""",
            (match, 2 * _DEPTH, _DEPTH),
        )
    else:
        rows = workspace.query(
            f"""SELECT p.n FROM passage_fts f JOIN passage p ON p.n = f.rowid
                JOIN document d ON d.id = p.document_id
                WHERE passage_fts MATCH ? AND {where} ORDER BY rank, p.n LIMIT ?""",
            (match, *parameters, _DEPTH),
        )
    return [row["n"] for row in rows]


def _telling_words(workspace: Workspace, query: str) -> list[str]:
    """The query's words as terms for FTS5, rarest first, as many as can be ranked at once.

    At least one that occurs is among them. Words of letters stand for their other endings, too.
    """
    words = list(dict.fromkeys(re.findall(r"\w+", query.casefold())))[:_MOST_ASKED]
    terms: dict[str, int] = {}
    for word in words:
        # The index knows words without accents, as its tokenizer leaves them.
        plain = _fold(word)
        stem = _stem(plain)
        if stem == plain and not _takes_endings(plain):
            low, high, term = plain, plain, f'"{plain}"'
        else:
            low, high, term = stem, stem + "\U0010ffff", f'"{stem}"*'
        found = workspace.value(
            "SELECT sum(doc) FROM passage_words WHERE term >= ? AND term <= ?", (low, high)
        )
        terms[term] = int(found or 0)
    # Rarest first; what would make the ranking look at too many passages stays out.
    kept: list[str] = []
    looked_at = 0
    for term in sorted((t for t in terms if terms[t]), key=terms.__getitem__):
        looked_at += terms[term]
        if kept and looked_at > _MOST_RANKED:
            break
        kept.append(term)
    return kept[:_MOST_WORDS]


def _takes_endings(word: str) -> bool:
    return len(word) >= _SHORTEST_STEM and word.isalpha()


def _stem(word: str) -> str:
    """A word without an English ending, where enough of it is left."""
    if not word.isalpha() or not word.isascii():
        return word
    for ending in ("ing", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


def _fold(word: str) -> str:
    import unicodedata

    parts = unicodedata.normalize("NFD", word)
    return "".join(c for c in parts if not unicodedata.combining(c))


def _titles(workspace: Workspace, ids: set[str]) -> dict[str, str]:
    marks = ", ".join("?" * len(ids))
    return {d.id: d.title for d in workspace.find(Document, f"id IN ({marks})", tuple(ids))}
