"""The stories as feeds: Atom (RFC 4287) and JSON Feed 1.1, in each language, all of them or those of one topic."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from fastapi import APIRouter, HTTPException
from starlette.responses import JSONResponse, Response

from digest.domain.language import Language
from digest.rendering.clean import clean, web_address
from digest.rendering.topics import TOPICS, topic_name
from digest.steps.read_archive import FeedStory, feed_stories
from digest.web.edge import Edge, EdgeOf
from digest.web.methods import READ
from digest.web.pages import ATOM, JSON_FEED
from digest.web.structured import description, instant

STORIES = 50
KEPT = {
    "Cache-Control": "public, max-age=300, stale-while-revalidate=3600, stale-if-error=86400",
    "Access-Control-Allow-Origin": "*",
    "X-Robots-Tag": "noindex",
}
"""Feeds are for programs on any page; search engines show the stories instead."""
BEGAN = datetime(1970, 1, 1, tzinfo=UTC)
"""When a feed without a story last changed."""

router = APIRouter(include_in_schema=False)


@router.api_route(ATOM[Language.ENGLISH], methods=READ)
def atom_in_english(edge: EdgeOf, topic: str = "") -> Response:
    """The newest stories in English, as Atom."""
    return _atom(edge, Language.ENGLISH, topic)


@router.api_route(ATOM[Language.CHINESE], methods=READ)
def atom_in_chinese(edge: EdgeOf, topic: str = "") -> Response:
    """The newest stories in Chinese, as Atom."""
    return _atom(edge, Language.CHINESE, topic)


@router.api_route(JSON_FEED[Language.ENGLISH], methods=READ)
def json_in_english(edge: EdgeOf, topic: str = "") -> Response:
    """The newest stories in English, as JSON Feed."""
    return _json(edge, Language.ENGLISH, topic)


@router.api_route(JSON_FEED[Language.CHINESE], methods=READ)
def json_in_chinese(edge: EdgeOf, topic: str = "") -> Response:
    """The newest stories in Chinese, as JSON Feed."""
    return _json(edge, Language.CHINESE, topic)


def _atom(edge: Edge, language: Language, topic: str) -> Response:
    stories = _stories(edge, language, topic)
    values = {
        "title": _title(edge, language, topic),
        "query": {"topic": topic} if topic else {},
        "home": _home(edge, language, topic),
        "updated": max((one.updated_at for one in stories), default=BEGAN),
        "stories": stories,
        "instant": instant,
        "description": description,
    }
    return Response(edge.pages.render_file("feed.xml", language, values), 200, KEPT, "application/atom+xml")


def _json(edge: Edge, language: Language, topic: str) -> Response:
    pages = edge.pages
    document = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": _title(edge, language, topic),
        "home_page_url": _home(edge, language, topic),
        "feed_url": pages.full(JSON_FEED[language], **({"topic": topic} if topic else {})),
        "icon": pages.full(pages.assets.path("touch.png")),
        "favicon": pages.full(pages.assets.path("touch.png")),
        "authors": [{"name": pages.site.name, "url": f"{pages.site.base_url}/"}],
        "language": language.tag,
        "items": [_item(edge, language, one) for one in _stories(edge, language, topic)],
    }
    return JSONResponse(document, 200, KEPT, "application/feed+json")


def _item(edge: Edge, language: Language, one: FeedStory) -> Mapping[str, object]:
    story, pages = one.story, edge.pages
    address = pages.full(f"/stories/{story.slug}", lang=language)
    item = {
        "id": address,
        "url": address,
        "external_url": web_address(story.url),
        "title": clean(story.text.title),
        "content_html": pages.render("_entry", language, {"story": story}),
        "summary": description(story.text),
        "date_published": instant(one.entered_at),
        "date_modified": instant(one.updated_at),
        "authors": [{"name": clean(story.source)}],
        "tags": [topic_name(topic, language) for topic in story.topics],
        "language": story.language.tag,
    }
    return {name: value for name, value in item.items() if value}


def _stories(edge: Edge, language: Language, topic: str) -> Sequence[FeedStory]:
    if topic and topic not in TOPICS:
        raise HTTPException(404)
    return feed_stories(edge.application.sessions, language, topic, edge.clock(), STORIES)


def _title(edge: Edge, language: Language, topic: str) -> str:
    name = edge.pages.site.name
    return f"{topic_name(topic, language)} · {name}" if topic else name


def _home(edge: Edge, language: Language, topic: str) -> str:
    return edge.pages.full(f"/topics/{topic}" if topic else "/", lang=language)
