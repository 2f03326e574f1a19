"""Dedup ids: which job holds which, and until when. Pure; the time is an argument."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Key:
    """job_id: who holds it. expires_at: None is held until the job ends."""

    job_id: str
    expires_at: datetime | None


class Keys:
    """The dedup ids of one queue."""

    def __init__(self) -> None:
        self._keys: dict[str, Key] = {}

    def hold(self, dedup_id: str, job_id: str, now: datetime, ttl: timedelta | None) -> None:
        """Give a free id to a job, for exactly `ttl` when there is one."""
        self._keys[dedup_id] = Key(job_id, None if ttl is None else now + ttl)

    def holder(self, dedup_id: str, now: datetime) -> str | None:
        """Return the id of the job that holds the key now."""
        key = self._keys.get(dedup_id)
        if key is not None and key.expires_at is not None and key.expires_at <= now:
            del self._keys[dedup_id]
            return None
        return None if key is None else key.job_id

    def release(self, dedup_id: str, job_id: str, *, even_with_ttl: bool) -> None:
        """Free an id that this job holds; one with a ttl only when asked."""
        key = self._keys.get(dedup_id)
        if key is None or key.job_id != job_id:
            return
        if key.expires_at is None or even_with_ttl:
            del self._keys[dedup_id]

    def held(self, now: datetime) -> frozenset[str]:
        """Return the ids that are held now."""
        return frozenset(dedup_id for dedup_id in tuple(self._keys) if self.holder(dedup_id, now))
