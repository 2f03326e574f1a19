"""The program's source as data, for the tests that guard the architecture."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One Python file: its dotted name (`program.db.engine`), where it lies, its text and its syntax tree."""

    name: str
    path: Path
    text: str
    tree: ast.Module

    def is_in(self, *rooms: str) -> bool:
        """True for the rooms themselves and whatever lies in them."""
        return any(self.name == room or self.name.startswith(f"{room}.") for room in rooms)

    def place(self, node: ast.AST) -> str:
        """Return `path:line` of a node, for messages."""
        return f"{self.path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"

    def imports(self) -> Iterator[tuple[str, ast.stmt]]:
        """Yield each imported module's dotted name, wherever in the file the import stands."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((alias.name, node) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                if node.level:
                    yield self._relative(node), node
                elif node.module:
                    yield node.module, node
                    yield from ((f"{node.module}.{alias.name}", node) for alias in node.names)

    def _relative(self, node: ast.ImportFrom) -> str:
        package = self.name.split(".") if self.path.name == "__init__.py" else self.name.split(".")[:-1]
        base = package[: len(package) - node.level + 1]
        return ".".join([*base, node.module] if node.module else base)


def _dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def _files(folder: str) -> tuple[SourceFile, ...]:
    paths = [*sorted((ROOT / folder).rglob("*.py")), *([ROOT / "main.py"] if folder == "program" else [])]
    texts = ((path, path.read_text()) for path in paths if path.exists())
    return tuple(SourceFile(_dotted(path), path, text, ast.parse(text)) for path, text in texts)


def program_files(*rooms: str) -> list[SourceFile]:
    """Return the files of the program (with main.py), or only those of the given rooms."""
    return [file for file in _files("program") if not rooms or file.is_in(*rooms)]


def files_of_tests() -> list[SourceFile]:
    """Return the files below tests/."""
    return list(_files("tests"))


def is_outside(module: str) -> bool:
    """True for a package that is neither ours nor Python's own."""
    top = module.split(".", maxsplit=1)[0]
    return top not in sys.stdlib_module_names and top not in {"program", "main", "tests", "__future__"}
