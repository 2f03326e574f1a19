"""Chunks on disk: kept, checked, never a pickle."""

import pickle
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import diskcache
import pytest

from program.bytes_disk import BytesDisk
from program.vfs.counters import Counters
from program.vfs.disk import DiskChunks, Place
from program.vfs.disk_format import Loaded
from tests.support.wait import until

MIB = 1024 * 1024
Opening = Callable[..., DiskChunks]


@pytest.fixture
def edges(tmp_path: Path) -> Iterator[Opening]:
    opened: list[DiskChunks] = []

    def make(limit: int = 64 * MIB, keep_free: int = 0, *, gives_way: bool = True) -> DiskChunks:
        place = Place(tmp_path / "edges", "edges", limit, keep_free, gives_way)
        opened.append(DiskChunks(place, Counters()))
        return opened[-1]

    yield make
    for one in opened:
        one.stop()


def load(edges: DiskChunks, name: str) -> Loaded:
    answers: list[Loaded] = []
    done = threading.Event()

    def take(loaded: Loaded) -> None:
        answers.append(loaded)
        done.set()

    key, index = name.split("/")
    assert edges.load(key, int(index), take)
    assert done.wait(10)
    return answers[0]


def test_what_is_kept_is_there_after_a_restart(edges: Opening):
    first = edges()
    save(first, "a/0", 17, b"x" * 1000)
    save(first, "b/0", 0, b"")
    first.stop()
    second = edges()
    assert load(second, "a/0") == (17, b"x" * 1000)
    assert load(second, "none/0") is None


def test_the_folder_is_ours_alone(edges: Opening, tmp_path: Path):
    edges()
    assert stat.S_IMODE((tmp_path / "edges").stat().st_mode) == 0o700


def test_a_stopped_cache_takes_no_more(edges: Opening):
    one = edges()
    one.stop()
    assert not one.load("a", 0, lambda _: None)
    one.save("a", 0, 0, b"x")


def save(edges: DiskChunks, name: str, start: int, data: bytes) -> None:
    """Save and wait until it is on the disk."""
    key, index = name.split("/")
    edges.save(key, int(index), start, data)
    until(lambda: load(edges, name) == (start, data))


class Trap:
    """A pickle that tells when it is opened."""

    opened = False

    def __reduce__(self) -> tuple[Callable[..., None], tuple[()]]:
        return (spring, ())


def spring() -> None:
    Trap.opened = True


def plant(folder: Path, key: str, mode: int, value: bytes) -> None:
    with sqlite3.connect(folder / "cache.db") as database:
        database.execute(
            "UPDATE Cache SET mode = ?, filename = NULL, value = ? WHERE key = ?", (mode, value, key)
        )
    database.close()


def test_a_planted_pickle_is_never_opened_and_counts_as_missing(edges: Opening, tmp_path: Path):
    first = edges()
    save(first, "a/0", 0, b"right")
    first.stop()
    plant(tmp_path / "edges", "a/0", diskcache.core.MODE_PICKLE, pickle.dumps(Trap()))
    second = edges()
    assert load(second, "a/0") is None
    assert not Trap.opened
    save(second, "a/0", 0, b"again")
    assert load(second, "a/0") == (0, b"again")


@pytest.mark.parametrize(
    "damage", [lambda v: v[:-1], lambda v: v[:40] + b"!" + v[41:], lambda _: b"", lambda v: b"RVE1" + v]
)
def test_a_damaged_piece_counts_as_missing(edges: Opening, tmp_path: Path, damage: Callable[[bytes], bytes]):
    first = edges()
    save(first, "a/0", 0, b"right" * 100)
    first.stop()
    with sqlite3.connect(tmp_path / "edges" / "cache.db") as database:
        ((value,),) = database.execute("SELECT value FROM Cache WHERE key = 'a/0'").fetchall()
    database.close()
    plant(tmp_path / "edges", "a/0", diskcache.core.MODE_RAW, damage(value))
    assert load(edges(), "a/0") is None


def test_another_files_piece_counts_as_missing(edges: Opening, tmp_path: Path):
    first = edges()
    save(first, "a/0", 0, b"a" * 100)
    save(first, "b/0", 0, b"b" * 100)
    first.stop()
    with sqlite3.connect(tmp_path / "edges" / "cache.db") as database:
        database.execute(
            "UPDATE Cache SET value = (SELECT value FROM Cache WHERE key = 'b/0') WHERE key = 'a/0'"
        )
    database.close()
    assert load(edges(), "a/0") is None


def test_a_damaged_database_is_begun_anew(edges: Opening, tmp_path: Path):
    folder = tmp_path / "edges"
    folder.mkdir()
    (folder / "cache.db").write_bytes(b"this is no database, " * 1000)
    one = edges()
    assert load(one, "a/0") is None
    save(one, "a/0", 0, b"x")
    assert load(one, "a/0") == (0, b"x")


def test_the_disk_limit_holds(edges: Opening, tmp_path: Path):
    one = edges(8 * MIB)
    for number in range(40):
        save(one, f"{number}/0", 0, bytes(MIB))
    used = sum(path.stat().st_size for path in (tmp_path / "edges").rglob("*.val"))
    assert used <= 12 * MIB
    assert load(one, "39/0") is not None
    assert load(one, "0/0") is None


def test_a_folder_that_cannot_be_made_is_an_error():
    with pytest.raises(OSError, match="proc"):
        DiskChunks(Place(Path("/proc/none/edges"), "edges", MIB, 0), Counters())


@pytest.mark.parametrize("value", [True, 1, 1.5, "text", None, (1, 2), {"a": 1}, bytearray(b"x")])
def test_only_bytes_are_stored(tmp_path: Path, value: object):
    with diskcache.Cache(str(tmp_path), disk=BytesDisk) as cache, pytest.raises(TypeError):
        cache.set("key", value)


@pytest.mark.parametrize("key", [b"x", 1, ("a", 1), None])
def test_only_words_are_keys(tmp_path: Path, key: object):
    with diskcache.Cache(str(tmp_path), disk=BytesDisk) as cache, pytest.raises(TypeError):
        cache.set(key, b"value")
