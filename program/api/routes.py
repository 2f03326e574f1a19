"""A route as data: what it takes, what it gives, who may call it. The Flask app and the OpenAPI document are made from it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar, get_args, get_origin

from flask import Flask, Response, request
from pydantic import BaseModel, ConfigDict, ValidationError

from program.api.context import ApiContext
from program.api.errors import ApiError, invalid
from program.settings.fields import bare, fields

PREFIX = "/api/v1"
B = TypeVar("B", bound=BaseModel)
# A body, a body with a status other than 200, or a finished answer.
Answer = BaseModel | tuple[BaseModel, int] | Response
Handler = Callable[..., Answer]


class Access(Enum):
    """Who may call a route."""

    KEY = 1
    # Whoever knows the address: the handler itself looks at the token in it.
    ADDRESS = 2
    EVERYBODY = 3


class Payload(BaseModel):
    """Base of bodies and queries: unknown names are errors, so that a typo is told."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One call.

    rule: Flask's, without the prefix unless `is_bare`. handle: takes the context, the parts of the path by name, and `query` and
    `body` when there are models for them. media: the type of its answer; also: another that it may have. operation: its name in the
    OpenAPI document, where another client counts on it. says_options: whether OPTIONS is answered with its method.
    takes: the type of a body that is no JSON; the handler reads it by itself.
    """

    method: str
    rule: str
    handle: Handler
    summary: str
    tag: str
    answer: type[BaseModel] | None = None
    query: type[Payload] | None = None
    body: type[BaseModel] | None = None
    access: Access = Access.KEY
    is_bare: bool = False
    media: str = "application/json"
    also: str = ""
    operation: str = ""
    says_options: bool = True
    takes: str = ""

    @property
    def path(self) -> str:
        """Return the whole path, as Flask writes it."""
        return self.rule if self.is_bare else f"{PREFIX}{self.rule}"

    @property
    def endpoint(self) -> str:
        """Return a name of its own."""
        return f"{self.method} {self.path}"


def add(app: Flask, route: Route, context: ApiContext) -> None:
    """Make a route part of the app."""

    def view(**parts: object) -> Response:
        given = dict(parts)
        if route.query is not None:
            given["query"] = read_query(route.query)
        if route.body is not None:
            given["body"] = read_body(route.body)
        return respond(route.handle(context, **given))

    app.add_url_rule(
        route.path,
        route.endpoint,
        view,
        methods=[route.method],
        strict_slashes=False,
        provide_automatic_options=route.says_options,
    )


def respond(answer: Answer) -> Response:
    """Return an answer as JSON."""
    if isinstance(answer, Response):
        return answer
    body, status = answer if isinstance(answer, tuple) else (answer, 200)
    return Response(body.model_dump_json(by_alias=True), status, mimetype="application/json")


def read_body(model: type[B]) -> B:
    """Return the request's JSON body; raise ApiError 400, 415 or 422 with what is wrong and where."""
    content = request.get_data(cache=False)
    if not content:
        raise ApiError(400, "body: it is empty; send a JSON object")
    if request.mimetype and not request.is_json:
        raise ApiError(415, f"body: send application/json, not {request.mimetype}")
    try:
        return model.model_validate_json(content, strict=True)
    except ValidationError as error:
        raise invalid(error, model, "body") from None


def read_query(model: type[B]) -> B:
    """Return the query; a name may be repeated where the model has a list. Raises ApiError 422 with what is wrong and where."""
    lists = lists_in(model)
    given: dict[str, str | list[str]] = {}
    for name, values in request.args.lists():
        if len(values) > 1 and name in fields(model) and name not in lists:
            raise ApiError(422, f"{name}: stands {len(values)} times")
        given[name] = values if name in lists else values[-1]
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise invalid(error, model, "query") from None


def lists_in(model: type[BaseModel]) -> frozenset[str]:
    """Return the names of a query that may be repeated."""
    return frozenset(key for key, (_, info) in fields(model).items() if _is_list(info.annotation))


def _is_list(annotation: object) -> bool:
    inner = bare(annotation)
    origin = get_origin(inner)
    return isinstance(origin, type) and issubclass(origin, Sequence) and bool(get_args(inner))
