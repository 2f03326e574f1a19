"""The tree: what is listed, what things are called, what changes."""

import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from program.vfs.tree import Directory, Tree, TreeFile

JUNE = datetime(2031, 6, 1, tzinfo=UTC)


def file(
    path: str, entry_id: int = 1, size: int = 10, modified: datetime = JUNE, identity: str = ""
) -> TreeFile:
    return TreeFile(path, entry_id, size, modified, identity)


def all_files(tree: Tree) -> dict[str, int]:
    found: dict[str, int] = {}

    def walk(path: str, directory: Directory) -> None:
        for name, node in directory.children.items():
            if isinstance(node, Directory):
                walk(f"{path}/{name}", node)
            else:
                found[f"{path}/{name}"] = node.entry_id

    walk("", tree.root)
    return found


def all_folders(tree: Tree, path: str = "") -> set[str]:
    node = tree.lookup(path)
    assert isinstance(node, Directory)
    below = [f"{path}/{name}" for name, child in node.children.items() if isinstance(child, Directory)]
    return set(below).union(*(all_folders(tree, folder) for folder in below))


def test_an_empty_library_lists_its_standard_folders():
    tree = Tree()
    assert set(tree.names("/") or ()) == {"movies", "shows"}
    assert tree.names("/movies") == ()


def test_standard_folders_stay_when_their_last_file_goes_but_others_do_not():
    tree = Tree([file("/movies/A (2031)/A (2031).mkv")])
    changed = tree.apply(removed=[1])
    assert tree.names("/movies") == ()
    assert "/movies/A (2031)" in changed
    assert "/movies" in changed


def test_a_file_is_found_by_its_path_and_nothing_else_is():
    tree = Tree([file("/shows/S/Season 01/S - s01e01.mkv", 7)])
    found = tree.lookup("/shows/S/Season 01/S - s01e01.mkv")
    assert isinstance(found, TreeFile)
    assert found.entry_id == 7
    assert isinstance(tree.lookup("/shows/S/Season 01"), Directory)
    assert tree.lookup("/shows/S/Season 02") is None
    assert tree.lookup("/shows/S/Season 01/S - s01e01.mkv/x") is None
    assert tree.names("/shows/S/Season 01/S - s01e01.mkv") is None


def test_a_new_file_changes_itself_its_folders_and_their_times():
    tree = Tree([file("/movies/A/A.mkv", 1)])
    later = JUNE + timedelta(days=1)
    changed = tree.apply([file("/movies/B/B.mkv", 2, modified=later)])
    assert changed == {"/", "/movies", "/movies/B", "/movies/B/B.mkv"}
    movies = tree.lookup("/movies")
    assert movies is not None
    assert movies.modified == later


def test_readers_keep_the_folder_they_hold_while_it_changes():
    tree = Tree([file("/movies/A/A.mkv", 1)])
    before = tree.lookup("/movies")
    tree.apply([file("/movies/B/B.mkv", 2)], removed=[1])
    assert isinstance(before, Directory)
    assert set(before.children) == {"A"}
    assert tree.names("/movies") == ("B",)


def test_removing_an_unknown_entry_changes_nothing():
    tree = Tree([file("/movies/A/A.mkv", 1)])
    assert tree.apply(removed=[99]) == set()


def test_of_two_files_with_one_name_the_lower_entry_has_it():
    tree = Tree([file("/movies/A/A.mkv", 5), file("/movies/A/A.mkv", 3), file("/movies/A/a.MKV", 4)])
    assert all_files(tree) == {"/movies/A/A.mkv": 3, "/movies/A/a (2).MKV": 4, "/movies/A/A (3).mkv": 5}


def test_when_the_first_goes_the_second_gets_the_name():
    tree = Tree([file("/movies/A/A.mkv", 3), file("/movies/A/A.mkv", 5)])
    changed = tree.apply(removed=[3])
    assert all_files(tree) == {"/movies/A/A.mkv": 5}
    assert {"/movies/A/A.mkv", "/movies/A/A (2).mkv"} <= changed


def test_a_numbered_name_does_not_take_a_name_that_another_file_has():
    tree = Tree([file("/movies/A/A.mkv", 1), file("/movies/A/A.mkv", 2), file("/movies/A/A (2).mkv", 3)])
    assert all_files(tree) == {"/movies/A/A.mkv": 1, "/movies/A/A (3).mkv": 2, "/movies/A/A (2).mkv": 3}


