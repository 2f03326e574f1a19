"""The twelve states: single sentences, and a brute-force comparison with a second reading of the rules."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import combinations_with_replacement, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from program.media import state as state_module
from program.media.item import (
    Contradiction,
    Facts,
    Ids,
    Item,
    MediaType,
    Node,
    ReleaseKind,
    ShowStatus,
    States,
)
from program.media.state import Policy, derive, released_at, state_of
from tests.support.oracle import oracle_leaf, oracle_state
from tests.support.titles import FUTURE, INDEXED, LEAF_FACTS, NOW, PAST, episode, movie, season, show

S = States
POLICY = Policy()


def shown(node: Node, policy: Policy = POLICY) -> States:
    return state_of(node, NOW, policy).state


def test_there_are_the_twelve_states_of_the_specification() -> None:
    names = "Unknown Unreleased Ongoing Requested Indexed Scraped Downloaded Symlinked Completed PartiallyCompleted"
    assert [(state.name, state.value) for state in state_module.States] == [
        (name, name) for name in f"{names} Failed Paused".split()
    ]


@pytest.mark.parametrize("state", LEAF_FACTS, ids=lambda s: s.value)
def test_each_state_of_a_film_follows_from_its_facts(state: States) -> None:
    assert shown(movie(state)) is state


def test_a_pause_does_not_unfail() -> None:
    failed = movie(S.Failed)
    paused = Node(failed.item.with_facts(paused_at=NOW))
    assert shown(paused) is S.Paused
    assert shown(Node(paused.item.with_facts(paused_at=None))) is S.Failed


def test_a_restart_makes_older_facts_void_but_not_the_metadata() -> None:
    completed = movie(S.Completed)
    assert shown(Node(completed.item.with_facts(restarted_at=NOW - timedelta(seconds=1)))) is S.Indexed


def test_a_restart_of_a_title_that_was_never_indexed_goes_back_to_requested() -> None:
    assert shown(Node(movie(S.Failed).item.with_facts(restarted_at=NOW, indexed_at=None))) is S.Requested


def test_nonsense_is_unknown_with_its_reason() -> None:
    derived = state_of(
        movie(contradiction=Contradiction("the file is a series", with_metadata=True)), NOW, POLICY
    )
    assert derived.state is S.Unknown
    assert derived.reason == "the file is a series"


def test_a_film_counts_as_released_half_an_hour_after_its_digital_date() -> None:
    item = replace(movie().item, releases={ReleaseKind.DIGITAL: NOW - timedelta(minutes=29)})
    assert shown(Node(item)) is S.Unreleased
    assert state_of(Node(item), NOW + timedelta(minutes=1), POLICY).state is S.Indexed


def test_a_film_known_from_cinemas_only_waits_ninety_days() -> None:
    item = replace(movie().item, releases={ReleaseKind.THEATRICAL: NOW - timedelta(days=89)})
    assert shown(Node(item)) is S.Unreleased
    assert released_at(item, POLICY) == NOW + timedelta(days=1)


def test_a_known_digital_date_wins_over_the_cinema() -> None:
    item = replace(movie().item, releases={ReleaseKind.THEATRICAL: PAST, ReleaseKind.DIGITAL: FUTURE})
    assert shown(Node(item)) is S.Unreleased


def test_a_premiere_alone_is_no_release() -> None:
    assert released_at(replace(movie().item, releases={ReleaseKind.PREMIERE: PAST}), POLICY) is None


@pytest.mark.parametrize(
    ("children", "state"),
    [
        ([S.Completed, S.Completed], S.Completed),
        ([S.Completed, S.Indexed], S.PartiallyCompleted),
        ([S.Completed, S.Failed], S.PartiallyCompleted),
        ([S.Symlinked, S.Indexed], S.PartiallyCompleted),
        ([S.Symlinked, S.Symlinked], S.Symlinked),
        ([S.Completed, S.Unreleased], S.Ongoing),
        ([S.Unreleased, S.Unreleased], S.Unreleased),
        ([S.Paused, S.Paused], S.Paused),
        ([S.Failed, S.Failed], S.Failed),
        ([S.Failed, S.Paused], S.Paused),
        ([S.Scraped, S.Scraped], S.Indexed),
        ([S.Downloaded, S.Scraped], S.Indexed),
        ([S.Downloaded, S.Symlinked], S.PartiallyCompleted),
        ([S.Downloaded, S.Downloaded], S.Downloaded),
        ([], S.Unreleased),
    ],
)
def test_a_season_is_what_its_episodes_say(children: list[States], state: States) -> None:
    assert shown(season(children)) is state


def test_a_season_with_a_pack_to_try_is_scraped() -> None:
    assert shown(season([S.Indexed, S.Indexed], usable_streams=3)) is S.Scraped
    assert shown(season([S.Indexed, S.Downloaded], usable_streams=3)) is S.Indexed


def test_a_paused_and_a_failed_rest_are_counted() -> None:
    assert state_of(season([S.Failed, S.Paused, S.Paused]), NOW, POLICY).reason == "1 failed, 2 paused"


def test_a_continuing_show_that_is_wanted_with_its_future_is_ongoing_when_all_is_there() -> None:
    seasons = [season([S.Completed])]
    assert shown(show(seasons, status=ShowStatus.CONTINUING, wants_future=True)) is S.Ongoing
    assert shown(show(seasons, status=ShowStatus.CONTINUING, wanted_seasons=(1,))) is S.Completed


def test_a_request_for_a_season_that_is_not_known_waits() -> None:
    unwanted = season([S.Indexed], is_requested=False)
    derived = state_of(show([unwanted], wanted_seasons=(5,)), NOW, POLICY)
    assert derived.state is S.Unreleased
    assert derived.reason == "waits for a season that is not known yet"


def test_an_undated_episode_of_an_ended_show_keeps_nobody_waiting() -> None:
    ghost = episode(S.Unreleased, number=2, aired_at=None)
    assert shown(show([season([S.Completed, ghost])])) is S.Completed
    assert shown(show([season([S.Completed, ghost])], status=ShowStatus.CONTINUING)) is S.Ongoing


def test_a_season_of_ghosts_keeps_an_ended_show_complete() -> None:
    ghosts = season([episode(S.Unreleased, aired_at=None)], number=2)
    assert shown(show([season([S.Completed]), ghosts])) is S.Completed


def test_an_index_that_failed_shows_on_the_show() -> None:
    assert shown(show([], failed_at=NOW, indexed_at=None)) is S.Failed


# Brute force --------------------------------------------------------------------------------------------------------------


def _leaf_facts() -> Iterator[Facts]:
    old, new = NOW - timedelta(hours=2), NOW - timedelta(minutes=1)
    times = (None, old, new)
    for paused, failed, confirmed, registered, entry in product((None, new), times, times, times, times):
        for restarted, stream, indexed in product(
            (None, NOW - timedelta(hours=1)), (None, "b" * 40), (None, INDEXED)
        ):
            for nonsense in (None, Contradiction("odd", with_metadata=True)):
                yield Facts(
                    paused_at=paused,
                    failed_at=failed,
                    confirmed_at=confirmed,
                    registered_at=registered,
                    entry_at=entry,
                    restarted_at=restarted,
                    active_stream=stream,
                    indexed_at=indexed,
                    contradiction=nonsense,
                )


def test_every_combination_of_a_films_facts_agrees_with_the_second_reading() -> None:
    base = movie().item
    releases = (
        {},
        {ReleaseKind.DIGITAL: PAST},
        {ReleaseKind.DIGITAL: FUTURE},
        {ReleaseKind.THEATRICAL: PAST},
    )
    for number, facts in enumerate(_leaf_facts()):
        item = replace(
            base, facts=facts, releases=releases[number % 4], ids=base.ids if number % 3 else Ids()
        )
        assert state_of(Node(item), NOW, POLICY).state is oracle_leaf(item, item, NOW, POLICY), facts


def _kinds() -> list[Node]:
    """Return a season in each of the twelve states, with what matters beside the state: requested, released, dated."""
    odd = Contradiction("odd", with_metadata=True)
    requested = [
        season([], contradiction=odd),
        season([S.Indexed], contradiction=odd),
        season([S.Unreleased]),
        season([S.Completed, S.Unreleased]),
        season([], indexed_at=None),
        season([S.Indexed]),
        season([S.Indexed], usable_streams=1),
        season([S.Downloaded]),
        season([S.Symlinked]),
        season([S.Completed]),
        season([S.Completed, S.Indexed]),
        season([S.Failed]),
        season([S.Indexed], paused_at=NOW),
        season([S.Unreleased], paused_at=NOW),
        season([episode(S.Unreleased, aired_at=None)]),
    ]
    unrequested = [season([state], is_requested=False) for state in (S.Indexed, S.Unreleased)]
    return requested + unrequested


def _shows() -> list[Item]:
    wishes = ({}, {"wants_future": True}, {"wanted_seasons": (1,)})
    plain = [
        show([], status=status, **wish).item
        for wish in wishes
        for status in (ShowStatus.ENDED, ShowStatus.CONTINUING)
    ]
    base = plain[0]
    return [
        *plain,
        base.with_facts(usable_streams=2),
        base.with_facts(paused_at=NOW),
        base.with_facts(failed_at=NOW),
        replace(base.with_facts(indexed_at=None), ids=Ids()),
    ]


def _check_seasons(count: int, shows: list[Item]) -> set[States]:
    """Check every mix of so many seasons against the second reading; return the states that came out."""
    seen = set()
    for children in combinations_with_replacement(_kinds(), count):
        for item in shows:
            node = Node(item, children)
            state = state_of(node, NOW, POLICY).state
            seen.add(state)
            assert state is oracle_state(node, item, NOW, POLICY), (item.facts, item.show_status, children)
    return seen


def test_up_to_three_seasons_in_every_mix_of_states_agree_with_the_second_reading() -> None:
    assert set().union(*(_check_seasons(count, _shows()) for count in range(4))) == set(States)


@pytest.mark.slow
def test_four_seasons_in_every_mix_of_states_agree_with_the_second_reading() -> None:
    assert _check_seasons(4, _shows()[::5])


def test_four_episodes_in_every_mix_of_states_agree_with_the_second_reading() -> None:
    leaves = [episode(state) for state in LEAF_FACTS] + [episode(S.Indexed, is_requested=False)]
    parents = [season([]).item, season([], usable_streams=1).item]
    root = show([]).item
    for children in combinations_with_replacement(leaves, 4):
        for parent in parents:
            node = Node(parent, children)
            assert state_of(node, NOW, POLICY, root=root).state is oracle_state(node, root, NOW, POLICY)


def _seasons() -> st.SearchStrategy[list[Node]]:
    leaf = st.builds(
        lambda state, asked: episode(state, is_requested=asked),
        st.sampled_from(list(LEAF_FACTS)),
        st.booleans(),
    )
    one = st.builds(
        lambda leaves, asked, streams: season(leaves, is_requested=asked, usable_streams=streams),
        st.lists(leaf, max_size=4),
        st.booleans(),
        st.integers(0, 1),
    )
    return st.lists(one, max_size=4)


@settings(max_examples=150, deadline=None)
@given(_seasons(), st.sampled_from(list(ShowStatus)), st.randoms(use_true_random=False))
def test_the_order_of_children_changes_nothing(seasons, status, random) -> None:  # type: ignore[no-untyped-def]
    root = show(seasons, status=status, wants_future=True)
    mixed = list(seasons)
    random.shuffle(mixed)
    assert shown(replace(root, children=tuple(mixed))) is shown(root)


@settings(max_examples=150, deadline=None)
@given(_seasons(), st.sampled_from(list(LEAF_FACTS)), st.sampled_from(list(ShowStatus)))
def test_a_season_nobody_asked_for_changes_nothing(seasons, state, status) -> None:  # type: ignore[no-untyped-def]
    root = show(seasons, status=status, wants_future=True)
    more = replace(root, children=(*root.children, season([state], number=9, is_requested=False)))
    assert shown(more) is shown(root)


def test_a_tree_is_derived_in_one_go() -> None:
    root = show([season([S.Completed, S.Indexed])])
    states = derive(root, NOW, POLICY)
    assert len(states) == 4
    assert states[root.item.id].state is S.PartiallyCompleted
    assert all(node.item.type is not MediaType.MOVIE for node in root.walk())
