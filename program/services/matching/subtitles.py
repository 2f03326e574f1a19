"""Which subtitle files of a torrent belong to which of its videos, and what they are called beside it.

A file belongs to the video whose name it begins with, whose name its folder has, whose episode it has, or beside which there is no
other. One of which nobody can tell is left out: a wrong subtitle is worse than none.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath

from program.media.entry import FileMatch, Subtitle, TorrentFile
from program.media.naming import PART, is_subtitle
from program.services.matching.files import FileLook, Role
from program.services.matching.parse import outline
from program.services.matching.subtitle_words import Words, read_words

# More than this beside one video are no subtitles of a film.
MOST = 100
_DIGITS = re.compile(r"(\d+)")

Numbers = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class _Found:
    """A subtitle file, the path of the video that it belongs to, and what its name says. is_namesake: it has the video's name."""

    file: TorrentFile
    video: str
    words: Words
    is_namesake: bool


def with_subtitles(matches: Sequence[FileMatch], looks: Sequence[FileLook]) -> tuple[FileMatch, ...]:
    """Return the matches with the subtitles that belong to them. looks: all files of the torrent."""
    files = [look for look in looks if is_subtitle(PurePosixPath(look.file.path).name) and look.file.size]
    if not files or not matches:
        return tuple(matches)
    chosen = {file.path for match in matches for file in (match.file, *match.parts)}
    videos = _Videos([look for look in looks if look.role in (Role.MAIN, Role.EXTRA, Role.SAMPLE)], chosen)
    by_video: dict[str, list[_Found]] = {}
    for look in files:
        found = videos.of(look)
        if found is not None:
            by_video.setdefault(found.video, []).append(found)
    return tuple(replace(match, subtitles=tuple(_beside(match, by_video))) for match in matches)


def _beside(match: FileMatch, by_video: Mapping[str, list[_Found]]) -> Iterable[Subtitle]:
    """Yield the subtitles of a match's file, and of its further parts."""
    yield from _named(by_video.get(match.file.path, ()), "")
    for number, part in enumerate(match.parts, 2):
        yield from _named(by_video.get(part.path, ()), f"{PART}{number}")


def _named(found: Iterable[_Found], before: str) -> Iterable[Subtitle]:
    """Yield subtitles with their names; several of one kind are counted, and the two files of a pair share a number."""
    pairs: dict[tuple[str, Words], list[TorrentFile]] = {}
    for one in sorted(found, key=lambda one: (not one.is_namesake, _in_order(one.file.path)))[:MOST]:
        pairs.setdefault((one.file.path.rpartition(".")[0], one.words), []).append(one.file)
    taken: set[tuple[str, int, str]] = set()
    for (_, words), files in pairs.items():
        label = _label(words)
        endings = [PurePosixPath(file.path).suffix.lower() for file in files]
        number = 1
        while any((label, number, ending) in taken for ending in endings):
            number += 1
        for file, ending in zip(files, endings, strict=True):
            taken.add((label, number, ending))
            count = f".{number}" if number > 1 else ""
            yield Subtitle(file, f"{before}{count}{label}{ending}", words.language)


def _label(words: Words) -> str:
    """Return language and kind as the media servers read them: the language first."""
    language = f".{words.language}" if words.language else ""
    return language + (".forced" if words.is_forced else ".sdh" if words.is_sdh else "")


