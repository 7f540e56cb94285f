"""What is wrong with the items of a rubric, as far as words tell: pointers for the author, not verdicts.

The five classes are those for which experts rejected items (ExpertLongBench): subjective, compound,
overlapping, unanswerable from a text, untestable; besides, conditions that cannot work. It reads English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.errors import UsageError
from core.ports import Embedder
from core.rubrics.conditions import find_cycle, fold_title, parse_condition
from core.rubrics.verbs import example_of
from core.types import RubricItem

Flaw = Literal[
    "subjective", "compound", "overlapping", "unanswerable", "untestable", "condition", "options"
]

#: Cosine of two items' embeddings from which they are said to overlap.
OVERLAP = 0.82
#: The same for token-set similarity (0 to 100) where there is no embedder.
_OVERLAP_WORDS = 90

_SUBJECTIVE = (
    "good", "well", "well-written", "well written", "nice", "clear", "clearly", "unclear",
    "appropriate", "appropriately", "adequate", "adequately", "reasonable", "reasonably",
    "sufficient", "sufficiently", "proper", "properly", "suitable", "professional", "helpful",
    "useful", "interesting", "engaging", "convincing", "compelling", "elegant", "readable",
    "high-quality", "high quality", "quality", "thorough", "thoroughly", "insightful", "natural",
    "important", "relevant", "meaningful", "comprehensive", "concise", "easy to", "overall",
    "effective", "effectively", "correctly explained", "satisfactory", "polite", "empathetic",
)  # fmt: skip
_UNANSWERABLE = (
    "intended", "intention", "intent of", "feels", "felt by", "believes", "thinks", "motivation of",
    "would have", "should have", "could have", "in reality", "actually happened", "up to date",
    "up-to-date", "current guideline", "current guidelines", "latest", "state of the art",
    "as discussed", "as agreed", "see above", "see attached", "as in the appendix", "refer to",
    "unstated", "between the lines", "not written", "the truth", "factually true",
)  # fmt: skip
_UNTESTABLE = (
    "etc", "and so on", "and so forth", "various", "any other", "other aspects", "as needed",
    "if necessary", "where appropriate", "as appropriate", "and more", "among others", "general",
    "miscellaneous", "everything", "anything", "other information", "additional information",
    "further details", "relevant details",
)  # fmt: skip
#: 'Clear lungs' and 'other objective data' are findings, not opinions.
_EXEMPT = re.compile(
    r"\b(?:clear (?:lungs|fields|chest)|well-(?:child|being)|wellbeing|natural law)\b"
)
_JOINED = re.compile(r"\b(?:and|as well as|along with|plus|together with)\b|&", re.IGNORECASE)
#: Pairs that belong together and are one thing to look for.
_PAIRS = re.compile(
    r"\b(?:terms and conditions|pros and cons|date and time|name and title|signs and symptoms|"
    r"alleviating and aggravating|aggravating and alleviating|statutory and constitutional|"
    r"research and development|nature and extent|assessment and plan|home and environment|"
    r"family and social|physical and chemical|cause and effect|supply and demand)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One flaw of an item. ``words`` is what it was seen by, ``other_id`` the item it overlaps with."""

    item_id: str
    flaw: Flaw
    message: str
    words: str = ""
    other_id: str = ""


def lint_items(items: Sequence[RubricItem], embedder: Embedder | None = None) -> list[Finding]:
    """Everything found, in the order of the items.

    Parameters
    ----------
    embedder
        Finds items that mean the same in other words; without it only like words are found.
    """
    titles = {fold_title(item.title) for item in items}
    found: list[Finding] = []
    for item in items:
        found += _lint_words(item)
        found += _lint_condition(item, titles)
    found += _lint_cycle(items)
    found += _lint_overlap(items, embedder)
    order = {item.id: place for place, item in enumerate(items)}
    return sorted(found, key=lambda finding: order[finding.item_id])


