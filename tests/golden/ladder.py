"""Workspaces at any rung of the schema ladder, empty or with a row in every table.

    python -m tests.golden.ladder STEP FOLDER

writes ``schema-STEP.rifugio`` and what it holds as JSON. A file is added here once a step is released,
and never changed afterwards: it stands for the files on people's machines.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from core.ids import new_id
from core.storage import schema
from core.storage.cipher import Key, derive_key
from core.storage.connection import fetch_all, open_connection
from core.storage.transaction import hash_entry

PASSPHRASE = "correct horse battery"
SALT = bytes(range(16))
_TIME = "2026-03-01T09:30:00.125Z"
_OWN = ("_sqlite_migrations", "sqlite_sequence", "head", "search_state")


def golden_key() -> Key:
    """The key of every file here."""
    return derive_key(PASSPHRASE, SALT)


def step_names() -> list[str]:
    """All steps, in order."""
    pending = schema.migrations.pending(Database(memory=True))
    return [migration.name for migration in pending]


def make_at(path: Path, step: int, *, full: bool, key: Key | None = None) -> None:
    """Write a workspace as the version with so many steps made it."""
    names = step_names()
    db = open_connection(path, key)
    try:
        schema.migrations.apply(db, stop_before=names[step] if step < len(names) else None)
        db.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {step}")
        origin = "00000000-0000-7000-8000-000000000001"
        db.execute("INSERT INTO meta VALUES ('origin', ?)", (origin,))
        if full:
            fill(db, origin)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        db.conn.close()


def fill(db: Database, origin: str) -> None:
    """A row in every table, each referring to the ones before, and a chain of changes."""
    known: dict[str, Any] = {}
    for table in ordinary_tables(db):
        if table in ("meta", "change"):
            continue
        row = _row(db, table, known, origin)
        marks = ", ".join("?" * len(row))
        names = ", ".join(f'"{name}"' for name in row)
        db.execute(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', tuple(row.values()))
        known[table] = row
    previous = ""
    for seq in range(1, 6):
        entry: dict[str, Any] = {
            "id": new_id(), "tx": new_id(), "seq": seq, "time": _TIME, "person": "", "verb": "add",
            "label": "Add", "kind": "nothing", "row": str(seq), "before": None, "after": "{}",
            "undoable": 1, "undoes": "", "origin": origin, "previous": previous,
        }  # fmt: skip
        entry["hash"] = previous = hash_entry(entry)
        names = ", ".join(f'"{name}"' for name in entry)
        marks = ", ".join("?" * len(entry))
        db.execute(f"INSERT INTO change ({names}) VALUES ({marks})", tuple(entry.values()))
    if "head" in db.table_names():
        db.execute("INSERT INTO head VALUES (?, ?, ?)", (origin, seq, previous))


def ordinary_tables(db: Database) -> list[str]:
    """Tables that hold rows of ours, each after those it refers to."""
    rows = fetch_all(
        db,
        "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 ORDER BY rowid",
    )
    names = [row["name"] for row in rows]
    waiting = [n for n in names if n not in _OWN and "_fts" not in n]
    ordered: list[str] = []
    while waiting:
        for name in waiting:
            keys = fetch_all(db, f'PRAGMA foreign_key_list("{name}")')
            if all(key["table"] in ordered or key["table"] == name for key in keys):
                ordered.append(name)
                waiting.remove(name)
                break
        else:
            raise AssertionError(f"tables that refer to each other in a circle: {waiting}")
    return ordered


def _row(db: Database, table: str, known: dict[str, Any], origin: str) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for column in fetch_all(db, f'PRAGMA table_info("{table}")'):
        name, kind = column["name"], column["type"]
        values: dict[str, Any] = {"TEXT": f"{table} {name} ü", "INTEGER": 3, "REAL": 1.5}
        row[name] = values.get(kind, b"\x00\x01")
        if column["pk"] and kind == "TEXT":
            row[name] = new_id()
    row |= {k: v for k, v in {"origin": origin, "deleted": 0, "revision": 1}.items() if k in row}
    row |= {name: _TIME for name in ("created", "updated") if name in row}
    for key in fetch_all(db, f'PRAGMA foreign_key_list("{table}")'):
        target = known[key["table"]] if key["table"] != table else row
        row[key["from"]] = target[key["to"] or "id"]
    return row


def read_content(db: Database) -> dict[str, list[dict[str, Any]]]:
    """Every row of every table of ours, as JSON can hold it."""
    content = {}
    for table in ordinary_tables(db):
        rows = fetch_all(db, f'SELECT * FROM "{table}"')
        content[table] = [
            {
                name: hashlib.sha256(value).hexdigest() if isinstance(value, bytes) else value
                for name, value in row.items()
            }
            for row in rows
        ]
    return content


def main() -> int:
    """Write the file of a step and what it holds."""
    step, folder = int(sys.argv[1]), Path(sys.argv[2])
    path = folder / f"schema-{step}.rifugio"
    make_at(path, step, full=True, key=golden_key())
    db = open_connection(path, golden_key(), read_only=True, still=True)
    content = json.dumps(read_content(db), indent=1, ensure_ascii=False, sort_keys=True)
    db.conn.close()
    path.with_suffix(".json").write_text(content + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
