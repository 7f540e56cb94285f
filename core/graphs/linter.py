"""The step linter: TaskLAMA's rules for annotators, each with a quick fix, and hints on the whole graph.

A step begins with a verb, says one action, stands alone without pronouns, is something to do rather
than advice, fits the stated assumption, and is said once. Fast enough to run while somebody types.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from core.graphs.model import StepGraph
from core.graphs.words import (
    ADVICE,
    CONDITIONS,
    DETERMINERS,
    FILLERS,
    PRONOUNS,
    STRIPPABLE,
    VERBS,
    base_form,
)

Rule = Literal["verb", "one_action", "stands_alone", "advice", "assumption", "duplicate"]
FixKind = Literal["rename", "split", "chain", "merge"]

#: Each rule as the annotators were told it.
RULES: Mapping[Rule, str] = {
    "verb": "Begins with a verb",
    "one_action": "Says one action",
    "stands_alone": "Stands alone, without pronouns",
    "advice": "Is something to do, not advice",
    "assumption": "Fits the assumption",
    "duplicate": "Is said only once",
}

#: Cosine of embeddings above which two steps are taken for the same.
SAME_STEP = 0.9
#: Similarity of spelling above which they are, without embeddings.
SAME_SPELLING = 0.92
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_LATIN = re.compile(r"[A-Za-z]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A quick fix: ``rename`` to ``texts[0]``, ``split`` or ``chain`` into ``texts``, ``merge`` into
    the step ``other``."""

    kind: FixKind
    label: str
    texts: tuple[str, ...] = ()
    other: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepIssue:
    """What is amiss with a step, in words, and how to mend it; ``start``, ``end`` in code points."""

    rule: Rule
    message: str
    start: int = 0
    end: int = 0
    fix: Fix | None = None


def lint_text(
    text: str, assumptions: Sequence[str] = (), before: Sequence[str] = ()
) -> list[StepIssue]:
    """Issues of one step by itself.

    Parameters
    ----------
    before
        Texts of steps that come directly before, from which a pronoun may take its meaning.
    """
    text = " ".join(text.split())
    if not _LATIN.search(text):
        # The word lists are English; other scripts are left alone.
        return []
    issues = []
    condition = _check_condition(text, assumptions)
    if condition is not None:
        issues.append(condition)
    advice = _check_advice(text) if condition is None else None
    if advice is not None:
        issues.append(advice)
    if condition is None and advice is None:
        verb = _check_verb(text)
        if verb is not None:
            issues.append(verb)
    for found in (_check_actions(text), _check_pronouns(text, before)):
        if found is not None:
            issues.append(found)
    return [_in_style(issue, text) for issue in issues]


def lint_graph(
    graph: StepGraph, vectors: Mapping[str, Sequence[float]] | None = None
) -> dict[str, list[StepIssue]]:
    """Issues by step id, duplicates among them; ``vectors`` are unit embeddings by text."""
    found: dict[str, list[StepIssue]] = {}
    for step in graph.accepted:
        before = [graph.by_id[parent].text for parent in graph.parents[step.id]]
        issues = lint_text(step.text, graph.graph.assumptions, before)
        if issues:
            found[step.id] = issues
    for first, second, message in find_duplicates(graph, vectors):
        issue = StepIssue(
            rule="duplicate",
            message=message,
            end=len(graph.by_id[second].text),
            fix=Fix(kind="merge", label="Make them one step", other=first),
        )
        found.setdefault(second, []).append(issue)
    return found


