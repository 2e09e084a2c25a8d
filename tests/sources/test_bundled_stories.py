"""What a new installation shows its first visitors: complete, and set as an editor of each language would."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

import pytest

Story = dict[str, Any]

STORIES: list[Story] = json.loads(files("digest.sources").joinpath("bundled/stories.json").read_text(encoding="utf-8"))
WRITTEN_ON = datetime(2026, 12, 2, tzinfo=UTC)
TOPICS = {"models", "chips", "research", "agents", "safety", "business", "policy", "tools", "science", "robotics"}
PROSE = {"quick_answer": (1, 2), "quick_take": (1, 1), "what_happened": (2, 3), "why_it_matters": (2, 3)}
PROSE |= {"what_to_watch": (1, 2), "source_excerpt": (1, 2)}
LISTS = {"key_points": (3, 5), "key_evidence": (2, 4)}

HAN = r"[\u3400-\u9fff]"
FULL_WIDTH = "，。：；？！、（）“”‘’《》…—"
CLOSING, OPENING = "，。：；？！、）”’》…", "（“‘《"
SENTENCE_END = {"en": r"[.?](?=\s|$)", "zh": "[。？]"}

every_story = pytest.mark.parametrize("story", STORIES, ids=[story["slug"] for story in STORIES])


def lines(story: Story, language: str) -> Iterator[str]:
    for value in story["texts"][language].values():
        yield from [value] if isinstance(value, str) else value


def test_there_are_enough_stories_for_a_front_page_and_an_archive() -> None:
    assert len(STORIES) >= 14


@every_story
def test_a_story_is_complete_in_both_languages(story: Story) -> None:
    assert set(story["texts"]) == {"en", "zh"}
    for language, text in story["texts"].items():
        assert set(text) == {"title", *PROSE, *LISTS}
        assert all(line.strip() == line != "" for line in lines(story, language))
        assert all(low <= len(text[name]) <= high for name, (low, high) in LISTS.items())


@every_story
def test_both_languages_tell_the_same_points_and_percentages(story: Story) -> None:
    english, chinese = story["texts"]["en"], story["texts"]["zh"]
    assert [len(english[name]) for name in LISTS] == [len(chinese[name]) for name in LISTS]
    shares = [set(re.findall(r"[\d.]+%", " ".join(lines(story, language)))) for language in ("en", "zh")]
    assert shares[0] == shares[1]


@every_story
@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_part_has_the_length_its_heading_promises(story: Story, language: str) -> None:
    text = story["texts"][language]
    counts = {name: len(re.findall(SENTENCE_END[language], text[name])) for name in PROSE}
    assert not {name: n for name, n in counts.items() if not PROSE[name][0] <= n <= PROSE[name][1]}


def test_slugs_are_unique_and_fit_an_address() -> None:
    slugs = [story["slug"] for story in STORIES]
    assert len(set(slugs)) == len(slugs)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug) for slug in slugs)


def test_addresses_are_absolute_https_and_no_two_stories_share_one() -> None:
    urls = [story["url"] for story in STORIES]
    assert len(set(urls)) == len(urls)
    for url in urls + [story["source_url"] for story in STORIES]:
        parts = urlsplit(url)
        assert (parts.scheme, bool(parts.netloc), bool(parts.path)) == ("https", True, True), url


@every_story
def test_a_date_is_in_utc_and_not_in_the_future(story: Story) -> None:
    published_at = datetime.fromisoformat(story["published_at"])
    assert published_at.utcoffset() == timedelta(0)
    assert published_at <= WRITTEN_ON


def test_topics_are_known_and_each_of_them_has_a_story() -> None:
    assert all(1 <= len(story["topics"]) == len(set(story["topics"])) <= 3 for story in STORIES)
    assert {topic for story in STORIES for topic in story["topics"]} == TOPICS


def test_a_source_has_one_name_one_home_page_and_one_language() -> None:
    sources = {(story["source"], story["source_url"], story["language"]) for story in STORIES}
    names, homes, languages = zip(*sources, strict=True)
    assert len(set(names)) == len(set(homes)) == len({name.casefold() for name in names}) == len(sources)
    assert set(languages) == {"en", "zh"}


def test_a_story_page_has_more_from_its_source_and_the_chinese_press_is_there() -> None:
    counts = Counter(story["source"] for story in STORIES)
    assert sum(count >= 3 for count in counts.values()) >= 2
    assert sum(story["language"] == "zh" for story in STORIES) >= 3


@every_story
def test_titles_fit_a_subject_line_and_do_not_end_like_sentences(story: Story) -> None:
    english, chinese = story["texts"]["en"]["title"], story["texts"]["zh"]["title"]
    assert len(english) < 90
    assert len(re.findall(HAN, chinese)) < 34
    assert len(chinese) < 50
    assert not re.search(r"[.!。！，,]$", english)
    assert not re.search(r"[.!。！，,]$", chinese)


@every_story
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_line_but_the_title_is_a_whole_sentence_and_none_shouts(story: Story, language: str) -> None:
    _, *body = lines(story, language)
    assert not [line for line in body if not re.search(SENTENCE_END[language] + "$", line)]
    assert not [line for line in lines(story, language) if re.search("[!！\n\t]", line)]


@every_story
def test_english_is_set_in_english_type(story: Story) -> None:
    wrong = rf"{HAN}|[，。：；？！、（）《》]|  | [,.;:?)]"
    assert not [line for line in lines(story, "en") if re.search(wrong, line)]


@every_story
def test_chinese_has_full_width_punctuation(story: Story) -> None:
    half_width = rf"{HAN}\s*[,.;:!?()\"']|[,.;:!?()\"']\s*{HAN}"
    assert not [line for line in lines(story, "zh") if re.search(half_width, line)]


@every_story
def test_chinese_has_a_gap_beside_latin_letters_and_digits_but_none_beside_full_width_marks(story: Story) -> None:
    no_gap = rf"{HAN}[A-Za-z0-9$]|[A-Za-z0-9%+]{HAN}"
    stray_gap = rf"[{FULL_WIDTH}] | [{FULL_WIDTH}]|{HAN} +{HAN}|  "
    assert not [line for line in lines(story, "zh") if re.search(f"{no_gap}|{stray_gap}", line)]


@every_story
def test_no_chinese_line_begins_with_closing_or_ends_with_opening_punctuation(story: Story) -> None:
    assert not [line for line in lines(story, "zh") if line[0] in CLOSING or line[-1] in OPENING]


@every_story
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_excerpt_is_a_lead_of_our_own_and_not_dressed_as_a_quotation(story: Story, language: str) -> None:
    assert not re.search('["“”「」『』]', story["texts"][language]["source_excerpt"])
