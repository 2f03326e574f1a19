"""The settings file: made at the first start, loaded with every problem named, saved whole or not at all."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from program.errors import StartupError
from program.log import MASK, redact
from program.settings.problems import InvalidSettings, SettingsConflict
from program.settings.store import SettingsStore
from tests.support.sample_plugin import Model

KEY = "key-of-the-owner-0001"


def store(folder: Path, document: object = None, **environ: str) -> SettingsStore:
    """Return a store on a folder whose file holds `document` (a text is written as it is)."""
    if document is not None:
        text = document if isinstance(document, str) else json.dumps(document)
        (folder / "settings.json").write_text(text)
    return SettingsStore(folder, Model, environ)


def opened(folder: Path, document: object, **environ: str) -> SettingsStore:
    """Return a store that was opened."""
    found = store(folder, document, **environ)
    found.open()
    return found


def problems(folder: Path, document: object, **environ: str) -> list[str]:
    """Return the lines that a person sees when the file cannot be used."""
    with pytest.raises(InvalidSettings) as error:
        store(folder, document, **environ).open()
    return str(error.value).splitlines()


def content(folder: Path) -> dict[str, object]:
    """Return what the file holds."""
    return dict(json.loads((folder / "settings.json").read_text()))


def test_the_first_start_makes_a_private_file_with_defaults_and_a_key_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "config" / "rivulet"
    settings = store(folder).open()
    assert stat.S_IMODE((folder / "settings.json").stat().st_mode) == 0o600
    assert len(str(content(folder)["api_key"])) >= 32
    assert content(folder)["api_key"] == settings.api_key.get_secret_value()
    assert settings.api.port == 8484
    assert content(folder)["scraping"]["sample"]["enabled"] is False  # type: ignore[index]


def test_two_installations_have_different_keys(tmp_path: Path) -> None:
    store(tmp_path / "one").open()
    store(tmp_path / "two").open()
    assert content(tmp_path / "one")["api_key"] != content(tmp_path / "two")["api_key"]


def test_the_schema_stands_beside_the_file_and_the_file_names_it(tmp_path: Path) -> None:
    store(tmp_path).open()
    schema = json.loads((tmp_path / str(content(tmp_path)["$schema"])).read_text())
    assert "sample" in json.dumps(schema)


def test_a_copy_of_the_example_gets_a_key_and_keeps_the_rest(tmp_path: Path) -> None:
    opened(tmp_path, {"api_key": "", "api": {"port": 9000}})
    assert content(tmp_path)["api_key"]
    assert content(tmp_path)["api"] == {"port": 9000}


def test_a_second_start_changes_nothing(tmp_path: Path) -> None:
    store(tmp_path).open()
    before = (tmp_path / "settings.json").read_bytes()
    store(tmp_path).open()
    assert (tmp_path / "settings.json").read_bytes() == before


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StartupError, match=r"cannot use the config folder .*/file/config"):
        store(tmp_path / "file" / "config").open()


@pytest.mark.parametrize(
    ("document", "line"),
    [
        ({"api": {"prot": 1}}, "settings.json: api.prot: unknown key (did you mean port?)"),
        (
            {"scraping": {"sample": {"api_kye": "abc"}}},
            "settings.json: scraping.sample.api_kye: unknown key (did you mean api_key?)",
        ),
        (
            {"downloaders": {"sample": {"enabled": True}}},
            "settings.json: downloaders.sample: unknown key (did you mean scraping.sample?)",
        ),
        ({"colour": 1}, "settings.json: colour: unknown key"),
        (
            {"scraping": {"sample": {"proxy": "socks5://me:open-sesame@host"}}},
            "settings.json: scraping.sample.proxy: is not the address of an HTTP proxy, such as http://192.168.1.2:3128",
        ),
        ({"api": {"port": "8484"}}, 'settings.json: api.port: must be a whole number, not "8484"'),
        ({"api": {"port": True}}, "settings.json: api.port: must be a whole number, not true"),
        ({"api": {"port": 99999}}, "settings.json: api.port: must be at most 65535, not 99999"),
        ({"api": 5}, "settings.json: api: must be an object in braces, not 5"),
        ({"api": {"port": None}}, "settings.json: api.port: must be a whole number, not null"),
        (
            {"scraping": {"sample": {"url": "localhost"}}},
            'settings.json: scraping.sample.url: is not a URL: relative URL without a base, not "localhost"',
        ),
        (
            {"scraping": {"sample": {"url": "ftp://x"}}},
            "settings.json: scraping.sample.url: must be a URL that begins with 'http' or 'https', not \"ftp://x\"",
        ),
        (
            {"vfs": {"mode": "nfs"}},
            "settings.json: vfs.mode: must be one of 'fuse', 'webdav', 'auto' or 'strm', not \"nfs\"",
        ),
        (
            {"scraping": {"scrape_cooldown_hours": [6, 2, 24]}},
            "settings.json: scraping.scrape_cooldown_hours: must be three ascending numbers above 0",
        ),
        (
            {"version": 99},
            "settings.json: version: 99 was written by a newer version of the program; this one knows up to 1",
        ),
        ([], "settings.json: must be an object in braces"),
        (
            '{"api": {"port": 1,}}',
            "settings.json: line 1, column 20: not valid JSON: Illegal trailing comma before end of object",
        ),
        ("", "settings.json: line 1, column 1: not valid JSON: Expecting value"),
        ('{"api": {"port": 1, "port": 2}}', 'settings.json: the key "port" stands twice in one object'),
        ('{"api": {"port": NaN}}', "settings.json: NaN is not a JSON value"),
    ],
)
def test_a_mistake_in_the_file_is_named_with_its_place_and_reason(
    tmp_path: Path, document: object, line: str
) -> None:
    if isinstance(document, dict):
        document = {"api_key": KEY, **document}
    found = problems(tmp_path, document)
    assert len(found) == 1
    # Python 3.13 words the trailing comma better than 3.11.
    if "trailing comma" in line:
        assert found[0].startswith("settings.json: line 1, column ")
    else:
        assert found == [line]


def test_every_mistake_is_named_at_once(tmp_path: Path) -> None:
    document = {"api": {"port": 0}, "log": {"level": "LOUD"}, "colour": 1}
    assert [line.split(": ")[1] for line in problems(tmp_path, document)] == [
        "api.port",
        "log.level",
        "colour",
    ]


@pytest.mark.parametrize(
    "document",
    [
        {"scraping": {"sample": {"api_key": ["hunter2-hunter2"]}}},
        {"scraping": {"sample": {"api_kye": "hunter2-hunter2"}}},
        {"scraping": {"sample": {"api_key": 1234567890}}, "x": "hunter2-hunter2"},
        {"scraping": {"sample": {"url": "ftp://me:hunter2-hunter2@host"}}},
    ],
)
def test_what_is_wrong_with_a_secret_is_said_without_the_secret(tmp_path: Path, document: object) -> None:
    text = "\n".join(problems(tmp_path, document))
    assert "hunter2" not in text
    assert "1234567890" not in text


def test_a_text_file_from_windows_is_read(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_bytes(b'\xef\xbb\xbf{"api":\r\n{"port": 9001}}')
    assert SettingsStore(tmp_path, Model, {}).open().api.port == 9001


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_bytes(b'{"api_key": "\xff\xfe"}')
    with pytest.raises(InvalidSettings, match=r"settings.json: byte 13: not UTF-8 text"):
        SettingsStore(tmp_path, Model, {}).open()


def test_an_older_file_is_brought_to_todays_form(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"api_key": "k-0123456789", "web": {"port": 9002}}')
    upgrades = {1: lambda old: {("api" if key == "web" else key): value for key, value in old.items()}}
    found = SettingsStore(tmp_path, Model, {}, upgrades=upgrades, version=2)
    assert found.open().api.port == 9002
    assert found.loaded.document["version"] == 2


def test_a_loaded_secret_is_never_printed_again(tmp_path: Path) -> None:
    document = {
        "api_key": KEY,
        "database": {"url": "postgresql://rivulet:db-pass-77@host/name"},
        "scraping": {"sample": {"api_key": "index-key-55"}},
    }
    opened(tmp_path, document)
    line = redact(f"GET /?key={KEY} index-key-55 db-pass-77")
    assert line == f"GET /?key={MASK} {MASK} {MASK}"


def test_settings_are_shown_with_masks_where_secrets_are_set(tmp_path: Path) -> None:
    document = {
        "api_key": KEY,
        "database": {"url": "postgresql://rivulet:db-pass-77@host/name"},
        "scraping": {"sample": {"api_key": "index-key-55"}},
    }
    shown = json.dumps(opened(tmp_path, document).masked(), ensure_ascii=False)
    assert f'"url": "postgresql://rivulet:{MASK}@host/name"' in shown
    assert f'"sample": {{"enabled": false, "url": "http://localhost:9/", "api_key": "{MASK}"' in shown
    assert '"other": {"enabled": false, "url": "http://localhost:9/", "api_key": ""' in shown
    assert KEY not in shown


def test_what_was_shown_can_be_sent_back_and_keeps_every_secret(tmp_path: Path) -> None:
    document = {
        "api_key": KEY,
        "database": {"url": "postgresql://rivulet:db-pass-77@host/name"},
        "scraping": {"sample": {"api_key": "index-key-55"}},
    }
    found = opened(tmp_path, document)
    before = found.current
    found.save(found.masked())
    assert found.current == before
    assert SettingsStore(tmp_path, Model, {}).open() == before


def test_a_new_host_with_a_masked_password_keeps_the_password(tmp_path: Path) -> None:
    found = opened(tmp_path, {"api_key": KEY, "database": {"url": "postgresql://me:db-pass-77@old/name"}})
    found.save({"database": {"url": f"postgresql://me:{MASK}@new/name"}})
    assert found.current.database.url == "postgresql://me:db-pass-77@new/name"


def test_a_mask_with_nothing_behind_it_is_refused(tmp_path: Path) -> None:
    found = opened(tmp_path, {"api_key": KEY})
    with pytest.raises(InvalidSettings, match=r"scraping.sample.api_key: is masked, but nothing is known"):
        found.save({"scraping": {"sample": {"api_key": MASK}}})


def test_a_save_of_one_section_leaves_the_others_alone(tmp_path: Path) -> None:
    found = opened(tmp_path, {"api_key": KEY, "api": {"port": 9000}, "scraping": {"sample": {"per_page": 7}}})
    found.save({"scraping": {"sample": {"enabled": True}}})
    assert content(tmp_path)["api"] == {"port": 9000}
    assert content(tmp_path)["scraping"] == {"sample": {"per_page": 7, "enabled": True}}
    assert next(iter(content(tmp_path))) == "$schema"
    assert stat.S_IMODE((tmp_path / "settings.json").stat().st_mode) == 0o600


def test_a_map_is_replaced_whole_so_that_entries_can_be_removed(tmp_path: Path) -> None:
    found = opened(tmp_path, {"api_key": KEY, "queue": {"provider_limits": {"sample": 3, "other": 1}}})
    found.save({"queue": {"provider_limits": {"other": 2}}})
    assert found.current.queue.provider_limits == {"other": 2}


@pytest.mark.parametrize("change", [{"api": {"port": "x"}}, {"api_key": ""}, {"colour": 1}])
def test_a_bad_save_changes_neither_the_file_nor_what_is_in_force(
    tmp_path: Path, change: dict[str, object]
) -> None:
    found = opened(tmp_path, {"api_key": KEY})
    before, in_force = (tmp_path / "settings.json").read_bytes(), found.current
    with pytest.raises(InvalidSettings):
        found.save(change)  # type: ignore[arg-type]
    assert (tmp_path / "settings.json").read_bytes() == before
    assert found.current is in_force
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_of_two_writers_the_second_is_told_to_load_again(tmp_path: Path) -> None:
    found = opened(tmp_path, {"api_key": KEY})
    seen_by_both = found.loaded.revision
    found.save({"api": {"port": 9001}}, seen_by_both)
    with pytest.raises(SettingsConflict, match="load the settings again"):
        found.save({"api": {"port": 9002}}, seen_by_both)
    assert found.current.api.port == 9001


def test_a_save_does_not_overwrite_an_edit_by_hand_that_was_not_loaded_yet(tmp_path: Path) -> None:
    found = opened(tmp_path, {"api_key": KEY})
    (tmp_path / "settings.json").write_text('{"api_key": "edited-by-hand-01"}')
    with pytest.raises(SettingsConflict):
        found.save({"api": {"port": 9002}})
    assert content(tmp_path) == {"api_key": "edited-by-hand-01"}


def test_listeners_are_told_of_a_save(tmp_path: Path) -> None:
    found = opened(tmp_path, {"api_key": KEY})
    ports: list[int] = []
    found.on_change(lambda settings: ports.append(settings.api.port))
    found.save({"api": {"port": 9003}})
    assert ports == [9003]


def test_a_linked_file_is_replaced_where_it_lies(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "config").mkdir()
    (tmp_path / "real" / "mine.json").write_text(json.dumps({"api_key": KEY}))
    (tmp_path / "config" / "settings.json").symlink_to(tmp_path / "real" / "mine.json")
    found = SettingsStore(tmp_path / "config", Model, {})
    found.open()
    found.save({"api": {"port": 9004}})
    assert (tmp_path / "config" / "settings.json").is_symlink()
    assert json.loads((tmp_path / "real" / "mine.json").read_text())["api"] == {"port": 9004}
