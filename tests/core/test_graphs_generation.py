"""Steps and dependencies from scripted models, the scorer, and the table of every method."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from core.errors import ConflictError, InvalidModelError, UsageError
from core.graphs.generation.edges import (
    EDGE_METHODS,
    generate_edges,
    read_answer,
    resolve_edges,
)
from core.graphs.generation.evaluation import (
    execute_evaluation,
    latest_evaluation,
    method_rows,
    plan_units,
    start_evaluation,
)
from core.graphs.generation.scorer import latest_scorer, save_scorer, score_steps, train_scorer
from core.graphs.generation.sequences import (
    common_edges,
    join_steps,
    search_orders,
    sequence_context,
)
from core.graphs.generation.shots import choose_pairs, choose_shots
from core.graphs.generation.steps import (
    STEP_METHODS,
    generate_steps,
    merge_sequences,
    parse_steps,
)
from core.graphs.generation.suggest import gold_graphs, propose_edges, propose_steps
from core.graphs.model import StepGraph, load_graph
from core.graphs.order import reachable_sets
from core.graphs.samples import fill_graphs
from core.graphs.suggestions import accept_all
from core.graphs.verbs import add_graph
from core.ports import Cancellation, Choice, LogLikelihood, Message
from core.storage import Workspace
from core.types.graphs import GraphScore, TaskGraph
from models.fake import FakeEmbedder, FakeGenerator


@dataclass
class Judge(FakeGenerator):
    """Says A where a rule says so, B where it says so of the turned pair, else C; counts its calls."""

    needs: Callable[[str, str], bool] = lambda first, second: False
    asked: list[tuple[str, str]] = field(default_factory=list)
    scored: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def choose(self, messages: Sequence[Message], options: Sequence[str]) -> Choice:
        found = re.findall(r"Step 1: (.+)\nStep 2: (.+)", messages[-1].content)[-1]
        self.asked.append(found)
        best = 0 if self.needs(*found) else 1 if self.needs(*found[::-1]) else 2
        return Choice(tuple(0.8 if n == best else 0.1 for n in range(3)), 1.0)

    def log_likelihood(
        self, context: Sequence[Message] | str, continuations: Sequence[str]
    ) -> list[LogLikelihood]:
        assert isinstance(context, str)
        self.scored.append((context, tuple(continuations)))
        values = []
        for text in continuations:
            seen = re.findall(r"step (\d+)\n", context)
            total = 0.0
            for number in re.findall(r"step (\d+)", text):
                # Right after its predecessors is likely; before one of them is not.
                total -= sum(1.0 for other in seen if int(other) > int(number)) + 0.1
                seen.append(number)
            values.append(LogLikelihood(total, len(text.split())))
        return values


def test_answers_are_read_as_steps() -> None:
    text = "Boil water.\n2. Boil water\n3) Pour it.\n- **Serve**\n\nNotes:\n5. "
    assert parse_steps(text) == ["Boil water", "Pour it", "Serve"]
    assert parse_steps("one\ntwo half", whole=False) == ["one"]
    assert parse_steps("one half", whole=False) == ["one half"]
    assert parse_steps("") == []
    assert parse_steps("1. 2. Sew\n3\n4. 12") == ["Sew"]
    assert parse_steps("1. 煮水\n2. צוק") == ["煮水", "צוק"]


def test_sequences_are_merged_without_near_copies() -> None:
    found = merge_sequences(
        [["boil water", "pour the tea"], ["Boil water", "serve"], ["pour the tea"]], FakeEmbedder()
    )
    assert [(p.text, p.votes) for p in found] == [
        ("boil water", 2), ("pour the tea", 2), ("serve", 1)
    ]  # fmt: skip
    assert merge_sequences([[], []], FakeEmbedder()) == []


def test_multseq_draws_k_sequences_at_its_temperature() -> None:
    generator = FakeGenerator(answers=["a one\n2. b two", "c three", "a one"])
    found = generate_steps(
        "multseq", "t", "under x", generator, FakeEmbedder(), sequences=3, seed=5
    )
    assert {request.temperature for request in generator.requests} == {0.5}
    assert [request.seed for request in generator.requests] == [5, 6, 7]
    assert "Assumption: under x" in generator.requests[0].messages[-1].content
    assert {p.text for p in found} == {"a one", "b two", "c three"}


def test_the_assumption_stays_out_when_it_is_not_to_be_told() -> None:
    generator = FakeGenerator(answers=["a"])
    generate_steps("icl", "t", "", generator, FakeEmbedder())
    assert "Assumption" not in generator.requests[0].messages[-1].content
    assert generator.requests[0].temperature == 0.0


def test_filtering_needs_a_scorer_and_unknown_methods_are_refused() -> None:
    with pytest.raises(UsageError, match="needs a scorer"):
        generate_steps("sf", "t", "", FakeGenerator(), FakeEmbedder())
    with pytest.raises(UsageError, match="no way to generate"):
        generate_steps("magic", "t", "", FakeGenerator(), FakeEmbedder())
    with pytest.raises(UsageError, match="no way to find"):
        generate_edges("magic", "t", "", ["a"], None)


@pytest.fixture
def samples(workspace: Workspace) -> Workspace:
    workspace.transact("Fill", "", fill_graphs)
    return workspace


def test_a_scorer_is_trained_saved_and_versioned(samples: Workspace) -> None:
    embedder = FakeEmbedder(dimensions=96)
    golds = gold_graphs(samples)
    first = samples.transact("Train", "", save_scorer, train_scorer(golds, embedder)).value
    second = samples.transact("Train", "", save_scorer, train_scorer(golds, embedder)).value
    assert (first.version, second.version) == (1, 2)
    assert first.weights == second.weights
    assert first.trained["tasks"] == 10
    assert first.trained["right"] == sum(len(g.accepted) for g in golds)
    kept = latest_scorer(samples, embedder)
    assert kept is not None
    assert kept.version == 2
    steps = [step.text for step in golds[0].accepted]
    right = score_steps(kept, golds[0].graph.task, steps, embedder).mean()
    others = [step.text for gold in golds[1:] for step in gold.accepted]
    wrong = score_steps(kept, golds[0].graph.task, others, embedder).mean()
    assert right > wrong
    with pytest.raises(ConflictError, match="trained with the embedder"):
        score_steps(first, "t", ["s"], _Other())


class _Other(FakeEmbedder):
    @property
    def info(self):  # type: ignore[no-untyped-def]
        from models.fake import fake_info

        return fake_info("other embedder")


def test_a_scorer_needs_two_tasks(samples: Workspace) -> None:
    with pytest.raises(ConflictError, match="at least two tasks"):
        train_scorer(gold_graphs(samples)[:1], FakeEmbedder())
    with pytest.raises(ConflictError, match="at least two tasks"):
        train_scorer([], FakeEmbedder())


def test_shots_are_of_other_tasks_and_training_splits(samples: Workspace) -> None:
    golds = gold_graphs(samples)
    train = {g.graph.task for g in golds if g.graph.split == "train"}
    task = next(iter(sorted(train)))
    shots = choose_shots(golds, task, count=3)
    assert len(shots) == 3
    assert {shot.task for shot in shots} <= train - {task}
    assert choose_shots(golds, task, count=3) == shots
    assert choose_shots([], task) == []
    pairs = choose_pairs(golds, task)
    assert [pair.answer for pair in pairs] == ["A", "B", "C", "A", "B", "C"]
    assert {pair.task for pair in pairs} <= train - {task}


def test_a_line_is_a_line() -> None:
    assert generate_edges("linear", "t", "", ["a", "b", "c"], None) == [(0, 1), (1, 2)]
    assert generate_edges("linear", "t", "", [], None) == []


def test_pairs_in_context_are_judged_and_reduced() -> None:
    judge = Judge(needs=lambda a, b: int(a[-1]) < int(b[-1]) and b != "step 3")
    edges = generate_edges("icl", "t", "", ["step 2", "step 0", "step 1", "step 3"], judge)
    assert len(judge.asked) == 6
    assert sorted(edges) == [(1, 2), (2, 0)]


def test_circles_are_resolved_as_published() -> None:
    turning = Judge(needs=lambda a, b: (a, b) in {("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")})
    assert generate_edges("icl", "t", "", list("abcd"), turning) == [(2, 3)]
    assert resolve_edges(3, [(0, 1), (1, 0)]) == []


def test_thoughts_are_read_for_their_letter() -> None:
    assert read_answer("because. Answer: B") == "B"
    assert read_answer("Answer: A ... no. answer (c)") == "C"
    assert read_answer("I cannot say") == "C"
    generator = FakeGenerator(answers=["It must. Answer: A", "Answer: C", "Answer: B"])
    edges = generate_edges("cot", "t", "", ["x", "y", "z"], generator)
    assert sorted(edges) == [(0, 1), (2, 1)]
    assert all(request.answer_prefix == "Thought:" for request in generator.requests)


def test_sequence_scoring_finds_the_likely_order() -> None:
    steps = [f"step {n}" for n in (3, 0, 2, 1)]
    found = search_orders(Judge(), "t", "a", steps, rounds=60, seed=3)
    assert [steps[n] for n in found.orders[0]] == [f"step {n}" for n in range(4)]
    assert list(found.scores) == sorted(found.scores, reverse=True)
    assert search_orders(Judge(), "t", "a", steps, rounds=60, seed=3) == found


def test_scores_of_rests_add_up_to_those_of_whole_sequences() -> None:
    steps = [f"step {n}" for n in (3, 0, 2, 1, 4)]
    judge = Judge()
    found = search_orders(judge, "t", "", steps, rounds=40, seed=1, kept=99)
    context = sequence_context("t", "")
    start = judge.log_likelihood(context, [join_steps(steps, range(5))])[0].total
    for order, score in zip(found.orders, found.scores, strict=True):
        whole = judge.log_likelihood(context, [join_steps(steps, order)])[0].total
        assert math.isclose(score, whole - start, abs_tol=1e-9)
    # What came before the swap was context, not scored anew.
    assert any(len(scored[0]) > len(context) for scored in judge.scored)


def test_the_common_order_of_sequences() -> None:
    assert common_edges([(0, 1, 2, 3), (0, 2, 1, 3)]) == [(0, 1), (0, 2), (1, 3), (2, 3)]
    assert common_edges([(0, 1), (1, 0)]) == []
    assert common_edges([]) == []
    assert search_orders(Judge(), "t", "", ["only"]).orders == ((0,),)


def test_a_models_proposals_become_suggestions(samples: Workspace) -> None:
    graph = samples.transact("Add", "", add_graph, "make tea", ["with leaves"]).value
    generator = FakeGenerator(answers=["Boil water\n2. Pour water\n3. Serve"])
    assert propose_steps(samples, graph.id, "icl", generator, FakeEmbedder()) == 3
    assert propose_steps(samples, graph.id, "icl", generator, FakeEmbedder()) == 0
    assert propose_edges(samples, graph.id, "linear", None) == 2
    shown = load_graph(samples, graph.id)
    assert (shown.accepted, shown.links) == ((), ())
    assert shown.steps[0].suggested == "Fake generator, icl"
    accepted = samples.transact("Accept", "", accept_all, graph.id).value
    assert (accepted.steps, accepted.dependencies) == (3, 2)
    assert load_graph(samples, graph.id).edges == ((0, 1), (1, 2))


def test_dependencies_need_two_steps(workspace: Workspace) -> None:
    graph = workspace.transact("Add", "", add_graph, "t", steps=["one"]).value
    with pytest.raises(ConflictError, match="at least two steps"):
        propose_edges(workspace, graph.id, "linear", None)


def test_every_method_gives_a_row_with_an_interval(samples: Workspace) -> None:
    ids = [graph.id for graph in samples.find(TaskGraph)][:3]
    job = samples.transact_job("Start", "", start_evaluation, ids, sequences=2).value
    assert job.total == len(plan_units(job.spec)) == 3 * (4 * 2 + 4 * 2 - 1)
    generator = Judge(answers=["Greet the patient\n2. Wash both hands\n3. Answer: A", "Answer: C"])
    ended = execute_evaluation(samples, job.id, generator, FakeEmbedder())
    assert (ended.state, ended.done, ended.failed) == ("done", job.total, 0)
    rows = method_rows(samples, job.id)
    seen = {(row.part, row.method, row.assumption) for row in rows}
    for method in STEP_METHODS:
        assert {("steps", method, told) for told in (True, False)} <= seen
    for method in EDGE_METHODS:
        assert ("edges", method, True) in seen
    assert ("edges", "linear", False) not in seen
    assert all(row.interval.n == 3 for row in rows)
    assert all(row.interval.low is not None for row in rows)
    score = samples.find(GraphScore, limit=1)[0]
    assert "cosine of fake-embedder" in score.signature
    newest = latest_evaluation(samples)
    assert newest is not None
    assert newest.id == job.id


def test_the_place_of_a_step_tells_a_judge_nothing(samples: Workspace) -> None:
    gold = load_graph(samples, samples.find(TaskGraph)[0].id)
    texts = [step.text for step in gold.accepted]
    reach = reachable_sets(len(texts), gold.edges)

    def knows(first: str, second: str) -> bool:
        return bool(reach[texts.index(first)] >> texts.index(second) & 1)

    def judged(needs: Callable[[str, str], bool]) -> StepGraph:
        job = samples.transact_job(
            "Start", "", start_evaluation, [gold.graph.id],
            step_methods=[], edge_methods=["icl"], assumptions=[True],
        ).value  # fmt: skip
        execute_evaluation(samples, job.id, Judge(needs=needs), FakeEmbedder())
        made = samples.find(TaskGraph, "json_extract(made, '$.job') = ?", (job.id,))[0]
        assert made.made["signature"].endswith("|order:shuffled")
        return load_graph(samples, made.id)

    assert set(judged(knows).edges) == set(gold.edges), "what it knows comes back in order"
    line = {(n, n + 1) for n in range(len(texts) - 1)}
    assert len(set(judged(lambda first, second: True).edges) & line) < len(line) // 2


def test_the_words_of_a_model_follow_the_number_without_a_blank() -> None:
    generator = FakeGenerator(answers=[" Boil the water\n2. Pour it"])
    found = generate_steps("icl", "make tea", "", generator, FakeEmbedder())
    assert [proposal.text for proposal in found] == ["Boil the water", "Pour it"]
    assert generator.requests[-1].answer_prefix == "1."


def test_an_evaluation_goes_on_where_it_stopped(samples: Workspace) -> None:
    ids = [graph.id for graph in samples.find(TaskGraph)][:2]
    job = samples.transact_job(
        "Start", "", start_evaluation, ids,
        step_methods=["icl"], edge_methods=["linear", "icl"], assumptions=[True],
    ).value  # fmt: skip
    cancel = Cancellation()

    def stop(progress) -> None:  # type: ignore[no-untyped-def]
        if progress.done == 2:
            cancel.cancel()

    generator = Judge(answers=["Read"])
    stopped = execute_evaluation(
        samples, job.id, generator, FakeEmbedder(), progress=stop, cancel=cancel
    )
    assert (stopped.state, stopped.done) == ("cancelled", 2)
    before = samples.count(TaskGraph, "role = 'model'")
    ended = execute_evaluation(samples, job.id, generator, FakeEmbedder())
    assert (ended.state, ended.done) == ("done", 6)
    assert (before, samples.count(TaskGraph, "role = 'model'")) == (2, 6)


def test_a_model_that_fails_costs_one_unit(samples: Workspace) -> None:
    ids = [graph.id for graph in samples.find(TaskGraph)][:2]
    job = samples.transact_job(
        "Start", "", start_evaluation, ids,
        step_methods=["icl"], edge_methods=["linear"], assumptions=[True],
    ).value  # fmt: skip
    task = samples.get(TaskGraph, ids[0]).task
    generator = FakeGenerator(
        answers=["x"], fail_on={f"Task: {task}\nAssumption": InvalidModelError("It broke.")}
    )
    ended = execute_evaluation(samples, job.id, generator, FakeEmbedder())
    assert ended.state == "done"
    assert ended.failed >= 1
    rows = [row for row in method_rows(samples, job.id) if row.metric == "step_matching"]
    assert rows[0].unscored == ended.failed


def test_an_evaluation_needs_gold_graphs_and_known_methods(workspace: Workspace) -> None:
    from core.errors import NotFoundError

    with pytest.raises(NotFoundError, match="no gold graph"):
        workspace.transact_job("Start", "", start_evaluation)
    with pytest.raises(UsageError, match="no method"):
        workspace.transact_job("Start", "", start_evaluation, ["x"], step_methods=["guess"])
