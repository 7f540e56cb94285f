"""Writing the history of a workspace to a file that others can check."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from app.strings import count_of, say
from app.widgets.dialogs import ask, choose_new_file


def export_history(window: Any) -> None:
    """Say what the file is, ask where to put it, and write it.

    Parameters
    ----------
    window
        The main window, with a workspace open.
    """
    path: Path = window.session.workspace.path

    def choose() -> None:
        suggestion = str(path.with_name(f"{path.stem} history.jsonl"))
        choose_new_file(
            window, say("Where to write the history"), "JSON lines (*.jsonl)", suggestion, write
        )

    def write(paths: list[Path]) -> None:
        if not paths:
            return
        from core.storage.audit import export_audit

        def told(count: int) -> None:
            window.toast.say(say("Wrote {changes}.", changes=count_of(count, "change", "changes")))

        window.session.jobs.run(window, export_audit, window.session.workspace, paths[0]).success(
            told
        )

    ask(
        window,
        say("Export the history?"),
        say(
            "Every change with who, when, before and after, chained by hashes, so that others can "
            "check that nothing was removed. The file is not encrypted and holds texts of yours."
        ),
        say("Choose the file …"),
        choose,
    )
