"""The verbs metric and agreement, as a shell sees them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from app.cli import run_command
from core.metrics import registry

ITEM = {"source": "I has it", "prediction": "I have it", "references": ["I have it", "I had it"]}


def write_lines(path: Path, lines: list[Any]) -> str:
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n", encoding="utf-8")
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[Any], str]:
    """Exit code, the JSON lines printed, and what went to standard error."""
    code = run_command(arguments)
    out, err = capsys.readouterr()
    return code, [json.loads(line) for line in out.splitlines()], err


def test_a_line_out_for_each_line_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_lines(tmp_path / "a.jsonl", [ITEM, {**ITEM, "prediction": "I has it"}])
    code, lines, _ = run(capsys, "metric", "sari", file)
    assert code == 0
    assert [set(line) >= {"value", "add", "keep", "delete", "signature"} for line in lines] == [
        True,
        True,
    ]
    assert lines[0]["value"] > lines[1]["value"]


def test_corpus_is_one_line_and_options_reach_the_signature(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_lines(tmp_path / "a.jsonl", [ITEM] * 3)
    code, lines, _ = run(
        capsys, "metric", "gleu", file, "--corpus", "--option", "draw=exact", "--json"
    )
    assert code == 0
    assert len(lines) == 1
    assert "draw:exact" in lines[0]["signature"]


def test_list_names_every_metric_with_range_and_options(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, lines, _ = run(capsys, "metric", "--list")
    assert code == 0
    assert [line["name"] for line in lines] == registry.names()
    by_name = {line["name"]: line for line in lines}
    assert by_name["sari"]["high"] == 100.0
    assert by_name["gleu"]["options"]["draw"] == "py3"
    assert all(line["summary"] for line in lines)


def test_describe_prints_the_docstring(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["metric", "sari", "--describe"]) == 0
    assert capsys.readouterr().out.strip() == registry.describe("sari")


@pytest.mark.parametrize("name", registry.names())
def test_every_metric_says_formula_source_range_and_limits(name: str) -> None:
    text = registry.describe(name)
    assert "Source:" in text
    assert "cannot" in text or "says nothing" in text
    kind = registry.metric_class(name)
    assert kind.name == name
    assert kind.low < kind.high
    assert math.isfinite(kind.low) or kind.low < 0


def test_an_unscored_line_keeps_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_lines(
        tmp_path / "a.jsonl",
        [
            {"prediction": "too short", "corpus": []},
            {"prediction": "a b c d e f g h", "corpus": ["a b c d e f g h"]},
        ],
    )
    code, lines, _ = run(capsys, "metric", "contamination", file)
    assert code == 0
    assert lines[0]["value"] is None
    assert "fewer" in lines[0]["unscored"]
    assert lines[1]["value"] == 1.0


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ('{"prediction": "a", "source": "b"}', 2, "line 3: 'references'"),
        ("{", 1, "line 3: no JSON"),
        ("[1]", 1, "line 3: no JSON object"),
    ],
)
def test_a_bad_line_is_named(
    text: str, code: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(f"{json.dumps(ITEM)}\n\n{text}\n", encoding="utf-8")
    found, lines, err = run(capsys, "metric", "sari", str(file))
    assert found == code
    assert lines == []
    assert words in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["metric"],
        ["metric", "sari"],
        ["metric", "nonesuch", "FILE"],
        ["metric", "sari", "FILE", "--option", "nonesuch=1"],
        ["metric", "sari", "FILE", "--option", "tokenizer"],
        ["metric", "sari", "FILE", "--option", "tokenizer=nonesuch"],
        ["metric", "learned", "FILE"],
        ["agreement", "FILE", "--measure", "nonesuch"],
        ["agreement", "FILE", "--level", "nonesuch"],
    ],
)
def test_wrong_usage_exits_with_2(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_lines(tmp_path / "a.jsonl", [ITEM])
    code, lines, err = run(capsys, *(file if word == "FILE" else word for word in arguments))
    assert code == 2
    assert lines == []
    assert err.startswith("rifugio")


@pytest.mark.parametrize("verb", [["metric", "sari"], ["agreement"]])
def test_files_that_cannot_be_read(
    verb: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty, binary = tmp_path / "empty", tmp_path / "binary"
    empty.write_bytes(b"")
    binary.write_bytes(b"\xff\xfe\x00")
    for file in (tmp_path / "absent", tmp_path, empty, binary):
        code, lines, err = run(capsys, *verb, str(file))
        assert (code, lines) == (1, [])
        assert str(file) in err


RATINGS = """item,rater,value
1,ann,1
1,bob,1
2,ann,2
2,bob,
3,ann,3
3,bob,3
4,ann,1
4,bob,2
"""


def test_agreement_of_two_raters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.csv"
    file.write_text(RATINGS, encoding="utf-8")
    code, lines, _ = run(capsys, "agreement", str(file), "--level", "interval")
    assert code == 0
    found = {line["measure"]: line for line in lines}
    assert found["percentage"]["value"] == pytest.approx(2 / 3)
    assert found["percentage"]["n"] == 3
    assert {"krippendorff", "cohen", "pearson", "spearman", "kendall"} <= set(found)
    assert found["krippendorff"]["low"] <= found["krippendorff"]["value"]


def test_measures_of_two_are_taken_for_each_two_raters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.csv"
    file.write_text(RATINGS + "1,cyd,1\n4,cyd,2\n", encoding="utf-8")
    _, lines, _ = run(capsys, "agreement", str(file), "--measure", "cohen,fleiss")
    assert [line["raters"] for line in lines] == [
        ["ann", "bob"],
        ["ann", "cyd"],
        ["bob", "cyd"],
        ["ann", "bob", "cyd"],
    ]


def test_what_cannot_be_computed_has_a_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.csv"
    file.write_text("item,rater,value\n1,ann,x\n2,bob,y\n", encoding="utf-8")
    code, lines, _ = run(
        capsys, "agreement", str(file), "--measure", "percentage,cohen,krippendorff,pearson"
    )
    assert code == 0
    assert [line["value"] for line in lines] == [None] * 4
    assert all(line["reason"] for line in lines)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("item,rater\n1,a\n", "column value"),
        ("item,rater,value\n1,a\n", "line 2"),
        ("item,rater,value\n1,a,x\n1,a,y\n", "line 3"),
        ("item,rater,value\n,a,x\n", "line 2"),
        ("item,rater,value\n", "no ratings"),
    ],
)
def test_bad_ratings_name_their_line(
    text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.csv"
    file.write_text(text, encoding="utf-8")
    code, lines, err = run(capsys, "agreement", str(file))
    assert (code, lines) == (1, [])
    assert words in err
