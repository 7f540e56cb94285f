"""Step 1: people, tasks, examples, rubrics, runs, outputs, scores, ratings, and the change table."""

from __future__ import annotations

from sqlite_utils import Database

from core.storage.steps.table import create_table


def climb(db: Database) -> None:
    db.execute("CREATE TABLE meta (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) STRICT")
    db.execute(
        """
        CREATE TABLE change (
            id TEXT PRIMARY KEY NOT NULL,
            tx TEXT NOT NULL,
            seq INTEGER NOT NULL,
            time TEXT NOT NULL,
            person TEXT NOT NULL,
            verb TEXT NOT NULL,
            label TEXT NOT NULL,
            kind TEXT NOT NULL,
            row TEXT NOT NULL,
            before TEXT,
            after TEXT,
            undoable INTEGER NOT NULL,
            undoes TEXT NOT NULL DEFAULT '',
            origin TEXT NOT NULL,
            previous TEXT NOT NULL,
            hash TEXT NOT NULL,
            UNIQUE (origin, seq)
        ) STRICT
        """
    )
    db.execute("CREATE INDEX change_tx ON change (tx, origin, seq)")
    db.execute("CREATE INDEX change_kind_row ON change (kind, row)")
    # Undo looks for a person's own deeds; what jobs and merges wrote would only be in the way.
    db.execute("CREATE INDEX change_undoable ON change (person, origin, seq) WHERE undoable = 1")
    create_table(db, "person", "name TEXT NOT NULL, role TEXT NOT NULL")
    create_table(db, "field", "name TEXT NOT NULL", "name")
    create_table(
        db,
        "task",
        """field_id TEXT NOT NULL REFERENCES field (id), objective TEXT NOT NULL,
        procedure TEXT NOT NULL, input_sections TEXT NOT NULL, output_sections TEXT NOT NULL,
        notes TEXT NOT NULL, author TEXT NOT NULL, extra TEXT NOT NULL""",
        "objective COLLATE NOCASE",
        "field_id",
    )
    create_table(
        db,
        "task_validation",
        """task_id TEXT NOT NULL REFERENCES task (id), person_id TEXT NOT NULL REFERENCES person (id),
        criterion TEXT NOT NULL, answer INTEGER NOT NULL, comment TEXT NOT NULL""",
        "task_id",
    )
    create_table(
        db,
        "example",
        """task_id TEXT NOT NULL REFERENCES task (id), title TEXT NOT NULL, input TEXT NOT NULL,
        output TEXT NOT NULL, split TEXT NOT NULL, meta TEXT NOT NULL, extra TEXT NOT NULL""",
        "task_id",
        "title COLLATE NOCASE",
        "updated",
        # Holds all that a list needs, so that showing one reads and decrypts no texts.
        "deleted, id, task_id, title COLLATE NOCASE",
    )
    create_table(
        db,
        "rubric",
        """task_id TEXT NOT NULL REFERENCES task (id), title TEXT NOT NULL, state TEXT NOT NULL,
        notes TEXT NOT NULL, extra TEXT NOT NULL""",
        "task_id",
    )
    create_table(
        db,
        "rubric_item",
        """rubric_id TEXT NOT NULL REFERENCES rubric (id), position REAL NOT NULL,
        title TEXT NOT NULL, description TEXT NOT NULL, example TEXT NOT NULL,
        "group" TEXT NOT NULL, kind TEXT NOT NULL, options TEXT NOT NULL, condition TEXT NOT NULL,
        weight REAL NOT NULL, extra TEXT NOT NULL""",
        "rubric_id, position",
    )
    create_table(
        db,
        "system",
        """name TEXT NOT NULL, kind TEXT NOT NULL, model_id TEXT NOT NULL,
        model_sha256 TEXT NOT NULL, prompt TEXT NOT NULL, params TEXT NOT NULL""",
    )
    create_table(
        db,
        "run",
        """system_id TEXT NOT NULL REFERENCES system (id), job_id TEXT NOT NULL,
        started TEXT NOT NULL, prompt_hash TEXT NOT NULL, signature TEXT NOT NULL""",
        "system_id",
    )
    create_table(
        db,
        "output",
        """run_id TEXT NOT NULL REFERENCES run (id), example_id TEXT NOT NULL REFERENCES example (id),
        pseudonym TEXT NOT NULL, position INTEGER NOT NULL, state TEXT NOT NULL, text TEXT NOT NULL,
        thinking TEXT NOT NULL, sections TEXT NOT NULL, missing TEXT NOT NULL, finish TEXT NOT NULL,
        error TEXT NOT NULL, prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL,
        seconds REAL NOT NULL, finished TEXT NOT NULL, meta TEXT NOT NULL""",
        "run_id, position",
        "example_id",
    )
    create_table(
        db,
        "score",
        """output_id TEXT NOT NULL REFERENCES output (id), metric TEXT NOT NULL, value REAL,
        components TEXT NOT NULL, unscored TEXT NOT NULL, signature TEXT NOT NULL,
        scored TEXT NOT NULL""",
        "output_id, metric",
    )
    create_table(
        db,
        "rating",
        """output_id TEXT NOT NULL REFERENCES output (id),
        person_id TEXT NOT NULL REFERENCES person (id), axis TEXT NOT NULL,
        value INTEGER NOT NULL CHECK (value BETWEEN 1 AND 5), comment TEXT NOT NULL""",
        "output_id, person_id",
    )
    create_table(
        db,
        "preference",
        """left_output_id TEXT NOT NULL REFERENCES output (id),
        right_output_id TEXT NOT NULL REFERENCES output (id),
        person_id TEXT NOT NULL REFERENCES person (id), choice TEXT NOT NULL,
        strength INTEGER NOT NULL CHECK (strength BETWEEN 1 AND 5), comment TEXT NOT NULL""",
        "left_output_id",
        "right_output_id",
    )
    create_table(
        db,
        "review_item",
        """output_id TEXT NOT NULL REFERENCES output (id),
        person_id TEXT NOT NULL REFERENCES person (id), state TEXT NOT NULL, comment TEXT NOT NULL,
        position INTEGER NOT NULL, scroll REAL NOT NULL""",
        "person_id, state",
        "output_id",
    )
    # Jobs and half-written text belong to this machine and are neither logged nor merged.
    db.execute(
        """
        CREATE TABLE job (
            id TEXT PRIMARY KEY NOT NULL, kind TEXT NOT NULL, label TEXT NOT NULL,
            state TEXT NOT NULL, spec TEXT NOT NULL, total INTEGER NOT NULL, done INTEGER NOT NULL,
            failed INTEGER NOT NULL, seconds REAL NOT NULL, message TEXT NOT NULL,
            person_id TEXT NOT NULL, created TEXT NOT NULL, updated TEXT NOT NULL
        ) STRICT
        """
    )
    db.execute(
        """
        CREATE TABLE partial (
            output_id TEXT PRIMARY KEY NOT NULL REFERENCES output (id) ON DELETE CASCADE,
            text TEXT NOT NULL, thinking TEXT NOT NULL, updated TEXT NOT NULL
        ) STRICT
        """
    )
