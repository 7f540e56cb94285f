"""The default models themselves, through the same workers the app uses."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.errors import ContextOverflowError, InvalidModelError, UsageError
from core.ports import Cancellation, GenerationRequest, Message, Piece
from models.catalog import DEFAULT_EMBEDDER, DEFAULT_GENERATOR, find_model, verify_model
from models.convert import import_model
from models.hosted import HostedGenerator
from models.llm_entail import GeneratorEntailment
from models.local import LocalModels
from tests.conftest import REAL_MODELS

pytestmark = [pytest.mark.models, pytest.mark.xdist_group("models")]

QUESTION = (Message("system", "You are brief."), Message("user", "Name three rivers."))


@pytest.fixture(scope="module")
def models() -> Iterator[LocalModels]:
    with LocalModels(directory=REAL_MODELS) as local:
        # Started here, so that no single test is held to have left the workers behind.
        local.generator(DEFAULT_GENERATOR)
        local.embedder(DEFAULT_EMBEDDER)
        yield local


@pytest.fixture
def generator(models: LocalModels) -> HostedGenerator:
    return models.generator(DEFAULT_GENERATOR)


def test_the_default_files_are_the_ones_expected() -> None:
    for name in (DEFAULT_GENERATOR, DEFAULT_EMBEDDER):
        entry = find_model(name, REAL_MODELS)
        assert verify_model(entry) == entry.sha256
        assert entry.licence == "Apache-2.0"


def test_the_same_seed_gives_the_same_text(generator: HostedGenerator) -> None:
    request = GenerationRequest(messages=QUESTION, max_tokens=40, temperature=0.8, seed=7)
    pieces: list[Piece] = []
    first = generator.generate(request, on_piece=pieces.append)
    second = generator.generate(request)
    assert first.text == second.text == "".join(piece.text for piece in pieces)
    assert first.text
    assert "\0" not in first.text
    other = GenerationRequest(messages=QUESTION, max_tokens=40, temperature=0.8, seed=8)
    assert generator.generate(other).text != first.text


def test_the_same_seed_gives_the_same_text_whatever_came_before(
    generator: HostedGenerator,
) -> None:
    shared = "The patient reports a cough since Monday and takes five milligrams. " * 14

    def request(question: str) -> GenerationRequest:
        return GenerationRequest(
            messages=(Message("user", shared + question),), max_tokens=30, temperature=1.0, seed=3
        )

    generator.choose(QUESTION, ("Yes", "No"))
    fresh = generator.generate(request("Why?"))
    generator.generate(request("Who is it, and what did the physician say of it?"))
    generator.choose(request("When was this?").messages, ("Yes, it was", "No, it was not"))
    kept = generator.generate(request("Why?"))
    assert fresh.kept_tokens == 0
    assert kept.kept_tokens > fresh.prompt_tokens // 2
    assert kept.text == fresh.text


def test_an_answer_after_a_choice_on_the_same_prompt_is_not_led_astray(
    generator: HostedGenerator,
) -> None:
    request = GenerationRequest(messages=QUESTION, max_tokens=20)
    alone = generator.generate(request)
    generator.choose(QUESTION, ("The Rhine", "Not known to me at all"))
    assert generator.generate(request).text == alone.text


def test_a_cancelled_prompt_leaves_the_model_sound(generator: HostedGenerator) -> None:
    import threading

    # Reading the long one takes many seconds; the short one begins alike.
    long, request = (
        GenerationRequest(messages=(Message("user", "ward " * words),), max_tokens=10)
        for words in (7_000, 220)
    )
    cancel = Cancellation()
    timer = threading.Timer(0.3, cancel.cancel)
    timer.start()
    assert generator.generate(long, cancel=cancel).completion_tokens == 0
    timer.join()
    after = generator.generate(request)
    generator.choose(QUESTION, ("Yes", "No"))
    assert generator.generate(request).text == after.text


def test_a_document_cannot_end_the_persons_turn(generator: HostedGenerator) -> None:
    plain = generator.count_tokens((Message("user", "before after"),))
    armed = generator.count_tokens((Message("user", "before <|im_end|> after"),))
    # As a control token it would be one; broken up it is several.
    assert armed > plain + 3


def test_a_grammar_that_cannot_be_read_is_told_and_ends_nothing(
    generator: HostedGenerator,
) -> None:
    before = generator.pid
    with pytest.raises(UsageError, match="grammar"):
        generator.generate(
            GenerationRequest(messages=QUESTION, grammar="root ::= ((", max_tokens=5)
        )
    assert generator.pid == before


def test_a_continuation_longer_than_a_batch_is_the_sum_of_its_tokens(
    generator: HostedGenerator,
) -> None:
    text = " and the rain fell on the hills" * 24
    whole = generator.log_likelihood("It was night", [text])[0]
    assert whole.tokens == generator.count_tokens(text)
    half = " and the rain fell on the hills" * 12
    first = generator.log_likelihood("It was night", [half])[0]
    second = generator.log_likelihood("It was night" + half, [half])[0]
    assert whole.total == pytest.approx(first.total + second.total, abs=0.5)


def test_no_token_is_evaluated_alone_where_others_stand_beside_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from models.llama import LlamaEngine

    path = find_model(DEFAULT_GENERATOR, REAL_MODELS).path
    engine = LlamaEngine({"path": str(path), "threads": 1, "context": 512})
    sizes: list[int] = []
    decode = engine._llm._ctx.decode

    def note(batch: Any) -> None:
        sizes.append(batch.n_tokens())
        decode(batch)

    monkeypatch.setattr(engine._llm._ctx, "decode", note)

    def score(context: str, continuation: str) -> list[float]:
        asked = {"context": context, "continuations": [continuation]}
        ((total, count),) = engine.call("log_likelihood", asked, Cancellation(), print)
        return [total, count]

    try:
        words = " and the rain fell on the hills"
        whole = score("It was night", words * 3)
        for kept in (1, 2):
            before = "It was night" + words * kept
            rest = score(before, words * (3 - kept))
            # The same again keeps all of what stands before it: only its end is read anew.
            assert score(before, words * (3 - kept)) == pytest.approx(rest)
            assert rest[0] > whole[0] and rest[1] < whole[1]
        # A text of one more token than fits in a batch.
        engine._evaluate([5] * (engine._batch + 1))
        assert min(sizes) >= 2, sizes
        assert engine._evaluate([5]).shape == (engine._llm.n_vocab(),)
    finally:
        engine.close()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc to ask")
@pytest.mark.parametrize("prompt", ["Tell a very long story.", "word " * 5000])
def test_cancelling_stops_the_work_at_once(generator: HostedGenerator, prompt: str) -> None:
    import threading

    cancel = Cancellation()
    worked: list[float] = []

    def stop() -> None:
        worked.append(processor_seconds(generator.pid))
        cancel.cancel()

    timer = threading.Timer(0.6, stop)
    timer.start()
    request = GenerationRequest(messages=(Message("user", prompt),), max_tokens=3000)
    answer = generator.generate(request, cancel=cancel)
    timer.join()
    assert answer.finish == "cancelled"
    # What the worker still did, not how long it took: that is up to what else the machine does. Either
    # answer keeps it busy for many seconds.
    assert processor_seconds(generator.pid) - worked[0] < 1.0


def processor_seconds(pid: int | None) -> float:
    """How long a process has worked, all its threads together."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_prompt_too_long_is_refused_before_any_work(generator: HostedGenerator) -> None:
    request = GenerationRequest(messages=(Message("user", "word " * 9000),), max_tokens=10)
    pieces: list[Piece] = []
    with pytest.raises(ContextOverflowError) as caught:
        generator.generate(request, on_piece=pieces.append)
    assert caught.value.prompt_tokens > caught.value.context_tokens == 8192
    assert not pieces


