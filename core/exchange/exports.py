"""Writing tasks, examples, outputs and rubrics as our own JSONL, from which import makes the same again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.errors import UsageError
from core.rubrics.verbs import rubric_items
from core.settings import write_atomically
from core.storage.reads import Reads
from core.types import Example, Field, Output, Rubric, RubricItem, Run, System, Task


def export_jsonl(reads: Reads, what: str, path: Path) -> int:
    """Write every live row of a kind, one object a line; returns how many."""
    writers = {
        "tasks": _tasks,
        "examples": _examples,
        "outputs": _outputs,
        "rubrics": _rubrics,
    }
    if what not in writers:
        raise UsageError(f"'{what}' cannot be exported.", remedy=f"Use {', '.join(writers)}.")
    lines = [json.dumps(value, ensure_ascii=False) for value in writers[what](reads)]
    write_atomically(path, "".join(f"{line}\n" for line in lines).encode())
    return len(lines)


def _specs(sections: Any) -> list[dict[str, str]]:
    return [{"title": section.title, "description": section.description} for section in sections]


def _texts(sections: Any) -> list[dict[str, str]]:
    return [{"title": section.title, "text": section.text} for section in sections]


def _tasks(reads: Reads) -> Iterator[dict[str, Any]]:
    fields = {field.id: field.name for field in reads.find(Field)}
    for task in reads.find(Task):
        yield {
            "id": task.id,
            "field": fields[task.field_id],
            "objective": task.objective,
            "procedure": task.procedure,
            "input_sections": _specs(task.input_sections),
            "output_sections": _specs(task.output_sections),
            "notes": task.notes,
            "author": task.author,
            **task.extra,
        }


def _examples(reads: Reads) -> Iterator[dict[str, Any]]:
    for example in reads.find(Example):
        yield {
            "id": example.id,
            "task": example.task_id,
            "title": example.title,
            "input": _texts(example.input),
            "output": _texts(example.output),
            "split": example.split,
            "meta": dict(example.meta),
            **example.extra,
        }


def _outputs(reads: Reads) -> Iterator[dict[str, Any]]:
    names = {system.id: system.name for system in reads.find(System)}
    systems = {run.id: names[run.system_id] for run in reads.find(Run)}
    for output in reads.find(Output, "state = 'done'"):
        yield {
            "example": output.example_id,
            "system": systems[output.run_id],
            "output": output.text,
            "meta": dict(output.meta),
        }


def _rubrics(reads: Reads) -> Iterator[dict[str, Any]]:
    for rubric in reads.find(Rubric):
        yield {
            "id": rubric.id,
            "task": rubric.task_id,
            "title": rubric.title,
            "notes": rubric.notes,
            "items": [_item(item) for item in rubric_items(reads, rubric.id)],
            **rubric.extra,
        }


def _item(item: RubricItem) -> dict[str, Any]:
    return {
        "title": item.title,
        "description": item.description,
        "example": item.example,
        "group": item.group,
        "kind": item.kind,
        "options": list(item.options),
        "condition": item.condition,
        "weight": item.weight,
        **item.extra,
    }