def test_a_folder_keeps_its_name_against_a_file():
    tree = Tree([file("/movies/A", 1), file("/movies/A/A.mkv", 2)])
    assert all_files(tree) == {"/movies/A (2)": 1, "/movies/A/A.mkv": 2}


def test_folders_that_differ_in_letter_case_are_one():
    tree = Tree([file("/movies/The Demo (2011)/x.mkv", 2), file("/movies/the demo (2011)/x.mkv", 1)])
    assert tree.names("/movies") == ("The Demo (2011)",)
    names = tree.names("/movies/The Demo (2011)") or ()
    assert {name.casefold() for name in names} == {"x.mkv", "x (2).mkv"}


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/movies/con/aux.mkv", "/movies/con_/aux_.mkv"),
        ("/movies/What?/A: B.mkv", "/movies/What/A - B.mkv"),
        ("/movies/../../etc/x.mkv", "/movies/Untitled/Untitled/etc/x.mkv"),
        ("", "/Untitled"),
    ],
)
def test_names_are_cleaned_for_windows_clients(path: str, shown: str):
    assert list(all_files(Tree([file(path)]))) == [shown]


def test_a_name_of_300_bytes_is_cut_and_keeps_its_extension():
    (path,) = all_files(Tree([file("/movies/" + "é" * 150 + ".mkv")]))
    assert len(path.removeprefix("/movies/").encode()) <= 255
    assert path.endswith("é.mkv")


def test_an_open_path_keeps_its_file_until_it_is_closed():
    old = file("/movies/A/A.mkv", 1, size=10)
    tree = Tree([old])
    frozen = {"/movies/A/A.mkv": old.version}
    changed = tree.apply([file("/movies/A/A.mkv", 2, size=20)], removed=[1], frozen=frozen)
    assert all_files(tree) == {"/movies/A/A.mkv": 1}
    assert "/movies/A/A.mkv" not in changed
    assert "/movies/A/A.mkv" in tree.thaw("/movies/A/A.mkv", {})
    assert all_files(tree) == {"/movies/A/A.mkv": 2}


def test_a_removed_open_file_is_gone_and_its_successor_waits_for_the_close():
    old = file("/movies/A/A.mkv", 1)
    tree = Tree([old])
    frozen = {"/movies/A/A.mkv": old.version}
    tree.apply(removed=[1], frozen=frozen)
    assert all_files(tree) == {}
    assert tree.names("/movies/A") == ()
    tree.apply([file("/movies/A/A.mkv", 2)], frozen=frozen)
    assert all_files(tree) == {}
    tree.thaw("/movies/A/A.mkv", {})
    assert all_files(tree) == {"/movies/A/A.mkv": 2}
    tree.apply(removed=[2])
    assert tree.names("/movies") == ()


def test_the_folder_of_a_removed_open_file_goes_when_it_is_closed():
    old = file("/movies/A/A.mkv", 1)
    tree = Tree([old])
    tree.apply(removed=[1], frozen={"/movies/A/A.mkv": old.version})
    assert "/movies/A" in tree.thaw("/movies/A/A.mkv", {})
    assert tree.names("/movies") == ()


def test_other_files_of_the_folder_change_while_one_is_open():
    old = file("/movies/A/A.mkv", 1)
    tree = Tree([old])
    tree.apply(
        [file("/movies/A/A.mkv", 2), file("/movies/A/A.srt", 3)], [1], frozen={"/movies/A/A.mkv": old.version}
    )
    assert all_files(tree) == {"/movies/A/A.mkv": 1, "/movies/A/A.srt": 3}


def test_a_moved_entry_leaves_its_old_place():
    tree = Tree([file("/movies/A/A.mkv", 1)])
    tree.apply([file("/movies/B/B.mkv", 1)])
    assert all_files(tree) == {"/movies/B/B.mkv": 1}
    assert tree.totals() == (1, 10)


def test_a_large_folder_is_changed_one_name_at_a_time():
    tree = Tree([file(f"/movies/F{n}/F{n}.mkv", n) for n in range(200)])
    changed = tree.apply([file("/movies/New/New.mkv", 900)], removed=[7])
    expected = {f"/movies/F{n}/F{n}.mkv": n for n in range(200) if n != 7} | {"/movies/New/New.mkv": 900}
    assert all_files(tree) == expected
    assert changed == {"/", "/movies", "/movies/F7", "/movies/New", "/movies/New/New.mkv"}


