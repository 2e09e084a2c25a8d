"""Stories as the templates show them: cleaned, cut to their places, with the addresses a reader follows."""

from collections.abc import Sequence
from dataclasses import dataclass

from digest.domain.brief import BriefStory
from digest.domain.language import Language
from digest.links import Links
from digest.rendering.clean import clean, label, shorten, web_address

TITLE_CELLS = 240
SOURCE_CELLS = 60
ANSWER_CELLS = 700
TAKE_CELLS = 600
POINT_CELLS = 320
REASON_CELLS = 900
MOST_POINTS = 6


@dataclass(frozen=True, slots=True)
class StoryView:
    """One story, ready for a template; every text is on one line.

    Attributes:
        url: the story's page on our site.
        source_url: the original; empty where it is no web address.
        lang: BCP 47 tag of its texts.
        is_foreign: whether that is not the language of the brief.
    """

    title: str
    url: str
    source: str
    source_url: str
    topic: str
    score: int
    lang: str
    language: str
    is_foreign: bool
    answer: str
    take: str
    key_points: tuple[str, ...]
    why_it_matters: str


def story_views(stories: Sequence[BriefStory], links: Links, language: Language) -> list[StoryView]:
    """The stories for a brief in ``language``, in their order."""
    return [_view(story, links, language) for story in stories]


def _view(story: BriefStory, links: Links, language: Language) -> StoryView:
    text = story.text
    return StoryView(
        title=label(clean(text.title), TITLE_CELLS),
        url=links.story(story.slug, language),
        source=label(clean(story.source), SOURCE_CELLS),
        source_url=web_address(story.url),
        topic=story.topics[0] if story.topics else "",
        score=story.score,
        lang=story.language.tag,
        language=str(story.language),
        is_foreign=story.language is not language,
        answer=_first(ANSWER_CELLS, text.quick_answer, text.quick_take, text.what_happened, text.source_excerpt),
        take=_first(TAKE_CELLS, text.quick_take, text.quick_answer, text.what_happened, text.source_excerpt),
        key_points=tuple(shorten(clean(point), POINT_CELLS) for point in text.key_points[:MOST_POINTS]),
        why_it_matters=shorten(clean(text.why_it_matters), REASON_CELLS),
    )


def _first(limit: int, *texts: str) -> str:
    """The first of the texts that says something."""
    return next((shorten(said, limit) for text in texts if (said := clean(text))), "")