class _Videos:
    """The videos of a torrent, as what subtitles may belong to. chosen: the paths of those that are wanted."""

    def __init__(self, looks: Sequence[FileLook], chosen: set[str]) -> None:
        self._chosen = chosen
        self._main = [look for look in looks if look.role is Role.MAIN or look.file.path in chosen]
        self._by_stem: dict[str, list[FileLook]] = {}
        for look in looks:
            self._by_stem.setdefault(look.stem.casefold(), []).append(look)

    def of(self, look: FileLook) -> _Found | None:
        """Return whose subtitle a file is, None when that is none of the chosen or cannot be told."""
        stem = look.stem.rpartition(".")[0]
        owner, rest = self._by_name(look, stem)
        words, is_namesake = read_words(rest), owner is not None
        if owner is None:
            owner = self._by_folder(look) or self._by_numbers(look, stem) or self._alone(look, stem)
            words = read_words(stem, is_whole=True)
        if owner is None or owner.file.path not in self._chosen:
            return None
        return _Found(look.file, owner.file.path, _with_folders(words, look, owner), is_namesake)

    def _by_name(self, look: FileLook, stem: str) -> tuple[FileLook | None, str]:
        """Return the video whose name a file's begins with, and the rest of that."""
        name = stem.casefold()
        for end in range(len(name), 0, -1):
            is_whole = end == len(name) or not (name[end].isalnum() and name[end - 1].isalnum())
            if is_whole and name[:end] in self._by_stem:
                return _nearest(look, self._by_stem[name[:end]]), stem[end:]
        return None, ""

    def _by_folder(self, look: FileLook) -> FileLook | None:
        """Return the video whose name one of the file's folders has: `Subs/Title.2031/2_English.srt`."""
        found = (
            self._by_stem[name] for folder in look.folders if (name := folder.casefold()) in self._by_stem
        )
        # The torrent's own folder is often called like its only video.
        return next((videos[0] for videos in found if len(videos) == 1), None)

    def _by_numbers(self, look: FileLook, stem: str) -> FileLook | None:
        """Return the one video with the episodes that a file's name says."""
        numbers = _numbers(stem, look.folders)
        fitting = self._by_episode.get(numbers, ()) if numbers else ()
        return fitting[0] if len(fitting) == 1 else None

    @cached_property
    def _by_episode(self) -> dict[Numbers, list[FileLook]]:
        found: dict[Numbers, list[FileLook]] = {}
        for look in self._main:
            numbers = _numbers(look.stem, look.folders)
            if numbers:
                found.setdefault(numbers, []).append(look)
        return found

    def _alone(self, look: FileLook, stem: str) -> FileLook | None:
        """Return the only video there is, else the only one beneath the nearest folder above the file that has any."""
        if len(self._main) == 1:
            return self._main[0]
        if outline(stem).has_numbers:
            return None
        for depth in range(len(look.folders), -1, -1):
            beside = [video for video in self._main if video.folders[:depth] == look.folders[:depth]]
            if beside:
                return beside[0] if len(beside) == 1 else None
        return None


def _numbers(stem: str, folders: Sequence[str]) -> Numbers | None:
    """Return season and episodes of a name, or of the nearest folder that tells any; the season may be told by one further up."""
    texts = [stem, *reversed(folders)]
    for place, text in enumerate(texts):
        said = outline(text)
        if said.episodes:
            seasons = said.seasons or next(
                (around for above in texts[place + 1 :] if (around := outline(above).seasons)), ()
            )
            return tuple(seasons), tuple(said.episodes)
    return None


def _with_folders(words: Words, look: FileLook, owner: FileLook) -> Words:
    """Return what the name says, and where it says nothing the folders below the video's: `Subs/English/`."""
    for folder in reversed([name for name in look.folders if name not in owner.folders]):
        told = read_words(folder)
        if told.is_all:
            words = Words(
                words.language or told.language,
                words.is_forced or told.is_forced,
                words.is_sdh or told.is_sdh,
            )
    return replace(words, is_all=False)


def _nearest(look: FileLook, videos: Sequence[FileLook]) -> FileLook | None:
    """Return the video whose folder has most in common with a file's, None when two have as much."""
    shared = sorted(((_in_common(look.folders, video.folders), place) for place, video in enumerate(videos)))
    best, place = shared[-1]
    is_alone = len(shared) == 1 or shared[-2][0] < best
    return videos[place] if is_alone else None


def _in_common(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for mine, its in zip(one, other, strict=False):
        if mine != its:
            break
        count += 1
    return count


def _in_order(path: str) -> list[tuple[int, str]]:
    """Return what sorts `2_English` before `10_English`."""
    return [(int(part), "") if part.isdecimal() else (0, part.casefold()) for part in _DIGITS.split(path)]
