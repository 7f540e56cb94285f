"""Verbs on files alone: metric, agreement."""

from __future__ import annotations

from typing import Any


def add_metric_parser(verbs: Any) -> None:
    """metric."""


def add_agreement_parser(verbs: Any) -> None:
    """agreement."""
