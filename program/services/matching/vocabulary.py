"""The words of many languages that names count with, as pieces of patterns: season, episode, of, to, and."""

import re
from functools import lru_cache

SEASON = (
    r"(?:seasons?|saisons?|temporad(?:as?|es)|temp|staffeln?|stagion[ei]|series|seizoen(?:en)?|sezon(?:[aeiy]|ul)?|s(?:ä|ae?)song(?:er)?"
    r"|kausi|seas(?=[. ]?\d)|sæson(?:er)?|sesong(?:er)?|сезон[ыаіи]?|évad|ssn(?=[. ]?\d)|sez(?=\.? ?\d)"
    r"|s[ée]rie(?=[. ]+\d+[. ]*(?:d[ií]l|afsnit|avsnitt|ep))"
    r"|(?<=\d\. )(?:série|řada)|(?<=\d\.)(?:série|řada)|κύκλος|σεζόν|phần|mùa|الموسم|עונה|시즌|シーズン)"
)
EPISODE = (
    r"(?:[eé]pisodes?|[eé]pis[oó]d(?:ios?|i|ul)|episoden|epis?(?=[\s.])|[eé]ps?(?=[\s.\d#:-])|cap(?:[ií]t[uo]lo?)?s?|folgen?|aflevering(?:en)?"
    r"|afl(?=\.? ?\d)|afsnit|avsnitt|odc(?:inek|inki)?|jakso|r[eé]sz|epiz[oó]da?|[dč]íl|puntat[ae]"
    r"|серия|серии|серию|серий|серія|серії"
    r"|эпизод|епизод|ตอนที่|ตอน|エピソード|에피소드|επεισόδιο|tập|الحلقة|פרק|b[öo]l[üu]m(?:ler)?)"
)
# `3 of 6`.
OF = r"(?:of|von|de|di|av|af|van|sur|из|із)"
# `1 to 8`, and what may stand before it: `from 1 to 8`.
TO = r"(?:to|bis|through|thru|up[ ]to|ao|a[ ]la|al?|à|do|по|tot|till?|t/m)"
TO_WORDS = frozenset(
    {
        "to",
        "bis",
        "through",
        "thru",
        "up to",
        "ao",
        "a la",
        "a",
        "al",
        "à",
        "do",
        "по",
        "tot",
        "til",
        "till",
        "t/m",
    }
)
FROM = r"(?:from|von|da|del?|od|du|\u0441)"
# `1 and 2`.
AND = r"(?:and|et|und|y|e|en|og|och|ve|и|i)"
AND_WORDS = frozenset({"and", "et", "und", "y", "e", "en", "og", "och", "ve", "и", "i"})
_SEASON = re.compile(SEASON, re.IGNORECASE)


@lru_cache(maxsize=4)
def mentions_season(text: str) -> bool:
    """Return True when a word for a season stands anywhere in the text; most names need no form that has one."""
    return _SEASON.search(text) is not None
