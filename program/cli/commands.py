"""The commands of `main.py`."""

import json
import os
import signal
from collections.abc import Sequence
from pathlib import Path

import click

from program import __version__, log, plugins
from program.cli import cases as case_files
from program.cli import report
from program.clock import SystemClock
from program.demo import run as demo_run
from program.errors import RivuletError
from program.program import Program, open_store, set_up_log
from program.settings.page import schema_text
from program.vfs import manifest as vfs_manifest

# Exit code of a program that could not start.
CANNOT_START = 2
# Commands that print an answer say what is wrong in it, not in log lines around it.
QUIET = "ERROR"


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="rivulet")
@click.pass_context
def cli(context: click.Context) -> None:
    """Rivulet keeps a home's film and series library filled by itself. Without a command it runs."""
    if context.invoked_subcommand is None:
        context.invoke(run)


@cli.command()
def run() -> None:
    """Run until a signal comes."""
    log.set_up()
    store = open_store(os.environ)
    set_up_log(store.current, store.folder)
    program = Program(store, SystemClock())
    _on_signals(program)
    raise SystemExit(program.run())


def _on_signals(program: Program) -> None:
    """Have the first signal stop the program in order, and a second one end it at once."""

    def stop(_number: int, _frame: object) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: os._exit(1))
        program.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    # A terminal that goes away ends the program in order as well.
    signal.signal(signal.SIGHUP, stop)


@cli.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def demo(arguments: Sequence[str]) -> None:
    """Show the whole pipeline on this machine, without any account."""
    raise SystemExit(demo_run.main(list(arguments)))


@cli.command()
@click.argument("manifest", type=click.Path(path_type=Path))
@click.argument("directory", type=click.Path(path_type=Path))
def mount(manifest: Path, directory: Path) -> None:
    """Mount a JSON list of {path, size, urls} at DIRECTORY until a signal comes."""
    log.set_up()
    raise SystemExit(vfs_manifest.run(manifest, directory))


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list of objects.")
def check(*, as_json: bool) -> None:
    """Print what is wrong with the settings, the database, the mount and the providers, and why."""
    log.set_up(QUIET)
    findings = report.check(os.environ, SystemClock())
    click.echo(
        json.dumps([finding.as_dict() for finding in findings]) if as_json else report.render(findings)
    )
    raise SystemExit(1 if any(finding.is_wrong for finding in findings) else 0)


@cli.command()
@click.argument("item_id", type=int)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(item_id: int, *, as_json: bool) -> None:
    """Print the story of one item: what happened, why, and what comes next."""
    log.set_up(QUIET)
    story = report.story(open_store(os.environ), item_id, SystemClock())
    click.echo(json.dumps(story.as_dict()) if as_json else story.text())


@cli.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
def cases(file: Path) -> None:
    """Run a file of cases through the real rules, ranking and mapping: a JSON line each, then passed/total per kind."""
    raise SystemExit(case_files.run_file(file, SystemClock().now(), click.echo))


@cli.command("settings-schema")
def settings_schema() -> None:
    """Print the JSON Schema of settings.json."""
    click.echo(schema_text(plugins.compose_settings(plugins.discover())), nl=False)


@cli.command()
def version() -> None:
    """Print the version."""
    click.echo(__version__)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; errors a person can mend are one sentence on stderr."""
    try:
        cli.main(args=list(arguments) if arguments is not None else None, standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return 1
    except RivuletError as error:
        click.echo(f"rivulet: {log.redact(str(error))}", err=True)
        return CANNOT_START
    return 0
