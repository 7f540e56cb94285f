"""ACI-Bench as published: doctor-patient conversations with the clinical note written from each.

Source: Yim et al., 'ACI-BENCH: a novel ambient clinical intelligence dataset' (2023); columns
``dataset, encounter_id, dialogue, note``. Notes stand under headings that differ from note to note;
they are put together under the four divisions by which the paper scores, headings kept in the text.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from core.exchange.records import Record, Records, Skipped
from core.tasks.sections import normalise_title
from core.types import SectionSpec

DIVISIONS: dict[str, tuple[str, ...]] = {
    "Subjective": (
        "chief complaint", "cc", "history of present illness", "hpi", "review of systems",
        "social history", "family history", "medical history", "past history",
        "past medical history", "past surgical history", "surgical history", "birth history",
        "medications", "current medications", "allergies", "subjective",
    ),
    "Objective: examination": (
        "vitals", "vitals reviewed", "vital signs", "physical exam", "physical examination",
        "exam", "examination", "objective",
    ),
    "Objective: results": ("results", "labs", "imaging", "procedures"),
    "Assessment and plan": (
        "assessment", "plan", "assessment and plan", "impression", "instructions", "orders",
    ),
}  # fmt: skip

TASK_TEMPLATE: dict[str, Any] = {
    "field": "Medicine",
    "objective": "Write a clinical note from a doctor-patient conversation",
    "procedure": (
        "Read the whole conversation. Note what the patient reports, what was examined and "
        "measured, which results were discussed, and what the doctor concluded and ordered. Write "
        "each under its section, in the third person, without what was not said."
    ),
    "input_sections": (
        SectionSpec(
            title="Conversation",
            description="Transcript of the visit, speakers marked in brackets.",
        ),
    ),
    "output_sections": (
        SectionSpec(
            title="Subjective",
            description="Chief complaint, history of present illness, review of systems, histories.",
        ),
        SectionSpec(
            title="Objective: examination", description="Vital signs and findings on examination."
        ),
        SectionSpec(title="Objective: results", description="Results of tests and imaging."),
        SectionSpec(
            title="Assessment and plan",
            description="Diagnoses with their reasons, treatment, follow-up, instructions.",
        ),
    ),
    "notes": "Sections follow the divisions by which ACI-Bench is scored.",
}

_DIVISION_OF = {title: division for division, titles in DIVISIONS.items() for title in titles}


def is_aci_bench(columns: Collection[str]) -> bool:
    """Whether a file has the published columns, of the CSV or of its JSON twin."""
    return {"dialogue", "note"} <= set(columns) or {"src", "tgt", "file"} <= set(columns)


def read_aci_bench(found: Records) -> Records:
    """Published rows as example records of our own shape, unknown columns kept."""
    result = Records(skipped=list(found.skipped))
    for record in found.records:
        values = dict(record.values)
        dialogue = str(values.pop("dialogue", values.pop("src", "")) or "")
        note = str(values.pop("note", values.pop("tgt", "")) or "")
        name = str(values.pop("encounter_id", values.pop("file", "")) or "")
        if not dialogue.strip() or not note.strip():
            missing = "dialogue" if not dialogue.strip() else "note"
            result.skipped.append(Skipped(record.line, f"the {missing} is empty"))
            continue
        result.records.append(
            Record(
                record.line,
                {
                    "task": TASK_TEMPLATE["objective"],
                    "task_template": TASK_TEMPLATE,
                    "title": name,
                    "input": [{"title": "Conversation", "text": dialogue.strip()}],
                    "output": divide_note(note),
                    "meta": {**values, "source": "ACI-Bench", "encounter_id": name, "note": note},
                },
            )
        )
    return result


def divide_note(note: str) -> list[dict[str, str]]:
    """A note's lines, unchanged, under the division its last heading in capitals belongs to."""
    bodies: dict[str, list[str]] = {division: [] for division in DIVISIONS}
    current = "Subjective"
    for line in note.splitlines():
        heading = line.strip().rstrip(":")
        if heading == heading.upper():
            current = _DIVISION_OF.get(normalise_title(heading), current)
        bodies[current].append(line.rstrip())
    texts = {title: "\n".join(lines).strip() for title, lines in bodies.items()}
    return [{"title": title, "text": text} for title, text in texts.items() if text]
