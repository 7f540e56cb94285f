"""A model's edit of a selection: EditEval's seven tasks, or any instruction, as text to be tracked.

The instructions are those published with EditEval (Dwivedi-Yu et al., 2022, appendix B), one or two a task.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from core.errors import UsageError
from core.ports import Cancellation, GenerationRequest, Piece, TextGenerator
from core.runs.prompts import prompt_hash, render_prompt

PROMPT = "edit_selection"


@dataclass(frozen=True, slots=True)
class EditTask:
    """One of EditEval's tasks: its name, what it says to a person, and the instruction to a model."""

    key: str
    name: str
    instruction: str


_TASKS = (
    EditTask("fluency", "Fix grammar", "Fix grammar errors"),
    EditTask("clarity", "Make clearer", "Make the text clearer"),
    EditTask("coherence", "Make more coherent", "Make the text more cohesive"),
    EditTask("paraphrasing", "Paraphrase", "Paraphrase this text"),
    EditTask("simplification", "Simplify", "Simplify this text"),
    EditTask("neutralization", "Neutralise", "Make this text more neutral"),
    EditTask("updating", "Update from passages", "Update with new information"),
)
#: EditEval's seven tasks by key.
EDIT_TASKS: Mapping[str, EditTask] = MappingProxyType({task.key: task for task in _TASKS})
#: Passages given to an update, as in EditEval.
MOST_REFERENCES = 3
_REFERENCE_CHARACTERS = 1500
_LEAD = re.compile(
    r"^\s*(?:sure[,!.]?[^\n:]*:|here(?:'s| is)[^\n:]*:|(?:edited text|output|answer)\s*:)\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class AssistantEdit:
    """What a model made of a selection. ``prompt_hash`` and ``seed`` say how to get it again."""

    before: str
    after: str
    instruction: str
    model_id: str
    prompt_hash: str
    seed: int


def edit_selection(
    generator: TextGenerator,
    text: str,
    instruction: str,
    *,
    references: Sequence[str] = (),
    seed: int = 0,
    on_piece: Callable[[Piece], None] | None = None,
    cancel: Cancellation | None = None,
) -> AssistantEdit:
    """Let a model edit a stretch of text. White space around it stays as it is.

    Parameters
    ----------
    instruction
        Any sentence, or the instruction of one of `EDIT_TASKS`.
    references
        Passages to update from, of which three are used.

    Raises
    ------
    UsageError
        When there is no text or no instruction.
    """
    body = text.strip()
    if not body:
        raise UsageError("No text is selected.", remedy="Select a sentence or a paragraph.")
    if not instruction.strip():
        raise UsageError("There is no instruction.", remedy="Say what is to be done.")
    messages = render_prompt(
        PROMPT,
        {
            "instruction": instruction.strip().rstrip(":."),
            "text": body,
            "references": [r[:_REFERENCE_CHARACTERS] for r in references[:MOST_REFERENCES]],
        },
    )
    room = 64 + 2 * generator.count_tokens(body)
    context = generator.info.context_tokens
    if context is not None:
        room = max(16, min(room, context - generator.count_tokens(messages) - 8))
    answer = generator.generate(
        GenerationRequest(messages=messages, max_tokens=room, temperature=0.1, seed=seed),
        on_piece=on_piece,
        cancel=cancel,
    )
    if cancel is not None:
        cancel.raise_if_cancelled()
    lead, tail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return AssistantEdit(
        text,
        lead + _clean(answer.text, body) + tail,
        instruction,
        generator.info.id,
        prompt_hash(PROMPT),
        seed,
    )


def _clean(answer: str, body: str) -> str:
    """The edited text without what a model says around it; the text itself where nothing is left."""
    made = _LEAD.sub("", answer.strip(), count=1).strip()
    if len(made) > 1 and made[0] == made[-1] == '"' and not body.startswith('"'):
        made = made[1:-1].strip()
    if "\n" not in body:
        # A one-line text stays one line; what follows after a blank line is the model's comment.
        made = " ".join(made.split("\n\n")[0].split())
    return made or body
