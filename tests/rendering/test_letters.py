import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from jinja2 import UndefinedError

from digest.domain.brief import BriefStory
from digest.domain.language import Language
from digest.links import Links
from digest.ports import Message
from digest.rendering.clean import cells
from digest.rendering.examples import example_messages
from digest.rendering.letters import Confirm, Goodbye, Letter, Welcome, render_letter
from digest.rendering.site import Site
from digest.rendering.templates import Templates
from tests.rendering.paint import parse
from tests.rendering.test_mail_clients import faults

Stories = Callable[..., list[BriefStory]]
ReadPage = Callable[[str], Any]
Write = Callable[..., Message]


@pytest.fixture
def write(templates: Templates, links: Links, site: Site) -> Write:
    def render(letter: Letter, language: Language = Language.ENGLISH) -> Message:
        return render_letter(templates, links, site, key="letter-7", language=language, letter=letter)

    return render


def welcome(stories: list[BriefStory]) -> Welcome:
    return Welcome(
        next_send=datetime(2026, 12, 3, 8, tzinfo=ZoneInfo("Asia/Shanghai")),
        timezone="Asia/Shanghai",
        subscribed_on=date(2026, 12, 2),
        preferences_url="https://brief.example.com/preferences/p",
        unsubscribe_url="https://brief.example.com/unsubscribe/u",
        stories=stories,
    )


def folders(templates: Templates) -> set[str]:
    return {path.parent.name for path in templates.folder.glob("*/body.mjml")}


@pytest.mark.parametrize("language", list(Language))
def test_every_email_renders_from_its_example_data_in_every_language(
    language: Language, templates: Templates, links: Links, site: Site, page: ReadPage
) -> None:
    messages = example_messages(templates, links, site, language)

    assert {message.kind for message in messages} == folders(templates)
    for message in messages:
        read = page(message.html)
        assert read.unbalanced == []
        assert message.subject
        assert "\n" not in message.subject
        assert "Daily Brief" in message.text
        assert not re.search(r"\{\{|\{%|%\(|<mj-", message.html + message.text + message.subject)
        assert {dict(attributes).get("lang") for tag, attributes in read.elements if tag == "html"} == {language.tag}


def test_every_email_has_its_three_files_and_its_example(templates: Templates) -> None:
    for name in folders(templates):
        assert (templates.folder / name / "text.txt").is_file()
        assert (templates.folder / name / "subject.txt").is_file()
        assert (templates.folder / "examples" / f"{name}.json").is_file()


@pytest.mark.parametrize("language", list(Language))
def test_every_address_in_the_text_is_in_the_html_and_the_other_way_round(
    language: Language, templates: Templates, links: Links, site: Site, page: ReadPage
) -> None:
    for message in example_messages(templates, links, site, language):
        in_html = set(page(message.html).links()) - {links.home(language)}
        in_text = set(re.findall(r"https://[!-~]+|slot-[a-z0-9-]+url-slot(?:#pause)?", message.text))

        assert in_html == in_text


@pytest.mark.parametrize("language", list(Language))
def test_texts_keep_to_72_cells(language: Language, templates: Templates, links: Links, site: Site) -> None:
    for message in example_messages(templates, links, site, language):
        wide = [line for line in message.text.split("\n") if cells(line) > 72]

        assert not [line for line in wide if not re.search(r"https?://|slot-", line)]


def test_no_chinese_email_has_english_words_left_in_it(
    templates: Templates, links: Links, page: ReadPage, site: Site
) -> None:
    chinese = Site("每日简报", "上海市示例路 1 号", site.base_url)
    for message in example_messages(templates, links, chinese, Language.CHINESE):
        shown = message.subject + page(message.html).text
        words = re.sub(r"https?://\S+|slot-\S+|[^\s，]+@[a-z.]+|Example( \w+)*", "", shown)

        assert not re.findall(r"[A-Za-z]{3,}", words)


def test_the_confirmation_spells_its_link_out_and_says_how_long_it_works(write: Write, page: ReadPage) -> None:
    url = "https://brief.example.com/confirm/MTIuMTc5NjE0NDQwMA.abc"
    message = write(Confirm(url, 7))
    read = page(message.html)

    assert read.links().count(url) == 2
    assert url in read.text
    assert url in message.text.split("\n")
    for part in (read.text, message.text):
        assert "The link works for 7 days." in part


