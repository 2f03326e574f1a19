"""The files that follow from the settings' classes: the example, the schema, the page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from program.plugins import compose_settings, discover, generated_files
from program.settings.applies import APPLIES, applies
from program.settings.fields import fields, leaves, section_of
from program.settings.models import RootSettings
from program.settings.page import settings_page
from program.settings.store import SettingsStore
from tests.support.sample_plugin import Model

ROOT = Path(__file__).resolve().parents[2]


def sections(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Yield a model and every section inside."""
    yield model
    for _, info in fields(model).values():
        inner = section_of(info.annotation)
        if inner is not None:
            yield from sections(inner)


def test_the_committed_files_follow_from_the_classes_of_today() -> None:
    stale = [
        name
        for name, text in generated_files(discover()).items()
        if not (ROOT / name).exists() or (ROOT / name).read_text(encoding="utf-8") != text
    ]
    assert not stale, f"run 'make docs schema' and commit {stale}"


def test_the_committed_example_starts_the_program(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text((ROOT / "settings.json").read_text())
    model = compose_settings(discover())
    found = SettingsStore(tmp_path, model, {}).open()
    assert found.api_key.get_secret_value()
    assert found.model_copy(update={"api_key": model().api_key}) == model()


def test_every_setting_is_described_and_has_a_default() -> None:
    model = compose_settings(discover())
    assert [leaf.path for leaf in leaves(model) if not leaf.info.description] == []
    assert [leaf.path for leaf in leaves(model) if leaf.info.is_required()] == []


def test_every_section_refuses_unknown_keys_and_stays_as_loaded() -> None:
    loose = [
        model.__name__
        for model in sections(compose_settings(discover()))
        if model.model_config.get("extra") != "forbid" or not model.model_config.get("frozen")
    ]
    assert loose == []


def test_every_section_says_when_a_change_counts() -> None:
    assert [name for name in fields(RootSettings) if name not in APPLIES] == []
    assert all(applies(leaf.path) for leaf in leaves(compose_settings(discover())))


def test_the_schema_names_providers_by_their_title_and_hides_their_keys() -> None:
    scraping = Model.model_json_schema()["$defs"]["ScrapingSettings"]["properties"]
    assert scraping["sample"]["title"] == "Sample Index"
    sample = Model.model_json_schema()["$defs"]["SampleSettings"]
    assert sample["properties"]["api_key"]["format"] == "password"
    assert sample["additionalProperties"] is False
    assert json.dumps(Model.model_json_schema(by_alias=True)).count('"$schema"') == 1


def test_the_page_has_a_row_for_each_setting_with_its_variable() -> None:
    page = settings_page(Model)
    assert (
        "| `port` | `8484` | Port to listen on | `RIVULET_API__PORT` | after a restart of the program |"
        in page
    )
    assert "### `scraping.sample` Sample Index" in page
    assert '`""` (secret) | Key of the index | `RIVULET_SCRAPING__SAMPLE__API_KEY` |' in page
