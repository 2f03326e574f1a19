"""Rivulet's command line: `python main.py --help` lists the commands."""

import sys

# A spawned sandbox worker reads this file again and needs nothing of the program.
if __name__ == "__main__":
    match sys.argv[1:]:
        case ["mount", manifest, folder] if not (manifest.startswith("-") or folder.startswith("-")):
            # A third of the memory that all commands together need, and there six times as soon.
            from program.vfs.manifest import main

            sys.exit(main([manifest, folder]))
        case _:
            from program.cli.commands import main

            sys.exit(main())
