"""Importing tasks, examples, outputs and rubrics: one transaction a file, skipped records told apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.errors import InputError, KnownError, NotFoundError, UsageError
from core.examples.verbs import add_example
from core.exchange.aci_bench import is_aci_bench, read_aci_bench
from core.exchange.judgements import import_preference, import_rating
from core.exchange.published import (
    is_dolomites,
    is_expert_long_bench,
    read_dolomites,
    read_expert_long_bench,
)
from core.exchange.records import Record, Records, Skipped, apply_map, read_records
from core.ids import new_id, now
from core.rubrics.verbs import add_rubric, add_rubric_item
from core.runs.verbs import add_imported_output, add_system, task_and_field
from core.storage.transaction import Transaction
from core.tasks.sections import parse_sections
from core.tasks.verbs import add_task, delete_task, find_task
from core.types import Example, Output, Run, SectionSpec, SectionText, System, Task

#: What this module reads; documents, edits, graphs and checklists have readers of their own.
KINDS = ("tasks", "examples", "outputs", "rubrics", "ratings", "preferences")
_OTHER_KINDS = ("documents", "edits", "graphs", "checklists")
FORMATS = ("auto", "jsonl", "json", "csv", "aci-bench", "dolomites", "expertlongbench")
_PUBLISHED = ("aci-bench", "dolomites", "expertlongbench")


@dataclass(slots=True)
class ImportReport:
    """What an import did: how many of each kind, and which records it left out."""

    file: str
    added: dict[str, int] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)

    def count(self, kind: str) -> None:
        self.added[kind] = self.added.get(kind, 0) + 1


def read_import(
    path: Path, kind: str, *, format: str = "auto", mapping: Mapping[str, str] | None = None
) -> tuple[Records, str]:
    """Read a file for import: its records under our names, and the format found.

    Nothing is written; the import dialog previews with it.
    """
    if kind not in KINDS:
        raise UsageError(
            f"'{kind}' cannot be imported.", remedy=f"Use one of {', '.join(KINDS + _OTHER_KINDS)}."
        )
    if format not in FORMATS:
        raise UsageError(
            f"The format '{format}' is not known.", remedy=f"Use one of {', '.join(FORMATS)}."
        )
    plain = None if format == "auto" or format in _PUBLISHED else format
    found = read_records(path, plain)  # type: ignore[arg-type]
    mapped = Records(
        [Record(r.line, apply_map(r.values, mapping or {})) for r in found.records], found.skipped
    )
    if kind == "examples" and plain is None:
        columns = set().union(*(record.values for record in mapped.records[:20]))
        if format in ("auto", "aci-bench") and not mapping and is_aci_bench(columns):
            return read_aci_bench(found), "aci-bench"
        if format in ("auto", "expertlongbench") and is_expert_long_bench(columns):
            return read_expert_long_bench(mapped, path.stem), "expertlongbench"
        if format in ("auto", "dolomites") and is_dolomites(columns):
            return read_dolomites(mapped), "dolomites"
        if format in _PUBLISHED:
            raise InputError(
                f"has not the columns of {format}.",
                path=path,
                remedy="Import it as csv or jsonl with --map.",
            )
    if kind == "outputs":
        mapped = Records(
            [Record(r.line, _as_output(r.values)) for r in mapped.records], found.skipped
        )
    return mapped, plain or "records"


def _as_output(values: dict[str, Any]) -> dict[str, Any]:
    """Outputs as ExpertLongBench and EditEval publish them (``id, output``) under our names."""
    if "example" not in values and "output" in values and "id" in values:
        values = dict(values)
        values["example"] = values.pop("id")
    return values


def import_records(
    tx: Transaction,
    file: str,
    kind: str,
    found: Records,
    *,
    task: str = "",
) -> ImportReport:
    """Write records read by `read_import`. A record that cannot be used is skipped with its reason.

    Parameters
    ----------
    task
        Id or objective of the task of examples and rubrics that name none.
    """
    report = ImportReport(file, skipped=list(found.skipped))
    writers: dict[str, Callable[[Transaction, dict[str, Any], ImportReport, str], None]] = {
        "tasks": _import_task,
        "examples": _import_example,
        "rubrics": _import_rubric,
        "ratings": _import_rating,
        "preferences": _import_preference,
    }
    if kind == "outputs":
        _import_outputs(tx, found.records, report)
    else:
        for record in found.records:
            added = dict(report.added)
            try:
                with tx.savepoint():
                    writers[kind](tx, dict(record.values), report, task)
            except KnownError as error:
                report.added = added
                report.skipped.append(Skipped(record.line, str(error)))
            except (TypeError, ValueError, AttributeError, RecursionError) as error:
                # A value of a shape nobody thought of is the file's fault, and one record's only.
                report.added = added
                reason = f"a value has the wrong form ({error})"
                report.skipped.append(Skipped(record.line, reason))
    report.skipped.sort(key=lambda skipped: skipped.line)
    return report


def import_into_new_task(
    tx: Transaction, file: str, found: Records, objective: str
) -> ImportReport:
    """Make a task of this objective and import examples into it; its sections are those of the first one.

    A file of which nothing could be used leaves no task behind.
    """
    task = add_task(tx, field="General", objective=objective)
    report = import_records(tx, file, "examples", found, task=task.id)
    if not tx.count(Example, "task_id = ?", (task.id,)):
        delete_task(tx, task.id)
    else:
        report.count("task")
    return report


def _import_task(
    tx: Transaction, values: dict[str, Any], report: ImportReport, default_task: str
) -> None:
    add_task(
        tx,
        field=_text(values.pop("field", "")) or "General",
        objective=_text(values.pop("objective", "")),
        procedure=_text(values.pop("procedure", "")),
        input_sections=_specs(values.pop("input_sections", ())),
        output_sections=_specs(values.pop("output_sections", ())),
        notes=_text(values.pop("notes", "")),
        author=_text(values.pop("author", "")),
        task_id=_optional(values.pop("id", None)),
        extra=values,
    )
    report.count("task")


def _import_example(
    tx: Transaction, values: dict[str, Any], report: ImportReport, default_task: str
) -> None:
    task = _task_for_example(tx, values, report, default_task)
    inputs = _texts(values.pop("input", ()), "input")
    outputs = _texts(values.pop("output", ()), "output")
    for key in [key for key in values if key.startswith(("input.", "output."))]:
        side, _, title = key.partition(".")
        text = SectionText(title=title, text=_text(values.pop(key)))
        if side == "input":
            inputs += (text,)
        else:
            outputs += (text,)
    if not inputs and not outputs:
        raise InputError("it has neither input nor output.", remedy="Map its columns with --map.")
    if not task.input_sections and not task.output_sections:
        task = tx.update(
            Task,
            task.id,
            input_sections=tuple(SectionSpec(title=section.title) for section in inputs),
            output_sections=tuple(SectionSpec(title=section.title) for section in outputs),
        )
    meta = values.pop("meta", None)
    add_example(
        tx,
        task.id,
        input=inputs,
        output=outputs,
        title=_text(values.pop("title", "")),
        split=_text(values.pop("split", "")),
        meta=dict(meta) if isinstance(meta, Mapping) else {},
        example_id=_optional(values.pop("id", None)),
        extra=values,
    )
    report.count("example")


def _task_for_example(
    tx: Transaction, values: dict[str, Any], report: ImportReport, default_task: str
) -> Task:
    """The task an example names; a published format's own task is made where it is missing."""
    template = values.pop("task_template", None)
    named = _text(values.pop("task", "")) or default_task
    if not named:
        raise InputError("it names no task.", remedy="Add a task column, or give --task.")
    try:
        return find_task(tx, named)
    except NotFoundError:
        if not isinstance(template, Mapping):
            raise
    task = add_task(tx, **template)
    report.count("task")
    return task


