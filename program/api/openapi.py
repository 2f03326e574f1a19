"""The OpenAPI 3.1 document, made from the routes."""

import json
import re
from collections.abc import Iterable, Mapping

from flask import Response
from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from program import __version__
from program.api.answers.base import ErrorBody
from program.api.routes import Access, Route

TAG = "documentation"
REFERENCE = "#/components/schemas/{model}"
# A part of a path, as Flask writes it.
PART = re.compile(r"<(\w+)>")
DESCRIPTION = (
    "Every call but those marked open needs the API key, as X-Api-Key or as Authorization: Bearer. "
    "Whatever goes wrong is answered with JSON: an object with a sentence in `detail`."
)
Schema = dict[str, object]


def document(routes: Iterable[Route]) -> Schema:
    """Return the document of `routes`."""
    routes = tuple(routes)
    schemas = _schemas(routes)
    paths: dict[str, dict[str, Schema]] = {}
    for route in routes:
        path = PART.sub(r"{\1}", route.path)
        paths.setdefault(path, {})[route.method.lower()] = _operation(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Rivulet", "version": __version__, "description": DESCRIPTION},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "key": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
                "bearer": {"type": "http", "scheme": "bearer"},
            },
        },
        "security": [{"key": []}, {"bearer": []}],
    }


def _schemas(routes: tuple[Route, ...]) -> Mapping[str, Schema]:
    wanted: dict[tuple[type[BaseModel], JsonSchemaMode], None] = {(ErrorBody, "serialization"): None}
    for route in routes:
        for model in (route.body, route.query):
            if model is not None:
                wanted[model, "validation"] = None
        if route.answer is not None:
            wanted[route.answer, "serialization"] = None
    _, found = models_json_schema(list(wanted), ref_template=REFERENCE)
    return dict(found["$defs"])


def _operation(route: Route, schemas: Mapping[str, Schema]) -> Schema:
    operation: Schema = {
        "operationId": route.operation or _name(route),
        "summary": route.summary,
        "description": (route.handle.__doc__ or route.summary).strip(),
        "tags": [route.tag],
        "parameters": [*_path_parameters(route), *_query_parameters(route, schemas)],
        "responses": _responses(route),
    }
    if route.access is not Access.KEY:
        operation["security"] = []
    if route.body is not None:
        operation["requestBody"] = {"required": True, "content": _json(_reference(route.body))}
    if route.takes:
        content = {route.takes: {"schema": {"type": "string", "format": "binary"}}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _name(route: Route) -> str:
    words = re.findall(r"[a-z0-9]+", PART.sub(r"by \1", route.path).lower())
    return "_".join([route.method.lower(), *words])


def _path_parameters(route: Route) -> list[Schema]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in PART.findall(route.path)
    ]


def _query_parameters(route: Route, schemas: Mapping[str, Schema]) -> list[Schema]:
    if route.query is None:
        return []
    properties = schemas[route.query.__name__]["properties"]
    assert isinstance(properties, dict)  # noqa: S101 - every query model has fields
    return [
        {"name": name, "in": "query", "required": False, "schema": schema, "explode": True}
        for name, schema in properties.items()
    ]


def _responses(route: Route) -> Schema:
    success: Schema = _reference(route.answer) if route.answer else {"type": "object"}
    if route.answer is None and route.media != "application/json":
        success = {"type": "string"}
    content: Schema = {route.media: {"schema": success}}
    if route.also:
        content[route.also] = {"schema": {"type": "string"}}
    return {
        "200": {"description": "It worked", "content": content},
        "default": {"description": "It did not; `detail` says why", "content": _json(_reference(ErrorBody))},
    }


def _reference(model: type[BaseModel]) -> Schema:
    return {"$ref": REFERENCE.format(model=model.__name__)}


def _json(schema: Schema) -> Schema:
    return {"application/json": {"schema": schema}}


def route(routes: tuple[Route, ...]) -> Route:
    """Return the open route that gives the document of `routes` and of itself."""
    made = Route(
        method="GET",
        rule="/openapi.json",
        handle=lambda _context: Response(json.dumps(document((*routes, made))), mimetype="application/json"),
        summary="Give this document",
        tag=TAG,
        access=Access.EVERYBODY,
        is_bare=True,
    )
    return made
