"""Six feeds as they were on the web, a few items of each, bytes otherwise untouched."""

import re
import unicodedata
from datetime import UTC, datetime

import pytest

from digest.domain.language import Language
from digest.domain.sentences import width
from digest.ports import Fetched
from digest.sources.items import ParsedFeed
from digest.sources.parse import parse_feed
from tests.sources.conftest import FEEDS

SEEN_AT = datetime(2026, 5, 1, tzinfo=UTC)
EN, ZH = Language.ENGLISH, Language.CHINESE
NAMES = ["aibase_daily", "anthropic", "deepseek_news", "google", "nvidia", "openai"]


def read(name: str, language: Language | None = None) -> ParsedFeed:
    document = Fetched(f"https://feeds.example/{name}.xml", (FEEDS / f"{name}.xml").read_bytes(), "application/xml")
    return parse_feed(document, source=name, language=language, topics=["Models", " "], seen_at=SEEN_AT)


@pytest.mark.parametrize("name", NAMES)
def test_a_real_feed_gives_clean_dated_linked_stories(name: str) -> None:
    feed = read(name)
    assert feed.notes == []
    assert feed.whole
    assert len(feed.stories) == 3
    for story in feed.stories:
        assert re.fullmatch(r"https://[a-z.-]+/[\x21-\x7e]*", story.url)
        assert story.published_at is not None
        assert story.published_at.tzinfo is UTC
        assert (story.source, story.topics) == (name, ("models",))
        text = story.texts[story.language]
        assert width(text.source_excerpt) <= 300
        for words in (text.title, text.source_excerpt, story.body):
            assert not re.search(r"</?[a-z]+[ >]|&[a-z]+;|&#|  |\N{REPLACEMENT CHARACTER}", words)
            assert not any(unicodedata.category(c) in {"Cc", "Cf"} for c in words.replace("\n", " "))


@pytest.mark.parametrize(
    ("name", "title", "home_url", "language"),
    [
        ("aibase_daily", "Aibase Daily", "", None),
        ("anthropic", "Anthropic News", "https://www.anthropic.com/news", EN),
        ("deepseek_news", "Deepseek News", "", None),
        ("google", "Google AI Blog", "https://blog.google/technology/ai/", EN),
        ("nvidia", "NVIDIA Generative AI News", "https://blogs.nvidia.com/blog/category/generative-ai/", EN),
        ("openai", "OpenAI News (Enriched)", "https://openai.com/news/", EN),
    ],
)
def test_what_a_feed_says_of_itself(name: str, title: str, home_url: str, language: Language | None) -> None:
    feed = read(name)
    assert (feed.title, feed.home_url, feed.language) == (title, home_url, language)


@pytest.mark.parametrize(
    ("name", "index", "language", "title", "url", "published_at"),
    [
        (
            "aibase_daily",
            0,
            ZH,
            "AI日报：DeepSeek识图模式灰测；小红书成立AI一级部门；阿里发布程序员“数字分身”QoderWake",
            "https://news.aibase.com/zh/daily/27658",
            datetime(2026, 4, 30, 13, 3, 3, tzinfo=UTC),
        ),
        (
            "anthropic",
            0,
            EN,
            "Snowflake and Anthropic announce $200 million partnership to bring agentic AI to global enterprises",
            "https://www.anthropic.com/news/snowflake-anthropic-expanded-partnership",
            datetime(2025, 12, 3, tzinfo=UTC),
        ),
        (
            "deepseek_news",
            2,
            ZH,
            "DeepSeek-V3 发布 2024/12/26",
            "https://api-docs.deepseek.com/zh-cn/news/news1226",
            datetime(2024, 12, 26, tzinfo=UTC),
        ),
        (
            "google",
            1,
            EN,
            "5 ways AI agents will transform the way we work in 2026",
            "https://blog.google/products/google-cloud/ai-business-trends-report-2026/",
            datetime(2025, 12, 19, 14, tzinfo=UTC),
        ),
        (
            "nvidia",
            1,
            EN,
            "NVIDIA, US Government to Boost AI Infrastructure and R&D Investments Through Landmark Genesis Mission",
            "https://blogs.nvidia.com/blog/nvidia-us-government-to-boost-ai-infrastructure-and-rd-investments/",
            datetime(2025, 12, 18, 19, 2, 12, tzinfo=UTC),
        ),
        (
            "openai",
            1,
            EN,
            "One in a million: celebrating the customers shaping AI’s future",
            "https://openai.com/index/one-in-a-million-customers",
            datetime(2025, 12, 22, tzinfo=UTC),
        ),
    ],
)
def test_a_story_is_what_a_person_reads_in_the_file(
    name: str, index: int, language: Language, title: str, url: str, published_at: datetime
) -> None:
    story = read(name).stories[index]
    assert (story.language, story.url, story.published_at) == (language, url, published_at)
    assert story.texts[language].title == title


def test_an_excerpt_is_the_source_without_its_players_and_never_the_title_again() -> None:
    agents = read("google").stories[1].texts[EN].source_excerpt
    assert agents.startswith("AI agents can now understand a goal, semi-autonomously develop a multi-step plan")
    assert [story.texts[ZH].source_excerpt for story in read("deepseek_news").stories] == ["", "", ""]


def test_the_operators_word_for_the_language_is_above_the_feeds() -> None:
    assert {story.language for story in read("anthropic", language=ZH).stories} == {ZH}
