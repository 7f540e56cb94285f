"""One record of an import: written as a whole or not at all, without stopping the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from core.storage.transaction import Transaction


@contextmanager
def attempt(tx: Transaction) -> Iterator[None]:
    """Take back what a record wrote, its entries in the history included, when it cannot be finished.

    The error goes on to the caller, who says why the record was left out.
    """
    tail = tx._tail
    touched = {kind: set(rows) for kind, rows in tx._touched.items()}
    tx.execute_unlogged("SAVEPOINT record")
    try:
        yield
    except BaseException:
        tx.execute_unlogged("ROLLBACK TO record")
        tx.execute_unlogged("RELEASE record")
        tx._tail, tx._touched = tail, touched
        raise
    tx.execute_unlogged("RELEASE record")
