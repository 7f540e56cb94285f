"""What all journeys share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _collecting(collecting_here: None) -> None:
    """Journeys have windows of their own."""
