"""The workspace file: one encrypted SQLite database, its transactions and its history."""

from core.storage.transaction import Transaction
from core.storage.workspace import Workspace

__all__ = ["Transaction", "Workspace"]
