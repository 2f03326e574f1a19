"""Looking through a large library: 10,000 films and 50,000 episodes, beside rclone's mount of an equal tree on the disk."""

import subprocess
from collections.abc import Generator, Iterator, Sequence

from bench import Bar, Family, Row, Stage, Trial, seconds
from bench.mounts import Mount, manifest, mounted, rclone_mount

BESIDE = "rclone mount of an equal tree on the disk"
EPISODES_A_SEASON = 10
SEASONS = 5


class LargeLibrary(Family):
    """What a media server's walk costs."""

    key = "vfs-tree"
    title = "Mount, 73,000 files and folders"
    seconds = 420
    needs = ("rclone",)

    def trials(self, stage: Stage) -> Generator[Trial]:
        """Yield the walks, one after the other, on mounts that nobody has looked into."""
        films, shows = stage.size(10_000, tiny=20), stage.size(1_000, tiny=2)
        paths = list(library(films, shows))
        copy = stage.folder / "copy"
        for path in paths:
            file = copy / path.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
        wanted = manifest(
            stage, "tree", ((path, 1_000_000, [f"http://127.0.0.1:9/{path}"]) for path in paths)
        )
        mine = mounted(stage, "mine", wanted)
        theirs = mounted(stage, "theirs", rclone_mount(str(copy)))
        cold = (
            Row("find, the first time", "s", BESIDE),
            Row("find, once more", "s", BESIDE),
            Row("ls -lR after that", "s", BESIDE, Bar.value(2.5)),
        )
        yield Trial(cold, ours=lambda: walk(mine), reference=lambda: walk(theirs), most_rounds=1)
        warm = (Row("ls -lR, once more", "s", BESIDE, Bar.ratio(1)),)
        yield Trial(warm, ours=lambda: (listed(mine),), reference=lambda: (listed(theirs),), most_rounds=3)


def library(films: int, shows: int) -> Iterator[str]:
    """Yield the paths of a library."""
    for number in range(films):
        name = f"Film {number:05} (2031)"
        yield f"/movies/{name}/{name}.mkv"
    for number in range(shows):
        for season in range(1, SEASONS + 1):
            for episode in range(1, EPISODES_A_SEASON + 1):
                yield f"/shows/Show {number:04}/Season {season:02}/Show {number:04} - s{season:02}e{episode:02}.mkv"


def walk(mount: Mount) -> Sequence[float]:
    """Return the seconds of two finds and of a list with everything about each file."""
    return (*(seconds(run, "find", str(mount.folder)) for _ in range(2)), listed(mount))


def listed(mount: Mount) -> float:
    """Return the seconds of a list with everything about each file."""
    return seconds(run, "ls", "-lR", str(mount.folder))


def run(*command: str) -> None:
    """Run a program whose output nobody wants."""
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
