"""The command-line contract: JSON on standard output, one line for an error, honest exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app import services
from app.cli import run_command
from models.fake import FakeGenerator
from tests.conftest import PASSPHRASE, REAL_MODELS

ANSWER = "# Subjective\n\nCough.\n\n# Objective\n\nClear."


class Shell:
    """Runs verbs on one workspace and reads their JSON."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.workspace = folder / "w.rifugio"
        self.secret = folder / "passphrase.txt"
        self.secret.write_text(PASSPHRASE + "\n")
        self._capsys = capsys

    def run(self, *words: str, code: int = 0, json_: bool = True) -> Any:
        verb = list(words)
        if "WS" in verb:
            verb[verb.index("WS")] = str(self.workspace)
            verb += ["--passphrase-file", str(self.secret)]
        self._capsys.readouterr()
        found = run_command([*verb, "--json"] if json_ else verb)
        self.out, self.err = self._capsys.readouterr()
        assert found == code, self.err
        return json.loads(self.out) if json_ and code == 0 and self.out else self.out


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    made = Shell(tmp_path, capsys)
    made.run("new", "WS")
    return made


@pytest.fixture
def fake_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeGenerator:
    """A model 'tiny' in the catalogue, answered by a fake."""
    from tests.models.test_import import make_gguf

    folder = tmp_path / "models" / "tiny"
    folder.mkdir(parents=True)
    make_gguf(folder / "tiny.gguf")
    (folder / "model.json").write_text(
        '{"id": "tiny", "name": "Tiny", "role": "generator", "format": "gguf", "file": "tiny.gguf",'
        ' "sha256": "abc"}'
    )
    monkeypatch.setenv("RIFUGIO_MODELS", str(tmp_path / "models"))
    generator = FakeGenerator(answers=[ANSWER])
    monkeypatch.setattr(services, "generator", lambda model_id=None: generator)
    return generator


def write_example_files(folder: Path) -> tuple[Path, Path]:
    tasks, examples = folder / "tasks.jsonl", folder / "examples.jsonl"
    tasks.write_text(
        json.dumps(
            {
                "id": "t1", "field": "Medicine", "objective": "Note",
                "output_sections": [{"title": "Subjective"}, {"title": "Objective"}],
            }
        )
        + "\n"
    )  # fmt: skip
    examples.write_text(
        "".join(
            json.dumps(
                {
                    "id": f"e{n}", "task": "Note", "input": [{"title": "T", "text": f"Text {n}"}],
                    "output": [{"title": "Subjective", "text": "Cough."}],
                }
            )
            + "\n"
            for n in range(3)
        )
    )  # fmt: skip
    return tasks, examples


def test_the_main_job_from_an_empty_workspace_to_a_report(
    shell: Shell, fake_model: FakeGenerator, tmp_path: Path
) -> None:
    tasks, examples = write_example_files(tmp_path)
    person = shell.run("persons", "add", "WS", "Ada", "--role", "lead")
    assert person["role"] == "lead"
    assert shell.run("persons", "list", "WS")["persons"] == [person]
    assert shell.run("import", "WS", str(tasks), "--as", "tasks")["files"][0]["added"] == {
        "task": 1
    }
    shell.run("import", "WS", str(examples), "--as", "examples")
    system = shell.run("systems", "add", "WS", "S", "--model", "tiny", "--param", "max_tokens=99")
    assert system["params"] == {"max_tokens": 99}
    assert shell.run("systems", "list", "WS")["systems"] == [system]
    run = shell.run("run", "WS", "--system", "s", "--examples", "2")
    assert (run["state"], run["done"], run["failed"]) == ("done", 2, 0)
    assert "2 of 2" in shell.err
    score = shell.run("score", "WS", "--run", run["run"], "--metrics", "rougeL,section_presence")
    assert {row["metric"]: row["n"] for row in score["metrics"]} == {
        "rougeL": 2,
        "section_presence": 2,
    }
    assert len(shell.run("results", "WS", "--by", "field")["results"]) == 2
    report = tmp_path / "r.html"
    assert shell.run("report", "WS", "--out", str(report))["outputs"] == 2
    html = report.read_text(encoding="utf-8")
    assert "Cough." in html
    assert "http" not in html.replace("http-equiv", "")
    assert "<script" not in html
    info = shell.run("info", "WS")
    assert info["counts"]["output"] == 2
    assert info["encrypted"]
    assert shell.run("verify", "WS")["ok"]
    out = tmp_path / "out.jsonl"
    assert shell.run("export", "WS", "--what", "outputs", "--out", str(out))["count"] == 2


