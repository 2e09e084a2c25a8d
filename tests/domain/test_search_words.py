"""Words of texts and of questions about them."""

import pytest

from digest.domain.search_words import MOST_WORDS, question_words, search_words


def test_latin_words_are_kept_whole_and_han_in_pieces_of_one_and_two_signs() -> None:
    assert search_words("NVIDIA 创世界纪录", "GB300") == "nvidia 创 世 界 纪 录 创世 世界 界纪 纪录 gb300"


def test_full_width_letters_and_letter_case_make_no_difference() -> None:
    assert search_words("ＧＢ３００ Ｎvidia") == search_words("gb300 NVIDIA")


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("世界纪录", [("世界", False), ("界纪", False), ("纪录", False)]),
        ("云", [("云", False)]),
        ("AI chips", [("ai", False), ("chips", True)]),
        ("'; DROP TABLE & | ! :* \" (", [("drop", True), ("table", True)]),
        ("!!! ，。", []),
    ],
)
def test_a_question_is_its_words_and_never_an_operator(question: str, words: list[tuple[str, bool]]) -> None:
    assert question_words(question) == words


def test_a_question_without_end_has_an_end() -> None:
    assert len(question_words(" ".join(f"w{i}" for i in range(1000)))) == MOST_WORDS
