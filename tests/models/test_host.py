"""The worker process: streams, stops when told, dies without taking the app along, comes back."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator

import pytest

from core.errors import BugError, ContextOverflowError, WorkerDiedError
from core.ports import Cancellation, GenerationRequest, Message, Piece
from models.framing import FramingError, read_frame
from models.host import WorkerHost
from models.hosted import HostedGenerator

#: Seconds, far below the time that the answers below take to be written, and far above what a machine
#: that has much else to do needs.
SOON = 30.0


def ask(text: str, tokens: int = 50) -> GenerationRequest:
    return GenerationRequest(messages=(Message("user", text),), max_tokens=tokens)


@pytest.fixture
def generator() -> Iterator[HostedGenerator]:
    model = HostedGenerator({"engine": "fake", "answers": ["one two three four"], "delay": 0.02})
    yield model
    model.close()


def test_an_answer_streams_and_comes_whole(generator: HostedGenerator) -> None:
    pieces: list[Piece] = []
    answer = generator.generate(ask("hello"), on_piece=pieces.append)
    assert answer.text == "one two three four" == "".join(piece.text for piece in pieces)
    assert generator.count_tokens("a b c") == 3
    assert generator.info.context_tokens == 8192


def test_noise_on_standard_output_does_not_disturb(generator: HostedGenerator) -> None:
    assert generator.generate(ask("noise")).text == "one two three four"


def test_a_death_is_told_with_signal_and_last_words_and_then_mended(
    generator: HostedGenerator,
) -> None:
    pieces: list[Piece] = []
    with pytest.raises(WorkerDiedError, match="SIGKILL") as caught:
        generator.generate(ask("die"), on_piece=pieces.append)
    assert "last words" in caught.value.details
    assert pieces[0].text == "one "
    assert generator.generate(ask("hello")).text == "one two three four"


def test_a_kill_from_outside_is_noticed_at_once() -> None:
    model = HostedGenerator({"engine": "fake", "answers": ["word " * 8000], "delay": 0.01})
    killed: list[float] = []

    def kill(piece: Piece) -> None:
        # In the middle of an answer: between two, a dead worker is replaced without a word.
        if not killed:
            killed.append(time.monotonic())
            assert model.pid is not None
            os.kill(model.pid, signal.SIGSEGV)

    with pytest.raises(WorkerDiedError, match="SIGSEGV"):
        model.generate(ask("go", 8000), on_piece=kill)
    assert time.monotonic() - killed[0] < SOON
    model.close()


def test_a_cancelled_answer_keeps_what_there_is() -> None:
    model = HostedGenerator({"engine": "fake", "answers": ["word " * 8000], "delay": 0.01})
    cancel = Cancellation()
    pieces: list[Piece] = []

    def on_piece(piece: Piece) -> None:
        pieces.append(piece)
        if len(pieces) == 5:
            cancel.cancel()

    start = time.monotonic()
    answer = model.generate(ask("go", 8000), on_piece=on_piece, cancel=cancel)
    assert answer.finish == "cancelled"
    assert 5 <= len(answer.text.split()) < 4000
    assert time.monotonic() - start < SOON
    assert model.generate(ask("go", 3)).finish == "length"
    model.close()


def test_an_answer_nobody_waits_for_any_more_is_stopped() -> None:
    model = HostedGenerator({"engine": "fake", "answers": ["word " * 4000], "delay": 0.02})

    def refuse(piece: Piece) -> None:
        raise ValueError("the listener failed")

    with pytest.raises(ValueError, match="listener"):
        model.generate(ask("go", 4000), on_piece=refuse)
    start = time.monotonic()
    assert model.generate(ask("go", 2)).finish == "length"
    assert time.monotonic() - start < SOON
    start = time.monotonic()
    model.close()
    assert time.monotonic() - start < SOON


def test_errors_of_the_worker_arrive_as_themselves(generator: HostedGenerator) -> None:
    with pytest.raises(BugError, match="scripted") as caught:
        generator.generate(ask("bug"))
    assert "Traceback" in caught.value.details
    with pytest.raises(ContextOverflowError) as overflow:
        generator.generate(ask("x", 9000))
    assert overflow.value.context_tokens == 8192


def test_a_command_that_is_no_worker_is_reported() -> None:
    host = WorkerHost([sys.executable, "-c", "print('hello there')"])
    with pytest.raises(WorkerDiedError):
        host.call("load", {"engine": "fake"})
    host.close()
    host = WorkerHost(["/nonexistent/worker"])
    with pytest.raises(WorkerDiedError, match="could not be started"):
        host.call("load")


def test_a_worker_goes_with_its_parent() -> None:
    script = (
        "import os, sys; from models.hosted import HostedGenerator\n"
        "m = HostedGenerator({'engine': 'fake'}); print(m.pid, flush=True); os._exit(1)"
    )
    import subprocess

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    pid = int(done.stdout)
    for _ in range(1000):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("the worker outlived its parent")


@pytest.mark.parametrize("data", [b"\xff\xff\xff\xffx", b"\x02\0\0\0\xc1\xc1", b"\x01\0\0\0\x01"])
def test_bytes_that_are_no_frame_are_refused(data: bytes) -> None:
    import io

    with pytest.raises(FramingError):
        read_frame(io.BytesIO(data))


@pytest.mark.parametrize("data", [b"", b"\x05\0", b"\x05\0\0\0ab"])
def test_a_stream_cut_short_is_its_end(data: bytes) -> None:
    import io

    assert read_frame(io.BytesIO(data)) is None
