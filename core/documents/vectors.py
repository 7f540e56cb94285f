"""Passages as vectors: windows of what the embedder can read, kept in the workspace, searched in memory.

Up to `EXACT_WINDOWS` windows are compared exactly. Above that the signs of the vectors' numbers are
compared first (one bit a number) and the nearest of those exactly, which keeps a search of 100,000
passages within some tens of milliseconds.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.ports import Cancellation, Embedder, Progress, ProgressCallback, no_progress
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace

EXACT_WINDOWS = 12_000
#: Windows whose exact likeness is taken after the comparison of signs.
_SHORTLIST = 1200
_BATCH = 16

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


def model_key(embedder: Embedder) -> str:
    """Under which name an embedder's vectors are kept: the hash of its weights, else its id."""
    info = embedder.info
    return info.sha256 or info.id


def count_missing(reads: Reads, model: str) -> int:
    """How many passages of live documents have no vectors of a model."""
    return int(
        reads.value(
            """SELECT count(*) FROM passage p JOIN document d ON d.id = p.document_id
               WHERE d.deleted = 0 AND NOT EXISTS
               (SELECT 1 FROM passage_vector v WHERE v.model = ? AND v.n = p.n)""",
            (model,),
        )
    )


def embed_passages(
    workspace: Workspace,
    embedder: Embedder,
    *,
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> int:
    """Embed every passage that lacks vectors of this embedder; returns how many were embedded.

    Goes on where it was stopped. Vectors of other embedders go once this one's are complete.
    """
    model = model_key(embedder)
    total, done = count_missing(workspace, model), 0
    progress(Progress(0, total))
    while True:
        rows = workspace.query(
            """SELECT p.n, p.text FROM passage p JOIN document d ON d.id = p.document_id
               WHERE d.deleted = 0 AND NOT EXISTS
               (SELECT 1 FROM passage_vector v WHERE v.model = ? AND v.n = p.n) LIMIT ?""",
            (model, _BATCH),
        )
        if not rows:
            break
        made = []
        for row in rows:
            if cancel is not None:
                cancel.raise_if_cancelled()
            made.append((row["n"], embedder.embed_windows(row["text"])))
            done += 1
            progress(Progress(done, max(total, done)))
        workspace.transact_job("Embed passages", "", _keep_vectors, model, made)
    workspace.transact_job("Drop old vectors", "", _drop_others, model)
    return done


def _keep_vectors(
    tx: Transaction, model: str, made: Sequence[tuple[int, list[tuple[int, int, list[float]]]]]
) -> None:
    for n, windows in made:
        places = np.array([(start, end) for start, end, _ in windows], dtype=np.int32)
        vectors = np.array([vector for _, _, vector in windows], dtype=np.float16)
        keep_vectors(tx, model, n, places, vectors)
    tx.execute_unlogged("UPDATE search_state SET value = value + 1 WHERE key = 'generation'")


def keep_vectors(
    tx: Transaction, model: str, n: int, places: npt.NDArray[Any], vectors: npt.NDArray[Any]
) -> None:
    """Keep a passage's windows, shape (windows, 2), and their vectors, shape (windows, dimensions)."""
    # The passage may have gone while its vectors were made.
    tx.execute_unlogged(
        "INSERT OR REPLACE INTO passage_vector SELECT ?, n, ?, ? FROM passage WHERE n = ?",
        (
            model,
            places.astype(np.int32).tobytes(),
            vectors.astype(np.float16).tobytes(),
            n,
        ),
    )


def _drop_others(tx: Transaction, model: str) -> None:
    if tx.value("SELECT 1 FROM passage_vector WHERE model <> ? LIMIT 1", (model,)):
        tx.execute_unlogged("DELETE FROM passage_vector WHERE model <> ?", (model,))


@dataclass(frozen=True, slots=True)
class Near:
    """A passage (its row number) near a query: the likeness of its best window, and where that is."""

    n: int
    likeness: float
    start: int
    end: int


class VectorIndex:
    """All windows of one model's vectors, in memory.

    Parameters
    ----------
    passages
        Row number of the passage of each window, shape (windows,).
    places
        (start, end) of each window in its passage, shape (windows, 2).
    vectors
        Unit vectors, shape (windows, dimensions), as float16.
    """

    def __init__(
        self, passages: Ints, places: npt.NDArray[np.int32], vectors: npt.NDArray[np.float16]
    ) -> None:
        self._passages = passages
        self._places = places
        self._exact: Floats | None = None
        self._signs: npt.NDArray[np.uint64] | None = None
        self._vectors = vectors
        if len(passages) <= EXACT_WINDOWS:
            self._exact = vectors.astype(np.float32)
        else:
            self._signs = _pack_signs(vectors)

    def __len__(self) -> int:
        return len(self._passages)

    @classmethod
    def load(cls, workspace: Workspace, model: str) -> VectorIndex:
        """Read a model's vectors from the workspace."""
        with workspace.reader() as db:
            rows = db.conn.execute(
                """SELECT v.n, v.windows, v.vectors FROM passage_vector v
                   JOIN passage p ON p.n = v.n JOIN document d ON d.id = p.document_id
                   WHERE v.model = ? AND d.deleted = 0 ORDER BY v.n""",
                (model,),
            ).fetchall()
        counts = np.array([len(row[1]) // 8 for row in rows], dtype=np.int64)
        passages = np.repeat(np.array([row[0] for row in rows], dtype=np.int64), counts)
        places = np.frombuffer(b"".join(row[1] for row in rows), dtype=np.int32).reshape(-1, 2)
        flat = np.frombuffer(b"".join(row[2] for row in rows), dtype=np.float16)
        width = len(flat) // max(1, len(passages))
        return cls(passages, places, flat.reshape(len(passages), width))

    def search(self, vector: Sequence[float], k: int, allowed: Ints | None = None) -> list[Near]:
        """The ``k`` passages with the nearest windows, nearest first; ``allowed`` narrows them."""
        if not len(self._passages):
            return []
        query = np.asarray(vector, dtype=np.float32)
        chosen: Ints | None = None
        if allowed is not None:
            chosen = np.flatnonzero(np.isin(self._passages, allowed))
            if not len(chosen):
                return []
        if self._exact is not None:
            rows = np.arange(len(self._passages)) if chosen is None else chosen
            scores = _dot(self._exact if chosen is None else self._exact[chosen], query)
        else:
            rows = self._shortlist(query, chosen)
            scores = _dot(self._vectors[rows].astype(np.float32), query)
        # A passage has some windows: enough of the best ones hold k passages in all but odd cases.
        most = min(len(scores), 16 * k)
        best = np.argpartition(-scores, most - 1)[:most] if most < len(scores) else np.arange(most)
        order = best[np.argsort(-scores[best], kind="stable")]
        found: list[Near] = []
        seen: set[int] = set()
        for place in order:
            n = int(self._passages[rows[place]])
            if n in seen:
                continue
            seen.add(n)
            start, end = self._places[rows[place]]
            found.append(Near(n, float(scores[place]), int(start), int(end)))
            if len(found) >= k:
                break
        return found

    def _shortlist(self, query: Floats, chosen: Ints | None) -> Ints:
        assert self._signs is not None
        signs = self._signs if chosen is None else self._signs[chosen]
        wanted = _pack_signs(query[None, :])[0]
        distances = np.zeros(len(signs), dtype=np.uint16)
        for column in range(signs.shape[1]):
            distances += np.bitwise_count(signs[:, column] ^ wanted[column])
        size = min(_SHORTLIST, len(distances))
        near = np.argpartition(distances, size - 1)[:size]
        return near if chosen is None else chosen[near]


def _dot(rows: Floats, query: Floats) -> Floats:
    """Likeness of each row with the query.

    Not by BLAS, whose threads wait for each other far longer than this takes on a busy machine.
    """
    found: Floats = np.einsum("ij,j->i", rows, query)
    return found


def _pack_signs(vectors: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """One bit a number, 64 to a word: shape (rows, words), stored column by column."""
    bits = np.packbits(vectors > 0, axis=1)
    short = -bits.shape[1] % 8
    padded = np.pad(bits, ((0, 0), (0, short)))
    return np.asfortranarray(padded.view(np.uint64))


class IndexCache:
    """Keeps the index of one workspace and model, and reads it again when something changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: tuple[str, str, int] | None = None
        self._index: VectorIndex | None = None

    def get(self, workspace: Workspace, model: str) -> VectorIndex:
        """The index as it is now; safe from any thread."""
        generation = workspace.value("SELECT value FROM search_state WHERE key = 'generation'")
        key = (str(workspace.path), model, int(generation or 0))
        with self._lock:
            if self._key != key or self._index is None:
                self._index = VectorIndex.load(workspace, model)
                self._key = key
            return self._index
