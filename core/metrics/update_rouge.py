"""UpdateROUGE: ROUGE of what was added to a text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.metrics.base import MetricScore
from core.metrics.rouge import Rouge1, Rouge2, RougeLsum
from core.metrics.text import EditItem, EditMetric

_SENTENCE = re.compile(r"[^.]+\.?")


class _UpdateRouge(EditMetric):
    rouge: type[Rouge1 | Rouge2 | RougeLsum]

    def __init__(self, normalisation: str = "none") -> None:
        super().__init__(normalisation)
        self._rouge = self.rouge()

    def _score_batch(self, items: Sequence[EditItem]) -> list[MetricScore]:
        return [self._score(item) for item in items]

    def _score(self, item: EditItem) -> MetricScore:
        written = find_additions(item.source, item.prediction)
        values = [
            self._compare(find_additions(item.source, reference), written)
            for reference in item.references
        ]
        return MetricScore(
            value=sum(values) / len(values),
            components={"per_reference": values, "additions": written},
            signature=self.signature,
        )

    def _compare(self, wanted: str, written: str) -> float:
        if not wanted and not written:
            return 1.0
        return self._rouge.score_pair(wanted, written)[2]


class UpdateRouge1(_UpdateRouge):
    """UpdateROUGE-1: single words of the sentences added, against those wanted; 0 to 1.

    Additions are the pieces of a text that end with a full stop and do not stand in the source;
    ROUGE-1 F1 of the output's additions against the reference's, 1 where neither adds anything, mean
    over references; the corpus value is the mean over items. An output equal to its only reference
    gives 1 where the additions have a letter or digit.

    Source: Logan et al., 'FRUIT: Faithfully Reflecting Updated Information in Text' (NAACL 2022),
    section 5, in the form of EditEval's script.

    It cannot tell whether what was added is true, splits at every full stop, abbreviations included,
    and takes a sentence with one changed letter for an addition as a whole.
    """

    name = "update_rouge1"
    rouge = Rouge1


class UpdateRouge2(_UpdateRouge):
    """UpdateROUGE-2: pairs of words of the sentences added, against those wanted; 0 to 1.

    As UpdateROUGE-1, with ROUGE-2.

    Source: Logan et al., 'FRUIT' (NAACL 2022), section 5, in the form of EditEval's script.

    It cannot tell whether what was added is true; short additions score 0 by chance.
    """

    name = "update_rouge2"
    rouge = Rouge2


class UpdateRougeLsum(_UpdateRouge):
    """UpdateROUGE-Lsum: longest common subsequences of the sentences added and wanted; 0 to 1.

    As UpdateROUGE-1, with ROUGE-Lsum.

    Source: Logan et al., 'FRUIT' (NAACL 2022), section 5, in the form of EditEval's script.

    It cannot tell whether what was added is true, and depends on where lines break.
    """

    name = "update_rougeLsum"
    rouge = RougeLsum


def find_additions(source: str, text: str) -> str:
    """The pieces of a text, each up to a full stop, that do not stand in the source.

    Examples
    --------
    >>> find_additions("It is red.", "It is red. It is new.")
    'It is new.'
    """
    pieces = (match.strip() for match in _SENTENCE.findall(text))
    return " ".join(piece for piece in pieces if piece not in source)
