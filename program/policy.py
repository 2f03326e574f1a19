"""The rules of states and dates as the settings have them."""

from collections.abc import Mapping
from datetime import timedelta

from program.media.state import Policy
from program.settings.models import RootSettings


def policy_of(
    settings: RootSettings, servers: tuple[str, ...], titles: Mapping[str, str] | None = None
) -> Policy:
    """Return the policy for `settings`; servers: keys of the enabled media servers; titles: what they are called."""
    indexing, scraping = settings.indexing, settings.scraping
    return Policy(
        release_kinds=indexing.release_kinds,
        schedule_offset=timedelta(minutes=indexing.schedule_offset_minutes),
        theatrical_wait=timedelta(days=indexing.theatrical_wait_days),
        unknown_date=timedelta(days=indexing.unknown_date_days),
        cooldown_hours=scraping.scrape_cooldown_hours,
        max_failed_attempts=scraping.max_failed_attempts,
        prefer_packs=scraping.prefer_packs,
        servers=servers,
        titles=titles or {},
    )
