"""The mount as other programs see it."""

import errno
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

import pytest

import program.vfs.mount
from program.clock import SystemClock
from program.errors import Final
from program.media.entry import Link
from program.settings.vfs import VfsSettings
from program.vfs.counters import Counters
from program.vfs.mount import Mount
from program.vfs.open_files import OpenFiles
from program.vfs.tree import Tree, TreeFile
from tests.support.cdn import HONEST, Manner, Request, content
from tests.support.wait import until
from tests.vfs.conftest import JUNE, MIB, Library, Mounted

pytestmark = [pytest.mark.fuse, pytest.mark.timeout(60)]

Mounting = Callable[..., Mounted]

FILM = "/movies/Demo (2031)/Demo (2031).mkv"


def film(library: Library, size: int = 5 * MIB, entry_id: int = 1, path: str = FILM) -> TreeFile:
    return library.file(f"{entry_id}.mkv", size, entry_id, path)


def names(folder: Path) -> list[str]:
    return sorted(child.name for child in folder.iterdir())


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=30, check=False
    )


def test_an_empty_library_shows_its_standard_folders(mount: Mounting):
    mounted = mount()
    assert names(mounted.path) == ["movies", "shows"]
    assert names(mounted / "movies") == []


def test_stat_shows_sizes_times_owner_and_modes(library: Library, mount: Mounting):
    mounted = mount(film(library, 42163830784), uid=1234, gid=2345, umask=0o027)
    shown = (mounted / FILM).stat()
    assert shown.st_size == 42163830784
    assert datetime.fromtimestamp(shown.st_mtime, UTC) == JUNE
    assert (shown.st_uid, shown.st_gid, shown.st_mode & 0o777) == (1234, 2345, 0o640)
    assert (mounted / "movies").stat().st_mode & 0o777 == 0o750
    assert datetime.fromtimestamp((mounted / "movies").stat().st_mtime, UTC) == JUNE


def test_statfs_is_the_size_of_the_library(library: Library, mount: Mounting):
    mounted = mount(film(library, 40960), film(library, 40960, 2, "/movies/B/B.mkv"))
    shown = os.statvfs(mounted.path)
    assert shown.f_blocks * shown.f_frsize == 81920
    assert shown.f_files == 2
    assert shown.f_namemax == 255


def test_looking_around_and_opening_ask_nobody(library: Library, mount: Mounting):
    mounted = mount(film(library))
    assert run("ls", "-laR", mounted.path).returncode == 0
    assert run("df", mounted.path).returncode == 0
    os.close(os.open(mounted / FILM, os.O_RDONLY))
    assert not library.resolved
    assert not library.cdn.requests


def test_900_random_reads_of_six_threads_are_right(library: Library, mount: Mounting):
    size = 24 * MIB + 4321
    mounted = mount(film(library, size), memory_mib=16)

    def some(seed: int) -> None:
        dice = random.Random(seed)  # noqa: S311 - repeatable
        descriptor = os.open(mounted / FILM, os.O_RDONLY)
        try:
            for _ in range(150):
                offset, length = dice.randrange(size), dice.choice([1, 4096, 70_000, 400_000, MIB])
                expected = content("1.mkv", offset, min(offset + length, size))
                assert os.pread(descriptor, length, offset) == expected
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(some, range(6)))
    assert mounted.vfs.statistics().counts.errors == 0


def test_other_programs_read_the_same_bytes(library: Library, mount: Mounting, tmp_path: Path):
    size = 30 * MIB + 99
    mounted = mount(film(library, size))
    origin = tmp_path / "origin"
    origin.write_bytes(content("1.mkv", 0, size))
    assert run("cmp", origin, mounted / FILM).returncode == 0
    copied = run("dd", f"if={mounted / FILM}", f"of={tmp_path / 'copy'}", "bs=1M", "iflag=direct")
    assert copied.returncode == 0, copied.stderr
    assert (tmp_path / "copy").read_bytes() == origin.read_bytes()


def test_rclone_finds_no_difference(library: Library, mount: Mounting, tmp_path: Path):
    mounted = mount(*(film(library, MIB + n, n, f"/movies/F{n}/F{n}.mkv") for n in range(5)))
    for n in range(5):
        (tmp_path / "origin" / f"F{n}").mkdir(parents=True)
        (tmp_path / "origin" / f"F{n}" / f"F{n}.mkv").write_bytes(content(f"{n}.mkv", 0, MIB + n))
    checked = run(
        "rclone", "--config", "/dev/null", "check", "--download", tmp_path / "origin", mounted / "movies"
    )
    assert checked.returncode == 0, checked.stderr


