"""The editing benchmark: formats as published, all instructions, greedy runs, the copy baseline, tables."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.editing_bench.bench import (
    COPY,
    add_bench_runs,
    add_copy_baseline,
    bench_item,
    import_edits,
    score_bench_run,
)
from core.editing_bench.formats import FORMATS, UNVERIFIED, read_edits
from core.editing_bench.results import bench_boxes, bench_tables, metric_correlations
from core.editing_bench.tasks import (
    MAIN_METRICS,
    TASKS,
    metrics_of,
    prompts_of,
    published_scores,
    strip_marks,
)
from core.errors import InputError, UsageError
from core.metrics.registry import create
from core.review.verbs import fill_queue
from core.runs.engine import execute_run
from core.runs.results import result_rows
from core.runs.verbs import add_system
from core.storage import Workspace
from core.types import Example, Output, Run
from models.fake import FakeGenerator
from tests.core.test_results import person
from tests.shared_data import shared_path


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """A plain workspace: deriving a key for each test would take longer than the tests."""
    with Workspace.create(tmp_path / "test.rifugio", None) as opened:
        yield opened


JFLEG = ("He go to school .", "She have a cat .", "They is here .")


def write_jfleg(folder: Path) -> Path:
    """Three sentences with two references each, as JFLEG lays its files out."""
    (folder / "dev.src").write_text("".join(f"{line} \n" for line in JFLEG))
    (folder / "dev.ref0").write_text("He goes to school .\nShe has a cat .\nThey are here .\n")
    (folder / "dev.ref1").write_text("He went to school .\nShe had a cat .\nThey were here .\n")
    return folder / "dev.src"


def import_file(workspace: Workspace, path: Path, format: str = "auto") -> int:
    found = read_edits(path, format)
    return workspace.transact("Import", "", import_edits, found).value[0]


def test_all_published_instructions_are_shipped_with_their_source() -> None:
    assert {task: len(prompts_of(task)) for task in TASKS} == {
        "fluency": 11,
        "clarity": 9,
        "coherence": 10,
        "neutralization": 9,
        "paraphrasing": 9,
        "simplification": 10,
        "updating": 3,
    }
    shared = json.loads(shared_path("data", "editeval_prompts.json").read_text(encoding="utf-8"))
    assert {task: list(prompts_of(task)) for task in TASKS} == shared["tasks"]
    scores = {(p.dataset, p.metric): p.score for p in published_scores()}
    assert scores["jfleg", "gleu"] == 62.4
    assert scores["fruit", "update_rouge1"] == 47.4
    assert len(scores) == 8
    with pytest.raises(UsageError, match="no editing task"):
        prompts_of("poetry")


def test_main_metrics_come_first_and_all_exist() -> None:
    for task, main in MAIN_METRICS.items():
        assert metrics_of(task)[: len(main)] == main
        for name in metrics_of(task):
            create(name)


def test_marks_are_removed_before_scoring() -> None:
    assert strip_marks("Born in 1941 [0], he died [12].") == "Born in 1941, he died."
    assert strip_marks("an [aside] stays") == "an [aside] stays"


def test_jfleg_is_read_with_all_its_references(tmp_path: Path) -> None:
    found = read_edits(write_jfleg(tmp_path))
    assert (found.format, len(found.records), found.skipped) == ("jfleg", 3, [])
    assert found.records[0].id == "jfleg-dev-0"
    assert found.records[0].edits == ("He goes to school .", "He went to school .")
    (tmp_path / "dev.ref1").write_text("one line\n")
    with pytest.raises(InputError, match=r"has 1 lines where dev\.src has 3"):
        read_edits(tmp_path / "dev.src")
    for name in ("dev.ref0", "dev.ref1"):
        (tmp_path / name).unlink()
    with pytest.raises(InputError, match="references of jfleg are missing"):
        read_edits(tmp_path / "dev.src")


@pytest.mark.parametrize(
    ("parts", "format", "count", "references"),
    [
        (("jfleg", "dev", "dev.src"), "jfleg", 754, 4),
        (("asset", "asset.test.orig"), "asset", 180, 10),
        (("turkcorpus", "test.8turkers.tok.norm"), "turkcorpus", 180, 8),
        (("wnc_baselines", "pre.test"), "wnc-pairs", 100, 1),
        (("fruit", "sample_data", "inputlabels.jsonl"), "fruit", 3, 1),
        (("editeval_format_derived", "jfleg.dev.first100.jsonl"), "editeval", 100, 4),
    ],
)
def test_published_samples_are_read_as_what_they_are(
    parts: tuple[str, ...], format: str, count: int, references: int
) -> None:
    found = read_edits(shared_path("data", *parts))
    assert (found.format, len(found.records)) == (format, count)
    assert max(len(record.edits) for record in found.records) == references
    assert all(record.input and record.edits for record in found.records)


def test_fruit_has_its_contexts_without_marks() -> None:
    found = read_edits(shared_path("data", "fruit", "sample_data", "inputlabels.jsonl"))
    first = found.records[0]
    assert first.task == "updating"
    assert len(first.retrieved_documents) == 3
    assert "[CONTEXT]" not in first.input
    assert first.retrieved_documents[0].startswith("List_of_American_films_of_1941")


def test_formats_without_a_sample_are_read_as_described(tmp_path: Path) -> None:
    """Synthetic files: no published file of these was at hand, and each says so."""
    assert {"iterater", "wnc", "stsb", "wafer"} == UNVERIFIED <= set(FORMATS)
    iterater = tmp_path / "test.json"
    iterater.write_text(
        "\n".join(
            json.dumps(row)
            for row in (
                {"before_sent": "He go.", "after_sent": "He goes.", "labels": "fluency"},
                {"before_sent": "A", "after_sent": "B b", "labels": "style"},
                {"before_sent": "Gone.", "after_sent": ".", "labels": "clarity"},
            )
        )
    )
    found = read_edits(iterater)
    assert [(r.dataset, r.task) for r in found.records] == [("iterater-fluency", "fluency")]
    assert [s.line for s in found.skipped] == [2, 3]
    wnc = tmp_path / "biased.tsv"
    wnc.write_text('1\ta\tb\tthe "best film\tthe film\tN\tN\n2\tshort\n')
    found = read_edits(wnc)
    assert found.records[0].input == 'the "best film'
    assert found.records[0].edits == ("the film",)
    assert found.skipped[0].line == 2
    stsb = tmp_path / "dev.jsonl"
    stsb.write_text(
        '{"sentence1": "A dog runs.", "sentence2": "A dog is running.", "score": 5.0}\n'
        '{"sentence1": "A dog.", "sentence2": "A cat.", "score": 1.2}\n'
    )
    found = read_edits(stsb)
    assert (len(found.records), found.records[0].task) == (1, "paraphrasing")
    wafer = tmp_path / "wafer.jsonl"
    wafer.write_text(
        json.dumps(
            {
                "id": "w1",
                "input": "Paris is a city.",
                "output": [{"answer": "Paris is the capital [0] of France.", "provenance": []}],
                "meta": {"wikipedia_title": "Paris", "wikipedia_id": 7, "sentences": []},
                "retrieved_documents": [{"title": "France", "text": "Its capital is Paris."}],
            }
        )
    )
    found = read_edits(wafer)
    assert found.records[0].retrieved_documents == ("France: Its capital is Paris.",)
    assert found.records[0].title == "Paris"


def test_an_unknown_file_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"colour": "red"}\n')
    with pytest.raises(InputError, match="no known format"):
        read_edits(path)
    with pytest.raises(UsageError, match="not known"):
        read_edits(path, "word")


def test_importing_twice_adds_nothing(workspace: Workspace, tmp_path: Path) -> None:
    path = write_jfleg(tmp_path)
    assert import_file(workspace, path) == 3
    count, skipped = workspace.transact("Import", "", import_edits, read_edits(path)).value
    assert (count, len(skipped)) == (0, 3)
    assert "is there already" in skipped[0].reason
    assert workspace.count(Example) == 3


def test_a_run_asks_with_each_instruction_greedily(workspace: Workspace, tmp_path: Path) -> None:
    import_file(workspace, write_jfleg(tmp_path))
    system = workspace.transact(
        "Add", "", add_system, "Editor", model_id="m", params={"temperature": 0.9}
    ).value
    runs = workspace.transact_job("Runs", "", add_bench_runs, system.id, ["fluency"]).value
    assert [run.signature["instruction"] for run in runs] == list(prompts_of("fluency"))
    generator = FakeGenerator(answers=("He goes to school .",))
    execute_run(workspace, runs[1].id, generator)
    request = generator.requests[0]
    assert (request.temperature, request.top_p, request.repeat_penalty) == (0.0, 1.0, 1.0)
    assert request.messages[-1].content.startswith("Fix grammar or spelling mistakes:")
    assert JFLEG[0] in request.messages[-1].content
    assert len({run.signature["template"] for run in runs}) == 1
    plain = workspace.transact(
        "Add", "", add_system, "T5", model_id="m", prompt="edit_eval_definition"
    ).value
    (run,) = workspace.transact_job(
        "Runs", "", add_bench_runs, plain.id, ["fluency"], prompts="first"
    ).value
    execute_run(workspace, run.id, generator)
    assert generator.requests[-1].messages[-1].content.startswith("Definition: Fix grammar errors")


def test_updating_gives_three_chunks_at_most(workspace: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "update.jsonl"
    record = {
        "id": "fruit-dev-0",
        "input": "It opened.",
        "edits": ["It opened in 1999 [0]."],
        "retrieved_documents": [f"Document {n}" for n in range(5)],
        "tasks": "updating",
    }
    path.write_text(json.dumps(record) + "\n")
    import_file(workspace, path)
    system = workspace.transact("Add", "", add_system, "Editor", model_id="m").value
    runs = workspace.transact_job("Runs", "", add_bench_runs, system.id).value
    assert len(runs) == 3
    generator = FakeGenerator(answers=("It opened in 1999.",))
    execute_run(workspace, runs[0].id, generator)
    prompt = generator.requests[0].messages[-1].content
    assert "Document 2" in prompt
    assert "Document 3" not in prompt
    scores = score_bench_run(workspace, runs[0].id)
    assert scores["update_rouge1"].value == 1.0


def test_which_instructions_are_tried_can_be_chosen(workspace: Workspace, tmp_path: Path) -> None:
    import_file(workspace, write_jfleg(tmp_path))
    system = workspace.transact("Add", "", add_system, "Editor", model_id="m").value

    def numbers(prompts: str) -> list[int]:
        runs = workspace.transact_job("R", "", add_bench_runs, system.id, prompts=prompts).value
        return [run.signature["prompt_number"] for run in runs]

    assert numbers("first") == [1]
    assert numbers("2,5") == [2, 5]
    with pytest.raises(UsageError, match="names no instructions"):
        numbers("best")
    with pytest.raises(UsageError, match="no instruction 40"):
        numbers("40")


def test_tables_hold_average_extremes_and_variation(workspace: Workspace, tmp_path: Path) -> None:
    import_file(workspace, write_jfleg(tmp_path))
    system = workspace.transact("Add", "", add_system, "Editor", model_id="m").value
    runs = workspace.transact_job("R", "", add_bench_runs, system.id, prompts="1,2").value
    answers = [("He goes to school .", "She has a cat .", "They are here ."), JFLEG]
    for run, given in zip(runs, answers, strict=True):
        execute_run(workspace, run.id, FakeGenerator(answers=given))
        score_bench_run(workspace, run.id)
    (copy,) = workspace.transact_job("Copy", "", add_copy_baseline).value
    score_bench_run(workspace, copy.id)
    rows = {(r.system, r.metric): r for r in bench_tables(workspace)}
    row = rows["Editor", "sari"]
    values = [prompt.value for prompt in row.prompts]
    assert [p.instruction for p in row.prompts] == list(prompts_of("fluency")[:2])
    assert row.mean == pytest.approx(statistics.fmean(values))  # type: ignore[type-var]
    assert (row.highest, row.lowest) == (max(values), min(values))  # type: ignore[type-var]
    assert row.variation == pytest.approx(
        statistics.pstdev(values) / statistics.fmean(values)  # type: ignore[type-var]
    )
    assert rows[COPY, "sari"].mean == row.copy == values[1]
    assert rows["Editor", "gleu"].published is not None
    assert rows["Editor", "gleu"].published.score == 62.4
    assert row.main
    assert not rows["Editor", "em"].main
    boxes = bench_boxes(workspace, "jfleg", "em")
    assert {box.name for box in boxes} == {
        COPY,
        "Editor · 1 Fix grammar errors",
        "Editor · 2 Fix grammar or spelling mistakes",
    }
    assert all(b.low <= b.lower_quartile <= b.median <= b.upper_quartile <= b.high for b in boxes)
    assert len(bench_boxes(workspace, "jfleg", "em", by="system")) == 2
    names, matrix = metric_correlations(workspace, "jfleg")
    assert matrix["sari", "sari"].value == pytest.approx(1.0)
    assert set(names) == set(metrics_of("fluency"))


def test_corpus_scores_are_the_metrics_own_and_not_means(
    workspace: Workspace, tmp_path: Path
) -> None:
    import_file(workspace, write_jfleg(tmp_path))
    system = workspace.transact("Add", "", add_system, "Editor", model_id="m").value
    (run,) = workspace.transact_job("R", "", add_bench_runs, system.id, prompts="first").value
    execute_run(workspace, run.id, FakeGenerator(answers=("He goes to school .", "She cat .", "x")))
    scores = score_bench_run(workspace, run.id, normalisation="none")
    outputs = workspace.find(Output, "run_id = ?", (run.id,), order_by="position")
    items = [bench_item(workspace.get(Example, o.example_id), o) for o in outputs]
    assert scores["sari"].value == create("sari").aggregate(items).value
    singles = [score.value for score in create("sari").score_many(items)]
    assert scores["sari"].value != pytest.approx(statistics.fmean(singles))  # type: ignore[type-var]


def test_a_failed_sentence_is_unscored_and_counted(workspace: Workspace, tmp_path: Path) -> None:
    from core.errors import ModelError

    import_file(workspace, write_jfleg(tmp_path))
    system = workspace.transact("Add", "", add_system, "Editor", model_id="m").value
    (run,) = workspace.transact_job("R", "", add_bench_runs, system.id, prompts="first").value
    generator = FakeGenerator(answers=("x y z",), fail_on={"They is": ModelError("It broke.")})
    execute_run(workspace, run.id, generator)
    score_bench_run(workspace, run.id)
    row = next(r for r in bench_tables(workspace) if r.metric == "sari")
    assert (row.prompts[0].n, row.prompts[0].missing) == (2, 1)
    reasons = workspace.query("SELECT unscored FROM score WHERE metric = 'sari' AND value IS NULL")
    assert [row["unscored"] for row in reasons] == ["There is no output: It broke."]


def test_benchmark_outputs_stay_out_of_queues_and_ordinary_results(
    workspace: Workspace, tmp_path: Path
) -> None:
    import_file(workspace, write_jfleg(tmp_path))
    (copy,) = workspace.transact_job("Copy", "", add_copy_baseline).value
    score_bench_run(workspace, copy.id)
    ann = person(workspace, "Ann")
    assert workspace.transact_job("Fill", ann, fill_queue, ann, 1).value == 0
    assert result_rows(workspace) == []
    assert result_rows(workspace, run_id=copy.id)
    again = workspace.transact_job("Copy", "", add_copy_baseline).value
    assert [run.id for run in again] == [copy.id]
    assert workspace.count(Run) == 1


def test_copy_baseline_equals_the_reference_implementations(workspace: Workspace) -> None:
    """SARI of the input on the 180 ASSET lines is 20.8291 (EASSE), GLEU of JFLEG dev's source 38.21
    with the draw of the published script."""
    asset = import_file(workspace, shared_path("data", "asset", "asset.test.orig"))
    assert asset == 180
    (copy,) = workspace.transact_job("C", "", add_copy_baseline, ["simplification"]).value
    scores = score_bench_run(workspace, copy.id, normalisation="none")
    assert scores["sari"].value == pytest.approx(20.8291, abs=5e-5)
    found = read_edits(shared_path("data", "jfleg", "dev", "dev.src"))
    items = [
        {"source": r.input, "prediction": r.input, "references": list(r.edits)}
        for r in found.records
    ]
    gleu = create("gleu", {"draw": "py2"}).aggregate(items)
    assert (gleu.value or 0) * 100 == pytest.approx(38.21, abs=0.005)


@pytest.mark.models
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_five_sentences_with_the_default_model_and_all_instructions(
    workspace: Workspace, tmp_path: Path
) -> None:
    """Three of JFLEG with eleven instructions and two of ASSET with ten; four tokens each."""
    from app import services
    from models.catalog import default_model

    for parts, count in ((("jfleg", "dev", "dev.src"), 3), (("asset", "asset.test.orig"), 2)):
        found = read_edits(shared_path("data", *parts))
        found.records = found.records[:count]
        workspace.transact("Import", "", import_edits, found)
    model = default_model("generator")
    system = workspace.transact(
        "Add", "", add_system, "Default", model_id=model.id, params={"max_tokens": 4}
    ).value
    runs = workspace.transact_job("Runs", "", add_bench_runs, system.id).value
    assert len(runs) == 11 + 10
    generator = services.generator(model.id)
    try:
        for run in runs:
            execute_run(workspace, run.id, generator)
            score_bench_run(workspace, run.id)
    finally:
        generator.close()
    for copy in workspace.transact_job("Copy", "", add_copy_baseline).value:
        score_bench_run(workspace, copy.id)
    rows = {(r.dataset, r.system, r.metric): r for r in bench_tables(workspace)}
    fluency = rows["jfleg", "Default", "gleu"]
    assert [p.n + p.missing for p in fluency.prompts] == [3] * 11
    simple = rows["asset", "Default", "sari"]
    assert [p.n + p.missing for p in simple.prompts] == [2] * 10
    for row in (fluency, simple):
        assert row.mean is not None
        assert row.copy is not None
        assert row.published is not None
