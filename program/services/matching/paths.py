"""Names with folders before them: what the folders say that the file itself does not."""

import re
from dataclasses import replace

from program.services.matching.counting import Numbering
from program.services.matching.head import Head, read_head
from program.services.matching.noise import has_extension

_ROOTED = re.compile(r"^(?:[a-z]:[\\/]|[\\/]{1,2}(?=\S))", re.IGNORECASE)
# `2012/01/15.mkv`: a day's folders are a date.
_DAY_FOLDERS = re.compile(r"(?<=[\\/])((?:19|20)\d\d)[\\/]([01]\d)[\\/]([0-3]\d)(?=[^\d\\/])")
_SEPARATOR = re.compile(r"[\\/]")
_FRONT_NUMBER = re.compile(r"^[\s\[(]*(?P<e>\d{1,3})(?:\s?[-&+]\s?(?P<f>\d{1,3}))?(?=[\s.)\]_-]|$)")
_BEHIND = re.compile(r" (?:- )?(?P<e>\d{2,3})(?:$|(?P<more> (?:- )?[^\W\d_]))")
_DIGITS = re.compile(r"[\d-]+")
_WORD = re.compile(r"[^\W_]+")
_ONLY_NUMBER = re.compile(r"\d{1,2}")
_GLUED_DIGITS = 3
_HUNDRED = 100
# Folders that say nothing of the show.
_GENERAL = re.compile(r"specials?|extras?|bonus|disc \d+", re.IGNORECASE)


def folders_and_leaf(name: str) -> tuple[tuple[str, ...], str]:
    """Return the folders of a path, nearest last, and its last part; a name with a slash in it is no path."""
    parts = [part.strip() for part in _SEPARATOR.split(_DAY_FOLDERS.sub(r"\g<1>-\g<2>-\g<3>", name))]
    parts = [part for part in parts if part]
    is_path = len(parts) > 1 and (_ROOTED.match(name) or (has_extension(name) and _is_whole(parts)))
    return (tuple(parts[:-1]), parts[-1]) if is_path else ((), name)


def _is_whole(parts: list[str]) -> bool:
    """Return True when no bracket is open over a separator, as in `[720p/MKV]`."""
    return all(part.count("(") == part.count(")") and part.count("[") == part.count("]") for part in parts)


def with_folders(leaf: Head, folders: list[Head], text: str) -> Head:
    """Return what a file says, completed by its folders, nearest first in `folders`. text: the file's own name."""
    numbering = leaf.numbering
    same = next(
        (f for f in folders if numbering and f.numbering and _says_more(f.numbering, numbering)), None
    )
    if same is not None:
        return replace(
            leaf, readings=same.readings or leaf.readings, numbering=same.numbering, years=same.years
        )
    if numbering is not None and numbering.air_date is not None:
        # The folders of a year and a month say nothing more.
        folders = [
            f for f in folders if not (f.readings and _DIGITS.fullmatch(f.readings[0].text))
        ] or folders
    titled = next((f for f in folders if f.readings and not _is_year_of(f, leaf.numbering)), None)
    season = next((f.numbering for f in folders if f.numbering and len(f.numbering.seasons) == 1), None)
    if (
        season is None
        and folders[0].readings
        and _ONLY_NUMBER.fullmatch(folders[0].readings[0].text)
        and folders[1:]
    ):
        season = Numbering((int(folders[0].readings[0].text),))
        titled = next((f for f in folders[1:] if f.readings), titled)
    is_row = season is not None and numbering is not None and _is_row(leaf, numbering)
    if is_row or numbering is None or not (numbering.seasons or numbering.episodes or numbering.air_date):
        whole = next(
            (f for f in folders if f.numbering and (f.numbering.episodes or f.numbering.air_date)), None
        )
        front = _FRONT_NUMBER.match(text)
        if whole is not None:
            return replace(
                leaf, readings=whole.readings or leaf.readings, numbering=whole.numbering, years=whole.years
            )
        numbering = _counted_in_folder(front, season, titled, text) or _behind_title(leaf, titled, season)
        if numbering is None:
            return leaf
    elif season is not None and numbering.episodes and not numbering.seasons:
        if numbering.form in ("alone", "absolute") and len(numbering.episodes) == 1:
            numbering = replace(numbering, episodes=(_within(numbering.episodes[0], season),))
        numbering = replace(numbering, seasons=season.seasons, form="folder")
    if titled is not None and _GENERAL.fullmatch(titled.readings[0].text):
        titled = next((f for f in folders if f.readings and not _GENERAL.fullmatch(f.readings[0].text)), None)
    begins_with_count = numbering.start == 0 or not leaf.readings or _is_short_for(leaf, titled)
    if titled is not None and begins_with_count:
        return replace(leaf, readings=titled.readings, numbering=numbering, years=titled.years)
    if titled is None and numbering.form == "folder" and 0 < numbering.end < len(text):
        leaf = replace(leaf, readings=read_head(text[numbering.end :].lstrip(" .-)]")).readings)
    return replace(leaf, numbering=numbering)


