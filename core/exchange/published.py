"""Published formats besides ACI-Bench: DOLOMITES, ExpertLongBench and TaskLAMA as examples, by their names.

DOLOMITES' field names could not be read from a published file; those here are what its paper calls the
parts, and a mapping takes any others. ExpertLongBench's request and output files are as its repository
reads them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from core.exchange.records import Record, Records, Skipped
from core.types import SectionSpec

#: Names of DOLOMITES' parts, ours first.
_DOLOMITES = {
    "objective": ("objective", "task_objective"),
    "procedure": ("procedure", "task_procedure"),
    "field": ("field", "domain"),
    "input": ("input", "example_input", "inputs"),
    "output": ("output", "example_output", "outputs"),
    "input_sections": ("input_sections", "task_input"),
    "output_sections": ("output_sections", "task_output"),
    "notes": ("notes", "additional_notes", "task_notes"),
}


def is_dolomites(columns: Collection[str]) -> bool:
    """Whether records are examples that carry their task with them."""
    names = set(columns)
    return (
        bool(names & set(_DOLOMITES["objective"]))
        and bool(names & set(_DOLOMITES["input"]))
        and bool(names & set(_DOLOMITES["output"]))
    )


def read_dolomites(found: Records) -> Records:
    """Examples with the task each carries; the task is made where it is missing."""
    result = Records(skipped=list(found.skipped))
    for record in found.records:
        values = dict(record.values)
        taken = {
            ours: next((values.pop(name) for name in names if name in values), "")
            for ours, names in _DOLOMITES.items()
        }
        if not taken["objective"]:
            result.skipped.append(Skipped(record.line, "it has no task objective"))
            continue
        inputs, outputs = _sections(taken["input"]), _sections(taken["output"])
        template = {
            "field": str(taken["field"] or "General"),
            "objective": str(taken["objective"]),
            "procedure": str(taken["procedure"] or ""),
            "input_sections": _specs(taken["input_sections"], inputs),
            "output_sections": _specs(taken["output_sections"], outputs),
            "notes": str(taken["notes"] or ""),
        }
        example = {
            "task": template["objective"],
            "task_template": template,
            "input": inputs,
            "output": outputs,
        }
        for key in ("id", "title", "split", "meta"):
            if key in values:
                example[key] = values.pop(key)
        result.records.append(Record(record.line, {**example, **values}))
    return result


_HEADING = re.compile(r"^(?:#{1,6}\s*|\*\*)?([^\n:*#]{2,80}?)(?:\*\*)?\s*:?\s*(?:\*\*)?\s*$")


def _sections(value: Any) -> list[dict[str, str]]:
    """Sections from a list, an object of title to text, or a text whose headings are marked."""
    if isinstance(value, Mapping):
        return [{"title": str(k), "text": str(v)} for k, v in value.items()]
    if isinstance(value, list):
        return [
            {"title": str(e.get("title", "")), "text": str(e.get("text", e.get("content", "")))}
            if isinstance(e, Mapping)
            else {"title": "", "text": str(e)}
            for e in value
        ]
    sections: list[dict[str, str]] = []
    for line in str(value or "").splitlines():
        marked = line.lstrip().startswith(("#", "**"))
        match = _HEADING.match(line.strip()) if marked else None
        if match:
            sections.append({"title": match.group(1).strip(), "text": ""})
        elif sections:
            sections[-1]["text"] += f"{line}\n"
        elif line.strip():
            sections.append({"title": "", "text": f"{line}\n"})
    return [{"title": s["title"], "text": s["text"].strip()} for s in sections]


def _specs(value: Any, texts: list[dict[str, str]]) -> tuple[SectionSpec, ...]:
    """The task's sections: as given, else the titles of the example's own."""
    specs = []
    for entry in _sections(value) if value else []:
        specs.append(SectionSpec(title=entry["title"], description=entry["text"]))
    titled = [spec for spec in specs if spec.title]
    return tuple(titled) or tuple(
        SectionSpec(title=text["title"]) for text in texts if text["title"]
    )


def is_expert_long_bench(columns: Collection[str]) -> bool:
    """Whether records are ExpertLongBench's requests."""
    return {"system_prompt", "sample"} <= set(columns)


def read_expert_long_bench(found: Records, name: str) -> Records:
    """Requests (``id, system_prompt, sample, max_output_tokens``) as examples without a reference.

    The system prompt stands for the task: records that share it are of one task. References come from
    their own files as checklists.
    """
    result = Records(skipped=list(found.skipped))
    for record in found.records:
        values = dict(record.values)
        sample, prompt = str(values.pop("sample", "")), str(values.pop("system_prompt", ""))
        identity = str(values.pop("id", ""))
        if not sample.strip():
            result.skipped.append(Skipped(record.line, "its sample is empty"))
            continue
        objective = f"ExpertLongBench {identity.partition('-')[0] or name}"
        result.records.append(
            Record(
                record.line,
                {
                    "id": identity or None,
                    "title": identity,
                    "task": objective,
                    "task_template": {
                        "field": "General",
                        "objective": objective,
                        "procedure": prompt,
                        "input_sections": (SectionSpec(title="Sample"),),
                        "output_sections": (),
                    },
                    "input": [{"title": "Sample", "text": sample}],
                    "output": [],
                    "meta": {**values, "source": "ExpertLongBench"},
                },
            )
        )
    return result
