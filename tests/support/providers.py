"""Providers for tests, made as the program makes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from program.clock import Clock, SystemClock
from program.network import LOOPBACK
from program.plugins.source import make_source
from program.services.plugin import Plugin

P = TypeVar("P", bound=Plugin[Any])
SECRET = "s3cr3t-k3y-of-the-user"
Make = Callable[..., Any]


def make(kind: type[P], url: str, clock: Clock | None = None, **settings: object) -> P:
    """Return a provider that speaks to `url`, made as the program makes it."""
    clock = clock or SystemClock()
    if "api_key" in kind.Settings.model_fields:
        settings.setdefault("api_key", SECRET)
    if "token" in kind.Settings.model_fields:
        settings.setdefault("token", SECRET)
    section = kind.Settings.model_validate({"enabled": True, "url": url, **settings})
    return kind(section, make_source(kind, section, clock=clock, allowed=lambda: LOOPBACK), clock)
