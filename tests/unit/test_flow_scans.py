"""When a media server is told to scan a folder."""

from datetime import UTC, datetime, timedelta

from program.services.flows.context import MANY_FOLDERS, ScanLedger
from program.services.flows.moved_files import covering

START = datetime(2031, 5, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
FOLDER = "/library/shows/Pioneer One/Season 01"


def claim(
    ledger: ScanLedger, now: datetime, *, changed_at: datetime = START, again: bool = False
) -> datetime | None:
    return ledger.claim("jellyfin", FOLDER, now, changed_at=changed_at, again=again)


def test_the_first_change_of_a_folder_is_scanned_at_once() -> None:
    assert claim(ScanLedger(), START) == START


def test_a_folder_that_was_scanned_since_it_changed_needs_no_scan() -> None:
    ledger = ScanLedger()
    claim(ledger, START + SECOND)
    assert claim(ledger, START + 30 * SECOND) is None


def test_a_further_file_within_ten_seconds_waits_for_the_end_of_them() -> None:
    ledger = ScanLedger()
    claim(ledger, START)
    later = claim(ledger, START + 4 * SECOND, changed_at=START + 3 * SECOND)
    assert later == START + 10 * SECOND
    assert claim(ledger, later, changed_at=START + 3 * SECOND) == later


def test_a_repeated_scan_comes_although_nothing_changed() -> None:
    ledger = ScanLedger()
    claim(ledger, START + SECOND)
    assert claim(ledger, START + 60 * SECOND, again=True) == START + 60 * SECOND


def test_one_server_does_not_keep_another_from_scanning() -> None:
    ledger = ScanLedger()
    claim(ledger, START)
    assert ledger.claim("plex", FOLDER, START, changed_at=START, again=False) == START


def test_a_library_of_many_folders_does_not_fill_the_memory() -> None:
    ledger = ScanLedger()
    for number in range(3 * MANY_FOLDERS):
        now = START + number * SECOND
        ledger.claim("plex", f"{FOLDER}{number}", now, changed_at=now, again=False)
    assert len(ledger._last) <= MANY_FOLDERS


def test_what_has_moved_is_seen_from_the_nearest_folder_that_is_there() -> None:
    there = {"/movies/B", "/shows/S", "/shows/S/S1", "/kids/movies/C"}
    moved = {
        "/movies/A/A.mkv": "/movies/A",
        "/movies/B/B.mkv": "/movies/B",
        "/shows/S/Season 01/S - s01e01.mkv": "/shows/S",
        "/shows/S/S1/S - s01e01.mkv": "/shows/S/S1",
        "/shows/T/Season 01/T - s01e01.mkv": "/shows/T",
        "/kids/movies/D/D.mkv": "/kids/movies/D",
        "/A.mkv": "/",
    }
    for path, folder in moved.items():
        assert covering([path], there.__contains__) == (folder,)
    shows = [path for path in moved if path.startswith("/shows/S")]
    assert covering(shows, there.__contains__) == ("/shows/S",), "what is beneath another is scanned with it"
