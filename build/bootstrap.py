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
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from console import SetupError, say, step
from environment import ROOT, collect, prepare, python_path, tool_path
from suite import run_suite

EPILOG = """\
run [ARGUMENTS]       the window on the demo workspace; without a display the demo in the terminal;
                      with arguments 'rifugio ARGUMENTS'
test [ARGUMENTS]      style, types, import direction and all tests; with arguments 'pytest ARGUMENTS'
package               a self-contained folder in dist/, tried at once
collect DIR           fill DIR with all that set-up fetches, for machines without a package index

Options come first; what follows the first argument that is not theirs is passed on. Linux is tested
(Debian 12); Windows and macOS are written for and untested."""


def parse_arguments(argv: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """The options of set-up, and what is passed on untouched and in its order."""
    parser = argparse.ArgumentParser(
        description="Set up and start Rifugio.",
        usage="bootstrap.py {run,test,package,collect} [--gpu G] [--wheels DIR] [ARGUMENTS]",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("command", choices=("run", "test", "package", "collect"))
    parser.add_argument(
        "--gpu",
        default="auto",
        choices=("auto", "cuda", "metal", "vulkan", "cpu"),
        help="what llama.cpp is built for; 'auto' looks for a device with its tool chain",
    )
    parser.add_argument("--wheels", type=Path, metavar="DIR", help="a folder instead of an index")
    own: list[str] = []
    rest = list(argv)
    has_command = False
    while rest:
        word = rest[0]
        if word in ("--gpu", "--wheels"):
            own += rest[:2]
            del rest[:2]
        elif word.startswith(("--gpu=", "--wheels=")) or word in ("-h", "--help"):
            own.append(rest.pop(0))
        elif not has_command:
            has_command = True
            own.append(rest.pop(0))
        else:
            break
    if rest[:1] == ["--"]:
        rest.pop(0)
    return parser.parse_args(own), rest


def main(argv: Sequence[str] | None = None) -> int:
    """Run one of the commands; returns its exit code."""
    args, further = parse_arguments(sys.argv[1:] if argv is None else argv)
    if args.wheels is not None:
        args.wheels = args.wheels.absolute()
    try:
        if args.command == "collect":
            if len(further) != 1:
                raise SetupError("Say which folder to fill: bootstrap.py collect DIR.")
            collect(Path(further[0]).absolute(), gpu=args.gpu)
            return 0
        if args.command == "package" and further:
            raise SetupError(f"'package' takes no {further[0]}.")
        prepare(dev=args.command != "run", gpu=args.gpu, wheels=args.wheels)
        if args.command == "run":
            return _run(further)
        os.chdir(ROOT)
        if args.command == "test":
            return _test(further)
        return _package(args.gpu)
    except SetupError as error:
        say(f"Set-up stopped: {error}")
        return 1
    except OSError as error:
        say(f"Set-up stopped: {error}. Check the folder's permissions and the space on the disk.")
        return 1
    except KeyboardInterrupt:
        say("Set-up stopped. Run it again to go on.")
        return 130


def _run(arguments: list[str]) -> int:
    """The window where there is a display, else the demo's main job."""
    python = python_path()
    if arguments:
        return subprocess.call([python, "-P", "-m", "app", *arguments])
    if _has_display():
        return subprocess.call([python, "-P", "-m", "app", "--demo"])
    say("There is no display: doing the demo's main job here.")
    return subprocess.call([python, "-P", "-m", "app", "demo"])


def _has_display() -> bool:
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _test(arguments: list[str]) -> int:
    """Style, types, import direction, then the tests with the network cut where that is permitted."""
    python = python_path()
    failed = []
    checks: dict[str, list[str | Path]] = {
        "style": [python, "-m", "ruff", "check", "."],
        "format": [python, "-m", "ruff", "format", "--check", "-q", "."],
        "types": [python, "-m", "mypy"],
        "import direction": [tool_path("lint-imports"), "--no-cache"],
    }
    for name, command in checks.items() if not arguments else ():
        with step(f"Checking {name}"):
            if subprocess.call(command) != 0:
                failed.append(name)
    cut = network_cut()
    say(
        f"-> Running the tests with the network cut ({' '.join(cut[:-1])})"
        if cut
        else "-> Running the tests; this system does not permit cutting the network for them"
    )
    env = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "RIFUGIO_NETWORK_CUT": "1" if cut else "0",
        # Several test processes share the cores: threads of llama.cpp that spin while they wait for each
        # other would take them from the others. Measured: 3 against 37 tokens a second.
        "OMP_WAIT_POLICY": "passive",
    }
    workers = str(max(1, min(4, os.cpu_count() or 1)))
    pytest = [*cut, python, "-m", "pytest"]
    if arguments:
        return subprocess.call([*pytest, *arguments], env=env)
    code = run_suite(pytest, ["-n", workers, "-q"], env)
    if failed:
        say(f"Not as it should be: {', '.join(failed)}.")
    return code or (1 if failed else 0)


def network_cut() -> list[str]:
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
                python, "-m", "PyInstaller", "--noconfirm", "--log-level", "ERROR",
                "--workpath", ROOT / "build" / "work", "--distpath", ROOT / "dist",
                ROOT / "build" / "rifugio.spec",
            ],
            env=env,
        )  # fmt: skip
    if code != 0:
        raise SetupError("PyInstaller failed; read the lines above.")
    with step("Trying the bundle: its demo, in an empty home"):
        smoke = ROOT / "build" / "smoke_bundle.py"
        code = subprocess.call([*network_cut(), python, smoke, ROOT / "dist" / "rifugio"])
    if code != 0:
        raise SetupError("The bundle does not work; read the lines above.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
