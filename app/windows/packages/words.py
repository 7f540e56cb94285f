"""What a merge does, or did, in words."""

from __future__ import annotations

from datetime import UTC, datetime

from app.strings import count_of, format_moment, format_number, parse_time, say, shorten
from core.exchange.merge_report import Change, Conflict, MergeReport
from core.storage.titles import kind_words

#: Characters of a name in a sentence, and in a list beside others.
_NAME, _CELL = 60, 28


def source_words(report: MergeReport, package_for: str, *, hidden: bool) -> str:
    """Which file it is."""
    package = report.package
    if package is None:
        return say("Another copy of this workspace.")
    made = format_moment(parse_time(package.made))
    if hidden or not package_for:
        return say("A package from {time}.", time=made)
    return say("The package for {name} from {time}.", name=shorten(package_for, _NAME), time=made)


def people_words(report: MergeReport, *, hidden: bool) -> str:
    """Who did how much of it."""
    total = count_of(report.entries, "change", "changes")
    if hidden:
        return say("{total} by others; who they are is hidden while you work blind.", total=total)
    if len(report.people) == 1 and (only := next(iter(report.people))):
        return say("{total} by {name}.", total=total, name=shorten(only, _NAME))
    parts = [
        say("{count} by {name}", count=format_number(count), name=shorten(name, _NAME))
        if name
        else say("{count} by jobs", count=format_number(count))
        for name, count in sorted(report.people.items(), key=lambda entry: -entry[1])
    ]
    return say("{total}: {parts}.", total=total, parts=", ".join(parts))


def kind_lines(report: MergeReport) -> list[tuple[str, str]]:
    """Per kind of row, how many are added, changed and removed."""
    lines = []
    fates = {"added": report.added, "changed": report.changed, "removed": report.removed}
    for kind in dict.fromkeys(kind for counts in fates.values() for kind in counts):
        parts = [
            f"{format_number(counts[kind])} {say(fate)}"
            for fate, counts in fates.items()
            if counts.get(kind)
        ]
        lines.append((kind_words(kind, 2).capitalize(), ", ".join(parts)))
    return lines


def left_out_words(report: MergeReport) -> str:
    """What is not taken over, and why; '' for nothing."""
    if not report.left_out:
        return ""
    rows = ", ".join(
        f"{format_number(count)} {kind_words(kind, count)}"
        for kind, count in report.left_out.items()
    )
    why = (
        say("a package of reviews gives back reviews and nothing else.")
        if report.package is not None and report.package.kind == "reviews"
        else say("made in a file that this workspace never was, or in a package of reviews.")
    )
    return say("Left out: {rows}: {why}", rows=rows, why=why)


def twin_words(report: MergeReport) -> str:
    """What both sides have of what there is one of; '' for nothing."""
    if not report.settled:
        return ""
    return say(
        "{rows} in both, such as two ratings of one output by one person: the later one stands.",
        rows=count_of(report.settled, "entry is", "entries are"),
    )


def conflict_words(
    conflict: Conflict, about: str = "", *, hidden: bool
) -> tuple[str, str, str, str]:
    """What was changed on both sides, who did here and there, and which stands.

    Parameters
    ----------
    about
        What the row is about, where it does not say so itself.
    """
    column = conflict.column.removesuffix("_id").replace("_", " ")
    kind = kind_words(conflict.kind).capitalize()
    # An axis is stored under its key.
    name = conflict.name.replace("_", " ") if about else conflict.name
    parts = [kind] if name == kind_words(conflict.kind) else [kind, f"'{shorten(name)}'"]
    if about:
        parts.append(say("of {about}", about=shorten(about)))
    what = say("{what}: {column}", what=" ".join(parts), column=column)
    stands = say("There") if conflict.theirs_stands else say("Here")
    return (
        what,
        _change_words(conflict.ours, hidden=hidden),
        _change_words(conflict.theirs, hidden=hidden),
        stands,
    )


def _change_words(change: Change, *, hidden: bool) -> str:
    when = parse_time(change.time)
    today = datetime.now(UTC).astimezone().date()
    time = f"{when:%H:%M}" if when.date() == today else format_moment(when)
    if hidden:
        return time
    return say("{name}, {time}", name=shorten(change.person, _CELL) or say("A job"), time=time)


def merged_words(report: MergeReport) -> str:
    """What was done, for the toast."""
    if not report.entries:
        return say("Everything in it was here already.")
    changes = count_of(report.entries, "change", "changes")
    if not report.conflicts:
        return say("Merged: {changes} taken over.", changes=changes)
    return say(
        "Merged: {changes} taken over; {conflicts} on both sides, where the later one stands.",
        changes=changes,
        conflicts=count_of(len(report.conflicts), "value was changed", "values were changed"),
    )
