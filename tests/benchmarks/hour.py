"""An expert's hour without its pauses, step by step on a plain and on an encrypted workspace."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Container
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.documents.library import import_documents
from core.documents.pdf import write_pdf
from core.documents.search import search_passages
from core.documents.vectors import embed_passages
from core.editing.tracked import apply_patch, edit
from core.examples.drafting import choose_draft, execute_request, offer_drafts, prepare_request
from core.examples.grounding import ground_text
from core.examples.post_edit import (
    SectionEdit,
    load_post_edit,
    post_edit_section,
    save_as_example,
    start_post_edit,
)
from core.examples.statistics import study_examples
from core.examples.verbs import add_example, edit_example_section
from core.exchange.exports import export_data
from core.metrics.registry import create
from core.nli.cache import CachedEntailment, MemoryCache
from core.people import add_person
from core.ports import Embedder, EntailmentModel
from core.report.html import write_report
from core.review.verbs import record_rating
from core.runs.human_agreement import human_agreement
from core.runs.results import cost_rows, rating_rows, result_rows
from core.runs.scoring import DEFAULT_METRICS, score_run
from core.runs.verbs import add_run, add_system
from core.storage import Transaction, Workspace
from core.storage.backups import back_up
from core.storage.undo import redo, undo, undoable
from core.tasks.verbs import add_task, edit_task
from core.types import RATING_AXES, Example, Output, SectionSpec, SectionText, Task
from core.types.documents import DraftRequest, PostEdit
from models.fake import FakeGenerator

#: What the Examples page asks for its list.
_LIST = (
    "SELECT e.id FROM example e JOIN task t ON t.id = e.task_id"
    " WHERE e.deleted = 0 ORDER BY e.title COLLATE NOCASE, e.id"
)
_WORDS = ("the", "patient", "reports", "a", "dry", "cough", "since", "Tuesday", "no", "fever")
#: The part of the hour in which models read along.
MODELS = "models reading along"
_EXAMPLES, _EDITS, _OUTPUTS, _POST_EDITS = 200, 500, 20, 100


@dataclass(frozen=True, slots=True)
class Reading:
    """The models that read along: passages as they come in, queries, and drafts as they are edited."""

    embedder: Embedder
    entailment: EntailmentModel


def text(rng: random.Random, words: int) -> str:
    """Running text of so many words."""
    return " ".join(rng.choice(_WORDS) for _ in range(words))


class Pair:
    """A plain and an encrypted workspace on which the same is done, and how long each kind took.

    ``times``: by part of the hour and kind of step, the seconds on the plain and on the encrypted one.
    """

    def __init__(self, plain: Workspace, encrypted: Workspace, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._both = (plain, encrypted)
        self._turn = 0
        self.part = ""
        self.times: dict[tuple[str, str], tuple[list[float], list[float]]] = {}

    def step(
        self, name: str, deed: Callable[[Workspace, int], Any], *, part: str = ""
    ) -> tuple[Any, Any]:
        """Do something on both; ``deed`` also gets 0 or 1, for which of the two it is."""
        part = part or self.part
        self._turn += 1
        values: list[Any] = [None, None]
        for place in (0, 1) if self._turn % 2 else (1, 0):
            start = self._clock()
            values[place] = deed(self._both[place], place)
            taken = self._clock() - start
            self.times.setdefault((part, name), ([], []))[place].append(taken)
        return values[0], values[1]

    def total(self, place: int, parts: Container[str]) -> float:
        """Seconds of some parts of the hour, each kind of step at its median."""
        return sum(
            len(both[place]) * statistics.median(both[place])
            for (of, _name), both in self.times.items()
            if of in parts
        )


def work_an_hour(pair: Pair, folder: Path, seed: int, reading: Reading | None) -> None:
    """Do what an expert does in an hour, without the pauses and without waiting for a model to write.

    ``reading`` None leaves out the models that read along too.
    """
    rng = random.Random(seed)
    pair.part = "writing"
    people = pair.step(
        "add person", lambda w, _: w.transact_job("Add person", "", add_person, "Ann").value.id
    )
    examples = _write(pair, people, rng)
    runs = _run_and_rate(pair, people, examples, rng)
    pair.step("back up", lambda w, _: back_up(w))
    pair.part = "documents"
    _work_with_documents(pair, people, folder, rng, reading)
    pair.part = "evaluating"
    _evaluate(pair, runs, folder)


def _write(pair: Pair, people: tuple[str, str], rng: random.Random) -> tuple[list[str], list[str]]:
    """Import examples and edit them by hand; returns their ids."""
    texts = [(text(rng, 900), text(rng, 250)) for _ in range(_EXAMPLES)]

    def fill(tx: Transaction) -> list[str]:
        sections = (SectionSpec(title="Note"),)
        task = add_task(tx, field="Medicine", objective="Note", output_sections=sections)
        return [
            add_example(
                tx,
                task.id,
                title=f"Case {number}",
                input=(SectionText(title="Transcript", text=source),),
                output=(SectionText(title="Note", text=note),),
            ).id
            for number, (source, note) in enumerate(texts)
        ]

    examples = pair.step("import", lambda w, i: w.transact("Import", people[i], fill).value)
    tasks = pair.step("find tasks", lambda w, _: w.find(Task)[0].id)
    for number in range(_EDITS):
        chosen, note = rng.randrange(_EXAMPLES), text(rng, 250)
        pair.step(
            "save an edit",
            lambda w, i, c=chosen, n=note: w.transact(
                "Edit", people[i], edit_example_section, examples[i][c], "output", 0, n
            ),
        )
        # What the window reads after each save: the row, the list, what undo would take back.
        pair.step("show a row", lambda w, i, c=chosen: w.get(Example, examples[i][c]))
        pair.step("show a list", lambda w, _: w.query(_LIST))
        pair.step("look for undo", lambda w, i: undoable(w, people[i]))
        if number % 10 == 0:
            pair.step(
                "save a task",
                lambda w, i, n=note: w.transact("Edit", people[i], edit_task, tasks[i], notes=n),
            )
        if number % 25 == 0:
            pair.step("undo", lambda w, i: undo(w, people[i]))
            pair.step("redo", lambda w, i: redo(w, people[i]))
    return examples


def _run_and_rate(
    pair: Pair, people: tuple[str, str], examples: tuple[list[str], list[str]], rng: random.Random
) -> tuple[str, str]:
    """A run whose outputs are written as a model's come, one transaction each, and rated; its id."""

    def begin(workspace: Workspace, i: int) -> tuple[str, list[str]]:
        system = workspace.transact(
            "Add", people[i], add_system, "S", model_id="fake-generator"
        ).value
        chosen = examples[i][:_OUTPUTS]
        run = workspace.transact_job("Run", people[i], add_run, system.id, chosen).value
        return run.id, [o.id for o in workspace.find(Output, "run_id = ?", (run.id,))]

    begun = pair.step("begin a run", begin)
    for output in range(_OUTPUTS):
        answer = text(rng, 300)
        pair.step(
            "write an output",
            lambda w, i, o=output, a=answer: w.transact_job(
                "Run", people[i], _finish, begun[i][1][o], a
            ),
        )
    for output in range(_OUTPUTS):
        for axis in RATING_AXES:
            value = rng.randrange(1, 6)
            pair.step(
                "rate",
                lambda w, i, o=output, a=axis, v=value: w.transact(
                    "Rate", people[i], record_rating, begun[i][1][o], people[i], a, v
                ),
            )
    return begun[0][0], begun[1][0]