def test_ffprobe_agrees_with_the_origin(library: Library, mount: Mounting, tmp_path: Path):
    origin = tmp_path / "clip.mp4"
    source = ["-f", "lavfi", "-i", "testsrc=duration=4:size=320x180:rate=10"]
    made = run("ffmpeg", "-v", "error", *source, "-c:v", "mpeg4", "-b:v", "800k", origin)
    assert made.returncode == 0, made.stderr
    entry = library.file("clip.mp4", origin.stat().st_size, 1, "/movies/Clip/Clip.mp4")
    library.cdn.add_bytes("clip.mp4", origin.read_bytes())
    mounted = mount(entry)
    probe = ["ffprobe", "-v", "error", "-show_format", "-show_streams", "-of", "json"]
    shown, expected = (
        json.loads(run(*probe, path).stdout) for path in (mounted / "/movies/Clip/Clip.mp4", origin)
    )
    assert shown["streams"] == expected["streams"]
    assert shown["format"]["duration"] == expected["format"]["duration"]


MAP = """
import mmap, sys
with open(sys.argv[1], "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
    sys.stdout.buffer.write(mapped[3145728:3145828] + mapped[-100:])
"""


def test_a_file_can_be_mapped_into_memory(library: Library, mount: Mounting):
    mounted = mount(film(library))
    # Not in this process: a page fault holds the interpreter's lock, which the mount needs to serve it.
    shown = subprocess.run(
        [sys.executable, "-c", MAP, mounted / FILM], capture_output=True, timeout=30, check=True
    )
    assert shown.stdout == content("1.mkv", 3 * MIB, 3 * MIB + 100) + content("1.mkv", 5 * MIB - 100, 5 * MIB)


@pytest.mark.parametrize(
    ("offset", "size", "length"), [(900, 4096, 100), (1000, 4096, 0), (5000, 10, 0), (999, 1, 1)]
)
def test_reads_end_at_the_end(library: Library, mount: Mounting, offset: int, size: int, length: int):
    mounted = mount(film(library, 1000))
    assert mounted.read(FILM, offset, size) == content("1.mkv", offset, offset + length)


def test_an_empty_file_and_a_file_in_memory_can_be_read(library: Library, mount: Mounting):
    words = TreeFile("/movies/Demo (2031)/Demo (2031).en.srt", -1, 11, JUNE, blob=b"hello world")
    mounted = mount(film(library, 0), words)
    assert (mounted / FILM).read_bytes() == b""
    assert (mounted / words.path).read_bytes() == b"hello world"
    assert mounted.read(words.path, 6, 100) == b"world"
    assert not library.resolved


def test_a_scan_is_local_the_second_time(library: Library, mount: Mounting):
    size = 100 * MIB

    def scan(mounted: Mounted) -> None:
        for offset in (0, 256 * 1024, 700 * 1024, size - 65536):
            assert mounted.read(FILM, offset, 65536) == content("1.mkv", offset, offset + 65536)

    mounted = mount(film(library, size))
    scan(mounted)
    asked = len(library.cdn.requests)
    assert asked <= 2
    until(lambda: mounted.vfs.statistics().counts.edges_saved >= 2)
    mounted.vfs.stop()
    scan(mount(film(library, size)))
    assert len(library.cdn.requests) == asked
    assert len(library.resolved) == 1


def test_a_link_that_expires_in_mid_file_is_not_noticed(library: Library, mount: Mounting):
    spent: dict[str, int] = {}

    def expiring(request: Request) -> Manner:
        used = spent.get(request.token, 0)
        spent[request.token] = used + request.stop - request.start
        return Manner(status=410) if used >= 8 * MIB else Manner(cut_after=8 * MIB - used)

    size = 40 * MIB
    library.cdn.behave = expiring
    mounted = mount(film(library, size))
    shown = run("sha256sum", mounted / FILM)
    assert shown.stdout.split()[0] == hashlib.sha256(content("1.mkv", 0, size)).hexdigest()
    assert len(library.resolved) >= 3
    assert mounted.vfs.statistics().counts.errors == 0


def test_another_provider_takes_over_at_that_offset(library: Library, mount: Mounting):
    def first_dies(request: Request) -> Manner:
        if request.token == "first":
            return Manner(cut_after=3 * MIB) if request.start < 3 * MIB else Manner(status=503)
        return HONEST

    library.cdn.behave = first_dies
    library.resolver = lambda entry, dead: Link(
        library.cdn.url(library.files[entry], "second" if dead else "first"), None, "demo"
    )
    mounted = mount(film(library, 20 * MIB))
    assert (mounted / FILM).read_bytes() == content("1.mkv", 0, 20 * MIB)
    assert {request.token for request in library.cdn.requests} == {"first", "second"}


