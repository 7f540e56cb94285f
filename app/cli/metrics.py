"""Verbs on files alone: metric, agreement. JSON on standard output, a line a result."""

from __future__ import annotations

import argparse
import csv
import inspect
import io
import json
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from app.cli.common import ProgressLine, cancel_on_interrupt
from core.errors import InputError, UsageError

_ITEM = re.compile(r"Item (\d+): (.*)", re.DOTALL)
#: Files shorter than this are done before a progress line would help.
_FEW_LINES = 200
_LEVELS = ("nominal", "ordinal", "interval")


def add_metric_parser(verbs: Any) -> None:
    """metric."""
    parser = verbs.add_parser(
        "metric",
        help="score a JSON Lines file with a metric, without a workspace",
        description="One JSON line out per line in, or one for the corpus. "
        "'rifugio metric --list' prints names, ranges and options.",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="the metric")
    parser.add_argument(
        "file", nargs="?", metavar="FILE.jsonl", help="one JSON object a line; - is standard input"
    )
    parser.add_argument("--corpus", action="store_true", help="one value for all lines together")
    parser.add_argument(
        "--option", action="append", default=[], metavar="K=V", help="an option of the metric"
    )
    parser.add_argument("--list", action="store_true", help="print all metrics and their options")
    parser.add_argument("--describe", action="store_true", help="print what the metric is")
    parser.add_argument("--json", action="store_true", help="JSON is printed in any case")
    parser.set_defaults(run=_run_metric)


def add_agreement_parser(verbs: Any) -> None:
    """agreement."""
    parser = verbs.add_parser(
        "agreement",
        help="agreement between raters in a CSV file with columns item, rater, value",
        description="One JSON line for each measure, with n, a 95 % bootstrap interval over items, "
        "and a reason where it cannot be computed. A blank value is missing.",
    )
    parser.add_argument("file", metavar="FILE.csv", help="columns item, rater, value")
    parser.add_argument(
        "--measure",
        action="append",
        default=[],
        metavar="M",
        help=f"one of {', '.join(_MEASURES)}; may be repeated; those that fit unless given",
    )
    parser.add_argument(
        "--level", choices=_LEVELS, default="nominal", help="the scale of the values"
    )
    parser.add_argument(
        "--order", default="", metavar="A,B,...", help="categories from low to high"
    )
    parser.add_argument("--tie", default="tie", metavar="VALUE", help="the value that is a tie")
    parser.add_argument("--seed", type=int, default=None, help="of the bootstrap")
    parser.add_argument("--json", action="store_true", help="JSON is printed in any case")
    parser.set_defaults(run=_run_agreement)


def _run_metric(args: argparse.Namespace) -> int:
    from core.metrics import registry

    if args.list:
        for name in registry.names():
            _print_line(_entry(name))
        return 0
    if args.name is None:
        raise UsageError("No metric is named.", remedy="'rifugio metric --list' prints them.")
    if args.describe:
        print(registry.describe(args.name))
        return 0
    if args.file is None:
        raise UsageError(
            f"There is no file to score with {args.name}.",
            remedy=f"Write 'rifugio metric {args.name} FILE.jsonl'.",
        )
    options = _read_options(args.option)
    registry.metric_class(args.name)
    lines, items = _read_items(args.file)
    metric = registry.create(args.name, options, **_load_services(args.name, options, items))
    progress = ProgressLine("Scoring", "lines") if len(items) >= _FEW_LINES else _say_nothing
    try:
        if args.corpus:
            _print_line(metric.aggregate(items).as_line())
            return 0
        with cancel_on_interrupt() as cancel:
            scores = metric.score_many(items, progress=progress, cancel=cancel)
    except UsageError as error:
        raise _name_line(error, args.file, lines) from error
    for score in scores:
        _print_line(score.as_line())
    return 0


def _entry(name: str) -> dict[str, Any]:
    """A metric as it is listed; an open end of its range is null."""
    from core.metrics import registry

    kind = registry.metric_class(name)
    summary = registry.describe(name).partition("\n\n")[0]
    return {
        "name": name,
        "low": kind.low if math.isfinite(kind.low) else None,
        "high": kind.high if math.isfinite(kind.high) else None,
        "options": registry.options_of(name),
        "summary": " ".join(summary.split()),
    }


def _read_options(pairs: Sequence[str]) -> dict[str, str]:
    options = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise UsageError(f"'{pair}' is no option.", remedy="Write --option K=V.")
        options[key.strip()] = value.strip()
    return options


