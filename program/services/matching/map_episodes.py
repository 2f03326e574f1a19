"""Which files of a torrent are which episodes of a show."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from program.media.entry import FileMatch
from program.media.wanted import Wanted, WantedEpisode
from program.services.matching.files import FileLook, Role
from program.services.matching.guide import Guide
from program.services.matching.names import Names
from program.services.matching.parse import Outline, outline
from program.services.matching.parts import is_part

_ALIKE = 0.85
# Names without a form: a number at the front, `1.01`, `101`; they are believed when such an episode is known.
_DOTTED = re.compile(r"(?<!\d)(\d{1,2})\.(\d{2})(?!\d)")
_FRONT = re.compile(r"^[\s\[(]*(\d{1,4})(?!\d)")
_THREE_DIGITS = re.compile(r"(?<!\d)(\d{1,2})(\d{2})(?!\d|[pi])")
_LAST = re.compile(r"(?<!\d)(\d{1,3})[\s\])]*$")
_SPECIALS = frozenset({"specials", "special", "season 0", "season 00", "s00", "ova", "ovas", "oad"})
_BOOK = re.compile(r"^\W*(?:book|volume|vol)[\s._]*(\d{1,2})(?!\d)", re.IGNORECASE)
_VERSION = re.compile(r"(?<=\d)v(\d)(?!\d)", re.IGNORECASE)
_HASH = re.compile(r"(?=.*\d)(?=.*[a-z])[a-z0-9]{8,}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Claim:
    """A file and the episodes it says to hold. is_titled: its name has the show's title."""

    look: FileLook
    episodes: tuple[WantedEpisode, ...]
    is_titled: bool


def map_show(wanted: Wanted, names: Names, torrent: str, looks: Sequence[FileLook]) -> tuple[FileMatch, ...]:
    """Return the files that hold a wanted episode, each with all known episodes in it."""
    guide = Guide(wanted, names)
    pack = outline(torrent)
    claims = [
        Claim(look, episodes, _has_title(names, look))
        for look in looks
        if look.role is Role.MAIN
        and not is_part(look, looks)
        and (episodes := _found(guide, pack, look, looks))
    ]
    if any(claim.is_titled for claim in claims):
        claims = [claim for claim in claims if claim.is_titled or not _names_another(claim.look)]
    return tuple(
        FileMatch(claim.look.file, tuple(e.item_id for e in claim.episodes))
        for claim in _settled(claims)
        if any(e.is_wanted for e in claim.episodes)
    )


def _settled(claims: list[Claim]) -> list[Claim]:
    """Return at most one file per episode: with the show's title, of its own, corrected (`v2`), the largest, in that order."""
    taken: set[int] = set()
    kept = []
    for claim in sorted(claims, key=_worth):
        free = tuple(e for e in claim.episodes if e.item_id not in taken)
        if free:
            taken |= {e.item_id for e in free}
            kept.append(Claim(claim.look, free, claim.is_titled))
    return sorted(kept, key=lambda c: c.look.file.path)


def _worth(claim: Claim) -> tuple[bool, int, int, int]:
    version = _VERSION.search(claim.look.stem)
    return not claim.is_titled, len(claim.episodes), -int(version[1]) if version else 0, -claim.look.file.size


def _found(
    guide: Guide, pack: Outline, look: FileLook, looks: Sequence[FileLook]
) -> tuple[WantedEpisode, ...]:
    """Return the episodes of a file; a name that says nothing is what its folder or its torrent says, when it is alone there."""
    is_nameless = _is_hash(look.stem) and not outline(look.stem).seasons
    found = () if is_nameless else _episodes(guide, pack, look)
    if found or outline(look.stem).has_numbers:
        return found
    videos = [other for other in looks if other.role is Role.MAIN]
    for around, beside in (
        (
            outline(look.folders[-1]) if look.folders else pack,
            [v for v in videos if v.folders == look.folders],
        ),
        (pack, videos),
    ):
        if around.episodes and len(beside) == 1:
            return _numbered(guide, around, around.seasons)
    return ()


def _is_hash(stem: str) -> bool:
    return _HASH.fullmatch(stem) is not None and len(re.findall(r"\d+", stem)) > 1


def _episodes(guide: Guide, pack: Outline, look: FileLook) -> tuple[WantedEpisode, ...]:
    parsed = outline(look.stem)
    if parsed.is_special and not parsed.episodes:
        return guide.titled(parsed.between)
    seasons = guide.season_in_title(parsed) or _seasons_around(guide, pack, look)
    if parsed.episodes:
        found = _numbered(guide, parsed, seasons)
        # `- 101 -` may be the first episode of the first season where nothing has that number.
        return (
            found
            if found or parsed.seasons or parsed.is_special
            else _unnumbered(guide, parsed, look, seasons)
        )
    if parsed.air_date is not None:
        return guide.dated(parsed)
    return _unnumbered(guide, parsed, look, seasons)


