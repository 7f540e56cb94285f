"""The command line: verbs with JSON on standard output, progress on standard error, honest exit codes."""

from app.cli.command import run_command

__all__ = ["run_command"]
