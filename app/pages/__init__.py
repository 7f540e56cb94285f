"""The pages: what the rail lists, and where each is imported from when it is first shown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageEntry:
    """A page of the rail. ``module`` has a class ``Page``; its key is the action ``page-<name>``."""

    name: str
    title: str
    group: str
    icon: str
    module: str


#: In the order of the rail; a group's heading stands above its first page, '' has none.
PAGES: tuple[PageEntry, ...] = (
    PageEntry("queue", "Queue", "", "queue", "app.pages.queue.page"),
    PageEntry("tasks", "Tasks", "Describe", "tasks", "app.pages.tasks.page"),
    PageEntry("rubrics", "Rubrics", "Describe", "rubrics", "app.pages.rubrics.page"),
    PageEntry("graphs", "Graphs", "Describe", "graphs", "app.pages.graphs.page"),
    PageEntry("documents", "Documents", "Make", "documents", "app.pages.documents.page"),
    PageEntry("drafts", "Drafts", "Make", "edit", "app.pages.drafts.page"),
    PageEntry("examples", "Examples", "Make", "examples", "app.pages.examples.page"),
    PageEntry("statistics", "Statistics", "Make", "columns", "app.pages.statistics.page"),
    PageEntry("runs", "Runs", "Evaluate", "runs", "app.pages.runs.page"),
    PageEntry("checklists", "Checklists", "Evaluate", "check", "app.pages.checklists.page"),
    PageEntry("review", "Review", "Evaluate", "review", "app.pages.review.page"),
    PageEntry("results", "Results", "Evaluate", "results", "app.pages.results.page"),
    PageEntry("models", "Models", "This machine", "models", "app.pages.models.page"),
    PageEntry("settings", "Settings", "This machine", "settings", "app.pages.settings.page"),
)


def page_entry(name: str) -> PageEntry:
    """The entry of a page.

    Raises
    ------
    KeyError
        When there is none of that name.
    """
    for entry in PAGES:
        if entry.name == name:
            return entry
    raise KeyError(name)
