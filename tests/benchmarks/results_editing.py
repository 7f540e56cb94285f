"""JFLEG and ASSET through `rifugio edit --prompts all` with the default model and the copy baseline.

    python -m tests.benchmarks.results_editing [--texts 0] [--tokens 96] [--out DIR]

``--texts 0`` takes the whole samples (754 and 180 texts, 21 instructions): many hours on two cores. Each
text is kept as it is written; run with ``--resume`` to go on after a stop.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from app.cli.command import run_command
from models.catalog import default_model
from tests.shared_data import shared_path


def main() -> int:
    """Import, edit, report; returns the exit code of the editing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=0)
    parser.add_argument("--tokens", type=int, default=96)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("build/work/results"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    file = str(arguments.out / "Editing.rifugio")
    if not arguments.resume:
        Path(file).unlink(missing_ok=True)
        sources = [
            str(shared_path("data", "jfleg", "dev", "dev.src")),
            str(shared_path("data", "asset", "asset.test.orig")),
        ]
        for command in (
            ["new", file, "--no-passphrase"],
            ["import", file, *sources, "--as", "edits"],
            ["systems", "add", file, "Default", "--model", default_model("generator").id,
             "--param", f"max_tokens={arguments.tokens}"],
        ):  # fmt: skip
            if run_command(command):
                return 1
    more = ["--resume"] if arguments.resume else ["--limit", str(arguments.texts)]
    code = run_command(["edit", file, "--system", "Default", "--prompts", "all", *more])
    run_command(["report", file, "--out", str(arguments.out / "editing.html")])
    return code


if __name__ == "__main__":
    raise SystemExit(main())