def _import_rubric(
    tx: Transaction, values: dict[str, Any], report: ImportReport, default_task: str
) -> None:
    task = find_task(tx, _text(values.pop("task", "")) or default_task)
    items = values.pop("items", ())
    rubric = add_rubric(
        tx,
        task.id,
        _text(values.pop("title", "")) or "Rubric",
        notes=_text(values.pop("notes", "")),
        rubric_id=_optional(values.pop("id", None)),
        extra=values,
    )
    report.count("rubric")
    for item in items:
        fields = dict(item) if isinstance(item, Mapping) else {"title": _text(item)}
        fields.pop("id", None)
        known: dict[str, Any] = {
            name: fields.pop(name)
            for name in ("description", "example", "group", "condition", "kind", "weight")
            if name in fields
        }
        if "options" in fields:
            known["options"] = tuple(fields.pop("options"))
        title = _text(fields.pop("title", ""))
        fields.pop("position", None)
        add_rubric_item(tx, rubric.id, title, extra=fields, **known)
        report.count("rubric item")


def _import_rating(
    tx: Transaction, values: dict[str, Any], report: ImportReport, default_task: str
) -> None:
    import_rating(tx, values)
    report.count("rating")


def _import_preference(
    tx: Transaction, values: dict[str, Any], report: ImportReport, default_task: str
) -> None:
    import_preference(tx, values)
    report.count("preference")


