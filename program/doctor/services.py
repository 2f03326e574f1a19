"""Are there providers of each kind, do they answer, and do the media servers see the library where it is."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from program.doctor.check import Check, Look, Patient, Verdict, note, ok, wrong
from program.errors import RivuletError
from program.http import interactive
from program.log import redact
from program.plugins import PluginState
from program.services.plugin import Downloader, Updater
from program.vfs.preflight import mount_point

GROUP = "providers"
SHORTEST_KEY = 16
ENDS_SOON = timedelta(days=14)
LOOPBACK = ("127.0.0.1", "::1", "localhost")
# What must be there for anything to happen, and what only helps.
NEEDED: Mapping[str, str] = {
    "indexing": "no title can be looked up",
    "scraping": "nothing can be searched",
    "downloaders": "nothing can be had",
}
HELPFUL: Mapping[str, str] = {
    "updaters": "no media server is told of new files",
    "content": "wishes come from the pages and the API only",
}


def kind(section: str) -> Look:
    """Return a check for at least one usable provider of a kind."""

    def look(patient: Patient) -> Verdict:
        found = [one for one in patient.registry.statuses() if one.section == section]
        if found:
            return ok(f"{', '.join(one.title for one in found)} {'is' if len(found) == 1 else 'are'} enabled")
        mend = f"Enable one in the section {section} of the settings."
        return wrong(NEEDED[section], mend) if section in NEEDED else note(HELPFUL[section], mend)

    return look


def metadata(patient: Patient) -> Verdict:
    """Look whether films and shows can both be looked up."""
    kinds = {
        word
        for kind in patient.registry.classes
        if kind.key in _enabled(patient)
        for word in getattr(kind, "kinds", ())
    }
    lacking = sorted({"movie", "show"} - kinds)
    if not lacking:
        return ok("films and shows can be looked up")
    return note(f"no {lacking[0]} can be looked up", "Enable TMDB for films, TheTVDB for shows.")


def _enabled(patient: Patient) -> set[str]:
    return {one.key for one in patient.registry.statuses()}


def answering(patient: Patient) -> Iterator[Verdict]:
    """Look whether every enabled provider answers with its key."""
    for one in patient.registry.statuses():
        if one.state is PluginState.VALID:
            yield ok(f"{one.title} answers", one.key)
        elif one.state is PluginState.PENDING:
            yield note(f"{one.title} was not asked yet", "Look again in a moment.", one.key)
        else:
            said = redact(one.reason or f"it is {one.state.value}")
            yield wrong(said, f"Check {one.section}.{one.key} in the settings; they have a test.", one.key)


def accounts(patient: Patient) -> Iterator[Verdict]:
    """Look at the debrid accounts."""
    waiting = interactive.set(True)
    try:
        for plugin in patient.registry.of(Downloader):
            yield _account(plugin, patient.clock.now())
    finally:
        interactive.reset(waiting)


def _account(plugin: Downloader[Any], now: datetime) -> Verdict:
    try:
        account = plugin.account()
    except (RivuletError, OSError) as error:
        return wrong(redact(str(error)), "Check the key and the network.", plugin.key)
    if not account.is_premium:
        return wrong(
            f"the account {account.username} is not paid",
            "Renew it; free accounts give no links.",
            plugin.key,
        )
    end = _instant(account.expires_at)
    if end is not None and end - now < ENDS_SOON:
        return note(f"the account ends in {max((end - now).days, 0)} days", "Renew it in time.", plugin.key)
    return ok(f"the account is paid{f' until {end:%Y-%m-%d}' if end else ''}", plugin.key)


def _instant(text: str | None) -> datetime | None:
    try:
        found = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def paths(patient: Patient) -> Iterator[Verdict]:
    """Look whether the media servers have a library where ours is mounted."""
    base = mount_point(patient.settings.vfs)
    for server in patient.registry.of(Updater):
        for folder in ("movies", "shows"):
            about = f"{server.key} {folder}"
            try:
                seen = server.sees(f"{base}/{folder}/Title")
            except RivuletError as error:
                yield wrong(redact(str(error)), "See the check `provider`.", about)
                continue
            if seen is None:
                yield ok(f"{server.title} does not tell what it looks into", about)
            elif seen:
                yield ok(f"{server.title} has a library that looks into {base}/{folder}", about)
            else:
                yield wrong(
                    f"no library of {server.title} looks into {base}/{folder}",
                    f"Add the folder as {server.title} sees it, or set updaters.{server.key}.path_map.",
                    about,
                )


def plugins(patient: Patient) -> Iterator[Verdict]:
    """Look for plugins that could not be loaded."""
    for one in patient.broken:
        yield wrong(redact(one.reason), "Mend or remove the plugin.", one.name)
    if not patient.broken:
        yield ok("every plugin could be loaded")


def key(patient: Patient) -> Verdict:
    """Look at the API key."""
    if len(patient.settings.api_key.get_secret_value()) < SHORTEST_KEY:
        return note(
            f"the API key has fewer than {SHORTEST_KEY} characters", "Make a new one on the settings page."
        )
    return ok("the API key is long enough")


def exposed(patient: Patient) -> Verdict:
    """Look whether strangers could set the password."""
    host = patient.settings.api.host
    if host in LOOPBACK or (patient.store.folder / "admin.json").exists():
        return ok(f"it listens on {host}")
    return note(
        f"it listens on {host}, and nobody has opened the pages yet", "Open them and set the password."
    )


def locked(patient: Patient) -> Verdict:
    """Look what the environment sets."""
    found = sorted(patient.store.loaded.locked)
    return ok(f"set by the environment: {', '.join(found)}" if found else "nothing is set by the environment")


CHECKS = (
    Check(
        name="settings",
        group="settings",
        what="Settings that the environment sets",
        why="They cannot be changed on the pages.",
        look=locked,
    ),
    Check(
        name="api-key",
        group="settings",
        what="The API key",
        why="Whoever has it can do everything.",
        look=key,
    ),
    Check(
        name="api-address",
        group="settings",
        what="Where the pages can be reached",
        why="The first visitor sets the password.",
        look=exposed,
    ),
    Check(
        name="plugins",
        group=GROUP,
        what="Plugins",
        why="One that cannot be loaded does nothing.",
        look=plugins,
    ),
    *(
        Check(
            name=f"{section}-enabled",
            group=GROUP,
            what=f"Providers in {section}",
            why=f"Without one {why}.",
            look=kind(section),
        )
        for section, why in {**NEEDED, **HELPFUL}.items()
    ),
    Check(
        name="metadata-kinds",
        group=GROUP,
        what="Metadata for films and shows",
        why="Each has services of its own.",
        look=metadata,
    ),
    Check(
        name="provider",
        group=GROUP,
        what="Each provider",
        why="A wrong key or address is found here.",
        look=answering,
        is_quick=False,
    ),
    Check(
        name="account",
        group=GROUP,
        what="Each debrid account",
        why="An account that ends takes every file with it.",
        look=accounts,
        is_quick=False,
    ),
    Check(
        name="server-path",
        group=GROUP,
        what="The library as each media server sees it",
        why="A server lists only what it has a library for.",
        look=paths,
        is_quick=False,
    ),
)
