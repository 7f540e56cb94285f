"""Set up and start Rifugio: ``python3 build/bootstrap.py run|test|package|collect``.

Needs nothing but Python 3.11 to 3.13 and, the first time, a C++ compiler and a package index, or a
folder filled by ``collect``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from console import SetupError, say, step
from environment import ROOT, collect, prepare, python_path


def main() -> int:
    """Run one of the commands; returns its exit code."""
    parser = argparse.ArgumentParser(description="Set up and start Rifugio.")
    parser.add_argument("command", choices=("run", "test", "package", "collect"))
    parser.add_argument("arguments", nargs="*", help="passed on; for collect the folder to fill")
    parser.add_argument("--gpu", default="auto", choices=("auto", "cuda", "metal", "vulkan", "cpu"))
    parser.add_argument("--wheels", type=Path, metavar="DIR", help="a folder instead of an index")
    args, further = parser.parse_known_args()
    further = [*args.arguments, *further]
    os.chdir(ROOT)
    try:
        if args.command == "collect":
            if len(further) != 1:
                raise SetupError("Say which folder to fill: bootstrap.py collect DIR.")
            collect(Path(further[0]), gpu=args.gpu)
            return 0
        prepare(dev=args.command != "run", gpu=args.gpu, wheels=args.wheels)
        if args.command == "run":
            return _run(further)
        if args.command == "test":
            return _test(further)
        return _package(args.gpu)
    except SetupError as error:
        say(f"Set-up stopped: {error}")
        return 1
    except KeyboardInterrupt:
        say("Set-up stopped. Run it again to go on.")
        return 1


def _run(arguments: list[str]) -> int:
    """The window where there is a display, else the demo's main job."""
    python = python_path()
    if arguments:
        return subprocess.call([python, "-m", "app", *arguments])
    if _has_display():
        return subprocess.call([python, "-m", "app", "--demo"])
    say("There is no display: doing the demo's main job here.")
    return subprocess.call([python, "-m", "app", "demo"])


def _has_display() -> bool:
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _test(arguments: list[str]) -> int:
    """Style, types, import direction, then the tests with the network cut where that is permitted."""
    python = str(python_path())
    failed = []
    checks = {
        "style": ["ruff", "check", "."],
        "format": ["ruff", "format", "--check", "-q", "."],
        "types": ["mypy"],
    }
    for name, command in checks.items() if not arguments else ():
        with step(f"Checking {name}"):
            if subprocess.call([python, "-m", *command]) != 0:
                failed.append(name)
    cut = _network_cut()
    say(
        "-> Running the tests with the network cut"
        if cut
        else "-> Running the tests; this system does not permit cutting the network for them"
    )
    env = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "RIFUGIO_NETWORK_CUT": "1" if cut else "0",
    }
    workers = str(max(1, min(4, os.cpu_count() or 1)))
    tests = arguments or ["-n", workers, "-q"]
    code = subprocess.call([*cut, python, "-m", "pytest", *tests], env=env)
    if failed:
        say(f"Not as it should be: {', '.join(failed)}.")
    return code or (1 if failed else 0)


def _network_cut() -> list[str]:
    """The command that runs another in an empty network namespace, or nothing."""
    if sys.platform != "linux" or not shutil.which("unshare"):
        return []
    for options in (["-n"], ["-r", "-n"]):
        command = ["unshare", *options]
        done = subprocess.run([*command, "true"], capture_output=True, check=False)
        if done.returncode == 0:
            return [*command, "--"]
    return []


def _package(gpu: str) -> int:
    """A PyInstaller one-dir bundle in dist/, tried at once."""
    python = python_path()
    env = {**os.environ, "RIFUGIO_BUNDLE_CUDA": "1" if gpu == "cuda" else "0"}
    with step("Bundling with PyInstaller"):
        code = subprocess.call(
            [
                python, "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN",
                "--workpath", ROOT / "build" / "work", "--distpath", ROOT / "dist",
                ROOT / "build" / "rifugio.spec",
            ],
            env=env,
        )  # fmt: skip
    if code != 0:
        raise SetupError("PyInstaller failed; read the lines above.")
    with step("Trying the bundle: its demo, in an empty home"):
        return subprocess.call(
            [python, ROOT / "build" / "smoke_bundle.py", ROOT / "dist" / "rifugio"]
        )


if __name__ == "__main__":
    sys.exit(main())
