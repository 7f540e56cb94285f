"""Results: splits, intervals, comparison of two, costs, agreement with people, and the plans of queries."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.errors import UsageError
from core.metrics.base import MetricScore
from core.metrics.comparison import compare_systems
from core.people import add_person
from core.review.pairs import adjudicate, decided_pairs, disagreements, draw_pairs, submit_pair
from core.review.verbs import fill_queue, record_rating, submit_review
from core.runs.compare import Side, common_metrics, compare_sides, in_words
from core.runs.differences import word_differences
from core.runs.engine import execute_run
from core.runs.human_agreement import LONGER, human_agreement
from core.runs.measures import (
    GROUPINGS,
    WORDS,
    Narrow,
    count_words,
    item_query,
    section_query,
    values_query,
)
from core.runs.results import (
    MOST_BOOTSTRAPPED,
    cost_rows,
    mean_interval,
    rating_rows,
    result_rows,
    result_values,
)
from core.runs.scoring import score_run
from core.runs.tags import count_tags, remove_tag, tag_output, tags_of
from core.runs.verbs import add_run, add_system, select_examples
from core.storage import Workspace
from core.types import RATING_AXES, Output, Person, ReviewItem, Run, SectionText, System
from core.types.evaluation import PairItem
from models.fake import FakeGenerator
from tests.factories import make_example, make_task


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """A plain workspace: deriving a key for each test would take longer than the tests."""
    with Workspace.create(tmp_path / "test.rifugio", None) as opened:
        yield opened


SHORT = "# Subjective\n\nA cough.\n\n# Objective\n\nNo fever."
LONG = SHORT.replace("A cough.", "A cough since Monday, dry, worse at night, without any sputum.")


class FixedMetric:
    """Gives the values it was made with, in the order of the outputs it sees."""

    signature = "fixed|version:1"

    def __init__(self, values: list[float | None]) -> None:
        self._values = list(values)

    def score_one(self, item: object) -> MetricScore:
        value = self._values.pop(0)
        return MetricScore(
            value=value,
            unscored=None if value is not None else "no reason at all",
            signature=self.signature,
        )


def write_runs(workspace: Workspace, examples: int = 4) -> list[Run]:
    """Two systems that wrote for the same examples, the second longer."""

    def fill(tx: object) -> None:
        task = make_task(tx)  # type: ignore[arg-type]
        for number in range(examples):
            make_example(tx, task.id, f"Case {number} coughs.")  # type: ignore[arg-type]

    workspace.transact_job("Fill", "", fill)
    runs = []
    for name, answer in (("Brief", SHORT), ("Wordy", LONG)):
        system = workspace.transact_job(
            "Add", "", add_system, name, model_id="fake-generator"
        ).value
        ids = select_examples(workspace)
        run = workspace.transact_job("Run", "", add_run, system.id, ids).value
        execute_run(workspace, run.id, FakeGenerator(answers=(answer,)))
        runs.append(run)
    return runs


def person(workspace: Workspace, name: str) -> str:
    return workspace.transact_job("Add", "", add_person, name).value.id


def rate(workspace: Workspace, person_id: str, value: Callable[[str, str], int]) -> None:
    """Rate everything in a person's queue."""
    workspace.transact_job("Fill", person_id, fill_queue, person_id, 1)
    for item in workspace.find(ReviewItem, "person_id = ?", (person_id,)):
        for axis in RATING_AXES:
            workspace.transact(
                "Rate", person_id, record_rating, item.output_id, person_id, axis,
                value(item.output_id, axis),
            )  # fmt: skip
        workspace.transact("Submit", person_id, submit_review, item.id, "")


def test_means_intervals_and_reasons_by_system(workspace: Workspace) -> None:
    first, second = write_runs(workspace)
    score_run(workspace, first.id, {"m": FixedMetric([0.1, 0.2, 0.3, None])})
    score_run(workspace, second.id, {"m": FixedMetric([0.5, 0.6, 0.7, 0.8])})
    rows = {row.system: row for row in result_rows(workspace)}
    assert rows["Brief"].interval.mean == pytest.approx(0.2)
    assert rows["Brief"].interval.n == 3
    assert rows["Brief"].reasons == {"no reason at all": 1}
    assert rows["Wordy"].unscored == 0
    assert rows["Wordy"].signatures == ("fixed|version:1",)
    assert rows["Wordy"].method == "bootstrap"
    assert sorted(rows["Wordy"].dots) == [0.5, 0.6, 0.7, 0.8]
    assert result_values(workspace, "m", rows["Brief"].system_id) == [0.1, 0.2, 0.3]
    assert result_values(workspace, "m", rows["Brief"].system_id, limit=1) == [0.1]


