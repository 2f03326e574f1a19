"""Cases of kind e about names: what films and episodes are called in the tree, and that no two share a name."""

from datetime import UTC, datetime

from program.cli.case_values import Json, Malformed, mapping, number
from program.media.naming import NameFacts, render
from program.media.release import JsonValue
from program.vfs.tree import Tree, TreeFile

MODIFIED = datetime(2000, 1, 1, tzinfo=UTC)
# Any other film, to compare with.
ORDINARY = render(NameFacts(title="Ordinary", year=2000))


def named(given: Json, expected: Json) -> tuple[dict[str, JsonValue], dict[str, JsonValue]]:
    """Return what is seen of the items of a case in the tree, and under which paths they stand."""
    items = given.get("items")
    titles = [mapping(one, "an item") for one in items] if isinstance(items, list) else [given]
    plain = "only" in str(given.get("naming", ""))
    files = [_file(entry_id, one, plain=plain) for entry_id, one in enumerate(titles, 1)]
    shown = _shown(files)
    parts = [path.strip("/").split("/") for path in shown.values()]
    folded = {path.casefold() for path in shown.values()}
    promises = {
        "path_depth": all(len(one) == len(ORDINARY.strip("/").split("/")) for one in parts),
        "component": all("/" not in part and "\\" not in part for one in parts for part in one),
    }
    got: dict[str, JsonValue] = {
        "entries": len(shown),
        "unique_ignoring_case": len(folded) == len(files),
        "stable_over_restart": _shown(files[::-1]) == shown,
    }
    got |= {
        name: expected[name] if kept else f"not so: {expected[name]}"
        for name, kept in promises.items()
        if name in expected
    }
    return {name: value for name, value in got.items() if name in expected}, {"paths": [*shown.values()]}


def _shown(files: list[TreeFile]) -> dict[int, str]:
    tree = Tree(files)
    found = {file.entry_id: tree.path_of(file.entry_id) for file in files}
    return {
        entry_id: path
        for entry_id, path in sorted(found.items())
        if path is not None and tree.lookup(path) is not None
    }


def _file(entry_id: int, data: Json, *, plain: bool) -> TreeFile:
    """Return a file as the tree takes it; plain: without the ids that would tell two of one name apart."""
    title = data.get("title")
    if not isinstance(title, str):
        raise Malformed("an item has no title")
    ids = {} if plain else {kind: str(data[kind]) for kind in ("tmdb", "tvdb", "imdb") if data.get(kind)}
    season, episode = number(data.get("season")), number(data.get("episode"))
    facts = NameFacts(
        title=title,
        year=number(data.get("year")),
        season=season,
        episodes=(episode,) if episode is not None else (),
        tmdb_id=ids.get("tmdb"),
        tvdb_id=ids.get("tvdb"),
        imdb_id=ids.get("imdb"),
    )
    return TreeFile(render(facts), entry_id, 1000, MODIFIED, identity=str(entry_id))
