"""How a title is sorted and searched."""

# PostgreSQL refuses index rows of more than about 2,700 bytes; no list is sorted by the 200th letter.
KEY_LENGTH = 200


def title_key(title: str) -> str:
    """Return `title` case folded, its blanks as one, cut to what an index can hold."""
    return " ".join(title.casefold().split())[:KEY_LENGTH]
