"""The page on metrics names every metric, and its worked example works."""

from __future__ import annotations

import re
from typing import Any

from core.metrics import registry
from core.resources import resource_path

PAGE = resource_path("docs", "metrics.md").read_text(encoding="utf-8")


def test_every_metric_is_named() -> None:
    missing = [name for name in registry.names() if f"`{name}`" not in PAGE]
    assert not missing


def test_the_worked_example_works() -> None:
    code = re.search(r"```python\n(.+?)```", PAGE, re.DOTALL)
    assert code is not None
    space: dict[str, Any] = {"__name__": "copied"}
    exec(compile("from __future__ import annotations\n" + code[1], "copied.py", "exec"), space)
    metric = space["Copied"]()
    item = {"source": "The cat", "prediction": "the dog"}
    assert metric.score_one(item).value == 0.5
    assert metric.score_many([item, {**item, "prediction": " "}])[1].unscored
    assert metric.aggregate([item]).components["n"] == 1
    assert metric.signature.startswith("copied|")
