"""Try a bundle as a stranger would: ``smoke_bundle.py DIR``. An empty home, no Python, no network needed.

Does the demo's main job from the bundle, opens its window for some seconds, and looks at what lies in it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from console import SetupError, say
from default_models import missing_files, models_directory, read_manifest
from smoke_window import do_first_half

#: Parts of file names that must not be in a bundle: torch, Qt's network, and a GPL library of Python's.
FORBIDDEN = (
    "libtorch",
    "torch_python",
    "Qt6Network",
    "QtNetwork",
    "Qt6WebEngine",
    "QtWebEngine",
    "libreadline",
)
#: A plain SQLite file begins so; an encrypted one must not.
PLAIN_SQLITE = b"SQLite format 3\x00"
#: Three small cases to import; of our own making.
EXAMPLES = """task,title,dialogue,note
Write a note of the visit,Knee,"Doctor: What brings you in? Patient: My knee hurts on stairs.",Knee pain.
Write a note of the visit,Cough,"Doctor: Since when? Patient: A week, no fever.",A week of dry cough.
Write a note of the visit,Sleep,"Doctor: How do you sleep? Patient: Four hours.",Sleeps four hours.
"""

_SECONDS = 600
_WINDOW_SECONDS = 8


def main() -> int:
    """Returns 0 when all went well."""
    bundle = Path(sys.argv[1]).resolve()
    program = bundle / ("rifugio.exe" if sys.platform == "win32" else "rifugio")
    try:
        if not program.is_file():
            raise SetupError(f"There is no {program}.")
        if missing_files():
            raise SetupError("The default models are not in place. Run bootstrap.py run first.")
        look_for_forbidden(bundle)
        with tempfile.TemporaryDirectory(prefix="rifugio-smoke-") as folder:
            env = stranger_environment(Path(folder))
            result = try_demo(program, Path(folder), env)
            try_models(program, Path(folder), env)
            try_window(program, Path(folder), env)
            try_work(program, Path(folder), env)
    except SetupError as error:
        say(f"   {error}")
        return 1
    say(f"   the demo took {result['seconds']} s; the bundle has {size(bundle) / 1e6:.0f} MB")
    return 0


def stranger_environment(folder: Path) -> dict[str, str]:
    """An environment with nothing of this project or its Python, and an empty home."""
    kept = ("LANG", "LC_ALL", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR")
    env = {name: os.environ[name] for name in kept if name in os.environ}
    home = folder / "home"
    home.mkdir()
    return env | {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "PATH": os.defpath,
        "RIFUGIO_HOME": str(home / "rifugio"),
        "RIFUGIO_MODELS": str(models_directory()),
        "QT_QPA_PLATFORM": "offscreen",
    }


def look_for_forbidden(bundle: Path) -> None:
    """Refuse a bundle with a file that must not be in one."""
    for path in bundle.rglob("*"):
        if any(part in path.name for part in FORBIDDEN):
            raise SetupError(f"{path.relative_to(bundle)} must not be in the bundle.")


def try_demo(program: Path, folder: Path, env: dict[str, str]) -> dict[str, Any]:
    """Do the main job; its outputs, scores, report and encrypted workspace must be there."""
    done = call(program, ["demo", "--json", "--out", str(folder / "demo")], folder, env)
    if done.returncode != 0:
        raise SetupError(f"The demo failed ({done.returncode}): {done.stderr[-2000:]}")
    try:
        result: dict[str, Any] = json.loads(done.stdout)
    except ValueError as error:
        raise SetupError(f"The demo did not print JSON: {done.stdout[:500]!r}") from error
    check_demo(result, Path(result["workspace"]), Path(result["report"]))
    return result


def try_models(program: Path, folder: Path, env: dict[str, str]) -> None:
    """Load each default model that runs without torch, in a worker of the bundle, and try it."""
    for model in read_manifest():
        if model["format"] != "sentence-transformers":
            done = call(program, ["models", "check", model["id"], "--json"], folder, env)
            if done.returncode != 0:
                raise SetupError(f"The model {model['id']} does not work: {done.stderr[-2000:]}")


def call(
    program: Path, arguments: list[str], folder: Path, env: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run the bundle's program to its end."""
    try:
        return subprocess.run(
            [program, *arguments],
            cwd=folder,
            env=env,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise SetupError(f"'rifugio {arguments[0]}' did not end in {_SECONDS} s.") from error


def check_demo(result: dict[str, Any], workspace: Path, report: Path) -> None:
    """Refuse a demo that says it went well and did not."""
    if result["state"] != "done" or result["failed"] or not result["outputs"]:
        raise SetupError(f"The demo's job ended as {result['state']}: {result}")
    if result["outputs"] != result["examples"] or not result["results"]:
        raise SetupError(f"The demo left examples without output or score: {result}")
    if not any(0 < value <= 1 for value in result["results"].values()):
        raise SetupError(f"The demo's scores are empty: {result['results']}")
    if "<html" not in report.read_text(encoding="utf-8"):
        raise SetupError("The demo's report is not an HTML page.")
    with workspace.open("rb") as stream:
        if stream.read(len(PLAIN_SQLITE)) == PLAIN_SQLITE:
            raise SetupError("The demo's workspace is not encrypted.")


def try_window(program: Path, folder: Path, env: dict[str, str]) -> None:
    """Open the window; it must stay open and print no traceback."""
    with subprocess.Popen(
        [program], cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            process.wait(timeout=_WINDOW_SECONDS)
            ended = True
        except subprocess.TimeoutExpired:
            ended = False
            process.terminate()
        try:
            _, errors = process.communicate(timeout=15)
        except subprocess.TimeoutExpired:
            process.kill()
            _, errors = process.communicate()
    if ended or "Traceback" in errors:
        raise SetupError(f"The window did not open ({process.returncode}): {errors[-2000:]}")


def try_work(program: Path, folder: Path, env: dict[str, str]) -> None:
    """Do the first half of the main job in the window, by keys, where a display can be made."""
    if sys.platform != "linux" or shutil.which("Xvfb") is None:
        say("   the window was not worked in: there is no Xvfb")
        return
    examples = folder / "examples.csv"
    examples.write_text(EXAMPLES, encoding="utf-8")
    home = folder / "visitor"
    home.mkdir()
    own = {"HOME": str(home), "RIFUGIO_HOME": str(home / "rifugio"), "USER": "visitor"}
    do_first_half([str(program)], examples, home, env | own)


def size(bundle: Path) -> int:
    """Bytes of all files, links counted once."""
    return sum(p.lstat().st_size for p in bundle.rglob("*") if p.is_file() and not p.is_symlink())


if __name__ == "__main__":
    sys.exit(main())
