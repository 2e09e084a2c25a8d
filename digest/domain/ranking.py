"""The signal score, 0 to 100: how much a story deserves the morning, from parts that anyone can check."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime

from digest.domain.errors import BadInputError
from digest.domain.language import Language
from digest.domain.story import StoryText
from digest.domain.topics import is_under, topic_named

FULL_SCORE = 100
FRESH_FOR_HOURS = 48.0
FULL_SUBSTANCE_CHARACTERS = 900
"""A text this long (Han counts double) with points and evidence has full substance."""
SECOND_TOPIC_SHARE = 0.5
PROSE_SHARE, LINES_SHARE, EVENT_SHARE = 0.4, 0.3, 0.3
MOST_LINES = 3
_EVENT = re.compile(
    r"\b(?:launch|releas|introduc|unveil|announc|acquir|partner|agree|appoint|approv|invest|disrupt|updat)"
    r"|\b(?:rais|su|fin|rul|found|join|sign|bann?|reach|open)(?:s|es|ed)?\b|\b(?:is here|now|available)\b|\$\d"
    r"|发布|推出|上线|开源|收购|融资|首次|首个|公布|宣布|回应|严禁|下架|登顶|落地|启动|合作|签署",
    re.IGNORECASE,
)
_FEATURE = re.compile(
    r"^\d+ |^(?:inside|watch|learn)\b"
    r"|\b(?:tips|ways to|how to|how we|podcast|recap|look back|highlights|celebrat\w*|resources|guide|years)\b"
    r"|盘点|教程|指南|回顾|周年|技巧",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Weights:
    """How many of the 100 points each part can give."""

    source: int = 25
    corroboration: int = 20
    freshness: int = 25
    substance: int = 20
    topics: int = 10


DEFAULT_WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a score.

    Attributes:
        name: the field of :class:`Weights` it goes by.
        points: what the story has of it.
        most: what it could have.
        sentences: why, in each language.
    """

    name: str
    points: int
    most: int
    sentences: dict[Language, str]


