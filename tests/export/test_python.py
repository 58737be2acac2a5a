"""Exported Python, executed, is the graph."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
import gdalembert.symbolic as gs
from benchmarks.common import robots
from gdalembert.export import derive
from gdalembert.export.choice import NUMERIC
from tests.helpers.exports import FORMULATIONS, TOLERANCE, executed, functions_of, mixed, pruned, reference, states
from tests.helpers.models import relative_error
from tests.helpers.sets import quick


def as_matrices(results: Any, function: ca.Function) -> list[np.ndarray]:
    parts = results if function.n_out() > 1 else [results]
    return [np.asarray(x, dtype=float).reshape(function.size_out(i), order="C") for i, x in enumerate(parts)]


# Python


def check_python(dynamics: gd.Dynamics, source: str, functions: Mapping[str, ca.Function]) -> None:
    namespace, rng = executed(source), np.random.default_rng(1)
    assert {name for name, x in namespace.items() if callable(x)} == set(functions)
    for name, function in functions.items():
        for _ in range(3):
            values = states(dynamics, function, rng)
            results = as_matrices(namespace[name](*(x.tolist() for x in values)), function)
            for result, expected in zip(results, reference(function, values), strict=True):
                assert relative_error(result, expected) < TOLERANCE, name


@pytest.mark.parametrize(
    ("robot", "formulation"),
    [*(("shala_likaj_rpr", each) for each in FORMULATIONS), *quick([("mixed", gd.NewtonEuler)])],
)
def test_python_is_the_graph(robot: str, formulation: type[gd.Dynamics]) -> None:
    model = mixed() if robot == "mixed" else gd.load_urdf(robot)
    dynamics = formulation(model)
    terms = ["terms", *(name for name in NUMERIC if hasattr(formulation, name))]
    source = derive(model, "python", formulation=formulation, terms=terms)
    check_python(dynamics, *source.values(), functions_of(dynamics, terms))


@pytest.mark.long
@pytest.mark.extras
def test_python_of_a_large_robot() -> None:
    model = robots.load("talos")
    terms = ["inverse_dynamics", "mass_matrix"]
    dynamics = gd.NewtonEuler(model)
    check_python(dynamics, *derive(model, "python", terms=terms).values(), functions_of(dynamics, terms))


@pytest.mark.parametrize("formulation", ["generalized_dalembert", "lagrange_euler"])
def test_python_with_symbols(formulation: str) -> None:
    tree = gs.symbolic_tree("shala_likaj_rpr")
    dynamics = tree.dynamics(gd.formulations()[formulation])
    terms = ["terms", "inverse_dynamics", "mass_matrix", "kinetic_energy"]
    (source,) = derive("shala_likaj_rpr", "python", formulation=formulation, terms=terms, symbolic=True).values()
    check_python(dynamics, source, functions_of(dynamics, terms))
    head = " ".join(ast.get_docstring(ast.parse(source)).split())
    assert f"p: {', '.join(tree.parameters.names)}" in head
    assert all(f" {name} = {value!r}" in head for name, value in tree.numbers.items())


def test_python_refuses_arguments_of_another_length() -> None:
    namespace = executed(*derive("two_link_arm", "python").values())
    with pytest.raises(ValueError, match="too many values"):
        namespace["mass_matrix"]([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="not enough values"):
        namespace["mass_matrix"]([1.0])


# Any Dynamics


def test_python_of_a_pruned_robot_is_its_graph() -> None:
    dynamics = pruned()
    files = derive(dynamics, "python")
    assert list(files) == ["puma560_PrunedDynamics.py"]
    (source,) = files.values()
    check_python(dynamics, source, functions_of(dynamics, ["inverse_dynamics", "mass_matrix", "nle", *GRAVITY]))
    head = ast.get_docstring(ast.parse(source))
    assert head.startswith("puma560: formulation PrunedDynamics.\n")
    assert f"Simplified: {len(dynamics.kept)} of {len(dynamics.kept) + len(dynamics.dropped)} terms." in head
    assert [float(x) for x in re.findall(r"^joint\d: bound ([^,]+),", head, re.MULTILINE)] == dynamics.bound.tolist()
    assert "|v| <= 1.43, |a| <= 8\n" in head


GRAVITY = ["generalized_gravity"]


def test_springs_are_exported_and_said() -> None:
    dynamics = gd.NewtonEuler(gd.load_urdf("two_link_arm"), springs={"joint1": (30.0, 0.5)})
    ((name, source),) = derive(dynamics, "python", terms=["nle", "terms"]).items()
    assert name == "two_link_arm.py"
    check_python(dynamics, source, functions_of(dynamics, ["nle", "terms"]))
    assert "spring of joint1: stiffness 30.0, rest 0.5 (SI)" in source


def test_symbols_of_a_dynamics_are_kept() -> None:
    dynamics = gs.symbolic_tree("two_link_arm").dynamics(gd.LagrangeEuler)
    (source,) = derive(dynamics, "python", terms="nle").values()
    check_python(dynamics, source, functions_of(dynamics, ["nle"]))


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_parameters_are_exported(formulation: type[gd.Dynamics]) -> None:
    kinds = {"inertia": ["joint2"], "armature": True}
    dynamics = formulation(gd.load_urdf("two_link_arm"), parameters=kinds)
    (source,) = derive(dynamics, "python", terms=["inverse_dynamics", "terms"]).values()
    check_python(dynamics, source, functions_of(dynamics, ["inverse_dynamics", "terms"]))


def test_wrenches_are_exported() -> None:
    """Column by column, as the head of the file says."""
    given = {"tip": pin.LOCAL, "link1": pin.WORLD}
    dynamics = gd.NewtonEuler(gd.load_urdf("two_link_arm"), wrenches=given, parameters=["gravity"])
    (source,) = derive(dynamics, "python", terms=["inverse_dynamics", "forward_dynamics"]).values()
    check_python(dynamics, source, functions_of(dynamics, ["inverse_dynamics", "forward_dynamics"]))
    head = " ".join(source.split('"""')[1].split())
    assert "wrenches, column by column, each (f_x, f_y, f_z, m_x, m_y, m_z) on the robot: tip (LOCAL), link1" in head
