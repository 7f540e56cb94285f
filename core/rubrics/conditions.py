"""Conditions of rubric items: a formula over other items' values, or a question in plain words.

A formula names items in double quotes::

    "Appeal" is "yes"
    "Settlement" is present and not ("Decree" is absent)
    "Number of defendants" > 2 or "Court rulings" contains "reversed"

    condition  = all { "or" all }
    all        = some { "and" some }
    some       = "not" some | "(" condition ")" | test
    test       = title [ "is" [ "not" ] ( "present" | "absent" | value )
                       | "contains" value | ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) value ]

A title alone means that it is present. Titles compare without regard to case. Whatever begins with
no title in quotes (nor a bracket or 'not' before one), such as 'only if the case was appealed', is a
question: whoever maps the reference says whether it holds. Three values are reckoned with: holds, does
not, and cannot be told because an item it names has not been mapped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.errors import UsageError
from core.types import RubricItem

#: Text of an item by its folded title: None where nothing has been mapped yet, '' where it is absent.
Values = Mapping[str, str | None]
Test = Callable[[Values], bool | None]

_TOKEN = re.compile(
    r'\s*(?:"(?P<text>[^"]*)"|(?P<op><=|>=|!=|=|<|>|\(|\))|(?P<word>[^\s()"<>=!]+))'
)
_FORMULA = re.compile(r'\s*(?:\(\s*|not\s+|not(?=\())*"', re.IGNORECASE)
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"'})


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that was read. ``test`` is None for a question; ``titles`` are folded."""

    text: str
    titles: frozenset[str] = frozenset()
    test: Test | None = None

    @property
    def is_question(self) -> bool:
        """Whether somebody has to answer it, since no formula does."""
        return bool(self.text) and self.test is None

    def holds(self, values: Values) -> bool | None:
        """Whether it holds; None where that cannot be told. An empty one always holds."""
        if self.test is None:
            return None if self.text else True
        return self.test(values)


def fold_title(title: str) -> str:
    """A title as titles are compared."""
    return " ".join(title.casefold().split())


def is_formula(text: str) -> bool:
    """Whether a condition is meant as a formula: it begins with a title in quotes."""
    return _FORMULA.match(text.translate(_QUOTES)) is not None


def parse_condition(text: str) -> Condition:
    """Read a condition.

    Raises
    ------
    UsageError
        When it is meant as a formula and cannot be read; the message says where.

    Examples
    --------
    >>> parse_condition('"Appeal" is "yes"').holds({"appeal": "Yes."})
    True
    >>> parse_condition("only if the case was appealed").is_question
    True
    """
    text = text.strip()
    if not text or not is_formula(text):
        return Condition(text)
    parser = _Parser(text.translate(_QUOTES))
    test = parser.read()
    return Condition(text, frozenset(parser.titles), test)


def rename_in_condition(text: str, old: str, new: str) -> str:
    """A formula with one item's title replaced; a question stays as it is."""
    if not is_formula(text):
        return text
    clean = new.replace('"', "'")

    def replace(found: re.Match[str]) -> str:
        # After an operator stands a value, which is nobody's title.
        before = text.translate(_QUOTES)[: found.start()].rstrip().casefold()
        is_value = re.search(r"(?:\bis|\bnot|\bcontains|[<>=])$", before) is not None
        begins = re.search(r"(?:^|\(|\band|\bor|(?<!\bis )\bnot)$", before) is not None
        if fold_title(found[1]) == fold_title(old) and (begins or not is_value):
            return f'"{clean}"'
        return found[0]

    return re.sub(r'"([^"]*)"', replace, text.translate(_QUOTES))


def find_cycle(items: Sequence[RubricItem]) -> tuple[str, ...]:
    """Titles of items whose conditions depend on each other in a circle; empty when there is none."""
    titles = {fold_title(item.title): item for item in items}
    edges: dict[str, frozenset[str]] = {}
    for title, item in titles.items():
        try:
            edges[title] = parse_condition(item.condition).titles & titles.keys()
        except UsageError:
            edges[title] = frozenset()
    done: set[str] = set()
    for start in titles:
        path: list[str] = []
        found = _walk(start, edges, path, done)
        if found:
            return tuple(titles[title].title for title in found)
    return ()


def _walk(
    title: str, edges: Mapping[str, frozenset[str]], path: list[str], done: set[str]
) -> list[str]:
    if title in path:
        return path[path.index(title) :]
    if title in done:
        return []
    path.append(title)
    for other in sorted(edges[title]):
        found = _walk(other, edges, path, done)
        if found:
            return found
    path.pop()
    done.add(title)
    return []


def find_applicable(
    items: Sequence[RubricItem], values: Values, answers: Mapping[str, bool | None]
) -> dict[str, bool | None]:
    """Whether each item applies, by id; None where it cannot be told.

    Parameters
    ----------
    values
        What the reference says on each item, by folded title.
    answers
        Answers to conditions that are questions, by item id. An unanswered question counts as
        holding: leaving an item out is a decision somebody has to take.
    """
    titles = {fold_title(item.title): item for item in items}
    known: dict[str, bool | None] = {}

    def applies(item: RubricItem, above: frozenset[str]) -> bool | None:
        if item.id in known:
            return known[item.id]
        try:
            condition = parse_condition(item.condition)
        except UsageError:
            return None
        if condition.test is None:
            result: bool | None = True
            if condition.is_question and answers.get(item.id) is False:
                result = False
        elif item.id in above:
            return None
        else:
            seen: dict[str, str | None] = dict(values)
            for title in condition.titles:
                other = titles.get(title)
                if other is None:
                    seen[title] = None
                    continue
                holds = applies(other, above | {item.id})
                if not holds:
                    # What does not apply says nothing; what may not apply cannot be told.
                    seen[title] = None if holds is None else ""
            result = condition.holds(seen)
        known[item.id] = result
        return result

    return {item.id: applies(item, frozenset()) for item in items}


