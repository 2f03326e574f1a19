"""The technical words of a release name: where a title can be over, and which digits are no episode."""

import re
from html import unescape
from urllib.parse import unquote

# Same-length spellings, so that places in the text stay true.
_FLAT = str.maketrans(
    {
        "_": " ",
        "\t": " ",
        "\n": " ",
        "\N{NO-BREAK SPACE}": " ",
        "\N{IDEOGRAPHIC SPACE}": " ",
        "\N{EN DASH}": "-",
        "\N{EM DASH}": "-",
        "\N{NON-BREAKING HYPHEN}": "-",
        "\N{WAVE DASH}": "~",
        "\N{FULLWIDTH TILDE}": "~",
        "\N{LEFT BLACK LENTICULAR BRACKET}": "[",
        "\N{RIGHT BLACK LENTICULAR BRACKET}": "]",
        "\N{FULLWIDTH LEFT PARENTHESIS}": "(",
        "\N{FULLWIDTH RIGHT PARENTHESIS}": ")",
        "\N{FULLWIDTH COLON}": ":",
        "\N{BULLET}": "-",
        "\N{RIGHTWARDS ARROW}": "-",
        "\N{HORIZONTAL ELLIPSIS}": "-",
        "\N{REPLACEMENT CHARACTER}": " ",
    }
)

# In numbers only; a title may have it as a word.
_ENTITY = re.compile(r"&(?:amp|quot|apos|#\d{2,4});")
_TIMES = re.compile(r"(?<=\d)\N{MULTIPLICATION SIGN}(?=\d)")
_POST = re.compile(r"^(?:\[[^\]]*\]-){2,}\[?[^\]]*\]?(?:-\[\d+/\d+\])?.*$")
_QUOTED_POST = re.compile(r"\"([^\"]{4,})\"(?=.*\byEnc\b)")
_IN_BRACKETS = re.compile(r"\[([^\]]*)\]")

# What stands in for a masked character: neither a digit nor a letter nor a separator.
MASK = "\N{REPLACEMENT CHARACTER}"

_VIDEO_EXTENSIONS = "mkv|mp4|m4v|avi|mov|wmv|flv|webm|mpg|mpeg|m2ts|mts|ts|vob|ogm|divx|asf|3gp|rmvb|iso"
# What only a name written backwards has: `p0801`, `20E10S`.
_BACKWARDS = re.compile(r"(?<![A-Za-z0-9])(?:p(?:027|0801|0612|084)|\d{2,3}[Ee]\d\d[Ss])(?![A-Za-z0-9])")
_EXTENSION = re.compile(rf"\.(?:{_VIDEO_EXTENSIONS}|srt|ass|sub|idx|nfo|torrent|rar|zip)$", re.IGNORECASE)

# A word of this list never belongs to a title, wherever it stands after the first word.
_STRONG = re.compile(
    r"""
    (?<![a-z0-9])(?:
      \d{3,4}\s?x\s?\d{3,4}                                   # 1920x1080
    | (?:240|288|360|480|540|576|720|1080|1440|2160|4320)\s?[pi](?:\d\d(?:\.\d+)?)?
    | [48]k(?=[ ._\-\]),]|$)(?<=.{4})
    | (?:uhd|fhd|full-?hd|qhd) | micro-?hd | (?:4k|hd|bd|web)-?light
    | [hx][. ]?26[3456](?:-?10)? | hevc | avc(?:1)? | xvid | divx | av1 | vp9 | mpeg-?[24] | vc-?1 | x265-10
    | blu-?\s?rays? | bd-?(?:rip|remux|mux|mv|50|25|iso|full) | br-?rip | web[-. ]?(?:dl|rip|mux|cap|hd) | web-dlrip
    | (?:a|s|p|u)?hd-?tv(?:rip)? | sdtv | ntsc | pdtv | dsr(?:ip)? | dvb(?:-?rip)? | (?:sat|tv|vhs|ppv|hd|uhd|dvd|ld|vod)-?rip
    | dvd-?(?:scr(?:eener)?|r|[59])? | scr(?:eener)? | remux | hd-?cam(?:rip)? | cam-?rip | telesync | telecine
    | hd-?t[sc](?:rip)? | hqcam | pre-?dvd(?:rip)? | workprint
    | (?:he-?)?aac(?:[. ]?\d\.\d)? | e?ac-?3(?:[. ]?\d\.\d)? | dd[p+]?a?[. ]?\d[. ]\d | ddp | dts(?:-?(?:hd|x|es))?(?:[. ]ma)?
    | true-?hd | flac(?:\d\.\d)? | atmos | opus | mp3 | lpcm | eac3
    | (?:8|10|12)[. -]?bits? | hi10p? | yuv4\d\dp\d*
    | \d+(?:[.,]\d+)?\s?[mg]i?b(?:it)? | \d{2,3}(?:\.\d{1,3})?\s?fps
    | hdr(?:10)?(?:\+|plus)?(?:[. ]?vivid)? | dolby[. ]?vision | dovi
    | (?:true|sub)french | vost(?:fr|a|eng)? | dual[. -]?audio | multi[. -]?(?:subs?|audio|lang)
    | nfofix | dirfix
    )(?![a-z0-9])
    | [\[(](?!(?:19|20)\d\d[01]\d[0-3]\d)[0-9a-f]{8}[\])]     # the checksum that anime groups add, not a date
    """,
    re.IGNORECASE | re.VERBOSE,
)

