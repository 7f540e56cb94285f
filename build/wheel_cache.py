"""Building llama-cpp-python for this machine, into a wheel cache of our own.

pip's own cache does not look at CMAKE_ARGS, so that a wheel built with other flags would come back.
GGML_NATIVE is off: a native build picks instructions (AMX) that some virtual machines advertise and then
refuse, which ends in a segmentation fault.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from console import SetupError, run, say, step
from system_libraries import require_compiler

#: OPENSSL would make a helper library that is never loaded depend on the system's libssl.
_FLAGS = ("-DGGML_NATIVE=OFF", "-DLLAMA_OPENSSL=OFF")

GPU_FLAGS = {
    "cpu": [],
    # Without GGML_NATIVE llama.cpp compiles its kernels for every generation of cards, which takes hours.
    "cuda": ["-DGGML_CUDA=on", "-DCMAKE_CUDA_ARCHITECTURES=native"],
    "metal": ["-DGGML_METAL=on"],
    "vulkan": ["-DGGML_VULKAN=on"],
}


@dataclass(frozen=True)
class Backend:
    """What llama.cpp is built for, and why."""

    name: str
    reason: str

    @property
    def flags(self) -> str:
        """CMAKE_ARGS."""
        return " ".join([*_FLAGS, *GPU_FLAGS[self.name]])


def choose_backend(wanted: str) -> Backend:
    """The backend asked for, or for 'auto' the best whose tool chain and device are both here."""
    if wanted != "auto":
        return Backend(wanted, "as asked")
    if sys.platform == "darwin":
        if platform.machine() == "arm64":
            return Backend("metal", "this Mac has Apple silicon")
        return Backend("cpu", "this Mac has no Apple silicon")
    nvidia = _has_nvidia_device()
    if nvidia and shutil.which("nvcc"):
        return Backend("cuda", "an NVIDIA device and nvcc are here")
    if _has_render_device() and shutil.which("glslc"):
        return Backend("vulkan", "a graphics device and the Vulkan shader compiler are here")
    if nvidia:
        return Backend("cpu", "there is an NVIDIA device, but no nvcc; install the CUDA toolkit")
    if shutil.which("nvcc"):
        return Backend("cpu", "nvcc is here, but no NVIDIA device")
    return Backend("cpu", "no graphics device with a tool chain was found")


def cache_directory() -> Path:
    """Where built wheels are kept. ``RIFUGIO_WHEEL_CACHE`` overrides it."""
    override = os.environ.get("RIFUGIO_WHEEL_CACHE")
    if override:
        return Path(override)
    if sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / "Caches"
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "rifugio" / "wheels"


def cache_key(lock: Path, backend: Backend) -> str:
    """Version, flags, platform: what makes one build different from another."""
    flags = hashlib.sha256(f"{backend.flags}|{lock.read_text(encoding='utf-8')}".encode())
    system = f"{platform.system().lower()}-{platform.machine().lower()}"
    return f"llama-{_locked_version(lock)}-{backend.name}-{system}-{flags.hexdigest()[:12]}"


def find_wheel(lock: Path, backend: Backend, wheels: Path | None) -> Path | None:
    """A wheel built before, in our cache or in the folder given.

    A wheel that lies in the folder itself is taken as it is: its name does not tell what it was built for.
    """
    key = cache_key(lock, backend)
    folders = [cache_directory() / key]
    if wheels is not None:
        folders += [wheels / key, wheels]
    version = _locked_version(lock)
    for folder in folders:
        found = sorted(folder.glob(f"llama_cpp_python-{version}-*.whl"))
        if found:
            return found[-1]
    return None


def build_wheel(lock: Path, build_lock: Path, backend: Backend, pip_options: list[str]) -> Path:
    """Build the wheel, some five minutes on two cores, and keep it.

    The tools that build it (scikit-build-core, CMake, Ninja) come from a lock too, into an environment of
    their own, so that pip's build isolation does not fetch whatever is newest.

    Raises
    ------
    SetupError
        When the tool chain is missing or fails.
    """
    require_compiler()
    target = cache_directory() / cache_key(lock, backend)
    work = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with step("Installing the tools that build llama.cpp"):
            tools = _make_tools(work / "tools", build_lock, pip_options)
        with step(f"Building llama.cpp for {backend.name} (some five minutes on two cores)"):
            env = {
                **os.environ,
                "CMAKE_ARGS": backend.flags,
                "PATH": os.pathsep.join([str(tools.parent), os.environ.get("PATH", "")]),
            }
            run(
                [
                    tools, "-m", "pip", "wheel", "--no-cache-dir", "--no-deps",
                    "--no-build-isolation", "--require-hashes", "--disable-pip-version-check",
                    "--progress-bar", "off", "-v", "-r", lock, "-w", work / "wheels", *pip_options,
                ],
                what="Building llama-cpp-python",
                env=env,
                remedy="Read the lines above; '--gpu cpu' needs the least.",
            )  # fmt: skip
        if not list((work / "wheels").glob("llama_cpp_python-*.whl")):
            raise SetupError("The build of llama-cpp-python left no wheel.")
        shutil.rmtree(target, ignore_errors=True)
        (work / "wheels").rename(target)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    say(f"   kept in {target}")
    return next(target.glob("llama_cpp_python-*.whl"))


def _make_tools(folder: Path, build_lock: Path, pip_options: list[str]) -> Path:
    """An environment with the build tools; returns its interpreter."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        venv.create(folder, with_pip=True)
    except subprocess.CalledProcessError as error:
        raise SetupError(f"An environment for the build could not be made: {error}.") from error
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    run(
        [
            python, "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off",
            "--no-deps", "--require-hashes", "-r", build_lock, *pip_options,
        ],
        what="Installing the build tools",
        remedy="Check the connection to the package index, or give --wheels DIR.",
    )  # fmt: skip
    return python


def _locked_version(lock: Path) -> str:
    return lock.read_text(encoding="utf-8").split("==", 1)[1].split()[0]


def _has_nvidia_device() -> bool:
    if sys.platform == "win32":
        return shutil.which("nvidia-smi") is not None
    # In order: the driver, a container that was given a card, Windows' subsystem for Linux.
    return (
        any(Path("/proc/driver/nvidia/gpus").glob("*"))
        or any(Path("/dev").glob("nvidia[0-9]*"))
        or Path("/usr/lib/wsl/lib/nvidia-smi").exists()
    )


def _has_render_device() -> bool:
    if sys.platform == "win32":
        return True
    folder = Path("/dev/dri")
    return folder.is_dir() and any(folder.glob("renderD*"))
