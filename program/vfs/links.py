"""Where an entry's bytes can be read now: asked once per entry however many readers want it, kept until it expires."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeAlias

from program.clock import Clock
from program.media.entry import Link
from program.vfs.counters import Counters

# Given an entry and, when one failed, the dead URL, return where its bytes can be read now. May block up to the read
# deadline and raise any RivuletError; a URL equal to the dead one means that there is no other.
Resolve: TypeAlias = Callable[[int, str | None], Link]

# A link is replaced so long before it expires, since the request still has to reach the CDN.
MARGIN = timedelta(seconds=60)
# Of a link that lives shorter than ten margins, this part of its life is the margin.
MARGIN_SHARE = 10


@dataclass(slots=True)
class _Known:
    """What is known of one entry. usable_until: None when it was not told; asking: the call under way."""

    link: Link | None = None
    usable_until: datetime | None = None
    asking: "Future[Link] | None" = None


@dataclass(slots=True)
class Links:
    """The current link of each entry."""

    resolve: Resolve
    clock: Clock
    counters: Counters
    _lock: threading.Lock = field(default_factory=threading.Lock)
    # Guarded by the lock.
    _known: dict[int, _Known] = field(default_factory=dict)

    def get(self, entry_id: int, dead_url: str | None = None) -> Link:
        """Return a link of the entry, not the dead one unless there is no other; blocks while it is being resolved.

        Callers that come while another asks wait for that answer. Raises what `resolve` raises.
        """
        with self._lock:
            known = self._known.setdefault(entry_id, _Known())
            link = known.link
            if link is not None and link.url != dead_url:
                if known.usable_until is None or self.clock.now() < known.usable_until:
                    return link
                dead_url = link.url
            asking = known.asking
            if asking is None:
                future: Future[Link] = Future()
                known.asking = future
        if asking is not None:
            return asking.result()
        return self._ask(entry_id, dead_url, future)

    def forget(self, entry_id: int) -> None:
        """Drop what is known of an entry that was removed or got other contents."""
        with self._lock:
            self._known.pop(entry_id, None)

    def _ask(self, entry_id: int, dead_url: str | None, future: "Future[Link]") -> Link:
        """Resolve for everybody who waits."""
        self.counters.add(links_resolved=1, links_replaced=int(dead_url is not None))
        try:
            link = self.resolve(entry_id, dead_url)
        except BaseException as error:
            self._settle(entry_id, future, None)
            future.set_exception(error)
            raise
        self._settle(entry_id, future, link)
        future.set_result(link)
        return link

    def _settle(self, entry_id: int, future: "Future[Link]", link: Link | None) -> None:
        """Note the answer, unless the entry was forgotten meanwhile."""
        with self._lock:
            known = self._known.get(entry_id)
            if known is None or known.asking is not future:
                return
            known.asking = None
            if link is not None:
                known.link, known.usable_until = link, self._usable_until(link)

    def _usable_until(self, link: Link) -> datetime | None:
        if link.expires_at is None:
            return None
        life = link.expires_at - self.clock.now()
        return link.expires_at - min(MARGIN, life / MARGIN_SHARE)
