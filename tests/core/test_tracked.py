"""Tracked changes: whole words, who made them, accepting and rejecting, in every script."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.editing.tracked import (
    Tracked,
    accept,
    apply_patch,
    decide_all,
    difference,
    edit,
    list_changes,
    place_after,
    place_before,
    reject,
)
from core.editing.words import split_words


def type_in(tracked: Tracked, place: int, text: str, person: str = "ann") -> tuple[Tracked, int]:
    """Type letter by letter, as a person does; returns the text and where the mark stands."""
    for letter in text:
        patch = edit(tracked, place, place, letter, person=person, time="t")
        tracked, place = apply_patch(tracked, patch), patch.caret
    return tracked, place


def words_of(tracked: Tracked) -> list[tuple[str, str]]:
    return [(change.before, change.after) for change in list_changes(tracked)]


def test_a_letter_typed_in_a_word_changes_the_word() -> None:
    tracked, place = type_in(Tracked("He takes 10 mg daily."), 10, "5")
    assert words_of(tracked) == [("10", "150")]
    assert tracked.current == "He takes 150 mg daily."
    assert tracked.original == "He takes 10 mg daily."
    assert tracked.text[:place].endswith("15")


def test_typing_the_old_word_again_makes_the_change_vanish() -> None:
    tracked, place = type_in(Tracked("a walk home"), 6, "s")
    assert words_of(tracked) == [("walk", "walks")]
    start, end = place_before(tracked, place)  # type: ignore[misc]
    tracked = apply_patch(tracked, edit(tracked, start, end, "", person="ann", time="t"))
    assert tracked == Tracked("a walk home")


def test_new_words_between_words_leave_those_alone() -> None:
    tracked, _ = type_in(Tracked("chest pain today"), 10, " at rest")
    assert words_of(tracked) == [("", " at rest")]
    tracked, _ = type_in(Tracked("pain today"), 0, "Chest ")
    assert words_of(tracked) == [("", "Chest ")]


def test_backspace_goes_on_before_what_it_deleted() -> None:
    tracked, place = Tracked("one two three"), 13
    for _ in range(6):
        start, end = place_before(tracked, place)  # type: ignore[misc]
        patch = edit(tracked, start, end, "", person="ann", time="t")
        tracked, place = apply_patch(tracked, patch), patch.caret
    assert tracked.current == "one two"
    assert words_of(tracked) == [(" three", "")]
    place = 3
    for _ in range(4):
        start, end = place_after(tracked, place)  # type: ignore[misc]
        patch = edit(tracked, start, end, "", person="a", time="t")
        tracked, place = apply_patch(tracked, patch), patch.caret
    assert tracked.current == "one"


def test_a_phrase_for_a_phrase_is_one_change() -> None:
    tracked = Tracked("ECG; follow up as needed.")
    patch = edit(tracked, 5, 24, "referral within two weeks", person="ann", time="t")
    tracked = apply_patch(tracked, patch)
    assert words_of(tracked) == [("follow up as needed", "referral within two weeks")]
    assert tracked.text == "ECG; follow up as neededreferral within two weeks."


def test_each_change_keeps_who_made_it() -> None:
    tracked, _ = type_in(Tracked("one two three"), 3, " and", "ann")
    tracked, _ = type_in(tracked, len(tracked.text), " four", "bob")
    assert [(c.after, c.person) for c in list_changes(tracked)] == [
        (" and", "ann"),
        (" four", "bob"),
    ]
    tracked, _ = type_in(tracked, tracked.text.index(" and") + 4, "y", "bob")
    assert words_of(tracked)[0] == ("", " andy")
    assert list_changes(tracked)[0].person == "bob"


def test_what_several_wrote_in_one_place_stays_each_ones_own() -> None:
    tracked, _ = type_in(Tracked("Start. End."), 6, " Ann wrote this sentence.", "ann")
    at = tracked.text.index("this")
    patch = edit(tracked, at, at + 4, "that whole", person="bob", time="t2", source="assistant")
    tracked = apply_patch(tracked, patch)
    first, second, third = list_changes(tracked)
    assert [(c.after, c.person, c.source) for c in (first, second, third)] == [
        (" Ann wrote ", "ann", ""),
        ("that whole ", "bob", "assistant"),
        ("sentence.", "ann", ""),
    ]
    patch = edit(
        tracked, tracked.text.index("sentence"), tracked.text.index(". End"), "one", person="cy"
    )
    assert [c.after for c in list_changes(apply_patch(tracked, patch))][-1] == "one."
    assert len({first.id, second.id, third.id}) == 3
    # Each is taken or left by itself, also after more was written beside it.
    tracked, _ = type_in(tracked, tracked.text.index("wrote") + 5, " so", "ann")
    assert tracked.current == "Start. Ann wrote so that whole sentence. End."
    patch = reject(tracked, second.id)
    assert patch is not None
    left = apply_patch(tracked, patch)
    assert left.original == "Start. End." and "whole" not in left.text
    assert next(c.after for c in list_changes(left)) == " Ann wrote so "


def test_accept_and_reject_each_and_all() -> None:
    tracked = Tracked("a b c d")
    for old, new in (("b", "x"), ("d", "y")):
        start = tracked.text.index(old)
        tracked = apply_patch(tracked, edit(tracked, start, start + 1, new, person="p", time="t"))
    first, second = (change.id for change in list_changes(tracked))
    patch = accept(tracked, first)
    assert patch is not None
    accepted = apply_patch(tracked, patch)
    assert (accepted.original, accepted.current) == ("a x c d", "a x c y")
    patch = reject(accepted, second)
    assert patch is not None
    assert apply_patch(accepted, patch) == Tracked("a x c d")
    assert accept(tracked, "none") is None
    for accepted_all, expected in ((True, "a x c y"), (False, "a b c d")):
        made = tracked
        for patch in decide_all(tracked, accepted=accepted_all):
            made = apply_patch(made, patch)
        assert made == Tracked(expected)


@pytest.mark.parametrize(
    ("text", "word", "new"),
    [
        ("💩 dose of 10 mg", "10", "5"),
        ("👨🏻\u200d🚒 came on Monday", "Monday", "Tuesday"),
        ("المريض يأخذ 10 ملغ من Ramipril يوميا", "Ramipril", "Enalapril"),
        ("cafe\u0301 e\u0301te\u0301 2024", "e\u0301te\u0301", "hiver"),
        ("deux\u00a0mots ici", "mots", "noms"),
    ],
)
def test_every_script_keeps_its_places(text: str, word: str, new: str) -> None:
    start = text.index(word)
    tracked = Tracked(text)
    tracked = apply_patch(
        tracked, edit(tracked, start, start + len(word), new, person="p", time="t")
    )
    assert words_of(tracked) == [(word, new)]
    assert tracked.current == text.replace(word, new)
    assert tracked.original == text


def test_joined_signs_are_one_token() -> None:
    assert split_words("👨🏻\u200d🚒 e\u0301te\u0301 don't") == [
        "👨🏻\u200d🚒",
        " ",
        "e\u0301te\u0301",
        " ",
        "don't",
    ]
    assert place_before(Tracked("a👨🏻\u200d🚒"), 5) == (1, 5)


TEXT = st.text(alphabet="ab 1.\n💩é\u0301", max_size=30)
EDITS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 12), TEXT), max_size=6)


@given(TEXT, EDITS)
def test_any_edits_keep_the_original_and_say_what_was_typed(
    text: str, edits: list[tuple[int, int, str]]
) -> None:
    tracked = Tracked(text)
    numbers = itertools.count()
    for start, length, new in edits:
        start = min(start, len(tracked.text))
        end = min(start + length, len(tracked.text))
        shown = tracked
        before = len(_current_part(shown, 0, start))
        gone = len(_current_part(shown, start, end))
        expected = shown.current[:before] + new + shown.current[before + gone :]
        patch = edit(
            shown, start, end, new, person="p", time="t", make_id=lambda: str(next(numbers))
        )
        tracked = apply_patch(shown, patch)
        assert tracked.original == text
        assert tracked.current == expected
        assert len(_current_part(tracked, 0, patch.caret)) == before + len(new)
        back = difference(shown, tracked)
        assert (apply_patch(shown, back) if back else shown) == tracked
        ids = [change.id for change in list_changes(tracked)]
        assert len(ids) == len(set(ids))
        for first, second in itertools.pairwise(tracked.spans):
            assert first.end <= second.start
    for accepted, expected in ((True, tracked.current), (False, tracked.original)):
        made = tracked
        for patch in decide_all(tracked, accepted=accepted):
            made = apply_patch(made, patch)
        assert made == Tracked(expected)


def _current_part(tracked: Tracked, start: int, end: int) -> str:
    spans = tuple(
        replace(s, start=max(s.start, start) - start, end=min(s.end, end) - start)
        for s in tracked.spans
        if s.start < end and s.end > start
    )
    return Tracked(tracked.text[start:end], spans).current


def test_five_megabytes_are_edited_at_once() -> None:
    import time

    text = "The patient reports a band-like chest pain. " * 115_000
    tracked, step = Tracked(text), len(text) // 100
    for n in range(100):
        patch = edit(tracked, n * step, n * step, "x", person="p", time="t")
        tracked = apply_patch(tracked, patch)
    started = time.thread_time()
    tracked, _ = type_in(tracked, 2_000_000, "hello there")
    assert (time.thread_time() - started) / 11 < 0.05
    assert len(list_changes(tracked)) == 101
