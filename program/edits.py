"""What a person chooses for a title in place of what the settings, or whoever asked for it, say: it counts at once."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeVar

from program.db import items
from program.db.decisions import Decision
from program.errors import NotPossible
from program.media.facts import lacks_metadata
from program.media.item import Item, MediaType, Node, States, Title
from program.services.flows.by_person import changed
from program.services.flows.context import FlowContext, label
from program.settings.models import RootSettings
from program.settings.profiles import enabled_profiles

T = TypeVar("T")
SPECIALS = 0
MOST_TITLES = 50
# A search would not find another release of these.
LEFT_ALONE = (States.Completed, States.Unreleased, States.Requested)


class Said(Enum):
    """What can be said of a choice beside a value. KEEP: it stays as it is; RULES: what the settings say."""

    KEEP = 1
    RULES = 2


KEEP: Final = Said.KEEP
RULES: Final = Said.RULES


class WrongEdit(NotPossible):
    """A choice that cannot be. field: which one."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}")
        self.field = where
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """What is to be other than it is.

    seasons, future: which seasons of a show are wanted, and whether those that appear later are. titles: further names to search
    by. ranking: the name of a profile, "" for the usual ranking. profiles: keys of library profiles.
    """

    seasons: frozenset[int] | Said = KEEP
    future: bool | Said = KEEP
    titles: tuple[str, ...] | Said = KEEP
    ranking: str | Said = KEEP
    profiles: tuple[str, ...] | Said = KEEP


@dataclass(slots=True)
class _Plan:
    """What an edit comes to. facts: by item id; anew: rows that are searched afresh; told: in a person's words."""

    facts: dict[int, dict[str, object]] = field(default_factory=dict)
    anew: list[int] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    moves: bool = False
    is_searched: bool = False

    def set(self, item_id: int, **values: object) -> None:
        self.facts.setdefault(item_id, {}).update(values)


def edit(ctx: FlowContext, root_id: int, wanted: Edit, by: str) -> tuple[str, str]:
    """Make the choices count and return the title's name and what is other now; the latter is empty when nothing is.

    by: who chose, for the story. Raises WrongEdit with the place; then nothing has changed.
    """
    root = ctx.load(root_id)
    if not _plan(root, ctx.settings(), wanted).told:
        return label(root, root_id), ""
    with changed(ctx, root_id, root_id) as (tx, root, now):
        plan = _plan(root, ctx.settings(), wanted)
        items.bump_revision(tx, [node.item.id for node in root.walk()])
        ctx.commit(tx, root_id, plan.facts, ())
        reset = items.reset_for_retry(tx, plan.anew, now).reset if plan.anew else ()
        if plan.is_searched and {leaf.item.id for leaf in root.leaves()} & {*reset}:
            plan.told.append("searched afresh")
        said = "; ".join(plan.told)
        ctx.commit(tx, root_id, {}, [Decision(root_id, "person", "edited", f"Edited {by}: {said}.")])
    if plan.moves:
        ctx.library.refresh([leaf.item.id for leaf in root.leaves()])
    return label(root, root_id), said


def _plan(root: Node, settings: RootSettings, wanted: Edit) -> _Plan:
    plan = _Plan()
    if wanted.seasons is not KEEP or wanted.future is not KEEP:
        _choose_seasons(plan, root, wanted)
    if not isinstance(wanted.titles, Said):
        _choose_titles(plan, root.item, wanted.titles)
    if wanted.ranking is not KEEP:
        _choose_ranking(plan, root.item, settings, wanted.ranking)
    if wanted.profiles is not KEEP:
        _choose_profiles(plan, root.item, settings, wanted.profiles)
    if plan.is_searched and not lacks_metadata(root.item.facts):
        is_done = root.item.type.is_leaf and root.item.last_state in LEFT_ALONE
        plan.anew += [] if is_done else [root.item.id]
    return plan


# Seasons -----------------------------------------------------------------------------------------------------------------


def _choose_seasons(plan: _Plan, root: Node, wanted: Edit) -> None:
    show = root.item
    if show.type is not MediaType.SHOW:
        raise WrongEdit("wanted_seasons", "a film has no seasons")
    known = {node.item.number or SPECIALS: node for node in root.children}
    present = wanted_seasons(
        {number: node.item.is_requested for number, node in known.items()}, show.wanted_seasons
    )
    seasons = present if isinstance(wanted.seasons, Said) else wanted.seasons
    future = show.wants_future if isinstance(wanted.future, Said) else wanted.future
    unknown = sorted(seasons - known.keys() - present)
    if unknown and known:
        listed = ", ".join(map(str, sorted(known)))
        raise WrongEdit("wanted_seasons", f"there is no season {unknown[0]}; known are {listed}")
    if not seasons and not future:
        raise WrongEdit(
            "wanted_seasons",
            "want at least one season, or future ones; to want nothing of it, pause or remove it",
        )
    more, less = sorted(seasons - present), sorted(present - seasons)
    if more or less or future != show.wants_future:
        plan.set(show.id, wanted_seasons=tuple(sorted(seasons)), wants_future=future)
    for number in (*more, *less):
        for node in known[number].walk() if number in known else ():
            plan.set(node.item.id, is_requested=number in seasons)
    plan.anew += [known[number].item.id for number in more if number in known]
    plan.told += _told_of(more, "wanted now") + _told_of(less, "not wanted any more")
    if future != show.wants_future:
        plan.told.append(f"future seasons are {'wanted now' if future else 'not wanted any more'}")


