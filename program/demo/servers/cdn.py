"""The CDN: files by range, over links that expire."""

import re
import threading
from urllib.parse import unquote

from program.demo.servers.addresses import Addresses, CdnLink
from program.demo.servers.faults import refusal
from program.demo.servers.wire import Answer, FileSlice, Headers, Request
from program.demo.servers.world import World

_PATH = re.compile(r"/d/([A-Z0-9]{13})(?:/(.*))?")
_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


class Cdn:
    """Serves what the unrestricted links of one account point at; threads share it."""

    def __init__(self, world: World, addresses: Addresses) -> None:
        self._world = world
        self._addresses = addresses
        self._lock = threading.Lock()
        self._expire_after: int | None = None

    def expire_in_next_read(self, after: int) -> None:
        """Let all links expire when the next read has got so many bytes; that read is cut off there."""
        with self._lock:
            self._expire_after = after

    def endpoint(self, request: Request) -> Answer:
        """Return the bytes asked for, or why not."""
        if request.method not in ("GET", "HEAD"):
            return refusal("cdn", 405)
        matched = _PATH.fullmatch(unquote(request.path))
        link = self._addresses.find(matched.group(1)) if matched else None
        if link is None:
            return refusal("cdn", 404)
        if link.expires <= self._world.clock.now():
            return self._expired()
        return self._cut_where_asked(request, self._part(request, link))

    def _expired(self) -> Answer:
        answer = refusal("cdn", self._world.options.cdn_expired_status)
        headers = tuple(pair for pair in answer.headers if pair[0] != "X-Error")
        return Answer(status=answer.status, headers=(*headers, ("X-Error", "link_expired")), body=answer.body)

    def _part(self, request: Request, link: CdnLink) -> Answer:
        path = self._world.clips.clip(link.clip).path
        pace = self._world.options.cdn_bytes_per_second
        common: Headers = (
            ("Content-Type", "application/octet-stream"),
            ("Accept-Ranges", "bytes"),
            ("Content-Disposition", f'attachment; filename="{link.name}"'),
            ("ETag", f'"{link.clip.mark or link.clip.base}"'),
        )
        asked = request.headers.get("range")
        if asked is None:
            return Answer(status=200, headers=common, file=FileSlice(path, 0, link.size, pace))
        span = byte_span(asked, link.size)
        if span is None:
            return Answer(status=416, headers=(("Content-Range", f"bytes */{link.size}"),))
        start, end = span
        headers = (*common, ("Content-Range", f"bytes {start}-{end}/{link.size}"))
        return Answer(status=206, headers=headers, file=FileSlice(path, start, end - start + 1, pace))

    def _cut_where_asked(self, request: Request, answer: Answer) -> Answer:
        with self._lock:
            after = self._expire_after
            if after is None or request.method != "GET" or answer.length <= after:
                return answer
            self._expire_after = None
        self._addresses.expire_all()
        return Answer(status=answer.status, headers=answer.headers, file=answer.file, stop_after=after)


def byte_span(text: str, size: int) -> tuple[int, int] | None:
    """Return first and last byte of one range, None when it cannot be had."""
    matched = _RANGE.fullmatch(text.strip())
    if matched is None or matched.groups() == ("", ""):
        return None
    first, last = matched.groups()
    if first == "":
        count = min(int(last), size)
        return (size - count, size - 1) if count else None
    start = int(first)
    end = min(int(last), size - 1) if last else size - 1
    return (start, end) if start <= end else None
