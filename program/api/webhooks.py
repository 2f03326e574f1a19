"""Events that content services send: turned into wishes by the service's own plugin."""

from flask import request

from program.api.answers.state import WebhookBody
from program.api.auth import same, webhook_token
from program.api.context import ApiContext
from program.api.errors import ApiError
from program.api.routes import Access, Route
from program.errors import BadAnswer, NotFound
from program.services.plugin import ContentService

TAG = "webhooks"


def receive(context: ApiContext, key: str) -> WebhookBody:
    """Take an event from a service that sends the API key in a header."""
    plugin = _service(context, key)
    try:
        wishes = plugin.webhook(dict(request.headers), request.get_data(cache=False))
    except BadAnswer as error:
        raise ApiError(422, str(error)) from None
    results = context.actions.add(wishes, by_person=False)
    sentences = [result.sentence for result in results]
    return WebhookBody(success=True, message="; ".join(sentences) or "Nothing to do")


def receive_by_token(context: ApiContext, key: str, token: str) -> WebhookBody:
    """Take an event from a service that can send no header: a token of its own stands in the address."""
    if not same(token, webhook_token(context, key)):
        raise ApiError(401, "this is not the address of a webhook")
    return receive(context, key)


def _service(context: ApiContext, key: str) -> ContentService:  # type: ignore[type-arg]
    try:
        plugin = context.registry.get(key)
    except NotFound as error:
        raise ApiError(404, str(error)) from None
    if not isinstance(plugin, ContentService):
        raise ApiError(404, f"{key} takes no webhooks")
    return plugin


ROUTES = (
    Route(
        method="POST",
        rule="/webhook/<key>",
        handle=receive,
        summary="Take an event from a content service",
        tag=TAG,
        answer=WebhookBody,
    ),
    Route(
        method="POST",
        rule="/webhook/<key>/<token>",
        handle=receive_by_token,
        summary="Take an event from a content service that can send no header",
        tag=TAG,
        answer=WebhookBody,
        access=Access.ADDRESS,
    ),
)
