import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from digest.domain.language import Language
from digest.links import Links
from digest.ports import Message
from digest.rendering.examples import example_message, example_messages
from digest.rendering.site import Site
from digest.rendering.templates import Templates
from tests.rendering.paint import DARK, LIGHT, OUTLOOK, SCHEMES, Text, texts

LEAST = 4.5
"""WCAG 2.2, 1.4.3 (AA), for text of any size."""
TOKENS = tomllib.loads((Path(__file__).parents[2] / "emails" / "_base" / "tokens.toml").read_text(encoding="utf-8"))


def faint(html: str, scheme: str) -> list[tuple[str, float]]:
    return [(text.words[:40], round(text.contrast, 2)) for text in texts(html, scheme) if text.contrast < LEAST]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_pair_of_words_and_ground_in_the_design_system_has_contrast(scheme: str) -> None:
    colours = TOKENS[scheme]
    pairs = [Text(words, colours[words], colours[on]) for words, grounds in TOKENS["pairs"].items() for on in grounds]

    assert len(pairs) == 7
    assert not [(pair.words, pair.ground, pair.contrast) for pair in pairs if pair.contrast < LEAST]


def test_light_and_dark_have_the_same_colours() -> None:
    assert TOKENS["light"].keys() == TOKENS["dark"].keys()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_text_of_every_email_has_contrast(scheme: str, templates: Templates, links: Links, site: Site) -> None:
    for message in example_messages(templates, links, site, Language.CHINESE):
        assert faint(message.html, scheme) == [], message.kind


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_text_of_a_brief_with_all_its_parts_has_contrast(scheme: str, full_brief: Message) -> None:
    assert faint(full_brief.html, scheme) == []


@pytest.mark.parametrize("scheme", [DARK, OUTLOOK])
def test_no_text_keeps_its_light_colours_in_the_dark(scheme: str, full_brief: Message) -> None:
    dark = set(TOKENS["dark"].values())
    painted = texts(full_brief.html, scheme)

    assert len(painted) == len(texts(full_brief.html, LIGHT)) > 40
    assert {text.colour for text in painted} | {text.ground for text in painted} <= dark


def test_every_colour_of_a_brief_is_one_of_the_design_system(full_brief: Message) -> None:
    painted = texts(full_brief.html)

    assert {text.colour for text in painted} | {text.ground for text in painted} <= set(TOKENS["light"].values())


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_name_in_the_place_of_a_logo_that_is_not_loaded_has_contrast(
    scheme: str, templates: Templates, links: Links, site: Site
) -> None:
    branded = replace(site, logo_url="https://brief.example.com/logo.png")
    for kind in ("brief", "confirm"):
        html = example_message(templates, links, branded, Language.ENGLISH, kind).html

        assert "Daily Brief" in {text.words for text in texts(html, scheme)}
        assert faint(html, scheme) == []


def test_what_is_faint_is_found() -> None:
    page = '<!doctype html><html><head><title>t</title>{}</head><body><p class="a" style="color:{}">x</p></body></html>'
    rule = "<style>@media (prefers-color-scheme: dark) { .a { color: #ffffff !important; } }</style>"

    assert faint(page.format("", "#999999"), LIGHT) == [("x", 2.85)]
    assert faint(page.format(rule, "#000000"), LIGHT) == []
    assert faint(page.format(rule, "#000000"), DARK) == [("x", 1.0)]