def _numbered(guide: Guide, parsed: Outline, around: tuple[int, ...]) -> tuple[WantedEpisode, ...]:
    if parsed.episodes == (0,):
        return guide.in_season(0, ()) or guide.titled(parsed.between)
    numbers = parsed.episodes
    if parsed.seasons:
        return _in_named_season(guide, parsed, parsed.seasons[0], numbers)
    if len(around) == 1:
        return guide.in_season(around[0], numbers) or guide.counted(numbers)
    return guide.counted(numbers)


def _in_named_season(
    guide: Guide, parsed: Outline, season: int, numbers: Sequence[int]
) -> tuple[WantedEpisode, ...]:
    if parsed.glued is not None and (season, parsed.glued) in guide.by_number:
        return guide.in_season(season, (parsed.glued,))
    if parsed.form == "glued" and guide.is_anime and parsed.glued in guide.by_absolute:
        return (guide.by_absolute[parsed.glued],)
    found = guide.in_season(season, numbers)
    if not found and parsed.absolute:
        found = tuple(guide.by_absolute[n] for n in parsed.absolute if n in guide.by_absolute)
    if found:
        return found
    # `S01E1170`: the season is a mere habit, the number counts over the whole show.
    beyond = season == 1 and numbers and min(numbers) > guide.longest.get(1, 0)
    return guide.counted(numbers) if beyond else ()


def _unnumbered(
    guide: Guide, parsed: Outline, look: FileLook, around: tuple[int, ...]
) -> tuple[WantedEpisode, ...]:
    """Read a name without a form: by a title, or by a bare number where such an episode is known."""
    stem = look.stem.replace("_", " ")
    dotted = _DOTTED.search(stem)
    if dotted and (found := guide.in_season(int(dotted[1]), (int(dotted[2]),))):
        return found
    seasons = parsed.seasons if len(parsed.seasons) == 1 else around
    behind = guide.behind_title(stem)
    if behind is not None and (found := _bare(guide, behind, seasons)):
        return found
    # A number at the front may be the first word of the show's title.
    for pattern in (_LAST,) if guide.begins_with_title(stem) else (_FRONT, _LAST):
        bare = pattern.search(stem)
        if bare and (found := _bare(guide, int(bare[1]), seasons)):
            return found
    texts = (parsed.between, parsed.title, stem.rpartition(" - ")[2], re.sub(r"^[\d\s._\-]+", "", stem))
    titled = next((found for text in texts if text and (found := guide.titled(text))), ())
    return titled or _glued(guide, stem, parsed, seasons)


def _glued(guide: Guide, stem: str, parsed: Outline, seasons: tuple[int, ...]) -> tuple[WantedEpisode, ...]:
    """Read `101` as the first season's first episode, where no season speaks against it."""
    found = _THREE_DIGITS.finditer(stem) if not parsed.years else ()
    glued = next((match for match in found if not guide.has_in_title(match[0])), None)
    if glued and (not seasons or int(glued[1]) in seasons):
        return guide.in_season(int(glued[1]), (int(glued[2]),))
    return ()


def _bare(guide: Guide, number: int, seasons: tuple[int, ...]) -> tuple[WantedEpisode, ...]:
    if len(seasons) == 1:
        return guide.in_season(seasons[0], (number,))
    return guide.counted((number,)) if len(guide.seasons) == 1 or guide.is_anime else ()


def _seasons_around(guide: Guide, pack: Outline, look: FileLook) -> tuple[int, ...]:
    """Return the seasons that the nearest folder names, else those of the torrent."""
    for folder in reversed(look.folders):
        if folder.casefold().strip() in _SPECIALS:
            return (0,)
        around = outline(folder)
        seasons = around.seasons or guide.season_in_title(around)
        if seasons:
            return seasons
        book = _BOOK.match(folder)
        if book:
            return (int(book[1]),)
        if folder.strip().isdigit() and int(folder) < len("0123456789") ** 2:
            return (int(folder),)
    return pack.seasons or guide.season_in_title(pack)


def _has_title(names: Names, look: FileLook) -> bool:
    return any(names.closest(reading).similarity >= _ALIKE for reading in outline(look.stem).readings)


def _names_another(look: FileLook) -> bool:
    """Return True when a name begins with a title of several words; a short mark says nothing."""
    parsed = outline(look.stem)
    return bool(parsed.seasons) and bool(parsed.readings) and len(parsed.title.split()) > 1
