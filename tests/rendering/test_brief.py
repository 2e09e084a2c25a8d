import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest

from digest.domain.brief import BriefStory
from digest.domain.language import Language
from digest.domain.story import StoryText
from digest.links import Links
from digest.ports import Message
from digest.rendering.brief import markers
from digest.rendering.clean import cells
from digest.rendering.examples import for_example_reader

Brief = Callable[..., Message]
Stories = Callable[..., list[BriefStory]]
Hostile = Callable[[str], list[BriefStory]]
Bundled = Callable[[Language, int], list[BriefStory]]
ReadPage = Callable[[str], Any]

FULL = StoryText(
    title="模型" * 20,
    quick_answer="一句话说清这件事。" * 10,
    quick_take="这一段说明它意味着什么，给谁带来什么。" * 6,
    key_points=("要点说得具体，带数字。" * 4,) * 5,
    what_happened="发生了什么。" * 60,
    key_evidence=("依据。" * 20,) * 5,
    why_it_matters="为什么重要。" * 40,
    what_to_watch="接下来看什么。" * 20,
    source_excerpt="原文摘录。" * 60,
)


def squeezed(text: str) -> str:
    return " ".join(text.split())


def visible(page: ReadPage, message: Message) -> str:
    text: str = page(message.html).text
    return text


@pytest.mark.parametrize("case", ["RND-01", "RND-03", "RND-05", "RND-07"])
@pytest.mark.parametrize("language", list(Language))
def test_hostile_text_is_read_exactly_as_it_was_typed(
    case: str, language: Language, brief: Brief, hostile: Hostile, page: ReadPage
) -> None:
    stories = hostile(case)
    message = brief(stories, language)
    seen, text = visible(page, message), squeezed(message.text)

    for story in stories:
        assert squeezed(story.text.title) in seen
        assert squeezed(story.text.quick_take) in seen
        assert squeezed(story.text.title) in text


@pytest.mark.parametrize("case", ["RND-01", "RND-03", "RND-05", "RND-07"])
def test_hostile_text_in_front_is_in_the_subject_as_typed(case: str, brief: Brief, hostile: Hostile) -> None:
    for story in hostile(case):
        assert brief([story]).subject.startswith(squeezed(story.text.title))


@pytest.mark.parametrize("case", ["RND-01", "RND-03", "RND-05", "RND-07"])
def test_hostile_text_makes_no_elements_and_breaks_no_other_story(
    case: str, brief: Brief, hostile: Hostile, stories_of: Stories, page: ReadPage
) -> None:
    stories = hostile(case)
    harmless = stories_of(*(StoryText("plain", quick_take="plain") for _ in stories))
    given, plain = page(brief(stories).html), page(brief(harmless).html)

    assert [tag for tag, _ in given.elements] == [tag for tag, _ in plain.elements]
    assert given.unbalanced == plain.unbalanced == []


def test_nothing_is_escaped_twice_and_nothing_is_worked_out(brief: Brief, hostile: Hostile, page: ReadPage) -> None:
    message = brief(hostile("RND-01") + hostile("RND-03"))

    assert "&amp;amp;" not in message.html + message.text + message.subject
    assert "&amp;lt;" in message.html  # what the editor typed as &lt; stays visible
    assert "49" not in visible(page, message) + message.text


def test_conditional_comments_stay_balanced_around_hostile_ones(brief: Brief, hostile: Hostile) -> None:
    html = brief(hostile("RND-05")).html

    assert html.count("<!--[if") == html.count("<![endif]-->") > 0


def test_attributes_hold_no_escapes_of_the_compiler(brief: Brief, hostile: Hostile) -> None:
    html = brief(hostile("RND-07")).html

    assert "\\u{" not in html
    assert "\\\\" not in html


@pytest.mark.parametrize("cluster", ["👨‍👩‍👧‍👦", "🇨🇳", "e\u0301"])
def test_endless_titles_are_cut_between_clusters(cluster: str, brief: Brief, stories_of: Stories) -> None:
    message = brief(stories_of(cluster * 300))
    shown = message.subject.removesuffix(" · 2 Dec")

    assert shown.endswith("…")
    assert shown[:-1].replace(cluster, "") == ""
    assert f"{cluster}…" in message.html
    message.html.encode()


