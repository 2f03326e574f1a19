"""What the calls by hand give; names follow the existing web client."""

from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import JsonValue

from program.api.answers.base import Body, Instant
from program.manual.search import Progress
from program.manual.sessions import Session
from program.media.release import JudgedRelease


class ParsedData(Body):
    """What the name of a release says."""

    parsed_title: str
    year: int | None
    resolution: str
    quality: str | None
    codec: str | None
    hdr: list[str]
    audio: list[str]
    languages: list[str]
    seasons: list[int]
    episodes: list[int]
    complete: bool


class FoundStream(Body):
    """A release that a search by hand found. rejection: why the rules refuse it."""

    infohash: str
    raw_title: str
    parsed_title: str
    rank: int
    score: dict[str, int]
    lev_ratio: float
    resolution: str
    size: int | None
    seeders: int | None
    sources: list[str]
    is_cached: bool
    rejection: str | None
    parsed_data: ParsedData


class ScrapeBody(Body):
    """What a search by hand found, by hash, the best first."""

    message: str
    streams: dict[str, FoundStream]


def streams(progress: Progress, *, refused: bool) -> dict[str, FoundStream]:
    """Return all that was found so far: whoever shows it replaces what is on the screen."""
    return {
        release.infohash: _stream(release)
        for release in progress.releases
        if refused or release.rejection is None
    }


def _stream(release: JudgedRelease) -> FoundStream:
    parsed = parsed_data(release.parsed)
    return FoundStream(
        infohash=release.infohash,
        raw_title=release.raw_title,
        parsed_title=parsed.parsed_title,
        rank=release.rank,
        score=dict(release.score),
        lev_ratio=release.similarity,
        resolution=release.resolution,
        size=release.size,
        seeders=release.seeders,
        sources=list(release.sources),
        is_cached=bool(release.cached_at),
        rejection=release.rejection.sentence if release.rejection else None,
        parsed_data=parsed,
    )


def parsed_data(parsed: Mapping[str, object]) -> ParsedData:
    """Return what a name says in the words of the web client; lists hold nothing twice."""
    return ParsedData(
        parsed_title=_text(parsed.get("title")) or "",
        year=_whole(parsed.get("year")),
        resolution=_text(parsed.get("resolution")) or "unknown",
        quality=_text(parsed.get("quality")),
        codec=_text(parsed.get("codec")),
        hdr=_texts(parsed.get("hdr")),
        audio=_texts(parsed.get("audio")),
        languages=_texts(parsed.get("languages")),
        seasons=_numbers(parsed.get("seasons")),
        episodes=_numbers(parsed.get("episodes")),
        complete=parsed.get("complete") is True,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _texts(value: object) -> list[str]:
    return (
        list(dict.fromkeys(part for part in value if isinstance(part, str)))
        if isinstance(value, list)
        else []
    )


def _numbers(value: object) -> list[int]:
    return [part for part in value if isinstance(part, int)] if isinstance(value, list) else []


class DebridFile(Body):
    """A file of a torrent. file_id: its number in the session."""

    file_id: int
    filename: str
    filesize: int
    download_url: str | None = None


class ParsedFile(DebridFile):
    """A video of a torrent, and what its name says; seasons and episodes as far as they could be told."""

    parsed_metadata: dict[str, JsonValue]


class TorrentContainer(Body):
    """All files of a torrent."""

    infohash: str
    files: list[DebridFile]
    torrent_id: str


class TorrentInfo(Body):
    """A torrent on the account of a debrid service."""

    id: str
    name: str
    status: str
    infohash: str
    bytes: int
    provider: str


class StartSessionResponse(Body):
    """A torrent that can be looked into. item_id: null for a title that is not in the library."""

    message: str
    session_id: str
    item_id: int | None
    media_type: Literal["movie", "tv"]
    tmdb_id: str | None
    tvdb_id: str | None
    imdb_id: str | None
    torrent_id: str
    torrent_info: TorrentInfo
    containers: TorrentContainer
    parsed_files: list[ParsedFile]
    requested_season: int | None
    requested_episode: int | None
    expires_at: Instant


def started(session: Session, parsed: Iterable[ParsedFile]) -> StartSessionResponse:
    """Return a session as the web client reads it."""
    torrent, wanted = session.torrent, session.target.wanted
    return StartSessionResponse(
        message=f"{torrent.provider} holds {torrent.name}",
        session_id=session.id,
        item_id=session.target.item_id,
        media_type="movie" if wanted.is_movie else "tv",
        tmdb_id=wanted.ids.tmdb,
        tvdb_id=wanted.ids.tvdb,
        imdb_id=wanted.ids.imdb,
        torrent_id=torrent.torrent_id,
        torrent_info=TorrentInfo(
            id=torrent.torrent_id,
            name=torrent.name,
            status="downloaded",
            infohash=torrent.infohash,
            bytes=sum(file.size for file in torrent.files),
            provider=torrent.provider,
        ),
        containers=TorrentContainer(
            infohash=torrent.infohash,
            torrent_id=torrent.torrent_id,
            files=[
                DebridFile(file_id=number, filename=file.path, filesize=file.size)
                for number, file in session.files.items()
            ],
        ),
        parsed_files=list(parsed),
        requested_season=wanted.season,
        requested_episode=wanted.episode,
        expires_at=session.expires_at,
    )


class SelectedBody(Body):
    """What a session stands at."""

    message: str
    download_type: Literal["cached"] = "cached"


class ParsedName(ParsedData):
    """What a file name says."""

    raw_title: str


class ParsedNamesBody(Body):
    """What file names say, in their order."""

    message: str
    data: list[ParsedName]
