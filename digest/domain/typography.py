"""Chinese as it is set: a gap between Han and Latin, full-width punctuation between Han (W3C clreq §3.1)."""

import re

_HAN = r"[\u3400-\u9fff\uf900-\ufaff]"
_LATIN = r"[A-Za-z0-9\u00c0-\u024f]"
_GAP = re.compile(rf"(?<={_HAN})(?={_LATIN})|(?<={_LATIN})(?={_HAN})|(?<=[%％℃])(?={_HAN})|(?<={_HAN})(?=[$€£]\d)")
_UNITS = re.compile(r"(?<=\d) (?=[年月日号时分秒](?![\u3400-\u9fff]{0,1}前))|(?<=[年月日]) (?=\d)")
_WIDE = {",": "，", ";": "；", ":": "：", "?": "？", "!": "！"}
_NARROW_MARK = re.compile(
    rf"(?<={_HAN})\s*([,;:?!])\s*(?={_HAN}|“|「|《|$)|(?<={_HAN})([,;])\s*(?={_LATIN})|(?<={_LATIN})([,;:])\s*(?={_HAN})"
)


def typeset_chinese(text: str) -> str:
    """The text with gaps between Han and Latin letters or digits, and with full-width marks after Han.

    Words and their order stay; dates stay whole (2026年12月2日), as they are written without gaps.
    """
    marked = _NARROW_MARK.sub(lambda found: _WIDE[found[1] or found[2] or found[3]], text)
    return _UNITS.sub("", _GAP.sub(" ", marked))
