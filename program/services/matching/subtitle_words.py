"""The words by which subtitle files and folders say their language and kind, in the scripts that they are written in.

Codes are those of ISO 639-1, 639-2/B and 639-2/T, with a country where it makes another language of it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

_LANGUAGES = """
ar   ara arabic العربية عربي
bg   bul bulgarian български
bn   ben bengali বাংলা
bs   bos bosnian bosanski
ca   cat catalan català
cs   cze ces czech čeština česky
cy   wel cym welsh cymraeg
da   dan danish dansk
de   ger deu german deutsch
el   gre ell greek ελληνικά
en   eng english 英文 英语 英語
es   spa esp spanish español espanol castellano castilian
et   est estonian eesti
eu   baq eus basque euskara
fa   per fas persian farsi فارسی
fi   fin finnish suomi
fil  filipino tagalog tl tgl
fr   fre fra french français francais vff
gl   glg galician galego
he   heb hebrew עברית iw
hi   hin hindi हिन्दी हिंदी
hr   hrv croatian hrvatski scr
hu   hun hungarian magyar
hy   arm hye armenian հայերեն
id   ind indonesian indonesia bahasa
is   ice isl icelandic íslenska
it   ita italian italiano
ja   jpn jap japanese 日本語 日本 日文 日语
ka   geo kat georgian ქართული
kk   kaz kazakh қазақша
kn   kan kannada ಕನ್ನಡ
ko   kor korean 한국어 한글 한국
lt   lit lithuanian lietuvių
lv   lav latvian latviešu
mk   mac mkd macedonian македонски
ml   mal malayalam മലയാളം
mn   mon mongolian монгол
mr   mar marathi मराठी
ms   may msa malay melayu
nb   nob bokmål bokmal
nl   dut nld dutch nederlands flemish vlaams
nn   nno nynorsk
no   nor norwegian norsk
pl   pol polish polski
pt   por portuguese português portugues
pt-BR ptbr pob brazilian brasileiro brazilianportuguese
ro   rum ron romanian română romana
ru   rus russian русский русские
sk   slo slk slovak slovenčina slovensky
sl   slv slovenian slovene slovenščina
sq   alb sqi albanian shqip
sr   srp serbian српски srpski scc
sv   swe swedish svenska
ta   tam tamil தமிழ்
te   tel telugu తెలుగు
th   tha thai ไทย
tr   tur turkish türkçe turkce
uk   ukr ukrainian українська українські
ur   urd urdu اردو
vi   vie vietnamese việt tiếng
zh   chi zho chinese mandarin cantonese chs sc gb hans 中文 简体 简体中文 简中 国语 简 简英 简日 双语 cmn yue
zh-TW cht tc big5 hant 繁體 繁体 繁體中文 繁体中文 繁中 繁 繁英 繁日 粵語
"""

_FORCED = (
    "forced force foreign signs songs signssongs forçado forcé forces forcés forzado forzados erzwungen 强制"
)
_SDH = "sdh cc hoh hearing impaired closed captions captions hardofhearing malentendants"
# They say nothing that a player wants to know.
_EMPTY = (
    "sub subs subtitle subtitles subtitulos subtítulos untertitel soustitres napisy titulky legendas full default complete normal "
    "regular dialogue dialog text track stream lang language legenda utf8 utf utf-8 original official 字幕 и"
)

# Regions that change nothing: nobody tells those apart.
_SAME_IN_ALL_REGIONS = (
    "us uk gb ca au latin america american latino latinoamericano lat la 419 european europe eu spain spa portugal canadian canada "
    "france mexico mx simplified cn br brazil brasil tw hk españa latinoamérica latinica cirilica traditional hans hant sg"
)

LANGUAGES: Mapping[str, str] = MappingProxyType(
    {word: line.split()[0] for line in _LANGUAGES.strip().splitlines() for word in line.casefold().split()}
)
FORCED, SDH, EMPTY, REGIONS = (
    frozenset(words.split()) for words in (_FORCED, _SDH, _EMPTY, _SAME_IN_ALL_REGIONS)
)
# A region behind a language, as in `Portuguese (Brazilian)`, makes another one of it.
_REGIONS = {
    ("pt", "br"): "pt-BR",
    ("pt", "brazil"): "pt-BR",
    ("pt", "brasil"): "pt-BR",
    ("pt", "pt-BR"): "pt-BR",
    ("zh", "tw"): "zh-TW",
    ("zh", "hk"): "zh-TW",
    ("zh", "traditional"): "zh-TW",
    ("zh", "zh-TW"): "zh-TW",
}
# `hi` is Hindi by itself, and the hearing impaired behind a language.
_HI = "hi"
_SPLIT = re.compile(r"[\s._\-\[\](){}+,&~!'\u2019=#@]+")
_NUMBER = re.compile(r"\d{1,3}(?:st|nd|rd|th)?|track\d+|v\d")


@dataclass(frozen=True, slots=True)
class Words:
    """What a name says of a subtitle. is_all: nothing else is in the name."""

    language: str | None = None
    is_forced: bool = False
    is_sdh: bool = False
    is_all: bool = False


def read_words(text: str, *, is_whole: bool = False) -> Words:
    """Return what the end of a name says; the first word from behind that is of no such kind ends it.

    is_whole: the name may begin with a title, in which `No`, `It` or `Me` are words; small letters are none of a title.
    """
    written = [word for word in _SPLIT.split(text) if word]
    words = [word.casefold() for word in written]
    known = [_is_known(word) for word in words]
    if is_whole and not all(known):
        known = [
            is_known and (len(word) > len("no") or word.islower())
            for is_known, word in zip(known, written, strict=True)
        ]
    begin = len(known) - next(
        (count for count, is_known in enumerate(reversed(known)) if not is_known), len(known)
    )
    said = words[begin:]
    languages = _languages(said)
    has_hi = _HI in said and any(language != _HI for language in languages)
    named = [language for language in languages if not (has_hi and language == _HI)]
    return Words(
        named[0] if named else None,
        not FORCED.isdisjoint(said),
        has_hi or not SDH.isdisjoint(said),
        len(said) == len(words),
    )


def _is_known(word: str) -> bool:
    return (
        word in LANGUAGES
        or word in FORCED
        or word in SDH
        or word in EMPTY
        or word in REGIONS
        or _NUMBER.fullmatch(word) is not None
    )


def _languages(said: list[str]) -> list[str]:
    """Return the languages that words name, each with the region beside it."""
    found: list[str] = []
    for place, word in enumerate(said):
        code = LANGUAGES.get(word)
        # `la`, `ca`, `eu` and the like behind a language are regions.
        if code is None or (found and word in REGIONS):
            continue
        around = (*said[place + 1 : place + 3], *said[max(place - 1, 0) : place])
        regions = (
            _REGIONS.get((code, LANGUAGES.get(near, near))) or _REGIONS.get((code, near)) for near in around
        )
        found.append(next((region for region in regions if region), code))
    return found
