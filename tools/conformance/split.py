"""Splits a page of the specifications, kept as plain text, into what it says: sentences, table rows, steps, code blocks. Pure.

The pages have lost their markup, so the kinds are told from the form: a heading has two blank lines before it, a step its number on
a line of its own, a code block the look of code. A table's cells have run together; its rows are lines without a full stop.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

# A prefix of the hash that no two statements share.
HASH_LENGTH = 12


class Kind(StrEnum):
    """What a piece of a page is. Layout (headings, heads of tables) says nothing by itself."""

    LAYOUT = "layout"
    SENTENCE = "sentence"
    ROW = "row"
    STEP = "step"
    ITEM = "item"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of a page. section: the heading it stands under, empty before the first."""

    section: str
    kind: Kind
    text: str

    @property
    def hash(self) -> str:
        """What the piece is known by, without its words."""
        return hash_of(self.text)


# Lines that can only be code: indented, or beginning as code of the languages and calls that the pages show.
_CODE = re.compile(
    r"""\s+\S | // | \# | [{}\])]  | @ | ["'$─] | (?:GET|POST|PUT|DELETE)\s/ | Content-Type: | \w+\($
    | (?:class|interface|export|const|el?if|def|return|import)\b.*[{(:]$ | [A-Za-z.]+\(.*[({]$ | \w+:\s*\(.*[{]$
    | \w+:\s*(?:z\.\w+\(\[|\{.*) | \w+:\s\w+\(.*,$ | Idle\s+→ | \s*removeOn""",
    re.VERBOSE,
)
_NUMBER = re.compile(r"\d+")
_LIST_ITEM = re.compile(r"\s+(?:\d+\.|•)\s+\S")
_NAMED_ID = re.compile(r'(\w+ ID: "[^"]*")\s+(?=[A-Z])')
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z“\"])")
_ENDS_LIKE_PROSE = re.compile(r"[.:][”\"]?$")


def hash_of(text: str) -> str:
    """Return what a text is known by; how it is wrapped and spaced makes no difference."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:HASH_LENGTH]


def split(page: str) -> list[Piece]:
    """Return the pieces of a page in their order; together they are all of its words."""
    return list(_Splitter(page.splitlines()).pieces())


class _Splitter:
    """Walks the lines of one page."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0
        self._section = ""
        self._in_table = False

    def pieces(self) -> Iterator[Piece]:
        """Yield the pieces."""
        while self._at < len(self._lines):
            if self._lines[self._at].strip():
                yield from self._next()
            else:
                self._at += 1

    def _next(self) -> Iterator[Piece]:
        line = self._lines[self._at]
        if self._is_heading():
            self._section, self._in_table = line.strip(), False
            self._at += 1
            yield Piece(self._section, Kind.LAYOUT, line)
        elif _LIST_ITEM.match(line):
            self._at += 1
            yield Piece(self._section, Kind.ITEM, line)
        elif self._is_code():
            yield Piece(self._section, Kind.CODE, self._take_code())
        elif _NUMBER.fullmatch(line.strip()):
            yield Piece(self._section, Kind.STEP, self._take_step())
        else:
            self._at += 1
            yield from self._prose(line)

    def _is_heading(self) -> bool:
        before = self._lines[max(0, self._at - 2) : self._at]
        return len(before) == 2 and not any(part.strip() for part in before)  # noqa: PLR2004

    def _is_code(self) -> bool:
        line = self._lines[self._at]
        return bool(_CODE.match(line)) and not _LIST_ITEM.match(line)

    def _take_code(self) -> str:
        """Take lines as long as they, or those after a blank one, are code."""
        begin = end = self._at
        while self._at < len(self._lines) and (self._is_code() or not self._lines[self._at].strip()):
            if self._lines[self._at].strip():
                end = self._at
            elif self._at + 1 < len(self._lines) and not self._lines[self._at + 1].strip():
                break
            self._at += 1
        self._at = end + 1
        return "\n".join(self._lines[begin : self._at])

    def _take_step(self) -> str:
        """Take a number and the title that follows."""
        begin = self._at
        self._at += 1
        while not self._lines[self._at].strip():
            self._at += 1
        self._at += 1
        return "\n".join(self._lines[begin : self._at])

    def _prose(self, line: str) -> Iterator[Piece]:
        text = line.strip()
        if not _ENDS_LIKE_PROSE.search(text):
            head, self._in_table = not self._in_table, True
            yield Piece(self._section, Kind.LAYOUT if head else Kind.ROW, text)
            return
        self._in_table = False
        for part in _SENTENCE_END.split(_NAMED_ID.sub(r"\1\n", text)):
            for sentence in part.split("\n"):
                yield Piece(self._section, Kind.SENTENCE, sentence)
