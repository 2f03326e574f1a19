"""The command line: every command helps, is written about, answers in JSON, and says in one sentence what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from program.cli.commands import CANNOT_START, cli, main
from program.demo.launch import ROOT
from tests.support.commands import command, write_settings

COMMANDS = sorted(cli.commands)
EXPECTED = [
    *("add", "backup", "cases", "check", "completion", "demo", "doctor", "explain", "migrate", "mount"),
    *("preview-names", "preview-ranking", "restore", "retry", "run", "settings-schema", "show", "version"),
]
# They run until a signal comes, or print one thing only, which has a form of its own.
WITHOUT_JSON = {"run", "demo", "mount", "cases", "settings-schema", "completion"}


def test_these_are_the_commands() -> None:
    assert EXPECTED == COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_written_about(name: str) -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    written = [page.name for page in pages if f"main.py {name}" in page.read_text(encoding="utf-8")]
    assert written, f"nothing tells of: python main.py {name}"


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "demo"])
def test_every_command_helps(name: str) -> None:
    shown = CliRunner().invoke(cli, [name, "--help"])
    assert shown.exit_code == 0
    assert shown.output.startswith("Usage: ")
    assert cli.commands[name].help


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_that_answers_can_answer_in_json(name: str) -> None:
    options = {option for param in cli.commands[name].params for option in param.opts}
    assert ("--json" in options) is (name not in WITHOUT_JSON)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_is_told_how_to_complete(shell: str) -> None:
    shown = CliRunner().invoke(cli, ["completion", shell])
    assert shown.exit_code == 0
    assert "_RIVULET_COMPLETE" in shown.output


def test_a_shell_is_told_the_commands(tmp_path: Path) -> None:
    env = {"_RIVULET_COMPLETE": "bash_complete", "COMP_WORDS": "rivulet re", "COMP_CWORD": "1"}
    assert command(tmp_path, env=env).out.split() == ["plain,restore", "plain,retry"]


def test_the_version_is_told_in_json() -> None:
    shown = CliRunner().invoke(cli, ["version", "--json"])
    assert list(json.loads(shown.output)) == ["version"]


def test_a_mistake_is_told_with_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["retry"]) == click.UsageError.exit_code
    assert "give either ids or --all" in capsys.readouterr().err


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A config folder for commands that are run within the test."""
    folder = write_settings(tmp_path, {})
    monkeypatch.setenv("RIVULET_CONFIG", str(folder))
    return folder


@pytest.mark.usefixtures("config")
@pytest.mark.parametrize("arguments", [["add", "45745"], ["retry", "--all"]])
def test_what_asks_the_program_says_when_none_runs(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert main(arguments) == CANNOT_START
    assert "no running Rivulet answers" in capsys.readouterr().err


@pytest.mark.usefixtures("config")
def test_a_backup_is_made_refused_and_put_back_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backup"]) == CANNOT_START
    assert "there is no database" in capsys.readouterr().err
    assert main(["migrate", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["before"] == "empty"
    assert main(["backup", "--json"]) == 0
    name = Path(json.loads(capsys.readouterr().out)["file"]).name
    assert main(["restore", name, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"restored": name}
    assert main(["restore", "../settings.json"]) == CANNOT_START
    assert capsys.readouterr().err == "rivulet: there is no backup of this name\n"


@pytest.mark.usefixtures("config")
def test_the_doctor_says_what_why_and_how_to_mend(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--quick", "--json"])
    body = json.loads(capsys.readouterr().out)
    assert (ended.value.code, body["worst"]) == (1, "wrong")
    found = {one["name"]: one for one in body["checks"]}
    assert found["database"]["said"].endswith("the first start makes it")
    assert found["downloaders-enabled"]["fix"]
    assert found["settings-file"]["level"] == "ok"


def test_the_doctor_names_the_place_of_a_bad_setting(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (config / "settings.json").write_text('{"api": {"port": 0}}')
    with pytest.raises(SystemExit):
        main(["doctor", "--quick"])
    assert "api.port" in capsys.readouterr().out
