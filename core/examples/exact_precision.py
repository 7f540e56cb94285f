"""How often each exact check was right where it spoke, on the sentences of `tests.core.exact_check_cases`.

Sixteen sentences a check, half of which differ from their evidence; those that do not were chosen to be
hard, so that ordinary text should do better. A test keeps these numbers true.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

#: (times right, times it spoke) of each check.
PRECISION: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "number": (8, 10),
        "unit": (8, 8),
        "date": (8, 8),
        "dose": (8, 9),
        "name": (8, 8),
        "negation": (8, 10),
    }
)
