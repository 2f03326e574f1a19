"""`python -m bench.unpaced`: the program, with its providers' pace taken off, since stand-ins on this machine have no limits.

With the vendors' limits a film takes at least as long as they allow, and nothing of the program's own cost could be seen.
"""

import sys

from program import plugins
from program.cli.commands import main
from program.http import Limits

UNLIMITED = Limits(requests=1_000_000, seconds=1.0)

# A spawned sandbox worker reads this file again and needs nothing of the program.
if __name__ == "__main__":
    for provider in plugins.discover():
        provider.limits = UNLIMITED
    sys.exit(main())
