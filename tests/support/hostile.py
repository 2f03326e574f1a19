"""Releases that all are something else than what is wanted, or that nobody wants, and that look better than the right one."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from hashlib import sha1

from program.media.release import FoundRelease
from program.media.wanted import Wanted
from program.services.plugin import Scraper
from program.settings.provider import ProviderSettings

HOSTILE = 200
# Everything that makes points.
BEST = (
    "2160p.UHD.BluRay.DV.HDR10+.TrueHD.7.1.Atmos.x265",
    "2160p.WEB-DL.DV.HDR.DDP5.1.H.265",
    "1080p.BluRay.DTS-HD.MA.x264",
)
OTHERS = ("Harbour", "Dawn Patrol", "Ashes", "Quiet Meridian", "Undertow")


def hostile_names(wanted: Wanted, rng: random.Random) -> Iterator[str]:
    """Yield names that all are something else than what is wanted, or that nobody wants."""
    dotted, year = wanted.title.replace(" ", "."), wanted.year or 2000
    season = wanted.season or 1
    episode = f"E{wanted.episode:02}" if wanted.episode is not None else ""
    own = f"{dotted}.{year}" if wanted.is_movie else f"{dotted}.S{season:02}{episode}"
    behind = own.removeprefix(dotted)
    while True:
        tail = f"{rng.choice(BEST)}-{''.join(rng.choices('ABCDEFGHJKLMNPQRTUVWXYZ', k=5))}"
        other = rng.choice(OTHERS).replace(" ", ".")
        yield from (
            f"{other}{behind}.{tail}",
            f"{dotted}.{other}{behind}.{tail}",
            f"{other}.{dotted}{behind}.{tail}",
            f"The.Making.of.{dotted}.{year}.{tail}",
            f"{dotted}.{year - rng.randrange(3, 30)}.{tail}"
            if wanted.is_movie
            else f"{dotted}.S{90 + rng.randrange(9)}E01.{tail}",
            f"{dotted}.S01E01.{tail}"
            if wanted.is_movie
            else f"{dotted}.S{season:02}E{80 + rng.randrange(19)}.{tail}",
            f"{dotted}.2{behind}.{tail}",
            f"{dotted}.Part.Two{behind}.{tail}",
            f"{own}.2160p.HDCAM.{tail[:6]}x265-{rng.randrange(999)}",
            f"{own}.1080p.TELESYNC.DDP5.1.x264-{rng.randrange(999)}",
            f"{own}.3D.HSBS.{tail}",
            f"{own}.AI.Upscaled.{tail}",
            f"{own}.COMPLETE.UHD.BLURAY-{rng.randrange(999)}",
            f"{own}.HINDI.DUBBED.{tail}",
            f"{own}.XXX.{tail}",
            f"{dotted}.{year}.OST.FLAC.{tail}"
            if wanted.is_movie
            else f"{dotted}.S{season:02}.Special.{tail}",
        )


def hostile(wanted: Wanted, seed: int, *, source: str = "hostile") -> list[FoundRelease]:
    """Return two hundred of them; groups, sizes and seeders are random."""
    rng = random.Random(seed)  # noqa: S311 - seeded, so that a run can be repeated
    return [
        FoundRelease(
            sha1(f"{seed} {place} {name}".encode(), usedforsecurity=False).hexdigest(),
            name,
            source,
            size=rng.randrange(2, 80) * 1_000_000_000,
            seeders=rng.randrange(20_000),
            cached_at=("anywhere",) if rng.random() < 0.5 else (),
        )
        for place, name in zip(range(HOSTILE), hostile_names(wanted, rng), strict=False)
    ]


class FloodSettings(ProviderSettings):
    """Nothing to set."""


class Flood(Scraper[FloodSettings]):
    """A search service that has nothing but hostile releases for everything."""

    key = "flood"
    title = "Flood"
    Settings = FloodSettings

    def check(self) -> None:
        """It always works."""

    def search(self, wanted: Wanted) -> Iterable[FoundRelease]:
        """Return what nobody wants."""
        return hostile(wanted, wanted.item_id, source=self.key)