def test_a_later_score_replaces_an_earlier_one_and_that_one_stays(workspace: Workspace) -> None:
    first, _second = write_runs(workspace, 2)
    score_run(workspace, first.id, {"m": FixedMetric([0.0, 0.0])})
    score_run(workspace, first.id, {"m": FixedMetric([1.0, 0.5])})
    (row,) = result_rows(workspace)
    assert row.interval.mean == 0.75
    assert workspace.value("SELECT count(*) FROM score") == 4


@pytest.mark.parametrize("by", GROUPINGS)
def test_every_split_has_rows_or_none_and_never_fails(workspace: Workspace, by: str) -> None:
    first, second = write_runs(workspace, 2)
    for run in (first, second):
        score_run(workspace, run.id, {"m": FixedMetric([0.1, 0.9])})
    rate(workspace, person(workspace, "Ann"), lambda _o, _a: 3)
    rows = result_rows(workspace, [by])
    if by == "item":
        assert rows == []
        return
    if by == "section":
        assert rows == []  # This metric keeps no sections.
        return
    assert rows
    for row in rows:
        assert len(row.group) == 1
    groups = {row.group[0] for row in rows}
    expected = {
        "field": {"Medicine"},
        "task": {"Write a note"},
        "split": {""},
        "length": {"0-99 words"},
        "prompt": {"long_form"},
        "run": {first.id, second.id},
        "expert": {"Ann"},
    }
    assert groups == expected[by]


def test_sections_have_results_of_their_own(workspace: Workspace) -> None:
    from core.metrics.registry import create

    first, _second = write_runs(workspace, 2)
    score_run(workspace, first.id, {"rougeL": create("rougeL"), "length": create("length")})
    rows = {(row.metric, row.group[0]): row for row in result_rows(workspace, ["section"])}
    assert rows["length", "Objective"].interval.mean == 2.0
    assert rows["rougeL", "Subjective"].interval.mean == 0.0  # 'cough' is not 'coughs'.
    assert rows["rougeL", "Subjective"].interval.n == 2


def test_unknown_or_incompatible_splits_are_refused(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match="cannot be split by 'weather'"):
        result_rows(workspace, ["weather"])
    with pytest.raises(UsageError, match="at once"):
        result_rows(workspace, ["section", "item"])


def test_narrowing_counts_only_what_is_asked_for(workspace: Workspace) -> None:
    first, second = write_runs(workspace)
    for run in (first, second):
        score_run(workspace, run.id, {"m": FixedMetric([0.0, 0.0, 1.0, 1.0])})
    assert {r.system for r in result_rows(workspace, narrow=Narrow(run_ids=(first.id,)))} == {
        "Brief"
    }
    assert len(result_rows(workspace, narrow=Narrow(field="Medicine"))) == 2
    assert result_rows(workspace, narrow=Narrow(field="Law")) == []
    assert result_rows(workspace, narrow=Narrow(split="test")) == []


def test_large_samples_get_the_normal_interval_which_agrees_with_the_bootstrap() -> None:
    values = [(n * 37 % 101) / 100 for n in range(MOST_BOOTSTRAPPED + 1)]
    normal = mean_interval(values)
    bootstrap = mean_interval(values[:-1])
    assert normal.low is not None
    assert bootstrap.low is not None
    assert normal.low == pytest.approx(bootstrap.low, abs=0.005)
    assert normal.mean == pytest.approx(math.fsum(values) / len(values))


