"""Slows down whoever guesses passwords: a few tries are free, then each failure makes the next try wait twice as long."""

import ipaddress
import threading
from dataclasses import dataclass
from datetime import datetime, timedelta

FREE_TRIES = 5
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=15), timedelta(minutes=15)
# After so long without a try everything is forgotten.
FORGET_AFTER = timedelta(hours=1)
MOST_ADDRESSES = 10_000
# One household, one provider's customer: IPv6 addresses are given out by the /64.
IPV6_NETWORK = 64


@dataclass(frozen=True, slots=True)
class _Tries:
    count: int
    last_at: datetime


class Throttle:
    """Counts failed tries by address. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Guarded by the lock; the one that tried last stands last.
        self._tries: dict[str, _Tries] = {}

    def admit(self, address: str, now: datetime) -> timedelta:
        """Return how long to wait, zero for a try that may be made; it counts as failed until `worked` is called."""
        who = _group(address)
        with self._lock:
            tries = self._tries.get(who)
            if tries is None or now - tries.last_at > FORGET_AFTER:
                tries = _Tries(0, now)
            wait = max(tries.last_at + _wait_after(tries.count) - now, timedelta(0))
            if not wait:
                self._tries.pop(who, None)
                self._tries[who] = _Tries(tries.count + 1, now)
                self._keep_few()
            return wait

    def worked(self, address: str) -> None:
        """Forget the failures of an address."""
        with self._lock:
            self._tries.pop(_group(address), None)

    def _keep_few(self) -> None:
        # Call with the lock held.
        while len(self._tries) > MOST_ADDRESSES:
            self._tries.pop(next(iter(self._tries)))


def _wait_after(tries: int) -> timedelta:
    if tries < FREE_TRIES:
        return timedelta(0)
    # Further doublings are beyond the last step anyway.
    return min(FIRST_WAIT * (1 << min(tries - FREE_TRIES, 10)), LONGEST_WAIT)


def _group(address: str) -> str:
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv4Address):
        return address
    return str(ipaddress.ip_network((ip, IPV6_NETWORK), strict=False))
