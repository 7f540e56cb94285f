"""Annotating graphs: work handed on, training rounds with feedback, copied steps, two persons settled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.errors import ConflictError, UsageError
from core.graphs.comparison import Comparison
from core.graphs.hints import hint_graph
from core.graphs.links import connect
from core.graphs.model import StepGraph, load_graph, quote_step
from core.graphs.suggestions import suggest_dependencies
from core.graphs.verbs import add_graph, add_step
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.types import Person
from core.types.graphs import TaskGraph

#: Words in a row that a step shares with the source for it to count as copied.
COPIED_WORDS = 5


# -- handing on --------------------------------------------------------------------------


def submit_graph(tx: Transaction, graph_id: str) -> TaskGraph:
    """Say that a graph is done; it can still be edited later."""
    graph = load_graph(tx, graph_id)
    if not graph.accepted:
        raise ConflictError("The graph has no step yet.", remedy="Add its steps, or skip the task.")
    return tx.update(TaskGraph, graph_id, state="done")


def reopen_graph(tx: Transaction, graph_id: str) -> TaskGraph:
    """Take 'done' or 'skipped' back."""
    return tx.update(TaskGraph, graph_id, state="open")


def skip_graph(tx: Transaction, graph_id: str, reason: str = "") -> TaskGraph:
    """Pass a task to somebody else: the graph is marked skipped and the next person gets a new one.

    The next person is the one with the fewest open graphs among those who have not had the task; ''
    stands for whoever comes first, where nobody else is there.
    """
    graph = tx.get(TaskGraph, graph_id)
    if graph.state == "skipped":
        raise ConflictError(
            "The task was passed on already.", remedy="Open it again to work on it."
        )
    person = next_person(tx, graph)
    tx.update(TaskGraph, graph_id, state="skipped", note=reason.strip())
    return add_graph(
        tx,
        graph.task,
        graph.assumptions,
        role=graph.role,
        task_id=graph.task_id,
        gold_id=graph.gold_id,
        split=graph.split,
        source_text=graph.source_text,
        person_id=person,
    )


def next_person(reads: Reads, graph: TaskGraph) -> str:
    """Who gets a task that its annotator passes on; '' when nobody else is there."""
    had = {
        other.person_id
        for other in reads.find(TaskGraph, "task = ? AND role = ?", (graph.task, graph.role))
        if other.assumptions == graph.assumptions
    }
    others = [person.id for person in reads.find(Person) if person.id not in had]
    if not others:
        return ""
    load = {
        row["person_id"]: row["open"]
        for row in reads.query(
            "SELECT person_id, count(*) AS open FROM graph"
            " WHERE state = 'open' AND deleted = 0 GROUP BY person_id"
        )
    }
    return min(others, key=lambda person: (load.get(person, 0), person))


def assign_graph(tx: Transaction, graph_id: str, person_id: str) -> TaskGraph:
    """Give a graph to a person."""
    if person_id:
        tx.get(Person, person_id)
    return tx.update(TaskGraph, graph_id, person_id=person_id)


# -- training ----------------------------------------------------------------------------


def start_training(
    tx: Transaction, gold_id: str, person_id: str, *, with_steps: bool = True
) -> TaskGraph:
    """A training graph against a gold one; ``with_steps`` gives the steps, so that only order is asked."""
    gold = load_graph(tx, gold_id)
    if not gold.accepted:
        raise UsageError("The gold graph has no step.", remedy="Choose another gold graph.")
    made = add_graph(
        tx,
        gold.graph.task,
        gold.graph.assumptions,
        role="training",
        gold_id=gold_id,
        task_id=gold.graph.task_id,
        person_id=person_id,
    )
    if with_steps:
        # In the order of their spelling, so that the list does not give the answer away.
        for step in sorted(gold.accepted, key=lambda step: step.text.casefold()):
            add_step(tx, made.id, step.text)
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What a trainee reads after a round: a verdict, the mistakes by name, and each in words."""

    right: int
    wrong: int
    mistakes: tuple[str, ...]
    details: tuple[str, ...]


