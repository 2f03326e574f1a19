"""Names that were read before: kept on disk, the same as read anew, and never a reason to fail."""

from pathlib import Path

import pytest

from program.services.matching import kept_names
from program.services.matching.kept_names import KeptNames, kept_in, read
from program.services.matching.parse import parse
from tests.support.readings import CASES, rows

NAMES = [row.name for row in rows(CASES / "readings_seventh.txt")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "names"


def read_all(folder: Path) -> list[object]:
    names = KeptNames(folder)
    found: list[object] = [names.read(name, of_film=False) for name in NAMES]
    names.flush()
    return found


def test_what_is_kept_is_what_would_be_read(folder: Path) -> None:
    anew = [parse(name) for name in NAMES]
    assert read_all(folder) == anew
    assert read_all(folder) == anew, "from the disk"


def test_a_film_and_a_series_are_read_apart(folder: Path) -> None:
    name = "Lantern.Part.2.1080p"
    with kept_in(folder):
        film, series = read(name, of_film=True), read(name, of_film=False)
    with kept_in(folder):
        assert (read(name, of_film=True), read(name, of_film=False)) == (film, series)
    assert film != series


def test_a_new_version_of_the_parser_reads_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_all(folder)
    monkeypatch.setattr(kept_names, "_version", lambda: "next")
    asked: list[str] = []
    monkeypatch.setattr(
        kept_names, "parse", lambda name, of_film: asked.append(name) or parse(name, of_film=of_film)
    )
    read_all(folder)
    assert asked == NAMES


def test_a_folder_that_cannot_be_used_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "names").write_text("a file stands there")
    with kept_in(tmp_path / "names"):
        assert read("Lantern.S01E02.1080p", of_film=False) == parse("Lantern.S01E02.1080p")


def test_the_folder_stays_within_its_bound(folder: Path) -> None:
    assert KeptNames(folder)._opened().size_limit == kept_names.SIZE_LIMIT
