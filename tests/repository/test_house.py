"""The house: which room may import which, how large a module and a function may be."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT

SOURCE = ROOT / "src"
PACKAGE = SOURCE / "gdalembert"

BASE = {"errors", "spatial", "model", "dynamics"}
ROBOTS = {*BASE, "flexible"}
ALLOWED = {
    "errors": set(),
    "citation": ROBOTS,
    "spatial": {"errors"},
    "model": {"errors", "spatial"},
    "dynamics": {"errors", "spatial", "model"},
    "flexible": BASE,
    "validation": ROBOTS,
    "compilation": ROBOTS,
    "symbolic": ROBOTS,
    "simulation": ROBOTS,
    "export": {*ROBOTS, "symbolic", "compilation"},
    "ocp": {*ROBOTS, "simulation"},
    "plotting": {*ROBOTS, "validation", "compilation", "symbolic", "export", "simulation", "ocp"},
    "viewer": {*ROBOTS, "validation", "compilation", "symbolic", "export", "simulation", "ocp"},
    "testing": {*ROBOTS, "validation"},
}
"""What the modules of each room may import, besides each other; the face and the command line may import them all."""
ALLOWED["cli"] = set(ALLOWED)
ALLOWED["__main__"] = {"cli"}
ALLOWED["gdalembert"] = {*ALLOWED, "cli"}

LONG_MODULES: dict[str, str] = {}
"""Modules above 400 lines, each with the reason why it is one."""

LONG_FUNCTIONS: dict[str, str] = {}
"""Functions above 60 lines, each with the reason why it is one."""


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}


def imports_of(name: str) -> set[str]:
    """The modules of the package that a module imports: at once, in a function, or for type checkers alone."""
    found: set[str] = set()
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: a relative import; write the whole name"
            assert node.module is not None
            found.update(
                inner if (inner := f"{node.module}.{alias.name}") in MODULES else node.module for alias in node.names
            )
    return (found & set(MODULES)) - {name}


IMPORTS = {name: imports_of(name) for name in MODULES}


def room_of(name: str) -> str:
    """The folder of a module, or a module beside the folders."""
    return name.split(".")[1] if "." in name else name


def within_reach(name: str) -> set[str]:
    found: set[str] = set()
    ahead = list(IMPORTS[name])
    while ahead:
        module = ahead.pop()
        if module not in found:
            found.add(module)
            ahead += IMPORTS[module]
    return found


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert {name for name in MODULES if name in within_reach(name)} == set()


@pytest.mark.parametrize("room", sorted({room_of(name) for name in MODULES}))
def test_rooms_import_only_rooms_below(room: str) -> None:
    arrows = {(name, other) for name in MODULES if room_of(name) == room for other in IMPORTS[name]}
    outward = {(name, other) for name, other in arrows if room_of(other) != room}
    assert {arrow for arrow in outward if room_of(arrow[1]) not in ALLOWED[room]} == set()


def test_few_entries_stand_at_the_top() -> None:
    assert len([path for path in PACKAGE.iterdir() if path.name != "__pycache__"]) <= 20


def test_modules_are_at_most_400_lines() -> None:
    lines = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in MODULES.items()}
    assert {name for name, number in lines.items() if number > 400} == set(LONG_MODULES)


def test_functions_are_at_most_60_lines() -> None:
    long = {
        f"{name}.{node.name}"
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.body[0].lineno + 1 > 60
    }
    assert long == set(LONG_FUNCTIONS)
