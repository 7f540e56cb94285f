"""Exact checks of a sentence against its evidence: numbers, units, dates, doses, names, negations.

They need no model and read English. A check speaks only where the evidence has the same kind of thing
otherwise: a name that is simply absent is for the entailment model to find unsupported. It is a pointer
for a reader, not a verdict: "12 of 20" and "60 %" are the same to a person and different here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal

Kind = Literal["number", "unit", "date", "dose", "name", "negation"]


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that the sentence has otherwise than its evidence.

    ``start`` and ``end`` are code points in the sentence; ``evidence`` is what the evidence has.
    """

    kind: Kind
    start: int
    end: int
    text: str
    evidence: str

    def __str__(self) -> str:
        return f"{self.kind}: '{self.text}' here, '{self.evidence}' in the evidence"


_UNITS = {
    **dict.fromkeys(("mg", "milligram", "milligrams"), "mg"),
    **dict.fromkeys(("g", "gram", "grams"), "g"),
    **dict.fromkeys(("kg", "kilogram", "kilograms", "kilos"), "kg"),
    **dict.fromkeys(("mcg", "µg", "μg", "ug", "microgram", "micrograms"), "mcg"),
    **dict.fromkeys(("ml", "milliliter", "milliliters", "millilitre", "millilitres"), "ml"),
    **dict.fromkeys(("l", "liter", "liters", "litre", "litres"), "l"),
    **dict.fromkeys(("unit", "units", "iu"), "units"),
    **dict.fromkeys(("mmhg",), "mmHg"),
    **dict.fromkeys(("mmol", "mmol/l"), "mmol"),
    **dict.fromkeys(("%", "percent", "per cent"), "%"),
    **dict.fromkeys(("mm", "millimeter", "millimeters", "millimetre", "millimetres"), "mm"),
    **dict.fromkeys(("cm", "centimeter", "centimeters", "centimetre", "centimetres"), "cm"),
    **dict.fromkeys(("m", "meter", "meters", "metre", "metres"), "m"),
    **dict.fromkeys(("km", "kilometer", "kilometers", "kilometre", "kilometres"), "km"),
    **dict.fromkeys(("second", "seconds"), "seconds"),
    **dict.fromkeys(("minute", "minutes", "min"), "minutes"),
    **dict.fromkeys(("hour", "hours"), "hours"),
    **dict.fromkeys(("day", "days"), "days"),
    **dict.fromkeys(("week", "weeks"), "weeks"),
    **dict.fromkeys(("month", "months"), "months"),
    **dict.fromkeys(("year", "years"), "years"),
    **dict.fromkeys(("$", "dollar", "dollars", "usd"), "$"),
    **dict.fromkeys(("€", "euro", "euros", "eur"), "€"),
}
_DOSE_UNITS = frozenset({"mg", "g", "mcg", "ml", "units"})
_WORDS = {
    word: str(value)
    for value, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
            "twenty",
        ]
    )
} | {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "ninety": "90"}
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATE = re.compile(
    rf"\b(?P<year>\d{{4}})-(?P<month>\d\d)-(?P<day>\d\d)\b"
    rf"|\b(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month2>{_MONTH})\b\.?(?:,?\s+(?P<year2>\d{{4}}))?"
    rf"|\b(?P<month3>{_MONTH})\b\.?\s+(?P<day3>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<year3>\d{{4}})\b)?",
    re.IGNORECASE,
)
_UNIT = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_NUMBER = re.compile(
    rf"(?P<before>[$€])?(?<![\w.,/-])(?P<number>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?|"
    rf"{'|'.join(sorted(_WORDS, key=len, reverse=True))})"
    rf"(?:[\s-]?(?P<unit>{_UNIT})(?![\w]))?(?!\w)",
    re.IGNORECASE,
)
_NAME = re.compile(r"\b[A-Z][a-z]+(?:[ -][A-Z][a-z]+)+\b|\b(?:Mr|Mrs|Ms|Dr|Prof)\.? [A-Z][a-z]+\b")
_TITLE = re.compile(r"^(?:Mr|Mrs|Ms|Dr|Prof)\.? ")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|denies|denied|deny|"
    r"negative for|absence of|free of)\b|n['’]t\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z]{3,}")
_STOP = frozenset(
    [
        "the",
        "and",
        "for",
        "with",
        "was",
        "were",
        "are",
        "has",
        "have",
        "had",
        "his",
        "her",
        "its",
        "their",
        "she",
        "him",
        "they",
        "them",
        "that",
        "this",
        "these",
        "those",
        "from",
        "into",
        "been",
        "being",
        "did",
        "does",
        "done",
        "but",
        "not",
        "any",
        "all",
        "who",
        "which",
        "when",
        "there",
        "then",
        "than",
        "will",
        "would",
        "can",
        "could",
        "may",
        "might",
        "shall",
        "should",
        "also",
        "some",
        "such",
        "per",
        "of",
    ]
)
_LEAST_SHARED = 0.6


@dataclass(frozen=True, slots=True)
class _Quantity:
    value: Decimal
    unit: str
    start: int
    end: int
    text: str


def check_exactly(sentence: str, evidence: str) -> list[Difference]:
    """Differences between a sentence and its evidence, in the order of the sentence.

    Examples
    --------
    >>> [str(d) for d in check_exactly("He takes 50 mg daily.", "He takes 5 mg daily.")]
    ["dose: '50 mg' here, '5 mg' in the evidence"]
    >>> check_exactly("He takes 5 mg.", "He takes 5 mg daily.")
    []
    """
    found = [
        *_check_dates(sentence, evidence),
        *_check_quantities(sentence, evidence),
        *_check_names(sentence, evidence),
        *_check_negation(sentence, evidence),
    ]
    return sorted(found, key=lambda difference: (difference.start, difference.kind))


def _check_dates(sentence: str, evidence: str) -> Iterator[Difference]:
    there = list(_dates(evidence))
    for date, match in _dates(sentence):
        if there and not any(_same_date(date, other) for other, _ in there):
            yield _differ("date", match, _nearest_text(there))


def _dates(text: str) -> Iterator[tuple[tuple[int | None, int, int], re.Match[str]]]:
    for match in _DATE.finditer(text):
        part = match.groupdict()
        year = part["year"] or part["year2"] or part["year3"]
        month = part["month"] or part["month2"] or part["month3"]
        day = part["day"] or part["day2"] or part["day3"]
        number = int(month) if month.isdigit() else _MONTHS[month.casefold()]
        yield (int(year) if year else None, number, int(day)), match


def _same_date(one: tuple[int | None, int, int], other: tuple[int | None, int, int]) -> bool:
    years = one[0] is None or other[0] is None or one[0] == other[0]
    return years and one[1:] == other[1:]


def _nearest_text(found: list[tuple[tuple[int | None, int, int], re.Match[str]]]) -> str:
    return ", ".join(dict.fromkeys(match.group() for _, match in found[:3]))


def _check_quantities(sentence: str, evidence: str) -> Iterator[Difference]:
    there = list(_quantities(evidence))
    for quantity in _quantities(sentence):
        same_value = [other for other in there if other.value == quantity.value]
        if any(not quantity.unit or other.unit in ("", quantity.unit) for other in same_value):
            continue
        kind: Kind = "number"
        if same_value:
            # "5 mg" against "5 ml": the number is there, with another unit.
            kind, rivals = "unit", same_value
        else:
            # Only things of one unit can differ; a bare number differs from bare numbers.
            rivals = [other for other in there if other.unit == quantity.unit]
            if quantity.unit in _DOSE_UNITS:
                kind = "dose"
        if rivals:
            shown = ", ".join(dict.fromkeys(other.text for other in rivals[:3]))
            yield Difference(kind, quantity.start, quantity.end, quantity.text, shown)


def _quantities(text: str) -> Iterator[_Quantity]:
    dates = [match.span() for match in _DATE.finditer(text)]
    for match in _NUMBER.finditer(text):
        if any(start <= match.start() < end for start, end in dates):
            continue
        word = match["number"].casefold()
        unit = _UNITS.get((match["unit"] or match["before"] or "").casefold(), "")
        if word == "one" and not unit:
            # Mostly a pronoun.
            continue
        try:
            value = Decimal(_WORDS.get(word, word.replace(",", "")))
        except InvalidOperation:
            continue
        yield _Quantity(value, unit, match.start(), match.end(), match.group())


def _check_names(sentence: str, evidence: str) -> Iterator[Difference]:
    there = [match.group() for match in _NAME.finditer(evidence)]
    words_there = set(re.findall(r"\w+", evidence))
    for match in _NAME.finditer(sentence):
        name = match.group()
        bare = _TITLE.sub("", name)
        parts = re.split(r"[ -]", bare)
        missing = [part for part in parts if part not in words_there]
        if not missing:
            continue
        # The same person otherwise: a part of the name is shared, or the title is.
        title = _TITLE.match(name)
        rivals = [
            other
            for other in there
            if set(re.split(r"[ -]", _TITLE.sub("", other))) & set(parts)
            or (title and _TITLE.match(other) and len(parts) == 1)
        ]
        if rivals:
            yield _differ("name", match, ", ".join(dict.fromkeys(rivals[:3])))


def _check_negation(sentence: str, evidence: str) -> Iterator[Difference]:
    """A sentence denies what a like-worded sentence of the evidence states, or the other way round."""
    words = _content(sentence)
    if len(words) < 2:
        return
    best, best_share = "", 0.0
    for clause in re.split(r"(?<=[.!?;])\s+|\n+", evidence):
        share = len(words & _content(clause)) / len(words)
        if share > best_share:
            best, best_share = clause, share
    if best_share < _LEAST_SHARED:
        return
    here, there = _NEGATION.search(sentence), _NEGATION.search(best)
    if here and not there:
        yield _differ("negation", here, best.strip())
    elif there and not here:
        yield Difference("negation", 0, len(sentence), sentence.strip(), there.group())


def _content(text: str) -> set[str]:
    """Content words, cut to six letters so that 'denies' and 'denied' meet; negations are left out."""
    plain = _NEGATION.sub(" ", text).casefold()
    return {word[:6] for word in _WORD.findall(plain) if word not in _STOP}


def _differ(kind: Kind, match: re.Match[str], evidence: str) -> Difference:
    return Difference(kind, match.start(), match.end(), match.group(), evidence)
