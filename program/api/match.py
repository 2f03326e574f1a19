"""Explaining choices: release names against a title of the library or a made-up one."""

from datetime import UTC, date, datetime, time
from hashlib import sha1

from pydantic import Field, JsonValue, model_validator

from program.api.answers.base import Body
from program.api.answers.stories import RuleBody
from program.api.context import ApiContext
from program.api.explained import names_folder, rules_of, wanted_of
from program.api.payloads import ItemId
from program.api.routes import Payload, Route
from program.media.item import MediaType, Title
from program.media.release import FoundRelease
from program.media.wanted import Wanted, WantedEpisode
from program.services.matching.explain import Difference, Explained, best_first, chain, explain_releases
from program.services.matching.kept_names import kept_in
from program.settings.ranking import RankingOptions

MOST_NAMES = 500
LONGEST_NAME = 1000
# The item itself and the episode in it, which no database knows.
_MADE_UP, _MADE_UP_EPISODE = 1, 2


class MadeUpItem(Payload):
    """A title that need not be in the library."""

    type: MediaType = Field(description="movie, show, season or episode", strict=False)
    title: str = Field(min_length=1, max_length=LONGEST_NAME)
    original_title: str | None = None
    aliases: list[str] = Field(default=[], description="Other names of it")
    other_titles: list[str] = Field(default=[], description="Names that belong to another known title")
    year: int | None = Field(default=None, description="Of the film or the show")
    season: int | None = Field(default=None, ge=0)
    episode: int | None = Field(default=None, ge=0)
    absolute: int | None = Field(default=None, ge=0, description="The episode's number over the whole show")
    aired: date | None = Field(default=None, description="When the episode or film came out", strict=False)
    country: str | None = Field(default=None, description="ISO 3166-1, two letters")
    language: str | None = Field(default=None, description="Original language, ISO 639-1")
    runtime: int | None = Field(default=None, ge=1, description="Minutes")
    is_anime: bool = False

    @model_validator(mode="after")
    def _is_whole(self) -> "MadeUpItem":
        if self.type in (MediaType.SEASON, MediaType.EPISODE) and self.season is None:
            raise ValueError("a season or an episode needs the number of its season")
        if self.type is MediaType.EPISODE and self.episode is None:
            raise ValueError("an episode needs its number")
        return self

    def wanted(self) -> Wanted:
        """Return it as the rules see it."""
        aired = datetime.combine(self.aired, time(), UTC) if self.aired else None
        is_episode = self.type is MediaType.EPISODE
        episode = WantedEpisode(
            item_id=_MADE_UP_EPISODE,
            season=self.season or 0,
            number=self.episode or 0,
            absolute=self.absolute,
            aired_at=aired,
            runtime=self.runtime,
        )
        return Wanted(
            item_id=_MADE_UP_EPISODE if is_episode else _MADE_UP,
            type=self.type,
            title=self.title,
            original_title=self.original_title,
            titles=tuple(Title(text) for text in self.aliases),
            year=self.year,
            season=self.season,
            episode=self.episode,
            absolute=self.absolute,
            episodes=(episode,) if is_episode else (),
            runtime=self.runtime,
            released_at=aired,
            country=self.country.lower() if self.country else None,
            language=self.language.lower() if self.language else None,
            is_anime=self.is_anime,
            other_titles=tuple(self.other_titles),
        )


class ReleasePayload(Payload):
    """One release as a scraper would tell it."""

    title: str = Field(max_length=LONGEST_NAME)
    size: int | None = Field(default=None, ge=0, description="Bytes")
    seeders: int | None = Field(default=None, ge=0)
    is_cached: bool = False


class ExplainPayload(Payload):
    """A title of the library by its id, or a made-up one, and names of releases."""

    item_id: ItemId | None = None
    item: MadeUpItem | None = None
    releases: list[str | ReleasePayload] = Field(min_length=1, max_length=MOST_NAMES)

    @model_validator(mode="after")
    def _has_one_item(self) -> "ExplainPayload":
        if (self.item_id is None) is (self.item is None):
            raise ValueError("give either item_id or item")
        return self

    def found(self) -> list[FoundRelease]:
        """Return the releases, each with a hash made up from its place and name."""
        whole = [ReleasePayload(title=one) if isinstance(one, str) else one for one in self.releases]
        return [
            FoundRelease(
                infohash=sha1(f"{place} {one.title}".encode(), usedforsecurity=False).hexdigest(),
                raw_title=one.title,
                source="explain",
                size=one.size,
                seeders=one.seeders,
                cached_at=("said so",) if one.is_cached else (),
            )
            for place, one in enumerate(whole)
        ]


class ExplainedBody(Body):
    """One release with everything for and against it.

    title and year: the reading of its name that fits best; known_name: the name of the item that it fits.
    """

    name: str
    accepted: bool
    rejection: str | None
    title: str
    year: int | None
    known_name: str | None
    similarity: float
    rules: list[RuleBody]
    score: dict[str, int]
    rank: int
    resolution: str
    parsed: dict[str, JsonValue]


class DifferenceBody(Body):
    """What puts a release above the next one; by: resolution, rank, cached, seeders, size or hash."""

    above: str
    below: str
    by: str
    sentence: str


class ExplainBody(Body):
    """The releases in the order given; best_first: the accepted ones by name."""

    releases: list[ExplainedBody]
    best_first: list[str]
    differences: list[DifferenceBody]


def explain(context: ApiContext, body: ExplainPayload) -> ExplainBody:
    """Explain which releases would be taken, and in which order."""
    if body.item is not None:
        wanted, ranking = body.item.wanted(), context.store.current.ranking.plain()
    else:
        wanted, ranking = wanted_of(context, body.item_id or 0)
    with kept_in(names_folder(context)):
        explained = explain_releases(wanted, body.found(), ranking, context.clock.now())
    return answer(explained, ranking)


def answer(explained: tuple[Explained, ...], ranking: RankingOptions) -> ExplainBody:
    """Return the answer of the call."""
    ranked = best_first(explained, ranking)
    return ExplainBody(
        releases=[_release(one) for one in explained],
        best_first=[one.release.raw_title for one in ranked],
        differences=[_difference(one) for one in chain(ranked, ranking)],
    )


def _release(one: Explained) -> ExplainedBody:
    release = one.release
    return ExplainedBody(
        name=release.raw_title,
        accepted=one.is_accepted,
        rejection=release.rejection.sentence if release.rejection else None,
        title=one.title,
        year=one.year,
        known_name=one.known_name or None,
        similarity=release.similarity,
        rules=rules_of(one),
        score=dict(release.score),
        rank=release.rank,
        resolution=release.resolution,
        parsed=dict(release.parsed),
    )


def _difference(one: Difference) -> DifferenceBody:
    return DifferenceBody(
        above=one.above.raw_title, below=one.below.raw_title, by=one.by, sentence=one.sentence
    )


ROUTES = (
    Route(
        method="POST",
        rule="/match/explain",
        handle=explain,
        summary="Explain which releases would be taken for a title, rule by rule, and in which order",
        tag="match",
        body=ExplainPayload,
        answer=ExplainBody,
    ),
)
