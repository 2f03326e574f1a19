"""Which file of a torrent is which film or episode: told by the names, corrected by the person."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from program.errors import NotPossible
from program.manual.sessions import Place
from program.media.entry import FetchedTorrent, FileMatch, TorrentFile
from program.media.wanted import Wanted, WantedEpisode
from program.queues import JobSpec
from program.services.flows import names
from program.services.flows.context import FlowContext
from program.services.matching.files import VIDEO_EXTENSIONS
from program.services.matching.map_files import add_subtitles
from program.services.matching.sandbox import MapTask

# How long the reading of a torrent's file names may take while somebody waits.
MAP_SECONDS = 60.0


def videos(torrent: FetchedTorrent, least: int | None, most: int | None) -> dict[int, TorrentFile]:
    """Return the videos of a torrent of a size between `least` and `most` bytes, by a number from 1 on."""
    numbered = enumerate(torrent.files, 1)
    return {
        number: file
        for number, file in numbered
        if PurePosixPath(file.path).suffix.lower() in VIDEO_EXTENSIONS
        and file.size >= (least or 0)
        and (most is None or file.size <= most)
    }


def told_by_names(
    ctx: FlowContext, wanted: Wanted, torrent: FetchedTorrent, files: Iterable[TorrentFile]
) -> tuple[FileMatch, ...]:
    """Return what the names of the files say."""
    task = MapTask(wanted, torrent.name, tuple(files))
    found = ctx.engine.call(
        JobSpec(queue=names.MAP_ITEMS_TO_FILES, name=torrent.name, data=task), MAP_SECONDS
    )
    return found if isinstance(found, tuple) else ()


def matches(
    ctx: FlowContext,
    wanted: Wanted,
    torrent: FetchedTorrent,
    files: Mapping[int, TorrentFile],
    places: Mapping[int, Place],
) -> tuple[FileMatch, ...]:
    """Return which of the chosen files is what; what a person said of a file counts. Raises NotPossible."""
    return add_subtitles(_told(ctx, wanted, torrent, files, places), torrent.files)


def _told(
    ctx: FlowContext,
    wanted: Wanted,
    torrent: FetchedTorrent,
    files: Mapping[int, TorrentFile],
    places: Mapping[int, Place],
) -> tuple[FileMatch, ...]:
    """Return the matches without what belongs to them."""
    if wanted.is_movie:
        return _film(ctx, wanted, torrent, list(files.values()))
    said = tuple(
        FileMatch(files[number], _ids(wanted, place)) for number, place in places.items() if number in files
    )
    others = [file for number, file in files.items() if number not in places]
    taken = {item_id for match in said for item_id in match.item_ids}
    told = told_by_names(ctx, wanted, torrent, others) if others else ()
    return (*said, *(match for match in told if taken.isdisjoint(match.item_ids)))


def _film(
    ctx: FlowContext, wanted: Wanted, torrent: FetchedTorrent, files: Sequence[TorrentFile]
) -> tuple[FileMatch, ...]:
    """Return the file of a film; a single one that a person chose is it, whatever it is called."""
    if len(files) == 1:
        return (FileMatch(files[0], (wanted.item_id,)),)
    return told_by_names(ctx, wanted, torrent, files)


def _ids(wanted: Wanted, place: Place) -> tuple[int, ...]:
    found = [by_number(wanted, place.season, number) for number in place.episodes]
    return tuple(episode.item_id for episode in found)


def by_number(wanted: Wanted, season: int, number: int) -> WantedEpisode:
    """Return an episode of the show; raise NotPossible when there is none with these numbers."""
    for episode in wanted.episodes:
        if (episode.season, episode.number) == (season, number):
            return episode
    raise NotPossible(f"{wanted.title} has no episode {number} in season {season}")


def place_of(wanted: Wanted, match: FileMatch) -> Place | None:
    """Return season and episodes of a match, None for a film's."""
    found = [episode for episode in wanted.episodes if episode.item_id in match.item_ids]
    return Place(found[0].season, tuple(episode.number for episode in found)) if found else None
