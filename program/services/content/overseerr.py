"""Overseerr, Jellyseerr and Seerr: request apps; asked every few minutes, and told by their webhook."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated

from loguru import logger
from pydantic import BaseModel, BeforeValidator, Field, HttpUrl, SecretStr, TypeAdapter, ValidationError

from program.errors import BadAnswer
from program.http import AnyId, Limits, place
from program.media.item import Ids
from program.media.metadata import ContentRequest
from program.network import Reach
from program.services.plugin import ContentService
from program.settings.provider import ProviderSettings

# Every app of the family knows these parameters; an unknown one is a 400.
COMMON = {"filter": "approved", "sort": "added"}
PAGE = 100
# Status of a request and of each of its seasons.
PENDING, APPROVED, DECLINED, COMPLETED = 1, 2, 3, 5
# What the webhook tells when a wish becomes ours; all else adds nothing.
ACTED_ON = frozenset({"MEDIA_APPROVED", "MEDIA_AUTO_APPROVED"})
SEASONS = "Requested Seasons"

# In webhooks every value is a string and "" means none.
Blank = Annotated[AnyId | None, BeforeValidator(lambda value: None if value == "" else value)]


class OverseerrSettings(ProviderSettings):
    """Settings of the request app."""

    url: HttpUrl = Field(HttpUrl("http://localhost:5055"), description="Address of the app")
    api_key: SecretStr = Field(SecretStr(""), description="API key (Settings, General)")


class Media(BaseModel):
    """The title of a request."""

    tmdb: AnyId = Field(alias="tmdbId")
    tvdb: AnyId | None = Field(None, alias="tvdbId")
    imdb: str | None = Field(None, alias="imdbId")


class Season(BaseModel):
    """A season of a request with the request's status of it."""

    number: int = Field(alias="seasonNumber")
    status: int = APPROVED


class Person(BaseModel):
    """Who asked."""

    name: str | None = Field(None, alias="displayName")


class Wish(BaseModel):
    """A request."""

    id: AnyId
    status: int
    type: str
    is_4k: bool = Field(False, alias="is4k")
    media: Media
    seasons: list[Season] = Field(default_factory=list)
    requested_by: Person | None = Field(None, alias="requestedBy")


class PageInfo(BaseModel):
    """How many requests there are in all."""

    results: int


class Page(BaseModel):
    """A page of requests; each row is read by itself."""

    info: PageInfo = Field(alias="pageInfo")
    results: list[object]


class HookMedia(BaseModel):
    """The title in a webhook."""

    type: str = Field(alias="media_type")
    tmdb: Blank = Field(None, alias="tmdbId")
    tvdb: Blank = Field(None, alias="tvdbId")


class HookRequest(BaseModel):
    """The request in a webhook."""

    id: Blank = Field(None, alias="request_id")
    name: Blank = Field(None, alias="requestedBy_username")


class Extra(BaseModel):
    """A further value in a webhook."""

    name: str
    value: AnyId = ""


class Hook(BaseModel):
    """A webhook's body; users may have edited its template."""

    type: str = Field(alias="notification_type")
    event: str | None = None
    media: HookMedia | None = None
    request: HookRequest | None = None
    extra: list[Extra] = Field(default_factory=list)


_WISH = TypeAdapter(Wish)
_HOOK = TypeAdapter(Hook)


