"""What is the same for everybody is worked out when a template is read; the page is the same page."""

from collections.abc import Iterator

import pytest
from jinja2 import DictLoader, TemplateAssertionError
from markupsafe import Markup

from digest.domain.language import Language
from digest.web.folding import FoldingEnvironment
from tests.web.conftest import Site


@pytest.fixture
def calls() -> list[str]:
    return []


@pytest.fixture
def environment(calls: list[str]) -> Iterator[FoldingEnvironment]:
    def word(text: str, **values: object) -> Markup:
        calls.append(text)
        return Markup(text) % values  # noqa: S704 - the templates below are the only texts

    made = FoldingEnvironment(autoescape=True, loader=DictLoader({}))
    made.globals |= {"word": word, "shop": "R & D", "number": 7}
    made.constants = {"word": word, "shop": "R & D"}
    return made


def test_a_call_with_constants_happens_once_however_often_the_page_is_made(
    environment: FoldingEnvironment, calls: list[str]
) -> None:
    page = environment.from_string("<p>{{ word('Archive') }}</p>")
    assert [page.render() for _ in range(3)] == ["<p>Archive</p>"] * 3
    assert calls == ["Archive"]


def test_a_call_with_something_of_the_reader_s_is_made_for_each_of_them(
    environment: FoldingEnvironment, calls: list[str]
) -> None:
    page = environment.from_string("{{ word('To %(who)s', who=who) }}")
    assert [page.render(who=who) for who in ("a", "<b>")] == ["To a", "To &lt;b&gt;"]
    assert len(calls) == 2


def test_constants_are_escaped_like_anything_else_and_so_are_those_within_calls(
    environment: FoldingEnvironment,
) -> None:
    assert environment.from_string("{{ shop }} {{ word('%(at)s', at=shop) }}").render() == "R &amp; D R &amp; D"


def test_what_is_no_constant_stays_what_the_page_is_given(environment: FoldingEnvironment) -> None:
    page = environment.from_string("{{ number }}")
    assert [page.render(), page.render(number=8)] == ["7", "8"]


@pytest.mark.parametrize(
    "template",
    ["{% set shop = 'ours' %}", "{% for shop in [1] %}{% endfor %}", "{% macro a(shop) %}{% endmacro %}"],
)
def test_a_template_that_gives_a_constant_s_name_to_something_else_is_refused(
    environment: FoldingEnvironment, template: str
) -> None:
    with pytest.raises(TemplateAssertionError, match="shop is the same everywhere"):
        environment.from_string(template)


def test_every_page_says_the_same_as_when_nothing_is_worked_out_before(site: Site) -> None:
    reader = site.active()
    paths = ["/", "/archive", "/embed", "/api", "/nowhere", "/outbox", "/privacy", "/feed.xml", "/sitemap.xml"]
    paths += [site.unsubscribe_path(reader), site.preferences_path(reader)]
    asked = [f"{path}?lang={language}" for path in paths for language in Language]
    client, form = site.client(), {"email": "a<b>@example.com", "language": "zh"}

    def pages() -> list[str]:
        made = [client.get(path).text for path in asked] + [client.post("/subscribe", data=form).text]
        return [*made, client.post("/subscribe", data={**form, "email": "reader@example.com"}).text]

    folded = pages()
    for environment in site.app.state.edge.pages._environments.values():  # noqa: SLF001 - the same ones, taken apart
        assert environment.constants
        environment.constants = {}
        environment.cache.clear()
    assert pages() == folded