def test_options_have_probabilities_that_sum_to_one(generator: HostedGenerator) -> None:
    choice = generator.choose(QUESTION, ("The Rhine", "The Danube, the Rhine", "No"))
    assert math.isclose(sum(choice.probabilities), 1.0)
    assert 0 < choice.mass <= 1
    again = generator.choose(QUESTION, ("The Rhine", "The Danube, the Rhine", "No"))
    assert np.allclose(choice.probabilities, again.probabilities, atol=1e-3)


def test_a_kept_prefix_changes_no_likelihood(generator: HostedGenerator) -> None:
    context = "The capital of France is"
    options = [" Paris", " a city called Paris", " London"]
    fresh = generator.log_likelihood("Something else. " * 20, [" x"])
    assert fresh[0].total < 0
    first = generator.log_likelihood(context, options)
    kept = generator.log_likelihood(context, options)
    parts = generator.log_likelihood(context, [" a"])[0].total
    parts += generator.log_likelihood(context + " a", [" city called Paris"])[0].total
    assert first[0].total > first[2].total
    assert [round(a.total, 3) for a in first] == [round(a.total, 3) for a in kept]
    assert first[1].total == pytest.approx(parts, abs=0.05)
    assert first[1].tokens > 1


def test_a_grammar_keeps_the_answer_inside_it(generator: HostedGenerator) -> None:
    request = GenerationRequest(messages=QUESTION, max_tokens=5, grammar='root ::= "yes" | "no"')
    assert generator.generate(request).text in ("yes", "no")


def test_the_stand_in_is_told_to_be_no_judge(generator: HostedGenerator) -> None:
    with pytest.raises(InvalidModelError, match="no better than guessing"):
        GeneratorEntailment(generator)


def test_like_sentences_are_near_each_other(models: LocalModels) -> None:
    embedder = models.embedder()
    vectors = np.asarray(
        embedder.embed(["A cat sat down.", "The cat was sitting.", "Shares fell.", "x " * 2000, ""])
    )
    assert vectors.shape == (5, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert vectors[0] @ vectors[1] > 0.7 > 0.4 > vectors[0] @ vectors[2]
    assert np.allclose(embedder.embed(["A cat sat down."])[0], vectors[0], atol=2e-2)


def test_windows_cover_a_long_text_in_code_points(models: LocalModels) -> None:
    text = "👩‍⚕️ Grüße an alle. " * 300
    windows = models.embedder().embed_windows(text)
    assert windows[0][0] == 0
    assert windows[-1][1] == len(text.rstrip())
    for (_, end, _), (start, _, _) in pairwise(windows):
        assert start < end
    assert models.embedder().embed_windows("") == []


def test_a_model_is_for_its_role_alone(models: LocalModels) -> None:
    with pytest.raises(UsageError, match="not for 'generator'"):
        models.generator(DEFAULT_EMBEDDER)


@pytest.mark.slow
def test_a_sentence_transformers_folder_is_converted_with_parity(tmp_path: Path) -> None:
    entry = import_model(REAL_MODELS / "all-minilm-l6-v2", directory=tmp_path)
    assert (entry.format, entry.role) == ("onnx-embedder", "embedder")
    assert "cosine" in entry.notes
    with LocalModels(directory=tmp_path) as converted:
        vector = np.asarray(converted.embedder(entry.id).embed(["A cat sat down."])[0])
    with LocalModels(directory=REAL_MODELS) as original:
        wanted = np.asarray(original.embedder().embed(["A cat sat down."])[0])
    assert float(vector @ wanted) > 0.99
