"""Templates into answers: escaped, translated, with the headers that each kind of page needs."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlencode

from jinja2 import FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.background import BackgroundTask
from starlette.responses import HTMLResponse

from digest.domain.language import Language
from digest.domain.topics import topic_named
from digest.links import Links
from digest.providers.challenge import Challenge
from digest.rendering.catalogue import translations
from digest.rendering.clean import clean, web_address
from digest.rendering.dates import full_date, weekday_date
from digest.rendering.site import Site
from digest.rendering.topics import topic_name
from digest.web.assets import Assets
from digest.web.folding import FoldingEnvironment
from digest.web.phrases import DOMAIN, month_name
from digest.web.zones import zone_label

TEMPLATES = Path(__file__).parent / "templates"
PRIVATE = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex, nofollow"}
"""For pages behind a token: kept by nobody, told to nobody."""
ENDONYMS = {Language.ENGLISH: "English", Language.CHINESE: "中文"}
"""What speakers call their language; the same on every page."""
SENTENCE_GAPS = {Language.ENGLISH: " ", Language.CHINESE: ""}
"""Between two sentences; full-width punctuation brings its own space."""
ATOM = {Language.ENGLISH: "/feed.xml", Language.CHINESE: "/feed.zh.xml"}
JSON_FEED = {Language.ENGLISH: "/feed.json", Language.CHINESE: "/feed.zh.json"}
"""Where the stories of a language can be followed."""
KEPT_BRIEFLY = "public, max-age=60, stale-while-revalidate=600, stale-if-error=86400"
"""A minute in anybody's cache; longer while it is asked for anew, and for a day while the site is down."""
PUBLIC = {"Cache-Control": KEPT_BRIEFLY, "Vary": "Accept-Language"}
ONE_LANGUAGE = {"Cache-Control": KEPT_BRIEFLY}
"""For addresses that say their language themselves."""


class Pages:
    """The site's pages.

    Args:
        links: for addresses; paths carry the prefix of the site's public address, never what a request says.
        site: the publisher.
        assets: the files that pages refer to.
        challenge: what a form asks to tell people from programs, if anything.
    """

    def __init__(self, links: Links, site: Site, assets: Assets, challenge: Challenge | None = None) -> None:
        self.links, self.site, self.assets, self.challenge = links, site, assets, challenge
        self._environments = {language: self._environment(language) for language in Language}

    def path(self, path: str, **query: object) -> str:
        """A path of the site as a browser must ask for it, with the prefix of the public address."""
        return self.links.prefix + path + (f"?{urlencode(query)}" if query else "")

    def full(self, path: str, **query: object) -> str:
        """The whole address of a path, from the settings and never from the request."""
        return self.links.base_url + path + (f"?{urlencode(query)}" if query else "")

    def answer(
        self,
        name: str,
        language: Language,
        values: Mapping[str, object] | None = None,
        *,
        status: int = 200,
        headers: Mapping[str, str] = PUBLIC,
        after: BackgroundTask | None = None,
    ) -> HTMLResponse:
        """The page ``name`` in ``language``; ``after`` runs once it has left."""
        body = self.render(name, language, values or {})
        return HTMLResponse(body, status, {**headers, "Content-Language": language.tag}, background=after)

    def render(self, name: str, language: Language, values: Mapping[str, object]) -> str:
        """The HTML of the page ``name``; a value that it asks for and does not get is an error."""
        given = {"switch_path": "/", "switch_query": {}, "is_private": False, **values}
        return self._environments[language].get_template(f"{name}.html").render(given)

    def render_file(self, name: str, language: Language, values: Mapping[str, object]) -> str:
        """The template ``name`` of another kind; XML is escaped as HTML is, and has no place for controls either."""
        return self._environments[language].get_template(name).render(values)

    def _environment(self, language: Language) -> FoldingEnvironment:
        environment = FoldingEnvironment(
            autoescape=True,
            loader=FileSystemLoader(TEMPLATES),
            undefined=StrictUndefined,
            extensions=["jinja2.ext.i18n"],
            finalize=_without_controls,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        messages = translations(language, DOMAIN)
        environment.install_gettext_translations(messages, newstyle=True)  # type: ignore[attr-defined] # added by i18n
        environment.filters |= {"web_address": web_address, "lines": _with_line_ends}
        environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False}
        constants = self._constants(language)
        environment.globals |= constants | self._helpers(language)
        environment.constants = constants | {"_": lambda text, **values: Markup(messages.gettext(text)) % values}  # noqa: S704 - the catalogue's, and markup escapes what it takes in
        return environment

    def _constants(self, language: Language) -> dict[str, object]:
        return {
            "language": language,
            "site": self.site.in_language(language),
            "asset": lambda name: self.path(self.assets.path(name)),
            "path": self.path,
            "full": self.full,
            "asset_path": self.assets.path,
            "atom": ATOM[language],
            "json_feed": JSON_FEED[language],
            "to": lambda path, **query: self.path(path, **{"lang": str(language), **query}),
            "gap": Markup(SENTENCE_GAPS[language]),  # noqa: S704 - a constant; a plain blank would be stripped
        }

    def _helpers(self, language: Language) -> dict[str, object]:
        return {
            "languages": list(Language),
            "challenge": self.challenge,
            "is_topic": lambda topic: topic_named(topic) is not None,
            "topic_name": lambda topic: topic_name(topic, language),
            "zone_label": lambda name: zone_label(name, language),
            "endonym": ENDONYMS.__getitem__,
            "month_name": lambda on: month_name(on, language),
            "full_date": lambda on: full_date(on, language),
            "weekday_date": lambda on: weekday_date(on, language),
        }


def _without_controls(value: object) -> object:
    """What every expression passes through; markup made by a template is left alone."""
    return clean(value) if type(value) is str else value


def _with_line_ends(text: str) -> Markup:
    """Escaped, with its line feeds kept: mail is shown as it is."""
    return escape("\n".join(" " * (len(line) - len(line.lstrip(" "))) + clean(line) for line in text.split("\n")))
