"""When a file is given up: from what its sources said and when; pure.

An outage says nothing about a file, however long it lasts, and is never counted. What counts is a provider's own word that it does
not have the bytes (any more), or that of its CDN about an address that was just made: several times, spread over a while.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from program.media.entry import Trouble

# The CDN's word about a fresh address; all other codes are those of `DownloadRefused`.
DEAD_LINK = "dead_link"
# A provider that lost the torrent may take it again.
LOST = frozenset({"gone", "dead"})

# A file is given up after so many failures …
CONFIRMATIONS = 3
# … of which the last came so long after the first.
SPREAD = timedelta(hours=1)
# How long after the n-th failure its sources are looked at again; the last one for all that follow.
LOOKS = (timedelta(minutes=20), timedelta(minutes=40), timedelta(hours=1))
# A file that was given up and has no replacement yet may come back.
LOOK_FOR_RETURN = timedelta(hours=6)
# How soon a provider that did not answer is asked again.
AFTER_SILENCE = timedelta(minutes=15)


def is_confirmed(troubles: Collection[Trouble]) -> bool:
    """Return whether the failures of one source are enough to give it up."""
    if len(troubles) < CONFIRMATIONS:
        return False
    times = [trouble.at for trouble in troubles]
    return max(times) - min(times) >= SPREAD


def next_look(troubles: Collection[Trouble], now: datetime) -> datetime:
    """Return when sources with these failures are looked at again."""
    return now + LOOKS[min(max(len(troubles), 1), len(LOOKS)) - 1]
