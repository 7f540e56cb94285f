"""Step 4: rubric versions, comments, reviews and suggestions; checklists, judgements and verdicts."""

from __future__ import annotations

from sqlite_utils import Database

from core.storage.steps.table import create_table


def climb(db: Database) -> None:
    create_table(
        db,
        "rubric_version",
        """rubric_id TEXT NOT NULL REFERENCES rubric (id), number INTEGER NOT NULL,
        note TEXT NOT NULL, person_id TEXT NOT NULL, made TEXT NOT NULL, items TEXT NOT NULL""",
        "rubric_id, number",
    )
    create_table(
        db,
        "rubric_comment",
        """rubric_id TEXT NOT NULL REFERENCES rubric (id), item_id TEXT NOT NULL,
        person_id TEXT NOT NULL, text TEXT NOT NULL, state TEXT NOT NULL, made TEXT NOT NULL""",
        "rubric_id",
    )
    create_table(
        db,
        "rubric_review",
        """rubric_id TEXT NOT NULL REFERENCES rubric (id), version_id TEXT NOT NULL,
        person_id TEXT NOT NULL, decision TEXT NOT NULL, comment TEXT NOT NULL,
        made TEXT NOT NULL""",
        "rubric_id",
    )
    create_table(
        db,
        "rubric_suggestion",
        """rubric_id TEXT NOT NULL REFERENCES rubric (id), title TEXT NOT NULL,
        description TEXT NOT NULL, "group" TEXT NOT NULL, model TEXT NOT NULL, state TEXT NOT NULL,
        fault TEXT NOT NULL, item_id TEXT NOT NULL""",
        "rubric_id",
    )
    create_table(
        db,
        "item_skills",
        """item_id TEXT NOT NULL REFERENCES rubric_item (id), source TEXT NOT NULL,
        skills TEXT NOT NULL, knowledge INTEGER NOT NULL, reasoning INTEGER NOT NULL""",
        "item_id",
    )
    create_table(
        db,
        "checklist",
        """rubric_id TEXT NOT NULL REFERENCES rubric (id),
        example_id TEXT NOT NULL REFERENCES example (id), output_id TEXT NOT NULL,
        version_id TEXT NOT NULL, mapper_kind TEXT NOT NULL, mapper TEXT NOT NULL,
        state TEXT NOT NULL, text_sha256 TEXT NOT NULL, signature TEXT NOT NULL""",
        "rubric_id, example_id",
        "output_id",
    )
    # Items may go while what was found for them stays, so no foreign key holds them.
    create_table(
        db,
        "checklist_entry",
        """checklist_id TEXT NOT NULL REFERENCES checklist (id), item_id TEXT NOT NULL,
        state TEXT NOT NULL, text TEXT NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL,
        probability REAL, reason TEXT NOT NULL, edited INTEGER NOT NULL, "check" TEXT NOT NULL""",
        "checklist_id",
        "item_id",
    )
    create_table(
        db,
        "judgement",
        """reference_id TEXT NOT NULL REFERENCES checklist (id),
        output_checklist_id TEXT NOT NULL REFERENCES checklist (id), judge_kind TEXT NOT NULL,
        judge TEXT NOT NULL, state TEXT NOT NULL, signature TEXT NOT NULL""",
        "output_checklist_id",
        "reference_id",
    )
    create_table(
        db,
        "verdict",
        """judgement_id TEXT NOT NULL REFERENCES judgement (id), item_id TEXT NOT NULL,
        recall REAL, precision REAL, recall_probability REAL, precision_probability REAL,
        contradicted INTEGER NOT NULL, reason TEXT NOT NULL, unscored TEXT NOT NULL""",
        "judgement_id",
        "item_id",
    )
    create_table(
        db,
        "trust_sample",
        """rubric_id TEXT NOT NULL REFERENCES rubric (id),
        output_id TEXT NOT NULL REFERENCES output (id), position INTEGER NOT NULL,
        seed INTEGER NOT NULL""",
        "rubric_id, position",
    )
