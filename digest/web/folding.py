"""Templates that are worked out as far as they are the same for everybody, once, when they are read."""

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import Environment, TemplateAssertionError
from jinja2.nodes import Call, Const, Expr, Getattr, Impossible, Name, Template
from jinja2.visitor import NodeTransformer


class FoldingEnvironment(Environment):
    """An environment whose templates hold the values of what is constant, and call nothing for them any more.

    A page has some forty such places: words of its own language, paths, names of files. Each costs a call in every
    answer otherwise, all of them about a tenth of a sign-up's CPU.

    Attributes:
        constants: by their names in templates; of a function, the calls whose arguments are constant. A template that
            gives one of these names to something else is refused.
    """

    constants: Mapping[str, object] = {}

    def _parse(self, source: str, name: str | None, filename: str | None) -> Template:
        template: Template = _Folded(self.constants, name).visit(super()._parse(source, name, filename))
        return template


class _Folded(NodeTransformer):
    def __init__(self, constants: Mapping[str, object], template: str | None) -> None:
        self._constants, self._template = constants, template

    def visit_Name(self, node: Name) -> Expr:  # noqa: N802 - named after the node
        if node.name not in self._constants:
            return node
        if node.ctx != "load":
            raise TemplateAssertionError(f"{node.name} is the same everywhere", node.lineno, self._template)
        return _constant(node, lambda: self._constants[node.name])

    def visit_Getattr(self, node: Getattr) -> Expr:  # noqa: N802 - named after the node
        owner = node.node
        if isinstance(owner, Name) and owner.name in self._constants:
            return _constant(node, lambda: getattr(self._constants[owner.name], node.attr))
        self.generic_visit(node)
        return node

    def visit_Call(self, node: Call) -> Expr:  # noqa: N802 - named after the node
        self.generic_visit(node)
        if isinstance(node.node, Name) and callable(known := self._constants.get(node.node.name)):
            return _constant(node, lambda: _called(known, node))
        return node


def _called(function: Callable[..., object], node: Call) -> object:
    if node.dyn_args or node.dyn_kwargs:
        raise Impossible
    arguments = [argument.as_const() for argument in node.args]
    named = {argument.key: argument.value.as_const() for argument in node.kwargs}
    return function(*arguments, **named)


def _constant(node: Expr, value: Callable[[], Any]) -> Expr:
    """``node``, or its value where that is known and can be written down."""
    try:
        return Const.from_untrusted(value(), lineno=node.lineno, environment=node.environment)
    except Impossible:
        return node
