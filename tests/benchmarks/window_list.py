"""How long a list of 100,000 examples takes to open and to sort, in an encrypted workspace.

python -m tests.benchmarks.window_list [ROWS]
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


def main() -> int:
    """Print both times; 1 when opening takes over a second or sorting over 0.2 s."""
    from PySide6.QtCore import QEventLoop, Qt
    from PySide6.QtWidgets import QApplication

    from app.session import Session
    from app.widgets.id_table import IdTableModel, TableColumn, TableSource
    from app.widgets.id_view import IdTableView
    from core.ids import new_id
    from core.settings import Settings
    from core.storage import Transaction, Workspace
    from core.tasks.verbs import add_task
    from core.types import Example, Person

    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000

    def fill(tx: Transaction) -> None:
        task = add_task(tx, field="Medicine", objective="Write a note")
        for number in range(rows):
            title = f"Case {number * 7919 % rows:06} coughs"
            tx.insert(Example(id=new_id(), task_id=task.id, title=title))

    app = QApplication.instance() or QApplication(sys.argv[:1])
    source = TableSource(
        "example e JOIN task t ON t.id = e.task_id",
        columns=(
            TableColumn("title", "Title", "e.title", order="e.title COLLATE NOCASE", width=0),
            TableColumn("task", "Task", "t.objective", order="t.objective COLLATE NOCASE"),
        ),
        id="e.id",
        where="e.deleted = 0",
    )
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RIFUGIO_HOME"] = folder
        path = Path(folder) / "large.rifugio"
        with Workspace.create(path, "correct horse battery") as workspace:
            workspace.transact_job("Fill", "", fill)
        workspace = Workspace.open(path, "correct horse battery")
        session = Session(Settings())
        session.adopt(workspace, Person(id="", name="Ann"))

        def wait_for(start: object) -> float:
            loop = QEventLoop()
            model.loaded.connect(loop.quit)
            begin = time.perf_counter()
            start()  # type: ignore[operator]
            loop.exec()
            view.repaint()
            return time.perf_counter() - begin

        model = IdTableModel(session, source)
        view = IdTableView(model, "Examples")
        view.resize(900, 700)
        view.show()
        opened = wait_for(model.reload)
        assert model.rowCount() == rows
        titles = []
        for order in (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder):
            titles.append(wait_for(lambda order=order: model.sort(0, order)))
        searched = wait_for(lambda: model.set_search("0042"))
        view.close()
        view.deleteLater()
        session.close()
    del app
    print(
        f"{rows:,} rows: opened in {opened:.2f} s (at most 1), sorted in {max(titles):.3f} s"
        f" (at most 0.2), searched in {searched:.3f} s"
    )
    return int(opened > 1 or max(titles) > 0.2)


if __name__ == "__main__":
    raise SystemExit(main())
