"""Settings from the environment: they win, they are never written into the file, they cannot be changed by a save."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from program.settings.problems import InvalidSettings
from program.settings.store import SettingsStore, config_folder
from tests.support.sample_plugin import Model

KEY = "key-of-the-owner-0001"


def opened(folder: Path, **environ: str) -> SettingsStore:
    """Return an opened store whose file holds a port and a key."""
    (folder / "settings.json").write_text(json.dumps({"api_key": KEY, "api": {"port": 9000}}))
    found = SettingsStore(folder, Model, environ)
    found.open()
    return found


def problem(folder: Path, **environ: str) -> str:
    """Return what a person sees when the environment is wrong."""
    with pytest.raises(InvalidSettings) as error:
        opened(folder, **environ)
    return str(error.value)


@pytest.mark.parametrize(
    ("variable", "text", "read"),
    [
        ("RIVULET_API__PORT", "9100", lambda found: found.api.port == 9100),
        ("RIVULET_SCRAPING__SAMPLE__ENABLED", "true", lambda found: found.scraping.sample.enabled is True),
        ("RIVULET_SCRAPING__SAMPLE__ENABLED", "Yes", lambda found: found.scraping.sample.enabled is True),
        (
            "RIVULET_SCRAPING__SAMPLE__API_KEY",
            "123456",
            lambda found: found.scraping.sample.api_key.get_secret_value() == "123456",
        ),
        (
            "RIVULET_SCRAPING__SAMPLE__URL",
            "http://index:81",
            lambda found: str(found.scraping.sample.url) == "http://index:81/",
        ),
        (
            "RIVULET_SCRAPING__SCRAPE_COOLDOWN_HOURS",
            "1,2,3",
            lambda found: found.scraping.scrape_cooldown_hours == (1, 2, 3),
        ),
        (
            "RIVULET_DOWNLOADERS__ORDER",
            "one, two",
            lambda found: found.downloaders.order == ("one", "two"),
        ),
        (
            "RIVULET_INDEXING__RELEASE_KINDS",
            '["tv"]',
            lambda found: [kind.value for kind in found.indexing.release_kinds] == ["tv"],
        ),
        (
            "RIVULET_QUEUE__PROVIDER_LIMITS",
            '{"sample": 3}',
            lambda found: found.queue.provider_limits == {"sample": 3},
        ),
        (
            "RIVULET_API_KEY",
            "from-outside-01",
            lambda found: found.api_key.get_secret_value() == "from-outside-01",
        ),
        ("RIVULET_DATABASE__URL", "sqlite://", lambda found: found.database.url == "sqlite://"),
        ("RIVULET_API__PORT", "", lambda found: found.api.port == 9000),
        ("RIVULET_PORT_8484_TCP", "tcp://10.0.0.1:8484", lambda found: found.api.port == 9000),
        ("RIVULET_SERVICE_HOST", "10.0.0.1", lambda found: found.api.port == 9000),
        ("RIVULET_CONFIG", "/somewhere", lambda found: found.api.port == 9000),
    ],
)
def test_a_variable_sets_its_value(tmp_path: Path, variable: str, text: str, read: object) -> None:
    assert read(opened(tmp_path, **{variable: text}).current)  # type: ignore[operator]


def test_a_secret_can_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("index-key-55\n")
    found = opened(tmp_path, RIVULET_SCRAPING__SAMPLE__API_KEY_FILE=str(tmp_path / "secret"))
    assert found.current.scraping.sample.api_key.get_secret_value() == "index-key-55"  # type: ignore[attr-defined]
    assert dict(found.loaded.locked) == {"scraping.sample.api_key": "RIVULET_SCRAPING__SAMPLE__API_KEY_FILE"}


@pytest.mark.parametrize(
    ("environ", "line"),
    [
        (
            {"RIVULET_API__PROT": "1"},
            "RIVULET_API__PROT: there is no such setting (did you mean RIVULET_API__PORT?)",
        ),
        ({"RIVULET_COLOUR": "1"}, "RIVULET_COLOUR: there is no such setting"),
        (
            {"RIVULET_API": '{"port": 1}'},
            "RIVULET_API: there is no such setting (did you mean RIVULET_API_KEY?)",
        ),
        ({"RIVULET_VERSION": "2"}, "RIVULET_VERSION: there is no such setting"),
        (
            {"RIVULET_API__PORT": "many"},
            'RIVULET_API__PORT: api.port: must be a whole number, not "many"',
        ),
        ({"RIVULET_API__PORT": "0"}, "RIVULET_API__PORT: api.port: must be at least 1, not 0"),
        (
            {"RIVULET_API_KEY_FILE": "/nowhere/at/all"},
            "RIVULET_API_KEY_FILE: api_key: cannot read /nowhere/at/all: No such file or directory",
        ),
        (
            {"RIVULET_API_KEY": "a-key-of-mine", "RIVULET_API_KEY_FILE": __file__},
            "RIVULET_API_KEY_FILE: api_key: is set by RIVULET_API_KEY as well",
        ),
    ],
)
def test_a_wrong_variable_is_named(tmp_path: Path, environ: dict[str, str], line: str) -> None:
    assert problem(tmp_path, **environ) == line


def test_a_secret_of_the_wrong_kind_is_not_shown(tmp_path: Path) -> None:
    assert "hunter2" not in problem(tmp_path, RIVULET_SCRAPING__SAMPLE__API_KYE="hunter2")


def test_a_value_from_outside_is_never_written_into_the_file(tmp_path: Path) -> None:
    found = opened(tmp_path, RIVULET_API__PORT="9100", RIVULET_SCRAPING__SAMPLE__API_KEY="index-key-55")
    shown = found.masked()
    assert shown["api"]["port"] == 9100  # type: ignore[index,call-overload]
    found.save(shown)
    text = (tmp_path / "settings.json").read_text()
    assert json.loads(text)["api"]["port"] == 9000
    assert "index-key-55" not in text
    assert found.current.api.port == 9100


def test_a_value_from_outside_cannot_be_changed_by_a_save(tmp_path: Path) -> None:
    found = opened(tmp_path, RIVULET_API__PORT="9100")
    with pytest.raises(
        InvalidSettings, match=r"api\.port: is set by the environment variable RIVULET_API__PORT"
    ):
        found.save({"api": {"port": 9200}})


def test_a_key_from_outside_leaves_the_new_file_without_one(tmp_path: Path) -> None:
    found = SettingsStore(tmp_path, Model, {"RIVULET_API_KEY": "from-outside-01"})
    assert found.open().api_key.get_secret_value() == "from-outside-01"
    assert json.loads((tmp_path / "settings.json").read_text())["api_key"] == ""


def test_the_config_folder_is_the_variables_or_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert config_folder({}) == tmp_path / "data"
    assert config_folder({"RIVULET_CONFIG": "/config"}) == Path("/config")
