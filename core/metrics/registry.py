"""Every metric by name; a metric's module is imported when it is first asked for.

To add a metric: write a subclass of `core.metrics.base.Metric` in a file of its own and name it in
`_PLACES`. Its docstring is its help text.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from core.errors import UsageError
from core.metrics.base import Metric

_PLACES: Mapping[str, str] = {
    "sari": "core.metrics.sari:Sari",
    "sari_hf": "core.metrics.sari:SariHf",
    "em": "core.metrics.exact_match:ExactMatch",
    "em_diff": "core.metrics.exact_match:EmDiff",
    "bleu": "core.metrics.bleu:Bleu",
    "bleu_editeval": "core.metrics.bleu:BleuEditEval",
    "ibleu": "core.metrics.bleu:IBleu",
    "gleu": "core.metrics.gleu:Gleu",
    "rouge1": "core.metrics.rouge:Rouge1",
    "rouge2": "core.metrics.rouge:Rouge2",
    "rougeL": "core.metrics.rouge:RougeL",
    "rougeLsum": "core.metrics.rouge:RougeLsum",
    "update_rouge1": "core.metrics.update_rouge:UpdateRouge1",
    "update_rouge2": "core.metrics.update_rouge:UpdateRouge2",
    "update_rougeLsum": "core.metrics.update_rouge:UpdateRougeLsum",
    "step_matching": "core.metrics.steps:StepMatching",
    "step_matching_relaxed": "core.metrics.steps:StepMatchingRelaxed",
    "step_matching_max": "core.metrics.steps:StepMatchingMax",
    "in_degree": "core.metrics.graphs:InDegree",
    "out_degree": "core.metrics.graphs:OutDegree",
    "step_proximity": "core.metrics.graphs:StepProximity",
    "document_rouge1": "core.metrics.steps:DocumentRouge1",
    "document_rouge2": "core.metrics.steps:DocumentRouge2",
    "document_rougeL": "core.metrics.steps:DocumentRougeL",
    "cycles": "core.metrics.graphs:Cycles",
    "section_presence": "core.metrics.structure:SectionPresence",
    "nli": "core.metrics.nli:Nli",
    "win_rate": "core.metrics.preferences:WinRate",
    "ngram_cosine": "core.metrics.overlap:NgramCosine",
    "contamination": "core.metrics.overlap:Contamination",
    "flesch_kincaid": "core.metrics.readability:FleschKincaid",
    "edit_distance": "core.metrics.edits:EditDistance",
    "length": "core.metrics.structure:Length",
    "clear": "core.metrics.clear:Clear",
    "learned": "core.metrics.learned:Learned",
}


def names() -> list[str]:
    """The names of all metrics."""
    return list(_PLACES)


def metric_class(name: str) -> type[Metric]:
    """The class of a metric.

    Raises
    ------
    UsageError
        When there is no metric of that name.
    """
    if name not in _PLACES:
        raise UsageError(
            f"There is no metric '{name}'.", remedy=f"Use one of {', '.join(_PLACES)}."
        )
    module, _, attribute = _PLACES[name].partition(":")
    found: type[Metric] = getattr(import_module(module), attribute)
    return found


def create(name: str, options: Mapping[str, str] | None = None, **services: Any) -> Metric:
    """A metric with its options, which are given as text.

    Parameters
    ----------
    services
        Models by port name: ``embedder``, ``entailment``, ``pair_scorer``; those the metric does
        not take are ignored.

    Raises
    ------
    UsageError
        For an unknown name, option or value.
    """
    kind = metric_class(name)
    parameters = inspect.signature(kind).parameters
    given = dict(options or {})
    for option in given:
        if option not in parameters:
            known = ", ".join(options_of(name)) or "none"
            raise UsageError(
                f"The metric {name} has no option '{option}'.", remedy=f"It has: {known}."
            )
    usable = {key: value for key, value in services.items() if key in parameters}
    return kind(**given, **usable)


def options_of(name: str) -> dict[str, str]:
    """A metric's options and their defaults, as text."""
    services = {"embedder", "entailment", "pair_scorer"}
    return {
        key: str(parameter.default)
        for key, parameter in inspect.signature(metric_class(name)).parameters.items()
        if key not in services
    }


def describe(name: str) -> str:
    """A metric's help: formula, source, range, and what it cannot tell."""
    return inspect.cleandoc(metric_class(name).__doc__ or "")