def wanted_seasons(known: Mapping[int, bool], named: Collection[int]) -> frozenset[int]:
    """Return the seasons of a show that are wanted: those known that are asked for, and those asked for that are not known yet."""
    return frozenset({number for number, is_wanted in known.items() if is_wanted} | ({*named} - known.keys()))


def _told_of(numbers: Sequence[int], what: str) -> list[str]:
    if not numbers:
        return []
    named = " and ".join(filter(None, [", ".join(map(str, numbers[:-1])), str(numbers[-1])]))
    if list(numbers) == [SPECIALS]:
        return [f"the specials are {what}"]
    return [f"season{'s' if len(numbers) > 1 else ''} {named} {'are' if len(numbers) > 1 else 'is'} {what}"]


# Names -------------------------------------------------------------------------------------------------------------------


def _choose_titles(plan: _Plan, item: Item, titles: Sequence[str]) -> None:
    own = [title for title in item.aliases if title.is_own]
    others = {title.text.casefold() for title in item.aliases if not title.is_own} | {item.title.casefold()}
    chosen = {text.casefold(): text for text in reversed([" ".join(text.split()) for text in titles])}
    wanted = [text for key, text in reversed(chosen.items()) if key not in others]
    if len(wanted) > MOST_TITLES:
        raise WrongEdit("own_titles", f"at most {MOST_TITLES} names")
    before = [title.text for title in own]
    more, less = [t for t in wanted if t not in before], [t for t in before if t not in wanted]
    if not more and not less:
        return
    kept = tuple(title for title in item.aliases if not title.is_own)
    plan.set(item.id, aliases=(*kept, *(Title(text, is_own=True) for text in wanted)))
    plan.told += [f"also called {_quoted(more)} now"] if more else []
    plan.told += [f"not called {_quoted(less)} any more"] if less else []
    plan.is_searched = True


def _quoted(texts: Collection[str]) -> str:
    return ", ".join(f"“{text}”" for text in texts)


# Profiles ----------------------------------------------------------------------------------------------------------------


def _choose_ranking(plan: _Plan, item: Item, settings: RootSettings, wanted: str | Said) -> None:
    name = None if isinstance(wanted, Said) else wanted
    if name == item.ranking_profile:
        return
    profiles = settings.ranking.profiles
    if name:
        _check_known("ranking_profile", [name], profiles)
        if profiles[name].beside:
            raise WrongEdit("ranking_profile", f"“{name}” is for a further copy beside the usual one")
    plan.set(item.id, ranking_profile=name)
    by = "as the settings say" if name is None else f"by “{name}” now" if name else "as usual now"
    plan.told.append(f"ranked {by}")
    plan.is_searched = True


def _choose_profiles(plan: _Plan, item: Item, settings: RootSettings, wanted: tuple[str, ...] | Said) -> None:
    keys = None if isinstance(wanted, Said) else tuple(dict.fromkeys(wanted))
    if keys == item.library_profiles:
        return
    profiles = enabled_profiles(settings.vfs.profiles)
    _check_known("library_profiles", keys or (), profiles)
    plan.set(item.id, library_profiles=keys)
    plan.moves = True
    if keys is None:
        plan.told.append("in the folders that the settings say")
    elif not keys:
        plan.told.append("in no further folder")
    else:
        roots = ", ".join(profiles[key].root for key in keys)
        plan.told.append(f"in the folder{'s' if len(keys) > 1 else ''} {roots} as well")


def _check_known(where: str, names: Sequence[str], known: Mapping[str, T]) -> None:
    for name in names:
        if name not in known:
            raise WrongEdit(where, f"there is no profile “{name}”; {_listed(known)}")


def _listed(known: Collection[str]) -> str:
    return f"known are {', '.join(known)}" if known else "there is none yet"


def choices(settings: RootSettings) -> Iterator[str]:
    """Yield the names of the ranking profiles that a person may choose for a title."""
    yield from (name for name, profile in settings.ranking.profiles.items() if not profile.beside)
