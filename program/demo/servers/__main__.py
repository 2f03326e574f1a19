"""Run the stand-ins: `python -m program.demo.servers --state DIR`.

One JSON line is printed when all of them answer (and written to `--ready-file`): per provider `url` (as a settings file
takes it, with the API's path where the vendor has one), `root` (scheme, host, port) and what it asks for (`key`, for TMDB
also `token`); beside them `control`, `seed`, `pid` and `faults`. Ends on SIGTERM or SIGINT, or when the parent is gone.
"""

import argparse
import contextlib
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from program.clock import SystemClock
from program.demo.catalog import load_catalog
from program.demo.clips import ClipError, ClipStore, default_cache
from program.demo.launch import unmount, wait_until
from program.demo.servers import (
    alldebrid,
    jellyfin,
    overseerr,
    plex,
    realdebrid,
    tmdb,
    torbox,
    torrentio,
    tvdb,
)
from program.demo.servers.account import Account
from program.demo.servers.addresses import Addresses
from program.demo.servers.cdn import Cdn
from program.demo.servers.control import Control
from program.demo.servers.desk import Desk
from program.demo.servers.faults import FaultPlan
from program.demo.servers.gate import Gate, Open, flask_endpoint
from program.demo.servers.journal import Journal
from program.demo.servers.magnets import Magnets
from program.demo.servers.mixes import MIXES, mix
from program.demo.servers.shelf import JELLYFIN_TAG, PLEX_TAG, Shelf
from program.demo.servers.wire import Endpoint, WireServer
from program.demo.servers.world import Keys, World, make_keys

# How often it is looked whether the parent still lives.
PARENT_LOOK_SECONDS = 0.5
ORPHAN_SECONDS = 20.0
# The CDNs of the further debrid services.
ALLDEBRID_CDN, TORBOX_CDN = "alldebrid-cdn", "torbox-cdn"
# Where a vendor's API begins behind scheme and host.
API_PATHS = {"tmdb": "/3", "tvdb": "/v4", "realdebrid": "/rest/1.0", "torbox": "/v1/api"}


def main(arguments: list[str]) -> int:
    """Serve until told to stop; return 1 when the clips cannot be made, else 0."""
    parent = os.getppid()
    options = _options(arguments)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    faults = FaultPlan()
    for fault in mix(options.faults, options.seed):
        faults.add(fault)
    try:
        ready = _start(options, faults)
    except ClipError as error:
        print(error, file=sys.stderr)  # noqa: T201 (this is a command)
        return 1
    line = json.dumps(ready)
    if options.ready_file:
        draft = options.ready_file.with_suffix(".tmp")
        draft.write_text(line, encoding="utf-8")
        draft.replace(options.ready_file)
    print(line, flush=True)  # noqa: T201 (this is a command)
    while not stop.wait(PARENT_LOOK_SECONDS):
        if os.getppid() != parent:
            _end_orphan(options.also_end, Path(options.mount_root))
            break
    faults.close()
    return 0


def _end_orphan(pid_file: Path | None, mount: Path) -> None:
    """End the program that a parent which is gone had started, and take its mount away."""
    if pid_file is None or not pid_file.exists():
        return
    pid = int(pid_file.read_text(encoding="utf-8"))
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, number)
            wait_until(lambda: not Path(f"/proc/{pid}").exists(), ORPHAN_SECONDS)
    unmount(mount)


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m program.demo.servers", description=__doc__)
    parser.add_argument("--state", type=Path, required=True, help="folder of this run")
    parser.add_argument(
        "--clips", type=Path, default=default_cache(), help="folder that keeps the clips between runs"
    )
    parser.add_argument("--seed", type=int, default=1, help="for keys and faults")
    parser.add_argument("--faults", choices=MIXES, default="none", help="which mix of faults")
    parser.add_argument("--mount-root", default="/mnt/rivulet", help="where the media servers look for files")
    parser.add_argument("--ready-file", type=Path, help="file to write the JSON line to")
    parser.add_argument(
        "--also-end", type=Path, help="file with the id of a process to end when the parent is gone"
    )
    return parser.parse_args(arguments)


def _start(options: argparse.Namespace, faults: FaultPlan) -> dict[str, Any]:
    """Start every server and return what the JSON line says."""
    clock = SystemClock()
    options.state.mkdir(parents=True, exist_ok=True)
    catalog = load_catalog(clock.now())
    clips = ClipStore(options.clips)
    clips.prepare(catalog)
    world = World(clock, clips, make_keys(options.seed), Journal(clock), options.mount_root, catalog)
    account, desk = Account(world, Addresses(world)), Desk(world)
    magnets = {name: Magnets(world, Addresses(world), name) for name in ("alldebrid", "torbox")}
    shelves = (Shelf(world, "plex", PLEX_TAG), Shelf(world, "jellyfin", JELLYFIN_TAG))
    cdn = Cdn(world, account.addresses)
    further = {f"{name}-cdn": Cdn(world, one.addresses) for name, one in magnets.items()}
    roots = {
        "cdn": _serve("cdn", cdn.endpoint, world, faults),
        **{name: _serve(name, one.endpoint, world, faults) for name, one in further.items()},
    }
    apps = {
        "tmdb": tmdb.create_app(world),
        "tvdb": tvdb.create_app(world),
        "torrentio": torrentio.create_app(world),
        "overseerr": overseerr.create_app(world, desk),
        "realdebrid": realdebrid.create_app(world, account, roots["cdn"]),
        "alldebrid": alldebrid.create_app(world, magnets["alldebrid"], roots[ALLDEBRID_CDN]),
        "torbox": torbox.create_app(world, magnets["torbox"], roots[TORBOX_CDN]),
        "plex": plex.create_app(world, shelves[0]),
        "jellyfin": jellyfin.create_app(world, shelves[1]),
    }
    roots |= {name: _serve(name, flask_endpoint(app), world, faults) for name, app in apps.items()}
    control = Control(world, faults, account, magnets, cdn, desk, shelves)
    server = WireServer(Open(flask_endpoint(control.app())))
    server.start("control")
    services = {
        name: {"url": root + API_PATHS.get(name, ""), "root": root, **_key(world.keys, name)}
        for name, root in roots.items()
    }
    about = {"url": server.root, "root": server.root}
    return {**services, "control": about, "seed": options.seed, "faults": options.faults, "pid": os.getpid()}


def _serve(name: str, endpoint: Endpoint, world: World, faults: FaultPlan) -> str:
    server = WireServer(Gate(name, endpoint, world.journal, faults, world.latency))
    server.start(name)
    return server.root


def _key(keys: Keys, name: str) -> dict[str, str]:
    if name == "tmdb":
        return {"key": keys.tmdb, "token": keys.tmdb_token}
    return {"key": getattr(keys, name)} if hasattr(keys, name) else {}


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    # Threads that wait for a hung file system must not keep the process.
    os._exit(code)
