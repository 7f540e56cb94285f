"""The models of this process, made when first asked for and ended with it."""

from __future__ import annotations

import atexit
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.ports import Embedder, EntailmentModel, PairScorer, TextGenerator
    from models.local import LocalModels


@cache
def local_models() -> LocalModels:
    """All local models, each in a worker of its own."""
    from models.local import LocalModels

    models = LocalModels()
    atexit.register(models.close)
    return models


def generator(model_id: str | None = None) -> TextGenerator:
    """A text generator, the default one unless named."""
    return local_models().generator(model_id)


def embedder(model_id: str | None = None) -> Embedder:
    """A sentence embedder, the default one unless named."""
    return local_models().embedder(model_id)


def entailment_model(model_id: str | None = None) -> EntailmentModel:
    """An entailment model; a language model named here is asked yes or no, after a test of its worth."""
    from models.catalog import find_model

    if model_id is not None and find_model(model_id).role == "generator":
        return _asked_model(model_id)
    return local_models().entailment(model_id)


@cache
def _asked_model(model_id: str) -> EntailmentModel:
    """A language model as an entailment model, tested once in a process."""
    from models.llm_entail import GeneratorEntailment

    return GeneratorEntailment(generator(model_id))


def pair_scorer(model_id: str) -> PairScorer:
    """A reranker or learned metric."""
    return local_models().pair_scorer(model_id)
