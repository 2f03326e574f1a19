"""Dates and who moves what: no unfinished title without a date, no row that is due and idle, and the exact waits."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import combinations_with_replacement, islice, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from program.media.item import (
    Confirmation,
    Contradiction,
    Item,
    Node,
    QueueClass,
    ReleaseKind,
    Schedule,
    ShowStatus,
    States,
)
from program.media.schedule import CONFIRM_AFTER
from program.media.settle import settle, settled
from program.media.state import Policy
from program.state_transition import Step, process_event
from tests.support.titles import FUTURE, INDEXED, LEAF_FACTS, NOW, PAST, episode, movie, season, show

S = States
POLICY = Policy()
HALF_HOUR = timedelta(minutes=30)


def dates(root: Node, item_id: int | None = None, policy: Policy = POLICY) -> Schedule:
    found = settled(root, NOW, policy).find(item_id or root.item.id)
    assert found is not None
    return found.item.schedule


def step(root: Node, item_id: int | None = None, policy: Policy = POLICY) -> Step | None:
    return process_event(settled(root, NOW, policy), item_id or root.item.id, NOW, policy)


# Who moves what -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "service", "queue", "name"),
    [
        (S.Requested, "indexer", "process-item-request", None),
        (S.Indexed, "scraping", "process-media-item", "scrape"),
        (S.Scraped, "downloader", "process-media-item", "download"),
        (S.Downloaded, "filesystem", "process-media-item", "complete"),
        (S.Symlinked, "updater", "process-media-item", "complete"),
    ],
)
def test_each_state_has_its_service(state: States, service: str, queue: str, name: str | None) -> None:
    found = step(movie(state))
    assert found is not None
    assert (found.service, found.queue, found.step) == (service, queue, name)


def test_a_confirmed_film_is_post_processed_once() -> None:
    fresh = movie(S.Completed, post_processed_at=None)
    found = step(fresh)
    assert found is not None
    assert (found.service, found.queue) == ("post_processing", "post-process-media-item")
    assert step(movie(S.Completed)) is None
    assert dates(movie(S.Completed)).next_attempt_at is None


def test_post_processing_is_given_up_after_three_failures() -> None:
    assert step(movie(S.Completed, post_processed_at=None, post_failures=2)) is not None
    assert step(movie(S.Completed, post_processed_at=None, post_failures=3)) is None


@pytest.mark.parametrize("state", [S.Paused, S.Failed])
def test_a_stopped_film_waits_for_a_person(state: States) -> None:
    assert step(movie(state)) is None
    assert dates(movie(state)).next_attempt_at is None
    assert "waits for you" in (dates(movie(state)).next_reason or "")


@pytest.mark.parametrize("state", [S.Paused, S.Failed])
def test_what_is_stopped_has_no_next_step_whatever_its_dates_say(state: States) -> None:
    film = settled(movie(state), NOW, POLICY)
    due = Node(replace(film.item, schedule=Schedule(next_attempt_at=PAST)))
    assert process_event(due, film.item.id, NOW, POLICY) is None


def test_what_is_beneath_something_paused_has_no_next_step_whatever_its_dates_say() -> None:
    for stopped, expected in ((None, "scraping"), (NOW, None)):
        root = settled(show([season([S.Indexed, S.Unreleased])], paused_at=stopped), NOW, POLICY)
        leaf = next(root.leaves()).item
        due = replace(leaf, schedule=Schedule(next_attempt_at=PAST))
        parts = (Node(root.children[0].item, (Node(due), *root.children[0].children[1:])),)
        found = process_event(Node(root.item, parts), leaf.id, NOW, POLICY)
        assert (found.service if found else None) == expected


def test_nonsense_of_a_later_service_is_searched_again() -> None:
    found = step(
        movie(S.Indexed, contradiction=Contradiction("its files are of a series", with_metadata=True))
    )
    assert found is not None
    assert (found.service, found.step) == ("scraping", "scrape")


def test_an_unreleased_film_waits_for_its_date() -> None:
    film = movie(S.Unreleased)
    assert step(film) is None
    assert dates(film).next_attempt_at == FUTURE + HALF_HOUR
    assert dates(film).reindex_at == FUTURE + HALF_HOUR


def test_on_its_date_a_film_is_looked_up_again_before_it_is_searched() -> None:
    film = settled(movie(S.Unreleased), NOW, POLICY)
    day = FUTURE + HALF_HOUR
    found = process_event(settled(film, day, POLICY), film.item.id, day, POLICY)
    assert found is not None
    assert found.service == "indexer"
    indexed = Node(film.item.with_facts(indexed_at=day))
    found = process_event(settled(indexed, day, POLICY), film.item.id, day, POLICY)
    assert found is not None
    assert found.service == "scraping"


def test_an_outage_of_the_indexer_does_not_hold_back_a_search() -> None:
    film = movie(S.Unreleased, index_hold_until=FUTURE + timedelta(hours=3))
    day = FUTURE + HALF_HOUR
    found = process_event(settled(film, day, POLICY), film.item.id, day, POLICY)
    assert found is not None
    assert found.service == "scraping"


def test_descendants_of_a_paused_show_keep_their_states_and_are_not_due() -> None:
    root = show([season([S.Indexed, S.Scraped])], paused_at=NOW)
    after = settled(root, NOW, POLICY)
    states = [leaf.item.last_state for leaf in after.leaves()]
    assert states == [S.Indexed, S.Scraped]
    for node in after.walk():
        assert node.item.schedule.next_attempt_at is None
        assert node.item.schedule.reindex_at is None
        assert process_event(after, node.item.id, NOW, POLICY) is None


def test_a_row_nobody_asked_for_has_no_dates() -> None:
    root = show([season([episode(S.Indexed, is_requested=False)], is_requested=False)])
    leaf = next(root.leaves())
    assert dates(root, leaf.item.id) == Schedule()


# Searches -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("times", "wait"),
    [(1, 0.5), (2, 2), (4, 2), (5, 6), (9, 6), (10, 24), (50, 24)],
)
def test_the_wait_after_a_search_in_vain_grows(times: int, wait: float) -> None:
    film = movie(S.Indexed, scraped_times=times, scraped_at=NOW)
    assert dates(film).next_attempt_at == NOW + timedelta(hours=wait)


def test_a_hold_lasts_longer_than_a_search_that_is_due() -> None:
    film = movie(
        S.Indexed,
        hold_until=NOW + timedelta(minutes=5),
        hold_reason="retry after an error: no scraper answered",
    )
    assert dates(film).next_attempt_at == NOW + timedelta(minutes=5)
    assert dates(film).next_reason == "retry after an error: no scraper answered"


def test_a_date_that_is_due_keeps_its_place_in_the_line() -> None:
    film = movie(S.Indexed)
    earlier = NOW - timedelta(minutes=3)
    waiting = Node(replace(film.item, schedule=Schedule(next_attempt_at=earlier)))
    assert dates(waiting).next_attempt_at == earlier
    assert dates(film).next_attempt_at == NOW


# Packs --------------------------------------------------------------------------------------------------------------------


def test_a_released_season_is_searched_as_a_pack_and_its_episodes_wait() -> None:
    one = season([S.Indexed, S.Indexed])
    root = show([one])
    found = step(root, one.item.id)
    assert found is not None
    assert (found.service, found.item_id) == ("scraping", one.item.id)
    for leaf in one.leaves():
        assert dates(root, leaf.item.id).next_attempt_at is None
        assert dates(root, leaf.item.id).next_reason == "with the search of Season 1"


def test_a_season_with_an_episode_to_come_is_searched_singly() -> None:
    one = season([S.Indexed, S.Unreleased])
    root = show([one], status=ShowStatus.CONTINUING)
    assert dates(root, one.item.id).next_attempt_at is None
    assert step(root, one.children[0].item.id) is not None
    assert dates(root, one.children[1].item.id).next_attempt_at == FUTURE + HALF_HOUR


def test_a_pack_that_was_found_is_downloaded_before_its_episodes_are_searched() -> None:
    one = season([S.Indexed, S.Indexed], usable_streams=2, scraped_at=NOW)
    root = show([one])
    found = step(root, one.item.id)
    assert found is not None
    assert found.service == "downloader"
    assert dates(root, one.children[0].item.id).next_attempt_at is None


def test_after_a_pack_miss_episodes_that_were_never_searched_go_to_the_front() -> None:
    searched = episode(S.Indexed, number=2, scraped_times=1, scraped_at=NOW - timedelta(minutes=10))
    one = season([episode(S.Indexed), searched], scraped_times=1, scraped_at=NOW)
    root = show([one])
    assert dates(root, one.item.id).next_attempt_at == NOW + HALF_HOUR
    found = step(root, one.children[0].item.id)
    assert found is not None
    assert found.queue_class is QueueClass.FRONT
    assert not found.is_root_item
    assert dates(root, searched.item.id).next_attempt_at == NOW + timedelta(minutes=20)


def test_a_pack_that_brought_a_part_leaves_the_rest_to_single_searches() -> None:
    one = season([S.Downloaded, S.Indexed], usable_streams=1, active_stream="c" * 40, scraped_at=NOW)
    root = show([one])
    assert dates(root, one.item.id).next_attempt_at is None
    found = step(root, one.children[1].item.id)
    assert found is not None
    assert (found.service, found.item_id) == ("scraping", one.children[1].item.id)


def test_a_pack_that_keeps_failing_no_longer_holds_back_its_episodes() -> None:
    waiting = {"hold_until": NOW + timedelta(hours=1), "hold_reason": "retry after an error"}
    one = season([S.Indexed, S.Indexed], failures=2, **waiting)
    root = show([one])
    assert dates(root, one.children[0].item.id).next_attempt_at is None
    tired = season([S.Indexed, S.Indexed], failures=3, **waiting)
    root = show([tired])
    assert dates(root, tired.children[0].item.id).next_attempt_at == NOW


def test_an_ended_show_is_searched_before_its_seasons_when_packs_are_preferred() -> None:
    policy = Policy(prefer_packs=True)
    one, two = season([S.Indexed]), season([S.Indexed], number=2)
    root = show([one, two])
    found = step(root, root.item.id, policy)
    assert found is not None
    assert (found.service, found.item_id) == ("scraping", root.item.id)
    assert dates(root, two.item.id, policy).next_reason == "with the search of Pioneer One"
    missed = replace(root, item=root.item.with_facts(scraped_times=1, scraped_at=NOW))
    found = step(missed, two.item.id, policy)
    assert found is not None
    assert found.queue_class is QueueClass.FRONT


def test_a_season_whose_rest_failed_says_who_must_act() -> None:
    root = show([season([S.Completed, S.Failed])])
    assert dates(root, root.children[0].item.id).next_reason == "waits for you: 1 failed"
    assert dates(root).next_reason == "waits for you: 1 failed"


# Confirming ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", range(1, len(CONFIRM_AFTER)))
def test_a_media_server_is_asked_at_growing_intervals(asked: int) -> None:
    registered = NOW - CONFIRM_AFTER[asked - 1]
    known = Confirmation("plex", asked_times=asked, asked_at=NOW)
    film = movie(S.Symlinked, registered_at=registered, confirmations=(known,))
    assert dates(film, policy=Policy(servers=("plex",))).next_attempt_at == registered + CONFIRM_AFTER[asked]


def test_the_earliest_question_of_several_servers_counts() -> None:
    known = (
        Confirmation("plex", asked_times=11, asked_at=NOW),
        Confirmation("emby", asked_times=1, asked_at=NOW),
    )
    film = movie(S.Symlinked, registered_at=NOW, confirmations=known)
    found = dates(film, policy=Policy(servers=("plex", "emby"), titles={"emby": "Emby"}))
    assert found.next_attempt_at == NOW + timedelta(seconds=1)
    assert found.next_reason == "Emby is asked for it"


def test_after_the_last_question_the_film_is_looked_at_once_more() -> None:
    known = Confirmation("plex", asked_times=11, asked_at=NOW - timedelta(seconds=1))
    film = movie(S.Symlinked, registered_at=NOW - timedelta(hours=6), confirmations=(known,))
    found = step(film, policy=Policy(servers=("plex",)))
    assert found is not None
    assert found.service == "updater"


def test_questions_that_came_late_keep_their_distance() -> None:
    known = Confirmation("plex", asked_times=9, asked_at=NOW)
    film = movie(S.Symlinked, registered_at=NOW - timedelta(days=2), confirmations=(known,))
    assert dates(film, policy=Policy(servers=("plex",))).next_attempt_at == NOW + timedelta(minutes=45)


def test_questions_about_an_earlier_file_do_not_count() -> None:
    known = Confirmation(
        "plex", asked_times=11, asked_at=NOW - timedelta(days=3), confirmed_at=NOW - timedelta(days=3)
    )
    film = movie(S.Symlinked, registered_at=NOW, confirmations=(known,))
    assert dates(film, policy=Policy(servers=("plex",))).next_attempt_at == NOW


def test_another_server_is_asked_on_when_one_has_confirmed() -> None:
    known = (
        Confirmation("plex", asked_times=1, asked_at=NOW, confirmed_at=NOW),
        Confirmation("emby", asked_times=1, asked_at=NOW - timedelta(seconds=1)),
    )
    times = {"confirmed_at": NOW, "confirmed_by": "plex", "post_processed_at": NOW}
    film = movie(S.Completed, registered_at=NOW - timedelta(seconds=1), confirmations=known, **times)
    policy = Policy(servers=("plex", "emby"))
    assert dates(film, policy=policy).next_attempt_at == NOW
    found = step(film, policy=policy)
    assert found is not None
    assert (found.service, found.step) == ("updater", "complete")


def test_a_server_that_is_enabled_later_is_not_asked_for_the_old_library() -> None:
    assert dates(movie(S.Completed), policy=Policy(servers=("plex",))).next_attempt_at is None
    long_ago = {
        "registered_at": PAST,
        "confirmed_at": PAST,
        "confirmed_by": "emby",
        "post_processed_at": PAST,
    }
    assert dates(movie(S.Completed, **long_ago), policy=Policy(servers=("plex",))).next_attempt_at is None


# Re-index -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("failures", "hours"), [(1, 1), (2, 2), (3, 4), (5, 16), (6, 24), (9, 24)])
def test_a_title_that_is_not_found_is_asked_for_ever_more_rarely(failures: int, hours: int) -> None:
    film = movie(S.Requested, index_failures=failures, index_tried_at=NOW)
    assert dates(film).reindex_at == NOW + timedelta(hours=hours)
    assert step(film) is None


def test_a_title_of_the_wrong_type_is_looked_up_again() -> None:
    wrong = Contradiction("the id belongs to a series", with_metadata=False)
    film = movie(S.Indexed, contradiction=wrong, index_failures=1, index_tried_at=NOW)
    assert dates(film).reindex_at == NOW + timedelta(hours=1)
    assert dates(film).next_attempt_at is None


def test_a_film_without_any_date_is_looked_up_every_week() -> None:
    film = movie(releases={})
    assert dates(film).reindex_at == INDEXED + timedelta(days=7)
    assert dates(film).next_attempt_at is None


def test_a_date_guessed_from_cinemas_is_looked_up_every_week() -> None:
    film = movie(releases={ReleaseKind.THEATRICAL: NOW})
    assert dates(film).reindex_at == INDEXED + timedelta(days=7)
    assert dates(film).next_attempt_at == NOW + timedelta(days=90)


def test_a_continuing_show_is_looked_up_at_its_next_air_time_or_daily() -> None:
    airs = season([S.Completed, S.Unreleased])
    root = show([airs], status=ShowStatus.CONTINUING, wants_future=True)
    assert dates(root).reindex_at == FUTURE + HALF_HOUR
    root = show([season([S.Completed])], status=ShowStatus.CONTINUING, wants_future=True, indexed_at=NOW)
    assert dates(root).reindex_at == NOW + timedelta(hours=24)


def test_a_finished_wish_is_not_looked_up_daily_though_the_show_goes_on() -> None:
    seasons = [
        season([S.Completed]),
        season([episode(S.Unreleased, is_requested=False)], number=2, is_requested=False),
    ]
    assert dates(show(seasons, status=ShowStatus.CONTINUING, wanted_seasons=(1,))).reindex_at is None


def test_a_season_that_is_not_known_yet_is_asked_for() -> None:
    root = show([season([S.Completed])], status=ShowStatus.CONTINUING, wanted_seasons=(1, 2), indexed_at=NOW)
    assert dates(root).reindex_at == NOW + timedelta(hours=24)
    root = show([season([S.Completed])], wanted_seasons=(1, 2), indexed_at=NOW)
    assert dates(root).reindex_at == NOW + timedelta(days=7)


def test_a_title_just_looked_up_is_left_alone_for_an_hour() -> None:
    film = movie(releases={ReleaseKind.DIGITAL: NOW - timedelta(minutes=20)}, indexed_at=NOW)
    assert dates(film).reindex_at == NOW + timedelta(hours=1)
    assert dates(film).next_attempt_at == NOW + timedelta(minutes=10)


# Invariants by brute force ------------------------------------------------------------------------------------------------

LEAVES: tuple[dict[str, object], ...] = (
    *({"state": state} for state in LEAF_FACTS),
    {"state": S.Indexed, "scraped_times": 1, "scraped_at": NOW - timedelta(minutes=5)},
    {"state": S.Indexed, "scraped_times": 3, "scraped_at": NOW - timedelta(days=1)},
    {"state": S.Indexed, "hold_until": NOW + timedelta(hours=1), "failures": 4},
    {"state": S.Unreleased, "aired_at": None},
    {"state": S.Indexed, "contradiction": Contradiction("odd", with_metadata=True)},
    {"state": S.Indexed, "contradiction": Contradiction("odd", with_metadata=False)},
    {"state": S.Unreleased, "contradiction": Contradiction("odd", with_metadata=True)},
    {"state": S.Completed, "post_processed_at": None},
    {"state": S.Indexed, "is_requested": False},
    {"state": S.Completed, "is_requested": False},
)
SEASONS: tuple[dict[str, object], ...] = (
    {},
    {"scraped_times": 1, "scraped_at": NOW},
    {"scraped_times": 0, "scraped_at": NOW, "usable_streams": 1},
    {"failures": 3, "hold_until": NOW + timedelta(hours=1)},
    {"paused_at": NOW},
    {"indexed_at": None},
    {"contradiction": Contradiction("odd", with_metadata=True)},
)
WISHES: tuple[dict[str, object], ...] = ({"wants_future": True}, {"wanted_seasons": (1, 3)}, {})


def _roots() -> Iterator[tuple[Node, Policy]]:
    leaves = [episode(number=n, **leaf) for n, leaf in enumerate(LEAVES, 1)]  # type: ignore[arg-type]
    other = season([S.Completed], number=2)
    fresh = season([S.Indexed], number=2)
    rounds = [
        (children, facts)
        for size in range(3)
        for children in combinations_with_replacement(leaves, size)
        for facts in SEASONS
    ]
    for number, (children, facts) in enumerate(rounds):
        one = season(children, **facts)  # type: ignore[arg-type]
        beside = ((), (other,), (fresh,))[number % 3]
        for wish, status in product(WISHES, (ShowStatus.ENDED, ShowStatus.CONTINUING)):
            yield show([one, *beside], status=status, **wish), Policy(prefer_packs=number % 2 == 0)  # type: ignore[arg-type]
    for leaf in LEAVES:
        changes = {name: value for name, value in leaf.items() if name != "aired_at"}
        yield movie(**changes), Policy(servers=("plex",))  # type: ignore[arg-type]


def _check(root: Node, policy: Policy) -> None:
    after = settled(root, NOW, policy)
    assert settle(after, NOW, policy) == ()
    for node in after.walk():
        _check_row(after, node.item, policy)


def _check_row(root: Node, item: Item, policy: Policy) -> None:
    path = [node.item for node in root.path_to(item.id)]
    is_stopped = any(row.facts.paused_at for row in path)
    due = [
        at for at in (item.schedule.next_attempt_at, item.schedule.reindex_at) if at is not None and at <= NOW
    ]
    found = process_event(root, item.id, NOW, policy)
    assert bool(found) == bool(due and item.is_requested and not is_stopped), (item.last_state, item.schedule)
    if (
        item.type.is_leaf
        and item.is_requested
        and not is_stopped
        and item.last_state not in (S.Failed, S.Completed)
    ):
        waits = [row.schedule.next_attempt_at for row in path] + [root.item.schedule.reindex_at]
        assert any(waits), (item.last_state, item.facts)
    if item.last_state in (S.Unreleased, S.Requested) and item is root.item:
        assert item.schedule.reindex_at or is_stopped


@pytest.mark.parametrize(("step", "least"), [(7, 700), pytest.param(1, 5000, marks=pytest.mark.slow)])
def test_no_row_is_due_and_idle_and_none_is_forgotten(step: int, least: int) -> None:
    checked = 0
    for root, policy in islice(_roots(), 0, None, step):
        _check(root, policy)
        checked += 1
    assert checked > least


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_time_alone_never_leaves_a_row_due_and_idle(data: st.DataObject) -> None:
    leaves = data.draw(st.lists(st.sampled_from(LEAVES), max_size=4))
    facts = data.draw(st.sampled_from(SEASONS))
    status = data.draw(st.sampled_from(list(ShowStatus)))
    policy = Policy(prefer_packs=data.draw(st.booleans()), servers=("plex",))
    one = season([episode(number=n, **leaf) for n, leaf in enumerate(leaves, 1)], **facts)  # type: ignore[arg-type]
    tree = settled(show([one], status=status, wants_future=True), NOW, policy)
    for _ in range(5):
        ahead = [
            at
            for node in tree.walk()
            for at in (node.item.schedule.next_attempt_at, node.item.schedule.reindex_at)
            if at is not None
        ]
        later = min((at for at in ahead if at > NOW), default=NOW) + timedelta(
            seconds=data.draw(st.integers(0, 4000))
        )
        tree = settled(tree, later, policy)
        for node in tree.walk():
            when = node.item.schedule
            due = any(at is not None and at <= later for at in (when.next_attempt_at, when.reindex_at))
            assert bool(process_event(tree, node.item.id, later, policy)) == due
