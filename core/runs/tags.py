"""What people found wrong with an output while they looked through failures."""

from __future__ import annotations

from core.errors import UsageError
from core.ids import new_id
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.types import Output
from core.types.evaluation import OUTPUT_TAGS, OutputTag


def tag_output(
    tx: Transaction,
    output_id: str,
    person_id: str,
    tag: str,
    *,
    start: int = -1,
    end: int = -1,
    comment: str = "",
) -> OutputTag:
    """Mark what is wrong with an output, or with a stretch of its text in code points.

    Raises
    ------
    UsageError
        For a tag that is none of `OUTPUT_TAGS`, or a stretch outside the text.
    """
    if tag not in OUTPUT_TAGS:
        raise UsageError(f"'{tag}' is no tag.", remedy=f"Use one of {', '.join(OUTPUT_TAGS)}.")
    output = tx.get(Output, output_id)
    if (start, end) != (-1, -1) and not 0 <= start < end <= len(output.text):
        raise UsageError("That stretch is not in the text.", remedy="Select the words again.")
    earlier = tx.find(
        OutputTag,
        'output_id = ? AND person_id = ? AND tag = ? AND start = ? AND "end" = ?',
        (output_id, person_id, tag, start, end),
    )
    if earlier:
        return tx.update(OutputTag, earlier[0].id, comment=comment or earlier[0].comment)
    return tx.insert(
        OutputTag(
            id=new_id(),
            output_id=output_id,
            person_id=person_id,
            tag=tag,
            start=start,
            end=end,
            comment=comment,
        )
    )


def remove_tag(tx: Transaction, tag_id: str) -> None:
    """Take a mark back."""
    tx.delete(OutputTag, tag_id)


def tags_of(reads: Reads, output_id: str) -> list[OutputTag]:
    """The marks on an output, the whole output's first."""
    return reads.find(OutputTag, "output_id = ?", (output_id,), order_by="start, id")


def count_tags(reads: Reads) -> dict[tuple[str, str], int]:
    """How many outputs of each system bear each tag, by (system name, tag)."""
    return {
        (row["name"], row["tag"]): row["n"]
        for row in reads.query(
            "SELECT y.name, g.tag, count(DISTINCT g.output_id) AS n FROM output_tag g"
            " JOIN output o ON o.id = g.output_id AND o.deleted = 0"
            " JOIN run r ON r.id = o.run_id AND r.deleted = 0 JOIN system y ON y.id = r.system_id"
            " WHERE g.deleted = 0 GROUP BY y.name, g.tag"
        )
    }
