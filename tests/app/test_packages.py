"""Packages as people meet them: packing for somebody, working in what came, merging what came back."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.windows.help import HelpWindow
from app.windows.main import MainWindow
from app.windows.packages.merge import MergeDialog
from app.windows.packages.pack import PackDialog
from app.windows.packages.waiting import read_waiting, suggest_file
from app.windows.palette import Palette
from app.windows.person import PersonDialog
from core.exchange.packages import package_info
from core.exchange.packing import pack_everything, pack_reviews
from core.people import add_person, find_person
from core.review.blinding import set_blinding
from core.review.pairs import draw_pairs
from core.review.verbs import edit_review, fill_queue, record_rating
from core.runs.verbs import add_run, add_system
from core.settings import Settings
from core.storage import Transaction, Workspace
from core.storage.backups import list_backups
from core.tasks.verbs import edit_task
from core.types import RATING_AXES, Job, Output, Person, Rating, ReviewItem, System, Task
from tests.app.conftest import find_dialog, open_for_reading, settle
from tests.factories import make_example, make_task

Make = Callable[..., MainWindow]
SECRET = "another long passphrase"
LONG_NAME = "Prof. Maximilian Alexander von und zu Hohenlohe-Waldenburg-Schillingsfürst " * 3
RTL_NAME = "דנה לוי"


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """A plain workspace of Bob's with Ann in it, and two outputs of one system that wait for both."""
    path = tmp_path / "Study.rifugio"
    with Workspace.create(path, None) as workspace:
        for name in ("Bob", "Ann"):
            workspace.transact_job("Add person", "", add_person, name)
        fill_outputs(workspace, 2)
    return path


def fill_outputs(workspace: Workspace, count: int, system: str = "Fake") -> None:
    """A system and what it wrote for so many new examples."""

    def write(tx: Transaction) -> None:
        task = make_task(tx)
        ids = [make_example(tx, task.id, f"Case {number} coughs.").id for number in range(count)]
        run = add_run(tx, add_system(tx, system, model_id="fake-generator").id, ids)
        tx.update(Job, run.job_id, state="done")
        for output in tx.find(Output, "run_id = ?", (run.id,)):
            tx.update(Output, output.id, state="done", text="Rest.", thinking="I am Fake.")

    workspace.transact_job("Write", "", write)


@pytest.fixture
def window(make_window: Make, plain: Path, qtbot: QtBot) -> MainWindow:
    """Bob's workspace, open."""
    made = make_window(settings())
    open_plain(made, plain, qtbot)
    return made


def settings(**more: Any) -> Settings:
    return Settings(person="Bob", theme="light", idle_lock_minutes=0, **more)


def open_plain(window: MainWindow, path: Path, qtbot: QtBot) -> None:
    window.open_path(path)
    qtbot.waitUntil(lambda: window.session.has_workspace)
    settle(window, qtbot)


def open_package(window: MainWindow, path: Path, qtbot: QtBot, name: str = "asmith") -> None:
    """Open a package as whoever this machine calls by that name."""
    window.open_path(path)
    form = window.welcome.open_form
    form.person.setText(name)
    form.passphrase.setText(SECRET)
    qtbot.keyClick(form.passphrase, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.session.has_workspace)
    settle(window, qtbot)


def pack_for(path: Path, name: str, package: Path) -> None:
    """A package of what waits for somebody, made without a window."""
    with Workspace.open(path) as workspace:
        person = find_person(workspace, name)
        workspace.transact_job("Fill", person.id, fill_queue, person.id, 1)
        pack_reviews(workspace, package, SECRET, person)


def rate(path: Path, passphrase: str | None, name: str, value: int, axes: Any = RATING_AXES) -> int:
    """Rate every output as somebody; how many ratings that is."""
    with Workspace.open(path, passphrase) as workspace:
        person = find_person(workspace, name)
        outputs = workspace.find(Output)

        def record(tx: Transaction) -> None:
            for output in outputs:
                for axis in axes:
                    record_rating(tx, output.id, person.id, axis, value)

        workspace.transact("Rate", person.id, record)
        return len(outputs) * len(axes)