@pytest.mark.parametrize(
    "manner",
    [Manner(status=500), Manner(cut_after=0), Manner(total=MIB), Manner(content_type="text/html")],
    ids=str,
)
def test_a_failing_server_is_an_error_and_the_mount_lives_on(
    library: Library, mount: Mounting, manner: Manner
):
    mounted = mount(film(library), film(library, 1000, 2, "/movies/B/B.mkv"), read_timeout_seconds=0.5)
    library.cdn.behave = lambda request: manner if request.name == "1.mkv" else HONEST
    for _ in range(2):
        with pytest.raises(OSError, match=os.strerror(errno.EIO)):
            mounted.read(FILM, 4 * MIB, 65536)
    assert mounted.vfs.statistics().counts.errors >= 2
    assert mounted.read("/movies/B/B.mkv", 0, 1000) == content("2.mkv", 0, 1000)
    library.cdn.behave = lambda _: HONEST
    assert mounted.read(FILM, 4 * MIB, 65536) == content("1.mkv", 4 * MIB, 4 * MIB + 65536)


def test_a_file_shorter_than_announced_ends_in_an_error(library: Library, mount: Mounting):
    mounted = mount(film(library, 5 * MIB), read_timeout_seconds=1)
    library.cdn.sizes["1.mkv"] = 3 * MIB
    copied = run("cat", mounted / FILM)
    assert copied.returncode != 0
    assert os.strerror(errno.EIO) in copied.stderr


def test_a_server_that_hangs_costs_a_bounded_wait_and_no_other_file(library: Library, mount: Mounting):
    mounted = mount(film(library), film(library, 1000, 2, "/movies/B/B.mkv"), read_timeout_seconds=1.5)
    library.cdn.behave = lambda request: Manner(hang_after=10) if request.name == "1.mkv" else HONEST
    with ThreadPoolExecutor(3) as pool:
        before = monotonic()
        jobs = [pool.submit(mounted.read, FILM, n * MIB, 4096) for n in range(3)]
        until(lambda: library.cdn.asked("1.mkv"))
        assert mounted.read("/movies/B/B.mkv", 0, 10) == content("2.mkv", 0, 10)
        for job in jobs:
            with pytest.raises(OSError, match=os.strerror(errno.EIO)):
                job.result(10)
        assert monotonic() - before < 5


class NoErrno(OSError):
    """Like every exception of the HTTP library: an OSError without a number."""


@pytest.mark.parametrize(
    "error",
    [
        TimeoutError(),
        NoErrno("x"),
        OSError(-5, "x"),
        ValueError("x"),
        KeyError("x"),
        SystemExit(1),
        MemoryError(),
        Final("no"),
    ],
    ids=repr,
)
def test_no_exception_of_a_resolver_becomes_an_end_of_file(
    library: Library, mount: Mounting, error: BaseException
):
    def fail(entry_id: int, dead_url: str | None) -> Link:
        raise error

    library.resolver = fail
    mounted = mount(film(library), read_timeout_seconds=1)
    for _ in range(3):
        with pytest.raises(OSError, match=os.strerror(errno.EIO)):
            mounted.read(FILM, 0, 4096)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda m: (m / "/movies/none").stat(), errno.ENOENT),
        (lambda m: (m / f"{FILM}/x").stat(), errno.ENOTDIR),
        (lambda m: names(m / FILM), errno.ENOTDIR),
        (lambda m: names(m / "/none"), errno.ENOENT),
        (lambda m: os.open(m / "/none", os.O_RDONLY), errno.ENOENT),
        (lambda m: (m / "/movies").read_bytes(), errno.EISDIR),
        (lambda m: os.open(m / FILM, os.O_WRONLY), errno.EROFS),
        (lambda m: os.open(m / FILM, os.O_RDWR), errno.EROFS),
        (lambda m: os.open(m / FILM, os.O_RDONLY | os.O_TRUNC), errno.EROFS),
        (lambda m: os.open(m / "/movies/new", os.O_CREAT | os.O_WRONLY), errno.EROFS),
        (lambda m: os.truncate(m / FILM, 1), errno.EROFS),
        (lambda m: (m / "/movies/new").mkdir(), errno.EROFS),
        (lambda m: os.mkfifo(m / "/movies/new"), errno.EROFS),
        (lambda m: (m / FILM).unlink(), errno.EROFS),
        (lambda m: (m / "/movies").rmdir(), errno.EROFS),
        (lambda m: (m / FILM).rename(m / "/movies/new"), errno.EROFS),
        (lambda m: os.link(m / FILM, m / "/movies/new"), errno.EROFS),
        (lambda m: (m / "/movies/new").symlink_to(m / FILM), errno.EROFS),
        (lambda m: (m / FILM).chmod(0o600), errno.EROFS),
        (lambda m: os.chown(m / FILM, 1, 1), errno.EROFS),
        (lambda m: os.utime(m / FILM, (1, 1)), errno.EROFS),
        (lambda m: os.setxattr(m / FILM, "user.x", b"x"), errno.EROFS),
        (lambda m: os.removexattr(m / FILM, "user.x"), errno.EROFS),
        (lambda m: os.getxattr(m / FILM, "user.x"), errno.EOPNOTSUPP),
        (lambda m: (m / FILM).readlink(), errno.EINVAL),
        (lambda m: (m / ("x" * 256)).stat(), errno.ENAMETOOLONG),
        (lambda m: (m / "/movies/\udcff").stat(), errno.ENOENT),
        (lambda m: os.open(m / "/movies/\udcff", os.O_CREAT | os.O_WRONLY), errno.EROFS),
    ],
)
def test_the_file_system_says_no_in_the_usual_words(
    library: Library, mount: Mounting, call: Callable[[Mounted], object], expected: int
):
    mounted = mount(film(library))
    with pytest.raises(OSError, match=re.escape(f"[Errno {expected}]")):
        call(mounted)
    assert os.access(mounted / FILM, os.R_OK)
    assert not os.access(mounted / FILM, os.W_OK)


