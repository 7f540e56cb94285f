"""Verbs that keep work safe: backup, restore, rekey, recover, audit."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from app.cli.common import (
    add_common,
    add_passphrase,
    open_workspace,
    print_result,
    read_new_secret,
    read_passphrase,
)
from core.errors import ConflictError, NotFoundError, RifugioError, UsageError
from core.ids import format_time
from core.storage import Workspace
from core.storage.audit import chain_heads, export_audit
from core.storage.backups import (
    REASON_WORDS,
    Backup,
    back_up,
    check_backup,
    list_backups,
)
from core.storage.cipher import Key, derive_key, inspect_file, make_key_file, read_salt
from core.storage.recovery import recover_workspace
from core.storage.rekey import change_key, remove_older_backups
from core.storage.restore import Preview, preview_restore, restore_backup, restore_to_new_file
from core.storage.titles import kind_words


def add_parsers(verbs: Any) -> None:
    """backup, restore, rekey, recover, audit."""
    backup = verbs.add_parser("backup", help="make an encrypted copy, or list those there are")
    add_common(backup, workspace=True)
    backup.add_argument(
        "--out", metavar="F", type=Path, help="where to (else among the workspace's own backups)"
    )
    backup.add_argument("--list", action="store_true", help="list the workspace's own backups")
    backup.add_argument("--check", action="store_true", help="read each listed one through")
    backup.set_defaults(run=_backup)

    restore = verbs.add_parser("restore", help="make a workspace of a backup")
    restore.add_argument("backup", metavar="F", type=Path, help="the backup")
    restore.add_argument("--out", metavar="WS", type=Path, required=True, help="the workspace file")
    restore.add_argument(
        "--replace", action="store_true", help="where WS is there, keep it aside and replace it"
    )
    restore.add_argument("--preview", action="store_true", help="only say what would change in WS")
    add_passphrase(restore)
    add_common(restore)
    restore.set_defaults(run=_restore)

    rekey = verbs.add_parser("rekey", help="change the passphrase and the key file")
    add_common(rekey, workspace=True)
    group = rekey.add_mutually_exclusive_group()
    group.add_argument("--new-passphrase-file", metavar="F", type=Path)
    group.add_argument("--new-passphrase-fd", metavar="N", type=int)
    group.add_argument(
        "--no-passphrase", action="store_true", help="plain file that anybody with it can read"
    )
    rekey.add_argument(
        "--new-key-file", metavar="F", type=Path, help="also need this file; made where it is not"
    )
    rekey.add_argument(
        "--remove-older-backups",
        action="store_true",
        help="remove the backups the new passphrase does not open",
    )
    rekey.set_defaults(run=_rekey)

    recover = verbs.add_parser(
        "recover", help="write what can be read of a damaged file to a new one"
    )
    add_common(recover, workspace=True)
    recover.add_argument("--out", metavar="F", type=Path, required=True, help="the new workspace")
    recover.set_defaults(run=_recover)

    audit = verbs.add_parser("audit", help="write the whole history as JSON lines, NOT encrypted")
    add_common(audit, workspace=True)
    audit.add_argument("--out", metavar="F", type=Path, required=True)
    audit.set_defaults(run=_audit)


def _backup(args: argparse.Namespace) -> int:
    if args.list or args.check:
        return _list(args)
    with open_workspace(args, write=False) as workspace:
        if args.out is None:
            made = back_up(workspace).path
        else:
            made = args.out
            if made.exists():
                raise ConflictError(f"{made} is there already.", remedy="Choose another name.")
            if not made.parent.is_dir():
                raise NotFoundError(
                    f"The folder {made.parent} is not there.", remedy="Make it first."
                )
            workspace.copy_to(made)
            check_backup(made, workspace.key)
        encrypted = workspace.encrypted
    size = made.stat().st_size
    print_result(
        args,
        {"backup": str(made), "bytes": size, "encrypted": encrypted},
        f"Backed up to {made} ({size:,} bytes), "
        + ("encrypted under the same passphrase." if encrypted else "NOT encrypted."),
    )
    return 0


def _list(args: argparse.Namespace) -> int:
    backups = list_backups(args.workspace)
    answers: dict[Path, str] = {}
    if args.check:
        for backup in backups:
            try:
                check_backup(backup.path, _key_of(args, backup.path))
                answers[backup.path] = "sound"
            except RifugioError as error:
                answers[backup.path] = error.message
    value = {"backups": [_describe(backup, answers) for backup in backups]}
    lines = [
        f"{backup.path}  {REASON_WORDS[backup.reason]}, {backup.changes:,} changes, "
        f"{backup.size:,} bytes {answers.get(backup.path, '')}".rstrip()
        for backup in backups
    ]
    print_result(args, value, "\n".join(lines) or "No backups yet.")
    return 1 if any(answer != "sound" for answer in answers.values()) else 0


def _describe(backup: Backup, answers: dict[Path, str]) -> dict[str, Any]:
    value = {
        "path": str(backup.path),
        "made": format_time(backup.made),
        "reason": backup.reason,
        "changes": backup.changes,
        "bytes": backup.size,
    }
    if backup.path in answers:
        value["check"] = answers[backup.path]
    return value


def _restore(args: argparse.Namespace) -> int:
    key = _key_of(args, args.backup)
    if args.preview:
        return _preview(args, key)
    kept: Path | None = None
    if args.replace:
        kept = restore_backup(args.backup, args.out, key)
    else:
        restore_to_new_file(args.backup, args.out, key)
    text = f"Restored {args.out} from {args.backup}."
    print_result(
        args,
        {
            "workspace": str(args.out),
            "backup": str(args.backup),
            "kept": str(kept) if kept else None,
        },
        f"{text} What was there is kept in {kept}." if kept else text,
    )
    return 0


def _preview(args: argparse.Namespace, key: Key | None) -> int:
    workspace = None
    if args.out.exists():
        same = key.copy() if key is not None else None
        workspace = Workspace.open_with_key(args.out, same, read_only=True)
    try:
        preview = preview_restore(workspace, args.backup, key)
    finally:
        if workspace is not None:
            workspace.close()
    value = {
        "compared": preview.compared,
        "counts": preview.counts,
        "held": preview.held,
        "rows": [
            {"kind": row.kind, "id": row.id, "name": row.name, "fate": row.fate}
            for row in preview.rows
        ],
    }
    print_result(args, value, "\n".join(_preview_lines(preview)))
    return 0


def _preview_lines(preview: Preview) -> list[str]:
    if not preview.compared:
        return [f"{count:,} {kind_words(kind, count)}" for kind, count in preview.held.items()]
    if not preview.counts:
        return ["Nothing would change."]
    lines = [
        f"{kind_words(kind, 2)}: " + ", ".join(f"{n:,} {fate}" for fate, n in fates.items())
        for kind, fates in preview.counts.items()
    ]
    return lines + [f"  {row.fate}: {kind_words(row.kind)} {row.name}" for row in preview.rows]


def _rekey(args: argparse.Namespace) -> int:
    with open_workspace(args) as workspace:
        passphrase = None if args.no_passphrase else _new_passphrase(args)
        key_file: Path | None = args.new_key_file
        if key_file is not None and passphrase is None:
            raise UsageError(
                "A key file goes with a passphrase.", remedy="Leave out --no-passphrase."
            )
        if key_file is not None and not key_file.exists():
            make_key_file(key_file)
        with change_key(workspace, passphrase, key_file=key_file) as opened:
            removed = remove_older_backups(opened) if args.remove_older_backups else 0
            older = [b.path for b in list_backups(opened.path)]
            encrypted = opened.encrypted
    text = f"{args.workspace} is now " + (
        "encrypted under the new passphrase." if encrypted else "NOT encrypted."
    )
    if older:
        text += f" {len(older)} backups made before keep the old passphrase."
    print_result(
        args,
        {
            "workspace": str(args.workspace),
            "encrypted": encrypted,
            "key_file": str(key_file) if key_file else None,
            "removed_backups": removed,
            "older_backups": [str(path) for path in older],
        },
        text,
    )
    return 0


def _new_passphrase(args: argparse.Namespace) -> str:
    return read_new_secret(
        args.new_passphrase_file,
        args.new_passphrase_fd,
        "New passphrase: ",
        flag="new-passphrase",
    )


def _recover(args: argparse.Namespace) -> int:
    report = recover_workspace(args.workspace, args.out, _key_of(args, args.workspace))
    print_result(
        args,
        {
            "workspace": str(args.out),
            "read": report.read,
            "rebuilt": report.rebuilt,
            "from_backup": report.from_backup,
            "left_out": report.left_out,
            "backup": str(report.backup) if report.backup else None,
        },
        f"{args.out}: {report.words}",
    )
    return 0


def _audit(args: argparse.Namespace) -> int:
    with open_workspace(args, write=False) as workspace:
        count = export_audit(workspace, args.out)
        heads = chain_heads(workspace)
    print_result(
        args,
        {
            "out": str(args.out),
            "changes": count,
            "heads": [{"origin": h.origin, "changes": h.seq, "hash": h.hash} for h in heads],
        },
        f"Wrote {count:,} changes to {args.out}. It is NOT encrypted.",
    )
    print("rifugio: the file holds texts of the workspace, not encrypted.", file=sys.stderr)
    return 0


def _key_of(args: argparse.Namespace, path: Path) -> Key | None:
    """The key of a file that may be damaged, so without checking that it fits."""
    shape = inspect_file(path)
    if shape == "missing":
        raise NotFoundError(f"There is no file {path}.", remedy="Check the name and the folder.")
    if shape != "encrypted":
        return None
    secret = getattr(args, "_secret", None)
    if secret is None:
        # A descriptor can be read once.
        secret = args._secret = read_passphrase(args)
    return derive_key(secret, read_salt(path), key_file=args.key_file)
