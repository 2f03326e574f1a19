"""The life of a mount: start, stop, crash, loss, and what stands in its way."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import program.vfs.mount
from program.errors import StartupError
from program.vfs.kernel import detach, mounts_at
from program.vfs.mount import unusable
from program.vfs.tree import TreeFile
from tests.support.cdn import Manner, content
from tests.support.wait import until
from tests.vfs.conftest import MIB, Library, Mounted

pytestmark = [pytest.mark.fuse, pytest.mark.timeout(60)]

Mounting = Callable[..., Mounted]
ROOT = Path(__file__).parents[2]
HOLD = "import sys; f = open(sys.argv[1], 'rb'); print(len(f.read(10)), flush=True); sys.stdin.read()"
FILM = "/movies/Demo (2031)/Demo (2031).mkv"


def film(library: Library, size: int = 5 * MIB) -> TreeFile:
    return library.file("1.mkv", size, 1, FILM)


def own_threads() -> set[str]:
    return {
        thread.name for thread in threading.enumerate() if re.match(r"fuse|vfs|reader|Dummy", thread.name)
    }


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def signal_masks() -> list[int]:
    """Return which signals are caught and ignored, but for the C library's own above 31."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return [int(line.split()[1], 16) & 0x7FFF_FFFF for line in lines if line.startswith(("SigCgt", "SigIgn"))]


