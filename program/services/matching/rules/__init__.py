"""The reasons to refuse a release, one per file, cheap and telling ones first. Each answers None or a `Rejection`."""

from program.services.matching.rules import (
    adult,
    bonus,
    country,
    disc,
    dolby_vision,
    episode,
    fake,
    kind,
    language,
    patterns,
    property,  # noqa: A004 - the module is named after what it refuses
    resolution,
    season,
    show,
    size,
    title,
    trash,
    year,
)
from program.services.matching.rules.base import Rule

RULES: tuple[Rule, ...] = tuple(
    Rule(module.CODE, module.check)
    for module in (
        fake,
        title,
        kind,
        year,
        country,
        episode,
        season,
        show,
        bonus,
        trash,
        adult,
        disc,
        resolution,
        property,
        dolby_vision,
        language,
        patterns,
        size,
    )
)
# Without those that ask for all of a season or a show.
PART_RULES: tuple[Rule, ...] = tuple(rule for rule in RULES if rule.code not in (season.CODE, show.CODE))
