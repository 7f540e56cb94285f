"""Graphs compared, scored, corrected, settled; annotators trained and relieved; splits by clusters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from core.errors import ConflictError, UsageError
from core.graphs import verbs
from core.graphs.annotation import (
    adjudicate,
    copied_steps,
    find_copied,
    give_feedback,
    next_person,
    reopen_graph,
    skip_graph,
    start_training,
    submit_graph,
)
from core.graphs.comparison import (
    GRAPH_METRICS,
    compare_graphs,
    find_match,
    match_steps,
    record_scores,
    reset_match,
    score_graph,
    similarities,
    similarity_name,
    unmatch_steps,
)
from core.graphs.model import StepGraph, load_graph
from core.graphs.splits import cluster_tasks, split_clusters, split_golds, split_graphs
from core.graphs.suggestions import accept_all
from core.people import add_person
from core.storage import Workspace
from core.types.graphs import GraphScore, TaskGraph
from models.fake import FakeEmbedder

STEPS = [
    "Boil the water",
    "Warm the pot",
    "Put leaves in the pot",
    "Pour the water",
    "Serve the tea",
]
EDGES = [(0, 3), (1, 2), (2, 3), (3, 4)]


def make(
    workspace: Workspace,
    steps: Sequence[str] = STEPS,
    edges: Sequence[tuple[int, int]] = EDGES,
    **fields: object,
) -> StepGraph:
    graph = workspace.transact(
        "Add", "", verbs.add_graph, "make tea", steps=steps, edges=edges, **fields
    ).value
    return load_graph(workspace, graph.id)


def statuses(graph: StepGraph, gold: StepGraph) -> dict[tuple[str, int, int], str]:
    found = compare_graphs(graph, gold)
    return {
        (v.side, side.numbers[v.before], side.numbers[v.after]): v.status
        for v in found.edges
        for side in [graph if v.side == "graph" else gold]
    }


def test_a_graph_against_itself_matches_all(workspace: Workspace) -> None:
    gold, same = make(workspace), make(workspace)
    found = compare_graphs(same, gold)
    assert [(p.similarity, p.corrected) for p in found.pairs] == [(1.0, False)] * 5
    assert (found.extra, found.missing) == ((), ())
    assert set(found.edge_status().values()) == {"matched"}
    scores = score_graph(same, gold, similarities(same.accepted, gold.accepted, None))
    assert set(scores) == set(GRAPH_METRICS)
    assert all(score.value == pytest.approx(1.0) for score in scores.values())


def test_missing_extra_reversed_and_implied(workspace: Workspace) -> None:
    gold = make(workspace)
    drawn = make(workspace, [*STEPS[:4], "Call a friend"], [(3, 0), (1, 3), (2, 4), (1, 2)])
    found = compare_graphs(drawn, gold)
    assert [drawn.by_id[step].text for step in found.extra] == ["Call a friend"]
    assert [gold.by_id[step].text for step in found.missing] == ["Serve the tea"]
    seen = statuses(drawn, gold)
    assert seen["graph", 4, 1] == "reversed"
    assert seen["gold", 1, 4] == "reversed"
    assert seen["graph", 2, 4] == "implied"
    assert seen["graph", 3, 5] == "extra"
    assert seen["graph", 2, 3] == "matched"
    assert seen["gold", 3, 4] == "missing"
    assert seen["gold", 4, 5] == "missing"
    assert (found.count("reversed"), found.count("missing")) == (1, 2)


def test_a_persons_word_on_the_matching_counts(workspace: Workspace) -> None:
    gold = make(workspace)
    drawn = make(workspace, ["Heat some liquid", *STEPS[1:]], EDGES)
    step, golden = drawn.steps[0].id, gold.steps[0].id
    key = (drawn.graph.id, gold.graph.id)
    assert golden in compare_graphs(drawn, gold).missing
    workspace.transact("M", "", match_steps, *key, step, golden)
    match = find_match(workspace, *key)
    found = compare_graphs(drawn, gold, match=match)
    assert [p.gold for p in found.pairs if p.corrected] == [golden]
    assert set(found.edge_status().values()) == {"matched"}
    same = similarities(drawn.accepted, gold.accepted, None)
    plain = score_graph(drawn, gold, same)
    told = score_graph(drawn, gold, same, match=match)
    assert told["step_matching"].value == pytest.approx(1.0)
    assert (plain["step_matching"].value or 0) < 1
    assert "corrected by a person" in told["in_degree"].signature
    workspace.transact("U", "", unmatch_steps, *key, drawn.steps[1].id, gold.steps[1].id)
    found = compare_graphs(drawn, gold, match=find_match(workspace, *key))
    apart = (drawn.steps[1].id, gold.steps[1].id)
    assert apart not in [(pair.step, pair.gold) for pair in found.pairs]
    workspace.transact("R", "", reset_match, *key)
    assert find_match(workspace, *key) is None


def test_a_step_has_one_counterpart(workspace: Workspace) -> None:
    gold, drawn = make(workspace), make(workspace)
    key = (drawn.graph.id, gold.graph.id)
    first, second = drawn.steps[0].id, drawn.steps[1].id
    workspace.transact("M", "", match_steps, *key, first, gold.steps[2].id)
    match = workspace.transact("M", "", match_steps, *key, second, gold.steps[2].id).value
    assert match.together == ((second, gold.steps[2].id),)


def test_suggestions_are_not_compared(workspace: Workspace) -> None:
    gold, drawn = make(workspace), make(workspace)
    workspace.transact("S", "", verbs.add_step, drawn.graph.id, "Dance", suggested="m")
    drawn = load_graph(workspace, drawn.graph.id)
    assert compare_graphs(drawn, gold).extra == ()


def test_empty_graphs_compare(workspace: Workspace) -> None:
    gold, empty = make(workspace), make(workspace, [], [])
    assert len(compare_graphs(empty, gold).missing) == 5
    assert len(compare_graphs(gold, empty).extra) == 5
    scores = score_graph(empty, gold, np.zeros((0, 5)))
    assert scores["step_matching"].value == 0.0


def test_scores_are_kept_with_their_signature(workspace: Workspace) -> None:
    gold, drawn = make(workspace), make(workspace)
    embedder = FakeEmbedder()
    same = similarities(drawn.accepted, gold.accepted, embedder)
    scores = score_graph(drawn, gold, same, similarity_name=similarity_name(embedder))
    for _time in range(2):
        workspace.transact("K", "", record_scores, drawn.graph.id, gold.graph.id, scores)
    kept = workspace.find(GraphScore, "metric = 'step_matching'")
    assert len(kept) == 2
    assert "cosine of fake-embedder" in kept[0].signature


# -- training and handing on -------------------------------------------------------------


def test_feedback_names_the_common_mistakes(workspace: Workspace) -> None:
    gold = make(workspace, role="gold")
    line = make(workspace, STEPS, [(n, n + 1) for n in range(4)])
    found = give_feedback(line, gold, compare_graphs(line, gold))
    assert "A line instead of a graph" in found.mistakes[0]
    assert any("Order taken for need" in text for text in found.mistakes)
    assert "'Warm the pot' can start without 'Boil the water'." in found.details
    turned = make(workspace, STEPS, [(3, 0), (1, 2), (2, 3), (3, 4)])
    found = give_feedback(turned, gold, compare_graphs(turned, gold))
    assert any("the other way round" in text for text in found.mistakes)
    half = make(workspace, STEPS, [(0, 3)])
    found = give_feedback(half, gold, compare_graphs(half, gold))
    assert any("Half drawn" in text for text in found.mistakes)
    perfect = give_feedback(gold, gold, compare_graphs(gold, gold))
    assert (perfect.mistakes, perfect.wrong, perfect.right) == ((), 0, 4)


def test_a_training_round_gives_steps_but_not_their_order(workspace: Workspace) -> None:
    gold = make(workspace, role="gold")
    made = workspace.transact("T", "", start_training, gold.graph.id, "").value
    training = load_graph(workspace, made.id)
    assert (made.role, made.gold_id) == ("training", gold.graph.id)
    texts = [step.text for step in training.steps]
    assert texts == sorted(STEPS)
    assert training.links == ()
    empty = make(workspace, [], [])
    with pytest.raises(UsageError):
        workspace.transact("T", "", start_training, empty.graph.id, "")


def test_a_task_is_passed_to_whoever_has_least_and_never_had_it(workspace: Workspace) -> None:
    ann, bob, eve = (
        workspace.transact_job("P", "", add_person, name).value.id for name in ("Ann", "Bob", "Eve")
    )
    workspace.transact("A", bob, verbs.add_graph, "another task")
    graph = make(workspace, person_id=ann).graph
    made = workspace.transact("S", ann, skip_graph, graph.id, "not my field").value
    assert made.person_id == eve
    assert workspace.get(TaskGraph, graph.id).state == "skipped"
    assert workspace.get(TaskGraph, graph.id).note == "not my field"
    assert next_person(workspace, made) == bob
    third = workspace.transact("S", eve, skip_graph, made.id).value
    assert third.person_id == bob
    last = workspace.transact("S", bob, skip_graph, third.id).value
    assert last.person_id == ""
    with pytest.raises(ConflictError, match="already"):
        workspace.transact("S", ann, skip_graph, graph.id)
    workspace.transact("O", ann, reopen_graph, graph.id)
    workspace.transact("D", ann, submit_graph, graph.id)
    assert workspace.get(TaskGraph, graph.id).state == "done"
    with pytest.raises(ConflictError, match="no step"):
        workspace.transact("D", ann, submit_graph, last.id)


def test_copied_steps_are_found(workspace: Workspace) -> None:
    source = "First, pour the hot water over the leaves slowly. Then wait."
    found = find_copied("Pour the hot water over leaves", source)
    assert found is not None
    assert (found.words, source[found.source : found.source + 4]) == (5, "pour")
    assert find_copied("Serve the tea with milk and sugar", source) is None
    assert find_copied("Then wait", source) is not None
    assert find_copied("", source) is None
    graph = make(workspace, ["Pour the hot water over the leaves", "Smile"], [], source_text=source)
    assert list(copied_steps(graph)) == [graph.steps[0].id]


def test_two_annotators_are_settled(workspace: Workspace) -> None:
    left = make(workspace, person_id="a")
    right = make(workspace, [*STEPS[:4], "Drink"], [(0, 3), (2, 3), (3, 4)])
    found = compare_graphs(left, right)
    names = {left.graph.id: "Ann", right.graph.id: "Bob"}
    gold = workspace.transact(
        "J", "", adjudicate, left.graph.id, right.graph.id, found, names
    ).value
    settled = load_graph(workspace, gold.id)
    assert gold.role == "gold"
    assert [step.text for step in settled.accepted] == STEPS[:4]
    assert {step.text: step.suggested for step in settled.steps if step.suggested} == {
        "Serve the tea": "Ann",
        "Drink": "Bob",
    }
    assert settled.edges == ((0, 3), (2, 3))
    assert sum(bool(link.suggested) for link in settled.dependencies) == 3
    workspace.transact("A", "", accept_all, gold.id)
    assert len(load_graph(workspace, gold.id).links) == 5


def test_opposite_arrows_of_two_annotators_both_wait(workspace: Workspace) -> None:
    left, right = make(workspace, "ab", [(0, 1)]), make(workspace, "ab", [(1, 0)])
    found = compare_graphs(left, right)
    gold = workspace.transact("J", "", adjudicate, left.graph.id, right.graph.id, found, {}).value
    settled = load_graph(workspace, gold.id)
    assert (settled.links, len(settled.dependencies)) == ((), 2)
    accepted = workspace.transact("A", "", accept_all, gold.id).value
    assert (accepted.dependencies, len(accepted.refused)) == (1, 1)


# -- splits ------------------------------------------------------------------------------


def test_like_tasks_share_a_split_and_the_seed_decides() -> None:
    tasks = ["make green tea", "make black tea", "make iced tea", "write a will", "write a will",
             "sue a landlord", "calibrate a meter", "grade essays"]  # fmt: skip
    clusters = cluster_tasks(tasks, FakeEmbedder(dimensions=256), similar=0.5)
    assert len({clusters[0], clusters[1], clusters[2]}) == 1
    assert clusters[3] == clusters[4] != clusters[0]
    splits = split_clusters(clusters, seed=3)
    assert splits == split_clusters(clusters, seed=3)
    for cluster in set(clusters):
        assert len({s for s, c in zip(splits, clusters, strict=True) if c == cluster}) == 1
    assert len({tuple(split_clusters(list(range(40)), seed=n)) for n in range(5)}) == 5
    sizes = split_clusters(list(range(1000)), seed=1)
    assert [sizes.count(name) for name in ("train", "validation", "test")] == [600, 150, 250]
    assert cluster_tasks([], FakeEmbedder()) == []
    assert cluster_tasks(["a", "a"], FakeEmbedder()) == [0, 0]
    with pytest.raises(UsageError):
        split_clusters([0], {"train": 0.0})


def test_splits_are_written(workspace: Workspace) -> None:
    graph = make(workspace)
    workspace.transact("S", "", split_graphs, {graph.graph.id: "test"})
    assert workspace.get(TaskGraph, graph.graph.id).split == "test"
    gold = make(workspace, role="gold").graph
    assert split_golds(workspace, FakeEmbedder()) == {"train": 1, "validation": 0, "test": 0}
    assert workspace.get(TaskGraph, gold.id).split == "train"
