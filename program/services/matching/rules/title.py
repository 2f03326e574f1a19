"""The release is of another title."""

from program.media.release import Rejection
from program.services.matching.rules.base import Look, refused
from program.services.matching.text import spellings

CODE = "wrong_title"


def check(look: Look) -> Rejection | None:
    """Refuse a title that is not one of the known ones; a number more or less is another title."""
    if look.match.similarity >= look.options.title_similarity:
        return None
    found, wanted = look.parsed.title, look.wanted.title
    if not found:
        return refused(CODE, "the name has no title")
    mine, theirs = spellings(found), spellings(wanted)
    if (
        mine
        and theirs
        and mine[0].numbers != theirs[0].numbers
        and _same_words(mine[0].words, theirs[0].words)
    ):
        return refused(CODE, f"is {found}, another part than {wanted}")
    return refused(CODE, f"is {found}, not {wanted}")


def _same_words(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return [w for w in one if not w[0].isdigit()] == [w for w in other if not w[0].isdigit()]
