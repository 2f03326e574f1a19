"""How good a release is: points by property, with the numbers of rank-torrent-name and the user's own, and the order they give."""

from collections.abc import Iterable, Iterator, Mapping

from RTN.models import DefaultRanking

from program.media.release import Candidate, JudgedRelease
from program.services.matching.parse import Parsed
from program.settings.ranking import RankingOptions, compiled

# What the user prefers outweighs every other property.
PREFERRED = 10_000

# PTT's words to the keys of the settings.
_QUALITY = {
    "WEB": "quality.web",
    "WEB-DL": "quality.webdl",
    "BluRay": "quality.bluray",
    "DVD": "quality.dvd",
    "HDTV": "quality.hdtv",
    "VHS": "quality.vhs",
    "WEBMux": "quality.webmux",
    "BluRay REMUX": "quality.remux",
    "REMUX": "quality.remux",
    "WEBRip": "rips.webrip",
    "WEB-DLRip": "rips.webdlrip",
    "UHDRip": "rips.uhdrip",
    "HDRip": "rips.hdrip",
    "DVDRip": "rips.dvdrip",
    "BDRip": "rips.bdrip",
    "BRRip": "rips.brrip",
    "VHSRip": "rips.vhsrip",
    "PPVRip": "rips.ppvrip",
    "SATRip": "rips.satrip",
    "TVRip": "rips.tvrip",
    "TeleCine": "trash.telecine",
    "TeleSync": "trash.telesync",
    "SCR": "trash.screener",
    "R5": "trash.r5",
    "CAM": "trash.cam",
    "PDTV": "trash.pdtv",
}
_CODEC = {name: f"quality.{name}" for name in ("avc", "hevc", "av1", "xvid", "mpeg")}
_HDR = {"DV": "hdr.dolby_vision", "HDR": "hdr.hdr", "HDR10+": "hdr.hdr10plus", "SDR": "hdr.sdr"}
_AUDIO = {
    "AAC": "audio.aac",
    "Atmos": "audio.atmos",
    "Dolby Digital": "audio.dolby_digital",
    "Dolby Digital Plus": "audio.dolby_digital_plus",
    "DTS Lossy": "audio.dts_lossy",
    "DTS Lossless": "audio.dts_lossless",
    "FLAC": "audio.flac",
    "MP3": "audio.mp3",
    "TrueHD": "audio.truehd",
    "HQ Clean Audio": "trash.clean_audio",
}
_CHANNELS = {
    "5.1": "audio.surround",
    "7.1": "audio.surround",
    "2.0": "audio.stereo",
    "stereo": "audio.stereo",
}
_CHANNELS["mono"] = "audio.mono"
_FLAGS = {
    name: f"extras.{name}"
    for name in (
        *(
            "three_d",
            "converted",
            "documentary",
            "dubbed",
            "hardcoded",
            "proper",
            "repack",
            "retail",
            "subbed",
        ),
        *("upscaled", "site", "scene", "uncensored"),
    )
}
_FLAGS["size"] = "trash.size"

# Names for sentences where the key says too little.
TERM_NAMES: Mapping[str, str] = {
    "extras.three_d": "3D",
    "extras.upscaled": "upscaling",
    "quality.remux": "remux",
    "hdr.dolby_vision": "Dolby Vision",
    "quality.xvid": "Xvid",
}

_USUAL = DefaultRanking()
# RTN calls two of them otherwise.
_RTN_NAMES = {"bit10": "bit_10"}

RESOLUTIONS = (
    "4320p",
    "2160p",
    "1440p",
    "1080p",
    "720p",
    "576p",
    "540p",
    "480p",
    "360p",
    "288p",
    "240p",
    "unknown",
)


def terms_of(parsed: Parsed) -> tuple[str, ...]:
    """Return the properties of a release that the settings know, as `group.key`."""
    return tuple(dict.fromkeys(_terms(parsed)))


def score_of(parsed: Parsed, options: RankingOptions) -> dict[str, int]:
    """Return the points of a release by property; their sum is its rank."""
    score = {term: points for term in terms_of(parsed) if (points := _points(term, options))}
    if any(compiled(pattern).search(parsed.raw) for pattern in options.preferred):
        score["preferred"] = PREFERRED
    if options.languages_preferred & {*parsed.languages, *parsed.may_speak}:
        score["preferred_language"] = PREFERRED
    return score


def order(candidates: Iterable[Candidate], options: RankingOptions | None = None) -> list[Candidate]:
    """Return candidates best first: resolution, rank, said to be cached, seeders, size; or rank first, by the settings.

    Two of the same rank are told apart by what gets a file soonest. With `per_resolution` only the best of each are kept.
    """
    by_rank = options is not None and options.order == "rank"
    ordered = sorted(candidates, key=lambda candidate: _key(candidate, by_rank=by_rank), reverse=True)
    limit = options.per_resolution if options else 0
    return _limited(ordered, limit) if limit else ordered


def _key(candidate: Candidate, *, by_rank: bool) -> tuple[int, int, bool, int, int, str]:
    return key_of(candidate.release, by_rank=by_rank)


def key_of(release: JudgedRelease, *, by_rank: bool) -> tuple[int, int, bool, int, int, str]:
    """Return what releases are ordered by, the most telling first."""
    place = resolution_place(release.resolution)
    first, second = (release.rank, place) if by_rank else (place, release.rank)
    return first, second, bool(release.cached_at), release.seeders or 0, release.size or 0, release.infohash


def resolution_place(resolution: str) -> int:
    """Return how high a resolution is, `unknown` lowest."""
    return len(RESOLUTIONS) - RESOLUTIONS.index(resolution) if resolution in RESOLUTIONS else 0


def _limited(ordered: list[Candidate], limit: int) -> list[Candidate]:
    taken: dict[str, int] = {}
    kept = []
    for candidate in ordered:
        resolution = candidate.release.resolution
        taken[resolution] = taken.get(resolution, 0) + 1
        if taken[resolution] <= limit:
            kept.append(candidate)
    return kept


def _terms(parsed: Parsed) -> Iterator[str]:
    for table, values in (
        (_QUALITY, (parsed.quality or "",)),
        (_CODEC, ((parsed.codec or "").lower(),)),
        (_HDR, parsed.hdr),
        (_AUDIO, parsed.audio),
        (_CHANNELS, parsed.channels),
        (_FLAGS, sorted(parsed.flags)),
    ):
        yield from (table[value] for value in values if value in table)
    if parsed.bit_depth:
        yield "hdr.bit10"
    if parsed.edition:
        yield "extras.edition"
    if parsed.network:
        yield "extras.network"


def _points(term: str, options: RankingOptions) -> int:
    option = options.terms.get(term)
    if option is not None and option.rank is not None:
        return option.rank
    key = term.partition(".")[2]
    return int(getattr(_USUAL, _RTN_NAMES.get(key, key), 0))
