"""The form of what a person chooses for a title: seasons, names, ranking, folders."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from flask import redirect, request, url_for

from program import edits
from program.api.payloads import LONGEST_NAME, MOST_NAMES, number_in
from program.api.proxy import USER
from program.db import shelves
from program.db.views import ChildView, ItemDetail
from program.edits import KEEP, RULES, Edit, Said, WrongEdit
from program.media.item import MediaType, States
from program.media.profiles import matching
from program.services.flows.copies import rankings
from program.settings.profiles import enabled_profiles
from program.web import item, pages, times, undo, words
from program.web.pages import Answer, Page, Web

UNPROCESSABLE = 422
# In the form, the name of a ranking stands behind this, so that the usual one has a value of its own.
NAMED = "="
# Way back and forth travel in a cookie.
LONGEST_UNDO = 1500


@dataclass(frozen=True, slots=True)
class Season:
    """A season to tick. said: how much of it there is."""

    number: int
    name: str
    said: str
    is_wanted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What stands in the form. ranking: as its option's value; folders: `rules` or `chosen`; folder: keys of those ticked."""

    seasons: tuple[Season, ...]
    future: bool
    titles: str
    ranking: str
    folders: str
    folder: tuple[str, ...]

    def fields(self) -> Iterator[tuple[str, str]]:
        """Yield what a browser sends of it."""
        for season in self.seasons:
            yield "shown", str(season.number)
            if season.is_wanted:
                yield "season", str(season.number)
        if self.future:
            yield "future", "yes"
        yield "titles", self.titles
        yield "ranking", self.ranking
        yield "folders", self.folders
        yield from (("folder", key) for key in self.folder)


def edit(web: Web, item_id: int) -> Answer:
    """Show the form; a season or an episode has that of its show."""
    detail = item.known(web, item_id)
    if detail.show_id:
        return redirect(url_for("web.edit", item_id=detail.show_id), 303)
    return _page(web, detail, _present(detail), {})


def save(web: Web, item_id: int) -> Answer:
    """Make what was chosen count."""
    detail = item.known(web, item_id)
    before = _present(detail)
    titles, trouble = _typed_titles()
    if trouble:
        return _page(web, detail, _typed(before), {"own_titles": trouble}), UNPROCESSABLE
    try:
        result = web.api.actions.edit(item_id, _edit(detail, titles), _by())
    except WrongEdit as error:
        return _page(web, detail, _typed(before), {error.field: error.reason}), UNPROCESSABLE
    name = words.name(result.title, detail.item.ids, item_id)
    if not result.done:
        return pages.go("item", f"{name}: nothing is other than it was.", tone="plain", item_id=item_id)
    fields = tuple(before.fields())
    if sum(len(name) + len(value) for name, value in fields) <= LONGEST_UNDO:
        undo.offer(undo.Undo("edit", "Undo", fields, item_id))
    return pages.go("item", f"{name}: {result.sentence}.", item_id=item_id)


def _by() -> str:
    user = request.environ.get(USER)
    return f"by {user}" if user else "by a person"


def _present(detail: ItemDetail) -> Form:
    one = detail.item
    known = {view.number: view.is_requested for view in detail.children}
    wanted = edits.wanted_seasons(known, one.wanted_seasons) if one.type is MediaType.SHOW else frozenset()
    said = {view.number: _said(view.children) for view in detail.children}
    return Form(
        seasons=tuple(
            Season(number, words.season_name(number), said.get(number, "not known yet"), number in wanted)
            for number in sorted(known.keys() | wanted)
        ),
        future=one.wants_future,
        titles="\n".join(title.text for title in one.aliases if title.is_own),
        ranking="" if one.ranking_profile is None else NAMED + one.ranking_profile,
        folders="rules" if one.library_profiles is None else "chosen",
        folder=one.library_profiles or (),
    )


def _said(leaves: Sequence[ChildView]) -> str:
    ready = sum(leaf.last_state is States.Completed for leaf in leaves)
    return f"{ready} of {len(leaves)} ready" if ready else times.count(len(leaves), "episode")


def _typed(before: Form) -> Form:
    """Return the form as it was sent."""
    ticked = {number_in(text) for text in request.form.getlist("season")}
    return Form(
        seasons=tuple(Season(one.number, one.name, one.said, one.number in ticked) for one in before.seasons),
        future="future" in request.form,
        titles=request.form.get("titles", ""),
        ranking=request.form.get("ranking", ""),
        folders=request.form.get("folders", ""),
        folder=tuple(request.form.getlist("folder")),
    )


def _typed_titles() -> tuple[tuple[str, ...], str]:
    """Return the names that were typed, one on each line, and what is wrong with them."""
    lines = [" ".join(line.split()) for line in request.form.get("titles", "").splitlines()]
    found = tuple(line for line in lines if line)
    if len(found) > MOST_NAMES:
        return (), f"at most {MOST_NAMES} names"
    wrong = next((line for line in found if len(line) > LONGEST_NAME or not line.isprintable()), None)
    return found, f"“{wrong[:40]}…” is no name of at most {LONGEST_NAME} letters" if wrong else ""


def _edit(detail: ItemDetail, titles: tuple[str, ...]) -> Edit:
    return Edit(
        seasons=_seasons(detail) if detail.item.type is MediaType.SHOW else KEEP,
        future="future" in request.form if detail.item.type is MediaType.SHOW else KEEP,
        titles=titles,
        ranking=_ranking(request.form.get("ranking", "")),
        profiles=tuple(request.form.getlist("folder")) if request.form.get("folders") == "chosen" else RULES,
    )


def _seasons(detail: ItemDetail) -> frozenset[int]:
    """Return the seasons that are wanted now: one that the form did not show stays as it is."""
    present = {season.number for season in _present(detail).seasons if season.is_wanted}
    shown = {number_in(text) for text in request.form.getlist("shown")}
    ticked = {number for text in request.form.getlist("season") if (number := number_in(text)) is not None}
    return frozenset((present - shown) | (ticked & shown))


def _ranking(text: str) -> str | Said:
    return text.removeprefix(NAMED) if text.startswith(NAMED) else RULES


def _page(web: Web, detail: ItemDetail, form: Form, troubles: Mapping[str, str]) -> str:
    settings = web.api.store.current
    profiles = tuple(enabled_profiles(settings.vfs.profiles).values())
    with web.api.db.read() as tx:
        usual = rankings(settings, tx, detail.item.id).usual
        facts = shelves.facts_of(tx, detail.item.id)
    by_rules_in = matching(profiles, replace(facts, chosen=None)) if facts else ()
    by_rules = next((name for name, one in settings.ranking.profiles.items() if one is usual), "")
    return pages.render(
        "edit.html",
        detail=detail,
        item=detail.item,
        form=form,
        troubles=troubles,
        known_titles=tuple(dict.fromkeys(title.text for title in detail.item.aliases if not title.is_own)),
        rankings=tuple(edits.choices(settings)),
        ranked_by="" if detail.item.ranking_profile is not None else by_rules,
        folders=profiles,
        by_rules_in=[profile.root for profile in profiles if profile.key in by_rules_in],
        named=NAMED,
    )


PAGES = (
    Page(rule="/items/<int:item_id>/edit", name="edit", handle=edit),
    Page(rule="/items/<int:item_id>/edit", name="save_edit", handle=save, methods=("POST",)),
)
