"""A search that somebody watches: each search service by itself, what it brings judged and shown as it comes."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace

from program.errors import RivuletError
from program.events import ScrapeRequested
from program.manual.titles import Target
from program.media.release import JudgedRelease
from program.queues import JobSpec
from program.services.flows import names
from program.services.flows.context import FlowContext, Overrides
from program.services.flows.scrape_item import Search, SearchAnswer

# Beyond the time that the services themselves have, for judging what they bring.
JUDGING_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a search is. kind: `start`, `streams`, `error`, `complete`; releases: all so far, the accepted first, the best first.

    service: who has just answered.
    """

    kind: str
    message: str
    total: int
    done: int = 0
    service: str | None = None
    releases: tuple[JudgedRelease, ...] = ()


@dataclass(slots=True)
class _Found:
    """What came so far: one release per torrent."""

    total: int
    done: int = 0
    releases: dict[str, JudgedRelease] = field(default_factory=dict)

    def add(self, answer: SearchAnswer) -> None:
        for release in answer.judged:
            known = self.releases.get(release.infohash)
            if known is None or (known.rejection and not release.rejection):
                self.releases[release.infohash] = release

    def ranked(self) -> tuple[JudgedRelease, ...]:
        def place(release: JudgedRelease) -> tuple[bool, int, str]:
            return release.rejection is not None, -release.rank, release.infohash

        return tuple(sorted(self.releases.values(), key=place))

    def progress(self, kind: str, message: str, service: str | None = None) -> Progress:
        return Progress(
            kind=kind,
            message=message,
            total=self.total,
            done=self.done,
            service=service,
            releases=self.ranked(),
        )


def search(ctx: FlowContext, target: Target, overrides: Overrides) -> Iterator[Progress]:
    """Yield how a search goes; whoever stops listening lets the services under way finish by themselves."""
    keys = ctx.registry.hooks_for(ScrapeRequested.type)
    found = _Found(len(keys))
    yield found.progress("start", f"Searching {len(keys)} services for {target.name}")
    if not keys:
        yield found.progress("error", "No search service is set up or usable")
    else:
        # A thread for each: they do nothing but wait for a job.
        pool = ThreadPoolExecutor(len(keys), thread_name_prefix="manual-search")
        try:
            asked = {pool.submit(_ask, ctx, target, overrides, key): key for key in keys}
            for answer in as_completed(asked):
                yield _heard(found, asked[answer], answer)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    usable = sum(release.rejection is None for release in found.releases.values())
    yield found.progress("complete", f"{len(found.releases)} releases, {usable} of them fit")


def _ask(ctx: FlowContext, target: Target, overrides: Overrides, key: str) -> object:
    data = Search(target.wanted, target.name, only=(key,), overrides=replace(overrides, any_part=True))
    spec = JobSpec(queue=names.PARSE_SCRAPE_RESULTS, name=target.name, data=data)
    return ctx.engine.call(spec, ctx.settings().scraping.flow_deadline_seconds + JUDGING_SECONDS)


def _heard(found: _Found, key: str, answer: Future[object]) -> Progress:
    found.done += 1
    try:
        said = answer.result()
    except RivuletError as error:
        return found.progress("error", str(error), key)
    if not isinstance(said, SearchAnswer) or not said.answered:
        troubles = said.troubles if isinstance(said, SearchAnswer) else ()
        return found.progress("error", "; ".join(troubles) or f"{key}: no answer", key)
    found.add(said)
    return found.progress("streams", f"{key}: {len(said.judged)} releases", key)
