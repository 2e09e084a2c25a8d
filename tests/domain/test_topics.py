"""The tree of topics, how stories get theirs, what readers follow and mute."""

import pytest

from digest.domain.language import Language
from digest.domain.subscriber import topics_key, topics_of
from digest.domain.topics import Taste, is_under, main_branch, taste_of, topic_named, topic_tree, topics_in

TREE = topic_tree()


def test_names_are_unique_ascii_and_fit_a_readers_list() -> None:
    names = [topic.name for topic in TREE]
    assert len(set(names)) == len(names)
    assert all(name.isascii() and name == name.lower() and not name.startswith("-") for name in names)
    # The column of a subscriber holds 400 characters.
    assert len(topics_key(names)) <= 400


def test_parents_come_before_their_children_and_the_tree_is_two_levels_deep() -> None:
    seen: set[str] = set()
    for topic in TREE:
        assert not topic.parent or topic.parent in seen
        parent = topic_named(topic.parent)
        assert parent is None or not parent.parent
        seen.add(topic.name)


def test_every_topic_has_a_label_in_both_languages() -> None:
    for topic in TREE:
        assert topic.labels[Language.ENGLISH].isascii()
        assert all("\u4e00" <= c <= "\u9fff" or c == "、" for c in topic.labels[Language.CHINESE])


def test_a_topic_is_under_itself_and_its_parent_only() -> None:
    assert is_under("data-centers", "chips")
    assert is_under("chips", "chips")
    assert not is_under("chips", "data-centers")
    assert not is_under("gardening", "chips")
    assert (main_branch(("data-centers", "policy")), main_branch(("gardening",)), main_branch(())) == (
        "chips",
        "gardening",
        "",
    )


@pytest.mark.parametrize(
    ("title", "body", "main"),
    [
        ("NVIDIA unveils a GPU with 72 GB", "The chip ships in March.", "chips"),
        ("Anthropic raises $13 billion at a $183 billion valuation", "Investors led the Series F.", "funding"),
        ("DeepSeek-V3.2 正式版发布", "新模型权重已开放。", "models"),
        ("阿里Qwen3.6-27B正式开源", "模型开源，性能提升。", "open-models"),
        ("Waymo opens its robotaxi service in a tenth city", "", "driving"),
        ("广电严禁AI演员换脸", "", "copyright"),
        ("小米新款人形机器人亮相投资者日", "", "robotics"),
        ("Continuously hardening ChatGPT Atlas against prompt injection", "Attackers hide prompts.", "cybersecurity"),
        ("小红书首次公布AI治理主张", "", "policy"),
    ],
)
def test_a_story_gets_the_topic_a_reader_would_give_it(title: str, body: str, main: str) -> None:
    assert topics_in(title, body)[0] == main


@pytest.mark.parametrize(("title", "body"), [("Weather in Westhaven", "Rain until Friday, then sun."), ("", "")])
def test_a_story_of_something_else_gets_none(title: str, body: str) -> None:
    assert topics_in(title, body) == ()


def test_words_inside_of_words_do_not_count() -> None:
    assert topics_in("Scripture and capital", "A rapid appraisal of chipmunks, chipmunks, and chipmunks.") == ()


def test_what_the_source_says_comes_first_and_stays() -> None:
    given = ("gardening", "policy")
    assert topics_in("A GPU", "", given) == ("gardening", "policy", "chips")


def test_a_child_stands_for_its_parent() -> None:
    found = topics_in("Data centers need chips", "GPUs, GPUs, and a data center")
    assert found == ("data-centers",)


def test_a_readers_list_tells_followed_from_muted() -> None:
    key = topics_key(["policy", "-Chips", "models"])
    assert key == "-chips,models,policy"
    assert taste_of(topics_of(key)) == Taste(("models", "policy"), ("chips",))
    assert taste_of(()) == Taste()


def test_a_muted_topic_outweighs_a_followed_one() -> None:
    taste = Taste(followed=("chips",), muted=("funding",))
    assert taste.takes(("data-centers",))
    assert not taste.takes(("chips", "funding"))
    assert not taste.takes(("models",))
    assert Taste(muted=("chips",)).takes(())
    assert not Taste(muted=("chips",)).takes(("models", "data-centers"))
