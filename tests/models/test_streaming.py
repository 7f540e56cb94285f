"""From token bytes to text: whole characters, stop texts, traces, and what is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.llama import fold_system
from models.llama_scores import part_sizes
from models.llama_stream import TokenStream
from models.llama_threads import ThreadAdviser
from models.native_cancel import NativeCancellation


class Sent:
    """Takes what a stream sends."""

    def __init__(self) -> None:
        self.pieces: list[tuple[str, bool]] = []

    def __call__(self, event: str, value: Any) -> None:
        assert event == "piece"
        self.pieces.append((value[0], value[1]))

    def text(self, *, thinking: bool) -> str:
        return "".join(text for text, thinks in self.pieces if thinks is thinking)


def run(
    parts: list[bytes], stop: tuple[str, ...] = (), *, inside: bool = False
) -> tuple[TokenStream, Sent, bool]:
    sent = Sent()
    stream = TokenStream(sent, stop, inside=inside)
    stopped = any(stream.add(part) for part in parts)
    stream.finish(stopped=stopped)
    return stream, sent, stopped


@given(st.text(), st.integers(1, 4))
def test_characters_cut_between_tokens_come_whole(text: str, size: int) -> None:
    data = text.encode("utf-8", "replace")
    parts = [data[start : start + size] for start in range(0, len(data), size)]
    stream, sent, _ = run(parts)
    assert stream.text + stream.thinking == sent.text(thinking=False) + sent.text(thinking=True)
    if "<" not in text and "[" not in text:
        assert stream.text == data.decode()


@pytest.mark.parametrize("size", [1, 2, 3, 50])
def test_a_stop_text_ends_the_answer_and_is_never_shown(size: int) -> None:
    data = b"The plan.\n\n## Notes and more"
    parts = [data[start : start + size] for start in range(0, len(data), size)]
    stream, sent, stopped = run(parts, ("\n## ", "more"))
    assert stopped
    assert stream.text == "The plan.\n" == sent.text(thinking=False)


def test_the_first_of_several_stop_texts_counts() -> None:
    stream, _, _ = run([b"a STOP b END"], ("END", "STOP"))
    assert stream.text == "a "


def test_half_a_stop_text_at_the_end_is_text() -> None:
    stream, _, stopped = run([b"well, ST"], ("STOP",))
    assert not stopped
    assert stream.text == "well, ST"


def test_a_trace_is_sent_apart() -> None:
    stream, sent, _ = run([b"<thi", b"nk>because", b"</think>", b"Yes"])
    assert (stream.text, stream.thinking) == ("Yes", "because")
    assert sent.text(thinking=True) == "because"
    assert run([b"because</think>Yes"], inside=True)[0].thinking == "because"


def test_the_channels_of_harmony_are_told_apart() -> None:
    parts = (
        b"<|channel|>", b"analysis", b"<|message|>", b"Hm.", b"<|end|>", b"<|start|>", b"assistant",
        b"<|channel|>", b"final", b"<|message|>", b"Yes.",
    )  # fmt: skip
    stream, _, _ = run(list(parts))
    assert (stream.text, stream.thinking) == ("Yes.", "Hm.")


def test_quick_tokens_share_a_frame() -> None:
    sent = Sent()
    stream = TokenStream(sent, (), inside=False)
    for _ in range(1_000):
        stream.add(b"x")
    stream.finish()
    assert sent.text(thinking=False) == "x" * 1_000
    assert len(sent.pieces) < 100


def test_a_system_turn_can_be_folded_into_the_question() -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
    assert fold_system(messages) == [{"role": "user", "content": "Be brief.\n\nWhy?"}]
    assert messages[1]["content"] == "Why?"


def test_native_code_sees_the_flag() -> None:
    import ctypes

    cancel = NativeCancellation()
    look = ctypes.CDLL(None).strlen
    assert look(ctypes.c_void_p(cancel.address)) == 0
    cancel.cancel()
    assert look(ctypes.c_void_p(cancel.address)) == 1
    assert cancel.cancelled


@pytest.mark.parametrize(
    ("cores", "running", "threads"), [(4, 1, 4), (4, 3, 2), (4, 30, 1), (64, 21, 4)]
)
def test_busy_cores_are_left_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cores: int, running: int, threads: int
) -> None:
    load = tmp_path / "loadavg"
    load.write_text(f"0.1 0.1 0.1 {running}/300 4242\n")
    monkeypatch.setattr("models.llama_threads._LOAD", load)
    assert ThreadAdviser(4, cores).advise(4) == threads


def test_threads_come_back_when_the_machine_is_quiet_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = tmp_path / "loadavg"
    load.write_text("0 0 0 9/300 1\n")
    monkeypatch.setattr("models.llama_threads._LOAD", load)
    adviser = ThreadAdviser(2, 2)
    own = adviser.advise(2)
    assert own == 1
    load.write_text("0 0 0 1/300 1\n")
    assert [adviser.advise(own) for _ in range(40)][-1] == 2
    monkeypatch.setattr("models.llama_threads._LOAD", tmp_path / "none")
    assert ThreadAdviser(2, 2).advise(2) == 2


@pytest.mark.parametrize(
    ("count", "sizes"),
    [
        (0, []),
        (1, [1]),
        (2, [2]),
        (8, [8]),
        (9, [7, 2]),
        (10, [8, 2]),
        (17, [8, 7, 2]),
        (16, [8, 8]),
    ],
)
def test_no_token_is_alone_in_a_batch_that_has_company(count: int, sizes: list[int]) -> None:
    assert part_sizes(count, 8) == sizes