@given(st.text(alphabet="ab .é\t\n\r\x0b\x1f\x85\xa0\u1680\u2003\u2028\u3000\u200b", max_size=30))
@example("")
@example(" \n ")
def test_words_are_counted_in_sql_as_the_metric_counts_them(text: str) -> None:
    from core.metrics.registry import create

    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE output (id, text)")
        db.execute("CREATE TABLE score (id, output_id, metric, value, unscored, deleted)")
        db.execute("CREATE INDEX score_measure ON score (metric, output_id, id)")
        db.execute("INSERT INTO output VALUES ('o', ?)", (text,))
        query = f"SELECT {WORDS} FROM output o"
        wanted = create("length").score_one({"prediction": text}).value
        assert db.execute(query).fetchone() == (wanted,)
        assert count_words(text) == wanted
        # Where the output was scored its latest score is taken, and the text is not read.
        db.executemany(
            "INSERT INTO score VALUES (?, 'o', 'length', ?, '', ?)",
            [("1", 7.0, 0), ("2", 8.0, 0), ("3", 9.0, 1)],
        )
        assert db.execute(query).fetchone() == (8.0,)


def test_every_view_has_the_same_number_of_words(workspace: Workspace) -> None:
    from core.judges.results import output_facts

    first, _second = write_runs(workspace, 1)
    (output,) = workspace.find(Output, "run_id = ?", (first.id,))
    text = "# Plan\n\n- rest  and\tfluids\n- come back\u00a0on Monday"
    workspace.transact_job(
        "Write",
        "",
        lambda tx: tx.execute_unlogged(
            "UPDATE output SET text = ? WHERE id = ?", (text, output.id)
        ),
    )
    narrow = Narrow(run_ids=(first.id,))
    assert output_facts(workspace, [output.id])[output.id].words == len(text.split()) == 11
    assert [row.words for row in cost_rows(workspace, narrow=narrow)] == [11]


def test_query_plans_touch_indexes_and_no_texts(workspace: Workspace) -> None:
    """Neither outputs' rows, which hold the texts, nor scores' rows are read for the table."""
    for by in ([], ["length"], ["prompt"], ["run"], ["field", "split"]):
        sql, parameters = values_query(by, Narrow())
        plan = [r["detail"] for r in workspace.query(f"EXPLAIN QUERY PLAN {sql}", parameters)]
        assert any("n USING COVERING INDEX score_measure" in step for step in plan), plan
        assert any("o USING COVERING INDEX output_facts" in step for step in plan), plan
    sql, parameters = values_query([], Narrow(), "m")
    plan = [r["detail"] for r in workspace.query(f"EXPLAIN QUERY PLAN {sql}", parameters)]
    assert any("SEARCH n USING COVERING INDEX score_measure (metric=?)" in s for s in plan), plan
    for sql, parameters in (section_query(Narrow()), item_query(Narrow())):
        assert workspace.query(f"EXPLAIN QUERY PLAN {sql}", parameters)


def test_the_list_behind_a_number_never_scans_scores(workspace: Workspace) -> None:
    from core.runs.measures import MEASURES

    one_row = f"SELECT m.value FROM {MEASURES} m WHERE m.id IN ('a', 'b')"
    plan = [r["detail"] for r in workspace.query(f"EXPLAIN QUERY PLAN {one_row}")]
    assert not any(step.startswith(("SCAN s", "SCAN g")) for step in plan), plan


# -- two side by side ------------------------------------------------------------------------


def test_comparison_lists_better_and_worse_and_is_the_paired_bootstrap(
    workspace: Workspace,
) -> None:
    first, second = write_runs(workspace)
    score_run(workspace, first.id, {"m": FixedMetric([0.1, 0.5, 0.5, None])})
    score_run(workspace, second.id, {"m": FixedMetric([0.9, 0.2, 0.5, 0.4])})
    sides = Side(first.system_id), Side(second.system_id)
    assert common_metrics(workspace, *sides) == ["m"]
    found = compare_sides(workspace, "m", *sides)
    assert [(p.title, round(p.gain, 3)) for p in found.better] == [("Case 0 coughs.", 0.8)]
    assert [round(p.gain, 3) for p in found.worse] == [-0.3]
    assert found.same == 1
    expected = compare_systems([0.9, 0.2, 0.5], [0.1, 0.5, 0.5])
    assert found.difference == expected
    words = in_words(found, "Brief", "Wordy")
    assert words.startswith("Wordy is 0.167 higher than Brief over 3 examples")
    assert words.endswith("too few to tell it from chance.")
    assert found.better[0].first_output_id != found.better[0].second_output_id
    runs = compare_sides(workspace, "m", Side(first.system_id, first.id), sides[1])
    assert runs.difference == expected


