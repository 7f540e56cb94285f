"""Where Rifugio keeps things on this machine, and the typed settings file."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Literal

import msgspec

from core.errors import OutputError

APP_DIRECTORY = "rifugio"


def data_directory() -> Path:
    """The per-person data folder: models, settings, logs. ``RIFUGIO_HOME`` overrides it."""
    override = os.environ.get("RIFUGIO_HOME")
    if override:
        return Path(override)
    if sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / "Application Support"
    else:
        root = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return root / APP_DIRECTORY


def models_directory() -> Path:
    """Where imported and default models lie. ``RIFUGIO_MODELS`` overrides it."""
    override = os.environ.get("RIFUGIO_MODELS")
    return Path(override) if override else data_directory() / "models"


def write_atomically(path: Path, data: bytes) -> None:
    """Write a small file so that a reader sees the old content or the new, never half.

    Raises
    ------
    OutputError
        When the file or its folder cannot be written; what stood there before stays.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OutputError(
            f"{path} cannot be written: {error.strerror or error}.",
            remedy="Choose another name or folder, or make room and see to your rights there.",
        ) from error


class Settings(msgspec.Struct, kw_only=True, frozen=True):
    """Preferences of the person at this machine. Nothing of a workspace's content belongs here."""

    theme: Literal["system", "light", "dark", "high-contrast"] = "system"
    text_scale: int = 100
    idle_lock_minutes: int = 10
    person: str = ""
    language: str = "en"
    recent: tuple[str, ...] = ()
    #: Where the key file of a workspace lay last, for those that have one.
    key_files: dict[str, str] = {}
    shortcuts: dict[str, str] = {}
    window: dict[str, str] = {}


def settings_path() -> Path:
    return data_directory() / "settings.json"


def load_settings() -> Settings:
    """The saved settings; the defaults where there is no file or it cannot be read."""
    try:
        return msgspec.json.decode(settings_path().read_bytes(), type=Settings)
    except (OSError, msgspec.MsgspecError):
        return Settings()


def save_settings(settings: Settings) -> None:
    """Write the settings, all or nothing.

    Raises
    ------
    OutputError
        When they cannot be written.
    """
    write_atomically(settings_path(), msgspec.json.format(msgspec.json.encode(settings)))