def find_duplicates(
    graph: StepGraph, vectors: Mapping[str, Sequence[float]] | None = None
) -> list[tuple[str, str, str]]:
    """(earlier step, later step, why) for steps that say the same."""
    import numpy as np
    from rapidfuzz import process
    from rapidfuzz.distance import Indel

    steps = graph.accepted
    if len(steps) < 2:
        return []
    texts = [" ".join(step.text.casefold().split()) for step in steps]
    close = process.cdist(
        texts,
        texts,
        scorer=Indel.normalized_similarity,
        score_cutoff=SAME_SPELLING,
        dtype=np.float32,
    )
    # 'Fill tube 1' and 'Fill tube 2' differ in what counts.
    numbers = [re.findall(r"\d+", text) for text in texts]
    same = (close >= SAME_SPELLING) & np.array([[a == b for b in numbers] for a in numbers])
    meaning = np.zeros_like(close)
    if vectors and all(step.text in vectors for step in steps):
        matrix = np.array([vectors[step.text] for step in steps], dtype=np.float32)
        meaning = matrix @ matrix.T
        same |= meaning >= SAME_STEP
    found = []
    taken = set()
    for first, second in zip(*np.nonzero(np.triu(same, 1)), strict=True):
        if int(second) in taken:
            continue
        taken.add(int(second))
        number = graph.numbers[steps[first].id]
        if texts[first] == texts[second]:
            why = f"Says the same as step {number}."
        elif close[first, second] >= SAME_SPELLING:
            why = f"Is almost the same as step {number}."
        else:
            why = f"Means the same as step {number} (similarity {meaning[first, second]:.2f})."
        found.append((steps[first].id, steps[second].id, why))
    return found


# -- rules -------------------------------------------------------------------------------


def _check_verb(text: str) -> StepIssue | None:
    plain = _without_fillers(text)
    words = _WORD.findall(plain)
    if not words:
        return None
    first = words[0]
    if (
        first.casefold() in VERBS
        or base_form(first.split("-")[0]) == first.casefold().split("-")[0]
    ):
        if plain == text:
            return None
        return StepIssue(
            rule="verb",
            message=f"Begins with '{text[: len(text) - len(plain)].strip()}' instead of a verb.",
            end=len(text) - len(plain),
            fix=_rename(plain),
        )
    if len(words) > 1 and words[1].casefold() in VERBS and first.casefold().endswith("ly"):
        return None  # 'Gently stir' begins with how, which does no harm.
    base = base_form(first)
    start = text.find(first)
    if base:
        fixed = plain.replace(first, base, 1)
        return StepIssue(
            rule="verb",
            message=f"'{first}' is not the plain form of the verb.",
            start=start,
            end=start + len(first),
            fix=_rename(fixed),
        )
    return StepIssue(
        rule="verb",
        message=f"'{first}' is no verb: say first what is done.",
        start=start,
        end=start + len(first),
        fix=_passive_fix(plain),
    )


def _passive_fix(text: str) -> Fix | None:
    """'The water is boiled' becomes 'Boil the water'."""
    found = re.fullmatch(
        r"(?P<what>.+?)\s+(?:is|are|gets|get|should be|must be|needs to be|has to be)\s+"
        r"(?P<verb>[\w-]+)(?P<rest>.*)",
        text,
        re.IGNORECASE,
    )
    verb = base_form(found["verb"]) if found else ""
    if not found or not verb:
        return None
    what = found["what"]
    return _rename(f"{verb} {what[0].lower() + what[1:]}{found['rest']}")


def _check_advice(text: str) -> StepIssue | None:
    folded = text.casefold().replace("’", "'")
    for words in ADVICE:
        if folded == words or folded.startswith((f"{words} ", f"{words},")):
            start, end = 0, len(words)
            break
    else:
        found = re.search(r"\b(?:you|one|should|it)\s+(?:should|might|may want to|could)\b", folded)
        if found is None:
            return None
        start, end = found.span()
    rest = text[end:].lstrip(" ,") if start == 0 else ""
    first = _WORD.match(rest)
    strips = folded[:end] in STRIPPABLE or folded[:end] in ("should", "consider")
    fix = None
    if strips and first is not None and base_form(first[0]):
        fix = _rename(base_form(first[0]) + rest[first.end() :])
    return StepIssue(
        rule="advice",
        message=f"'{text[start:end]}' is advice: say what is done, or leave it out.",
        start=start,
        end=end,
        fix=fix,
    )


