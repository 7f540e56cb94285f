"""How much a person changed a text: word-level edit distance and what the edits were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rapidfuzz.distance import Levenshtein

from core.metrics.base import Metric, MetricScore
from core.metrics.options import need_text


class EditDistance(Metric):
    """Edit distance: the fewest words to insert, delete or replace to get from source to output.

    ``value`` is the normalised distance, ``distance / max(words of source, words of output)``, 0 to 1,
    0 for equal texts; ``distance`` is the count. Words are what white space separates. Beside it stand
    the words inserted, deleted, replaced and kept, the places where edits are, the change in length,
    and the same distance in characters. Two texts without words are 0 apart. The corpus value is the
    sum of distances over the sum of the longer lengths.

    Source: Levenshtein (1966); DOLOMITES reports the word-level distance of experts' post-edits.

    It cannot tell a correction from a change of wording, and counts a moved sentence twice.
    """

    name = "edit_distance"

    @property
    def signature(self) -> str:
        return f"edit_distance|unit:words|normalised:longer|version:{self.version}"

    def score_one(self, item: Mapping[str, Any]) -> MetricScore:
        source, prediction = need_text(item, "source"), need_text(item, "prediction")
        before, after = source.split(), prediction.split()
        counts = {"insert": 0, "delete": 0, "replace": 0, "equal": 0}
        places = 0
        for step in Levenshtein.opcodes(before, after):
            places += step.tag != "equal"
            counts[step.tag] += max(step.src_end - step.src_start, step.dest_end - step.dest_start)
        distance = counts["insert"] + counts["delete"] + counts["replace"]
        longer = max(len(before), len(after))
        return MetricScore(
            value=distance / longer if longer else 0.0,
            components={
                "distance": distance,
                "inserted": counts["insert"],
                "deleted": counts["delete"],
                "replaced": counts["replace"],
                "kept": counts["equal"],
                "places": places,
                "words_before": len(before),
                "words_after": len(after),
                "characters": Levenshtein.distance(source, prediction),
                "characters_normalised": Levenshtein.normalized_distance(source, prediction),
            },
            signature=self.signature,
        )

    def aggregate(self, items: Sequence[Mapping[str, Any]]) -> MetricScore:
        if not items:
            return self.unscored("There is no item.")
        parts = [score.components for score in self.score_many(items)]
        distance = sum(part["distance"] for part in parts)
        longer = sum(max(part["words_before"], part["words_after"]) for part in parts)
        return MetricScore(
            value=distance / longer if longer else 0.0,
            components={
                "distance": distance,
                **{
                    key: sum(part[key] for part in parts)
                    for key in ("inserted", "deleted", "replaced", "kept", "places", "characters")
                },
                "unchanged_items": sum(part["distance"] == 0 for part in parts),
                "n": len(parts),
            },
            signature=self.signature,
        )
