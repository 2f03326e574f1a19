"""What a command begins with: the plugins that may be loaded, the settings made of their sections, the log."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from program import log, plugins
from program.plugins import Found
from program.settings.models import RootSettings
from program.settings.store import SettingsStore, config_folder


@dataclass(frozen=True, slots=True)
class Opened:
    """The settings, loaded, and the plugins that they are made of."""

    store: SettingsStore
    plugins: Found


def open_all(environ: Mapping[str, str]) -> Opened:
    """Return settings and plugins of the config folder; raise SettingsError or StartupError."""
    folder = config_folder(environ)
    allowed = plugins.allowed(folder, environ)
    found = plugins.find(allowed)
    model = plugins.compose_settings(found.classes)
    # A plugin that cannot be loaded today is no reason not to start.
    ignore = plugins.without_strangers(model) if allowed.any else dict
    store = SettingsStore(folder, model, environ, ignore=ignore)
    log.hide(store.open().secret_values())
    return Opened(store, found)


def open_store(environ: Mapping[str, str]) -> SettingsStore:
    """Return the settings of the config folder, loaded; raise SettingsError or StartupError."""
    return open_all(environ).store


def set_up_log(settings: RootSettings, folder: Path) -> None:
    """Write the log as the settings say; its file stands in the config folder."""
    log.set_up(settings.log.level, folder / "logs" / "rivulet.log" if settings.log.to_file else None)


def database_url(store: SettingsStore) -> str:
    """Return the address of the database: the one set, or a SQLite file in the config folder."""
    return store.current.database.url or f"sqlite:///{store.folder / 'rivulet.db'}"
