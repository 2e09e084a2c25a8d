"""The words of the operator's morning report: counts with their names, and what was not as it should be."""

from collections.abc import Mapping, Sequence

from digest.domain.language import Language
from digest.rendering.catalogue import translations


def _message(text: str) -> str:
    """Marks a text for the catalogue; see the test of it."""
    return text


COUNTS = {
    "due": _message("due"),
    "sent": _message("handed over"),
    "delivered": _message("reported as delivered"),
    "bounced": _message("came back"),
    "failed": _message("refused for good"),
    "unknown": _message("of unknown fate"),
    "skipped": _message("skipped"),
}
SKIPPED = {
    "nothing_new": _message("nothing new"),
    "missed": _message("missed: the scheduler did not run"),
    "late": _message("too late: the grace was over"),
    "unsubscribed": _message("had left"),
    "paused": _message("on a pause"),
    "suppressed": _message("address barred"),
    "unknown_timezone": _message("zone without rules"),
}
FLAWS = {
    "nobody": _message("Nobody got a brief."),
    "lost": _message("Briefs were not handed over though they were due."),
    "unknown": _message("Briefs may or may not have gone out; nobody gets a second one before you say so."),
    "bounced": _message("More than one in twenty came back or was blocked."),
    "late": _message("Many left more than half an hour late."),
    "nothing_new": _message("Most readers had nothing new to read."),
    "without_zone": _message("Some readers live in a time zone that this installation has no rules for."),
}


def report_words(
    flaws: Sequence[str], counts: Mapping[str, int], skipped: Mapping[str, int], language: Language
) -> dict[str, object]:
    """The values of the template: ``flaws`` as sentences, ``rows`` and ``reasons`` as pairs of name and number."""
    say = translations(language, "emails").gettext
    return {
        "flaws": [say(FLAWS[flaw]) for flaw in flaws],
        "rows": [(say(COUNTS[name]), f"{number:,}") for name, number in counts.items()],
        "reasons": [(say(SKIPPED[name]) if name in SKIPPED else name, f"{n:,}") for name, n in skipped.items()],
    }
