"""llama.cpp's library itself: its log, its devices, loading a file with or without a GPU, stopping it."""

from __future__ import annotations

import ctypes
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import llama_cpp

from core.errors import InvalidModelError, MemoryShortageError
from core.ports import Cancellation
from models.gguf import GgufInfo
from models.native_cancel import NativeCancellation

# Tokens evaluated in one go. On a CPU small batches are as fast as large (measured) and a kept prefix
# ends nearer to where two prompts part; a GPU wants more at a time.
_CPU_BATCH, _GPU_BATCH = 128, 512

_LEAST_LEVEL_SHOWN = 4  # GGML_LOG_LEVEL_ERROR
_GPU_TYPES = (1, 2)  # GGML_BACKEND_DEVICE_TYPE_GPU and _IGPU
_SMALLEST_CONTEXT = 512

_errors: deque[str] = deque(maxlen=20)
_last_level = [0]


@llama_cpp.llama_log_callback  # type: ignore[untyped-decorator]
def _log(level: int, text: bytes, data: Any) -> None:
    """Errors go to standard error, whose last lines the parent keeps; the chatter does not."""
    shown = _last_level[0] if level == 5 else level  # 5 continues the line before
    _last_level[0] = shown
    if shown >= _LEAST_LEVEL_SHOWN:
        line = text.decode("utf-8", "replace")
        _errors.append(line.rstrip())
        sys.stderr.write(line)
        sys.stderr.flush()


llama_cpp.llama_log_set(_log, ctypes.c_void_p(0))


@dataclass(frozen=True, slots=True)
class Gpu:
    """A device llama.cpp can offload to: its name and its free and whole memory in bytes."""

    name: str
    free: int
    total: int


def list_gpus() -> list[Gpu]:
    """The GPUs this build of llama.cpp can use; empty for a build without one."""
    if not llama_cpp.llama_supports_gpu_offload():
        return []
    from llama_cpp._ggml import libggml

    try:
        libggml.ggml_backend_dev_count.restype = ctypes.c_size_t
        libggml.ggml_backend_dev_get.argtypes = [ctypes.c_size_t]
        libggml.ggml_backend_dev_get.restype = ctypes.c_void_p
        libggml.ggml_backend_dev_type.argtypes = [ctypes.c_void_p]
        libggml.ggml_backend_dev_description.argtypes = [ctypes.c_void_p]
        libggml.ggml_backend_dev_description.restype = ctypes.c_char_p
        sizes = ctypes.POINTER(ctypes.c_size_t)
        libggml.ggml_backend_dev_memory.argtypes = [ctypes.c_void_p, sizes, sizes]
    except AttributeError:
        # A library that hides these calls: the GPU is there, its name and memory are not known.
        return [Gpu("GPU", 0, 0)]
    found = []
    for index in range(libggml.ggml_backend_dev_count()):
        device = libggml.ggml_backend_dev_get(index)
        if libggml.ggml_backend_dev_type(device) in _GPU_TYPES:
            free, total = ctypes.c_size_t(), ctypes.c_size_t()
            libggml.ggml_backend_dev_memory(device, ctypes.byref(free), ctypes.byref(total))
            name = libggml.ggml_backend_dev_description(device).decode("utf-8", "replace")
            found.append(Gpu(name, free.value, total.value))
    return found


def fit_context(info: GgufInfo, wanted: int, memory: int | None) -> int:
    """Context tokens: what is wanted, at most what the model was trained on and half the memory holds.

    Parameters
    ----------
    memory
        Bytes free where the model will lie; None when unknown.

    Raises
    ------
    MemoryShortageError
        When the model itself does not fit.
    """
    context = min(wanted, info.context_tokens or wanted)
    if memory is None:
        return context
    left = memory - info.file_bytes
    if left < 0:
        raise MemoryShortageError(
            f"The model needs {info.file_bytes / 1e9:.1f} GB of memory and "
            f"{memory / 1e9:.1f} GB are free.",
            remedy="Close other programs, or use a smaller model.",
        )
    if info.cache_bytes_per_token:
        held = int(left * 0.5 / info.cache_bytes_per_token)
        context = min(context, max(_SMALLEST_CONTEXT, held))
    return context


def load_llama(
    path: Path, info: GgufInfo, *, context: int, threads: int, gpu_layers: int | None
) -> tuple[llama_cpp.Llama, str]:
    """Load a file, on the GPU as far as it goes; returns the model and its device in words.

    Parameters
    ----------
    gpu_layers
        How many layers to offload; None offloads all, then half, then none, until it fits.

    Raises
    ------
    InvalidModelError
        When llama.cpp cannot load the file at all.
    """
    cpu = f"llama.cpp on the CPU, {threads} threads"
    gpus = list_gpus()
    if not gpus or gpu_layers == 0:
        return _open(path, info, context, threads, 0), cpu
    name = " + ".join(gpu.name for gpu in gpus)
    tries = (-1, max(1, info.layers // 2)) if gpu_layers is None else (gpu_layers,)
    for layers in tries:
        try:
            llm = _open(path, info, context, threads, layers)
        except InvalidModelError:
            continue
        share = "" if layers < 0 else f", {layers} of {info.layers} layers"
        return llm, f"llama.cpp on {name}{share}"
    return _open(path, info, context, threads, 0), f"{cpu} (the model did not fit on {name})"


def _open(path: Path, info: GgufInfo, context: int, threads: int, layers: int) -> llama_cpp.Llama:
    _errors.clear()
    batch = _GPU_BATCH if layers else _CPU_BATCH
    try:
        return llama_cpp.Llama(
            str(path),
            n_ctx=context,
            n_batch=batch,
            n_ubatch=batch,
            n_threads=threads,
            n_threads_batch=threads,
            n_gpu_layers=layers,
            verbose=False,
        )
    except (ValueError, RuntimeError, AssertionError) as error:
        said = "\n".join(_errors)
        details = f"{error}\n{said}".strip()
        if "unknown model architecture" in said:
            raise InvalidModelError(
                f"{path.name} has the architecture '{info.architecture}', "
                "which this llama.cpp does not know.",
                remedy="Update Rifugio, or choose a model of another family.",
                details=details,
            ) from error
        raise InvalidModelError(
            f"llama.cpp cannot load {path.name} (architecture '{info.architecture}').",
            remedy="Check that the file is whole, or update Rifugio for newer model families.",
            details=details,
        ) from error


class Aborter:
    """Lets a context's evaluation be stopped from another thread.

    llama.cpp asks a C function before every node of its graph. A Python function there costs some 600
    calls a token; C's own ``strlen`` on the cancellation's flag costs nothing and answers alike: it is
    zero until the flag's first byte is set.
    """

    def __init__(self, llm: llama_cpp.Llama) -> None:
        library = ctypes.CDLL("msvcrt" if sys.platform == "win32" else None)
        self._context = llm._ctx.ctx
        self._look = ctypes.cast(library.strlen, llama_cpp.ggml_abort_callback)
        self._never = llama_cpp.ggml_abort_callback(0)

    @contextmanager
    def watching(self, cancel: Cancellation) -> Iterator[None]:
        """Stop evaluations once ``cancel`` is set; one that native code cannot see is not watched."""
        if not isinstance(cancel, NativeCancellation):
            yield
            return
        address = ctypes.c_void_p(cancel.address)
        llama_cpp.llama_set_abort_callback(self._context, self._look, address)
        try:
            yield
        finally:
            llama_cpp.llama_set_abort_callback(self._context, self._never, ctypes.c_void_p(0))
