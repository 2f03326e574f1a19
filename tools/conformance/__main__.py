"""Proves that no part of the specifications is left out, and that each test notices when what it shows is switched off.

python -m tools.conformance                     how many statements, tests and decisions there are
python -m tools.conformance --pages FOLDER      compare with the specifications' pages, kept there as text
python -m tools.conformance --mutate            switch off every behaviour in turn (about half an hour)
python -m tools.conformance --mutate Q-017 L-042
python -m tools.conformance --mutate --sample 10 --seed 7
"""

import argparse
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from tools.conformance.catalog import Line, Proof, boilerplate, differences, proofs, specifications
from tools.conformance.mutate import Verdict, copy_of, passing, trial, warm_up
from tools.conformance.split import split


def main() -> int:
    """Do what the arguments say; return 0 when all is well."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", "--seeds", type=Path, metavar="FOLDER")
    parser.add_argument("--mutate", nargs="*", metavar="ID", help="statements or proofs; none for all")
    parser.add_argument("--sample", type=int, metavar="N", help="of these, so many statements at random")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.pages is not None:
        return _compare(given.pages)
    if given.mutate is not None:
        lines = _sampled(_chosen(given.mutate), given.sample, given.seed)
        return _mutate(_proofs_of(lines, given.mutate))
    _say(*_counts())
    return 0


def _compare(folder: Path) -> int:
    """Split the pages anew and say what differs from the statements."""
    layout, faults = boilerplate(), 0
    for spec in specifications():
        paths = sorted(folder.glob(f"{spec.page}*"))
        if not paths:
            _say(f"{spec.name}: no page in {folder} begins with {spec.page}")
            faults += 1
            continue
        pieces = [piece for piece in split(paths[0].read_text(encoding="utf-8")) if piece.hash not in layout]
        found = list(differences(spec.lines, pieces))
        _say(*(f"{spec.name}: {fault}" for fault in found))
        _say(
            f"{spec.name}: {len(pieces)} pieces, {len(spec.statements())} statements, {len(found)} differences"
        )
        faults += len(found)
    return 1 if faults else 0


def _chosen(ids: Sequence[str]) -> list[Line]:
    """Return the statements that are named, all when none is."""
    lines = list(chain.from_iterable(spec.statements() for spec in specifications()))
    return [line for line in lines if line.proofs and (not ids or line.id in ids)]


def _sampled(lines: list[Line], count: int | None, seed: int) -> list[Line]:
    return lines if count is None else random.Random(seed).sample(lines, min(count, len(lines)))  # noqa: S311


def _proofs_of(lines: Iterable[Line], ids: Sequence[str]) -> list[Proof]:
    """Return the proofs of the statements and those named themselves, each once."""
    known = proofs()
    names = dict.fromkeys(
        [*(name for line in lines for name in line.proofs), *(id_ for id_ in ids if id_ in known)]
    )
    return [known[name] for name in names]


def _mutate(chosen: Sequence[Proof]) -> int:
    """Try the proofs; return 0 when each was noticed."""
    warm_up()
    with copy_of() as folder:
        _say(f"{len(chosen)} behaviours; first their tests as the program is …")
        trouble = passing(folder, chosen)
        if trouble is not None:
            _say(trouble)
            return 1
        tried = []
        for proof in chosen:
            tried.append(trial(folder, proof))
            last = tried[-1]
            _say(f"{last.verdict:9} {last.seconds:5.1f} s  {proof.id}  ({proof.file})  {last.said}")
    killed = sum(each.verdict is Verdict.KILLED for each in tried)
    _say(f"{len(tried)} tried, {killed} noticed, {len(tried) - killed} not")
    return 0 if killed == len(tried) else 1


def _counts() -> Iterator[str]:
    known = proofs()
    for spec in specifications():
        lines = spec.statements()
        shown = sum(bool(line.proofs) for line in lines)
        departing = sum(bool(line.departs) for line in lines)
        yield f"{spec.name}: {len(lines)} statements, {shown} shown by tests, {departing} with a decision"
    tests = {test for proof in known.values() for test in proof.tests}
    yield f"{len(known)} behaviours to switch off, {len(tests)} tests"


def _say(*lines: str) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
