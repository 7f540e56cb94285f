"""Verbs of rubrics and checklists: rubrics, checklists, clear."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.cli.common import (
    ProgressLine,
    add_common,
    cancel_on_interrupt,
    open_workspace,
    print_result,
)
from core.errors import NotFoundError
from core.storage import Workspace
from core.types import Rubric, RubricItem


def add_parsers(verbs: Any) -> None:
    """rubrics, checklists, clear."""
    rubrics = verbs.add_parser("rubrics", help="lists of items to look for")
    actions = rubrics.add_subparsers(dest="action", required=True)
    templates = actions.add_parser("templates", help="the eleven templates")
    add_common(templates)
    templates.set_defaults(run=_templates)
    listing = actions.add_parser("list", help="rubrics of a workspace")
    add_common(listing, workspace=True)
    listing.set_defaults(run=_list)
    add = actions.add_parser("add", help="add a template's rubric with its task")
    add_common(add, workspace=True)
    add.add_argument("template", metavar="T1..T11")
    add.add_argument("--task", default="", help="objective or id of another task")
    add.set_defaults(run=_add)
    importing = actions.add_parser(
        "import", help="rubrics from JSONL, CSV or published checklists (JSON)"
    )
    add_common(importing, workspace=True)
    importing.add_argument("file", metavar="FILE", type=Path)
    importing.add_argument("--task", default="", help="the task of rubrics that name none")
    importing.set_defaults(run=_import)
    lint = actions.add_parser("lint", help="items that are subjective, compound, overlapping ...")
    add_common(lint, workspace=True)
    lint.add_argument("rubric", metavar="RUBRIC")
    lint.add_argument("--embed", action="store_true", help="find overlaps by meaning")
    lint.set_defaults(run=_lint)

    checklists = verbs.add_parser("checklists", help="texts mapped to a rubric")
    actions = checklists.add_subparsers(dest="action", required=True)
    for name, slot, words in (
        ("import", _import_checklists, "checklists in the published format"),
        ("export", _export_checklists, "write checklists in the published format"),
    ):
        parser = actions.add_parser(name, help=words)
        add_common(parser, workspace=True)
        parser.add_argument("--rubric", required=True, metavar="R")
        parser.add_argument("--run", dest="run_id", metavar="RUN", help="of this run's outputs")
        parser.add_argument("--mapper", default="", help="whose they are")
        if name == "import":
            parser.add_argument("file", metavar="FILE", type=Path)
        else:
            parser.add_argument("--out", required=True, type=Path, metavar="F.json")
        parser.set_defaults(run=slot)

    clear = verbs.add_parser("clear", help="map outputs to a rubric, judge them, score with CLEAR")
    add_common(clear, workspace=True)
    clear.add_argument("--rubric", required=True, metavar="R")
    clear.add_argument("--run", dest="run_id", metavar="RUN", help="only this run's outputs")
    clear.add_argument(
        "--model", metavar="ID", help="maps, and judges; the default one unless named"
    )
    clear.add_argument("--judge", default="model", choices=("model", "nli", "none"))
    clear.add_argument("--nli", metavar="ID", help="the entailment model that judges")
    clear.add_argument("--reasons", default="differences", choices=("differences", "all", "none"))
    clear.set_defaults(run=_clear)


def takes_rubrics(kind: str, paths: Sequence[Path]) -> bool:
    """Whether an import is ours: checklists in the published format, and rubrics that are tables."""
    tables = all(path.suffix.casefold() in (".csv", ".tsv") for path in paths)
    return kind == "checklists" or (kind == "rubrics" and tables)


def import_rubrics_command(args: argparse.Namespace) -> int:
    """``import WS FILE... --as checklists|rubrics``: each file's items as a rubric, texts as checklists."""
    return _import_files(args, args.files)


def export_checklists_command(args: argparse.Namespace) -> int:
    """``export WS --what checklists --out F.json``: the references', of the one rubric that has any."""
    from core.checklists.exchange import export_checklists
    from core.errors import UsageError

    with open_workspace(args, write=False) as workspace:
        rows = workspace.query("SELECT DISTINCT rubric_id FROM checklist WHERE deleted = 0")
        if len(rows) > 1:
            raise UsageError(
                "Checklists are of several rubrics.",
                remedy="Name one: rifugio checklists export WS --rubric R --out F.json.",
            )
        if not rows:
            raise NotFoundError("There is no checklist to export.", remedy="Map a text first.")
        count = export_checklists(workspace, rows[0]["rubric_id"], args.out)
    text = f"Wrote {count} checklists to {args.out}, not encrypted."
    print_result(args, {"file": str(args.out), "what": "checklists", "count": count}, text)
    return 0


