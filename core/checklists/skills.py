"""What items ask for: skills, knowledge and reasoning, as a person or a model tags them.

Sources: Ruan et al., 'ExpertLongBench' (2025), analyses; lists of skills and levels are put in our words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from core.errors import ModelError, UsageError
from core.ids import new_id
from core.ports import (
    Cancellation,
    GenerationRequest,
    Progress,
    ProgressCallback,
    TextGenerator,
    no_progress,
)
from core.rubrics.verbs import rubric_items
from core.runs.prompts import render_prompt
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.types.rubrics import ItemSkills

#: The eight skills an item may ask for, key and words.
SKILLS: Mapping[str, str] = {
    "finding": "Finding what is said",
    "selecting": "Telling what matters from what does not",
    "combining": "Putting together what stands apart",
    "ordering": "Putting events in order",
    "reckoning": "Reckoning with numbers and units",
    "inferring": "Concluding what is not said",
    "judging": "Judging by professional standards",
    "explaining": "Explaining to a reader",
}


#: How much of a skill, of knowledge and of reasoning an item asks for.
LEVELS = ("a little", "some", "much", "all of it")


def skills_of(reads: Reads, rubric_id: str) -> dict[str, ItemSkills]:
    """The latest tagging of each item, a person's before a model's."""
    rows = reads.find(
        ItemSkills,
        "item_id IN (SELECT id FROM rubric_item WHERE rubric_id = ? AND deleted = 0)",
        (rubric_id,),
    )
    people = {row["id"] for row in reads.query("SELECT id FROM person WHERE deleted = 0")}
    found: dict[str, ItemSkills] = {}
    for tagged in rows:
        known = found.get(tagged.item_id)
        if known is None or tagged.source in people or known.source not in people:
            found[tagged.item_id] = tagged
    return found


def set_skills(
    tx: Transaction,
    item_id: str,
    skills: Mapping[str, int],
    *,
    knowledge: int = 0,
    reasoning: int = 0,
    source: str | None = None,
) -> ItemSkills:
    """Say which skills an item asks for, each from 1 to 4; levels of 0 are left out.

    Raises
    ------
    UsageError
        For an unknown skill or a level out of range.
    """
    for key, level in {**skills, "knowledge": knowledge, "reasoning": reasoning}.items():
        if key not in SKILLS and key not in ("knowledge", "reasoning"):
            raise UsageError(f"'{key}' is no skill.", remedy=f"Use one of {', '.join(SKILLS)}.")
        if not 0 <= level <= len(LEVELS):
            raise UsageError(f"The level {level} is out of range.", remedy="Use 1 to 4.")
    name = tx.person if source is None else source
    fields: dict[str, Any] = {
        "skills": {key: level for key, level in skills.items() if level},
        "knowledge": knowledge,
        "reasoning": reasoning,
    }
    found = tx.find(ItemSkills, "item_id = ? AND source = ?", (item_id, name), limit=1)
    if found:
        return tx.update(ItemSkills, found[0].id, **fields)
    return tx.insert(ItemSkills(id=new_id(), item_id=item_id, source=name, **fields))


def tag_with_model(
    workspace: Workspace,
    rubric_id: str,
    generator: TextGenerator,
    *,
    person: str = "",
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> int:
    """Let a model tag every item nobody has tagged; returns how many it could not.

    An item whose answer has no level in it stays untagged.
    """
    known = skills_of(workspace, rubric_id)
    items = [item for item in rubric_items(workspace, rubric_id) if item.id not in known]
    failed = 0
    for done, item in enumerate(items):
        progress(Progress(done, len(items), failed))
        if cancel is not None:
            cancel.raise_if_cancelled()
        messages = render_prompt("rubric_skills", {"item": item, "skills": SKILLS})
        request = GenerationRequest(
            messages=messages, max_tokens=160, temperature=0.0, grammar=_skills_grammar()
        )
        try:
            answer = generator.generate(request, cancel=cancel)
        except ModelError:
            failed += 1
            continue
        skills, knowledge, reasoning = read_skills(answer.text)
        if not skills and not knowledge and not reasoning:
            failed += 1
            continue
        workspace.transact_job(
            "Tag skills",
            person,
            set_skills,
            item.id,
            skills,
            knowledge=knowledge,
            reasoning=reasoning,
            source=generator.info.id,
        )
    progress(Progress(len(items), len(items), failed))
    return failed


def _skills_grammar() -> str:
    keys = [*SKILLS, "knowledge", "reasoning"]
    members = ' "," ws '.join(f'"\\"{key}\\":" ws level' for key in keys)
    return f'root ::= "{{" {members} "}}"\nlevel ::= [0-4]\nws ::= [ ]?\n'


def read_skills(answer: str) -> tuple[dict[str, int], int, int]:
    """(skills, knowledge, reasoning) out of a model's JSON; what is no level is left out."""
    block = re.search(r"\{.*\}", answer, re.DOTALL)
    try:
        values = json.loads(block[0]) if block else {}
    except ValueError:
        values = {}
    levels: dict[str, int] = {}
    for key, value in values.items() if isinstance(values, Mapping) else ():
        if isinstance(value, int | float) and 1 <= int(value) <= len(LEVELS):
            levels[str(key).casefold()] = int(value)
    skills = {key: level for key, level in levels.items() if key in SKILLS}
    return skills, levels.get("knowledge", 0), levels.get("reasoning", 0)
