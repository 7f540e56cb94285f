"""Runs all tests, and once more, alone, the few that failed.

Window tests depend on the machine's timing. On one that is busy with other things a test may fail once in
thousands; such a test is run again by itself in a fresh process, as CPython's own test runner does, and
named in the last lines when it passes then, so that its cause can be looked for. What fails twice has
failed, and so has a run in which more than a few did.
"""

from __future__ import annotations

import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from pathlib import Path

from console import say

#: More failures than these are no accident.
MOST_AGAIN = 3
_TESTS_FAILED = 1


def run_suite(
    pytest: Sequence[str | Path], options: Sequence[str], env: Mapping[str, str] | None = None
) -> int:
    """Run pytest with options for the first run; returns the exit code, 0 when all is well.

    Parameters
    ----------
    pytest
        The command without options.
    options
        Of the first run only: such as how many processes take part.
    env
        The processes' environment; None for this one's.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        written = [f"--junitxml={report}", "-o", "junit_family=xunit1"]
        code = subprocess.call([*pytest, *options, *written], env=env)
        failed = failed_tests(report) if code == _TESTS_FAILED else []
    if not 0 < len(failed) <= MOST_AGAIN:
        return code
    say(f"-> Running again, alone: {', '.join(failed)}")
    again = subprocess.call([*pytest, "-q", *failed], env=env)
    if again == 0:
        say(f"Passed only when run again, alone: {', '.join(failed)}.")
    return again


def failed_tests(report: Path) -> list[str]:
    """The tests of a report in JUnit's XML (pytest's family xunit1) that failed or broke, as pytest takes
    them; a file that could not be read as tests stands for itself."""
    if not report.is_file():
        return []
    found = []
    # Our own process wrote the file a moment ago.
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        if case.find("failure") is None and case.find("error") is None:
            continue
        file, name = case.get("file", ""), case.get("name", "")
        module = file.removesuffix(".py").replace("/", ".")
        classes = [part for part in case.get("classname", "")[len(module) :].split(".") if part]
        found.append("::".join([file, *classes, name]) if file else name)
    return list(dict.fromkeys(found))
