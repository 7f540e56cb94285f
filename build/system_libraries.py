"""System libraries and tools: what is missing, its package, and installing it where possible."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from pathlib import Path

from console import SetupError, run, say, step

#: Library: (Debian package, Fedora package). Qt's offscreen and X11 platforms need these.
LIBRARIES = {
    "libEGL.so.1": ("libegl1", "libglvnd-egl"),
    "libGL.so.1": ("libgl1", "libglvnd-glx"),
    "libfontconfig.so.1": ("libfontconfig1", "fontconfig"),
    "libdbus-1.so.3": ("libdbus-1-3", "dbus-libs"),
    "libglib-2.0.so.0": ("libglib2.0-0", "glib2"),
    "libxkbcommon.so.0": ("libxkbcommon0", "libxkbcommon"),
    "libxkbcommon-x11.so.0": ("libxkbcommon-x11-0", "libxkbcommon-x11"),
    "libxcb-cursor.so.0": ("libxcb-cursor0", "xcb-util-cursor"),
    "libxcb-icccm.so.4": ("libxcb-icccm4", "xcb-util-wm"),
    "libxcb-image.so.0": ("libxcb-image0", "xcb-util-image"),
    "libxcb-keysyms.so.1": ("libxcb-keysyms1", "xcb-util-keysyms"),
    "libxcb-render-util.so.0": ("libxcb-render-util0", "xcb-util-renderutil"),
    "libxcb-shape.so.0": ("libxcb-shape0", "libxcb"),
    "libxcb-xinerama.so.0": ("libxcb-xinerama0", "libxcb"),
    "libgomp.so.1": ("libgomp1", "libgomp"),
}

#: Tool: the same. Needed to build llama.cpp.
BUILD_TOOLS = {"cc": ("build-essential", "gcc-c++"), "c++": ("build-essential", "gcc-c++")}

#: Used by tests alone, which are skipped without them.
TEST_TOOLS = {"strace": ("strace", "strace"), "Xvfb": ("xvfb", "xorg-x11-server-Xvfb")}


def require_system(*, tests: bool) -> None:
    """Install or name what is missing.

    Raises
    ------
    SetupError
        When something needed is missing and cannot be installed from here.
    """
    if sys.platform != "linux":
        return
    needed = _missing(LIBRARIES, tools=False) | _missing(BUILD_TOOLS, tools=True)
    wished = _missing(TEST_TOOLS, tools=True) if tests else set()
    if not needed and not wished:
        return
    debian = shutil.which("apt-get") is not None
    packages = sorted({names[0 if debian else 1] for _, names in needed | wished})
    if debian and hasattr(os, "geteuid") and os.geteuid() == 0:
        _install_with_apt(packages, needed=bool(needed))
        return
    names = ", ".join(sorted(name for name, _ in needed | wished))
    command = _install_command(packages, debian=debian)
    if needed:
        raise SetupError(f"Missing on this system: {names}. Install them with: {command}")
    say(f"   Without {names} some tests are skipped. To have them: {command}")


def _missing(table: dict[str, tuple[str, str]], *, tools: bool) -> set[tuple[str, tuple[str, str]]]:
    found = shutil.which if tools else _loads
    return {(name, packages) for name, packages in table.items() if not found(name)}


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _install_command(packages: list[str], *, debian: bool) -> str:
    if debian:
        return f"sudo apt-get install -y {' '.join(packages)}"
    if shutil.which("dnf"):
        return f"sudo dnf install -y {' '.join(packages)}"
    return f"your system's package manager, packages {', '.join(packages)} (Fedora's names)"


def _install_with_apt(packages: list[str], *, needed: bool) -> None:
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        with step(f"Installing system packages: {', '.join(packages)}"):
            if not any(Path("/var/lib/apt/lists").glob("*Packages*")):
                run(["apt-get", "update", "-q"], what="apt-get update", env=env)
            install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]
            try:
                run(install, what="apt-get install", env=env)
            except SetupError:
                # The lists may be old; look once more.
                run(["apt-get", "update", "-q"], what="apt-get update", env=env)
                run(install, what="apt-get install", env=env)
    except SetupError as error:
        if needed:
            raise
        say(f"   {error} Some tests are skipped.")
