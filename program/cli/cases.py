"""`cases`: cases of a file through the real rules, ranking, mapping and file system.

One JSON object a line, of kind a (is it of that title), b (which file is which episode), c (which copy under which settings), d
(what a debrid provider makes of a torrent and of a limit) or e (what the file system shows and reads, on a real mount). Other kinds
are skipped.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha1
from pathlib import Path

from program.cli import case_debrid, case_mounts
from program.cli.case_inputs import files_of, wanted_of
from program.cli.case_settings import everything, is_known_setting, options_of
from program.cli.case_values import Json, Malformed, mapping, number, texts
from program.errors import StartupError
from program.media.item import MediaType
from program.media.release import Candidate, FoundRelease, JsonValue, JudgedRelease
from program.media.wanted import Wanted
from program.services.matching.judge import judge, judged_by
from program.services.matching.map_files import map_files
from program.services.matching.parse import parse
from program.services.matching.rank import order
from program.services.matching.rules import RULES
from program.services.matching.validate_files import validate_files
from program.settings.ranking import RankingOptions

KINDS = ("a", "b", "c", "d", "e")
# Which episodes a release holds is no question where only the title of a show is wanted.
_OF_COVERAGE = frozenset({"incomplete_show"})


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one case. got: in the words of `expected`. unchecked: what is expected but not looked at here."""

    id: str
    kind: str
    passed: bool
    got: Json
    expected: Json
    reasons: Json
    unchecked: tuple[str, ...] = ()

    def line(self) -> str:
        """Return it as one line of JSON."""
        said: dict[str, object] = {
            "id": self.id,
            "pass": self.passed,
            "got": self.got,
            "expected": self.expected,
        }
        said["reasons"] = self.reasons
        if self.unchecked:
            said["unchecked"] = list(self.unchecked)
        return json.dumps(said, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A line that is no case. place: its number, from 1."""

    place: int
    why: str

    def line(self) -> str:
        """Return it as one line of JSON."""
        return json.dumps({"line": self.place, "malformed": self.why}, ensure_ascii=False)


def run_file(file: Path, now: datetime, say: Callable[[str], object]) -> int:
    """Say what comes of each case of a file, then the totals; return 1 when a case fails or is none, else 0."""
    results = []
    # Whatever bytes the file has, a bad line is only a bad line.
    with file.open(encoding="utf-8", errors="replace") as lines:
        for result in run(lines, now):
            say(result.line())
            results.append(result)
    say(totals(results))
    return 0 if all(isinstance(result, Result) and result.passed for result in results) else 1


def run(lines: Iterable[str], now: datetime) -> Iterator[Result | Skipped]:
    """Yield what came of each line; kinds that are not of matching are left out."""
    for place, line in enumerate(lines, 1):
        if line.strip():
            try:
                result = _run(line, now)
            except (Malformed, TypeError, OverflowError) as error:
                yield Skipped(place, str(error))
                continue
            if result is not None:
                yield result


def totals(results: Sequence[Result | Skipped]) -> str:
    """Return `passed/total` of each kind that there is."""
    parts = []
    for kind in KINDS:
        of_kind = [result for result in results if isinstance(result, Result) and result.kind == kind]
        if of_kind:
            parts.append(f"{kind} {sum(result.passed for result in of_kind)}/{len(of_kind)}")
    malformed = sum(isinstance(result, Skipped) for result in results)
    return "\n".join([*parts, f"malformed {malformed}"] if malformed else parts) or "no cases"


def _run(line: str, now: datetime) -> Result | None:
    try:
        case = mapping(json.loads(line), "the line")
    except (json.JSONDecodeError, RecursionError) as error:
        raise Malformed(f"is no JSON: {error}") from error
    kind, given = case.get("kind"), mapping(case.get("input"), "input")
    if kind not in KINDS:
        if not isinstance(kind, str):
            raise Malformed("has no kind")
        return None
    expected = mapping(case.get("expected"), "expected")
    if not given or not expected:
        raise Malformed("has no input or nothing is expected")
    runner: Mapping[JsonValue, Callable[[Json, Json, datetime], tuple[dict[str, JsonValue], Json]]] = {
        "a": _titles,
        "b": _files,
        "c": _copies,
        "d": _held,
        "e": _mounted,
    }
    got, reasons = runner[kind](given, expected, now)
    unchecked = tuple(name for name in expected if name not in got)
    if len(unchecked) == len(expected) and kind in "de":
        raise Malformed("nothing of what is expected is looked at here")
    return Result(
        id=str(case.get("id", "")),
        kind=kind,
        passed=all(_agrees(name, value, expected[name]) for name, value in got.items() if name in expected),
        got=got,
        expected=expected,
        reasons=reasons,
        unchecked=unchecked,
    )


def _agrees(name: str, got: JsonValue, expected: JsonValue) -> bool:
    if name.endswith("_max") or name.startswith("max_"):
        return isinstance(got, int | float) and isinstance(expected, int | float) and got <= expected
    if name in ("accept", "reject", "unmapped"):
        return isinstance(got, list) and set(texts(expected, name)) <= {str(one) for one in got}
    if name == "audio_languages_not":
        return isinstance(got, list) and not set(texts(expected, name)) & {str(one) for one in got}
    if isinstance(expected, dict) and isinstance(got, dict):
        return all(got.get(key) == value for key, value in expected.items())
    if isinstance(expected, list) and isinstance(got, list):
        return sorted(map(str, got)) == sorted(map(str, expected))
    return got == expected


def _held(given: Json, expected: Json, _now: datetime) -> tuple[dict[str, JsonValue], Json]:
    return case_debrid.run(given, expected)


def _mounted(given: Json, expected: Json, _now: datetime) -> tuple[dict[str, JsonValue], Json]:
    try:
        return case_mounts.run(given, expected)
    except (StartupError, OSError) as error:
        # A machine on which nothing can be mounted shows nothing.
        return dict.fromkeys(expected, "not seen"), {"mount": str(error)}


def _titles(given: Json, _expected: Json, now: datetime) -> tuple[dict[str, JsonValue], Json]:
    wanted = wanted_of(mapping(given.get("wanted"), "wanted"), given.get("other_titles_known"))
    judged = _judged(wanted, given, everything(), now)
    return _verdicts(judged), _reasons(judged)


def _copies(given: Json, expected: Json, now: datetime) -> tuple[dict[str, JsonValue], Json]:
    settings = mapping(given.get("settings"), "settings")
    options = options_of(settings)
    wanted = wanted_of(mapping(given.get("wanted"), "wanted"), given.get("other_titles_known"))
    judged = _judged(wanted, given, options, now)
    got = _verdicts(judged)
    best = order(
        (
            Candidate(id=n, item_id=1, release=r, found_at=now)
            for n, r in enumerate(judged)
            if not r.rejection
        ),
        options,
    )
    got["chosen"] = best[0].release.raw_title if best else None
    got["order"] = [candidate.release.raw_title for candidate in best]
    parsed = {release.raw_title: parse(release.raw_title, of_film=wanted.is_movie) for release in judged}
    for name in ("resolution", "quality", "codec"):
        got[name] = {title: getattr(said, name) for title, said in parsed.items()}
    spoken = sorted({language for said in parsed.values() for language in said.languages})
    got["audio_languages"] = _per_release(expected.get("audio_languages"), parsed, "languages", spoken)
    got["audio_languages_not"] = list(spoken)
    subtitles = sorted({language for said in parsed.values() for language in said.subtitles})
    got["subtitle_languages"] = _per_release(
        expected.get("subtitle_languages"), parsed, "subtitles", subtitles
    )
    ignored = [name for name in settings if not is_known_setting(name)]
    reasons = dict(_reasons(judged))
    if ignored:
        reasons["settings not known"] = [*ignored]
    kept = {
        name: value
        for name, value in got.items()
        if name in expected or name in ("accept", "reject", "chosen")
    }
    return kept, reasons


def _per_release(
    expected: JsonValue, parsed: Mapping[str, object], field: str, all_of_them: list[str]
) -> JsonValue:
    """Return languages by release when the case asks so, else of all together."""
    if isinstance(expected, dict):
        return {title: list(getattr(said, field)) for title, said in parsed.items()}
    return [*all_of_them]


def _judged(wanted: Wanted, given: Json, options: RankingOptions, now: datetime) -> tuple[JudgedRelease, ...]:
    releases = given.get("releases")
    if not isinstance(releases, list):
        raise Malformed("releases is not a list")
    found = [_release(place, data) for place, data in enumerate(releases)]
    if wanted.type is MediaType.SHOW:
        rules = [rule for rule in RULES if rule.code not in _OF_COVERAGE]
        return judged_by(rules, wanted, found, options, now)
    return judge(wanted, found, options, now)


def _release(place: int, data: JsonValue) -> FoundRelease:
    (name,) = texts([data], "releases")
    told = data if isinstance(data, dict) else {}
    return FoundRelease(
        infohash=sha1(f"{place} {name}".encode(), usedforsecurity=False).hexdigest(),
        raw_title=name,
        source="case",
        size=number(told.get("size")),
        seeders=number(told.get("seeders")),
    )


def _verdicts(judged: Iterable[JudgedRelease]) -> dict[str, JsonValue]:
    releases = list(judged)
    return {
        "accept": [release.raw_title for release in releases if release.rejection is None],
        "reject": [release.raw_title for release in releases if release.rejection is not None],
    }


def _reasons(judged: Iterable[JudgedRelease]) -> dict[str, JsonValue]:
    return {
        release.raw_title: f"{release.rejection.code}: {release.rejection.sentence}"
        if release.rejection
        else f"{release.rank} points"
        for release in judged
    }


def _files(given: Json, expected: Json, _now: datetime) -> tuple[dict[str, JsonValue], Json]:
    wanted = wanted_of(mapping(given.get("show") or given.get("wanted"), "show"))
    torrent, files = str(given.get("torrent", "")), files_of(given.get("files"))
    matches = map_files(wanted, torrent, files)
    by_item = {item_id: match.file.path for match in matches for item_id in match.item_ids}
    parts = [file.path for match in matches if match.parts for file in (match.file, *match.parts)]
    verdict = validate_files(wanted, matches, files)
    got: dict[str, JsonValue] = {}
    keys = {f"S{e.season:02}E{e.number:02}": e.item_id for e in wanted.episodes}
    for key in expected:
        if key == "movie":
            got[key] = [*parts] or by_item.get(wanted.item_id)
        elif key == "subtitles":
            got[key] = {one.file.path: one.tail for match in matches for one in match.subtitles}
        elif key == "unmapped":
            taken = {*by_item.values(), *parts}
            got[key] = [file.path for file in files if file.path not in taken]
        elif key == "torrent_is":
            got[key] = _torrent(torrent, is_useful=verdict.is_useful)
        elif key.upper().startswith("S"):
            got[key] = by_item.get(keys.get(key.upper(), -1))
    reasons: dict[str, JsonValue] = {"torrent": verdict.outcome}
    if verdict.rejection:
        reasons["torrent"] = f"{verdict.rejection.code}: {verdict.rejection.sentence}"
    return got, reasons


def _torrent(name: str, *, is_useful: bool) -> dict[str, JsonValue]:
    said = parse(name)
    is_pack = bool(said.seasons) and not said.episodes and not said.is_special
    return {
        "usable": is_useful,
        "season_pack": is_pack,
        "multi_season": is_pack and len(said.seasons) > 1,
        "seasons": [*said.seasons],
        "season": said.seasons[0] if said.seasons else None,
        "episodes": [*said.episodes],
        "special": said.is_special,
        "complete": said.is_complete,
    }
