"""What a worker can load: each engine turns messages into calls of one native library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from core.errors import BugError
from core.ports import Cancellation

Send = Callable[[str, Any], None]


class Engine(Protocol):
    """A loaded model inside a worker. Messages hold plain values only."""

    def describe(self) -> dict[str, Any]:
        """id, name, sha256, device, context_tokens, details, and what the role needs besides."""
        ...

    def call(
        self, op: str, arguments: Mapping[str, Any], cancel: Cancellation, send: Send
    ) -> Any: ...

    def close(self) -> None: ...


def load_engine(arguments: Mapping[str, Any]) -> Engine:
    """Load the engine that ``arguments['engine']`` names; native libraries are imported only here."""
    name = arguments["engine"]
    if name == "llama":
        from models.llama import LlamaEngine

        return LlamaEngine(arguments)
    if name == "embed":
        from models.onnx_embed import EmbedEngine

        return EmbedEngine(arguments)
    if name == "nli":
        from models.onnx_nli import EntailmentEngine

        return EntailmentEngine(arguments)
    if name == "pair":
        from models.onnx_pairs import PairEngine

        return PairEngine(arguments)
    if name == "fake":
        from models.fake import FakeEngine

        return FakeEngine(arguments)
    raise BugError(f"There is no engine '{name}'.")
