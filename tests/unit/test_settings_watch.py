"""Edits by hand: a good one counts within two looks, a bad one is reported once and changes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from program.settings.applies import Applies, applies, changed
from program.settings.models import RootSettings
from program.settings.problems import InvalidSettings
from program.settings.store import SettingsStore
from program.settings.watch import Watcher
from tests.support.sample_plugin import Model, settings

KEY = "key-of-the-owner-0001"


@pytest.fixture
def store(tmp_path: Path) -> SettingsStore:
    found = SettingsStore(tmp_path, Model, {})
    write(found, {"api_key": KEY})
    found.open()
    return found


def write(store: SettingsStore, document: object) -> None:
    """Edit the file as an editor does."""
    store.file.write_text(document if isinstance(document, str) else json.dumps(document))


def test_an_untouched_file_gives_nothing(store: SettingsStore) -> None:
    watcher = Watcher(store)
    assert watcher.poll() is None


def test_a_good_edit_is_in_force_at_the_next_look(store: SettingsStore) -> None:
    watcher = Watcher(store)
    write(store, {"api_key": KEY, "api": {"port": 9001}})
    found = watcher.poll()
    assert isinstance(found, RootSettings)
    assert found.api.port == 9001
    assert store.current is found
    assert watcher.poll() is None


def test_a_bad_edit_is_reported_once_with_place_value_and_reason_and_the_last_good_stay(
    store: SettingsStore,
) -> None:
    watcher, before = Watcher(store), store.current
    write(store, {"api_key": KEY, "api": {"port": 70000}})
    reports = [watcher.poll() for _ in range(4)]
    assert [str(report) for report in reports if report] == [
        "settings.json: api.port: must be at most 65535, not 70000"
    ]
    assert store.current is before


def test_a_bad_edit_that_is_mended_counts(store: SettingsStore) -> None:
    watcher = Watcher(store)
    write(store, '{"api_key": ')
    watcher.poll()
    assert isinstance(watcher.poll(), InvalidSettings)
    write(store, {"api_key": KEY, "api": {"port": 9002}})
    found = watcher.poll()
    assert isinstance(found, RootSettings)
    assert found.api.port == 9002


def test_a_file_caught_in_the_middle_of_being_written_is_not_reported(store: SettingsStore) -> None:
    watcher = Watcher(store)
    write(store, '{"api_key": "key-of-')
    assert watcher.poll() is None
    write(store, {"api_key": KEY, "api": {"port": 9003}})
    assert isinstance(watcher.poll(), RootSettings)


def test_a_removed_file_is_reported_and_the_last_good_stay(store: SettingsStore) -> None:
    watcher, before = Watcher(store), store.current
    store.file.unlink()
    reports = [str(report) for _ in range(3) if (report := watcher.poll())]
    assert reports == ["settings.json: cannot be read: No such file or directory"]
    assert store.current is before


def test_an_edit_without_a_key_is_refused(store: SettingsStore) -> None:
    watcher = Watcher(store)
    write(store, {"api": {"port": 9004}})
    watcher.poll()
    assert str(watcher.poll()) == "settings.json: api_key: must not be empty"


def test_our_own_save_is_no_edit_by_hand(store: SettingsStore) -> None:
    watcher = Watcher(store)
    store.save({"api": {"port": 9005}})
    assert watcher.poll() is None
    assert store.current.api.port == 9005


def test_the_changed_values_are_known_with_what_they_need() -> None:
    before = settings()
    after = settings(api={"port": 9000}, scraping={"sample": {"enabled": True}, "max_failed_attempts": 3})
    paths = changed(before, after)
    assert {path: applies(path) for path in paths} == {
        "api.port": Applies.RESTART,
        "scraping.max_failed_attempts": Applies.LIVE,
        "scraping.sample.enabled": Applies.PART,
    }
