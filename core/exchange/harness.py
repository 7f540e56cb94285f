"""Examples as task files of two evaluation tools: Inspect AI (samples) and lm-evaluation-harness.

Public examples only: a private reference never leaves, and without one there is nothing to score there.
Both are data plus a small definition that loads it; neither tool is needed to write them.
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.exchange.privacy import is_private
from core.runs.prompts import WHOLE_PROMPT, example_prompt
from core.runs.verbs import task_and_field
from core.settings import write_atomically
from core.storage.reads import Reads
from core.tasks.sections import join_sections
from core.types import Example

_INSPECT = '''"""Task made by Rifugio for Inspect AI: run it with `inspect eval {stem}.py`."""

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import model_graded_qa
from inspect_ai.solver import generate


@task
def {name}():
    return Task(
        dataset=json_dataset({data}),
        solver=generate(),
        scorer=model_graded_qa(),
    )
'''

_HARNESS = """# Task made by Rifugio for lm-evaluation-harness: lm_eval --tasks {name} --include_path .
task: {name}
dataset_path: json
dataset_kwargs:
  data_files:
    test: {data}
test_split: test
output_type: generate_until
doc_to_text: "{{{{prompt}}}}"
doc_to_target: "{{{{reference}}}}"
generation_kwargs:
  do_sample: false
  max_gen_toks: 4096
  until: []
# Metrics that the harness has without loading anything; it has no ROUGE of its own.
metric_list:
  - metric: bleu
    aggregation: bleu
    higher_is_better: true
  - metric: chrf
    aggregation: chrf
    higher_is_better: true
metadata:
  version: 1.0
"""


def export_inspect(reads: Reads, path: Path) -> int:
    """Write samples as JSONL and a task file in Python beside it; returns how many samples."""
    lines = []
    for example, messages in _public(reads):
        lines.append(
            {
                "id": example.id,
                "input": [{"role": m.role, "content": m.content} for m in messages],
                "target": join_sections(example.output),
                "metadata": {"title": example.title, "split": example.split},
            }
        )
    _write_lines(path, lines)
    name = _identifier(path.stem)
    text = _INSPECT.format(stem=path.stem, name=name, data=json.dumps(path.name))
    write_atomically(path.with_suffix(".py"), text.encode())
    return len(lines)


def export_harness(reads: Reads, path: Path) -> int:
    """Write documents as JSONL and a task file in YAML beside it; returns how many documents."""
    lines = [
        {
            "id": example.id,
            "prompt": "\n\n".join(message.content for message in messages),
            "reference": join_sections(example.output),
        }
        for example, messages in _public(reads)
    ]
    _write_lines(path, lines)
    text = _HARNESS.format(name=_identifier(path.stem), data=json.dumps(path.name))
    write_atomically(path.with_suffix(".yaml"), text.encode())
    return len(lines)


def _public(reads: Reads) -> Iterator[tuple[Example, Any]]:
    for example in reads.find(Example):
        if example.output and not is_private(example):
            task, field = task_and_field(reads, example)
            yield example, example_prompt(WHOLE_PROMPT, task, field, example)


def _identifier(stem: str) -> str:
    name = re.sub(r"\W+", "_", stem).strip("_").lower() or "rifugio"
    return f"task_{name}" if not name[0].isalpha() or keyword.iskeyword(name) else name


def _write_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    write_atomically(path, text.encode())