def _check_condition(text: str, assumptions: Sequence[str]) -> StepIssue | None:
    folded = text.casefold()
    words = next((w for w in CONDITIONS if folded.startswith(w + " ")), "")
    if words:
        comma = text.find(",")
        rest = text[comma + 1 :].strip() if comma > 0 else ""
        rest = re.sub(r"^then\s+", "", rest, flags=re.IGNORECASE)
        end = comma if comma > 0 else len(words)
        fix = _rename(rest) if rest and base_form((_WORD.findall(rest) or [""])[0]) else None
        return StepIssue(
            rule="assumption",
            message=f"'{text[:end]}' is a condition: state it as an assumption of the graph.",
            end=end,
            fix=fix,
        )
    found = re.search(
        r"\s\((?:if|optional|optionally)\b[^)]*\)|,?\s+(?:if|unless)\s.+$", text, re.I
    )
    if found is None and folded.startswith(("optionally ", "optional ")):
        rest = text.split(None, 1)[1].lstrip(":, ")
        return StepIssue(
            rule="assumption",
            message="'optional' leaves open whether the step is done: the assumption decides that.",
            end=len(text.split(None, 1)[0]),
            fix=_rename(rest),
        )
    if found is not None:
        return StepIssue(
            rule="assumption",
            message=f"'{found[0].strip(' ,')}' is a condition: state it as an assumption.",
            start=found.start(),
            end=found.end(),
            fix=_rename(text[: found.start()]),
        )
    return _check_contradiction(text, assumptions)


def _check_contradiction(text: str, assumptions: Sequence[str]) -> StepIssue | None:
    """A step that uses what an assumption says is not there ('without an oven')."""
    for assumption in assumptions:
        for denied in re.finditer(
            r"\b(?:without|no)\s+(?:an?\s+|any\s+|the\s+)?([\w-]+)", assumption, re.I
        ):
            word = denied[1]
            found = re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE)
            if found and not re.search(
                rf"\b(?:without|no)\s+(?:\w+\s+)?{re.escape(word)}", text, re.I
            ):
                return StepIssue(
                    rule="assumption",
                    message=f"Uses '{found[0]}', and the graph is for '{assumption.strip()}'.",
                    start=found.start(),
                    end=found.end(),
                )
    return None


def _check_actions(text: str) -> StepIssue | None:
    for pattern, chain in (
        (r"\s*[;.]\s+(?=\S)", True),
        (r",?\s+(?:and|before you|, )?\s*then\s+", True),
        (r",?\s+and\s+", False),
    ):
        for found in re.finditer(pattern, text):
            left, right = text[: found.start()].strip(" ,"), text[found.end() :].strip(" ,.")
            first = _WORD.match(right)
            # 'Mix and match': both words must be verbs, and the second must not be a noun's 'and'.
            if not left or first is None or first[0].casefold() not in VERBS:
                continue
            after = right[first.end() :].strip()
            if not after or len(_WORD.findall(left)) < 2 or _reads_as_noun(after):
                continue
            parts = (_capital_like(text, left), _capital_like(text, right))
            return StepIssue(
                rule="one_action",
                message="Says two actions.",
                start=found.start(),
                end=found.end(),
                fix=Fix(
                    kind="chain" if chain else "split",
                    label=f"Split into '{parts[0]}' and '{parts[1]}'",
                    texts=parts,
                ),
            )
    return None


def _reads_as_noun(after: str) -> bool:
    """Whether a word that could be a verb is followed as a noun is: 'salt and water in a pan'."""
    return after.split(None, 1)[0].casefold() in {
        "in", "on", "of", "to", "for", "from", "with", "at", "by", "into", "over", "as", "is", "are"
    }  # fmt: skip


