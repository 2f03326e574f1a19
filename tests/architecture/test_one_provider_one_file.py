"""A provider is one code file: no other module imports it, names it or branches on it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

from tests.support.source import SourceFile, program_files

KINDS = ("content", "indexers", "scrapers", "downloaders", "updaters", "subtitles", "notifications")
# These keys are also the names of kinds of id that every title carries; only their modules are private.
ALSO_KINDS_OF_ID = {"imdb", "tmdb", "tvdb"}


def key_of(file: SourceFile) -> str | None:
    """Return the key of the plugin class in the file, if there is one."""
    for node in ast.walk(file.tree):
        if isinstance(node, ast.ClassDef):
            for line in node.body:
                target = line.targets[0] if isinstance(line, ast.Assign) else getattr(line, "target", None)
                value = getattr(line, "value", None)
                if getattr(target, "id", "") == "key" and isinstance(value, ast.Constant):
                    return str(value.value)
    return None


@cache
def providers() -> dict[str, str]:
    """Return every provider's key by the name of its module."""
    files = program_files(*(f"program.services.{kind}" for kind in KINDS))
    return {file.name: key for file in files if (key := key_of(file)) is not None}


def docstrings(tree: ast.Module) -> set[int]:
    """Return the ids of the nodes that are docstrings."""
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, owners) and node.body]
    return {id(body[0].value) for body in bodies if isinstance(body[0], ast.Expr)}


def words(file: SourceFile) -> Iterator[tuple[str, ast.AST]]:
    """Yield every string and every name that code, not prose, uses."""
    prose = docstrings(file.tree)
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.value, node
        elif isinstance(node, ast.Name):
            yield node.id, node
        elif isinstance(node, ast.Attribute):
            yield node.attr, node


def test_no_other_module_imports_a_provider() -> None:
    wrong = [
        f"{file.place(node)} imports {module}"
        for file in program_files()
        for module, node in file.imports()
        for provider in providers()
        if file.name != provider and (module == provider or module.startswith(f"{provider}."))
    ]
    assert not wrong


def test_no_other_module_knows_a_providers_key() -> None:
    private = {module: key for module, key in providers().items() if key not in ALSO_KINDS_OF_ID}
    wrong = [
        f"{file.place(node)} says {word[:60]!r}, which is the business of {provider}"
        for file in program_files()
        if not file.is_in("program.demo")  # the demo stands in for the providers
        for word, node in words(file)
        for provider, key in private.items()
        if file.name != provider and re.search(rf"(?<![a-z]){re.escape(key)}(?![a-z])", word, re.IGNORECASE)
    ]
    assert not wrong


def test_a_key_belongs_to_one_provider() -> None:
    keys = list(providers().values())
    assert len(set(keys)) == len(keys)
