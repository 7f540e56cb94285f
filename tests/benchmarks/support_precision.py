"""How often the support view's verdicts are right, with the shipped entailment model.

    python -m tests.benchmarks.support_precision [--most N] [--beside N] [--words]

Prints, for each set of pairs, each verdict's precision, recall and number of times it was given: on our
own pairs (`support_pairs.jsonl`: medicine, law, teaching, engineering; sentences that keep close to their
passage's words, with one thing changed or added where they are not supported, and reworded ones), and on
published ones where they are on this machine (WiCE's claims, Google's paragraphs). Each sentence is
judged as the studio does it, against the passage it belongs to and ``--beside`` passages of other pairs
(4). 'Perhaps' is right where the sentence is supported. 'Contradicted' is measured although the view shows
it only for kinds of text where its precision was good; below, each set is counted once more with it as
'not found', as the view does elsewhere. ``--words`` goes without a model.
"""

from __future__ import annotations

import argparse
import json
import lzma
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.examples.grounding import Grounded, ground_text
from core.metrics.nltk_words import split_sentences
from core.nli.cache import CachedEntailment, MemoryCache
from core.ports import EntailmentModel
from core.types.documents import Evidence

OWN = Path(__file__).with_name("support_pairs.jsonl")
PUBLISHED = ("eval_wice", "eval_gtenp_paragraph")
VERDICTS = ("supported", "perhaps", "not found", "contradicted")
_LABELS = {
    "entailment": "supported",
    "neutral": "not found",
    "not_entailment": "not found",
    "contradiction": "contradicted",
}
#: The normal quantile of a 95 % interval.
_Z = 1.96


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence, the passage that decides on it, and what it says of it."""

    evidence: str
    sentence: str
    label: str


@dataclass(frozen=True, slots=True)
class Row:
    """A verdict's hits: how often it was given, was right, and should have been given."""

    verdict: str
    given: int
    right: int
    wanted: int

    @property
    def precision(self) -> float | None:
        return self.right / self.given if self.given else None

    @property
    def recall(self) -> float | None:
        return self.right / self.wanted if self.wanted else None


def own_pairs(kind: str) -> list[Pair]:
    """The pairs written for this measurement: those close to the passage's words, or reworded."""
    rows = [json.loads(line) for line in OWN.read_text(encoding="utf-8").splitlines()]
    return [Pair(r["evidence"], r["sentence"], r["label"]) for r in rows if r["kind"] == kind]


def published_pairs(path: Path) -> list[Pair]:
    """Pairs of a published set whose hypothesis is one sentence, as the view judges them."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        Pair(row["premise"], row["hypothesis"], _LABELS[row["label"]])
        for row in rows
        if len(split_sentences(row["hypothesis"])) == 1
    ]


def judge(
    pairs: Sequence[Pair], model: EntailmentModel | None, *, beside: int, seed: int = 7
) -> Iterator[Grounded | None]:
    """What the view says of each pair's sentence, contradiction told apart; None where it is no claim."""
    draw = random.Random(seed)
    others = list(dict.fromkeys(pair.evidence for pair in pairs))
    for pair in pairs:
        passages = [pair.evidence]
        pool = [text for text in others if text != pair.evidence]
        passages += draw.sample(pool, min(beside, len(pool)))
        draw.shuffle(passages)
        evidence = [
            Evidence(
                passage_id=str(n), document_id="d", document="D", page=1, start=0, end=1,
                sha256="", text=text,
            )
            for n, text in enumerate(passages)
        ]  # fmt: skip
        claims = ground_text(pair.sentence, evidence, model, tells_contradiction=True)
        yield claims[0] if len(claims) == 1 else None


def count(wanted: Sequence[str], given: Sequence[str]) -> list[Row]:
    """Each verdict's row; of 'perhaps' those are right that are supported."""
    right = Counter(
        g for w, g in zip(wanted, given, strict=True) if w == ("supported" if g == "perhaps" else g)
    )
    often, should = Counter(given), Counter(wanted)
    should["perhaps"] = should["supported"] if often["perhaps"] else 0
    return [
        Row(verdict, often[verdict], right[verdict], should[verdict])
        for verdict in VERDICTS
        if should[verdict] or often[verdict]
    ]


def interval(right: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    share = right / n
    middle = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def in_words(row: Row) -> str:
    """A row as a line of print."""
    parts = [f"  {row.verdict:13}"]
    for name, value, n in (
        ("precision", row.precision, row.given),
        ("recall", row.recall, row.wanted),
    ):
        if value is None:
            parts.append(f"{name} - (n 0)")
            continue
        low, high = interval(row.right, n)
        parts.append(f"{name} {value:.2f} [{low:.2f}, {high:.2f}] (n {n})")
    return "  ".join(parts)


def report(
    name: str, pairs: Sequence[Pair], told: Sequence[Grounded | None], seconds: float
) -> None:
    """Print a set's numbers."""
    wanted = [pair.label for pair in pairs]
    given = [claim.verdict if claim else "" for claim in told]
    print(f"{name}: {len(pairs)} sentences, {len(pairs) / seconds:.1f} sentences/s")
    for row in count(wanted, given):
        print(in_words(row))
    print("  contradiction not told apart:")
    for row in count(*([_apart(v) for v in verdicts] for verdicts in (wanted, given))):
        print(in_words(row))


def _apart(verdict: str) -> str:
    return "not found" if verdict == "contradicted" else verdict


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the numbers; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--most", type=int, default=0, help="pairs of each published set; 0 for all"
    )
    parser.add_argument("--beside", type=int, default=4, help="passages of other pairs beside")
    parser.add_argument("--words", action="store_true", help="without a model")
    asked = parser.parse_args(arguments)
    model: EntailmentModel | None = None
    if not asked.words:
        from app import services

        model = CachedEntailment(services.entailment_model(), MemoryCache())
    sets = {f"our own, {kind}": own_pairs(kind) for kind in ("close", "reworded")}
    shared = Path(__file__).resolve().parents[3] / "shared" / "data" / "nli"
    for name in PUBLISHED:
        path = shared / f"{name}.jsonl.xz"
        if path.exists():
            published = published_pairs(path)
            random.Random(3).shuffle(published)
            sets[name.removeprefix("eval_")] = published[: asked.most or None]
        else:
            print(f"{name} is not on this machine")
    for name, pairs in sets.items():
        started = time.perf_counter()
        found: list[Grounded | None] = []
        for number, answer in enumerate(judge(pairs, model, beside=asked.beside), 1):
            found.append(answer)
            print(f"\r{name}: {number} of {len(pairs)}", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        report(name, pairs, found, time.perf_counter() - started)
    close = getattr(model, "close", None)
    if close is not None:
        close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
