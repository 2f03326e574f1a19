"""What is done at start and every few hours so that nothing piles up."""

from loguru import logger

from program.db import decisions, replacements, wipe
from program.db.engine import Database
from program.services.flows import tidy_account
from program.services.flows.context import FlowContext
from program.settings.models import StartupSettings


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


def tidy(ctx: FlowContext) -> None:
    """Drop old timeline rows, files that were replaced while they were read, and have our leftovers on the accounts deleted."""
    with ctx.db.write() as tx:
        decisions.prune(tx, ctx.clock.now())
        replacements.give_up(
            tx, [pair for pair in replacements.replaced(tx) if not ctx.library.is_open(pair[0])]
        )
    ctx.engine.add(tidy_account.job())
