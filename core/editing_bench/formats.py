"""Editing data sets as published, read into EditEval's processed records.

Several publish a file a side (sources, and a file for each reference): the sides are found beside the
file given. What could be checked against real files is JFLEG, ASSET, TurkCorpus, the WNC baseline pairs
and FRUIT's samples; the others (`UNVERIFIED`) follow their published description.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.editing_bench.tasks import TASKS, strip_marks
from core.errors import InputError, UsageError
from core.exchange.records import Skipped, read_records, read_text

#: Read by their description alone; no published file was at hand.
UNVERIFIED = frozenset({"iterater", "wnc", "stsb", "wafer"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EditRecord:
    """One text to edit: EditEval's five fields and more, on a line of a file."""

    line: int
    id: str
    dataset: str
    task: str
    input: str
    edits: tuple[str, ...]
    title: str = ""
    retrieved_documents: tuple[str, ...] = ()
    split: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class EditRecords:
    """What a file holds, which format it was read as, and what was left out."""

    format: str
    records: list[EditRecord] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def read_edits(path: Path, format: str = "auto") -> EditRecords:
    """Read an editing data set.

    Parameters
    ----------
    format
        One of `FORMATS`, or 'auto' to go by the file's name and columns.

    Raises
    ------
    InputError
        When the file, or a side of it, cannot be read or its sides do not match.
    """
    chosen = guess_format(path) if format == "auto" else format
    if chosen not in FORMATS:
        raise UsageError(
            f"The format '{format}' is not known.", remedy=f"Use one of {', '.join(FORMATS)}."
        )
    found = EditRecords(chosen)
    for item in FORMATS[chosen](path):
        if isinstance(item, Skipped):
            found.skipped.append(item)
        elif not item.input.strip():
            found.skipped.append(Skipped(item.line, "there is no text to edit"))
        elif not any(edit.strip() for edit in item.edits):
            found.skipped.append(Skipped(item.line, "there is no reference edit"))
        else:
            found.records.append(item)
    if not found.records and not found.skipped:
        raise InputError("holds nothing to edit.", path=path, remedy="Choose another file.")
    return found


def guess_format(path: Path) -> str:
    """The format by the file's name, else by the keys of its first record."""
    name = path.name.casefold()
    if re.fullmatch(r".*\.(spellchecked\.)?src", name):
        return "jfleg"
    if name.startswith("asset.") and name.endswith(".orig"):
        return "asset"
    if ".8turkers." in name or name.endswith(".norm"):
        return "turkcorpus"
    if name.startswith("pre.") and path.with_name("post" + path.name[3:]).exists():
        return "wnc-pairs"
    if path.suffix.casefold() == ".tsv":
        return "wnc"
    keys = _first_keys(path)
    for format, wanted in (
        ("editeval", {"edits", "input"}),
        ("iterater", {"before_sent", "after_sent"}),
        ("fruit", {"inputs", "normalized_targets"}),
        ("wafer", {"input", "output", "retrieved_documents"}),
        ("stsb", {"sentence1", "sentence2"}),
    ):
        if wanted <= keys:
            return format
    raise InputError(
        "is in no known format of an editing data set.",
        path=path,
        remedy=f"Name it with --format: {', '.join(FORMATS)}.",
    )


def _first_keys(path: Path) -> set[str]:
    records = read_records(path).records
    return set(records[0].values) if records else set()


Read = Iterator[EditRecord | Skipped]


def _lines(path: Path) -> list[str]:
    text = read_text(path)
    lines = text.split("\n")
    return [line.rstrip("\r") for line in (lines[:-1] if lines and not lines[-1] else lines)]


def _parallel(
    path: Path, sides: list[Path], dataset: str, task: str, split: str
) -> Iterator[EditRecord]:
    """Files with a sentence a line, one of sources and one for each reference."""
    if not sides:
        raise InputError(
            f"stands alone: the references of {dataset} are missing beside it.",
            path=path,
            remedy="Put its reference files into the same folder.",
        )
    sources = _lines(path)
    references = [_lines(side) for side in sides]
    for side, lines in zip(sides, references, strict=True):
        if len(lines) != len(sources):
            raise InputError(
                f"has {len(lines)} lines where {path.name} has {len(sources)}.",
                path=side,
                remedy="Take source and references from the same release.",
            )
    for number, source in enumerate(sources):
        edits = tuple(lines[number].strip() for lines in references)
        yield EditRecord(
            line=number + 1,
            id=f"{dataset}-{split}-{number}",
            dataset=dataset,
            task=task,
            input=source.strip(),
            edits=tuple(edit for edit in edits if edit),
            split=split,
        )


