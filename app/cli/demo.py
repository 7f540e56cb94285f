"""The demo: the main job on the built-in sample, from an empty workspace to a report."""

from __future__ import annotations

import argparse
import secrets
import time
from pathlib import Path
from typing import Any

from app.cli.common import ProgressLine, add_common, cancel_on_interrupt, print_result
from core.errors import ConflictError
from core.storage import Workspace
from core.types import Example, Output

#: New tokens for a whole document. It keeps the demo within a minute on two cores.
_TOKENS = 240
_NAME = "Demo"


def add_parsers(verbs: Any) -> None:
    """demo."""
    demo = verbs.add_parser("demo", help="the main job on the built-in sample")
    demo.add_argument("--out", type=Path, metavar="DIR", help="where to put workspace and report")
    add_common(demo)
    demo.set_defaults(run=_demo)


def _demo(args: argparse.Namespace) -> int:
    from app import services
    from core.exchange.demo import fill_demo
    from core.metrics.registry import create
    from core.people import add_person
    from core.report.html import write_report
    from core.runs.engine import execute_run
    from core.runs.results import result_rows
    from core.runs.scoring import DEFAULT_METRICS, score_run
    from core.runs.verbs import add_run, add_system, select_examples
    from models.catalog import default_model

    started = time.monotonic()
    folder = args.out or _free_folder()
    folder.mkdir(parents=True, exist_ok=True)
    path, report = folder / f"{_NAME}.rifugio", folder / "report.html"
    if path.exists():
        raise ConflictError(f"{path} is there already.", remedy="Choose another folder with --out.")
    passphrase = "-".join(secrets.token_hex(3) for _ in range(4))
    (folder / "passphrase.txt").write_text(passphrase + "\n", encoding="utf-8")
    model = default_model("generator")
    with Workspace.create(path, passphrase) as workspace:
        person = workspace.transact("Add person", "", add_person, _NAME).value
        workspace.transact("Fill the demo", person.id, fill_demo)
        system = workspace.transact(
            "Add system",
            person.id,
            add_system,
            f"{model.name}, section by section",
            model_id=model.id,
            model_sha256=model.sha256,
            params={"mode": "sections", "max_tokens": _TOKENS, "repeat_penalty": 1.1},
        ).value
        examples = select_examples(workspace)
        run = workspace.transact_job("Start run", person.id, add_run, system.id, examples).value
        generator = services.generator(model.id)
        try:
            with cancel_on_interrupt() as cancel:
                job = execute_run(
                    workspace,
                    run.id,
                    generator,
                    progress=ProgressLine("Drafting", "examples"),
                    cancel=cancel,
                )
        finally:
            generator.close()
        metrics = {name: create(name) for name in DEFAULT_METRICS}
        score_run(workspace, run.id, metrics, person=person.id, progress=ProgressLine("Scoring"))
        rows = result_rows(workspace)
        write_report(workspace, report)
        counts = {
            "examples": workspace.count(Example),
            "outputs": workspace.count(Output, "state = 'done'"),
        }
    seconds = round(time.monotonic() - started, 1)
    value = {
        "workspace": str(path),
        "passphrase_file": str(folder / "passphrase.txt"),
        "report": str(report),
        "model": model.id,
        "state": job.state,
        "failed": job.failed,
        "seconds": seconds,
        "token_limit": _TOKENS,
        **counts,
        "results": {row.metric: row.interval.mean for row in rows},
    }
    means = ", ".join(f"{row.metric} {row.interval.mean:.3f}" for row in rows if row.interval.n)
    text = (
        f"{counts['outputs']} of {counts['examples']} examples drafted by {model.name} in {seconds} s, "
        f"each capped at {_TOKENS} tokens for the demo.\n{means}\n"
        f"The model is a stand-in: its texts are poor, and the scores say so.\n"
        f"Workspace: {path} (encrypted; its passphrase is in passphrase.txt beside it)\n"
        f"Report:    {report}"
    )
    print_result(args, value, text)
    return 0 if job.state == "done" and not job.failed else 1


def _free_folder() -> Path:
    """A folder in the current one that is not there yet."""
    for number in range(1, 10_000):
        folder = Path("rifugio-demo" if number == 1 else f"rifugio-demo-{number}")
        if not folder.exists():
            return folder
    raise ConflictError("There are thousands of demo folders here.", remedy="Give --out DIR.")
