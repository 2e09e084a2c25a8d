"""Chinese is set with gaps and full-width marks, and says what it said."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digest.domain.language import Language
from digest.domain.story import StoryText, typeset
from digest.domain.typography import typeset_chinese


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("月之暗面推出KimiK3大模型", "月之暗面推出 KimiK3 大模型"),
        ("规模达到2.5万亿，下降12%以内", "规模达到 2.5 万亿，下降 12% 以内"),
        ("千问APP首发HappyHorse;小米机器人亮相;支付宝上线", "千问 APP 首发 HappyHorse；小米机器人亮相；支付宝上线"),
        ("发布Seed3D2.0:几何与纹理", "发布 Seed3D2.0：几何与纹理"),
        ("2026年12月2日发布", "2026年12月2日发布"),
        ("机器人Éloi，其核心", "机器人 Éloi，其核心"),
        ("已有 12 个，无需再加", "已有 12 个，无需再加"),
        ("网址https://example.com/a,b与12:30", "网址 https://example.com/a,b 与 12:30"),
        ("“AI收”上线", "“AI 收”上线"),
        ("Only English, nothing else: 3.", "Only English, nothing else: 3."),
    ],
)
def test_gaps_and_marks_are_set(source: str, shown: str) -> None:
    assert typeset_chinese(source) == shown
    assert typeset_chinese(shown) == shown


@given(st.text(alphabet="中文字月日a1 ,;:?!，。%“”", max_size=40))
def test_words_and_their_order_stay(text: str) -> None:
    marks = str.maketrans(",;:?!，；：？！", "," * 10)
    assert re.sub(r"\s", "", typeset_chinese(text)).translate(marks) == re.sub(r"\s", "", text).translate(marks)


def test_every_field_of_a_chinese_text_is_set_and_an_english_one_is_left_alone() -> None:
    text = StoryText("港口A", key_points=("14个泊位",), why_it_matters="共3天")
    assert typeset(text, Language.CHINESE) == StoryText("港口 A", key_points=("14 个泊位",), why_it_matters="共 3 天")
    assert typeset(text, Language.ENGLISH) == text
