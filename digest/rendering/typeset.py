"""Names in the middle of Chinese: a gap between Han and Latin, none between Han and Han (W3C clreq §3.1)."""

import re

from digest.domain.language import Language

_NEEDS_NO_GAP = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60\u2018-\u201d]")


def gap_after(name: str, language: Language) -> str:
    """A name that the message goes on after at once: in Chinese with a gap where it ends in Latin."""
    return f"{name} " if language is Language.CHINESE and name and not _NEEDS_NO_GAP.match(name[-1]) else name


def gap_before(name: str, language: Language) -> str:
    """A name that follows the message's words at once: in Chinese with a gap where it begins in Latin."""
    return f" {name}" if language is Language.CHINESE and name and not _NEEDS_NO_GAP.match(name[0]) else name