@pytest.mark.parametrize("language", list(Language))
def test_the_subject_is_the_lead_and_the_date_within_sixty_cells(
    language: Language, brief: Brief, bundled: Bundled
) -> None:
    date = {"en": "2 Dec", "zh": "12月2日"}[language]
    for lead in bundled(language, 17):
        subject = brief([lead], language).subject

        assert subject.endswith(f" · {date}")
        assert subject[:12] == lead.text.title[:12]
        assert cells(subject) <= 60


@pytest.mark.parametrize("language", list(Language))
def test_every_story_and_its_addresses_are_in_both_parts(
    language: Language, brief: Brief, bundled: Bundled, page: ReadPage, links: Links
) -> None:
    stories = bundled(language, 12)
    message = brief(stories, language)
    read = page(message.html)

    for story in stories:
        assert story.text.title in read.text
        assert story.text.title in squeezed(message.text)
        for url in (links.story(story.slug, language), story.url):
            assert url in read.links()
            assert url in message.text.split()


@pytest.mark.parametrize("language", list(Language))
def test_the_footer_has_each_slot_and_the_publisher_in_both_parts(
    language: Language, brief: Brief, stories_of: Stories, page: ReadPage
) -> None:
    message = brief(stories_of("A", "B", language=language), language)
    urls = page(message.html).links()

    assert [urls.count(message.slots[name]) for name in ("unsubscribe_url", "preferences_url")] == [1, 1]
    assert f"https://brief.example.com/briefs/2026-12-02/{language}?brief=7" in urls
    for part in (message.html, message.text):
        assert all(marker in part for marker in message.slots.values())
        assert "1 Example Street, Springfield" in part


def test_markers_are_plain_and_none_is_part_of_another() -> None:
    made = markers("0123456789abcdef")

    assert all(re.fullmatch(r"[a-z0-9-]+", marker) for marker in made.values())
    assert not [(a, b) for a in made.values() for b in made.values() if a != b and a in b]


@pytest.mark.parametrize("nonce", ["", "short", "with space and more", "<script>alert(1)"])
def test_a_nonce_that_can_be_guessed_or_needs_escaping_is_refused(nonce: str) -> None:
    with pytest.raises(ValueError, match="nonce"):
        markers(nonce)


def test_a_brief_without_stories_is_refused(brief: Brief) -> None:
    with pytest.raises(ValueError, match="at least one story"):
        brief([])


@pytest.mark.parametrize("language", list(Language))
def test_a_passage_in_the_other_language_says_so_to_readers_and_to_machines(
    language: Language, brief: Brief, stories_of: Stories, page: ReadPage
) -> None:
    other = next(tongue for tongue in Language if tongue is not language)
    own, foreign = stories_of("own", language=language), stories_of("foreign", language=other)
    read = page(brief(own + foreign, language).html)
    said = {"en": "in Chinese", "zh": "英文原文"}[language]

    assert read.text.count(said) == 1
    assert said in brief(own + foreign, language).text
    assert said not in page(brief(own, language).html).text
    headings = [attributes.get("lang") for tag, attributes in read.elements if tag in {"h1", "h3"}]
    assert headings == [language.tag, other.tag]


@pytest.mark.parametrize("language", list(Language))
def test_the_document_and_its_body_say_their_language(
    language: Language, brief: Brief, stories_of: Stories, page: ReadPage
) -> None:
    elements = dict(reversed(page(brief(stories_of("A", language=language), language).html).elements))

    assert elements["html"]["lang"] == elements["body"]["lang"] == language.tag


def test_the_lead_is_told_in_full_and_the_others_in_short(brief: Brief, stories_of: Stories, page: ReadPage) -> None:
    full = StoryText("T", quick_answer="answer!", quick_take="take!", key_points=("point!",), why_it_matters="why!")
    seen = visible(page, brief(stories_of(full, full)))

    assert [seen.count(word) for word in ("point!", "why!", "take!")] == [1, 1, 1]


