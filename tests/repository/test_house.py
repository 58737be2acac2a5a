"""The house: which room may import which, how large a module and a function may be, which names say nothing."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT

SOURCE = ROOT / "src"
PACKAGE = SOURCE / "gdalembert"

DYNAMICS = {"errors", "spatial", "model", "dynamics"}
ROBOTS = {*DYNAMICS, "flexible"}
ALLOWED = {
    "errors": set(),
    "citation": {"spatial", "dynamics", "flexible"},
    "spatial": {"errors"},
    "model": {"errors", "spatial"},
    "dynamics": {"errors", "spatial", "model"},
    "flexible": DYNAMICS,
    "identification": DYNAMICS,
    "estimation": {*DYNAMICS, "compilation"},
    "calibration": {*DYNAMICS, "identification"},
    "cpin": DYNAMICS,
    "distances": ROBOTS,
    "validation": ROBOTS,
    "compilation": {"errors", "spatial"},
    "nlp": {"compilation", "errors", "spatial"},
    "symbolic": ROBOTS,
    "simulation": {*DYNAMICS, "compilation"},
    "export": {*ROBOTS, "symbolic"},
    "ocp": {*DYNAMICS, "compilation", "distances", "nlp", "simulation"},
    "plotting": {*ROBOTS, "distances", "identification", "simulation", "ocp"},
    "viewer": {*ROBOTS, "distances", "simulation", "ocp"},
    "testing": {"validation"},
    "cli": {
        *DYNAMICS,
        "distances",
        "identification",
        "validation",
        "compilation",
        "symbolic",
        "export",
        "ocp",
        "plotting",
        "viewer",
    },
    "__main__": {"cli"},
    "gdalembert": {"citation"},
}
"""What the modules of each room import, besides each other."""

LONG_MODULES: dict[str, str] = {}
"""Modules above 600 lines, each with the reason why it is one."""

LONG_FUNCTIONS = {
    "gdalembert.calibration.fit.fit": "describes 8 arguments and its errors; 44 lines of code",
    "gdalembert.identification.excitation.excitation": "describes 19 arguments; 35 lines of code",
    "gdalembert.export.formats.derive": "describes 8 arguments; 32 lines of code",
    "gdalembert.identification.fit.fit": "describes 20 arguments and its errors; 53 lines of code",
    "gdalembert.plotting.motions.torque_decomposition": "describes 5 arguments and its errors; 39 lines of code",
    "gdalembert.simulation.simulate.simulate": "describes 11 arguments; 37 lines of code",
    "gdalembert.validation.validate.validate": "describes 7 arguments, states and checks; 15 lines of code",
}
"""Functions above 60 lines, each with the reason why it is one: they are public, with long docstrings."""

FILLERS = frozenset({"each", "own", "given", "found", "where", "what"})
"""Names that do not say what the thing is."""

NAMESAKES = {
    "Force": "cpin has Pinocchio's, a spatial force; a force element of ``forces=`` is public by this name",
    "Frame": "cpin has Pinocchio's, of numbers or symbols; in ``model`` it is the same, as a tree reads it",
    "Motion": "cpin has Pinocchio's; in ``spatial`` it is the two halves of one, in ``ocp`` q, v, a and u in time",
}
"""Public names of classes that stand in several rooms, and why."""


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def tree_of(name: str) -> ast.Module:
    return ast.parse(MODULES[name].read_text(encoding="utf-8"))


@cache
def imports_of(name: str) -> frozenset[str]:
    """The modules of the package that a module imports: at once, in a function, or for type checkers alone."""
    found: set[str] = set()
    for node in ast.walk(tree_of(name)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: a relative import; write the whole name"
            assert node.module is not None
            found.update(
                inner if (inner := f"{node.module}.{alias.name}") in MODULES else node.module for alias in node.names
            )
    return frozenset(found & set(MODULES)) - {name}


def room_of(name: str) -> str:
    """The folder of a module, or a module beside the folders."""
    return name.split(".")[1] if "." in name else name


def within_reach(name: str) -> set[str]:
    found: set[str] = set()
    ahead = list(imports_of(name))
    while ahead:
        module = ahead.pop()
        if module not in found:
            found.add(module)
            ahead += imports_of(module)
    return found


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert {name for name in MODULES if name in within_reach(name)} == set()


@pytest.mark.parametrize("room", sorted({room_of(name) for name in MODULES}))
def test_rooms_import_only_rooms_below(room: str) -> None:
    arrows = {(name, other) for name in MODULES if room_of(name) == room for other in imports_of(name)}
    outward = {(name, other) for name, other in arrows if room_of(other) != room}
    assert {arrow for arrow in outward if room_of(arrow[1]) not in ALLOWED[room]} == set()


def test_the_recursion_knows_trees_and_no_formulation() -> None:
    recursion = [name for name in MODULES if name.startswith("gdalembert.dynamics.newton_euler")]
    assert {name for name in recursion if "gdalembert.dynamics.expressions" in within_reach(name)} == set()


def test_what_only_the_names_of_pinocchio_use_stands_with_them() -> None:
    below = [name for name in MODULES if room_of(name) in ALLOWED["cpin"]]
    rooms = {name: {room_of(other) for other in MODULES if name in imports_of(other)} for name in below}
    assert [name for name in below if rooms[name] == {"cpin"}] == []


def test_few_entries_stand_at_the_top() -> None:
    assert len({path.stem for path in PACKAGE.iterdir()} - {"__pycache__"}) <= 25


def test_modules_are_at_most_600_lines() -> None:
    lines = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in MODULES.items()}
    assert {name for name, number in lines.items() if number > 600} == set(LONG_MODULES)


def folders() -> list[str]:
    """The package's folders, as modules are named."""
    return sorted({name.rpartition(".")[0] for name in MODULES if name.count(".") > 1})


