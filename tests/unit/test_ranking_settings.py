"""The `ranking` section: what is refused at load, what is kept as written, and its plain copy."""

import json
import pickle

import pytest
from pydantic import ValidationError
from RTN.models import SettingsModel

from program.settings.ranking import RankingSettings, compiled


def test_a_misspelt_key_is_refused() -> None:
    with pytest.raises(ValidationError, match="resolution"):
        RankingSettings.model_validate({"resolution": {"r1080p": True}})


def test_a_pattern_keeps_its_text_and_its_capitals_through_save_and_load() -> None:
    text = {"exclude": ["/CaseSensitive/", "any"]}
    saved = json.loads(RankingSettings.model_validate(text).model_dump_json())
    assert saved["exclude"] == ["/CaseSensitive/", "any"]
    assert RankingSettings.model_validate(saved).plain().exclude == ("/CaseSensitive/", "any")
    assert text == {"exclude": ["/CaseSensitive/", "any"]}


def test_slashes_mind_capitals_and_nothing_else_does() -> None:
    assert compiled("/WEB/").search("web") is None
    assert compiled("WEB").search("web")
    assert compiled("/").search("a/b")


def test_a_broken_pattern_is_named() -> None:
    with pytest.raises(ValidationError, match="is not a regular expression"):
        RankingSettings.model_validate({"require": ["(unclosed"]})


def test_the_plain_copy_travels_to_another_process() -> None:
    plain = RankingSettings().plain()
    assert pickle.loads(pickle.dumps(plain)) == plain  # noqa: S301 - our own values


def test_a_home_takes_three_resolutions_and_those_that_do_not_say() -> None:
    assert RankingSettings().plain().resolutions == {"2160p", "1080p", "720p", "unknown"}


def test_every_property_of_rank_torrent_name_can_be_set() -> None:
    theirs = SettingsModel().model_dump(mode="json")["custom_ranks"]
    ours = RankingSettings().model_dump(mode="json")["custom_ranks"]
    assert {group: set(keys) for group, keys in ours.items()} == {
        group: set(keys) for group, keys in theirs.items()
    }
