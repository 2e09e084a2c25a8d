"""What the texts of stories need: editors and writers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from digest.domain.errors import TryAgainError
from digest.domain.language import Language
from digest.domain.story import Story, StoryText


class Editor(Protocol):
    """Writes a story's texts."""

    name: str

    def write(self, story: Story) -> Mapping[Language, StoryText]:
        """The texts of a collected story, at least in its own language."""
        ...


@dataclass(frozen=True, slots=True)
class Draft:
    """What a writer made of a story.

    Attributes:
        texts: one per language; empty where nothing can be used.
        topics: names of the tree, the main one first.
        fault: why the texts can't be used, for the operator; empty when they can.
        tokens: what it cost.
    """

    texts: Mapping[Language, StoryText]
    topics: tuple[str, ...] = ()
    fault: str = ""
    tokens: int = 0


class NotWrittenError(TryAgainError):
    """A writer gave no answer this time.

    Args:
        tokens: what it cost all the same.
    """

    def __init__(self, message: str, after_seconds: float | None = None, tokens: int = 0) -> None:
        super().__init__(message, after_seconds)
        self.tokens = tokens


class Writer(Protocol):
    """Writes a story's texts in every language. Works over the network, slowly, and for money."""

    name: str
    """Says which model and which prompt."""

    def key(self, story: Story) -> str:
        """A hash under which its draft of this very text may be kept; ASCII, 64 characters."""
        ...

    def most_tokens(self, story: Story) -> int:
        """What the story may cost at most."""
        ...

    def write(self, story: Story) -> Draft:
        """The draft, whose every figure and name stands in the source; or one with a fault.

        Raises:
            NotWrittenError: the service did not answer, or would not now.
        """
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...
