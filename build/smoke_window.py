"""The bundle's window at work under Xvfb, keys only: ``smoke_window.py PROGRAM EXAMPLES.csv [ARGUMENT ...]``.

Does the first half of the main job as a person without a mouse would: a new workspace with a passphrase,
examples imported, a system, a run of two. What the window has done is read by the program's own command
line beside it. Needs Xvfb, libX11 and libXtst; says what is missing where they are not there.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from console import SetupError, say
from default_models import models_directory

PASSPHRASE = "correct horse battery"
_WAIT_SECONDS = 240
_KEY_SECONDS = 0.02
_SYMBOLS = {
    " ": "space", "/": "slash", ".": "period", "-": "minus", "_": "underscore", ",": "comma",
    ":": "colon",
}  # fmt: skip


class Screen:
    """A display without a desktop, and the keys of a person sitting at it."""

    def __init__(self) -> None:
        if shutil.which("Xvfb") is None:
            raise SetupError("Xvfb is not installed (on Debian: apt-get install xvfb).")
        names = [ctypes.util.find_library(name) for name in ("X11", "Xtst")]
        if not all(names):
            raise SetupError("libX11 or libXtst is missing (on Debian: apt-get install libxtst6).")
        self._x11, self._xtst = (ctypes.CDLL(str(name)) for name in names)
        self._x11.XOpenDisplay.restype = ctypes.c_void_p
        self._x11.XDefaultRootWindow.restype = ctypes.c_ulong
        self._x11.XStringToKeysym.restype = ctypes.c_ulong
        reading, writing = os.pipe()
        # The server finds a free display by itself and says which.
        self._server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1440x900x24", "-nolisten", "tcp"],
            pass_fds=(writing,),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(writing)
        with os.fdopen(reading) as said:
            self.name = f":{said.readline().strip()}"
        self._display = ctypes.c_void_p(self._x11.XOpenDisplay(self.name.encode()))
        if not self._display:
            self._server.kill()
            raise SetupError(f"The display {self.name} cannot be opened.")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._x11.XCloseDisplay(self._display)
        self._server.terminate()
        self._server.wait()

    def press(self, *keys: str) -> None:
        """Press keys together, as ``press("Control_L", "k")``; the last is the one meant."""
        self._focus_top()
        codes = [self._code(key) for key in keys]
        for down, code in [(1, c) for c in codes] + [(0, c) for c in reversed(codes)]:
            self._xtst.XTestFakeKeyEvent(self._display, code, down, 0)
        self._x11.XSync(self._display, 0)
        time.sleep(_KEY_SECONDS)

    def type(self, text: str) -> None:
        """Type characters of a US keyboard."""
        for letter in text:
            name = _SYMBOLS.get(letter, letter)
            if letter.isupper() or letter in "_:":
                self.press("Shift_L", name)
            else:
                self.press(name)

    def windows(self) -> list[int]:
        """Ids of the windows that are shown, the topmost last."""
        root, parent, count = ctypes.c_ulong(), ctypes.c_ulong(), ctypes.c_uint()
        children = ctypes.POINTER(ctypes.c_ulong)()
        self._x11.XQueryTree(
            self._display,
            ctypes.c_ulong(self._x11.XDefaultRootWindow(self._display)),
            ctypes.byref(root),
            ctypes.byref(parent),
            ctypes.byref(children),
            ctypes.byref(count),
        )
        found = [int(children[index]) for index in range(count.value)]
        if found:
            self._x11.XFree(children)
        return [window for window in found if self._is_shown(window)]

    def _is_shown(self, window: int) -> bool:
        # XWindowAttributes is 136 bytes on 64-bit systems; map_state is the int at 92.
        attributes = (ctypes.c_int * 64)()
        if not self._x11.XGetWindowAttributes(
            self._display, ctypes.c_ulong(window), ctypes.byref(attributes)
        ):
            return False
        width, map_state = attributes[2], attributes[23]
        return map_state == 2 and width > 100

    def _focus_top(self) -> None:
        """Without a window manager the keyboard goes where one sends it."""
        shown = self.windows()
        if shown:
            self._x11.XSetInputFocus(self._display, ctypes.c_ulong(shown[-1]), 1, ctypes.c_ulong(0))
            self._x11.XSync(self._display, 0)

    def _code(self, key: str) -> int:
        symbol = self._x11.XStringToKeysym(key.encode())
        code = self._x11.XKeysymToKeycode(self._display, ctypes.c_ulong(symbol)) & 0xFF
        if not code:
            raise SetupError(f"The display's keyboard has no key '{key}'.")
        return int(code)


class Work:
    """The window's program, and what it has done so far."""

    def __init__(self, program: list[str], folder: Path, env: dict[str, str]) -> None:
        self._program, self._folder, self._env = program, folder, env
        self.workspace = folder / "My workspace.rifugio"
        self.secret = folder / "passphrase.txt"
        self.secret.write_text(PASSPHRASE, encoding="utf-8")

    def counts(self) -> dict[str, Any]:
        """What lies in the workspace, by the command line; empty before there is one."""
        if not self.workspace.is_file():
            return {}
        done = self._call("info", str(self.workspace))
        return dict(json.loads(done.stdout)) if done.returncode == 0 else {}

    def verify(self) -> None:
        """The history of the closed workspace must be whole."""
        done = self._call("verify", str(self.workspace))
        if done.returncode != 0:
            raise SetupError(f"The workspace does not verify: {done.stdout} {done.stderr}")

    def _call(self, *verb: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self._program, *verb, "--passphrase-file", str(self.secret), "--json"],
            cwd=self._folder,
            env=self._env,
            capture_output=True,
            text=True,
            check=False,
        )


