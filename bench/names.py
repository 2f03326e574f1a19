"""Release names as they are found, of titles that do not exist: seeded, so that a run can be repeated."""

import hashlib
import random

from program.media.release import FoundRelease

FIRST = ("Silent", "Paper", "Northern", "Hollow", "Amber", "Second", "Iron", "Distant", "Borrowed", "Winter")
SECOND = ("Harbour", "Machine", "Orchard", "Signal", "Lantern", "River", "Cartographer", "Garden", "Engine")
RESOLUTIONS = ("2160p", "1080p", "1080p", "720p", "480p")
SOURCES = ("BluRay", "WEB-DL", "WEBRip", "HDTV", "BluRay.REMUX", "BRRip", "DVDRip")
CODECS = ("x264", "x265", "HEVC", "H.264", "AV1", "10bit.x265")
SOUNDS = ("DDP5.1", "DTS-HD.MA.7.1", "AAC2.0", "TrueHD.7.1.Atmos", "AC3", "FLAC.2.0", "DD5.1")
EXTRAS = (
    "",
    "",
    "",
    "PROPER",
    "REPACK",
    "HDR10",
    "DV.HDR",
    "MULTi",
    "FRENCH",
    "GERMAN.DL",
    "REMASTERED",
    "EXTENDED",
)
GROUPS = ("NORTH", "FLEET", "RiGHT", "lamp", "QUIET", "HARBR", "TREE", "d0ve")
# One of these is how a name counts; most of what a search finds is of films.
COUNTS = ("{year}", "{year}", "{year}", "S{season:02}E{episode:02}", "S{season:02}", "{season}x{episode:02}")
SIZE = 2_000_000_000
WITH_SPACES = 0.2


def title(chance: random.Random) -> str:
    """Return the title of a film that does not exist."""
    return f"{chance.choice(FIRST)} {chance.choice(SECOND)}"


def release_names(count: int, *, seed: int, of: tuple[str, int] | None = None) -> list[str]:
    """Return different names; all are of the film `of` (title, year) when it is given."""
    chance = random.Random(seed)
    names: dict[str, None] = {}
    while len(names) < count:
        names[_name(chance, of, serial=len(names))] = None
    return list(names)


def _name(chance: random.Random, of: tuple[str, int] | None, *, serial: int) -> str:
    what, year = of or (title(chance), chance.randint(1970, 2024))
    count = "{year}" if of else chance.choice(COUNTS)
    parts = [
        what.replace(" ", "."),
        count.format(year=year, season=chance.randint(1, 12), episode=chance.randint(1, 24)),
        chance.choice(EXTRAS),
        chance.choice(RESOLUTIONS),
        chance.choice(SOURCES),
        chance.choice(SOUNDS),
        chance.choice(CODECS),
    ]
    # The number makes every name another one, as groups' tags do; else a cache would know it.
    name = ".".join(part for part in parts if part) + f"-{chance.choice(GROUPS)}{serial}"
    return name.replace(".", " ") if chance.random() < WITH_SPACES else name


def found(names: list[str]) -> tuple[FoundRelease, ...]:
    """Return names as one scraper's answers, each with a hash of its own."""
    return tuple(
        FoundRelease(
            hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest(),
            name,
            "bench",
            size=SIZE,
            seeders=10,
        )
        for name in names
    )
