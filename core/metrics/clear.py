"""CLEAR: checklists compared item by item, from items to samples, tasks and the whole benchmark."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.errors import UsageError
from core.metrics.base import Metric, MetricScore
from core.metrics.bootstrap import SAMPLES, SEED, resample_means
from core.metrics.options import read_choice, read_flag

# 'Na' alone is sodium.
_LENIENT_NA = re.compile(r"[\s.]*(?:[nN][\s.]*(?:/|\.)[\s.]*[aA]|NA|na)?[\s.]*")
_MEASURES = ("precision", "recall", "f1", "accuracy", "coverage")


@dataclass(frozen=True, slots=True)
class ItemScore:
    """One checklist item: recall and precision, 0 to 1, and which sides have content."""

    recall: float
    precision: float
    in_reference: bool
    in_output: bool
    reason: str = ""


class Clear(Metric):
    """CLEAR: do output and reference say the same on each checklist item; F1, 0 to 1.

    A judge says for item c whether the reference's text R(c) is contained in the output's H(c) and the
    other way round::

        recall(c) = R(c) contained in H(c)      precision(c) = H(c) contained in R(c)
        sample P, R = means over items          F1 = 2PR / (P + R), 0 where P + R is 0
        accuracy = mean of P(c)·R(c)            coverage = items with content on both sides
                                                           / items with content in the reference
        task = mean over samples                benchmark = mean over tasks

    Where both sides are N/A (empty, or the item does not apply) the item counts 1 and 1, where one side
    is, 0 and 0, and the judge is not asked. The same without items N/A on both sides stands beside it,
    since those reward empty against empty. Several judges are pooled per item first (``judges=mean`` or
    ``majority``, a tie counting as no). A missing output scores 0 and is counted apart. Standard
    errors come from 10,000 seeded resamples of samples. N/A is read leniently (case, dots, blanks),
    with ``strict_na=true`` only as 'N/A'. Identical checklists give 1.

    Source: Ruan et al., 'ExpertLongBench' (2025), CLEAR; directions as in its code. The code adds 1e-10
    to the denominator of F1, we do not.

    It cannot tell what the checklist does not ask, nor whether the judge is right.
    """

    name = "clear"

    def __init__(
        self, strict_na: str = "false", judges: str = "mean", seed: str = str(SEED)
    ) -> None:
        self._strict = read_flag("strict_na", strict_na)
        self._judges = read_choice("judges", judges, ("mean", "majority"))
        try:
            self._seed = int(seed)
        except ValueError:
            raise UsageError(f"seed={seed} is no whole number.", remedy="Write seed=1.") from None

    @property
    def signature(self) -> str:
        strict = str(self._strict).lower()
        return (
            f"clear|strict_na:{strict}|judges:{self._judges}|bootstrap:{SAMPLES}|"
            f"seed:{self._seed}|version:{self.version}"
        )

    def score_one(self, item: Mapping[str, Any]) -> MetricScore:
        entries = item.get("items")
        if not isinstance(entries, list | tuple):
            raise UsageError(
                "'items' is missing or no list.",
                remedy='Give {"items": [{"reference_in_output": true, ...}]}.',
            )
        if not entries:
            return self.unscored("The checklist has no items.")
        missing = bool(item.get("missing_output", False))
        scores = [
            self.score_item(entry, number, missing) for number, entry in enumerate(entries, 1)
        ]
        unjudged = [score.reason for score in scores if score.reason]
        if unjudged:
            return self.unscored(unjudged[0], items=len(scores), unjudged=len(unjudged))
        components: dict[str, Any] = _means(scores)
        filled = [score for score in scores if score.in_reference or score.in_output]
        components["items"] = len(scores)
        components["items_na"] = len(scores) - len(filled)
        if filled:
            components["without_na"] = _means(filled)
        if missing:
            components["missing_output"] = True
        return MetricScore(value=components["f1"], components=components, signature=self.signature)

    def score_item(self, entry: Any, number: int, missing: bool = False) -> ItemScore:
        """One item; a reason in place of a number where no judge has spoken."""
        if not isinstance(entry, Mapping):
            raise UsageError(
                f"Checklist item {number} is no object.", remedy="See 'rifugio metric --list'."
            )
        applies = entry.get("applies", True)
        in_reference = bool(applies) and self._has_content(entry, "reference")
        in_output = bool(applies) and not missing and self._has_content(entry, "output")
        if missing:
            return ItemScore(0.0, 0.0, in_reference, False)
        if not in_reference and not in_output:
            return ItemScore(1.0, 1.0, False, False)
        if in_reference != in_output:
            return ItemScore(0.0, 0.0, in_reference, in_output)
        recall = self._pool(entry.get("reference_in_output"), number)
        precision = self._pool(entry.get("output_in_reference"), number)
        if recall is None or precision is None:
            return ItemScore(0.0, 0.0, True, True, f"Item {number} has not been judged both ways.")
        return ItemScore(recall, precision, True, True)

    def aggregate(self, items: Sequence[Mapping[str, Any]]) -> MetricScore:
        scored: dict[str, list[MetricScore]] = {}
        skipped = missing = 0
        for item, score in zip(items, self.score_many(items), strict=True):
            if score.value is None:
                skipped += 1
                continue
            missing += bool(score.components.get("missing_output"))
            scored.setdefault(str(item.get("task") or ""), []).append(score)
        counts = {"missing_outputs": missing, "unscored_samples": skipped}
        if not scored:
            return self.unscored("No sample has been judged.", **counts)
        tasks = {task: _average([s.components for s in scores]) for task, scores in scored.items()}
        samples = [score for scores in scored.values() for score in scores]
        components: dict[str, Any] = _average(list(tasks.values()))
        notes = []
        if len(samples) > 1:
            components["errors"] = self._errors(list(scored.values()))
        else:
            notes.append("One sample: there is no standard error.")
        without = [s.components["without_na"] for s in samples if "without_na" in s.components]
        if without:
            components["without_na"] = _average(without)
        components |= {"n": len(samples), "tasks": len(tasks), **counts}
        if len(tasks) > 1:
            components["by_task"] = tasks
        if missing:
            notes.append(f"{missing} of {len(samples)} outputs are missing and count as 0.")
        return MetricScore(
            value=components["f1"],
            components=components,
            signature=self.signature,
            notes=tuple(notes),
        )

    def _errors(self, tasks: Sequence[Sequence[MetricScore]]) -> dict[str, float | None]:
        """Standard errors: samples are drawn again within each task, tasks weigh the same."""
        errors: dict[str, float | None] = {}
        for key in _MEASURES:
            means = []
            for number, scores in enumerate(tasks):
                found = [s.components[key] for s in scores]
                data = np.array([value for value in found if value is not None], dtype=np.float64)
                if len(data):
                    means.append(resample_means(data, seed=self._seed + number))
            errors[key] = float(np.mean(means, axis=0).std(ddof=1)) if means else None
        return errors

    def _has_content(self, entry: Mapping[str, Any], side: str) -> bool:
        if side not in entry:
            # Judged without its texts: what was asked was there.
            return True
        text = entry[side]
        if text is None:
            return False
        if not isinstance(text, str):
            raise UsageError(f"'{side}' of an item is no text.", remedy='Give a text or "N/A".')
        return not is_na(text, strict=self._strict)

    def _pool(self, judgement: Any, number: int) -> float | None:
        """One judge's word, or several judges', as a number from 0 to 1."""
        votes = judgement if isinstance(judgement, list | tuple) else [judgement]
        values = []
        for vote in votes:
            if vote is None:
                continue
            if not isinstance(vote, bool | int | float) or not 0 <= vote <= 1:
                raise UsageError(
                    f"A judgement of checklist item {number} is neither true nor false: {vote!r}.",
                    remedy="Write true, false or null.",
                )
            values.append(float(vote))
        if not values:
            return None
        mean = sum(values) / len(values)
        return float(mean > 0.5) if self._judges == "majority" else mean


def is_na(text: str, *, strict: bool = False) -> bool:
    """Whether a checklist text says that there is nothing.

    Examples
    --------
    >>> is_na(" n.a. "), is_na("n.a.", strict=True), is_na("none seen")
    (True, False, False)
    """
    if strict:
        return text == "N/A" or not text.strip()
    return _LENIENT_NA.fullmatch(text) is not None


def _means(scores: Sequence[ItemScore]) -> dict[str, float | None]:
    precision = _sum(score.precision for score in scores) / len(scores)
    recall = _sum(score.recall for score in scores) / len(scores)
    total = precision + recall
    wanted = [score for score in scores if score.in_reference]
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / total if total > 0 else 0.0,
        "accuracy": _sum(score.precision * score.recall for score in scores) / len(scores),
        "coverage": _sum(score.in_output for score in wanted) / len(wanted) if wanted else None,
    }


def _sum(values: Any) -> float:
    return float(sum(values))


def _average(scores: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Means of each measure over the scores that have it."""
    found: dict[str, float | None] = {}
    for key in _MEASURES:
        values = [score[key] for score in scores if score[key] is not None]
        found[key] = sum(values) / len(values) if values else None
    return found
