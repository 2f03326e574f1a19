"""docs/conformance.md leaves nothing out, and what it names exists."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from functools import lru_cache
from itertools import chain

import pytest

from tools.conformance.catalog import (
    ROOT,
    Line,
    Proof,
    Specification,
    boilerplate,
    differences,
    proofs,
    specifications,
)
from tools.conformance.mutate import Verdict, verdict_of
from tools.conformance.page import decision
from tools.conformance.split import Kind, Piece, split

SPECIFICATIONS = specifications()
PROOFS = proofs()

PAGE = """Skip to main content

Films are kept. They are shown, too. There are limits (e.g. 404) to that.


Queues


Kinds

There are these:
Queue namePurpose
scrape-itemSearches
download-itemDownloads
The rest is code:
// an example
{
  "limit": 3,

  "more": true
}
Machine ID: "Bootstrap" The machine runs once.
1

Opening

It opens.
  1. The first is done.
  • Another is done.
"""


def test_a_page_falls_into_sentences_rows_steps_items_and_code() -> None:
    assert [(piece.section, piece.kind.value, " ".join(piece.text.split())) for piece in split(PAGE)] == [
        ("", "layout", "Skip to main content"),
        ("", "sentence", "Films are kept."),
        ("", "sentence", "They are shown, too."),
        ("", "sentence", "There are limits (e.g. 404) to that."),
        ("Queues", "layout", "Queues"),
        ("Kinds", "layout", "Kinds"),
        ("Kinds", "sentence", "There are these:"),
        ("Kinds", "layout", "Queue namePurpose"),
        ("Kinds", "row", "scrape-itemSearches"),
        ("Kinds", "row", "download-itemDownloads"),
        ("Kinds", "sentence", "The rest is code:"),
        ("Kinds", "code", '// an example { "limit": 3, "more": true }'),
        ("Kinds", "sentence", 'Machine ID: "Bootstrap"'),
        ("Kinds", "sentence", "The machine runs once."),
        ("Kinds", "step", "1 Opening"),
        ("Kinds", "sentence", "It opens."),
        ("Kinds", "item", "1. The first is done."),
        ("Kinds", "item", "• Another is done."),
    ]


def test_no_word_of_a_page_is_lost() -> None:
    assert " ".join(piece.text for piece in split(PAGE)).split() == PAGE.split()


def line(piece: Piece) -> Line:
    return Line(section=piece.section, kind=piece.kind, hash=piece.hash)


def test_what_is_left_out_added_or_moved_is_named() -> None:
    pieces = split(PAGE)
    lines = [line(piece) for piece in pieces]
    assert list(differences(lines, pieces)) == []
    assert list(differences(lines[:1] + lines[2:], pieces)) == [
        f"missing: sentence {pieces[1].hash} in “”",
        "17 lines for 18 pieces",
    ]
    assert list(differences(lines, pieces[:-1])) == [
        f"surplus: item {pieces[-1].hash} in “Kinds”",
        "18 lines for 17 pieces",
    ]
    assert list(differences([lines[2], lines[1], *lines[3:], lines[0]], pieces)) == [
        "all are there, but in another order"
    ]


@pytest.mark.parametrize("spec", SPECIFICATIONS, ids=lambda spec: spec.name)
def test_statements_are_numbered_without_a_gap(spec: Specification) -> None:
    numbers = [each.id for each in spec.statements()]
    assert numbers == [f"{spec.letter}-{number:03}" for number in range(1, len(numbers) + 1)]


@pytest.mark.parametrize("spec", SPECIFICATIONS, ids=lambda spec: spec.name)
def test_every_statement_is_shown_by_a_test_or_departed_from_by_a_decision(spec: Specification) -> None:
    for each in spec.lines:
        if each.kind is Kind.LAYOUT:
            assert (each.id, each.asks, each.proofs, each.departs) == ("", "", (), ()), each
            continue
        assert each.asks.strip(), each.id
        assert each.proofs or each.departs, each.id
        assert set(each.proofs) <= set(PROOFS), each.id
        assert all(decision(number).is_file() for number in each.departs), each.id


def test_a_statement_stands_once_and_is_no_boilerplate() -> None:
    for spec in SPECIFICATIONS:
        places = Counter((each.section, each.hash) for each in spec.lines)
        assert [place for place, count in places.items() if count > 1] == [], spec.name
        assert not {each.hash for each in spec.lines} & boilerplate().keys()


def test_every_proof_is_needed() -> None:
    used = {name for spec in SPECIFICATIONS for each in spec.lines for name in each.proofs}
    assert sorted(PROOFS.keys() - used) == []


@lru_cache
def names_in(file: str) -> frozenset[str]:
    """Return the names of the tests in a file, with their class where they have one."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    plain = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    inner = {
        f"{cls.name}::{node.name}"
        for cls in classes
        for node in cls.body
        if isinstance(node, ast.FunctionDef)
    }
    return frozenset(plain | inner)


def test_every_test_that_is_named_exists(request: pytest.FixtureRequest) -> None:
    named = {node for proof in PROOFS.values() for node in proof.tests}
    for node in named:
        file, _, name = node.partition("::")
        assert name.partition("[")[0] in names_in(file), node
    # Of the tests that run now also what stands in brackets can be compared.
    collected = {item.nodeid for item in request.session.items}
    functions = {node.partition("[")[0] for node in collected}
    gone = {node for node in named if "[" in node and node.partition("[")[0] in functions} - collected
    assert sorted(gone) == []


@pytest.mark.parametrize("proof", PROOFS.values(), ids=PROOFS)
def test_what_would_be_switched_off_is_still_there(proof: Proof) -> None:
    before = (ROOT / proof.file).read_text(encoding="utf-8")
    after = proof.changed(before)
    assert after != before
    if proof.file.endswith(".py"):
        ast.parse(after)


def test_a_change_whose_place_is_gone_or_not_the_only_one_is_an_error() -> None:
    proof = Proof(id="p", tests=(), file="f.py", old="x = 1", new="x = 2")
    assert proof.changed("x = 1\n") == "x = 2\n"
    for text, count in (("y = 1\n", 0), ("x = 1\nx = 1\n", 2)):
        with pytest.raises(ValueError, match=f"p: the text to change stands {count} times in f.py"):
            proof.changed(text)


def test_the_proofs_tests_are_not_the_ones_that_compare_proofs() -> None:
    named = chain.from_iterable(proof.tests for proof in PROOFS.values())
    assert not [node for node in named if node.startswith("tests/unit/test_conformance.py")]


@pytest.mark.parametrize(
    ("code", "said", "verdict"),
    [
        (0, "3 passed in 0.1s", Verdict.SURVIVED),
        (1, "1 failed, 2 passed in 0.1s", Verdict.KILLED),
        (1, "1 error in 0.1s", Verdict.BROKEN),
        (4, "no tests ran in 0.1s", Verdict.BROKEN),
    ],
)
def test_only_a_test_that_fails_has_noticed(code: int, said: str, verdict: Verdict) -> None:
    assert verdict_of(code, f"more\n{said}\n") is verdict


@pytest.mark.slow
def test_a_behaviour_that_is_switched_off_is_noticed_and_the_tree_stays_as_it_is() -> None:
    before = (ROOT / PROOFS["cooldown-first"].file).read_text(encoding="utf-8")
    command = [sys.executable, "-m", "tools.conformance", "--mutate", "cooldown-first"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=110, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.splitlines()[-1] == "1 tried, 1 noticed, 0 not"
    assert (ROOT / PROOFS["cooldown-first"].file).read_text(encoding="utf-8") == before
