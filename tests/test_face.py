"""The face of the package: every public name, each imported when it is first used."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from importlib import import_module, metadata

import pytest

import gdalembert as gd
from tests.helpers.paths import ROOT
from tests.helpers.sets import with_extras

FACE = ROOT / "src/gdalembert/__init__.pyi"
HEAVY = ("casadi", "numpy", "pinocchio", "sympy")


@cache
def fresh(code: str) -> str:
    """What a new process prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


def loaded(code: str, *names: str) -> list[str]:
    """Which of the modules a new process has imported after the code."""
    printed = fresh(f"import sys\ntry:\n    {code}\nexcept SystemExit:\n    pass\nprint(*sys.modules, sep=chr(10))")
    return [name for name in names if name in printed.splitlines()]


def seen_by_type_checkers() -> dict[str, object]:
    """The names that the stub of the face imports for type checkers, and what they are."""
    nodes = ast.walk(ast.parse(FACE.read_text(encoding="utf-8")))
    imports = [
        node for node in nodes if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gdalembert")
    ]
    return {
        alias.name: getattr(import_module(node.module or ""), alias.name) for node in imports for alias in node.names
    }


def test_every_public_name_is_what_type_checkers_see() -> None:
    import_module("gdalembert.flexible.modes")
    seen = seen_by_type_checkers()
    assert sorted(gd.__all__) == sorted(seen)
    assert set(gd.__all__) <= set(dir(gd))
    assert [name for name, what in seen.items() if getattr(gd, name) is not what] == []


@pytest.mark.parametrize("name", ["gdalembert.spatial.lie", "gdalembert.dynamics.forces"])
def test_pages_of_functions_and_classes_give_those_alone(name: str) -> None:
    module = import_module(name)
    assert {getattr(module, each).__module__ for each in module.__all__} == {name}


def test_unknown_names() -> None:
    for name in ("NewtonEuler2", "_private", "__main__", "__wrapped__", "numpy"):
        with pytest.raises(AttributeError, match=f"module 'gdalembert' has no attribute '{name}'"):
            getattr(gd, name)


def test_dir_lists_the_public_names_and_the_modules() -> None:
    modules = {path.stem for path in FACE.parent.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    names = {name for name in dir(gd) if not name.startswith("__")}
    assert names == {*gd.__all__, *modules} - {"__init__", "__main__"}
    assert {"__version__", "__doc__", "__file__"} <= set(dir(gd))
    assert "__main__" not in dir(gd)


def test_the_version_is_that_of_the_installed_package() -> None:
    assert fresh("import gdalembert as gd; print(gd.__version__)").strip() == metadata.version("gdalembert")


def test_to_import_the_main_module_runs_no_command() -> None:
    assert fresh("import gdalembert.__main__") == ""


def test_the_import_alone_loads_nothing_heavy() -> None:
    assert loaded("import gdalembert", *HEAVY) == []


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_load_nothing_heavy(option: str) -> None:
    assert loaded(f"from gdalembert.cli.main import main; main([{option!r}])", *HEAVY) == []


def test_inverse_dynamics_loads_only_what_it_needs() -> None:
    code = "import gdalembert as gd; gd.NewtonEuler(gd.load_urdf('puma560')).inverse_dynamics"
    rooms = [f"gdalembert.{room}" for room in ("flexible", "ocp", "simulation", "symbolic", "validation", "viewer")]
    assert loaded(code, "sympy", "matplotlib", *rooms) == []


def test_the_names_of_pinocchio_load_only_what_they_need() -> None:
    """No formulation before dynamics are asked for, and then one, unless the robot is small enough for others."""
    rooms = [f"gdalembert.{room}" for room in ("calibration", "compilation", "flexible", "identification", "ocp")]
    formulations = [f"gdalembert.dynamics.{name}" for name in ("generalized_dalembert", "lagrange_euler")]
    dynamics = ["gdalembert.dynamics.recursive_newton_euler", "gdalembert.dynamics.equations_of_motion"]
    constraints = "gdalembert.dynamics.constrained.constrained_dynamics"
    first = "from gdalembert import cpin"
    assert loaded(first, *rooms, *formulations, *dynamics, constraints, "sympy", "scipy") == []
    torques = (
        "m = cpin.buildSampleModelHumanoid(); x = [0.1] * m.nv; cpin.rnea(m, m.createData(), cpin.neutral(m), x, x)"
    )
    assert loaded(f"{first}; {torques}", *formulations, *dynamics, constraints) == dynamics


@pytest.mark.parametrize(
    "first",
    [
        "from gdalembert.dynamics.dynamics import formulations",
        "from gdalembert.dynamics.dynamics import Dynamics; from gdalembert import formulations",
        "from gdalembert import formulations",
    ],
)
def test_all_formulations_are_registered_whatever_is_imported(first: str) -> None:
    printed = fresh(f"{first}; print(*formulations())")
    assert {"generalized_dalembert", "lagrange_euler", "newton_euler"} <= set(printed.split())
    assert printed == fresh("import gdalembert as gd; print(*gd.formulations())")


def test_a_name_of_ours_is_taken_before_ours_is_used() -> None:
    code = (
        "import gdalembert as gd\n"
        "try:\n"
        "    class Mine(gd.Dynamics):\n"
        "        name = 'newton_euler'\n"
        "except gd.errors.GdalembertError as error:\n"
        "    print(error)\n"
    )
    assert "newton_euler" in fresh(code)


@pytest.mark.parametrize(
    "code",
    [
        "from gdalembert import *; print(modes.__name__, NewtonEuler.__name__, citation()[:1])",
        "import gdalembert.dynamics.newton_euler.links as x; print(x.place)",
        "import gdalembert as gd; print(gd.ocp.Problem, gd.modes.clamped_free, gd.errors, gd.testing.assert_valid)",
        "import gdalembert as gd; print(gd.symbolic.formula, gd.export.derive, gd.viewer.Viewer)",
        *with_extras(["import gdalembert as gd; print(gd.plotting.motion)"]),
        "import gdalembert.citation, gdalembert as gd; print(gd.citation())",
        "import gdalembert.validation.validate, gdalembert as gd; print(gd.validate.__kwdefaults__)",
    ],
)
def test_ways_to_import(code: str) -> None:
    assert fresh(code)


def test_pickles_load_in_a_new_process() -> None:
    code = "import pickle, gdalembert as gd; print(pickle.dumps(gd.NewtonEuler(gd.load_urdf('puma560_3'))).hex())"
    again = f"import pickle; print(pickle.loads(bytes.fromhex('{fresh(code).strip()}')).inverse_dynamics)"
    assert fresh(again).startswith("inverse_dynamics:(q[3],v[3],a[3])->(tau[3])")
