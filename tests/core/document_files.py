"""Documents of each kind for tests."""

from __future__ import annotations

from pathlib import Path

from core.documents.pdf import write_pdf

PAGES = [
    [f"Page {n} of the report.", f"The dose of drug{n} is {n} mg.", "Lungs are clear."]
    for n in range(1, 6)
]


def make_docx(path: Path) -> Path:
    """Headings, both kinds of list, a table, and tracked changes."""
    import docx
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    document = docx.Document()
    document.add_heading("Referral", 1)
    document.add_paragraph("Ramipril", style="List Bullet")
    document.add_paragraph("Measure", style="List Number")
    table = document.add_table(2, 2)
    for row, cells in enumerate((("Drug", "Dose"), ("Ramipril", "5 mg"))):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    paragraph = document.add_paragraph("He takes ")
    for tag, inner, text in (("w:del", "w:delText", "ten"), ("w:ins", "w:t", "five")):
        change, run, words = OxmlElement(tag), OxmlElement("w:r"), OxmlElement(inner)
        change.set(qn("w:author"), "A")
        words.text = text
        run.append(words)
        change.append(run)
        paragraph._p.append(change)
    paragraph.add_run(" milligrams.")
    document.save(str(path))
    return path


def fill(folder: Path) -> list[Path]:
    files = {
        "report.pdf": write_pdf(PAGES),
        "page.html": b"<html><head><meta charset='latin-1'><title>No</title></head><body>"
        b"<h2>Caf\xe9</h2><script>no()</script><ol><li>One<li>Two</ol>"
        b"<table><tr><td>a<td>b</tr></table><p>Zwei\nZeilen</p></body></html>",
        "note.md": "# Plan\r\n\r\nRest and rehydrate.\r\n".encode("utf-8-sig"),
        "wide.txt": "Größe und Gewicht: 170 cm.".encode("utf-16"),
        "old.txt": ("Привет, это старый текст о здоровье пациента. " * 20).encode("cp1251"),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return [make_docx(folder / "letter.docx"), *(folder / name for name in files)]
