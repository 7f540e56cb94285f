"""Passages a second when a large PDF is imported, against PDFium alone reading the same pages.

python -m tests.benchmarks.documents_import [PAGES]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path


def main() -> int:
    """Print both speeds; returns 0."""
    import pypdfium2 as pdfium

    from core.documents.library import import_documents
    from core.documents.pdf import write_pdf
    from core.documents.vectors import embed_passages
    from core.storage import Workspace
    from models.fake import FakeEmbedder

    pages = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    line = "The patient reports a band-like chest pain since Saturday, visit {n}, row {m}, dose {n} mg."
    text = [[line.format(n=n, m=m) for m in range(45)] for n in range(pages)]
    data = write_pdf(text)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.pdf"
        path.write_bytes(data)
        started = time.perf_counter()
        document = pdfium.PdfDocument(data)
        characters = 0
        for number in range(len(document)):
            page = document[number]
            words = page.get_textpage()
            characters += len(words.get_text_range())
            words.close()
            page.close()
        document.close()
        alone = time.perf_counter() - started
        with Workspace.create(Path(folder) / "w.rifugio", "a long passphrase") as workspace:
            started = time.perf_counter()
            report = import_documents(workspace, [path], "")
            whole = time.perf_counter() - started
            started = time.perf_counter()
            embed_passages(workspace, FakeEmbedder(384))
            kept = time.perf_counter() - started
    print(
        f"{pages} pages, {characters:,} characters, {len(data):,} bytes, {report.passages} passages"
    )
    print(f"PDFium alone        {alone:7.2f} s   {pages / alone:8.0f} pages/s")
    print(
        f"import, encrypted   {whole:7.2f} s   {pages / whole:8.0f} pages/s"
        f"   {report.passages / whole:6.0f} passages/s   {whole / alone:.2f} times PDFium"
    )
    print(
        f"vectors kept        {kept:7.2f} s   {report.passages / kept:8.0f} passages/s, scripted embedder"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
