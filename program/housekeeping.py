"""What is done at start and every few hours so that nothing piles up."""

from loguru import logger

from program.db import decisions, replacements, sources, upgrades, wipe
from program.db.engine import Database
from program.services.flows import copies, mend_entry, second_sources, tidy_account
from program.services.flows.context import FlowContext
from program.settings.models import StartupSettings

# More files at once are looked after a little later.
MENDED_AT_ONCE = 50


def clear_previous(db: Database, startup: StartupSettings) -> None:
    """Throw away what the settings say is to be thrown away at a start."""
    if startup.unsafe_wipe_database_on_startup:
        logger.warning("startup.unsafe_wipe_database_on_startup is on: the library is emptied")
        with db.write() as tx:
            wipe.everything(tx)
    elif startup.unsafe_wipe_queue_on_startup:
        logger.warning("startup.unsafe_wipe_queue_on_startup is on: postponed attempts are forgotten")
        with db.write() as tx:
            wipe.postponements(tx)


def look_after_files(ctx: FlowContext) -> None:
    """Have the files looked after whose sources gave no bytes, and the other providers asked for the torrents of all files."""
    with ctx.db.read() as tx:
        due = sources.to_mend(tx, ctx.clock.now(), MENDED_AT_ONCE)
    for entry_id in due:
        ctx.engine.add(mend_entry.job(entry_id))
    second_sources.begin(ctx)


def tidy(ctx: FlowContext) -> None:
    """Drop old timeline rows and files that were replaced while they were read, and have our leftovers on the accounts deleted.

    Titles that were finished before better copies were wanted are looked at again.
    """
    now = ctx.clock.now()
    window = copies.window(ctx.settings().ranking)
    with ctx.db.write() as tx:
        decisions.prune(tx, now)
        if window is not None:
            upgrades.begin(tx, now - window, now)
        replacements.give_up(
            tx, [pair for pair in replacements.replaced(tx) if not ctx.library.is_open(pair[0])]
        )
    ctx.library.rearrange()
    ctx.engine.add(tidy_account.job())
