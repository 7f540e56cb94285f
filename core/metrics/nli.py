"""Entailment between reference sections and output sections, both ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import UsageError
from core.metrics.base import Metric, MetricScore
from core.metrics.bootstrap import SAMPLES, SEED, bootstrap_interval
from core.metrics.options import need_text, read_choice, read_whole
from core.metrics.resampling import bootstrap_statistic
from core.metrics.windows import WHOLE_TOKENS, WINDOW_TOKENS, TextPair, split_pair
from core.ports import Cancellation, EntailmentModel, Progress, ProgressCallback, no_progress

Floats = npt.NDArray[np.float64]

_MISSING = "The output lacks a section; it counts 0 both ways."
_UNKNOWN = "A section without reference text was left out."


@dataclass(frozen=True, slots=True)
class _Sections:
    """Forward and reverse entailment of an item's sections, and what was odd about them."""

    forward: tuple[float, ...]
    reverse: tuple[float, ...]
    titles: tuple[str, ...] = ()
    missing: int = 0
    left_out: int = 0


class Nli(Metric):
    """Entailment between reference and output, section by section; harmonic mean, 0 to 1.

    ``forward`` is the probability that the reference section entails the output's section
    (precision-like: what was written is supported), ``reverse`` the other way round (recall-like: what
    was wanted is there)::

        value = 2FR / (F + R),  F, R = means over all sections of all examples

    ``average=examples`` takes means of examples' means, ``average=harmonics`` the mean of the sections'
    harmonic means. For long sections the hypothesis is split into sentences and the premise into
    windows: the greatest probability over windows, the mean over sentences. A section missing in the
    output counts 0 both ways; one without reference is left out and counted. The corpus value has a
    95 % interval from 10,000 seeded resamples of examples. A line ``{"premise", "hypothesis"}`` gives the
    probability that the one entails the other.

    Source: DOLOMITES (Malaviya et al., 2024), section on automatic evaluation. A remark there, that low
    reverse entailment shows unsupported statements, contradicts its own definition, which is kept.

    It cannot tell truth, only agreement with the reference, and is no better than the model named in
    the signature. Equal texts give what that model gives for equal texts, close to 1.
    """

    name = "nli"

    def __init__(
        self,
        average: str = "sections",
        seed: str = str(SEED),
        entailment: EntailmentModel | None = None,
    ) -> None:
        self._average = read_choice("average", average, ("sections", "examples", "harmonics"))
        self._seed = read_whole("seed", seed)
        self._entailment = entailment

    @property
    def signature(self) -> str:
        model = "given"
        if self._entailment is not None:
            info = self._entailment.info
            model = f"{info.id} {info.sha256[:12]}"
        return (
            f"nli|average:{self._average}|windows:{WHOLE_TOKENS}/{WINDOW_TOKENS}|model:{model}|"
            f"bootstrap:examples:{SAMPLES}:seed {self._seed}|version:{self.version}"
        )

    def score_one(self, item: Mapping[str, Any]) -> MetricScore:
        if "premise" in item:
            return self._score_pair(item, None)
        return self._score(self._read(item, None))

    def score_many(
        self,
        items: Sequence[Mapping[str, Any]],
        *,
        progress: ProgressCallback = no_progress,
        cancel: Cancellation | None = None,
    ) -> list[MetricScore]:
        if any("premise" in item for item in items):
            return self._score_pairs(items, progress, cancel)
        return [self._score(sections) for sections in self._read_all(items, progress, cancel)]

    def aggregate(self, items: Sequence[Mapping[str, Any]]) -> MetricScore:
        if any("premise" in item for item in items):
            return self._mean_of_pairs(self._score_pairs(items, no_progress, None))
        found = [s for s in self._read_all(items, no_progress, None) if s.forward]
        if not found:
            return self.unscored("No item has a section with a reference.", n=0)
        # Per example: sections, sums of forward, of reverse, of harmonic means.
        table = np.array(
            [
                (
                    len(s.forward),
                    sum(s.forward),
                    sum(s.reverse),
                    sum(map(harmonic_mean, s.forward, s.reverse)),
                )
                for s in found
            ]
        )
        if self._average == "examples":
            table = table / table[:, :1]
        ones = np.ones(len(found), dtype=np.int64)
        components: dict[str, Any] = {}
        for name, column in (("value", None), ("forward", 1), ("reverse", 2)):
            statistic = partial(self._combine_weighted, table, column)
            bounds = bootstrap_statistic(statistic, ones, seed=self._seed)
            if column is not None:
                components[name] = float(self._combine(table.sum(axis=0)[None], column)[0])
            prefix = "" if column is None else f"{name}_"
            components[f"{prefix}low"], components[f"{prefix}high"] = bounds.low, bounds.high
        components |= {
            "n": len(found),
            "sections": sum(len(s.forward) for s in found),
            "n_unscored": len(items) - len(found),
        }
        notes = ["One example has no interval."] if len(found) == 1 else []
        return MetricScore(
            value=float(self._combine(table.sum(axis=0)[None], None)[0]),
            components=components,
            signature=self.signature,
            notes=(*notes, *_notes(found), *self._judge()),
        )

    def _combine_weighted(self, table: Floats, column: int | None, weights: Floats) -> Floats:
        return self._combine(weights @ table, column)

    def _combine(self, sums: Floats, column: int | None) -> Floats:
        """A mean, or the headline number where no column is named, of rows of summed columns."""
        if column is None and self._average == "harmonics":
            column = 3
        if column is not None:
            return np.asarray(sums[:, column] / sums[:, 0])
        forward, reverse = sums[:, 1] / sums[:, 0], sums[:, 2] / sums[:, 0]
        total = forward + reverse
        return np.asarray(2 * forward * reverse / np.where(total > 0, total, 1.0))

    def _score(self, sections: _Sections) -> MetricScore:
        if not sections.forward:
            return self.unscored("No section has a reference.", sections=0)
        forward = sum(sections.forward) / len(sections.forward)
        reverse = sum(sections.reverse) / len(sections.reverse)
        if self._average == "harmonics":
            parts = list(map(harmonic_mean, sections.forward, sections.reverse))
            value = sum(parts) / len(parts)
        else:
            value = harmonic_mean(forward, reverse)
        components: dict[str, Any] = {
            "forward": forward,
            "reverse": reverse,
            "sections": len(sections.forward),
            "missing": sections.missing,
            "left_out": sections.left_out,
        }
        if sections.titles:
            components["per_section"] = [
                {"title": title, "forward": one, "reverse": other}
                for title, one, other in zip(
                    sections.titles, sections.forward, sections.reverse, strict=True
                )
            ]
        return MetricScore(
            value=value,
            components=components,
            signature=self.signature,
            notes=(*_notes([sections]), *self._judge()),
        )

    def _score_pairs(
        self,
        items: Sequence[Mapping[str, Any]],
        progress: ProgressCallback,
        cancel: Cancellation | None,
    ) -> list[MetricScore]:
        scores = []
        for number, item in enumerate(items, start=1):
            if cancel is not None:
                cancel.raise_if_cancelled()
            try:
                scores.append(self._score_pair(item, cancel))
            except UsageError as error:
                raise UsageError(f"Item {number}: {error.message}", remedy=error.remedy) from error
            progress(Progress(number, len(items)))
        return scores

    def _score_pair(self, item: Mapping[str, Any], cancel: Cancellation | None) -> MetricScore:
        """How far one text follows from another, where there are no sections."""
        premise, hypothesis = need_text(item, "premise"), need_text(item, "hypothesis")
        if not hypothesis.strip():
            return self.unscored("The hypothesis is empty.")
        model = self._model()
        groups = split_pair(premise, hypothesis)
        answers = iter(model.entail([pair for group in groups for pair in group], cancel=cancel))
        # Each sentence of the hypothesis is told by the window that supports it best.
        best = [max((next(answers) for _ in g), key=lambda e: e.entailment) for g in groups]
        components: dict[str, Any] = {
            "entailment": sum(e.entailment for e in best) / len(best),
            "neutral": sum(e.neutral for e in best) / len(best),
            "contradiction": sum(e.contradiction for e in best) / len(best),
            "sentences": len(best),
        }
        if not model.has_contradiction:
            del components["contradiction"]
        return MetricScore(
            value=components["entailment"],
            components=components,
            signature=self.signature,
            notes=self._judge(),
        )

    def _mean_of_pairs(self, scores: Sequence[MetricScore]) -> MetricScore:
        values = [score.value for score in scores if score.value is not None]
        if not values:
            return self.unscored("No item has a hypothesis.", n=0)
        interval = bootstrap_interval(values, seed=self._seed)
        return MetricScore(
            value=interval.mean,
            components={
                "low": interval.low,
                "high": interval.high,
                "n": len(values),
                "n_unscored": len(scores) - len(values),
            },
            signature=self.signature,
            notes=(
                *(("One example has no interval.",) if len(values) == 1 else ()),
                *self._judge(),
            ),
        )

    def _judge(self) -> tuple[str, ...]:
        """Who said so, for a score is no better than its model."""
        if self._entailment is None:
            return ()
        return (f"Entailment by {self._entailment.info.name}.",)

    def _model(self) -> EntailmentModel:
        if self._entailment is None:
            raise UsageError(
                "The item brings texts, and there is no entailment model to read them.",
                remedy="Name a model, or give 'forward' and 'reverse'.",
            )
        return self._entailment

    def _read_all(
        self,
        items: Sequence[Mapping[str, Any]],
        progress: ProgressCallback,
        cancel: Cancellation | None,
    ) -> list[_Sections]:
        found = []
        for number, item in enumerate(items, start=1):
            if cancel is not None:
                cancel.raise_if_cancelled()
            try:
                found.append(self._read(item, cancel))
            except UsageError as error:
                raise UsageError(f"Item {number}: {error.message}", remedy=error.remedy) from error
            progress(Progress(number, len(items)))
        return found

    def _read(self, item: Mapping[str, Any], cancel: Cancellation | None) -> _Sections:
        if "forward" in item or "reverse" in item:
            forward, reverse = _probabilities(item, "forward"), _probabilities(item, "reverse")
            if len(forward) != len(reverse):
                raise UsageError(
                    f"There are {len(forward)} forward and {len(reverse)} reverse values.",
                    remedy="Give one of each a section.",
                )
            return _Sections(forward, reverse)
        sections = item.get("sections")
        if not isinstance(sections, list | tuple) or not sections:
            raise UsageError(
                "'sections' is missing or empty.",
                remedy='Give {"sections": [{"reference": "...", "prediction": "..."}]} with a model, '
                'or {"forward": [0.9], "reverse": [0.8]}.',
            )
        return self._entail(sections, cancel)

    def _entail(self, sections: Sequence[Any], cancel: Cancellation | None) -> _Sections:
        model = self._model()
        titles: list[str] = []
        jobs: list[list[list[TextPair]]] = []
        missing = left_out = 0
        for number, section in enumerate(sections, start=1):
            reference, prediction = _section_texts(section, number)
            if not reference.strip():
                left_out += 1
                continue
            titles.append(str(section.get("title") or number))
            if not prediction.strip():
                missing += 1
                jobs += [[], []]
            else:
                jobs += [split_pair(reference, prediction), split_pair(prediction, reference)]
        pairs = [pair for job in jobs for windows in job for pair in windows]
        answers = iter(model.entail(pairs, cancel=cancel) if pairs else [])
        values = []
        for job in jobs:
            # For each sentence of the hypothesis the window of the premise that supports it best.
            best = [max(next(answers).entailment for _ in windows) for windows in job]
            values.append(sum(best) / len(best) if best else 0.0)
        return _Sections(tuple(values[::2]), tuple(values[1::2]), tuple(titles), missing, left_out)