def wait_until(what: str, condition: Callable[[], bool]) -> None:
    """Wait for a step of the job.

    Raises
    ------
    SetupError
        Naming the step that did not come.
    """
    end = time.monotonic() + _WAIT_SECONDS
    while not condition():
        if time.monotonic() > end:
            raise SetupError(f"The window did not get to: {what}.")
        time.sleep(0.5)
    say(f"   {what}")


def do_first_half(program: list[str], examples: Path, folder: Path, env: dict[str, str]) -> None:
    """Drive the window from the welcome screen to two outputs, and close it.

    ``folder`` is the home of the environment ``env``.
    """
    with Screen() as screen:
        env = env | {"DISPLAY": screen.name, "QT_QPA_PLATFORM": "xcb"}
        work = Work(program, folder, env)
        log = folder / "window.log"

        with (
            log.open("w", encoding="utf-8") as errors,
            subprocess.Popen(program, cwd=folder, env=env, stdout=errors, stderr=errors) as window,
        ):
            try:
                wait_until("the window shows", lambda: bool(screen.windows()))
                time.sleep(2)
                _work_through(screen, work, examples)
                screen.press("Control_L", "q")
                window.wait(timeout=60)
            except subprocess.TimeoutExpired:
                raise SetupError("The window did not close.") from None
            finally:
                window.kill()
        if "Traceback" in log.read_text(encoding="utf-8"):
            raise SetupError(f"The window printed an error: {log.read_text('utf-8')[-2000:]}")
        work.verify()
        say("   closed; its history verifies")


def _work_through(screen: Screen, work: Work, examples: Path) -> None:
    def counted(name: str) -> int:
        return int(work.counts().get("counts", {}).get(name, 0))

    screen.type(PASSPHRASE)
    screen.press("Tab")
    screen.type(PASSPHRASE)
    screen.press("Return")
    wait_until("a new encrypted workspace", lambda: bool(work.counts()))
    time.sleep(1)
    screen.press("Control_L", "6")
    time.sleep(1)
    screen.press("Control_L", "k")
    time.sleep(1)
    screen.type("import examples")
    screen.press("Return")
    time.sleep(1)
    screen.press("space")
    time.sleep(1)
    screen.type(str(examples))
    screen.press("Return")
    time.sleep(3)
    # The last control of the dialog is its button 'Import'.
    screen.press("Shift_L", "Tab")
    screen.press("space")
    wait_until("examples imported", lambda: counted("example") > 1)
    time.sleep(1)
    screen.press("Control_L", "7")
    time.sleep(1)
    screen.press("Control_L", "n")
    time.sleep(1)
    # Without a system the keyboard starts at 'New system', and there at its name.
    screen.press("space")
    time.sleep(2)
    screen.type("Small")
    screen.press("Tab")
    screen.press("Tab")
    screen.type("32")
    screen.press("Return")
    wait_until("a system", lambda: counted("system") == 1)
    time.sleep(1)
    for _ in range(3):
        screen.press("Tab")
    screen.type("2")
    screen.press("Return")
    wait_until(
        "two outputs written and scored",
        lambda: counted("output") == 2 and counted("score") >= 2,
    )


def main() -> int:
    """Returns 0 when all went well."""
    program, examples = Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute()
    more = sys.argv[3:]
    with tempfile.TemporaryDirectory(prefix="rifugio-window-") as name:
        env = {
            "HOME": name,
            "USER": "visitor",
            "PATH": os.defpath,
            "RIFUGIO_HOME": str(Path(name) / "rifugio"),
            "RIFUGIO_MODELS": str(models_directory()),
        }
        try:
            do_first_half([str(program), *more], examples, Path(name), env)
        except SetupError as error:
            say(f"   {error}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
