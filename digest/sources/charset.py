"""The character set of a document as the web really declares it: wrongly, twice, or not at all.

RFC 7303 lets the HTTP header win over the XML declaration; servers send that header for every file they have, so here
the bytes decide: a multi-byte set that decodes without a fault is right, whoever named it.
"""

import codecs
import re
from dataclasses import dataclass

_DECLARATION = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._:-]{1,40})[\"']", re.IGNORECASE)
_HEADER_CHARSET = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UNMARKED = ((b"<\0?\0", "utf-16-le"), (b"\0<\0?", "utf-16-be"))
_SUPERSETS = {
    **dict.fromkeys(("gb2312", "gbk", "cp936", "hz", "x-gbk", "chinese"), "gb18030"),
    **dict.fromkeys(("big5", "cp950", "x-x-big5"), "big5hkscs"),
    **dict.fromkeys(("iso8859-1", "ascii", "latin-1"), "cp1252"),
}
"""The set that is meant where an older one is named (WHATWG Encoding Standard §4.2)."""
_HOPELESS_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class Decoded:
    """A document as text.

    Attributes:
        text: without a byte order mark.
        charset: Python's name of the set it was read in.
        notes: what was odd, one line each; empty for a document that is what it says.
    """

    text: str
    charset: str
    notes: tuple[str, ...] = ()


def decode(body: bytes, content_type: str = "") -> Decoded:
    """The document's text; never fails, says in ``notes`` what it had to decide.

    Args:
        body: the document's bytes.
        content_type: the HTTP header as received; may be empty.
    """
    marked = _marked(body)
    if marked:
        return marked
    declared = _known(_DECLARATION.search(body[:400]))
    header = _known(_HEADER_CHARSET.search(content_type))
    charset = next((name for name in _in_order(declared, header) if _decodes(body, name)), "")
    if not charset:
        return _with_losses(body, declared or header)
    return Decoded(body.decode(charset), charset, tuple(_disagreements(charset, declared, header)))


def _marked(body: bytes) -> Decoded | None:
    for mark, charset in (*_MARKS, *_UNMARKED):
        if body.startswith(mark):
            content = body if (mark, charset) in _UNMARKED else body[len(mark) :]
            return Decoded(content.decode(charset, errors="replace"), charset)
    return None


def _known(match: re.Match[bytes] | re.Match[str] | None) -> str:
    """The superset of the set that was named; empty where none is named or Python has none of that name."""
    if match is None:
        return ""
    name = match[1].decode("ascii") if isinstance(match[1], bytes) else match[1]
    try:
        known = codecs.lookup(name).name
    except LookupError:
        known = name.lower()
    return _SUPERSETS.get(known, known) if known in _SUPERSETS or _is_text_codec(known) else ""


def _is_text_codec(name: str) -> bool:
    try:
        return "<".encode(name) in {b"<", b"<\0", b"\0<"}
    except (LookupError, UnicodeError):
        return False


def _in_order(declared: str, header: str) -> list[str]:
    """Sets that refuse wrong bytes before those that read anything; at equal strictness the document's own word."""
    named = [name for name in (declared, header) if name]
    strict = [name for name in named if not _reads_anything(name)]
    return [*strict, "utf-8", *(name for name in named if name not in strict)]


def _reads_anything(name: str) -> bool:
    return len(bytes(range(0xA1, 0xFF)).decode(name, errors="ignore")) == 0xFF - 0xA1


def _decodes(body: bytes, name: str) -> bool:
    try:
        body.decode(name)
    except UnicodeError:
        return False
    return True


def _with_losses(body: bytes, named: str) -> Decoded:
    charset = named or "utf-8"
    text = body.decode(charset, errors="replace")
    lost = text.count("\N{REPLACEMENT CHARACTER}")
    if lost > len(text) * _HOPELESS_SHARE:
        charset = next((name for name in ("utf-8", "gb18030", "big5hkscs") if _decodes(body, name)), charset)
        text = body.decode(charset, errors="replace")
        lost = text.count("\N{REPLACEMENT CHARACTER}")
    return Decoded(text, charset, (f"read as {charset}, with {lost} characters that could not be read",))


def _disagreements(charset: str, declared: str, header: str) -> list[str]:
    return [
        f"{speaker} says {said}, the text is {charset}"
        for speaker, said in (("the document", declared), ("the HTTP header", header))
        if said and said != charset
    ]
