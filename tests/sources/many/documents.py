"""Feeds of many items: four formats, two languages, several character sets, some of them a lie."""

import gzip
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.utils import format_datetime
from xml.sax.saxutils import escape


def _words(text: str) -> list[str]:
    return text.split()


_SYLLABLES = _words("ba den dor el fair gar hol ing ka lin mor nal or pen quil ros sel tam ur ven wick yar zim")
_ENDS = ("ton", "ia", "works", "field", "ex", "land", "soft", "burg")
_DEEDS = _words("opens delays tests repairs doubles closes moves reviews sells measures")
_THINGS = _words("ferry library reservoir turbine archive bakery tramway orchard clinic bridge school market dock mill")
_HAN = "安柏晨岱恩枫谷海江康岚明宁浦清融山棠屯维溪雁沂泽洲梓桐桥渡原湾林"
_ZH_ENDS = ("港", "镇", "集团", "科技", "区", "湖")
_ZH_DEEDS = _words("启用 推迟 测试 修缮 扩建 关闭 迁移 评估 出售 勘测")
_ZH_THINGS = _words("渡口 图书馆 水库 风机 档案馆 面包坊 电车线 果园 诊所 大桥 学校 集市 船坞 磨坊")
_BOMB_BYTES = 30_000_000


@dataclass(frozen=True)
class Document:
    """What a server gives for a feed.

    Attributes:
        body: as sent, compressed where the headers say so.
        headers: without Content-Length.
        titles: of its items.
    """

    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    titles: Sequence[str] = ()


@dataclass(frozen=True)
class Charset:
    """The set that the bytes are in, and what the HTTP header and the XML declaration say; empty for nothing."""

    bytes_are: str
    header: str
    declared: str


PLAIN = Charset("utf-8", "", "")


@dataclass(frozen=True)
class _Item:
    url: str
    title: str
    text: str
    at: datetime


def document(number: int, items: int, now: datetime, charset: Charset) -> Document:
    """The feed of that number: its format, language and compression follow from it.

    Args:
        number: seeds everything.
        items: how many; a day and a half of news, newest first.
        now: when the newest is from.
        charset: with another than :data:`PLAIN` the feed is RSS.
    """
    found = _items(number, items, now, chinese=number % 3 == 0 or charset.bytes_are != "utf-8")
    form, kind = _FORMS[number % len(_FORMS)] if charset is PLAIN else (_rss, "text/xml")
    declaration = f'<?xml version="1.0" encoding="{charset.declared}"?>' if charset.declared else ""
    body = f"{declaration}{form(number, found)}".encode(charset.bytes_are)
    headers = {"Content-Type": f"{kind}; charset={charset.header}" if charset.header else kind}
    if number % 2:
        body, headers["Content-Encoding"] = gzip.compress(body, 6, mtime=0), "gzip"
    return Document(body, headers, [one.title for one in found])


def bomb() -> Document:
    """A small body that unpacks to a large one."""
    body = gzip.compress(b"<rss>" + bytes(_BOMB_BYTES), 9, mtime=0)
    return Document(body, {"Content-Type": "text/xml", "Content-Encoding": "gzip"})


def _items(number: int, items: int, now: datetime, *, chinese: bool) -> list[_Item]:
    draw = random.Random(number)  # noqa: S311 - made-up news, no secret
    step = timedelta(hours=36) / items
    tell = _chinese if chinese else _english
    return [
        _Item(f"https://paper{number}.example/news/{number}-{one}", *tell(draw, number * items + one), now - one * step)
        for one in range(items)
    ]


def _name(draw: random.Random) -> str:
    return "".join((*draw.choices(_SYLLABLES, k=2), draw.choice(_ENDS))).capitalize()


def _english(draw: random.Random, serial: int) -> tuple[str, str]:
    maker, place = _name(draw), _name(draw)
    title = f"{maker} {draw.choice(_DEEDS)} {draw.choice(_THINGS)} in {place} with {_name(draw)} no. {serial}"
    told = (
        f"The {draw.choice(_THINGS)} of {_name(draw)} serves {draw.randint(100, 99_999)} people, said {maker}."
        for _ in range(5)
    )
    return title, " ".join((f"{title}.", *told))


def _zh_name(draw: random.Random) -> str:
    return "".join((*draw.choices(_HAN, k=2), draw.choice(_ZH_ENDS)))


def _chinese(draw: random.Random, serial: int) -> tuple[str, str]:
    maker = _zh_name(draw)
    title = f"{maker}{draw.choice(_ZH_DEEDS)}{_zh_name(draw)}{draw.choice(_ZH_THINGS)}，{_zh_name(draw)}第 {serial} 号"
    told = (
        f"{_zh_name(draw)}的{draw.choice(_ZH_THINGS)}每天服务 {draw.randint(100, 99_999)} 人，{maker}称运转平稳。"
        for _ in range(5)
    )
    return title, "".join((f"{title}。", *told))


def _rss(number: int, items: Sequence[_Item]) -> str:
    entries = "".join(
        f"<item><title>{escape(one.title)}</title><link>{one.url}</link><guid>{one.url}</guid>"
        f"<pubDate>{format_datetime(one.at)}</pubDate><description>{escape(f'<p>{one.text}</p>')}</description></item>"
        for one in items
    )
    return f'<rss version="2.0"><channel><title>Paper {number}</title>{entries}</channel></rss>'


def _atom(number: int, items: Sequence[_Item]) -> str:
    entries = "".join(
        f'<entry><title>{escape(one.title)}</title><link href="{one.url}"/><id>{one.url}</id>'
        f'<updated>{one.at.isoformat()}</updated><content type="html">{escape(f"<p>{one.text}</p>")}</content></entry>'
        for one in items
    )
    return f'<feed xmlns="http://www.w3.org/2005/Atom"><title>Paper {number}</title>{entries}</feed>'


def _json(number: int, items: Sequence[_Item]) -> str:
    entries = [
        {
            "id": one.url,
            "url": one.url,
            "title": one.title,
            "content_text": one.text,
            "date_published": f"{one.at:%FT%TZ}",
        }
        for one in items
    ]
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": f"Paper {number}", "items": entries}
    return json.dumps(feed, ensure_ascii=False)


def _sitemap(number: int, items: Sequence[_Item]) -> str:
    news = "http://www.google.com/schemas/sitemap-news/0.9"
    entries = "".join(
        f"<url><loc>{one.url}</loc><n:news><n:publication><n:name>Paper {number}</n:name></n:publication>"
        f"<n:publication_date>{one.at.isoformat()}</n:publication_date><n:title>{escape(one.title)}</n:title></n:news></url>"
        for one in items
    )
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:n="{news}">{entries}</urlset>'


_FORMS: Sequence[tuple[Callable[[int, Sequence[_Item]], str], str]] = (
    (_rss, "application/rss+xml"),
    (_rss, "text/xml"),
    (_atom, "application/atom+xml"),
    (_rss, "application/xml"),
    (_json, "application/feed+json"),
    (_atom, "text/xml"),
    (_rss, "text/html"),
    (_sitemap, "application/xml"),
)
