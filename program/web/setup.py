"""The first steps after the password: each can be skipped, each checks live what was typed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flask import request

from program.errors import NotFound
from program.settings import document as documents
from program.settings.problems import InvalidSettings, Problem, SettingsConflict, SettingsNotWritten
from program.settings.upgrade import Document
from program.web import mount_checks, pages, typed
from program.web.forms import Block, block_of
from program.web.pages import Answer, Page, Web
from program.web.settings import Tried, problems_of, tried_out
from program.web.typed import at_fields

UNPROCESSABLE = 422


@dataclass(frozen=True, slots=True)
class Step:
    """One step. sections: whose providers it offers."""

    name: str
    word: str
    heading: str
    text: str
    sections: tuple[str, ...] = ()


STEPS = (
    Step(
        "files",
        "Folder",
        "Where your films appear",
        "Rivulet shows its library as a folder. Your media server plays from it.",
    ),
    Step(
        "metadata",
        "Titles",
        "Where titles are looked up",
        "TMDB knows films, TVDB knows series. Both give a key of your own for free; nothing can be added without one.",
        ("indexing",),
    ),
    Step(
        "provider",
        "Sources",
        "Where releases are found, and who holds the files",
        "A search service that lists releases, and a debrid account that holds them.",
        ("scraping", "downloaders"),
    ),
    Step(
        "server",
        "Media server",
        "Which media server plays them",
        "It is told about each new file and asked whether it has it. Without one, a title is ready once it is in the folder.",
        ("updaters",),
    ),
    Step("first", "First title", "Add a first title", "And watch it arrive."),
)
# Films and a series that may be shared freely.
SUGGESTIONS: Sequence[tuple[str, str, str]] = (
    ("Sintel", "movie", "tmdb:45745"),
    ("Big Buck Bunny", "movie", "tmdb:10378"),
    ("Tears of Steel", "movie", "tmdb:133701"),
    ("Pioneer One", "tv", "tvdb:170551"),
)


def setup(web: Web, step: str) -> Answer:
    """Show a step, or take what was typed and go to the next when it works."""
    here = _step(step)
    blocks = _blocks(web, here)
    if request.method == "GET":
        return _page(web, here, blocks)
    fields = [field for block in blocks for field in block.all_fields()]
    read = typed.read(request.form, fields)
    change = _switched_on(read.change)
    problems = read.problems or problems_of(web, change) or _saved(web, change)
    filled = tuple(typed.filled(block, request.form) for block in blocks)
    if problems:
        return _page(web, here, filled, problems=problems), UNPROCESSABLE
    tried = _tried(web, here, change)
    if not all(one.works for one in tried.values()):
        return _page(web, here, _blocks(web, here), tried=tried)
    return pages.go("setup", step=_after(here).name)


def test(web: Web, step: str, key: str) -> Answer:
    """Ask a provider whether it works with what was typed; nothing is saved."""
    here = _step(step)
    blocks = _blocks(web, here)
    block = next((block for block in blocks if block.provider == key), None)
    if block is None:
        raise NotFound(f"no provider is called {key}")
    read = typed.read(request.form, block.all_fields())
    filled = tuple(typed.filled(one, request.form) for one in blocks)
    problems = read.problems or problems_of(web, read.change)
    if problems:
        return _page(web, here, filled, problems=problems), UNPROCESSABLE
    tried = tried_out(web, block.path.partition(".")[0], key, read.change)
    return _page(web, here, filled, tried={key: tried})


def _step(name: str) -> Step:
    step = next((step for step in STEPS if step.name == name), None)
    if step is None:
        raise NotFound(f"there is no step {name}")
    return step


def _after(step: Step) -> Step:
    return STEPS[min(STEPS.index(step) + 1, len(STEPS) - 1)]


def _blocks(web: Web, step: Step) -> tuple[Block, ...]:
    """Return the forms of the providers that a step offers."""
    loaded = web.api.store.loaded
    sections = [(name, getattr(loaded.settings, name, None)) for name in step.sections]
    return tuple(
        block
        for name, section in sections
        if section is not None
        for block in block_of(section, name, loaded.locked).blocks
        if block.provider
    )


def _switched_on(change: Document) -> Document:
    """Return a change in which a provider that was given a key is used; nobody types a key to leave it unused."""
    for section, providers in change.items():
        for key, values in providers.items() if isinstance(providers, dict) else ():
            secret = isinstance(values, dict) and any(
                isinstance(value, str) and value
                for name, value in values.items()
                if name in ("api_key", "token")
            )
            if secret:
                change = documents.write_at(change, f"{section}.{key}.enabled", value=True)
    return change


def _saved(web: Web, change: Document) -> tuple[Problem, ...]:
    """Save a change; return what spoke against it."""
    if not change:
        return ()
    try:
        web.api.store.save(change)
    except InvalidSettings as error:
        return error.problems
    except (SettingsConflict, SettingsNotWritten) as error:
        return (Problem("", str(error)),)
    return ()


def _tried(web: Web, step: Step, change: Document) -> Mapping[str, Tried]:
    """Return what the providers say that are in use now and were in the form."""
    found: dict[str, Tried] = {}
    for block in _blocks(web, step):
        is_used = any(field.path == f"{block.path}.enabled" and field.is_on for field in block.fields)
        if is_used and documents.read_at(change, block.path) is not None:
            found[block.provider] = tried_out(web, block.path.partition(".")[0], block.provider, {})
    return found


def _page(
    web: Web,
    step: Step,
    blocks: Sequence[Block],
    *,
    problems: Sequence[Problem] = (),
    tried: Mapping[str, Tried] | None = None,
) -> str:
    settings = web.api.store.current.vfs
    placed, rest = at_fields(problems, [field for block in blocks for field in block.all_fields()])
    looked = (
        mount_checks.checks(settings, is_mounted=web.api.vfs_healthy(), mountinfo=mount_checks.read_mounts())
        if step.name == "files"
        else ()
    )
    return pages.render(
        "setup.html",
        steps=STEPS,
        step=step,
        after=_after(step),
        blocks=blocks,
        troubles=placed,
        rest=rest,
        tried=tried or {},
        titles={kind.key: kind.title for kind in web.api.registry.classes},
        checks=looked,
        folder=settings.mount_path.parent,
        suggestions=SUGGESTIONS,
    )


PAGES = (
    Page(rule="/setup/<step>", name="setup", handle=setup, methods=("GET", "POST")),
    Page(rule="/setup/<step>/test/<key>", name="setup_test", handle=test, methods=("POST",)),
)