def find_rubric(workspace: Workspace, name: str) -> Rubric:
    """A rubric by id, the beginning of its id, or its title.

    Raises
    ------
    NotFoundError
        When there is none, or several.
    """
    found = workspace.find(Rubric, "id = ? OR title = ? COLLATE NOCASE", (name, name), limit=2)
    if not found:
        found = workspace.find(Rubric, "substr(id, 1, ?) = ?", (len(name), name), limit=2)
    if len(found) != 1:
        problem = "There is no rubric" if not found else "Several rubrics are called"
        raise NotFoundError(f"{problem} '{name}'.", remedy="'rifugio rubrics list WS' shows them.")
    return found[0]


def _templates(args: argparse.Namespace) -> int:
    from core.rubrics.templates import rubric_templates

    values = [
        {
            "code": template.code,
            "title": template.title,
            "field": template.field,
            "items": len(template.items),
            "origin": template.origin,
            "label": template.label,
            "source": template.source,
        }
        for template in rubric_templates()
    ]
    text = "\n".join(
        f"{v['code']:4} {v['title']} ({v['field']}), {v['items']} items. {v['label']}."
        for v in values
    )
    print_result(args, {"templates": values}, text)
    return 0


def _rubric(workspace: Workspace, rubric: Rubric) -> dict[str, Any]:
    return {
        "id": rubric.id,
        "title": rubric.title,
        "task": rubric.task_id,
        "state": rubric.state,
        "items": workspace.count(RubricItem, "rubric_id = ?", (rubric.id,)),
    }


def _list(args: argparse.Namespace) -> int:
    with open_workspace(args, write=False) as workspace:
        values = [_rubric(workspace, r) for r in workspace.find(Rubric, order_by="title, id")]
    text = "\n".join(f"{v['title']}, {v['items']} items, {v['state']}  {v['id']}" for v in values)
    print_result(args, {"rubrics": values}, text or "No rubrics yet.")
    return 0


def _add(args: argparse.Namespace) -> int:
    from core.rubrics.templates import use_template
    from core.tasks.verbs import find_task

    with open_workspace(args) as workspace:
        task_id = find_task(workspace, args.task).id if args.task else ""
        rubric = workspace.transact(
            "Add rubric", "", use_template, args.template, task_id=task_id
        ).value
        value = _rubric(workspace, rubric)
    print_result(args, value, f"Added '{rubric.title}' with {value['items']} items. {rubric.notes}")
    return 0


def _import(args: argparse.Namespace) -> int:
    return _import_files(args, [args.file])


def _import_files(args: argparse.Namespace, paths: Sequence[Path]) -> int:
    from core.rubrics.imports import read_rubric_files

    # All files are read before anything is written, so that a bad one changes nothing.
    read = [(path, read_rubric_files(path)) for path in paths]
    made: list[dict[str, Any]] = []
    with open_workspace(args) as workspace:
        for path, found in read:
            made += workspace.transact(
                f"Import {path.name}", "", _write_rubrics, found, args.task
            ).value
    for one in made:
        for skipped in one["skipped"]:
            print(f"{skipped['sample']}: skipped, {skipped['reason']}", file=sys.stderr)
    lines = [
        f"{one['title']}: {one['items']} items, {one['checklists']} checklists" for one in made
    ]
    print_result(args, {"rubrics": made}, "\n".join(lines))
    return 0


def _write_rubrics(tx: Any, found: Sequence[Any], task: str) -> list[dict[str, Any]]:
    """Rubrics of a file with their checklists; what was made, as JSON."""
    from core.checklists.exchange import add_imported_checklists
    from core.rubrics.imports import add_rubric_file

    made = []
    for one in found:
        rubric = add_rubric_file(tx, one, task=task)
        checklists, skipped = add_imported_checklists(tx, rubric.id, one.samples, one.title)
        made.append(
            {
                "id": rubric.id,
                "title": rubric.title,
                "items": len(one.items) + sum(map(len, one.own_items.values())),
                "checklists": len(checklists),
                "skipped": [{"sample": s, "reason": reason} for s, reason in skipped],
            }
        )
    return made


def _lint(args: argparse.Namespace) -> int:
    from core.rubrics.linter import lint_items
    from core.rubrics.verbs import rubric_items

    embedder = None
    if args.embed:
        from app import services

        embedder = services.embedder()
    with open_workspace(args, write=False) as workspace:
        items = rubric_items(workspace, find_rubric(workspace, args.rubric).id)
    titles = {item.id: item.title for item in items}
    values = [
        {
            "item": titles[finding.item_id],
            "flaw": finding.flaw,
            "message": finding.message,
            "words": finding.words,
        }
        for finding in lint_items(items, embedder)
    ]
    text = "\n".join(f"{v['item']}: {v['flaw']}. {v['message']}" for v in values)
    print_result(args, {"findings": values}, text or "Nothing to remark.")
    return 0


