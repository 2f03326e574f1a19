"""The known episodes of a show, by every way to name them."""

from collections.abc import Sequence
from datetime import timedelta

from program.media.wanted import Wanted, WantedEpisode
from program.services.matching.names import Names
from program.services.matching.parse import Outline
from program.services.matching.text import spellings

# A shorter title may stand in a name by chance.
_SHORTEST_TITLE = 6


class Guide:
    """The known episodes of a show, by every way to name them."""

    def __init__(self, wanted: Wanted, names: Names) -> None:
        self._names = names
        self._show = next((spelling.words for spelling in spellings(wanted.title)), ())
        self.is_anime = wanted.is_anime
        self.by_number = {(e.season, e.number): e for e in wanted.episodes}
        self.by_absolute = {e.absolute: e for e in wanted.episodes if e.absolute and e.season > 0}
        if self.by_absolute:
            # Some services number only the later seasons; the first one begins at one.
            first = (e for e in wanted.episodes if e.season == 1 and not e.absolute)
            self.by_absolute = {e.number: e for e in first} | self.by_absolute
        self.seasons = {e.season for e in wanted.episodes if e.season > 0}
        self.longest = {s: max(e.number for e in wanted.episodes if e.season == s) for s in self.seasons}
        self._dates = [(e.aired_at.date(), e) for e in wanted.episodes if e.aired_at]
        titles: dict[str, list[WantedEpisode]] = {}
        for episode in wanted.episodes:
            for spelling in spellings(episode.title):
                if len(spelling.joined) >= _SHORTEST_TITLE and not spelling.joined.isdigit():
                    titles.setdefault(spelling.joined, []).append(episode)
        self._titles = {text: found[0] for text, found in titles.items() if len(set(found)) == 1}

    def dated(self, parsed: Outline) -> tuple[WantedEpisode, ...]:
        """Return the episode of an air date; the day beside it counts when only one is near."""
        if parsed.air_date is None:
            return ()
        for slack in (timedelta(0), timedelta(days=1)):
            near = [e for day, e in self._dates if abs(day - parsed.air_date) <= slack]
            if len(near) == 1:
                return tuple(near)
        return ()

    def season_in_title(self, parsed: Outline) -> tuple[int, ...]:
        """Return the season that stands as a number behind the show's title, when there is such a season."""
        told = self._names.season_in(parsed.readings) if self.is_anime and not parsed.seasons else None
        return (told[1],) if told is not None and told[1] in self.seasons else ()

    def titled(self, text: str) -> tuple[WantedEpisode, ...]:
        """Return the one episode whose title this is, with or without the show's before it."""
        for spelling in spellings(text):
            words = spelling.words
            behind = words[len(self._show) :] if words[: len(self._show)] == self._show else words
            for joined in (spelling.joined, "".join(behind)):
                if joined in self._titles:
                    return (self._titles[joined],)
        return ()

    def behind_title(self, stem: str) -> int | None:
        """Return the number right behind the show's title."""
        for spelling in spellings(stem):
            words = spelling.words
            number = words[len(self._show)] if len(words) > len(self._show) else ""
            if (
                self._show
                and words[: len(self._show)] == self._show
                and number.isdigit()
                and len(number) <= len("999")
            ):
                return int(number)
        return None

    def begins_with_title(self, stem: str) -> bool:
        """Return True when a name begins with the show's title."""
        return bool(self._show) and any(
            spelling.words[: len(self._show)] == self._show for spelling in spellings(stem)
        )

    def has_in_title(self, number: str) -> bool:
        """Return True for a number that is a word of the show's title."""
        return number.lstrip("0") in self._show

    def in_season(self, season: int, numbers: Sequence[int]) -> tuple[WantedEpisode, ...]:
        """Return the known ones among the numbers of a season."""
        return tuple(self.by_number[season, n] for n in numbers if (season, n) in self.by_number)

    def counted(self, numbers: Sequence[int]) -> tuple[WantedEpisode, ...]:
        """Return the known ones among numbers that count over the whole show."""
        if self.by_absolute:
            return tuple(self.by_absolute[n] for n in numbers if n in self.by_absolute)
        only = next(iter(self.seasons)) if len(self.seasons) == 1 else None
        return self.in_season(only, numbers) if only is not None else ()
