"""Fifty pairs that are easily mistaken for one another: the right one is taken, the wrong one refused, with the reason."""

import pytest

from program.media.item import MediaType, Title
from program.media.release import FoundRelease
from program.media.wanted import Wanted, WantedEpisode
from program.services.matching.explain import explain_releases
from program.settings.ranking import RankingSettings
from tests.unit.matching.test_metamorphic import NOW

TAIL = "1080p.WEB-DL.x264-GRP"


def film(title: str, year: int, *aliases: str, others: tuple[str, ...] = ()) -> Wanted:
    return Wanted(
        item_id=1,
        type=MediaType.MOVIE,
        title=title,
        year=year,
        titles=tuple(Title(alias) for alias in aliases),
        other_titles=others,
    )


def episode(title: str, year: int, season: int, number: int, **more: object) -> Wanted:
    known = WantedEpisode(item_id=1, season=season, number=number)
    plain = Wanted(
        item_id=1,
        type=MediaType.EPISODE,
        title=title,
        year=year,
        season=season,
        episode=number,
        episodes=(known,),
    )
    return Wanted(**{**{name: getattr(plain, name) for name in Wanted.__dataclass_fields__}, **more})  # type: ignore[arg-type]


# what is wanted, the right release, the wrong one, a word of the reason
PAIRS: tuple[tuple[Wanted, str, str, str], ...] = (
    # remakes
    (film("The Lantern", 2011), "The.Lantern.2011", "The.Lantern.1982", "1982"),
    (film("The Lantern", 1982), "The.Lantern.1982", "The.Lantern.2011", "2011"),
    (film("Ghost Lamp", 2017), "Ghost.Lamp.2017", "Ghost.Lamp.1995", "1995"),
    (film("Ember", 1990), "Ember.1990", "Ember.2012", "2012"),
    (film("Three Lamps", 2010), "Three.Lamps.2010", "Three.Lamps.1969", "1969"),
    (film("Harbour's Eleven", 2001), "Harbours.Eleven.2001", "Harbours.Eleven.1960", "1960"),
    # sequels
    (film("Boxer", 1976), "Boxer.1976", "Boxer.II.1977", "another part"),
    (film("Boxer II", 1979), "Boxer.2.1979", "Boxer.1979", "another part"),
    (film("Boxer III", 1982), "Boxer.III.1982", "Boxer.II.1982", "another part"),
    (film("Glimmer 2", 2004), "Glimmer.2.2004", "Glimmer.3.2004", "another part"),
    (film("Desert: Part Two", 2024), "Desert.Part.Two.2024", "Desert.Part.One.2024", "another part"),
    (film("Desert", 2021), "Desert.2021", "Desert.Part.Two.2021", "another part"),
    (film("Kill Lamp: Vol. 1", 2003), "Kill.Lamp.Vol.1.2003", "Kill.Lamp.Vol.2.2003", "another part"),
    (
        film("The Lamp Games: Mockingwick - Part 1", 2014),
        "The.Lamp.Games.Mockingwick.Part.1.2014",
        "The.Lamp.Games.Mockingwick.Part.2.2015",
        "part",
    ),
    (film("Monday the 12th", 1980), "Monday.the.12th.1980", "Monday.the.12th.Part.2.1981", "part"),
    (
        film("Lantern Wars: Episode V", 1980),
        "Lantern.Wars.Episode.5.1980",
        "Lantern.Wars.Episode.IV.1980",
        "part",
    ),
    (film("Alight", 1979), "Alight.1979", "Alights.1979", "not Alight"),
    (film("Lantern Runner", 1982), "Lantern.Runner.1982", "Lantern.Runner.2049.1982", "2049"),
    # the same name as film and as series
    (film("Glargo", 1996), "Glargo.1996", "Glargo.S01E01", "film"),
    (film("Glargo", 1996), "Glargo.1996", "Glargo.Season.1", "film"),
    (film("Westlamp", 1973), "Westlamp.1973", "Westlamp.1x01", "film"),
    (episode("Glargo", 2014, 1, 1), "Glargo.S01E01", "Glargo.1996", ""),
    (episode("Westlamp", 2016, 1, 1), "Westlamp.S01E01", "Westlamp.1973", ""),
    # versions by country and year
    (episode("The Bureau", 2005, 2, 1, country="us"), "The.Bureau.US.S02E01", "The.Bureau.UK.S02E01", "GB"),
    (episode("The Bureau", 2001, 2, 1, country="gb"), "The.Bureau.UK.S02E01", "The.Bureau.US.S02E01", "US"),
    (episode("Blushful", 2011, 1, 1, country="us"), "Blushful.US.S01E01", "Blushful.UK.S01E01", "GB"),
    (
        episode("Ghosts of Ember", 2021, 1, 1, country="au"),
        "Ghosts.of.Ember.AU.S01E01",
        "Ghosts.of.Ember.US.S01E01",
        "US",
    ),
    (episode("Doctor Whom", 2005, 10, 1), "Doctor.Whom.2005.S10E01", "Doctor.Whom.1963.S10E01", "1963"),
    (episode("Doctor Whom", 1963, 10, 1), "Doctor.Whom.1963.S10E01", "Doctor.Whom.2005.S10E01", "2005"),
    (episode("Battleglow", 2003, 1, 1), "Battleglow.2003.S01E01", "Battleglow.1978.S01E01", "1978"),
    # one word in a longer title
    (film("Wick", 2014), "Wick.2014", "Into.the.Wick.2014", "not Wick"),
    (film("Hearth", 2015), "Hearth.2015", "Sweet.Hearth.2015", "not Hearth"),
    (film("Ye", 2017), "Ye.2017", "Ye.Olde.2017", "not Ye"),
    (film("Ox", 2019), "Ox.2019", "The.Ox.and.Them.2019", "not Ox"),
    (film("Yon", 2009), "Yon.2009", "Yon.in.the.Air.2009", "not Yon"),
    (episode("Hut", 2004, 1, 1), "Hut.S01E01", "Hut.of.Lamps.S01E01", "not Hut"),
    (episode("Keep", 2009, 1, 1), "Keep.S01E01", "Keep.Rock.S01E01", "not Keep"),
    (episode("Lamp Trek", 1966, 1, 1), "Lamp.Trek.S01E01", "Lamp.Trek.Discovery.S01E01", "not Lamp Trek"),
    # titles that are numbers
    (film("1876", 2019), "1876.2019", "1877.2019", "part"),
    (film("500", 2006), "500.2006", "500.Rise.of.an.Ember.2014", "not 500"),
    (film("2022", 2009), "2022.2009", "2022.2022", "from 2022"),
    (film("15", 1979), "15.1979", "15.Lantern.Lane.1979", "not 15"),
    (episode("36", 2001, 1, 1), "36.S01E01", "36.Legacy.S01E01", "not 36"),
    (episode("9-2-7", 2018, 2, 1), "9-2-7.S02E01", "9-2-7.Lone.Lamp.S02E01", "not 9-2-7"),
    (episode("1871", 2022, 1, 1), "1871.S01E01", "1883.S01E01", "part"),
    (episode("The 200", 2014, 1, 9), "The.200.S01E09", "The.200.S01E01", "episode"),
    (episode("The 5500", 2004, 1, 2), "The.5500.S01E02", "The.5500.2021.S01E02", "2021"),
    # shared and longer names
    (
        film("Shazap!", 2019, "Captain Lamp", others=("Captain Lamp",)),
        "Shazap.2019",
        "Captain.Lamp.2019",
        "not Shazap",
    ),
    (film("Face Lamp", 1997), "Face.Lamp.1997", "Face.1997", "not Face Lamp"),
    (film("Girl in the Lamp", 2015), "Girl.in.the.Lamp.2015", "Girls.in.the.Lamp.2015", "not Girl"),
    (film("Lamp Woman 1984", 2020), "Lamp.Woman.1984.2020", "Lamp.Woman.2017", "not"),
)


def test_there_are_fifty_pairs() -> None:
    assert len(PAIRS) >= 50


@pytest.mark.parametrize(
    ("wanted", "right", "wrong", "why"), PAIRS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_the_right_one_is_taken_and_the_wrong_one_refused(
    wanted: Wanted, right: str, wrong: str, why: str
) -> None:
    found = [
        FoundRelease(f"{place:040x}", f"{name}.{TAIL}", "test") for place, name in enumerate((right, wrong))
    ]
    good, bad = explain_releases(wanted, found, RankingSettings().plain(), NOW)
    assert good.release.rejection is None
    assert bad.release.rejection is not None
    assert why in bad.release.rejection.sentence
