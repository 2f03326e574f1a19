"""Finds the provider classes of the package: every module is loaded, what is broken is reported and left out."""

import importlib
import importlib.util
import inspect
import pkgutil
import re
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeVar

from program.http import Limits
from program.log import logger
from program.services.plugin import Plugin
from program.settings.fields import section_of
from program.settings.models import RootSettings
from program.settings.provider import ProviderSettings

T = TypeVar("T")

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
# The sections of the settings in which plugins have theirs.
KINDS = (
    "content",
    "indexing",
    "scraping",
    "downloaders",
    "updaters",
    "subtitles",
    "notifications",
    "plugins",
)
KEY = re.compile(r"[a-z][a-z0-9]*")
# Semantic versioning 2.0.0, from its own page.
VERSION = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(-(0|[1-9]\d*|\d*[a-zA-Z-][\da-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][\da-zA-Z-]*))*)?"
    r"(\+[\da-zA-Z-]+(\.[\da-zA-Z-]+)*)?"
)


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
    finds = Finds()
    for name in _module_names(packages):
        module = finds.loaded(name, lambda name=name: importlib.import_module(name))  # type: ignore[misc]
        if module is not None:
            for found in classes_in(module):
                finds.add(f"{name}.{found.__name__}", found)
    return finds.found()


class Finds:
    """Gathers plugin classes, each key once, and what is none. known: classes whose keys are taken."""

    def __init__(self, known: Iterable[type[AnyPlugin]] = ()) -> None:
        self._taken = {plugin.key for plugin in known}
        self._classes: list[type[AnyPlugin]] = []
        self._broken: list[Broken] = []

    def loaded(self, name: str, load: Callable[[], T]) -> T | None:
        """Return what `load` gives; None, with the reason kept, when it raises: whatever a module may do at its import."""
        try:
            return load()
        except Exception as error:  # noqa: BLE001 - a broken plugin must not stop the others
            logger.debug("{}", traceback.format_exc())
            self.refuse(name, f"it cannot be loaded: {type(error).__name__}: {error}")
        except SystemExit:
            self.refuse(name, "it cannot be loaded: it ends the program")
        return None

    def add(self, name: str, plugin: type[AnyPlugin]) -> None:
        """Take a class, or keep why it cannot be a plugin."""
        fault = fault_of(plugin) or ("its key is taken" if plugin.key in self._taken else None)
        if fault:
            self.refuse(name, fault)
        else:
            self._taken.add(plugin.key)
            self._classes.append(plugin)

    def refuse(self, name: str, reason: str) -> None:
        """Keep why something is no plugin."""
        self._broken.append(Broken(name, reason))

    def found(self) -> Found:
        """Return what was gathered, ordered by section and key."""
        ordered = sorted(self._classes, key=lambda plugin: (plugin.section, plugin.key))
        return Found(tuple(ordered), tuple(self._broken))


def _module_names(packages: Iterable[str]) -> Iterator[str]:
    for package in packages:
        spec = importlib.util.find_spec(package)
        for module in pkgutil.iter_modules((spec.submodule_search_locations if spec else None) or []):
            if not module.name.startswith("_"):
                yield f"{package}.{module.name}"


def classes_in(module: ModuleType) -> list[type[AnyPlugin]]:
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
    for name, form, example in (
        ("key", KEY, "lower-case letters and digits"),
        ("version", VERSION, "three numbers with dots, as in 1.0.0"),
    ):
        value = said(plugin, name)
        if not isinstance(value, str) or not form.fullmatch(value):
            return f"its {name} {value!r} is not {example}"
    if not isinstance(said(plugin, "limits"), Limits):
        return "its limits are no Limits"
    for name, least in (("concurrency", 1), ("deadline_seconds", 0.001)):
        number = said(plugin, name)
        if not isinstance(number, int | float) or number < least:
            return f"its {name} is not a number of {least} or more"
    return _fault_of_settings(plugin)


def said(plugin: type[AnyPlugin], name: str) -> object:
    """Return what a class says of itself, which need not be of the type that it should be."""
    return getattr(plugin, name)


def _fault_of_settings(plugin: type[AnyPlugin]) -> str | None:
    settings = said(plugin, "Settings")
    if not (inspect.isclass(settings) and issubclass(settings, ProviderSettings)):
        return "its Settings are no ProviderSettings"
    needed = [name for name, info in settings.model_fields.items() if info.is_required()]
    if needed:
        return f"its setting {needed[0]} has no default"
    section = RootSettings.model_fields.get(plugin.section)
    model = section_of(section.annotation) if section else None
    if model is None:
        return f"the settings have no section {plugin.section!r}"
    if plugin.key in model.model_fields:
        return f"{plugin.section}.{plugin.key} is a setting of the program"
    if plugin.section not in KINDS:
        return f"its section is {plugin.section!r}, not one of {', '.join(KINDS)}"
    return None
