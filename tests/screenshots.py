"""Pictures of every page on the demo's content, in light and dark: ``python -m tests.screenshots OUT``.

A scripted model writes, so that the pictures are the same everywhere and need no weights. Nothing of the
person's own settings is read or written.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

PERSON = "Dr A. Rossi"
MODEL = "fake-generator"


class ScriptedModels:
    """Writes slowly enough to be seen writing."""

    def __init__(self, answers: tuple[str, ...]) -> None:
        self._answers = answers

    def generator(self, model_id: str | None = None):  # type: ignore[no-untyped-def]
        from models.fake import FakeGenerator

        return FakeGenerator(answers=self._answers, delay=0.01, context_tokens=100_000)

    def close(self) -> None:
        """Nothing to end."""


def fill(path: Path) -> tuple[str, ...]:
    """A workspace in the middle of an evaluation; returns answers for a further run."""
    from app.session import prepare_workspace
    from core.exchange.demo import fill_demo
    from core.metrics.registry import create
    from core.review.verbs import edit_review, fill_queue, record_rating, submit_review
    from core.runs.engine import execute_run
    from core.runs.scoring import DEFAULT_METRICS, score_run
    from core.runs.verbs import add_run, add_system, select_examples
    from core.storage import Workspace
    from core.tasks.sections import join_sections
    from core.types import RATING_AXES, Example, ReviewItem
    from models.fake import FakeGenerator

    with Workspace.create(path, "correct horse battery") as workspace:
        me = prepare_workspace(workspace, PERSON).id
        workspace.transact_job("Fill the demo", me, fill_demo)
        references = [join_sections(e.output) for e in workspace.find(Example)]
        # One system leaves things out, the other leaves more out.
        kept = {
            "Qwen2.5 7B, section by section": [text[: len(text) * 4 // 5] for text in references],
            "SmolLM2 135M, whole text": [text[: len(text) * 2 // 5] for text in references],
        }
        for name, answers in kept.items():
            system = workspace.transact_job("Add", me, add_system, name, model_id=MODEL).value
            run = workspace.transact_job(
                "Run", me, add_run, system.id, select_examples(workspace)
            ).value
            execute_run(workspace, run.id, FakeGenerator(answers=answers, context_tokens=100_000))
            score_run(workspace, run.id, {m: create(m) for m in DEFAULT_METRICS}, person=me)
        workspace.transact_job("Run", me, add_run, system.id, select_examples(workspace))
        workspace.transact_job("Queue", me, fill_queue, me, 7)
        for number, item in enumerate(workspace.find(ReviewItem, order_by="position")[:5]):
            for place, axis in enumerate(RATING_AXES[: 5 if number < 4 else 2]):
                workspace.transact_job(
                    "Rate", me, record_rating, item.output_id, me, axis, 2 + (number + place) % 4
                )
            if number < 3:
                workspace.transact_job("Submit", me, submit_review, item.id, "")
            else:
                workspace.transact_job("Keep", me, edit_review, item.id, state="draft")
    return tuple(references)


def wait(milliseconds: int) -> None:
    """Let the window work."""
    from PySide6.QtTest import QTest

    QTest.qWait(milliseconds)


def take(out: Path, themes: list[str], size: tuple[int, int], scale: int) -> list[Path]:
    """Take the pictures; returns their files."""
    from PySide6.QtWidgets import QApplication

    from app import theme
    from app.pages import PAGES
    from app.session import Session, prepare_workspace
    from app.windows.main import MainWindow
    from core.settings import Settings
    from core.storage import Workspace

    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    taken: list[Path] = []
    folder = Path(tempfile.mkdtemp())
    path = folder / "Cardiology pilot.rifugio"
    answers = fill(path)
    for name in themes:
        theme.apply_theme(app, name, scale)  # type: ignore[arg-type]
        settings = Settings(person=PERSON, theme=name, text_scale=scale, idle_lock_minutes=0)
        session = Session(settings, make_models=lambda: ScriptedModels(answers))
        problems: list[BaseException] = []
        session.jobs.failed.connect(lambda error, _owner: problems.append(error))  # noqa: B023
        window = MainWindow(session)
        window.resize(*size)
        window.show()
        wait(200)

        def keep(title: str) -> None:
            file = out / f"{title}-{name}.png"  # noqa: B023
            window.grab().save(str(file))  # noqa: B023
            taken.append(file)

        keep("welcome")
        workspace = Workspace.open(path, "correct horse battery")
        window._adopt(workspace, prepare_workspace(workspace, PERSON))
        for entry in PAGES:
            window.work.choose(entry.name)
            wait(900)
            keep(entry.name)
        window.lock()
        wait(200)
        keep("lock")
        window.close()
        if problems:
            raise problems[0]
    return taken


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="folder for the pictures")
    parser.add_argument("--theme", action="append", choices=("light", "dark", "high-contrast"))
    parser.add_argument("--size", default="1440x900")
    parser.add_argument("--scale", type=int, default=100, choices=(100, 125, 150))
    args = parser.parse_args()
    width, _, height = args.size.partition("x")
    args.out.mkdir(parents=True, exist_ok=True)
    os.environ["RIFUGIO_HOME"] = tempfile.mkdtemp()
    for file in take(
        args.out, args.theme or ["light", "dark"], (int(width), int(height)), args.scale
    ):
        print(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
