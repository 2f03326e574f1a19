"""Plugins that do not come with the program: installed packages, and files in the `plugins` folder of the config folder.

Nothing of either is loaded before the settings allow it: a plugin runs in our process with all its rights.
"""

import importlib.metadata
import importlib.util
import inspect
import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

from pydantic import ValidationError

from program.errors import SettingsError
from program.log import logger
from program.plugins.discovery import AnyPlugin, Finds, Found, classes_in, discover
from program.services.plugin import Plugin
from program.settings.environment import FILE_SUFFIX, read, variable_for
from program.settings.models import PluginsSettings, RootSettings
from program.settings.problems import FILE_NAME

GROUP = "rivulet.plugins"
FOLDER = "plugins"
# What the modules of files in the folder are called.
PREFIX = "rivulet_plugins_"
# Bits of a file's mode that let others than its owner change it.
OTHERS_WRITE = 0o022


@dataclass(frozen=True, slots=True)
class Allowed:
    """What may be loaded beside the package. folder: the config folder."""

    folder: Path
    entry_points: bool = False
    files: bool = False

    @property
    def any(self) -> bool:
        """True when something from outside may be loaded."""
        return self.entry_points or self.files


def allowed(folder: Path, environ: Mapping[str, str]) -> Allowed:
    """Return what the settings file and the environment allow; nothing when either cannot be read, which is reported later."""
    names = ("entry_points", "folder")
    variables = [variable_for(f"plugins.{name}") for name in names]
    ours = {name: text for name, text in environ.items() if name.removesuffix(FILE_SUFFIX) in variables}
    try:
        document = json.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        document = {}
    section = document.get("plugins") if isinstance(document, dict) else None
    values = {name: section[name] for name in names if isinstance(section, dict) and name in section}
    try:
        values |= {one.path.rpartition(".")[2]: one.value for one in read(ours, RootSettings)}
        settings = PluginsSettings.model_validate(values, strict=True)
    except (SettingsError, ValidationError):
        return Allowed(folder)
    return Allowed(folder, settings.entry_points, settings.folder)


def find(what: Allowed) -> Found:
    """Return the package's plugins and those from outside that may be loaded; report what is broken in the log."""
    own = discover()
    finds = Finds(own)
    if what.entry_points:
        _from_packages(finds, importlib.metadata.entry_points(group=GROUP))
    if what.files:
        _from_folder(finds, what.folder / FOLDER)
    found = finds.found()
    for broken in found.broken:
        logger.error("plugin {} was left out: {}", broken.name, broken.reason)
    for plugin in found.classes:
        logger.info("plugin {} {} is loaded from {}", plugin.key, plugin.version, origin_of(plugin))
    return Found((*own, *found.classes), found.broken)


def origin_of(plugin: type[AnyPlugin]) -> str:
    """Return where a plugin's class comes from: `package`, `file NAME`, `installed MODULE`."""
    module = plugin.__module__
    if module.startswith("program."):
        return "package"
    if module.startswith(PREFIX):
        return f"file {module.removeprefix(PREFIX)}.py"
    return f"installed {module}"


def _from_packages(finds: Finds, points: Iterable[EntryPoint]) -> None:
    """Take the class that each entry point names, or the classes of the module it names."""
    for point in sorted(points, key=lambda point: (point.name, point.value)):
        name = f"{point.name} ({point.dist.name if point.dist else 'an installed package'})"
        loaded = finds.loaded(name, point.load)
        if inspect.ismodule(loaded):
            _take(finds, name, loaded)
        elif inspect.isclass(loaded) and issubclass(loaded, Plugin):
            finds.add(name, loaded)
        elif loaded is not None:
            finds.refuse(name, f"{point.value} is neither a plugin's class nor a module with one")


def _from_folder(finds: Finds, folder: Path) -> None:
    """Take the classes of every Python file in the folder; a name that begins with an underscore is left alone."""
    for file in sorted(folder.glob("*.py")):
        if file.name.startswith("_"):
            continue
        name = f"{FOLDER}/{file.name}"
        if any(path.stat().st_mode & OTHERS_WRITE for path in (folder, file)):
            finds.refuse(name, "others than its owner may change it; take that right away (chmod go-w)")
            continue
        module = finds.loaded(name, partial(_module, file))
        if module is not None:
            _take(finds, name, module)


def _take(finds: Finds, name: str, module: ModuleType) -> None:
    classes = classes_in(module)
    if not classes:
        finds.refuse(name, _why_none(module))
    for plugin in classes:
        finds.add(name if len(classes) == 1 else f"{name} {plugin.__name__}", plugin)


def _why_none(module: ModuleType) -> str:
    """Return why a module has no class of a plugin: there is none, or it is not finished."""
    for found in vars(module).values():
        if inspect.isclass(found) and issubclass(found, Plugin) and found.__module__ == module.__name__:
            return f"its class {found.__name__} lacks {', '.join(sorted(found.__abstractmethods__))}"
    return "there is no plugin's class in it"


def _module(file: Path) -> ModuleType:
    name = f"{PREFIX}{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file.name} is no Python module")
    module = importlib.util.module_from_spec(spec)
    # Known by its name before it runs, as dataclasses in it need.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
