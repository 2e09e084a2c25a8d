"""The character set of a list, from its bytes: spreadsheets save without saying in which.

Only the marks at the start are certain. Else UTF-8 is taken where the bytes are nearly all valid in it, then the
Chinese sets where what they yield is everyday Chinese, then what Windows uses in the West.
"""

import codecs
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

from digest.domain.errors import BadInputError

CHUNK = 1 << 20
SAMPLE = 1 << 18
"""Bytes of lines beyond ASCII that are enough to judge by."""
PIECE = 1 << 12
"""Most bytes of one such line that count."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SUPERSETS = {
    **dict.fromkeys(("gb2312", "gbk", "cp936", "hz"), "gb18030"),
    **dict.fromkeys(("big5", "cp950"), "big5hkscs"),
    **dict.fromkeys(("iso8859-1", "ascii"), "cp1252"),
}
"""The set that is meant where an older one is named (WHATWG Encoding Standard §4.2)."""
_EVERYDAY = {"gb18030": "gb2312", "big5hkscs": "big5"}
"""The smaller set, of characters in everyday use, that text in the larger one nearly keeps to."""
_ENOUGH = 0.8
_FEW = 0.1
_WEST = "cp1252"


def charset_of(path: Path) -> str:
    """Python's name of the character set that the file is probably in; reads all of it, a piece at a time."""
    with path.open("rb") as file:
        start = file.read(PIECE)
        marked = next((name for mark, name in _MARKS if start.startswith(mark)), "") or _unmarked_utf_16(start)
        file.seek(0)
        if marked or _is_utf_8(file):
            return marked or "utf-8"
        file.seek(0)
        return _likeliest(b"".join(_beyond_ascii(file)))


def named_charset(name: str) -> str:
    """Python's name of the set that a person named.

    Raises:
        BadInputError: there is none of that name.
    """
    try:
        known = codecs.lookup(name).name
        "@".encode(known)
    except (LookupError, UnicodeError) as error:
        raise BadInputError("encoding", name, "is not a character set: try utf-8, gbk, big5 or cp1252.") from error
    return _SUPERSETS.get(known, known)


def _unmarked_utf_16(start: bytes) -> str:
    """Latin letters and commas in UTF-16 have a zero byte each, before or after."""
    half = len(start) // 2
    zeros = {"utf-16-be": start[0::2].count(0), "utf-16-le": start[1::2].count(0)}
    return next((name for name, count in zeros.items() if half and count > half // 2), "")


def _is_utf_8(file: BufferedReader) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while chunk := file.read(CHUNK):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _beyond_ascii(file: BufferedReader) -> Iterator[bytes]:
    found = 0
    while found < SAMPLE and (line := file.readline(PIECE)):
        if not line.isascii():
            found += len(line)
            yield line


def _likeliest(sample: bytes) -> str:
    text, losses = _read(sample, "utf-8")
    if losses <= _FEW * len(text):
        return "utf-8"
    # Simplified first: its bytes nearly always mean something in Big5, too, but hardly the other way round.
    return next((name for name in _EVERYDAY if _everyday_share(sample, name) >= _ENOUGH), _WEST)


def _read(sample: bytes, name: str) -> tuple[str, int]:
    """The characters beyond ASCII, and how many could not be read."""
    text = "".join(c for c in sample.decode(name, errors="replace") if not c.isascii())
    return text, text.count("\N{REPLACEMENT CHARACTER}")


def _everyday_share(sample: bytes, name: str) -> float:
    """Which part of what the set yields is everyday text in it."""
    text, _ = _read(sample, name)
    kept = text.encode(_EVERYDAY[name], errors="ignore").decode(_EVERYDAY[name])
    return len(kept) / len(text)
