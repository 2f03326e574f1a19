"""The container's parts: the Dockerfile's shell steps with stand-ins for apt, the entrypoint for real, compose as text."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from program.settings import environment
from program.settings.models import RootSettings
from tests.support.wait import until

ROOT = Path(__file__).parents[2]
ENTRYPOINT = ROOT / "docker" / "entrypoint"
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE = (ROOT / "compose.yaml").read_text()
PORT = "8484"
NOBODY_NUMBERS = (54321, 54322)


def steps(instruction: str) -> list[str]:
    """Return the Dockerfile's steps of one kind, continued lines joined, comments left out."""
    lines = "\n".join(line for line in DOCKERFILE.splitlines() if not line.startswith("#"))
    joined = lines.replace("\\\n", " ")
    return [
        line.removeprefix(f"{instruction} ")
        for line in joined.splitlines()
        if line.startswith(f"{instruction} ")
    ]


def run_step(step: str, folder: Path, *, debian: int) -> list[str]:
    """Run a step with stand-ins for the commands that would change the machine; return what they were asked to do."""
    calls = folder / "calls"
    for name in ("apt-get", "rm", "pip", "python"):
        (folder / name).write_text(f'#!/bin/sh\necho "${{0##*/}} $*" >>{calls}\n')
    knows = "exit 0" if debian >= 13 else "exit 100"
    (folder / "apt-cache").write_text(f'#!/bin/sh\ncase "$*" in *libfuse2t64*) {knows};; esac\n')
    for command in folder.iterdir():
        command.chmod(0o755)
    subprocess.run(["/bin/sh", "-ec", step], check=True, env={"PATH": str(folder)}, timeout=10)
    return calls.read_text().splitlines()


@pytest.mark.parametrize(("debian", "library"), [(12, "libfuse2"), (13, "libfuse2t64")])
def test_the_image_installs_libfuse_by_the_name_its_debian_uses(
    tmp_path: Path, debian: int, library: str
) -> None:
    [apt_step] = [step for step in steps("RUN") if "apt-get" in step]
    calls = run_step(apt_step, tmp_path, debian=debian)
    [install] = [call for call in calls if "install" in call]
    assert install == f"apt-get install -y --no-install-recommends ffmpeg fuse3 {library}"


def test_the_image_checks_the_hash_of_every_package_and_holds_no_test_tools(tmp_path: Path) -> None:
    [pip_step] = [step for step in steps("RUN") if step.startswith("pip")]
    calls = run_step(pip_step, tmp_path, debian=13)
    assert all("--require-hashes" in call for call in calls)
    assert [call.rpartition(" ")[2] for call in calls] == ["requirements-build.txt", "requirements.txt"]
    assert "--no-build-isolation" in calls[-1]
    assert "requirements-dev" not in DOCKERFILE


def test_everything_that_is_copied_exists_and_is_let_through_by_dockerignore() -> None:
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    sources = [source for step in steps("COPY") for source in step.split()[:-1]]
    assert sources
    assert not [source for source in sources if not (ROOT / source).exists()]
    assert not [
        source for source in sources if not any(Path(source).is_relative_to(path) for path in allowed)
    ]


def test_the_image_stops_and_starts_as_the_program_expects() -> None:
    assert steps("STOPSIGNAL") == ["SIGTERM"]
    assert [json.loads(step) for step in steps("ENTRYPOINT")] == [["entrypoint"]]
    assert steps("EXPOSE") == [PORT]


@pytest.mark.parametrize(
    "setting",
    [
        'PUID: "1000"',
        'PGID: "1000"',
        'UMASK: "022"',
        "TZ: Etc/UTC",
        f'"{PORT}:{PORT}"',
        "./config:/config",
        "propagation: rshared",
        "/dev/fuse:/dev/fuse",
        "SYS_ADMIN",
        "apparmor:unconfined",
        "init: true",
        "restart: unless-stopped",
        "stop_grace_period: 40s",
        "healthcheck:",
    ],
)
def test_compose_says(setting: str) -> None:
    lines = [line for line in COMPOSE.splitlines() if not line.lstrip().startswith("#")]
    assert [line for line in lines if line.strip().removeprefix("- ").startswith(setting)]


