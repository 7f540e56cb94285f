"""Blind comparison of two outputs: which pairs, in which order and on which sides, and what was chosen.

Everybody compares the same pairs, so that agreement can be measured; the order and the sides are drawn
anew for each person and kept in their items.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core.errors import ConflictError, NotFoundError, UsageError
from core.ids import new_id
from core.metrics.comparison import sample_pairs
from core.review.verbs import REVIEWED, record_preference
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.types import Preference
from core.types.evaluation import Adjudication, PairItem

Chosen = Literal["first", "second", "tie"]

#: The set of pairs is drawn with this unless another seed is given, the same for everybody.
PAIRS_SEED = 20_240_501


@dataclass(frozen=True, slots=True)
class PairChoice:
    """One person's choice between two outputs; ``first`` is the one with the smaller id."""

    first: str
    second: str
    person_id: str
    choice: Chosen
    strength: int
    comment: str = ""


@dataclass(frozen=True, slots=True)
class DecidedPair:
    """What people together say of a pair: adjudicated, else the majority, else a tie."""

    first: str
    second: str
    choice: Chosen
    votes: Mapping[str, int]
    adjudicated: bool = False

    @property
    def unanimous(self) -> bool:
        return len(self.votes) == 1


def personal_seed(person_id: str, purpose: str) -> int:
    """A seed that is one person's own and the same when asked again."""
    digest = hashlib.sha256(f"{purpose}:{person_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big")


