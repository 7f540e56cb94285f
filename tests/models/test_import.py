"""Importing models: each kind of broken file is told apart, nothing half-done is kept."""

from __future__ import annotations

import errno
import json
import struct
from pathlib import Path
from typing import Any

import pytest

from core.errors import (
    ConflictError,
    DiskFullError,
    InputError,
    InvalidModelError,
    MemoryShortageError,
    MissingModelError,
    NotFoundError,
    UsageError,
)
from models.catalog import (
    CatalogEntry,
    default_model,
    find_model,
    list_models,
    recommend,
    write_card,
)
from models.convert import MissingTemplateError, import_model
from models.gguf import GgufInfo, read_gguf
from models.llama import fit_context
from models.memory import available_memory, total_memory
from models.onnx_nli import read_labels


def make_gguf(
    path: Path,
    *,
    architecture: str = "llama",
    template: str = "x",
    data: int = 128,
    more: dict[str, Any] | None = None,
) -> Path:
    """A GGUF file with one tensor of 32 values, its data ``data`` bytes long (128 is whole)."""

    def text(value: str) -> bytes:
        raw = value.encode()
        return struct.pack("<Q", len(raw)) + raw

    entries: dict[str, Any] = {
        "general.architecture": architecture,
        "general.name": "Tiny",
        "llama.context_length": 2048,
        "llama.block_count": 2,
        "llama.embedding_length": 64,
        "llama.attention.head_count": 4,
    }
    entries |= more or {}
    if template:
        entries["tokenizer.chat_template"] = template
    body = b"GGUF" + struct.pack("<IQQ", 3, 1, len(entries))
    for key, value in entries.items():
        body += text(key)
        body += (
            struct.pack("<I", 8) + text(value)
            if isinstance(value, str)
            else struct.pack("<II", 4, value)
        )
    body += text("weight") + struct.pack("<IQIQ", 1, 32, 0, 0)
    body += b"\0" * (-len(body) % 32) + b"\0" * data
    path.write_bytes(body)
    return path


def test_a_header_tells_what_a_model_is(tmp_path: Path) -> None:
    info = read_gguf(make_gguf(tmp_path / "модель ü.gguf"))
    assert (info.architecture, info.name, info.context_tokens) == ("llama", "Tiny", 2048)
    assert info.cache_bytes_per_token == 2 * 2 * 2 * 4 * 16


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "empty"),
        (b"hello, this is a text file", "not a GGUF"),
        (b"GGUF", "cut short"),
        (b"GGUF\x01\0\0\0" + b"\0" * 16, "version 1"),
        (b"GGUF\x03\0\0\0" + b"\xff" * 16, "cut short"),
        (b"GGUF\x03\0\0\0" + b"\0" * 24, "no language model"),
    ],
)
def test_what_is_no_model_is_told_apart(tmp_path: Path, data: bytes, word: str) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(data)
    with pytest.raises(InvalidModelError, match=word):
        import_model(path, directory=tmp_path / "models")
    assert not (tmp_path / "models").exists()


@pytest.mark.parametrize("cut", [0.1, 0.3, 0.6, 0.9, 0.99])
def test_a_file_cut_anywhere_is_called_cut_short(tmp_path: Path, cut: float) -> None:
    path = make_gguf(tmp_path / "m.gguf")
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * cut)])
    with pytest.raises(InvalidModelError, match="cut short"):
        read_gguf(path)


@pytest.mark.parametrize(
    ("architecture", "more", "word"),
    [
        ("bert", {}, "reads text but writes none"),
        ("clip", {"general.type": "mmproj"}, "says it is 'mmproj'"),
        ("llama", {"general.type": "adapter"}, "says it is 'adapter'"),
        ("llama", {"split.count": 3}, "one of 3 parts"),
    ],
)
def test_gguf_files_that_are_no_whole_language_model(
    tmp_path: Path, architecture: str, more: dict[str, Any], word: str
) -> None:
    path = make_gguf(tmp_path / "m.gguf", architecture=architecture, more=more)
    with pytest.raises(InvalidModelError, match=word) as caught:
        import_model(path, directory=tmp_path / "models")
    assert caught.value.remedy


