"""Import rules that need an exact list; the rooms' order is checked by `make lint` (pyproject, importlinter)."""

from __future__ import annotations

import tomllib

import pytest

from tests.support.source import ROOT, SourceFile, is_outside, program_files

# Where values from outside are checked: settings, answers of services, requests to the API.
EDGES = (
    "program.settings",
    "program.services",
    "program.http",
    "program.http_answers",
    "program.api",
    "program.cli",
    "program.web",
    "program.plugins",
    "program.scenario",
    "program.vfs.manifest",
    "program.demo",
)

# Each outside package has a home. A package that is not listed here needs a decision first.
HOMES = {
    "alembic": ("program.db",),
    "apscheduler": ("program.scheduler",),
    "click": ("main", "program.cli"),
    "defusedxml": ("program.services",),
    "diskcache": (
        "program.answer_cache",
        "program.bytes_disk",
        "program.services.matching.kept_names",
        "program.vfs",
    ),
    "flask": ("program.api", "program.web", "program.demo"),
    "fuse": ("program.vfs.session",),
    "langcodes": ("program.services",),
    "loguru": (
        "program",
        "main",
    ),  # a line is written where the fact is known; the pure rooms below write none
    "pebble": ("program.queues",),
    "prometheus_client": ("program.metrics",),
    "psycopg2": ("program.db",),
    "PTT": ("program.services.matching",),
    "pydantic": EDGES,
    "pydantic_core": EDGES,
    "rapidfuzz": ("program.services.matching",),
    "requests": ("program.http",),
    "RTN": ("program.services.matching",),
    "sqlalchemy": ("program.db",),
    "urllib3": ("program.http",),
    "waitress": ("program.api", "program.program", "program.demo"),
    "werkzeug": ("program.api", "program.web", "program.demo"),
}

# Rooms that may import these of ours and, beside Python's own library, nothing else.
PURE = {
    "program.media": ("program.media", "program.errors"),
    "program.state_transition": ("program.media",),
    "program.errors": (),
    "program.clock": (),
    "program.vfs.tree": ("program.media", "program.errors", "program.vfs"),
}


def strangers(file: SourceFile) -> list[str]:
    """Return the places where a file imports an outside package away from its home."""
    return [
        f"{file.place(node)} imports {module}"
        for module, node in file.imports()
        if is_outside(module) and not file.is_in(*HOMES.get(module.split(".", maxsplit=1)[0], ()))
    ]


def test_every_outside_package_is_imported_only_in_its_home() -> None:
    assert not [place for file in program_files() for place in strangers(file)]


@pytest.mark.parametrize("room", PURE)
def test_a_pure_room_imports_only_what_it_may(room: str) -> None:
    wrong = [
        f"{file.place(node)} imports {module}"
        for file in program_files(room)
        for module, node in file.imports()
        if is_outside(module)
        or (module.startswith("program") and not module.startswith(tuple(PURE[room])) and module != "program")
    ]
    assert not wrong


def test_nothing_in_the_program_imports_main() -> None:
    wrong = [
        file.place(node)
        for file in program_files("program")
        for module, node in file.imports()
        if module == "main"
    ]
    assert not wrong


def test_every_room_has_its_place_on_the_map() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    [layers] = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    placed = {room.strip("() ") for layer in layers for room in layer.replace("|", ":").split(":")}
    rooms = {".".join(file.name.split(".")[:2]) for file in program_files("program")} - {
        "program",
        "program.services",
    }
    rooms |= {".".join(file.name.split(".")[:3]) for file in program_files("program.services")} - {
        "program.services"
    }
    assert rooms <= placed, "add the room to the layers in pyproject.toml, where DESIGN says it belongs"
