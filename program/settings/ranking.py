"""What the user likes and refuses in a release: the `ranking` section of `settings.json`, and a plain copy of it for the rules.

The section mirrors the settings of rank-torrent-name, with unknown keys refused and the user's patterns kept as they were
written; the last part is our own.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from program.settings.provider import Section, defaults_of

Order = Literal["resolution", "rank"]

# Names for many languages at once, as rank-torrent-name has them.
LANGUAGE_GROUPS: Mapping[str, frozenset[str]] = {
    "anime": frozenset({"ja", "zh", "ko"}),
    "common": frozenset({"de", "es", "hi", "ta", "ru", "uk", "th", "it", "zh", "ar", "fr"}),
}

# What a search may be given beside properties.
PATTERN_GROUPS = ("require", "exclude")


def compiled(pattern: str) -> re.Pattern[str]:
    """Return a user's pattern as an expression: `/text/` minds capitals, anything else does not. Raises re.error."""
    inner = pattern.removeprefix("/").removesuffix("/")
    if inner and pattern == f"/{inner}/":
        return re.compile(inner)
    return re.compile(pattern, re.IGNORECASE)


def _pattern(text: str) -> str:
    try:
        compiled(text)
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from error
    return text


Patterns = list[Annotated[str, Field(min_length=1), AfterValidator(_pattern)]]


class TermSettings(Section):
    """One property of a release: whether it is taken at all, and what it is worth."""

    fetch: bool = Field(default=True, description="Whether releases with this property are taken")
    use_custom_rank: bool = Field(
        default=False, description="Whether `rank` is used in place of the usual points"
    )
    rank: int = Field(default=0, description="Points for this property, when use_custom_rank is on")


def _term(what: str, *, fetch: bool = True, rank: int | None = None) -> TermSettings:
    """Return the field of one property; rank: our points where the usual ones do not suit a home."""

    def default() -> TermSettings:
        return TermSettings(fetch=fetch, use_custom_rank=rank is not None, rank=rank or 0)

    field: TermSettings = Field(default_factory=default, description=what)
    return field


class ResolutionSettings(Section):
    """Which resolutions are taken."""

    r2160p: bool = Field(default=True, description="2160p, also called 4K or UHD")
    r1080p: bool = Field(default=True, description="1080p, and 1440p")
    r720p: bool = Field(default=True, description="720p")
    r480p: bool = Field(default=False, description="480p, and 576p")
    r360p: bool = Field(default=False, description="360p and less")
    unknown: bool = Field(default=True, description="Releases that do not say")


class OptionSettings(Section):
    """How strict the choice is."""

    title_similarity: float = Field(
        default=0.85,
        ge=0.5,
        le=1.0,
        description="How close a title must be to one of the known ones, 1 = the same",
    )
    remove_all_trash: bool = Field(default=True, description="Refuse recordings from cinemas and the like")
    remove_ranks_under: int = Field(
        default=-30000,
        description="Refuse releases with fewer points than this; an Xvid copy of a DVD has -15000",
    )
    remove_unknown_languages: bool = Field(default=False, description="Refuse releases that name no language")
    allow_english_in_languages: bool = Field(
        default=True, description="Take releases that have English, whatever other languages are excluded"
    )
    remove_adult_content: bool = Field(default=True, description="Refuse pornography")


class LanguageSettings(Section):
    """Languages of the sound by two-letter code; `anime`, `common`, `non_anime` and `all` stand for groups."""

    required: list[str] = Field(default=[], description="At least one of these must be there")
    allowed: list[str] = Field(
        default=[], description="A release with one of these is taken, whatever is excluded"
    )
    exclude: list[str] = Field(default=[], description="Refuse releases with one of these")
    preferred: list[str] = Field(default=[], description="Releases with one of these come first")


