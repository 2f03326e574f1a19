"""Where files stand in the library: further folders by profiles, at once after every change, and written down."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from program.clock import ManualClock
from program.db import entries, shelves
from program.db.engine import Database
from program.errors import Transient
from program.library import MountedLibrary, standing_folders
from program.media.entry import Entry, Link
from program.media.item import Ids, MediaType
from program.settings.vfs import VfsSettings
from program.vfs.vfs import Vfs
from tests.db.library import Library, film_metadata, season, show_metadata, wish

KIDS = {"kids": {"path": "/kids", "rules": {"genres": ["Animation"]}}}


class Home:
    """A library in a database and as a tree, without a mount."""

    def __init__(self, db: Database, clock: ManualClock, folder: Path) -> None:
        self.library = Library(db, clock)
        self.folder = folder
        self.use()
        self.vfs = Vfs(self.settings, self._link, clock, standing_folders(self.settings))
        self.shown = MountedLibrary(self.vfs, db, lambda: self.settings, folder)
        self.vfs.start(self.shown.load())

    def use(self, **changes: Any) -> None:
        """Have other settings."""
        base = {"mode": "webdav", "mount_path": self.folder / "mnt", "cache_dir": self.folder / "cache"}
        self.settings = VfsSettings.model_validate({**base, **changes})

    def add_film(self, name: str, number: int, **facts: Any) -> int:
        """Add a film with a file in the library; return its entry."""
        item = self.library.film(Ids(tmdb=str(number)), name)
        self.library.index(item, film_metadata(Ids(tmdb=str(number)), name, **facts))
        entry = self.library.complete(item, item, path=f"/movies/{name}/{name}.mkv")
        self.shown.apply([self.entry(entry)], ())
        return entry

    def entry(self, entry_id: int) -> Entry:
        """Read an entry."""
        with self.library.db.read() as tx:
            found = entries.get(tx, entry_id)
        assert found is not None
        return found

    def names(self, path: str) -> tuple[str, ...] | None:
        """Return the names in a folder."""
        return self.vfs.tree.names(path)

    def _link(self, entry_id: int, _dead_url: str | None) -> Link:
        raise Transient(f"entry {entry_id} is never read here")


@pytest.fixture
def home(db: Database, clock: ManualClock, tmp_path: Path) -> Iterator[Home]:
    found = Home(db, clock, tmp_path)
    yield found
    found.vfs.stop()


def test_a_new_profile_shows_its_films_at_once_and_a_removed_one_is_gone(home: Home) -> None:
    bunny = home.add_film("Bunny", 1, genres=("Animation",))
    home.add_film("Steel", 2, genres=("Action",))
    home.use(profiles=KIDS)
    home.shown.rearrange()
    assert home.names("/") == ("movies", "shows", "kids")
    assert home.names("/kids") == ("movies", "shows")
    assert home.names("/kids/movies") == ("Bunny",)
    assert home.names("/movies") == ("Bunny", "Steel")
    assert home.entry(bunny).profiles == ("kids",)
    assert home.shown.places(home.entry(bunny)) == tuple(
        f"{home.folder}/mnt{root}/movies/Bunny/Bunny.mkv" for root in ("", "/kids")
    )
    home.use()
    home.shown.rearrange()
    assert home.names("/") == ("movies", "shows")
    assert home.entry(bunny).profiles == ()


def test_an_exclusive_profile_takes_its_films_out_of_the_library(home: Home) -> None:
    home.use(profiles={"kids": {**KIDS["kids"], "exclusive": True}})
    bunny = home.add_film("Bunny", 1, genres=("Animation",))
    home.shown.rearrange()
    assert home.names("/movies") == ()
    assert home.vfs.path_of(bunny) == "/kids/movies/Bunny/Bunny.mkv"


def test_a_title_that_is_looked_up_again_moves_with_what_is_known_of_it(home: Home) -> None:
    home.use(profiles=KIDS)
    steel = home.add_film("Steel", 2, genres=("Action",))
    home.shown.rearrange()
    assert home.names("/kids/movies") == ()
    [item] = home.entry(steel).item_ids
    home.library.index(item, film_metadata(Ids(tmdb="2"), "Steel", genres=("Action", "Animation")))
    home.shown.refresh([item])
    assert home.names("/kids/movies") == ("Steel",)


def test_a_title_that_a_person_put_into_a_folder_is_there_whatever_the_rules_say(home: Home) -> None:
    home.use(profiles=KIDS)
    bunny = home.add_film("Bunny", 1, genres=("Animation",))
    steel = home.add_film("Steel", 2, genres=("Action",))
    home.shown.rearrange()
    [of_bunny], [of_steel] = home.entry(bunny).item_ids, home.entry(steel).item_ids
    home.library.commit(of_steel, {of_steel: {"library_profiles": ("kids", "gone")}})
    home.library.commit(of_bunny, {of_bunny: {"library_profiles": ()}})
    home.shown.refresh([of_bunny, of_steel])
    assert home.names("/kids/movies") == ("Steel",)
    assert home.names("/movies") == ("Bunny", "Steel")
    # A look-up changes nothing about it, the rules count again when they are asked for.
    home.library.index(of_steel, film_metadata(Ids(tmdb="2"), "Steel", genres=("Action",)))
    home.shown.refresh([of_steel])
    assert home.names("/kids/movies") == ("Steel",)
    home.library.commit(of_steel, {of_steel: {"library_profiles": None}})
    home.shown.refresh([of_steel])
    assert home.names("/kids/movies") == ()


def test_the_folders_of_a_start_are_those_of_the_last_run(home: Home, clock: ManualClock) -> None:
    home.use(profiles=KIDS)
    home.add_film("Bunny", 1, genres=("Animation",))
    again = Vfs(home.settings, home._link, clock, standing_folders(home.settings))
    library = MountedLibrary(again, home.library.db, lambda: home.settings, home.folder)
    again.start(library.load())
    try:
        assert again.tree.names("/kids/movies") == ("Bunny",)
    finally:
        again.stop()


def test_what_is_not_out_of_place_is_not_touched(home: Home) -> None:
    bunny = home.add_film("Bunny", 1, genres=("Animation",))
    before = home.vfs.tree.root
    home.shown.rearrange()
    assert home.vfs.tree.root is before
    assert home.vfs.tree.file(bunny) is not None


def test_an_episodes_facts_are_its_shows_with_who_asked_for_it(home: Home) -> None:
    library = home.library
    show = library.show(season(1), ids=Ids(tvdb="9"))
    facts = {"genres": ("Drama",), "network": "Vodo", "rating": 7.5, "content_rating": "TV-14", "year": 2010}
    library.index(show, show_metadata(season(1), ids=Ids(tvdb="9"), **facts))
    library.ask(wish(Ids(tvdb="9"), source="letterbox", is_movie=False, requested_by="Ada"))
    entry = library.complete(show, library.item(show, 1, 1).id)
    with library.db.read() as tx:
        found = shelves.title_facts(tx, [entry])
        assert found == shelves.title_facts(tx)
    assert found[entry].type is MediaType.SHOW
    assert (found[entry].network, found[entry].rating, found[entry].content_rating) == ("Vodo", 7.5, "TV-14")
    assert (found[entry].year, found[entry].genres) == (2010, ("Drama",))
    assert "letterbox" in found[entry].lists
    assert found[entry].requested_by == ("Ada",)


def test_new_templates_rename_what_is_there_and_the_next_start_finds_it_renamed(
    home: Home, clock: ManualClock
) -> None:
    film = home.library.film(Ids(tmdb="1"), "Bunny")
    entry = home.library.complete(film, film, path="/movies/Bunny/Bunny.mkv", name="Bunny.2010.Extended.mkv")
    show = home.library.show(season(1), ids=Ids(tvdb="9"))
    both = [home.library.item(show, 1, number).id for number in (1, 2)]
    double = home.library.add_file(*both, name="Pioneer.One.S01E01E02.avi", infohash="b" * 40)
    home.shown.apply([home.entry(entry)], ())
    home.use(
        naming={
            "movie_folder": "{title}",
            "movie_file": "{title} {edition} {version}",
            "show_folder": "{title}",
        }
    )
    home.shown.rearrange()
    assert home.vfs.path_of(entry) == "/movies/Bunny/Bunny Extended 1080p.mkv"
    assert home.entry(double).path == "/shows/Pioneer One/Season 01/Pioneer One - s01e01-e02 - 1080p.avi"
    before = home.vfs.tree.root
    home.shown.rearrange()
    assert home.vfs.tree.root is before
    home.use()
    again = MountedLibrary(home.vfs, home.library.db, lambda: home.settings, home.folder)
    assert [file.path for file in again.load()] == [
        "/movies/Bunny (2010) {tmdb-1} [tmdbid=1]/Bunny (2010) {tmdb-1} [tmdbid=1] - 1080p {edition-Extended}.mkv"
    ]
