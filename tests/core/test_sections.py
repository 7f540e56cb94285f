"""Reading sections out of free text: every way a model writes a heading, and nothing lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.tasks.sections import join_sections, parse_sections
from core.types import SectionSpec, SectionText

SPECS = [SectionSpec(title="Subjective"), SectionSpec(title="Assessment and Plan")]


@pytest.mark.parametrize(
    "text",
    [
        "# Subjective\nCough.\n\n## Assessment and Plan ##\nRest.",
        "**Subjective**\nCough.\n**Assessment and Plan:**\nRest.",
        "**Subjective:** Cough.\n\n**Assessment & Plan**: Rest.",
        "1. Subjective\nCough.\n2) Assessment and Plan:\nRest.",
        "SUBJECTIVE\n\nCough.\n\nASSESSMENT AND PLAN\nRest.",
        "Subjective: Cough.\nAssessment and plan: Rest.",
        "Subjective\n==========\nCough.\n\nAssessment and Plan\n---\nRest.",
        "### 1. **Subjective**\nCough.\n### 2. **Assessment and Plan**\nRest.",
        "__Subjective__\nCough.\n- **Assessment and Plan**\nRest.",
        "Subjective (S):\nCough.\nAssessment and Plan (A/P):\nRest.",
        "Section 1: Subjective\nCough.\nSection 2: Assessment and Plan\nRest.",
        "\ufeffSubjective\r\nCough.\r\nAssessment and Plan\r\nRest.".lstrip("\ufeff"),
    ],
)
def test_headings_of_every_form_are_found(text: str) -> None:
    parsed = parse_sections(text, SPECS)
    assert {section.title: section.text for section in parsed.sections} == {
        "Subjective": "Cough.",
        "Assessment and Plan": "Rest.",
    }
    assert parsed.missing == ()
    assert parsed.extra == ()


def test_missing_and_extra_sections_stay_visible() -> None:
    parsed = parse_sections("Here is it:\n# Subjective\nCough.\n# Advice\nSleep.", SPECS)
    assert [section.title for section in parsed.sections] == ["", "Subjective", "Advice"]
    assert parsed.missing == ("Assessment and Plan",)
    assert parsed.extra == ("Advice",)


def test_a_heading_with_nothing_under_it_counts_as_missing() -> None:
    parsed = parse_sections("# Subjective\n\n# Assessment and Plan\nRest.", SPECS)
    assert parsed.missing == ("Subjective",)


def test_a_single_section_takes_a_text_without_headings() -> None:
    parsed = parse_sections("All of it.", [SectionSpec(title="Summary")])
    assert parsed.sections == (SectionText(title="Summary", text="All of it."),)


def test_headings_inside_code_and_words_inside_sentences_are_text() -> None:
    text = "# Subjective\n```\n# Assessment and Plan\n```\nThe subjective part: none."
    parsed = parse_sections(text, SPECS)
    assert [section.title for section in parsed.sections] == ["Subjective"]
    assert "# Assessment" in parsed.sections[0].text


def test_titles_in_other_scripts_are_found() -> None:
    specs = [SectionSpec(title="الخطة"), SectionSpec(title="評価"), SectionSpec(title="Größe")]
    parsed = parse_sections("الخطة:\nراحة\n## 評価\n良い\nGRÖSSE\n1 m", specs)
    assert parsed.missing == ()


@given(
    st.lists(
        st.sampled_from(["# Subjective", "Plan: rest", "**Note**", "cough", "LUNGS CLEAR", ""])
    )
)
def test_no_word_of_a_text_is_lost(lines: list[str]) -> None:
    parsed = parse_sections("\n".join(lines), SPECS)
    joined = " ".join(f"{section.title} {section.text}" for section in parsed.sections).casefold()
    for line in lines:
        for word in line.strip("#* ").casefold().split():
            assert word in joined


@given(st.text())
def test_any_text_is_parsed_without_an_error(text: str) -> None:
    parsed = parse_sections(text, SPECS)
    assert set(parsed.missing) <= {spec.title for spec in SPECS}


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["Subjective", "Assessment and Plan"]),
            st.text(alphabet="abc \n.", min_size=1).map(str.strip).filter(bool),
        ),
        min_size=1,
        max_size=2,
        unique_by=lambda pair: pair[0],
    )
)
def test_joined_sections_are_read_back(pairs: list[tuple[str, str]]) -> None:
    sections = tuple(SectionText(title=title, text=text) for title, text in pairs)
    assert parse_sections(join_sections(sections), SPECS).sections == sections
