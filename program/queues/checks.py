"""What is looked at before a tree of jobs is added, so that nothing of a wrong one ever is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from program.queues.errors import InvalidJob
from program.queues.flow import Flows
from program.queues.job import JobSpec
from program.queues.record import Record

# The ids by which an added job may turn out to be one that is already there: (queue, kind, id).
Path: TypeAlias = frozenset[tuple[str, str, str]]


def check(flows: Flows, spec: JobSpec, path: Path = frozenset()) -> None:
    """Return when every queue of the tree takes its job; raise `InvalidJob` with what is wrong.

    path: the ids of the jobs above; one of them again would be a job that waits for itself.
    """
    flows.lane(spec.queue).definition.check_input(spec.data)
    if spec.attempts < 1:
        raise InvalidJob(f"{spec.queue} {spec.name}: a job needs at least one attempt")
    ids = frozenset(_ids(spec))
    if ids & path:
        raise InvalidJob(f"{spec.queue} {spec.name} would wait for itself")
    check_children(flows, spec.queue, spec.children, path | ids)


def check_children(flows: Flows, queue: str, children: tuple[JobSpec, ...], path: Path) -> None:
    """Return when a job of `queue` may wait for these children; raise `InvalidJob` otherwise."""
    definition = flows.lane(queue).definition
    for child in children:
        if not definition.may_have(child.queue):
            raise InvalidJob(f"{queue} may not have a child in {child.queue}")
        check(flows, child, path)


def path_of(record: Record) -> Path:
    """Return the ids of a live job and of those that wait for it."""
    return frozenset(id_ for above in (record, *record.above()) for id_ in _ids(above.spec))


def _ids(spec: JobSpec) -> Iterator[tuple[str, str, str]]:
    if spec.job_id is not None:
        yield spec.queue, "id", spec.job_id
    if spec.dedup_id is not None:
        yield spec.queue, "dedup", spec.dedup_id
