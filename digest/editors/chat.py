"""The editor that has a model write: asks, holds every figure and name against the source, asks once more."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.resources import files
from typing import Any

from digest.domain.fidelity import as_prose, inventions, source_of
from digest.domain.glossary import Glossary
from digest.domain.language import Language
from digest.domain.sentences import han_share
from digest.domain.story import Story, StoryText
from digest.domain.topics import topic_named, topic_tree
from digest.editors.chat_answer import Answer, answer_schema, read_answer
from digest.editors.chat_service import ChatService, Message
from digest.ports import Draft, NotWrittenError

PROMPT = "story-1"
"""The newest prompt; a change of its words is a new file and a new number."""
LONGEST_BODY = 12_000
"""Characters of the source that are shown."""
ANSWER_TOKENS = 4000
ASKED_TWICE = 2
MOST_NAMED = 12
MOST_TOPICS = 3
_ENOUGH_HAN = 0.3
_TOO_MUCH_HAN = 0.2


@dataclass(frozen=True, slots=True)
class _Try:
    """One answer as judged."""

    answer: Answer | None
    fault: str
    content: str
    tokens: int


class ChatWriter:
    """Implements :class:`digest.ports.Writer` over a chat-completions API.

    Args:
        service: the model.
        glossary: what things are called; in the prompt, and held against the answer.
        takes_schema: whether the service knows JSON Schema; else it is asked for any JSON object.
    """

    def __init__(self, service: ChatService, glossary: Glossary, *, takes_schema: bool = True) -> None:
        self._service, self._glossary = service, glossary
        self._prompt = files("digest.editors").joinpath(f"prompts/{PROMPT}.md").read_text(encoding="utf-8")
        self._format = _schema_format() if takes_schema else {"type": "json_object"}
        self.name = f"chat {service.model} {PROMPT}"

    def key(self, story: Story) -> str:
        """A hash of everything that the answer depends on."""
        parts = [self.name, *(message["content"] for message in self._question(story)), json.dumps(self._format)]
        return sha256("\0".join(parts).encode()).hexdigest()

    def most_tokens(self, story: Story) -> int:
        """Two questions, the second with the first answer in it, and two answers; a character is a token at most."""
        asked = sum(len(message["content"]) for message in self._question(story)) + len(json.dumps(self._format))
        return ASKED_TWICE * (asked + ANSWER_TOKENS) + ANSWER_TOKENS

    def write(self, story: Story) -> Draft:
        """See :meth:`digest.ports.Writer.write`."""
        question = self._question(story)
        first = self._ask(story, question, 0)
        if first.answer is not None and not first.fault:
            return _draft(first)
        second = self._ask(story, [*question, *_again(first)], first.tokens)
        return _draft(replace(second, tokens=first.tokens + second.tokens))

    def close(self) -> None:
        """Let go of connections."""
        self._service.close()

    def _question(self, story: Story) -> list[Message]:
        text = story.texts[story.language]
        terms = self._glossary.found_in(source_of(story))
        material = {
            "source": story.source,
            "published": story.published_at.date().isoformat() if story.published_at else "",
            "language": str(story.language),
            "title": text.title,
            "text": story.body[:LONGEST_BODY],
        }
        told = {
            "glossary": [{str(language): name for language, name in term.names.items()} for term in terms],
            "topics": [topic.name for topic in topic_tree()],
            "form_of_the_json_answer": answer_schema() if self._format["type"] == "json_object" else "as given",
        }
        return [
            {"role": "system", "content": self._prompt},
            {"role": "user", "content": json.dumps(told | {"story": material}, ensure_ascii=False)},
        ]

    def _ask(self, story: Story, messages: Sequence[Message], spent: int) -> _Try:
        try:
            given = self._service.ask(messages, self._format, ANSWER_TOKENS)
        except NotWrittenError as error:
            raise NotWrittenError(str(error), error.after_seconds, spent + error.tokens) from error
        if given.fault:
            return _Try(None, given.fault, given.content, given.tokens)
        answer = read_answer(given.content)
        if isinstance(answer, str):
            return _Try(None, answer, given.content, given.tokens)
        answer = self._in_house_style(answer)
        return _Try(answer, self._fault(story, answer.texts()), given.content, given.tokens)

    def _in_house_style(self, answer: Answer) -> Answer:
        document: dict[str, Any] = answer.model_dump()
        for language in Language:
            document[language] = {
                name: self._glossary.in_house_style(value, language)
                if isinstance(value, str)
                else [self._glossary.in_house_style(line, language) for line in value]
                for name, value in document[language].items()
            }
        return Answer.model_validate(document)

    def _fault(self, story: Story, texts: Mapping[Language, StoryText]) -> str:
        for language, text in texts.items():
            share = han_share(as_prose(text))
            if share < _ENOUGH_HAN if language is Language.CHINESE else share > _TOO_MUCH_HAN:
                return f"the text under {language} is not in that language"
        source = source_of(story)
        strange = [
            f"{language}: {word}"
            for language, text in texts.items()
            for word in inventions(text, language, source, self._glossary)
        ]
        return f"not in the source: {'; '.join(strange[:MOST_NAMED])}" if strange else ""


def _schema_format() -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "story", "strict": True, "schema": answer_schema()}}


def _again(first: _Try) -> list[Message]:
    """What to say after an answer that can't be used."""
    said: list[Message] = [{"role": "assistant", "content": first.content}] if first.content else []
    words = f"This can't be printed: {first.fault}. Write the whole answer again, as JSON, without that fault."
    return [*said, {"role": "user", "content": words}]


def _draft(last: _Try) -> Draft:
    if last.answer is None or last.fault:
        return Draft({}, fault=last.fault, tokens=last.tokens)
    topics = tuple(topic for topic in last.answer.topics if topic_named(topic))[:MOST_TOPICS]
    return Draft(last.answer.texts(), topics, tokens=last.tokens)
