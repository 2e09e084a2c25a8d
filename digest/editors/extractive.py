"""The editor that works offline: it quotes the source, in the source's language, and invents nothing."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from digest.domain.language import Language
from digest.domain.sentences import excerpt, sentences
from digest.domain.story import Story, StoryText
from digest.editors.headings import is_list, without_heading
from digest.editors.weighing import Weighed, alike, matters, stands_alone, weigh

MOST_POINTS = 4
_OPENING = 5
"""The answer is looked for among the first sentences: news tells its point first."""
_READ_SENTENCES = 120
_WORD_OR_TWO = 16
"""Letters."""
_FEW = 3
"""With so few sentences left after the answer, all are points and none is a take."""
_WEAK = 0.5
"""A take of less weight leans on what was said before; then the answer serves as one."""


class ExtractiveEditor:
    """Implements :class:`digest.ports.Editor` with whole sentences of the source.

    Fills what is empty of quick answer, quick take, key points and excerpt. The analysis (what happened, key evidence,
    why it matters, what to watch) would need judgement, so it stays as it is.
    """

    name = "extractive"

    def write(self, story: Story) -> Mapping[Language, StoryText]:
        """The story's texts with the one in its own language filled in as far as its body goes.

        A text that is complete, or a story without a body, comes back unchanged.
        """
        text = story.texts.get(story.language)
        if text is None or not story.body or _is_complete(text):
            return dict(story.texts)
        return {**story.texts, story.language: _filled(text, story.body)}


def _is_complete(text: StoryText) -> bool:
    return all((text.quick_answer, text.quick_take, text.key_points, text.source_excerpt))


def _filled(text: StoryText, body: str) -> StoryText:
    choice = _Choice(text, _usable(body, text.title))
    return replace(
        text,
        quick_answer=text.quick_answer or choice.best_of_opening(),
        quick_take=text.quick_take or choice.take(),
        key_points=text.key_points or choice.points(),
        source_excerpt=text.source_excerpt or _excerpt(body, text.title),
    )


class _Choice:
    """Sentences taken one after the other, none like one taken before."""

    def __init__(self, text: StoryText, usable: Sequence[Weighed]) -> None:
        self._left = list(usable)
        for said in (text.quick_answer, text.quick_take, *text.key_points):
            self._drop_like(said)

    def best_of_opening(self) -> str:
        return self._take(self._left[:_OPENING])

    def take(self) -> str:
        """What follows from the news; empty where nothing that is left says so by itself."""
        strong = [sentence for sentence in self._left if sentence.weight >= _WEAK]
        if len(self._left) < _FEW or not strong:
            return ""
        found = max(strong, key=lambda sentence: (matters(sentence), -sentence.position)).text
        self._drop_like(found)
        return found

    def best(self) -> str:
        return self._take(self._left)

    def points(self) -> tuple[str, ...]:
        """Up to :data:`MOST_POINTS`, in the order of the source."""
        order = {sentence.text: sentence.position for sentence in self._left}
        taken = [point for point in (self.best() for _ in range(MOST_POINTS)) if point]
        return tuple(sorted(taken, key=order.__getitem__))

    def _take(self, among: Sequence[Weighed]) -> str:
        if not among:
            return ""
        found = max(among, key=lambda sentence: (sentence.weight, -sentence.position)).text
        self._drop_like(found)
        return found

    def _drop_like(self, said: str) -> None:
        self._left = [sentence for sentence in self._left if not said or not alike(sentence.text, said)]


def _usable(body: str, title: str) -> list[Weighed]:
    listed = is_list(body)
    found = (without_heading(sentence, listed=listed) for sentence in sentences(body)[:_READ_SENTENCES])
    whole = [sentence for sentence in found if stands_alone(sentence) and not _repeats(sentence, title)]
    return [weigh(sentence, position, title) for position, sentence in enumerate(whole)]


def _repeats(sentence: str, title: str) -> bool:
    """Whether the sentence is the title with a word or two around it."""
    said, known = _bare(sentence), _bare(title)
    return known in said and len(said) - len(known) <= max(_WORD_OR_TWO, len(known) // 3)


def _excerpt(body: str, title: str) -> str:
    kept: Iterable[str] = (line for line in body.splitlines() if not _repeats(line, title))
    return excerpt("\n".join(kept))


def _bare(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()
