"""Models of a few hundred bytes, made in a test: a table of word weights behind a real ONNX graph."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def make_folder(
    folder: Path,
    words: Mapping[str, Sequence[float]],
    *,
    config: Mapping[str, Any],
    hidden: bool = False,
) -> Path:
    """An exported model whose output is the sum of its words' rows, or the rows themselves (``hidden``)."""
    folder.mkdir(parents=True)
    vocabulary = {word: index for index, word in enumerate((*SPECIAL, *words))}
    width = len(next(iter(words.values())))
    table = np.zeros((len(vocabulary), width), dtype=np.float32)
    for word, row in words.items():
        table[vocabulary[word]] = row
    output = "last_hidden_state" if hidden else "logits"
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["column"]),
        helper.make_node("Mul", ["rows", "column"], [output if hidden else "kept"]),
    ]
    if not hidden:
        nodes.append(helper.make_node("ReduceSum", ["kept", "middle"], [output], keepdims=0))
    shape = ["batch", "length", width] if hidden else ["batch", width]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
            for name in ("input_ids", "attention_mask")
        ],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
        [
            numpy_helper.from_array(table, "table"),
            numpy_helper.from_array(np.array([2], dtype=np.int64), "last"),
            numpy_helper.from_array(np.array([1], dtype=np.int64), "middle"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, folder / "model.onnx")
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder
