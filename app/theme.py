"""The look in one place: colours, spacing, type and icons' ink, for the style sheet and for plots.

Sizes are logical pixels at text size 100 % and grow with it. `current()` is what widgets that paint
themselves ask; `notifier().changed` tells them when to ask again.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import Template
from typing import Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory

from core.resources import resource_path

ThemeName = Literal["system", "light", "dark", "high-contrast"]

#: Spacing scale.
XS, S, M, L, XL, XXL = 4, 8, 12, 16, 24, 32
RADIUS_CONTROL = 6
RADIUS_CARD = 10

#: Interface type (size, line) at 100 %.
BODY, SMALL, TITLE, HEADING = 14.0, 12.0, 20.0, 16.0
READING_SIZE, READING_LINE = 15.5, 26.0
#: Characters a line of reading text holds at most, and at least where there is room.
READING_COLUMNS = (60, 90)

TEXT_SCALES = (100, 125, 150)

#: Okabe and Ito's order, told apart with every common colour blindness.
PLOT_SERIES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

UI_FAMILY = "Inter"
READING_FAMILY = "Noto Serif"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """The colours of one theme. ``on_accent`` is text on an accent-coloured control."""

    dark: bool
    background: str
    surface: str
    border: str
    control_border: str
    text: str
    muted: str
    accent: str
    accent_hover: str
    on_accent: str
    accent_soft: str
    hover: str
    inserted: str
    inserted_ground: str
    deleted: str
    deleted_ground: str
    supported: str
    not_found: str
    contradicted: str
    danger: str
    danger_ground: str
    warning: str
    warning_ground: str
    focus: str
    plot_series: tuple[str, ...] = PLOT_SERIES


LIGHT = Tokens(
    dark=False,
    background="#F7F6F3",
    surface="#FFFFFF",
    border="#E3E0D9",
    control_border="#D3CFC6",
    text="#1F2328",
    muted="#686C73",
    accent="#1F6F6B",
    accent_hover="#195B58",
    on_accent="#FFFFFF",
    accent_soft="#E2F0EE",
    hover="#EFEDE8",
    inserted="#166B3F",
    inserted_ground="#E3F4EA",
    deleted="#A63A1B",
    deleted_ground="#FBE6E1",
    supported="#0072B2",
    not_found="#B07A00",
    contradicted="#C4500A",
    danger="#A63A1B",
    danger_ground="#FBE6E1",
    warning="#7A5200",
    warning_ground="#FBF0D9",
    focus="#1F6F6B",
)

DARK = Tokens(
    dark=True,
    background="#16181A",
    surface="#1E2124",
    border="#30353A",
    control_border="#434A51",
    text="#E8E6E1",
    muted="#9AA0A6",
    accent="#6CC4BD",
    accent_hover="#86D3CC",
    on_accent="#10201F",
    accent_soft="#1F3735",
    hover="#272B2F",
    inserted="#7FD6A4",
    inserted_ground="#173527",
    deleted="#F0987C",
    deleted_ground="#3B211B",
    supported="#6DB7E8",
    not_found="#E3B341",
    contradicted="#F08A4B",
    danger="#F0987C",
    danger_ground="#3B211B",
    warning="#E3B341",
    warning_ground="#3A2F16",
    focus="#6CC4BD",
)

HIGH_CONTRAST = Tokens(
    dark=True,
    background="#000000",
    surface="#000000",
    border="#FFFFFF",
    control_border="#FFFFFF",
    text="#FFFFFF",
    muted="#E6E6E6",
    accent="#7FFFF4",
    accent_hover="#FFFFFF",
    on_accent="#000000",
    accent_soft="#003B37",
    hover="#262626",
    inserted="#8CFFB9",
    inserted_ground="#00331A",
    deleted="#FFB199",
    deleted_ground="#4A1200",
    supported="#8FD3FF",
    not_found="#FFE14D",
    contradicted="#FFA366",
    danger="#FFB199",
    danger_ground="#4A1200",
    warning="#FFE14D",
    warning_ground="#332B00",
    focus="#FFE14D",
    plot_series=("#56B4E9", "#FFA366", "#4DE6B8", "#FF9ED2", "#FFE14D", "#FFFFFF"),
)

_BY_NAME = {"light": LIGHT, "dark": DARK, "high-contrast": HIGH_CONTRAST}


@dataclass(frozen=True, slots=True)
class Theme:
    """What is in force: tokens and text size."""

    tokens: Tokens = LIGHT
    scale: float = 1.0

    def px(self, size: float) -> int:
        """A size at 100 % in the pixels of this text size."""
        return round(size * self.scale)

    def ui_font(self, size: float = BODY, *, weight: int = QFont.Weight.Normal) -> QFont:
        """The interface's font."""
        return _font(UI_FAMILY, size * self.scale, weight)

    def reading_font(self, size: float = READING_SIZE, *, bold: bool = False) -> QFont:
        """The serif in which people read for hours."""
        weight = QFont.Weight.Bold if bold else QFont.Weight.Normal
        return _font(READING_FAMILY, size * self.scale, weight)

    def color(self, token: str) -> QColor:
        """A token as a colour."""
        return QColor(getattr(self.tokens, token))


class ThemeNotifier(QObject):
    """Tells self-painting widgets that the theme changed."""

    changed = Signal()


class _State:
    theme = Theme()
    notifier: ThemeNotifier | None = None
    fonts_loaded = False


def current() -> Theme:
    """The theme in force."""
    return _State.theme


