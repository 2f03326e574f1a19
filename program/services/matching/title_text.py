"""A title as a person would write it: dots and signs around it gone, those inside it kept."""

import re

_AROUND = " -:,/|*#;"
_DOTS = re.compile(r"(?<=\w)\.(?=\w\.)|[.\s]+")
_DOT_BETWEEN_WORDS = re.compile(r"(?<=\w\w)\.(?=[^\W\d])")
_LAST_DOT = re.compile(r"(?<!\.\w)\.+$")
_LONE_PLUS = re.compile(r"^\++\s|\s\++$")
_BRACKETED = re.compile(r"\[[^\]]*\]|[\[\]{}]")
# Quotation marks around the whole title.
_QUOTES = (
    '""',
    "''",
    "\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}",
    "«»",
    "「」",
    "『』",
    "《》",
    "„“",
)


def clean(text: str) -> str:
    """Return a piece of a name as a title."""
    text = text.strip(_AROUND)
    if " " in text:
        # A dot belongs to its word: `Dr. Name`, `Name P.I.`.
        spaced = _LAST_DOT.sub("", _DOT_BETWEEN_WORDS.sub(" ", text))
    else:
        spaced = _DOTS.sub(lambda match: match[0] if match[0] == "." and _is_acronym(match) else " ", text)
    spaced = _BRACKETED.sub(" ", spaced)
    spaced = _LONE_PLUS.sub("", re.sub(r"\s+", " ", spaced).strip(_AROUND))
    if spaced.count("~") == 1:
        spaced = spaced.strip("~ ")
    return _without_quotes(_without_lone_brackets(spaced).strip(" -:,"))


def _is_acronym(match: re.Match[str]) -> bool:
    around = match.string[max(match.start() - 2, 0) : match.end() + 2]
    return re.fullmatch(r"(?:^|[.\s])?\w\.\w\.", around) is not None


def _without_lone_brackets(text: str) -> str:
    """Return the text without the round brackets at its ends that have no other half."""
    while text.count("(") > text.count(")") and text[-1:] in ("(", " "):
        text = text[:-1]
    if "(" not in text or ")" not in text:
        text = text.strip("() ")
    return text


def _without_quotes(text: str) -> str:
    for pair in _QUOTES:
        inside = text[1:-1]
        if text[:1] == pair[0] and text[-1:] == pair[1] and inside and pair[0] not in inside:
            return inside.strip()
    return text
