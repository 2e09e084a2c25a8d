"""What was found, in the language of whoever reads it; the program's own output stays English."""

from collections.abc import Iterable

from digest.domain.language import Language
from digest.domain.notice import BETWEEN
from digest.health.findings import Finding
from digest.rendering.catalogue import translations

DOMAIN = "health"
CHECK_AND_WORDS = "{check}: {words}"


def check_name(finding: Finding, language: Language) -> str:
    """The check as a label."""
    return translations(language, DOMAIN).gettext(finding.check)


def finding_words(finding: Finding, language: Language) -> str:
    """What is so, and what to do."""
    return finding.said.told(translations(language, DOMAIN).gettext)


def finding_line(finding: Finding, language: Language) -> str:
    """Check and words as one line."""
    values = {"check": check_name(finding, language), "words": finding_words(finding, language)}
    return translations(language, DOMAIN).gettext(CHECK_AND_WORDS).format(**values)


def check_names(findings: Iterable[Finding], language: Language) -> str:
    """The checks, listed."""
    between = translations(language, DOMAIN).gettext(BETWEEN)
    return between.join(check_name(finding, language) for finding in findings)
