"""Where a file that is about to appear will be, for the story of its title."""

from program.db import shelves
from program.db.engine import Tx
from program.media.profiles import matching, roots_of
from program.services.flows.context import FlowContext
from program.settings.profiles import enabled_profiles


def shown_at(ctx: FlowContext, tx: Tx, entry_id: int, path: str) -> str:
    """Return the path of a file within the folder that people look at: in its library profile where that has it alone."""
    vfs = ctx.settings().vfs
    profiles = enabled_profiles(vfs.profiles)
    if not profiles:
        return vfs.shown_as(path)
    title = shelves.title_facts(tx, [entry_id]).get(entry_id)
    roots = roots_of(matching(profiles.values(), title) if title else (), profiles)
    return vfs.shown_as(f"{roots[0]}{path}")
