"""Languages of the sound and of the subtitles apart: `VOSTFR` is no French sound, `Ger.Eng.Sub` no English one."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

# Words for languages in release names, to ISO 639-1.
_WORDS: tuple[tuple[str, str], ...] = (
    ("en", "eng|english|en"),
    ("de", "ger|german|deu|deutsch|de"),
    ("fr", "fre|fra|french|francais|français|fr"),
    ("es", "spa|esp|spanish|español|castellano|latino|lat|es"),
    ("it", "ita|italian|italiano|it"),
    ("pt", "por|portuguese|ptbr|pt-br|br|legendado|pt"),
    ("nl", "dut|nld|dutch|nl"),
    ("da", "dan|danish|dk"),
    ("sv", "swe|swedish|se"),
    ("no", "nor|norwegian|no"),
    ("fi", "fin|finnish|fi"),
    ("pl", "pol|polish|pl"),
    ("cs", "cze|czech|cz"),
    ("hu", "hun|hungarian|hu"),
    ("ru", "rus|russian|ru"),
    ("uk", "ukr|ukrainian|ua"),
    ("tr", "tur|turkish|tr"),
    ("ro", "rum|romanian|ro"),
    ("el", "gre|greek|gr"),
    ("he", "heb|hebrew|he"),
    ("ar", "ara|arabic|ar"),
    ("hi", "hin|hindi"),
    ("ja", "jap|jpn|japanese"),
    ("ko", "kor|korean"),
    ("zh", "chi|chinese|chs|cht"),
    ("vi", "vie|vietnamese"),
    ("th", "tha|thai"),
)
_CODES = {word: code for code, words in _WORDS for word in words.split("|")}
_ANY = "|".join(sorted(_CODES, key=len, reverse=True))
_SUB = r"(?:sub(?:s|bed|titles?|titulado|titulos)?|legendado|napisy|titulky|untertitel)"

_SUBTITLE_PHRASES = (
    # the word, then the languages: sub Eng, Subs: eng, ger; what stands before it is the sound then: ENG.SUB.ITA
    re.compile(
        rf"(?<![a-z]){_SUB}[ ._:\-\[(]{{1,3}}(?P<many>(?:(?:{_ANY})(?![a-z])[ .,/&+-]*)+)", re.IGNORECASE
    ),
    # the language, then the word: Eng.Sub, ENG-SUBS, HebSubs; with several languages only the last one is meant
    re.compile(rf"(?<![a-z])(?P<one>{_ANY})[ ._-]?{_SUB}(?![a-z])", re.IGNORECASE),
    re.compile(r"(?<![a-z])(?P<fr>vost(?:fr)?|subfrench)(?![a-z])", re.IGNORECASE),
    re.compile(r"(?<![a-z])(?P<pt>legendado)(?![a-z])", re.IGNORECASE),
    re.compile(r"(?<![a-z])(?P<en>e-?subs?)(?![a-z])", re.IGNORECASE),
    re.compile(r"(?<![a-z])multi[ ._-]?subs?(?![a-z])", re.IGNORECASE),
)
# Languages that PTT does not know by these words.
_NAMED = (
    ("de", "deutsch"),
    ("pt", "dublado"),
    ("tr", "dublaj"),
    ("fr", "vf[2fqi]"),
    ("es", "español|castellano"),
)
_OWN = tuple(
    (code, re.compile(rf"(?<![^\W_])(?:{words})(?![^\W_])", re.IGNORECASE)) for code, words in _NAMED
)
# Short codes mean languages where several stand together.
_RUN = re.compile(rf"(?<![^\W_])(?:{_ANY})(?:[./ +,&-](?:{_ANY})(?![^\W_]))+", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:-br)?", re.IGNORECASE)
# Codes that PTT has and ISO does not.
_ISO = {"ua": "uk", "la": "es", "gb": "en", "us": "en", "multi audio": "", "dual audio": "", "multi subs": ""}


# Of French groups: the original's sound and the French one, without a word more.
_FRENCH_MULTI = re.compile(
    r"(?<![^\W_])multi(?![^\W_])(?![. -]?(?:audio|lang|subs?|\d{1,2}(?!\d)))", re.IGNORECASE
)


def unnamed_languages(behind: str, named: Iterable[str]) -> tuple[str, ...]:
    """Return the languages that a name means without naming one: `MULTi` alone is French beside the original."""
    return ("fr",) if not tuple(named) and _FRENCH_MULTI.search(behind) else ()


@dataclass(frozen=True, slots=True)
class Languages:
    """What a name says of subtitles, and the rest of it, which speaks of the sound."""

    rest: str
    subtitles: tuple[str, ...]

    def audio(self, named: Iterable[str]) -> tuple[str, ...]:
        """Return the languages of the sound among those named in `rest`, in ISO 639-1."""
        codes = [_ISO.get(name.lower(), name.lower()) for name in named]
        codes += [code for code, pattern in _OWN if pattern.search(self.rest)]
        for run in _RUN.findall(self.rest):
            words = _WORD.findall(run)
            # Small letters are words of a title or a group.
            if all(len(word) > len("en") or word.isupper() for word in words):
                codes += [_CODES[word.lower()] for word in words if word.lower() in _CODES]
        return tuple(dict.fromkeys(code for code in codes if code))


def split_languages(behind: str) -> Languages:
    """Return the part of a name behind the title without its words on subtitles, and what those say."""
    subtitles: list[str] = []
    for pattern in _SUBTITLE_PHRASES:
        found = list(pattern.finditer(behind))
        for match in found:
            subtitles.extend(_codes(match))
        if found:
            behind = pattern.sub(lambda match: " " * len(match[0]), behind)
    return Languages(behind, tuple(dict.fromkeys(subtitles)))


def _codes(match: re.Match[str]) -> list[str]:
    found = match.groupdict()
    for code in ("fr", "pt", "en"):
        if found.get(code):
            return [code]
    words = _WORD.findall(found.get("one") or found.get("many") or "")
    return [_CODES[word.lower()] for word in words if word.lower() in _CODES]
