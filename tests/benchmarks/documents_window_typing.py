"""Typing in the window's studio: 21 texts of 50 kB, and one of 5 MB with 100 tracked changes, beside as many
documents, with autosave, list of changes and support view at work.

    python -m tests.benchmarks.documents_window_typing [--texts N] [--one-paragraph]

``--one-paragraph`` gives every text a single paragraph. A key counts from its press to the end of its
painting; a stall is the longest gap of a 5 ms timer on the main thread. Beside both stands what the main
thread itself worked, which a busy machine does not change. Exits with 1 when more than one
key of a hundred took 50 ms or more, or what was said to be saved is not in the workspace.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

_LIMIT_MS = 50.0
_LINE = "The patient reports a band-like chest pain since Saturday, provoked by walking. "
_WORDS = "typing along quietly, a word at a time"


def main() -> int:
    """Print the times; 1 when too slow or when something is lost."""
    from PySide6.QtWidgets import QApplication

    import app  # noqa: F401  # guards Qt before anything else imports it
    from app import theme
    from app.session import Session
    from app.windows.collecting import QuietCollector
    from app.windows.main import MainWindow
    from core.settings import Settings
    from tests.event_loop import spin

    count = int(sys.argv[sys.argv.index("--texts") + 1]) if "--texts" in sys.argv else 21
    application = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(application, QApplication)
    theme.apply_theme(application, "light", 100)
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RIFUGIO_HOME"] = folder
        path = Path(folder) / "Texts.rifugio"
        texts = _fill(path, Path(folder), count, "--one-paragraph" in sys.argv)
        window = MainWindow(
            Session(Settings(person="Ann", idle_lock_minutes=0), make_models=_models())
        )
        window.resize(1440, 900)
        window.show()
        collector = QuietCollector(window.idle, window)
        window.open_path(path)
        while not window.session.has_workspace:
            spin(20)
        page = window.work.show_page("drafts")
        for name, post_edit in texts:
            worst = max(worst, _type(window, page, name, post_edit))
        collector.stop()
        window.close()
        spin(500)
        window.session.close()
    return int(worst >= _LIMIT_MS)


def _models() -> Any:
    from tests.app.test_pages_make_documents import FakeModels

    return FakeModels


def _fill(path: Path, folder: Path, count: int, one: bool) -> list[tuple[str, str]]:
    """A workspace with the texts being edited; returns the name and the post-edit's id of each."""
    from core.documents.library import import_documents
    from core.documents.search import gather_evidence
    from core.editing.tracked import Tracked, apply_patch, edit
    from core.examples.drafting import add_request, choose_draft
    from core.examples.post_edit import SectionEdit, post_edit_section, start_post_edit
    from core.ids import now
    from core.people import add_person
    from core.storage import Workspace
    from core.types import SectionText
    from core.types.documents import Draft
    from tests.factories import make_task

    made = []
    blank = " " if one else "\n"
    with Workspace.create(path, None) as workspace:
        person = workspace.transact_job("Add", "", add_person, "Ann").value.id
        for number in range(count):
            text = f"Document {number}. " + _LINE * (50_000 // len(_LINE))
            (folder / f"d{number}.txt").write_text(text)
        import_documents(workspace, [folder], person)
        task = workspace.transact_job("Task", person, make_task).value
        evidence = gather_evidence(workspace, ["chest pain on walking"])
        for number in range(count + 1):
            size, changes = (50_000, 0) if number < count else (5_000_000, 100)
            text = f"Text {number}.{blank}" + (_LINE * 3 + blank) * (size // (len(_LINE) * 3))
            request = workspace.transact_job(
                "Plan", person, add_request, task.id, evidence=evidence, count=1
            ).value
            (draft,) = workspace.find(Draft, "request_id = ?", (request.id,))
            sections = tuple(
                SectionText(title=title, text=body)
                for title, body in (("Transcript", "x."), ("Subjective", "y."), ("Objective", text))
            )

            def finish(
                tx: Any, draft: str = draft.id, request: str = request.id, sections: Any = sections
            ) -> str:
                tx.update(Draft, draft, sections=sections, state="done")
                choose_draft(tx, request, draft)
                return start_post_edit(tx, request).id

            post_edit = workspace.transact_job("Start", person, finish).value
            if changes:
                tracked, edits = Tracked(text), []
                for n in range(changes):
                    place = text.index("provoked", n * (len(text) // changes) // 2)
                    patch = edit(
                        tracked, place, place + 8, f"brought on {n}", person=person, time=now()
                    )
                    removed = tracked.text[patch.start : patch.start + patch.removed]
                    edits.append(SectionEdit(2, removed, patch))
                    tracked = apply_patch(tracked, patch)
                workspace.transact("Edit", person, post_edit_section, post_edit, "", edits, "typed")
            made.append((f"{size // 1000} kB, {changes} changes", post_edit))
        for file in folder.glob("d*.txt"):
            file.unlink()
    return made


def _type(window: Any, page: Any, name: str, post_edit: str) -> float:
    """Type at the beginning, the middle and the end, at a person's pace; the 99th of a hundred, in ms."""
    from PySide6.QtCore import QTimer
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication

    from core.examples.post_edit import load_post_edit
    from tests.event_loop import spin

    started = time.perf_counter()
    page.open_studio(post_edit)
    studio = page.studio
    while studio._state is None or studio._state.post_edit.id != post_edit:
        spin(5)
    opened = time.perf_counter() - started
    spin(1500)
    editor = page.studio.editors[2]
    gaps: list[float] = []
    worked: list[float] = []
    last = [time.perf_counter(), time.thread_time()]

    def tick() -> None:
        now = [time.perf_counter(), time.thread_time()]
        gaps.append(now[0] - last[0])
        worked.append(now[1] - last[1])
        last[:] = now

    timer = QTimer()
    timer.setInterval(5)
    timer.timeout.connect(tick)
    timer.start()
    times, own = [], []
    for place in (10, len(editor.tracked.text) // 2, len(editor.tracked.text) - 10):
        editor.setFocus()
        editor.select(place, place)
        spin(300)
        tick()
        gaps.clear()
        worked.clear()
        for letter in _WORDS:
            started, before = time.perf_counter(), time.thread_time()
            QTest.keyClick(editor, letter)
            QApplication.sendPostedEvents()
            spin(0)
            times.append(1000 * (time.perf_counter() - started))
            own.append(1000 * (time.thread_time() - before))
            spin(40)
        # A pause, in which all is saved, listed and judged; then on.
        spin(1500)
    timer.stop()
    while page.studio.saver.dirty or not page.studio.saver.words().startswith("Saved"):
        spin(20)
    stored = load_post_edit(window.session.workspace, post_edit).texts[2]
    assert stored == editor.tracked, "what is said to be saved is not"
    ninety_nine = sorted(times)[int(len(times) * 0.99)]
    print(
        f"{name:22} opened in {opened:5.2f} s; a key: median {sorted(times)[len(times) // 2]:5.1f} ms,"
        f" 99 % {ninety_nine:5.1f} ms, worst {max(times):5.1f} ms (work of this thread"
        f" {max(own):5.1f} ms); longest stall {1000 * max(gaps):5.1f} ms (work"
        f" {1000 * max(worked):5.1f} ms)",
        flush=True,
    )
    return ninety_nine


if __name__ == "__main__":
    raise SystemExit(main())
