"""Names in a text, as far as they can be told from words: by capitals, digits, scripts, and who is said to speak."""

import calendar
import re
from collections.abc import Iterator

from digest.domain.language import Language
from digest.domain.sentences import sentences

_TOKEN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9]*(?:[-.+&'’][A-Za-z0-9]+)*\+*")
_GLOSSED = re.compile(r"((?:[A-Z][A-Za-z'’-]*\s){1,4})[(（]([\u3400-\u9fff·]{2,})[)）]")
_DOTTED = re.compile(r"[\u3400-\u9fff]{1,7}(?:·[\u3400-\u9fff]{1,7})+")
_SURNAMES = (
    "赵钱孙李周吴郑王冯陈蒋沈韩杨朱秦许何吕张孔曹严华金魏陶姜谢邹苏潘葛范彭鲁韦马方任袁柳唐薛雷贺倪汤罗郝毕安常于傅"
    "齐康伍余元顾孟黄穆萧尹姚邵汪毛米宋熊纪舒项董梁杜阮蓝季贾江颜郭梅林钟徐邱骆高夏蔡田樊胡凌霍虞万管卢莫房丁邓洪崔"
    "龚程陆翁曾侯宁仇刘叶黎白蒲赖卓池乔闻翟谭姬冉雍桂牛温庄晏柴瞿阎詹冷向古易戈廖耿欧聂关荆游盖"
)
_SPEAKER = re.compile(
    rf"(?<![\u3400-\u9fff])(?P<name>[{_SURNAMES}][\u3400-\u9fff]{{1,2}}?)(?=表示|指出|认为|透露|强调|坦言|教授|博士|先生|女士)"
)
_POSSESSIVE = re.compile(r"['’]s?$")
_MONTHS = (*calendar.month_name[1:], *calendar.month_abbr[1:], "Sept")
"""Months are figures."""


def names(text: str, language: Language) -> list[str]:
    """What a text calls by name: Latin words among Han; capitals inside of English sentences; persons with a dot."""
    if language is Language.CHINESE:
        return list(dict.fromkeys([*_latin(text), *_DOTTED.findall(text), *_speakers(text)]))
    bare = _GLOSSED.sub(lambda found: found[2], text)
    return list(dict.fromkeys([*_in_english(bare), *re.findall(r"[\u3400-\u9fff]{2,}", text)]))


def named_in(name: str, source: str) -> bool:
    """Whether the source has the name, whatever its case, hyphens and gaps."""
    if not name.isascii():
        return name in source
    wanted = _squashed(_POSSESSIVE.sub("", name))
    if any(c.isdigit() for c in wanted):
        return wanted in _squashed(source)
    words = _words(source)
    pieces = [piece for piece in re.split(r"[-&]", name) if _squashed(piece)]
    return _known(wanted, words) or (len(pieces) > 1 and all(_known(_squashed(piece), words) for piece in pieces))


def _known(wanted: str, words: frozenset[str]) -> bool:
    return bool({wanted, wanted.removesuffix("s"), f"{wanted}s"} & words)


def _words(source: str) -> frozenset[str]:
    tokens = [_POSSESSIVE.sub("", token) for token in _TOKEN.findall(source)]
    return frozenset(_squashed(piece) for token in tokens for piece in [token, *re.split(r"[-.&]", token)])


def _squashed(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", text.casefold())


def _latin(text: str) -> list[str]:
    return [_POSSESSIVE.sub("", token) for token in _TOKEN.findall(text)]


def _speakers(text: str) -> Iterator[str]:
    for match in _SPEAKER.finditer(text):
        yield match["name"]


def _in_english(text: str) -> Iterator[str]:
    for sentence in sentences(text):
        for number, match in enumerate(_TOKEN.finditer(sentence)):
            token = _POSSESSIVE.sub("", match[0])
            opens = number == 0 or sentence[: match.start()].rstrip().endswith((":", "“", '"', "(", "—"))
            plain = token[1:].islower() or len(token) == 1 or token[1:].replace("'", "").replace("’", "").islower()
            if token in _MONTHS or not any(c.isupper() for c in token) or (opens and plain):
                continue
            yield token
