"""What the names of films say of the copy: edition, languages, picture, group. A frozen list, `tests/cases/film_copies.txt`."""

from program.services.matching.parse import Parsed, parse
from tests.support.readings import CASES

LIST = CASES / "film_copies.txt"
_SHORT = {"may": "may_speak"}


def _wrong(parsed: Parsed, said: str) -> bool:
    """Return True when one statement, `field=value` or `flags+word`, is not what was read."""
    if said == "many":
        return not parsed.has_many_languages
    if said.startswith(("flags+", "flags-")):
        return (said[6:] in parsed.flags) != (said[5] == "+")
    name, _, value = said.partition("=")
    found = getattr(parsed, _SHORT.get(name, name))
    if isinstance(found, tuple):
        return {part.replace(" ", "_") for part in found} != set(filter(None, value.split(",")))
    return str(found or "").replace(" ", "_") != value


def test_the_copy_of_every_film_of_the_list_is_read_right() -> None:
    lines = [line for line in LIST.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    wrong = []
    for line in lines:
        name, _, right = line.partition(" => ")
        parsed = parse(name, of_film=True)
        wrong += [f"{name}: {said}" for said in right.split() if _wrong(parsed, said)]
    assert lines
    assert not wrong