class QualitySettings(Section):
    """Sources and codecs."""

    av1: TermSettings = _term("AV1 video", fetch=False)
    avc: TermSettings = _term("H.264 video")
    bluray: TermSettings = _term("Blu-ray")
    dvd: TermSettings = _term("DVD")
    hdtv: TermSettings = _term("Recorded from television in HD")
    hevc: TermSettings = _term("H.265 video")
    mpeg: TermSettings = _term("MPEG-2 video", fetch=False)
    remux: TermSettings = _term("The untouched streams of a disc, very large", fetch=False)
    vhs: TermSettings = _term("VHS", fetch=False)
    web: TermSettings = _term("From the web, kind not told")
    webdl: TermSettings = _term("From the web, untouched")
    webmux: TermSettings = _term("From the web, put together", fetch=False)
    xvid: TermSettings = _term("Xvid and DivX video")


class RipSettings(Section):
    """Sources that were encoded again."""

    bdrip: TermSettings = _term("From a Blu-ray, encoded again")
    brrip: TermSettings = _term("From an encoded Blu-ray, encoded again")
    dvdrip: TermSettings = _term("From a DVD")
    hdrip: TermSettings = _term("From an HD source of unknown kind")
    ppvrip: TermSettings = _term("From pay per view", fetch=False)
    satrip: TermSettings = _term("From satellite", fetch=False)
    tvrip: TermSettings = _term("From television")
    uhdrip: TermSettings = _term("From a UHD Blu-ray, encoded again")
    vhsrip: TermSettings = _term("From VHS", fetch=False)
    webdlrip: TermSettings = _term("From an untouched web copy, encoded again")
    webrip: TermSettings = _term("From the web, encoded again")


class HdrSettings(Section):
    """Colours and light."""

    bit10: TermSettings = _term("10-bit colour")
    dolby_vision: TermSettings = _term("Dolby Vision")
    hdr: TermSettings = _term("HDR")
    hdr10plus: TermSettings = _term("HDR10+")
    sdr: TermSettings = _term("SDR")


class AudioSettings(Section):
    """Sound."""

    aac: TermSettings = _term("AAC")
    atmos: TermSettings = _term("Dolby Atmos")
    dolby_digital: TermSettings = _term("Dolby Digital")
    dolby_digital_plus: TermSettings = _term("Dolby Digital Plus")
    dts_lossy: TermSettings = _term("DTS")
    dts_lossless: TermSettings = _term("DTS-HD MA")
    flac: TermSettings = _term("FLAC")
    mono: TermSettings = _term("One channel", fetch=False)
    mp3: TermSettings = _term("MP3", fetch=False)
    stereo: TermSettings = _term("Two channels")
    surround: TermSettings = _term("Surround")
    truehd: TermSettings = _term("Dolby TrueHD")


class ExtraSettings(Section):
    """Everything else that a name may say."""

    three_d: TermSettings = _term("3D", fetch=False)
    converted: TermSettings = _term("Converted from another frame rate", fetch=False)
    documentary: TermSettings = _term("Calls itself a documentary", rank=0)
    dubbed: TermSettings = _term("Dubbed")
    edition: TermSettings = _term("A named edition, e.g. Director's Cut")
    hardcoded: TermSettings = _term("Subtitles in the picture")
    network: TermSettings = _term("Names its network or service")
    proper: TermSettings = _term("A corrected release")
    repack: TermSettings = _term("A corrected release of the same group")
    retail: TermSettings = _term("Retail")
    site: TermSettings = _term("Carries the address of a site", rank=-50)
    subbed: TermSettings = _term("With subtitles")
    upscaled: TermSettings = _term("Blown up from a lower resolution", fetch=False)
    scene: TermSettings = _term("A scene release")
    uncensored: TermSettings = _term("Uncensored")


class TrashSettings(Section):
    """What nobody wants, once remove_all_trash is off."""

    cam: TermSettings = _term("Filmed in a cinema", fetch=False)
    clean_audio: TermSettings = _term("Sound from a cinema", fetch=False)
    pdtv: TermSettings = _term("PDTV", fetch=False)
    r5: TermSettings = _term("R5", fetch=False)
    screener: TermSettings = _term("A copy for critics", fetch=False)
    size: TermSettings = _term("The name tells the size", rank=0)
    telecine: TermSettings = _term("From a film print", fetch=False)
    telesync: TermSettings = _term("Filmed in a cinema with good sound", fetch=False)


