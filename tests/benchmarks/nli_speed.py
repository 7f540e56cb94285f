"""Pairs a second of the app's entailment runner against CrossEncoder.predict with default settings.

Run ``python tests/benchmarks/nli_speed.py TRAINED [EXPORTED]``: the trained sentence-transformers folder,
and the folder exported from it (the shipped one where none is named). Prints both speeds on mixed
lengths, their ratio, which should be 2 at least, and the growth with length.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.ports import Cancellation
from core.resources import resource_path
from models.onnx_nli import EntailmentEngine

_TEXT = "the court found that a patient had no pain when two pupils read their new contract"
_ROUNDS = 3


def make_pairs(count: int, low: int, high: int, seed: int = 5) -> list[tuple[str, str]]:
    """Pairs of premises of ``low`` to ``high`` words and hypotheses of 5 to 15."""
    draw = random.Random(seed)

    def text(words: int) -> str:
        return " ".join(draw.choices(_TEXT.split(), k=words))

    return [(text(draw.randint(low, high)), text(draw.randint(5, 15))) for _ in range(count)]


def main() -> None:
    trained = sys.argv[1]
    exported = Path(sys.argv[2]) if len(sys.argv) > 2 else resource_path("models", "nli")
    from sentence_transformers import CrossEncoder

    slow = CrossEncoder(trained, device="cpu", local_files_only=True)
    fast = EntailmentEngine({"path": str(exported)})
    cancel = Cancellation()

    def ours(pairs: list[tuple[str, str]]) -> None:
        fast.call("entail", {"pairs": pairs}, cancel, lambda event, value: None)

    def theirs(pairs: list[tuple[str, str]]) -> None:
        slow.predict(pairs, show_progress_bar=False)

    def speed(run: object, pairs: list[tuple[str, str]]) -> float:
        assert callable(run)
        run(pairs[:8])
        times = []
        for _ in range(_ROUNDS):
            began = time.perf_counter()
            run(pairs)
            times.append(time.perf_counter() - began)
        return len(pairs) / min(times)

    mixed = make_pairs(192, 5, 200)
    one, other = speed(ours, mixed), speed(theirs, mixed)
    print(f"mixed lengths (5-200 words): ours {one:.0f}, CrossEncoder.predict {other:.0f} pairs/s")
    print(f"ratio {one / other:.2f}")
    for words in (10, 40, 80, 160, 320):
        pairs = make_pairs(48, words, words)
        print(f"premise of {words:3d} words: ours {speed(ours, pairs):.1f} pairs/s")


if __name__ == "__main__":
    main()
