"""Step 5: graphs, their steps and dependencies, comparisons, and scorers of steps."""

from __future__ import annotations

from sqlite_utils import Database

from core.storage.steps.table import create_table


def climb(db: Database) -> None:
    create_table(
        db,
        "graph",
        """task TEXT NOT NULL, assumptions TEXT NOT NULL, task_id TEXT NOT NULL,
        role TEXT NOT NULL, state TEXT NOT NULL, person_id TEXT NOT NULL, gold_id TEXT NOT NULL,
        split TEXT NOT NULL, source_text TEXT NOT NULL, note TEXT NOT NULL, made TEXT NOT NULL,
        aside TEXT NOT NULL, extra TEXT NOT NULL""",
        "task COLLATE NOCASE",
        "role",
        "gold_id",
    )
    create_table(
        db,
        "step_group",
        "graph_id TEXT NOT NULL REFERENCES graph (id), title TEXT NOT NULL",
        "graph_id",
    )
    create_table(
        db,
        "graph_step",
        """graph_id TEXT NOT NULL REFERENCES graph (id), position REAL NOT NULL,
        text TEXT NOT NULL, x REAL, y REAL, group_id TEXT NOT NULL, suggested TEXT NOT NULL,
        extra TEXT NOT NULL""",
        "graph_id, position",
    )
    create_table(
        db,
        "dependency",
        """graph_id TEXT NOT NULL REFERENCES graph (id),
        before_id TEXT NOT NULL REFERENCES graph_step (id),
        after_id TEXT NOT NULL REFERENCES graph_step (id), position REAL NOT NULL,
        relation TEXT NOT NULL, suggested TEXT NOT NULL, extra TEXT NOT NULL""",
        "graph_id, position",
        "before_id",
        "after_id",
    )
    create_table(
        db,
        "graph_match",
        """graph_id TEXT NOT NULL REFERENCES graph (id),
        gold_id TEXT NOT NULL REFERENCES graph (id), together TEXT NOT NULL, apart TEXT NOT NULL""",
        "graph_id",
        "gold_id",
    )
    create_table(
        db,
        "graph_score",
        """graph_id TEXT NOT NULL REFERENCES graph (id),
        gold_id TEXT NOT NULL REFERENCES graph (id), metric TEXT NOT NULL, value REAL,
        components TEXT NOT NULL, unscored TEXT NOT NULL, signature TEXT NOT NULL,
        scored TEXT NOT NULL""",
        "graph_id, metric",
        "gold_id",
    )
    create_table(
        db,
        "step_scorer",
        """version INTEGER NOT NULL, embedder_id TEXT NOT NULL, embedder_sha256 TEXT NOT NULL,
        weights TEXT NOT NULL, bias REAL NOT NULL, threshold REAL NOT NULL,
        trained TEXT NOT NULL""",
    )
