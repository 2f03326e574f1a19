"""A title as a person would write it: dots and signs around it gone, those inside it kept."""

import re

_AROUND = " -:,/|*#;"
_INITIALS = re.compile(r"\w\.\w\.")
_DOTS = re.compile(r"(?<=\w)\.(?=\w\.)|\.+")
# `Mr..Name` and `wait...what`: the first dots are the word's.
_OWN_DOTS = re.compile(r"(?<=[\w,!?])(\.{3}|\.(?=\.))\.?(?=\w)")
_DOT_BEFORE_WORD = re.compile(r"(?<![.\s])\.(?=\w)")
_DOT_BETWEEN_WORDS = re.compile(r"(?<=\w\w)\.(?=[^\W\d])")
_LAST_DOT = re.compile(r"(?<!\.\w)\.+$")
_LONE_PLUS = re.compile(r"^\++\s|\s\++$")
# What a pair of square brackets says is no title, nor the number of a metadata service.
_BRACKETED = re.compile(r"\[[^\]]*\]|\{(?:tv|tm|im)db[^}]*\}|[\[\]{}]")
# Quotation marks around the whole title.
_QUOTES = {
    '"': '"',
    "'": "'",
    "\N{LEFT DOUBLE QUOTATION MARK}": "\N{RIGHT DOUBLE QUOTATION MARK}",
    "«": "»",
    "「": "」",
    "『": "』",
    "《": "》",
    "„": "“",
}


def clean(text: str) -> str:
    """Return a piece of a name as a title."""
    text = _spaced(text.strip(_AROUND))
    if "[" in text or "]" in text or "{" in text or "}" in text:
        text = _BRACKETED.sub(" ", text)
    text = " ".join(text.split()).strip(_AROUND)
    if "+" in text:
        text = _LONE_PLUS.sub("", text)
    if text.count("~") == 1:
        text = text.strip("~ ")
    if "(" in text or ")" in text:
        text = _without_lone_brackets(text)
    text = text.strip(" -:,")
    return _without_quotes(text) if text[:1] in _QUOTES else text


def _spaced(text: str) -> str:
    """Return the text with its words apart by spaces, and the dots that belong to them."""
    if "." not in text:
        return text
    if " " in text:
        # A dot belongs to its word: `Dr. Name`, `Name P.I.`.
        return _LAST_DOT.sub("", _DOT_BETWEEN_WORDS.sub(" ", text))
    if ".." in text:
        return _DOT_BEFORE_WORD.sub(" ", _LAST_DOT.sub("", _OWN_DOTS.sub(r"\1 ", text)))
    if _INITIALS.search(text) is None:
        return text.replace(".", " ")
    return _DOTS.sub(lambda match: match[0] if match[0] == "." and _is_acronym(match) else " ", text)


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
    inside = text[1:-1]
    is_quoted = inside and text[-1] == _QUOTES[text[0]] and text[0] not in inside
    return inside.strip() if is_quoted else text
