"""Verbs on task graphs: steps, edges, and 'graphs' with its actions."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli.common import (
    ProgressLine,
    add_common,
    cancel_on_interrupt,
    open_workspace,
    print_result,
)
from core.errors import UsageError

if TYPE_CHECKING:
    from core.storage.transaction import Transaction

_STEP_METHODS = ("icl", "multseq", "sf", "multseq+sf")
_EDGE_METHODS = ("linear", "icl", "cot", "scoring")


def add_parsers(verbs: Any) -> None:
    """steps, edges, graphs."""
    steps = verbs.add_parser("steps", help="let a model write the steps of a task")
    add_common(steps, workspace=True)
    steps.add_argument(
        "--task", required=True, metavar="T", help="a task in words, or a graph's id"
    )
    steps.add_argument("--method", default="icl", choices=_STEP_METHODS)
    steps.add_argument("--assumption", default="", help="under which the task is done")
    steps.add_argument("--suggest", action="store_true", help="leave them as suggestions")
    _add_model(steps)
    steps.add_argument("-k", type=int, default=5, metavar="N", help="sequences of multseq and sf")
    steps.set_defaults(run=_steps)

    edges = verbs.add_parser("edges", help="let a model find what must be done before what")
    add_common(edges, workspace=True)
    edges.add_argument("--graph", required=True, metavar="G")
    edges.add_argument("--method", default="icl", choices=_EDGE_METHODS)
    edges.add_argument("--suggest", action="store_true", help="leave them as suggestions")
    _add_model(edges)
    edges.set_defaults(run=_edges)

    graphs = verbs.add_parser("graphs", help="list, check, compare, split and measure graphs")
    actions = graphs.add_subparsers(dest="action", required=True)
    listing = actions.add_parser("list", help="the graphs with their ids")
    add_common(listing, workspace=True)
    listing.set_defaults(run=_list)
    samples = actions.add_parser("samples", help="add ten tasks with gold graphs")
    add_common(samples, workspace=True)
    samples.set_defaults(run=_samples)
    write = actions.add_parser("write", help="one graph as tasklama, jsonl, json, graphml or dot")
    add_common(write, workspace=True)
    write.add_argument("--graph", required=True, metavar="G")
    write.add_argument("--format", default="dot")
    write.add_argument("--out", required=True, type=Path, metavar="FILE")
    write.set_defaults(run=_write)
    check = actions.add_parser("check", help="what the linter says of graphs")
    add_common(check, workspace=True)
    check.add_argument("--graph", default="", metavar="G", help="all unless given")
    check.set_defaults(run=_check)
    compare = actions.add_parser("compare", help="a graph against a gold graph")
    add_common(compare, workspace=True)
    compare.add_argument("--graph", required=True, metavar="G")
    compare.add_argument("--gold", required=True, metavar="G")
    compare.add_argument(
        "--spelling", action="store_true", help="match by spelling, without a model"
    )
    compare.set_defaults(run=_compare)
    mark = actions.add_parser("mark", help="say what kind graphs are, and of which split")
    add_common(mark, workspace=True)
    mark.add_argument("--as", dest="role", choices=("gold", "annotation", "training", "model"))
    mark.add_argument("--split", choices=("train", "validation", "test"))
    mark.add_argument("--graph", action="append", default=[], metavar="G", help="all unless given")
    mark.set_defaults(run=_mark)
    split = actions.add_parser("split", help="train, validation and test by clusters of like tasks")
    add_common(split, workspace=True)
    split.add_argument("--shares", default="60,15,25", metavar="a,b,c")
    split.add_argument("--seed", type=int, default=0)
    split.set_defaults(run=_split)
    methods = actions.add_parser("methods", help="every method on the gold graphs, with a table")
    add_common(methods, workspace=True)
    methods.add_argument("--steps", default=",".join(_STEP_METHODS), metavar="a,b")
    methods.add_argument("--edges", default=",".join(_EDGE_METHODS), metavar="a,b")
    methods.add_argument("--golds", type=int, default=0, metavar="N", help="the first N only")
    methods.add_argument("--resume", action="store_true", help="go on with the latest")
    methods.add_argument("--table", action="store_true", help="only print the latest table")
    methods.add_argument("--max-tokens", type=int, default=220, metavar="N")
    methods.add_argument("-k", type=int, default=5, metavar="N", help="sequences of multseq and sf")
    methods.add_argument("--model", metavar="ID")
    methods.add_argument("--seed", type=int, default=0)
    methods.set_defaults(run=_methods)


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", metavar="ID", help="a generator; the default one unless given")
    parser.add_argument(
        "--without-assumption", action="store_true", help="do not tell the model the assumption"
    )
    parser.add_argument("--seed", type=int, default=0)


def _steps(args: argparse.Namespace) -> int:
    from app import services
    from core.errors import NotFoundError
    from core.graphs.generation.suggest import propose_steps
    from core.graphs.model import load_graph
    from core.graphs.suggestions import accept_all
    from core.graphs.verbs import add_graph
    from core.types.graphs import TaskGraph

    with open_workspace(args) as workspace, cancel_on_interrupt() as cancel:
        try:
            graph = workspace.get(TaskGraph, args.task)
        except NotFoundError:
            # Words name a task: the model's graph of it is a new one.
            graph = workspace.transact(
                "Add graph", "", add_graph, args.task, [args.assumption], role="model",
                made={"method": args.method},
            ).value  # fmt: skip
        propose_steps(
            workspace,
            graph.id,
            args.method,
            services.generator(args.model),
            services.embedder(),
            assumption=not args.without_assumption,
            sequences=args.k,
            seed=args.seed,
            progress=ProgressLine("Steps", "sequences"),
            cancel=cancel,
        )
        if not args.suggest:
            workspace.transact("Accept suggestions", "", accept_all, graph.id)
        shown = load_graph(workspace, graph.id)
    texts = [step.text for step in shown.steps]
    lines = [f"{number}. {text}" for number, text in enumerate(texts, start=1)]
    print_result(
        args,
        {"graph": graph.id, "task": graph.task, "method": args.method, "steps": texts},
        "\n".join([f"Graph {graph.id}", *lines]),
    )
    return 0


def _edges(args: argparse.Namespace) -> int:
    from app import services
    from core.graphs.generation.suggest import propose_edges
    from core.graphs.model import load_graph
    from core.graphs.suggestions import accept_all
    from core.graphs.verbs import find_graph

    with open_workspace(args) as workspace, cancel_on_interrupt() as cancel:
        graph = find_graph(workspace, args.graph)
        generator = None if args.method == "linear" else services.generator(args.model)
        propose_edges(
            workspace,
            graph.id,
            args.method,
            generator,
            assumption=not args.without_assumption,
            seed=args.seed,
            progress=ProgressLine("Dependencies"),
            cancel=cancel,
        )
        if not args.suggest:
            workspace.transact("Accept suggestions", "", accept_all, graph.id)
        shown = load_graph(workspace, graph.id)
    number = shown.numbers
    pairs = [[number[d.before_id], number[d.after_id]] for d in shown.dependencies]
    print_result(
        args,
        {
            "graph": graph.id,
            "method": args.method,
            "steps": [step.text for step in shown.steps],
            "dependencies": pairs,
        },
        "\n".join(f"{before} before {after}" for before, after in pairs) or "No dependency found.",
    )
    return 0


def _list(args: argparse.Namespace) -> int:
    from core.graphs.model import describe_assumptions, load_graph
    from core.types.graphs import TaskGraph

    with open_workspace(args, write=False) as workspace:
        found = [load_graph(workspace, graph.id) for graph in workspace.find(TaskGraph)]
    value = [
        {
            "id": graph.graph.id,
            "task": graph.graph.task,
            "assumptions": list(graph.graph.assumptions),
            "role": graph.graph.role,
            "state": graph.graph.state,
            "split": graph.graph.split,
            "steps": len(graph.accepted),
            "dependencies": len(graph.links),
        }
        for graph in found
    ]
    lines = [
        f"{graph.graph.id}  {graph.graph.role:10}  {len(graph.accepted):4} steps  {graph.graph.task}"
        + (f" ({describe_assumptions(graph.graph.assumptions)})" if graph.graph.assumptions else "")
        for graph in found
    ]
    print_result(args, {"graphs": value}, "\n".join(lines) or "No graphs yet.")
    return 0


def _samples(args: argparse.Namespace) -> int:
    from core.graphs.samples import fill_graphs

    with open_workspace(args) as workspace:
        report = workspace.transact("Add the sample graphs", "", fill_graphs).value
    print_result(args, {"graphs": report.ids}, f"Added {len(report.ids)} graphs.")
    return 0


def _write(args: argparse.Namespace) -> int:
    from core.graphs.imports import export_graphs
    from core.graphs.verbs import find_graph

    with open_workspace(args, write=False) as workspace:
        graph = find_graph(workspace, args.graph)
        export_graphs(workspace, args.out, args.format, [graph.id])
    print_result(
        args,
        {"file": str(args.out), "graph": graph.id, "format": args.format},
        f"Wrote the graph to {args.out}, not encrypted.",
    )
    return 0


def _check(args: argparse.Namespace) -> int:
    from core.graphs.hints import hint_graph
    from core.graphs.linter import lint_graph
    from core.graphs.model import load_graph
    from core.graphs.verbs import find_graph
    from core.types.graphs import TaskGraph

    with open_workspace(args, write=False) as workspace:
        if args.graph:
            ids = [find_graph(workspace, args.graph).id]
        else:
            ids = [graph.id for graph in workspace.find(TaskGraph)]
        graphs = [load_graph(workspace, graph_id) for graph_id in ids]
    value, lines = [], []
    for graph in graphs:
        issues = [
            {"step": graph.numbers[step], "rule": issue.rule, "message": issue.message}
            for step, found in lint_graph(graph).items()
            for issue in found
        ]
        hints = [{"hint": hint.kind, "message": hint.message} for hint in hint_graph(graph)]
        value.append({"graph": graph.graph.id, "issues": issues, "hints": hints})
        if issues or hints:
            lines.append(f"{graph.graph.task} ({graph.graph.id})")
            lines += [f"  step {issue['step']}: {issue['message']}" for issue in issues]
            lines += [f"  {hint['message']}" for hint in hints]
    print_result(args, {"graphs": value}, "\n".join(lines) or "Nothing stands out.")
    return 0


def _compare(args: argparse.Namespace) -> int:
    from app import services
    from core.graphs.comparison import (
        compare_graphs,
        find_match,
        score_graph,
        similarities,
        similarity_name,
    )
    from core.graphs.model import load_graph
    from core.graphs.verbs import find_graph

    with open_workspace(args, write=False) as workspace:
        graph = load_graph(workspace, find_graph(workspace, args.graph).id)
        gold = load_graph(workspace, find_graph(workspace, args.gold).id)
        match = find_match(workspace, graph.graph.id, gold.graph.id)
    embedder = None if args.spelling else services.embedder()
    same = similarities(graph.accepted, gold.accepted, embedder)
    found = compare_graphs(graph, gold, same, match)
    scores = score_graph(graph, gold, same, similarity_name=similarity_name(embedder), match=match)
    dependencies = {
        status: found.count(status)
        for status in ("matched", "implied", "reversed", "extra", "missing")
    }
    value = {
        "pairs": [
            [graph.numbers[p.step], gold.numbers[p.gold], round(p.similarity, 4)]
            for p in found.pairs
        ],
        "extra": [graph.numbers[step] for step in found.extra],
        "missing": [gold.numbers[step] for step in found.missing],
        "dependencies": dependencies,
        "scores": {name: score.as_line() for name, score in scores.items()},
    }
    lines = [
        f"{len(found.pairs)} steps matched, {len(found.extra)} extra, {len(found.missing)} missing",
        "dependencies: " + ", ".join(f"{count} {status}" for status, count in dependencies.items()),
        *(
            f"{name}: {score.value:.4f}" if score.value is not None else f"{name}: {score.unscored}"
            for name, score in scores.items()
        ),
    ]
    print_result(args, value, "\n".join(lines))
    return 0


def _mark(args: argparse.Namespace) -> int:
    from core.graphs.verbs import edit_graph, find_graph
    from core.types.graphs import TaskGraph

    fields = {name: getattr(args, name) for name in ("role", "split") if getattr(args, name)}
    if not fields:
        raise UsageError("Nothing is to be marked.", remedy="Give --as, --split or both.")
    with open_workspace(args) as workspace:
        graphs = [find_graph(workspace, graph) for graph in args.graph]
        graphs = graphs or workspace.find(TaskGraph, "role != 'model'")

        def mark(tx: Transaction) -> None:
            for graph in graphs:
                edit_graph(tx, graph.id, **fields)

        workspace.transact("Mark graphs", "", mark)
    print_result(
        args,
        {"graphs": [graph.id for graph in graphs], **fields},
        f"Marked {len(graphs)} graphs: {', '.join(fields.values())}.",
    )
    return 0


def _split(args: argparse.Namespace) -> int:
    from app import services
    from core.graphs.splits import cluster_tasks, split_clusters, split_graphs
    from core.types.graphs import TaskGraph

    try:
        train, validation, test = (float(part) for part in args.shares.split(","))
    except ValueError:
        raise UsageError(
            f"'{args.shares}' are no three shares.", remedy="Write for example 60,15,25."
        ) from None
    shares: Any = {"train": train, "validation": validation, "test": test}
    with open_workspace(args) as workspace:
        graphs = workspace.find(TaskGraph, "role = 'gold'")
        clusters = cluster_tasks([graph.task for graph in graphs], services.embedder())
        splits = split_clusters(clusters, shares, seed=args.seed)
        by_id = {graph.id: split for graph, split in zip(graphs, splits, strict=True)}
        workspace.transact("Split graphs", "", split_graphs, by_id)
    counts = {name: splits.count(name) for name in shares}
    print_result(
        args,
        {"splits": by_id, "clusters": len(set(clusters)), "seed": args.seed, **counts},
        ", ".join(f"{count} {name}" for name, count in counts.items())
        + f" in {len(set(clusters))} clusters of like tasks",
    )
    return 0


def _methods(args: argparse.Namespace) -> int:
    from app import services
    from core.errors import NotFoundError
    from core.graphs.generation.evaluation import (
        execute_evaluation,
        latest_evaluation,
        method_rows,
        start_evaluation,
    )
    from core.types.graphs import TaskGraph

    with open_workspace(args, write=not args.table) as workspace, cancel_on_interrupt() as cancel:
        job = latest_evaluation(workspace) if args.resume or args.table else None
        if job is None and (args.resume or args.table):
            raise NotFoundError(
                "No methods were compared in this workspace yet.", remedy="Leave the option out."
            )
        if job is None:
            golds = [graph.id for graph in workspace.find(TaskGraph, "role = 'gold'")]
            job = workspace.transact_job(
                "Compare methods",
                "",
                start_evaluation,
                golds[: args.golds] if args.golds else golds,
                step_methods=_names(args.steps),
                edge_methods=_names(args.edges),
                sequences=args.k,
                max_tokens=args.max_tokens,
                seed=args.seed,
            ).value
        if not args.table:
            job = execute_evaluation(
                workspace,
                job.id,
                services.generator(args.model),
                services.embedder(),
                progress=ProgressLine("Methods", "results"),
                cancel=cancel,
            )
        rows = method_rows(workspace, job.id)
    value = [
        {
            "part": row.part,
            "method": row.method,
            "assumption": row.assumption,
            "metric": row.metric,
            "mean": row.interval.mean,
            "low": row.interval.low,
            "high": row.interval.high,
            "n": row.interval.n,
            "unscored": row.unscored,
        }
        for row in rows
    ]
    print_result(
        args,
        {"job": job.id, "state": job.state, "done": job.done, "total": job.total, "rows": value},
        table_text(value) or "Nothing to show.",
    )
    if job.message:
        print(job.message, file=sys.stderr)
    return 0 if job.state == "done" else 1


def _names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def table_text(rows: list[dict[str, Any]]) -> str:
    """The table of methods as lines of text."""
    lines = []
    last = None
    for row in rows:
        head = (row["part"], row["method"], row["assumption"])
        if head != last:
            told = "with" if row["assumption"] else "without"
            lines.append(f"{row['part']}: {row['method']}, {told} the assumption (n = {row['n']})")
            last = head
        if row["mean"] is None:
            lines.append(f"  {row['metric']:22} unscored ({row['unscored']})")
        elif row["low"] is None:
            lines.append(f"  {row['metric']:22} {row['mean']:.3f}")
        else:
            lines.append(
                f"  {row['metric']:22} {row['mean']:.3f}  [{row['low']:.3f}, {row['high']:.3f}]"
            )
    return "\n".join(lines)
