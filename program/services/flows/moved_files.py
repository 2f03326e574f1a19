"""Queue `scan-moved-files`: after templates or profiles have changed, media servers look where files were and where they are."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from program.events import FolderScanRequested
from program.media.naming import folder_of
from program.queues import Done, Job, JobSpec, Outcome, WaitFor
from program.services.flows import names
from program.services.flows.context import FlowContext
from program.services.flows.plugin_hook import ask_all

# What the folders of all films and of all shows are called, in the library itself and in every profile.
LIBRARIES = ("movies", "shows")


@dataclass(frozen=True, slots=True)
class Moved:
    """Data of the job. folders: absolute paths on this machine."""

    folders: tuple[str, ...]


def scan(ctx: FlowContext, folders: Collection[str]) -> None:
    """Have every media server scan folders, absolute paths on this machine."""
    if folders:
        data = Moved(tuple(sorted(folders)))
        ctx.engine.add(JobSpec(queue=names.SCAN_MOVED_FILES, name="files that have moved", data=data))


def handle(ctx: FlowContext, job: Job) -> Outcome:
    """Ask each media server that can be used."""
    if job.has_waited:
        return Done(None)
    asked = ask_all(ctx, FolderScanRequested(job.data_as(Moved).folders), job.name)
    return WaitFor(asked) if asked else Done(None)


def covering(paths: Iterable[str], is_there: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the folders of the library to scan for files at these paths, each once and none beneath another.

    That a season is gone is seen from its show's folder, while that is there.
    """
    wanted = {_standing(folder, is_there) for folder in map(folder_of, paths)}
    found: list[str] = []
    for folder in sorted(wanted):
        if not any(folder.startswith(f"{above}/") for above in found):
            found.append(folder)
    return tuple(found)


def _standing(folder: str, is_there: Callable[[str], bool]) -> str:
    """Return the folder, or the nearest one above it, that is there; that of the title even when it is not."""
    while not is_there(folder):
        above = folder_of(folder)
        if above == "/" or above.rpartition("/")[2] in LIBRARIES:
            break
        folder = above
    return folder
