"""The settings: drawn from their classes, checked before they are saved, and shown as what will change."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flask import request
from pydantic import BaseModel, ValidationError

from program.errors import NotFound
from program.log import redact
from program.plugins import PluginState
from program.services.flows import ranking_preview
from program.settings import document as documents
from program.settings.applies import Applies, applies, changed
from program.settings.fields import fields
from program.settings.models import RootSettings
from program.settings.problems import InvalidSettings, Problem, SettingsConflict, SettingsNotWritten, explain
from program.settings.provider import ProviderSettings
from program.settings.store import API_KEY_BYTES
from program.settings.upgrade import Document
from program.web import pages, typed
from program.web.activity import try_out
from program.web.forms import Block, Field, block_of
from program.web.pages import Answer, Page, Web

GENERAL, RANKING = "general", "ranking"
# Somebody waits for the page; a large library is compared as far as this goes.
PREVIEW_SECONDS = 2.0
# In the order in which they matter to most; what is not named here follows.
SECTIONS: Mapping[str, str] = {
    "indexing": "Titles",
    "scraping": "Searching",
    "ranking": "Choosing",
    "downloaders": "Debrid",
    "updaters": "Media servers",
    "content": "Wishes",
    "vfs": "Library folder",
    "notifications": "Notices",
    "subtitles": "Subtitles",
    "plugins": "Plugins",
    GENERAL: "General",
    "api": "Address",
    "network": "Network",
    "database": "Database",
    "queue": "Work at once",
    "startup": "Start",
    "log": "Log",
}
UNPROCESSABLE, CONFLICT = 422, 409
# Fields of our own in a form of settings.
OURS = frozenset({"csrf", "sure", "revision"})
LONGEST_SEARCH = 100


@dataclass(frozen=True, slots=True)
class Change:
    """One value that will be another."""

    path: str
    before: str
    after: str
    counts: Applies


@dataclass(frozen=True, slots=True)
class Tried:
    """What a provider said to settings that may not be saved yet."""

    works: bool
    said: str


def settings(web: Web, section: str = "indexing") -> Answer:
    """Show a section, or what fits a search."""
    search = request.args.get("search", "").strip()[:LONGEST_SEARCH]
    if search:
        return pages.render(
            "settings_search.html", search=search, found=_search(web, search), sections=names(web)
        )
    return _form(web, section, _block(web, section))


def save(web: Web, section: str) -> Answer:
    """Check what was typed, show what would change, and save it when that was seen."""
    block = _block(web, section)
    form = request.form
    read = typed.read(form, block.all_fields())
    problems = read.problems or problems_of(web, read.change)
    if problems:
        return _form(web, section, typed.filled(block, form), problems=problems), UNPROCESSABLE
    changes = changes_of(web, read.change)
    if not changes:
        return pages.go("settings", "Nothing was changed.", tone="plain", section=section)
    if form.get("sure") != "yes":
        kept = [(name, value) for name, value in form.items(multi=True) if name not in OURS]
        revision = form.get("revision", "")
        others = _other_choices(web, read.change) if section == RANKING else None
        return pages.render(
            "settings_review.html",
            section=section,
            changes=changes,
            kept=kept,
            revision=revision,
            others=others,
        )
    return _store(web, section, block, read.change, changes)


def _other_choices(web: Web, change: Document) -> ranking_preview.Page:
    """Return which titles would choose another release, of those that a glance at the library reaches."""
    api = web.api
    compared = ranking_preview.Preview(
        api.db, api.clock, api.providers(), api.store.current, _with(web, change)
    )
    return compared.page(ranking_preview.Bounds(seconds=PREVIEW_SECONDS))


def test(web: Web, section: str, key: str) -> Answer:
    """Ask a provider whether it works with what was typed; nothing is saved."""
    block = _block(web, section)
    filled = typed.filled(block, request.form)
    read = typed.read(request.form, block.all_fields())
    problems = read.problems or problems_of(web, read.change)
    if problems:
        return _form(web, section, filled, problems=problems), UNPROCESSABLE
    tried = tried_out(web, section, key, read.change)
    return _form(web, section, filled, tried={key: tried})


def key(web: Web) -> Answer:
    """Show the API key, or make a new one."""
    if request.form.get("action") == "new":
        web.api.store.save({"api_key": secrets.token_hex(API_KEY_BYTES)})
        return pages.go(
            "settings",
            "A new API key is in force. Give it to the programs that used the old one.",
            section=GENERAL,
        )
    shown = web.api.store.current.api_key.get_secret_value()
    return _form(web, GENERAL, _block(web, GENERAL), api_key=shown)


def names(web: Web) -> Mapping[str, str]:
    """Return the sections with what they are called."""
    there = fields(type(web.api.store.current))
    known = {name: word for name, word in SECTIONS.items() if name in there or name == GENERAL}
    rest = {
        name: info.title or name.capitalize()
        for name, (attribute, info) in there.items()
        if isinstance(getattr(web.api.store.current, attribute), BaseModel)
    }
    return known | {name: word for name, word in rest.items() if name not in known}


def problems_of(web: Web, change: Document) -> tuple[Problem, ...]:
    """Return what speaks against a change, without making it."""
    try:
        _with(web, change)
    except InvalidSettings as error:
        return error.problems
    return ()


def changes_of(web: Web, change: Document) -> tuple[Change, ...]:
    """Return which values a change makes others; it must be a good one."""
    before, after = web.api.store.current, _with(web, change)
    return tuple(
        Change(path, typed.text_at(before, path), _after(before, after, path), applies(path))
        for path in changed(before, after)
    )


def tried_out(web: Web, section: str, key: str, change: Document) -> Tried:
    """Return what a provider says to settings with a change in them; it must be a good one."""
    found = getattr(getattr(_with(web, change), section, None), key, None)
    if not isinstance(found, ProviderSettings):
        raise NotFound(f"no provider is called {key}")
    status = try_out(web, key, found)
    works = status.state is PluginState.VALID
    return Tried(works, "It works." if works else redact(status.reason or "It does not work."))


def _after(before: RootSettings, after: RootSettings, path: str) -> str:
    old, new = typed.text_at(before, path), typed.text_at(after, path)
    return "another one" if old == new else new


def _with(web: Web, change: Document) -> RootSettings:
    """Return the settings in force with a change in them; raise InvalidSettings."""
    now = web.api.store.current
    model, plain = type(now), documents.plain(now)
    whole = documents.merge(model, plain, documents.unmasked(change, plain))
    try:
        return model.model_validate_json(documents.to_text(whole), strict=True)
    except ValidationError as error:
        raise InvalidSettings(explain(error, model, web.api.store.loaded.locked)) from None


def _store(web: Web, section: str, block: Block, change: Document, changes: Sequence[Change]) -> Answer:
    filled = typed.filled(block, request.form)
    try:
        web.api.store.save(change, request.form.get("revision") or None)
    except InvalidSettings as error:
        return _form(web, section, filled, problems=error.problems), UNPROCESSABLE
    except SettingsConflict:
        said = "The settings were changed elsewhere meanwhile. What you typed is below; look it through and save again."
        return _form(web, section, filled, problems=(Problem("", said),)), CONFLICT
    except SettingsNotWritten as error:
        return _form(web, section, filled, problems=(Problem("", str(error)),)), UNPROCESSABLE
    later = [change.path for change in changes if change.counts is Applies.RESTART]
    said = f"Saved. {', '.join(later)} will count after a restart." if later else "Saved, and in force."
    return pages.go("settings", said, section=section)


def _block(web: Web, section: str) -> Block:
    """Return the form of a section; raise NotFound for a strange one."""
    loaded = web.api.store.loaded
    if section == GENERAL:
        whole = block_of(loaded.settings, "", loaded.locked, title=SECTIONS[GENERAL])
        kept = tuple(field for field in whole.fields if field.path not in ("$schema", "version", "api_key"))
        return Block(path="", title=whole.title, help="", fields=kept, blocks=())
    if section not in names(web):
        raise NotFound(f"there is no section {section}")
    return block_of(getattr(loaded.settings, section), section, loaded.locked, title=names(web)[section])


def _form(
    web: Web,
    section: str,
    block: Block,
    *,
    problems: Sequence[Problem] = (),
    tried: Mapping[str, Tried] | None = None,
    api_key: str = "",
) -> str:
    placed, rest = typed.at_fields(problems, list(block.all_fields()))
    titles = {kind.key: kind.title for kind in web.api.registry.classes}
    return pages.render(
        "settings.html",
        section=section,
        sections=names(web),
        block=block,
        troubles=placed,
        rest=rest,
        tried=tried or {},
        titles=titles,
        revision=web.api.store.loaded.revision,
        api_key=api_key,
    )


def _search(web: Web, search: str) -> list[tuple[str, Field]]:
    wanted = search.lower()
    return [
        (section, field)
        for section in names(web)
        for block in _block(web, section).walk()
        for field in block.fields
        if wanted in f"{field.path} {field.label} {field.help} {block.title}".lower()
    ]


PAGES = (
    Page(rule="/settings/<section>", name="settings", handle=settings, also=("/settings",)),
    Page(rule="/settings/<section>", name="save", handle=save, methods=("POST",)),
    Page(rule="/settings/<section>/test/<key>", name="try", handle=test, methods=("POST",)),
    Page(rule="/settings/general/key", name="key", handle=key, methods=("POST",)),
)
