"""What a hook answers is checked down to the last field, and what is none is that plugin's fault alone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from program.errors import BadAnswer
from program.events import (
    CacheCheckRequested,
    ContentAnswer,
    ContentServiceRequested,
    CoreStarted,
    DownloadRequested,
    Event,
    LibraryScanRequested,
    MovieIndexRequested,
    ScanAnswer,
    ScrapeRequested,
    StreamLinkRequested,
    TorrentRemoveRequested,
)
from program.media.entry import FetchedTorrent, Link, TorrentFile
from program.media.item import Ids, MediaType, ReleaseKind
from program.media.metadata import ContentRequest, EpisodeMetadata, Metadata, SeasonMetadata
from program.media.release import FoundRelease
from program.media.wanted import Wanted
from program.plugins.answers import accepted

NOW = datetime(2031, 5, 1, tzinfo=UTC)
HASH = "a" * 40
GOOD = FoundRelease(HASH, "Sintel.2010.1080p", "sample")
SEARCH = ScrapeRequested(Wanted(item_id=1, type=MediaType.MOVIE, title="Sintel"))
INDEX = MovieIndexRequested(Ids(tmdb="45745"))
LINK = StreamLinkRequested("1", "2", None, "Sintel.mkv", 9)


def release(**facts: Any) -> FoundRelease:
    return FoundRelease(**{"infohash": HASH, "raw_title": "Sintel", "source": "sample", **facts})


def film(**facts: Any) -> Metadata:
    return Metadata(**{"ids": Ids(tmdb="45745"), "title": "Sintel", **facts})


@pytest.mark.parametrize(
    ("event", "answer"),
    [
        (SEARCH, ()),
        (SEARCH, (GOOD, release(size=5, seeders=0, cached_at=("vault",)))),
        (INDEX, None),
        (INDEX, film(releases={ReleaseKind.DIGITAL: NOW}, genres=("short",))),
        (ContentServiceRequested(), ContentAnswer(())),
        (DownloadRequested(HASH), FetchedTorrent("vault", "1", HASH, "Sintel", (TorrentFile("a", 1, "1"),))),
        (CacheCheckRequested((HASH,)), {HASH: (TorrentFile("a", 1, "1"),)}),
        (TorrentRemoveRequested("1"), None),
        (LINK, Link("https://cdn.example/1", NOW, "vault")),
    ],
)
def test_an_answer_that_is_one_passes_as_it_is(event: Event, answer: object) -> None:
    assert accepted("sample", event, answer) is answer or accepted("sample", event, answer) == answer


@pytest.mark.parametrize(
    ("event", "answer", "said"),
    [
        (SEARCH, None, "its answer is None, not a tuple"),
        (SEARCH, "<html>", "its answer is a str, not a tuple"),
        (SEARCH, [GOOD], "its answer is a list, not a tuple"),
        (
            SEARCH,
            ({"infohash": HASH},),
            "none of 1 releases is one: its answer is a dict, not a FoundRelease",
        ),
        (
            SEARCH,
            (release(infohash="ABC"),),
            "none of 1 releases is one: infohash is not 40 digits in lower case",
        ),
        (SEARCH, (release(raw_title=None),), "none of 1 releases is one: raw_title is None, not a str"),
        (SEARCH, (release(size="2 GB"),), "none of 1 releases is one: size is a str, not an int"),
        (SEARCH, (release(seeders=2**63),), "none of 1 releases is one: seeders is too large a number"),
        (INDEX, film(title=None), "title is None, not a str"),
        (INDEX, film(ids=Ids(tmdb=45745)), "ids.tmdb is a int, not a str"),  # type: ignore[arg-type]
        (
            INDEX,
            film(releases={ReleaseKind.DIGITAL: datetime(2031, 5, 1)}),  # noqa: DTZ001
            "releases[<ReleaseKind.DIGITAL: 'digital'>] is a datetime without a time zone",
        ),
        (
            INDEX,
            film(seasons=(SeasonMetadata(number=1, title="", episodes=(None,)),)),  # type: ignore[arg-type]
            "seasons[0].episodes[0] is None, not a EpisodeMetadata",
        ),
        (
            INDEX,
            film(
                seasons=(
                    SeasonMetadata(
                        number=1,
                        title="",
                        episodes=(EpisodeMetadata(service_id="1", number=True, title=""),),
                    ),
                )
            ),
            "seasons[0].episodes[0].number is a bool, not an int",
        ),
        (
            ContentServiceRequested(),
            ContentAnswer([ContentRequest(source="x", is_movie=True, ids=Ids())]),  # type: ignore[arg-type]
            "requests is a list, not a tuple",
        ),
        (DownloadRequested(HASH), None, "its answer is None, not a FetchedTorrent"),
        (CacheCheckRequested(()), {HASH: None}, f"['{HASH}'] is None, not a tuple"),
        (TorrentRemoveRequested("1"), True, None),
        (LINK, Link("https://cdn.example/\0", None, "vault"), "url holds a character that cannot be stored"),
        (
            LibraryScanRequested(MediaType.MOVIE, Ids(), "", None, None, None, "", "", scan=True),
            ScanAnswer("yes", ""),  # type: ignore[arg-type]
            "has_title is a str, not a bool",
        ),
    ],
)
def test_an_answer_that_is_none_is_named_with_its_place(
    event: Event, answer: object, said: str | None
) -> None:
    if said is None:
        assert accepted("sample", event, answer) is None
        return
    with pytest.raises(BadAnswer) as error:
        accepted("sample", event, answer)
    assert str(error.value) == f"sample: {said}"


def test_a_broken_release_costs_only_itself() -> None:
    found = accepted("sample", SEARCH, (release(infohash="x"), GOOD, release(raw_title=" "), 7))
    assert found == (GOOD,)


def test_what_a_told_hook_returns_is_dropped() -> None:
    assert accepted("sample", CoreStarted(), "thanks") is None
