"""Robots, states and results of the tests of exports."""

from __future__ import annotations

import ast
import ctypes
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert.export import write
from gdalembert.export.formats import NUMERIC, choose
from gdalembert.model.configuration import random_configuration
from tests.helpers.models import build

FORMULATIONS = (gd.GeneralizedDAlembert, gd.LagrangeEuler, gd.NewtonEuler)


THREE_JOINTS = ("cart_pendulum", "two_link_arm", "puma560_3", "shala_likaj_rpr", "horn_leg_loads", "horn_arm_offset")


PRINTED = [
    (robot, formulation, symbolic)
    for robot in THREE_JOINTS
    for formulation in ("generalized_dalembert", "lagrange_euler")
    for symbolic in (True, False)
]

QUICKLY_PRINTED = [
    ("cart_pendulum", "generalized_dalembert", True),
    ("two_link_arm", "lagrange_euler", True),
    ("horn_leg_loads", "lagrange_euler", False),
]
"""Those of the quick tests."""


TOLERANCE = 1e-12


def mixed() -> pin.Model:
    """A branched robot that flies, with velocities that are not dq/dt."""
    return build(np.random.default_rng(0), ["FreeFlyer", "RUBX", "HX", "PY", "Spherical"], [0, 1, 2, 1, 3])


def functions_of(dynamics: gd.Dynamics, terms: Sequence[str] | None = None) -> dict[str, ca.Function]:
    return {choice.name: choice.function(dynamics) for choice in choose(dynamics, terms, NUMERIC)}


def states(dynamics: gd.Dynamics, function: ca.Function, rng: np.random.Generator) -> list[np.ndarray]:
    """One random value for each input, matrices column by column."""
    tree = dynamics.tree
    values = []
    for name in function.name_in():
        if name == "q":
            values.append(random_configuration(tree, rng))
        elif name == "x":
            values.append(ca.vertcat(random_configuration(tree, rng), rng.normal(size=tree.nv)))
        elif name == "p":
            values.append(dynamics.parameters.vector())
        else:
            values.append(rng.normal(size=function.numel_in(name)))
    return [np.array(x, dtype=float).ravel() for x in values]


def reference(function: ca.Function, values: Sequence[np.ndarray]) -> list[np.ndarray]:
    given = [ca.reshape(ca.DM(x), *function.size_in(i)) for i, x in enumerate(values)]
    return [x.full() for x in function.call(given)]


def executed(source: str) -> dict[str, Any]:
    imported = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert [ast.unparse(node) for node in imported] == ["import math"]
    namespace: dict[str, Any] = {}
    exec(compile(source, "exported", "exec"), namespace)
    return namespace


def as_matrices(results: Any, function: ca.Function) -> list[np.ndarray]:
    parts = results if function.n_out() > 1 else [results]
    return [np.asarray(x, dtype=float).reshape(function.size_out(i), order="C") for i, x in enumerate(parts)]


def compiled(files: Mapping[str, str], folder: Path) -> ctypes.CDLL:
    write(files, f"{folder}/")
    code = next(name for name in files if name.endswith(".c"))
    options = ["-std=c99", "-Wall", "-Werror", "-O0", "-ffp-contract=off", "-shared", "-fPIC", "-o", "robot.so"]
    subprocess.run(["cc", *options, code, "-lm"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "robot.so"))


def call_c(library: ctypes.CDLL, name: str, function: ca.Function, values: Sequence[np.ndarray]) -> list[np.ndarray]:
    results = [np.full(function.size_out(i), np.nan, order="F") for i in range(function.n_out())]
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (*values, *results)]
    call = getattr(library, name)
    call.restype = None
    call(*pointers)
    return results


@cache
def pruned() -> gd.PrunedDynamics:
    return gd.PrunedDynamics(gd.load_urdf("puma560"), 0.01, a_max=[8, 6, 12, 25, 25, 25])
