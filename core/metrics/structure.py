"""Metrics of a document's shape: which sections are there, how long it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.metrics.base import Metric, MetricScore
from core.metrics.options import need_text, need_texts, read_choice
from core.tasks.sections import normalise_title, parse_sections
from core.types import SectionSpec


class SectionPresence(Metric):
    """Share of the task's output sections found in the output, 0 to 1.

    ``found sections / asked sections``; the corpus value is the mean over examples.

    Found means a heading line (markdown, numbered, bold, underlined, 'Title:') whose title is equal
    after case folding and stripping punctuation; a line that begins 'Title:' with text after it counts
    too. With ``sections=substring`` it is enough that the title stands anywhere, case folded.

    Source: DOLOMITES (Malaviya et al., 2024), section 'Automatic evaluation'; how a section is
    detected is not stated there, so both rules are offered.

    It cannot tell whether a section says anything right, or anything at all.
    """

    name = "section_presence"

    def __init__(self, sections: str = "heading") -> None:
        self._rule = read_choice("sections", sections, ("heading", "substring"))

    @property
    def signature(self) -> str:
        return f"section_presence|sections:{self._rule}|version:{self.version}"

    def score_one(self, item: Mapping[str, Any]) -> MetricScore:
        titles = list(item.get("output_sections") or ())
        if "output_sections" not in item or titles:
            titles = need_texts(item, "output_sections")
        text = need_text(item, "prediction")
        if not titles:
            return self.unscored("The task asks for no sections.")
        found = [self._is_present(title, text, titles) for title in titles]
        return MetricScore(
            value=sum(found) / len(found),
            components={
                "present": sum(found),
                "asked": len(found),
                "missing": [t for t, there in zip(titles, found, strict=True) if not there],
            },
            signature=self.signature,
        )

    def aggregate(self, items: Sequence[Mapping[str, Any]]) -> MetricScore:
        scores = [score.value for score in self.score_many(items) if score.value is not None]
        if not scores:
            return self.unscored("No item asks for sections.")
        return MetricScore(
            value=sum(scores) / len(scores), components={"n": len(scores)}, signature=self.signature
        )

    def _is_present(self, title: str, text: str, titles: Sequence[str]) -> bool:
        if self._rule == "substring":
            return title.casefold().strip() in text.casefold()
        unique = {normalise_title(t): SectionSpec(title=t) for t in titles}
        parsed = parse_sections(text, [*unique.values(), SectionSpec(title="\0")])
        found = {normalise_title(section.title) for section in parsed.sections if section.title}
        return normalise_title(title) in found


class Length(Metric):
    """Length of a text in words, 0 upwards.

    Words are what stands between white space; characters are Unicode code points; sentences end with
    '.', '!' or '?' (also those of other scripts) or a line break. The corpus value is the mean.

    Source: DOLOMITES reports lengths of outputs beside references. A judge that prefers the longer
    text is the baseline every other judge has to beat.

    It says nothing of quality, and counts little in scripts written without spaces.
    """

    name = "length"
    high = float("inf")

    @property
    def signature(self) -> str:
        return f"length|unit:words|version:{self.version}"

    def score_one(self, item: Mapping[str, Any]) -> MetricScore:
        text = need_text(item, "prediction")
        words = len(text.split())
        return MetricScore(
            value=float(words),
            components={
                "words": words,
                "characters": len(text),
                "sentences": count_sentences(text),
                "lines": sum(1 for line in text.splitlines() if line.strip()),
            },
            signature=self.signature,
        )

    def aggregate(self, items: Sequence[Mapping[str, Any]]) -> MetricScore:
        if not items:
            return self.unscored("There is no item.")
        scores = [score.value or 0.0 for score in self.score_many(items)]
        return MetricScore(
            value=sum(scores) / len(scores), components={"n": len(scores)}, signature=self.signature
        )


def count_sentences(text: str) -> int:
    """Sentences by end marks and line breaks."""
    count = 0
    for line in text.splitlines():
        open_ = False
        for position, character in enumerate(line):
            if character in ".!?。！？؟۔।…":
                last = position + 1 == len(line) or line[position + 1].isspace()
                if open_ and (last or character in "。！？"):
                    count += 1
                    open_ = False
            elif character.isalnum():
                open_ = True
        count += open_
    return count