def _numbered(folder: Path, pattern: str) -> list[Path]:
    """Files whose names match, by the number in the pattern's group."""
    found = []
    for path in folder.iterdir():
        match = re.fullmatch(pattern, path.name)
        if match:
            found.append((int(match.group(1)), path))
    return [path for _number, path in sorted(found)]


def _read_jfleg(path: Path) -> Read:
    stem = re.sub(r"(\.spellchecked)?\.src$", "", path.name)
    sides = _numbered(path.parent, re.escape(stem) + r"\.ref(\d+)")
    return _parallel(path, sides, "jfleg", "fluency", stem)


def _read_asset(path: Path) -> Read:
    stem = path.name.removesuffix(".orig")
    sides = _numbered(path.parent, re.escape(stem) + r"\.simp\.(\d+)")
    return _parallel(path, sides, "asset", "simplification", stem.rpartition(".")[2])


def _read_turkcorpus(path: Path) -> Read:
    stem = path.name.rpartition(".")[0]
    sides = _numbered(path.parent, re.escape(stem) + r"\.turk\.(\d+)")
    return _parallel(path, sides, "turkcorpus", "simplification", path.name.partition(".")[0])


def _read_wnc_pairs(path: Path) -> Read:
    other = path.with_name("post" + path.name[3:])
    sides = [other] if other.exists() else []
    return _parallel(path, sides, "wnc", "neutralization", path.suffix.lstrip(".") or "test")


def _read_editeval(path: Path) -> Read:
    found = read_records(path)
    yield from found.skipped
    for record in found.records:
        values = dict(record.values)
        task = values.get("tasks") or values.get("task_type")
        task = task[0] if isinstance(task, list) and task else task
        name = str(values.get("id", ""))
        dataset, _, rest = name.partition("-")
        split = rest.rpartition("-")[0]
        if task not in TASKS:
            yield Skipped(record.line, f"'{task}' is no editing task")
            continue
        documents = values.get("retrieved_documents") or []
        yield EditRecord(
            line=record.line,
            id=name or f"editeval-{record.line}",
            dataset=dataset or "editeval",
            task=str(task),
            input=str(values.get("input", "")),
            edits=tuple(str(edit) for edit in values.get("edits") or ()),
            title=str(values.get("title") or ""),
            retrieved_documents=tuple(_document(entry) for entry in documents),
            split=split,
            meta={
                key: value
                for key, value in values.items()
                if key
                not in (
                    "id",
                    "input",
                    "edits",
                    "title",
                    "retrieved_documents",
                    "tasks",
                    "task_type",
                )
                and value not in ([], {}, None)
            },
        )


def _document(entry: Any) -> str:
    if isinstance(entry, Mapping):
        title = str(entry.get("title") or "")
        text = str(entry.get("text") or entry.get("contents") or "")
        return f"{title}: {text}" if title else text
    return str(entry)


#: IteraTeR's labels and the tasks EditEval makes of them.
_ITERATER_TASKS = {"fluency": "fluency", "clarity": "clarity", "coherence": "coherence"}


def _read_iterater(path: Path) -> Read:
    """IteraTeR sentences: before, after, label; empty revisions and other labels are left out."""
    found = read_records(path)
    yield from found.skipped
    for record in found.records:
        values = record.values
        label = values.get("labels", values.get("label", ""))
        label = label[0] if isinstance(label, list) and label else label
        task = _ITERATER_TASKS.get(str(label))
        after = str(values.get("after_sent", ""))
        if task is None:
            yield Skipped(record.line, f"the label '{label}' is none of EditEval's tasks")
        elif len(after) <= 1:
            yield Skipped(record.line, "the revision is empty")
        else:
            yield EditRecord(
                line=record.line,
                id=f"iterater-{task}-{record.line - 1}",
                dataset=f"iterater-{task}",
                task=task,
                input=str(values.get("before_sent", "")),
                edits=(after,),
                split=path.stem,
                meta={"doc_id": values["doc_id"]} if "doc_id" in values else {},
            )


