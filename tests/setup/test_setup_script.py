"""tools/setup on machines that lack something: made of a folder of stand-ins for the machine's own commands."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD_LOCK = "requirements-build.txt"
NEEDED = ("sh", "dirname", "tr", "sed", "grep", "cat", "cmp", "cp", "mktemp", "rm", "mkdir", "ls")
# Writes its name and arguments down, like the commands it stands for it says nothing when all is well.
RECORDER = '#!/bin/sh\nprintf "%s\\n" "${0##*/} $*" >>"$CALLS"\n'


class Machine:
    """A machine with few commands, and a fresh copy of the set-up script."""

    def __init__(self, folder: Path) -> None:
        self.bin, self.repository, self.calls = folder / "bin", folder / "rivulet", folder / "calls"
        self.bin.mkdir()
        (self.repository / "tools").mkdir(parents=True)
        shutil.copy(ROOT / "tools" / "setup", self.repository / "tools" / "setup")
        for lock in (
            BUILD_LOCK,
            "requirements.txt",
            "requirements-dev.txt",
            "requirements-engine.txt",
        ):
            (self.repository / lock).write_text(f"# {lock}\n")
        for name in NEEDED:
            (self.bin / name).symlink_to(str(shutil.which(name)))
        for name in ("ffmpeg", "ffprobe", "rclone", "nginx", "initdb", "fusermount", "redis-check-rdb"):
            self.command(name)
        self.command("python3", RECORDER)
        self.command("apt-get", RECORDER)
        self.command("apt-cache", "#!/bin/sh\nexit 100\n")
        self.user(1000)

    def command(self, name: str, text: str = "#!/bin/sh\n") -> None:
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def user(self, number: int) -> None:
        self.command("id", f"#!/bin/sh\necho {number}\n")

    def lacks(self, *names: str) -> None:
        for name in names:
            (self.bin / name).unlink()

    def has_environment(self, *locks: str) -> None:
        python = self.repository / ".venv" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(RECORDER)
        python.chmod(0o755)
        for lock in (BUILD_LOCK, *locks):
            shutil.copy(self.repository / lock, self.repository / ".venv" / f"installed-{lock}")

    def setup(self, purpose: str) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": str(self.bin),
            "CALLS": str(self.calls),
            "TMPDIR": tempfile.gettempdir(),
        }
        command = [str(self.bin / "sh"), "tools/setup", purpose]
        return subprocess.run(
            command,
            check=False,
            cwd=self.repository,
            env=environment,
            capture_output=True,
            text=True,
            timeout=30,
        )

    def called(self) -> list[str]:
        return self.calls.read_text().splitlines() if self.calls.exists() else []

    def installed(self) -> list[str]:
        return [call for call in self.called() if call.startswith("python -m pip install")]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize("lock", ["requirements.txt", "requirements-dev.txt"])
def test_a_second_run_installs_nothing_and_says_nothing(machine: Machine, lock: str) -> None:
    machine.has_environment(lock)
    run = machine.setup("run")
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    assert not machine.installed()


def test_a_changed_lock_is_installed_again_with_hashes_checked(machine: Machine) -> None:
    machine.has_environment("requirements-dev.txt")
    (machine.repository / "requirements-dev.txt").write_text("# newer\n")
    assert machine.setup("tests").returncode == 0
    assert len(machine.installed()) == 1
    assert "--require-hashes" in machine.installed()[0]
    assert machine.setup("tests").returncode == 0
    assert len(machine.installed()) == 1


def test_without_root_the_exact_command_is_printed_and_nothing_is_installed(machine: Machine) -> None:
    machine.lacks("ffmpeg", "rclone")
    run = machine.setup("tests")
    assert run.returncode == 1
    assert "sudo apt-get update && sudo apt-get install -y ffmpeg rclone" in run.stderr
    assert not [call for call in machine.called() if call.startswith("apt-get")]


def test_root_gets_the_missing_packages_installed(machine: Machine) -> None:
    machine.lacks("ffmpeg", "fusermount")
    machine.has_environment("requirements.txt")
    machine.user(0)
    assert machine.setup("run").returncode == 0
    wanted = [
        "update",
        "install -y --no-install-recommends fuse3",
        "install -y --no-install-recommends ffmpeg",
    ]
    assert [call for call in machine.called() if call.startswith("apt-get")] == [
        f"apt-get {call}" for call in wanted
    ]


def test_what_apt_says_is_shown_when_it_fails(machine: Machine) -> None:
    machine.lacks("ffmpeg")
    machine.user(0)
    machine.command("apt-get", "#!/bin/sh\necho E: no such package; exit 100\n")
    run = machine.setup("run")
    assert run.returncode == 1
    assert "E: no such package" in run.stderr
    assert "apt-get could not install ffmpeg" in run.stderr


def test_a_machine_without_apt_gets_the_names(machine: Machine) -> None:
    machine.lacks("ffmpeg", "apt-get")
    run = machine.setup("run")
    assert run.returncode == 1
    assert "this machine lacks: ffmpeg" in run.stderr


def test_the_program_needs_no_test_tools(machine: Machine) -> None:
    machine.lacks("rclone", "initdb")
    machine.has_environment("requirements.txt")
    assert machine.setup("run").returncode == 0


def test_measuring_needs_what_it_measures_beside_and_no_test_tools(machine: Machine) -> None:
    machine.lacks("rclone", "initdb")
    machine.has_environment("requirements.txt")
    run = machine.setup("bench")
    assert run.returncode == 1
    assert "apt-get install -y rclone\n" in run.stderr
    machine.command("rclone")
    assert machine.setup("bench").returncode == 0
    assert not machine.installed()


def test_only_all_tests_need_a_browser(machine: Machine) -> None:
    machine.has_environment("requirements-dev.txt")
    assert machine.setup("tests").returncode == 0
    run = machine.setup("all-tests")
    assert run.returncode == 1
    assert "sudo apt-get install -y chromium" in run.stderr
    machine.command("chromium")
    assert machine.setup("all-tests").returncode == 0


def test_only_all_tests_need_redis_and_bullmq(machine: Machine) -> None:
    machine.command("chromium")
    machine.lacks("redis-check-rdb")
    machine.has_environment("requirements-dev.txt")
    assert machine.setup("tests").returncode == 0
    assert "sudo apt-get install -y redis-tools" in machine.setup("all-tests").stderr
    assert not machine.installed()
    machine.command("redis-server")
    assert machine.setup("all-tests").returncode == 0
    assert [call for call in machine.installed() if "requirements-engine.txt" in call]


def test_an_old_python_is_named_with_the_way_out(machine: Machine) -> None:
    machine.command(
        "python3", '#!/bin/sh\ncase "$*" in *version_info*) exit 1;; -V) echo Python 3.9.2;; esac\n'
    )
    run = machine.setup("run")
    assert run.returncode == 1
    assert "Python 3.11 or newer is needed; python3 is Python 3.9.2" in run.stderr
    assert "PYTHON=" in run.stderr


def test_a_purpose_that_does_not_exist_is_refused(machine: Machine) -> None:
    machine.has_environment()
    assert machine.setup("everything").returncode == 1