def test_an_entrys_place_is_told_as_it_is_shown():
    tree = Tree([file("/movies/A/A.mkv", 3), file("/movies/a/A.mkv", 5)])
    assert tree.path_of(3) == "/movies/A/A.mkv"
    assert tree.path_of(5) == "/movies/A/A (2).mkv"
    assert tree.path_of(9) is None
    tree.apply([file("/movies/A/A.mkv", 3, size=99)], frozen={"/movies/A/A.mkv": (3, 10, "")})
    assert tree.path_of(3) is None


names = st.sampled_from(["a", "A", "b.mkv", "B.mkv", "b (2).mkv", "c.mkv", "con"])
files = st.builds(
    lambda parts, entry_id: file("/" + "/".join(parts), entry_id),
    st.lists(names, min_size=1, max_size=3),
    st.integers(0, 12),
)
many = [file(f"/a/x{n}.mkv", 1000 + n) for n in range(80)]


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.lists(files, max_size=5), st.lists(st.integers(0, 12), max_size=4)), max_size=6),
    st.sampled_from([[], many]),
)
def test_names_depend_on_the_set_of_files_only(
    steps: list[tuple[list[TreeFile], list[int]]], base: list[TreeFile]
):
    tree, present = Tree(base), {entry.entry_id: entry for entry in base}
    for added, removed in steps:
        before, folders_before = all_files(tree), all_folders(tree)
        changed = tree.apply(added, removed)
        for entry_id in removed:
            present.pop(entry_id, None)
        for entry in added:
            present[entry.entry_id] = entry
        after = all_files(tree)
        renamed = folders_before ^ all_folders(tree)
        for path in before.keys() | after.keys():
            if before.get(path) != after.get(path) and path.rpartition("/")[0] not in renamed:
                assert path in changed
        assert all(folder in changed or folder.rpartition("/")[0] in renamed for folder in renamed)
    assert {tree.path_of(entry_id) for entry_id in present} == all_files(tree).keys()
    fresh = Tree(present.values())
    assert all_files(tree) == all_files(fresh)
    assert all_folders(tree) == all_folders(fresh)
    assert sorted(all_files(tree).values()) == sorted(present)
    assert tree.totals() == (len(present), 10 * len(present))
    lowered = [path.casefold() for path in all_files(tree)]
    assert len(set(lowered)) == len(lowered)


def test_the_same_file_under_a_new_content_is_a_change():
    old = file("/movies/A/A.mkv", 1)
    tree = Tree([old])
    assert "/movies/A/A.mkv" in tree.apply([replace(old, identity="other")])


# Several roots.


def kids(path: str, entry_id: int = 1, **parts: str) -> TreeFile:
    return replace(file(path, entry_id, **parts), roots=("", "/kids"))  # type: ignore[arg-type]


def test_a_file_with_two_roots_is_at_both_and_counts_once():
    tree = Tree([kids("/movies/A/A.mkv")])
    assert all_files(tree) == {"/movies/A/A.mkv": 1, "/kids/movies/A/A.mkv": 1}
    assert tree.totals() == (1, 10)
    assert tree.path_of(1) == "/movies/A/A.mkv"
    assert tree.paths_of(1) == ("/movies/A/A.mkv", "/kids/movies/A/A.mkv")
    tree.apply(removed=[1])
    assert all_files(tree) == {}
    assert all_folders(tree) == {"/movies", "/shows"}
    assert tree.totals() == (0, 0)


def test_a_file_open_at_one_of_its_places_keeps_that_place_alone():
    old, new = kids("/movies/A/A.mkv", identity="old"), kids("/movies/A/A.mkv", identity="new")
    tree = Tree([old])
    frozen = {"/kids/movies/A/A.mkv": old.version}
    tree.apply([new], frozen=frozen)
    assert tree.lookup("/movies/A/A.mkv") is new
    assert tree.lookup("/kids/movies/A/A.mkv") is old
    tree.thaw("/kids/movies/A/A.mkv", {})
    assert tree.lookup("/kids/movies/A/A.mkv") is new


