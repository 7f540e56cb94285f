"""Win rates of a candidate against a base from pairwise judgements."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import UsageError
from core.metrics.base import Metric, MetricScore
from core.metrics.bootstrap import SAMPLES, SEED, bootstrap_interval
from core.metrics.options import read_flag

_POINTS = {"candidate": 1.0, "tie": 0.5, "base": 0.0}


class WinRate(Metric):
    """Win rate: how often the candidate is preferred to the base, ties counting half; 0 to 1.

    ``(wins + ties / 2) / n``. With a 95 % interval from 10,000 seeded resamples of the judgements.

    ``length_penalised=true`` weighs each win down by how much longer the candidate's text was: a
    judgement's points p become ``p · min(1, words of base / words of candidate)``, so that a win with
    twice the words counts half and a shorter winner gains nothing; a candidate without words counts 0.
    The paper reports such a variant without a formula, so this one is ours. It needs the texts or
    their lengths (``candidate``, ``base``: text, or number of words).

    Source: DOLOMITES (Malaviya et al., 2024), section 'Automatic evaluation'.

    It cannot tell by how much one was better, nor whether the judge likes length for its own sake;
    compare it with 'longer wins'.
    """

    name = "win_rate"

    def __init__(self, length_penalised: str = "false", seed: str = str(SEED)) -> None:
        self._penalised = read_flag("length_penalised", length_penalised)
        try:
            self._seed = int(seed)
        except ValueError:
            raise UsageError(f"seed={seed} is no whole number.", remedy="Write seed=1.") from None

    @property
    def signature(self) -> str:
        rule = "min(1,base/candidate words)" if self._penalised else "none"
        return (
            f"win_rate|ties:half|length_penalty:{rule}|bootstrap:{SAMPLES}|seed:{self._seed}|"
            f"version:{self.version}"
        )

    def score_one(self, item: Mapping[str, Any]) -> MetricScore:
        winner = item.get("winner")
        if winner is None and "winner" in item:
            return self.unscored("The pair has not been judged.")
        if winner not in _POINTS:
            raise UsageError(
                f"'winner' is {winner!r}.", remedy='Give "candidate", "base" or "tie".'
            )
        points = _POINTS[str(winner)]
        components: dict[str, Any] = {"winner": winner}
        if self._penalised:
            candidate, base = _words(item, "candidate"), _words(item, "base")
            factor = min(1.0, base / candidate) if candidate else 0.0
            components |= {"points": points, "length_factor": factor}
            points *= factor
        return MetricScore(value=points, components=components, signature=self.signature)

    def aggregate(self, items: Sequence[Mapping[str, Any]]) -> MetricScore:
        scores = self.score_many(items)
        values = [score.value for score in scores if score.value is not None]
        if not values:
            return self.unscored("No pair has been judged.", unscored_items=len(scores))
        winners = [score.components.get("winner") for score in scores]
        interval = bootstrap_interval(values, seed=self._seed)
        return MetricScore(
            value=sum(values) / len(values),
            components={
                "wins": winners.count("candidate"),
                "ties": winners.count("tie"),
                "losses": winners.count("base"),
                "n": len(values),
                "unscored_items": len(scores) - len(values),
                "low": interval.low,
                "high": interval.high,
            },
            signature=self.signature,
            notes=("One judgement: there is no interval.",) if len(values) == 1 else (),
        )


def _words(item: Mapping[str, Any], side: str) -> float:
    """Words of a text, or the number given in its place."""
    value = item.get(side)
    if isinstance(value, str):
        return float(len(value.split()))
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf:
        return float(value)
    raise UsageError(
        f"'{side}' is missing or neither a text nor a number of words.",
        remedy=f'Give {{"{side}": "..."}} for length_penalised=true.',
    )