def rooms_inside(folder: str) -> dict[str, set[str]]:
    """The modules and folders directly inside a folder, and which of the others each imports."""

    def of(module: str) -> str | None:
        """The entry of the folder that a module stands in; its ``__init__`` collects the others."""
        return module.removeprefix(f"{folder}.").split(".")[0] if module.startswith(f"{folder}.") else None

    found: dict[str, set[str]] = {}
    for name in MODULES:
        if (inner := of(name)) is not None:
            others = (of(other) for other in imports_of(name))
            found.setdefault(inner, set()).update(room for room in others if room not in (None, inner))
    return found


def floors(rooms: dict[str, set[str]]) -> int:
    """The length of the longest row of rooms of which each imports the next."""
    left, number = dict(rooms), 0
    while left:
        ground = {name for name, others in left.items() if not others & left.keys()}
        assert ground, f"a circle among {sorted(left)}"
        left, number = {name: others for name, others in left.items() if name not in ground}, number + 1
    return number


@pytest.mark.parametrize("folder", folders())
def test_folders_have_few_floors(folder: str) -> None:
    assert floors(rooms_inside(folder)) <= 10


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a definition, its decorators, signature and docstring included."""
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return (node.end_lineno or 0) - first + 1


def test_functions_are_at_most_60_lines() -> None:
    long = {
        f"{name}.{node.name}"
        for name in MODULES
        for node in ast.walk(tree_of(name))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and length(node) > 60
    }
    assert long == set(LONG_FUNCTIONS)


def classes_of(names: list[str]) -> set[str]:
    return {node.name for name in names for node in ast.walk(tree_of(name)) if isinstance(node, ast.ClassDef)}


def classes_asked_for(tree: ast.AST) -> set[str]:
    """The classes in ``isinstance``, ``issubclass`` and ``match``, but those of other packages, as ``pin.Frame``."""
    asked: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            asked += node.args[1:] if node.func.id in ("isinstance", "issubclass") else []
        elif isinstance(node, ast.MatchClass):
            asked.append(node.cls)
    parts = [each for part in asked for each in ast.walk(part)]
    dotted = [ast.unparse(each) for each in parts if isinstance(each, ast.Attribute)]
    names = {each.id for each in parts if isinstance(each, ast.Name)}
    return names | {name.rpartition(".")[2] for name in dotted if not name.startswith(("pin.", "ca.", "np."))}


def test_classes_that_a_module_asks_for_are_found() -> None:
    code = "isinstance(x, Tree | pin.Frame), isinstance(x, kinematics.Kinematics)\nmatch x:\n    case Joint(): pass"
    assert classes_asked_for(ast.parse(code)) - {"pin", "kinematics"} == {"Tree", "Kinematics", "Joint"}


def test_the_names_of_pinocchio_have_no_algorithm_and_test_for_no_robot() -> None:
    """What computes stands in the rooms below ``cpin``."""
    room = [name for name in MODULES if room_of(name) == "cpin"]
    below = [name for name in MODULES if room_of(name) in ("model", "dynamics", "flexible")]
    robots = classes_of(below) - classes_of(room)
    assert {"Dynamics", "NewtonEuler", "Kinematics", "ConstrainedDynamics", "Tree", "TreeOfSymbols"} <= robots
    assert [(name, found) for name in room for found in sorted(classes_asked_for(tree_of(name)) & robots)] == []


def bindings_of_fillers(tree: ast.AST) -> int:
    """How often a variable or an argument has one of these names."""
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    arguments = [node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)]
    return len([name for name in names + arguments if name in FILLERS])


def test_bindings_of_fillers_are_counted() -> None:
    code = "def f(given, *where): own = given; return [each for each in own]\nfor what, rest in x: found.y = what.found"
    assert bindings_of_fillers(ast.parse(code)) == 5


def test_names_say_what_things_are() -> None:
    assert sum(bindings_of_fillers(tree_of(name)) for name in MODULES) <= 600


def test_few_names_of_classes_mean_two_things() -> None:
    rooms: dict[str, set[str]] = {}
    for module in MODULES:
        for name in classes_of([module]):
            rooms.setdefault(name, set()).add(room_of(module))
    several = {name for name, places in rooms.items() if len(places) > 1 and not name.startswith("_")}
    assert several == set(NAMESAKES)
    assert len(NAMESAKES) <= 3
