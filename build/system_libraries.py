"""System libraries and tools: what is missing, its package, and installing it where possible."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from console import SetupError, run, say, step

Table = Mapping[str, tuple[str, str]]

#: Library: (Debian package, Fedora package). What Qt's libraries and its offscreen and X11 platforms ask for
#: (``readelf -d``) and do not bring along, and what llama.cpp does.
LIBRARIES: Table = {
    "libEGL.so.1": ("libegl1", "libglvnd-egl"),
    "libGL.so.1": ("libgl1", "libglvnd-glx"),
    "libX11-xcb.so.1": ("libx11-xcb1", "libX11-xcb"),
    "libX11.so.6": ("libx11-6", "libX11"),
    "libdbus-1.so.3": ("libdbus-1-3", "dbus-libs"),
    "libfontconfig.so.1": ("libfontconfig1", "fontconfig"),
    "libfreetype.so.6": ("libfreetype6", "freetype"),
    "libglib-2.0.so.0": ("libglib2.0-0", "glib2"),
    "libgomp.so.1": ("libgomp1", "libgomp"),
    "libxcb-cursor.so.0": ("libxcb-cursor0", "xcb-util-cursor"),
    "libxcb-icccm.so.4": ("libxcb-icccm4", "xcb-util-wm"),
    "libxcb-image.so.0": ("libxcb-image0", "xcb-util-image"),
    "libxcb-keysyms.so.1": ("libxcb-keysyms1", "xcb-util-keysyms"),
    "libxcb-randr.so.0": ("libxcb-randr0", "libxcb"),
    "libxcb-render-util.so.0": ("libxcb-render-util0", "xcb-util-renderutil"),
    "libxcb-render.so.0": ("libxcb-render0", "libxcb"),
    "libxcb-shape.so.0": ("libxcb-shape0", "libxcb"),
    "libxcb-shm.so.0": ("libxcb-shm0", "libxcb"),
    "libxcb-sync.so.1": ("libxcb-sync1", "libxcb"),
    "libxcb-util.so.1": ("libxcb-util1", "xcb-util"),
    "libxcb-xfixes.so.0": ("libxcb-xfixes0", "libxcb"),
    "libxcb-xkb.so.1": ("libxcb-xkb1", "libxcb"),
    "libxkbcommon-x11.so.0": ("libxkbcommon-x11-0", "libxkbcommon-x11"),
    "libxkbcommon.so.0": ("libxkbcommon0", "libxkbcommon"),
}

#: The same, for a Wayland session.
WAYLAND: Table = {
    "libwayland-client.so.0": ("libwayland-client0", "libwayland-client"),
    "libwayland-cursor.so.0": ("libwayland-cursor0", "libwayland-cursor"),
}

#: Tool: the same. Needed to build llama.cpp; CMake and Ninja come from the lock.
BUILD_TOOLS: Table = {"cc": ("build-essential", "gcc-c++"), "c++": ("build-essential", "gcc-c++")}

#: Used by tests alone, which are skipped without them.
TEST_TOOLS: Table = {"strace": ("strace", "strace"), "Xvfb": ("xvfb", "xorg-x11-server-Xvfb")}


def require_libraries(*, tests: bool) -> None:
    """Install or name the libraries that are missing, and with ``tests`` the tools that tests like to have.

    Raises
    ------
    SetupError
        When a library is missing and cannot be installed from here.
    """
    if sys.platform == "linux":
        needed = {**LIBRARIES, **(WAYLAND if os.environ.get("WAYLAND_DISPLAY") else {})}
        _require(missing_libraries(needed), missing_tools(TEST_TOOLS) if tests else {})


def require_compiler() -> None:
    """Install or name the C and C++ compilers.

    Raises
    ------
    SetupError
        When they are missing and cannot be installed from here.
    """
    if sys.platform == "linux":
        _require(missing_tools(BUILD_TOOLS), {})
    elif sys.platform == "darwin" and missing_tools(BUILD_TOOLS):
        raise SetupError("There is no C++ compiler. Install one with: xcode-select --install")
    # On Windows CMake finds Visual Studio's compiler, which is not on the path, or says that it is not there.


def require_venv() -> None:
    """Debian keeps the part of Python that makes environments in a package of its own.

    Raises
    ------
    SetupError
        When it is missing and cannot be installed from here.
    """
    if importlib.util.find_spec("ensurepip") is None:
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        _require({"ensurepip": (f"python{version}-venv", f"python{version}")}, {})


def missing_libraries(table: Table) -> Table:
    """The libraries of the table that the loader does not find."""
    return {name: packages for name, packages in table.items() if not _loads(name)}


def missing_tools(table: Table) -> Table:
    """The commands of the table that are not on the path."""
    return {name: packages for name, packages in table.items() if not shutil.which(name)}


def install_command(packages: list[str]) -> str:
    """What to type to get the packages."""
    if shutil.which("apt-get"):
        return f"sudo apt-get update && sudo apt-get install -y {' '.join(packages)}"
    if shutil.which("dnf"):
        return f"sudo dnf install -y {' '.join(packages)}"
    return f"your system's package manager; on Fedora the packages are {' '.join(packages)}"


def _require(needed: Table, wished: Table) -> None:
    if not needed and not wished:
        return
    debian = shutil.which("apt-get") is not None
    both = {**needed, **wished}
    packages = sorted({names[0 if debian else 1] for names in both.values()})
    if debian and hasattr(os, "geteuid") and os.geteuid() == 0:
        _install_with_apt(packages, needed=bool(needed))
        return
    names = ", ".join(sorted(both))
    command = install_command(packages)
    if needed:
        raise SetupError(f"Missing on this system: {names}. Install them with: {command}")
    say(f"   Without {names} some tests are skipped. To have them: {command}")


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _install_with_apt(packages: list[str], *, needed: bool) -> None:
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    remedy = f"Check the connection, or install by hand: {install_command(packages)}"
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]
    try:
        with step(f"Installing system packages: {', '.join(packages)}"):
            if not any(Path("/var/lib/apt/lists").glob("*Packages*")):
                run(["apt-get", "update", "-q"], what="apt-get update", env=env, remedy=remedy)
            try:
                run(install, what="apt-get install", env=env, remedy=remedy)
            except SetupError:
                # The lists may be old; look once more.
                run(["apt-get", "update", "-q"], what="apt-get update", env=env, remedy=remedy)
                run(install, what="apt-get install", env=env, remedy=remedy)
    except SetupError as error:
        if needed:
            raise
        say(f"   {error} Some tests are skipped without them.")
