"""Plugins that do not come with the program: loaded only when allowed, reported when broken, never in the way of the rest."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from program.errors import RivuletError
from program.plugins import Allowed, allowed, compose_settings, discover, find, without_strangers
from program.plugins.outside import PREFIX, origin_of
from program.settings.store import SettingsStore
from tests.support.lines import log_lines

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = """
    from program.services.plugin import Plugin
    from program.settings.provider import ProviderSettings
    from pydantic import Field

    class BellSettings(ProviderSettings):
        "A bell."
        tone: str = Field(default="a", description="Its tone")

    class Bell(Plugin[BellSettings]):
        key = "{key}"
        title = "Bell"
        version = "2.1.0-beta.1"
        Settings = BellSettings

        def check(self):
            pass

        def hooks(self):
            return {{"riven.core.started": self.ring}}

        def ring(self, event):
            self.log.info("ding {{}}", self.settings.tone)
"""


@pytest.fixture(autouse=True)
def _no_module_stays() -> Iterator[None]:
    yield
    for name in [name for name in sys.modules if name.startswith(PREFIX)]:
        del sys.modules[name]


def put(folder: Path, name: str, text: str) -> Path:
    """Write a file into the folder of plugins, for its owner only."""
    plugins = folder / "plugins"
    plugins.mkdir(mode=0o700, exist_ok=True)
    file = plugins / name
    file.write_text(dedent(text))
    file.chmod(0o600)
    return file


def settings(folder: Path, **sections: object) -> None:
    (folder / "settings.json").write_text(json.dumps({"api_key": "k" * 20, **sections}))


def files(folder: Path) -> Allowed:
    return Allowed(folder, files=True)


# What is allowed


def test_nothing_from_outside_is_loaded_unless_it_is_allowed(tmp_path: Path) -> None:
    put(tmp_path, "bell.py", "raise SystemExit('never run')")
    settings(tmp_path)
    assert allowed(tmp_path, {}) == Allowed(tmp_path)
    found = find(allowed(tmp_path, {}))
    assert (found.classes, found.broken) == (discover(), ())


@pytest.mark.parametrize(
    ("section", "environ", "entry_points", "folder"),
    [
        ({"folder": True}, {}, False, True),
        ({"entry_points": True}, {}, True, False),
        ({"folder": True}, {"RIVULET_PLUGINS__FOLDER": "no"}, False, False),
        ({}, {"RIVULET_PLUGINS__ENTRY_POINTS": "true", "RIVULET_PORT": "tcp://x"}, True, False),
        ({"folder": True, "bell": {"enabled": True}}, {"RIVULET_SCRAPING__BELL__TONE": "b"}, False, True),
        ({"folder": "perhaps"}, {}, False, False),
        ("all of them", {}, False, False),
    ],
)
def test_the_file_and_the_environment_say_what_is_allowed(
    tmp_path: Path, section: object, environ: dict[str, str], *, entry_points: bool, folder: bool
) -> None:
    settings(tmp_path, plugins=section)
    assert allowed(tmp_path, environ) == Allowed(tmp_path, entry_points, folder)


def test_without_a_settings_file_nothing_is_allowed(tmp_path: Path) -> None:
    assert allowed(tmp_path / "none", {}) == Allowed(tmp_path / "none")
    (tmp_path / "settings.json").write_text("{")
    assert allowed(tmp_path, {}) == Allowed(tmp_path)


# Files


def test_a_file_in_the_folder_is_a_plugin_with_settings_of_its_own(tmp_path: Path) -> None:
    put(tmp_path, "bell.py", PLUGIN.format(key="bell"))
    put(tmp_path, "_helper.py", "raise ValueError")
    with log_lines() as lines:
        found = find(files(tmp_path))
    (bell,) = [plugin for plugin in found.classes if plugin.key == "bell"]
    assert (bell.version, origin_of(bell), found.broken) == ("2.1.0-beta.1", "file bell.py", ())
    assert lines == ["INFO plugin bell 2.1.0-beta.1 is loaded from file bell.py"]
    settings(tmp_path, plugins={"folder": True, "bell": {"enabled": True, "tone": "c"}})
    store = SettingsStore(tmp_path, compose_settings(found.classes), {})
    assert store.open().plugins.bell.tone == "c"  # type: ignore[attr-defined]
    assert origin_of(discover()[0]) == "package"


def test_a_broken_file_is_reported_with_its_reason_and_the_others_are_used(tmp_path: Path) -> None:
    put(tmp_path, "a_torn.py", "def broken(:\n")
    put(tmp_path, "b_leaving.py", "import sys\nsys.exit(1)")
    put(tmp_path, "c_empty.py", "x = 1\n")
    put(
        tmp_path,
        "d_half.py",
        "from program.services.plugin import Scraper\nclass Half(Scraper):\n    key = 'half'\n",
    )
    put(tmp_path, "e_taken.py", PLUGIN.format(key="tmdb"))
    put(tmp_path, "f_good.py", PLUGIN.format(key="bell"))
    put(tmp_path, "g_open.py", PLUGIN.format(key="open")).chmod(0o602)
    put(tmp_path, "h_old.py", PLUGIN.format(key="old").replace("2.1.0-beta.1", "2.1"))
    with log_lines() as lines:
        found = find(files(tmp_path))
    assert "bell" in {plugin.key for plugin in found.classes}
    reasons = {broken.name: broken.reason for broken in found.broken}
    assert reasons.pop("plugins/a_torn.py").startswith("it cannot be loaded: SyntaxError: invalid syntax")
    assert reasons == {
        "plugins/b_leaving.py": "it cannot be loaded: it ends the program",
        "plugins/c_empty.py": "there is no plugin's class in it",
        "plugins/d_half.py": "its class Half lacks check, search",
        "plugins/e_taken.py": "its key is taken",
        "plugins/g_open.py": "others than its owner may change it; take that right away (chmod go-w)",
        "plugins/h_old.py": "its version '2.1' is not three numbers with dots, as in 1.0.0",
    }
    assert len([line for line in lines if line.startswith("ERROR plugin plugins/")]) == 7


def test_the_settings_of_a_plugin_that_is_broken_today_keep_no_program_from_starting(tmp_path: Path) -> None:
    settings(tmp_path, plugins={"folder": True, "bell": {"enabled": True, "tone": "c"}})
    model = compose_settings(discover())
    with pytest.raises(RivuletError, match=r"plugins\.bell"):
        SettingsStore(tmp_path, model, {}).open()
    store = SettingsStore(tmp_path, model, {}, ignore=without_strangers(model))
    with log_lines() as lines:
        store.open()
        store.save({"log": {"level": "DEBUG"}})
    assert lines == ["WARNING settings: plugins.bell is not looked at: no plugin of this name is loaded"]
    kept = json.loads(store.file.read_text())
    assert kept["plugins"]["bell"] == {"enabled": True, "tone": "c"}, (
        "it stays in the file for when it is mended"
    )
    assert kept["log"]["level"] == "DEBUG"


def test_a_misspelt_setting_is_an_error_also_with_plugins_from_outside(tmp_path: Path) -> None:
    model = compose_settings(discover())
    settings(tmp_path, plugins={"foldr": True})
    with pytest.raises(RivuletError, match=r"plugins\.foldr"):
        SettingsStore(tmp_path, model, {}, ignore=without_strangers(model)).open()


# Installed packages


def wheel(folder: Path, module: str, text: str, points: str) -> Path:
    """Build a wheel of one module by hand; it is used as it lies there."""
    file = folder / f"{module}-1.0.0-py3-none-any.whl"
    info = f"{module}-1.0.0.dist-info"
    with zipfile.ZipFile(file, "w") as made:
        made.writestr(f"{module}.py", dedent(text))
        made.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0.0\n")
        made.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        made.writestr(f"{info}/entry_points.txt", f"[rivulet.plugins]\n{points}\n")
        made.writestr(f"{info}/RECORD", "")
    return file


SHOW = """
import json, os, sys
from pathlib import Path
from program import plugins
from program.plugins.outside import origin_of
found = plugins.find(plugins.allowed(Path(os.environ["RIVULET_CONFIG"]), os.environ))
own = {plugin.key for plugin in plugins.discover()}
print(json.dumps({
    "plugins": {p.key: [p.version, origin_of(p), p.Settings().tone] for p in found.classes if p.key not in own},
    "broken": {broken.name: broken.reason for broken in found.broken},
}))
"""


def in_a_process_with(wheels: list[Path], config: Path, **environ: str) -> dict[str, dict[str, object]]:
    """Return what a process finds that has wheels installed."""
    path = os.pathsep.join(map(str, [ROOT, *wheels]))
    run = subprocess.run(
        [sys.executable, "-c", SHOW],
        env={**os.environ, "PYTHONPATH": path, "RIVULET_CONFIG": str(config), **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return json.loads(run.stdout.splitlines()[-1])


def test_an_installed_wheel_brings_a_plugin_when_that_is_allowed(tmp_path: Path) -> None:
    wheels = [
        wheel(tmp_path, "rivulet_bell", PLUGIN.format(key="bell"), "bell = rivulet_bell:Bell"),
        wheel(tmp_path, "rivulet_gong", PLUGIN.format(key="gong"), "gong = rivulet_gong"),
        wheel(tmp_path, "rivulet_torn", "1 / 0", "torn = rivulet_torn:Bell"),
        wheel(tmp_path, "rivulet_odd", "Bell = 5", "odd = rivulet_odd:Bell"),
    ]
    assert in_a_process_with(wheels, tmp_path) == {"plugins": {}, "broken": {}}
    found = in_a_process_with(wheels, tmp_path, RIVULET_PLUGINS__ENTRY_POINTS="true")
    assert found == {
        "plugins": {
            "bell": ["2.1.0-beta.1", "installed rivulet_bell", "a"],
            "gong": ["2.1.0-beta.1", "installed rivulet_gong", "a"],
        },
        "broken": {
            "torn (rivulet_torn)": "it cannot be loaded: ZeroDivisionError: division by zero",
            "odd (rivulet_odd)": "rivulet_odd:Bell is neither a plugin's class nor a module with one",
        },
    }


def test_a_folder_that_everybody_may_write_to_is_not_trusted(tmp_path: Path) -> None:
    file = put(tmp_path, "bell.py", PLUGIN.format(key="bell"))
    file.parent.chmod(0o777)
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o777
    (broken,) = find(files(tmp_path)).broken
    assert "others than its owner may change it" in broken.reason
