"""The SQL that results are read with: latest scores, ratings, what they can be split and narrowed by.

Everything here is answered from indexes (step 6 of the schema); a test looks at the query plans.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import UsageError

#: What results can be split by besides the system.
GROUPINGS = (
    "field",
    "task",
    "split",
    "length",
    "prompt",
    "run",
    "section",
    "expert",
    "item",
)

#: Upper ends of the length bins, in words.
LENGTH_BOUNDS = (100, 300, 600)

#: White space as `str.split` has it, besides the blank.
_SPACES = (
    *range(9, 14),
    *range(28, 32),
    133,
    160,
    5760,
    *range(8192, 8203),
    8232,
    8233,
    8239,
    8287,
    12288,
)
#: Marks of a gap between words; from Unicode's private use, which no output has.
_GAP, _END = "char(57345)", "char(57346)"


def _count_words(text: str) -> str:
    """What `str.split` counts, in SQL: each gap is made one mark, and there is one more than words."""
    query = text
    # Nested one in another, so many are more than SQLite reads. LIMIT keeps them from being done twice.
    for start in range(0, len(_SPACES), 8):
        for code in _SPACES[start : start + 8]:
            text = f"replace({text}, char({code}), ' ')"
        query, text = (
            f"(SELECT {text} AS text{start}{f' FROM {query}' if start else ''})",
            f"text{start}",
        )
    gaps = f"replace(' ' || {text} || ' ', ' ', {_GAP} || {_END})"
    gaps = f"(SELECT replace({gaps}, {_END} || {_GAP}, '') AS gaps FROM {query} LIMIT 1)"
    return f"(SELECT length(gaps) - length(replace(gaps, {_GAP}, '')) - 1 FROM {gaps})"


#: Words of an output: its score by the metric `length`, else counted the same way. Scores are found in an
#: index, so that texts are read only where there is none.
WORDS = f"""coalesce((
    SELECT n.value FROM score n INDEXED BY score_measure WHERE n.metric = 'length'
    AND n.output_id = o.id AND n.deleted = 0 AND n.value IS NOT NULL ORDER BY n.id DESC LIMIT 1
), {_count_words("o.text")})"""


def count_words(text: str) -> int:
    """Words of a text as results count them: what stands between white space, as the metric `length` has it.

    Examples
    --------
    >>> count_words("# Plan\\n\\n- 5 mg daily")
    6
    """
    return len(text.split())


RATING_PREFIX = "rating: "

_NAMES = {
    "section_presence": "Sections present",
    "rougeL": "ROUGE-L",
    "rouge1": "ROUGE-1",
    "rouge2": "ROUGE-2",
    "bleu": "BLEU",
    "bleu_editeval": "BLEU, EditEval's",
    "sari": "SARI",
    "sari_hf": "SARI, per sentence",
    "gleu": "GLEU",
    "length": "Length, words",
    "em": "Exact match",
    "em_diff": "EM-Diff",
    "ibleu": "iBLEU",
    "rougeLsum": "ROUGE-Lsum",
    "update_rouge1": "UpdateROUGE-1",
    "update_rouge2": "UpdateROUGE-2",
    "update_rougeLsum": "UpdateROUGE-Lsum",
    "nli": "NLI",
    "clear": "CLEAR F1",
    "flesch_kincaid": "Reading grade",
    "ngram_cosine": "Cosine of word pairs",
    "edit_distance": "Edit distance",
    "longer wins": "Longer wins",
}

#: Measures of which more is not better.
WITHOUT_BEST = frozenset({"length", "flesch_kincaid", "edit_distance", "contamination"})


def measure_name(metric: str) -> str:
    """A metric's or axis's name for people, in English.

    Examples
    --------
    >>> measure_name("rating: task adherence")
    'Task adherence, 1-5'
    """
    if metric.startswith(RATING_PREFIX):
        return f"{metric.removeprefix(RATING_PREFIX).capitalize()}, 1-5"
    return _NAMES.get(metric, metric.replace("_", " "))


#: The latest live score of every output and metric, from the index `score_measure` alone. The value
#: and reason are those of the row whose id is the greatest, which SQLite promises for max().
LATEST = """(
    SELECT n.metric, n.output_id, max(n.id) AS id, n.value, n.unscored
    FROM score n INDEXED BY score_measure
    WHERE n.deleted = 0{metric}
    GROUP BY n.metric, n.output_id
)"""

#: A score that no later one of the same output and metric replaces; for lists by id.
IS_LATEST = """s.deleted = 0 AND NOT EXISTS (
    SELECT 1 FROM score n WHERE n.output_id = s.output_id AND n.metric = s.metric
        AND n.deleted = 0 AND n.id > s.id)"""

#: Every measure of every output, by id: latest scores, and ratings that were handed in.
MEASURES = f"""(
    SELECT s.id AS id, s.output_id AS output_id, s.metric AS metric, s.value AS value,
           s.unscored AS reason
    FROM score s WHERE {IS_LATEST}
    UNION ALL
    SELECT g.id, g.output_id, '{RATING_PREFIX}' || replace(g.axis, '_', ' '), g.value, ''
    FROM rating g JOIN review_item v ON v.output_id = g.output_id AND v.person_id = g.person_id
        AND v.state = 'submitted' AND v.deleted = 0
    WHERE g.deleted = 0
)"""

#: Runs of the editing benchmark have tables of their own: their corpus scores are no means of outputs.
NOT_BENCH = "r.id NOT IN (SELECT id FROM run WHERE json_extract(signature, '$.bench') IS NOT NULL)"

_EXAMPLE = " JOIN example e ON e.id = o.example_id"
_TASK = _EXAMPLE + " JOIN task t ON t.id = e.task_id"
_FIELD = _TASK + " JOIN field f ON f.id = t.field_id"

_PROMPT = (
    "coalesce(nullif(json_extract(r.signature, '$.instruction'), ''),"
    " nullif(json_extract(r.signature, '$.prompt'), ''), '(imported)')"
)


def _lengths() -> str:
    """Joins the length bin of each output, found once for all of its scores."""
    cases, low = [], 0
    for bound in LENGTH_BOUNDS:
        cases.append(f"WHEN words < {bound} THEN '{low}-{bound - 1} words'")
        low = bound
    bins = f"CASE {' '.join(cases)} ELSE '{low} words or more' END"
    return (
        f" JOIN (SELECT id, {bins} AS bin FROM (SELECT o.id, {WORDS} AS words FROM output o"
        " INDEXED BY output_facts WHERE o.deleted = 0 LIMIT -1) LIMIT -1) w ON w.id = o.id"
    )


_LENGTHS = _lengths()


#: Expression and joins of each grouping; ``section`` and ``item`` have rows of their own.
_SPLITS: dict[str, tuple[str, str]] = {
    "field": ("f.name", _FIELD),
    "task": ("t.objective", _TASK),
    "split": ("e.split", _EXAMPLE),
    "length": ("w.bin", ""),
    "prompt": (_PROMPT, ""),
    "run": ("o.run_id", ""),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrow:
    """Which outputs count: all of them, or those of some runs, systems, a field, a task or a split."""

    run_ids: tuple[str, ...] = ()
    system_ids: tuple[str, ...] = ()
    field: str = ""
    task_id: str = ""
    split: str = ""

    def sql(self) -> tuple[str, str, list[str]]:
        """Joins, an AND-ed condition over ``o`` and ``r``, and its parameters."""
        joins = ""
        where: list[str] = [] if self.run_ids else [NOT_BENCH]
        parameters: list[str] = []
        for column, values in (("o.run_id", self.run_ids), ("r.system_id", self.system_ids)):
            if values:
                where.append(f"{column} IN ({', '.join('?' * len(values))})")
                parameters += values
        if self.field:
            joins = _FIELD
            where.append("f.name = ?")
            parameters.append(self.field)
        if self.task_id:
            joins = joins or _EXAMPLE
            where.append("e.task_id = ?")
            parameters.append(self.task_id)
        if self.split:
            joins = joins or _EXAMPLE
            where.append("e.split = ?")
            parameters.append(self.split)
        return joins, "".join(f" AND {part}" for part in where), parameters


EVERYTHING = Narrow()


def check_groupings(by: Sequence[str]) -> None:
    """Refuse what results cannot be split by.

    Raises
    ------
    UsageError
        For an unknown name, or for two that have rows of their own.
    """
    for name in by:
        if name not in GROUPINGS:
            raise UsageError(
                f"Results cannot be split by '{name}'.", remedy=f"Use {', '.join(GROUPINGS)}."
            )
    if len(set(by) & {"section", "item", "expert"}) > 1:
        raise UsageError(
            "Results cannot be split by two of section, item and expert at once.",
            remedy="Ask for one after the other.",
        )


def values_query(by: Sequence[str], narrow: Narrow, metric: str = "") -> tuple[str, list[str]]:
    """The query of all latest scores: system id, metric, groups ..., value, reason.

    Parameters
    ----------
    metric
        Only this one; '' for all.
    """
    joins, where, parameters = narrow.sql()
    groups = []
    for name in by:
        expression, more = _SPLITS[name]
        groups.append(expression)
        # The longest chain of joins holds the shorter ones.
        joins = max(joins, more, key=len)
    if "length" in by:
        joins += _LENGTHS
    latest = LATEST.format(metric=" AND n.metric = ?" if metric else "")
    columns = "".join(f", {group}" for group in groups)
    return (
        f"SELECT r.system_id, l.metric{columns}, l.value, l.unscored"
        f" FROM {latest} l JOIN output o INDEXED BY output_facts ON o.id = l.output_id"
        f" AND o.deleted = 0 JOIN run r ON r.id = o.run_id AND r.deleted = 0{joins}"
        f" WHERE 1{where}",
        ([metric] if metric else []) + parameters,
    )


def section_query(narrow: Narrow) -> tuple[str, list[str]]:
    """Latest scores section by section, for metrics that keep them: system id, metric, title, value."""
    joins, where, parameters = narrow.sql()
    return (
        f"SELECT r.system_id, s.metric, j.key, j.value, ''"
        f" FROM score s JOIN output o ON o.id = s.output_id AND o.deleted = 0"
        f" JOIN run r ON r.id = o.run_id AND r.deleted = 0{joins},"
        f" json_each(s.components, '$.sections') j WHERE {IS_LATEST}{where}",
        parameters,
    )


def item_query(narrow: Narrow) -> tuple[str, list[str]]:
    """What judges said of each rubric item and what people ticked: system id, measure, title, value."""
    joins, where, parameters = narrow.sql()
    verdicts = " UNION ALL ".join(
        f"SELECT r.system_id, 'item {side}', i.title, v.{side}, v.unscored FROM verdict v"
        " JOIN judgement g ON g.id = v.judgement_id AND g.deleted = 0"
        " JOIN checklist c ON c.id = g.output_checklist_id"
        " JOIN rubric_item i ON i.id = v.item_id"
        f" JOIN output o ON o.id = c.output_id AND o.deleted = 0"
        f" JOIN run r ON r.id = o.run_id AND r.deleted = 0{joins} WHERE v.deleted = 0{where}"
        for side in ("recall", "precision")
    )
    ticks = (
        "SELECT r.system_id, 'item ticked', i.title, k.tick = 'yes', '' FROM rubric_tick k"
        " JOIN rubric_item i ON i.id = k.item_id JOIN output o ON o.id = k.output_id"
        f" AND o.deleted = 0 JOIN run r ON r.id = o.run_id AND r.deleted = 0{joins}"
        f" WHERE k.deleted = 0 AND k.tick <> 'not_applicable'{where}"
    )
    return f"{verdicts} UNION ALL {ticks}", parameters * 3


def ratings_query(by: Sequence[str], narrow: Narrow) -> tuple[str, list[str]]:
    """Ratings that were handed in: system id, measure, groups ..., value, ''.

    Several people's ratings of an output are one value, their mean: counted one by one, they would make
    an interval look narrower than so few outputs can. By 'expert' each person has values of their own.
    """
    joins, where, parameters = narrow.sql()
    groups = []
    for name in by:
        if name == "expert":
            groups.append("p.name")
            continue
        expression, more = _SPLITS[name]
        groups.append(expression)
        joins = max(joins, more, key=len)
    if "length" in by:
        joins += _LENGTHS
    columns = "".join(f", {group}" for group in groups)
    return (
        f"SELECT r.system_id, '{RATING_PREFIX}' || replace(g.axis, '_', ' '){columns}, avg(g.value), ''"
        " FROM rating g JOIN person p ON p.id = g.person_id"
        " JOIN review_item v ON v.output_id = g.output_id AND v.person_id = g.person_id"
        " AND v.state = 'submitted' AND v.deleted = 0"
        " JOIN output o ON o.id = g.output_id AND o.deleted = 0"
        f" JOIN run r ON r.id = o.run_id AND r.deleted = 0{joins} WHERE g.deleted = 0{where}"
        f" GROUP BY o.id, g.axis{', p.id' if 'expert' in by else ''}",
        parameters,
    )
