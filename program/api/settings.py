"""The settings over the API: shown with masks, saved whole or not at all."""

import secrets

from flask import Response, request

from program.api.answers.care import KeyBody, SettingsSavedBody, TriedBody
from program.api.context import ApiContext
from program.api.errors import ApiError
from program.api.payloads import SettingsBody
from program.api.routes import Route
from program.http import interactive
from program.log import redact
from program.plugins import PluginState
from program.settings.document import to_text
from program.settings.provider import ProviderSettings
from program.settings.store import API_KEY_BYTES

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


def new_key(context: ApiContext) -> KeyBody:
    """Make a new API key, which is in force at once; every token in an address changes with it."""
    key = secrets.token_hex(API_KEY_BYTES)
    context.store.save({"api_key": key})
    return KeyBody(message="A new API key is in force; the old one is void", api_key=key)


def test(context: ApiContext, section: str, key: str, body: SettingsBody) -> TriedBody:
    """Ask a provider whether it works with its settings and what the body changes in them; nothing is saved."""
    settings = context.store.preview({section: {key: body.root}})
    found = getattr(getattr(settings, section, None), key, None)
    if not isinstance(found, ProviderSettings):
        raise ApiError(404, f"no provider is called {section}.{key}")
    waiting = interactive.set(True)
    try:
        status = context.registry.try_out(key, found)
    finally:
        interactive.reset(waiting)
    works = status.state is PluginState.VALID
    said = "It works" if works else redact(status.reason or "It does not work")
    return TriedBody(works=works, state=status.state.value, message=said)


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
    Route(
        method="POST",
        rule="/settings/test/<section>/<key>",
        handle=test,
        summary="Ask a provider whether it works with settings that are not saved yet",
        tag=TAG,
        body=SettingsBody,
        answer=TriedBody,
    ),
    Route(
        method="POST",
        rule="/generateapikey",
        handle=new_key,
        summary="Make a new API key",
        tag=TAG,
        answer=KeyBody,
    ),
)
