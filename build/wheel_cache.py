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
import sys
from dataclasses import dataclass
from pathlib import Path

from console import SetupError, run, say, step

GPU_FLAGS = {
    "cpu": [],
    "cuda": ["-DGGML_CUDA=on"],
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
        return " ".join(["-DGGML_NATIVE=OFF", *GPU_FLAGS[self.name]])


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
    version = lock.read_text(encoding="utf-8").split("==", 1)[1].split()[0]
    flags = hashlib.sha256(f"{backend.flags}|{lock.read_text(encoding='utf-8')}".encode())
    system = f"{platform.system().lower()}-{platform.machine().lower()}"
    return f"llama-{version}-{backend.name}-{system}-{flags.hexdigest()[:12]}"


def find_wheel(lock: Path, backend: Backend, wheels: Path | None) -> Path | None:
    """A wheel built before, here or in the folder given."""
    for folder in (cache_directory() / cache_key(lock, backend), wheels):
        if folder is not None and folder.is_dir():
            found = sorted(folder.glob("llama_cpp_python-*.whl"))
            if found:
                return found[-1]
    return None


def build_wheel(python: Path, lock: Path, backend: Backend, pip_options: list[str]) -> Path:
    """Build the wheel, some five minutes on two cores, and keep it.

    Raises
    ------
    SetupError
        When the tool chain is missing or fails.
    """
    if sys.platform != "win32" and not (shutil.which("c++") or shutil.which("clang++")):
        raise SetupError(
            "There is no C++ compiler. Install one (Debian: build-essential, Fedora: gcc-c++, "
            "macOS: xcode-select --install)."
        )
    target = cache_directory() / cache_key(lock, backend)
    work = target.with_name(f".{target.name}.{os.getpid()}")
    env = {**os.environ, "CMAKE_ARGS": backend.flags}
    try:
        with step(f"Building llama.cpp for {backend.name} (some five minutes on two cores)"):
            run(
                [
                    python, "-m", "pip", "wheel", "--no-cache-dir", "--no-deps", "--require-hashes",
                    "-r", lock, "-w", work, *pip_options,
                ],
                what="Building llama-cpp-python",
                env=env,
                remedy="Read the lines above; '--gpu cpu' needs the least.",
            )  # fmt: skip
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(target, ignore_errors=True)
        work.rename(target)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    found = sorted(target.glob("llama_cpp_python-*.whl"))
    if not found:
        raise SetupError("The build of llama-cpp-python left no wheel.")
    say(f"   kept in {target}")
    return found[-1]


def _has_nvidia_device() -> bool:
    if Path("/proc/driver/nvidia/gpus").is_dir():
        return any(Path("/proc/driver/nvidia/gpus").iterdir())
    return sys.platform == "win32" and shutil.which("nvidia-smi") is not None


def _has_render_device() -> bool:
    if sys.platform == "win32":
        return True
    folder = Path("/dev/dri")
    return folder.is_dir() and any(folder.glob("renderD*"))
