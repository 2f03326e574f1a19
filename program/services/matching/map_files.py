"""Which files of a torrent are what is wanted."""

from collections.abc import Sequence

from program.media.entry import FileMatch, TorrentFile
from program.media.wanted import Wanted
from program.services.matching.files import look_at_files
from program.services.matching.map_episodes import map_show
from program.services.matching.map_films import map_film
from program.services.matching.names import Names
from program.services.matching.subtitles import with_subtitles


def map_files(wanted: Wanted, torrent_name: str, files: tuple[TorrentFile, ...]) -> tuple[FileMatch, ...]:
    """Return the files that hold the wanted film, or wanted episodes; each file with every known episode in it, and its subtitles.

    Samples, extras and archives are skipped by what they are: by folder, by the end of the name, by size beside the others.
    """
    names = Names(wanted)
    titles = [wanted.title, *(title.text for title in wanted.titles)]
    looks = look_at_files(files, [*titles, *(episode.title for episode in wanted.episodes)])
    found = (
        map_film(wanted, names, looks) if wanted.is_movie else map_show(wanted, names, torrent_name, looks)
    )
    return with_subtitles(found, looks)


def add_subtitles(matches: Sequence[FileMatch], files: tuple[TorrentFile, ...]) -> tuple[FileMatch, ...]:
    """Return matches that a person made with the subtitles that the torrent has for them."""
    return with_subtitles(matches, look_at_files(files, ()))
