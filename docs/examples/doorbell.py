"""Doorbell: tells an address of your choice about each finished title. An example of a plugin in one file.

Put this file into the folder `plugins` of the config folder, set `plugins.folder` to true, and restart. Then:

    "notifications": {"doorbell": {"enabled": true, "url": "http://192.168.1.20:9000"}}
"""

from collections.abc import Mapping

from pydantic import Field, HttpUrl

from program.errors import Misconfigured
from program.events import ItemCompleted
from program.http import Limits
from program.services.plugin import Hook, Plugin
from program.settings.provider import ProviderSettings


class DoorbellSettings(ProviderSettings):
    """Rings when a title is finished."""

    url: HttpUrl = Field(
        default=HttpUrl("http://localhost:9000"), description="Address of the bell; /ring is called there"
    )
    films_only: bool = Field(default=False, description="Whether to be silent about episodes")


class Doorbell(Plugin[DoorbellSettings]):
    """Sends a small JSON object for each finished title."""

    key = "doorbell"
    title = "Doorbell"
    section = "notifications"
    version = "1.0.0"
    Settings = DoorbellSettings
    limits = Limits(requests=30, seconds=60)
    deadline_seconds = 10

    def check(self) -> None:
        """Return when the settings can be used; it does not ring."""
        if not self.settings.url.host:
            raise Misconfigured(self.key, "url", "names no machine")

    def hooks(self) -> Mapping[str, Hook]:
        """Listen to what is finished."""
        return {ItemCompleted.type: self.ring}

    def ring(self, event: ItemCompleted) -> None:
        """Send one title. What it raises is tried again or reported; what it returns is not looked at."""
        item = event.item
        if item is None or (self.settings.films_only and item.episode is not None):
            return
        self.http.post("/ring", json={"title": item.title, "season": item.season, "episode": item.episode})
        self.log.bind(item=item.id).info("rang")
