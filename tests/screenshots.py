"""Pictures of every page in light and dark, offscreen, with the demo's data and a finished run.

    python -m tests.screenshots [FOLDER] [--themes light,dark,high-contrast] [--scale 100]
        [--size 1440x900]

The outputs come from a scripted model, so the pictures are the same on every machine.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.windows.main import MainWindow
    from core.storage import Workspace

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


def main() -> int:
    """Draw the pictures; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("build/work/screenshots"))
    parser.add_argument("--themes", default="light,dark")
    parser.add_argument("--scale", type=int, default=100)
    parser.add_argument("--size", default="1440x900")
    parser.add_argument("--pages", default="")
    arguments = parser.parse_args()
    width, height = (int(part) for part in arguments.size.split("x"))
    arguments.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        from core.settings import models_directory

        os.environ["RIFUGIO_MODELS"] = str(models_directory())
        os.environ["RIFUGIO_HOME"] = home
        path = Path(home) / "Cardiology pilot.rifugio"
        fill_workspace(path)
        for theme in arguments.themes.split(","):
            draw(
                path,
                arguments.folder,
                theme,
                arguments.scale,
                (width, height),
                arguments.pages.split(",") if arguments.pages else None,
            )
    return 0


def fill_workspace(path: Path) -> None:
    """The demo's content, two scripted systems' outputs, and some ratings."""
    from core.exchange.demo import fill_demo
    from core.graphs.samples import fill_graphs
    from core.people import add_person
    from core.review.verbs import edit_review, fill_queue, record_rating
    from core.runs.engine import execute_run
    from core.runs.verbs import add_run, add_system, select_examples
    from core.storage import Workspace
    from core.types import RATING_AXES, ReviewItem
    from models.fake import FakeGenerator

    with Workspace.create(path, None) as workspace:
        person = workspace.transact_job("Add person", "", add_person, "Dr A. Rossi").value.id
        workspace.transact_job("Fill", person, fill_demo)
        workspace.transact_job("Fill", person, fill_graphs)
        for name in ("Small model", "Small model, rubric in prompt"):
            system = workspace.transact_job(
                "Add system", person, add_system, name, model_id="fake-generator"
            ).value
            run = workspace.transact_job(
                "Add run", person, add_run, system.id, select_examples(workspace)
            ).value
            execute_run(workspace, run.id, FakeGenerator())
        fill_checklists(workspace, person)
        workspace.transact_job("Fill queue", person, fill_queue, person, 7)
        items = workspace.find(ReviewItem, order_by="position")
        for number, item in enumerate(items[: len(items) // 2]):
            for place, axis in enumerate(RATING_AXES):
                value = 1 + (number * 2 + place * 3) % 5
                workspace.transact(
                    "Rate", person, record_rating, item.output_id, person, axis, value
                )
            workspace.transact("Submit", person, edit_review, item.id, state="submitted")
        fill_studio(workspace, person)


def fill_studio(workspace, person: str) -> None:  # type: ignore[no-untyped-def]
    """A document, drafts from it, and one that is being post-edited."""
    from core.documents.library import import_documents
    from core.documents.pdf import write_pdf
    from core.editing.tracked import edit
    from core.examples.drafting import choose_draft, execute_request, offer_drafts, prepare_request
    from core.examples.post_edit import (
        SectionEdit,
        load_post_edit,
        post_edit_section,
        save_as_example,
        start_post_edit,
    )
    from core.types import Task
    from models.fake import FakeEmbedder, FakeGenerator

    lines = ["It started on Saturday, after the walk.", "I take ramipril, 5 mg, in the morning."]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "consultation.pdf"
        path.write_bytes(write_pdf([lines, ["Blood pressure 148/92 mmHg, pulse 84 per minute."]]))
        import_documents(workspace, [path], person)
    task = workspace.find(Task, "objective LIKE '%SOAP%'")[0]
    note = (
        "# Consultation\n\nIt started on Saturday.\n\n# Subjective\n\n{who} takes ramipril 10 mg daily."
        "\n\n# Objective\n\nPulse 84.\n\n# Assessment\n\nAngina.\n\n# Plan\n\nECG today."
    )
    writer = FakeGenerator(
        [note.format(who=who) for who in ("He", "The man", "This patient", "Mr B")]
    )
    request = prepare_request(
        workspace,
        task.id,
        writer,
        person,
        embedder=FakeEmbedder(),
        queries=("chest pain", "ramipril dose"),
        count=4,
    )
    execute_request(workspace, request.id, writer)
    request = workspace.transact_job("Offer", person, offer_drafts, request.id).value
    workspace.transact("Choose", person, choose_draft, request.id, request.shown[0])
    post_edit = workspace.transact("Start", person, start_post_edit, request.id).value
    text = load_post_edit(workspace, post_edit.id).texts[1]
    start = text.text.index("10")
    patch = edit(text, start, start + 2, "5", person=person, time="2026-01-01T09:00:00.000Z")
    removed = text.text[patch.start : patch.start + patch.removed]
    workspace.transact(
        "Edit draft",
        person,
        post_edit_section,
        post_edit.id,
        "",
        [SectionEdit(1, removed, patch)],
        "typed",
    )
    workspace.transact("Save example", person, save_as_example, post_edit.id)


def fill_checklists(workspace: Workspace, person: str) -> None:
    """One text mapped and judged by hand, a sentence an item, so that every status is to be seen."""
    from core.checklists.judging import record_verdict
    from core.checklists.pairs import read_pairs
    from core.checklists.verbs import Target, fill_entry, finish_checklist, start_checklist, text_of
    from core.nli.support import find_sentences
    from core.rubrics.verbs import rubric_items
    from core.types import Example, Output, Rubric

    rubric = workspace.find(Rubric)[0]
    items = rubric_items(workspace, rubric.id)
    example = workspace.find(Example, "task_id = ?", (rubric.task_id,), limit=1)[0]
    output = workspace.find(Output, "example_id = ?", (example.id,), limit=1)[0]
    ids = []
    for output_id, left_out in (("", 4), (output.id, 3)):
        target = Target(rubric.id, example.id, output_id)
        text = text_of(workspace, target)
        spans = [(a, b) for a, b in find_sentences(text) if not text.startswith("#", a)]
        checklist = workspace.transact_job("Map", person, start_checklist, target).value
        for number, item in enumerate(items):
            if number != left_out and number < len(spans):
                start, end = spans[number]
                workspace.transact_job(
                    "Map", person, fill_entry, checklist.id, item.id, start=start, end=end
                )
        workspace.transact_job("Finish", person, finish_checklist, checklist.id)
        ids.append(checklist.id)
    verdicts = ((True, True, False), (False, True, False), (False, False, True))
    asked = [pair for pair in read_pairs(workspace, *ids) if pair.asked]
    for number, pair in enumerate(asked):
        recall, precision, against = verdicts[number % len(verdicts)]
        workspace.transact_job(
            "Judge",
            person,
            record_verdict,
            *ids,
            pair.item.id,
            recall=recall,
            precision=precision,
            contradicted=against,
        )


def draw(
    path: Path,
    folder: Path,
    theme_name: str,
    scale: int,
    size: tuple[int, int],
    only: list[str] | None,
) -> None:
    """Draw the welcome screen, every page and the lock screen in one theme."""
    from PySide6.QtWidgets import QApplication

    from app import theme
    from app.pages import PAGES
    from app.session import Session
    from app.windows.main import MainWindow
    from core.settings import Settings
    from tests.event_loop import spin

    app = QApplication.instance() or QApplication(["rifugio"])
    assert isinstance(app, QApplication)
    theme.apply_theme(app, theme_name, scale)  # type: ignore[arg-type]
    settings = Settings(person="Dr A. Rossi", theme=theme_name, text_scale=scale)  # type: ignore[arg-type]
    session = Session(settings)
    window = MainWindow(session)
    window.resize(*size)
    window.show()
    suffix = theme_name if scale == 100 else f"{theme_name}-{scale}"

    def settle() -> None:
        for _round in range(3):
            spin(200)

    def keep(name: str) -> None:
        settle()
        window.grab().save(str(folder / f"{name}-{suffix}.png"))

    if only is None:
        keep("welcome")
    window.open_path(path)
    while not session.has_workspace:
        spin(20)
    for entry in PAGES:
        if only is None or entry.name in only:
            window.work.show_page(entry.name)
            keep(entry.name)
    if only is None or "packages" in only:
        draw_packages(window, folder, suffix)
    window.lock()
    if only is None:
        keep("lock")
    window.close()
    window.deleteLater()
    spin(20)


def draw_packages(window: MainWindow, folder: Path, suffix: str) -> None:
    """Draw the dialogs of packages: packing, and the preview of a merge with a conflict."""
    from app.windows.packages.merge import MergeDialog
    from app.windows.packages.pack import PackDialog
    from core.exchange.packing import pack_reviews
    from core.people import find_person
    from core.review.verbs import record_rating
    from core.storage import Workspace
    from core.types import RATING_AXES, Rating
    from tests.event_loop import spin

    def settle() -> None:
        while not window.session.jobs.idle:
            spin(20)
        spin(100)

    pack = PackDialog(window)
    pack.open()
    settle()
    pack.grab().save(str(folder / f"pack-{suffix}.png"))
    pack.reject()
    workspace = window.session.workspace
    person = find_person(workspace, "Dr A. Rossi")
    secret = "only for this picture"
    with tempfile.TemporaryDirectory() as place:
        package = Path(place) / "package.rifugio"
        pack_reviews(workspace, package, secret, person)
        rated = workspace.find(Rating)[0]
        with Workspace.open(package, secret) as other:
            for axis in RATING_AXES:
                value = rated.value % 5 + 1
                other.transact(
                    "Rate", person.id, record_rating, rated.output_id, person.id, axis, value
                )
        value = (rated.value + 1) % 5 + 1
        workspace.transact(
            "Rate", person.id, record_rating, rated.output_id, person.id, rated.axis, value
        )
        merge = MergeDialog(window)
        merge.open()
        merge.file.setText(str(package))
        merge.look()
        settle()
        merge.passphrase.setText(secret)
        merge.look()
        settle()
        merge.grab().save(str(folder / f"merge-{suffix}.png"))
        merge.reject()


if __name__ == "__main__":
    raise SystemExit(main())