def test_a_model_larger_than_the_machine_is_refused_before_copying(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("models.convert.total_memory", lambda: 100)
    with pytest.raises(MemoryShortageError, match="this machine has"):
        import_model(make_gguf(tmp_path / "m.gguf"), directory=tmp_path / "models")
    assert not (tmp_path / "models").exists()


def test_a_full_disk_is_told_from_other_trouble_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_gguf(tmp_path / "m.gguf")

    def fail(error: OSError) -> None:
        def hash_file(*arguments: object, **keywords: object) -> str:
            raise error

        monkeypatch.setattr("models.convert.hash_file", hash_file)

    fail(OSError(errno.ENOSPC, "No space left on device"))
    with pytest.raises(DiskFullError, match="filled up"):
        import_model(path, directory=tmp_path / "models")
    fail(PermissionError(errno.EACCES, "Permission denied", "m.gguf"))
    with pytest.raises(InputError, match="Permission denied"):
        import_model(path, directory=tmp_path / "models")
    assert list((tmp_path / "models").iterdir()) == []


def test_a_model_without_template_asks_which_to_use(tmp_path: Path) -> None:
    path = make_gguf(tmp_path / "m.gguf", template="")
    with pytest.raises(MissingTemplateError, match="chatml") as caught:
        import_model(path, directory=tmp_path / "models")
    assert {"chatml", "llama-3", "mistral", "gemma", "phi-3"} <= set(caught.value.choices)
    with pytest.raises(UsageError, match="no chat template 'nonsense'"):
        import_model(path, chat_template="nonsense", directory=tmp_path / "models")


def test_an_unknown_architecture_is_refused_by_trying_it(tmp_path: Path) -> None:
    path = make_gguf(tmp_path / "m.gguf", architecture="moonwalk")
    with pytest.raises(
        InvalidModelError, match=r"architecture .moonwalk., which this llama\.cpp does not know"
    ) as caught:
        import_model(path, directory=tmp_path / "models")
    assert "Update" in caught.value.remedy
    assert list((tmp_path / "models").iterdir()) == []


def test_folders_that_are_no_models_are_told_apart(tmp_path: Path) -> None:
    folder = tmp_path / "some folder"
    folder.mkdir()
    with pytest.raises(InvalidModelError, match=r"no config\.json"):
        import_model(folder)
    (folder / "config.json").write_text("{broken")
    with pytest.raises(InvalidModelError, match="cannot be read"):
        import_model(folder)
    (folder / "config.json").write_text("{}")
    with pytest.raises(InvalidModelError, match="no weights"):
        import_model(folder)
    (folder / "model.onnx").write_bytes(b"not onnx")
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(InvalidModelError, match="ONNX Runtime cannot load"):
        import_model(folder, role="embedder", directory=tmp_path / "models")
    with pytest.raises(InvalidModelError, match="only the weights"):
        import_model(folder / "model.onnx")
    with pytest.raises(NotFoundError):
        import_model(tmp_path / "none")
    with pytest.raises(UsageError, match="no role"):
        import_model(folder, role="poet")


def test_one_bad_model_hides_no_other(tmp_path: Path) -> None:
    for name, content in (("bad-json", "{"), ("bad-fields", '{"id": "x"}'), ("good", "")):
        (tmp_path / name).mkdir()
        if content:
            (tmp_path / name / "model.json").write_text(content)
    (tmp_path / "empty").mkdir()
    (tmp_path / "stray.txt").touch()
    make_gguf(tmp_path / "good" / "m.gguf")
    card = CatalogEntry(
        id="good", name="Good", role="generator", format="gguf", folder=tmp_path / "good",
        file="m.gguf",
    )  # fmt: skip
    write_card(tmp_path / "good", card)
    entries = {entry.id: entry for entry in list_models(tmp_path) if not entry.shipped}
    assert set(entries) == {"bad-json", "bad-fields", "empty", "good"}
    assert not entries["good"].problem
    assert all(entries[name].problem for name in ("bad-json", "bad-fields", "empty"))
    assert find_model("good", tmp_path).context_tokens == 2048
    assert default_model("generator", tmp_path).id == "good"
    with pytest.raises(InvalidModelError, match="cannot be used"):
        find_model("empty", tmp_path)
    with pytest.raises(MissingModelError, match="There are"):
        find_model("nothing", tmp_path)
    with pytest.raises(MissingModelError):
        default_model("reranker", tmp_path)


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    (tmp_path / "models" / "m").mkdir(parents=True)
    with pytest.raises(ConflictError, match="already"):
        import_model(make_gguf(tmp_path / "m.gguf"), directory=tmp_path / "models")


def test_the_context_fits_the_memory_or_is_refused() -> None:
    info = GgufInfo("llama", "m", 10**9, 131_072, "x", "Q4", 100_000)
    assert fit_context(info, 16_384, None) == 16_384
    assert fit_context(info, 16_384, 2 * 10**9) == 5_000
    assert fit_context(info, 200_000, 10**12) == 131_072
    with pytest.raises(MemoryShortageError, match=r"needs 1\.0 GB"):
        fit_context(info, 16_384, 10**8)


def test_labels_are_read_by_name_whatever_their_order() -> None:
    three = {"id2label": {"0": "CONTRADICTION", "1": "Neutral", "2": "entailment"}}
    assert read_labels(three, "m") == {"contradiction": 0, "neutral": 1, "entailment": 2}
    two = {"id2label": {"0": "not_entailment", "1": "entailment"}}
    assert read_labels(two, "m") == {"neutral": 0, "entailment": 1}
    with pytest.raises(InvalidModelError, match="entailment"):
        read_labels({"id2label": {"0": "LABEL_0", "1": "LABEL_1"}}, "m")
    assert json.dumps(three)


def test_advice_grows_with_the_machine() -> None:
    assert recommend(4) != recommend(16) != recommend(64)
    memory, free = total_memory(), available_memory()
    assert memory is None or free is None or 0 < free <= memory
