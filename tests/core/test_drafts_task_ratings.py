"""Validating tasks: several raters, their distributions, profiles, time, and near-duplicates."""

from __future__ import annotations

import pytest

from core.errors import UsageError
from core.examples.task_ratings import (
    comment_on_task,
    find_similar_tasks,
    profile_of,
    rate_task,
    save_profile,
    spend_time,
    summarise_task,
    task_ratings_of,
    unrate_task,
)
from core.people import add_person
from core.storage import Workspace
from core.types.documents import TASK_AXES, TimeSpent
from models.fake import FakeEmbedder
from tests.factories import make_task


def test_three_raters_make_a_distribution(workspace: Workspace) -> None:
    task = workspace.transact("Task", "", make_task).value.id
    people = [
        workspace.transact_job("Add", "", add_person, name).value.id for name in ("A", "B", "C")
    ]
    for person, value in zip(people, (2, 4, 4), strict=True):
        workspace.transact("Rate", person, rate_task, task, person, "complexity", value)
    workspace.transact(
        "Comment", people[0], comment_on_task, task, people[0], "complexity", "Not hard."
    )
    workspace.transact("Rate", people[0], rate_task, task, people[0], "complexity", 3)
    summaries = {summary.axis: summary for summary in summarise_task(workspace, task)}
    assert list(summaries) == list(TASK_AXES)
    found = summaries["complexity"]
    assert found.counts == (0, 0, 1, 2, 0)
    assert found.mean == pytest.approx(11 / 3)
    assert found.comments == (("A", "Not hard."),)
    assert summaries["ethics"].mean is None
    workspace.transact("Undo", people[0], unrate_task, task, people[0], "complexity")
    assert task_ratings_of(workspace, task, people[0]) == {}
    with pytest.raises(UsageError):
        workspace.transact("Rate", "", rate_task, task, people[0], "beauty", 3)
    with pytest.raises(UsageError):
        workspace.transact("Comment", "", comment_on_task, task, people[0], "ethics", "x")


def test_profile_and_time_are_kept(workspace: Workspace) -> None:
    person = workspace.transact_job("Add", "", add_person, "A").value.id
    task = workspace.transact("Task", "", make_task).value.id
    for years in (3, 12):
        workspace.transact(
            "Save",
            person,
            save_profile,
            person,
            field="Medicine",
            qualification="MD",
            years=years,
            consent=True,
        )
        workspace.transact_job("Time", person, spend_time, "task", task, person, 10.0)
    profile = profile_of(workspace, person)
    assert profile is not None and (profile.years, profile.consent) == (12, True)
    assert [spent.seconds for spent in workspace.find(TimeSpent)] == [20.0]


def test_nearly_the_same_tasks_are_flagged(workspace: Workspace) -> None:
    first = workspace.transact("Task", "", make_task, "Write a SOAP note from a visit").value.id
    same = workspace.transact("Task", "", make_task, "From a visit, write a SOAP note").value.id
    workspace.transact("Task", "", make_task, "Draw up a contract of sale")
    found = find_similar_tasks(workspace, first, FakeEmbedder())
    assert [similar.task.id for similar in found] == [same]
    assert find_similar_tasks(workspace, first) == found
