"""Verbs on local models: list, import, check."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from app.cli.common import ProgressLine, add_common, cancel_on_interrupt, print_result


def add_parsers(verbs: Any) -> None:
    """models list, models import, models check."""
    models = verbs.add_parser("models", help="the models on this machine")
    actions = models.add_subparsers(dest="action", required=True)
    listing = actions.add_parser("list", help="catalogue with sha256, licence, fit roles")
    add_common(listing)
    listing.set_defaults(run=_list)
    importing = actions.add_parser(
        "import", help="import a GGUF file, an ONNX or a sentence-transformers folder"
    )
    importing.add_argument("path", type=Path)
    importing.add_argument("--role", help="generator, embedder, nli, reranker or metric")
    importing.add_argument("--chat-template", help="for a GGUF file that brings none")
    add_common(importing)
    importing.set_defaults(run=_import)
    check = actions.add_parser("check", help="compare the hash, load the model and try it")
    check.add_argument("id")
    add_common(check)
    check.set_defaults(run=_check)


def _describe(entry: Any) -> dict[str, Any]:
    return {
        "id": entry.id,
        "name": entry.name,
        "role": entry.role,
        "format": entry.format,
        "path": str(entry.path),
        "sha256": entry.sha256,
        "bytes": entry.bytes,
        "licence": entry.licence,
        "context_tokens": entry.context_tokens,
        "chat_template": entry.chat_template,
        "architecture": entry.architecture,
        "quantisation": entry.quantisation,
        "fit_for": list(entry.fit_for),
        "not_fit_for": list(entry.not_fit_for),
        "notes": entry.notes,
        "problem": entry.problem,
    }


def _list(args: argparse.Namespace) -> int:
    from models.catalog import list_models, recommend
    from models.memory import total_memory

    entries = list_models()
    memory = total_memory()
    advice = recommend(memory / 1e9) if memory else ""
    lines = []
    for entry in entries:
        lines.append(f"{entry.id}  ({entry.role})  {entry.bytes / 1e6:,.0f} MB  {entry.licence}")
        lines.append(f"    sha256 {entry.sha256 or 'not known'}")
        if entry.problem:
            lines.append(f"    cannot be used: {entry.problem}")
        if entry.fit_for:
            lines.append(f"    fit for: {', '.join(entry.fit_for)}")
        if entry.not_fit_for:
            lines.append(f"    not fit for: {', '.join(entry.not_fit_for)}")
        if entry.notes:
            lines.append(f"    {entry.notes}")
    if not entries:
        lines.append("No models yet. Run the set-up again, or import one.")
    if memory:
        lines.append(f"With {memory / 1e9:.0f} GB of memory here, import: {advice}")
    value = {"models": [_describe(entry) for entry in entries], "recommended": advice}
    print_result(args, value, "\n".join(lines))
    return 0


def _import(args: argparse.Namespace) -> int:
    from models.convert import import_model

    with cancel_on_interrupt() as cancel:
        entry = import_model(
            args.path,
            role=args.role,
            chat_template=args.chat_template,
            progress=ProgressLine("Importing"),
            cancel=cancel,
        )
    text = f"Imported {entry.id} as {entry.role}. {entry.notes}".strip()
    print_result(args, _describe(entry), text)
    return 0


def _check(args: argparse.Namespace) -> int:
    from models.catalog import find_model, verify_model
    from models.convert import try_model
    from models.evaluation import format_evaluation, read_evaluation

    entry = find_model(args.id)
    with cancel_on_interrupt() as cancel:
        sha256 = verify_model(entry, progress=ProgressLine("Hashing", "bytes"), cancel=cancel)
    if entry.format == "sentence-transformers":
        remark = "Not run: it is the source for conversion; the ONNX twin is used."
    else:
        remark = try_model(entry)
    evaluation = read_evaluation(entry)
    value = {
        **_describe(entry),
        "sha256": sha256,
        "ok": True,
        "remark": remark,
        "evaluation": None if evaluation is None else dict(evaluation.raw),
    }
    text = f"{entry.id} is sound and answers. sha256 {sha256} {remark}".strip()
    if evaluation is not None:
        text += "\n\n" + format_evaluation(evaluation)
    elif entry.role == "nli":
        text += "\nIt brings no evaluation: how good it is on which kind of text is not known here."
    print_result(args, value, text)
    return 0
