"""Where the words of an answer stand in the text."""

from __future__ import annotations

from core.checklists.spans import find_span, find_spans, place_answer


def test_a_span_is_found_in_other_case_and_line_breaks_and_in_code_points() -> None:
    text = "😀 He takes\nRamipril   5 mg, daily."
    span = find_span(text, "ramipril 5 mg")
    assert span is not None
    assert text[span.start : span.end] == "Ramipril   5 mg"


def test_a_span_of_nearly_the_same_words_covers_whole_words() -> None:
    text = "The patient takes five milligrams of ramipril every morning. Lungs are clear."
    span = find_span(text, "takes five milligrams of ramipril each morning")
    assert span is not None
    assert text[span.start : span.end].startswith("takes five")
    assert text[span.start - 1] == " "
    assert 0.8 <= span.likeness < 1


def test_what_is_not_in_the_text_has_no_span() -> None:
    assert find_spans("Lungs are clear.", "penicillin allergy since childhood") == []
    # Parts word for word, though the whole is nearly one stretch.
    text = "Carla Reyes, an aide, sued Evergreen Care, Inc. in March."
    found = find_spans(text, "Carla Reyes, an aide; Evergreen Care, Inc.")
    assert [text[s.start : s.end] for s in found] == [
        "Carla Reyes, an aide",
        "Evergreen Care, Inc",
    ]
    assert find_span("CURRENT MEDICATIONS: none", "Education.") is None
    assert find_span("", "x") is None
    assert find_span("x", " ") is None


def test_a_reworded_answer_is_traced_to_the_sentence_it_is_likest() -> None:
    text = "Mr White is a 58-year-old male. He takes lisinopril 20 mg a day. Lungs are clear."
    place = place_answer(text, "The patient is 58 years old; daily lisinopril of 20 mg.")
    found = [text[start:end] for start, end in place["check"]["spans"]]
    assert found == [
        "Mr White is a 58-year-old male.",
        "He takes lisinopril 20 mg a day.",
    ]
    assert place["check"]["near"]
    assert text[place["start"] : place["end"]] == found[0]
    assert "near" not in place_answer(text, "lisinopril 20 mg")["check"]
    assert place_answer(text, "chronic kidney disease")["start"] == -1


def test_parts_of_a_list_are_found_one_by_one() -> None:
    spans = find_spans(
        "Mother: diabetes. Uncle healthy. Father: gout.", "Mother: diabetes; Father: gout"
    )
    assert [(span.start, span.end) for span in spans] == [(0, 16), (33, 45)]
