from pathlib import Path

import pytest

from digest.rendering.compiler import BadTemplateError, check_output, check_source, compile_mjml, compile_source, expand

PAGE = """<mjml lang="{{{{ lang }}}}" dir="ltr"><mj-head>{head}</mj-head><mj-body><mj-section {section}><mj-column>
{body}
</mj-column></mj-section></mj-body></mjml>"""


def compiled(folder: Path, body: str = "<mj-text>hello</mj-text>", head: str = "", section: str = "") -> str:
    path = folder / "body.mjml"
    path.write_text(PAGE.format(body=body, head=head, section=section), encoding="utf-8")
    return compile_mjml(path, folder)


def test_a_template_keeps_its_tags_and_says_its_language_on_body_too(tmp_path: Path) -> None:
    html = compiled(
        tmp_path, "<mj-raw>{% for s in stories %}</mj-raw><mj-text>{{ s }}</mj-text><mj-raw>{% endfor %}</mj-raw>"
    )

    assert html.index("{% for s in stories %}") < html.index("{{ s }}") < html.index("{% endfor %}")
    assert '<html lang="{{ lang }}" dir="ltr"' in html
    assert '<body lang="{{ lang }}" dir="ltr"' in html


def test_an_include_stands_where_it_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "part.mjml").write_text("<mj-text>from the part</mj-text>", encoding="utf-8")

    assert "from the part" in compiled(tmp_path, '<mj-include path="part.mjml" />')


def test_an_include_that_includes_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.mjml").write_text('<mj-include path="b.mjml" />', encoding="utf-8")
    (tmp_path / "b.mjml").write_text('<mj-include path="a.mjml" />', encoding="utf-8")

    with pytest.raises(BadTemplateError, match="includes itself"):
        expand(tmp_path / "a.mjml", tmp_path)


def test_an_include_outside_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.mjml").write_text("x", encoding="utf-8")
    inside = tmp_path / "emails"
    inside.mkdir()
    (inside / "a.mjml").write_text('<mj-include path="../secret.mjml" />', encoding="utf-8")

    with pytest.raises(BadTemplateError, match="may not leave"):
        expand(inside / "a.mjml", inside)


def test_an_include_of_another_type_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadTemplateError, match="path and nothing else"):
        compiled(tmp_path, '<mj-include path="x.html" type="html" />')


@pytest.mark.parametrize("attribute", ['padding="0 24px"', 'padding="16px 24px 0"', 'inner-padding="0 8px"'])
def test_a_unitless_zero_in_a_shorthand_is_refused(attribute: str) -> None:
    with pytest.raises(BadTemplateError, match="write 0px"):
        check_source(f"<mj-text {attribute}>x</mj-text>", "body.mjml")


def test_a_lone_zero_is_no_shorthand() -> None:
    check_source('<mj-text padding="0">x</mj-text>', "body.mjml")


def test_inlined_styles_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadTemplateError, match="inlined styles"):
        compiled(tmp_path, head='<mj-style inline="inline">p {{ color: red; }}</mj-style>')


@pytest.mark.parametrize("tag", ["{% if a < b %}", '{{ "quoted" }}', '{% if x == "y" %}'])
def test_a_tag_that_would_end_its_surroundings_is_refused(tag: str) -> None:
    with pytest.raises(BadTemplateError, match="inside a Jinja tag"):
        check_source(f"<mj-raw>{tag}</mj-raw>", "body.mjml")


def test_a_lost_statement_is_noticed() -> None:
    with pytest.raises(BadTemplateError, match="lost or moved"):
        check_output("{% if a %}x{% endif %}", "{% if a %}x", "body.mjml")


def test_a_moved_statement_is_noticed() -> None:
    with pytest.raises(BadTemplateError, match="order changed"):
        check_output("{% if a %}x{% endif %}", "{% endif %}x{% if a %}", "body.mjml")


def test_a_lost_expression_is_noticed_even_if_another_like_it_stays() -> None:
    with pytest.raises(BadTemplateError, match="lost Jinja tags"):
        check_output("{{ url }} {{ url }}", "{{ url }}", "body.mjml")


def test_a_tag_lost_by_the_real_compiler_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(BadTemplateError, match="lost Jinja tags"):
        compiled(tmp_path, '<mj-text unheard-of="{{ value }}">x</mj-text>')


def test_an_unknown_tag_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(BadTemplateError, match="unknown MJML tags"):
        compiled(tmp_path, "<mj-text>a</mj-text><mj-txet>b</mj-txet>")


def test_broken_markup_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(BadTemplateError, match="the compiler refused it"):
        compiled(tmp_path, "<mj-text>never closed")


@pytest.mark.parametrize(
    "html", ["<!--[if mso]>x", "x<![endif]-->", "<!--[if mso]><!--[if IE]>x<![endif]--><![endif]-->"]
)
def test_unbalanced_conditional_comments_are_noticed(html: str) -> None:
    with pytest.raises(BadTemplateError, match="conditional comment"):
        check_output("", html, "body.mjml")


@pytest.mark.parametrize("html", ["<!--[if mso | IE]>x<![endif]-->", "<!--[if !mso]><!-->x<!--<![endif]-->"])
def test_both_forms_of_conditional_comments_are_balanced(html: str) -> None:
    check_output("", html, "body.mjml")


def test_comments_of_the_author_do_not_reach_the_reader(tmp_path: Path) -> None:
    assert "for us only" not in compiled(tmp_path, "<!-- for us only --><mj-text>x</mj-text>")


def test_the_same_content_is_compiled_once_and_changed_content_again(tmp_path: Path) -> None:
    compile_source.cache_clear()
    first = [compiled(tmp_path, "<mj-text>one</mj-text>") for _ in range(3)]

    assert compile_source.cache_info().misses == 1
    assert "two" in compiled(tmp_path, "<mj-text>two</mj-text>")
    assert compile_source.cache_info().misses == 2
    assert len(set(first)) == 1
