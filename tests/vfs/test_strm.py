"""STRM files: in step with the tree, whole or not at all, and nobody else's file is touched."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from program.media.naming import strm_name
from program.vfs.strm import StrmExport
from program.vfs.tree import Tree, TreeFile
from tests.support.wait import until

JUNE = datetime(2031, 6, 1, tzinfo=UTC)
TOKEN = "0123456789abcdef" * 2
FILM = TreeFile("/movies/Demo (2031)/Demo (2031) - 1080p.mkv", 7, 10, JUNE)


class Home:
    """A tree, a folder, and what writes the one into the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tree = Tree([FILM])
        self.prefix = f"http://nas:8484/strm/{TOKEN}"
        self.export: StrmExport | None = None

    def start(self) -> None:
        """Begin to write."""
        self.export = StrmExport(self.folder, lambda: self.tree.root, lambda: self.prefix, 0o640)
        self.export.start()

    def stop(self) -> None:
        """End writing."""
        if self.export is not None:
            self.export.stop()
        self.export = None

    def files(self) -> dict[str, str]:
        """Return what media servers take, by path: they pass over hidden files, such as one that is being written."""
        found: dict[str, str] = {}
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = Path(folder, name)
                # What is removed while we look is not there.
                with suppress(FileNotFoundError):
                    if not name.startswith("."):
                        found[str(path.relative_to(self.folder))] = path.read_text()
        return found

    def becomes(self, expected: dict[str, int]) -> None:
        """Wait until there is exactly this: path to entry."""

        def entries() -> dict[str, int]:
            return {path: int(text.split("/")[5]) for path, text in self.files().items()}

        until(lambda: entries() == expected, what=f"{expected} in place of {self.files()}")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    found = Home(tmp_path / "strm")
    yield found
    found.stop()


def test_each_video_has_a_file_with_its_address(home: Home) -> None:
    home.start()
    home.becomes({"movies/Demo (2031)/Demo (2031) - 1080p.strm": 7})
    path = home.folder / "movies/Demo (2031)/Demo (2031) - 1080p.strm"
    assert path.read_text() == f"http://nas:8484/strm/{TOKEN}/7/Demo%20%282031%29%20-%201080p.mkv\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert datetime.fromtimestamp(path.stat().st_mtime, UTC) == JUNE
    assert (home.folder / "shows").is_dir()


def test_what_is_added_moved_and_removed_in_the_tree_is_so_in_the_folder(home: Home) -> None:
    home.start()
    home.becomes({"movies/Demo (2031)/Demo (2031) - 1080p.strm": 7})
    home.tree.apply([TreeFile("/shows/S/Season 01/S - s01e01.avi", 8, 10, JUNE)])
    home.becomes({"movies/Demo (2031)/Demo (2031) - 1080p.strm": 7, "shows/S/Season 01/S - s01e01.strm": 8})
    home.tree.apply([replace(FILM, path="/movies/Other/Other.mkv", roots=("", "/kids"))], [8])
    home.becomes({"movies/Other/Other.strm": 7, "kids/movies/Other/Other.strm": 7})
    assert not (home.folder / "movies/Demo (2031)").exists()
    assert not (home.folder / "shows/S").exists()
    home.tree.apply(removed=[7])
    home.becomes({})
    assert (home.folder / "movies").is_dir()


def test_what_changed_while_nobody_wrote_is_mended_at_the_start(home: Home) -> None:
    home.start()
    home.becomes({"movies/Demo (2031)/Demo (2031) - 1080p.strm": 7})
    home.stop()
    home.tree.apply([TreeFile("/movies/B/B.mkv", 9, 10, JUNE)], [7])
    home.start()
    home.becomes({"movies/B/B.strm": 9})
    assert not (home.folder / "movies/Demo (2031)").exists()


def test_what_a_killed_program_had_half_written_is_gone_after_the_next_start(home: Home) -> None:
    half = home.folder / "movies/Demo (2031)/.strm-0a1b2c3d"
    half.parent.mkdir(parents=True)
    half.write_text("http://nas:8")
    home.start()
    home.becomes({"movies/Demo (2031)/Demo (2031) - 1080p.strm": 7})
    assert not half.exists()


def test_a_new_key_or_address_is_written_into_every_file(home: Home) -> None:
    home.start()
    home.becomes({"movies/Demo (2031)/Demo (2031) - 1080p.strm": 7})
    home.prefix = f"https://films.example/strm/{TOKEN[::-1]}"
    until(lambda: all(text.startswith(home.prefix) for text in home.files().values()))


def test_files_of_others_stay_whatever_they_are_called(home: Home) -> None:
    mine = {
        "movies/Demo (2031)/Demo (2031) - 1080p.strm": "http://elsewhere/film.mkv\n",
        "movies/Demo (2031)/poster.jpg": "a picture",
        "movies/Gone/note.strm": "mine",
    }
    for name, text in mine.items():
        (home.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (home.folder / name).write_text(text)
    home.tree.apply([TreeFile("/movies/Gone/Gone.mkv", 8, 10, JUNE)])
    home.start()
    until(lambda: "movies/Gone/Gone.strm" in home.files())
    home.tree.apply(removed=[7, 8])
    until(lambda: "movies/Gone/Gone.strm" not in home.files())
    assert home.files() == mine


def test_a_folder_that_cannot_be_written_to_is_tried_again(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("program.vfs.strm.RETRY_SECONDS", 0.1)
    home.folder.write_text("not a folder")
    home.start()
    home.folder.unlink()
    home.becomes({"movies/Demo (2031)/Demo (2031) - 1080p.strm": 7})


def test_two_videos_that_differ_in_their_extension_only_have_a_file_each(home: Home) -> None:
    home.tree.apply([TreeFile("/movies/B/B.mkv", 8, 10, JUNE), TreeFile("/movies/B/B.mp4", 9, 10, JUNE)], [7])
    home.start()
    home.becomes({"movies/B/B.strm": 8, "movies/B/B.mp4.strm": 9})


def test_every_part_of_a_film_has_a_file_and_its_subtitles_have_none(home: Home) -> None:
    beside = (
        TreeFile(" - part2.avi", 8, 10, JUNE, owner=7),
        TreeFile(".en.srt", 9, 10, JUNE, owner=7),
        TreeFile(" - part2.en.srt", 10, 10, JUNE, owner=7),
    )
    home.tree.apply([replace(FILM, path="/movies/Demo (2031)/Demo (2031) - part1.avi", beside=beside)])
    home.start()
    parts = {f"movies/Demo (2031)/Demo (2031) - part{part}.strm": part + 6 for part in (1, 2)}
    until(lambda: home.files().keys() == parts.keys())
    for path, text in home.files().items():
        assert text.startswith(f"{home.prefix}/{parts[path]}/")
        assert not set(text.strip()) & {" ", "\n"}


def test_a_name_at_the_limit_stays_within_it() -> None:
    assert len(strm_name("映" * 82 + ".ts").encode()) <= 255
    assert strm_name("Demo.mkv") == "Demo.strm"
