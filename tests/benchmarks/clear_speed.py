"""29 items on one note: the text evaluated once, items in batches, against a full prompt an item; in one run.

.venv/bin/python -m tests.benchmarks.clear_speed [--sample N] [--growth] [--model ID]
    [--tokens 1500] [--items 29]

Without --sample every item is also asked by a full prompt of its own, from nothing, and timed: some five
minutes on two cores. With --sample N that is done for N items spread over the rubric, and the time of all
is estimated from theirs, which is said; verdicts are then compared on those N. --growth also prints how the
time grows with the number of items and with the length of the text.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from core.checklists.asking import CLOSE, choose_each, is_close
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
COUNTS, LENGTHS = (5, 15, 29, 60), (250, 750, 1500, 3000)
#: What the project asks for: so many times as fast as a full prompt an item.
WANTED = 10.0


@dataclass(frozen=True, slots=True)
class Fresh:
    """Full prompts: which questions were asked so, what came, and the seconds of each."""

    places: tuple[int, ...]
    answers: tuple[Choice, ...]
    seconds: tuple[float, ...]

    def estimate(self, count: int) -> tuple[float, float]:
        """Seconds for ``count`` questions, and the standard error of that; 0 where all were timed."""
        total = statistics.fmean(self.seconds) * count
        if len(self.seconds) == count or len(self.seconds) < 2:
            return total, 0.0
        spread = statistics.stdev(self.seconds) / len(self.seconds) ** 0.5
        return total, spread * count


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


def spread(count: int, sample: int) -> tuple[int, ...]:
    """Places of a sample spread evenly over all, or of all."""
    if not 0 < sample < count:
        return tuple(range(count))
    return tuple(round(number * (count - 1) / max(1, sample - 1)) for number in range(sample))


def ask_fresh(
    generator: TextGenerator, questions: Sequence[Sequence[Message]], places: Sequence[int]
) -> Fresh:
    """Each question by itself with nothing kept, as separate full prompts are."""
    answers, seconds = [], []
    for place in places:
        # An unrelated prompt in between empties the cache of the shared text.
        generator.choose((Message("user", f"{place} unrelated"),), OPTIONS)
        start = time.perf_counter()
        answers.append(generator.choose(questions[place], OPTIONS))
        seconds.append(time.perf_counter() - start)
    return Fresh(tuple(places), tuple(answers), tuple(seconds))


def ask_together(
    generator: TextGenerator, questions: Sequence[Sequence[Message]]
) -> tuple[list[Choice], float]:
    """All questions as the checklist rooms ask them, from a cold start."""
    generator.choose((Message("user", "unrelated"),), OPTIONS)
    choose_each(generator, [(Message("user", "cold"),), (Message("user", "start"),)], [OPTIONS] * 2)
    start = time.perf_counter()
    answers = choose_each(generator, questions, [OPTIONS] * len(questions))
    seconds = time.perf_counter() - start
    failed = [answer for answer in answers if not isinstance(answer, Choice)]
    if failed:
        raise SystemExit(f"{len(failed)} questions failed: {failed[0]}")
    return [answer for answer in answers if isinstance(answer, Choice)], seconds


def print_verdicts(together: Sequence[Choice], fresh: Fresh) -> None:
    """How verdicts asked together differ from those item by item at temperature 0."""
    pairs = [(together[p], alone) for p, alone in zip(fresh.places, fresh.answers, strict=True)]
    gap = max(abs(a.probabilities[0] - b.probabilities[0]) for a, b in pairs)
    flips = [(a, b) for a, b in pairs if a.best != b.best]
    near = sum(is_close(a) or is_close(b) for a, b in flips)
    even = sum(is_close(b) for _, b in pairs)
    print(f"verdicts compared: {len(pairs)}, of these within {CLOSE} of even: {even}")
    print(f"verdicts that differ within {CLOSE} of even: {near}, elsewhere: {len(flips) - near}")
    print(f"largest difference of a probability: {gap:.6f}")


def print_growth(generator: TextGenerator, tokens: int, items: int) -> None:
    """Time against the number of items on one text, and against the text's length for one rubric."""
    for count in COUNTS:
        _, seconds = ask_together(generator, questions_on(note_of(generator, tokens), count))
        print(f"{count:3} items on {tokens:4} tokens: {seconds:6.2f} s", flush=True)
    for length in LENGTHS:
        _, seconds = ask_together(generator, questions_on(note_of(generator, length), items))
        print(f"{items:3} items on {length:4} tokens: {seconds:6.2f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default=DEFAULT_GENERATOR)
    parser.add_argument("--tokens", type=int, default=1500, help="length of the note")
    parser.add_argument("--items", type=int, default=29)
    parser.add_argument("--sample", type=int, default=0, help="full prompts to time; 0 for all")
    parser.add_argument("--growth", action="store_true", help="also other numbers and lengths")
    arguments = parser.parse_args()
    with LocalModels() as models:
        generator = models.generator(arguments.model)
        text = note_of(generator, arguments.tokens)
        questions = questions_on(text, arguments.items)
        sizes = [sum(generator.count_tokens(m.content) for m in q) for q in questions]
        print(
            f"{generator.info.name}: {len(questions)} items on a note of"
            f" {generator.count_tokens(text)} tokens, prompts of {min(sizes)} to {max(sizes)}"
        )
        together, fast = ask_together(generator, questions)
        print(f"together:                {fast:7.2f} s", flush=True)
        fresh = ask_fresh(generator, questions, spread(len(questions), arguments.sample))
        slow, error = fresh.estimate(len(questions))
        timed = (
            "all timed"
            if len(fresh.seconds) == len(questions)
            else f"estimated from {len(fresh.seconds)} timed, ± {error:.1f} s standard error"
        )
        each = f"{min(fresh.seconds):.2f} to {max(fresh.seconds):.2f} s each"
        print(f"one full prompt an item: {slow:7.2f} s ({timed}; {each})")
        met = "met" if slow / fast >= WANTED else "MISSED"
        print(f"ratio:                   {slow / fast:7.1f}   (wanted {WANTED:.0f}: {met})")
        print_verdicts(together, fresh)
        if arguments.growth:
            print_growth(generator, arguments.tokens, arguments.items)


if __name__ == "__main__":
    main()
