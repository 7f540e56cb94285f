"""Searching passages by words and by meaning, and the evidence that comes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.documents.library import (
    import_documents,
)
from core.documents.search import gather_evidence, search_passages
from core.documents.vectors import VectorIndex, count_missing, embed_passages, model_key
from core.errors import Cancelled, UsageError
from core.ports import Cancellation, Progress
from core.storage import Workspace
from models.fake import FakeEmbedder, FakePairScorer


def test_words_and_vectors_are_fused_and_filtered(workspace: Workspace, tmp_path: Path) -> None:
    for name, text in (
        ("heart", "Chest pain on exertion points to angina."),
        ("lung", "Cough with fever points to pneumonia."),
        ("skin", "An itching rash after penicillin."),
    ):
        (tmp_path / f"{name}.txt").write_text(text)
    report = import_documents(workspace, [tmp_path], "")
    embedder = FakeEmbedder(256)
    assert embed_passages(workspace, embedder) == 3
    assert embed_passages(workspace, embedder) == 0
    hits = search_passages(workspace, "fever and cough", embedder=embedder)
    assert hits[0].document == "lung"
    assert hits[0].word_rank == hits[0].vector_rank == 1
    assert hits[0].end > 0
    skin = next(d.id for d in report.added if d.title == "skin")
    assert [
        h.document
        for h in search_passages(workspace, "fever", embedder=embedder, document_ids=[skin])
    ] == ["skin"]
    best = search_passages(workspace, "points to pneumonia.", reranker=FakePairScorer())
    assert best[0].document == "lung"
    assert search_passages(workspace, "pénicilline PENICILLIN")[0].document == "skin"
    assert search_passages(workspace, "coughs")[0].document == "lung"
    assert search_passages(workspace, "rashes")[0].document == "skin"
    assert search_passages(workspace, '"; DROP TABLE -- *') == []
    with pytest.raises(UsageError):
        search_passages(workspace, "  ")


def test_another_embedder_makes_its_own_vectors(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Chest pain.")
    import_documents(workspace, [tmp_path], "")
    embed_passages(workspace, FakeEmbedder(64))

    class Other(FakeEmbedder):
        @property
        def info(self):  # type: ignore[no-untyped-def]
            from models.fake import fake_info

            return fake_info("other", 256)

    assert embed_passages(workspace, Other(32)) == 1
    assert workspace.value("SELECT count(DISTINCT model) FROM passage_vector") == 1
    assert len(VectorIndex.load(workspace, model_key(Other()))) == 1


def test_evidence_comes_from_one_document_or_from_several(
    workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("Angina and ramipril. " * 30)
    (tmp_path / "b.txt").write_text("Angina and statins. " * 30)
    import_documents(workspace, [tmp_path], "", window=200, overlap=20)
    both = gather_evidence(workspace, ["angina", "ramipril", "statins"])
    assert {e.document for e in both} == {"a", "b"}
    assert len(both) == 5
    one = gather_evidence(workspace, ["angina", "ramipril"], one_document=True)
    assert {e.document for e in one} == {"a"}
    assert all(e.text and e.sha256 and e.page == 1 for e in one)


def test_embedding_stops_and_goes_on(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("word " * 4000)
    import_documents(workspace, [tmp_path], "", window=400, overlap=20)
    cancel = Cancellation()

    def watch(progress: Progress) -> None:
        if progress.done == 20:
            cancel.cancel()

    with pytest.raises(Cancelled):
        embed_passages(workspace, FakeEmbedder(), progress=watch, cancel=cancel)
    left = count_missing(workspace, model_key(FakeEmbedder()))
    assert 0 < left < 52
    assert embed_passages(workspace, FakeEmbedder()) == left


def test_the_comparison_of_signs_finds_what_the_exact_one_finds() -> None:
    import numpy as np

    from core.documents import vectors

    rng = np.random.default_rng(1)
    rows = rng.standard_normal((vectors.EXACT_WINDOWS + 1, 384)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    near = rows[123] + 0.3 * rows[7]
    index = VectorIndex(
        np.arange(len(rows)), np.zeros((len(rows), 2), np.int32), rows.astype(np.float16)
    )
    found = index.search(list(near / np.linalg.norm(near)), 2)
    assert [hit.n for hit in found] == [123, 7]
