"""Cases of kind d: what a debrid provider makes of a torrent, and how it behaves towards an account that is limited."""

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from typing import Any

from loguru import logger

from program.cli.case_inputs import files_of
from program.cli.case_mounts import expired
from program.cli.case_stage import Got, kept_promises, only_expected
from program.cli.case_values import Json, Malformed, mapping, number, texts
from program.clock import ManualClock
from program.demo.scripts import CDN, SCRIPTS, Script
from program.errors import RivuletError
from program.events import StreamLinkRequested
from program.media.entry import FetchedTorrent, TorrentFile
from program.media.release import JsonValue
from program.network import LOOPBACK
from program.plugins import discover
from program.plugins.source import make_source
from program.services.plugin import Downloader, DownloadRefused

START = datetime(2031, 6, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
# What a limit may last before the account is asked again.
LONGEST_LIMIT = timedelta(hours=2)
_EPISODE = re.compile(r"^S\d+E\d+$", re.IGNORECASE)
_CALL = re.compile(r"(\w+)(?:\((\w+)\))?")


class _Waits(threading.Event):
    """Waits that move the clock."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__()
        self._clock = clock

    def wait(self, timeout: float | None = None) -> bool:
        """Move the clock on."""
        self._clock.advance(timeout or 0.0)
        return False


@dataclass(frozen=True, slots=True)
class Account:
    """A provider before a script, with a clock of its own. say: what its log said."""

    debrid: Downloader[Any]
    script: Script
    clock: ManualClock
    lines: list[str]

    def again(self) -> "Account":
        """Return the account as after a restart of the program."""
        debrid = type(self.debrid)(self.debrid.settings, self.debrid.http, self.clock)
        return replace(self, debrid=debrid)

    def fetch(self, word: str = "case") -> FetchedTorrent | RivuletError:
        """Ask for a torrent, the same one for the same word; return the error when there is one."""
        try:
            return self.debrid.fetch(sha1(word.encode(), usedforsecurity=False).hexdigest(), None)
        except RivuletError as error:
            return error

    def link(self, torrent: FetchedTorrent, file: TorrentFile) -> str | RivuletError:
        """Ask for an address of a file."""
        name = file.path.rpartition("/")[2]
        wanted = StreamLinkRequested(torrent.torrent_id, file.file_id, file.link, name, file.size)
        try:
            return self.debrid.link(wanted).url
        except RivuletError as error:
            return error


def run(given: Json, expected: Json) -> Got:
    """Return what is seen, in the words of `expected`. Raises Malformed for a case that is not understood."""
    if "stored_link" in given:
        return expired(given, expected)
    keys = [key for key in SCRIPTS if key in str(given.get("provider", next(iter(SCRIPTS))))]
    if not keys:
        raise Malformed(f"no provider of this program is called {given.get('provider')}")
    seen = [_at(key, given, expected) for key in keys]
    # A case of several providers holds for each of them: what differs from what is expected is told.
    wrong = next(
        (one for one in seen if any(one[0].get(name) != value for name, value in expected.items())), seen[0]
    )
    return only_expected(wrong[0], expected), wrong[1]


def _at(key: str, given: Json, expected: Json) -> Got:
    emulate = mapping(given.get("emulate"), "emulate")
    if "items" in given or "account_state" in expected or "api_health" in expected:
        return _limited(key, given, emulate, expected)
    if "after_restart" in expected:
        return _restarted(key, given, emulate, expected)
    return _torrent(key, given, emulate, expected)


@contextmanager
def _account(key: str, script: Script) -> Iterator[Account]:
    kind = next(one for one in discover() if one.key == key and issubclass(one, Downloader))
    server, clock, lines = script.start(), ManualClock(START), list[str]()
    settings = kind.Settings.model_validate({"enabled": True, "url": server.root, "api_key": "a-made-up-key"})
    http = make_source(kind, settings, clock=clock, allowed=lambda: LOOPBACK, stopping=_Waits(clock))
    sink = logger.add(lambda line: lines.append(str(line)), level="INFO", format="{message}")
    try:
        yield Account(kind(settings, http, clock), script, clock, lines)
    finally:
        logger.remove(sink)
        http.close()
        server.shutdown()
        server.server_close()


# What a torrent holds -------------------------------------------------------------------------------------------------------


def _torrent(key: str, given: Json, emulate: Json, expected: Json) -> Got:
    """Fetch the torrent of a case and ask for an address of each of its files."""
    got: dict[str, JsonValue] = {}
    tried: dict[str, JsonValue] = {}
    answers = [mapping(given[name], name) for name in ("answer", "second_answer") if name in given]
    for script in [_of_tree(key, one) for one in answers] or [_of_files(key, given, emulate)]:
        with _account(key, script) as account:
            found = account.fetch()
            links: dict[TorrentFile, str] = {}
            if isinstance(found, FetchedTorrent):
                links = {file: str(account.link(found, file)).removeprefix(f"{CDN}/") for file in found.files}
            tried[script.name] = [file.path for file in links] or str(found)
            got |= _seen(links, expected)
    return got, tried


def _seen(links: Mapping[TorrentFile, str], expected: Json) -> dict[str, JsonValue]:
    """Return what a torrent gave, in the words of a case."""
    got: dict[str, JsonValue] = {}
    paths = [file.path for file in links]
    for name, told in expected.items():
        if _EPISODE.match(name) or name == "movie":
            file = next((one for one in links if name == "movie" or name.upper() in one.path.upper()), None)
            if file is not None:
                got[name] = _as_asked(file, links[file], told)
            elif isinstance(told, str) and told.startswith("missing"):
                got[name] = told
    is_empty = not links
    got |= {"movie_file": paths[0] if paths else None, "usable": not is_empty, "marked_done": not is_empty}
    got |= {"episodes_from_this_torrent": [*paths], "exposed_files": [*paths]}
    return got | kept_promises(expected, {"next": is_empty, "type": all("/" in path for path in paths)})


def _as_asked(file: TorrentFile, link: str, told: JsonValue) -> JsonValue:
    """Return a file as the case names one: by its link, or by some of its path, link and size."""
    if not isinstance(told, dict):
        return link
    facts: dict[str, JsonValue] = {"path": file.path, "link": link, "size": file.size}
    return {name: facts.get(name) for name in told}


def _of_tree(key: str, answer: Json) -> Script:
    nodes = answer.get("files")
    if not isinstance(nodes, list):
        raise Malformed("files is not a list")
    tree = [mapping(node, "a node") for node in nodes]
    return SCRIPTS[key](
        files=tuple(_leaves(tree)), links=(), tree=tree, name=str(answer.get("filename", "Case"))
    )


def _leaves(nodes: Sequence[Json]) -> Iterator[tuple[str, int]]:
    for node in nodes:
        inner = node.get("e")
        if isinstance(inner, list):
            yield from _leaves([mapping(one, "a node") for one in inner])
        else:
            yield str(node.get("n")), number(node.get("s")) or 0


def _of_files(key: str, given: Json, emulate: Json) -> Script:
    info = mapping(given.get("torrent_info"), "torrent_info")
    told = files_of(info.get("files_selected", given.get("files", ["Case.mkv"])))
    files = tuple((file.path, file.size or 1000 + place) for place, file in enumerate(told))
    links = texts(info.get("links"), "links") or tuple(f"L{place}" for place in range(1, len(files) + 1))
    script = SCRIPTS[key](files=files, links=links, name=str(given.get("torrent_name", "Case")))
    for name, value in emulate.items():
        call = _CALL.match(name)
        if call is None or not isinstance(value, dict):
            continue
        if call[2] is not None:
            script.leads_to[call[2]] = value
        elif (status := number(value.get("status"))) is not None:
            script.refusals[call[1]] = status, mapping(value.get("body"), "body")
    script.states = texts(emulate.get("status"), "status")
    return script


# How it behaves towards an account -------------------------------------------------------------------------------------------


def _limited(key: str, given: Json, emulate: Json, expected: Json) -> Got:
    """Have the account used for a minute while it is limited, every second, and again when the limit is over."""
    script = _of_files(key, given, emulate)
    with _account(key, script) as account:
        refusals, script.refusals = dict(script.refusals), {}
        torrent = account.fetch() if "addMagnet" not in refusals else None
        script.refusals = refusals
        before, troubles = len(script.calls), []
        for second in range(60):
            troubles.append(_use(account, torrent, f"item {second % (number(given.get('items')) or 1)}"))
            account.clock.advance(1.0)
        calls, lines = script.calls[before:], list(account.lines)
        standing = account.debrid.http.statistics()
        script.refusals = {}
        waited = _until_free(account, torrent)
    hashes = list(script.account.values())
    adds = calls.count("addMagnet")
    refused = [str(one) for one in troubles if isinstance(one, DownloadRefused)]
    reasons = [str(body.get("error")) for _, body in refusals.values()]
    got: dict[str, JsonValue] = {
        "account_state": ["limited", "active again without restart"] if waited is not None else ["limited"],
        "log_lines_per_minute_while_limited_max": len(lines),
        "retries_per_minute_max": len(calls),
        "streams_excluded": [*refused],
        "excluded_streams": [*refused],
        "copies_of_one_hash_on_account_max": max(map(hashes.count, hashes), default=0),
        "new_adds_until_slot_free": max(adds - 1, 0),
    }
    said = " ".join([*lines, standing.reason])
    is_told = all(word.replace("_", " ") in said.replace("_", " ") for word in reasons)
    is_shown = standing.paused_until is not None or "slots" in str(troubles[-1])
    got |= kept_promises(expected, {"log_contains": is_told, "api_health": is_shown})
    return got, {
        "calls": [*calls[:5]],
        "log": [*lines[:5]],
        "said": str(troubles[-1]),
        "free after": str(waited),
    }


def _use(account: Account, torrent: object, word: str) -> object:
    """Use the account once: ask for an address, or for a torrent where there is none yet."""
    if isinstance(torrent, FetchedTorrent):
        return account.link(torrent, torrent.files[0])
    return account.fetch(word)


def _until_free(account: Account, torrent: object) -> timedelta | None:
    """Return how long it took until the account could be used again, None when that took too long."""
    began = account.clock.now()
    while account.clock.now() - began < LONGEST_LIMIT:
        if not isinstance(_use(account, torrent, "item 0"), RivuletError):
            return account.clock.now() - began
        account.clock.advance(MINUTE)
    return None


def _restarted(key: str, given: Json, emulate: Json, expected: Json) -> Got:
    """Break the connection before the files are selected, and go on with a new provider that remembers nothing."""
    script = _of_files(key, given, emulate)
    script.drops = "selectFiles"
    with _account(key, script) as account:
        first = account.fetch()
        began = account.clock.now()
        found = account.again().fetch()
        minutes = (account.clock.now() - began) / MINUTE
    is_done = isinstance(found, FetchedTorrent) or not script.account
    got: dict[str, JsonValue] = {"max_time_in_state_min": round(minutes, 1) if is_done else "for ever"}
    got |= kept_promises(expected, {"after_restart": is_done})
    return got, {"before": str(first), "after": str(found)[:200], "calls": [*script.calls]}
