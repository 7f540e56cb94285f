"""Prompts: jinja2 templates with a ``system`` and a ``user`` block, and the hash that names their text."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import FileSystemLoader, StrictUndefined, TemplateError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from core.errors import NotFoundError, UsageError
from core.ports import Message
from core.resources import resource_path
from core.types import Example, SectionSpec, Task

#: Shipped prompts that write a whole document and those that write one section.
WHOLE_PROMPT = "long_form"
SECTION_PROMPT = "long_form_section"


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    return ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(resource_path("prompts")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )


def prompt_names() -> list[str]:
    """The shipped prompts."""
    return sorted(path.stem for path in resource_path("prompts").glob("*.j2"))


def prompt_hash(name: str) -> str:
    """SHA-256 of a prompt's template text, the part of a signature that says which it was."""
    _require(name)
    text = resource_path("prompts", f"{name}.j2").read_text(encoding="utf-8")
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def writes_sections(name: str) -> bool:
    """Whether a prompt asks for one section at a time, which it shows by using ``section``."""
    _require(name)
    source = resource_path("prompts", f"{name}.j2").read_text(encoding="utf-8")
    return "section" in meta.find_undeclared_variables(_environment().parse(source))


def render_prompt(name: str, values: Mapping[str, Any]) -> tuple[Message, ...]:
    """Fill a prompt in. Text of the workspace is data: nothing in it is read as template."""
    _require(name)
    try:
        template = _environment().get_template(f"{name}.j2")
        context = template.new_context(dict(values))
        parts = {
            block: "".join(template.blocks[block](context)).strip() for block in template.blocks
        }
    except TemplateError as error:
        raise UsageError(
            f"The prompt '{name}' cannot be filled in: {error}.", remedy="Choose another prompt."
        ) from error
    messages = []
    if parts.get("system"):
        messages.append(Message("system", parts["system"]))
    messages.append(Message("user", parts["user"]))
    return tuple(messages)


def example_prompt(
    name: str, task: Task, field: str, example: Example, section: SectionSpec | None = None
) -> tuple[Message, ...]:
    """The messages that ask for an example's output, whole or one section of it."""
    values: dict[str, Any] = {"task": task, "field": field, "input": example.input}
    if section is not None:
        values["section"] = section
    return render_prompt(name, values)


def _require(name: str) -> None:
    if name not in prompt_names():
        raise NotFoundError(
            f"There is no prompt '{name}'.", remedy=f"Use one of {', '.join(prompt_names())}."
        )
