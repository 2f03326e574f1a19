"""The settings of a case as ranking options: the defaults, with what the case names changed."""

from collections.abc import Mapping
from dataclasses import replace

from program.cli.case_values import Json, Malformed, mapping, texts
from program.settings.ranking import RankingOptions, RankingSettings, TermOption


def everything() -> RankingOptions:
    """Return settings that take any copy, so that only the title decides."""
    open_to_all: Json = {"resolutions": [*_ALL], "allow_trash": True, "allow": "all", "remove_adult": False}
    return replace(_with(RankingSettings().plain(), open_to_all), remove_ranks_under=-(10**9))


def options_of(settings: Json) -> RankingOptions:
    """Return the default settings with what the case changes; a whole `ranking` section is taken as well. Raises Malformed."""
    section = mapping(settings.get("ranking"), "ranking")
    try:
        plain = RankingSettings.model_validate(section).plain()
    except ValueError as error:
        raise Malformed(f"ranking: {error}") from error
    return _with(plain, settings)


_ALL = frozenset({"2160p", "1080p", "720p", "480p", "360p", "unknown"})
# What a case calls by another name than the settings.
_RIPS = ("bdrip", "dvdrip", "ppvrip", "satrip", "tvrip", "uhdrip", "vhsrip", "webdlrip")
_TERMS: Mapping[str, tuple[str, ...]] = {
    "3d": ("three_d",),
    "dv": ("dolby_vision",),
    "hdr": ("hdr", "hdr10plus", "dolby_vision"),
    "10bit": ("bit10",),
    "x264": ("avc",),
    "h264": ("avc",),
    "x265": ("hevc",),
    "h265": ("hevc",),
    "hardsubs": ("hardcoded",),
    "hardcoded_subs": ("hardcoded",),
    "web_dl": ("webdl",),
    "blu_ray": ("bluray",),
}
_SWITCHES = {
    "4k": "2160p",
    "uhd": "2160p",
    "1440p": "1080p",
    "576p": "480p",
    "540p": "480p",
    "sd": "480p",
    "240p": "360p",
}
KNOWN_SETTINGS = frozenset(
    {
        *(
            "ranking",
            "resolutions",
            "allow_trash",
            "remove_trash",
            "remove_adult",
            "allow_adult",
            "exclude_languages",
        ),
        *("excluded_languages", "required_audio_languages", "required_languages", "allowed_languages"),
        *(
            "preferred_languages",
            "allow_english",
            "remove_unknown_languages",
            "require",
            "exclude",
            "preferred",
        ),
        *("title_similarity", "order", "dolby_vision_alone", "allow"),
    }
)


def is_known_setting(name: str) -> bool:
    """Return True when a setting of a case means something here."""
    return name in KNOWN_SETTINGS or name.startswith("allow_")


def _with(plain: RankingOptions, settings: Json) -> RankingOptions:
    changed = {name: getattr(plain, name) for name in RankingOptions.__dataclass_fields__}
    if "resolutions" in settings:
        said = texts(settings["resolutions"], "resolutions")
        changed["resolutions"] = frozenset(_SWITCHES.get(name.lower(), name.lower()) for name in said)
    for name, value in settings.items():
        resolution = _SWITCHES.get(name.removeprefix("allow_"), name.removeprefix("allow_"))
        if resolution in _ALL and isinstance(value, bool):
            changed["resolutions"] = (changed["resolutions"] - {resolution}) | (
                {resolution} if value else set()
            )
    for name, field, inverted in _BOOLEANS:
        if isinstance(value := settings.get(name), bool):
            changed[field] = value is not inverted
    for name, field in _LANGUAGES:
        if name in settings:
            changed[field] = frozenset(texts(settings[name], name))
    for name in ("require", "exclude", "preferred"):
        if name in settings:
            changed[name] = texts(settings[name], name)
    changed["terms"] = _terms(plain.terms, settings)
    return RankingOptions(**changed)


_BOOLEANS = (
    ("allow_trash", "remove_trash", True),
    ("remove_trash", "remove_trash", False),
    ("remove_adult", "remove_adult", False),
    ("allow_adult", "remove_adult", True),
    ("allow_english", "allow_english", False),
    ("remove_unknown_languages", "remove_unknown_languages", False),
    ("dolby_vision_alone", "dolby_vision_alone", False),
)
_LANGUAGES = (
    ("exclude_languages", "languages_excluded"),
    ("excluded_languages", "languages_excluded"),
    ("required_audio_languages", "languages_required"),
    ("required_languages", "languages_required"),
    ("allowed_languages", "languages_allowed"),
    ("preferred_languages", "languages_preferred"),
)


def _terms(terms: Mapping[str, TermOption], settings: Json) -> dict[str, TermOption]:
    """Return the properties with those that `allow_3d: false` and `allow_rips: ["bdrip"]` switch."""
    switched = dict(terms)

    keys = {term.partition(".")[2] for term in terms}

    def switch(name: str, *, fetch: bool) -> None:
        wanted = _TERMS.get(name, (name,))
        for term in terms:
            group, _, key = term.partition(".")
            # `hdr` is a property and a group; the property is meant.
            is_group = group in wanted and not keys & set(wanted)
            if "all" in wanted or key in wanted or is_group:
                switched[term] = TermOption(fetch, terms[term].rank)

    for name, value in settings.items():
        if not name.startswith("allow"):
            continue
        if isinstance(value, bool):
            switch(name.removeprefix("allow_"), fetch=value)
        else:
            if name == "allow_rips":
                # A list names all that are taken of what was encoded again from a disc or a recording.
                for key in _RIPS:
                    switch(key, fetch=False)
            for key in texts(value, name):
                switch(key, fetch=True)
    return switched
