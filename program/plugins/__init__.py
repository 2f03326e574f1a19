"""Finds the providers, makes the settings' model of their sections, and knows which of them can be used."""

from program.plugins.check import PluginState, PluginStatus
from program.plugins.compose import compose_settings, generated_files, settings_of
from program.plugins.discovery import AnyPlugin, discover
from program.plugins.registry import MakeSource, Registry
from program.plugins.source import make_source

__all__ = [
    "AnyPlugin",
    "MakeSource",
    "PluginState",
    "PluginStatus",
    "Registry",
    "compose_settings",
    "discover",
    "generated_files",
    "make_source",
    "settings_of",
]