def test_a_file_that_is_removed_while_open_at_both_places_leaves_both_folders_once_closed():
    old = kids("/movies/A/A.mkv")
    tree = Tree([old])
    frozen = dict.fromkeys(tree.paths_of(1), old.version)
    tree.apply(removed=[1], frozen=frozen)
    tree.thaw("/movies/A/A.mkv", {"/kids/movies/A/A.mkv": old.version})
    assert tree.lookup("/movies/A") is None
    assert tree.lookup("/kids/movies/A") is not None
    tree.thaw("/kids/movies/A/A.mkv", {})
    assert all_folders(tree) == {"/movies", "/shows"}


def test_standing_folders_come_and_go_and_those_with_files_stay():
    tree = Tree()
    assert "/" in tree.apply(standing=("/movies", "/shows", "/kids/movies"))
    assert all_folders(tree) == {"/movies", "/shows", "/kids", "/kids/movies"}
    tree.apply([kids("/movies/A/A.mkv")], standing=("/movies",))
    assert all_folders(tree) == {"/movies", "/movies/A", "/kids", "/kids/movies", "/kids/movies/A"}
    tree.apply(removed=[1])
    assert all_folders(tree) == {"/movies"}


# --- what stands beside a file


def accompanied(path: str, entry_id: int, *tails: str, roots: tuple[str, ...] = ("",)) -> TreeFile:
    """Return a file with others beside it, whose ids are ten times its own and more."""
    beside = tuple(
        TreeFile(tail, entry_id * 10 + place, 3, JUNE, identity=tail, owner=entry_id)
        for place, tail in enumerate(tails)
    )
    return replace(file(path, entry_id), beside=beside, roots=roots)


def test_what_stands_beside_a_file_has_its_name_and_goes_with_it():
    tree = Tree([accompanied("/movies/A/A.mkv", 1, ".en.srt", ".en.forced.srt", roots=("", "/kids"))])
    shown = {
        f"{root}/movies/A/A{tail}" for root in ("", "/kids") for tail in (".mkv", ".en.srt", ".en.forced.srt")
    }
    assert set(all_files(tree)) == shown
    assert tree.paths_of(10) == ("/movies/A/A.en.srt", "/kids/movies/A/A.en.srt")
    assert tree.apply([accompanied("/movies/A/A.mkv", 1, ".de.srt")]) >= {
        "/movies/A/A.en.srt",
        "/movies/A/A.de.srt",
    }
    assert set(all_files(tree)) == {"/movies/A/A.mkv", "/movies/A/A.de.srt"}
    assert tree.path_of(10) == "/movies/A/A.de.srt"
    tree.apply(removed=[1])
    assert all_files(tree) == {}
    assert tree.path_of(10) is None


def test_a_file_that_is_shown_under_another_name_has_what_stands_beside_it_under_that():
    first, second = (accompanied("/movies/A/A.mkv", number, ".en.srt") for number in (1, 2))
    tree = Tree([first, second])
    assert all_files(tree) == {
        "/movies/A/A.mkv": 1,
        "/movies/A/A.en.srt": 10,
        "/movies/A/A (2).mkv": 2,
        "/movies/A/A (2).en.srt": 20,
    }
    tree.apply(removed=[1])
    assert all_files(tree) == {"/movies/A/A.mkv": 2, "/movies/A/A.en.srt": 20}


def test_the_parts_of_a_film_share_their_number():
    parts = (" - part2.avi", " - part2.en.srt")
    tree = Tree([accompanied("/movies/A/A - part1.avi", n, *parts, ".en.srt") for n in (1, 2)])
    assert tree.names("/movies/A") is not None
    assert set(tree.names("/movies/A") or ()) == {
        *("A - part1.avi", "A - part1.en.srt", "A - part2.avi", "A - part2.en.srt"),
        *("A (2) - part1.avi", "A (2) - part1.en.srt", "A (2) - part2.avi", "A (2) - part2.en.srt"),
    }


def test_a_name_that_another_file_has_is_not_taken_for_what_stands_beside():
    tree = Tree([accompanied("/movies/A/A.mkv", 1, ".en.srt"), file("/movies/A/A.EN.srt", 2)])
    assert all_files(tree) == {"/movies/A/A.mkv": 1, "/movies/A/A.EN.srt": 2, "/movies/A/A.en (2).srt": 10}


