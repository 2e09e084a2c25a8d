"""Every item of the six real feeds, held against what a person reads in them: title, link, time, language, event."""

from datetime import timedelta
from pathlib import Path

from sqlalchemy import select

from digest.domain.language import Language
from digest.editors.extractive import ExtractiveEditor
from digest.ports import Fetched
from digest.sources.matching import TitleMatcher
from digest.sources.parse import parse_feed
from digest.steps.collect_stories import Desk, read_document
from digest.steps.keep_sources import add_source
from digest.store.database import Sessions
from digest.store.tables import Source, Story, StoryTextRow
from tests.steps.newsroom import Pages, Web
from tests.steps.world import utc

SOURCES = Path(__file__).parents[1] / "sources"
NOW = utc("2026-05-01T00:00")
DESK = Desk(Web(), parse_feed, Pages(), TitleMatcher(), ExtractiveEditor(), timedelta(minutes=15), timedelta(0))


def read_by_people() -> list[list[str]]:
    lines = (SOURCES / "labelled" / "six_feeds.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def test_the_six_feeds_give_the_titles_links_times_languages_and_groups_that_a_person_reads(
    postgres: Sessions,
) -> None:
    """The documents are whole but for long texts, which are cut."""
    files = sorted((SOURCES / "feeds" / "whole").glob("*.xml"))
    for file in files:
        source = add_source(postgres, f"https://feeds.example.com/{file.name}", file.stem, None, [], NOW)
        document = Fetched(source.feed_url or "", file.read_bytes(), "application/xml")
        collected = read_document(postgres, DESK, source, document, NOW)
        assert collected.notes == []
    wanted = (
        select(Story, Source.name, StoryTextRow.title)
        .join(Source, Source.id == Story.source_id)
        .join(StoryTextRow, (StoryTextRow.story_id == Story.id) & (StoryTextRow.language == Story.language))
    )
    with postgres() as session:
        rows = session.execute(wanted).all()
    seen = sorted((name, story.published_at, str(story.language), title, story.url) for story, name, title in rows)
    read = read_by_people()
    assert seen == sorted((source, utc(at), language, title, url) for source, at, language, _, title, url in read)
    assert {language for _, _, language, *_ in read} == set(Language)

    events: dict[int, set[str]] = {}
    for story, _, _ in rows:
        events.setdefault(story.lead_id or story.id, set()).add(story.url)
    named: dict[str, set[str]] = {}
    for _, _, _, event, _, url in read:
        named.setdefault(event or url, set()).add(url)
    assert sorted(map(sorted, events.values())) == sorted(map(sorted, named.values()))
