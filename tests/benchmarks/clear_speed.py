"""29 items on one note: the text evaluated once, items in batches, against a full prompt an item; in one run.

.venv/bin/python tests/benchmarks/clear_speed.py [--model ID] [--tokens 1500] [--items 29]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.checklists.asking import CLOSE, choose_each
from core.ports import Choice, Message, TextGenerator
from core.rubrics.templates import rubric_template
from core.runs.prompts import render_prompt
from models.catalog import DEFAULT_GENERATOR
from models.local import LocalModels

SENTENCES = (
    "The patient is a 58-year-old roofer who has had pain in the right knee for three weeks.",
    "He takes ramipril five milligrams every morning and walks two miles a day.",
    "His mother had breast cancer at sixty, and he lives alone on the third floor.",
    "Blood pressure is 148 over 92, pulse 84, and the lungs are clear on both sides.",
    "There is no radiation of the pain, which is worse on stairs and better with rest.",
)
OPTIONS = ("Yes", "No")


def note_of(generator: TextGenerator, tokens: int) -> str:
    """A note of about so many tokens, in which no line is like another."""
    lines: list[str] = []
    while generator.count_tokens(" ".join(lines)) < tokens:
        number = len(lines)
        lines.append(f"Visit {number + 1}: {SENTENCES[number % len(SENTENCES)]}")
    return " ".join(lines)


def questions_on(text: str, count: int) -> list[tuple[Message, ...]]:
    """Whether the note says anything on each item of the clinical rubric, over again where it is short."""
    items = rubric_template("T6").items
    values = {"field": "Medicine", "objective": "Write a clinical note", "text": text}
    return [
        render_prompt("clear_present", {**values, "item": items[number % len(items)]})
        for number in range(count)
    ]


def ask_fresh(
    generator: TextGenerator, questions: Sequence[Sequence[Message]]
) -> tuple[list[Choice], float]:
    """Each question by itself with nothing kept, as separate full prompts are."""
    answers, seconds = [], 0.0
    for number, question in enumerate(questions):
        # An unrelated prompt in between empties the cache of the shared text.
        generator.choose((Message("user", f"{number} unrelated"),), OPTIONS)
        start = time.perf_counter()
        answers.append(generator.choose(question, OPTIONS))
        seconds += time.perf_counter() - start
    return answers, seconds


def ask_together(
    generator: TextGenerator, questions: Sequence[Sequence[Message]]
) -> tuple[list[Choice], float]:
    """All questions as the checklist rooms ask them, from a cold start."""
    generator.choose((Message("user", "unrelated"),), OPTIONS)
    choose_each(generator, [(Message("user", "cold"),), (Message("user", "start"),)], [OPTIONS] * 2)
    start = time.perf_counter()
    answers = choose_each(generator, questions, [OPTIONS] * len(questions))
    seconds = time.perf_counter() - start
    return [answer for answer in answers if isinstance(answer, Choice)], seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=DEFAULT_GENERATOR)
    parser.add_argument("--tokens", type=int, default=1500)
    parser.add_argument("--items", type=int, default=29)
    parser.add_argument(
        "--fresh", type=int, default=0, help="time only so many full prompts and scale them up"
    )
    parser.add_argument("--growth", action="store_true", help="also other numbers and lengths")
    arguments = parser.parse_args()
    with LocalModels() as models:
        generator = models.generator(arguments.model)
        text = note_of(generator, arguments.tokens)
        questions = questions_on(text, arguments.items)
        size = generator.count_tokens(questions[0])
        print(f"{generator.info.name}: {arguments.items} items, prompts of some {size} tokens")
        together, fast = ask_together(generator, questions)
        timed = questions[: arguments.fresh or None]
        fresh, slow = ask_fresh(generator, timed)
        slow *= len(questions) / len(timed)
        pairs = list(zip(together, fresh, strict=False))
        gap = max(abs(a.probabilities[0] - b.probabilities[0]) for a, b in pairs)
        flips = [b for a, b in pairs if a.best != b.best]
        close = [b for b in flips if abs(b.probabilities[0] - b.probabilities[1]) < CLOSE]
        scaled = f" ({len(timed)} timed, scaled up)" if len(timed) < len(questions) else ""
        print(f"one full prompt an item: {slow:7.2f} s{scaled}")
        print(f"together:                {fast:7.2f} s")
        print(f"ratio:                   {slow / fast:7.1f}")
        print(f"largest difference of a probability: {gap:.5f}")
        print(f"verdicts that differ: {len(flips)}, of these within {CLOSE} of even: {len(close)}")
        if arguments.growth:
            for count in (5, 15, 29, 60):
                _, seconds = ask_together(generator, questions_on(text, count))
                print(f"{count:3} items on {arguments.tokens} tokens: {seconds:6.2f} s")
            for tokens in (250, 750, 1500, 3000):
                other = questions_on(note_of(generator, tokens), arguments.items)
                _, seconds = ask_together(generator, other)
                print(f"{arguments.items} items on {tokens:4} tokens: {seconds:6.2f} s")


if __name__ == "__main__":
    main()