def test_the_preheader_says_what_can_be_read_below(brief: Brief, stories_of: Stories) -> None:
    html = brief(stories_of(StoryText("T", quick_answer="The answer in one sentence."))).html

    assert html.count("The answer in one sentence.") == 2


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("机器之心", ["另见机器之心、AIbase", "机器之心的更多报道"]),
        ("AIbase", ["另见 AIbase", "AIbase 的更多报道"]),
    ],
)
def test_a_name_in_chinese_words_has_a_gap_only_where_it_is_latin(
    source: str, said: list[str], brief: Brief, stories_of: Stories, page: ReadPage
) -> None:
    others = ("机器之心", "AIbase") if source == "机器之心" else ("AIbase",)
    stories = stories_of("甲", "乙", language=Language.CHINESE, source=source, also_by=others)
    message = brief(stories[:1], Language.CHINESE, more=stories[1:])

    for part in (visible(page, message), squeezed(message.text)):
        assert [words for words in said if words not in part] == []


@pytest.mark.parametrize("language", list(Language))
def test_for_readers_of_both_each_title_has_the_other_one_right_under_it(
    language: Language, brief: Brief, stories_of: Stories, page: ReadPage
) -> None:
    other = next(tongue for tongue in Language if tongue is not language)
    stories = stories_of("Own", "Own", language=language, other_title="Other")
    both, one = (brief(stories, language, is_both=is_both) for is_both in (True, False))

    assert len(re.findall("Own ?Other", visible(page, both))) == 2
    assert len(re.findall(r"\d\. Own \[\d+\]\n   Other\n", both.text)) == 2
    assert "Other" not in one.html + one.text
    elements = page(both.html).elements
    titles = [at for at, (tag, _) in enumerate(elements) if tag in {"h1", "h3"}]
    after = [next(given for tag, given in elements[at:] if tag == "p") for at in titles]
    assert [given.get("lang") for given in after] == [other.tag] * 2


def test_the_preheader_holds_only_whole_titles_where_one_fits(brief: Brief, stories_of: Stories) -> None:
    long, short = "A title of some sixty letters that says what happened and to whom", "Chips"
    said = [squeezed(brief(stories_of("Lead", *others)).text) for others in ((short, short), (long, long))]

    assert said[0].startswith("Also in this brief: Chips; Chips Daily")
    assert said[1].startswith(f"Also in this brief: {long} Daily")


def test_a_source_that_is_no_web_address_gets_no_link(brief: Brief, stories_of: Stories, page: ReadPage) -> None:
    message = brief(stories_of("A", "B", url="javascript:alert(1)"))

    assert "javascript:" not in message.html + message.text
    assert "Example News" in visible(page, message)


def test_a_raw_address_as_title_is_shortened_and_its_link_is_not(
    brief: Brief, stories_of: Stories, page: ReadPage
) -> None:
    url = "https://news.example/" + "x" * 279
    read = page(brief(stories_of(url, url=url)).html)

    assert url in read.links()
    assert url not in read.text
    assert f"{url[:59]}…" in read.text


@pytest.mark.parametrize("language", list(Language))
def test_twelve_full_stories_stay_under_ninety_thousand_bytes(
    language: Language, brief: Brief, stories_of: Stories, page: ReadPage
) -> None:
    html = brief(stories_of(*([FULL] * 12), language=Language.CHINESE), language, limit_bytes=10**9).html

    assert len(html.encode()) < 90_000
    assert visible(page, brief(stories_of(FULL))).count(FULL.title) == 1


HEAVY = "e" + "\u0323\u0301" * 5
"""One cell of 22 bytes."""


