"""The API's description for people: the OpenAPI document as a page, in their language, without a script."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import Response

from digest.web.edge import Edge, EdgeOf
from digest.web.language import LanguageOf
from digest.web.methods import READ
from digest.web.phrases import marked

OPENAPI = "/api/v1/openapi.json"
REFERENCE = "#/components/schemas/"
TYPES = {
    "string": marked("text"),
    "integer": marked("whole number"),
    "boolean": marked("true or false"),
    "array": marked("list"),
    "object": marked("object"),
}
Schema = Mapping[str, Any]

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Value:
    """A parameter, or a field of a document; ``depth`` counts the documents around it."""

    name: str
    kind: str
    description: str
    is_required: bool
    choices: Sequence[str] = ()
    usual: str = ""
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """What an operation answers with a status."""

    status: str
    description: str
    values: Sequence[Value]


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path."""

    method: str
    path: str
    summary: str
    description: str
    tag: str
    parameters: Sequence[Value]
    body: Sequence[Value]
    answers: Sequence[Answer]
    example: str

    @property
    def anchor(self) -> str:
        """The id of its heading."""
        return f"{self.method}{self.path.replace('/', '-').replace('{', '').replace('}', '')}".lower()


@router.api_route("/api", methods=READ)
def show_api(request: Request, edge: EdgeOf, language: LanguageOf) -> Response:
    """What the API can do, operation by operation, with an example to copy."""
    operations = operations_of(request.app.openapi(), edge)
    return edge.pages.answer("api", language, {"operations": operations, "openapi": OPENAPI, "switch_path": "/api"})


def operations_of(document: Schema, edge: Edge) -> list[Operation]:
    """The operations of an OpenAPI 3.1 document, in its order."""
    schemas = document.get("components", {}).get("schemas", {})
    return [
        _operation(method, path, described, schemas, edge)
        for path, methods in document["paths"].items()
        for method, described in methods.items()
    ]


def _operation(method: str, path: str, described: Schema, schemas: Schema, edge: Edge) -> Operation:
    body = described.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    return Operation(
        method=method.upper(),
        path=path,
        summary=described["summary"],
        description=described.get("description", ""),
        tag=described["tags"][0],
        parameters=[_parameter(one) for one in described.get("parameters", [])],
        body=list(_values(body, schemas)),
        answers=[_answer(status, one, schemas) for status, one in described["responses"].items()],
        example=_example(method, edge.pages.full(path), described, body),
    )


def _parameter(described: Schema) -> Value:
    schema = described["schema"]
    return Value(
        described["name"],
        _kind(schema),
        described.get("description", ""),
        described["required"],
        usual=str(schema.get("default", "")),
    )


def _answer(status: str, described: Schema, schemas: Schema) -> Answer:
    content: Schema = next(iter(described.get("content", {}).values()), {})
    # Every problem document has the same fields, which the page explains once.
    is_problem = not status.startswith("2")
    values = [] if is_problem else list(_values(content.get("schema", {}), schemas))
    return Answer(status, described["description"], values)


def _values(schema: Schema, schemas: Schema, depth: int = 0) -> Iterator[Value]:
    found = _resolved(schema, schemas)
    for name, one in found.get("properties", {}).items():
        yield Value(
            name,
            _kind(one),
            one.get("description", ""),
            name in found.get("required", ()),
            one.get("enum", ()),
            str(one.get("default", "")),
            depth,
        )
        yield from _values(one.get("items", {}), schemas, depth + 1)


def _resolved(schema: Schema, schemas: Schema) -> Schema:
    reference = schema.get("$ref", "")
    found: Schema = schemas[reference.removeprefix(REFERENCE)] if reference else schema
    return found


def _kind(schema: Schema) -> str:
    """The word for a type; of several the first one, since the others say that it may be missing."""
    options = [schema, *schema.get("anyOf", [])]
    name = next((one["type"] for one in options if "type" in one), "string")
    return TYPES[name]


def _example(method: str, address: str, described: Schema, body: Schema) -> str:
    given = {one["name"]: _sample(one) for one in described.get("parameters", [])}
    for one in described.get("parameters", []):
        if one["in"] == "path":
            address = address.replace(f"{{{one['name']}}}", given.pop(one["name"]))
    query = urlencode({name: value for name, value in given.items() if value})
    where = f"'{address}?{query}'" if query else address
    if method != "post":
        return f"curl {where}"
    sent = json.dumps(body.get("example", {}), ensure_ascii=False)
    return f"curl {where} \\\n  -H 'Content-Type: application/json' \\\n  -d '{sent}'"


def _sample(parameter: Schema) -> str:
    return str(next(iter(parameter["schema"].get("examples", [])), ""))
