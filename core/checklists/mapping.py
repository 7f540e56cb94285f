"""Mapping a text to a rubric with a language model: grouped items, validated answers, spans found.

As in the paper the model plays an expert, gets the items of a group together, and answers N/A where the
text says nothing. Items with fixed answers are chosen by probability, all at once from the text's one
evaluation. Whatever fails, an item at a time is unscored with its reason, the rest stands, and calling
again does only what is missing. The model is told to copy: what it gives back of the question, and what
stands nowhere in the text, is no answer. A person may still take it.

Source: Ruan et al., 'ExpertLongBench' (2025), checklist extraction.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.checklists.asking import choose_each, describe_error, is_close, is_refusal
from core.checklists.spans import best_sentence, find_spans, nearest_spans, place_answer
from core.checklists.verbs import (
    Target,
    checklist_items,
    entries_of,
    find_checklist,
    set_entry,
    start_checklist,
    text_of,
)
from core.errors import Cancelled, ModelError
from core.metrics.clear import is_na
from core.ports import (
    Cancellation,
    Choice,
    GenerationRequest,
    Message,
    Progress,
    ProgressCallback,
    TextGenerator,
    no_progress,
)
from core.runs.prompts import prompt_hash, render_prompt
from core.runs.verbs import task_and_field
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.types import Example, RubricItem
from core.types.rubrics import Checklist

GROUP_PROMPT, ITEM_PROMPT, PICK_PROMPT = "clear_map", "clear_map_one", "clear_pick"
#: The most items in one prompt; a longer group is divided.
LARGEST_GROUP = 8
_TOKENS_AN_ITEM, _TOKENS_ONE = 90, 220
_NA = "N/A"
#: Share of an answer's words that are not the question's, up to which it only repeats it.
_NEW_WORDS = 0.2
_LITTLE = frozenset(
    re.findall(r"\w+", "a an and as by how in is it of on or that the to was were what when where")
)
#: Characters of an answer that is none which its reason shows.
_SHOWN = 160
_YES_NO = ("Yes", "No")


@dataclass(frozen=True, slots=True)
class _Answer:
    """What came for one item: fields of its entry."""

    item_id: str
    fields: Mapping[str, Any]


def mapper_signature(generator: TextGenerator, *, grouped: bool) -> dict[str, Any]:
    """All that decides what a model's checklist says."""
    info = generator.info
    prompts = (GROUP_PROMPT, ITEM_PROMPT, PICK_PROMPT)
    return {
        "model": info.id,
        "sha256": info.sha256,
        "prompts": {name: prompt_hash(name)[:12] for name in prompts},
        "grouped": grouped,
        "temperature": 0,
        "version": 2,
    }