def test_an_open_file_keeps_what_stands_beside_it_until_it_is_closed():
    old = accompanied("/movies/A/A.mkv", 1, ".en.srt")
    tree = Tree([old])
    frozen = {"/movies/A/A.mkv": old.version}
    tree.apply([accompanied("/movies/A/A.mkv", 2, ".de.srt")], removed=[1], frozen=frozen)
    assert all_files(tree) == {"/movies/A/A.mkv": 1, "/movies/A/A.en.srt": 10}
    tree.thaw("/movies/A/A.mkv", {})
    assert all_files(tree) == {"/movies/A/A.mkv": 2, "/movies/A/A.de.srt": 20}


def test_an_open_subtitle_stays_until_it_is_closed():
    old = accompanied("/movies/A/A.mkv", 1, ".en.srt")
    tree = Tree([old])
    frozen = {"/movies/A/A.en.srt": old.beside[0].version}
    tree.apply([accompanied("/movies/A/A.mkv", 2, ".en.srt")], removed=[1], frozen=frozen)
    assert all_files(tree) == {"/movies/A/A.mkv": 2, "/movies/A/A.en.srt": 10}
    tree.thaw("/movies/A/A.en.srt", {})
    assert all_files(tree) == {"/movies/A/A.mkv": 2, "/movies/A/A.en.srt": 20}
    tree.apply(removed=[2], frozen={"/movies/A/A.en.srt": (20, 3, ".en.srt")})
    assert all_files(tree) == {}
    tree.thaw("/movies/A/A.en.srt", {})
    assert "/movies/A" not in all_folders(tree)


def test_a_large_folder_follows_what_stands_beside_its_files():
    tree = Tree([file(f"/shows/S/Season 01/S - s01e{n:03}.mkv", n) for n in range(1, 101)])
    tree.apply([accompanied("/shows/S/Season 01/S - s01e050.mkv", 50, ".en.srt")])
    tree.apply([file("/shows/S/Season 01/S - s01e101.mkv", 101)])
    assert len(all_files(tree)) == 102
    tree.apply([file("/shows/S/Season 01/S - s01e050.mkv", 50)])
    tree.apply([file("/shows/S/Season 01/S - s01e102.mkv", 102)])
    assert len(all_files(tree)) == 102
    assert not any(path.endswith(".srt") for path in all_files(tree))


def large_library(files: int) -> Iterator[TreeFile]:
    """Yield films, each in a folder of its own, and seasons of twenty episodes, as many of these as of those."""
    modified = datetime(2031, 6, 1, tzinfo=UTC)
    for number in range(files):
        show, episode = divmod(number, 20)
        title = f"Title {show:05} (2031)"
        path = (
            f"/shows/{title} {{tvdb-{show}}} [tvdbid={show}]/Season 01/{title} - s01e{episode:02}.mkv"
            if show % 2
            else f"/movies/{title} {number} {{tmdb-{number}}} [tmdbid={number}]/{title} {number}.mkv"
        )
        identity = f"{number:040x}/{title}.{number}.1080p.WEB-DL.mkv"
        yield TreeFile(path, number, 10**9 + number, modified, identity)


def test_a_large_library_takes_little_memory():
    files = 2_000
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tree = Tree(large_library(files))
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert tree.totals()[0] == files
    # Of a hundred thousand such files, 118 MB; half of it are their names, paths and identities themselves.
    assert (after - before) / files < 1_180


def test_a_folder_that_grows_and_shrinks_shows_each_file_under_its_name():
    """Small and large folders remember who wants a name in different ways."""
    tree = Tree()
    for number in range(1, 101):
        tree.apply([file(f"/movies/All/{'Same' if number % 10 == 0 else number}.mkv", number)])
        shown = tree.names("/movies/All")
        assert shown is not None
        assert len(shown) == number
    numbered = {"Same.mkv", *(f"Same ({number}).mkv" for number in range(2, 11))}
    assert set(tree.names("/movies/All") or ()) >= numbered
    for number in range(1, 100):
        tree.apply(removed=[number])
        assert len(tree.names("/movies/All") or ()) == 100 - number
    assert tree.names("/movies/All") == ("Same.mkv",)
    tree.apply(removed=[100])
    assert tree.lookup("/movies/All") is None