def test_compose_is_indented_by_two_without_tabs() -> None:
    assert "\t" not in COMPOSE
    assert not [line for line in COMPOSE.splitlines() if (len(line) - len(line.lstrip())) % 2]


def test_the_images_environment_sets_what_the_program_knows() -> None:
    variables = dict(pair.split("=", 1) for pair in steps("ENV")[0].split())
    overrides = {override.path: override.value for override in environment.read(variables, RootSettings)}
    assert overrides.keys() == {"api.host", "vfs.cache_dir", "vfs.mount_path"}
    assert overrides["api.host"] == "0.0.0.0"
    assert variables[environment.CONFIG] == "/config"
    assert RootSettings().api.port == int(PORT)


def test_the_mount_lies_below_the_shared_folder_so_that_it_survives_a_restart() -> None:
    mount = re.search(r"RIVULET_VFS__MOUNT_PATH=(\S+)", DOCKERFILE)
    shared = re.search(r"target: (\S+)", COMPOSE)
    assert mount
    assert shared
    assert Path(mount[1]).parent == Path(shared[1])


class Container:
    """The entrypoint, run in a temporary folder in place of a container's /config and /mnt."""

    def __init__(self, folder: Path) -> None:
        self.config, self.mount = folder / "config", folder / "mnt" / "library"

    def start(self, command: str, **more: str) -> subprocess.CompletedProcess[str]:
        variables = {
            "PATH": os.environ["PATH"],
            "RIVULET_CONFIG": str(self.config),
            "RIVULET_VFS__MOUNT_PATH": str(self.mount),
            **more,
        }
        return subprocess.run(
            [str(ENTRYPOINT), "sh", "-c", command],
            check=False,
            env=variables,
            capture_output=True,
            text=True,
            timeout=30,
        )


@pytest.fixture
def container(tmp_path: Path) -> Container:
    for folder in (tmp_path, *tmp_path.parents):  # the made-up user must be able to walk here
        if os.access(folder, os.W_OK) and folder.owner() and folder.stat().st_uid == os.geteuid():
            folder.chmod(folder.stat().st_mode | 0o011)
    return Container(tmp_path)


def test_the_entrypoint_is_a_valid_shell_script() -> None:
    subprocess.run(["/bin/sh", "-n", str(ENTRYPOINT)], check=True)
    assert os.access(ENTRYPOINT, os.X_OK)


def test_the_program_runs_as_the_user_that_was_asked_for_and_owns_its_folders(container: Container) -> None:
    user, group = NOBODY_NUMBERS if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    container.config.mkdir()
    container.mount.mkdir(parents=True)
    command = 'id -u; id -g; echo "$HOME"; touch "$RIVULET_CONFIG/settings.json" "$RIVULET_VFS__MOUNT_PATH/x"'
    run = container.start(command, PUID=str(user), PGID=str(group))
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == [str(user), str(group), str(container.config)]
    made = (container.config / "settings.json").stat()
    assert (made.st_uid, made.st_gid) == (user, group)


def test_the_umask_holds_for_new_files(container: Container) -> None:
    container.config.mkdir(mode=0o777)
    run = container.start('umask; touch "$RIVULET_CONFIG/new"', UMASK="027", PUID="0", PGID="0")
    assert run.stdout.strip() == "0027", run.stderr
    assert (container.config / "new").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("name", "value"), [("PUID", "me"), ("PUID", "-1"), ("PGID", "10 00"), ("UMASK", "999"), ("UMASK", "rwx")]
)
def test_a_number_that_is_none_is_refused_with_its_name(container: Container, name: str, value: str) -> None:
    run = container.start("echo started", **{name: value})
    assert run.returncode == 64
    assert name in run.stderr
    assert "started" not in run.stdout


