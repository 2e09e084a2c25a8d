"""The main job: sign up, confirm, a brief at eight, leave with one click; and what readers come back for."""

from pathlib import Path

from digest.ports import Fetched
from digest.steps.collect_stories import read_document
from digest.steps.keep_sources import add_source
from tests.journeys.product import EN, ZH, Product, html_of, text_of

LI, ANN = "li@example.com", "ann@example.com"
FEEDS = Path(__file__).parents[1] / "sources" / "feeds"
CHINESE_FEEDS = {"aibase_daily", "deepseek_news"}


def test_a_reader_in_shanghai_signs_up_reads_at_eight_and_leaves_with_one_click(product: Product) -> None:
    product.story("Before", "2026-12-01T12:00")
    for address, language in ((LI, ZH), (ANN, EN)):
        product.sign_up(address, language, "Asia/Shanghai")
        product.confirm(address)
    product.at("2026-12-02T03:01")
    welcome = product.mail(LI)[-1]
    assert "已订阅" in str(welcome["Subject"])
    assert "Before" in text_of(welcome)
    product.story("Morning", "2026-12-02T12:00")
    product.at("2026-12-02T23:50")
    product.at("2026-12-02T23:59:59")
    assert product.briefs(LI) == product.briefs(ANN) == []
    product.at("2026-12-03T00:00")
    (brief,) = product.briefs(LI)
    assert brief["Date"].datetime.isoformat() == "2026-12-03T00:00:00+00:00"
    assert "Morning" in str(brief["Subject"])
    assert "退订" in text_of(brief)
    assert "Before" not in text_of(brief)
    assert "Unsubscribe" in text_of(product.briefs(ANN)[0])
    product.leave(brief)
    product.leave(brief)
    product.story("Next", "2026-12-03T12:00")
    product.at("2026-12-04T00:00")
    assert len(product.briefs(LI)) == 1
    assert len(product.briefs(ANN)) == 2
    assert product.ledger(LI) == [("2026-12-03", "sent", None)]
    assert product.ledger(ANN) == [("2026-12-03", "sent", None), ("2026-12-04", "sent", None)]
    product.holds()


def test_whoever_leaves_between_planning_and_eight_gets_no_brief(product: Product) -> None:
    product.sign_up(LI, ZH, "Asia/Shanghai")
    product.confirm(LI)
    product.at("2026-12-02T03:01")
    product.story("Morning", "2026-12-02T12:00")
    product.at("2026-12-02T23:55")
    product.leave(product.mail(LI)[-1])
    product.at("2026-12-03T00:00")
    assert product.briefs(LI) == []
    assert product.ledger(LI) == [("2026-12-03", "skipped", "unsubscribed")]
    product.holds()


def test_without_confirmation_no_brief_comes(product: Product) -> None:
    product.sign_up(LI, ZH, "Asia/Shanghai")
    product.story("Morning", "2026-12-02T12:00")
    product.at("2026-12-03T00:00")
    assert len(product.mail(LI)) == 1
    assert product.ledger(LI) == []


def test_uns_11_who_left_can_come_back_with_other_wishes(product: Product) -> None:
    product.story("Before", "2026-12-01T12:00")
    product.sign_up(LI, ZH, "Asia/Shanghai")
    product.confirm(LI)
    product.at("2026-12-02T03:01")
    product.leave(product.mail(LI)[-1])
    product.at("2026-12-02T03:02")
    goodbye = len(product.mail(LI))
    product.sign_up(LI, EN, "Europe/Berlin")
    assert len(product.mail(LI)) == goodbye + 1
    for day in (2, 3):
        product.story(f"Day {day}", f"2026-12-0{day}T12:00")
    product.at("2026-12-03T00:00")
    product.at("2026-12-03T07:00")
    assert product.briefs(LI) == []
    product.confirm(LI)
    product.at("2026-12-03T07:01")
    product.at("2026-12-04T00:00")
    assert product.briefs(LI) == []
    product.at("2026-12-04T07:00")
    (brief,) = product.briefs(LI)
    assert "Unsubscribe" in text_of(brief)
    assert "Day 3" in text_of(brief)
    product.holds()


def test_rnd_21_without_anything_new_there_is_no_mail_and_nothing_is_lost(product: Product) -> None:
    for address, language in ((LI, ZH), (ANN, EN)):
        product.sign_up(address, language, "Asia/Shanghai")
        product.confirm(address)
    for number in range(3):
        product.story(f"Chinese {number}", "2026-12-02T12:00", [ZH])
    product.at("2026-12-03T00:00")
    product.at("2026-12-03T00:05")
    product.story("Half past eight", "2026-12-03T00:30", [EN])
    for hour in range(1, 5):
        product.at(f"2026-12-03T0{hour}:00")
    assert product.briefs(ANN) == []
    assert product.ledger(ANN) == [("2026-12-03", "skipped", "nothing_new")]
    assert len(product.briefs(LI)) == 1
    product.at("2026-12-04T00:00")
    (brief,) = product.briefs(ANN)
    assert "Half past eight" in text_of(brief)
    product.holds()


def test_the_six_real_feeds_make_a_brief_in_each_language_with_their_stories_in_it(product: Product) -> None:
    own = product.application
    for address, language in ((LI, ZH), (ANN, EN)):
        product.sign_up(address, language, "Asia/Shanghai")
        product.confirm(address)
    product.at("2026-12-02T03:01")
    titles: dict[str, set[str]] = {EN: set(), ZH: set()}
    for file in sorted(FEEDS.glob("*.xml")):
        language = ZH if file.stem in CHINESE_FEEDS else EN
        source = add_source(own.sessions, f"https://feeds.example.com/{file.name}", file.stem, None, [], product.now)
        document = Fetched(source.feed_url or "", undated(file.read_bytes()))
        read_document(own.sessions, own.desk, source, document, product.now)
        feed = own.desk.parse(document, source=file.stem, language=None, topics=[], seen_at=product.now)
        titles[language] |= {story.texts[story.language].title for story in feed.stories}
    assert [len(titles[language]) for language in (EN, ZH)] == [12, 6]
    product.at("2026-12-03T00:00")
    for address, language in ((LI, ZH), (ANN, EN)):
        (brief,) = product.briefs(address)
        missing = [title for title in titles[language] if unspaced(title) not in unspaced(text_of(brief))]
        assert missing == []
        assert len(html_of(brief).encode()) < 90_000


def undated(feed: bytes) -> bytes:
    """The feed with its items new today: their own dates are months old, and archive is no news."""
    return feed.replace(b"pubDate>", b"formerDate>").replace(b"published>", b"former>").replace(b"updated>", b"older>")


def unspaced(text: str) -> str:
    """Text without spaces and line breaks: the brief sets a gap between Han and Latin that a feed leaves out."""
    return "".join(text.split())
