"""Reading a model folder's config.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from core.errors import InvalidModelError


def read_model_config(folder: Path) -> dict[str, Any]:
    """A model folder's config.json as an object, empty where there is none.

    Raises
    ------
    InvalidModelError
        When it is there and cannot be read.
    """
    try:
        value = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InvalidModelError(
            f"{folder.name}/config.json cannot be read.",
            remedy="Export the model again.",
            details=str(error),
        ) from error
    if not isinstance(value, dict):
        raise InvalidModelError(
            f"{folder.name}/config.json is not an object.", remedy="Export the model again."
        )
    return value
