"""What names look like: a few made-up and openly licensed titles, rendered with given templates; pure."""

from dataclasses import dataclass, replace

from program.media.naming import NameFacts, render
from program.media.templates import Templates


@dataclass(frozen=True, slots=True)
class Sample:
    """One rendered name. about: what it shows."""

    about: str
    path: str


_FILM = NameFacts(
    title="Sintel",
    year=2010,
    tmdb_id=45745,
    imdb_id="tt1727587",
    tag="1080p",
    original_name="Sintel.2010.1080p.BluRay.x264-OPEN",
)
_SHOW = NameFacts(
    title="Pioneer One",
    year=2010,
    tvdb_id=170551,
    tag="720p",
    season=1,
    episodes=(2,),
    absolute=2,
    episode_title="The Man from Mars",
    original_name="Pioneer.One.S01E02.720p.WEB-OPEN",
)
_SAMPLES: tuple[tuple[str, NameFacts], ...] = (
    ("a film", _FILM),
    ("another version of it", replace(_FILM, tag="2160p", original_name="Sintel.2010.2160p.WEB-CC")),
    ("an edition of it", replace(_FILM, edition="Director's Cut")),
    ("a film in parts", replace(_FILM, part=1)),
    ("a film of which little is known", NameFacts("Caminandes: Llama Drama")),
    ("a title in another script", NameFacts("はちみつの庭", 2031, tmdb_id=101, tag="1080p")),
    ("a very long title", NameFacts("A Very Long Walk " * 20, 2031, tmdb_id=102, tag="1080p")),
    ("an episode", _SHOW),
    ("a double episode", replace(_SHOW, episodes=(3, 4), absolute=3, episode_title="Alone in the Night")),
    ("a special", replace(_SHOW, season=0, episodes=(1,), absolute=None, episode_title="Making Of")),
)


def samples(templates: Templates) -> tuple[Sample, ...]:
    """Return what the templates make of the samples."""
    return tuple(Sample(about, render(facts, templates)) for about, facts in _SAMPLES)
