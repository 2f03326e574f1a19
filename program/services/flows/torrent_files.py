"""Queues `download-item.map-items-to-files` and `download-item.validate-torrent-files`: which file is which episode.

And does it do.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from program.errors import BadAnswer
from program.media.entry import FileMatch
from program.queues import Done, Job, Outcome
from program.services.flows.context import FlowContext
from program.services.matching.sandbox import MapTask, ValidateTask
from program.services.matching.validate_files import Verdict


@dataclass(frozen=True, slots=True)
class Checked:
    """Value of `validate-torrent-files`: the verdict with the matches it is about."""

    verdict: Verdict
    matches: tuple[FileMatch, ...]


def map_files(_ctx: FlowContext, job: Job) -> Outcome:
    """Return the torrent's files that hold a wanted film or episode."""
    task = job.data_as(MapTask)
    return Done(job.in_sandbox(task, len(task.files)))


def validate(_ctx: FlowContext, job: Job) -> Outcome:
    """Judge what the mapping found."""
    task = job.data_as(ValidateTask)
    matches = next((value for _, _, value in job.children.values() if isinstance(value, tuple)), ())
    verdict = job.in_sandbox(replace(task, matches=matches), len(task.files))
    if not isinstance(verdict, Verdict):
        raise BadAnswer("the judgement of a torrent's files is not a verdict")
    return Done(Checked(verdict, matches))


def useful(matches: Sequence[FileMatch], missing: frozenset[int]) -> tuple[FileMatch, ...]:
    """Return the matches that hold a leaf which still needs a file, with just those leaves."""
    kept = ((match, tuple(id_ for id_ in match.item_ids if id_ in missing)) for match in matches)
    return tuple(replace(match, item_ids=ids) for match, ids in kept if ids)
