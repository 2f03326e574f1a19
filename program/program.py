"""One run of the program: the machine *Program* from its start to its exit code.

*Bootstrap* (`program.bootstrap`) builds each object once; *Main runner* (`program.runner`) runs them; what is opened stands on
one stack, which is unwound at the end in the opposite order. Threads: main (waits here), api (waitress), loop, scheduler,
workers, the file system's own, and one for each call of a plugin.
"""

import gc
import threading
from contextlib import ExitStack
from pathlib import Path

from program.bootstrap import Bootstrap, Bootstrapped, Machines
from program.clock import Clock
from program.events import CoreShutdown
from program.folder_lock import alone_in
from program.lifecycle import ERROR, OK, START, STOP
from program.log import logger
from program.memory import settle
from program.opening import Opened, database_url, open_store
from program.runner import MainRunner
from program.vitals import PATIENCE_SECONDS, Vitals

__all__ = ["Program", "database_url", "open_store"]

# How long hooks may take to hear that the program ends.
SHUTDOWN_SECONDS = 2.0
# How often the main thread looks whether the rest still runs.
LOOK_SECONDS = 1.0


class Program:
    """One run of Rivulet, from its settings to its end. scenario: fills an empty database first; for tests."""

    def __init__(
        self,
        opened: Opened,
        clock: Clock,
        *,
        scenario: Path | None = None,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self._opened = opened
        self._clock = clock
        self._scenario = scenario
        self._patience = patience
        self._stop = threading.Event()
        self.machines = Machines(clock)

    def stop(self) -> None:
        """Ask the run to end; safe to call from a signal handler and from any thread."""
        self._stop.set()

    def run(self) -> int:
        """Start, work until stopped, stop; return the exit code. Raises StartupError with a sentence when it cannot start."""
        machine = self.machines.program
        machine.send(START)
        with ExitStack() as stack:
            try:
                stack.enter_context(alone_in(self._opened.store.folder))
                made = self._bootstrap(stack)
                trouble = self._run(made, stack) if made is not None else None
            except BaseException:
                machine.send(ERROR)
                raise
            machine.send(STOP if trouble is None else ERROR)
            logger.info("stopping")
            if made is not None and not made.bus.publish_and_wait(CoreShutdown(), SHUTDOWN_SECONDS):
                logger.info("not every plugin has taken note of the end in time")
        machine.send(OK)
        return 0 if trouble is None else 1

    def _bootstrap(self, stack: ExitStack) -> Bootstrapped | None:
        return Bootstrap(self._opened, self._clock, self.machines, stack, self._scenario).run(
            self._stop.is_set
        )

    def _run(self, made: Bootstrapped, stack: ExitStack) -> str | None:
        """Work until stopped; return None, or why the program cannot go on."""
        if self._stop.is_set():
            return None
        organs = {"the database": made.ctx.db.healthy, "the library": made.vfs.healthy}
        vitals = Vitals(self._clock, organs, self._patience)
        runner = MainRunner(made, self.machines.runner, self._clock, vitals)
        self.machines.program.send(OK)
        runner.start(stack)
        settle()
        stack.callback(gc.unfreeze)
        settings = made.store.current
        logger.info(
            "ready: http://{}:{}, library at {}", settings.api.host, made.server.port, made.vfs.place()
        )
        while not self._stop.wait(LOOK_SECONDS):
            trouble = runner.trouble()
            if trouble is not None:
                logger.critical("{}: the program ends; start it again", trouble)
                return trouble
        return None
