"""The program with one brief that ends its process, as a fault in a C library or want of memory would."""

import os
from collections.abc import Sequence

from digest.domain.brief import BriefStory, Candidate, Limits, OtherLanguage
from digest.domain.language import Language
from digest.main import main
from digest.steps import compile_briefs

DEADLY = "deadly"
"""The topic of whose brief nobody survives the compiling."""
_choose = compile_briefs.choose


def _choose_or_die(
    found: Sequence[Candidate], language: Language, topics: Sequence[str], limits: Limits, other: OtherLanguage
) -> list[BriefStory]:
    if DEADLY in topics:
        os._exit(137)
    return _choose(found, language, topics, limits, other)


if __name__ == "__main__":
    compile_briefs.choose = _choose_or_die
    main()