def test_the_exit_code_is_the_programs(container: Container) -> None:
    container.config.mkdir()
    assert container.start("exit 7", PUID="0", PGID="0").returncode == 7


class Health(BaseHTTPRequestHandler):
    """Answers with the server's own status, and with its own findings to whoever has the key."""

    def do_GET(self) -> None:
        server: Any = self.server
        asks_doctor = self.path == "/api/v1/doctor?quick=true" and self.headers["X-Api-Key"] == "k3y"
        self.send_response(server.status if self.path == "/health" else 200 if asks_doctor else 404)
        self.end_headers()
        self.wfile.write(json.dumps({"checks": server.checks}).encode() if asks_doctor else b"")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base's name)
        """Stay quiet."""


def finding(level: str, group: str) -> dict[str, str]:
    return {"name": "mount", "level": level, "group": group, "said": "it is away"}


@pytest.mark.parametrize(
    ("status", "checks", "exit_code"),
    [
        (200, [], 0),
        (503, [], 1),
        (200, [finding("note", "folders")], 0),
        (200, [finding("wrong", "folders")], 1),
        (200, [finding("wrong", "providers")], 0),
    ],
)
def test_the_health_check_follows_the_programs_answer_and_its_quick_checks(
    tmp_path: Path, status: int, checks: list[dict[str, str]], exit_code: int
) -> None:
    (tmp_path / "settings.json").write_text('{"api_key": "k3y"}')
    with HTTPServer(("127.0.0.1", 0), Health) as server:
        served: Any = server
        served.status, served.checks = status, checks
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        port = str(server.server_port)
        variables = {**os.environ, "RIVULET_API__PORT": port, "RIVULET_CONFIG": str(tmp_path)}
        command = [sys.executable, str(ROOT / "docker" / "healthcheck.py")]
        run = subprocess.run(command, check=False, env=variables, capture_output=True, text=True, timeout=20)
        server.shutdown()
        thread.join(10)
    assert run.returncode == exit_code, run.stderr
    assert exit_code == 0 or status != 200 or "mount: it is away" in run.stderr


MOUNT_AND_WAIT = "import sys, fuse; fuse.FUSE(fuse.Operations(), sys.argv[1], foreground=True)"


@pytest.fixture
def mounted(container: Container) -> Iterator[subprocess.Popen[bytes]]:
    """The program of a mount in the container's mount folder."""
    container.mount.mkdir(parents=True)
    with subprocess.Popen([sys.executable, "-c", MOUNT_AND_WAIT, str(container.mount)]) as program:
        until(lambda: os.path.ismount(container.mount), what="the mount")
        yield program
        subprocess.run(["fusermount", "-uzq", str(container.mount)], check=False, timeout=10)


@pytest.mark.fuse
def test_a_killed_containers_dead_mount_is_cleared_by_the_next_start(
    container: Container, mounted: subprocess.Popen[bytes]
) -> None:
    mounted.kill()
    mounted.wait(10)
    with pytest.raises(OSError, match="not connected"):
        list(container.mount.iterdir())
    run = container.start('ls "$RIVULET_VFS__MOUNT_PATH"')
    if os.geteuid() == 0:  # in the container it always is
        assert run.returncode == 0, run.stderr
        assert not os.path.ismount(container.mount)
    else:
        assert "not connected" in run.stderr


@pytest.mark.fuse
def test_a_command_beside_the_running_program_leaves_its_mount_alone(
    container: Container, mounted: subprocess.Popen[bytes]
) -> None:
    container.config.mkdir()
    run = container.start("echo checked", PUID="0", PGID="0")
    assert (run.returncode, run.stdout.strip()) == (0, "checked"), run.stderr
    assert os.path.ismount(container.mount)
    assert mounted.poll() is None