class CustomRankSettings(Section):
    """What each property is worth and whether it is taken."""

    quality: QualitySettings = Field(
        default_factory=defaults_of(QualitySettings), description="Sources and codecs"
    )
    rips: RipSettings = Field(default_factory=defaults_of(RipSettings), description="Sources encoded again")
    hdr: HdrSettings = Field(default_factory=defaults_of(HdrSettings), description="Colours and light")
    audio: AudioSettings = Field(default_factory=defaults_of(AudioSettings), description="Sound")
    extras: ExtraSettings = Field(default_factory=defaults_of(ExtraSettings), description="Everything else")
    trash: TrashSettings = Field(default_factory=defaults_of(TrashSettings), description="What nobody wants")


class SizeSettings(Section):
    """Megabytes for a minute of running time; 0 = no limit. Only asked when both size and running time are known."""

    r2160p: float = Field(default=8.0, ge=0, description="2160p")
    r1080p: float = Field(default=3.0, ge=0, description="1080p")
    r720p: float = Field(default=1.5, ge=0, description="720p")
    other: float = Field(default=0.5, ge=0, description="Anything else")
    maximum: float = Field(
        default=0.0, ge=0, description="More than this is refused, whatever the resolution"
    )


class RankingRules(Section):
    """Which releases are taken, which of them first, and until when a better one is looked for."""

    require: Patterns = Field(
        default=[],
        description="Regular expressions of which one must be found in a release's name; /text/ minds capitals",
    )
    exclude: Patterns = Field(default=[], description="Regular expressions that refuse a release")
    preferred: Patterns = Field(default=[], description="Regular expressions that put a release first")
    resolutions: ResolutionSettings = Field(
        default_factory=defaults_of(ResolutionSettings), description="Which resolutions are taken"
    )
    options: OptionSettings = Field(
        default_factory=defaults_of(OptionSettings), description="How strict to be"
    )
    languages: LanguageSettings = Field(
        default_factory=defaults_of(LanguageSettings), description="Languages of the sound"
    )
    custom_ranks: CustomRankSettings = Field(
        default_factory=defaults_of(CustomRankSettings), description="What each property is worth"
    )
    order: Order = Field(
        default="resolution",
        description="What counts first: `resolution` (the highest, then points) or `rank` (points alone)",
    )
    per_resolution: int = Field(default=0, ge=0, description="Try at most so many of one resolution; 0 = all")
    dolby_vision_alone: bool = Field(
        default=False,
        description="Take Dolby Vision without HDR beside it, which shows false colours on other screens",
    )
    min_megabytes_per_minute: SizeSettings = Field(
        default_factory=defaults_of(SizeSettings), description="Sizes that are too small to be true"
    )

    upgrade_until: Literal["2160p", "1080p", "720p"] | None = Field(
        default=None,
        description="Look for better copies until the file has this resolution; null = the first copy stays",
    )
    upgrade_for_days: int = Field(
        default=30, ge=1, description="For so many days after the first copy; a whole number"
    )
    upgrade_every_hours: int = Field(
        default=24, ge=1, description="Hours between two looks for a better copy"
    )
    upgrade_minimum_gain: int = Field(
        default=1000,
        ge=1,
        description="Points by which a copy of the same resolution must be better; a proper or repack of the same needs none",
    )
    delay_minutes: int = Field(
        default=0,
        ge=0,
        description="Minutes to wait after the first release is found, so that better ones can appear; 0 = take it at once",
    )

    def plain(self) -> "RankingOptions":
        """Return the same as plain values, fit to be sent to another process."""
        return RankingOptions(
            require=tuple(self.require),
            exclude=tuple(self.exclude),
            preferred=tuple(self.preferred),
            resolutions=frozenset(name.removeprefix("r") for name, taken in self.resolutions if taken),
            title_similarity=self.options.title_similarity,
            remove_trash=self.options.remove_all_trash,
            remove_ranks_under=self.options.remove_ranks_under,
            remove_unknown_languages=self.options.remove_unknown_languages,
            allow_english=self.options.allow_english_in_languages,
            remove_adult=self.options.remove_adult_content,
            languages_required=frozenset(self.languages.required),
            languages_allowed=frozenset(self.languages.allowed),
            languages_excluded=frozenset(self.languages.exclude),
            languages_preferred=frozenset(self.languages.preferred),
            terms=_terms(self.custom_ranks),
            order=self.order,
            per_resolution=self.per_resolution,
            dolby_vision_alone=self.dolby_vision_alone,
            min_size={name.removeprefix("r"): float(value) for name, value in self.min_megabytes_per_minute},
        )


