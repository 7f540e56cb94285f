"""Documents: every kind of file read and kept; broken ones told in one line."""

from __future__ import annotations

import io
import os
import random
from pathlib import Path

import pytest

from core.documents.library import (
    add_document,
    delete_document,
    document_original,
    document_text,
    import_documents,
    passages_of,
    recut_document,
)
from core.documents.pdf import draw_page, find_on_page, write_pdf
from core.documents.readers import read_document
from core.documents.search import search_passages
from core.documents.vectors import count_missing, embed_passages, model_key
from core.errors import InputError
from core.ports import Cancellation, Progress
from core.storage import Workspace
from core.storage.undo import undo
from core.types.documents import Document
from models.fake import FakeEmbedder
from tests.bad_documents import BAD_FILES, write_bad_files
from tests.core.document_files import PAGES, fill
from tests.shared_data import shared_path


def test_every_kind_of_file_is_read(tmp_path: Path) -> None:
    texts = {path.name: read_document(path).text for path in fill(tmp_path)}
    letter = texts["letter.docx"]
    assert "# Referral" in letter
    assert "- Ramipril" in letter
    assert "1. Measure" in letter
    assert "Drug | Dose\nRamipril | 5 mg" in letter
    assert "He takes five milligrams." in letter
    assert texts["page.html"] == "## Café\n\n1. One\n2. Two\n\na | b\n\nZwei Zeilen"
    assert texts["note.md"] == "# Plan\n\nRest and rehydrate.\n"
    assert texts["wide.txt"] == "Größe und Gewicht: 170 cm."
    assert texts["old.txt"].startswith("Привет, это старый текст")
    assert "The dose of drug3 is 3 mg." in texts["report.pdf"]


