"""Numbers as words: how many languages count seasons, episodes and parts."""

_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth",
    "primera segunda tercera cuarta quinta sexta séptima octava novena décima",
    "primeira segunda terceira quarta quinta sexta sétima oitava nona décima",
    "prima seconda terza quarta quinta sesta settima ottava nona decima",
    "première deuxième troisième quatrième cinquième sixième septième huitième neuvième dixième",
    "premiere deuxieme troisieme quatrieme cinquieme sixieme septieme huitieme neuvieme dixieme",
    "erste zweite dritte vierte fünfte sechste siebte achte neunte zehnte",
    "pierwszy drugi trzeci czwarty piąty szósty siódmy ósmy dziewiąty dziesiąty",
    "первый второй третий четвертый пятый шестой седьмой восьмой девятый десятый",
)
ORDINALS = {word: number for row in _ORDINALS for number, word in enumerate(row.split(), 1)}
_COUNTED = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *(
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
        "twenty",
    ),
)
COUNTED = {word: number for number, word in enumerate(_COUNTED, 1)}
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
ROMAN = {word: number for number, word in enumerate(_ROMAN, 1)}
_CHINESE = "一二三四五六七八九十"
CHINESE = rf"(?:\d{{1,4}}|[{_CHINESE}]{{1,3}})"


def either(words: dict[str, int]) -> str:
    """Return the words as one alternative of a pattern, longest first."""
    return "|".join(sorted(words, key=len, reverse=True))


def number_of(said: str) -> int:
    """Return the number that digits, a word, a Roman or a Chinese numeral up to 99 say; 0 for any other text."""
    lower = said.lower()
    if lower.isdecimal():
        return int(lower)
    if lower[:1] in _CHINESE and lower:
        return _chinese(lower)
    return ROMAN.get(lower) or COUNTED.get(lower) or ORDINALS.get(lower) or 0


def _chinese(said: str) -> int:
    """Return what Chinese numerals say: `十二` is 12, `二十` is 20."""
    tens, ten, ones = said.rpartition("十")
    if not ten:
        return _CHINESE.index(ones[0]) + 1
    return 10 * (_CHINESE.index(tens[0]) + 1 if tens else 1) + (_CHINESE.index(ones[0]) + 1 if ones else 0)
