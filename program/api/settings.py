"""The settings over the API: shown with masks, saved whole or not at all."""

from flask import Response, request

from program.api.answers import SettingsSavedBody
from program.api.context import ApiContext
from program.api.payloads import SettingsBody
from program.api.routes import Route
from program.settings.document import to_text

TAG = "settings"


def everything(context: ApiContext) -> Response:
    """Return the settings in force; secrets are masked, and ETag names the revision of the file."""
    return _json(to_text(context.store.masked()), context.store.loaded.revision)


def schema(context: ApiContext) -> Response:
    """Return the JSON Schema of the settings."""
    return _json(to_text(context.store.schema()), None)


def _json(text: str, revision: str | None) -> Response:
    answer = Response(text, mimetype="application/json")
    if revision is not None:
        answer.set_etag(revision)
    return answer


def save(context: ApiContext, body: SettingsBody) -> SettingsSavedBody:
    """Change settings: sections are merged, a masked value stays as it is.

    With If-Match the change is refused (409) when the file has another revision by now; without it, when the file was edited and
    the edit is not in force yet.
    """
    tags = request.if_match.as_set()
    loaded = context.store.save(body.root, next(iter(tags), None))
    return SettingsSavedBody(message="Settings saved", revision=loaded.revision, locked=loaded.locked)


ROUTES = (
    Route(
        method="GET",
        rule="/settings/get/all",
        handle=everything,
        summary="Show the settings in force",
        tag=TAG,
    ),
    Route(
        method="GET",
        rule="/settings/schema",
        handle=schema,
        summary="Show the schema of the settings",
        tag=TAG,
    ),
    Route(
        method="POST",
        rule="/settings/set/all",
        handle=save,
        summary="Change settings",
        tag=TAG,
        body=SettingsBody,
        answer=SettingsSavedBody,
    ),
)
