"""Parsing a command line and running its verb."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

from core.errors import Cancelled, KnownError, RifugioError, UsageError

VERSION = "0.1.0"


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line and exits with 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}. Try '{self.prog} --help'.\n")


def build_parser() -> argparse.ArgumentParser:
    """The parser of all verbs."""
    from app.cli import (
        demo,
        documents,
        edit,
        exchange,
        graphs,
        judge,
        metrics,
        models,
        packages,
        rubrics,
        runs,
        safety,
        systems,
        workspaces,
    )

    parser = _Parser(
        prog="rifugio",
        description="Review long-form output of language models on this machine, without a network. "
        "Without a verb the window opens.",
    )
    parser.add_argument("--version", action="version", version=f"rifugio {VERSION}")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB", parser_class=_Parser)
    for module in (
        demo,
        workspaces,
        safety,
        packages,
        models,
        exchange,
        documents,
        graphs,
        systems,
        runs,
        edit,
        judge,
        rubrics,
    ):
        module.add_parsers(verbs)
    metrics.add_metric_parser(verbs)
    metrics.add_agreement_parser(verbs)
    return parser


def run_command(arguments: Sequence[str]) -> int:
    """Run a verb: 0 on success, 1 on a user-level error, 2 on wrong usage."""
    # Text of any script must come out whatever the terminal's encoding.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        args: Any = build_parser().parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    try:
        return int(args.run(args) or 0)
    except UsageError as error:
        return _complain(error, 2)
    except (KeyboardInterrupt, Cancelled):
        print("Stopped.", file=sys.stderr)
        return 1
    except KnownError as error:
        return _complain(error, 1)
    except BrokenPipeError:
        # The reader of our output went away; nothing more can be said there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except RifugioError as error:
        return _complain(error, 1)
    except Exception as error:
        if os.environ.get("RIFUGIO_TRACEBACK"):
            traceback.print_exc()
        print(
            f"rifugio: a fault of ours: {type(error).__name__}: {' '.join(str(error).split())} "
            "Set RIFUGIO_TRACEBACK=1 to see where.",
            file=sys.stderr,
        )
        return 1


def _complain(error: RifugioError, code: int) -> int:
    print("rifugio: " + " ".join(str(error).split()), file=sys.stderr)
    return code
