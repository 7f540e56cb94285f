"""Working blind: who does, what still waits for them, and what is shut until then.

Blinding hides names in the application. Whoever holds the whole workspace file can in the end look;
real blinding is a package without the mapping.
"""

from __future__ import annotations

from core.ids import new_id
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.types.evaluation import Blinding


def set_blinding(tx: Transaction, person_id: str, blind: bool) -> Blinding:
    """Begin or stop working blind."""
    found = tx.find(Blinding, "person_id = ?", (person_id,))
    if found:
        return tx.update(Blinding, found[0].id, blind=blind)
    return tx.insert(Blinding(id=new_id(), person_id=person_id, blind=blind))


def is_blind(reads: Reads, person_id: str) -> bool:
    """Whether a person works blind; not unless they chose to."""
    found = reads.find(Blinding, "person_id = ?", (person_id,))
    return bool(found) and found[0].blind


def waiting_judgements(reads: Reads, person_id: str) -> int:
    """How many outputs and pairs wait in a person's queues."""
    return sum(
        int(
            reads.value(
                f"SELECT count(*) FROM {table} v JOIN output o ON o.id = v.{column}"
                " AND o.deleted = 0 WHERE v.person_id = ? AND v.deleted = 0"
                " AND v.state IN ('pending', 'draft')",
                (person_id,),
            )
        )
        for table, column in (("review_item", "output_id"), ("pair_item", "left_output_id"))
    )


def results_hidden(reads: Reads, person_id: str) -> int:
    """How many judgements keep results and names hidden from a person; 0 for nothing hidden."""
    return waiting_judgements(reads, person_id) if is_blind(reads, person_id) else 0
