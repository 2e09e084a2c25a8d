"""MJML with Jinja tags in it -> HTML with the same tags in it, once per template, by MRML (PyPI ``mjml-python``).

Each guard stands for a way in which the compiler gives wrong HTML without a word: sections from ``<mj-include>`` lose
their width, a unitless 0 in a shorthand breaks the column sums, inlined styles move conditions out of tables, a quote
in a tag ends its attribute. So sources are checked before, and what came out of the compiler after.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from mjml import mjml2html

from digest.domain.errors import PermanentError

_COMMENT = re.compile(r"<!--(?!\[if)(?!<!\[endif).*?-->", re.DOTALL)
_INCLUDE = re.compile(r"<mj-include\b([^>]*)>")
_INCLUDE_PATH = re.compile(r'\s*path="([^"]+)"\s*/\s*')
_SHORTHAND = re.compile(r'\b(?:padding|inner-padding|border-radius)="([^"]*)"')
_JINJA = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", re.DOTALL)
_HEAD = re.compile(r"<mj-attributes>.*?</mj-attributes>", re.DOTALL)
_CONDITIONAL = re.compile(r"<!--\[if [^\]]*\]>(?:<!-->|<!---->)?|(?:<!--)?<!\[endif\]-->")
_TOKEN = re.compile(r"@\{([a-z]+)\.([a-z-]+)\}")
_LANGUAGE = re.compile(r'<html (lang="[^"]*" dir="[^"]*")')


class BadTemplateError(PermanentError):
    """A template that would not give the HTML it seems to ask for; says which and why."""


def compile_mjml(path: Path, root: Path) -> str:
    """The HTML of the template at ``path``, still holding its Jinja tags.

    Args:
        root: the folder that every include must lie in.

    Raises:
        BadTemplateError: a guard fired or the compiler refused the source.
    """
    return compile_source(with_tokens(expand(path, root), read_tokens(root), path.name), str(path.relative_to(root)))


@lru_cache(maxsize=64)
def compile_source(source: str, name: str) -> str:
    """The HTML of MJML that stands by itself; kept by content, so that the same text is compiled once per process.

    Args:
        name: what an error calls it.

    Raises:
        BadTemplateError: as :func:`compile_mjml`.
    """
    check_source(source, name)
    try:
        html: str = mjml2html(source, fonts={}, disable_comments=False)
    except ValueError as error:
        raise BadTemplateError(f"{name}: the compiler refused it: {error}") from error
    check_output(source, html, name)
    return _with_body_language(html)


def expand(path: Path, root: Path, above: tuple[Path, ...] = ()) -> str:
    """The source with the text of every include in its place and without comments."""
    path = path.resolve()
    if not path.is_relative_to(root.resolve()):
        raise BadTemplateError(f"{path}: an include may not leave {root}")
    if path in above:
        raise BadTemplateError(f"{path}: includes itself, by way of {above[-1].name}")
    source = _COMMENT.sub("", path.read_text(encoding="utf-8"))
    return _INCLUDE.sub(lambda found: expand(path.parent / _included(found, path), root, (*above, path)), source)


def read_tokens(root: Path) -> Mapping[str, Mapping[str, str]]:
    """The design tokens in ``_base/tokens.toml``: group -> name -> value; none where there is no such file."""
    path = root / "_base" / "tokens.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def with_tokens(source: str, tokens: Mapping[str, Mapping[str, str]], name: str) -> str:
    """The source with the value of each token, ``@{light.ink}``, in its place."""

    def value(found: re.Match[str]) -> str:
        token = tokens.get(found[1], {}).get(found[2])
        if token is None:
            raise BadTemplateError(f"{name}: there is no token {found[0]} in _base/tokens.toml")
        return token

    return _TOKEN.sub(value, source)


def _included(found: re.Match[str], path: Path) -> str:
    target = _INCLUDE_PATH.fullmatch(found[1])
    if target is None:
        raise BadTemplateError(f"{path}: an include has a path and nothing else: {found[0]}")
    return target[1]


def check_source(source: str, name: str) -> None:
    """Refuse what the compiler is known to get wrong."""
    for found in _SHORTHAND.finditer(source):
        values = found[1].split()
        if len(values) > 1 and "0" in values:
            raise BadTemplateError(f"{name}: write 0px, not 0, in {found[0]}")
    if re.search(r"\binline\s*=\s*[\"']inline", source):
        raise BadTemplateError(
            f"{name}: inlined styles move Jinja tags out of tables; use mj-class or style attributes"
        )
    for tag in _JINJA.findall(source):
        if "<" in tag or '"' in tag:
            raise BadTemplateError(f"{name}: no < and no double quote inside a Jinja tag: {tag}")


def check_output(source: str, html: str, name: str) -> None:
    """Refuse HTML that lost a Jinja tag, kept an MJML tag or has a conditional comment without its end."""
    statements, kept = _statements(source), _statements(html)
    if statements != kept:
        lost = list((Counter(statements) - Counter(kept)).elements())
        raise BadTemplateError(f"{name}: the compiler lost or moved Jinja tags: {lost or 'order changed'}")
    # Attribute defaults are written wherever they apply, so an expression in one may come out many times.
    wanted, given = Counter(_expressions(_HEAD.sub("", source))), Counter(_expressions(html))
    if missing := list((wanted - given).elements()):
        raise BadTemplateError(f"{name}: the compiler lost Jinja tags: {missing}")
    if left := sorted(set(re.findall(r"</?mj-[a-z-]+", html))):
        raise BadTemplateError(f"{name}: unknown MJML tags came through: {left}")
    _check_conditionals(html, name)


def _statements(text: str) -> list[str]:
    return [tag for tag in _JINJA.findall(text) if tag.startswith("{%")]


def _expressions(text: str) -> list[str]:
    return [tag for tag in _JINJA.findall(text) if tag.startswith("{{")]


def _check_conditionals(html: str, name: str) -> None:
    is_open = False
    for found in _CONDITIONAL.finditer(html):
        opens = found[0].startswith("<!--[if")
        if opens == is_open:
            raise BadTemplateError(f"{name}: unbalanced conditional comment at character {found.start()}")
        is_open = opens
    if is_open:
        raise BadTemplateError(f"{name}: a conditional comment is never closed")


def _with_body_language(html: str) -> str:
    """Webmail drops the html element, so its language is repeated on body (mjml issue 2725)."""
    found = _LANGUAGE.search(html)
    return html.replace("<body ", f"<body {found[1]} ", 1) if found else html
