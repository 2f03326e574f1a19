"""Every answer that is not a success is JSON: `{"detail": "a sentence"}`."""

import json
import math
import traceback
from collections.abc import Mapping
from http import HTTPStatus

from flask import Flask, Response, current_app, request
from pydantic import BaseModel, ValidationError
from werkzeug.exceptions import HTTPException

from program.clock import Clock
from program.errors import (
    Cancelled,
    Final,
    NotFound,
    NotPossible,
    RetryLater,
    RivuletError,
    SettingsError,
    Transient,
)
from program.log import logger, redact
from program.queues.errors import EngineClosed
from program.settings.problems import InvalidSettings, SettingsConflict, explain

# When to come back after a passing trouble that has no time of its own.
RETRY_SECONDS = 5
KIB = 1024

# What our own errors mean to a client; the first kind that fits counts.
STATUSES: tuple[tuple[type[RivuletError], HTTPStatus], ...] = (
    (NotFound, HTTPStatus.NOT_FOUND),
    (NotPossible, HTTPStatus.CONFLICT),
    (SettingsConflict, HTTPStatus.CONFLICT),
    (SettingsError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (RetryLater, HTTPStatus.SERVICE_UNAVAILABLE),
    (Transient, HTTPStatus.SERVICE_UNAVAILABLE),
    (EngineClosed, HTTPStatus.SERVICE_UNAVAILABLE),
    # What the call is about was removed while it waited for its turn.
    (Cancelled, HTTPStatus.NOT_FOUND),
    (Final, HTTPStatus.BAD_GATEWAY),
)


class ApiError(Exception):
    """A request that is answered with `status` and a sentence."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})


def install(app: Flask, clock: Clock) -> None:
    """Have every error of `app` answered in JSON."""
    app.register_error_handler(ApiError, _said)
    app.register_error_handler(RivuletError, lambda error: _said(_from_program(error, clock)))
    app.register_error_handler(HTTPException, _from_flask)
    app.register_error_handler(Exception, _unexpected)


def invalid(error: ValidationError, model: type[BaseModel], where: str) -> ApiError:
    """Return what is wrong with a body or a query: 400 when it is not JSON at all, else 422, each time with the place."""
    problems = explain(error, model, {})
    if error.errors(include_url=False)[0]["type"] == "json_invalid":
        return ApiError(400, f"{where}: {_lower(problems[0].reason.partition(', not ')[0])}")
    return ApiError(422, "; ".join(f"{problem.path or where}: {problem.reason}" for problem in problems))


def _lower(sentence: str) -> str:
    return sentence.replace("Invalid JSON", "not valid JSON")


def _said(error: ApiError) -> Response:
    body = json.dumps({"detail": redact(error.detail)}, ensure_ascii=False)
    return Response(body, error.status, error.headers, mimetype="application/json")


def _from_program(error: RivuletError, clock: Clock) -> ApiError:
    """Return what one of our own errors means to a client."""
    status = next(
        (status for kind, status in STATUSES if isinstance(error, kind)), HTTPStatus.INTERNAL_SERVER_ERROR
    )
    detail = "; ".join(map(str, error.problems)) if isinstance(error, InvalidSettings) else str(error)
    headers = {"Retry-After": str(_wait(error, clock))} if status is HTTPStatus.SERVICE_UNAVAILABLE else {}
    return ApiError(status, detail, headers)


def _wait(error: RivuletError, clock: Clock) -> int:
    if not isinstance(error, RetryLater):
        return RETRY_SECONDS
    return max(1, math.ceil((error.at - clock.now()).total_seconds()))


def _from_flask(error: HTTPException) -> Response:
    """Return werkzeug's refusals in our form; their headers (such as Allow) stay."""
    status = HTTPStatus(error.code or HTTPStatus.INTERNAL_SERVER_ERROR)
    if status is HTTPStatus.NOT_FOUND:
        detail = f"there is no {request.path}"
    elif status is HTTPStatus.METHOD_NOT_ALLOWED:
        detail = f"{request.method} is not possible on {request.path}"
    elif status is HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        detail = f"the body is larger than {(current_app.config['MAX_CONTENT_LENGTH'] or 0) // KIB} KiB"
    else:
        detail = error.description or error.name
    headers = {name: value for name, value in error.get_headers() if name.lower() != "content-type"}
    return _said(ApiError(status, detail, headers))


def _unexpected(_error: Exception) -> Response:
    """The last line of defence: the log has the cause, the client learns no more than that."""
    logger.error("{} {} failed:\n{}", request.method, redact(request.path), traceback.format_exc())
    return _said(ApiError(500, "something went wrong inside; the log says what"))
