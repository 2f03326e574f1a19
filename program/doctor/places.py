"""Are the folders fit: the config folder, the log, the cache, the mount, and the mount as others see it."""

import os
import shutil
import stat
from pathlib import Path

from program.doctor.check import Check, Patient, Verdict, note, ok, wrong
from program.vfs.kernel import answers, mounts_at
from program.vfs.preflight import KIND, mount_point, why_unusable

GROUP = "folders"
GIB = 1024**3
MIB = 1024**2
LEAST_SPACE = GIB
LARGEST_LOG = GIB
ANSWER_SECONDS = 5.0
MOUNTS = Path("/proc/self/mountinfo")
# Where a line of mountinfo holds the mount point, and where its optional fields begin.
POINT, OPTIONAL = 4, 6


def config_folder(patient: Patient) -> Verdict:
    """Look whether the config folder can be written to."""
    return _writable(patient.store.folder, "Settings, database and log stand there.")


def settings_mode(patient: Patient) -> Verdict:
    """Look whether others can read the keys."""
    mode = stat.S_IMODE(patient.store.file.stat().st_mode)
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        return note(
            f"{patient.store.file} can be read by others ({mode:o})", f"chmod 600 {patient.store.file}"
        )
    return ok("only its owner can read it")


def space(patient: Patient) -> Verdict:
    """Look at the space beside the database."""
    free = shutil.disk_usage(patient.store.folder).free
    if free < LEAST_SPACE:
        return wrong(
            f"only {free // MIB} MiB are free at {patient.store.folder}",
            "Make room; the database cannot grow.",
        )
    return ok(f"{free / GIB:.1f} GiB are free")


def log_folder(patient: Patient) -> Verdict:
    """Look whether the log can be written."""
    if not patient.settings.log.to_file:
        return note("log.to_file is off", "Switch it on to see the log on the pages.")
    folder = patient.store.folder / "logs"
    return _writable(folder if folder.exists() else patient.store.folder, "The log is written there.")


def log_size(patient: Patient) -> Verdict:
    """Look how large the log has become."""
    folder = patient.store.folder / "logs"
    size = sum(file.stat().st_size for file in folder.glob("*") if file.is_file()) if folder.exists() else 0
    if size > LARGEST_LOG:
        return note(f"the log takes {size / GIB:.1f} GiB", f"Delete old files in {folder}.")
    return ok(f"the log takes {size // MIB} MiB")


def cache_folder(patient: Patient) -> Verdict:
    """Look whether what is read can be kept."""
    if not patient.settings.vfs.disk_mib:
        return note(
            "vfs.disk_mib is 0: nothing is kept on disk", "Give it some space; library scans are quicker."
        )
    folder = _cache(patient)
    return _writable(
        folder if folder.exists() else _existing(folder), "Beginnings and ends of files are kept there."
    )


def cache_space(patient: Patient) -> Verdict:
    """Look whether there is room for the cache."""
    folder, wanted = _existing(_cache(patient)), patient.settings.vfs.disk_mib * MIB
    used = sum(file.stat().st_size for file in _cache(patient).rglob("*") if file.is_file())
    free = shutil.disk_usage(folder).free
    if free < wanted - used:
        return note(
            f"the cache may grow by {(wanted - used) / GIB:.1f} GiB, and {free / GIB:.1f} GiB are free",
            "Lower vfs.disk_mib or move vfs.cache_dir.",
        )
    return ok(f"{used // MIB} of {wanted // MIB} MiB are used")


def mount(patient: Patient) -> Verdict:
    """Look at the mount, or whether there could be one."""
    if patient.settings.vfs.mode == "webdav":
        return ok("the library is served over HTTP")
    path = mount_point(patient.settings.vfs)
    if any(entry.kind == KIND for entry in mounts_at(path)) and answers(path, ANSWER_SECONDS) is None:
        return ok(f"{path} is mounted")
    reason = why_unusable(patient.settings.vfs)
    if reason:
        return wrong(reason, "Do what the sentence says, then restart the program.")
    if patient.work is not None:
        return wrong(f"{path} is not mounted", "The log says why; restart the program.")
    return ok(f"{path} can be mounted")


def propagation(patient: Patient) -> Verdict:
    """Look whether containers see what is mounted."""
    path = mount_point(patient.settings.vfs)
    lines = [line.split() for line in MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()]
    above = [parts for parts in lines if len(parts) > OPTIONAL and _is_above(parts[POINT], path)]
    nearest = max(above, key=lambda parts: len(parts[POINT]), default=None)
    if nearest is not None and any(part.startswith("shared:") for part in nearest[OPTIONAL:]):
        return ok(f"what is mounted beneath {nearest[POINT]} reaches containers that have it")
    place = path.parent
    return note(
        "a media server in a container may not see the mount",
        f"On the host: mount --bind {place} {place} && mount --make-rshared {place}; in the container: rslave.",
    )


def _is_above(point: str, path: Path) -> bool:
    return Path(point) != path and path.is_relative_to(point)


def _writable(folder: Path, what: str) -> Verdict:
    if os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return ok(f"{folder} can be written to")
    return wrong(f"{folder} cannot be written to. {what}", f"chown -R {os.geteuid()} {folder}")


def _cache(patient: Patient) -> Path:
    return patient.store.folder / patient.settings.vfs.cache_dir


def _existing(folder: Path) -> Path:
    return next(path for path in (folder, *folder.parents) if path.exists())


CHECKS = (
    Check(
        name="config-folder",
        group=GROUP,
        what="The config folder",
        why="Without it nothing is kept.",
        look=config_folder,
    ),
    Check(
        name="settings-mode",
        group=GROUP,
        what="Who can read settings.json",
        why="It holds keys.",
        look=settings_mode,
    ),
    Check(
        name="disk-space",
        group=GROUP,
        what="Space beside the database",
        why="A full disk stops everything.",
        look=space,
    ),
    Check(
        name="log-folder",
        group=GROUP,
        what="The folder of the log",
        why="The log says what happened.",
        look=log_folder,
    ),
    Check(
        name="log-size",
        group=GROUP,
        what="Size of the log",
        why="A log that grows fills the disk.",
        look=log_size,
    ),
    Check(
        name="cache-folder",
        group=GROUP,
        what="The folder of the cache",
        why="Library scans read the same places again.",
        look=cache_folder,
    ),
    Check(
        name="cache-space",
        group=GROUP,
        what="Room for the cache",
        why="It grows up to vfs.disk_mib.",
        look=cache_space,
        is_quick=False,
    ),
    Check(
        name="mount", group=GROUP, what="The mount", why="Media servers read the library there.", look=mount
    ),
    Check(
        name="propagation",
        group=GROUP,
        what="The mount as containers see it",
        why="A mount that is not shared is an empty folder to them.",
        look=propagation,
    ),
)
