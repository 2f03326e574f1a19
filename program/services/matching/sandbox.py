"""The functions of the three sandbox queues: plain values in, plain values out, safe to be run in another process."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from program.media.entry import FileMatch, TorrentFile
from program.media.release import FoundRelease, JudgedRelease
from program.media.wanted import Wanted
from program.services.matching.judge import judged_by
from program.services.matching.kept_names import kept_in
from program.services.matching.map_files import map_files
from program.services.matching.rules import PART_RULES, RULES
from program.services.matching.validate_files import Verdict, validate_files
from program.settings.ranking import RankingOptions


@dataclass(frozen=True, slots=True)
class ParseTask:
    """What `scrape-item.parse-scrape-results` works on. any_part: a part of what is wanted, such as a season, will do.

    kept_in: the folder of names that were read before.
    """

    wanted: Wanted
    releases: tuple[FoundRelease, ...]
    ranking: RankingOptions
    now: datetime
    any_part: bool = False
    kept_in: Path | None = None


@dataclass(frozen=True, slots=True)
class MapTask:
    """What `download-item.map-items-to-files` works on."""

    wanted: Wanted
    torrent_name: str
    files: tuple[TorrentFile, ...]


@dataclass(frozen=True, slots=True)
class ValidateTask:
    """What `download-item.validate-torrent-files` works on."""

    wanted: Wanted
    matches: tuple[FileMatch, ...]
    files: tuple[TorrentFile, ...]


def parse_scrape_results(task: ParseTask) -> tuple[JudgedRelease, ...]:
    """Return every release of a search, refused or ranked."""
    rules = PART_RULES if task.any_part else RULES
    with kept_in(task.kept_in):
        return judged_by(rules, task.wanted, task.releases, task.ranking, task.now)


def map_items_to_files(task: MapTask) -> tuple[FileMatch, ...]:
    """Return which files of a torrent are what is wanted."""
    return map_files(task.wanted, task.torrent_name, task.files)


def validate_torrent_files(task: ValidateTask) -> Verdict:
    """Return whether all, some or none of what is wanted is in a torrent."""
    return validate_files(task.wanted, task.matches, task.files)
