"""What the archive lists, on PostgreSQL; the pages' own tests are on SQLite."""

from datetime import UTC, date, datetime, timedelta

from digest.domain.brief import BriefState
from digest.domain.language import Language, LanguageChoice
from digest.domain.story import Story, StoryText
from digest.store.archive import briefs_between, months, neighbours
from digest.store.collecting import save_story
from digest.store.database import Sessions
from digest.store.shelves import has_text, ids_of, places, under_topic
from digest.store.sources import source_named
from digest.store.tables import Brief, Edition
from digest.store.tables import Story as Row

NOW = datetime(2026, 12, 2, 3, tzinfo=UTC)
EN, ZH = Language.ENGLISH, Language.CHINESE


def test_stories_are_listed_by_topic_and_language_with_those_that_another_report_lends(postgres: Sessions) -> None:
    told = ((EN, ("data-centers",)), (ZH, ("policy",)), (EN, ("chips", "policy")), (EN, ()))
    with postgres.begin() as session:
        source = source_named(session, "Example News", NOW)
        for number, (language, topics) in enumerate(told):
            texts = {language: StoryText(f"Title {number}")}
            url = f"https://a.example.com/{number}"
            save_story(
                session, source, Story(url, "Example News", language, NOW, texts, topics, slug=f"s{number}"), NOW
            )
        for row_id in range(1, 5):
            session.get_one(Row, row_id).enters_at = NOW - timedelta(hours=row_id)
        session.get_one(Row, 2).lead_id = 1
    with postgres() as session:
        assert ids_of(session, NOW, limit=9) == [1, 3, 4]
        assert ids_of(session, NOW, under_topic(session, "chips"), limit=9) == [1, 3]
        assert ids_of(session, NOW, under_topic(session, "chips"), limit=1, offset=1) == [3]
        assert ids_of(session, NOW, has_text(ZH), limit=9) == [1]
        found = places(session, NOW - timedelta(hours=4), NOW, NOW, 2)
    assert [(place.slug, place.languages) for place in found] == [("s0", [EN, ZH]), ("s2", [EN])]


def test_each_date_has_one_brief_in_each_language_and_months_are_those_that_have_any(postgres: Sessions) -> None:
    days = (date(2026, 10, 30), date(2026, 12, 1), date(2026, 12, 2))
    with postgres.begin() as session:
        for on in days:
            for hours in (23, 25, 2):
                send_at = datetime(on.year, on.month, on.day, tzinfo=UTC) + timedelta(hours=hours - 23)
                start = send_at - timedelta(hours=hours)
                edition = Edition(send_at=send_at, on=on, window_start_at=start, window_end_at=send_at)
                session.add(edition)
                session.flush()
                for chosen in (LanguageChoice.ENGLISH, LanguageChoice.CHINESE_FIRST):
                    session.add(Brief(edition_id=edition.id, languages=chosen, state=BriefState.READY))
    with postgres() as session:
        found = briefs_between(session, days[1], days[2], NOW)
        assert [(brief.on, brief.language) for brief in found] == [(on, of) for on in days[:0:-1] for of in (EN, ZH)]
        assert len({brief.brief_id for brief in found}) == 4
        assert session.get_one(Edition, session.get_one(Brief, found[0].brief_id).edition_id).window_end_at.hour == 2
        assert months(session, NOW) == [date(2026, 12, 1), date(2026, 10, 1)]
        assert months(session, datetime(2026, 10, 1, tzinfo=UTC)) == []
        assert neighbours(session, days[1], ZH, NOW) == (days[0], days[2])
        assert neighbours(session, days[2], EN, NOW) == (days[1], None)
