"""Chinese as it is set: a gap between Han and Latin, full-width punctuation between Han (W3C clreq §3.1)."""

import re

_HAN = r"[\u3400-\u9fff\uf900-\ufaff]"
_LATIN = r"[A-Za-z0-9\u00c0-\u024f]"
_GAP = re.compile(rf"(?<={_HAN})(?={_LATIN})|(?<={_LATIN})(?={_HAN})|(?<=[%％℃])(?={_HAN})|(?<={_HAN})(?=[$€£]\d)")
_UNITS = re.compile(r"(?<=\d) (?=[年月日号](?![\u3400-\u9fff]{0,1}前))|(?<=[年月日]) (?=\d)")
_CLOCK = re.compile(r"(\d{1,2}) ?([时分]) ?(?=\d{1,2} ?[分秒](?!钟))|(?<=[时分])(\d{1,2}) (?=[分秒](?!钟))")
_WIDE = {",": "，", ";": "；", ":": "：", "?": "？", "!": "！"}
_NARROW_MARK = re.compile(
    rf"(?<={_HAN})\s*([,;:?!])\s*(?={_HAN}|“|「|《|$)|(?<={_HAN})([,;])\s*(?={_LATIN})|(?<={_LATIN})([,;:])\s*(?={_HAN})"
)


def typeset_chinese(text: str) -> str:
    """The text with gaps between Han and Latin letters or digits, and with full-width marks after Han.

    Words and their order stay; dates and times of day stay whole (2026年12月2日, 8时30分), as they are written without
    gaps; durations do not (90 秒, 20 分钟).
    """
    marked = _NARROW_MARK.sub(lambda found: _WIDE[found[1] or found[2] or found[3]], text)
    dated = _UNITS.sub("", _GAP.sub(" ", marked))
    return _CLOCK.sub(lambda found: f"{found[1]}{found[2]}" if found[1] else found[3], dated)