class Overseerr(ContentService[OverseerrSettings]):
    """Approved requests, films and shows with the seasons asked for; 4K requests are for another library."""

    key = "overseerr"
    title = "Overseerr"
    Settings = OverseerrSettings
    limits = Limits(requests=120, seconds=60)
    poll_seconds = 60
    reach = Reach.HOME

    @classmethod
    def address(cls, settings: OverseerrSettings) -> str:
        """Return the address of the API."""
        return f"{str(settings.url).rstrip('/')}/api/v1"

    @classmethod
    def headers(cls, settings: OverseerrSettings) -> Mapping[str, str]:
        """Return the key."""
        return {"X-Api-Key": settings.api_key.get_secret_value()}

    def check(self) -> None:
        """Return when the key is good (`/status` answers without one)."""
        self.http.read("/auth/me", TypeAdapter(dict[str, object]), fresh=True)

    def wanted(self) -> Iterable[ContentRequest]:
        """Return every approved request."""
        return tuple(request for wish in self._wishes() if (request := self._request(wish)) is not None)

    def webhook(self, headers: Mapping[str, str], body: bytes) -> tuple[ContentRequest, ...]:  # noqa: ARG002
        """Return what a webhook asks for; raise `BadAnswer` with the place. What it lacks is asked of the app."""
        try:
            hook = _HOOK.validate_json(body)
        except ValidationError as error:
            raise BadAnswer(f"{self.key}: webhook: {place(error)}") from None
        if hook.type not in ACTED_ON or (hook.event or "").startswith("4K "):
            return ()
        told = _told(hook)
        if told is not None:
            return (told,)
        if hook.request is not None and hook.request.id is not None:
            asked = self._request(self.http.read(f"/request/{hook.request.id}", Wish, fresh=True))
            return (asked,) if asked else ()
        if hook.media is None or hook.media.tmdb is None:
            raise BadAnswer(f"{self.key}: webhook: media.tmdbId: is missing, and so is request.request_id")
        is_movie = hook.media.type == "movie"
        return tuple(
            one for one in self.wanted() if one.is_movie == is_movie and one.ids.tmdb == hook.media.tmdb
        )

    def _wishes(self) -> Iterator[Wish]:
        """Yield the rows of all pages, each once: the list shifts while it is paged."""
        seen: set[str] = set()
        skip, total = 0, 1
        while skip < total:
            page = self.http.read("/request", Page, params={"take": PAGE, "skip": skip, **COMMON}, fresh=True)
            for row in page.results:
                wish = self._wish(row)
                if wish is not None and wish.id not in seen:
                    seen.add(wish.id)
                    yield wish
            if not page.results:
                return
            skip, total = skip + PAGE, page.info.results

    def _wish(self, row: object) -> Wish | None:
        try:
            return _WISH.validate_python(row)
        except ValidationError as error:
            # One odd row must not cost the others.
            logger.bind(provider=self.key).warning("{}: a request was skipped: {}", self.key, place(error))
            return None

    def _request(self, wish: Wish) -> ContentRequest | None:
        if wish.status not in (APPROVED, COMPLETED) or wish.type not in ("movie", "tv"):
            return None
        if wish.is_4k:
            logger.bind(provider=self.key).debug("{}: request {} is for 4K and left alone", self.key, wish.id)
            return None
        is_movie = wish.type == "movie"
        seasons = tuple(sorted(one.number for one in wish.seasons if one.status not in (PENDING, DECLINED)))
        return ContentRequest(
            source=self.key,
            is_movie=is_movie,
            ids=Ids(imdb=wish.media.imdb or None, tmdb=wish.media.tmdb, tvdb=wish.media.tvdb),
            external_id=wish.id,
            requested_by=wish.requested_by.name if wish.requested_by else None,
            seasons=seasons if wish.seasons and not is_movie else None,
        )


def _told(hook: Hook) -> ContentRequest | None:
    """Return the request when the webhook tells all of it; raise `BadAnswer` for seasons that are no numbers."""
    media, request = hook.media, hook.request
    if media is None or media.tmdb is None:
        return None
    seasons: tuple[int, ...] | None = None
    if media.type != "movie":
        named = next((extra.value for extra in hook.extra if extra.name == SEASONS), None)
        if named is None:
            return None
        words = [word.strip() for word in named.split(",")]
        if not all(word.isdigit() for word in words):
            raise BadAnswer(f"{Overseerr.key}: webhook: extra.{SEASONS}: numbers are due")
        seasons = tuple(sorted({int(word) for word in words}))
    return ContentRequest(
        source=Overseerr.key,
        is_movie=media.type == "movie",
        ids=Ids(tmdb=media.tmdb, tvdb=media.tvdb),
        external_id=request.id if request else None,
        requested_by=request.name if request else None,
        seasons=seasons,
    )
