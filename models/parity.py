"""Built-in sentences and pairs by which a model is tried on import."""

from __future__ import annotations

from core.ports import Entailment, EntailmentModel

PROBE_SENTENCES = (
    "The patient reports chest pain on exertion.",
    "He has had pain in the chest when he climbs stairs.",
    "The court reversed the judgment of the lower court.",
    "Pupils compare two fractions with unlike denominators.",
    "A",
    "The committee met on Tuesday and postponed the decision until the auditors had reported, "
    "since two of the accounts did not agree with the bank's statements for the same quarter.",
)

PROBE_PAIRS = (
    ("The patient reports chest pain.", "The patient has pain."),
    ("The court dismissed the appeal.", "The lesson lasts an hour."),
)

#: (premise, hypothesis, label): twelve on which any usable model is nearly always right.
CHECK_PAIRS: tuple[tuple[str, str, str], ...] = (
    ("A woman is playing the piano on a stage.", "A woman is playing an instrument.", "entailment"),
    ("Two dogs are running across a field.", "Animals are running outside.", "entailment"),
    ("The boy ate an apple and a pear.", "The boy ate fruit.", "entailment"),
    ("All the students passed the exam.", "The students passed the exam.", "entailment"),
    ("A woman is playing the piano on a stage.", "Nobody is playing the piano.", "contradiction"),
    ("The man is asleep in his bed.", "The man is awake.", "contradiction"),
    ("The shop is closed on Sundays.", "The shop is open on Sundays.", "contradiction"),
    ("The glass is full.", "The glass is empty.", "contradiction"),
    ("A man is reading a newspaper.", "The man is married.", "neutral"),
    ("Two dogs are running across a field.", "The dogs are chasing a rabbit.", "neutral"),
    ("The students are sitting in a classroom.", "The students are learning French.", "neutral"),
    ("A woman is buying vegetables.", "The woman is going to cook soup.", "neutral"),
)

_LEAST_RIGHT = 8


def count_right(model: EntailmentModel) -> int:
    """How many of `CHECK_PAIRS` a model classifies right; without a contradiction class, in two classes."""
    answers = model.entail([(premise, hypothesis) for premise, hypothesis, _ in CHECK_PAIRS])
    right = 0
    for answer, (_, _, label) in zip(answers, CHECK_PAIRS, strict=True):
        found = most_likely(answer)
        if model.has_contradiction:
            right += found == label
        else:
            right += (found == "entailment") == (label == "entailment")
    return right


def count_right_by_class(model: EntailmentModel) -> tuple[tuple[int, int], tuple[int, int]]:
    """(right, all) of the `CHECK_PAIRS` that follow, and of those that do not."""
    answers = model.entail([(premise, hypothesis) for premise, hypothesis, _ in CHECK_PAIRS])
    right, total = [0, 0], [0, 0]
    for answer, (_, _, label) in zip(answers, CHECK_PAIRS, strict=True):
        follows = label == "entailment"
        total[not follows] += 1
        right[not follows] += (answer.entailment > 0.5) == follows
    return (right[0], total[0]), (right[1], total[1])


def self_check(model: EntailmentModel) -> str:
    """A warning when the labels look wrong, else ''."""
    right = count_right(model)
    if right >= _LEAST_RIGHT:
        return ""
    return (
        f"Only {right} of {len(CHECK_PAIRS)} simple pairs came out right: "
        "the order of its labels in config.json looks wrong, or the model is not usable for this."
    )


def most_likely(answer: Entailment) -> str:
    """The class of greatest probability."""
    return max(("entailment", "neutral", "contradiction"), key=lambda name: getattr(answer, name))