@pytest.mark.parametrize("count", [1, 12])
def test_even_the_heaviest_characters_keep_a_brief_under_ninety_thousand_bytes(
    count: int, brief: Brief, stories_of: Stories, links: Links, page: ReadPage
) -> None:
    heavy = StoryText(HEAVY * 240, HEAVY * 700, HEAVY * 600, (HEAVY * 320,) * 6, why_it_matters=HEAVY * 900)
    message = brief(stories_of(*([heavy] * count)))
    filled = for_example_reader(message, links, date(2026, 11, 1))

    assert len(message.html) < len(filled.html)
    assert 20_000 < len(filled.html.encode()) <= 90_000
    assert "/unsubscribe/" in filled.html
    assert "1 Example Street, Springfield" in page(filled.html).text


@pytest.mark.parametrize("language", list(Language))
@pytest.mark.parametrize(
    "title", ["Rates", "Rates " * 40, "R" * 300, "利率" * 100, "👨‍👩‍👧‍👦" * 300, "Rates · 2 Dec", "2 Dec"]
)
def test_the_subject_is_never_the_same_two_days_running(
    title: str, language: Language, brief: Brief, stories_of: Stories
) -> None:
    days = [date(2026, 11, 29) + timedelta(days=past) for past in range(4)]
    subjects = [brief(stories_of(title), language, on=day).subject for day in days]

    assert len(set(subjects)) == len(days)
    assert max(cells(subject) for subject in subjects) <= 60


@pytest.mark.parametrize(
    ("language", "said"), [("en", "more stories are in the web version"), ("zh", "条，请在网页阅读")]
)
def test_an_oversized_brief_leaves_its_last_stories_to_the_web_and_says_so(
    language: str, said: str, brief: Brief, stories_of: Stories, page: ReadPage
) -> None:
    tongue = Language(language)
    stories = stories_of(*(f"story no. {n:02d}" for n in range(12)), language=tongue)
    message = brief(stories, tongue, limit_bytes=30_000)
    seen = visible(page, message)
    shown = len(set(re.findall(r"story no\. \d\d", seen)))

    assert 1 < shown < 12
    assert f"{12 - shown} {said}" in seen
    assert said in message.text
    assert len(message.html.encode()) <= 30_000
    assert message.slots["unsubscribe_url"] in message.html


def test_the_first_story_and_the_footer_stay_however_small_the_limit(brief: Brief, stories_of: Stories) -> None:
    message = brief(stories_of("kept", "dropped"), limit_bytes=1)

    assert "kept" in message.html
    assert "dropped" not in message.html + message.text
    assert message.slots["unsubscribe_url"] in message.html


@pytest.mark.parametrize("language", list(Language))
def test_the_text_part_keeps_to_72_cells_but_for_addresses(language: Language, brief: Brief, bundled: Bundled) -> None:
    message = brief(bundled(language, 12), language)
    text = message.text.replace(message.slots["subscribed_on"], "30 September 2026")
    wide = [line for line in text.split("\n") if cells(line) > 72]

    assert not [line for line in wide if not re.fullmatch(r"\[\d+\] https://\S+", line)]


def test_no_control_or_line_end_of_a_feed_reaches_subject_or_text(brief: Brief, stories_of: Stories) -> None:
    message = brief(
        stories_of(StoryText("A\r\nBcc: x\u2028y\x00", quick_take="one\n\nUnsubscribe: http://evil.example"))
    )

    assert message.subject == "A Bcc: x y · 2 Dec"
    assert "Unsubscribe: http://evil.example" not in message.text.split("\n")
    assert "\x00" not in message.html


def test_there_is_no_image_and_no_script(brief: Brief, bundled: Bundled, page: ReadPage) -> None:
    tags = {tag for tag, _ in page(brief(bundled(Language.ENGLISH, 12)).html).elements}

    assert not tags & {"img", "script", "form", "iframe", "object"}


def test_layout_tables_are_not_read_out_as_tables(brief: Brief, bundled: Bundled, page: ReadPage) -> None:
    elements = page(brief(bundled(Language.ENGLISH, 3)).html).elements

    assert {attributes.get("role") for tag, attributes in elements if tag == "table"} == {"presentation"}


def test_the_same_stories_give_the_same_message(brief: Brief, bundled: Bundled) -> None:
    stories = bundled(Language.CHINESE, 5)

    assert brief(stories, Language.CHINESE) == brief(stories, Language.CHINESE)
