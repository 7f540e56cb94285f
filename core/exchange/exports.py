"""Writing what is in a workspace: our own JSONL, from which import makes the same again, and others' forms.

A private example leaves with its input alone and a note that its reference stayed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.editing_bench.bench import is_bench
from core.errors import UsageError
from core.exchange.privacy import NOT_SHOWN, is_private, public_output
from core.rubrics.verbs import rubric_items
from core.settings import write_atomically
from core.storage.reads import Reads
from core.types import Example, Field, Output, Rubric, RubricItem, Run, System, Task

#: What can be written in which formats, our own first.
EXPORTS: dict[str, tuple[str, ...]] = {
    "tasks": ("jsonl",),
    "examples": ("jsonl", "inspect", "lm-eval"),
    "outputs": ("jsonl", "predictions"),
    "rubrics": ("jsonl",),
    "edits": ("jsonl",),
    "ratings": ("csv",),
    "preferences": ("csv",),
    "graphs": ("jsonl",),
}


def export_data(reads: Reads, what: str, path: Path, format: str = "") -> int:
    """Write every live row of a kind in a format; returns how many.

    Parameters
    ----------
    format
        One of `EXPORTS`; '' for our own.

    Raises
    ------
    UsageError
        For a kind or format that is not known.
    """
    if what not in EXPORTS:
        raise UsageError(f"'{what}' cannot be exported.", remedy=f"Use {', '.join(EXPORTS)}.")
    chosen = format or EXPORTS[what][0]
    if chosen not in EXPORTS[what]:
        raise UsageError(
            f"The format '{chosen}' is not known for {what}.",
            remedy=f"Use {', '.join(EXPORTS[what])}.",
        )
    if chosen == "csv":
        from core.exchange.judgements import export_judgements

        return export_judgements(reads, what, path)
    if chosen in ("inspect", "lm-eval"):
        from core.exchange.harness import export_harness, export_inspect

        return (export_inspect if chosen == "inspect" else export_harness)(reads, path)
    if what == "graphs":
        from core.graphs.imports import export_graphs

        return export_graphs(reads, path)
    return export_jsonl(reads, "predictions" if chosen == "predictions" else what, path)


def export_jsonl(reads: Reads, what: str, path: Path) -> int:
    """Write every live row of a kind, one object a line; returns how many."""
    writers = {
        "tasks": _tasks,
        "examples": _examples,
        "outputs": _outputs,
        "predictions": _predictions,
        "rubrics": _rubrics,
        "edits": _edits,
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
        if is_bench(example):
            continue
        private = is_private(example)
        yield {
            "id": example.id,
            "task": example.task_id,
            "title": example.title,
            "input": _texts(example.input),
            "output": _texts(public_output(example)),
            "split": example.split,
            "meta": {**example.meta, **({"reference": NOT_SHOWN} if private else {})},
            **({} if private else example.extra),
        }


def _edits(reads: Reads) -> Iterator[dict[str, Any]]:
    """EditEval's processed records."""
    for example in reads.find(Example, "json_extract(meta, '$.bench') = 'editeval'"):
        meta = dict(example.meta)
        task = reads.get(Task, example.task_id).objective.removeprefix("EditEval: ")
        yield {
            "id": example.title,
            "title": meta.get("title", ""),
            "input": example.input[0].text,
            "edits": [] if is_private(example) else meta.get("edits", []),
            "retrieved_documents": meta.get("retrieved_documents", []),
            "tasks": task,
            "meta": meta.get("meta") or {},
        }


def _predictions(reads: Reads) -> Iterator[dict[str, Any]]:
    """``id, output`` of the latest run, as EditEval and ExpertLongBench read predictions."""
    runs = reads.find(Run, order_by="id DESC", limit=1)
    titles = {example.id: example for example in reads.find(Example)}
    for run in runs:
        for output in reads.find(
            Output, "run_id = ? AND state = 'done'", (run.id,), order_by="position"
        ):
            example = titles[output.example_id]
            name = example.title if is_bench(example) else example.id
            yield {"id": name, "output": output.text}


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