def test_ratings_can_be_compared_too(workspace: Workspace) -> None:
    first, second = write_runs(workspace, 3)
    ann = person(workspace, "Ann")
    long = {o.id for o in workspace.find(Output, "run_id = ?", (second.id,))}
    rate(workspace, ann, lambda output, _axis: 5 if output in long else 2)
    sides = Side(first.system_id), Side(second.system_id)
    assert "rating: depth" in common_metrics(workspace, *sides)
    assert compare_sides(workspace, "rating: depth", *sides).difference.value == 3.0
    by_person = {(row.system, row.metric): row for row in rating_rows(workspace)}
    assert by_person["Wordy", "rating: depth"].interval.mean == 5.0


def test_one_example_is_said_to_tell_nothing(workspace: Workspace) -> None:
    first, second = write_runs(workspace, 1)
    for run, value in ((first, 0.1), (second, 0.2)):
        score_run(workspace, run.id, {"m": FixedMetric([value])})
    found = compare_sides(workspace, "m", Side(first.system_id), Side(second.system_id))
    assert found.difference.p is None
    assert "one example tells nothing" in in_words(found, "a", "b")


def test_costs_count_tokens_time_and_words(workspace: Workspace) -> None:
    first, _second = write_runs(workspace, 3)
    rows = {row.system: row for row in cost_rows(workspace)}
    outputs = workspace.find(Output, "run_id = ?", (first.id,))
    assert rows["Brief"].outputs == 3
    assert rows["Brief"].completion_tokens == sum(o.completion_tokens for o in outputs)
    assert rows["Brief"].seconds == pytest.approx(sum(o.seconds for o in outputs))
    assert rows["Brief"].words < rows["Wordy"].words


# -- people ----------------------------------------------------------------------------------


def compare_all(workspace: Workspace, person_id: str, prefer: Callable[[str, str], int]) -> None:
    """Draw a person's pairs and judge them; ``prefer`` is given the ids of the left and right output."""
    workspace.transact("Draw", person_id, draw_pairs, person_id)
    for item in workspace.find(PairItem, "person_id = ?", (person_id,)):
        strength = prefer(item.left_output_id, item.right_output_id)
        workspace.transact("Choose", person_id, submit_pair, item.id, strength, "so")


def test_pairs_are_the_same_for_all_in_an_order_and_on_sides_of_their_own(
    workspace: Workspace,
) -> None:
    write_runs(workspace, 24)
    # Persons' ids and outputs' pseudonyms are what orders and sides are drawn from: here the same each time.
    workspace.transact_job(
        "Name", "", lambda tx: tx.execute_unlogged("UPDATE output SET pseudonym = id")
    )
    items = {}
    for name in ("Ann", "Ben"):
        made = Person(id=name, name=name)
        who = workspace.transact_job("Add", "", lambda tx, made=made: tx.insert(made)).value.id
        assert workspace.transact("Draw", who, draw_pairs, who).value == 24
        assert workspace.transact("Draw", who, draw_pairs, who).value == 0
        items[name] = workspace.find(PairItem, "person_id = ?", (who,), order_by="position")
    pairs = {
        name: [frozenset((i.left_output_id, i.right_output_id)) for i in found]
        for name, found in items.items()
    }
    assert set(pairs["Ann"]) == set(pairs["Ben"])
    assert pairs["Ann"] != pairs["Ben"]
    sides = {
        name: {frozenset((i.left_output_id, i.right_output_id)): i.left_output_id for i in found}
        for name, found in items.items()
    }
    assert sides["Ann"] != sides["Ben"]
    lefts = [sides["Ann"][pair] for pair in pairs["Ann"]]
    wordy = workspace.find(System, "name = 'Wordy'")[0].id
    of_wordy = {
        row["id"]
        for row in workspace.query(
            "SELECT o.id FROM output o JOIN run r ON r.id = o.run_id WHERE r.system_id = ?",
            (wordy,),
        )
    }
    assert 0 < sum(left in of_wordy for left in lefts) < 24