def test_pages_of_a_pdf_are_known_to_their_passages(workspace: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "report.pdf"
    path.write_bytes(write_pdf(PAGES))
    report = import_documents(workspace, [path], "", window=200, overlap=20)
    text, starts = document_text(workspace, report.added[0].id)
    assert len(starts) == report.added[0].pages == 5
    assert [text[start:].split("\n")[0] for start in starts] == [p[0] for p in PAGES]
    for passage in passages_of(workspace, report.added[0].id):
        assert passage.text == text[passage.start : passage.end]
        assert text[starts[passage.page - 1] :].startswith(f"Page {passage.page}")
        assert starts[passage.page - 1] <= passage.start
    original = document_original(workspace, report.added[0].id)
    assert original == path.read_bytes()
    drawn = draw_page(original, 2, 300)
    assert drawn.width == 300 and len(drawn.pixels) == drawn.stride * drawn.height
    boxes = find_on_page(original, 2, "The dose of drug3 is 3 mg.")
    assert len(boxes) == 1
    assert 0 < boxes[0][0] < boxes[0][2] < 1 and 0 < boxes[0][1] < boxes[0][3] < 0.5


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        *((name, *told) for name, told in BAD_FILES.items() if name != "closed.txt"),
        ("renamed.txt", bytes(range(256)) * 40, "is not text"),
        ("renamed.docx", b"hello", "is no DOCX file"),
        ("cut.docx", b"PK\x03\x04" + b"x" * 99, "is damaged"),
        (
            "secret.docx",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 99,
            "protected by a password",
        ),
        ("blank.txt", b" \n \n", "has no text"),
    ],
)
def test_a_bad_file_gives_one_clear_line_and_leaves_the_rest(
    workspace: Workspace, tmp_path: Path, name: str, data: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(data)
    (tmp_path / "zgood.txt").write_text("Sound and well.")
    report = import_documents(workspace, [tmp_path], "")
    assert [d.file for d in report.added] == ["zgood.txt"]
    ((path, reason),) = report.failed
    assert path.name == name
    assert words in reason
    assert "\n" not in reason and len(reason) < 300


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_told(workspace: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "closed.txt"
    path.write_text("No.")
    path.chmod(0)
    assert "may not be read" in import_documents(workspace, [path], "").failed[0][1]


def test_permission_is_told_from_absence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "closed.txt"
    path.write_text("No.")

    def refuse(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(InputError, match="may not be read"):
        read_document(path)


def test_published_files_are_read() -> None:
    folder = shared_path("data", "pdf")
    with pytest.raises(InputError, match="protected by a password"):
        read_document(folder / "libreoffice-writer-password.pdf")
    minimal = read_document(folder / "minimal-document.pdf").text
    assert "no sea takimata sanctus" in minimal  # hyphenated at a line's end there
    columns = read_document(folder / "multicolumn.pdf")
    assert len(columns.starts) == 3
    assert "consectetuer adipiscing elit" in columns.text
    assert "No text on pages 4 and 5." in read_document(folder / "imagemagick-images.pdf").notes
    tables = read_document(shared_path("data", "docx") / "tables.docx").text
    assert "Top left | Top right\nBottom left | Bottom right" in tables
    assert "[1] A tachyon" in read_document(shared_path("data", "docx") / "footnotes.docx").text


def test_columns_drawn_line_by_line_are_read_one_after_the_other(tmp_path: Path) -> None:
    left = [f"left number {n} goes on" for n in range(12)]
    right = [f"right number {n} follows" for n in range(12)]
    path = tmp_path / "two.pdf"
    rows = [[(50, a), (330, b)] for a, b in zip(left, right, strict=True)]
    path.write_bytes(_draw_rows(rows))
    text = read_document(path).text
    assert text.index(left[-1]) < text.index(right[0])
    assert all(line in text for line in (*left, *right))
    # A heading over both stays whole, and what stands above it is read before what stands below.
    heading = (
        "Second part: a heading that goes over the whole width of the page, across both columns"
    )
    rows.insert(6, [(50, heading)])
    path.write_bytes(_draw_rows(rows))
    text = read_document(path).text
    parts = [left[0], left[5], right[0], right[5], heading, left[6], left[11], right[6], right[11]]
    assert [text.index(part) for part in parts] == sorted(text.index(part) for part in parts)


def test_the_wide_gaps_of_justified_text_are_no_columns(tmp_path: Path) -> None:
    """Each word drawn by itself, as many programs do, in a narrow column over the page's middle."""
    rng = random.Random(3)
    path = tmp_path / "justified.pdf"
    rows, lines = [], []
    for n in range(24):
        words = [rng.choice(("pain", "exertion", "a", "cardiac", "reported")) for _ in range(4)]
        wide = rng.randrange(3)
        x, row = 150, []
        for place, word in enumerate((*words, f"w{n}")):
            row.append((x, word))
            x += 6 * len(word) + (60 if place == wide else 6)
        rows.append(row)
        lines.append(" ".join((*words, f"w{n}")))
    path.write_bytes(_draw_rows(rows))
    text = " ".join(read_document(path).text.split())
    assert text == " ".join(lines)


def test_a_passage_is_marked_line_by_line_however_the_words_were_drawn(tmp_path: Path) -> None:
    rows = [
        [(80 + 36 * n, f"word{n}") for n in range(6)],
        [(80 + 40 * n, f"more{n}") for n in range(5)],
    ]
    boxes = find_on_page(_draw_rows(rows), 0, "word2 word3 word4 word5 more0 more1")
    assert len(boxes) == 2
    assert boxes[0][0] > boxes[1][0] and boxes[0][3] <= boxes[1][1] + 0.01
    # Two columns are two boxes, though they stand on one line.
    columns = [[(50, f"left{n}"), (400, f"right{n}")] for n in range(2)]
    assert len(find_on_page(_draw_rows(columns), 0, "left0 right0")) == 2


def _draw_rows(rows: list[list[tuple[int, str]]]) -> bytes:
    """A PDF whose rows of (x, words) are drawn from left to right, one after the other, by hand."""
    drawn = "".join(
        f"BT /F 9 Tf {x} {780 - 14 * n} Td ({words}) Tj ET\n"
        for n, row in enumerate(rows)
        for x, words in row
    )
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
        "/Resources<</Font<</F 5 0 R>>>>>>",
        f"<</Length {len(drawn)}>>stream\n{drawn}endstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out = io.BytesIO(b"%PDF-1.4\n")
    out.seek(0, io.SEEK_END)
    places = []
    for number, body in enumerate(objects, 1):
        places.append(out.tell())
        out.write(f"{number} 0 obj{body}endobj\n".encode())
    start = out.tell()
    out.write(b"xref\n0 6\n0000000000 65535 f \n")
    out.write("".join(f"{place:010d} 00000 n \n" for place in places).encode())
    out.write(f"trailer<</Size 6/Root 1 0 R>>\nstartxref\n{start}\n%%EOF".encode())
    return out.getvalue()


def test_a_duplicate_is_recognised_by_its_bytes_and_by_its_text(
    workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("The same.")
    (tmp_path / "b.txt").write_text("The same.")
    (tmp_path / "c.txt").write_bytes("The same.".encode("utf-8-sig"))
    report = import_documents(workspace, [tmp_path], "")
    assert [d.file for d in report.added] == ["a.txt"]
    assert [path.name for path, _ in report.known] == ["b.txt", "c.txt"]
    assert workspace.count(Document) == 1


def test_stopping_leaves_no_trace_of_the_file_being_read(
    workspace: Workspace, tmp_path: Path
) -> None:
    path = tmp_path / "long.pdf"
    path.write_bytes(write_pdf([[f"Page {n}"] for n in range(60)]))
    cancel = Cancellation()

    def watch(progress: Progress) -> None:
        if progress.done:
            cancel.cancel()

    before = workspace.value("SELECT count(*) FROM change")
    report = import_documents(workspace, [path], "", progress=watch, cancel=cancel)
    assert report.stopped and not report.added
    for table in ("document", "document_content", "passage", "change"):
        assert workspace.value(f"SELECT count(*) FROM {table}") == (
            before if table == "change" else 0
        )


def test_a_deleted_document_is_not_found_until_undo(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ramipril against high blood pressure.")
    document = import_documents(workspace, [tmp_path], "").added[0]
    assert len(search_passages(workspace, "ramipril")) == 1
    workspace.transact("Delete", "ann", delete_document, document.id)
    assert search_passages(workspace, "ramipril") == []
    undo(workspace, "ann")
    assert len(search_passages(workspace, "ramipril")) == 1


def test_passages_can_be_cut_anew(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("word " * 2000)
    document = import_documents(workspace, [tmp_path], "").added[0]
    embed_passages(workspace, FakeEmbedder())
    assert len(passages_of(workspace, document.id)) == 3
    workspace.transact("Cut", "", recut_document, document.id, window=1000, overlap=50)
    assert len(passages_of(workspace, document.id)) == 11
    assert count_missing(workspace, model_key(FakeEmbedder())) == 11
    assert len(search_passages(workspace, "word", k=20)) == 11


def test_a_document_added_twice_at_once_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    from core.errors import ConflictError

    path = tmp_path / "a.txt"
    path.write_text("Text.")
    read = read_document(path)
    workspace.transact("Add", "", add_document, read, [], document_id="one")
    with pytest.raises(ConflictError):
        workspace.transact("Add", "", add_document, read, [], document_id="two")


@pytest.mark.skipif(os.name != "posix", reason="the stand-in is a shell script")
def test_a_scan_is_recognised_where_tesseract_is_installed_and_named_where_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "scan.pdf"
    path.write_bytes(write_pdf([["Typed text."], [], []]))
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    plain = read_document(path)
    assert plain.notes == ("No text on pages 2 and 3.",)
    assert plain.recognised == ()
    program = programs / "tesseract"
    # It answers only when it is given a picture in the format it reads.
    program.write_text(
        '#!/bin/sh\nread -r head size rest\ncase "$head" in P5*) echo "Recognised words.";; esac\n'
    )
    program.chmod(0o755)
    read = read_document(path)
    assert read.recognised == (2, 3)
    assert read.notes == ("Recognised from the picture: pages 2 and 3.",)
    assert read.text.count("Recognised words.") == 2
    path.write_bytes(write_pdf([[], []]))
    program.unlink()
    with pytest.raises(InputError, match="it is a scan"):
        read_document(path)


def test_the_command_line_imports_and_searches(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import json

    from app.cli.command import run_command

    monkeypatch.setenv("RIFUGIO_MODELS", str(tmp_path / "no-models"))
    name, folder = str(tmp_path / "w.rifugio"), tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_text("Ramipril lowers blood pressure.")
    write_bad_files(folder, monkeypatch)
    assert run_command(["new", name, "--no-passphrase"]) == 0
    capsys.readouterr()
    assert run_command(["import", name, str(folder), "--as", "documents", "--json"]) == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert [d["file"] for d in told["added"]] == ["a good one.md", "a.txt", "z good one.txt"]
    for bad, (_data, words) in BAD_FILES.items():
        (line,) = [line for line in err.splitlines() if bad in line and "Importing" not in line]
        assert f"{bad}: skipped, {words}" in line
    assert len(told["failed"]) == len(BAD_FILES)
    assert run_command(["search", name, "ramipril", "-k", "1", "--json"]) == 0
    (hit,) = json.loads(capsys.readouterr().out)["hits"]
    assert (hit["document"], hit["page"], hit["word_rank"]) == ("a", 1, 1)
    assert run_command(["search", name, "ramipril", "--in", "nothing"]) == 1
    assert "There is no document 'nothing'" in capsys.readouterr().err