def pack_dialog(window: MainWindow, qtbot: QtBot) -> PackDialog:
    window.commands.pack()
    return ready_to_pack(qtbot)


def ready_to_pack(qtbot: QtBot) -> PackDialog:
    qtbot.waitUntil(lambda: find_dialog(PackDialog) is not None)
    dialog = find_dialog(PackDialog)
    assert isinstance(dialog, PackDialog)
    qtbot.waitUntil(lambda: dialog.pack_button.isEnabled() and bool(dialog.file.text()))
    return dialog


def merge_dialog(window: MainWindow) -> MergeDialog:
    window.commands.merge()
    dialog = find_dialog(MergeDialog)
    assert isinstance(dialog, MergeDialog)
    return dialog


def look_into(dialog: MergeDialog, path: Path, qtbot: QtBot, passphrase: str = SECRET) -> None:
    """Type a file and its passphrase, by keys, and wait for what comes of it."""
    dialog.file.setText(str(path))
    qtbot.keyClick(dialog.file, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not dialog.busy)
    if not dialog.passphrase.isVisible():
        return
    qtbot.waitUntil(dialog.passphrase.hasFocus)
    qtbot.keyClicks(dialog.passphrase, passphrase)
    qtbot.keyClick(dialog.passphrase, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not dialog.busy)


def count_changes(workspace: Workspace) -> int:
    return int(workspace.value("SELECT count(*) FROM change"))


def people_offered(window: MainWindow, qtbot: QtBot) -> list[str]:
    """Who can be chosen as the person who works."""
    window.commands.choose_person()
    dialog: Any = find_dialog(PersonDialog)
    qtbot.waitUntil(lambda: dialog.people.count() > 0)
    offered = [dialog.people.itemText(row) for row in range(dialog.people.count())]
    dialog.reject()
    return offered


def lines_of(table: Any) -> list[tuple[str, ...]]:
    return [
        tuple(table.topLevelItem(place).text(column) for column in range(table.columnCount()))
        for place in range(table.topLevelItemCount())
    ]


# -- there and back ------------------------------------------------------------------------------