def test_each_verb_has_a_human_text(shell: Shell, fake_model: FakeGenerator) -> None:
    for words, text in (
        (("info", "WS"), "encrypted"),
        (("verify", "WS"), "sound"),
        (("persons", "list", "WS"), "Nobody"),
        (("systems", "list", "WS"), "No systems"),
        (("results", "WS"), "Nothing is scored"),
        (("models", "list"), "tiny"),
    ):
        assert text in shell.run(*words, json_=False)


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("info", "nowhere.rifugio"), 1, "no file"),
        (("run", "WS", "--system", "S"), 1, "no system"),
        (("run", "WS"), 2, "--system or --resume"),
        (("run", "WS", "--resume", "last"), 1, "no run"),
        (("score", "WS", "--run", "x", "--metrics", "beauty"), 2, "no metric"),
        (("results", "WS", "--by", "moon"), 2, "split"),
        (("report", "WS", "--out", "x.docx"), 2, ".html"),
        (("import", "WS", "none.jsonl", "--as", "tasks"), 1, "none.jsonl"),
        (("import", "WS", "none.jsonl", "--as", "moons"), 2, "tasks"),
        (("systems", "add", "WS", "S", "--model", "none"), 1, "models import"),
        (("models", "check", "none"), 1, "no model"),
        (("models", "import", "none.gguf"), 1, "none.gguf"),
        (("persons", "add", "WS", " "), 2, "name"),
        (("new", "WS"), 1, "already"),
        (("dance",), 2, "invalid choice"),
        (("info",), 2, "required"),
    ],
)
def test_errors_are_one_line_with_a_meaning(
    shell: Shell, words: tuple[str, ...], code: int, text: str
) -> None:
    shell.run(*words, code=code)
    lines = shell.err.strip().splitlines()
    assert len(lines) == 1
    assert text in lines[0]
    assert "Traceback" not in shell.err
    assert shell.out == ""


def test_a_wrong_passphrase_exits_with_1(shell: Shell) -> None:
    shell.secret.write_text("wrong wrong wrong")
    shell.run("info", "WS", code=1)
    assert "does not open" in shell.err


def test_a_passphrase_comes_through_a_descriptor(shell: Shell) -> None:
    read, write = os.pipe()
    os.write(write, PASSPHRASE.encode())
    os.close(write)
    assert run_command(["info", str(shell.workspace), "--passphrase-fd", str(read)]) == 0


def test_a_plain_workspace_says_so(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "plain.rifugio"
    out = shell.run("new", str(path), "--no-passphrase", json_=False)
    assert "NOT encrypted" in out
    assert shell.run("info", str(path))["encrypted"] is False


def test_skipped_lines_are_printed_with_file_and_number(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"objective": "A", "field": "Law"}\nbroken\n')
    value = shell.run("import", "WS", str(path), "--as", "tasks")
    assert value["files"][0]["skipped"][0]["line"] == 2
    assert f"{path}, line 2: skipped" in shell.err


MAP = ("--map", "talk=input.Transcript,note=output.Note")


def test_a_table_of_ones_own_makes_its_task(shell: Shell, tmp_path: Path) -> None:
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text("id,talk,note\n1,I cough,Cough\n1,Again,Twice\n")
    second.write_text("number,talk,note\n1,I sneeze,Cold\n")
    importing = ("import", "WS", str(first), str(second), "--as", "examples", *MAP)
    # Without a task it is said once, and for no record.
    shell.run(*importing, "--task", "Write a note", code=1)
    assert shell.err.count("\n") == 1 and "--new-task" in shell.err
    told = shell.run(*importing, "--new-task", "Write a note")["files"]
    assert [entry["added"] for entry in told] == [{"example": 1, "task": 1}, {"example": 1}]
    assert "already an example with the id 1" in told[0]["skipped"][0]["reason"]
    (task,) = shell.run("info", "WS")["tasks"]
    assert task["objective"] == "Write a note"
    shell.run("import", "WS", str(first), "--as", "tasks", "--new-task", "Other", code=2)


def test_a_table_of_which_nothing_can_be_used_leaves_no_task(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "first.csv"
    file.write_text("talk,note\nshort\n")
    shell.run("import", "WS", str(file), "--as", "examples", *MAP, "--new-task", "Note", code=1)
    assert shell.run("info", "WS")["tasks"] == []


def test_what_cannot_be_written_there_is_said_with_its_name(shell: Shell, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file, not a folder")
    for verb, name, more in (
        ("report", "out.html", ()),
        ("export", "out.jsonl", ("--what", "examples")),
    ):
        shell.run(verb, "WS", *more, "--out", str(taken / name), code=1)
        assert f"{name} cannot be written" in shell.err and "folder" in shell.err
        assert shell.err.count("\n") == 1


def test_without_a_display_the_window_says_so_in_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from app import main as entry

    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    # What would hold for the whole test process.
    for guard in ("offline.apply_offline_environment", "offline.install_offline_guard"):
        monkeypatch.setattr(f"core.{guard}", lambda: None)
    monkeypatch.setattr("core.privacy.refuse_core_dumps", lambda: None)
    assert entry.main([]) == 1
    assert capsys.readouterr().err.startswith("rifugio: There is no display")


def test_starting_the_window_stays_cheap() -> None:
    script = (
        "import sys; import app.main; from app.cli.command import build_parser; build_parser()\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'llama_cpp', 'onnxruntime',"
        " 'nltk', 'sklearn', 'pandas'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.models
@pytest.mark.slow
@pytest.mark.xdist_group("models")
def test_the_demo_ends_within_its_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    env = {**os.environ, "RIFUGIO_MODELS": str(REAL_MODELS)}
    done = subprocess.run(
        [sys.executable, "-m", "app", "demo", "--out", str(tmp_path / "d"), "--json"],
        capture_output=True,
        text=True,
        check=True,
        env=env,
        timeout=110,
    )
    value = json.loads(done.stdout)
    assert value["outputs"] == value["examples"] >= 4
    assert value["failed"] == 0
    assert Path(value["report"]).stat().st_size > 10_000
