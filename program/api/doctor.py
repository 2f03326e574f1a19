"""The doctor over the API."""

from program.api.answers.state import DoctorBody, FindingBody
from program.api.context import ApiContext
from program.api.routes import Payload, Route
from program.doctor.check import Finding, Patient, Work, examine, worst
from program.doctor.checks import CHECKS
from program.queues.job import JobState


class DoctorQuery(Payload):
    """quick: only what asks no service and costs next to nothing."""

    quick: bool = False


def patient_of(context: ApiContext) -> Patient:
    """Return the running program as the doctor sees it."""
    return Patient(
        store=context.store,
        clock=context.clock,
        registry=context.registry,
        db=context.db,
        broken=context.broken,
        work=lambda: work_of(context),
    )


def work_of(context: ApiContext) -> Work:
    """Return how the work goes."""
    counts = context.engine.counts()
    return Work(
        state=context.state,
        failed={queue: states.get(JobState.FAILED, 0) for queue, states in counts.items()},
        waiting={queue: states.get(JobState.WAITING, 0) for queue, states in counts.items()},
        lag=context.loop().lag,
        listeners=context.streams.count(),
    )


def findings(context: ApiContext, *, quick: bool) -> list[Finding]:
    """Return what the doctor finds."""
    return examine(patient_of(context), CHECKS, quick=quick)


def doctor(context: ApiContext, query: DoctorQuery) -> DoctorBody:
    """Look at everything that can be wrong; each answer says what, why, and how to mend it."""
    found = findings(context, quick=query.quick)
    return DoctorBody(
        worst=worst(found).value, checks=[FindingBody.model_validate(one.as_dict()) for one in found]
    )


ROUTES = (
    Route(
        method="GET",
        rule="/doctor",
        handle=doctor,
        summary="Look at everything that can be wrong",
        tag="status",
        query=DoctorQuery,
        answer=DoctorBody,
    ),
)
