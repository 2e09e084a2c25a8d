"""What search engines may find: robots.txt (RFC 9309) and the sitemap (sitemaps.org 0.9, each page with its address in
the other languages). A sitemap takes 50,000 addresses, so a site with more is told of month by month.
"""

from calendar import monthrange
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from fastapi import APIRouter, HTTPException
from starlette.responses import PlainTextResponse, Response

from digest.domain.language import Language
from digest.domain.topics import topic_tree
from digest.steps.read_addresses import Found, extent, found_between
from digest.web.archive import read_month
from digest.web.edge import Edge, EdgeOf
from digest.web.methods import READ
from digest.web.structured import instant

MOST_ADDRESSES = 10_000
"""In one sitemap; well below what it may hold, so that none takes long to write."""
DAYS_OF_A_MONTH = 31
KEPT = {"Cache-Control": "public, max-age=3600, stale-while-revalidate=86400"}
CLOSED = ("/admin", "/outbox", "/emails", "/api/v1/")
STANDING = ("/", "/archive", "/embed", "/api", *(f"/topics/{topic.name}" for topic in topic_tree()))
"""Pages that are always there."""

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Entry:
    """One page: its address in each language, the one that asks the browser, and when it last changed."""

    addresses: Mapping[Language, str]
    anyone: str = ""
    changed: str = ""


@router.api_route("/robots.txt", methods=READ)
def robots(edge: EdgeOf) -> Response:
    """Everything may be read but what is no page for readers."""
    pages = edge.pages
    lines = ["User-agent: *", *(f"Disallow: {pages.path(path)}" for path in CLOSED)]
    return PlainTextResponse("\n".join([*lines, "", f"Sitemap: {pages.full('/sitemap.xml')}", ""]), headers=KEPT)


@router.api_route("/sitemap.xml", methods=READ)
def sitemap(edge: EdgeOf) -> Response:
    """Every page, or, where that is too much for one sitemap, the sitemap of every month."""
    now = edge.clock()
    whole = extent(edge.application.sessions, now)
    most = len(Language) * (whole.stories + len(STANDING) + len(whole.months) * (DAYS_OF_A_MONTH + 1))
    if most > MOST_ADDRESSES:
        parts = ["pages", *(f"{first:%Y-%m}" for first in whole.months)]
        return _xml(edge, "sitemaps", {"addresses": [edge.pages.full(f"/sitemap/{part}.xml") for part in parts]})
    entries = _standing(edge, whole.months)
    if whole.months:
        found = found_between(edge.application.sessions, whole.months[-1], _end_of(whole.months[0]), now)
        entries += _entries(edge, found)
    return _xml(edge, "sitemap", {"entries": entries})


@router.api_route("/sitemap/pages.xml", methods=READ)
def standing_pages(edge: EdgeOf) -> Response:
    """The pages that are always there, and the months of the archive."""
    return _xml(edge, "sitemap", {"entries": _standing(edge, extent(edge.application.sessions, edge.clock()).months)})


@router.api_route("/sitemap/{month}.xml", methods=READ)
def month(edge: EdgeOf, month: str) -> Response:
    """The stories and briefs of one month."""
    first = read_month(month)
    entries = _entries(edge, found_between(edge.application.sessions, first, _end_of(first), edge.clock()))
    if not entries:
        raise HTTPException(404)
    return _xml(edge, "sitemap", {"entries": entries})


def _end_of(first: date) -> date:
    return first.replace(day=monthrange(first.year, first.month)[1])


def _standing(edge: Edge, months: Iterable[date]) -> list[Entry]:
    paths = [*STANDING, *(f"/archive/{first:%Y-%m}" for first in months)]
    return [_in_languages(edge, path, list(Language)) for path in paths]


def _in_languages(edge: Edge, path: str, languages: Sequence[Language], changed_at: datetime | None = None) -> Entry:
    addresses = {tongue: edge.pages.full(path, lang=tongue) for tongue in languages}
    return Entry(addresses, edge.pages.full(path), instant(changed_at) if changed_at else "")


def _entries(edge: Edge, found: Found) -> list[Entry]:
    days: dict[date, dict[Language, str]] = {}
    for brief in found.briefs:
        address = edge.pages.full(f"/briefs/{brief.on.isoformat()}/{brief.language}")
        days.setdefault(brief.on, {})[brief.language] = address
    briefs = [Entry(addresses) for addresses in days.values()]
    stories = [_in_languages(edge, f"/stories/{one.slug}", one.languages, one.changed_at) for one in found.stories]
    return briefs + stories


def _xml(edge: Edge, name: str, values: Mapping[str, object]) -> Response:
    text = edge.pages.render_file(f"{name}.xml", edge.application.settings.default_language, values)
    return Response(text, 200, KEPT, "application/xml")