def _import_outputs(tx: Transaction, records: Sequence[Record], report: ImportReport) -> None:
    """Outputs of other programs: a run for each system the file names."""
    runs: dict[str, Run] = {}
    positions: dict[str, int] = {}
    for record in records:
        added, known = dict(report.added), dict(runs)
        try:
            with tx.savepoint():
                _import_output(tx, dict(record.values), report, runs, positions)
        except KnownError as error:
            report.skipped.append(Skipped(record.line, str(error)))
        except (TypeError, ValueError, AttributeError, RecursionError) as error:
            report.skipped.append(Skipped(record.line, f"a value has the wrong form ({error})"))
        else:
            continue
        # A run that was made for a record goes with it.
        report.added, runs = added, known


def _import_output(
    tx: Transaction,
    values: dict[str, Any],
    report: ImportReport,
    runs: dict[str, Run],
    positions: dict[str, int],
) -> None:
    example = _find_example(tx, _text(values.pop("example", "")))
    name = _text(values.pop("system", "")) or report.file
    text = _text(values.pop("output", ""))
    if not text.strip():
        raise InputError("its output is empty.", remedy="Leave it out, or give the text.")
    if name not in runs:
        runs[name] = _imported_run(tx, name, report)
    run = runs[name]
    if tx.count(Output, "run_id = ? AND example_id = ?", (run.id, example.id)):
        raise InputError("the example has an output already.", remedy="Keep one of them.")
    task, _ = task_and_field(tx, example)
    parsed = parse_sections(text, task.output_sections)
    meta = values.pop("meta", None)
    add_imported_output(
        tx,
        run.id,
        example.id,
        text,
        sections=parsed.sections,
        missing=parsed.missing,
        position=positions.get(name, 0),
        meta={**(meta if isinstance(meta, Mapping) else {}), **values},
    )
    positions[name] = positions.get(name, 0) + 1
    report.count("output")


def _imported_run(tx: Transaction, name: str, report: ImportReport) -> Run:
    found = tx.find(System, "name = ? COLLATE NOCASE", (name,))
    if not found:
        report.count("system")
    system = found[0] if found else add_system(tx, name)
    return tx.insert(
        Run(
            id=new_id(),
            system_id=system.id,
            started=now(),
            signature={"system": system.name, "imported_from": report.file},
        )
    )


def _find_example(tx: Transaction, id_or_title: str) -> Example:
    found = tx.find(Example, "id = ?", (id_or_title,)) or tx.find(
        Example, "title = ?", (id_or_title,), limit=2
    )
    if len(found) != 1:
        raise NotFoundError(
            f"there is no single example '{id_or_title}'.", remedy="Give the example's id."
        )
    return found[0]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _optional(value: Any) -> str | None:
    return _text(value) or None


def _specs(value: Any) -> tuple[SectionSpec, ...]:
    """Section descriptions from a list of objects or titles, or from 'A; B' in a CSV cell."""
    if isinstance(value, str):
        value = [part.strip() for part in value.split(";") if part.strip()]
    specs = []
    for entry in value or ():
        if isinstance(entry, Mapping):
            title, description = _text(entry.get("title")), _text(entry.get("description"))
        else:
            title, _, description = _text(entry).partition(":")
        specs.append(SectionSpec(title=title.strip(), description=description.strip()))
    return tuple(specs)


def _texts(value: Any, side: str) -> tuple[SectionText, ...]:
    """Section texts from a list of objects, an object of title to text, or one plain text."""
    if isinstance(value, str):
        return (SectionText(title=side.capitalize(), text=value),) if value.strip() else ()
    if isinstance(value, Mapping):
        return tuple(SectionText(title=_text(k), text=_text(v)) for k, v in value.items())
    sections = []
    for entry in value or ():
        if not isinstance(entry, Mapping) or "title" not in entry:
            raise InputError(
                f"its {side} is not a list of sections.", remedy="Give title and text for each."
            )
        sections.append(SectionText(title=_text(entry["title"]), text=_text(entry.get("text"))))
    return tuple(sections)
