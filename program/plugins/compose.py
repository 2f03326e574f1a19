"""The settings' model with every provider's own section, and the files that are generated from it."""

from collections.abc import Iterable, Mapping
from typing import cast

from pydantic import BaseModel, Field, create_model
from pydantic.fields import FieldInfo

from program.plugins.discovery import AnyPlugin
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
