"""A provider's way to its service, made from what its class says."""

import threading
from pathlib import Path

from program.clock import Clock
from program.http import DataSource, StatusStore
from program.plugins.discovery import AnyPlugin
from program.settings.provider import ProviderSettings


def make_source(
    plugin: type[AnyPlugin],
    settings: ProviderSettings,
    *,
    clock: Clock,
    status: StatusStore | None = None,
    cache_dir: Path | None = None,
    stopping: threading.Event | None = None,
) -> DataSource:
    """Return a data source with the provider's address, limits, headers, secrets and error codes.

    status: where its pauses are kept. cache_dir: folder for the answers of all providers. stopping: ends every wait when set.
    """
    return DataSource(
        plugin.key,
        plugin.address(settings),
        clock=clock,
        limits=plugin.limits,
        headers=plugin.headers(settings),
        secrets=plugin.secrets(settings),
        classify=plugin.classify,
        status=status,
        cache_dir=cache_dir / plugin.key if cache_dir else None,
        stopping=stopping,
    )
