"""Is the machine fit: FUSE, tools, memory, limits, the clock."""

import ctypes.util
import os
import pwd
import resource
import shutil
import socket
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from program.doctor.check import Check, Patient, Verdict, note, ok, wrong
from program.plugins import AnyPlugin
from program.services.plugin import Plugin
from program.vfs.preflight import may_allow_other

GROUP = "machine"
MIB = 1024 * 1024
LEAST_MEMORY, LEAST_FILES = 256 * MIB, 1024
# Of capability bits, the one that lets a process mount.
CAP_SYS_ADMIN = 21
# No right clock shows an earlier year.
FIRST_YEAR = 2025
DNS_SECONDS = 5.0
OLDEST_PYTHON = (3, 11)


def python(_patient: Patient) -> Verdict:
    """Look at Python's version."""
    said = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    return ok(said) if sys.version_info >= OLDEST_PYTHON else wrong(said, "Install Python 3.11 or later.")


def fuse_device(patient: Patient) -> Verdict:
    """Look for the kernel's FUSE."""
    device = Path("/dev/fuse")
    if patient.settings.vfs.mode == "webdav":
        return ok("not needed: the library is served over HTTP")
    if not device.exists():
        return wrong("/dev/fuse is missing", "modprobe fuse; in a container: --device /dev/fuse")
    if not os.access(device, os.R_OK | os.W_OK):
        return wrong(
            "/dev/fuse may not be opened by this user", "Add the user to the device's group, or run as root."
        )
    return ok("/dev/fuse can be opened")


def fuse_library(_patient: Patient) -> Verdict:
    """Look for libfuse 2."""
    found = ctypes.util.find_library("fuse")
    return (
        ok(f"{found} is there")
        if found
        else wrong("libfuse 2 is missing", "apt-get install libfuse2 (Debian 13: libfuse2t64)")
    )


def fusermount(_patient: Patient) -> Verdict:
    """Look for the tool that unmounts."""
    found = shutil.which("fusermount3") or shutil.which("fusermount")
    return ok(f"{found} is there") if found else wrong("fusermount is missing", "apt-get install fuse3")


def allow_other(patient: Patient) -> Verdict:
    """Look whether other users can read the mount."""
    wanted = patient.settings.vfs.allow_other
    allowed = may_allow_other()
    mend = "Add the line user_allow_other to /etc/fuse.conf and restart the program."
    if wanted and not allowed:
        return wrong("vfs.allow_other is on, and this user may not do that", mend)
    if not (allowed if wanted is None else wanted):
        return note("only this user may read the mount", mend)
    return ok("other users may read the mount")


def capabilities(_patient: Patient) -> Verdict:
    """Look whether a container lets its root mount."""
    if os.geteuid() != 0:
        return ok("not root: fusermount does the mounting")
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    held = next((int(line.split()[1], 16) for line in lines if line.startswith("CapEff")), 0)
    if held >> CAP_SYS_ADMIN & 1:
        return ok("this process may mount")
    return wrong(
        "this root may not mount",
        "Start the container with --cap-add SYS_ADMIN (and --security-opt apparmor:unconfined).",
    )


def user(patient: Patient) -> Verdict:
    """Look at who the files belong to."""
    uid, gid = patient.settings.vfs.uid, patient.settings.vfs.gid
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        return note(
            f"files belong to {uid}:{gid}, a user this machine does not know",
            "That is right when the media server's container has it.",
        )
    return ok(f"files belong to {name} ({uid}:{gid})")


def memory(_patient: Patient) -> Verdict:
    """Look at free memory."""
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    free = next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")), None)
    if free is None or free >= LEAST_MEMORY:
        return ok(f"{(free or 0) // MIB} MiB are free")
    return note(
        f"only {free // MIB} MiB are free",
        "Lower vfs.memory_mib and queue.sandbox_processes, or end something else.",
    )


def open_files(_patient: Patient) -> Verdict:
    """Look at how many files may be open."""
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most == resource.RLIM_INFINITY or most >= LEAST_FILES:
        return ok(f"{most} files may be open")
    return note(f"only {most} files may be open", "ulimit -n 4096, or LimitNOFILE= in the unit of systemd.")


