"""`python -m bench`: measures every family, or those that are asked for, one after the other."""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.measure import MissingError, measure
from bench.registry import families
from bench.report import FamilyReport, family_report, from_json, keep, lines, to_json
from bench.row import Family
from program import log

ROUNDS = 5
# How long a family whose time is over may take to end its servers and mounts.
UNWIND_SECONDS = 30


def main() -> int:
    """Measure; return 1 when a family could not be measured to its end. A missed bar is told, it is no failure of the run."""
    options = _options()
    # Whoever ends this has everything closed that was opened.
    signal.signal(signal.SIGTERM, lambda _signal, _frame: sys.exit(1))
    if options.family:
        return _measure_here(families()[options.family], options)
    chosen = [family for key, family in families().items() if not options.only or key in options.only]
    if options.list:
        sys.stdout.writelines(f"{family.key}: {family.title}\n" for family in chosen)
        return 0
    reports = [report for family in chosen if (report := _measured(family, options)) is not None]
    if options.json:
        options.json.write_text(to_json(reports), encoding="utf-8")
    return 0 if len(reports) == len(chosen) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench ARGS=…", description=__doc__)
    parser.add_argument(
        "--only", action="append", choices=sorted(families()), help="a family; may be repeated"
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"how often each trial is run ({ROUNDS})")
    parser.add_argument("--json", type=Path, help="write the results to this file as well")
    parser.add_argument("--keep", action="store_true", help="keep the results in bench/results, for the docs")
    parser.add_argument("--tiny", action="store_true", help="sizes that only show that it works")
    parser.add_argument("--list", action="store_true", help="only say which families there are")
    parser.add_argument("--family", choices=sorted(families()), help=argparse.SUPPRESS)
    return parser.parse_args()


def _measured(family: type[Family], options: argparse.Namespace) -> FamilyReport | None:
    """Measure a family in a process of its own and say what it was; None when it failed or took too long."""
    with tempfile.TemporaryDirectory(prefix="rivulet-bench-") as folder:
        result = Path(folder) / "result.json"
        command = [sys.executable, "-m", "bench", "--family", family.key, "--json", str(result)]
        command += ["--rounds", str(options.rounds), *(["--tiny"] if options.tiny else [])]
        if not ended_in_time(subprocess.Popen(command, start_new_session=True), family.seconds):
            sys.stdout.write(f"{family.key}: stopped after its {family.seconds} s\n")
        if not result.exists():
            sys.stdout.write(f"{family.key}: not measured, see above\n")
            return None
        [report] = from_json(result.read_text(encoding="utf-8"))
    sys.stdout.write(lines(report))
    sys.stdout.flush()
    if options.keep and not report.missing:
        keep(report)
    return report


def ended_in_time(process: subprocess.Popen[bytes], limit: float) -> bool:
    """Wait for a family; at its limit, or when the run itself is stopped, have it close what it opened and end."""
    try:
        process.wait(limit)
    except subprocess.TimeoutExpired:
        _stop(process)
        return False
    except BaseException:
        _stop(process)
        raise
    return True


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(UNWIND_SECONDS)
    except subprocess.TimeoutExpired:
        # It leads a session of its own, so this reaches it and its servers, nothing else.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _measure_here(family: type[Family], options: argparse.Namespace) -> int:
    log.set_up("WARNING", None)
    load = os.getloadavg()[0]
    try:
        results, missing = measure(family, rounds=options.rounds, is_tiny=options.tiny), ""
    except MissingError as error:
        results, missing = [], str(error)
    report = family_report(family, results, rounds=options.rounds, load=load, missing=missing)
    options.json.write_text(to_json([report]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
