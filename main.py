"""Rivulet's command line: `python main.py --help` lists the commands."""

import sys

# A spawned sandbox worker reads this file again and needs nothing of the program.
if __name__ == "__main__":
    from program.cli.commands import main

    sys.exit(main())
