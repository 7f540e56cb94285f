"""Tokens a second through the app's worker against a bare llama_cpp loop on the same file, in one run.

    .venv/bin/python tests/benchmarks/generation_speed.py

Both write the same number of tokens after the same prompt with the same threads, in turn, three times.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.ports import GenerationRequest, Message
from models.catalog import DEFAULT_GENERATOR, find_model
from models.local import LocalModels

TOKENS = 256
ROUNDS = 3
MESSAGES = (Message("user", "Describe the water cycle in detail, with all its steps."),)


def bare_loop(path: Path) -> float:
    """Tokens a second of llama_cpp alone, without the prompt."""
    import llama_cpp

    llm = llama_cpp.Llama(
        str(path), n_ctx=8192, n_batch=512, n_threads=os.cpu_count(), verbose=False
    )
    text = llm.metadata["tokenizer.chat_template"]
    formatter = llama_cpp.llama_chat_format.Jinja2ChatFormatter(text, "<|im_end|>", "<|im_start|>")
    prompt = formatter(messages=[{"role": "user", "content": MESSAGES[0].content}]).prompt
    tokens = llm.tokenize(prompt.encode(), add_bos=False, special=True)
    best = 0.0
    for _ in range(ROUNDS):
        llm.reset()
        count, start = 0, 0.0
        for token in llm.generate(tokens, top_k=0, top_p=0.95, min_p=0.0, temp=0.1):
            if not count:
                start = time.perf_counter()
            llm.detokenize([token])
            count += 1
            if count == TOKENS:
                break
        best = max(best, (TOKENS - 1) / (time.perf_counter() - start))
    llm.close()
    return best


def through_the_app() -> float:
    """Tokens a second through worker, pipe and streaming, without the prompt."""
    request = GenerationRequest(messages=MESSAGES, max_tokens=TOKENS)
    best = 0.0
    with LocalModels() as models:
        generator = models.generator(DEFAULT_GENERATOR, context=8192)
        for _ in range(ROUNDS):
            answer = generator.generate(request, on_piece=lambda piece: None)
            best = max(best, (answer.completion_tokens - 1) / answer.seconds)
    return best


def main() -> None:
    path = find_model(DEFAULT_GENERATOR).path
    bare = bare_loop(path)
    ours = through_the_app()
    print(f"bare llama_cpp loop: {bare:7.1f} tokens/s")
    print(f"through the app:     {ours:7.1f} tokens/s")
    print(f"ratio:               {ours / bare:7.3f}  (wanted: 0.95 or more)")


if __name__ == "__main__":
    main()
