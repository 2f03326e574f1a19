"""Commands that ask the running program: it alone changes its library."""

import http.client
import json
from collections.abc import Mapping
from typing import Any

from program.errors import NotPossible
from program.settings.store import SettingsStore

TIMEOUT_SECONDS = 60.0
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - what is listened on, not asked
OK = 200


def call(store: SettingsStore, method: str, path: str, body: Mapping[str, object] | None = None) -> Any:
    """Return the JSON that the running program answers; raise NotPossible with its sentence, or that none runs."""
    api = store.current.api
    host = EVERYWHERE.get(api.host, api.host)
    connection = http.client.HTTPConnection(host, api.port, timeout=TIMEOUT_SECONDS)
    headers = {"X-Api-Key": store.current.api_key.get_secret_value(), "Content-Type": "application/json"}
    content = json.dumps(body).encode() if body is not None else None
    try:
        connection.request(method, f"/api/v1{path}", content, headers)
        answer = connection.getresponse()
        text = answer.read()
    except OSError as error:
        raise NotPossible(
            f"no running Rivulet answers at {host}:{api.port} ({error.strerror or error}): start it first"
        ) from None
    except http.client.HTTPException:
        raise NotPossible(f"what answers at {host}:{api.port} is not Rivulet") from None
    finally:
        connection.close()
    return _value(answer.status, text, f"{host}:{api.port}")


def _value(status: int, text: bytes, place: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        raise NotPossible(f"what answers at {place} is not Rivulet") from None
    if status != OK:
        raise NotPossible(str(value.get("detail", status)) if isinstance(value, dict) else str(status))
    return value
