"""The linter and the hints on steps: each rule with its mend, sound samples, any text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.exchange.demo import fill_demo
from core.graphs import verbs
from core.graphs.hints import hint_graph
from core.graphs.linter import lint_graph, lint_text
from core.graphs.model import load_graph
from core.graphs.samples import fill_graphs
from core.people import add_person
from core.storage import Workspace
from core.types.graphs import TaskGraph
from tests.core.test_graphs import ODD_NAMES, ids, make


def test_odd_names_are_kept_and_linted(workspace: Workspace) -> None:
    graph = make(workspace, ODD_NAMES)
    assert [step.text for step in graph.steps] == ODD_NAMES
    issues = lint_graph(graph)
    assert any(issue.rule == "duplicate" for issue in issues[ids(graph)[3]])
    assert ids(graph)[0] not in issues


@pytest.mark.parametrize(
    ("text", "rule", "fixed"),
    [
        ("Boiling the water", "verb", ("Boil the water",)),
        ("boils the water", "verb", ("boil the water",)),
        ("The water is boiled in a pan", "verb", ("Boil the water in a pan",)),
        ("2. take notes", "verb", ("Take notes",)),
        ("Next, take notes", "verb", ("Take notes",)),
        ("history taking", "verb", None),
        ("You should wait two minutes", "advice", ("Wait two minutes",)),
        ("Don't rush the patient", "advice", None),
        ("Pour it into the cup", "stands_alone", ("Pour the water into the cup",)),
        ("take this sample to the lab", "stands_alone", ("take the sample to the lab",)),
        ("Boil the water and add the salt", "one_action", ("Boil the water", "Add the salt")),
        ("Wash the apples then slice the apples", "one_action",
         ("Wash the apples", "Slice the apples")),
        ("If the water is hot, add the tea", "assumption", ("Add the tea",)),
        ("Serve the tea if the guests arrive", "assumption", ("Serve the tea",)),
        ("put the cake in the oven", "assumption", None),
    ],
)  # fmt: skip
def test_each_rule_and_its_fix(text: str, rule: str, fixed: tuple[str, ...] | None) -> None:
    issues = lint_text(text, ["without an oven"], ["boil the water in a pan"])
    found = [issue for issue in issues if issue.rule == rule]
    assert found, issues
    assert (found[0].fix.texts if found[0].fix else None) == fixed
    assert 0 <= found[0].start <= found[0].end <= len(text)


@pytest.mark.parametrize(
    "text",
    ["Boil the water", "Gently stir the sauce", "Mix the salt and water in a bowl", "غلي الماء",
     "Obtain the patient's history", "Pre-heat the oven to 200 degrees"],
)  # fmt: skip
def test_good_steps_are_left_alone(text: str) -> None:
    assert lint_text(text) == []


def test_the_samples_are_sound(workspace: Workspace) -> None:
    report = workspace.transact("Fill", "", fill_graphs).value
    assert (len(report.ids), report.skipped, report.aside) == (10, [], [])
    for graph_id in report.ids:
        graph = load_graph(workspace, graph_id)
        assert graph.graph.role == "gold"
        assert lint_graph(graph) == {}, graph.graph.task
        assert hint_graph(graph) == [], graph.graph.task
        assert graph.shortcuts == frozenset(), graph.graph.task
    splits = {graph.split for graph in workspace.find(TaskGraph)}
    assert splits == {"train", "validation", "test"}


def test_the_demo_has_one_graph_and_the_samples_come_once(workspace: Workspace) -> None:
    assert workspace.transact("Demo", "", fill_demo).value.added["graph"] == 1
    assert len(workspace.transact("Fill", "", fill_graphs).value.ids) == 9
    assert workspace.transact("Fill", "", fill_graphs).value.ids == []
    assert workspace.count(TaskGraph) == 10


@settings(max_examples=60)
@given(text=st.text(max_size=60))
def test_the_linter_takes_any_text(text: str) -> None:
    for issue in lint_text(text, [text], [text]):
        assert issue.message
        if issue.fix is not None and issue.fix.kind == "rename":
            assert issue.fix.texts[0].strip()


def test_almost_the_same_is_said_unless_numbers_differ(workspace: Workspace) -> None:
    graph = make(
        workspace, ["Fill the tube 1", "Fill the tube 2", "Wash both hands", "Wash both hand"]
    )
    issues = lint_graph(graph)
    assert list(issues) == [ids(graph)[3]]
    assert issues[ids(graph)[3]][0].message == "Is almost the same as step 3."


@pytest.mark.parametrize(
    ("size", "edges", "kinds"),
    [
        (5, [(n, n + 1) for n in range(4)], ["linear"]),
        (5, [], ["half_drawn"]),
        (6, [(0, 1), (1, 2), (0, 3), (2, 4), (3, 4)], ["unconnected"]),
        (6, [(0, 1)], ["half_drawn"]),
        (4, [(a, b) for a in range(4) for b in range(a + 1, 4)], ["linear", "dense"]),
        (8, [(a, b) for a in range(4) for b in range(4, 8)], ["dense", "no_end"]),
        (4, [(0, 1), (2, 3)], ["unconnected", "no_end"]),
        (5, [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)], []),
    ],
)
def test_hints_name_the_common_mistakes(
    workspace: Workspace, size: int, edges: list[tuple[int, int]], kinds: list[str]
) -> None:
    graph = make(workspace, [f"do {n}" for n in range(size)], edges)
    assert [hint.kind for hint in hint_graph(graph)] == kinds


def test_workspace_files_hold_graphs_of_a_person(workspace: Workspace, tmp_path: Path) -> None:
    person = workspace.transact_job("P", "", add_person, "Ann").value.id
    graph = workspace.transact("A", person, verbs.add_graph, "t").value
    assert graph.person_id == person
