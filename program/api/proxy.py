"""Behind a reverse proxy: the base path, and what a trusted proxy says of its client."""

import ipaddress
from collections.abc import Iterable, Sequence
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from program.settings.models import ApiSettings

# Who the proxy says is signed in; set by us alone, whatever a client sends.
USER = "rivulet.proxy_user"
SCHEMES = ("http", "https")
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class BehindProxy:
    """Takes the base path off an address, and takes a trusted proxy's word for its client's address, scheme, host and name.

    An address without the base path is answered as well: some proxies take it off themselves, and programs at home ask directly.
    """

    def __init__(self, app: WSGIApplication, settings: ApiSettings) -> None:
        self._app = app
        self._base = settings.base_path
        self._trusted = [ipaddress.ip_network(text, strict=False) for text in settings.trusted_proxies]
        self._user_header = f"HTTP_{settings.proxy_user_header.upper().replace('-', '_')}"

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request."""
        environ.pop(USER, None)
        if self._trusted and _is_in(environ.get("REMOTE_ADDR", ""), self._trusted):
            self._believe(environ)
        if self._base:
            environ["SCRIPT_NAME"] = self._base
            path = environ.get("PATH_INFO", "")
            if path == self._base or path.startswith(f"{self._base}/"):
                environ["PATH_INFO"] = path[len(self._base) :] or "/"
        return self._app(environ, start_response)

    def _believe(self, environ: WSGIEnvironment) -> None:
        client = _client(environ.get("HTTP_X_FORWARDED_FOR", ""), self._trusted)
        if client:
            environ["REMOTE_ADDR"] = client
        scheme = environ.get("HTTP_X_FORWARDED_PROTO", "").strip().lower()
        if scheme in SCHEMES:
            environ["wsgi.url_scheme"] = scheme
        host = environ.get("HTTP_X_FORWARDED_HOST", "").partition(",")[0].strip()
        if host:
            environ["HTTP_HOST"] = host
        user = environ.get(self._user_header, "").strip()
        if user:
            environ[USER] = user


def _client(chain: str, trusted: Sequence[Network]) -> str | None:
    """Return the last address in the chain that is no proxy of ours: what stands before it anybody can make up."""
    addresses = [text.strip() for text in chain.split(",") if text.strip()]
    return next((text for text in reversed(addresses) if not _is_in(text, trusted)), None)


def _is_in(text: str, networks: Sequence[Network]) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return any(address in network for network in networks)
