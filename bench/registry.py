"""Finds the families: every `Family` of every file in `bench/rows/`."""

import importlib
import pkgutil

from bench import rows
from bench.row import Family


def families() -> dict[str, type[Family]]:
    """Return them by key, in the order of their keys. Raises ValueError when two share one."""
    found: dict[str, type[Family]] = {}
    for module in pkgutil.iter_modules(rows.__path__):
        members = vars(importlib.import_module(f"{rows.__name__}.{module.name}")).values()
        for member in members:
            if not isinstance(member, type) or not issubclass(member, Family) or member is Family:
                continue
            if found.setdefault(member.key, member) is not member:
                raise ValueError(f"two families are called {member.key}")
    return dict(sorted(found.items()))