# These may begin a title, and end one of letters: `8.Bit.Dreams`, `Grand.Opus.S01E02`.
_LIKE_A_TITLE = re.compile(r"opus|atmos|(?:8|10|12)[. -]bits?", re.IGNORECASE)
_ONLY_LETTERS = re.compile(r"(?:[^\W\d_]+[. ])*")

# Words that often follow a title and sometimes are its last one; a title may be read with and without them. First
# languages, then kinds of copies, then sources and the like.
_WEAK = """
german deutsch ger french fra fre italian ita english eng spanish esp castellano latino russian rus hindi tamil telugu korean
japanese jap jpn chinese danish swedish nordic norwegian finnish dutch flemish polish pl czech hungarian hun turkish portuguese
brazilian por ptbr ukr greek hebrew arabic vf vff vfq vo vof multi dual dl ml dubbed dub subbed sub subs
extended uncut unrated remastered restored proper repack rerip internal limited complete integrale theatrical directors cut
imax edition ultimate final criterion collection retail colorized uncensored documentary hybrid custom version special
completa completo komplett kompletny complète
anniversary collectors deluxe open matte read nfo festival preair
intégrale bonus disc xxx ai upscaled upscale upscaling enhanced upsuhd
web cam ts tc 3d sbs hsbs half ou hou dv hq hd sd v2 v1 dc nf amzn hulu dsnp atvp hmax pcok pmtp itunes cr
season seasons saison temporada stagione staffel pack miniseries bd dvd hdr sdr avc vostfr audio batch ova ona oad
"""
WEAK_WORDS = frozenset(_WEAK.split())


def flat(raw: str) -> str:
    """Return the name with one kind of space, dash and bracket; its length stays."""
    flattened = raw.translate(_FLAT)
    if "\N{MULTIPLICATION SIGN}" in raw:
        flattened = _TIMES.sub("x", flattened)
    if " " not in raw and raw.count("+") > 1:
        # Names out of addresses have a plus for each space.
        flattened = flattened.replace("+", " ")
    return flattened


def spelt_spaces(name: str) -> str:
    """Return a name that came out of an address or a page, `Some%20Name` or `Some &amp; Name`, as it was meant."""
    if "&" in name and _ENTITY.search(name):
        name = unescape(name)
    return unquote(name) if "%20" in name and " " not in name else name


def of_post(name: str) -> str:
    """Return the release that a Usenet post carries, any other name as it is.

    Posts are `[123]-[FULL]-[#group]-[ Name ]-[1/9]` and `"Name.mkv" yEnc (1/9)`.
    """
    quoted = _QUOTED_POST.search(name)
    if quoted is not None:
        return quoted[1]
    parts = _POST.match(name)
    return max(_IN_BRACKETS.findall(name), key=len).strip() if parts else name


def forwards(name: str) -> str:
    """Return a name that was written backwards the right way round, any other as it is."""
    return name[::-1] if _BACKWARDS.search(name) else name


def without_extension(name: str) -> str:
    """Return a file or release name without the extension of a video or an archive."""
    return _EXTENSION.sub("", name)


def has_extension(name: str) -> bool:
    """Return True for a file of a video or an archive."""
    return _EXTENSION.search(name) is not None


def masked(text: str) -> tuple[str, int]:
    """Return `text` with its technical words covered, and where the first of them stands (its length when there is none)."""
    first = len(text)

    def cover(match: re.Match[str]) -> str:
        nonlocal first
        if _LIKE_A_TITLE.fullmatch(match[0]) and _ONLY_LETTERS.fullmatch(text, 0, match.start()):
            return match[0]
        first = min(first, match.start())
        return MASK * len(match[0])

    return _STRONG.sub(cover, text), first
