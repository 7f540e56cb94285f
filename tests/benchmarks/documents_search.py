"""Latency of the hybrid search at 10,000 and 100,000 passages, four windows each, synthetic vectors.

    python -m tests.benchmarks.documents_search [PASSAGES ...]

Exits with 1 when the median at 100,000 passages is above 100 ms.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

_WINDOWS, _WIDTH, _LIMIT_MS = 4, 384, 100.0


def main() -> int:
    """Print latencies; 1 when too slow."""
    sizes = [int(size) for size in sys.argv[1:]] or [10_000, 100_000]
    slow = False
    for size in sizes:
        slow |= measure(size) > _LIMIT_MS and size >= 100_000
    return int(slow)


def measure(size: int) -> float:
    """Fill a workspace and search it; the median in milliseconds."""
    from core.documents.search import search_passages
    from core.documents.vectors import VectorIndex
    from core.storage import Workspace

    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "w.rifugio"
        with Workspace.create(path, "a long passphrase") as workspace:
            started = time.perf_counter()
            workspace.transact_job("Fill", "", fill, size)
            filled = time.perf_counter() - started
            embedder = _Embedder(rng)
            vectors = rng.standard_normal((size * _WINDOWS, _WIDTH), dtype=np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            started = time.perf_counter()
            index = VectorIndex(
                np.repeat(np.arange(1, size + 1), _WINDOWS),
                np.tile(
                    np.array([[0, 900], [800, 1700], [1600, 2500], [2400, 3300]], np.int32),
                    (size, 1),
                ),
                vectors.astype(np.float16),
            )
            del vectors
            built = time.perf_counter() - started
            times = []
            parts: dict[str, list[float]] = {"words": [], "vectors": []}
            for n in range(30):
                query = f"patient word{n * 37 % 900} with term{n * 11 % 5000} and dose"
                started = time.perf_counter()
                hits = search_passages(workspace, query, k=10, embedder=embedder, index=index)
                times.append(1000 * (time.perf_counter() - started))
                assert hits
                started = time.perf_counter()
                search_passages(workspace, query, k=10)
                parts["words"].append(1000 * (time.perf_counter() - started))
                started = time.perf_counter()
                index.search(embedder.embed([query])[0], 100)
                parts["vectors"].append(1000 * (time.perf_counter() - started))
    median = statistics.median(times)
    print(
        f"{size:,} passages ({size * _WINDOWS:,} windows): median {median:.1f} ms, "
        f"worst {max(times):.1f} ms; words {statistics.median(parts['words']):.1f} ms, "
        f"vectors {statistics.median(parts['vectors']):.1f} ms"
        f" (filled in {filled:.0f} s, index built in {built:.1f} s)"
    )
    return median


def fill(tx, size: int) -> None:  # type: ignore[no-untyped-def]
    """Passages of 120 words drawn from a vocabulary with a long tail."""
    draw = random.Random(0)
    common = [f"word{n}" for n in range(900)]
    rare = [f"term{n}" for n in range(5000)]
    from core.types.documents import Document

    tx.insert(
        Document(
            id="d", title="D", file="d.txt", format="text", sha256="s", text_sha256="t", bytes=1,
            pages=1, characters=1,
        )
    )  # fmt: skip
    for n in range(size):
        text = "patient dose " + " ".join([*draw.choices(common, k=112), *draw.choices(rare, k=6)])
        tx.execute_unlogged(
            'INSERT INTO passage (id, document_id, number, page, page_end, "start", "end", sha256, text)'
            " VALUES (?, 'd', ?, 1, 1, 0, 1, '', ?)",
            (f"d:{n}", n, text),
        )
    tx.execute_unlogged("INSERT INTO passage_fts (rowid, text) SELECT n, text FROM passage")


class _Embedder:
    """Random unit vectors in no time, so that the search alone is measured."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    @property
    def info(self):  # type: ignore[no-untyped-def]
        from models.fake import fake_info

        return fake_info("random", 256)

    def embed(self, texts, **_more):  # type: ignore[no-untyped-def]
        vectors = self._rng.standard_normal((len(texts), _WIDTH))
        return list(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


if __name__ == "__main__":
    raise SystemExit(main())
