"""The settings' model with every provider's own section, and the files that are generated from it."""

from collections.abc import Callable, Iterable, Mapping
from typing import cast

from pydantic import BaseModel, Field, JsonValue, create_model
from pydantic.fields import FieldInfo

from program.log import logger
from program.plugins.discovery import KINDS, AnyPlugin
from program.settings.fields import section_of
from program.settings.models import RootSettings
from program.settings.page import example_text, schema_text, settings_page
from program.settings.provider import ProviderSettings, defaults_of


def compose_settings(plugins: Iterable[type[AnyPlugin]]) -> type[RootSettings]:
    """Return the settings' model in which each provider has its section at `<section>.<key>`."""
    by_section: dict[str, list[type[AnyPlugin]]] = {}
    for plugin in plugins:
        by_section.setdefault(plugin.section, []).append(plugin)
    sections = {name: _with_providers(name, found) for name, found in by_section.items()}
    fields = {
        name: (model, _like(RootSettings.model_fields[name], model)) for name, model in sections.items()
    }
    return cast("type[RootSettings]", _subclass("Settings", RootSettings, fields))


def _with_providers(name: str, plugins: Iterable[type[AnyPlugin]]) -> type[BaseModel]:
    base = section_of(RootSettings.model_fields[name].annotation)
    if base is None:
        raise TypeError(f"the settings have no section {name}")
    fields = {
        plugin.key: (
            plugin.Settings,
            Field(default_factory=defaults_of(plugin.Settings), title=plugin.title),
        )
        for plugin in plugins
    }
    return _subclass(base.__name__, base, fields)


def _like(field: FieldInfo, model: type[BaseModel]) -> object:
    return Field(default_factory=defaults_of(model), title=field.title)


def _subclass(
    name: str, base: type[BaseModel], fields: Mapping[str, tuple[type[BaseModel], object]]
) -> type[BaseModel]:
    model: type[BaseModel] = create_model(name, __base__=base, __doc__=base.__doc__, **dict(fields))  # type: ignore[call-overload]
    return model


Document = dict[str, JsonValue]


def without_strangers(model: type[RootSettings]) -> Callable[[Document], Document]:
    """Return a function that takes the sections of plugins that are not loaded out of a settings document, and says so once.

    For where plugins from outside are allowed: one that cannot be loaded today must not make the settings invalid.
    """
    said: set[str] = set()

    def ignore(document: Document) -> Document:
        kept = dict(document)
        for name in KINDS:
            section, known = document.get(name), section_of(model.model_fields[name].annotation)
            if isinstance(section, dict) and known is not None:
                strange = {
                    key
                    for key, value in section.items()
                    if isinstance(value, dict) and key not in known.model_fields
                }
                kept[name] = {key: value for key, value in section.items() if key not in strange}
                for path in sorted(f"{name}.{key}" for key in strange):
                    if path not in said:
                        said.add(path)
                        logger.warning(
                            "settings: {} is not looked at: no plugin of this name is loaded", path
                        )
        return kept

    return ignore


def settings_of(settings: RootSettings, plugin: type[AnyPlugin]) -> ProviderSettings:
    """Return a provider's section; the settings' model was composed with its class."""
    section = getattr(settings, plugin.section)
    return cast("ProviderSettings", getattr(section, plugin.key))


def generated_files(plugins: Iterable[type[AnyPlugin]]) -> Mapping[str, str]:
    """Return path in the repository to content of the files that follow from the settings' model."""
    model = compose_settings(plugins)
    return {
        "settings.json": example_text(model),
        "settings.schema.json": schema_text(model),
        "docs/settings.md": settings_page(model),
    }
