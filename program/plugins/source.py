"""A provider's way to its services, made from what its class says."""

import threading
from pathlib import Path
from urllib.parse import urlsplit

from program.clock import Clock
from program.http import DataSource, StatusStore
from program.network import Gate, Networks
from program.plugins.discovery import AnyPlugin
from program.services.plugin import Service
from program.settings.provider import ProviderSettings


def make_source(
    plugin: type[AnyPlugin],
    settings: ProviderSettings,
    name: str = "",
    *,
    clock: Clock,
    allowed: Networks,
    status: StatusStore | None = None,
    cache_dir: Path | None = None,
    stopping: threading.Event | None = None,
) -> DataSource:
    """Return a data source with the service's address, limits, headers, secrets and error codes.

    name: of one of the plugin's further services, empty for its own. allowed: networks that are open to it whatever its nature.
    status: where pauses are kept. cache_dir: folder for the answers of all providers. stopping: ends every wait when set.
    """
    service = plugin.services(settings)[name] if name else own_service(plugin, settings)
    key = f"{plugin.key}.{name}" if name else plugin.key
    proxy = settings.proxy.get_secret_value()
    return DataSource(
        key,
        service.address,
        clock=clock,
        limits=service.limits,
        headers=service.headers,
        secrets=service.secrets,
        classify=service.classify,
        status=status,
        cache_dir=cache_dir / key if cache_dir else None,
        proxies=dict.fromkeys(("http", "https"), proxy) if proxy else None,
        stopping=stopping,
        gate=Gate(plugin.reach, urlsplit(service.address).hostname or "", allowed),
    )


def own_service(plugin: type[AnyPlugin], settings: ProviderSettings) -> Service:
    """Return the service that a plugin's `http` leads to."""
    return Service(
        address=plugin.address(settings),
        limits=plugin.limits,
        headers=plugin.headers(settings),
        secrets=plugin.secrets(settings),
        classify=plugin.classify,
    )
