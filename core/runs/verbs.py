"""Verbs on systems and runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import ConflictError, NotFoundError, UsageError
from core.ids import new_id, new_pseudonym, now
from core.jobs import add_job
from core.runs.prompts import SECTION_PROMPT, WHOLE_PROMPT, prompt_hash
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.types import Example, Field, Output, Run, SectionText, System, Task
from core.types.evaluation import CONTEXT_POLICIES, ContextPolicy

#: A system's parameters with their defaults (DOLOMITES: temperature 0.1, up to 4,096 new tokens).
#: ``mode`` is 'whole' for one answer, 'sections' for one answer a section. ``retrieve`` is how many
#: passages of the input the model is given, those nearest to the task; 0 for the full text.
DEFAULT_PARAMS: Mapping[str, Any] = {
    "mode": "whole",
    "max_tokens": 4096,
    "temperature": 0.1,
    "top_p": 0.95,
    "min_p": 0.0,
    "repeat_penalty": 1.0,
    "seed": 0,
    "retrieve": 0,
}


def check_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters with their right types, text such as '0.2' read as a number.

    Raises
    ------
    UsageError
        For an unknown name or a value out of range.
    """
    checked: dict[str, Any] = {}
    for name, value in params.items():
        if name not in DEFAULT_PARAMS:
            raise UsageError(
                f"'{name}' is no parameter of a system.",
                remedy=f"Use one of {', '.join(DEFAULT_PARAMS)}.",
            )
        kind = type(DEFAULT_PARAMS[name])
        try:
            checked[name] = kind(value)
        except (TypeError, ValueError):
            raise UsageError(f"{name}={value} is not a number.", remedy="Give a number.") from None
    _check_ranges(checked)
    return checked


def _check_ranges(params: Mapping[str, Any]) -> None:
    ranges = {
        "max_tokens": (1, 1_000_000),
        "temperature": (0.0, 2.0),
        "top_p": (0.0, 1.0),
        "min_p": (0.0, 1.0),
        "repeat_penalty": (0.5, 2.0),
        "retrieve": (0, 1_000),
    }
    for name, (low, high) in ranges.items():
        if name in params and not low <= params[name] <= high:
            raise UsageError(f"{name}={params[name]} is out of range.", remedy=f"{low} to {high}.")
    if params.get("mode", "whole") not in ("whole", "sections"):
        raise UsageError(f"mode={params['mode']} is unknown.", remedy="Use whole or sections.")


def add_system(
    tx: Transaction,
    name: str,
    *,
    model_id: str = "",
    model_sha256: str = "",
    params: Mapping[str, Any] | None = None,
    prompt: str | None = None,
) -> System:
    """Add a system: a local model with parameters and a prompt, or, without a model, imported outputs."""
    name = name.strip()
    if not name:
        raise UsageError("A system needs a name.", remedy="Name the model and what is special.")
    if tx.count(System, "name = ? COLLATE NOCASE", (name,)):
        raise ConflictError(f"There is a system '{name}' already.", remedy="Choose another name.")
    checked = check_params(params or {})
    if prompt is None:
        prompt = SECTION_PROMPT if checked.get("mode") == "sections" else WHOLE_PROMPT
    if model_id:
        prompt_hash(prompt)
    return tx.insert(
        System(
            id=new_id(),
            name=name,
            kind="model" if model_id else "imported",
            model_id=model_id,
            model_sha256=model_sha256,
            prompt=prompt if model_id else "",
            params=checked,
        )
    )


def find_system(reads: Reads, name_or_id: str) -> System:
    """A system by id or, whatever the case, by name."""
    found = reads.find(System, "id = ? OR name = ? COLLATE NOCASE", (name_or_id, name_or_id))
    if not found:
        raise NotFoundError(
            f"There is no system '{name_or_id}' in this workspace.",
            remedy="Add it first: rifugio systems add WORKSPACE NAME --model ID.",
        )
    return found[0]


def find_run(reads: Reads, run_id: str) -> Run:
    """A run by id, by the beginning of its id, or the latest one for 'last'."""
    if run_id == "last":
        found = reads.find(Run, order_by="id DESC", limit=1)
    else:
        found = reads.find(Run, "id LIKE ? ESCAPE '\\'", (_like(run_id) + "%",), limit=2)
    if len(found) != 1:
        problem = "There is no run" if not found else "Several runs begin with"
        raise NotFoundError(
            f"{problem} '{run_id}' in this workspace.", remedy="'rifugio info' lists runs."
        )
    return found[0]


