"""What reading, judging and mapping names costs, beside rank-torrent-name's own reading of the same names."""

from collections.abc import Generator, Iterator
from datetime import UTC, datetime, timedelta

import RTN

from bench import Bar, Family, Row, Stage, Trial, seconds
from bench.names import found, release_names
from program.media.entry import TorrentFile
from program.media.item import MediaType
from program.media.wanted import Wanted, WantedEpisode
from program.services.matching.judge import judge
from program.services.matching.map_files import map_files
from program.settings.ranking import RankingSettings

RANKING = RankingSettings().plain()
NOW = datetime(2024, 6, 1, tzinfo=UTC)
FILM = ("Silent Harbour", 2011)
EPISODES = 25
GIB = 1024**3
# Every fifth name is of the film that is wanted; a search's answers are mostly of other things with such a name.
OF_THE_FILM = 5
BARE_PARSE = "RTN.parse of the same names"


class Matching(Family):
    """Names of a search, the same again, and a large pack."""

    key = "matching"
    title = "Names: parse, rules, rank, map"
    seconds = 300

    def trials(self, stage: Stage) -> Generator[Trial]:
        """Yield fresh names, known names, a pack."""
        count = stage.size(2000, tiny=20)
        yield _fresh(stage, count)
        yield _known(count)
        yield _pack(stage.size(1000, tiny=50))


def _batches(stage: Stage, count: int) -> Iterator[list[str]]:
    """Yield other names for each round, so that nothing is known yet."""
    for seed in range(stage.rounds):
        of_film = count // OF_THE_FILM
        yield release_names(of_film, seed=seed, of=FILM) + release_names(count - of_film, seed=seed)


def _fresh(stage: Stage, count: int) -> Trial:
    RTN.parse("The.First.Name.2010.1080p.WEB-DL.x264-WARM")
    judge(_film(), found(["The.First.Name.2010.1080p.WEB-DL.x264-WARM"]), RANKING, NOW)
    mine, theirs = _batches(stage, count), _batches(stage, count)
    return Trial(
        rows=(Row(f"parse, rules and rank of {count:,} fresh names", "s", BARE_PARSE, Bar.ratio(1.5)),),
        ours=lambda: (_judge(next(mine)),),
        reference=lambda: (_bare(next(theirs)),),
    )


def _known(count: int) -> Trial:
    names = release_names(count, seed=-1, of=FILM)
    _judge(names)
    return Trial(
        rows=(Row(f"the same {count:,} names again", "s", BARE_PARSE, Bar.ratio(0.05)),),
        ours=lambda: (_judge(names),),
        reference=lambda: (_bare(names),),
    )


def _pack(count: int) -> Trial:
    show, files = _show(count), _files(count)
    paths = [file.path.rpartition("/")[2] for file in files]
    return Trial(
        rows=(Row(f"a pack of {count:,} files onto its episodes", "s", BARE_PARSE, Bar.value(2)),),
        ours=lambda: (seconds(map_files, show, "Paper.Orchard.Complete.1080p.WEB-DL-NORTH", files),),
        reference=lambda: (_bare(paths),),
    )


def _bare(names: list[str]) -> float:
    def work() -> None:
        for name in names:
            RTN.parse(name)

    return seconds(work)


def _judge(names: list[str]) -> float:
    releases = found(names)
    return seconds(judge, _film(), releases, RANKING, NOW)


def _film() -> Wanted:
    name, year = FILM
    released = datetime(year, 3, 1, tzinfo=UTC)
    return Wanted(
        item_id=1,
        type=MediaType.MOVIE,
        title=name,
        year=year,
        runtime=101,
        released_at=released,
        language="en",
    )


def _show(count: int) -> Wanted:
    first = NOW - timedelta(days=3650)
    episodes = tuple(
        WantedEpisode(
            item_id=at + 2,
            season=at // EPISODES + 1,
            number=at % EPISODES + 1,
            absolute=at + 1,
            title=f"Chapter {at + 1}",
            aired_at=first + timedelta(days=at),
            runtime=44,
        )
        for at in range(count)
    )
    return Wanted(
        item_id=1, type=MediaType.SHOW, title="Paper Orchard", year=2014, episodes=episodes, language="en"
    )


def _files(count: int) -> tuple[TorrentFile, ...]:
    return tuple(
        TorrentFile(
            path=f"Season {at // EPISODES + 1:02}/Paper.Orchard.S{at // EPISODES + 1:02}E{at % EPISODES + 1:02}"
            f".1080p.WEB-DL.DDP5.1.x264-NORTH.mkv",
            size=GIB + at,
            file_id=str(at),
        )
        for at in range(count)
    )