class Daemon:
    """A manifest mounted by a process of its own."""

    def __init__(self, manifest: Path, directory: Path) -> None:
        self.directory = directory
        self.process = subprocess.Popen(
            [sys.executable, "main.py", "mount", str(manifest), str(directory)],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_until_mounted(self) -> None:
        until(lambda: self.process.poll() is not None or self.can_be_read(), 20, "the mount")
        assert self.process.poll() is None, self.process.stderr and self.process.stderr.read()

    def can_be_read(self) -> bool:
        try:
            return bool(mounts_at(self.directory)) and os.statvfs(self.directory).f_namemax == 255
        except OSError:
            return False

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(20)


@pytest.fixture
def watched_closely(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the mount looked at more often than once a second: how long a loss lasts is not what is shown."""
    monkeypatch.setattr(program.vfs.mount, "WATCH_SECONDS", 0.1)


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Callable[..., Daemon]]:
    started: list[Daemon] = []

    def start(*files: dict[str, object]) -> Daemon:
        manifest = tmp_path / "manifest.json"
        manifest.write_text(json.dumps(files), encoding="utf-8")
        started.append(Daemon(manifest, tmp_path / "mnt"))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
        one.process.wait(10)
        if one.process.stderr:
            one.process.stderr.close()
    while mounts_at(tmp_path / "mnt"):
        detach(tmp_path / "mnt")


def test_20_mounts_leave_no_thread_no_descriptor_and_no_mount(library: Library, mount: Mounting):
    masks = signal_masks()
    counts = []
    for _ in range(20):
        mounted = mount(film(library))
        assert mounted.read(FILM, MIB, 4096) == content("1.mkv", MIB, MIB + 4096)
        assert mounted.vfs.healthy()
        mounted.vfs.stop()
        assert not mounted.vfs.healthy()
        assert not mounts_at(mounted.path)
        assert own_threads() == set()
        until(lambda: library.cdn.open_connections == 0)
        counts.append(descriptors())
    assert counts[-1] <= counts[1]
    assert signal_masks() == masks


def test_stopping_twice_or_without_a_start_does_nothing(library: Library, mount: Mounting):
    mounted = mount(film(library))
    mounted.vfs.stop()
    mounted.vfs.stop()
    Mounted(library, mounted.settings).vfs.stop()


def test_a_mount_path_may_lead_over_symbolic_links(library: Library, mount: Mounting, tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    mounted = mount(film(library), mount_path=tmp_path / "link" / "mnt")
    assert mounted.read(FILM, MIB, 4096) == content("1.mkv", MIB, MIB + 4096)
    mounted.vfs.stop()
    assert not mounts_at(tmp_path / "real" / "mnt")


def test_a_stop_under_a_reader_ends_in_bounded_time(library: Library, mount: Mounting):
    library.cdn.behave = lambda _: Manner(rate=200_000)
    mounted = mount(film(library, 100 * MIB))
    reader = subprocess.Popen(
        ["cat", str(mounted / FILM)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    until(lambda: library.cdn.bytes_sent > 100_000)
    mounted.vfs.stop()
    _, said = reader.communicate(timeout=10)
    assert reader.returncode != 0
    assert "error" in said.lower() or "not connected" in said.lower()
    assert own_threads() == set()


def test_a_stop_with_an_idle_open_file_takes_the_mount_away(library: Library, mount: Mounting):
    mounted = mount(film(library))
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(mounted / FILM)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout
    assert holder.stdout.readline() == b"10\n"
    mounted.vfs.stop()
    assert not mounts_at(mounted.path)
    assert own_threads() == set()
    holder.communicate(timeout=10)


def test_a_mount_whose_process_was_killed_is_cleared_at_the_start(
    library: Library, mount: Mounting, daemon: Callable[..., Daemon]
):
    url = library.cdn.add("1.mkv", MIB)
    dead = daemon({"path": FILM, "size": MIB, "urls": [url]})
    dead.wait_until_mounted()
    assert dead.end(signal.SIGKILL) == -signal.SIGKILL
    with pytest.raises(OSError, match=os.strerror(errno.ENOTCONN)):
        (dead.directory / "movies").stat()
    mounted = mount(film(library, MIB))
    assert (mounted / FILM).read_bytes() == content("1.mkv", 0, MIB)
    assert len(mounts_at(mounted.path)) == 1


def test_a_mount_of_a_manifest_takes_no_memory_for_the_rest_of_the_program(
    daemon: Callable[..., Daemon], library: Library
):
    one = daemon({"path": FILM, "size": 1000, "urls": [library.cdn.add("1.mkv", 1000)]})
    one.wait_until_mounted()
    assert (one.directory / FILM[1:]).read_bytes() == content("1.mkv", 0, 1000)
    status = Path(f"/proc/{one.process.pid}/status").read_text()
    resident = int(status.partition("VmRSS:")[2].split()[0])
    assert resident < 70 * 1024, "kilobytes"
    assert one.end() == 0


def test_a_daemon_that_is_killed_again_and_again_comes_back_each_time(
    daemon: Callable[..., Daemon], library: Library
):
    url = library.cdn.add("1.mkv", 1000)
    for _ in range(3):
        one = daemon({"path": FILM, "size": 1000, "urls": [url]})
        one.wait_until_mounted()
        assert (one.directory / FILM[1:]).read_bytes() == content("1.mkv", 0, 1000)
        assert len(mounts_at(one.directory)) == 1
        one.end(signal.SIGKILL)


@pytest.mark.parametrize(
    "command", [["umount"], ["umount", "-l"], ["fusermount", "-u"], ["umount", "-f"]], ids=" ".join
)
@pytest.mark.usefixtures("watched_closely")
def test_a_mount_lost_from_outside_comes_back(library: Library, mount: Mounting, command: list[str]):
    mounted = mount(film(library))
    subprocess.run([*command, str(mounted.path)], check=False, timeout=10, capture_output=True)
    until(lambda: not mounted.vfs.healthy(), what="the loss")
    until(mounted.vfs.healthy, what="the new mount")
    assert mounted.read(FILM, MIB, 4096) == content("1.mkv", MIB, MIB + 4096)
    assert len(mounts_at(mounted.path)) == 1


@pytest.mark.usefixtures("watched_closely")
def test_a_mount_taken_away_under_an_open_file_comes_back_and_the_file_is_let_go(
    library: Library, mount: Mounting
):
    mounted = mount(film(library))
    with (mounted / FILM).open("rb") as old:
        assert old.read(100) == content("1.mkv", 0, 100)
        subprocess.run(["umount", "-l", str(mounted.path)], check=True, timeout=10)
        until(lambda: not mounted.vfs.healthy())
        until(mounted.vfs.healthy)
        assert mounted.read(FILM, MIB, 4096) == content("1.mkv", MIB, MIB + 4096)
        assert len(old.read()) == 5 * MIB - 100
    until(lambda: mounted.vfs.statistics().open_handles == 0)


def test_a_folder_that_is_not_empty_is_refused(library: Library, mount: Mounting, tmp_path: Path):
    (tmp_path / "mnt").mkdir()
    (tmp_path / "mnt" / "mine.txt").write_text("keep me", encoding="utf-8")
    with pytest.raises(StartupError, match="is not empty"):
        mount(film(library))
    assert (tmp_path / "mnt" / "mine.txt").read_text(encoding="utf-8") == "keep me"
    assert own_threads() == set()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"mount_path": Path("/proc/rivulet")}, r"vfs\.mount_path: /proc/rivulet cannot be made: .+"),
        (
            {"mount_path": Path("/etc/hostname")},
            r"vfs\.mount_path: /etc/hostname cannot be used: Not a directory",
        ),
        (
            {"mount_path": Path("/etc/hostname/x")},
            r"vfs\.mount_path: /etc/hostname/x cannot be used: Not a directory",
        ),
        ({"cache_dir": Path("/proc/x")}, r"vfs\.cache_dir: /proc/x cannot be used: .+"),
    ],
)
def test_what_cannot_work_is_refused_in_one_sentence(
    library: Library, mount: Mounting, options: dict[str, object], sentence: str
):
    with pytest.raises(StartupError) as caught:
        mount(film(library), **options)
    assert re.fullmatch(sentence, str(caught.value))
    assert own_threads() == set()


def test_a_cache_within_the_mount_is_refused(library: Library, mount: Mounting, tmp_path: Path):
    with pytest.raises(StartupError, match=r"lies within vfs\.mount_path"):
        mount(film(library), cache_dir=tmp_path / "mnt" / "cache")


def test_a_path_that_another_process_serves_is_refused(
    library: Library, mount: Mounting, daemon: Callable[..., Daemon]
):
    url = library.cdn.add("1.mkv", 1000)
    other = daemon({"path": FILM, "size": 1000, "urls": [url]})
    other.wait_until_mounted()
    with pytest.raises(StartupError, match="already mounted by a running Rivulet"):
        mount(film(library, 1000))
    assert (other.directory / FILM[1:]).read_bytes() == content("1.mkv", 0, 1000)
    assert other.end() == 0


def test_without_dev_fuse_the_start_says_what_to_do(tmp_path: Path):
    (tmp_path / "manifest.json").write_text("[]", encoding="utf-8")
    serve = f"{sys.executable} -m program.vfs.manifest {tmp_path}/manifest.json {tmp_path}/mnt"
    command = f"mount -t tmpfs none /dev && mknod /dev/null c 1 3 && exec {serve}"
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", command],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 1
    assert done.stderr == (
        "rivulet: /dev/fuse is missing: load the fuse module (modprobe fuse), or give it to the container (--device /dev/fuse)\n"
    )


def test_without_libfuse_the_start_says_what_to_do(tmp_path: Path):
    (tmp_path / "manifest.json").write_text("[]", encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "program.vfs.manifest",
            str(tmp_path / "manifest.json"),
            str(tmp_path / "mnt"),
        ],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        cwd=ROOT,
        env={**os.environ, "FUSE_LIBRARY_PATH": "/nowhere/libfuse.so.2"},
    )
    assert done.returncode == 1
    assert done.stderr == (
        "rivulet: libfuse 2 is missing: install it (apt-get install libfuse2, on Debian 13 libfuse2t64)\n"
    )


def test_what_is_usable_can_be_asked_without_changing_anything(
    library: Library, mount: Mounting, tmp_path: Path
):
    mounted = mount(film(library))
    assert "already mounted" in (unusable(mounted.settings) or "")
    mounted.vfs.stop()
    assert unusable(mounted.settings) is None
    elsewhere = mounted.settings.model_copy(update={"mount_path": tmp_path / "new" / "mnt"})
    assert unusable(elsewhere) is None
    assert not (tmp_path / "new").exists()


# Manifests.


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_manifest_is_mounted_until_a_signal_comes(
    library: Library, daemon: Callable[..., Daemon], number: int
):
    url = library.cdn.add("1.mkv", 3 * MIB)
    one = daemon({"path": "a/b.bin", "size": 3 * MIB, "urls": ["http://127.0.0.1:9/none", url]})
    one.wait_until_mounted()
    assert os.listdir(one.directory) == ["a"]  # noqa: PTH208 - names, not paths
    assert (one.directory / "a" / "b.bin").read_bytes() == content("1.mkv", 0, 3 * MIB)
    assert one.end(number) == 0
    assert not mounts_at(one.directory)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", r": the whole file: Invalid JSON: .*"),
        ("{}", r": the whole file: Input should be a valid array"),
        (
            '[{"path": "a", "size": -1, "urls": ["http://x/"]}]',
            r": 0\.size: Input should be greater than or equal to 0",
        ),
        ('[{"path": "a", "size": 1, "urls": []}]', r": 0\.urls: List should have at least 1 item.*"),
        (
            '[{"path": "a", "size": 1, "urls": ["http://x/"], "x": 1}]',
            r": 0\.x: Extra inputs are not permitted",
        ),
        (
            '[{"path": "a", "size": 1, "urls": ["http://x/", "ftp://x/"]}]',
            r": 0\.urls\.1: not an http or https address",
        ),
        (
            '[{"path": "a", "size": "1", "urls": ["http://x/"]}]',
            r": 0\.size: Input should be a valid integer",
        ),
        (None, r": cannot be read: No such file or directory"),
    ],
)
def test_a_bad_manifest_is_refused_with_its_place(tmp_path: Path, text: str | None, reason: str):
    manifest = tmp_path / "manifest.json"
    if text is not None:
        manifest.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "program.vfs.manifest", str(manifest), str(tmp_path / "mnt")],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 1
    assert re.fullmatch(f"rivulet: {re.escape(str(manifest))}{reason}\n", done.stderr)
    assert not (tmp_path / "mnt").exists()
