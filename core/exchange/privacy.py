"""Public and private examples: a private reference never leaves the workspace.

An example is private when its split begins with 'private', or its meta says ``"subset": "private"`` or
``"private": true``. Its reference is in no prompt, export, package or report; scores against it may be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.types import Example, SectionText

#: The same rule in SQL, over the example table under the name ``e``.
PRIVATE_SQL = (
    "(lower(e.split) LIKE 'private%' OR lower(coalesce(json_extract(e.meta, '$.subset'), ''))"
    " = 'private' OR coalesce(json_extract(e.meta, '$.private'), 0) IN (1, 'true'))"
)

#: What stands in a reference's place.
NOT_SHOWN = "Private reference: it does not leave the workspace."


def is_private(example: Example) -> bool:
    """Whether an example's reference must stay in the workspace."""
    return is_private_meta(example.split, example.meta)


def is_private_meta(split: str, meta: Mapping[str, Any]) -> bool:
    """The rule on a split and a meta mapping."""
    return (
        split.casefold().startswith("private")
        or str(meta.get("subset", "")).casefold() == "private"
        or meta.get("private") in (True, 1, "true")
    )


def public_output(example: Example) -> tuple[SectionText, ...]:
    """An example's reference as far as it may leave: empty for a private one."""
    return () if is_private(example) else example.output
