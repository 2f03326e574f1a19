"""A provider for tests of what is made of every provider: settings, registry, API. It asks a real server for `/ping`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from pydantic import Field, HttpUrl, SecretStr

from program.clock import Clock
from program.media.release import FoundRelease
from program.media.wanted import Wanted
from program.network import LOOPBACK
from program.plugins import MakeSource, compose_settings, make_source
from program.services.plugin import Scraper
from program.settings.models import RootSettings
from program.settings.provider import ProviderSettings


class SampleSettings(ProviderSettings):
    """A made-up index of releases."""

    url: HttpUrl = Field(default=HttpUrl("http://localhost:9"), description="Address of the index")
    api_key: SecretStr = Field(default=SecretStr(""), description="Key of the index")
    per_page: int = Field(default=50, ge=1, description="Rows of one answer")


class Sample(Scraper[SampleSettings]):
    """Works when its server answers `/ping`."""

    key = "sample"
    title = "Sample Index"
    Settings = SampleSettings

    def check(self) -> None:
        """Ask for `/ping`."""
        self.http.get("/ping", fresh=True)

    def search(self, wanted: Wanted) -> Iterable[FoundRelease]:
        """Find nothing."""
        return ()


class SecondSample(Sample):
    """Another one of the kind."""

    key = "other"
    title = "Other Index"


Model = compose_settings([Sample, SecondSample])


def settings(**sections: object) -> RootSettings:
    """Return settings with these sections, e.g. `scraping={"sample": {"enabled": True}}`."""
    return Model.model_validate(sections)


def sources(clock: Clock) -> MakeSource:
    """Return a maker of ways to a service."""
    return partial(make_source, clock=clock, allowed=lambda: LOOPBACK)
