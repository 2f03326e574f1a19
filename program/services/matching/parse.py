"""What a release or file name says: one value for everything that the rules, the ranking and the mapping ask about.

The title, the numbering and the year are read here, from the front of the name. What stands behind them is read by `PTT`,
which never sees the title: a word of the title is then no language, no quality and nothing indecent.
"""

import re
from dataclasses import dataclass, fields
from datetime import date
from functools import lru_cache

from program.media.release import JsonValue
from program.services.matching.counting import Numbering
from program.services.matching.head import read_head
from program.services.matching.languages import split_languages, unnamed_languages
from program.services.matching.noise import flat, forwards, of_post, spelt_spaces, without_extension
from program.services.matching.paths import folders_and_leaf, with_folders
from program.services.matching.technical import (
    DUAL,
    DUBBED,
    EXTRAS,
    edition,
    flags,
    read_by_ptt,
    resolution,
    split_group,
    text,
    texts,
)
from program.services.matching.titles import TitleReading, episode_title

# Longer names are cut; nobody names a release so, and every pattern stays quick.
_LONGEST_NAME = 400
# Titles of a search come back with the next search, and as file names with the download.
_CACHED_NAMES = 2048
_COMPLETE = re.compile(
    r"(?<![a-z])(?:complete|int[eé]grale?|full[. ]series|all[. ](?:seasons|episodes)|box[. ]?set|batch|collection|anthology"
    r"|tv[. ]?pack|complet[ao]|komplett)(?![a-z])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """The front of a name, read: what it is of. readings: what its title may be, most likely first.

    seasons, episodes: () when none is named. absolute: numbers that count over the whole show, or may do so: those of episodes
    without a season, and those beside a season's. glued: the number as written when it can be read otherwise. form: how it counts.
    between: the words between the year or the numbers and the technical part, mostly an episode's title. behind: that part.
    """

    raw: str
    readings: tuple[TitleReading, ...] = ()
    years: tuple[int, ...] = ()
    seasons: tuple[int, ...] = ()
    episodes: tuple[int, ...] = ()
    absolute: tuple[int, ...] = ()
    air_date: date | None = None
    is_special: bool = False
    is_complete: bool = False
    glued: int | None = None
    form: str = ""
    between: str = ""
    behind: str = ""
    group: str | None = None
    has_site: bool = False

    @property
    def title(self) -> str:
        """Return the most likely title, empty when there is none."""
        return self.readings[0].text if self.readings else ""

    @property
    def titles(self) -> tuple[str, ...]:
        """Return everything that may be the title, most likely first: with and without a year or number, both sides of a slash."""
        return tuple(dict.fromkeys(reading.text for reading in self.readings))

    @property
    def year(self) -> int | None:
        """Return the year beside the most likely title."""
        return self.readings[0].year if self.readings else None

    @property
    def episode_title(self) -> str:
        """Return the title of the episode, empty when the name tells none or is of no episode."""
        return episode_title(self.between, self.behind, self.raw) if self.episodes or self.air_date else ""

    @property
    def has_numbers(self) -> bool:
        """Return True when it names a season, an episode or an air date."""
        return bool(self.seasons or self.episodes or self.air_date or self.is_special)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed(Outline):
    """A whole name, read. resolution: `2160p` … or `unknown`; quality, codec, hdr, audio, channels: in PTT's words.

    languages: of the sound, subtitles: apart; ISO 639-1. has_many_languages: it says so, without naming them.
    may_speak: those it means then by custom; a hint, no statement.
    """

    resolution: str = "unknown"
    quality: str | None = None
    codec: str | None = None
    hdr: tuple[str, ...] = ()
    audio: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    bit_depth: str | None = None
    languages: tuple[str, ...] = ()
    subtitles: tuple[str, ...] = ()
    has_many_languages: bool = False
    may_speak: tuple[str, ...] = ()
    edition: str | None = None
    network: str | None = None
    flags: frozenset[str] = frozenset()
    extras: tuple[str, ...] = ()

    def as_json(self) -> dict[str, JsonValue]:
        """Return it as plain JSON values, without what is empty."""
        values = {
            "title": self.title,
            "year": self.year,
            "seasons": self.seasons,
            "episodes": self.episodes,
            "absolute": self.absolute,
            "air_date": self.air_date.isoformat() if self.air_date else None,
            "episode_title": self.episode_title,
            "special": self.is_special,
            "complete": self.is_complete,
            "resolution": self.resolution,
            "quality": self.quality,
            "codec": self.codec,
            "hdr": self.hdr,
            "audio": self.audio,
            "channels": self.channels,
            "bit_depth": self.bit_depth,
            "languages": self.languages,
            "subtitles": self.subtitles,
            "edition": self.edition,
            "group": self.group,
            "network": self.network,
            "flags": tuple(sorted(self.flags)),
            "extras": self.extras,
        }
        return {
            name: [*value] if isinstance(value, tuple) else value for name, value in values.items() if value
        }


def parse(name: str, *, of_film: bool = False) -> Parsed:
    """Return what a release or file name says, folders before it included; any string whatever gives a value.

    This is the entry for use from outside, and stays: `title`, `titles`, `year`, `seasons`, `episodes`, `absolute`, `air_date`,
    `is_special`, `is_complete`, and what `Parsed` adds. `docs/matching.md` tells them one by one.
    of_film: a number that may belong to a title does, so that the second part of a film is no episode.
    """
    return _parse(name[:_LONGEST_NAME], of_film)


def outline(name: str, *, of_film: bool = False) -> Outline:
    """Return what a name is of, without its technical part; much quicker than `parse`."""
    return _outline(name[:_LONGEST_NAME], of_film)


@lru_cache(maxsize=_CACHED_NAMES)
def _outline(name: str, of_film: bool) -> Outline:  # noqa: FBT001 - the cache is quicker with plain arguments
    folders, leaf = folders_and_leaf(of_post(flat(spelt_spaces(name))))
    text = without_extension(forwards(without_extension(leaf)))
    head = read_head(text, of_film=of_film, in_folder=bool(folders))
    if folders:
        head = with_folders(head, [read_head(folder, of_film=of_film) for folder in reversed(folders)], text)
    numbering = head.numbering or Numbering()
    return Outline(
        raw=name,
        readings=head.readings,
        years=head.years,
        seasons=numbering.seasons,
        episodes=numbering.episodes,
        absolute=numbering.absolute or (() if numbering.seasons else numbering.episodes),
        air_date=numbering.air_date,
        is_special=numbering.is_special,
        is_complete=_COMPLETE.search(text) is not None,
        glued=numbering.glued,
        form=numbering.form,
        between=head.between,
        behind=head.behind,
        group=head.group,
        has_site=head.has_site,
    )


@lru_cache(maxsize=_CACHED_NAMES)
def _parse(name: str, of_film: bool) -> Parsed:  # noqa: FBT001 - the cache is quicker with plain arguments
    front = _outline(name, of_film)
    # Behind an episode stands its title, which says nothing of the copy.
    seen = f"{front.between} {'| ' if front.has_numbers else ''}{front.behind}"
    of_copy = front.behind if front.has_numbers else seen
    of_copy, group = split_group(of_copy)
    languages = split_languages(of_copy)
    said = read_by_ptt(languages.rest)
    quality = text(said, "quality")
    spoken, has_many = languages.audio(texts(said, "languages")), DUAL.search(languages.rest) is not None
    found = {*flags(said, front.behind if front.has_numbers else seen, quality, has_site=front.has_site)}
    return Parsed(
        **{field.name: getattr(front, field.name) for field in _OUTLINE if field.name != "group"},
        group=front.group or group or text(said, "group"),
        resolution=resolution(of_copy),
        quality=quality,
        codec=text(said, "codec"),
        hdr=texts(said, "hdr"),
        audio=texts(said, "audio"),
        channels=texts(said, "channels"),
        bit_depth=text(said, "bit_depth"),
        languages=spoken,
        subtitles=languages.subtitles,
        has_many_languages=has_many,
        may_speak=unnamed_languages(languages.rest, spoken) if has_many else (),
        edition=edition(said, of_copy),
        network=text(said, "network"),
        # What has the original's sound as well is no dub.
        flags=frozenset(found - {"dubbed"} if has_many and not DUBBED.search(of_copy) else found),
        extras=tuple(dict.fromkeys(match[1].lower().replace(".", " ") for match in EXTRAS.finditer(seen))),
    )


_OUTLINE = fields(Outline)
