"""Finds the provider classes: every module of the provider packages is loaded, what is broken is reported and left out."""

import importlib
import importlib.util
import inspect
import pkgutil
import re
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from program.log import logger
from program.services.plugin import Plugin
from program.settings.fields import section_of
from program.settings.models import RootSettings
from program.settings.provider import ProviderSettings

# A plugin of whatever settings; which ones only its own class knows.
AnyPlugin = Plugin[Any]

PACKAGES = tuple(
    f"program.services.{kind}"
    for kind in (
        "content",
        "indexers",
        "scrapers",
        "downloaders",
        "updaters",
        "subtitles",
        "notifications",
    )
)
KEY = re.compile(r"[a-z][a-z0-9]*")


@dataclass(frozen=True, slots=True)
class Broken:
    """A module or class that is no usable plugin. name: where it is; reason: a sentence."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Found:
    """What a search for plugins gave."""

    classes: tuple[type[AnyPlugin], ...]
    broken: tuple[Broken, ...]


def discover() -> tuple[type[AnyPlugin], ...]:
    """Return every provider's class, ordered by section and key; report what is broken in the log."""
    found = search(PACKAGES)
    for broken in found.broken:
        logger.error("plugin {} was left out: {}", broken.name, broken.reason)
    return found.classes


def search(packages: Iterable[str]) -> Found:
    """Return the plugin classes in the modules of `packages`, and what stands there but is none; packages may be missing."""
    classes: dict[str, type[AnyPlugin]] = {}
    broken = []
    for name in _module_names(packages):
        try:
            module = importlib.import_module(name)
        except Exception as error:  # noqa: BLE001 - a broken plugin must not stop the others
            logger.debug("{}", traceback.format_exc())
            broken.append(Broken(name, f"it cannot be loaded: {type(error).__name__}: {error}"))
            continue
        for found in _classes_in(module):
            fault = fault_of(found) or ("its key is taken" if found.key in classes else None)
            if fault:
                broken.append(Broken(f"{name}.{found.__name__}", fault))
            else:
                classes[found.key] = found
    ordered = sorted(classes.values(), key=lambda plugin: (plugin.section, plugin.key))
    return Found(tuple(ordered), tuple(broken))


def _module_names(packages: Iterable[str]) -> Iterator[str]:
    for package in packages:
        spec = importlib.util.find_spec(package)
        for module in pkgutil.iter_modules((spec.submodule_search_locations if spec else None) or []):
            if not module.name.startswith("_"):
                yield f"{package}.{module.name}"


def _classes_in(module: ModuleType) -> list[type[AnyPlugin]]:
    """Return the plugin classes that a module itself defines."""
    return [
        found
        for found in vars(module).values()
        if inspect.isclass(found)
        and issubclass(found, Plugin)
        and found.__module__ == module.__name__
        and not inspect.isabstract(found)
    ]


def fault_of(plugin: type[AnyPlugin]) -> str | None:
    """Return why a class cannot be a plugin, None when it can."""
    for name in ("key", "title", "section", "Settings"):
        if not hasattr(plugin, name):
            return f"it does not say its {name}"
    if not KEY.fullmatch(plugin.key):
        return f"its key {plugin.key!r} is not lower-case letters and digits"
    settings = getattr(plugin, "Settings", None)
    if not (inspect.isclass(settings) and issubclass(settings, ProviderSettings)):
        return "its Settings are no ProviderSettings"
    section = RootSettings.model_fields.get(plugin.section)
    model = section_of(section.annotation) if section else None
    if model is None:
        return f"the settings have no section {plugin.section!r}"
    if plugin.key in model.model_fields:
        return f"{plugin.section}.{plugin.key} is a setting of the program"
    return None
