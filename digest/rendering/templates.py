"""The e-mails' templates: MJML compiled once per process, Jinja once per language, rendered once per message.

Values are data: they are escaped once for HTML, put on one line for text and subject, and never read as templates.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from digest.domain.language import Language
from digest.rendering.catalogue import translations
from digest.rendering.clean import cells, clean, shorten
from digest.rendering.compiler import compile_mjml
from digest.rendering.text import NumberedLinks, lay_out
from digest.rendering.topics import topic_name
from digest.rendering.typeset import gap_after, gap_before

DOMAIN = "emails"


@dataclass(frozen=True, slots=True)
class Words:
    """A rendered e-mail."""

    subject: str
    html: str
    text: str


class Templates:
    """The templates in a folder of e-mails.

    Args:
        folder: holds one folder per e-mail, with ``body.mjml``, ``text.txt`` and ``subject.txt``, and ``locale/``.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._sources: dict[str, str] = {}
        self._pages: dict[tuple[str, Language], Template] = {}
        self._pages_env = {tongue: self._environment(tongue, autoescape=True) for tongue in Language}
        self._plain_env = {tongue: self._environment(tongue, autoescape=False) for tongue in Language}

    def html(self, name: str, language: Language, values: Mapping[str, object]) -> str:
        """The HTML part of the e-mail ``name``.

        Raises:
            BadTemplateError: its MJML does not compile safely.
            jinja2.UndefinedError: the template asks for a value that is not given.
        """
        page = self._pages.get((name, language))
        if page is None:
            page = self._pages_env[language].from_string(self._source(name))
            self._pages[name, language] = page
        return page.render(values)

    def text(
        self, name: str, language: Language, values: Mapping[str, object], widths: Mapping[str, int] | None = None
    ) -> str:
        """The plain-text part, wrapped by display width; ``widths`` as for :func:`digest.rendering.text.lay_out`."""
        given = {**values, "links": NumberedLinks()}
        return lay_out(self._plain_env[language].get_template(f"{name}/text.txt").render(given), widths=widths)

    def subject(self, name: str, language: Language, values: Mapping[str, object]) -> str:
        """The subject, on one line."""
        return clean(self._plain_env[language].get_template(f"{name}/subject.txt").render(values))

    def render(
        self, name: str, language: Language, values: Mapping[str, object], widths: Mapping[str, int] | None = None
    ) -> Words:
        """All three parts of the e-mail ``name``.

        The values also get ``lang``, ``language`` and ``subject``, those of the text also ``links``.
        """
        given = {**values, "lang": language.tag, "language": str(language)}
        given["subject"] = self.subject(name, language, given)
        text = self.text(name, language, given, widths)
        return Words(str(given["subject"]), self.html(name, language, given), text)

    def _source(self, name: str) -> str:
        if name not in self._sources:
            self._sources[name] = compile_mjml(self.folder / name / "body.mjml", self.folder)
        return self._sources[name]

    def _environment(self, language: Language, *, autoescape: bool) -> Environment:
        environment = Environment(
            autoescape=autoescape,  # noqa: S701 (off only for text/plain and subject, where finalize guards)
            loader=FileSystemLoader(self.folder),
            undefined=StrictUndefined,
            extensions=["jinja2.ext.i18n"],
            finalize=_on_one_line,
            trim_blocks=not autoescape,
            lstrip_blocks=not autoescape,
            keep_trailing_newline=not autoescape,
        )
        messages = translations(language, DOMAIN, self.folder / "locale")
        environment.install_gettext_translations(messages, newstyle=True)  # type: ignore[attr-defined] # added by i18n
        environment.filters |= {
            "shorten": shorten,
            "cells": cells,
            "gap_after": lambda name: gap_after(clean(name), language),
            "gap_before": lambda name: gap_before(clean(name), language),
        }
        environment.globals["topic_name"] = lambda topic: topic_name(topic, language)
        return environment


def _on_one_line(value: object) -> object:
    """What every expression passes through; markup made by a template is left alone."""
    return clean(value) if type(value) is str else value
