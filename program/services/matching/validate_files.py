"""Whether what was found in a torrent will do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from program.media.entry import FileMatch, TorrentFile
from program.media.release import Rejection
from program.media.wanted import Wanted
from program.services.matching.files import ARCHIVE, Role, look_at_files

Outcome = Literal["ok", "partial", "none"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a torrent is worth: all that is wanted, a part of it, or nothing. missing: wanted leaves that it lacks."""

    outcome: Outcome
    rejection: Rejection | None = None
    missing: tuple[int, ...] = ()

    @property
    def is_useful(self) -> bool:
        """Return True when at least one wanted film or episode is in it."""
        return self.outcome != "none"


def validate_files(wanted: Wanted, matches: Sequence[FileMatch], files: Sequence[TorrentFile]) -> Verdict:
    """Return whether all, some or none of what is wanted is in the files."""
    asked = {wanted.item_id} if wanted.is_movie else {e.item_id for e in wanted.episodes if e.is_wanted}
    held = {item_id for match in matches if match.file.size > 0 for item_id in match.item_ids}
    missing = tuple(sorted(asked - held))
    if not asked & held:
        return Verdict("none", _why(wanted, files), missing)
    return Verdict("partial" if missing else "ok", None, missing)


def _why(wanted: Wanted, files: Sequence[TorrentFile]) -> Rejection:
    titles = [wanted.title, *(episode.title for episode in wanted.episodes)]
    roles = {look.role for look in look_at_files(files, titles)}
    if Role.MAIN in roles:
        what = "the film" if wanted.is_movie else "a wanted episode"
        return Rejection("not_inside", f"none of its {len(files)} files is {what}")
    if Role.SAMPLE in roles and not any(ARCHIVE.search(file.path) for file in files):
        return Rejection("samples_only", "has nothing but a sample")
    if Role.ARCHIVE in roles:
        return Rejection("archives_only", "has archives in place of a video")
    if Role.EXTRA in roles:
        return Rejection("extras_only", "has nothing but extras")
    return Rejection("no_video", "has no video")
