"""Dropout whose masks are cut from one drawn beforehand, since drawing them takes a third of a step."""

from __future__ import annotations

import torch

_POOL = 1 << 23


class PooledDropout(torch.nn.Module):
    """As `torch.nn.Dropout`, but each mask is a random stretch of one fixed pool."""

    def __init__(self, p: float) -> None:
        super().__init__()
        kept = torch.rand(_POOL) >= p
        self._pool = (kept / (1 - p)).to(torch.bfloat16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.training:
            return x
        size = x.numel()
        start = int(torch.randint(0, _POOL - size, ()))
        return x * self._pool[start : start + size].view_as(x)


def pool_dropout(network: torch.nn.Module, p: float) -> None:
    """Put pooled dropout where the network drops hidden values; attention weights are left whole."""
    for name, module in list(network.named_modules()):
        for child, inner in list(module.named_children()):
            if isinstance(inner, torch.nn.Dropout) and not name.endswith("attention.self"):
                setattr(module, child, PooledDropout(p))