def test_one_day_is_not_days(write: Write) -> None:
    assert "The link works for 1 day." in write(Confirm("https://brief.example.com/confirm/x", 1)).text


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "Your first brief comes on Thursday, 3 December at 8:00 am, Beijing time."),
        ("zh", "第一份简报将于 12月3日 星期四 早上 8:00（北京时间）送到。"),
    ],
)
def test_the_welcome_says_when_the_first_brief_comes_on_the_readers_clock(
    language: str, said: str, write: Write, page: ReadPage
) -> None:
    message = write(welcome([]), Language(language))

    assert said in page(message.html).text
    assert said in message.text


def test_the_welcome_holds_the_latest_stories_when_there_are_any(
    write: Write, stories_of: Stories, page: ReadPage
) -> None:
    full, empty = write(welcome(stories_of("first", "second"))), write(welcome([]))

    assert "From the latest brief" in page(full.html).text
    assert ["first" in part for part in (full.html, full.text)] == [True, True]
    assert "From the latest brief" not in page(empty.html).text
    assert "[1]" not in empty.text


def test_a_letter_is_for_one_reader_and_has_no_slots(write: Write) -> None:
    message = write(Goodbye("https://brief.example.com/unsubscribe/u"))

    assert (message.key, message.kind, dict(message.slots)) == ("letter-7", "goodbye", {})


def test_a_site_name_is_data_too(templates: Templates, links: Links, page: ReadPage) -> None:
    site = Site("<b>R&D</b> 100% {{ x }}\r\nBcc: y", "1 <i>Street</i>", "https://brief.example.com")
    message = render_letter(
        templates, links, site, key="letter-1", language=Language.CHINESE, letter=Goodbye("https://brief.example.com/u")
    )

    assert message.subject == "你已退订《<b>R&D</b> 100% {{ x }} Bcc: y》"
    assert "你已退订《<b>R&D</b> 100% {{ x }} Bcc: y》，以后" in page(message.html).text


def test_a_logo_stands_for_the_name_and_says_it_and_without_one_there_is_no_picture(
    templates: Templates, links: Links, site: Site
) -> None:
    logo = "https://brief.example.com/logo.png?v=1&w=2"
    branded = replace(site, logo_url=logo, chinese_name="每日简报")
    named = {Language.ENGLISH: "Daily Brief", Language.CHINESE: "每日简报"}
    for language, name in named.items():
        for message in example_messages(templates, links, branded, language):
            pictures = [(one.get("src"), one.get("alt")) for one in parse(message.html).iter("img")]
            assert pictures == [(logo, name)], message.kind
            assert faults(message.html) == []
        for message in example_messages(templates, links, site, language):
            assert list(parse(message.html).iter("img")) == []


@pytest.mark.parametrize(
    ("language", "words"), [(Language.ENGLISH, "An invisible picture may count"), (Language.CHINESE, "看不见的图片")]
)
def test_a_brief_whose_openings_may_be_counted_says_so_and_no_other_mail_does(
    templates: Templates, links: Links, site: Site, page: ReadPage, language: Language, words: str
) -> None:
    counting = replace(site, counts_opens=True)
    for message in example_messages(templates, links, counting, language):
        told = [words in text for text in (page(message.html).text, "".join(message.text.split("\n")))]
        assert told == [message.kind == "brief"] * 2, message.kind
        assert faults(message.html) == []
    for message in example_messages(templates, links, site, language):
        assert words not in message.text


def test_a_value_that_a_template_asks_for_and_does_not_get_is_an_error(templates: Templates) -> None:
    with pytest.raises(UndefinedError):
        templates.render("goodbye", Language.ENGLISH, {})


def test_mjml_is_compiled_once_however_many_languages_and_messages(tmp_path: Path, templates: Templates) -> None:
    folder = tmp_path / "emails"
    (folder / "note").mkdir(parents=True)
    (folder / "locale").symlink_to(templates.folder / "locale")
    source = folder / "note" / "body.mjml"
    source.write_text(
        '<mjml lang="{{ lang }}"><mj-body><mj-text>{{ word }}</mj-text></mj-body></mjml>', encoding="utf-8"
    )
    own = Templates(folder)
    own.html("note", Language.ENGLISH, {"lang": "en", "word": "one"})
    source.unlink()

    assert "two" in own.html("note", Language.CHINESE, {"lang": "zh-Hans", "word": "two"})