def _check_pronouns(text: str, before: Sequence[str]) -> StepIssue | None:
    words = list(_WORD.finditer(text))
    for number, found in enumerate(words):
        word = found[0].casefold()
        if word not in PRONOUNS:
            continue
        following = words[number + 1][0].casefold() if number + 1 < len(words) else ""
        glued = number + 1 < len(words) and text[found.end() : words[number + 1].start()] == " "
        if word in DETERMINERS and glued and following not in _SMALL_WORDS:
            if word in ("this", "these", "those"):
                fixed = f"{text[: found.start()]}the{text[found.end() :]}"
                return _pronoun_issue(found, _rename(fixed))
            continue
        if word == "it" and following in ("is", "'s"):
            continue
        # What the step itself spoke of comes before what an earlier one did.
        noun = _object_of([text[: found.start()]]) or _object_of(before)
        fix = None
        if noun and word in ("it", "them", "this", "these", "those", "they"):
            fix = _rename(f"{text[: found.start()]}{noun}{text[found.end() :]}")
        return _pronoun_issue(found, fix)
    return None


_SMALL_WORDS = frozenset(
    (
        "in",
        "on",
        "of",
        "to",
        "for",
        "from",
        "with",
        "at",
        "by",
        "into",
        "over",
        "as",
        "is",
        "are",
        "and",
        "or",
        "until",
        "up",
        "down",
        "off",
        "out",
        "away",
        "aside",
    )
)


def _pronoun_issue(found: re.Match[str], fix: Fix | None) -> StepIssue:
    return StepIssue(
        rule="stands_alone",
        message=f"'{found[0]}' points outside the step: name the thing.",
        start=found.start(),
        end=found.end(),
        fix=fix,
    )


def _object_of(before: Sequence[str]) -> str:
    """What the last earlier step is about: the words after its verb, up to the first small word."""
    for text in reversed(before):
        words = text.split()
        if len(words) < 2 or not base_form(words[0].strip(",")):
            continue
        noun: list[str] = []
        for word in words[1:]:
            if word.casefold().strip(",") in _SMALL_WORDS and noun:
                break
            noun.append(word.strip(",."))
            if word.endswith(","):
                break
        if noun and noun[0].casefold() not in PRONOUNS and noun[0].casefold() not in _SMALL_WORDS:
            if noun[0].casefold() in ("a", "an"):
                noun[0] = "the"
            return " ".join(noun)
    return ""


def _without_fillers(text: str) -> str:
    plain = text
    while True:
        folded = plain.casefold().replace("’", "'")
        for words in FILLERS:
            if re.match(rf"{re.escape(words)}\b(?:\s*\d+)?[\s,:.]+\S", folded):
                found = re.match(rf"{re.escape(words)}\b(?:\s*\d+)?[\s,:.]+", folded)
                assert found is not None
                plain = plain[found.end() :]
                break
        else:
            return re.sub(r"^\(?\d+[.):]\s*|^[-*•]\s+", "", plain)


def _capital_like(model: str, text: str) -> str:
    """A text that begins with a capital where the model does."""
    if not text:
        return text
    return (text[0].upper() if model[:1].isupper() else text[0]) + text[1:]


def _rename(text: str) -> Fix | None:
    text = " ".join(text.split()).strip(" ,;")
    if not text:
        return None
    text = text[0].upper() + text[1:]
    return Fix(kind="rename", label=f"Write '{text}'", texts=(text,))


def _in_style(issue: StepIssue, old: str) -> StepIssue:
    """The issue with a fix that begins with a small letter where the old text does."""
    if issue.fix is None or issue.fix.kind != "rename" or not old[:1].islower():
        return issue
    text = issue.fix.texts[0][0].lower() + issue.fix.texts[0][1:]
    return replace(issue, fix=Fix(kind="rename", label=f"Write '{text}'", texts=(text,)))
