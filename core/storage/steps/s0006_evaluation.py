"""Step 6: experiments, pairs, judges, adjudication, tags, and the indexes that results are read from."""

from __future__ import annotations

from sqlite_utils import Database

from core.storage.steps.table import create_table

#: Words of a text as results count them: one more than its spaces. The same expression stands in
#: `core.runs.measures`, so that queries find it in the index instead of reading every text.
WORDS = "length(text) - length(replace(text, ' ', '')) + 1"


def climb(db: Database) -> None:
    create_table(
        db,
        "experiment",
        """name TEXT NOT NULL, example_ids TEXT NOT NULL, policy TEXT NOT NULL,
        notes TEXT NOT NULL, meta TEXT NOT NULL""",
    )
    create_table(
        db,
        "experiment_run",
        """experiment_id TEXT NOT NULL REFERENCES experiment (id),
        run_id TEXT NOT NULL REFERENCES run (id), prompt TEXT NOT NULL,
        position INTEGER NOT NULL""",
        "experiment_id, position",
        "run_id",
    )
    create_table(
        db,
        "pair_item",
        """person_id TEXT NOT NULL REFERENCES person (id),
        example_id TEXT NOT NULL REFERENCES example (id),
        left_output_id TEXT NOT NULL REFERENCES output (id),
        right_output_id TEXT NOT NULL REFERENCES output (id), position INTEGER NOT NULL,
        state TEXT NOT NULL, comment TEXT NOT NULL, seconds REAL NOT NULL""",
        "person_id, state",
        "left_output_id",
        "right_output_id",
    )
    create_table(
        db,
        "adjudication",
        """first_output_id TEXT NOT NULL REFERENCES output (id),
        second_output_id TEXT NOT NULL REFERENCES output (id),
        person_id TEXT NOT NULL REFERENCES person (id), choice TEXT NOT NULL,
        comment TEXT NOT NULL""",
        "first_output_id",
        "second_output_id",
    )
    create_table(
        db,
        "judge_answer",
        """judge_id TEXT NOT NULL REFERENCES system (id), kind TEXT NOT NULL,
        output_id TEXT NOT NULL REFERENCES output (id),
        other_output_id TEXT REFERENCES output (id), swapped INTEGER NOT NULL,
        axis TEXT NOT NULL, choice TEXT NOT NULL, value REAL, probability REAL, justification TEXT NOT NULL,
        unscored TEXT NOT NULL, seconds REAL NOT NULL, signature TEXT NOT NULL,
        made TEXT NOT NULL""",
        "judge_id, kind",
        "output_id, kind",
        "other_output_id",
    )
    create_table(
        db,
        "output_tag",
        """output_id TEXT NOT NULL REFERENCES output (id),
        person_id TEXT NOT NULL REFERENCES person (id), tag TEXT NOT NULL,
        start INTEGER NOT NULL, "end" INTEGER NOT NULL, comment TEXT NOT NULL""",
        "output_id",
        "tag",
    )
    create_table(
        db,
        "rubric_tick",
        """output_id TEXT NOT NULL REFERENCES output (id),
        person_id TEXT NOT NULL REFERENCES person (id),
        item_id TEXT NOT NULL REFERENCES rubric_item (id), tick TEXT NOT NULL""",
        "output_id, person_id",
        "item_id",
    )
    create_table(
        db,
        "blinding",
        "person_id TEXT NOT NULL REFERENCES person (id), blind INTEGER NOT NULL",
        "person_id",
    )
    create_table(
        db,
        "import_mapping",
        "kind TEXT NOT NULL, columns TEXT NOT NULL, mapping TEXT NOT NULL",
        "kind, columns",
    )
    create_table(
        db,
        "run_score",
        """run_id TEXT NOT NULL REFERENCES run (id), metric TEXT NOT NULL, value REAL,
        components TEXT NOT NULL, unscored TEXT NOT NULL, signature TEXT NOT NULL,
        scored TEXT NOT NULL""",
        "run_id, metric",
    )
    # Results are read from these alone: neither the texts of outputs nor scores' rows are touched.
    db.execute("DROP INDEX score_output_id_metric")
    db.execute(
        "CREATE INDEX score_measure ON score (metric, output_id, id, deleted, value, unscored)"
    )
    db.execute("CREATE INDEX score_output ON score (output_id, metric, deleted, id)")
    db.execute("CREATE INDEX score_signature ON score (metric, signature, deleted)")
    db.execute(
        "CREATE INDEX output_facts ON output"
        f" (id, run_id, example_id, state, deleted, completion_tokens, seconds, {WORDS})"
    )
    db.execute(
        "CREATE INDEX output_run_facts ON output"
        f" (run_id, example_id, state, deleted, id, prompt_tokens, completion_tokens, seconds, {WORDS})"
    )
