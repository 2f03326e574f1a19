"""Library profiles: which titles their rules let pass, and what is wrong with a profile that cannot be used."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from program.media.item import MediaType
from program.media.profiles import Profile, Rules, TitleFacts, matches, matching, roots_of
from program.settings.models import RootSettings
from program.settings.problems import explain
from program.settings.profiles import ProfileRules, enabled_profiles

FILM = TitleFacts(
    type=MediaType.MOVIE,
    year=2008,
    genres=("Animation", "Comedy"),
    language="en",
    country="nl",
    rating=6.5,
    content_rating="G",
    lists=("letterbox", "api"),
    requested_by=("Ada",),
)
SHOW = TitleFacts(type=MediaType.SHOW, year=2010, network="Vodo", language="ja", is_anime=True)
BARE = TitleFacts(type=MediaType.MOVIE)


@pytest.mark.parametrize(
    ("rules", "passing"),
    [
        ({}, (True, True, True)),
        ({"types": ["movie"]}, (True, False, True)),
        ({"types": ["show"]}, (False, True, False)),
        ({"types": ["movie", "show"]}, (True, True, True)),
        ({"genres": ["animation"]}, (True, False, False)),
        ({"genres": ["Horror", "Comedy"]}, (True, False, False)),
        ({"genres": ["!Horror"]}, (True, True, True)),
        ({"genres": ["!Comedy"]}, (False, True, True)),
        ({"genres": ["Animation", "!Comedy"]}, (False, False, False)),
        ({"genres": ["Animation", "!Horror"]}, (True, False, False)),
        ({"languages": ["EN", "ja"]}, (True, True, False)),
        ({"languages": ["!en"]}, (False, True, True)),
        ({"countries": ["nl"]}, (True, False, False)),
        ({"networks": ["vodo"]}, (False, True, False)),
        ({"content_ratings": ["G", "PG"]}, (True, False, False)),
        ({"content_ratings": ["!R"]}, (True, True, True)),
        ({"lists": ["letterbox"]}, (True, False, False)),
        ({"lists": ["!api"]}, (False, True, True)),
        ({"requested_by": ["ada"]}, (True, False, False)),
        ({"min_year": 2008}, (True, True, False)),
        ({"min_year": 2009}, (False, True, False)),
        ({"max_year": 2008}, (True, False, False)),
        ({"min_year": 2009, "max_year": 2010}, (False, True, False)),
        ({"min_rating": 6.5}, (True, False, False)),
        ({"min_rating": 6.6}, (False, False, False)),
        ({"max_rating": 7}, (True, False, False)),
        ({"is_anime": True}, (False, True, False)),
        ({"is_anime": False}, (True, False, True)),
        ({"types": ["movie"], "genres": ["Comedy"], "max_year": 2000}, (False, False, False)),
        ({"types": ["movie"], "genres": ["Comedy"], "max_year": 2010}, (True, False, False)),
    ],
)
def test_a_title_passes_when_every_kind_of_rule_lets_it(
    rules: dict[str, Any], passing: tuple[bool, bool, bool]
) -> None:
    wanted = ProfileRules.model_validate_json(json.dumps(rules), strict=True).rules()
    assert tuple(matches(wanted, facts) for facts in (FILM, SHOW, BARE)) == passing


def test_a_title_may_be_in_several_profiles_and_an_exclusive_one_takes_it_out_of_the_library() -> None:
    kids = Profile(key="kids", root="/kids", rules=Rules(genres=("Animation",)))
    dutch = Profile(key="dutch", root="/nl", rules=Rules(countries=("nl",)))
    profiles = {"kids": kids, "dutch": dutch}
    keys = matching(profiles.values(), FILM)
    assert keys == ("kids", "dutch")
    assert roots_of(keys, profiles) == ("", "/kids", "/nl")
    assert roots_of(keys, profiles | {"dutch": replace(dutch, is_exclusive=True)}) == ("/kids", "/nl")
    assert roots_of((), profiles) == ("",)
    assert roots_of(("gone",), profiles) == ("",)


def test_a_profile_that_is_switched_off_is_not_used() -> None:
    settings = RootSettings.model_validate(
        {"vfs": {"profiles": {"a": {"path": "/a", "enabled": False}, "b": {"path": "/b"}}}}
    )
    assert list(enabled_profiles(settings.vfs.profiles)) == ["b"]


@pytest.mark.parametrize(
    ("profiles", "said"),
    [
        ({"kids": {}}, "vfs.profiles.kids.path: is missing"),
        (
            {"kids": {"path": "kids"}},
            "vfs.profiles.kids.path: must begin with / and name a folder, e.g. /kids",
        ),
        ({"kids": {"path": "/"}}, "vfs.profiles.kids.path: must begin with / and name a folder"),
        ({"kids": {"path": "/a//b"}}, "vfs.profiles.kids.path: must begin with / and name a folder"),
        ({"kids": {"path": "/kids:2"}}, "cannot be a folder's name everywhere; take kids-2"),
        ({"kids": {"path": "/../etc"}}, "cannot be a folder's name everywhere"),
        ({"kids": {"path": "/Movies"}}, "must not be in /movies or /shows"),
        ({"kids": {"path": "/shows/kids"}}, "must not be in /movies or /shows"),
        ({"Kids!": {"path": "/kids"}}, "vfs.profiles: Kids!: must be small letters, digits and _ only"),
        ({"a": {"path": "/x"}, "b": {"path": "/X"}}, "b: its path /X and that of a, /x, lie in one another"),
        (
            {"a": {"path": "/x/y"}, "b": {"path": "/x"}},
            "b: its path /x and that of a, /x/y, lie in one another",
        ),
        (
            {"a": {"path": "/x", "rules": {"genre": []}}},
            "vfs.profiles.a.rules.genre: unknown key (did you mean genres?)",
        ),
        ({"a": {"path": "/x", "rules": {"genres": "Drama"}}}, "vfs.profiles.a.rules.genres: must be a list"),
        (
            {"a": {"path": "/x", "rules": {"genres": ["!"]}}},
            "vfs.profiles.a.rules.genres[0]: must name something",
        ),
        (
            {"a": {"path": "/x", "rules": {"types": ["episode"]}}},
            "vfs.profiles.a.rules.types: must be movie or show",
        ),
        (
            {"a": {"path": "/x", "rules": {"min_year": 2010, "max_year": 2000}}},
            "min_year must not be above max_year",
        ),
        (
            {"a": {"path": "/x", "rules": {"min_rating": 11}}},
            "vfs.profiles.a.rules.min_rating: must be at most 10",
        ),
        (
            {"a": {"path": "/x", "rules": {"is_anime": "yes"}}},
            "vfs.profiles.a.rules.is_anime: must be true or false",
        ),
    ],
)
def test_what_cannot_be_used_is_told_with_its_place(profiles: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        RootSettings.model_validate_json(json.dumps({"vfs": {"profiles": profiles}}), strict=True)
    [problem] = explain(caught.value, RootSettings, {})
    assert said in str(problem)
