"""Text metrics against the published formula written plainly, or its package, in one run; and growth.

.venv/bin/python -m tests.benchmarks.metrics_text
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from core.metrics.registry import create
from tests.benchmarks.metrics_plain import plain_gleu, plain_sari

Item = dict[str, Any]


def make_corpus(sentences: int, references: int, seed: int = 1) -> list[Item]:
    """Sentences of some 20 words with Zipf's frequencies, edited at random for output and references."""
    generator = random.Random(seed)
    vocabulary = [f"{word}{end}" for word in map(str, _words(4000)) for end in ("", ",", ".")]
    weights = [1 / (rank + 1) for rank in range(len(vocabulary))]

    def edit(words: list[str]) -> list[str]:
        edited = []
        for word in words:
            chance = generator.random()
            if chance < 0.08:
                continue
            edited.append(generator.choice(vocabulary) if chance < 0.2 else word)
        return edited

    items = []
    for _ in range(sentences):
        source = generator.choices(vocabulary, weights, k=generator.randint(12, 28))
        wanted = edit(source)
        items.append(
            {
                "source": " ".join(source),
                "prediction": " ".join(edit(wanted)),
                "references": [" ".join(edit(wanted)) for _ in range(references)],
            }
        )
    return items


def _words(count: int) -> list[str]:
    letters = "etaoinshrdlu"
    return [
        "".join(letters[(number // 12**place) % 12] for place in range(4)) + "e"
        for number in range(count)
    ]


def measure(work: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    """The least processor time of a few goes, in seconds, and the last result."""
    best, result = float("inf"), None
    for _ in range(times):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return best, result


def compare(label: str, items: int, ours: Callable[[], float], plain: Callable[[], float]) -> None:
    """Print both rates and their ratio, after checking that both give the same number."""
    our_time, our_value = measure(ours)
    plain_time, plain_value = measure(plain, 1)
    assert abs(our_value - plain_value) < 1e-9, (label, our_value, plain_value)
    print(
        f"{label:<46} ours {items / our_time:>10,.0f}/s   plain {items / plain_time:>8,.1f}/s   "
        f"ratio {plain_time / our_time:>6.1f}"
    )


def print_growth(label: str, work: Callable[[int], Any], start: int) -> None:
    """Print how time grows when the input doubles three times; 2.0 is linear."""
    seconds = []
    for step in range(4):
        size = start * 2**step
        seconds.append(measure(lambda size=size: work(size), 2)[0])  # type: ignore[misc]
    factors = [after / before for before, after in pairwise(seconds)]
    print(
        f"growth of {label:<36} "
        + "  ".join(f"{start * 2**step:>7,}: {s * 1000:8.1f} ms" for step, s in enumerate(seconds))
        + "   factors "
        + " ".join(f"{factor:.2f}" for factor in factors)
    )


def _columns(items: list[Item]) -> tuple[list[str], list[str], list[list[str]]]:
    return (
        [item["source"] for item in items],
        [item["prediction"] for item in items],
        [item["references"] for item in items],
    )


def main() -> None:
    """Print ratios and growth."""
    for references in (10, 4):
        items = make_corpus(1000, references)
        columns = _columns(items)
        compare(
            f"SARI, {references} references",
            len(items),
            lambda items=items: create("sari").aggregate(items).value,
            lambda columns=columns: plain_sari(*columns),
        )
    items = make_corpus(750, 4)
    columns = _columns(items)
    compare(
        "GLEU, 4 references, 500 draws",
        len(items),
        lambda: create("gleu").aggregate(items).value,
        lambda: plain_gleu(*columns),
    )
    _compare_bleu(items)
    _compare_rouge()
    corpus = make_corpus(4000, 4)
    for name in ("sari", "gleu", "bleu"):
        print_growth(
            f"{name} in sentences",
            lambda size, name=name: create(name).aggregate(corpus[:size]),
            500,
        )
    generator = random.Random(3)
    vocabulary = _words(2000)
    texts = [" ".join(generator.choices(vocabulary, k=20_000)) for _ in range(2)]

    def rouge(size: int) -> None:
        cut = [text[: size * 6] for text in texts]
        create("rougeL").score_one({"prediction": cut[0], "references": [cut[1]]})

    print_growth("rougeL in words of a pair (quadratic)", rouge, 2500)


def _compare_bleu(items: list[Item]) -> None:
    from sacrebleu.metrics.bleu import BLEU

    transposed = [list(column) for column in zip(*(i["references"] for i in items), strict=True)]
    compare(
        "BLEU against sacrebleu, 4 references",
        len(items),
        lambda: create("bleu").aggregate(items).value,
        lambda: BLEU().corpus_score([i["prediction"] for i in items], transposed).score,
    )


def _compare_rouge() -> None:
    from rouge_score.rouge_scorer import RougeScorer

    generator = random.Random(2)
    vocabulary = _words(2000)
    for words, pairs in ((20, 400), (430, 12), (5000, 1)):
        texts = [
            (
                " ".join(generator.choices(vocabulary, k=words)),
                " ".join(generator.choices(vocabulary, k=words)),
            )
            for _ in range(pairs)
        ]
        scorer = RougeScorer(["rougeL"])
        compare(
            f"ROUGE-L against rouge-score, {words:,} words",
            pairs,
            lambda texts=texts: sum(
                create("rougeL").score_one({"prediction": a, "references": [b]}).value or 0.0
                for a, b in texts
            ),
            lambda texts=texts, scorer=scorer: sum(
                scorer.score(b, a)["rougeL"].fmeasure for a, b in texts
            ),
        )


if __name__ == "__main__":
    main()