def give_feedback(graph: StepGraph, gold: StepGraph, comparison: Comparison) -> Feedback:
    """Name the mistakes of a drawn graph, the common ones of the published annotation first."""
    names = {hint.kind for hint in hint_graph(graph)}
    gold_names = {hint.kind for hint in hint_graph(gold)}
    mistakes = []
    if "linear" in names and "linear" not in gold_names:
        mistakes.append(
            "A line instead of a graph: some of these steps can be done in either order."
        )
    if "half_drawn" in names:
        mistakes.append("Half drawn: most steps have no dependency yet.")
    reversed_ = [v for v in comparison.edges if v.side == "graph" and v.status == "reversed"]
    if reversed_:
        mistakes.append(
            "Read the other way round: an arrow points to what can only be done afterwards."
        )
    extra = [v for v in comparison.edges if v.side == "graph" and v.status == "extra"]
    if extra:
        mistakes.append(
            "Order taken for need: a dependency means 'cannot start before', not 'usually follows'."
        )
    missing = [v for v in comparison.edges if v.side == "gold" and v.status == "missing"]
    if missing:
        mistakes.append("A dependency is missing.")
    if comparison.missing:
        mistakes.append("A step is missing.")
    if graph.shortcuts and not gold.shortcuts:
        mistakes.append("Said twice: a longer path says some dependencies already.")
    details = []
    for verdicts, words, source in (
        (reversed_, "{a} comes after {b}, not before it.", graph),
        (extra, "{b} can start without {a}.", graph),
        (missing, "{b} cannot start before {a} is done.", gold),
    ):
        for verdict in verdicts:
            texts = {
                "a": quote_step(source.by_id[verdict.before].text),
                "b": quote_step(source.by_id[verdict.after].text),
            }
            sentence = words.format(**texts)
            details.append(sentence[0].upper() + sentence[1:])
    details += [f"{quote_step(gold.by_id[step].text)} is missing." for step in comparison.missing]
    right = comparison.count("matched") + comparison.count("implied")
    return Feedback(
        right=right,
        wrong=len(reversed_) + len(extra) + len(missing),
        mistakes=tuple(mistakes),
        details=tuple(details),
    )


# -- copied steps ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """A stretch of a step, in code points, that stands word for word in the source at ``source``."""

    start: int
    end: int
    source: int
    words: int


def find_copied(text: str, source: str, least: int = COPIED_WORDS) -> Copied | None:
    """The longest run of words of a step that stands in the source, if it is long enough.

    A step shorter than ``least`` words counts when all of it stands there.

    Examples
    --------
    >>> find_copied("boil the fresh water", "First boil the fresh water.").words
    4
    """
    import re

    own = list(re.finditer(r"\w+", text))
    theirs = list(re.finditer(r"\w+", source))
    if not own or not theirs:
        return None
    left = [found[0].casefold() for found in own]
    right = [found[0].casefold() for found in theirs]
    best = (0, 0, 0)
    lengths: dict[int, int] = {}
    places: dict[str, list[int]] = {}
    for number, word in enumerate(right):
        places.setdefault(word, []).append(number)
    for number, word in enumerate(left):
        row: dict[int, int] = {}
        for at in places.get(word, ()):
            row[at] = lengths.get(at - 1, 0) + 1
            best = max(best, (row[at], -number, -at))
        lengths = row
    run, last, at = best[0], -best[1], -best[2]
    if run < min(least, len(own)) or run < 2:
        return None
    return Copied(
        start=own[last - run + 1].start(),
        end=own[last].end(),
        source=theirs[at - run + 1].start(),
        words=run,
    )


def copied_steps(graph: StepGraph) -> dict[str, Copied]:
    """Steps of a graph that were copied from its source text, by id."""
    source = graph.graph.source_text
    found = {step.id: find_copied(step.text, source) for step in graph.accepted if source.strip()}
    return {step: copied for step, copied in found.items() if copied is not None}


# -- two annotators ----------------------------------------------------------------------


def adjudicate(
    tx: Transaction, left_id: str, right_id: str, comparison: Comparison, names: Mapping[str, str]
) -> TaskGraph:
    """A new gold graph from two persons' ones: what both say stands, the rest are suggestions.

    Parameters
    ----------
    comparison
        Of the left graph with the right one.
    names
        Who drew each graph, by its id; the suggestions bear these names.
    """
    left, right = load_graph(tx, left_id), load_graph(tx, right_id)
    made = add_graph(
        tx,
        left.graph.task,
        left.graph.assumptions,
        role="gold",
        task_id=left.graph.task_id,
        source_text=left.graph.source_text,
        note=f"Settled from {names.get(left_id, 'one')} and {names.get(right_id, 'another')}.",
    )
    counterpart = {pair.gold: pair.step for pair in comparison.pairs}
    ids: dict[str, str] = {}
    agreed = {pair.step for pair in comparison.pairs}
    for step in left.accepted:
        by = "" if step.id in agreed else names.get(left_id, "one annotator")
        ids[step.id] = add_step(tx, made.id, step.text, suggested=by).id
    for step in right.accepted:
        if step.id in counterpart:
            ids[step.id] = ids[counterpart[step.id]]
        else:
            by = names.get(right_id, "the other annotator")
            ids[step.id] = add_step(tx, made.id, step.text, suggested=by).id
    status = comparison.edge_status()
    firm = [link for link in left.links if status.get(link.id) == "matched"]
    for link in firm:
        connect(tx, made.id, ids[link.before_id], ids[link.after_id])
    for graph, who in ((left, left_id), (right, right_id)):
        open_links = [link for link in graph.links if status.get(link.id) not in ("matched",)]
        suggest_dependencies(
            tx,
            made.id,
            [(ids[link.before_id], ids[link.after_id]) for link in open_links],
            names.get(who, "an annotator"),
        )
    return made
