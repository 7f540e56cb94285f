"""The locks say exactly what is installed, and agree with each other and with pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
LOCKS = ROOT / "build" / "locks"
NAMES = ("runtime", "dev", "llama", "llama-build")
#: Installed beside the lock, see build/locks/README.md.
BESIDE = {"torch", "llama-cpp-python"}


def read_lock(name: str) -> dict[str, set[str]]:
    """Versions by package; one package may have two versions, for different Pythons."""
    found: dict[str, set[str]] = {}
    text = (LOCKS / f"{name}.lock").read_text(encoding="utf-8")
    for package, version in re.findall(r"^([\w.-]+)==([\w.+!-]+)", text, re.MULTILINE):
        found.setdefault(normal(package), set()).add(version)
    return found


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("name", NAMES)
def test_every_entry_has_a_version_and_hashes(name: str) -> None:
    text = (LOCKS / f"{name}.lock").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\S)", text.strip())
    assert entries
    for entry in entries:
        assert re.match(r"[\w.-]+==\S+", entry), entry[:80]
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry[:80]


@pytest.mark.parametrize("name", NAMES)
def test_no_lock_names_an_index_or_a_path(name: str) -> None:
    text = (LOCKS / f"{name}.lock").read_text(encoding="utf-8")
    assert not re.search(r"://|--(?:extra-)?index|--find-links| @ ", text)


@pytest.mark.parametrize("name", ["runtime", "dev"])
def test_what_differs_between_machines_is_not_locked(name: str) -> None:
    packages = read_lock(name)
    assert not BESIDE & set(packages)
    assert not [p for p in packages if p.startswith(("nvidia-", "cuda-", "triton"))]


def test_the_lock_for_tests_holds_the_other_one() -> None:
    runtime, dev = read_lock("runtime"), read_lock("dev")
    assert {name: dev.get(name) for name in runtime} == runtime


def test_every_dependency_of_the_project_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {normal(re.match(r"[\w.-]+", text)[0]) for text in project["dependencies"]}  # type: ignore[index]
    assert named - BESIDE <= set(read_lock("runtime"))


@pytest.mark.parametrize("name", ["runtime", "dev", "llama-build"])
def test_every_wish_is_locked(name: str) -> None:
    lines = (LOCKS / f"{name}.in").read_text(encoding="utf-8").splitlines()
    wished = {normal(re.match(r"[\w.-]+", line)[0]) for line in lines if line[:1].isalpha()}  # type: ignore[index]
    assert wished - BESIDE <= set(read_lock(name))


def test_ci_runs_the_command_of_the_readme() -> None:
    command = "python3 build/bootstrap.py test"
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert command in readme
    assert "python3 build/bootstrap.py run" in readme
