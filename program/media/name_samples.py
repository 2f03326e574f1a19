"""What names look like: a few made-up and openly licensed titles, rendered with given templates; pure."""

from dataclasses import dataclass

from program.media.naming import NameFacts, render
from program.media.templates import Templates


@dataclass(frozen=True, slots=True)
class Sample:
    """One rendered name. about: what it shows."""

    about: str
    path: str


_FILM = {"title": "Sintel", "year": 2010, "tmdb_id": 45745, "imdb_id": "tt1727587", "tag": "1080p"}
_SHOW = {"title": "Pioneer One", "year": 2010, "tvdb_id": 170551, "tag": "720p", "season": 1}
_SAMPLES: tuple[tuple[str, NameFacts], ...] = (
    ("a film", NameFacts(**_FILM)),  # type: ignore[arg-type]
    ("another version of it", NameFacts(**{**_FILM, "tag": "2160p"})),  # type: ignore[arg-type]
    ("an edition of it", NameFacts(**{**_FILM, "edition": "Director's Cut"})),  # type: ignore[arg-type]
    ("a film of which little is known", NameFacts("Caminandes: Llama Drama")),
    ("a title in another script", NameFacts("はちみつの庭", 2031, tmdb_id=101, tag="1080p")),
    ("a very long title", NameFacts("A Very Long Walk " * 20, 2031, tmdb_id=102, tag="1080p")),
    ("an episode", NameFacts(**_SHOW, episodes=(2,), episode_title="The Man from Mars")),  # type: ignore[arg-type]
    ("a double episode", NameFacts(**_SHOW, episodes=(3, 4), episode_title="Alone in the Night")),  # type: ignore[arg-type]
    ("a special", NameFacts(**{**_SHOW, "season": 0}, episodes=(1,), episode_title="Making Of")),  # type: ignore[arg-type]
)


def samples(templates: Templates) -> tuple[Sample, ...]:
    """Return what the templates make of the samples."""
    return tuple(Sample(about, render(facts, templates)) for about, facts in _SAMPLES)