def _lint_words(item: RubricItem) -> list[Finding]:
    text = f"{item.title}. {item.description}"
    found = []
    words = _seek(_EXEMPT.sub("", text), _SUBJECTIVE)
    if words:
        found.append(
            _finding(
                item, "subjective", words, "Two experts may differ on '{}': say what is to be seen."
            )
        )
    words = _compound(item)
    if words:
        found.append(
            _finding(item, "compound", words, "It asks for more than one thing ('{}'): split it.")
        )
    words = _seek(text, _UNANSWERABLE)
    if words:
        found.append(
            _finding(item, "unanswerable", words, "A text cannot tell '{}': ask for what it says.")
        )
    words = _seek(text, _UNTESTABLE)
    if words:
        found.append(_finding(item, "untestable", words, "'{}' has no end: name what counts."))
    elif item.kind != "yes_no" and not item.description and len(item.title.split()) == 1:
        found.append(
            _finding(
                item,
                "untestable",
                item.title,
                "'{}' alone leaves open what to look for: describe it.",
            )
        )
    if item.kind == "one_of" and len(item.options) < 2:
        found.append(
            _finding(item, "options", "", "It is 'one of', and has fewer than two options.")
        )
    return found


def _compound(item: RubricItem) -> str:
    if item.kind == "list":
        return ""
    title = _PAIRS.sub("", item.title)
    joined = _JOINED.search(title)
    if joined:
        return joined[0]
    questions = item.description.count("?")
    if questions > 1:
        return f"{questions} questions"
    if item.kind in ("yes_no", "one_of"):
        joined = _JOINED.search(_PAIRS.sub("", item.description))
        return joined[0] if joined else ""
    return ""


def _seek(text: str, words: Sequence[str]) -> str:
    """The first of some words that stands in a text as a whole word."""
    folded = text.casefold()
    places = [
        (found.start(), word)
        for word in words
        if (found := re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", folded))
    ]
    return min(places)[1] if places else ""


def _finding(item: RubricItem, flaw: Flaw, words: str, message: str) -> Finding:
    return Finding(item_id=item.id, flaw=flaw, words=words, message=message.format(words))


def _lint_condition(item: RubricItem, titles: set[str]) -> list[Finding]:
    try:
        condition = parse_condition(item.condition)
    except UsageError as error:
        return [Finding(item_id=item.id, flaw="condition", message=error.message)]
    unknown = sorted(condition.titles - titles)
    if unknown:
        return [
            Finding(
                item_id=item.id,
                flaw="condition",
                words=unknown[0],
                message=f"Its condition names '{unknown[0]}', which is no item of this rubric.",
            )
        ]
    if fold_title(item.title) in condition.titles:
        return [
            Finding(
                item_id=item.id,
                flaw="condition",
                message="Its condition depends on the item itself.",
            )
        ]
    return []


def _lint_cycle(items: Sequence[RubricItem]) -> list[Finding]:
    cycle = {fold_title(title) for title in find_cycle(items)}
    if len(cycle) < 2:
        return []
    return [
        Finding(
            item_id=item.id,
            flaw="condition",
            message="Its condition leads in a circle, so that it can never be told.",
        )
        for item in items
        if fold_title(item.title) in cycle
    ]


def _lint_overlap(items: Sequence[RubricItem], embedder: Embedder | None) -> list[Finding]:
    if len(items) < 2:
        return []
    import numpy as np
    from rapidfuzz import fuzz, process, utils

    texts = [f"{item.title}. {item.description}".strip() for item in items]
    titles = [fold_title(item.title) for item in items]
    words = np.asarray(
        process.cdist(texts, texts, scorer=fuzz.token_sort_ratio, processor=utils.default_process)
    )
    alike = words >= _OVERLAP_WORDS
    if embedder is not None:
        vectors = np.asarray(embedder.embed(texts), dtype=np.float64)
        alike |= vectors @ vectors.T >= OVERLAP
    found = []
    for place, item in enumerate(items):
        for earlier in range(place):
            other = items[earlier]
            apart = {example_of(item), example_of(other)}
            if "" not in apart and len(apart) == 2:
                continue
            same_title = titles[place] == titles[earlier]
            if alike[place, earlier] or same_title:
                found.append(
                    Finding(
                        item_id=item.id,
                        flaw="overlapping",
                        words=other.title,
                        message=f"It overlaps with '{other.title}': merge them, or say how they differ.",
                        other_id=other.id,
                    )
                )
                break
    return found