def _finish(tx: Transaction, output_id: str, answer: str) -> None:
    tx.update(Output, output_id, state="done", text=answer)


def _work_with_documents(
    pair: Pair, people: tuple[str, str], folder: Path, rng: random.Random, reading: Reading | None
) -> None:
    """Import three documents, search them, and post-edit a draft made from them."""
    pages = [[text(rng, 14) for _ in range(40)] for _ in range(40)]
    (folder / "guideline.pdf").write_bytes(write_pdf(pages))
    for name in ("visit", "letter"):
        (folder / f"{name}.txt").write_text(
            "\n\n".join(text(rng, 120) for _ in range(10)), encoding="utf-8"
        )
    paths = [folder / name for name in ("guideline.pdf", "visit.txt", "letter.txt")]
    pair.step("import documents", lambda w, i: import_documents(w, paths, people[i]))
    if reading is not None:
        pair.step("embed passages", lambda w, _: embed_passages(w, reading.embedder), part=MODELS)
    for _ in range(20):
        query = text(rng, 3)
        pair.step("search by words", lambda w, _i, q=query: search_passages(w, q))
        if reading is not None:
            pair.step(
                "search by meaning",
                lambda w, _i, q=query: search_passages(w, q, embedder=reading.embedder),
                part=MODELS,
            )
    answer = "\n\n".join(text(rng, 80) for _ in range(3))

    def draft(workspace: Workspace, i: int) -> DraftRequest:
        task = workspace.find(Task)[0].id
        generator = FakeGenerator([answer])
        made = prepare_request(
            workspace, task, generator, people[i], queries=["cough since Tuesday"], count=5
        )
        execute_request(workspace, made.id, generator)
        return workspace.transact("Offer", people[i], offer_drafts, made.id).value

    requests = pair.step("write drafts", draft)

    def begin(workspace: Workspace, i: int) -> str:
        request = requests[i]
        workspace.transact("Choose", people[i], choose_draft, request.id, request.shown[0])
        return workspace.transact("Start", people[i], start_post_edit, request.id).value.id

    edited = pair.step("choose a draft", begin)
    states = pair.step("read a post-edit", lambda w, i: load_post_edit(w, edited[i]))
    shown, section = states[0].texts[-1], len(states[0].texts) - 1
    caches = MemoryCache(), MemoryCache()

    def read_support(workspace: Workspace, i: int) -> None:
        assert reading is not None
        state = load_post_edit(workspace, edited[i])
        model = CachedEntailment(reading.entailment, caches[i])
        ground_text(state.texts[-1].text, state.request.evidence, model)

    for number in range(_POST_EDITS):
        place = rng.randrange(len(shown.text) // 2)
        patch = edit(shown, place, place, f" word{number} ")
        removed = shown.text[patch.start : patch.start + patch.removed]
        change = SectionEdit(section, removed, patch)
        pair.step(
            "save a post-edit",
            lambda w, i, c=change: w.transact(
                "Edit draft", people[i], post_edit_section, edited[i],
                w.get(PostEdit, edited[i]).head, [c], "typed",
            ),
        )  # fmt: skip
        shown = apply_patch(shown, patch)
        # At each pause: the text as it stands, and which of its sentences the evidence supports.
        if number % 5 == 0:
            pair.step("read a post-edit", lambda w, i: load_post_edit(w, edited[i]))
            if reading is not None:
                pair.step("read support", read_support, part=MODELS)
    pair.step(
        "save the example", lambda w, i: w.transact("Save", people[i], save_as_example, edited[i])
    )


def _evaluate(pair: Pair, runs: tuple[str, str], folder: Path) -> None:
    """Score the run, look at results, and give them out."""
    metrics = {name: create(name) for name in DEFAULT_METRICS}
    pair.step("score a run", lambda w, i: score_run(w, runs[i], metrics))
    for _ in range(5):
        pair.step("read results", lambda w, _: (result_rows(w), rating_rows(w), cost_rows(w)))
        pair.step("read agreement", lambda w, _: human_agreement(w))
    pair.step("study the examples", lambda w, _: study_examples(w))
    pair.step("export", lambda w, i: export_data(w, "examples", folder / f"out{i}.jsonl"))
    pair.step("report", lambda w, i: write_report(w, folder / f"out{i}.html"))