def _like(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def select_examples(reads: Reads, query: str = "") -> list[str]:
    """Ids of examples for a run.

    Parameters
    ----------
    query
        '' for all, a number for the first that many, ``split=NAME``, ``task=OBJECTIVE``,
        ``field=NAME``, or else text sought in titles; several, joined by commas, narrow down.
    """
    where, parameters, limit = ["1"], [], -1
    for part in filter(None, (piece.strip() for piece in query.split(","))):
        key, equals, value = part.partition("=")
        if part.isdigit():
            limit = int(part)
        elif equals and key == "split":
            where.append("split = ?")
            parameters.append(value)
        elif equals and key == "id":
            where.append("id = ?")
            parameters.append(value)
        elif equals and key == "task":
            where.append("task_id IN (SELECT id FROM task WHERE id = ? OR objective = ?)")
            parameters += [value, value]
        elif equals and key == "field":
            where.append(
                "task_id IN (SELECT t.id FROM task t JOIN field f ON f.id = t.field_id"
                " WHERE f.name = ? COLLATE NOCASE)"
            )
            parameters.append(value)
        else:
            where.append("title LIKE ? ESCAPE '\\'")
            parameters.append(f"%{_like(part)}%")
    rows = reads.query(
        f"SELECT id FROM example WHERE deleted = 0 AND {' AND '.join(where)} ORDER BY id LIMIT ?",
        (*parameters, limit),
    )
    return [row["id"] for row in rows]


def add_run(
    tx: Transaction,
    system_id: str,
    example_ids: Sequence[str],
    *,
    prompt: str = "",
    policy: ContextPolicy = "refuse",
    signature: Mapping[str, Any] | None = None,
) -> Run:
    """Write down a run: its job and one pending output for each example, before any is written.

    Parameters
    ----------
    prompt
        Another prompt than the system's own.
    policy
        What happens to an input longer than the model's context; stands in the signature.
    """
    system = tx.get(System, system_id)
    if policy not in CONTEXT_POLICIES:
        raise UsageError(
            f"'{policy}' says not what to do with long inputs.",
            remedy=f"Use {', '.join(CONTEXT_POLICIES)}.",
        )
    if system.kind != "model":
        raise UsageError(
            f"The system '{system.name}' holds imported outputs and cannot write.",
            remedy="Choose a system with a local model.",
        )
    if not example_ids:
        raise UsageError("The run has no examples.", remedy="Import or add examples first.")
    run_id = new_id()
    job = add_job(
        tx,
        "run",
        f"Run {system.name}",
        total=len(example_ids),
        spec={"run": run_id, "system": system_id},
    )
    run = tx.insert(
        Run(
            id=run_id,
            system_id=system_id,
            job_id=job.id,
            started=now(),
            prompt_hash=prompt_hash(prompt or system.prompt),
            signature={
                "system": system.name,
                "model": system.model_id,
                "sha256": system.model_sha256,
                "prompt": prompt or system.prompt,
                "context_policy": policy,
                "params": {**DEFAULT_PARAMS, **system.params},
                **(signature or {}),
            },
        )
    )
    for position, example_id in enumerate(example_ids):
        tx.insert(
            Output(
                id=new_id(),
                run_id=run_id,
                example_id=tx.get(Example, example_id).id,
                pseudonym=new_pseudonym(),
                position=position,
            )
        )
    return run


def retry_failed(tx: Transaction, run_id: str) -> int:
    """Put a run's failed outputs back to pending; returns how many."""
    failed = tx.find(Output, "run_id = ? AND state = 'failed'", (run_id,))
    for output in failed:
        tx.update(Output, output.id, state="pending", error="")
    return len(failed)


def add_imported_output(
    tx: Transaction,
    run_id: str,
    example_id: str,
    text: str,
    *,
    sections: tuple[SectionText, ...],
    missing: tuple[str, ...],
    position: int,
    meta: Mapping[str, Any] | None = None,
) -> Output:
    """Add an output that another program wrote."""
    return tx.insert(
        Output(
            id=new_id(),
            run_id=run_id,
            example_id=example_id,
            pseudonym=new_pseudonym(),
            position=position,
            state="done",
            text=text,
            sections=sections,
            missing=missing,
            finish="imported",
            finished=now(),
            meta=dict(meta or {}),
        )
    )


def task_and_field(reads: Reads, example: Example) -> tuple[Task, str]:
    """An example's task and the name of its field."""
    task = reads.get(Task, example.task_id)
    return task, reads.get(Field, task.field_id).name