def _import_checklists(args: argparse.Namespace) -> int:
    import json

    from core.checklists.exchange import add_imported_checklists
    from core.errors import InputError
    from core.exchange.records import read_text
    from core.rubrics.imports import read_published
    from core.runs.verbs import find_run

    text = read_text(args.file)
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InputError(
            f"is no JSON: {error}.", path=args.file, remedy="Give the published checklist format."
        ) from error
    found = read_published(args.file, value, args.file.stem)
    with open_workspace(args) as workspace:
        rubric = find_rubric(workspace, args.rubric)
        run_id = find_run(workspace, args.run_id).id if args.run_id else ""
        made, skipped = workspace.transact(
            f"Import {args.file.name}",
            "",
            add_imported_checklists,
            rubric.id,
            found.samples,
            args.mapper or args.file.stem,
            run_id=run_id,
        ).value
    for sample, reason in skipped:
        print(f"{sample}: skipped, {reason}", file=sys.stderr)
    result = {
        "checklists": len(made),
        "skipped": [{"sample": sample, "reason": reason} for sample, reason in skipped],
    }
    print_result(args, result, f"{len(made)} checklists, {len(skipped)} skipped.")
    return 0 if made else 1


def _export_checklists(args: argparse.Namespace) -> int:
    from core.checklists.exchange import export_checklists
    from core.runs.verbs import find_run

    with open_workspace(args, write=False) as workspace:
        rubric = find_rubric(workspace, args.rubric)
        run_id = find_run(workspace, args.run_id).id if args.run_id else ""
        count = export_checklists(workspace, rubric.id, args.out, run_id=run_id, mapper=args.mapper)
    text = f"Wrote {count} checklists to {args.out}, not encrypted."
    print_result(args, {"file": str(args.out), "count": count}, text)
    return 0


def _clear(args: argparse.Namespace) -> int:
    from app import services
    from core.checklists.runs import Plan, missing_outputs, plan_outputs, run_plan
    from core.checklists.scores import Judge, samples_of, task_score
    from core.runs.verbs import find_run

    with open_workspace(args) as workspace:
        rubric = find_rubric(workspace, args.rubric)
        run_id = find_run(workspace, args.run_id).id if args.run_id else ""
        plan = Plan(
            rubric_id=rubric.id,
            outputs=plan_outputs(workspace, rubric.id, run_id=run_id),
            judge=args.judge,
            reasons=args.reasons,
        )
        with cancel_on_interrupt() as cancel:
            job = run_plan(
                workspace,
                plan,
                generator=lambda: services.generator(args.model),
                entailment=lambda: services.entailment_model(args.nli),
                progress=ProgressLine(f"CLEAR {rubric.title}", "texts"),
                cancel=cancel,
            )
        value: dict[str, Any] = {
            "rubric": rubric.id,
            "state": job.state,
            "total": job.total,
            "done": job.done,
            "failed": job.failed,
            "message": job.message,
        }
        text = f"{job.state}, {job.done} of {job.total} texts. {job.message}".strip()
        if args.judge != "none" and job.state == "done":
            model = services.generator(args.model) if args.judge == "model" else None
            name = model.info.id if model else services.entailment_model(args.nli).info.id
            judge = Judge(args.judge, name)
            samples = samples_of(workspace, rubric.id, judge, run_id=run_id)
            missing = missing_outputs(workspace, rubric.id, run_id) if run_id else 0
            score = task_score(samples, judge, missing)
            void = sum(sample.is_void for sample in samples)
            value |= {"clear": score.as_line(), "nothing_found": void}
            text += "\n" + _score_words(score.value, score.components, score.unscored)
            if void:
                text += (
                    f"\nOn {void} of {len(samples)} texts neither side has anything on any item, which"
                    " CLEAR counts as all right: look whether the model is fit for mapping."
                )
    print_result(args, value, text)
    return 0 if job.state == "done" else 1


def _score_words(value: float | None, parts: Any, unscored: str | None) -> str:
    if value is None:
        return f"CLEAR is unscored: {unscored}"
    words = [f"F1 {value:.4f}"]
    words += [
        f"{name} {parts[name]:.4f}"
        for name in ("precision", "recall", "accuracy", "coverage")
        if parts.get(name) is not None
    ]
    return f"CLEAR {', '.join(words)}; {parts['unscored_items']} items unscored"
