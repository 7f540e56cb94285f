"""The one entry: the window, a command-line verb, or, with ``--worker``, a model's process.

Importing this must stay cheap: everything heavy is imported where it is used.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run what the arguments ask for; returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["--worker"]:
        from models.worker import main as run_worker

        return run_worker()
    from core.offline import apply_offline_environment, install_offline_guard
    from core.privacy import refuse_core_dumps

    apply_offline_environment()
    install_offline_guard()
    refuse_core_dumps()
    if not arguments or arguments == ["--demo"] or _is_file(arguments[0]):
        from app.windows.start import run_window
        from core.errors import KnownError

        try:
            return run_window(arguments)
        except KnownError as error:
            # There is no window to say it in.
            print(f"rifugio: {error}", file=sys.stderr)
            return 1
    from app.cli import run_command

    return run_command(arguments)


def _is_file(argument: str) -> bool:
    """A workspace handed over by a file manager."""
    return argument.casefold().endswith(".rifugio")


if __name__ == "__main__":
    sys.exit(main())
