"""Graphs in a workspace: verbs, refused circles, undo, suggestions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import ConflictError, KnownError, NotFoundError, UsageError
from core.graphs import links, suggestions, verbs
from core.graphs.hints import hint_graph
from core.graphs.layout import lay_out
from core.graphs.model import CycleError, StepGraph, load_graph
from core.graphs.order import (
    sort_topologically,
)
from core.people import add_person
from core.storage import Workspace
from core.storage.undo import redo, redoable, undo, undoable
from core.types.graphs import Dependency, GraphStep, StepGroup, TaskGraph

ODD_NAMES = ["غلي الماء ثم سكبه", "👩‍⚕️ see the patient", "same", "same", "שלום" * 30, "x" * 5000]


def make(
    workspace: Workspace, steps: Sequence[str], edges: Sequence[tuple[int, int]] = ()
) -> StepGraph:
    graph = workspace.transact("Add", "", verbs.add_graph, "t", steps=steps, edges=edges).value
    return load_graph(workspace, graph.id)


def ids(graph: StepGraph) -> list[str]:
    return [step.id for step in graph.steps]


def reload(workspace: Workspace, graph: StepGraph) -> StepGraph:
    return load_graph(workspace, graph.graph.id)


# -- circles -----------------------------------------------------------------------------


def test_a_step_cannot_come_before_itself(workspace: Workspace) -> None:
    graph = make(workspace, ["a"])
    with pytest.raises(CycleError, match="cannot come before itself") as caught:
        workspace.transact("C", "", links.connect, graph.graph.id, *ids(graph) * 2)
    assert caught.value.path == (ids(graph)[0],)


def test_a_circle_of_two_is_refused_with_its_path(workspace: Workspace) -> None:
    graph = make(workspace, ["boil", "pour"], [(0, 1)])
    a, b = ids(graph)
    with pytest.raises(CycleError, match="'boil' → 'pour'") as caught:
        workspace.transact("C", "", links.connect, graph.graph.id, b, a)
    assert caught.value.path == (a, b)
    assert reload(workspace, graph).edges == ((0, 1),)


def test_a_long_circle_names_its_ends_and_counts_the_middle(workspace: Workspace) -> None:
    size = 50
    graph = make(workspace, [f"s{n}" for n in range(size)], [(n, n + 1) for n in range(size - 1)])
    with pytest.raises(CycleError) as caught:
        workspace.transact("C", "", links.connect, graph.graph.id, ids(graph)[-1], ids(graph)[0])
    assert len(caught.value.path) == size
    assert "'s0' → 's1' → 's2' → 44 more → 's47' → 's48' → 's49'" in str(caught.value)


def test_reconnecting_into_a_circle_is_refused(workspace: Workspace) -> None:
    graph = make(workspace, ["a", "b", "c"], [(0, 1), (1, 2)])
    first = graph.links[0]
    with pytest.raises(CycleError):
        workspace.transact("R", "", links.reconnect, first.id, before_id=ids(graph)[2])
    # The dependency itself does not stand in its own way.
    workspace.transact("R", "", links.reconnect, graph.links[1].id, before_id=ids(graph)[0])
    assert set(reload(workspace, graph).edges) == {(0, 1), (0, 2)}


def test_many_dependencies_with_a_circle_write_nothing(workspace: Workspace) -> None:
    with pytest.raises(CycleError):
        workspace.transact(
            "A", "", verbs.add_graph, "t", steps="abc", edges=[(0, 1), (1, 2), (2, 0)]
        )
    assert workspace.count(TaskGraph) == 0


def test_a_dependency_is_said_once_and_within_one_graph(workspace: Workspace) -> None:
    graph, other = make(workspace, ["a", "b"], [(0, 1)]), make(workspace, ["c"])
    with pytest.raises(ConflictError, match="already"):
        workspace.transact("C", "", links.connect, graph.graph.id, *ids(graph))
    with pytest.raises(ConflictError, match="one graph"):
        workspace.transact("C", "", links.connect, graph.graph.id, ids(graph)[0], ids(other)[0])


def test_two_persons_redo_can_leave_a_circle_which_is_found_and_broken(
    workspace: Workspace,
) -> None:
    ann = workspace.transact_job("P", "", add_person, "Ann").value.id
    bob = workspace.transact_job("P", "", add_person, "Bob").value.id
    graph = make(workspace, ["a", "b"])
    a, b = ids(graph)
    workspace.transact("C", ann, links.connect, graph.graph.id, a, b)
    undo(workspace, ann)
    workspace.transact("C", bob, links.connect, graph.graph.id, b, a)
    redo(workspace, ann)
    torn = reload(workspace, graph)
    assert len(torn.circle) == 1
    assert torn.shortcuts == frozenset()
    assert hint_graph(torn)[0].fix == "break_circles"
    assert lay_out([(10, 10)] * 2, torn.edges).places
    assert workspace.transact("B", ann, links.break_circles, graph.graph.id).value == 1
    assert reload(workspace, graph).circle == ()


# -- verbs -------------------------------------------------------------------------------


def test_steps_are_added_moved_and_renamed(workspace: Workspace) -> None:
    graph = make(workspace, ["a", "b", "c"])
    workspace.transact("M", "", verbs.move_step, ids(graph)[2], 0)
    workspace.transact("A", "", verbs.add_step, graph.graph.id, " x  y ", index=1)
    workspace.transact("R", "", verbs.rename_step, ids(graph)[0], "A")
    assert [s.text for s in reload(workspace, graph).steps] == ["c", "x y", "A", "b"]
    for verb, args in (
        (verbs.add_step, (graph.graph.id, " ")),
        (verbs.rename_step, (ids(graph)[0], "")),
    ):
        with pytest.raises(UsageError):
            workspace.transact("X", "", verb, *args)


def test_deleting_steps_takes_their_dependencies_and_empty_groups(workspace: Workspace) -> None:
    graph = make(workspace, list("abc"), [(0, 1), (1, 2)])
    workspace.transact("G", "", verbs.group_steps, graph.graph.id, ids(graph)[1:2], "mid")
    workspace.transact("D", "", verbs.delete_steps, ids(graph)[1:2])
    shown = reload(workspace, graph)
    assert (len(shown.steps), shown.links, shown.groups) == (2, (), ())
    with pytest.raises(NotFoundError):
        workspace.transact("D", "", verbs.delete_steps, ids(graph)[1:2])


def test_merging_keeps_dependencies_without_circles(workspace: Workspace) -> None:
    graph = make(workspace, list("abcd"), [(0, 1), (1, 2), (2, 3)])
    workspace.transact("M", "", verbs.merge_steps, ids(graph)[0], ids(graph)[2])
    shown = reload(workspace, graph)
    assert [step.text for step in shown.steps] == ["a", "b", "d"]
    # b before c would now be b before a, against a before b: it is left out.
    assert set(shown.edges) == {(0, 1), (0, 2)}


@pytest.mark.parametrize(("chain", "edges"), [(True, {(0, 1), (1, 2), (2, 3)}),
                                              (False, {(0, 1), (0, 2), (1, 3), (2, 3)})])  # fmt: skip
def test_splitting_keeps_the_order(workspace: Workspace, chain: bool, edges: set[Any]) -> None:
    graph = make(workspace, ["a", "b and c", "d"], [(0, 1), (1, 2)])
    workspace.transact("S", "", verbs.split_step, ids(graph)[1], ["b", "c"], chain=chain)
    shown = reload(workspace, graph)
    assert [step.text for step in shown.steps] == ["a", "b", "c", "d"]
    assert set(shown.edges) == edges


def test_the_outlines_numbers_set_dependencies(workspace: Workspace) -> None:
    graph = make(workspace, list("abcd"), [(0, 3)])
    a, b, c, d = ids(graph)
    workspace.transact("P", "", links.set_parents, d, [b, c])
    workspace.transact("P", "", links.set_children, a, [b])
    assert set(reload(workspace, graph).edges) == {(1, 3), (2, 3), (0, 1)}
    with pytest.raises(CycleError):
        workspace.transact("P", "", links.set_parents, a, [d])
    assert links.parse_numbers("1, 3-5; 3", 6) == [1, 3, 4, 5]
    assert links.parse_numbers(" ", 6) == []
    for text in ("x", "0", "7", "5-3", "1-"):
        with pytest.raises(UsageError):
            links.parse_numbers(text, 6)


def test_shortcuts_are_those_networkx_removes(workspace: Workspace) -> None:
    graph = make(workspace, list("abcd"), [(0, 1), (1, 2), (0, 2), (0, 3), (2, 3)])
    assert workspace.transact("R", "", links.remove_shortcuts, graph.graph.id).value == 2
    assert set(reload(workspace, graph).edges) == {(0, 1), (1, 2), (2, 3)}


def test_copies_have_rows_of_their_own(workspace: Workspace) -> None:
    graph = make(workspace, list("ab"), [(0, 1)])
    workspace.transact("G", "", verbs.group_steps, graph.graph.id, ids(graph), "all")
    made = workspace.transact(
        "C", "", verbs.copy_graph, graph.graph.id, assumptions=["other"]
    ).value
    copy = load_graph(workspace, made.id)
    assert copy.edges == graph.edges
    assert not set(ids(copy)) & set(ids(graph))
    assert [group.title for group in copy.groups] == ["all"]
    assert made.assumptions == ("other",)
    workspace.transact("D", "", verbs.delete_graph, graph.graph.id)
    assert load_graph(workspace, made.id).edges == copy.edges
    assert workspace.count(GraphStep) == 2
    assert workspace.count(StepGroup) == 1


def test_graphs_are_found_by_id_its_beginning_or_task(workspace: Workspace) -> None:
    graph = make(workspace, ["a"]).graph
    assert verbs.find_graph(workspace, graph.id) == graph
    assert verbs.find_graph(workspace, graph.id[:13]) == graph
    assert verbs.find_graph(workspace, " T ") == graph
    make(workspace, ["a"])
    with pytest.raises(NotFoundError, match="Several"):
        verbs.find_graph(workspace, "t")
    with pytest.raises(NotFoundError, match="no graph"):
        verbs.find_graph(workspace, "%%%%%%%%")


# -- suggestions -------------------------------------------------------------------------


def test_suggestions_are_no_part_of_the_graph_until_accepted(workspace: Workspace) -> None:
    graph = make(workspace, ["a", "b"], [(0, 1)])
    gid = graph.graph.id
    found = workspace.transact("S", "", suggestions.suggest_steps, gid, ["A", "c"], "m").value
    assert [step.text for step in found] == ["c"]
    c = found[0].id
    a, b = ids(graph)
    made = workspace.transact(
        "S", "", suggestions.suggest_dependencies, gid, [(b, c), (c, a), (a, b), (c, c)], "m"
    ).value
    assert [(link.before_id, link.after_id) for link in made] == [(b, c), (c, a)]
    shown = reload(workspace, graph)
    assert shown.as_item() == {"steps": ["a", "b"], "edges": [[0, 1]]}
    accepted = workspace.transact("A", "", suggestions.accept_all, gid).value
    assert (accepted.steps, accepted.dependencies, len(accepted.refused)) == (1, 1, 1)
    assert "cannot come before" in accepted.refused[0]
    shown = reload(workspace, graph)
    assert shown.as_item()["edges"] == [[0, 1], [1, 2]]
    workspace.transact("R", "", suggestions.reject_all, gid)
    assert all(not link.suggested for link in reload(workspace, graph).dependencies)


def test_accepting_a_dependency_brings_its_steps(workspace: Workspace) -> None:
    graph = make(workspace, ["a"])
    step = workspace.transact("S", "", suggestions.suggest_steps, graph.graph.id, ["b"], "m").value[
        0
    ]
    link = workspace.transact(
        "S", "", suggestions.suggest_dependencies, graph.graph.id, [(ids(graph)[0], step.id)], "m"
    ).value[0]
    workspace.transact("A", "", suggestions.accept_suggestions, (), [link.id])
    assert reload(workspace, graph).edges == ((0, 1),)


def test_rejecting_a_step_takes_its_dependencies(workspace: Workspace) -> None:
    graph = make(workspace, ["a"])
    step = workspace.transact("S", "", suggestions.suggest_steps, graph.graph.id, ["b"], "m").value[
        0
    ]
    workspace.transact(
        "S", "", suggestions.suggest_dependencies, graph.graph.id, [(ids(graph)[0], step.id)], "m"
    )
    workspace.transact("R", "", suggestions.reject_suggestions, [step.id, ids(graph)[0]])
    shown = reload(workspace, graph)
    assert ([s.text for s in shown.steps], shown.dependencies) == (["a"], ())


# -- undo --------------------------------------------------------------------------------

Move = tuple[int, int, int]


def apply_move(workspace: Workspace, person: str, graph_id: str, move: Move) -> None:
    """One thing a person may do; what is refused changes nothing."""
    kind, first, second = move
    graph = load_graph(workspace, graph_id)
    steps = [step.id for step in graph.steps]
    if not steps or kind == 0:
        run(workspace, person, verbs.add_step, graph_id, f"step {first}", index=second % 9)
        return
    a, b = steps[first % len(steps)], steps[second % len(steps)]
    some = list(dict.fromkeys([a, b]))
    moves: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
        (links.connect, (graph_id, a, b)),
        (links.connect, (graph_id, a, b)),
        (links.connect, (graph_id, a, b)),
        (verbs.rename_step, (a, f"name {second}")),
        (verbs.delete_steps, ([a],)),
        (verbs.move_step, (a, second)),
        (verbs.place_steps, ({a: (first, second)},)),
        (verbs.group_steps, (graph_id, some, f"group {first}")),
        (verbs.ungroup_steps, ([a],)),
        (links.set_parents, (a, [b])),
        (links.set_children, (a, [b])),
        (links.remove_shortcuts, (graph_id,)),
        (suggestions.suggest_steps, (graph_id, [f"s {first}"], "m")),
        (suggestions.accept_all, (graph_id,)),
        (suggestions.suggest_dependencies, (graph_id, [(a, b)], "m")),
    ]
    if some == [a, b]:
        moves.append((verbs.merge_steps, (a, b)))
    if graph.links:
        link = graph.links[first % len(graph.links)]
        moves.append((links.reconnect, (link.id, "", b)))
        moves.append((links.disconnect, ([link.id],)))
    verb, args = moves[kind % len(moves)]
    if verb is links.reconnect:
        run(workspace, person, verb, args[0], after_id=args[2])
    else:
        run(workspace, person, verb, *args)


def run(workspace: Workspace, person: str, verb: Any, *args: Any, **kwargs: Any) -> None:
    try:
        workspace.transact(verb.__name__, person, verb, *args, **kwargs)
    except KnownError:
        pass  # Refused in words: nothing is written.


def snapshot(workspace: Workspace) -> list[Any]:
    """All live rows of graphs."""
    return [workspace.find(kind) for kind in (TaskGraph, GraphStep, Dependency, StepGroup)]


moves = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 9), st.integers(0, 9)), max_size=11)


@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(steps=moves)
def test_undo_and_redo_are_exact_and_no_circle_ever_closes(
    steps: list[Move], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("g") / "w.rifugio"
    with Workspace.create(path, None) as workspace:
        person = workspace.transact_job("P", "", add_person, "Ann").value.id
        graph_id = workspace.transact_job(
            "A", person, verbs.add_graph, "t", steps=["a", "b", "c"]
        ).value.id
        shots = [snapshot(workspace)]
        for move in steps:
            apply_move(workspace, person, graph_id, move)
            graph = load_graph(workspace, graph_id)
            assert sort_topologically(len(graph.steps), graph.edges) is not None
            now = snapshot(workspace)
            if now != shots[-1]:
                shots.append(now)
    # What was done can be taken back after reopening, too.
    with Workspace.open(path) as workspace:
        for shot in shots[-2::-1]:
            undo(workspace, person)
            assert snapshot(workspace) == shot
        for shot in shots[1:]:
            redo(workspace, person)
            assert snapshot(workspace) == shot
        assert redoable(workspace, person) is None
        assert (undoable(workspace, person) is not None) == (len(shots) > 1)
