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
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from core.errors import ConflictError, InputError

KDF_ROUNDS = 256_000
PAGE_SIZE = 4096
SALT_SIZE = 16
_HMAC_SIZE = 64
_IV_SIZE = 16
_HMAC_SALT_MASK = 0x3A
_PLAIN_HEADER = b"SQLite format 3\0"

FileShape = Literal["missing", "empty", "plain", "encrypted"]
KeyCheck = Literal["right", "wrong", "damaged"]


@dataclass(frozen=True, slots=True, repr=False)
class Key:
    """A derived key and the salt it belongs to; never printed."""

    raw: bytearray
    salt: bytes

    @property
    def pragma(self) -> str:
        """The literal for ``PRAGMA key``: passing both spares a new connection the derivation."""
        return f"x'{self.raw.hex()}{self.salt.hex()}'"

    def copy(self) -> Key:
        """The same key in memory of its own, for somebody who outlives this one's `wipe`."""
        return Key(bytearray(self.raw), self.salt)

    def wipe(self) -> None:
        """Overwrite the key where it lies. Copies Python made on the way are only let go of."""
        self.raw[:] = bytes(len(self.raw))


def derive_key(passphrase: str, salt: bytes, *, key_file: Path | None = None) -> Key:
    """Derive a workspace key; takes about a fifth of a second, on purpose.

    The passphrase is taken in Unicode normal form C, so that it is the same from every keyboard.
    With a key file, the SHA-256 of its bytes in hexadecimal is put behind the passphrase, so that any
    SQLCipher tool still opens the workspace with what is typed in that way.
    """
    secret = unicodedata.normalize("NFC", passphrase)
    if key_file is not None:
        secret += read_key_file(key_file)
    return Key(
        bytearray(hashlib.pbkdf2_hmac("sha512", secret.encode(), salt, KDF_ROUNDS, 32)), salt
    )


def make_key_file(path: Path) -> None:
    """Write a new key file of 256 random bits, readable by its owner alone.

    Raises
    ------
    ConflictError
        When there is a file already: it may be somebody's key.
    """
    text = f"rifugio key file 1\n{os.urandom(32).hex()}\n"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise ConflictError(
            f"{path} is there already.", remedy="Choose another name for the key file."
        ) from None
    except OSError as error:
        raise InputError(
            f"the key file cannot be written: {error.strerror}.",
            path=path,
            remedy="Choose a folder of yours.",
        ) from error
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(text.encode())
        stream.flush()
        os.fsync(stream.fileno())


def read_key_file(path: Path) -> str:
    """SHA-256 of a key file's bytes, in hexadecimal. Any file serves that never changes.

    Raises
    ------
    InputError
        When it cannot be read or is empty.
    """
    try:
        with path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            f"the key file cannot be read: {error.strerror}.",
            path=path,
            remedy="Put it back where it was, or choose its copy.",
        ) from error
    if not size:
        raise InputError("the key file is empty.", path=path, remedy="Choose the right file.")
    return digest


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


def _hmac_key(key: Key) -> bytes:
    salt = bytes(byte ^ _HMAC_SALT_MASK for byte in key.salt)
    return hashlib.pbkdf2_hmac("sha512", bytes(key.raw), salt, 2, 32)


def _sign(signed: bytes, number: int, hmac_key: bytes) -> bytes:
    return hmac.new(hmac_key, signed + number.to_bytes(4, "little"), hashlib.sha512).digest()


def _page_is_authentic(page: bytes, number: int, hmac_key: bytes) -> bool:
    start = SALT_SIZE if number == 1 else 0
    signed, tag = page[start : PAGE_SIZE - _HMAC_SIZE], page[PAGE_SIZE - _HMAC_SIZE :]
    return hmac.compare_digest(_sign(signed, number, hmac_key), tag)


def decrypt_page(page: bytes, key: Key, number: int) -> bytes:
    """The plain content of a page, its reserved end as it is; the salt of page 1 becomes SQLite's header."""
    decryptor = _cipher(page, key).decryptor()
    start = SALT_SIZE if number == 1 else 0
    end = PAGE_SIZE - _HMAC_SIZE - _IV_SIZE
    body: bytes = decryptor.update(page[start:end]) + decryptor.finalize()
    return (_PLAIN_HEADER if number == 1 else b"") + body + page[end:]


def encrypt_page(plain: bytes, page: bytes, key: Key, number: int) -> bytes:
    """The inverse of `decrypt_page`, under the vector of the page it came from."""
    encryptor = _cipher(page, key).encryptor()
    start = SALT_SIZE if number == 1 else 0
    end = PAGE_SIZE - _HMAC_SIZE - _IV_SIZE
    vector = page[end : end + _IV_SIZE]
    signed: bytes = encryptor.update(plain[start:end]) + encryptor.finalize() + vector
    return page[:start] + signed + _sign(signed, number, _hmac_key(key))


def _cipher(page: bytes, key: Key) -> Any:
    """AES-256-CBC with the page's own vector; what is encrypted is a multiple of 16, so no padding."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    end = PAGE_SIZE - _HMAC_SIZE
    return Cipher(algorithms.AES(bytes(key.raw)), modes.CBC(page[end - _IV_SIZE : end]))


def check_key(path: Path, key: Key, *, pages: int | None = 64) -> KeyCheck:
    """Whether a key fits a file, from the first ``pages`` pages, or from all for None.

    One authentic page proves the key. With none, the key is wrong, or the salt in the first 16 bytes
    is damaged, which nobody can tell apart.
    """
    authentic = broken = 0
    for answer in check_pages(path, key, pages=pages):
        authentic += answer
        broken += not answer
    if not authentic:
        return "wrong"
    return "damaged" if broken else "right"


def check_pages(path: Path, key: Key, *, pages: int | None = None) -> Iterator[bool]:
    """Whether each page of a file, in order, carries the authentication code of this key."""
    hmac_key = _hmac_key(key)
    with path.open("rb") as stream:
        number = 0
        while pages is None or number < pages:
            page = stream.read(PAGE_SIZE)
            if not page:
                return
            number += 1
            yield len(page) == PAGE_SIZE and _page_is_authentic(page, number, hmac_key)