class RankingProfile(RankingRules):
    """Ranking of its own for some titles, or for a further copy of them; without any of the three it fits every title.

    What it leaves out has the values it has without any settings, not those of the usual ranking.
    """

    lists: list[str] = Field(
        default=[],
        description="For titles that these lists asked for, by their keys under `content`; `api` is a request by hand",
    )
    people: list[str] = Field(default=[], description="For titles that these people asked for")
    library_profiles: list[str] = Field(
        default=[], description="For titles in these library profiles (vfs.profiles)"
    )
    beside: bool = Field(
        default=False,
        description="A further copy beside the usual one, with a file of its own, in place of ranking the usual one differently",
    )


class RankingSettings(RankingRules):
    """Which releases are taken, and which of them first; profiles for some titles."""

    profiles: dict[str, RankingProfile] = Field(
        default={},
        description="By name; of several that fit a title the first one counts, and all that stand beside",
    )


@dataclass(frozen=True, slots=True)
class TermOption:
    """Whether a property is taken, and its points when they are the user's own."""

    fetch: bool
    rank: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingOptions:
    """The `ranking` section as plain values.

    terms: by `group.key`, e.g. `quality.webdl`. resolutions: those that are taken, e.g. `1080p`, `unknown`. min_size: megabytes a
    minute by resolution, with `other` and `maximum`. Languages are codes or names of groups.
    """

    require: tuple[str, ...]
    exclude: tuple[str, ...]
    preferred: tuple[str, ...]
    resolutions: frozenset[str]
    title_similarity: float
    remove_trash: bool
    remove_ranks_under: int
    remove_unknown_languages: bool
    allow_english: bool
    remove_adult: bool
    languages_required: frozenset[str]
    languages_allowed: frozenset[str]
    languages_excluded: frozenset[str]
    languages_preferred: frozenset[str]
    terms: Mapping[str, TermOption]
    order: Order
    per_resolution: int
    dolby_vision_alone: bool
    min_size: Mapping[str, float]


def overridden(options: RankingOptions, given: Mapping[str, Sequence[str]]) -> RankingOptions:
    """Return the options with groups of them replaced for one search: by group, the properties that are taken.

    Groups: `resolutions`, those of `custom_ranks`, and `require` and `exclude` with patterns. Raises ValueError with what is wrong.
    """
    changes: dict[str, object] = {}
    terms = dict(options.terms)
    for group, taken in given.items():
        if group in PATTERN_GROUPS:
            changes[group] = tuple(_pattern(text) for text in taken)
        elif group == "resolutions":
            changes[group] = frozenset(_known(group, taken, set(ResolutionSettings.model_fields)))
        else:
            terms |= _taken(options, group, taken)
    if given.get("trash"):
        changes["remove_trash"] = False
    return replace(options, terms=terms, **changes)  # type: ignore[arg-type]


def _taken(options: RankingOptions, group: str, taken: Sequence[str]) -> dict[str, TermOption]:
    prefix = f"{group}."
    keys = {path.removeprefix(prefix) for path in options.terms if path.startswith(prefix)}
    if not keys:
        raise ValueError(f"{group} is no group of properties")
    _known(group, taken, keys)
    return {prefix + key: replace(options.terms[prefix + key], fetch=key in taken) for key in keys}


def _known(group: str, taken: Sequence[str], keys: set[str]) -> list[str]:
    unknown = sorted(set(taken) - keys)
    if unknown:
        raise ValueError(f"{group} has no {unknown[0]}")
    return [key.removeprefix("r") if group == "resolutions" else key for key in taken]


def _terms(ranks: CustomRankSettings) -> dict[str, TermOption]:
    return {
        f"{group}.{key}": TermOption(term.fetch, term.rank if term.use_custom_rank else None)
        for group, section in ranks
        for key, term in section
    }
