"""Every pair of ink and ground that the window uses is legible, in every theme."""

from __future__ import annotations

import re

import pytest
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QApplication

from app import theme
from app.icons import NAMES, svg
from app.theme import DARK, HIGH_CONTRAST, LIGHT, Tokens, contrast

THEMES = {"light": LIGHT, "dark": DARK, "high-contrast": HIGH_CONTRAST}
PAIRS = (
    ("text", "background"),
    ("text", "surface"),
    ("text", "hover"),
    ("text", "accent_soft"),
    ("muted", "background"),
    ("muted", "surface"),
    ("accent", "surface"),
    ("accent", "background"),
    ("accent", "accent_soft"),
    ("on_accent", "accent"),
    ("on_accent", "accent_hover"),
    ("inserted", "inserted_ground"),
    ("deleted", "deleted_ground"),
    ("danger", "surface"),
    ("danger", "danger_ground"),
    ("text", "danger_ground"),
    ("warning", "warning_ground"),
    ("text", "warning_ground"),
    ("muted", "accent_soft"),
)


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize(("ink", "ground"), PAIRS)
def test_text_has_contrast(name: str, ink: str, ground: str) -> None:
    tokens = THEMES[name]
    least = 7.0 if name == "high-contrast" else 4.5
    assert contrast(getattr(tokens, ink), getattr(tokens, ground)) >= least


@pytest.mark.parametrize("name", THEMES)
def test_signs_and_focus_stand_out(name: str) -> None:
    tokens = THEMES[name]
    for sign in ("supported", "not_found", "contradicted", "focus"):
        assert contrast(getattr(tokens, sign), tokens.surface) >= 3.0


def test_contrast_is_wcags() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21.0)
    assert contrast("#767676", "#FFFFFF") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("tokens", THEMES.values(), ids=THEMES)
def test_style_sheet_is_filled_and_holds_no_colour_of_its_own(tokens: Tokens) -> None:
    sheet = theme.make_style_sheet(theme.Theme(tokens, 1.25))
    assert "$" not in sheet
    colours = set(re.findall(r"#[0-9A-Fa-f]{6}", sheet))
    known = {value for name in Tokens.__slots__ if isinstance(value := getattr(tokens, name), str)}
    assert colours <= known


def test_bundled_fonts_are_there(qapp: QApplication) -> None:
    families = QFontDatabase.families()
    assert theme.UI_FAMILY in families
    assert theme.READING_FAMILY in families
    systems = QFontDatabase.WritingSystem
    for family in (theme.UI_FAMILY, theme.READING_FAMILY):
        covered = QFontDatabase.writingSystems(family)
        assert {systems.Latin, systems.Greek, systems.Cyrillic} <= set(covered)


def test_icons_are_drawings(qapp: QApplication) -> None:
    from PySide6.QtCore import QByteArray
    from PySide6.QtSvg import QSvgRenderer

    for name in NAMES:
        assert QSvgRenderer(QByteArray(svg(name, "#000000").encode())).isValid(), name
