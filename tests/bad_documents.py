"""Files that cannot be imported, each for a reason of its own, and what is to be said of them."""

from __future__ import annotations

from pathlib import Path

import pytest

#: A PDF that asks for a password; what is in it does not matter.
LOCKED_PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj\n"
    b"4 0 obj<</Filter/Standard/V 1/R 2/P -4/O<"
    + b"11" * 32
    + b">/U<"
    + b"22" * 32
    + b">>>endobj\n"
    b"trailer<</Size 5/Root 1 0 R/Encrypt 4 0 R/ID[<00><00>]>>\n%%EOF"
)

#: (bytes, words that its line has) of each.
BAD_FILES: dict[str, tuple[bytes, str]] = {
    "broken.pdf": (b"%PDF-1.7\n" + b"junk" * 40, "is damaged"),
    "empty.docx": (b"", "is empty"),
    "locked.pdf": (LOCKED_PDF, "is protected by a password"),
    "program.pdf": (b"\x7fELF" + bytes(range(256)) * 8, "is no PDF file"),
    "closed.txt": (b"Nobody may read this.", "may not be read"),
}


def write_bad_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Write them and two good ones among them. That one may not be read is played: root may all."""
    folder.mkdir(exist_ok=True)
    for name, (data, _words) in BAD_FILES.items():
        (folder / name).write_bytes(data)
    (folder / "a good one.md").write_text("# Sound and well")
    (folder / "z good one.txt").write_text("Well and sound.")
    read = Path.read_bytes

    def read_or_refuse(path: Path) -> bytes:
        if path.name == "closed.txt":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", read_or_refuse)
    return sorted(folder.iterdir())
