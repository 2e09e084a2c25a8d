"""A heading that a source runs into its sentence is left out, and nothing else is."""

import pytest

from digest.editors.headings import without_heading


@pytest.mark.parametrize(
    ("run_in", "sentence"),
    [
        (
            "Availability and Ecosystem Support The NVIDIA RTX PRO 5000 is now available.",
            "The NVIDIA RTX PRO 5000 is now available.",
        ),
        (
            "InfinitForm Optimizes Generative Design With RTX PRO 5000 InfinitForm, a provider of software, is in.",
            "InfinitForm, a provider of software, is in.",
        ),
        ("NVIDIA, DOE Announce MOU In addition, NVIDIA signed.", "In addition, NVIDIA signed."),
        ("1、小红书首次公布「主张」：抵制造假小红书首次公布「主张」，强调作用。", "小红书首次公布「主张」，强调作用。"),
        ("8、ima上线知识Agent:支持联动ima推出的知识Agent可以记忆。", "ima推出的知识Agent可以记忆。"),
        ("2、字节跳动发布新品，同步上线字节跳动团队今天说明了一切。", "字节跳动团队今天说明了一切。"),
        ("3. 全市36座泵站已投入运行。", "全市36座泵站已投入运行。"),
        ("• Ports reopen on Monday.", "Ports reopen on Monday."),
    ],
)
def test_a_heading_is_left_out(run_in: str, sentence: str) -> None:
    assert without_heading(run_in) == sentence


@pytest.mark.parametrize(
    "sentence",
    [
        "The NVIDIA RTX PRO 5000 72GB Blackwell GPU is now generally available.",
        "OpenAI and Microsoft said that OpenAI will stay.",
        "Google DeepMind Chief Executive Demis Hassabis spoke in London.",
        "人工智能的发展需要人工智能人才。",
        "2.5 million people came.",
        "",
    ],
)
def test_a_sentence_without_one_stays_whole(sentence: str) -> None:
    assert without_heading(sentence) == sentence