def time_zone(_patient: Patient) -> Verdict:
    """Look at TZ."""
    zone = os.environ.get("TZ", "").lstrip(":")
    if zone and not zone.startswith("/") and zone not in available_timezones():
        return note(f"TZ={zone} is not known here", "Use a name such as Europe/Berlin.")
    return ok(f"the zone is {zone or 'that of the system'}")


def clock(patient: Patient) -> Verdict:
    """Look whether the clock can be right."""
    now = patient.clock.now()
    built = datetime.fromtimestamp(Path(__file__).stat().st_mtime, UTC)
    if now.year < FIRST_YEAR or now < built.replace(year=min(built.year, FIRST_YEAR)):
        return wrong(f"the clock says {now:%Y-%m-%d %H:%M}", "Set the clock (timedatectl set-ntp true).")
    return ok(f"the clock says {now:%Y-%m-%d %H:%M} UTC")


def tool(name: str, what: str) -> "_Tool":
    """Return a check for a program on the path."""
    return _Tool(name, what)


class _Tool:
    """Looks for a program."""

    def __init__(self, name: str, what: str) -> None:
        self._name = name
        self._what = what

    def __call__(self, _patient: Patient) -> Verdict:
        found = shutil.which(self._name)
        if found:
            return ok(f"{found} is there")
        return note(
            f"{self._name} is missing: {self._what}",
            f"apt-get install {'ffmpeg' if self._name.startswith('ff') else self._name}",
        )


def names(patient: Patient) -> Iterator[Verdict]:
    """Look whether the names of the providers can be resolved."""
    before = socket.getdefaulttimeout()
    for plugin in patient.registry.of(Plugin):
        host = _host(plugin)
        if host is None:
            continue
        try:
            socket.getaddrinfo(host, None)
            yield ok(f"{host} can be resolved", plugin.key)
        except OSError as error:
            yield wrong(
                f"{host} cannot be resolved: {error.strerror}",
                "Check the network and /etc/resolv.conf.",
                plugin.key,
            )
    socket.setdefaulttimeout(before)


def _host(plugin: AnyPlugin) -> str | None:
    return urlsplit(type(plugin).address(plugin.settings)).hostname


CHECKS = (
    Check(
        name="python",
        group=GROUP,
        what="Version of Python",
        why="Older ones lack what the program uses.",
        look=python,
    ),
    Check(
        name="clock",
        group=GROUP,
        what="The clock",
        why="Dates decide what is searched when, and certificates have them.",
        look=clock,
    ),
    Check(
        name="time-zone",
        group=GROUP,
        what="The time zone",
        why="Times on pages and in the log are in it.",
        look=time_zone,
    ),
    Check(
        name="memory",
        group=GROUP,
        what="Free memory",
        why="Reading ahead and parsing need some.",
        look=memory,
    ),
    Check(
        name="open-files",
        group=GROUP,
        what="How many files may be open",
        why="Each reader and each connection is one.",
        look=open_files,
    ),
    Check(
        name="fuse-device",
        group=GROUP,
        what="The kernel's FUSE",
        why="Without it there is no mount.",
        look=fuse_device,
    ),
    Check(
        name="fuse-library",
        group=GROUP,
        what="libfuse 2",
        why="The mount is made with it.",
        look=fuse_library,
    ),
    Check(
        name="fusermount",
        group=GROUP,
        what="The tool that mounts for ordinary users",
        why="It mounts, and clears a mount that was left.",
        look=fusermount,
    ),
    Check(
        name="capabilities",
        group=GROUP,
        what="Whether this process may mount",
        why="A container's root often may not.",
        look=capabilities,
    ),
    Check(
        name="allow-other",
        group=GROUP,
        what="Whether other users can read the mount",
        why="A media server runs as another user.",
        look=allow_other,
    ),
    Check(
        name="user",
        group=GROUP,
        what="Who the files belong to",
        why="A media server may insist on it.",
        look=user,
    ),
    Check(
        name="ffmpeg",
        group=GROUP,
        what="ffmpeg",
        why="Browsers that cannot play a file get it in another form.",
        look=tool("ffmpeg", "nothing can be converted for a browser"),
    ),
    Check(
        name="ffprobe",
        group=GROUP,
        what="ffprobe",
        why="It says what is in a file.",
        look=tool("ffprobe", "files cannot be looked into"),
    ),
    Check(
        name="dns",
        group=GROUP,
        what="Names of the providers",
        why="A provider whose name is not found cannot be asked.",
        look=names,
        is_quick=False,
    ),
)
