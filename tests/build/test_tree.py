"""What lies in the tree: no path of anybody's machine, no index, and imports that stay cheap."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = ("app", "core", "models", "resources", "tests", "build", ".ci")
TEXTS = {".py", ".md", ".toml", ".lock", ".in", ".json", ".spec", ".j2", ".qss", ".jsonl", ""}
#: Folders under which somebody's own files lie. Put together here so that this file does not match itself.
MACHINE_PATH = re.compile(
    r"(?<![\w.\-}/])/(?:" + "|".join(("root", "work", r"home/\w+", r"Users/\w+")) + r")/"
)


def tracked_texts() -> list[Path]:
    """Text files of the project, without what tools leave behind."""
    files = [*ROOT.glob("*.md"), *ROOT.glob("*.toml")]
    for folder in FOLDERS:
        files += (ROOT / folder).rglob("*")
    scratch = {"__pycache__", "work", "dist"}
    return [
        path
        for path in files
        if path.is_file()
        and path.suffix in TEXTS
        and not scratch & set(path.relative_to(ROOT).parts)
    ]


def test_no_file_names_a_path_of_a_machine() -> None:
    found = []
    for path in tracked_texts():
        text = path.read_text(encoding="utf-8", errors="replace")
        found += [f"{path.relative_to(ROOT)}: {m[0]}" for m in MACHINE_PATH.finditer(text)]
    assert found == []


def test_set_up_names_no_index_and_changes_none() -> None:
    for path in (ROOT / "build").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"--(?:extra-)?index-url|--trusted-host|https?://", text), path.name


def test_build_is_no_package() -> None:
    assert not (ROOT / "build" / "__init__.py").exists()


@pytest.mark.parametrize("module", ["app.main", "app.cli", "app.windows.start"])
def test_starting_imports_neither_torch_nor_a_network(module: str) -> None:
    heavy = ["torch", "sentence_transformers", "transformers", "llama_cpp", "PySide6.QtNetwork"]
    script = f"import sys, {module}\nprint([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
