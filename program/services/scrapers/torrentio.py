"""Torrentio: a public Stremio add-on that lists torrents of films and episodes by IMDb id."""

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote

from loguru import logger
from pydantic import AliasChoices, BaseModel, Field, HttpUrl, TypeAdapter, ValidationError

from program.http import AskedToWait, Limits, Response
from program.media.item import MediaType
from program.media.release import FoundRelease
from program.media.wanted import Wanted
from program.services.plugin import Scraper
from program.services.scrapers import normal_infohash, seeders_in, size_in
from program.settings.provider import ProviderSettings

# The public instance refuses unusual names.
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
# How long it is left alone after it has blocked us.
BLOCKED_SECONDS = 900
# No other option has so long a value.
SHORTEST_KEY = 16
_BLOCKED = 403
_HASH_IN_URL = re.compile(r"/([0-9a-fA-F]{40})(?=/|$)")


class TorrentioSettings(ProviderSettings):
    """Settings of Torrentio."""

    url: HttpUrl = Field(HttpUrl("https://torrentio.strem.fun"), description="Address of the add-on")
    options: str = Field(
        "sort=qualitysize",
        description="Its configuration, pairs joined by |, e.g. sort=qualitysize|qualityfilter=480p,scr,cam",
    )


class Hints(BaseModel):
    """What a stream says of its file."""

    filename: str | None = None
    videoSize: int | None = None  # noqa: N815 - the add-on's name


class Stream(BaseModel):
    """One stream; `url` in place of a hash when a debrid key is configured."""

    infohash: str | None = Field(None, alias="infoHash")
    url: str | None = None
    text: str = Field("", validation_alias=AliasChoices("title", "description"))
    file_index: int | None = Field(None, alias="fileIdx")
    hints: Hints = Field(default_factory=Hints, alias="behaviorHints")


class Streams(BaseModel):
    """An answer of the add-on."""

    streams: list[object]


_STREAM = TypeAdapter(Stream)


class Torrentio(Scraper[TorrentioSettings]):
    """Asks by IMDb id: a film, an episode; for a season or a show the episodes whose answers name its packs."""

    key = "torrentio"
    title = "Torrentio"
    Settings = TorrentioSettings
    # One a second on average, with room for a burst; the server counts 5,000 a day.
    limits = Limits(requests=30, seconds=30)

    @classmethod
    def headers(cls, settings: TorrentioSettings) -> Mapping[str, str]:  # noqa: ARG003
        """Return a browser's name."""
        return {"User-Agent": BROWSER}

    @classmethod
    def secrets(cls, settings: TorrentioSettings) -> tuple[str, ...]:
        """Return what may be a debrid service's key among the options."""
        values = (pair.partition("=")[2] for pair in settings.options.split("|"))
        return tuple(value for value in values if len(value) >= SHORTEST_KEY and "," not in value)

    @classmethod
    def classify(cls, response: Response) -> Exception | None:
        """Return a pause for 403: we are blocked, which is not "no results"."""
        return AskedToWait(BLOCKED_SECONDS, "blocks us (403)") if response.status == _BLOCKED else None

    def check(self) -> None:
        """Return when the add-on answers with its manifest."""
        self.http.read(f"{self._configured()}/manifest.json", TypeAdapter(dict[str, object]), fresh=True)

    def search(self, wanted: Wanted) -> Iterable[FoundRelease]:
        """Return the releases of all questions, each hash once; nothing without an IMDb id."""
        if wanted.ids.imdb is None:
            logger.bind(provider=self.key).info("{}: no IMDb id, cannot be searched here", wanted.title)
            return ()
        found: dict[str, FoundRelease] = {}
        for path in _paths(wanted, wanted.ids.imdb):
            answer = self.http.read(f"{self._configured()}/stream/{path}.json", Streams)
            for release in self._releases(answer):
                found.setdefault(release.infohash, release)
        return tuple(found.values())

    def _configured(self) -> str:
        return f"/{quote(self.settings.options, safe='=,')}" if self.settings.options else ""

    def _releases(self, answer: Streams) -> Iterator[FoundRelease]:
        for row in answer.streams:
            try:
                stream = _STREAM.validate_python(row)
            except ValidationError as error:
                # One odd row must not cost the others.
                logger.bind(provider=self.key).debug("a stream was skipped: {} errors", error.error_count())
                continue
            release = _release(stream, self.key)
            if release is not None:
                yield release


def _paths(wanted: Wanted, imdb: str) -> list[str]:
    if wanted.is_movie:
        return [f"movie/{imdb}"]
    if wanted.type is MediaType.EPISODE:
        return [f"series/{imdb}:{wanted.season}:{wanted.episode}"]
    # There is no question for a season or a show: packs are named among the answers for their episodes.
    asked = [one for one in wanted.episodes if one.is_wanted and one.season in (wanted.season, one.season)]
    seasons = {one.season for one in asked} if wanted.season is None else {wanted.season}
    season = min(seasons - {0} or seasons or {1})
    first = [one.number for one in asked if one.season == season][:1]
    return [f"series/{imdb}:{season}:{number}" for number in sorted({1, *first})]


def _release(stream: Stream, source: str) -> FoundRelease | None:
    """Return a stream as a release; None for a message in the guise of a stream."""
    in_url = _HASH_IN_URL.search(stream.url or "")
    infohash = normal_infohash(stream.infohash or (in_url[1] if in_url else ""))
    lines = [line.strip() for line in stream.text.splitlines() if line.strip()]
    title = next((line for line in lines if "👤" not in line and "💾" not in line), stream.hints.filename)
    if infohash is None or not title:
        return None
    return FoundRelease(
        infohash=infohash,
        raw_title=title,
        source=source,
        size=stream.hints.videoSize or size_in(stream.text),
        seeders=seeders_in(stream.text),
        file_name=stream.hints.filename,
        file_index=stream.file_index,
    )