def test_names_of_any_script_and_length_are_found(library: Library, mount: Mounting):
    paths = [
        "/movies/映画 (2031)/映画 (2031).mkv",
        "/movies/Ünï (2031)/" + "é" * 125 + ".mkv",
        "/movies/a b'c&d+#%é/x.mkv",
    ]
    mounted = mount(*(film(library, 1000, n, path) for n, path in enumerate(paths)))
    for n, path in enumerate(paths):
        assert (mounted / path).read_bytes() == content(f"{n}.mkv", 0, 1000)
    assert names((mounted / paths[1]).parent) == ["é" * 125 + ".mkv"]


# Changes while mounted.


def test_a_new_film_shows_at_once_also_where_it_was_looked_for_before(library: Library, mount: Mounting):
    mounted = mount()
    assert not (mounted / FILM).exists()
    assert names(mounted / "movies") == []
    before = (mounted / "movies").stat().st_mtime
    mounted.vfs.apply([film(library, 1000)])
    assert names(mounted / "movies") == ["Demo (2031)"]
    assert (mounted / FILM).read_bytes() == content("1.mkv", 0, 1000)
    assert (mounted / "movies").stat().st_mtime > before
    assert (mounted / "movies").stat().st_nlink == 3


def test_a_removed_film_is_gone_at_once(library: Library, mount: Mounting):
    mounted = mount(film(library, 1000))
    assert (mounted / FILM).read_bytes() == content("1.mkv", 0, 1000)
    mounted.vfs.apply(removed=[1])
    assert not (mounted / FILM).exists()
    assert names(mounted / "movies") == []


@pytest.mark.parametrize("size", [1000, 3 * MIB])
def test_a_replaced_film_has_its_new_size_and_bytes_at_once(library: Library, mount: Mounting, size: int):
    mounted = mount(film(library, 2 * MIB))
    assert (mounted / FILM).stat().st_size == 2 * MIB
    assert (mounted / FILM).read_bytes() == content("1.mkv", 0, 2 * MIB)
    until(lambda: mounted.vfs.statistics().open_handles == 0)
    mounted.vfs.apply([film(library, size, 2)], [1])
    assert (mounted / FILM).stat().st_size == size
    assert (mounted / FILM).read_bytes() == content("2.mkv", 0, size)


def test_a_replacement_of_equal_size_and_time_has_its_new_bytes(library: Library, mount: Mounting):
    mounted = mount(film(library, 2 * MIB))
    assert (mounted / FILM).read_bytes() == content("1.mkv", 0, 2 * MIB)
    until(lambda: mounted.vfs.statistics().open_handles == 0)
    mounted.vfs.apply([film(library, 2 * MIB, 2)], [1])
    assert (mounted / FILM).read_bytes() == content("2.mkv", 0, 2 * MIB)


