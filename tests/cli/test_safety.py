"""Backup, restore, rekey, recover and audit on the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.test_verbs import Shell, shell

__all__ = ["shell"]

OTHER = "another horse battery"


def test_back_up_and_restore(shell: Shell, tmp_path: Path) -> None:
    shell.run("persons", "add", "WS", "Ada")
    made = shell.run("backup", "WS", "--out", str(tmp_path / "b.rifugio"))
    assert made["encrypted"] and made["bytes"] == (tmp_path / "b.rifugio").stat().st_size
    shell.run("persons", "add", "WS", "Bob")
    secret = ("--passphrase-file", str(shell.secret))
    back = (str(tmp_path / "b.rifugio"), "--out", str(shell.workspace), *secret)
    preview = shell.run("restore", *back, "--preview")
    assert preview["counts"] == {"person": {"goes": 1}}
    assert [(row["name"], row["fate"]) for row in preview["rows"]] == [("Bob", "goes")]
    assert "goes: person Bob" in shell.run("restore", *back, "--preview", json_=False)
    shell.run("restore", *back, code=1)
    assert "already" in shell.err
    kept = shell.run("restore", *back, "--replace")["kept"]
    assert [p["name"] for p in shell.run("persons", "list", "WS")["persons"]] == ["Ada"]
    shell.run("restore", kept, "--out", str(shell.workspace), *secret, "--replace")
    assert [p["name"] for p in shell.run("persons", "list", "WS")["persons"]] == ["Ada", "Bob"]
    assert shell.run("verify", "WS")["ok"]


def test_list_and_check_backups(shell: Shell) -> None:
    assert shell.run("backup", "WS", "--list")["backups"] == []
    shell.run("persons", "add", "WS", "Ada")
    made = Path(shell.run("backup", "WS")["backup"])
    listed = shell.run("backup", "WS", "--check")["backups"]
    assert [(b["path"], b["reason"], b["check"]) for b in listed] == [
        (str(made), "manual", "sound")
    ]
    data = bytearray(made.read_bytes())
    data[9_000] ^= 1
    made.write_bytes(data)
    out = shell.run("backup", "WS", "--check", code=1)
    assert "damaged" in out


def test_rekey_with_a_key_file(shell: Shell, tmp_path: Path) -> None:
    new = tmp_path / "new.txt"
    new.write_text(OTHER)
    key = tmp_path / "key"
    value = shell.run(
        "rekey", "WS", "--new-passphrase-file", str(new), "--new-key-file", str(key),
        "--remove-older-backups",
    )  # fmt: skip
    assert value["encrypted"] and value["key_file"] == str(key) and value["older_backups"] == []
    shell.run("info", "WS", code=1)
    shell.secret.write_text(OTHER)
    shell.run("info", "WS", code=1)
    assert "key file" in shell.err
    assert shell.run("info", "WS", "--key-file", str(key))["encrypted"]
    plain = shell.run("rekey", "WS", "--key-file", str(key), "--no-passphrase")
    assert plain["encrypted"] is False and len(plain["older_backups"]) == 1
    assert shell.run("info", "WS")["encrypted"] is False
    shell.run("rekey", "WS", "--no-passphrase", "--new-key-file", str(key), code=2)


def test_a_new_workspace_with_a_key_file_made_on_the_way(shell: Shell, tmp_path: Path) -> None:
    path, key = tmp_path / "k.rifugio", tmp_path / "k.key"
    words = (str(path), "--passphrase-file", str(shell.secret))
    shell.run("new", *words, "--key-file", str(key))
    assert key.exists()
    shell.run("info", *words, code=1)
    assert shell.run("info", *words, "--key-file", str(key))["encrypted"]


def test_a_damaged_file_names_its_newest_backup_and_is_recovered(
    shell: Shell, tmp_path: Path
) -> None:
    shell.run("persons", "add", "WS", "Ada")
    made = shell.run("backup", "WS")["backup"]
    data = bytearray(shell.workspace.read_bytes())
    data[5_000:5_010] = os.urandom(10)
    shell.workspace.write_bytes(data)
    shell.run("info", "WS", code=1)
    assert made in shell.err and len(shell.err.splitlines()) == 1
    target = tmp_path / "r.rifugio"
    value = shell.run("recover", "WS", "--out", str(target))
    assert value["workspace"] == str(target)
    people = shell.run("persons", "list", str(target), "--passphrase-file", str(shell.secret))
    assert [person["name"] for person in people["persons"]] == ["Ada"]


def test_the_audit_is_written_out_and_can_be_checked_without_us(
    shell: Shell, tmp_path: Path
) -> None:
    import hashlib

    shell.run("persons", "add", "WS", "Ada")
    shell.run("persons", "add", "WS", "Bob")
    out = tmp_path / "audit.jsonl"
    value = shell.run("audit", "WS", "--out", str(out))
    assert "not encrypted" in shell.err
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    entries, end = lines[:-1], lines[-1]
    assert len(entries) == value["changes"]
    previous = ""
    for entry in entries:
        found = entry.pop("hash")
        assert entry["previous"] == previous
        text = json.dumps(list(entry.values()), ensure_ascii=False, separators=(",", ":"))
        assert hashlib.sha256(text.encode()).hexdigest() == found
        previous = found
    assert end["head"] == previous == value["heads"][0]["hash"]
    assert value["heads"] == shell.run("verify", "WS")["heads"]


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("restore", "none.rifugio", "--out", "x.rifugio"), 1, "no file"),
        (("rekey", "WS"), 2, "--new-passphrase-file"),
        (("recover", "WS", "--out", "WS2"), 1, "already"),
        (("backup", "WS", "--out", "nowhere/b.rifugio"), 1, "folder"),
    ],
)
def test_errors_are_one_line(
    shell: Shell, words: tuple[str, ...], code: int, text: str, tmp_path: Path
) -> None:
    (tmp_path / "there").touch()
    given = [str(tmp_path / "there") if word == "WS2" else word for word in words]
    shell.run(*given, code=code)
    assert text in shell.err and len(shell.err.strip().splitlines()) == 1
