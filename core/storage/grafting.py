"""Lending a damaged file the pages that say where its tables lie, from a file that has the same ones.

Without them SQLite cannot read a single row, though all rows may be whole. A backup of the file has them,
and so has a new file of the same version, whose tables are made in the same order.
"""

from __future__ import annotations

from pathlib import Path

from core.storage.cipher import PAGE_SIZE, Key, check_pages, decrypt_page, encrypt_page

_FILE_HEADER = 100
_PAGE_COUNT_AT = 28
_INTERIOR = 5


def graft_schema(damaged: Path, donor: Path, key: Key | None) -> bool:
    """Overwrite the broken schema pages of a copy with the donor's; False where none is broken.

    In a plain file no page is known to be broken, so all are overwritten.
    """
    pages = schema_pages(donor, key)
    count = damaged.stat().st_size // PAGE_SIZE
    sound = {n for n, good in enumerate(_soundness(damaged, key, max(pages)), start=1) if good}
    broken = {number for number in pages if number <= count} - sound
    with donor.open("rb") as source, damaged.open("r+b") as target:
        for number in sorted(broken):
            source.seek((number - 1) * PAGE_SIZE)
            page = source.read(PAGE_SIZE)
            if number == 1:
                page = _with_page_count(page, key, count)
            target.seek((number - 1) * PAGE_SIZE)
            target.write(page)
    return bool(broken)


def schema_pages(path: Path, key: Key | None) -> set[int]:
    """The pages of a sound file that hold the list of its tables: page 1 and those below it."""
    found: set[int] = set()
    waiting = [1]
    with path.open("rb") as stream:
        while waiting:
            number = waiting.pop()
            found.add(number)
            stream.seek((number - 1) * PAGE_SIZE)
            page = stream.read(PAGE_SIZE)
            if key is not None:
                page = decrypt_page(page, key, number)
            waiting += [child for child in _children(page, number) if child not in found]
    return found


def _children(page: bytes, number: int) -> list[int]:
    """The pages below an interior page of a table; none below a leaf."""
    start = _FILE_HEADER if number == 1 else 0
    if page[start] != _INTERIOR:
        return []
    cells = int.from_bytes(page[start + 3 : start + 5], "big")
    children = [int.from_bytes(page[start + 8 : start + 12], "big")]
    for cell in range(cells):
        place = start + 12 + 2 * cell
        offset = int.from_bytes(page[place : place + 2], "big")
        children.append(int.from_bytes(page[offset : offset + 4], "big"))
    return children


def _soundness(path: Path, key: Key | None, pages: int) -> list[bool]:
    return [] if key is None else list(check_pages(path, key, pages=pages))


def _with_page_count(page: bytes, key: Key | None, count: int) -> bytes:
    """A first page that says of its file how many pages it has."""
    plain = page if key is None else decrypt_page(page, key, 1)
    plain = plain[:_PAGE_COUNT_AT] + count.to_bytes(4, "big") + plain[_PAGE_COUNT_AT + 4 :]
    return plain if key is None else encrypt_page(plain, page, key, 1)
