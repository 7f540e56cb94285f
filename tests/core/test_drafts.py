"""From evidence to a saved example, as core verbs on scripted models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from core.documents.library import import_documents
from core.editing.assistant import EDIT_TASKS, edit_selection
from core.editing.edit_types import suggest_edit_type
from core.editing.tracked import Change, Tracked, accept, apply_patch, edit, list_changes
from core.errors import ConflictError, UsageError, WorkerDiedError
from core.examples.copied import choose_diverse, find_copied
from core.examples.critique import read_points
from core.examples.drafting import (
    choose_draft,
    draft_ratings,
    execute_request,
    offer_drafts,
    prepare_request,
    rate_draft,
    shape_sections,
    shown_drafts,
)
from core.examples.grounding import ground_text
from core.examples.post_edit import (
    SectionEdit,
    add_critique,
    confirm_edit_types,
    load_post_edit,
    post_edit_section,
    revisions_of,
    save_as_example,
    settle_critique,
    start_post_edit,
)
from core.examples.queries import complete_queries, read_queries
from core.people import add_person
from core.ports import Cancellation, Entailment, Progress
from core.storage import Workspace
from core.storage.undo import redo, undo
from core.types import Example, SectionSpec
from core.types.documents import Draft, DraftRequest, Evidence, PostEdit, Revision
from models.fake import FakeEmbedder, FakeEntailment, FakeGenerator
from tests.factories import make_task

ANSWERS = [
    "# Transcript\n\nThe man coughs since Monday.\n\n# Subjective\n\nCough.\n\n# Objective\n\nClear.",
    "# Transcript\n\nA woman has fever.\n\n# Subjective\n\nFever of 39 degrees.\n\n# Objective\n\nHot.",
    "# Transcript\n\nThe child has a rash.\n\n# Subjective\n\nItching.\n\n# Objective\n\nRed skin.",
]


@pytest.fixture
def person(workspace: Workspace) -> str:
    return workspace.transact_job("Add", "", add_person, "Ann").value.id


def make_request(workspace: Workspace, folder: Path, person: str, **more: object) -> DraftRequest:
    (folder / "a.txt").write_text("A man coughs since Monday and has fever of 39 degrees. " * 5)
    import_documents(workspace, [folder], person)
    task = workspace.transact_job("Task", person, make_task).value
    return prepare_request(
        workspace,
        task.id,
        FakeGenerator(["1. cough and fever\n2. rash in children"]),
        person,
        embedder=FakeEmbedder(),
        **more,  # type: ignore[arg-type]
    )


def drafted(workspace: Workspace, folder: Path, person: str) -> DraftRequest:
    request = make_request(workspace, folder, person, count=5)
    execute_request(workspace, request.id, FakeGenerator(ANSWERS))
    return workspace.transact("Offer", person, offer_drafts, request.id).value


def test_queries_are_read_and_completed_from_the_task(workspace: Workspace) -> None:
    assert read_queries('1. "chest pain"\n- angina;\n\nok\n* **fever** ') == [
        "chest pain",
        "angina",
        "fever",
    ]
    task = workspace.transact_job("Task", "", make_task).value
    queries = complete_queries(["Chest pain"], task)
    assert queries[:3] == ("Chest pain", "Write a note", "Transcript")
    assert len(complete_queries([f"q{n} word" for n in range(30)], task)) == 10


def test_drafts_carry_their_recipe_and_four_are_offered_shuffled(
    workspace: Workspace, tmp_path: Path, person: str
) -> None:
    request = drafted(workspace, tmp_path, person)
    assert request.state == "choosing"
    assert len(request.shown) == 4
    drafts = workspace.find(Draft, "request_id = ?", (request.id,), order_by="position")
    assert [draft.state for draft in drafts] == ["done"] * 5
    assert len({draft.pseudonym for draft in drafts}) == 5
    recipe = drafts[1].recipe
    assert recipe["model"] == "fake-generator" and len(recipe["sha256"]) == 64
    assert recipe["seed"] == drafts[1].seed == 1
    assert recipe["evidence"] == [e.passage_id for e in request.evidence]
    assert [s.title for s in drafts[0].sections] == ["Transcript", "Subjective", "Objective"]
    again = workspace.transact("Offer", person, offer_drafts, request.id).value
    assert again.shown == request.shown
    offered = {draft.text for draft in shown_drafts(workspace, request)}
    assert len(offered) == 3, "of three different texts all are offered"


def test_a_stopped_request_goes_on_and_a_failed_draft_says_why(
    workspace: Workspace, tmp_path: Path, person: str
) -> None:
    request = make_request(workspace, tmp_path, person, count=3)
    cancel = Cancellation()

    def watch(progress: Progress) -> None:
        if progress.done == 1:
            cancel.cancel()

    job = execute_request(
        workspace, request.id, FakeGenerator(ANSWERS), progress=watch, cancel=cancel
    )
    assert (job.state, job.done) == ("cancelled", 1)
    broken = FakeGenerator(ANSWERS, fail_on={"Task": WorkerDiedError("The worker ended.")})
    job = execute_request(workspace, request.id, broken)
    assert (job.state, job.done, job.failed) == ("done", 3, 2)
    failed = workspace.find(Draft, "state = 'failed'")
    assert [draft.error for draft in failed] == ["The worker ended."] * 2


def test_passages_that_do_not_fit_are_left_out_and_said(
    workspace: Workspace, tmp_path: Path, person: str
) -> None:
    (tmp_path / "b.txt").write_text("cough and fever of a child " * 400)
    request = make_request(workspace, tmp_path, person, count=1)
    assert len(request.evidence) > 2
    execute_request(workspace, request.id, FakeGenerator(ANSWERS, context_tokens=1800))
    draft = workspace.find(Draft)[0]
    assert 0 < len(draft.recipe["evidence"]) < len(request.evidence)


def test_no_evidence_is_refused(workspace: Workspace, person: str) -> None:
    task = workspace.transact_job("Task", person, make_task).value
    with pytest.raises(UsageError, match="no passage"):
        prepare_request(workspace, task.id, FakeGenerator(["x y z"]), person)


def test_a_text_without_headings_is_kept_whole() -> None:
    specs = [SectionSpec(title="A"), SectionSpec(title="B")]
    made = shape_sections("No heading at all.", specs)
    assert [(s.title, s.text) for s in made] == [("A", "No heading at all."), ("B", "")]
    made = shape_sections("# B\n\nsecond\n\n# Extra\n\nthird", specs)
    assert [(s.title, s.text) for s in made] == [("A", ""), ("B", "second"), ("Extra", "third")]


def test_rating_before_editing_is_kept_and_replaced(
    workspace: Workspace, tmp_path: Path, person: str
) -> None:
    request = drafted(workspace, tmp_path, person)
    draft = request.shown[0]
    for value in (2, 4):
        workspace.transact("Rate", person, rate_draft, draft, person, "adherence", value)
    assert draft_ratings(workspace, draft, person) == {"adherence": 4}
    with pytest.raises(UsageError):
        workspace.transact("Rate", person, rate_draft, draft, person, "style", 3)


def edit_once(
    workspace: Workspace, post_edit_id: str, person: str, section: int, old: str, new: str
) -> None:
    state = load_post_edit(workspace, post_edit_id)
    text = state.texts[section]
    start = text.text.index(old)
    patch = edit(text, start, start + len(old), new, person=person, time="t")
    removed = text.text[patch.start : patch.start + patch.removed]
    workspace.transact(
        "Edit",
        person,
        post_edit_section,
        post_edit_id,
        state.post_edit.head,
        [SectionEdit(section, removed, patch)],
        "typed",
    )


def begin(workspace: Workspace, folder: Path, person: str) -> PostEdit:
    request = drafted(workspace, folder, person)
    with pytest.raises(UsageError, match="No draft is chosen"):
        workspace.transact("Start", person, start_post_edit, request.id)
    workspace.transact("Choose", person, choose_draft, request.id, request.shown[0])
    return workspace.transact("Start", person, start_post_edit, request.id).value


def test_every_save_is_an_append_and_undo_after_reopening_is_exact(
    workspace: Workspace, tmp_path: Path, person: str
) -> None:
    post_edit = begin(workspace, tmp_path, person)
    states = [load_post_edit(workspace, post_edit.id).texts]
    for n in range(21):
        last = states[-1][1].current.rstrip(".").split()[-1]
        edit_once(workspace, post_edit.id, person, 1, last, f"word{n} 💩 مرحبا")
        states.append(load_post_edit(workspace, post_edit.id).texts)
    path = workspace.path
    draft = workspace.get(Draft, post_edit.draft_id)
    workspace.close()
    with Workspace.open(path, "correct horse battery") as again:
        assert load_post_edit(again, post_edit.id).texts == states[-1]
        assert again.get(Draft, draft.id) == draft
        for steps in range(1, 21):
            undo(again, person)
            assert load_post_edit(again, post_edit.id).texts == states[-1 - steps]
        for steps in range(20, 0, -1):
            redo(again, person)
            assert load_post_edit(again, post_edit.id).texts == states[-steps]
        assert again.count(Revision) == 21
        numbers = [r.number for r in revisions_of(again, again.get(PostEdit, post_edit.id))]
        assert numbers == list(range(1, 22))


def test_a_save_on_an_old_state_is_refused(
    workspace: Workspace, tmp_path: Path, person: str
) -> None:
    post_edit = begin(workspace, tmp_path, person)
    edit_once(workspace, post_edit.id, person, 1, ".", "!")
    with pytest.raises(ConflictError, match="changed meanwhile"):
        workspace.transact("Edit", person, post_edit_section, post_edit.id, "", [], "typed")


def test_the_saved_example_has_what_stands_and_where_it_came_from(
    workspace: Workspace, tmp_path: Path, person: str
) -> None:
    post_edit = begin(workspace, tmp_path, person)
    edit_once(workspace, post_edit.id, person, 1, ".", " and 40 mg of a drug.")
    example = workspace.transact("Save", person, save_as_example, post_edit.id).value
    assert [s.title for s in example.input] == ["Transcript"]
    assert [s.title for s in example.output] == ["Subjective", "Objective"]
    assert example.output[0].text.endswith("and 40 mg of a drug.")
    assert example.meta["post_edit"] == post_edit.id
    assert example.meta["evidence"][0]["sha256"]
    edit_once(workspace, post_edit.id, person, 2, ".", "!")
    again = workspace.transact("Save", person, save_as_example, post_edit.id).value
    assert again.id == example.id
    assert workspace.count(Example) == 1
    assert workspace.get(DraftRequest, post_edit.request_id).state == "saved"


def test_edit_types_are_suggested_and_confirmed(
    workspace: Workspace, tmp_path: Path, person: str
) -> None:
    post_edit = begin(workspace, tmp_path, person)
    edit_once(workspace, post_edit.id, person, 1, ".", " with a headache since 3 days.")
    count = workspace.transact("Confirm", person, confirm_edit_types, post_edit.id).value
    state = load_post_edit(workspace, post_edit.id)
    assert count == 1
    assert [note.edit_type for note in state.notes.values()] == ["fact_addition"]
    assert workspace.transact("Confirm", person, confirm_edit_types, post_edit.id).value == 0


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("10", "5", "update"),
        ("Troponin was normal.", "", "deletion"),
        ("", "because of muscle pain", "fact_addition"),
        ("big dose", "large dose", "stylistic"),
        ("cough and fever", "fever and cough", "reorganisation"),
        ("Ramipril", "Enalapril", "update"),
        (",", ";", "stylistic"),
    ],
)
def test_the_type_of_a_change_is_guessed(before: str, after: str, expected: str) -> None:
    change = Change("1", 0, 1, before, after, "", "", "")
    assert suggest_edit_type(change, "Patient. Troponin was normal. big dose 10") == expected


def test_a_moved_sentence_is_a_reorganisation() -> None:
    sentence = "Blood pressure was measured twice yesterday"
    gone = Change("1", 0, 1, sentence, "", "", "", "")
    come = Change("2", 5, 9, "", sentence + " ", "", "", "")
    for change in (gone, come):
        assert suggest_edit_type(change, sentence, [(0, gone), (1, come)]) == "reorganisation"


def test_the_critique_is_kept_once_and_settled(
    workspace: Workspace, tmp_path: Path, person: str
) -> None:
    points = read_points("1. The dose differs from the source.\n- ok\n* No time frame is given.")
    assert points == ["The dose differs from the source.", "No time frame is given."]
    post_edit = begin(workspace, tmp_path, person)
    for _ in range(2):
        workspace.transact("Critique", person, add_critique, post_edit.id, points, "m")
    state = load_post_edit(workspace, post_edit.id)
    assert [point.text for point in state.critique] == points
    workspace.transact("Settle", person, settle_critique, state.critique[0].id, "fixed")
    assert load_post_edit(workspace, post_edit.id).critique[0].state == "fixed"


def evidence(*texts: str) -> list[Evidence]:
    return [
        Evidence(
            passage_id=str(n),
            document_id="d",
            document="D",
            page=1,
            start=0,
            end=len(text),
            sha256="",
            text=text,
        )
        for n, text in enumerate(texts)
    ]


@pytest.mark.parametrize("model", [FakeEntailment(), None])
def test_each_sentence_finds_its_passage_and_what_differs(model: FakeEntailment | None) -> None:
    passages = evidence(
        "He sleeps well. " * 40, "He takes ramipril 5 mg daily. His father had angina. " * 20
    )
    text = "# Plan\nHe takes ramipril 10 mg daily. He owns a red bicycle and two boats."
    first, second = ground_text(text, passages, model)
    assert text[first.start : first.end] == "He takes ramipril 10 mg daily."
    assert first.passage == 1
    assert "ramipril" in passages[1].text[first.window_start : first.window_end]
    assert [d.kind for d in first.differences] == ["dose"]
    assert first.basis == ("words" if model is None else "entailment")
    assert (second.verdict, second.differences) == ("not found", ())
    assert ground_text(text, [], model)[0].verdict == "not found"


class Holds(FakeEntailment):
    """Holds every sentence for entailed with one probability."""

    def __init__(self, probability: float) -> None:
        super().__init__()
        self._answer = Entailment(probability, 1 - probability, 0.0)

    def entail(self, pairs: Sequence[tuple[str, str]], **_more: object) -> list[Entailment]:
        return [self._answer for _pair in pairs]


@pytest.mark.parametrize(
    ("sentence", "model", "verdict"),
    [
        ("He takes ramipril 5 mg daily with his breakfast.", Holds(0.95), "supported"),
        # Not sure enough; other words; another dose.
        ("He takes ramipril 5 mg daily with his breakfast.", Holds(0.6), "perhaps"),
        ("The gentleman swallows ramipril for pressure.", Holds(0.95), "perhaps"),
        ("He takes ramipril 10 mg daily with his breakfast.", Holds(0.95), "perhaps"),
        ("He takes ramipril 5 mg daily with his breakfast.", Holds(0.3), "not found"),
        ("He takes ramipril 5 mg daily, with breakfast.", None, "supported"),
        ("He takes ramipril 10 mg daily, with breakfast.", None, "perhaps"),
        ("The gentleman swallows ramipril for pressure.", None, "not found"),
    ],
)
def test_supported_is_said_only_where_words_model_and_checks_agree(
    sentence: str, model: FakeEntailment | None, verdict: str
) -> None:
    passages = evidence("He takes ramipril 5 mg daily, with breakfast, as before. He sleeps well.")
    (claim,) = ground_text(sentence, passages, model)
    assert claim.verdict == verdict


def test_what_stands_word_for_word_needs_no_model_and_another_passage_may_differ() -> None:
    far = "Ramipril is given in the morning. " * 40 + "He may take 10 mg of ramipril."
    near = (
        "Referral. " * 30 + "He takes ramipril 5 mg in the morning; blood pressure is 148/92 mmHg."
    )
    passages = evidence(far, near)
    text = "Is that so? Blood  pressure is 148/92 mmHg. He takes ramipril 10 mg in the morning."
    stands, differs = ground_text(text, passages, FakeEntailment())
    assert (stands.verdict, stands.basis, stands.passage) == ("supported", "words", 1)
    assert not stands.differences
    assert differs.passage == 1
    assert [(d.kind, d.text, d.evidence) for d in differs.differences] == [
        ("dose", "10 mg", "5 mg")
    ]
    both = evidence(
        "Start bisoprolol 2.5 mg once daily. Aspirin 75 mg daily is considered for all."
    )
    (two,) = ground_text("Start bisoprolol 2.5 mg and aspirin 75 mg daily.", both, FakeEntailment())
    assert not two.differences
    (other,) = ground_text("Blood pressure is 149/92 mmHg.", passages, FakeEntailment())
    assert other.basis == "entailment"


def test_copied_stretches_and_different_drafts_are_found() -> None:
    source = "The patient reports a band-like chest pain since Saturday, provoked by walking."
    text = "Well: The patient reports a band-like chest pain since Saturday. Then nothing."
    ((start, end),) = find_copied(text, [source])
    assert text[start:end] == "The patient reports a band-like chest pain since Saturday"
    assert find_copied("Too short to be copied.", [source]) == []
    assert sorted(choose_diverse(["a b c", "a b c d", "x y z", "x y z q"], 2)) in (
        [0, 2],
        [0, 3],
        [1, 2],
        [1, 3],
    )


def test_the_assistants_answer_becomes_tracked_changes() -> None:
    text = "He go home. All is fine."
    made = edit_selection(
        FakeGenerator(["Here is the edited text: He goes home.\n\nI fixed the verb."]),
        "He go home. ",
        EDIT_TASKS["fluency"].instruction,
    )
    assert made.after == "He goes home. "
    tracked = Tracked(text)
    patch = edit(tracked, 0, len(made.before), made.after, person="p", source="assistant")
    tracked = apply_patch(tracked, patch)
    (change,) = list_changes(tracked)
    assert (change.before, change.after, change.source) == ("go", "goes", "assistant")
    patch_back = accept(tracked, change.id)
    assert patch_back is not None
    assert apply_patch(tracked, patch_back).text == "He goes home. All is fine."
    with pytest.raises(UsageError):
        edit_selection(FakeGenerator(["x"]), "  ", "Fix")
    generator = FakeGenerator(["New."])
    edit_selection(generator, "Old.", "Update", references=["r1 text", "r2", "r3", "r4"])
    prompt = generator.requests[0].messages[-1].content
    assert "[3] r3" in prompt and "r4" not in prompt
    assert set(EDIT_TASKS) == {
        "fluency",
        "clarity",
        "coherence",
        "paraphrasing",
        "simplification",
        "neutralization",
        "updating",
    }


def test_the_published_instructions_are_used() -> None:
    import json

    from tests.shared_data import shared_path

    published = json.loads(shared_path("data", "editeval_prompts.json").read_text())["tasks"]
    for task in EDIT_TASKS.values():
        assert task.instruction in published[task.key]
