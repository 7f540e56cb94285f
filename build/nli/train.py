"""Train the small entailment model: ``python -m build.nli.train --data D --encoder E --out O --minutes M``.

A sentence-transformers CrossEncoder with three classes. The learning rate falls to zero at the end of
the time given, so that a run always ends trained as well as its time allows; ``--pairs`` counts pairs
instead. Stopped and started again, it goes on from the last checkpoint. Needs the development
environment; nothing here is installed.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sentence_transformers import CrossEncoder, SentenceTransformer

from build.nli.data import BALANCE, LABELS, BalancedDraw, Pair, read_pairs
from build.nli.dropout import pool_dropout
from build.nli.loss import marginal_loss, rate_at
from build.nli.mixing import (
    PASSAGES,
    RETRIEVED,
    Embed,
    premises_in_passages,
    retrieved_negatives,
)

_CHECKPOINT_STEPS = 100
_EMBEDDED = 96
_DEV_AT = (0.6, 0.8, 1.0)


class Encoder:
    """Token ids of pairs, made once, cut at the end of the premise."""

    def __init__(self, tokenizer: Any, longest: int) -> None:
        self._tokenizer = tokenizer.backend_tokenizer
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(longest, strategy="longest_first")

    def encode(self, pairs: list[Pair]) -> list[tuple[list[int], list[int]]]:
        made = self._tokenizer.encode_batch([(p.premise, p.hypothesis) for p in pairs])
        return [(e.ids, e.type_ids) for e in made]


def collate(encoded: list[tuple[list[int], list[int]]]) -> dict[str, torch.Tensor]:
    """Padded tensors of one batch, each of shape (batch, longest)."""
    longest = max(len(ids) for ids, _ in encoded)
    shape = (len(encoded), longest)
    ids_t, mask, types_t = (torch.zeros(shape, dtype=torch.long) for _ in range(3))
    for row, (ids, types) in enumerate(encoded):
        ids_t[row, : len(ids)] = torch.tensor(ids)
        mask[row, : len(ids)] = 1
        types_t[row, : len(ids)] = torch.tensor(types)
    return {"input_ids": ids_t, "attention_mask": mask, "token_type_ids": types_t}


def measure(network: Any, encoded: list[Any], pairs: list[Pair]) -> float:
    """Marginalised log loss on pairs, in nats."""
    network.eval()
    order = sorted(range(len(pairs)), key=lambda i: len(encoded[i][0]))
    total = 0.0
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        for start in range(0, len(order), 32):
            rows = order[start : start + 32]
            logits = network(**collate([encoded[i] for i in rows])).logits
            labels = torch.tensor([pairs[i].label for i in rows])
            total += float(marginal_loss(logits, labels, smoothing=0.0)) * len(rows)
    network.train()
    return total / len(pairs)


def sentence_embedder(folder: Path) -> Embed:
    """Unit vectors, (n, d), of texts by the encoder that training begins from."""
    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    model.max_seq_length = _EMBEDDED

    def embed(texts: Sequence[str]) -> np.ndarray:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            found = model.encode(
                list(texts), batch_size=64, normalize_embeddings=True, show_progress_bar=False
            )
        return np.asarray(found, dtype=np.float32)

    return embed


def added_pairs(pairs: list[Pair], arguments: argparse.Namespace) -> list[Pair]:
    """What ``--passages`` and ``--negatives`` ask for; kept on disk, since the search takes minutes."""
    kept = arguments.out / "added.json"
    if kept.is_file():
        return [Pair(*row) for row in json.loads(kept.read_text(encoding="utf-8"))]
    added = premises_in_passages(pairs, count=arguments.passages, seed=arguments.seed)
    if arguments.negatives:
        embed = sentence_embedder(arguments.embedder or arguments.encoder)
        added += retrieved_negatives(pairs, embed, count=arguments.negatives, seed=arguments.seed)
    rows = [dataclasses.astuple(pair) for pair in added]
    kept.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    return added


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--encoder", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, required=True, help="the time it may take")
    parser.add_argument(
        "--pairs", type=int, help="end after so many, the learning rate falling accordingly"
    )
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--smoothing", type=float, default=0.0)
    parser.add_argument("--longest", type=int, default=256)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--dev", type=int, default=1_000, help="dev pairs looked at for stopping")
    parser.add_argument(
        "--only", nargs="*", default=[], help="sources to keep; all where none is named"
    )
    parser.add_argument(
        "--most", type=int, help="pairs to draw from, at most: for a run of minutes"
    )
    parser.add_argument("--batch-tokens", type=int, default=2_048)
    parser.add_argument(
        "--balance", type=float, default=BALANCE, help="a source is drawn by its size to this power"
    )
    parser.add_argument("--word-vectors", action="store_true", help="train them too")
    parser.add_argument("--negatives", type=int, default=0, help="pairs found by search to add")
    parser.add_argument("--passages", type=int, default=0, help="pairs in longer passages to add")
    parser.add_argument("--embedder", type=Path, help="for --negatives, where --encoder is none")
    parser.add_argument("--without", nargs="*", default=[], help="sources to leave out")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(arguments.seed)
    arguments.out.mkdir(parents=True, exist_ok=True)

    # Written-out attention and pooled dropout: on processors the fused kernel's backward pass and the
    # drawing of dropout masks cost a third of the step. Two threads gain 1.4 times over one.
    model = CrossEncoder(
        str(arguments.encoder),
        num_labels=3,
        device="cpu",
        local_files_only=True,
        model_kwargs={"attn_implementation": "eager"},
        config_kwargs={"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0},
    )
    network, tokenizer = model.model, model.tokenizer
    if arguments.dropout:
        pool_dropout(network, arguments.dropout)
    network.config.id2label = dict(enumerate(LABELS))
    network.config.label2id = {name: index for index, name in enumerate(LABELS)}
    # Word vectors stay: it saves their share of the step, and rare words keep their place.
    if not arguments.word_vectors:
        network.bert.embeddings.word_embeddings.weight.requires_grad_(False)
    encoder = Encoder(tokenizer, arguments.longest)
    pairs = read_pairs(arguments.data / "train.jsonl.xz", without=arguments.without)
    if arguments.only:
        pairs = [pair for pair in pairs if pair.source in arguments.only]
    if arguments.most and arguments.most < len(pairs):
        pairs = random.Random(arguments.seed).sample(pairs, arguments.most)
    published = len(pairs)
    pairs += added_pairs(pairs, arguments)
    dev = read_pairs(arguments.data / "dev.jsonl.xz", without=arguments.without)
    dev = random.Random(arguments.seed).sample(dev, min(arguments.dev, len(dev)))
    began = time.monotonic()
    encoded, encoded_dev = encoder.encode(pairs), encoder.encode(dev)

    head = list(network.classifier.parameters())
    body = [
        p
        for n, p in network.named_parameters()
        if p.requires_grad and not n.startswith("classifier")
    ]
    optimizer = torch.optim.AdamW(
        [{"params": body, "scale": 1.0}, {"params": head, "scale": 10.0}], weight_decay=0.01
    )
    state_path = arguments.out / "checkpoint.pt"
    step, seen, spent, log = 0, 0, 0.0, []
    best = float("inf")
    asked = set(_DEV_AT)
    if state_path.is_file():
        state = torch.load(state_path, weights_only=False)
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        step, seen, spent, log, best = (state[k] for k in ("step", "seen", "spent", "log", "best"))
        asked -= {share for share in asked if spent >= share * arguments.minutes * 60}
    limit = arguments.minutes * 60
    network.train()
    draw = BalancedDraw(
        pairs,
        seed=arguments.seed,
        batch_tokens=arguments.batch_tokens,
        balance=arguments.balance,
    ).batches([len(ids) for ids, _ in encoded], skip=step)
    mean = 0.0
    for batch in draw:
        elapsed = spent + time.monotonic() - began
        done = min(1.0, max(elapsed / limit, seen / arguments.pairs if arguments.pairs else 0.0))
        for share in sorted(asked):
            if done >= share:
                asked.discard(share)
                loss = measure(network, encoded_dev, dev)
                log.append({"share": share, "step": step, "seen": seen, "dev_loss": round(loss, 4)})
                print(json.dumps(log[-1]), flush=True)
                if loss < best:
                    best = loss
                    model.save_pretrained(str(arguments.out / "best"))
        if done >= 1.0:
            break
        for group in optimizer.param_groups:
            group["lr"] = rate_at(max(done, 1e-3), arguments.rate) * group["scale"]
        labels = torch.tensor([pairs[i].label for i in batch])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = network(**collate([encoded[i] for i in batch])).logits
        loss_t = marginal_loss(logits, labels, smoothing=arguments.smoothing)
        loss_t.backward()
        torch.nn.utils.clip_grad_norm_([*body, *head], 1.0)
        optimizer.step()
        optimizer.zero_grad()
        step += 1
        seen += len(batch)
        now = float(loss_t.detach())
        mean = now if step == 1 else 0.98 * mean + 0.02 * now
        if step % 20 == 0:
            print(f"step {step} seen {seen} loss {mean:.3f} after {elapsed:.0f} s", flush=True)
        if step % _CHECKPOINT_STEPS == 0:
            state = {
                "network": network.state_dict(),
                "optimizer": optimizer.state_dict(),
                "step": step,
                "seen": seen,
                "spent": spent + time.monotonic() - began,
                "log": log,
                "best": best,
            }
            torch.save(state, state_path.with_suffix(".new"))
            state_path.with_suffix(".new").replace(state_path)
    record = {
        "pairs_in_training_set": published,
        "pairs_seen": seen,
        "steps": step,
        "epochs": round(seen / len(pairs), 3),
        "retrieved_negatives": sum(pair.source == RETRIEVED for pair in pairs),
        "in_passages": sum(pair.source == PASSAGES for pair in pairs),
        "minutes": round((spent + time.monotonic() - began) / 60, 1),
        "rate": arguments.rate,
        "smoothing": arguments.smoothing,
        "longest": arguments.longest,
        "dropout": arguments.dropout,
        "threads": arguments.threads,
        "batch_tokens": arguments.batch_tokens,
        "balance": arguments.balance,
        "word_vectors": arguments.word_vectors,
        "only": arguments.only,
        "seed": arguments.seed,
        "without": arguments.without,
        "dev": log,
    }
    (arguments.out / "training.json").write_text(json.dumps(record, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
