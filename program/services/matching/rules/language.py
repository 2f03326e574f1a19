"""The release speaks a language that the user does not want."""

from program.media.release import Rejection
from program.services.matching.rules.base import Look, refused
from program.settings.ranking import LANGUAGE_GROUPS

CODE = "language"


def check(look: Look) -> Rejection | None:
    """Refuse by the user's lists; without lists, what is dubbed and has neither the original language nor English."""
    options, found = look.options, set(look.parsed.languages)
    if look.parsed.has_many_languages and look.wanted.language:
        found |= {look.wanted.language}
        if look.wanted.language == "ja" and not look.parsed.languages:
            # What anime has beside the original is English unless the name tells otherwise.
            found |= {"en"}
    if not found:
        return _check_unknown(look)
    if options.languages_required and not _has(found | {*look.parsed.may_speak}, options.languages_required):
        return refused(CODE, f"speaks {_named(found)}, none of those required")
    if options.allow_english and "en" in found and not options.languages_required:
        return None
    if _has(found, options.languages_allowed):
        return None
    if options.languages_excluded and _has(found, options.languages_excluded):
        return refused(CODE, f"speaks {_named(found)}, which is excluded")
    return _check_original(look, found)


def _check_unknown(look: Look) -> Rejection | None:
    if look.options.remove_unknown_languages:
        return refused(CODE, "does not say its language")
    original, required = look.wanted.language, look.options.languages_required
    may_speak = {*look.parsed.may_speak, *((original,) if original else ())}
    if required and not _has(may_speak, required):
        return refused(CODE, "names no language, and one is required")
    return None


def _check_original(look: Look, found: set[str]) -> Rejection | None:
    """Refuse a dub for people who have not asked for its language."""
    options, original = look.options, look.wanted.language
    asked = options.languages_required | options.languages_preferred | options.languages_allowed
    if original is None or original in found or "en" in found or _has(found, asked):
        return None
    if look.parsed.has_many_languages or options.languages_excluded:
        return None
    return refused(CODE, f"speaks {_named(found)} only, without the original {original}")


def _has(found: set[str], listed: frozenset[str]) -> bool:
    """Return True when a language is in the list, by itself or as one of a group."""
    if "all" in listed or found & listed:
        return True
    if "non_anime" in listed and found - LANGUAGE_GROUPS["anime"] - {"en"}:
        return True
    return any(found & members for group, members in LANGUAGE_GROUPS.items() if group in listed)


def _named(found: set[str]) -> str:
    return ", ".join(sorted(found))