def test_people_decide_by_majority_and_adjudication_overrides(workspace: Workspace) -> None:
    _first, second = write_runs(workspace, 1)
    long = workspace.find(Output, "run_id = ?", (second.id,))[0].id
    ann, ben = person(workspace, "Ann"), person(workspace, "Ben")
    compare_all(workspace, ann, lambda left, _right: 1 if left == long else 5)
    assert [p.choice for p in decided_pairs(workspace)] == [
        "first" if long == min(decided_pairs(workspace)[0].first, long) else "second"
    ]
    compare_all(workspace, ben, lambda left, _right: 5 if left == long else 1)
    (pair,) = disagreements(workspace)
    assert pair.choice == "tie"
    other = pair.second if pair.first == long else pair.first
    with pytest.raises(UsageError, match="reason"):
        workspace.transact("Decide", ann, adjudicate, long, other, ann, "first", " ")
    workspace.transact("Decide", ann, adjudicate, long, other, ann, "first", "It has the duration.")
    assert disagreements(workspace) == []
    (decided,) = decided_pairs(workspace)
    assert decided.adjudicated
    assert (decided.first if decided.choice == "first" else decided.second) == long


def test_agreement_of_metrics_with_people_and_longer_wins(workspace: Workspace) -> None:
    """People always prefer the longer one; one metric does, too, one never does."""
    first, second = write_runs(workspace)
    score_run(workspace, first.id, {"good": FixedMetric([0.1] * 4), "bad": FixedMetric([0.9] * 4)})
    score_run(workspace, second.id, {"good": FixedMetric([0.9] * 4), "bad": FixedMetric([0.1] * 4)})
    assert human_agreement(workspace).source == ""
    long = {o.id for o in workspace.find(Output, "run_id = ?", (second.id,))}
    ann = person(workspace, "Ann")
    rate(workspace, ann, lambda output, _axis: 5 if output in long else 2)
    from_ratings = human_agreement(workspace)
    assert (from_ratings.source, from_ratings.pairs) == ("ratings", 4)
    compare_all(workspace, ann, lambda left, _right: 2 if left in long else 4)
    found = human_agreement(workspace)
    assert (found.source, found.pairs) == ("pairs", 4)
    values = {row.name: row.without_ties.value for row in found.rows}
    assert values == {"good": 1.0, "bad": 0.0, LONGER: 1.0}
    assert next(row for row in found.rows if row.name == LONGER).kind == "baseline"


# -- tags and differences --------------------------------------------------------------------


def test_tags_mark_outputs_and_stretches_and_can_be_taken_back(workspace: Workspace) -> None:
    first, _second = write_runs(workspace, 2)
    ann = person(workspace, "Ann")
    output = workspace.find(Output, "run_id = ?", (first.id,))[0]
    whole = workspace.transact("Tag", ann, tag_output, output.id, ann, "verbose").value
    place = output.text.index("cough")
    workspace.transact("Tag", ann, tag_output, output.id, ann, "wrong", start=place, end=place + 5)
    assert [(t.tag, t.start) for t in tags_of(workspace, output.id)] == [
        ("verbose", -1),
        ("wrong", place),
    ]
    assert count_tags(workspace) == {("Brief", "verbose"): 1, ("Brief", "wrong"): 1}
    workspace.transact("Untag", ann, remove_tag, whole.id)
    assert count_tags(workspace) == {("Brief", "wrong"): 1}
    with pytest.raises(UsageError, match="no tag"):
        workspace.transact("Tag", ann, tag_output, output.id, ann, "ugly")
    with pytest.raises(UsageError, match="not in the text"):
        workspace.transact("Tag", ann, tag_output, output.id, ann, "wrong", start=0, end=9_999)


def test_differences_are_words_that_only_one_side_has() -> None:
    first = [SectionText(title="Plan", text="Rest, and fluids. Return if fever.")]
    second = [
        SectionText(title="plan", text="Rest and FLUIDS! Come back if fever."),
        SectionText(title="More", text="Honey."),
    ]
    found = word_differences(first, second)
    assert [first[s.section].text[s.start : s.end] for s in found.first] == ["Return"]
    assert [second[s.section].text[s.start : s.end] for s in found.second] == [
        "Come back",
        "Honey.",
    ]


def test_differences_put_together_again_are_the_texts() -> None:
    texts = ["a b c d", "a c d e", "", "b b b", "e d c b a", "ä 😀 b"]
    for one, other in combinations(texts, 2):
        found = word_differences(
            [SectionText(title="", text=one)], [SectionText(title="", text=other)]
        )
        kept = [one, other]
        for side, spans in enumerate((found.first, found.second)):
            for span in reversed(spans):
                kept[side] = kept[side][: span.start] + " " + kept[side][span.end :]
        assert kept[0].split() == kept[1].split()
