"""What encryption costs in an hour's work: the same verbs on an encrypted and on a plain workspace.

    python -m tests.benchmarks.storage_encryption [--cpu]

The hour (`tests.benchmarks.hour`) has three parts. Writing: an import of 200 examples, then 500 edits that
save themselves, each followed by what the window reads after it, edits of the task, undo and redo, 100
ratings, outputs of a run, and a backup; this is little but storage, so encryption shows most. Documents: a
PDF of 40 pages and two notes imported, 20 searches, and a draft post-edited with tracked changes in 100
saves. Evaluating: the outputs scored, results and agreement read five times, the examples' statistics, an
export and the report.

Beside it, as in the window: the passages embedded, 20 searches by meaning, and at every fifth save which
sentences of the draft its evidence supports, by the embedder and the built-in entailment model. Waiting
for a model to write, and the person's pauses, are left out.

Each step is taken on both workspaces one after the other, in turn; a kind of step counts with its median
time, so that a busy machine does not decide. The limit is for the hour with the models that read along;
the ratio of what is no model's work is printed before it. ``--cpu`` counts processor time and leaves
models out, which work in processes of their own, and holds nothing to the limit: without the waits for
the disk, which both share, its ratio is the highest.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from core.storage import Workspace
from models.local import LocalModels
from tests.benchmarks.hour import MODELS, Pair, Reading, work_an_hour

LIMIT = 1.15
_PASSPHRASE = "correct horse battery"


def main() -> int:
    """Print each kind of step, the totals and ratios; 1 when the whole hour's is over the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cpu", action="store_true")
    cpu = parser.parse_args().cpu
    with LocalModels() as models:
        reading = None if cpu else Reading(models.embedder(), models.entailment())
        pair = _measure(time.process_time if cpu else time.perf_counter, reading)
    for (part, kind), both in pair.times.items():
        medians = [statistics.median(times) * 1000 for times in both]
        print(
            f"{part}: {kind} ({len(both[0])}): plain {medians[0]:.2f} ms, encrypted {medians[1]:.2f} ms"
        )
    parts = list(dict.fromkeys(part for part, _kind in pair.times))
    for part in parts:
        _print_ratio(pair, part, [part])
    ratio = _print_ratio(pair, "without models", [part for part in parts if part != MODELS])
    if reading is None:
        return 0
    ratio = _print_ratio(pair, "an hour's work", parts)
    print(f"ratio: {ratio:.3f} (limit {LIMIT})")
    return int(ratio > LIMIT)


def _measure(clock: Callable[[], float], reading: Reading | None) -> Pair:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Whoever comes first loads what both need, so neither of the two may.
        with (
            Workspace.create(folder / "a.rifugio", None) as one,
            Workspace.create(folder / "b.rifugio", None) as other,
        ):
            work_an_hour(Pair(one, other, clock), folder, 0, reading)
        plain = Workspace.create(folder / "plain.rifugio", None)
        encrypted = Workspace.create(folder / "encrypted.rifugio", _PASSPHRASE)
        with plain, encrypted:
            pair = Pair(plain, encrypted, clock)
            work_an_hour(pair, folder, 1, reading)
        return pair


def _print_ratio(pair: Pair, name: str, parts: list[str]) -> float:
    plain, encrypted = pair.total(0, parts), pair.total(1, parts)
    print(
        f"{name}: plain {plain:.2f} s, encrypted {encrypted:.2f} s, ratio {encrypted / plain:.3f}"
    )
    return encrypted / plain


if __name__ == "__main__":
    raise SystemExit(main())
