"""The verbs of judging: judge (language models), pairs (what people compare)."""

from __future__ import annotations

import argparse
from typing import Any, Literal

from app.cli.common import (
    ProgressLine,
    add_common,
    cancel_on_interrupt,
    open_workspace,
    print_result,
)
from core.errors import UsageError
from core.storage import Workspace
from core.types import Job, System


def add_parsers(verbs: Any) -> None:
    """judge, pairs."""
    judge = verbs.add_parser("judge", help="let language models judge pairs, or rate on five axes")
    add_common(judge, workspace=True)
    judge.add_argument("--runs", metavar="A,B", help="the runs whose outputs are judged")
    judge.add_argument(
        "--judge",
        action="append",
        default=[],
        metavar="SYSTEM",
        help="the judging system; again, or joined by commas, for several",
    )
    judge.add_argument("--axes", action="store_true", help="1 to 5 on the five axes, not pairs")
    judge.add_argument("--base", metavar="SYSTEM", help="the system that win rates are against")
    judge.add_argument("--resume", metavar="JOB", help="go on with a judging job; 'last'")
    judge.set_defaults(run=_judge)

    pairs = verbs.add_parser("pairs", help="put blind pairs into a person's queue")
    add_common(pairs, workspace=True)
    pairs.add_argument("--person", required=True, metavar="NAME")
    pairs.add_argument("--runs", default="", metavar="A,B", help="only these runs; else all")
    pairs.add_argument("-n", type=int, default=0, metavar="N", help="at most so many pairs in all")
    pairs.set_defaults(run=_pairs)


def _names(texts: list[str]) -> list[str]:
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def _judge(args: argparse.Namespace) -> int:
    from app import services
    from core.judges.engine import add_judging, execute_judging
    from core.runs.verbs import find_run, find_system

    judges = _names(args.judge)
    if not args.resume and not (args.runs and judges):
        raise UsageError(
            "Say which runs are judged and by which system.",
            remedy="--runs A,B --judge SYSTEM, or --resume last.",
        )
    with open_workspace(args) as workspace:
        if args.resume:
            job = _find_job(workspace, args.resume)
        else:
            run_ids = [find_run(workspace, name).id for name in _names([args.runs])]
            judge_ids = [find_system(workspace, name).id for name in judges]
            kind: Literal["pair", "axis"] = "axis" if args.axes else "pair"
            job = workspace.transact_job("Judge", "", add_judging, run_ids, judge_ids, kind).value
        with cancel_on_interrupt() as cancel:
            done = execute_judging(
                workspace,
                job.id,
                lambda system: services.generator(system.model_id),
                progress=ProgressLine("Judging", "answers"),
                cancel=cancel,
            )
        value = judging_summary(workspace, done, args.base or "")
    print_result(args, value, _text(value))
    return 0 if done.state == "done" else 1


def _find_job(workspace: Workspace, name: str) -> Job:
    found = workspace.find(
        Job,
        "kind = 'judge'" + ("" if name == "last" else " AND id = ?"),
        () if name == "last" else (name,),
        order_by="id DESC",
        limit=1,
    )
    if not found:
        raise UsageError(f"There is no judging job '{name}'.", remedy="Start one with --runs.")
    return found[0]


def judging_summary(workspace: Workspace, job: Job, base: str) -> dict[str, Any]:
    """What judges said: win rates against a base, biases, and means on the axes."""
    from core.judges.answers import axis_means, judge_warnings
    from core.judges.results import axis_values, bias_rows, output_facts, win_rates
    from core.metrics.bootstrap import bootstrap_interval
    from core.runs.verbs import find_system

    value: dict[str, Any] = {
        "job": job.id,
        "state": job.state,
        "asked": job.total,
        "done": job.done,
        "unscored": job.failed,
        "seconds": job.seconds,
        "warnings": judge_warnings(bias_rows(workspace), axis_means(workspace)),
    }
    if job.spec["kind"] == "pair":
        first = workspace.value("SELECT system_id FROM run WHERE id = ?", (job.spec["runs"][0],))
        base_id = find_system(workspace, base).id if base else str(first)
        value["win_rates"] = [
            {
                "judge": row.judge,
                "system": row.system,
                "base": row.base,
                **row.plain.as_line(),
                "length_penalised": row.penalised.value,
            }
            for row in win_rates(workspace, base_id)
        ]
        value["biases"] = [
            {
                "judge": bias.judge,
                "first_shown_wins": bias.first_shown.mean,
                "same_in_both_orders": bias.consistent.mean,
                "longer_wins": bias.longer.mean,
                "longer_wins_people": bias.people_longer.mean,
                "n": bias.first_shown.n,
                "unscored": bias.unanswered,
            }
            for bias in bias_rows(workspace)
        ]
        return value
    rows = []
    names = {system.id: system.name for system in workspace.find(System)}
    for judge, ratings in axis_values(workspace).items():
        facts = output_facts(workspace, (output for output, _axis in ratings))
        grouped: dict[tuple[str, str], list[float]] = {}
        for (output, axis), rating in ratings.items():
            grouped.setdefault((facts[output].system_id, axis), []).append(rating)
        for (system, axis), values in sorted(grouped.items()):
            interval = bootstrap_interval(values)
            rows.append(
                {
                    "judge": judge,
                    "system": names.get(system, ""),
                    "axis": axis,
                    "mean": interval.mean,
                    "low": interval.low,
                    "high": interval.high,
                    "n": interval.n,
                }
            )
    value["ratings"] = rows
    return value


def _text(value: dict[str, Any]) -> str:
    lines = [
        f"{value['state']}: {value['done']} of {value['asked']} answers, "
        f"{value['unscored']} without one."
    ]
    for row in value.get("win_rates", ()):
        rate = "unscored" if row["value"] is None else f"{row['value']:.3f}"
        lines.append(
            f"{row['system']} against {row['base']}, {row['judge']}: {rate} "
            f"({row.get('wins', 0)} wins, {row.get('ties', 0)} ties, {row.get('losses', 0)} losses)"
        )
    for row in value.get("biases", ()):
        first = row["first_shown_wins"]
        shown = "no decision" if first is None else f"first shown wins {first:.2f}"
        lines.append(f"{row['judge']}: {shown}, n={row['n']}")
    for row in value.get("ratings", ()):
        lines.append(
            f"{row['system']}  {row['axis']}  {row['mean']:.2f}  n={row['n']}  ({row['judge']})"
        )
    return "\n".join(lines + value["warnings"])


def _pairs(args: argparse.Namespace) -> int:
    from core.people import find_person
    from core.review.pairs import draw_pairs
    from core.runs.verbs import find_run

    with open_workspace(args) as workspace:
        person = find_person(workspace, args.person)
        runs = [find_run(workspace, name).id for name in _names([args.runs])]
        count = workspace.transact(
            "Make pairs", person.id, draw_pairs, person.id, run_ids=runs, count=args.n
        ).value
    print_result(args, {"person": person.name, "added": count}, f"Added {count} pairs.")
    return 0