def _is_row(leaf: Head, numbering: Numbering) -> bool:
    """Return True for `06 - 07 - Title`: the first number is no title."""
    return numbering.form == "absolute" and bool(leaf.readings) and leaf.readings[0].text.isdecimal()


def _behind_title(leaf: Head, titled: Head | None, season: Numbering | None) -> Numbering | None:
    """Return the number right behind the folder's title in a file's name: its end, or within a season."""
    if titled is None or not leaf.readings:
        return None
    name, title = leaf.readings[0].text, titled.readings[0].text
    match = _BEHIND.match(name[len(title) :])
    if match is None or name[: len(title)].casefold() != title.casefold() or (match["more"] and not season):
        return None
    return Numbering(season.seasons if season else (), (int(match["e"]),), form="folder")


def _is_short_for(leaf: Head, folder: Head | None) -> bool:
    """Return True for a file named by the first letters of its folder's title: `tsr-201.mkv`."""
    if folder is None or not folder.readings:
        return False
    initials = "".join(word[0] for word in _WORD.findall(folder.readings[0].text))
    return len(initials) > 1 and leaf.readings[0].text.casefold() == initials.casefold()


def _says_more(folder: Numbering, file: Numbering) -> bool:
    """Return True for the folder of a release with just this file: its name is whole, that of the file often is not."""
    is_same = bool(folder.episodes) and (folder.seasons, folder.episodes) == (file.seasons, file.episodes)
    is_bare = file.form in ("alone", "glued") and bool(folder.seasons and folder.episodes)
    return is_same or is_bare


def _counted_in_folder(
    front: re.Match[str] | None, season: Numbering | None, titled: Head | None, text: str
) -> Numbering | None:
    """Return the number at the front of a file's name as an episode, of the season that a folder names."""
    if front is None:
        return None
    first, last = int(front["e"]), int(front["f"] or front["e"])
    if season is None:
        # Nothing but a number, in the folder of a show.
        is_only = front.end() == len(text) and titled is not None and titled.readings[0].text != front["e"]
        return (
            Numbering((), (first,), form="folder", end=front.end()) if is_only and first < _HUNDRED else None
        )
    first, last = _within(first, season), _within(last, season)
    episodes = tuple(range(first, last + 1)) or (first,)
    return Numbering(season.seasons, episodes, form="folder", end=front.end())


def _within(number: int, season: Numbering) -> int:
    """Return an episode as it is counted within its season: 503 is the third of the fifth."""
    return number % _HUNDRED if number // _HUNDRED == season.seasons[0] and number % _HUNDRED else number


def _is_year_of(folder: Head, numbering: Numbering | None) -> bool:
    """Return True for a folder that holds a year of a daily show."""
    return (
        numbering is not None
        and numbering.air_date is not None
        and folder.readings[0].text == str(numbering.air_date.year)
    )
