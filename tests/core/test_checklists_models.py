"""Many questions about one text on the real default model: the same answers as one by one."""

from __future__ import annotations

import pytest

from core.checklists.asking import choose_each
from core.ports import Choice, Message
from models.catalog import find_model
from models.llama import LlamaEngine
from models.local import LocalModels

MODEL = "smollm2-135m-instruct-q4_1"
TEXT = "The patient is a roofer with pain in the right knee. He takes ramipril every morning. " * 4
ITEMS = ("Age", "Employment", "Drugs with dose", "Location of the pain", "Family history")
OPTIONS = ("Yes", "No, it does not")

pytestmark = [pytest.mark.models, pytest.mark.xdist_group("models")]


def question(item: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": f"{TEXT}\n\nDoes it say anything on: {item}? Yes or No."}]


def test_batches_give_the_verdicts_of_one_by_one() -> None:
    entry = find_model(MODEL)
    engine = LlamaEngine({"path": str(entry.path), "context": 1024, "threads": 1, "batched": True})
    try:
        one = [engine._choose({"messages": question(i), "options": OPTIONS}) for i in ITEMS]
        questions = {"questions": [question(i) for i in ITEMS], "options": [OPTIONS] * len(ITEMS)}
        many = engine._choose_many(questions)
        again = engine._choose_many(questions)
    finally:
        engine.close()
    for alone, together in zip(one, many, strict=True):
        gap = abs(alone["probabilities"][0] - alone["probabilities"][1])
        same = alone["probabilities"][0] > 0.5, together["probabilities"][0] > 0.5
        assert same[0] == same[1] or gap < 0.01
        assert together["probabilities"][0] == pytest.approx(alone["probabilities"][0], abs=0.1)
    assert many == again


def test_on_this_machine_the_answers_are_the_same_to_the_last_bit() -> None:
    questions = [(Message("user", question(item)[0]["content"]),) for item in ITEMS]
    with LocalModels() as models:
        generator = models.generator(MODEL, context=1024, gpu_layers=0)
        together = choose_each(generator, questions, [OPTIONS] * len(ITEMS))
        one = [generator.choose(messages, OPTIONS) for messages in questions]
    assert all(isinstance(answer, Choice) for answer in together)
    assert together == one
