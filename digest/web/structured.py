"""What search engines read of a story: schema.org's NewsArticle, as JSON-LD 1.1."""

from collections.abc import Mapping
from datetime import UTC, datetime

from digest.domain.language import Language
from digest.domain.story import StoryText
from digest.rendering.clean import clean, web_address
from digest.rendering.topics import topic_name
from digest.steps.read_briefs import WebStory
from digest.web.pages import Pages

LONGEST_HEADLINE = 110
"""Characters; search engines refuse longer ones."""
PICTURE = "share.png"


def description(text: StoryText) -> str:
    """A story in a sentence or two, for lists and previews."""
    return clean(text.quick_answer or text.quick_take or text.what_happened or text.source_excerpt or text.title)


def news_article(found: WebStory, pages: Pages) -> Mapping[str, object]:
    """The story as a NewsArticle: ours the words, the source's the report it is based on."""
    story, text, tongue = found.story, found.text, found.shown_in
    address = pages.full(f"/stories/{story.slug}", lang=tongue)
    corrected = max((notice.made_at for notice in found.corrections), default=story.enters_at)
    article = {
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "@id": address,
        "url": address,
        "mainEntityOfPage": address,
        "headline": clean(text.title)[:LONGEST_HEADLINE],
        "description": description(text),
        "inLanguage": tongue.tag,
        "datePublished": instant(story.enters_at),
        "dateModified": instant(max(corrected, story.enters_at)),
        "image": pages.full(pages.assets.path(PICTURE)),
        "author": _publisher(pages),
        "publisher": _publisher(pages),
        "isAccessibleForFree": True,
        "isBasedOn": _report(found),
        "articleSection": [topic_name(topic, tongue) for topic in story.topics],
    }
    return {name: value for name, value in article.items() if value}


def _report(found: WebStory) -> Mapping[str, object]:
    told = found.told
    report = {
        "@type": "Article",
        "headline": clean(told.title)[:LONGEST_HEADLINE],
        "url": web_address(told.url),
        "inLanguage": told.language.tag,
        "datePublished": instant(told.published_at) if told.published_at else "",
        "publisher": {"@type": "Organization", "name": clean(told.source)},
    }
    return {name: value for name, value in report.items() if value}


def _publisher(pages: Pages) -> Mapping[str, object]:
    logo = {"@type": "ImageObject", "url": pages.full(pages.assets.path(PICTURE))}
    return {"@type": "Organization", "name": pages.site.name, "url": f"{pages.site.base_url}/", "logo": logo}


def instant(at: datetime) -> str:
    """An instant as RFC 3339 writes it, in UTC, to the second."""
    return at.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def other_tongues(story_texts: Mapping[Language, object]) -> list[Language]:
    """The languages that a story can be read in, in the order of the site."""
    return [tongue for tongue in Language if tongue in story_texts]
