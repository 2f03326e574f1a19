"""What hangs in one place does not hold up another."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import monotonic

import pytest

from tests.support.cdn import HONEST, Manner, content
from tests.support.wait import until
from tests.vfs.conftest import MIB, Library, Mounted

pytestmark = [pytest.mark.fuse, pytest.mark.timeout(90)]

HANGING = 30


def test_files_whose_provider_hangs_do_not_keep_others_from_being_read(
    library: Library, mount: Callable[..., Mounted]
):
    library.cdn.behave = lambda request: HONEST if request.name == "good.mkv" else Manner(hang_after=0)
    bad = [library.file(f"{n}.mkv", 50 * MIB, n + 1, f"/movies/{n}/{n}.mkv") for n in range(HANGING)]
    good = library.file("good.mkv", 50 * MIB, 1000, "/movies/good/good.mkv")
    mounted = mount(*bad, good, read_timeout_seconds=20)

    def hang(number: int) -> None:
        with pytest.raises(OSError, match="Input/output"):
            mounted.read(bad[number].path, 0, 1 * MIB)

    with ThreadPoolExecutor(HANGING) as pool:
        jobs = [pool.submit(hang, number) for number in range(HANGING)]
        until(lambda: len({request.name for request in library.cdn.requests}) == HANGING)
        begun = monotonic()
        for offset in range(0, 20 * MIB, MIB):
            assert mounted.read(good.path, offset, MIB) == content("good.mkv", offset, offset + MIB)
        seconds = monotonic() - begun
        mounted.vfs.stop()
        for job in jobs:
            job.result(30)
    assert seconds < 10
