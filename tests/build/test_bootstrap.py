"""The command line of set-up, its Python check, its stamp, and what it says when something fails."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import bootstrap
import environment
import pytest
from console import SetupError, run, step
from wheel_cache import Backend

CPU = Backend("cpu", "a test")


@pytest.mark.parametrize(
    ("argv", "command", "gpu", "further"),
    [
        (["run"], "run", "auto", []),
        (["run", "--gpu", "cpu"], "run", "cpu", []),
        (["--gpu=vulkan", "run", "demo", "--json"], "run", "vulkan", ["demo", "--json"]),
        (["--gpu", "cuda", "test", "-n", "2", "-k", "a"], "test", "cuda", ["-n", "2", "-k", "a"]),
        (["test", "tests/core", "--gpu", "x"], "test", "auto", ["tests/core", "--gpu", "x"]),
        (["run", "demo", "-h"], "run", "auto", ["demo", "-h"]),
        (["run", "--", "--version"], "run", "auto", ["--version"]),
        (["collect", "a folder"], "collect", "auto", ["a folder"]),
    ],
)
def test_own_options_are_taken_and_the_rest_passed_on_in_order(
    argv: list[str], command: str, gpu: str, further: list[str]
) -> None:
    args, rest = bootstrap.parse_arguments(argv)
    assert (args.command, args.gpu, rest) == (command, gpu, further)


@pytest.mark.parametrize("argv", [[], ["walk"], ["run", "--gpu", "abacus"], ["run", "--gpu"]])
def test_wrong_arguments_are_refused(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        bootstrap.parse_arguments(argv)
    assert ended.value.code == 2
    assert "usage: bootstrap.py" in capsys.readouterr().err


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13)])
def test_supported_pythons_pass(version: tuple[int, int]) -> None:
    environment.require_python(version)


@pytest.mark.parametrize("version", [(3, 9), (3, 10), (3, 14), (4, 0)])
def test_other_pythons_are_refused_in_a_sentence(version: tuple[int, int]) -> None:
    with pytest.raises(SetupError, match=rf"Python {version[0]}\.{version[1]} .*3\.11, 3\.12 or"):
        environment.require_python(version)


def test_a_failure_is_one_sentence_without_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> None:
        raise SetupError("The moon is missing. Wait for the night.")

    monkeypatch.setattr(bootstrap, "prepare", fail)
    assert bootstrap.main(["run"]) == 1
    said = capsys.readouterr().err
    assert said == "Set-up stopped: The moon is missing. Wait for the night.\n"


def test_an_absent_wheels_folder_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment, "STAMP", tmp_path / "no stamp")
    absent = tmp_path / "absent"
    assert bootstrap.main(["run", "--wheels", str(absent)]) == 1
    assert f"There is no folder {absent}" in capsys.readouterr().err


def test_collect_wants_one_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert bootstrap.main(["collect"]) == 1
    assert "which folder to fill" in capsys.readouterr().err


def test_arguments_of_run_go_to_the_application(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[list[object]] = []
    monkeypatch.setattr(bootstrap, "prepare", lambda **_: None)
    monkeypatch.setattr(bootstrap.subprocess, "call", lambda command, **_: called.append(command))
    bootstrap.main(["run", "info", "x.rifugio"])
    assert called[0][1:] == ["-P", "-m", "app", "info", "x.rifugio"]


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="these always have a display")
def test_run_takes_the_window_with_a_display_and_the_demo_without(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    called: list[list[object]] = []
    monkeypatch.setattr(bootstrap, "prepare", lambda **_: None)
    monkeypatch.setattr(bootstrap.subprocess, "call", lambda command, **_: called.append(command))
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", ":0")
    bootstrap.main(["run"])
    monkeypatch.delenv("DISPLAY")
    bootstrap.main(["run"])
    assert [command[-1] for command in called] == ["--demo", "demo"]
    assert "no display" in capsys.readouterr().err


class TestStamp:
    @pytest.fixture(autouse=True)
    def elsewhere(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(environment, "STAMP", tmp_path / "stamp.json")
        # The environment that runs the tests stands for the one set up.
        monkeypatch.setattr(environment, "python_path", lambda: Path(sys.executable))
        self.wanted = environment._fingerprint(CPU)

    def write(self, *, dev: bool) -> None:
        environment.STAMP.write_text(json.dumps(self.wanted | {"dev": dev}), encoding="utf-8")

    def test_nothing_is_ready_without_one(self) -> None:
        assert not environment._is_ready(self.wanted, dev=False)

    @pytest.mark.parametrize("content", ["", "{", "[]", "{}", '"x"', "null"])
    def test_a_damaged_one_counts_as_none(self, content: str) -> None:
        environment.STAMP.write_text(content, encoding="utf-8")
        assert not environment._is_ready(self.wanted, dev=False)

    def test_one_for_tests_is_enough_to_run_and_not_the_other_way(self) -> None:
        self.write(dev=True)
        assert environment._is_ready(self.wanted, dev=False)
        assert environment._is_ready(self.wanted, dev=True)
        self.write(dev=False)
        assert environment._is_ready(self.wanted, dev=False)
        assert not environment._is_ready(self.wanted, dev=True)

    @pytest.mark.parametrize("changed", ["inputs", "python", "backend", "root", "torch"])
    def test_any_change_makes_it_old(self, changed: str) -> None:
        self.write(dev=True)
        assert not environment._is_ready(self.wanted | {changed: "another"}, dev=False)

    def test_a_lost_interpreter_makes_it_old(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        self.write(dev=True)
        monkeypatch.setattr(environment, "python_path", lambda: tmp_path / "python")
        assert not environment._is_ready(self.wanted, dev=False)

    def test_a_ready_environment_does_nothing(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.write(dev=True)
        monkeypatch.setattr(environment, "choose_backend", lambda _: CPU)
        monkeypatch.setattr(environment.default_models, "missing_files", list)
        environment.prepare(dev=False, gpu="auto", wheels=None)
        assert capsys.readouterr().err == ""

    def test_missing_models_alone_are_fetched_without_installing(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.write(dev=True)
        fetched: list[list[str]] = []
        monkeypatch.setattr(environment, "choose_backend", lambda _: CPU)
        monkeypatch.setattr(environment.default_models, "missing_files", lambda: ["one"])
        monkeypatch.setattr(
            environment.default_models, "fetch_models", lambda _, options: fetched.append(options)
        )
        monkeypatch.setattr(environment, "_install_lock", lambda *_: pytest.fail("installed"))
        environment.prepare(dev=False, gpu="auto", wheels=None)
        assert fetched == [[]]
        # Fetching models for `run` must not forget that the tools for tests are there too.
        assert environment._is_ready(self.wanted, dev=True)


def test_a_failed_command_shows_its_end_and_says_what_to_do(
    capsys: pytest.CaptureFixture[str],
) -> None:
    script = "for n in range(100): print('line', n)\nraise SystemExit(7)"
    with pytest.raises(SetupError, match=r"^Counting failed \(exit code 7\)\. Count again\.$"):
        run([sys.executable, "-c", script], what="Counting", remedy="Count again.")
    shown = capsys.readouterr().err.splitlines()
    assert shown[0] == "line 75"
    assert shown[-1] == "line 99"


def test_a_command_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="Counting could not start"):
        run([tmp_path / "nothing"], what="Counting")


def test_a_step_says_what_and_how_long(capsys: pytest.CaptureFixture[str]) -> None:
    with step("Waiting"):
        pass
    assert capsys.readouterr().err == "-> Waiting ...\n   done in 0 s\n"
