"""What encryption costs in an hour's work: the same verbs on an encrypted and on a plain workspace.

    python -m tests.benchmarks.storage_encryption [--cpu]

The hour (`tests.benchmarks.hour`) has three parts. Writing: an import of 200 examples, then 500 edits that
save themselves, each followed by what the window reads after it, edits of the task, undo and redo, 100
ratings, outputs of a run, and a backup; this is little but storage, so encryption shows most. Documents: a
PDF of 40 pages and two notes imported, 20 searches, and a draft post-edited with tracked changes in 100
saves. Evaluating: the outputs scored, results and agreement read five times, the examples' statistics, an
export and the report.

Each step is taken on both workspaces one after the other, in turn; a kind of step counts with its median
time, so that a busy machine does not decide. With ``--cpu`` only processor time counts, which leaves out
the waits for the disk that both share, so that its ratio is the higher one. Pauses and models are left
out: with them the difference would vanish.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from core.storage import Workspace
from tests.benchmarks.hour import Pair, work_an_hour

LIMIT = 1.15
_PASSPHRASE = "correct horse battery"


def main() -> int:
    """Print each kind of step, the totals and ratios; 1 when the whole hour's is over the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cpu", action="store_true")
    clock = time.process_time if parser.parse_args().cpu else time.perf_counter
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Whoever comes first loads what both need, so neither of the two may.
        with (
            Workspace.create(folder / "a.rifugio", None) as one,
            Workspace.create(folder / "b.rifugio", None) as other,
        ):
            work_an_hour(Pair(one, other, clock), folder, 0)
        plain = Workspace.create(folder / "plain.rifugio", None)
        encrypted = Workspace.create(folder / "encrypted.rifugio", _PASSPHRASE)
        with plain, encrypted:
            pair = Pair(plain, encrypted, clock)
            work_an_hour(pair, folder, 1)
    for (part, kind), both in pair.times.items():
        medians = [statistics.median(times) * 1000 for times in both]
        print(
            f"{part}: {kind} ({len(both[0])}): plain {medians[0]:.2f} ms, encrypted {medians[1]:.2f} ms"
        )
    for part in dict.fromkeys(part for part, _kind in pair.times):
        print(
            f"{part}: plain {pair.total(0, part):.2f} s, encrypted {pair.total(1, part):.2f} s,"
            f" ratio {pair.total(1, part) / pair.total(0, part):.3f}"
        )
    ratio = pair.total(1) / pair.total(0)
    print(f"an hour's work: plain {pair.total(0):.2f} s, encrypted {pair.total(1):.2f} s")
    print(f"ratio: {ratio:.3f} (limit {LIMIT})")
    return int(ratio > LIMIT)


if __name__ == "__main__":
    raise SystemExit(main())
