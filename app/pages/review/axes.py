"""The five axes of the review, in words: what is asked, and what each of 1 to 5 means."""

from __future__ import annotations

from app.strings import say
from app.widgets.rating import Axis
from core.types import RATING_AXES

_WORDS: dict[str, tuple[str, str, tuple[str, str, str, str, str]]] = {
    "task_adherence": (
        "Task adherence",
        "Does it do what the task and its procedure ask for?",
        (
            "does something else",
            "misses most of what was asked",
            "does about half of what was asked",
            "does what was asked with small slips",
            "does exactly what was asked",
        ),
    ),
    "factual_correctness": (
        "Factual correctness",
        "Is what it says right, by the input and by what is known in the field?",
        (
            "wrong in what matters most",
            "several serious errors",
            "some errors, none of them grave",
            "right but for trifles",
            "everything is right",
        ),
    ),
    "depth": (
        "Depth",
        "Does it go as deep as an expert would?",
        (
            "only the surface",
            "names matters without explaining them",
            "some explained, some only named",
            "explained well almost throughout",
            "as deep as an expert would go",
        ),
    ),
    "completeness": (
        "Completeness",
        "Is everything there that belongs there?",
        (
            "almost everything is missing",
            "important parts are missing",
            "the main points are there, gaps remain",
            "little is missing",
            "nothing is missing",
        ),
    ),
    "coherence": (
        "Coherence",
        "Does it hang together and read well?",
        (
            "cannot be followed",
            "hard to follow, contradicts itself",
            "can be followed with some effort",
            "reads well, small breaks",
            "clear and of one piece",
        ),
    ),
}


def make_axes() -> list[Axis]:
    """The axes in the order in which they are rated."""
    axes = []
    for key in RATING_AXES:
        name, question, anchors = _WORDS[key]
        first, second, third, fourth, fifth = (say(anchor) for anchor in anchors)
        axes.append(Axis(key, say(name), say(question), (first, second, third, fourth, fifth)))
    return axes
