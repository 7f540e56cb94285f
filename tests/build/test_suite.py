"""The runner of all tests: what fails once is run again alone and named, what fails twice has failed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from suite import MOST_AGAIN, run_suite

_PYTEST = [sys.executable, "-m", "pytest", "-c", "pytest.ini", "-p", "no:cacheprovider"]
#: Fails as often as the file beside it says.
_UNSTEADY = """
import pathlib

def test_other():
    pass

class TestThings:
    def test_unsteady(self):
        left = pathlib.Path("left")
        times = int(left.read_text())
        left.write_text(str(times - 1))
        assert times <= 0
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with tests of its own, the one to be in."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "parts").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("failures", "code"), [(0, 0), (1, 0), (2, 1)])
def test_a_failure_is_looked_at_once_more(
    folder: Path, failures: int, code: int, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "parts" / "test_it.py").write_text(_UNSTEADY)
    (folder / "left").write_text(str(failures))
    assert run_suite(_PYTEST, ["-q"]) == code
    said = capfd.readouterr().err
    name = "parts/test_it.py::TestThings::test_unsteady"
    assert (f"Passed only when run again, alone: {name}." in said) == (failures == 1)
    assert int((folder / "left").read_text()) == (-1 if failures == 0 else failures - 2)


def test_many_failures_are_no_accident(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "test_it.py").write_text(
        "import pytest\n\n@pytest.mark.parametrize('n', range(9))\n"
        f"def test_n(n):\n    assert n > {MOST_AGAIN}\n"
    )
    assert run_suite(_PYTEST, ["-q"]) == 1
    assert "again" not in capfd.readouterr().err


def test_what_cannot_even_be_read_as_a_test_has_failed(folder: Path) -> None:
    (folder / "test_it.py").write_text("import nothing_of_this_name\n")
    assert run_suite(_PYTEST, ["-q"]) not in (0, 1)


def test_a_parametrized_failure_is_found_again_by_its_name(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "test_it.py").write_text(
        "import pytest\n\n@pytest.mark.parametrize('word', ['a b', 'c/d.e', 'x'])\n"
        "def test_word(word):\n    assert word == 'x'\n"
    )
    assert run_suite(_PYTEST, ["-q"]) == 1
    said = capfd.readouterr().err
    assert all(
        name in said for name in ("test_it.py::test_word[a b]", "test_it.py::test_word[c/d.e]")
    )
    assert "test_word[x]" not in said
