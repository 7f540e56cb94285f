"""SQLCipher 4's key and page format, as far as it takes to tell a wrong passphrase from a damaged file.

Source: SQLCipher design notes, 'Database encryption and authentication' (version 4 defaults): page
size 4096, the last 80 bytes of a page hold a 16-byte IV and a 64-byte HMAC-SHA512 over ciphertext, IV
and little-endian page number; keys by PBKDF2-HMAC-SHA512.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

KDF_ROUNDS = 256_000
PAGE_SIZE = 4096
SALT_SIZE = 16
_HMAC_SIZE = 64
_HMAC_SALT_MASK = 0x3A
_PLAIN_HEADER = b"SQLite format 3\0"

FileShape = Literal["missing", "empty", "plain", "encrypted"]
KeyCheck = Literal["right", "wrong", "damaged"]


@dataclass(frozen=True, slots=True, repr=False)
class Key:
    """A derived key and the salt it belongs to; never printed."""

    raw: bytes
    salt: bytes

    @property
    def pragma(self) -> str:
        """The literal for ``PRAGMA key``: passing both spares a new connection the derivation."""
        return f"x'{self.raw.hex()}{self.salt.hex()}'"


def derive_key(passphrase: str, salt: bytes) -> Key:
    """Derive a workspace key; takes about a fifth of a second, on purpose.

    The passphrase is taken in Unicode normal form C, so that it is the same from every keyboard.
    """
    secret = unicodedata.normalize("NFC", passphrase).encode()
    return Key(hashlib.pbkdf2_hmac("sha512", secret, salt, KDF_ROUNDS, 32), salt)


def new_salt() -> bytes:
    return os.urandom(SALT_SIZE)


def inspect_file(path: Path) -> FileShape:
    """What a file looks like from its first 16 bytes. Any bytes that are not SQLite's pass as encrypted."""
    try:
        with path.open("rb") as stream:
            head = stream.read(SALT_SIZE)
    except FileNotFoundError:
        return "missing"
    if not head:
        return "empty"
    return "plain" if head == _PLAIN_HEADER else "encrypted"


def read_salt(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(SALT_SIZE)


def _page_is_authentic(page: bytes, number: int, hmac_key: bytes) -> bool:
    start = SALT_SIZE if number == 1 else 0
    signed, tag = page[start : PAGE_SIZE - _HMAC_SIZE], page[PAGE_SIZE - _HMAC_SIZE :]
    digest = hmac.new(hmac_key, signed + number.to_bytes(4, "little"), hashlib.sha512).digest()
    return hmac.compare_digest(digest, tag)


def check_key(path: Path, key: Key, *, pages: int = 64) -> KeyCheck:
    """Whether a key fits a file, from the first ``pages`` pages.

    One authentic page proves the key. With none, the key is wrong, or the salt in the first 16 bytes
    is damaged, which nobody can tell apart.
    """
    hmac_salt = bytes(byte ^ _HMAC_SALT_MASK for byte in key.salt)
    hmac_key = hashlib.pbkdf2_hmac("sha512", key.raw, hmac_salt, 2, 32)
    authentic = broken = 0
    with path.open("rb") as stream:
        for number in range(1, pages + 1):
            page = stream.read(PAGE_SIZE)
            if not page:
                break
            if len(page) == PAGE_SIZE and _page_is_authentic(page, number, hmac_key):
                authentic += 1
            else:
                broken += 1
    if not authentic:
        return "wrong"
    return "damaged" if broken else "right"
