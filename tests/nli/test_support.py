"""Support of sentences, the cache of pairs, and when contradiction may be told."""

from __future__ import annotations

from core.nli.cache import CachedEntailment, MemoryCache, pair_key
from core.nli.support import find_sentences, find_support, reads_contradiction, share_supported
from core.ports import Entailment
from tests.nli.fake_entailment import WordEntailment

MEASURED = {
    "kinds": {"captions": {"contradiction_shown": True}, "law": {"contradiction_shown": False}}
}


def test_sentences_keep_their_places() -> None:
    text = "  He came. He left.\n\nShe stayed.  "
    assert [text[a:b] for a, b in find_sentences(text)] == ["He came.", "He left.", "She stayed."]


def test_supported_and_not_found() -> None:
    model = WordEntailment()
    claims = find_support("The dog barks. Purple cows fly.", "The dog barks at night.", model)
    assert [claim.verdict for claim in claims] == ["supported", "not found"]
    assert share_supported(claims) == 0.5
    assert len(model.asked) == 2


def test_contradiction_is_told_only_where_it_was_measured() -> None:
    text, evidence = "It is not so.", "It is so."
    for kind, verdict in (("captions", "contradicted"), ("law", "not found"), (None, "not found")):
        (claim,) = find_support(text, evidence, WordEntailment(), evaluation=MEASURED, kind=kind)
        assert claim.verdict == verdict
        assert (claim.contradiction is None) == (verdict == "not found")
    assert not reads_contradiction(None, "captions")
    assert not reads_contradiction(MEASURED, "poems")


def test_best_window_of_long_evidence_counts() -> None:
    filler = "Nothing of interest happened on that day in the village. " * 60
    model = WordEntailment()
    (claim,) = find_support(
        "The heron caught fish.", f"{filler}The heron caught fish. {filler}", model
    )
    assert claim.verdict == "supported"
    assert claim.support == 1.0
    assert "heron" in claim.window
    assert len(model.asked) > 3
    assert all(len(premise) < 1500 for premise, _ in model.asked)


def test_exact_checks_stand_beside_the_model() -> None:
    (claim,) = find_support("He takes 50 mg.", "He takes 5 mg.", WordEntailment())
    assert [difference.kind for difference in claim.differences] == ["dose"]


def test_nothing_to_judge_and_nothing_to_judge_by() -> None:
    model = WordEntailment()
    assert find_support("", "Evidence.", model) == []
    assert share_supported([]) is None
    (claim,) = find_support("He came.", " ", model)
    assert (claim.verdict, claim.support) == ("not found", 0.0)
    assert model.asked == []


def test_cache_asks_each_pair_once_and_keeps_the_order() -> None:
    model = WordEntailment()
    cached = CachedEntailment(model, MemoryCache())
    pairs = [("a b", "a"), ("a b", "c"), ("a b", "a")]
    first = cached.entail(pairs)
    assert model.asked == pairs[:2]
    assert first == WordEntailment().entail(pairs)
    assert cached.entail(pairs) == first
    assert len(model.asked) == 2


def test_cache_of_another_model_is_not_used() -> None:
    cache = MemoryCache()
    one, other = WordEntailment("1" * 64), WordEntailment("2" * 64)
    CachedEntailment(one, cache).entail([("a", "b")])
    CachedEntailment(other, cache).entail([("a", "b")])
    assert len(other.asked) == 1


def test_keys_tell_pairs_apart_and_hold_no_text() -> None:
    keys = {pair_key("m", "ab", "c"), pair_key("m", "a", "bc"), pair_key("ma", "b", "c")}
    assert len(keys) == 3
    assert all(len(key) == 64 for key in keys)


def test_memory_cache_forgets_the_least_used() -> None:
    cache = MemoryCache(2)
    answer = Entailment(1.0, 0.0, 0.0)
    cache.put("a", answer)
    cache.put("b", answer)
    assert cache.get("a") is answer
    cache.put("c", answer)
    assert cache.get("b") is None
    assert cache.get("a") is answer