def test_an_open_film_stays_until_it_is_closed(library: Library, mount: Mounting):
    mounted = mount(film(library, 2 * MIB))
    with (mounted / FILM).open("rb") as old:
        assert old.read(4096) == content("1.mkv", 0, 4096)
        assert mounted.vfs.open_handles(1) == 1
        mounted.vfs.apply([film(library, 3 * MIB, 2)], [1])
        assert (mounted / FILM).stat().st_size == 2 * MIB
        assert mounted.read(FILM, MIB, 4096) == content("1.mkv", MIB, MIB + 4096)
        assert old.read() == content("1.mkv", 4096, 2 * MIB)
    until(lambda: (mounted / FILM).stat().st_size == 3 * MIB)
    assert (mounted / FILM).read_bytes() == content("2.mkv", 0, 3 * MIB)


def test_a_removed_open_film_can_be_read_to_its_end_and_its_successor_waits(
    library: Library, mount: Mounting
):
    mounted = mount(film(library, 2 * MIB))
    with (mounted / FILM).open("rb") as old:
        assert old.read(4096) == content("1.mkv", 0, 4096)
        mounted.vfs.apply(removed=[1])
        assert not (mounted / FILM).exists()
        mounted.vfs.apply([film(library, 3 * MIB, 2)])
        assert not (mounted / FILM).exists()
        assert old.read() == content("1.mkv", 4096, 2 * MIB)
    until((mounted / FILM).exists)
    assert (mounted / FILM).read_bytes() == content("2.mkv", 0, 3 * MIB)


def test_replacing_again_and_again_under_readers_never_mixes_two_films(library: Library, mount: Mounting):
    sizes = {n: MIB + 4096 * n + n for n in range(1, 9)}
    mounted = mount(film(library, sizes[1]))
    expected = {content(f"{n}.mkv", 0, size) for n, size in sizes.items()}
    done = threading.Event()

    def look() -> int:
        seen = 0
        while not done.is_set():
            assert (mounted / FILM).read_bytes() in expected
            seen += 1
        return seen

    with ThreadPoolExecutor(3) as pool:
        jobs = [pool.submit(look) for _ in range(3)]
        try:
            for n in range(2, 9):
                mounted.vfs.apply([film(library, sizes[n], n)], [n - 1])
                done.wait(0.15)
        finally:
            done.set()
        assert all(job.result(20) for job in jobs)
    until(lambda: (mounted / FILM).read_bytes() == content("8.mkv", 0, sizes[8]))


def test_a_folder_of_new_files_is_seen_whole(library: Library, mount: Mounting):
    mounted = mount(film(library))
    assert len(names(mounted / "movies")) == 1
    mounted.vfs.apply([film(library, 1000, n, f"/movies/F{n}/F{n}.mkv") for n in range(2, 300)])
    assert len(names(mounted / "movies")) == 299
    assert all((mounted / f"/movies/F{n}/F{n}.mkv").stat().st_size == 1000 for n in range(2, 300))


def test_an_entry_with_other_contents_gets_another_link(library: Library, mount: Mounting):
    mounted = mount(film(library, 1000))
    assert (mounted / FILM).read_bytes() == content("1.mkv", 0, 1000)
    until(lambda: mounted.vfs.statistics().open_handles == 0)
    library.cdn.add("other.mkv", 1000)
    library.files[1] = "other.mkv"
    mounted.vfs.apply([replace(film(library, 1000), identity="other")])
    library.files[1] = "other.mkv"
    assert (mounted / FILM).read_bytes() == content("other.mkv", 0, 1000)
    assert len(library.resolved) == 2


def test_without_news_for_the_kernel_a_replacement_shows_within_seconds(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(program.vfs.mount, "FALLBACK_TIMEOUT", 1.0)
    settings = VfsSettings(mount_path=tmp_path / "mnt", cache_dir=tmp_path / "cache")
    files = OpenFiles(Tree([film(library, 1000)]), library.readers().open, SystemClock())
    mount = Mount(settings, files, Counters(), can_forget=False)
    mount.start()
    try:
        path = tmp_path / "mnt" / FILM[1:]
        assert path.read_bytes() == content("1.mkv", 0, 1000)
        until(lambda: files.count() == 0)
        _, settled = files.apply([film(library, 2000, 2)], [1])
        # An open waits until the kernel has forgotten the old size.
        assert path.read_bytes() == content("2.mkv", 0, 2000)
        assert settled.is_set()
    finally:
        mount.stop()


def test_statistics_tell_what_was_read(library: Library, mount: Mounting):
    mounted = mount(film(library, 2 * MIB))
    assert len((mounted / FILM).read_bytes()) == 2 * MIB
    shown = mounted.vfs.statistics()
    assert shown.counts.bytes_read == 2 * MIB
    assert shown.counts.bytes_fetched == 2 * MIB
    assert shown.counts.links_resolved == 1
    assert (shown.files, shown.total_size) == (1, 2 * MIB)
