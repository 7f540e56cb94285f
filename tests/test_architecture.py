"""What the code may import, ship and name."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = [*ROOT.glob("app/**/*.py"), *ROOT.glob("core/**/*.py"), *ROOT.glob("models/**/*.py")]


def test_import_direction() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from importlinter.cli import lint_imports_command;"
         " sys.argv = ['lint-imports']; lint_imports_command()"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("module", ["QtNetwork", "QtWebEngine", "QtWebSockets", "QtCharts"])
def test_no_network_module_of_qt_is_imported(module: str) -> None:
    pattern = re.compile(rf"^\s*(?:from|import)\s+PySide6\S*\s*.*{module}", re.MULTILINE)
    assert [path for path in SOURCES if pattern.search(path.read_text(encoding="utf-8"))] == []


def test_nothing_left_for_later() -> None:
    pattern = re.compile(r"\b(?:TODO|FIXME|XXX)\b|raise NotImplementedError")
    assert [path for path in SOURCES if pattern.search(path.read_text(encoding="utf-8"))] == []


def test_top_level_is_as_decided() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    folders = {line.split("/")[0] for line in listed.stdout.splitlines() if "/" in line}
    assert folders - {".ci"} <= {"app", "core", "models", "resources", "tests", "build"}


def test_no_gpl_among_what_is_shipped() -> None:
    lock = (ROOT / "build" / "locks" / "runtime.lock").read_text(encoding="utf-8")
    shipped = {name.lower().replace("_", "-") for name in re.findall(r"^([\w.-]+)==", lock, re.M)}
    gpl = []
    for distribution in distributions():
        name = (distribution.metadata["Name"] or "").lower().replace("_", "-")
        if name not in shipped or name in ("pyside6-essentials", "shiboken6"):
            # Qt is taken under the LGPL, one of the licences it is offered under.
            continue
        licence = " ".join(
            [
                distribution.metadata.get("License-Expression") or "",
                *[c for c in distribution.metadata.get_all("Classifier") or () if "License" in c],
            ]
        )
        chosen = re.search(r"LGPL|Lesser|MPL|Mozilla|MIT|BSD|Apache| OR ", licence)
        if re.search(r"(?<![AL])GPL|GNU General Public", licence) and not chosen:
            gpl.append((name, licence))
    assert gpl == []
    assert "krippendorff" not in shipped
