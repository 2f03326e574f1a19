"""Finds the providers, makes the settings' model of their sections, and knows which of them can be used."""

from program.plugins.build import MakeSource
from program.plugins.check import PluginState, PluginStatus
from program.plugins.compose import compose_settings, generated_files, settings_of, without_strangers
from program.plugins.discovery import AnyPlugin, Broken, Found, discover
from program.plugins.guard import Health, Tripped
from program.plugins.outside import Allowed, allowed, find
from program.plugins.registry import Hooked, Registry
from program.plugins.source import make_source

__all__ = [
    "Allowed",
    "AnyPlugin",
    "Broken",
    "Found",
    "Health",
    "Hooked",
    "MakeSource",
    "PluginState",
    "PluginStatus",
    "Registry",
    "Tripped",
    "allowed",
    "compose_settings",
    "discover",
    "find",
    "generated_files",
    "make_source",
    "settings_of",
    "without_strangers",
]