def _read_wnc(path: Path) -> Read:
    """Wiki Neutrality Corpus: TSV without header, raw texts in columns 4 and 5, quotes not special."""
    reader = csv.reader(io.StringIO(read_text(path)), delimiter="\t", quoting=csv.QUOTE_NONE)
    for row in reader:
        if not row:
            continue
        if len(row) < 5:
            yield Skipped(reader.line_num, f"{len(row)} columns where WNC has 7")
            continue
        yield EditRecord(
            line=reader.line_num,
            id=f"wnc-{path.stem}-{reader.line_num - 1}",
            dataset="wnc",
            task="neutralization",
            input=row[3],
            edits=(row[4],),
            split=path.stem,
            meta={"rev_id": row[0]},
        )


def _read_stsb(path: Path) -> Read:
    """STS-B: pairs of the same meaning (score 5) are paraphrases."""
    found = read_records(path)
    yield from found.skipped
    for record in found.records:
        values = record.values
        score = values.get("score", values.get("similarity_score", values.get("label")))
        try:
            same = float(score) == 5.0  # type: ignore[arg-type]
        except (TypeError, ValueError):
            yield Skipped(record.line, f"the score '{score}' is no number")
            continue
        if not same:
            yield Skipped(record.line, f"the score {score} is not 5")
            continue
        yield EditRecord(
            line=record.line,
            id=f"stsb-{path.stem}-{record.line - 1}",
            dataset="stsb",
            task="paraphrasing",
            input=str(values.get("sentence1", "")),
            edits=(str(values.get("sentence2", "")),),
            split=path.stem,
        )


_CONTEXT = re.compile(r"\((\d+)\)\s")


def _read_fruit(path: Path) -> Read:
    """FRUIT: ``[i]`` sentences, ``[CONTEXT]``, then ``(i)`` passages; normalised texts are scored."""
    found = read_records(path)
    yield from found.skipped
    for record in found.records:
        values = record.values
        _, _, context = str(values.get("inputs", "")).partition("[CONTEXT]")
        parts = _CONTEXT.split(context)
        passages = [text.strip() for text in parts[2::2] if text.strip()]
        yield EditRecord(
            line=record.line,
            id=f"fruit-{path.stem}-{record.line - 1}",
            dataset="fruit",
            task="updating",
            input=str(values.get("normalized_inputs", "")),
            edits=(str(values.get("normalized_targets", "")),),
            retrieved_documents=tuple(passages),
            split=path.stem,
        )


def _read_wafer(path: Path) -> Read:
    """WAFER-insert: the sentence to put in stands in the output; documents come with it."""
    found = read_records(path)
    yield from found.skipped
    for record in found.records:
        values = record.values
        given = values.get("meta")
        meta: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
        listed = values.get("output")
        outputs: list[Any] = listed if isinstance(listed, list) else []
        edits = [
            str(entry["answer"])
            for entry in outputs
            if isinstance(entry, Mapping) and entry.get("answer")
        ]
        yield EditRecord(
            line=record.line,
            id=str(values.get("id") or f"wafer-{path.stem}-{record.line - 1}"),
            dataset="wafer",
            task="updating",
            input=str(values.get("input", "")),
            edits=tuple(edits or [_whole(meta)]),
            title=str(meta.get("wikipedia_title", "")),
            retrieved_documents=tuple(
                _document(entry) for entry in values.get("retrieved_documents") or ()
            ),
            split=path.stem,
            meta={key: meta[key] for key in ("wikipedia_title", "wikipedia_id") if key in meta},
        )


def _whole(meta: Mapping[str, Any]) -> str:
    sentences = meta.get("sentences")
    return strip_marks(" ".join(map(str, sentences))) if isinstance(sentences, list) else ""


#: Formats by name.
FORMATS: dict[str, Callable[[Path], Read]] = {
    "editeval": _read_editeval,
    "jfleg": _read_jfleg,
    "asset": _read_asset,
    "turkcorpus": _read_turkcorpus,
    "iterater": _read_iterater,
    "wnc": _read_wnc,
    "wnc-pairs": _read_wnc_pairs,
    "stsb": _read_stsb,
    "fruit": _read_fruit,
    "wafer": _read_wafer,
}
