"""What the graphs page does at a key and from the command palette."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.pages.base import Command
from app.strings import say

if TYPE_CHECKING:
    from app.pages.graphs.page import Page


def bind_keys(page: Page) -> None:
    """Let the page answer to its keys."""
    keys, canvas, document, pane = (
        page.session.shortcuts, page.pane.canvas, page.document, page.pane,
    )  # fmt: skip
    for action, slot in (
        ("graphs.add-step", page.add_step),
        ("graphs.add-after", page.add_after),
        ("graphs.rename", page.rename),
        ("graphs.connect", pane.connect_current),
        ("graphs.delete", document.delete_selected),
        ("graphs.copy", pane.copy),
        ("graphs.cut", pane.cut),
        ("graphs.paste", pane.paste),
        ("graphs.duplicate", pane.duplicate),
        ("graphs.select-all", pane.select_all),
        ("graphs.group", pane.group),
        ("graphs.ungroup", document.ungroup_selected),
        ("graphs.layout", document.lay_out),
        ("graphs.fit", canvas.fit),
        ("graphs.zoom-in", canvas.zoom_in),
        ("graphs.zoom-out", canvas.zoom_out),
        ("graphs.accept", pane.accept),
        ("graphs.reject", pane.reject),
        ("graphs.accept-all", pane.accept_all),
        ("graphs.outline", page.change_sides),
        ("graphs.import", page.show_import),
        ("graphs.export", page.show_export),
    ):
        keys.bind(page, action, slot)


def list_commands(page: Page) -> list[Command]:
    """What the command palette offers on the page."""
    keys = page.session.shortcuts
    made = [
        Command(say("New graph"), page.show_new, keys.hint("new"), page.title),
        Command(say("Add the sample graphs"), page.add_samples, "", page.title),
        Command(say("Import graphs"), page.show_import, keys.hint("graphs.import"), page.title),
    ]
    if page.document.graph is not None:
        made += [
            Command(
                say("Export graphs"), page.show_export, keys.hint("graphs.export"), page.title
            ),
            Command(say("Lay out the graph"), page.document.lay_out,
                    keys.hint("graphs.layout"), page.title),
            Command(say("Same task, other assumption"), page.show_another, "", page.title),
            Command(say("Compare methods on the gold graphs"), page.show_methods, "", page.title),
            Command(say("Split the gold graphs by like tasks"), page.split_golds, "", page.title),
            Command(say("Show another graph beside"), page.toggle_beside, "", page.title),
            Command(say("Copy the graph"), page.copy_current, "", page.title),
            Command(say("Delete the graph"), page.delete_current, "", page.title),
            Command(
                say("Remove dependencies that follow from others"),
                page.document.remove_shortcuts, "", page.title,
            ),
        ]  # fmt: skip
    return made
