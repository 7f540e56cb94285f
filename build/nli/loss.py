"""The loss of pairs with three or two known classes, and the learning rate over time."""

from __future__ import annotations

import torch

from build.nli.data import NOT_ENTAILMENT

_WARM_UP = 0.04


def marginal_loss(logits: torch.Tensor, labels: torch.Tensor, *, smoothing: float) -> torch.Tensor:
    """Mean cross-entropy; a pair known only as not entailed asks for neutral or contradiction together."""
    log_p = torch.log_softmax(logits.float(), dim=-1)
    known = labels != NOT_ENTAILMENT
    picked = log_p.gather(1, labels.clamp(max=2).unsqueeze(1)).squeeze(1)
    exact = (1 - smoothing) * picked + smoothing * log_p.mean(dim=1)
    either = torch.logsumexp(log_p[:, 1:], dim=1)
    return -torch.where(known, exact, either).mean()


def rate_at(done: float, peak: float) -> float:
    """Learning rate after the share ``done`` of the time: a short rise, then a straight fall to zero."""
    return peak * min(done / _WARM_UP, max(0.0, (1 - done) / (1 - _WARM_UP)))
