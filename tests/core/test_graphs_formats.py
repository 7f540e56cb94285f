"""Files of graphs: what comes in goes out again, and what is wrong is said with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError, UsageError
from core.graphs.dot import parse_dot
from core.graphs.drafts import GraphDraft
from core.graphs.formats import format_graphs, read_dot, read_graphml, read_graphs, read_json
from core.graphs.imports import export_graphs, import_graphs
from core.graphs.model import StepGraph, load_graph
from core.graphs.order import sort_topologically
from core.graphs.tasklama import read_graph_record, write_graph_record
from core.graphs.verbs import add_graph, add_step, group_steps, place_steps, rename_step
from core.storage import Workspace
from core.types.graphs import GraphStep
from tests.shared_data import shared_path


def bring_in(workspace: Workspace, path: Path) -> list[StepGraph]:
    drafts, skipped, _ = read_graphs(path)
    report = workspace.transact("Import", "", import_graphs, path.name, drafts, skipped).value
    return [load_graph(workspace, graph_id) for graph_id in report.ids]


def write_lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), "utf-8")
    return path


TEA = {
    "task": "make a cup of tea",
    "assumptions": [{"assumption": "using a pot", "id": 4}],
    "substeps": [{"stepId": 7, "step": "boil the water "}, {"stepId": 9, "step": "pour it"}],
    "dependencies": [
        {"subtask1": "boil the water ", "relation": "Must be done before", "subtask2": "pour it"}
    ],
    "annotator": {"name": "x"},
}


def test_the_published_sample_goes_out_byte_for_byte(workspace: Workspace, tmp_path: Path) -> None:
    sample = shared_path("data", "format_examples_synthetic", "tasklama_like.jsonl")
    graphs = bring_in(workspace, sample)
    assert [len(graph.steps) for graph in graphs] == [4, 2]
    assert len(graphs[0].links) == 3
    out = tmp_path / "out.jsonl"
    assert export_graphs(workspace, out, "tasklama") == 2
    assert out.read_bytes() == sample.read_bytes()


def test_unknown_keys_ids_and_blanks_are_kept(workspace: Workspace, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", TEA)
    (graph,) = bring_in(workspace, path)
    assert graph.steps[0].text == "boil the water"
    assert write_graph_record(graph) == TEA
    assert list(write_graph_record(graph)) == list(TEA)


def test_a_changed_graph_changes_only_what_changed(workspace: Workspace, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", TEA)
    (graph,) = bring_in(workspace, path)
    workspace.transact("Rename", "", rename_step, graph.steps[1].id, "pour the water")
    workspace.transact("Add", "", add_step, graph.graph.id, "serve the tea")
    record = write_graph_record(load_graph(workspace, graph.graph.id))
    assert record["annotator"] == {"name": "x"}
    assert [step["stepId"] for step in record["substeps"]] == [7, 9, 10]
    assert record["dependencies"][0]["subtask1"] == "boil the water "
    assert record["dependencies"][0]["subtask2"] == "pour the water"


def test_a_cycle_in_a_file_is_set_aside_told_and_given_back(
    workspace: Workspace, tmp_path: Path
) -> None:
    link = [
        {"subtask1": a, "relation": "Must be done before", "subtask2": b}
        for a, b in (("x", "y"), ("y", "z"), ("z", "x"), ("x", "x"), ("x", "y"), ("x", "gone"))
    ]
    record = {
        "task": "t",
        "assumptions": [],
        "substeps": [{"stepId": n, "step": s} for n, s in enumerate("xyz")],
        "dependencies": link,
    }
    path = write_lines(tmp_path / "c.jsonl", {"task": 3}, record)
    drafts, skipped, found = read_graphs(path)
    assert found == "tasklama"
    report = workspace.transact("Import", "", import_graphs, "c", drafts, skipped).value
    assert [entry.line for entry in report.skipped] == [1]
    words = " ".join(entry.reason for entry in report.aside)
    assert {entry.line for entry in report.aside} == {2}
    assert "closes the circle 'z' → 'x' → 'y' → 'z'" in words
    assert "comes before itself" in words
    assert "said twice" in words
    assert "not there: 'gone'" in words
    graph = load_graph(workspace, report.ids[0])
    assert len(graph.links) == 2
    assert sort_topologically(len(graph.steps), graph.edges) is not None
    assert write_graph_record(graph) == record


def test_steps_of_the_same_name_stay_apart_in_our_own_lines(
    workspace: Workspace, tmp_path: Path
) -> None:
    graph_id = workspace.transact(
        "Add", "", add_graph, "t", steps=["wait", "stir", "wait"], edges=[(0, 1), (1, 2)]
    ).value.id
    out = tmp_path / "o.jsonl"
    export_graphs(workspace, out, "jsonl")
    (draft,), _, _ = read_graphs(out)
    assert [(link.before, link.after) for link in draft.links] == [(0, 1), (1, 2)]
    assert load_graph(workspace, graph_id).edges == ((0, 1), (1, 2))


NAMES = ["غلي الماء", "👩‍⚕️ see the patient", 'say "no" \\ <b>&', "שלום", "a -> b; {c}"]


@pytest.mark.parametrize("format", ["graphml", "dot", "json", "jsonl"])
def test_each_format_reads_what_it_wrote(workspace: Workspace, tmp_path: Path, format: str) -> None:
    graph_id = workspace.transact(
        "Add",
        "",
        add_graph,
        "Tee 🫖",
        ["unter 'A'", "ב"],
        steps=NAMES,
        edges=[(0, 1), (0, 2), (2, 4)],
    ).value.id
    steps = workspace.find(GraphStep, order_by="position")
    workspace.transact(
        "Place", "", place_steps, {s.id: (n * 10.0, n * 3.0) for n, s in enumerate(steps)}
    )
    workspace.transact("Group", "", group_steps, graph_id, [steps[0].id, steps[3].id], "Früh")
    path = tmp_path / f"g.{format}"
    export_graphs(workspace, path, format)
    (draft,), skipped, found = read_graphs(path)
    assert not skipped
    assert found in (format, "tasklama")
    assert draft.problems == []
    assert draft.task == "Tee 🫖"
    assert draft.assumptions == ("unter 'A'", "ב")
    assert [step.text for step in draft.steps] == NAMES
    assert {(link.before, link.after) for link in draft.links} == {(0, 1), (0, 2), (2, 4)}
    assert [(step.x, step.y) for step in draft.steps] == [(n * 10.0, n * 3.0) for n in range(5)]
    assert [step.group for step in draft.steps] == [0, None, None, 0, None]


def test_one_graph_a_file_where_the_format_holds_one(workspace: Workspace, tmp_path: Path) -> None:
    for task in "ab":
        workspace.transact("Add", "", add_graph, task)
    with pytest.raises(UsageError, match="holds one graph"):
        export_graphs(workspace, tmp_path / "x.dot", "dot")


def test_dot_as_people_write_it() -> None:
    draft = read_dot(
        """/* made by hand */ strict digraph "Make tea" {
        rankdir=LR; node [shape=box]
        a [label="boil" + " water"]; b -> {c d} -> e;  // fan
        a->b [color=red]
        subgraph cluster_1 { label="late"; d; e }
        }"""
    )
    assert draft.task == "Make tea"
    texts = [step.text for step in draft.steps]
    assert texts == ["boil water", "b", "c", "d", "e"]
    pairs = {(texts[link.before], texts[link.after]) for link in draft.links}
    assert pairs == {("b", "c"), ("b", "d"), ("c", "e"), ("d", "e"), ("boil water", "b")}
    assert [step.group for step in draft.steps] == [None, None, None, 0, 0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("graph { a -- b }", "no directed graph"),
        ("digraph {\n a -> b", "line 2"),
        ("digraph { a [label=x }", "bracket is not closed"),
        ("digraph { a -- b }", "without direction"),
        ("", "no directed graph|ends too early"),
        ('digraph { "', "cannot be read"),
    ],
)
def test_bad_dot_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_dot(text)


def test_bad_graphml_is_refused() -> None:
    with pytest.raises(InputError, match="no GraphML"):
        read_graphml("<a>")
    with pytest.raises(InputError, match="entities"):
        read_graphml('<!DOCTYPE x [<!ENTITY a "b">]><graphml/>')


def test_a_file_of_something_else_is_skipped_with_reason(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "x.jsonl", {"objective": "x"}, {"task": "t", "substeps": 3})
    drafts, skipped, _ = read_graphs(path)
    assert drafts == []
    assert [entry.line for entry in skipped] == [1, 2]
    assert "neither 'substeps' nor 'steps'" in skipped[0].reason


def test_the_shape_of_metrics_is_read() -> None:
    draft = read_json({"steps": ["a", "b"], "edges": [[0, 1], [1, 0], [5, 1]]}, "file")
    assert (draft.task, len(draft.links), len(draft.problems)) == ("file", 1, 2)


texts = st.text(min_size=1, max_size=12).filter(lambda text: text.strip())
records = st.fixed_dictionaries(
    {
        "task": texts,
        "assumptions": st.lists(st.builds(lambda t: {"assumption": t}, st.text(max_size=5))),
        "substeps": st.lists(
            st.builds(lambda n, t: {"stepId": n, "step": t}, st.integers(), st.text(max_size=4)),
            max_size=6,
        ),
        "dependencies": st.lists(
            st.builds(
                lambda a, r, b: {"subtask1": a, "relation": r, "subtask2": b},
                st.sampled_from(["a", "b", "c", "zz"]),
                st.sampled_from(["Must be done before", "odd"]),
                st.sampled_from(["a", "b", "c"]),
            ),
            max_size=6,
        ),
    },
    optional={"more": st.none() | st.integers() | texts},
)


@settings(max_examples=50)
@given(record=records, letters=st.booleans())
def test_any_record_comes_back_as_it_was(record: dict[str, object], letters: bool) -> None:
    if letters:
        record["substeps"] = [{"step": s, "stepId": n} for n, s in enumerate("abc")]
    draft = read_graph_record(record)
    graph = as_graph(draft)
    assert sort_topologically(len(graph.steps), graph.edges) is not None
    assert write_graph_record(graph) == record
    own = read_graph_record(write_graph_record(graph, own=True))
    assert write_graph_record(as_graph(own)) == record


def as_graph(draft: GraphDraft) -> StepGraph:
    """A draft as a graph, without a workspace."""
    from core.types.graphs import Dependency, TaskGraph

    steps = tuple(
        GraphStep(id=str(n), graph_id="g", position=n, text=s.text, extra=s.extra)
        for n, s in enumerate(draft.steps)
    )
    links = tuple(
        Dependency(
            id=f"d{n}", graph_id="g", before_id=str(link.before), after_id=str(link.after),
            position=link.at, relation=link.relation, extra=link.extra,
        )
        for n, link in enumerate(draft.links)
    )  # fmt: skip
    graph = TaskGraph(
        id="g",
        task=draft.task,
        assumptions=draft.assumptions,
        aside=tuple(draft.aside),
        extra=draft.fields["extra"],
    )
    return StepGraph(graph=graph, steps=steps, dependencies=links)


def test_exports_hold_no_suggestions_of_a_model(workspace: Workspace) -> None:
    graph_id = workspace.transact("Add", "", add_graph, "t", steps=["a"]).value.id
    workspace.transact("Suggest", "", add_step, graph_id, "b", suggested="a model")
    graph = load_graph(workspace, graph_id)
    assert '"b"' not in format_graphs([graph], "tasklama")
    assert '"b"' in format_graphs([graph], "jsonl")