def harmonic_mean(first: float, second: float) -> float:
    """The harmonic mean, 0 where both are."""
    total = first + second
    return 2 * first * second / total if total else 0.0


def _section_texts(section: Any, number: int) -> tuple[str, str]:
    texts = [section.get(key) for key in ("reference", "prediction")] if _is_map(section) else []
    if len(texts) != 2 or not all(text is None or isinstance(text, str) for text in texts):
        raise UsageError(
            f"Section {number} has no texts 'reference' and 'prediction'.",
            remedy='Give {"reference": "...", "prediction": "..."} a section.',
        )
    return texts[0] or "", texts[1] or ""


def _is_map(value: Any) -> bool:
    return isinstance(value, Mapping)


def _probabilities(item: Mapping[str, Any], key: str) -> tuple[float, ...]:
    values = item.get(key)
    if (
        not isinstance(values, list | tuple)
        or not values
        or not all(
            isinstance(v, int | float) and not isinstance(v, bool) and 0 <= v <= 1 for v in values
        )
    ):
        raise UsageError(
            f"'{key}' is missing, empty, or not a list of numbers from 0 to 1.",
            remedy=f'Give {{"{key}": [0.9]}}, one number a section.',
        )
    return tuple(float(value) for value in values)


def _notes(found: Sequence[_Sections]) -> tuple[str, ...]:
    notes = []
    if any(sections.missing for sections in found):
        notes.append(_MISSING)
    if any(sections.left_out for sections in found):
        notes.append(_UNKNOWN)
    return tuple(notes)
