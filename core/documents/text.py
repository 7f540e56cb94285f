"""Bytes to text in any encoding, and the tidying that extracted text needs."""

from __future__ import annotations

import re
import unicodedata

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
#: Ligatures and presentation forms: shapes of letters, which must be found as the letters.
_SHAPES = re.compile("[\ufb00-\ufb06\ufb13-\ufb17\ufb50-\ufdff\ufe70-\ufefc]")
#: PDFium's mark of a word broken at a line's end.
_BROKEN_WORD = re.compile("[\ufffe\u0002]\\s*")
_HYPHENATED_LINE = re.compile(r"(?<=[^\W\d_])\u00ad\s*\n\s*(?=[^\W\d_])")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0e-\x1f\ufffe\uffff]")
#: Bytes that text in an 8-bit encoding does not have.
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MOST_BINARY = 0.001
#: Encodings of old Macintoshes, easily mistaken for Windows' ones, which are far commoner.
_OUT_OF_USE = ["mac_cyrillic", "mac_greek", "mac_latin2", "mac_roman", "mac_turkish", "mac_iceland"]
#: Up to so many bytes beyond ASCII a guess by statistics is mostly wrong.
_FEW = 40
_PUNCTUATION = "\u2018\u2019\u201a\u201c\u201d\u201e\u2013\u2014\u2026\u20ac«»°§±²³µ·¿¡½¼¾ "


class NotTextError(ValueError):
    """The bytes are no text in an encoding that can be told."""


def decode_text(data: bytes, *, declared: str = "") -> str:
    """Text of a file's bytes, byte-order mark removed and line ends made LF.

    Parameters
    ----------
    declared
        An encoding that the file itself names, tried after marks and UTF-8.

    Raises
    ------
    NotTextError
        When it is no text, or in an encoding that cannot be told.
    """
    return unify_lines(_decode(data, declared))


def _decode(data: bytes, declared: str) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return data.decode(encoding)
            except UnicodeDecodeError:
                break
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if text and "\0" not in text:
        return text
    if declared:
        try:
            return data.decode(declared)
        except (UnicodeDecodeError, LookupError):
            pass
    wide = _wide_encoding(data)
    if wide:
        try:
            return data.decode(wide)
        except UnicodeDecodeError:
            pass
    head = data[:65536]
    if len(_BINARY.findall(head)) > _MOST_BINARY * len(head):
        raise NotTextError
    if _looks_western(data):
        return data.decode("cp1252")
    import charset_normalizer

    guess = charset_normalizer.from_bytes(data, cp_exclusion=_OUT_OF_USE).best()
    if guess is None or "\0" in str(guess):
        raise NotTextError
    return str(guess)


def _looks_western(data: bytes) -> bool:
    """Whether a few accented letters stand among many plain ones: too little to guess by statistics."""
    high = sum(byte >= 0x80 for byte in data[:100_000])
    letters = sum(65 <= byte <= 90 or 97 <= byte <= 122 for byte in data[:100_000])
    if high > _FEW or high * 4 > letters:
        return False
    try:
        return all(c.isalpha() or c in _PUNCTUATION for c in data.decode("cp1252") if c >= "\x80")
    except UnicodeDecodeError:
        return False


def _wide_encoding(data: bytes) -> str:
    """UTF-16 without a mark, by which of two bytes is 0 in Latin text; '' when neither is."""
    head = data[:4096]
    if len(head) < 4 or len(data) % 2:
        return ""
    first, second = head[0::2].count(0), head[1::2].count(0)
    if min(first, second) or max(first, second) < 0.7 * (len(head) // 2):
        return ""
    return "utf-16-le" if second else "utf-16-be"


def unify_lines(text: str) -> str:
    """Every line end as LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", "\n")


def plain_letters(text: str) -> str:
    """Ligatures and presentation forms as the letters they stand for."""
    return _SHAPES.sub(lambda match: unicodedata.normalize("NFKC", match.group()), text)


def tidy(text: str) -> str:
    """Extracted text made searchable: words joined over line ends, letters plain, controls gone."""
    text = _BROKEN_WORD.sub("", unify_lines(text))
    text = _HYPHENATED_LINE.sub("", text)
    return _CONTROLS.sub("", plain_letters(text))


_LINE_END = re.compile(r"(?<=\S)\n(?=[^\W\d_])")
#: A line at least so long goes on in the next one, unless that or its own end says otherwise.
_LEAST_LINE = 20
_SENTENCE_ENDS = (".", "!", "?", ":", "…", "。", "؟")


def flow_lines(text: str) -> str:
    """A text with the line ends of a narrow page as blanks, for showing it at another width.

    It has as many characters, so that places in it stay. Headings, list items, tables and the ends of
    paragraphs keep their lines.
    """

    lengths = sorted(map(len, text.split("\n")))
    full = lengths[len(lengths) * 9 // 10]

    def join(match: re.Match[str]) -> str:
        place = match.start()
        line = text[text.rfind("\n", 0, place) + 1 : place]
        ends = len(line) < (0.8 if line.endswith(_SENTENCE_ENDS) else 0.6) * full
        apart = line.lstrip().startswith(("#", "-", "*", "•", "|")) or " | " in line
        return "\n" if ends or apart or len(line) < _LEAST_LINE else " "

    return _LINE_END.sub(join, text)