def draw_pairs(
    tx: Transaction,
    person_id: str,
    *,
    run_ids: Sequence[str] = (),
    count: int = 0,
    seed: int = PAIRS_SEED,
) -> int:
    """Put pairs of outputs into a person's comparison queue; returns how many are new.

    Parameters
    ----------
    run_ids
        Only outputs of these runs; () for all.
    count
        At most so many pairs in all; 0 for every pair of outputs of the same example.
    seed
        Draws the set of pairs, the same for everybody. Order and sides come from the person.
    """
    where = f" AND o.run_id IN ({', '.join('?' * len(run_ids))})" if run_ids else ""
    rows = tx.query(
        "SELECT o.id, o.example_id FROM output o WHERE o.state = 'done' AND o.deleted = 0"
        f" AND {REVIEWED}{where} ORDER BY o.example_id, o.pseudonym",
        tuple(run_ids),
    )
    by_example: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        by_example[row["example_id"]].append(row["id"])
    outputs = {example: ids for example, ids in by_example.items() if len(ids) > 1}
    if not outputs:
        raise NotFoundError(
            "No example has outputs of two runs to compare.",
            remedy="Let a second system write for the same examples, or import outputs for them.",
        )
    everything = sum(len(ids) * (len(ids) - 1) // 2 for ids in outputs.values())
    pairs = sample_pairs(outputs, count=count or everything, seed=seed)
    known = {
        frozenset((row["left_output_id"], row["right_output_id"]))
        for row in tx.query(
            "SELECT left_output_id, right_output_id FROM pair_item"
            " WHERE person_id = ? AND deleted = 0",
            (person_id,),
        )
    }
    fresh = [pair for pair in pairs if frozenset((pair.left, pair.right)) not in known]
    draw = random.Random(personal_seed(person_id, f"pairs:{len(known)}"))
    fresh.sort(key=lambda pair: (pair.example, min(pair.left, pair.right)))
    draw.shuffle(fresh)
    for offset, pair in enumerate(fresh):
        sides = [pair.left, pair.right]
        draw.shuffle(sides)
        tx.insert(
            PairItem(
                id=new_id(),
                person_id=person_id,
                example_id=pair.example,
                left_output_id=sides[0],
                right_output_id=sides[1],
                position=len(known) + offset,
            )
        )
    return len(fresh)


def submit_pair(
    tx: Transaction, item_id: str, strength: int, comment: str = "", *, seconds: float = 0.0
) -> PairItem:
    """Hand in a comparison, from 1 (left much better) over 3 (equal) to 5 (right much better)."""
    item = tx.get(PairItem, item_id)
    record_preference(
        tx, item.left_output_id, item.right_output_id, item.person_id, strength, comment
    )
    return tx.update(
        PairItem, item_id, state="submitted", comment=comment, seconds=round(seconds, 1)
    )


def edit_pair(tx: Transaction, /, item_id: str, **fields: Any) -> PairItem:
    """Change an item's state or justification."""
    return tx.update(PairItem, item_id, **fields)


def preference_of(reads: Reads, item: PairItem) -> Preference | None:
    """What the person chose for an item, if they did."""
    found = reads.find(
        Preference,
        "left_output_id = ? AND right_output_id = ? AND person_id = ?",
        (item.left_output_id, item.right_output_id, item.person_id),
    )
    return found[0] if found else None


def pair_choices(reads: Reads) -> list[PairChoice]:
    """Every preference of a person, spoken of the output with the smaller id first."""
    found = []
    for row in reads.query(
        "SELECT p.left_output_id, p.right_output_id, p.person_id, p.choice, p.strength, p.comment"
        " FROM preference p JOIN output a ON a.id = p.left_output_id AND a.deleted = 0"
        " JOIN output b ON b.id = p.right_output_id AND b.deleted = 0"
        " WHERE p.deleted = 0 ORDER BY p.id"
    ):
        left, right = row["left_output_id"], row["right_output_id"]
        found.append(
            PairChoice(
                min(left, right),
                max(left, right),
                row["person_id"],
                _of_first(row["choice"], left < right),
                row["strength"] if left < right else 6 - row["strength"],
                row["comment"],
            )
        )
    return found


def _of_first(choice: str, left_is_first: bool) -> Chosen:
    if choice == "tie":
        return "tie"
    return "first" if (choice == "left") == left_is_first else "second"


def decided_pairs(reads: Reads) -> list[DecidedPair]:
    """What people together say of every pair somebody compared."""
    votes: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for choice in pair_choices(reads):
        votes[choice.first, choice.second][choice.choice] += 1
    decided = {
        (row.first_output_id, row.second_output_id): row.choice
        for row in reads.find(Adjudication, order_by="id")
    }
    return [
        DecidedPair(
            first,
            second,
            decided.get((first, second)) or _majority(counts),
            dict(counts),
            (first, second) in decided,
        )
        for (first, second), counts in sorted(votes.items())
    ]


def _majority(votes: Mapping[str, int]) -> Chosen:
    most = max(votes.values())
    leaders = [choice for choice, count in votes.items() if count == most]
    if len(leaders) > 1:
        return "tie"
    only = leaders[0]
    return "first" if only == "first" else "second" if only == "second" else "tie"


def disagreements(reads: Reads) -> list[DecidedPair]:
    """Pairs that people judged differently and nobody has adjudicated."""
    return [pair for pair in decided_pairs(reads) if not pair.unanimous and not pair.adjudicated]


def adjudicate(
    tx: Transaction, one: str, other: str, person_id: str, choice: Chosen, comment: str
) -> Adjudication:
    """Decide a pair on which people disagree; a justification is asked for.

    Parameters
    ----------
    one, other
        The outputs in any order; ``choice`` speaks of them in the order given.
    """
    if choice not in ("first", "second", "tie"):
        raise UsageError(f"'{choice}' is no choice.", remedy="Use first, second or tie.")
    if not comment.strip():
        raise UsageError("A decision needs its reason.", remedy="Write a sentence.")
    first, second = min(one, other), max(one, other)
    if one != first and choice != "tie":
        choice = "second" if choice == "first" else "first"
    known = [pair for pair in decided_pairs(tx) if (pair.first, pair.second) == (first, second)]
    if not known:
        raise ConflictError(
            "Nobody has compared these two yet.", remedy="Adjudicate what people disagree on."
        )
    earlier = tx.find(Adjudication, "first_output_id = ? AND second_output_id = ?", (first, second))
    if earlier:
        return tx.update(
            Adjudication, earlier[0].id, choice=choice, comment=comment, person_id=person_id
        )
    return tx.insert(
        Adjudication(
            id=new_id(),
            first_output_id=first,
            second_output_id=second,
            person_id=person_id,
            choice=choice,
            comment=comment,
        )
    )


def rater_agreement(reads: Reads) -> dict[str, Any]:
    """Agreement among people on pairs: percentage with ties and without, Krippendorff's alpha."""
    from core.metrics.agreement import krippendorff_alpha, percentage

    choices = pair_choices(reads)
    people = sorted({choice.person_id for choice in choices})
    pairs = sorted({(choice.first, choice.second) for choice in choices})
    given = {(c.first, c.second, c.person_id): c for c in choices}

    def series(value: str) -> list[list[Any]]:
        return [
            [getattr(given.get((*pair, person)), value, None) for pair in pairs]
            for person in people
        ]

    names, strengths = series("choice"), series("strength")
    return {
        "people": len(people),
        "pairs": len(pairs),
        "agreement": percentage(*names),
        "agreement_without_ties": percentage(*names, ignore=("tie",)),
        "alpha_nominal": krippendorff_alpha(*names),
        "alpha_ordinal": krippendorff_alpha(*strengths, level="ordinal"),
    }