def _read_items(file: str) -> tuple[list[int], list[dict[str, Any]]]:
    """The objects of a JSON Lines file with their line numbers; blank lines are passed over."""
    numbers, items = [], []
    for number, line in enumerate(_read_text(file).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            item = json.loads(line)
        except ValueError as error:
            raise InputError(
                f"no JSON: {error}.", path=file, line=number, remedy="Write one object a line."
            ) from error
        if not isinstance(item, dict):
            raise InputError(
                "no JSON object.", path=file, line=number, remedy='Write {"key": ...} on each line.'
            )
        numbers.append(number)
        items.append(item)
    if not items:
        raise InputError("there is nothing in it.", path=file, remedy="Write one object a line.")
    return numbers, items


def _read_text(file: str) -> str:
    try:
        if file == "-":
            return sys.stdin.buffer.read().decode("utf-8-sig")
        return Path(file).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"not UTF-8 at byte {error.start}.", path=file, remedy="Save it as UTF-8."
        ) from error
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror or error}.",
            path=file,
            remedy="Check the name and that you may read it.",
        ) from error


def _load_services(
    name: str, options: dict[str, str], items: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The models a metric needs for these items, and only those; ``model`` among the options names it."""
    from core.metrics import registry

    parameters = inspect.signature(registry.metric_class(name)).parameters
    own = "model" in parameters
    needs = {
        "embedder": any("similarity" not in item for item in items),
        "entailment": any("sections" in item or "premise" in item for item in items),
        "pair_scorer": True,
    }
    found: dict[str, Any] = {}
    for service, needed in needs.items():
        if service not in parameters:
            continue
        model = options.get("model") if own else options.pop("model", None)
        if needed:
            found[service] = _load_service(name, service, model)
    return found


def _load_service(name: str, service: str, model: str | None) -> Any:
    from app import services

    if service == "embedder":
        return services.embedder(model)
    if service == "entailment":
        return services.entailment_model(model)
    if not model:
        raise UsageError(
            f"The metric {name} needs a model.",
            remedy="Name it with --option model=ID; 'rifugio models list' shows them.",
        )
    return services.pair_scorer(model)


def _name_line(error: UsageError, file: str, lines: Sequence[int]) -> UsageError:
    """The same complaint with file and line in place of the item's number."""
    match = _ITEM.match(error.message)
    if match is None or not 1 <= int(match[1]) <= len(lines):
        return error
    return UsageError(f"{file}, line {lines[int(match[1]) - 1]}: {match[2]}", remedy=error.remedy)


def _say_nothing(progress: Any) -> None:
    """Take a progress report and drop it."""


def _print_line(line: Mapping[str, Any]) -> None:
    print(json.dumps(_finite(line), ensure_ascii=False, allow_nan=False))


def _finite(value: Any) -> Any:
    """The same without numbers that JSON does not know."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return value


Ratings = list[Any]


def _run_agreement(args: argparse.Namespace) -> int:
    from core.metrics.bootstrap import SEED

    wanted = [
        _ALIASES.get(name.strip(), name.strip())
        for entry in args.measure
        for name in entry.split(",")
        if name.strip()
    ]
    for name in wanted:
        if name not in _MEASURES:
            raise UsageError(
                f"There is no measure '{name}'.", remedy=f"Use one of {', '.join(_MEASURES)}."
            )
    raters, order = _read_ratings(args.file, args.order)
    seed = SEED if args.seed is None else args.seed
    numeric = all(
        isinstance(value, float)
        for ratings in raters.values()
        for value in ratings
        if value is not None
    )
    for name in wanted or _default_measures(len(raters), numeric, args.level):
        for names in _groups(name, list(raters)):
            ratings = [raters[rater] for rater in names]
            line = _measure(name, ratings, args.level, order, args.tie, seed)
            _print_line({**line, "raters": names})
    return 0


def _measure(
    name: str, ratings: list[Ratings], level: str, order: list[Any] | None, tie: str, seed: int
) -> dict[str, Any]:
    """One measure as a line; what stands in its way becomes its reason."""
    try:
        found: dict[str, Any] = _MEASURES[name](ratings, level, order, tie, seed).as_line()
    except UsageError as error:
        found = {
            "measure": name,
            "value": None,
            "n": 0,
            "low": None,
            "high": None,
            "reason": str(error),
            "signature": name,
        }
    return {**found, "measure": name, "kind": found["measure"]}


def _default_measures(raters: int, numeric: bool, level: str) -> list[str]:
    names = ["percentage", "cohen", "krippendorff"]
    if raters > 2:
        names.insert(2, "fleiss")
    if level != "nominal":
        names[2:2] = ["cohen_linear", "cohen_quadratic"]
        if numeric:
            names += ["pearson", "spearman", "kendall"]
    return names


def _groups(name: str, raters: list[str]) -> list[list[str]]:
    """All raters together, or each two of them where a measure is of two."""
    if name not in _OF_TWO or len(raters) < 2:
        return [raters]
    return [list(pair) for pair in combinations(raters, 2)]


def _read_ratings(file: str, order: str) -> tuple[dict[str, Ratings], list[Any] | None]:
    """Each rater's values over all items in order of appearance, None where missing."""
    try:
        rows = list(csv.reader(io.StringIO(_read_text(file), newline="")))
    except csv.Error as error:
        raise InputError(f"no CSV: {error}.", path=file, remedy="Save it as CSV.") from error
    header = [name.strip().casefold() for name in rows[0]] if rows else []
    missing = [name for name in ("item", "rater", "value") if name not in header]
    if missing:
        raise InputError(
            f"the column {missing[0]} is missing.",
            path=file,
            line=1,
            remedy="Write a first line 'item,rater,value'.",
        )
    places = [header.index(name) for name in ("item", "rater", "value")]
    cells: dict[tuple[str, str], str] = {}
    items: dict[str, None] = {}
    names: dict[str, None] = {}
    for number, row in enumerate(rows[1:], start=2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) <= max(places):
            raise InputError(
                f"there are {len(row)} fields instead of {len(header)}.",
                path=file,
                line=number,
                remedy="Give every line an item, a rater and a value, which may be blank.",
            )
        item, rater, value = (row[place].strip() for place in places)
        if not item or not rater:
            raise InputError("item or rater is blank.", path=file, line=number, remedy="Name both.")
        if (item, rater) in cells:
            raise InputError(
                f"{rater} has rated {item} before.",
                path=file,
                line=number,
                remedy="Keep one rating for each item and rater.",
            )
        cells[item, rater] = value
        items[item] = names[rater] = None
    if not cells:
        raise InputError("there are no ratings in it.", path=file, remedy="Add a line a rating.")
    values = [value for value in cells.values() if value]
    categories = [entry.strip() for entry in order.split(",") if entry.strip()]
    numeric = all(_is_number(value) for value in (*values, *categories))
    convert: Callable[[str], Any] = float if numeric else str
    raters = {
        rater: [convert(v) if (v := cells.get((item, rater), "")) else None for item in items]
        for rater in names
    }
    return raters, [convert(entry) for entry in categories] or None


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _two(ratings: list[Ratings]) -> tuple[Ratings, Ratings]:
    if len(ratings) != 2:
        raise UsageError(f"The measure is of two raters, and there are {len(ratings)}.")
    return ratings[0], ratings[1]


def _percentage(ratings: list[Ratings], level: str, order: Any, tie: str, seed: int) -> Any:
    from core.metrics.agreement import percentage

    return percentage(*ratings, seed=seed)


def _percentage_without_ties(
    ratings: list[Ratings], level: str, order: Any, tie: str, seed: int
) -> Any:
    from core.metrics.agreement import percentage

    ties = [tie, float(tie)] if _is_number(tie) else [tie]
    return percentage(*ratings, ignore=ties, seed=seed)


def _cohen(weights: Any) -> Callable[..., Any]:
    def measure(ratings: list[Ratings], level: str, order: Any, tie: str, seed: int) -> Any:
        from core.metrics.agreement import cohen_kappa

        return cohen_kappa(*_two(ratings), weights=weights, order=order, seed=seed)

    return measure


def _fleiss(ratings: list[Ratings], level: str, order: Any, tie: str, seed: int) -> Any:
    from core.metrics.agreement import fleiss_kappa

    return fleiss_kappa(*ratings, seed=seed)


def _krippendorff(ratings: list[Ratings], level: Any, order: Any, tie: str, seed: int) -> Any:
    from core.metrics.agreement import krippendorff_alpha

    return krippendorff_alpha(*ratings, level=level, order=order, seed=seed)


def _correlation(method: str) -> Callable[..., Any]:
    def measure(ratings: list[Ratings], level: str, order: Any, tie: str, seed: int) -> Any:
        from core.metrics import correlation

        return getattr(correlation, method)(*_two(ratings), seed=seed)

    return measure


_MEASURES: dict[str, Callable[..., Any]] = {
    "percentage": _percentage,
    "percentage_without_ties": _percentage_without_ties,
    "cohen": _cohen("none"),
    "cohen_linear": _cohen("linear"),
    "cohen_quadratic": _cohen("quadratic"),
    "fleiss": _fleiss,
    "krippendorff": _krippendorff,
    "pearson": _correlation("pearson"),
    "spearman": _correlation("spearman"),
    "kendall": _correlation("kendall"),
}
_OF_TWO = frozenset(("cohen", "cohen_linear", "cohen_quadratic", "pearson", "spearman", "kendall"))
_ALIASES = {
    "cohen_kappa": "cohen",
    "cohen_kappa_linear": "cohen_linear",
    "cohen_kappa_quadratic": "cohen_quadratic",
    "fleiss_kappa": "fleiss",
    "krippendorff_alpha": "krippendorff",
    "alpha": "krippendorff",
}