def map_with_model(
    workspace: Workspace,
    target: Target,
    generator: TextGenerator,
    *,
    person: str = "",
    grouped: bool = True,
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> Checklist:
    """Fill a model's checklist of a target, item for item as answers come.

    Items that have an answer keep it, also one a person edited; open and unscored ones are asked.

    Parameters
    ----------
    grouped
        False asks for each item by itself.

    Raises
    ------
    ConflictError
        When there is no text to map.
    """
    signature = mapper_signature(generator, grouped=grouped)
    checklist = workspace.transact_job(
        "Map text",
        person,
        start_checklist,
        target,
        mapper_kind="model",
        mapper=generator.info.id,
        signature=signature,
    ).value
    asker = _Asker(workspace, checklist, generator, person, progress, cancel)
    if grouped:
        asker.ask_groups()
    asker.ask_rest()
    left = [e for e in entries_of(workspace, checklist.id).values() if e.state == "unscored"]
    if not left:
        workspace.transact_job("Map text", person, _close, checklist.id)
    found = find_checklist(workspace, target, "model", generator.info.id)
    return found or checklist


def pending_items(workspace: Workspace, checklist: Checklist) -> list[RubricItem]:
    """Items of a checklist that have no answer yet."""
    entries = entries_of(workspace, checklist.id)
    return [
        item
        for item in checklist_items(workspace, checklist)
        if item.id not in entries or entries[item.id].state in ("open", "unscored")
    ]


def group_items(
    items: Sequence[RubricItem], largest: int = LARGEST_GROUP
) -> list[list[RubricItem]]:
    """Items as they are asked together: by group, in order, at most ``largest`` at a time."""
    groups: list[list[RubricItem]] = []
    for item in items:
        last = groups[-1] if groups else []
        if last and last[0].group == item.group and len(last) < largest:
            last.append(item)
        else:
            groups.append([item])
    return groups


def answer_grammar(titles: Sequence[str]) -> str:
    """A GBNF grammar of a JSON object with the keys '1. Title' and so on, in order, and texts as values.

    A key that says what is asked, right before its value, keeps a model at the item better than a number.
    """
    keys = [json.dumps(f"{n}. {_key(title)}") for n, title in enumerate(titles, 1)]
    members = ' "," ws '.join(f"{json.dumps(f'{key}:')} ws value" for key in keys)
    return (
        f'root ::= "{{" ws {members} ws "}}"\n'
        'value ::= "\\"" char* "\\""\n'
        'char ::= [^"\\\\\\x00-\\x1f] | "\\\\" ["\\\\/nt]\n'
        "ws ::= [ \\n]?\n"
    )


def read_group_answer(answer: str, count: int) -> dict[int, str]:
    """Texts by number out of a model's JSON; numbers without a usable text are left out.

    JSON cut off at its end is read as far as it goes; values that are lists become 'a; b'.
    """
    found: dict[int, str] = {}
    block = re.search(r"\{.*\}", answer, re.DOTALL)
    values: Any = None
    if block:
        try:
            values = json.loads(block[0], strict=False)
        except ValueError:
            values = None
    if isinstance(values, Mapping):
        for key, value in values.items():
            number = re.match(r"\s*(\d+)", str(key))
            text = _as_text(value)
            if number and text is not None and 1 <= int(number[1]) <= count:
                found[int(number[1])] = text
        return found
    for match in re.finditer(r'"(\d+)(?:\.[^"]*)?"\s*:\s*("(?:[^"\\]|\\.)*")', answer):
        if 1 <= int(match[1]) <= count:
            try:
                found[int(match[1])] = json.loads(match[2], strict=False)
            except ValueError:
                continue
    return found


def find_fault(items: Sequence[RubricItem], answer: str, text: str) -> str:
    """Why an answer to one of the items is none, in words; '' where it is one.

    What stands in the text word for word is never faulty, nor is N/A.
    """
    if not answer.strip():
        return "The model answered with nothing."
    if is_refusal(answer):
        return f"The model refused: '{' '.join(answer.split())[:80]}'."
    if _says_na(answer) or find_spans(text, answer):
        return ""
    if _repeats(items, answer):
        return "The model repeated the question."
    if not nearest_spans(text, answer):
        said = " ".join(answer.split())
        return f"What the model says stands nowhere in the text: '{said[:_SHOWN]}'."
    return ""


class _Asker:
    """One mapping under way."""

    def __init__(
        self,
        workspace: Workspace,
        checklist: Checklist,
        generator: TextGenerator,
        person: str,
        progress: ProgressCallback,
        cancel: Cancellation | None,
    ) -> None:
        self._workspace = workspace
        self._checklist = checklist
        self._generator = generator
        self._person = person
        self._progress = progress
        self._cancel = cancel
        example = workspace.get(Example, checklist.example_id)
        task, field = task_and_field(workspace, example)
        self._text = text_of(
            workspace, Target(checklist.rubric_id, checklist.example_id, checklist.output_id)
        )
        self._values = {"field": field, "objective": task.objective, "text": self._text}
        self._pending = pending_items(workspace, checklist)
        self._total = len(self._pending)
        self._failed = 0
        self._report()

    def ask_groups(self) -> None:
        """Ask for free texts group by group; what cannot be read stays pending."""
        wanted = [item for item in self._pending if not _is_choice(item)]
        for group in group_items(wanted):
            if len(group) > 1:
                self._keep(self._ask_group(group))

    def ask_rest(self) -> None:
        """Choose fixed answers all at once, then ask for what is left one by one."""
        self._pick([item for item in self._pending if _is_choice(item)])
        for item in list(self._pending):
            self._keep([self._ask_one(item)])

    def _ask_group(self, group: Sequence[RubricItem]) -> list[_Answer]:
        try:
            answer = self._generate(
                render_prompt(GROUP_PROMPT, {**self._values, "items": group}),
                len(group) * _TOKENS_AN_ITEM,
                answer_grammar([item.title for item in group]),
            )
        except ModelError:
            # One by one it will be seen which item is to blame.
            return []
        found = read_group_answer(answer[0], len(group))
        if all(map(_says_na, found.values())):
            # A model that has lost its way answers so, too: item by item it is seen which it was.
            return []
        # What is unusable, even in well-formed JSON, is asked again by itself.
        return [
            self._filled(item, found[number])
            for number, item in enumerate(group, 1)
            if number in found and not find_fault(group, found[number], self._text)
        ]

    def _ask_one(self, item: RubricItem) -> _Answer:
        try:
            text, finish = self._generate(
                render_prompt(ITEM_PROMPT, {**self._values, "item": item}), _TOKENS_ONE, None
            )
        except ModelError as error:
            return _unscored(item, describe_error(error))
        text = _without_preface(text, item)
        if finish == "length":
            return _unscored(item, f"The answer did not end within {_TOKENS_ONE} tokens.")
        fault = find_fault([item], text, self._text)
        if fault:
            return _unscored(item, fault)
        return self._filled(item, text)

    def _pick(self, items: Sequence[RubricItem]) -> None:
        options = [_options_of(item) for item in items]
        questions = [
            render_prompt(PICK_PROMPT, {**self._values, "item": item, "options": choices[:-1]})
            for item, choices in zip(items, options, strict=True)
        ]

        def take(start: int, answers: Sequence[Choice | ModelError]) -> None:
            pairs = zip(items[start:], options[start:], answers, strict=False)
            self._keep([self._picked(item, choices, found) for item, choices, found in pairs])

        choose_each(self._generator, questions, options, cancel=self._cancel, on_answers=take)

    def _picked(
        self, item: RubricItem, options: Sequence[str], found: Choice | ModelError
    ) -> _Answer:
        if isinstance(found, ModelError):
            return _unscored(item, describe_error(found))
        text = options[found.best]
        probability = round(found.probabilities[found.best], 6)
        check: dict[str, Any] = {"close": True} if is_close(found) else {}
        if text == _NA:
            return _Answer(item.id, _na(probability, check))
        span = best_sentence(self._text, f"{item.title} {item.description} {text}")
        if span is not None:
            check["spans"] = [[span.start, span.end]]
        return _Answer(
            item.id,
            {
                "state": "filled",
                "text": text,
                "start": span.start if span else -1,
                "end": span.end if span else -1,
                "probability": probability,
                "reason": "",
                "check": check,
            },
        )

    def _filled(self, item: RubricItem, text: str) -> _Answer:
        if _says_na(text):
            return _Answer(item.id, _na(None, {}))
        place = place_answer(self._text, text)
        return _Answer(
            item.id,
            {"state": "filled", "text": text.strip(), "probability": None, "reason": "", **place},
        )

    def _generate(
        self, messages: tuple[Message, ...], most_tokens: int, grammar: str | None
    ) -> tuple[str, str]:
        """The answer's text and how it ended.

        Raises
        ------
        Cancelled
            When the person stopped it meanwhile.
        """
        if self._cancel is not None:
            self._cancel.raise_if_cancelled()
        answer = self._generator.generate(
            GenerationRequest(
                messages=messages, max_tokens=most_tokens, temperature=0.0, grammar=grammar
            ),
            cancel=self._cancel,
        )
        if answer.finish == "cancelled":
            raise Cancelled
        return answer.text.strip(), answer.finish

    def _keep(self, answers: Sequence[_Answer]) -> None:
        if not answers:
            return
        self._workspace.transact_job(
            "Map text", self._person, _keep_answers, self._checklist.id, answers
        )
        done = {answer.item_id for answer in answers}
        self._failed += sum(answer.fields["state"] == "unscored" for answer in answers)
        self._pending = [item for item in self._pending if item.id not in done]
        self._report()

    def _report(self) -> None:
        self._progress(Progress(self._total - len(self._pending), self._total, self._failed))


def _keep_answers(tx: Transaction, checklist_id: str, answers: Sequence[_Answer]) -> None:
    for answer in answers:
        set_entry(tx, checklist_id, answer.item_id, **answer.fields)


def _close(tx: Transaction, checklist_id: str) -> None:
    tx.update(Checklist, checklist_id, state="done")


def _is_choice(item: RubricItem) -> bool:
    return item.kind == "yes_no" or (item.kind == "one_of" and len(item.options) > 1)


def _options_of(item: RubricItem) -> tuple[str, ...]:
    return (*(item.options if item.kind == "one_of" else _YES_NO), _NA)


def _na(probability: float | None, check: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "state": "na",
        "text": "",
        "start": -1,
        "end": -1,
        "probability": probability,
        "reason": "",
        "check": dict(check),
    }


def _unscored(item: RubricItem, reason: str) -> _Answer:
    fields = {**_na(None, {}), "state": "unscored", "reason": reason}
    return _Answer(item.id, fields)


def _says_na(answer: str) -> bool:
    return is_na(answer) or re.fullmatch(r"(?i)\W*N/A\W.*", answer.strip()) is not None


def _repeats(items: Sequence[RubricItem], answer: str) -> bool:
    """Whether an answer says hardly more than one of the items it was asked for."""
    said = set(re.findall(r"\w+", answer.casefold())) - _LITTLE
    if not said:
        return True
    for item in items:
        asked = set(re.findall(r"\w+", f"{item.title} {item.description}".casefold()))
        if len(said - asked) <= len(said) * _NEW_WORDS:
            return True
    return False


def _key(title: str) -> str:
    """A title as a JSON key: one line without quotation marks and backslashes."""
    return " ".join(title.replace('"', "'").replace("\\", "/").split())


def _without_preface(text: str, item: RubricItem) -> str:
    """An answer without 'Title:' before it and quotation marks around it."""
    text = re.sub(rf"^\W*{re.escape(item.title)}\s*:\s*", "", text.strip(), flags=re.IGNORECASE)
    text = re.sub(r"^(?:answer|item)\s*:\s*", "", text, flags=re.IGNORECASE)
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    return text.strip()


def _as_text(value: Any) -> str | None:
    if value is None:
        return _NA
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list):
        return "; ".join(filter(None, (_as_text(part) for part in value))) or _NA
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_as_text(part)}" for key, part in value.items()) or _NA
    return None
