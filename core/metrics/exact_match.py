"""Exact match with a reference, of the whole text and edit by edit."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from core.metrics.base import MetricScore
from core.metrics.text import EditItem, EditMetric

Edit = tuple[str, str]


class ExactMatch(EditMetric):
    """Exact match: 1 if the output is one of the references, else 0.

    Character for character, white space included. The corpus value is the share of outputs that
    match. An output equal to a reference gives 1.

    Source: Dwivedi-Yu et al., 'EditEval' (2022); WNC and others report it.

    It cannot tell a near miss, or an equally good wording, from a wrong answer.
    """

    name = "em"
    needs_source = False

    def _score_batch(self, items: Sequence[EditItem]) -> list[MetricScore]:
        return [
            MetricScore(value=float(item.prediction in item.references), signature=self.signature)
            for item in items
        ]


class EmDiff(EditMetric):
    """EM-Diff: share of the edits made that are edits wanted, and the other way round; 0 to 1.

    D(text) is the list of (source span, new text) of the character differences to the source, each
    widened to whole words and on to the right until the span stands once in the source::

        EM-Diff = best reference's |D(output) ∩ D(reference)| / max(1, |D(output)|, |D(reference)|)

    Differences are difflib's, its heuristic for characters frequent in texts of 200 and more included.
    The corpus value is the mean. Where no edit was wanted and none made, the published script gives 0,
    and so do we; such items bear ``no_edit_wanted`` and the corpus their number. Otherwise an output
    equal to a reference gives 1, unless the same edit stands in it twice.

    Source: Dwivedi-Yu et al., 'EditEval' (2022), section 4, and its script.

    It cannot tell that two different edits say the same.
    """

    name = "em_diff"

    def _score_batch(self, items: Sequence[EditItem]) -> list[MetricScore]:
        return [self._score(item) for item in items]

    def _aggregate(self, items: Sequence[EditItem]) -> MetricScore:
        scores = self._score_batch(items)
        unneeded = sum(bool(score.components["no_edit_wanted"]) for score in scores)
        return self.mean_score(scores, no_edit_wanted=unneeded)

    def _score(self, item: EditItem) -> MetricScore:
        made = list_edits(item.source, item.prediction)
        best, best_wanted, unneeded = -1.0, 0, False
        for reference in item.references:
            wanted = list_edits(item.source, reference)
            shared = len(set(made) & set(wanted))
            value = shared / max(1, len(made), len(wanted))
            unneeded |= not made and not wanted
            if value > best:
                best, best_wanted = value, len(wanted)
        return MetricScore(
            value=best,
            components={"made": len(made), "wanted": best_wanted, "no_edit_wanted": unneeded},
            signature=self.signature,
            notes=("No edit was wanted and none made, which counts as 0.",) if unneeded else (),
        )


def list_edits(source: str, target: str) -> list[Edit]:
    """Edits that turn one text into the other, as (span of the source, new text).

    Examples
    --------
    >>> list_edits("teh cat and teh dog", "the cat and teh dog")
    [('teh cat', 'the cat')]
    """
    if source == target:
        return []
    edits: list[Edit] = []
    left = right = end = -1
    new = ""
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, source, target).get_opcodes():
        if tag == "equal":
            continue
        start, stop = _widen(source, i1, i2)
        if start <= right:
            new += source[end:i1] + target[j1:j2]
            right = max(right, stop)
        else:
            if right >= 0:
                edits.append((source[left:right], new + source[end:right]))
            left, right = start, stop
            new = source[left:i1] + target[j1:j2]
        end = i2
    edits.append((source[left:right], new + source[end:right]))
    return edits


def _widen(source: str, start: int, stop: int) -> tuple[int, int]:
    """Whole words around a difference, and more to the right until they stand once in the source."""
    left = start
    while left > 0 and not (left < len(source) and source[left].isspace()):
        left -= 1
    if left < len(source) and source[left].isspace():
        left += 1
    right = _next_blank(source, stop)
    while right < len(source) and source.count(source[left:right]) != 1:
        right = _next_blank(source, right + 1)
    return left, right


def _next_blank(source: str, position: int) -> int:
    while position < len(source) and not source[position].isspace():
        position += 1
    return min(position, len(source))