class _Parser:
    def __init__(self, text: str) -> None:
        self.titles: set[str] = set()
        self._text = text
        self._tokens = list(self._split())
        self._place = 0

    def read(self) -> Test:
        test = self._any()
        if self._peek()[0]:
            raise self._error(f"'{self._peek()[1]}' was not expected here")
        return test

    def _split(self) -> Iterator[tuple[str, str, int]]:
        place = 0
        while self._text[place:].strip():
            found = _TOKEN.match(self._text, place)
            if found is None:
                raise UsageError(
                    f"The condition cannot be read at character {place + 1}.",
                    remedy="Close every quotation mark.",
                )
            kind = str(found.lastgroup)
            yield kind, found[kind], found.start(kind)
            place = found.end()

    def _peek(self) -> tuple[str, str, int]:
        if self._place < len(self._tokens):
            return self._tokens[self._place]
        return "", "its end", len(self._text)

    def _take(self) -> tuple[str, str, int]:
        token = self._peek()
        self._place += 1
        return token

    def _takes(self, *words: str) -> str:
        kind, text, _ = self._peek()
        if kind in ("word", "op") and text.casefold() in words:
            self._place += 1
            return text.casefold()
        return ""

    def _error(self, what: str) -> UsageError:
        return UsageError(
            f"The condition cannot be read at character {self._peek()[2] + 1}: {what}.",
            remedy='Write it like "Appeal" is "yes" and "Trial" is present.',
        )

    def _any(self) -> Test:
        tests = [self._all()]
        while self._takes("or"):
            tests.append(self._all())
        return tests[0] if len(tests) == 1 else _either(tests)

    def _all(self) -> Test:
        tests = [self._some()]
        while self._takes("and"):
            tests.append(self._some())
        return tests[0] if len(tests) == 1 else _both(tests)

    def _some(self) -> Test:
        if self._takes("not"):
            return _negate(self._some())
        if self._takes("("):
            test = self._any()
            if not self._takes(")"):
                raise self._error("a closing bracket is missing")
            return test
        kind, text, _ = self._peek()
        if kind != "text":
            raise self._error("an item's title in double quotes was expected")
        self._place += 1
        if not text.strip():
            self._place -= 1
            raise self._error("the title between the quotes is empty")
        title = fold_title(text)
        self.titles.add(title)
        return self._test(title)

    def _test(self, title: str) -> Test:
        operator = self._takes("is", "contains", "=", "!=", "<", "<=", ">", ">=")
        if not operator:
            return _present(title)
        if operator == "is":
            negated = bool(self._takes("not"))
            word = self._takes("present", "absent")
            if word:
                test = _present(title)
                return _negate(test) if (word == "absent") != negated else test
            test = _equals(title, self._value())
            return _negate(test) if negated else test
        value = self._value()
        if operator == "contains":
            return _contains(title, value)
        if operator in ("=", "!="):
            test = _equals(title, value)
            return _negate(test) if operator == "!=" else test
        return _compare(title, operator, self._number(value))

    def _value(self) -> str:
        kind, text, _ = self._peek()
        if kind not in ("text", "word") or text.casefold() in ("and", "or"):
            raise self._error("a value was expected")
        self._place += 1
        return text

    def _number(self, text: str) -> float:
        number = _read_number(text)
        if number is None:
            self._place -= 1
            raise self._error(f"'{text}' is no number")
        return number


def _present(title: str) -> Test:
    def test(values: Values) -> bool | None:
        value = values.get(title)
        return None if value is None else bool(value.strip())

    return test


def _negate(inner: Test) -> Test:
    def test(values: Values) -> bool | None:
        found = inner(values)
        return None if found is None else not found

    return test


def _either(tests: Sequence[Test]) -> Test:
    def test(values: Values) -> bool | None:
        found = [inner(values) for inner in tests]
        return True if True in found else None if None in found else False

    return test


def _both(tests: Sequence[Test]) -> Test:
    def test(values: Values) -> bool | None:
        found = [inner(values) for inner in tests]
        return False if False in found else None if None in found else True

    return test


def _equals(title: str, wanted: str) -> Test:
    want = _plain(wanted)

    def test(values: Values) -> bool | None:
        value = values.get(title)
        if value is None:
            return None
        have = _plain(value)
        # 'Yes, in March' answers yes.
        begins = want in ("yes", "no") and re.match(rf"{want}\b", have) is not None
        return have == want or begins

    return test


def _contains(title: str, wanted: str) -> Test:
    def test(values: Values) -> bool | None:
        value = values.get(title)
        return None if value is None else _plain(wanted) in _plain(value)

    return test


def _compare(title: str, operator: str, wanted: float) -> Test:
    def test(values: Values) -> bool | None:
        value = values.get(title)
        if value is None:
            return None
        number = _read_number(value)
        if number is None:
            return False
        return {
            "<": number < wanted,
            "<=": number <= wanted,
            ">": number > wanted,
            ">=": number >= wanted,
        }[operator]

    return test


def _plain(text: str) -> str:
    return " ".join(text.casefold().strip(" .;,\n\t").split())


def _read_number(text: str) -> float | None:
    found = re.search(r"-?\d[\d,]*(?:\.\d+)?", text)
    return float(found[0].replace(",", "")) if found else None