def notifier() -> ThemeNotifier:
    """The one `ThemeNotifier`, owned by the application."""
    if _State.notifier is None:
        _State.notifier = ThemeNotifier(QApplication.instance())
        _State.notifier.destroyed.connect(_forget_notifier)
    return _State.notifier


def _forget_notifier() -> None:
    _State.notifier = None


def resolve_tokens(name: ThemeName) -> Tokens:
    """The tokens of a theme; 'system' follows the desktop's light or dark."""
    if name != "system":
        return _BY_NAME[name]
    hints = QGuiApplication.styleHints()
    return DARK if hints.colorScheme() == Qt.ColorScheme.Dark else LIGHT


def load_fonts() -> None:
    """Make the bundled fonts known; once a process."""
    if _State.fonts_loaded:
        return
    _State.fonts_loaded = True
    for name in (
        "Inter-Regular.otf",
        "Inter-Medium.otf",
        "Inter-SemiBold.otf",
        "NotoSerif-Regular.ttf",
        "NotoSerif-Bold.ttf",
        "NotoSerif-Italic.ttf",
    ):
        QFontDatabase.addApplicationFont(str(resource_path("fonts", name)))


def apply_theme(app: QApplication, name: ThemeName, text_scale: int = 100) -> Theme:
    """Dress the whole application; safe to call again at any time."""
    load_fonts()
    theme = Theme(resolve_tokens(name), text_scale / 100)
    if theme == _State.theme and app.property("rifugio_dressed"):
        return theme
    _State.theme = theme
    if not app.property("rifugio_dressed"):
        app.setStyle(QStyleFactory.create("Fusion"))
        app.setProperty("rifugio_dressed", True)
    app.setFont(theme.ui_font())
    app.setPalette(make_palette(theme.tokens))
    app.setStyleSheet(make_style_sheet(theme))
    notifier().changed.emit()
    return theme


def make_palette(tokens: Tokens) -> QPalette:
    """The tokens as Qt's palette, for what no style sheet rule reaches."""
    palette = QPalette()
    roles = {
        QPalette.ColorRole.Window: tokens.background,
        QPalette.ColorRole.WindowText: tokens.text,
        QPalette.ColorRole.Base: tokens.surface,
        QPalette.ColorRole.AlternateBase: tokens.background,
        QPalette.ColorRole.Text: tokens.text,
        QPalette.ColorRole.PlaceholderText: tokens.muted,
        QPalette.ColorRole.Button: tokens.surface,
        QPalette.ColorRole.ButtonText: tokens.text,
        QPalette.ColorRole.BrightText: tokens.danger,
        QPalette.ColorRole.ToolTipBase: tokens.surface,
        QPalette.ColorRole.ToolTipText: tokens.text,
        QPalette.ColorRole.Highlight: tokens.accent,
        QPalette.ColorRole.HighlightedText: tokens.on_accent,
        QPalette.ColorRole.Link: tokens.accent,
        QPalette.ColorRole.LinkVisited: tokens.accent,
        QPalette.ColorRole.Light: tokens.border,
        QPalette.ColorRole.Midlight: tokens.border,
        QPalette.ColorRole.Mid: tokens.border,
        QPalette.ColorRole.Dark: tokens.border,
        QPalette.ColorRole.Shadow: tokens.border,
        QPalette.ColorRole.Accent: tokens.accent,
    }
    for role, color in roles.items():
        palette.setColor(role, QColor(color))
    for role in (
        QPalette.ColorRole.WindowText,
        QPalette.ColorRole.Text,
        QPalette.ColorRole.ButtonText,
    ):
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(tokens.muted))
    return palette


def make_style_sheet(theme: Theme) -> str:
    """The application's style sheet, filled from the tokens."""
    template = Template(resource_path("styles", "rifugio.qss").read_text(encoding="utf-8"))
    tokens = theme.tokens
    values: dict[str, object] = {
        name: getattr(tokens, name) for name in Tokens.__slots__ if name != "plot_series"
    }
    values |= {
        "body": theme.px(BODY),
        "small": theme.px(SMALL),
        "heading": theme.px(HEADING),
        # Half of a round mark, its border included.
        "round": (theme.px(HEADING) + 2) // 2,
        "title": theme.px(TITLE),
        "reading": round(READING_SIZE * theme.scale),
        "control_padding_v": theme.px(6),
        "control_padding_h": theme.px(12),
        # A focused control keeps its size: what its border gains, its padding loses.
        "focus_padding_v": theme.px(6) - 1,
        "focus_padding_h": theme.px(12) - 1,
        "radius": RADIUS_CONTROL,
        "card_radius": RADIUS_CARD,
        "pill_radius": theme.px(8),
        "focus_width": 2,
        "ui_family": UI_FAMILY,
        "reading_family": READING_FAMILY,
        "icons": resource_path("icons").as_posix(),
        "ink": "dark" if tokens.dark else "light",
    }
    return template.substitute(values)


def contrast(first: str | QColor, second: str | QColor) -> float:
    """WCAG 2 contrast ratio of two opaque colours, from 1 to 21."""
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: str | QColor) -> float:
    def linear(channel: float) -> float:
        return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4

    value = QColor(color)
    red, green, blue = (linear(c) for c in (value.redF(), value.greenF(), value.blueF()))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _font(family: str, size: float, weight: int) -> QFont:
    font = QFont(family)
    font.setPixelSize(max(1, round(size)))
    font.setWeight(QFont.Weight(weight))
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font
