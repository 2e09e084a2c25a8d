"""Addresses, languages, topics, errors, and the tables of states and events."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digest.domain.address import address_key, masked, mend_address
from digest.domain.delivery import MOVES, BatchState, DeliveryReason, DeliveryState
from digest.domain.errors import BadInputError, PermanentError, TryAgainError, shown
from digest.domain.event import PROVES_DELIVERY, PROVES_HAND_OVER, EventKind
from digest.domain.language import (
    LANGUAGE_CHOICES,
    Language,
    LanguageChoice,
    choices_of,
    language_choice,
    parse_language,
    parse_language_choice,
)
from digest.domain.subscriber import EndReason, topics_key, topics_of
from digest.domain.suppression import SuppressionReason


@pytest.mark.parametrize(
    "typed",
    [
        "ｒｅａｄｅｒ@example.com",
        "reader＠example.com",
        "reader@ｅｘａｍｐｌｅ．ｃｏｍ",
        "reader@example。com",
        "reader@example｡com",
        " reader@example.com\n",
        "\u200breader@exam\u00adple.com\ufeff",
        "\u3000reader@example.com\u3000",
    ],
)
def test_sgn_17_what_an_input_method_left_in_an_address_is_mended(typed: str) -> None:
    assert mend_address(typed) == "reader@example.com"


def test_letters_that_only_look_alike_stay_what_they_are() -> None:
    for typed in ("ﬁn@example.com", "reаder@example.com", "①@example.com"):
        assert mend_address(typed) == typed


@given(st.text(max_size=60))
def test_mending_twice_is_mending_once(typed: str) -> None:
    once = mend_address(typed)
    assert mend_address(once) == once
    assert unicodedata.is_normalized("NFC", once)


def test_case_and_width_make_no_second_mailbox() -> None:
    assert (
        len({address_key(typed) for typed in ("Reader@Example.com", "READER@EXAMPLE.COM", "ｒeader＠example.com")}) == 1
    )


@pytest.mark.parametrize(
    ("address", "line"),
    [("reader@example.com", "r***@example.com"), ("@x", "***@x"), ("no-at", "***no-at"), ("", "***")],
)
def test_a_log_line_shows_no_mailbox(address: str, line: str) -> None:
    assert masked(address) == line


@pytest.mark.parametrize("text", ["en", "EN", " en-GB ", "en_US", "English"])
def test_english_is_read(text: str) -> None:
    assert parse_language(text) is Language.ENGLISH


@pytest.mark.parametrize("text", ["zh", "zh-CN", "zh_Hans", "ZH-TW", "cn", "中文", "Chinese"])
def test_chinese_is_read(text: str) -> None:
    assert parse_language(text) is Language.CHINESE


@pytest.mark.parametrize("text", ["", "de", "e", "zhuang", "en\n-x", "<script>", "日本語"])
def test_another_language_is_refused_by_name(text: str) -> None:
    with pytest.raises(BadInputError) as refused:
        parse_language(text)
    assert refused.value.field == "language"


@pytest.mark.parametrize(
    ("text", "choice"),
    [("en", "en"), (" zh-CN ", "zh"), ("both", "zh+en"), ("双语", "zh+en"), ("EN+zh", "en+zh"), ("zh en", "zh+en")],
)
def test_a_reader_may_choose_one_language_or_both_in_an_order(text: str, choice: str) -> None:
    assert parse_language_choice(text, Language.CHINESE) is LanguageChoice(choice)


@pytest.mark.parametrize("text", ["fr", "en+fr", "en+en", "+", "en+", ""])
def test_no_other_choice_is_taken(text: str) -> None:
    with pytest.raises(BadInputError, match="language"):
        parse_language_choice(text, Language.ENGLISH)


@pytest.mark.parametrize("language", list(Language))
def test_every_choice_of_a_form_can_be_read_and_has_a_first_language(language: Language) -> None:
    assert {parse_language_choice(word, language).is_both for word in LANGUAGE_CHOICES} == {True, False}
    assert choices_of(language) == (language_choice(language), language_choice(language, is_both=True))
    assert all(choice.language is language for choice in choices_of(language))


def test_tags_are_those_of_bcp_47() -> None:
    assert [language.tag for language in Language] == ["en", "zh-Hans"]


def test_topics_have_one_spelling() -> None:
    assert topics_key(["Models", " chips ", "models", ""]) == "chips,models"
    assert topics_key([]) == ""


@given(st.lists(st.text("abcdefgh", min_size=1, max_size=5)))
def test_topics_survive_writing_and_reading(topics: list[str]) -> None:
    assert topics_of(topics_key(topics)) == tuple(sorted(set(topics)))


def test_bad_input_names_the_value_on_one_line() -> None:
    error = BadInputError("timezone", "Mars\r\nBcc: x\0" + "y" * 500, "is no zone.")
    assert str(error).startswith("timezone: “Mars")
    assert str(error).isprintable()
    assert len(str(error)) < 120


def test_a_short_value_is_shown_whole() -> None:
    assert shown("abc") == "“abc”"
    assert shown("x" * 80) == f"“{'x' * 80}”"
    assert len(shown("x" * 5000)) <= 82
    assert "…" in shown("x" * 81)


def test_the_two_families_of_failure_are_apart() -> None:
    assert not issubclass(PermanentError, TryAgainError)
    assert not issubclass(TryAgainError, PermanentError)
    assert TryAgainError("busy", 7).after_seconds == 7


def test_every_state_has_its_moves_and_only_sent_is_final() -> None:
    assert set(MOVES) == set(BatchState)
    assert {state for state, after in MOVES.items() if not after} == {BatchState.SENT}


def test_every_state_can_be_reached_from_planned_and_only_sending_leads_to_the_provider() -> None:
    reached = {BatchState.PLANNED}
    while more := {after for state in reached for after in MOVES[state]} - reached:
        reached |= more
    assert reached == set(BatchState)
    assert {state for state, after in MOVES.items() if BatchState.UNKNOWN in after} == {
        BatchState.SENDING,
        BatchState.READY,
        BatchState.PLANNED,
    }
    assert {state for state, after in MOVES.items() if BatchState.SENDING in after} == {BatchState.READY}


def test_a_delivery_shares_the_words_of_its_batch() -> None:
    assert {state.value for state in DeliveryState} <= {state.value for state in BatchState}


def test_words_fit_their_columns() -> None:
    for words in (BatchState, DeliveryState, DeliveryReason, EventKind, EndReason, SuppressionReason):
        assert all(len(word.value) <= 24 and word.value.isascii() for word in words)


def test_only_what_is_not_understood_proves_nothing() -> None:
    assert set(EventKind) - PROVES_HAND_OVER == {EventKind.OTHER}


def test_what_proves_delivery_proves_the_hand_over() -> None:
    assert PROVES_DELIVERY < PROVES_HAND_OVER
