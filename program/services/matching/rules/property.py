"""The release has a property that the user has switched off: a codec, a source, 3D, upscaling."""

from program.media.release import Rejection
from program.services.matching.rank import TERM_NAMES, terms_of
from program.services.matching.rules.base import Look, refused

CODE = "unwanted_property"


def check(look: Look) -> Rejection | None:
    """Refuse the first property whose `fetch` is off."""
    for term in terms_of(look.parsed):
        option = look.options.terms.get(term)
        if option is not None and not option.fetch:
            return refused(CODE, f"{TERM_NAMES.get(term, term.partition('.')[2])} is switched off")
    return None