def test_work_goes_out_and_comes_back(window: MainWindow, plain: Path, qtbot: QtBot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: find_dialog(Palette) is not None)
    palette: Any = find_dialog(Palette)
    qtbot.keyClicks(palette.field, "pack for")
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    dialog = ready_to_pack(qtbot)
    # Ann never sat here, so her queue is filled as it would be when she does.
    assert dialog.people.currentText() == "Ann: 2 outputs to rate"
    assert dialog.hide_names.isChecked()
    package = plain.with_name("Study for Ann.rifugio")
    assert dialog.file.text() == str(package)
    for field in (dialog.secret.passphrase, dialog.secret.again):
        qtbot.keyClicks(field, SECRET)
    qtbot.keyClick(dialog.secret.again, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not dialog.busy and not dialog.pack_button.isVisible())
    assert dialog.title_label.text() == "The package for Ann is ready."
    assert not dialog.secret.passphrase.text()
    qtbot.waitUntil(dialog.cancel_button.hasFocus)
    qtbot.keyClick(dialog.cancel_button, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: find_dialog(PackDialog) is None)
    window.close_workspace()

    open_package(window, package, qtbot)
    workspace = window.session.workspace
    assert window.session.person.name == "Ann"
    assert [system.name for system in workspace.find(System)] == ["Hidden"]
    # Whoever was added there would be in no other file.
    assert people_offered(window, qtbot) == ["Ann"]
    with qtbot.waitActive(window):
        # No desktop here gives the window back what the dialog had.
        window.activateWindow()
    window.work.choose("review")
    review = window.work.current_page.rating
    item = ""
    for _output in range(2):
        qtbot.waitUntil(lambda done=item: review.item_id not in ("", done))
        item = review.item_id
        review.output.setFocus()
        for number, _axis in enumerate(RATING_AXES, start=1):
            qtbot.keyClick(review.output, "4")
            qtbot.waitUntil(lambda n=number: len(review.ratings.values) == n)
        qtbot.keyClick(review.output, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        qtbot.waitUntil(lambda i=item: workspace.get(ReviewItem, i).state == "submitted")
    page: Any = window.work.current_page
    qtbot.waitUntil(
        lambda: page.is_empty_shown and "send the file back" in page._empty.accessibleDescription()
    )
    window.close_workspace()

    open_plain(window, plain, qtbot)
    # The name that the package brought is not the one offered for the next workspace.
    assert window.session.person.name == "Bob"
    workspace = window.session.workspace
    before = count_changes(workspace)
    page = window.work.show_page("settings")
    settle(window, qtbot)
    qtbot.mouseClick(page.merge_button, Qt.MouseButton.LeftButton)
    merging: Any = find_dialog(MergeDialog)
    look_into(merging, package, qtbot)
    assert merging.source_label.text().startswith("The package for Ann from ")
    assert lines_of(merging.tree) == [("Ratings", "10 added"), ("Review items", "2 changed")]
    assert merging.people_label.text().endswith("changes by Ann.")
    assert not merging.clashes.isVisible()
    assert (count_changes(workspace), workspace.count(Rating)) == (before, 0)
    qtbot.waitUntil(merging.merge_button.hasFocus)
    qtbot.keyClick(merging.merge_button, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: find_dialog(MergeDialog) is None)
    ratings = workspace.find(Rating)
    assert [rating.value for rating in ratings] == [4] * 10
    assert {rating.person_id for rating in ratings} == {find_person(workspace, "Ann").id}
    assert "taken over" in window.toast.accessibleName()
    assert any(backup.reason == "before-merge" for backup in list_backups(plain))
    again = merge_dialog(window)
    look_into(again, package, qtbot)
    assert again.people_label.text() == "Everything in it is here already."
    assert not again.merge_button.isVisible()
    again.reject()


# -- packing ---------------------------------------------------------------------------------


def test_errors_of_packing_are_said_in_the_dialog(
    window: MainWindow, plain: Path, qtbot: QtBot
) -> None:
    taken = plain.with_name("taken.rifugio")
    taken.write_bytes(b"something")
    dialog = pack_dialog(window, qtbot)
    secret = dialog.secret
    for first, second, path, words in (
        ("short", "short", "", "at least 8 characters"),
        (SECRET, "another", "", "differ"),
        (SECRET, SECRET, str(taken), "is there already. Choose another name."),
        (SECRET, SECRET, str(plain.parent / "no" / "such.rifugio"), "is not there"),
        (SECRET, SECRET, " ", "choose a file"),
    ):
        secret.passphrase.setText(first)
        secret.again.setText(second)
        if path:
            dialog.file.setText(path)
        dialog.pack_button.click()
        qtbot.waitUntil(lambda: not dialog.busy)
        assert words in dialog.notice.text and dialog.notice.isVisible()
    assert taken.read_bytes() == b"something"
    dialog.reject()


def test_somebody_new_gets_what_is_written(window: MainWindow, plain: Path, qtbot: QtBot) -> None:
    workspace = window.session.workspace
    dialog = pack_dialog(window, qtbot)
    dialog.people.setCurrentIndex(dialog.people.findText("Somebody new …"))
    qtbot.waitUntil(dialog.name.isVisible)
    assert "2 outputs to rate" in dialog.waiting_words.text()
    dialog.secret.passphrase.setText(SECRET)
    dialog.secret.again.setText(SECRET)
    dialog.pack_button.click()
    assert dialog.notice.text == "Please type a name."
    qtbot.waitUntil(dialog.name.hasFocus)
    qtbot.keyClicks(dialog.name, "Eve/1")
    dialog.pack_button.click()
    package = plain.with_name("Study for Eve-1.rifugio")
    qtbot.waitUntil(lambda: not dialog.busy and not dialog.pack_button.isVisible())
    eve = find_person(workspace, "Eve/1")
    dialog.reject()
    with Workspace.open(package, SECRET, read_only=True) as packed:
        assert packed.find(Person) == [eve]
        assert packed.count(ReviewItem, "person_id = ?", (eve.id,)) == 2


def test_what_nobody_waits_for_cannot_be_packed_but_everything_can(
    window: MainWindow, plain: Path, qtbot: QtBot
) -> None:
    workspace = window.session.workspace
    ann = find_person(workspace, "Ann")
    workspace.transact_job("Fill", ann.id, fill_queue, ann.id, 1)
    for item in workspace.find(ReviewItem, "person_id = ?", (ann.id,)):
        workspace.transact("Submit", ann.id, edit_review, item.id, state="submitted")
    dialog = pack_dialog(window, qtbot)
    dialog.people.choose(ann.id)
    dialog._on_person()
    assert not dialog.reviews.isEnabled() and dialog.everything.isChecked()
    assert not dialog.hide_names.isEnabled()
    assert "handed in" in dialog.reviews.accessibleDescription()
    dialog.secret.passphrase.setText(SECRET)
    dialog.secret.again.setText(SECRET)
    dialog.pack_button.click()
    qtbot.waitUntil(lambda: not dialog.busy and not dialog.pack_button.isVisible())
    dialog.reject()
    with Workspace.open(plain.with_name("Study for Ann.rifugio"), SECRET, read_only=True) as packed:
        info = package_info(packed)
        assert info is not None and (info.kind, info.person) == ("everything", ann.id)
        assert packed.count(System) == 1


def test_what_waits_is_counted_per_person_and_hidden_from_who_works_blind(
    workspace: Workspace,
) -> None:
    ann, bob = (
        workspace.transact_job("Add person", "", add_person, name).value for name in ("Ann", "bob")
    )
    assert [w.total for w in read_waiting(workspace, bob.id).people] == [0, 0]
    fill_outputs(workspace, 1)
    first = workspace.find(Output)[0]

    def write_another(tx: Transaction) -> None:
        run = add_run(tx, add_system(tx, "Another", model_id="fake").id, [first.example_id])
        (output,) = tx.find(Output, "run_id = ?", (run.id,))
        tx.update(Output, output.id, state="done", text="Sleep.")

    workspace.transact_job("Write", "", write_another)
    workspace.transact_job("Pairs", ann.id, draw_pairs, ann.id)
    workspace.transact_job("Fill", bob.id, fill_queue, bob.id, 1)
    item = workspace.find(ReviewItem)[0]
    workspace.transact("Submit", bob.id, edit_review, item.id, state="submitted")
    found = read_waiting(workspace, bob.id)
    assert [(w.person.name, w.outputs, w.pairs, w.handed_in) for w in found.people] == [
        ("Ann", 2, 1, 0),
        ("bob", 1, 0, 1),
    ]
    assert (found.written, found.blind) == (2, False)
    workspace.transact("Blind", bob.id, set_blinding, bob.id, True)
    assert read_waiting(workspace, bob.id).blind


def test_a_suggested_file_is_free_and_has_a_name_that_every_system_takes(tmp_path: Path) -> None:
    workspace = tmp_path / "Study.rifugio"
    assert suggest_file(workspace, 'a/b:"c"').name == "Study for a-b--c-.rifugio"
    assert suggest_file(workspace, "..").name == "Study for somebody.rifugio"
    first = suggest_file(workspace, RTL_NAME)
    first.touch()
    assert suggest_file(workspace, RTL_NAME).name == f"Study for {RTL_NAME} 2.rifugio"
    assert len(suggest_file(workspace, LONG_NAME).name) < 100


def test_a_lock_closes_the_dialog_and_the_package_is_written_to_its_end(
    window: MainWindow, plain: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.windows.packages import waiting

    go, real = threading.Event(), pack_reviews

    def held(*args: Any, **kwargs: Any) -> Any:
        assert go.wait(30)
        return real(*args, **kwargs)

    monkeypatch.setattr(waiting, "pack_reviews", held)
    dialog = pack_dialog(window, qtbot)
    dialog.secret.passphrase.setText(SECRET)
    dialog.secret.again.setText(SECRET)
    dialog.pack_button.click()
    assert dialog.busy
    window.lock()
    assert find_dialog(PackDialog) is None
    assert not window.session.has_workspace
    go.set()
    qtbot.waitUntil(lambda: window.session.jobs.idle and window._held is None)
    with Workspace.open(plain.with_name("Study for Ann.rifugio"), SECRET, read_only=True) as packed:
        assert packed.count(ReviewItem) == 2
    # Nothing of it is told to who only sees the lock.
    assert "ready" not in window.toast.accessibleName()
    merging_path = plain.with_name("Study for Ann.rifugio")
    window.unlock("")
    qtbot.waitUntil(lambda: window.session.has_workspace)
    assert window.session.person.name == "Bob"
    merging = merge_dialog(window)
    look_into(merging, merging_path, qtbot)
    key = merging._looked.key
    qtbot.keyClick(merging, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    assert find_dialog(MergeDialog) is None and not window.session.has_workspace
    assert not any(key.raw)


# -- merging ---------------------------------------------------------------------------------


def damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[9_000:9_010] = bytes(10)
    path.write_bytes(data)


def test_errors_of_merging_are_said_in_the_dialog(
    window: MainWindow, plain: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    window.close_workspace()
    package = tmp_path / "package.rifugio"
    pack_for(plain, "Ann", package)
    rate(package, SECRET, "Ann", 4, RATING_AXES[:1])
    copy = tmp_path / "copy.rifugio"
    shutil.copy2(plain, copy)
    for path in (plain, copy):
        with Workspace.open(path) as workspace:
            task = workspace.find(Task)[0]
            workspace.transact_job("Edit", "", edit_task, task.id, objective=path.stem)
    other = tmp_path / "other.rifugio"
    with Workspace.create(other, None) as workspace:
        bob = workspace.transact_job("Add person", "", add_person, "Bob").value
        fill_outputs(workspace, 1)
        foreign = tmp_path / "foreign.rifugio"
        workspace.transact_job("Fill", bob.id, fill_queue, bob.id, 1)
        pack_reviews(workspace, foreign, SECRET, bob)
    rate(foreign, SECRET, "Bob", 2, RATING_AXES[:1])
    broken = tmp_path / "broken.rifugio"
    shutil.copy2(package, broken)
    damage(broken)
    newer = tmp_path / "newer.rifugio"
    shutil.copy2(other, newer)
    with Workspace.open(newer) as workspace:
        workspace.transact_job(
            "Step",
            "",
            lambda tx: tx.execute_unlogged(
                "INSERT INTO _sqlite_migrations (migration_set, name, applied_at)"
                " SELECT migration_set, 'from the future', applied_at FROM _sqlite_migrations LIMIT 1",
                (),
            ),
        )
    text = tmp_path / "letter.rifugio"
    text.write_text("Dear Bob, " * 1_000)
    open_plain(window, plain, qtbot)
    before = count_changes(window.session.workspace)
    for path, passphrase, words in (
        (tmp_path / "nowhere.rifugio", "", "There is no file"),
        (plain, "", "is the workspace that is open"),
        (package, "wrong wrong wrong", "does not open package.rifugio"),
        (text, SECRET, "does not open letter.rifugio"),
        (broken, SECRET, "damaged"),
        (newer, "", "later version"),
        (copy, "", "both worked in"),
        (foreign, SECRET, "in neither file"),
    ):
        dialog = merge_dialog(window)
        look_into(dialog, path, qtbot, passphrase)
        assert words in dialog.notice.text and dialog.notice.isVisible(), path.name
        assert not dialog.merge_button.isVisible()
        dialog.reject()
    dialog = merge_dialog(window)
    look_into(dialog, package, qtbot, "")
    assert dialog.notice.text == "Please type its passphrase."
    dialog.file.clear()
    assert not dialog.passphrase.isVisible() and not dialog.notice.isVisible()
    dialog.look_button.click()
    assert dialog.notice.text == "Please choose a file."
    dialog.reject()
    assert count_changes(window.session.workspace) == before


def test_forty_conflicts_are_listed_with_who_and_when_and_what_stands(
    window: MainWindow, plain: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    window.close_workspace()
    package = tmp_path / "package.rifugio"
    with Workspace.open(plain) as workspace:
        fill_outputs(workspace, 6, "Another")
    rate(plain, None, "Ann", 3)
    pack_for(plain, "Ann", package)
    count = rate(package, SECRET, "Ann", 5)
    assert count == 40 == rate(plain, None, "Ann", 1)
    with Workspace.open(package, SECRET) as workspace:
        task = workspace.find(Task)[0]
        workspace.transact_job("Edit", "", edit_task, task.id, objective="Beside the point")
    open_plain(window, plain, qtbot)
    dialog = merge_dialog(window)
    look_into(dialog, package, qtbot)
    lines = lines_of(dialog.conflicts)
    assert len(lines) == 40 and dialog.clashes.isVisible()
    assert dialog.clashes.note_label.full_text == "40 values"
    what, here, there, stands = lines[0]
    assert what.startswith("Rating '") and "coughs." in what and what.endswith(": value")
    assert here.startswith("Ann, ") and there.startswith("Ann, ")
    # Rated here after it was rated there.
    assert {line[3] for line in lines} == {"Here"} and stands == "Here"
    assert "1 task" in dialog.left_out_label.text()
    assert "reviews and nothing else" in dialog.left_out_label.text()
    dialog.merge()
    qtbot.waitUntil(lambda: find_dialog(MergeDialog) is None)
    assert {rating.value for rating in window.session.workspace.find(Rating)} == {1}
    assert "40 values were changed on both sides" in window.toast.accessibleName()


def test_names_are_hidden_in_the_preview_from_who_works_blind(
    window: MainWindow, plain: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    window.close_workspace()
    package = tmp_path / "package.rifugio"
    rate(plain, None, "Ann", 3)
    pack_for(plain, "Ann", package)
    rate(package, SECRET, "Ann", 5)
    rate(plain, None, "Ann", 1)
    with Workspace.open(plain) as workspace:
        bob = find_person(workspace, "Bob")
        workspace.transact("Blind", bob.id, set_blinding, bob.id, True)
    open_plain(window, plain, qtbot)
    packing = pack_dialog(window, qtbot)
    entries = [packing.people.itemText(row) for row in range(packing.people.count())]
    assert entries == ["Ann", "Bob: 2 outputs to rate", "Somebody new …"]
    packing.reject()
    dialog = merge_dialog(window)
    look_into(dialog, package, qtbot)
    assert len(lines_of(dialog.conflicts)) == 10
    words = [
        dialog.source_label.text(),
        dialog.people_label.text(),
        *sum(lines_of(dialog.conflicts), ()),
    ]
    assert not [text for text in words if "Ann" in text]
    assert "hidden while you work blind" in dialog.people_label.text()
    dialog.reject()


def test_another_copy_of_the_workspace_needs_no_passphrase_of_its_own(
    make_window: Make, tmp_path: Path, qtbot: QtBot
) -> None:
    path, copy = tmp_path / "Kept.rifugio", tmp_path / "Copy.rifugio"
    with Workspace.create(path, SECRET) as workspace:
        workspace.transact_job("Add person", "", add_person, "Bob")
    shutil.copy2(path, copy)
    window = make_window(settings())
    open_package(window, path, qtbot, "Bob")
    dialog = merge_dialog(window)
    dialog._take_file([copy])
    qtbot.waitUntil(lambda: not dialog.busy and dialog.people_label.isVisible())
    assert dialog.source_label.text() == "Another copy of this workspace."
    assert "here already" in dialog.people_label.text()
    qtbot.mouseClick(dialog.other_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(dialog.look_button.isVisible)
    assert not dialog.people_label.isVisible()
    dialog.reject()


# -- in a package ----------------------------------------------------------------------------


def test_a_package_says_what_it_is_and_neither_packs_nor_merges(
    window: MainWindow, plain: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    window.close_workspace()
    package = tmp_path / "package.rifugio"
    with Workspace.open(plain) as workspace:
        ann = find_person(workspace, "Ann")
        pack_everything(workspace, package, SECRET, ann)
    open_package(window, package, qtbot, "stranger")
    line = window.work.bottom.package_label
    assert line.isVisible() and line.full_text.startswith("Package for Ann from ")
    assert "send this file back" in line.full_text
    assert window.session.person.name == "Ann"
    assert sorted(people_offered(window, qtbot)) == ["Ann", "Bob", "Somebody new …"]
    page = window.work.show_page("settings")
    settle(window, qtbot)
    assert not page.merge_button.isEnabled() and not page.pack_button.isEnabled()
    assert "This is a package" in page.pack_button.accessibleDescription()
    assert line.full_text in page.safety_words.text()
    window.commands.show_palette()
    palette: Any = find_dialog(Palette)
    qtbot.keyClicks(palette.field, "merge a package")
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert palette.isVisible() and find_dialog(MergeDialog) is None
    assert "send it back" in palette.model.data(
        palette.model.index(0), Qt.ItemDataRole.AccessibleTextRole
    )
    palette.reject()
    window.lock()
    window.unlock(SECRET)
    qtbot.waitUntil(lambda: window.session.has_workspace)
    settle(window, qtbot)
    assert window.session.person.name == "Ann"
    assert window.session.workspace.count(Person) == 2
    window.close_workspace()
    assert not line.isVisibleTo(window.work.bottom)
    open_plain(window, plain, qtbot)
    assert window.session.person.name == "Bob"
    assert not line.isVisible()


def test_open_for_reading_nothing_is_packed_or_merged(
    make_window: Make, plain: Path, qtbot: QtBot
) -> None:
    window = make_window(settings())
    with Workspace.open(plain):
        open_for_reading(window, plain, qtbot)
        settle(window, qtbot)
        refused = {c.text: c.refusal for c in window.commands.offered() if c.refusal}
        window.close_workspace()
    assert refused == {
        "Pack for a person …": "Open for reading only.",
        "Merge a package …": "Open for reading only.",
    }


# -- looks, names, help ----------------------------------------------------------------------


@pytest.mark.parametrize("scale", [100, 125])
def test_long_and_right_to_left_names_fit_into_a_small_window(
    make_window: Make, plain: Path, qtbot: QtBot, scale: int
) -> None:
    with Workspace.open(plain) as workspace:
        for name in (LONG_NAME, RTL_NAME):
            workspace.transact_job("Add person", "", add_person, name)
    window = make_window(settings(text_scale=scale), size=(1100, 700))
    open_plain(window, plain, qtbot)
    dialog = pack_dialog(window, qtbot)
    names = [dialog.people.itemText(row) for row in range(dialog.people.count())]
    assert any(RTL_NAME in name for name in names)
    for row in range(dialog.people.count()):
        dialog.people.setCurrentIndex(row)
        assert dialog.width() <= 1100 and dialog.height() <= 700
        assert dialog.minimumSizeHint().width() <= 1100
    dialog.reject()
    merging = merge_dialog(window)
    assert merging.width() <= 1100 and merging.height() <= 700
    merging.reject()


@pytest.mark.parametrize("kind", ["pack", "merge"])
def test_every_control_has_a_name_and_tab_goes_round(
    window: MainWindow, qtbot: QtBot, kind: str
) -> None:
    dialog: Any = pack_dialog(window, qtbot) if kind == "pack" else merge_dialog(window)
    settle(window, qtbot)
    start = QApplication.focusWidget()
    assert start is (dialog.people if kind == "pack" else dialog.file)
    visited: list[QWidget] = []
    for _step in range(30):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        now = QApplication.focusWidget()
        assert now.accessibleName() or now.text()  # type: ignore[attr-defined]
        if now is start:
            break
        assert now not in visited
        visited.append(now)
    else:
        raise AssertionError("Tab never comes back")
    wanted = [dialog.cancel_button, dialog.choose_button]
    if kind == "pack":
        wanted += [dialog.secret.passphrase, dialog.secret.again, dialog.file, dialog.hide_names]
    assert set(wanted) <= set(visited)
    qtbot.keyClick(dialog, Qt.Key.Key_F1)
    qtbot.waitUntil(lambda: find_dialog(HelpWindow) is not None)
    help_window: Any = find_dialog(HelpWindow)
    assert help_window.topics.currentItem().text() == "Packages"
    assert "encrypted under a passphrase of its own" in help_window.text.toPlainText()
    help_window.reject()
    dialog.reject()