@dataclass(frozen=True, slots=True)
class Signal:
    """What is known of a story, and the score that follows from it under some weights.

    Attributes:
        trust: the operator's trust in the source, 0 to 1.
        others: how many other independent sources carry the same event.
        age_hours: since the story counted as new.
        substance: how much of a full text there is, 0 to 1.
        match: how squarely it is on the topics asked for, 0 to 1.
    """

    trust: float
    others: int
    age_hours: float
    substance: float
    match: float = 1.0
    weights: Weights = field(default=DEFAULT_WEIGHTS)

    @property
    def score(self) -> int:
        """0 to 100: the sum of the parts."""
        return sum(part.points for part in self.parts)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts in the order of :class:`Weights`; their points add up to the score."""
        shares = (self.trust, corroboration(self.others), freshness(self.age_hours), self.substance, self.match)
        said = (_of_trust(self), _of_others(self), _of_age(self), _of_substance(self), _of_match(self))
        weighed = zip(fields(self.weights), shares, said, strict=True)
        return tuple(_part(each.name, share, getattr(self.weights, each.name), why) for each, share, why in weighed)


def parse_weights(text: str) -> Weights:
    """Weights written ``source=25,corroboration=20,freshness=25,substance=20,topics=10``; they add up to 100.

    Raises:
        BadInputError: a part is missing, unknown, given twice or no whole number, or the sum is another.
    """
    names = [part.name for part in fields(Weights)]
    pairs = [piece.partition("=")[::2] for piece in text.split(",") if piece.strip()]
    given = {name.strip(): value.strip() for name, value in pairs}
    if sorted(given) != sorted(names) or len(pairs) != len(names):
        raise BadInputError("score weights", text, f"must name each of {', '.join(names)} once, as in source=25.")
    if not all(value.isascii() and value.isdecimal() for value in given.values()):
        raise BadInputError("score weights", text, "must be whole numbers, as in source=25.")
    if (total := sum(map(int, given.values()))) != FULL_SCORE:
        raise BadInputError("score weights", text, f"add up to {total}: they must add up to {FULL_SCORE}.")
    return Weights(**{name: int(value) for name, value in given.items()})


def signal(
    text: StoryText,
    *,
    source_weight: float,
    also_reported_by: int,
    enters_at: datetime,
    now: datetime,
    topics: Sequence[str] = (),
) -> Signal:
    """What a story's score is made of.

    Args:
        text: the text in the story's own language.
        source_weight: the operator's trust in the source, 0 to 1.
        also_reported_by: how many other sources carry the same event.
        enters_at: when the story counted as new.
        now: the cut-off of the edition.
        topics: the story's, the main one first.
    """
    return Signal(
        trust=min(1.0, max(0.0, source_weight)),
        others=also_reported_by,
        age_hours=max(0.0, (now - enters_at).total_seconds() / 3600),
        substance=substance(text),
        match=topic_match(topics, ()),
    )


def corroboration(others: int) -> float:
    """Share for so many other sources: half of what is missing with each one more."""
    return 1 - 0.5 ** max(0, others)


def freshness(age_hours: float) -> float:
    """Share at that age: falls evenly, to nothing after :data:`FRESH_FOR_HOURS`."""
    return max(0.0, 1 - age_hours / FRESH_FOR_HOURS)


def substance(text: StoryText) -> float:
    """How much there is to read: prose, key points and evidence, and an event in the title; 0 to 1."""
    parts = (text.quick_answer, text.quick_take, text.what_happened, text.why_it_matters, text.source_excerpt)
    weight = sum(2 if "\u2e80" <= c <= "\u9fff" else 1 for c in "".join(parts))
    length = min(1.0, weight / FULL_SUBSTANCE_CHARACTERS)
    lists = (min(len(text.key_points), MOST_LINES) + min(len(text.key_evidence), MOST_LINES)) / (2 * MOST_LINES)
    return PROSE_SHARE * length + LINES_SHARE * lists + EVENT_SHARE * _event(text.title)


def _event(title: str) -> float:
    """1 for a title that tells of something done, 0 for a list of tips, a look back and the like, else a half."""
    if _FEATURE.search(title):
        return 0.0
    return 1.0 if _EVENT.search(title) else 0.5


def topic_match(topics: Sequence[str], followed: Sequence[str]) -> float:
    """Share for these topics: all of it when the main one is followed, half when another one is.

    Args:
        topics: the story's, the main one first.
        followed: the reader's; empty means every topic of the tree.
    """
    wanted = [bool(topic_named(t)) if not followed else any(is_under(t, f) for f in followed) for t in topics]
    if not any(wanted):
        return 0.0
    return 1.0 if wanted[0] else SECOND_TOPIC_SHARE


def _part(name: str, share: float, most: int, sentences: tuple[str, str]) -> Part:
    english, chinese = sentences
    return Part(name, round(most * share), most, {Language.ENGLISH: english, Language.CHINESE: chinese})


def _of_trust(found: Signal) -> tuple[str, str]:
    percent = round(100 * found.trust)
    return f"The editors trust this source at {percent} of 100.", f"编辑部对这一来源的信任度为 {percent}（满分 100）。"


def _of_others(found: Signal) -> tuple[str, str]:
    if found.others < 1:
        return "No other source reports it so far.", "目前没有其他来源报道此事。"
    word = "one other source reports" if found.others == 1 else f"{found.others} other sources report"
    return f"{word[0].upper()}{word[1:]} it too.", f"另有 {found.others} 个来源报道了此事。"


def _of_age(found: Signal) -> tuple[str, str]:
    hours, limit = int(found.age_hours), int(FRESH_FOR_HOURS)
    if hours >= limit:
        return f"It came in more than {limit} hours ago.", f"收录已超过 {limit} 小时。"
    came = "less than an hour" if hours < 1 else "an hour" if hours == 1 else f"{hours} hours"
    arrived = "不到 1 小时" if hours < 1 else f" {hours} 小时"
    return (
        f"It came in {came} ago; this part runs out after {limit} hours.",
        f"收录{arrived}；满 {limit} 小时后此项归零。",
    )


def _of_substance(found: Signal) -> tuple[str, str]:
    percent = round(100 * found.substance)
    return (
        f"Length, key points, evidence, and an event in the title make {percent}% of a full report.",
        f"篇幅、要点、依据以及标题是否报道事件，合计达到完整报道的 {percent}%。",
    )


def _of_match(found: Signal) -> tuple[str, str]:
    if found.match >= 1:
        return "Its main topic is one of those asked for.", "主要话题正在关注范围之内。"
    if found.match > 0:
        return "One of its lesser topics is asked for.", "次要话题在关注范围之内。"
    return "None of its topics is asked for.", "话题不在关注范围之内。"
