"""Tokens a second through the app's worker against a bare llama_cpp loop on the same file, in one run.

.venv/bin/python tests/benchmarks/generation_speed.py

Both write the same number of tokens after the same prompt with the same threads, in turn, so that a busy
machine is as busy for the one as for the other; the median round of each counts. The bare loop draws as
llama_cpp does by default, which is its fastest way.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.ports import Cancellation, GenerationRequest, Message
from models.catalog import DEFAULT_GENERATOR, find_model
from models.hosted import HostedGenerator
from models.local import LocalModels
from models.memory import usable_cores

CONTEXT = 4096
TOKENS = 128
ROUNDS = 6
MESSAGES = (Message("user", "Describe the water cycle in detail, with all its steps."),)


class BareLoop:
    """llama_cpp alone."""

    def __init__(self, path: Path) -> None:
        import llama_cpp

        self._llm = llama_cpp.Llama(
            str(path),
            n_ctx=CONTEXT,
            n_threads=usable_cores(),
            n_threads_batch=usable_cores(),
            n_gpu_layers=-1,
            verbose=False,
        )
        formatter = llama_cpp.llama_chat_format.Jinja2ChatFormatter(
            self._llm.metadata["tokenizer.chat_template"], "<|im_end|>", "<|im_start|>"
        )
        prompt = formatter(messages=[{"role": "user", "content": MESSAGES[0].content}]).prompt
        self._tokens = self._llm.tokenize(prompt.encode(), add_bos=False, special=True)

    def run(self) -> float:
        """Tokens a second, without the prompt."""
        self._llm.reset()
        count, start = 0, 0.0
        for token in self._llm.generate(self._tokens, temp=0.1):
            if not count:
                start = time.perf_counter()
            self._llm.detokenize([token])
            count += 1
            if count == TOKENS:
                break
        return (count - 1) / (time.perf_counter() - start)

    def close(self) -> None:
        self._llm.close()


def run_app(generator: HostedGenerator) -> float:
    """Tokens a second through worker, pipe and streaming, without the prompt."""
    request = GenerationRequest(messages=MESSAGES, max_tokens=TOKENS)
    answer = generator.generate(request, on_piece=lambda piece: None, cancel=Cancellation())
    return (answer.completion_tokens - 1) / answer.seconds


def main() -> None:
    bare = BareLoop(find_model(DEFAULT_GENERATOR).path)
    rounds: list[tuple[float, float]] = []
    with LocalModels() as models:
        generator = models.generator(DEFAULT_GENERATOR, context=CONTEXT)
        print(generator.info.device)
        for _ in range(ROUNDS):
            rounds.append((bare.run(), run_app(generator)))
            print(f"  bare {rounds[-1][0]:6.1f}   app {rounds[-1][1]:6.1f} tokens/s")
    bare.close()
    bare, app = (median(speeds) for speeds in zip(*rounds, strict=True))
    print(f"bare llama_cpp loop: {bare:7.1f} tokens/s")
    print(f"through the app:     {app:7.1f} tokens/s")
    print(f"ratio:               {app / bare:7.3f}  (wanted: 0.95 or more)")


if __name__ == "__main__":
    main()
