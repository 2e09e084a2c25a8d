import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest

from digest.domain.brief import BriefStory
from digest.domain.correction import Notice
from digest.domain.language import Language
from digest.domain.story import StoryText
from digest.links import Links
from digest.ports import Message
from digest.rendering.brief import render_brief
from digest.rendering.site import Site
from digest.rendering.templates import Templates

EMAILS = Path(__file__).parents[2] / "emails"
BUNDLED = Path(__file__).parents[2] / "digest" / "sources" / "bundled" / "stories.json"
NONCE = "0123456789abcdef"

VOID = frozenset({"area", "br", "hr", "img", "input", "link", "meta"})


class Page(HTMLParser):
    """The visible text of a page, its elements and their attributes, and how its elements nest."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.pieces: list[str] = []
        self.unbalanced: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()
        self.unbalanced += self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if self.open and self.open[-1] == tag:
            self.open.pop()
        else:
            self.unbalanced.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        if not {"style", "title", "head"} & set(self.open):
            self.pieces.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.pieces).split())

    def links(self) -> list[str]:
        return [attributes["href"] for tag, attributes in self.elements if tag == "a"]


Brief = Callable[..., Message]
Stories = Callable[..., list[BriefStory]]


@pytest.fixture(scope="session")
def templates() -> Templates:
    return Templates(EMAILS)


@pytest.fixture(scope="session")
def links() -> Links:
    return Links("https://brief.example.com", ["a-key-for-tests-only-0123456789abcdef"])


@pytest.fixture(scope="session")
def site() -> Site:
    return Site("Daily Brief", "1 Example Street, Springfield", "https://brief.example.com")


@pytest.fixture(scope="session")
def brief(templates: Templates, links: Links, site: Site) -> Brief:
    """Renders stories as one brief of 2 December 2026."""

    def render(
        stories: list[BriefStory], language: Language = Language.ENGLISH, limit_bytes: int = 90_000, **more: object
    ) -> Message:
        return render_brief(
            templates,
            links,
            site,
            brief_id=7,
            stories=stories,
            language=language,
            nonce=NONCE,
            limit_bytes=limit_bytes,
            **{"on": date(2026, 12, 2), **more},  # type: ignore[arg-type] # one spelling for what tests may change
        )

    return render


@pytest.fixture(scope="session")
def full_brief(brief: Brief, bundled: Callable[[Language, int], list[BriefStory]]) -> Message:
    """A brief with each part that one can have: every kind of badge, both titles, a correction, stories left out."""
    scores = {1: 90, 2: 60, 3: 10}
    stories = [
        replace(one, score=scores.get(one.id, 50), other_title="另一种语言") for one in bundled(Language.ENGLISH, 8)
    ]
    stories[2] = replace(stories[2], language=Language.CHINESE)
    note = {Language.ENGLISH: "It said 40; it is 14."}
    notice = Notice(1, "story", {Language.ENGLISH: "A story"}, note, datetime(2026, 12, 1, tzinfo=UTC))
    more = bundled(Language.ENGLISH, 10)[8:]
    full = brief(stories, limit_bytes=32_000, is_both=True, notices=[notice], more=more)
    assert "in the web version" in full.html
    return full


def story(number: int, text: StoryText, language: Language = Language.ENGLISH, **changed: object) -> BriefStory:
    facts = {
        "id": number,
        "slug": f"story-{number}",
        "url": f"https://news.example/s/{number}",
        "source": "Example News",
        "text": text,
        "language": language,
        "published_at": None,
        "topics": ("models",),
        "score": 50,
    }
    return BriefStory(**{**facts, **changed})  # type: ignore[arg-type] # one spelling for all fields keeps tests short


@pytest.fixture(scope="session")
def stories_of() -> Stories:
    """Stories with the given titles and nothing else, or with texts."""

    def make(*texts: str | StoryText, language: Language = Language.ENGLISH, **changed: object) -> list[BriefStory]:
        given = [StoryText(text) if isinstance(text, str) else text for text in texts]
        return [story(number, text, language, **changed) for number, text in enumerate(given, 1)]

    return make


@pytest.fixture(scope="session")
def hostile(stories_of: Stories) -> Callable[[str], list[BriefStory]]:
    """The stories of a field case, as a brief would get them."""

    def load(case: str) -> list[BriefStory]:
        path = Path(__file__).parent / "cases" / f"{case}.json"
        facts = json.loads(path.read_text(encoding="utf-8"))["stories"]
        return stories_of(*(StoryText(fact["title"], quick_take=fact["summary"]) for fact in facts))

    return load


@pytest.fixture(scope="session")
def bundled() -> Callable[[Language, int], list[BriefStory]]:
    """The first stories that come with the project, in a language."""

    def load(language: Language, count: int) -> list[BriefStory]:
        facts = json.loads(BUNDLED.read_text(encoding="utf-8"))[:count]
        return [
            story(
                number,
                StoryText(**{k: tuple(v) if isinstance(v, list) else v for k, v in fact["texts"][language].items()}),
                language,
                slug=fact["slug"],
                url=fact["url"],
                source=fact["source"],
                topics=tuple(fact["topics"]),
            )
            for number, fact in enumerate(facts, 1)
        ]

    return load


@pytest.fixture(scope="session")
def page() -> type[Page]:
    """Reads HTML as a mail client does."""
    return Page
