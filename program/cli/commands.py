"""The commands of `main.py`."""

import json
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import get_completion_class

from program import __version__, log, plugins
from program.cli import cases as case_files
from program.cli import database, remote, report
from program.cli import doctor as doctoring
from program.cli import explain as explaining
from program.cli import preview as previewing
from program.clock import SystemClock
from program.demo import run as demo_run
from program.doctor.check import worst
from program.errors import RivuletError
from program.media.name_samples import samples
from program.media.release import JsonValue
from program.opening import open_all, open_store, set_up_log
from program.program import Program
from program.settings.page import schema_text
from program.vfs import manifest as vfs_manifest

# Exit code of a program that could not start.
CANNOT_START = 2
# Commands that print an answer say what is wrong in it, not in log lines around it.
QUIET = "ERROR"
PROGRAM_NAME = "rivulet"


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="rivulet")
@click.pass_context
def cli(context: click.Context) -> None:
    """Rivulet keeps a home's film and series library filled by itself. Without a command it runs."""
    if context.invoked_subcommand is None:
        context.invoke(run)


@cli.command()
@click.option(
    "--scenario",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="For tests: fill the empty database from this file first.",
)
def run(scenario: Path | None = None) -> None:
    """Run until a signal comes."""
    log.set_up()
    opened = open_all(os.environ)
    set_up_log(opened.store.current, opened.store.folder)
    program = Program(opened, SystemClock(), scenario=scenario)
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
@click.option("--quick", is_flag=True, help="Only what asks no service and costs next to nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def doctor(*, quick: bool, as_json: bool) -> None:
    """Look at everything that can be wrong: what, why it matters, and how to mend it. Exit code 1 when something is."""
    log.set_up(QUIET)
    found = doctoring.run(os.environ, SystemClock(), quick=quick)
    body = {"worst": worst(found).value, "checks": [one.as_dict() for one in found]}
    _say(body, doctoring.text(found), as_json=as_json)
    raise SystemExit(1 if any(one.is_wrong for one in found) else 0)


@cli.command()
@click.argument("ids", nargs=-1, required=True)
@click.option(
    "--tv", "is_tv", is_flag=True, help="The ids are those of shows at TVDB; otherwise of films at TMDB."
)
@click.option("--season", "seasons", type=int, multiple=True, help="Only this season; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def add(ids: tuple[str, ...], seasons: tuple[int, ...], *, is_tv: bool, as_json: bool) -> None:
    """Ask the running program for titles: films by TMDB id, shows by TVDB id, both by IMDb id (tt…)."""
    log.set_up(QUIET)
    imdb = [one for one in ids if one.startswith("tt")]
    others = [one for one in ids if not one.startswith("tt")]
    body: dict[str, object] = {"media_type": "tv" if is_tv else "movie", "imdb_ids": imdb}
    body |= {"tvdb_ids" if is_tv else "tmdb_ids": others}
    body |= {"seasons": list(seasons)} if seasons else {}
    _say_done(remote.call(open_store(os.environ), "POST", "/items/add", body), as_json=as_json)


@cli.command()
@click.argument("ids", nargs=-1, type=int)
@click.option("--all", "everything", is_flag=True, help="Every unfinished title.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def retry(ids: tuple[int, ...], *, everything: bool, as_json: bool) -> None:
    """Have the running program start titles afresh, by their ids in the library."""
    log.set_up(QUIET)
    if bool(ids) is everything:
        raise click.UsageError("give either ids or --all")
    store = open_store(os.environ)
    path, body = ("/items/retry_library", None) if everything else ("/items/retry", {"ids": list(ids)})
    _say_done(remote.call(store, "POST", path, body), as_json=as_json)


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def backup(*, as_json: bool) -> None:
    """Copy the database into the folder backups of the config folder; the ten newest copies are kept."""
    log.set_up(QUIET)
    made = database.make(open_store(os.environ), SystemClock())
    _say(
        {"file": str(made.file), "size": made.size},
        f"the database was copied to {made.file}",
        as_json=as_json,
    )


@cli.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def restore(name: str, *, as_json: bool) -> None:
    """Put the backup NAME in place of the database; the program must not run. What is there is copied first."""
    log.set_up(QUIET)
    found = database.put_back(open_store(os.environ), SystemClock(), name)
    _say({"restored": found.name}, f"the database is that of {found.name} now", as_json=as_json)


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def migrate(*, as_json: bool) -> None:
    """Bring the tables of the database to the newest version, after a copy; a start does the same."""
    log.set_up(QUIET)
    before, after = database.migrate(open_store(os.environ), SystemClock())
    said = f"the tables were at revision {before} and are at {after}"
    _say({"before": before, "after": after}, said, as_json=as_json)


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print what lets a shell complete these commands: eval "$(python main.py completion bash)"."""
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"nothing is known of {shell}")
    click.echo(kind(cli, {}, PROGRAM_NAME, f"_{PROGRAM_NAME.upper()}_COMPLETE").source())


def _say(body: Mapping[str, object], text: str, *, as_json: bool) -> None:
    click.echo(json.dumps(body) if as_json else text)


def _say_done(body: Mapping[str, Any], *, as_json: bool) -> None:
    """Print what an action did, one sentence for each title."""
    lines = [body["message"], *(f"  {one['id'] or '-'}: {one['sentence']}" for one in body["items"])]
    _say(body, "\n".join(lines), as_json=as_json)


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
    """Run a file of cases through the real rules, mapping and file system: a JSON line each, then passed/total per kind."""
    log.set_up(QUIET)
    raise SystemExit(case_files.run_file(file, SystemClock().now(), click.echo))


@cli.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--id", "item_id", type=int, help="A title of the library, by its id.")
@click.option("--title", help="A made-up title.")
@click.option("--type", "kind", default="movie", help="What it is: movie, show, season or episode.")
@click.option("--year", type=int, help="Of the film or the show.")
@click.option("--season", type=int)
@click.option("--episode", type=int)
@click.option("--absolute", type=int, help="The episode's number over the whole show.")
@click.option("--alias", "aliases", multiple=True, help="Another name of it; may be repeated.")
@click.option("--country", help="ISO 3166-1, two letters.")
@click.option("--language", help="Original language, ISO 639-1.")
@click.option("--anime", "is_anime", is_flag=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def explain(
    names: tuple[str, ...], item_id: int | None, kind: str, *, as_json: bool, **item: explaining.Given
) -> None:
    """Explain which of the releases NAMES would be taken for a title, rule by rule, and in which order."""
    if (item_id is None) is (item["title"] is None):
        raise click.UsageError("give either --id or --title")
    about = item_id if item_id is not None else explaining.made_up(kind, item)
    body = explaining.explain(open_store(os.environ), about, names, SystemClock())
    click.echo(body.model_dump_json() if as_json else explaining.text(body))


@cli.command("preview-names")
@click.argument("templates", nargs=-1, metavar="[NAME=TEMPLATE]...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def preview_names(templates: tuple[str, ...], *, as_json: bool) -> None:
    """Print what files would be called with other templates, e.g. movie_folder="{title} ({year})"; nothing is changed."""
    log.set_up(QUIET)
    wanted: dict[str, JsonValue] = {}
    for one in templates:
        name, equals, template = one.partition("=")
        if not equals:
            raise click.UsageError(f"{one}: write NAME=TEMPLATE")
        wanted[name] = template
    settings = open_store(os.environ).preview({"vfs": {"naming": wanted}})
    made = {sample.about: sample.path for sample in samples(settings.vfs.naming.templates())}
    click.echo(
        json.dumps(made) if as_json else "\n".join(f"{about}:\n  {path}" for about, path in made.items())
    )


@cli.command("preview-ranking")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON line per part of the library.")
def preview_ranking(file: Path, *, as_json: bool) -> None:
    """Tell which titles would choose another release with the ranking settings in FILE; nothing is saved."""
    log.set_up(QUIET)
    changes = 0
    for page in previewing.preview(open_store(os.environ), file, SystemClock()):
        changes += len(page.changes)
        for line in (page.model_dump_json(),) if as_json else previewing.lines(page):
            click.echo(line)
    if not as_json:
        click.echo(f"{changes} titles would choose differently")


@cli.command("settings-schema")
def settings_schema() -> None:
    """Print the JSON Schema of settings.json."""
    click.echo(schema_text(plugins.compose_settings(plugins.discover())), nl=False)


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def version(*, as_json: bool) -> None:
    """Print the version."""
    _say({"version": __version__}, __version__, as_json=as_json)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; errors a person can mend are one sentence on stderr."""
    try:
        given = list(arguments) if arguments is not None else None
        cli.main(args=given, prog_name=PROGRAM_NAME, standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return 1
    except RivuletError as error:
        click.echo(f"rivulet: {log.redact(str(error))}", err=True)
        return CANNOT_START
    return 0
