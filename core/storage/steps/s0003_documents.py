"""Step 3: documents, passages, drafts and post-edits."""

from __future__ import annotations

from sqlite_utils import Database

from core.storage.steps.table import create_table


def climb(db: Database) -> None:
    _create_documents(db)
    _create_drafts(db)
    _create_post_edits(db)
    _create_task_ratings(db)


def _create_documents(db: Database) -> None:
    create_table(
        db,
        "document",
        """title TEXT NOT NULL, file TEXT NOT NULL, format TEXT NOT NULL, sha256 TEXT NOT NULL,
        text_sha256 TEXT NOT NULL, bytes INTEGER NOT NULL, pages INTEGER NOT NULL,
        characters INTEGER NOT NULL, field_id TEXT NOT NULL, window INTEGER NOT NULL,
        overlap INTEGER NOT NULL, recognised TEXT NOT NULL, notes TEXT NOT NULL,
        added TEXT NOT NULL""",
        "title COLLATE NOCASE",
        "sha256",
        "text_sha256",
        "field_id",
    )
    # What follows is derived from the original or is the original: it has no history of its own.
    db.execute(
        """
        CREATE TABLE document_content (
            document_id TEXT PRIMARY KEY NOT NULL REFERENCES document (id),
            original BLOB NOT NULL, text TEXT NOT NULL, starts TEXT NOT NULL
        ) STRICT
        """
    )
    db.execute(
        """
        CREATE TABLE passage (
            n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
            document_id TEXT NOT NULL REFERENCES document (id), number INTEGER NOT NULL,
            page INTEGER NOT NULL, page_end INTEGER NOT NULL, "start" INTEGER NOT NULL,
            "end" INTEGER NOT NULL, sha256 TEXT NOT NULL, text TEXT NOT NULL
        ) STRICT
        """
    )
    db.execute("CREATE INDEX passage_document ON passage (document_id, number)")
    db.execute(
        "CREATE VIRTUAL TABLE passage_fts USING fts5"
        "(text, content='passage', content_rowid='n', tokenize='unicode61 remove_diacritics 2')"
    )
    db.execute("CREATE VIRTUAL TABLE passage_words USING fts5vocab(passage_fts, 'row')")
    db.execute(
        """
        CREATE TABLE passage_vector (
            model TEXT NOT NULL, n INTEGER NOT NULL REFERENCES passage (n),
            windows BLOB NOT NULL, vectors BLOB NOT NULL, PRIMARY KEY (model, n)
        ) STRICT
        """
    )
    db.execute(
        "CREATE TABLE search_state (key TEXT PRIMARY KEY NOT NULL, value INTEGER NOT NULL) STRICT"
    )
    db.execute("INSERT INTO search_state VALUES ('generation', 0)")


def _create_drafts(db: Database) -> None:
    create_table(
        db,
        "draft_request",
        """task_id TEXT NOT NULL REFERENCES task (id), title TEXT NOT NULL, input TEXT NOT NULL,
        queries TEXT NOT NULL, setting TEXT NOT NULL, document_ids TEXT NOT NULL,
        evidence TEXT NOT NULL, count INTEGER NOT NULL, params TEXT NOT NULL,
        model_id TEXT NOT NULL, model_sha256 TEXT NOT NULL, seed INTEGER NOT NULL,
        shown TEXT NOT NULL, chosen_id TEXT NOT NULL, state TEXT NOT NULL,
        example_id TEXT NOT NULL, person_id TEXT NOT NULL, job_id TEXT NOT NULL""",
        "task_id",
        "example_id",
    )
    create_table(
        db,
        "draft",
        """request_id TEXT NOT NULL REFERENCES draft_request (id), pseudonym TEXT NOT NULL,
        position INTEGER NOT NULL, seed INTEGER NOT NULL, state TEXT NOT NULL, text TEXT NOT NULL,
        sections TEXT NOT NULL, finish TEXT NOT NULL, error TEXT NOT NULL, recipe TEXT NOT NULL,
        prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, seconds REAL NOT NULL,
        finished TEXT NOT NULL""",
        "request_id, position",
    )
    create_table(
        db,
        "draft_rating",
        """draft_id TEXT NOT NULL REFERENCES draft (id),
        person_id TEXT NOT NULL REFERENCES person (id), axis TEXT NOT NULL,
        value INTEGER NOT NULL CHECK (value BETWEEN 1 AND 5)""",
        "draft_id, person_id",
    )


def _create_post_edits(db: Database) -> None:
    create_table(
        db,
        "post_edit",
        """request_id TEXT NOT NULL REFERENCES draft_request (id),
        draft_id TEXT NOT NULL REFERENCES draft (id), person_id TEXT NOT NULL,
        head TEXT NOT NULL, seconds REAL NOT NULL""",
        "request_id",
        "draft_id",
    )
    create_table(
        db,
        "post_edit_revision",
        """post_edit_id TEXT NOT NULL REFERENCES post_edit (id), parent TEXT NOT NULL,
        number INTEGER NOT NULL, section INTEGER NOT NULL, "start" INTEGER NOT NULL,
        removed TEXT NOT NULL, text TEXT NOT NULL, spans TEXT NOT NULL, action TEXT NOT NULL,
        person_id TEXT NOT NULL, time TEXT NOT NULL""",
        "post_edit_id, number",
    )
    create_table(
        db,
        "change_note",
        """post_edit_id TEXT NOT NULL REFERENCES post_edit (id), change TEXT NOT NULL,
        edit_type TEXT NOT NULL, comment TEXT NOT NULL""",
        "post_edit_id",
    )
    create_table(
        db,
        "critique_point",
        """post_edit_id TEXT NOT NULL REFERENCES post_edit (id), position INTEGER NOT NULL,
        text TEXT NOT NULL, state TEXT NOT NULL, model_id TEXT NOT NULL""",
        "post_edit_id",
    )


def _create_task_ratings(db: Database) -> None:
    create_table(
        db,
        "task_rating",
        """task_id TEXT NOT NULL REFERENCES task (id),
        person_id TEXT NOT NULL REFERENCES person (id), axis TEXT NOT NULL,
        value INTEGER NOT NULL CHECK (value BETWEEN 1 AND 5), comment TEXT NOT NULL""",
        "task_id, person_id",
    )
    create_table(
        db,
        "rater_profile",
        """person_id TEXT NOT NULL REFERENCES person (id), field TEXT NOT NULL,
        qualification TEXT NOT NULL, years INTEGER NOT NULL, consent INTEGER NOT NULL""",
        "person_id",
    )
    create_table(
        db,
        "time_spent",
        """kind TEXT NOT NULL, item_id TEXT NOT NULL,
        person_id TEXT NOT NULL REFERENCES person (id), seconds REAL NOT NULL""",
        "item_id, person_id",
    )
