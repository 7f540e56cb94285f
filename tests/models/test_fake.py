"""The stand-ins do what their ports promise, and fail on cue; a useless judge is found out."""

from __future__ import annotations

import math

import pytest

from core.errors import Cancelled, ContextOverflowError, InvalidModelError, WorkerDiedError
from core.ports import (
    Cancellation,
    Choice,
    Embedder,
    EntailmentModel,
    GenerationRequest,
    Message,
    PairScorer,
    Piece,
    TextGenerator,
)
from models.fake import FakeEmbedder, FakeEntailment, FakeGenerator, FakePairScorer
from models.llm_entail import GeneratorEntailment
from models.parity import CHECK_PAIRS, count_right, self_check


def ask(text: str, **options: int) -> GenerationRequest:
    return GenerationRequest(messages=(Message("user", text),), **options)  # type: ignore[arg-type]


def test_every_fake_is_its_port() -> None:
    assert isinstance(FakeGenerator(), TextGenerator)
    assert isinstance(FakeEntailment(), EntailmentModel)
    assert isinstance(FakePairScorer(), PairScorer)
    assert isinstance(FakeEmbedder(), Embedder)


def test_answers_come_in_turn_and_seeds_differ() -> None:
    scripted = FakeGenerator(answers=("one", "two"))
    assert [scripted.generate(ask("x")).text for _ in range(3)] == ["one", "two", "one"]
    free = FakeGenerator()
    a, b = (free.generate(ask("alpha beta gamma", seed=seed)).text for seed in (0, 1))
    assert a != b
    assert a == FakeGenerator().generate(ask("alpha beta gamma", seed=0)).text


def test_reasoning_is_told_apart_as_in_a_real_model() -> None:
    pieces: list[Piece] = []
    answer = FakeGenerator(answers=("<think>let me see</think>Yes.",)).generate(
        ask("x"), on_piece=pieces.append
    )
    assert (answer.text, answer.thinking) == ("Yes.", "let me see")
    assert "".join(piece.text for piece in pieces if piece.thinking) == "let me see"


def test_a_fake_overflows_fails_and_stops_on_cue() -> None:
    small = FakeGenerator(context_tokens=10)
    with pytest.raises(ContextOverflowError) as caught:
        small.generate(ask("one two three", max_tokens=8))
    assert (caught.value.prompt_tokens, caught.value.context_tokens) == (11, 10)
    failing = FakeGenerator(fail_on={"poison": WorkerDiedError("gone")})
    with pytest.raises(WorkerDiedError):
        failing.generate(ask("poison"))
    cancel = Cancellation()
    cancel.cancel()
    assert FakeGenerator().generate(ask("a b"), cancel=cancel).finish == "cancelled"
    with pytest.raises(Cancelled):
        FakeEmbedder().embed(["a"], cancel=cancel)


def test_options_and_vectors_are_proper() -> None:
    choice = FakeGenerator().choose((Message("user", "?"),), ("a", "b", "c"))
    assert math.isclose(sum(choice.probabilities), 1.0)
    near, like, far = FakeEmbedder().embed(["a cat sat", "a cat sat", "stocks fell today"])
    assert near == like != far
    assert math.isclose(sum(value * value for value in near), 1.0)
    text = "word " * 450
    windows = FakeEmbedder().embed_windows(text)
    assert len(windows) == 3
    assert text[windows[0][0] : windows[0][1]].count("word") == 200


class Judge(FakeGenerator):
    """Says yes with a probability that depends on the pair."""

    def __init__(self, follows: float, else_: float) -> None:
        super().__init__()
        self._answers = {
            hypothesis: follows if label == "entailment" else else_
            for _, hypothesis, label in CHECK_PAIRS
        }

    def choose(self, messages: object, options: object) -> Choice:
        content = messages[-1].content  # type: ignore[index]
        yes = next(p for text, p in self._answers.items() if text in content)
        return Choice((yes, 1 - yes), 1.0)


@pytest.mark.parametrize(("follows", "else_"), [(0.1, 0.1), (0.9, 0.9), (0.1, 0.9)])
def test_a_language_model_that_says_always_the_same_is_refused(
    follows: float, else_: float
) -> None:
    with pytest.raises(InvalidModelError, match="no better than guessing"):
        GeneratorEntailment(Judge(follows, else_))


def test_a_language_model_that_can_judge_is_taken() -> None:
    judge = GeneratorEntailment(Judge(0.8, 0.2))
    answer = judge.entail([(CHECK_PAIRS[0][0], CHECK_PAIRS[0][1])])[0]
    assert (answer.entailment, answer.contradiction) == (0.8, 0.0)
    assert not judge.has_contradiction
    assert count_right(judge) == len(CHECK_PAIRS)
    assert self_check(judge) == ""
