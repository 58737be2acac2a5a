"""The versions of L-E, G-D and N-E that the complexity study counts, beside Table 1 of RSD-TR-8-82."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import casadi as ca
import numpy as np

import gdalembert as gd
from benchmarks.complexity import generalized_dalembert, lagrange_euler, newton_euler
from benchmarks.complexity.chain import Chain, generic
from benchmarks.complexity.fits import polynomial
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.functions import function, symbols
from gdalembert.spatial.instructions import count

LONGEST = 12
COUNTED = ("multiplications", "additions")
OPERATIONS = (*COUNTED, "instructions")

TABLE_1 = {
    "L-E": {
        "multiplications": polynomial("128/3", "512/3", "739/3", "160/3", 0),
        "additions": polynomial("98/3", "781/6", "559/3", "245/6", 0),
    },
    "G-D": {
        "multiplications": polynomial("13/6", "105/2", "268/3", 69),
        "additions": polynomial("4/3", 44, "146/3", 45),
    },
    "N-E": {"multiplications": polynomial(132, 0), "additions": polynomial(111, -4)},
}
"""Table 1 of RSD-TR-8-82."""

Build = Callable[[Chain, Matrix, Matrix, Matrix], dict[str, Matrix]]
PARTS, TORQUES = "D, H, G, τ", "τ"
WAYS = {False: "as written", True: "every value once"}
PACKAGE = ("suffix sums", "composite bodies", "regrouped inertia")
"""The ways of the package's own Functions."""


def package_parts(cls: type[gd.Dynamics]) -> Build:
    """D, H, G and tau from the package's Functions."""

    def build(chain: Chain, q: Matrix, v: Matrix, a: Matrix) -> dict[str, Matrix]:
        tree = read_tree(chain.model())
        dyn, weightless = cls(tree, clean=0), cls(replace(tree, gravity=np.zeros(3)), clean=0)
        d, h, g = dyn.mass_matrix(q), weightless.nle(q, v), dyn.generalized_gravity(q)
        return {"D": d, "H": h, "G": g, "tau": d @ a + h + g}

    return build


def package_torques(cls: type[gd.Dynamics]) -> Build:
    """tau alone, from the package's Function."""
    return lambda chain, q, v, a: {"tau": cls(chain.model(), clean=0).inverse_dynamics(q, v, a)}


class Version(NamedTuple):
    """A way to write a formulation, and whether common subexpressions are computed once or as often as they occur."""

    formulation: str
    way: str
    outputs: str
    once: bool
    build: Build
    longest: int = LONGEST

    @property
    def name(self) -> str:
        """As in the tables."""
        return f"{self.formulation} {self.way}, {WAYS[self.once]}: {self.outputs}"


VERSIONS = (
    Version("L-E", "literal", PARTS, False, lagrange_euler.literal),
    Version("L-E", "cached", PARTS, False, lagrange_euler.cached),
    Version("G-D", "literal", PARTS, False, generalized_dalembert.literal),
    Version("G-D", "cached", PARTS, False, generalized_dalembert.cached),
    Version("N-E", "textbook", TORQUES, False, newton_euler.textbook),
    Version("L-E", "literal", PARTS, True, lagrange_euler.literal, 11),
    Version("L-E", "cached", PARTS, True, lagrange_euler.cached),
    Version("L-E", "suffix sums", PARTS, True, package_parts(gd.LagrangeEuler)),
    Version("G-D", "literal", PARTS, True, generalized_dalembert.literal),
    Version("G-D", "cached", PARTS, True, generalized_dalembert.cached),
    Version("G-D", "suffix sums", PARTS, True, package_parts(gd.GeneralizedDAlembert)),
    Version("N-E", "composite bodies", PARTS, True, package_parts(gd.NewtonEuler)),
    Version("L-E", "suffix sums", TORQUES, True, package_torques(gd.LagrangeEuler)),
    Version("G-D", "suffix sums", TORQUES, True, package_torques(gd.GeneralizedDAlembert)),
    Version("N-E", "textbook", TORQUES, True, newton_euler.textbook),
    Version("N-E", "regrouped inertia", TORQUES, True, package_torques(gd.NewtonEuler)),
)

Counts = dict[Version, dict[int, dict[str, int]]]
"""The operations, by version and n."""


def graph(version: Version, n: int) -> ca.Function:
    """(q, v, a) → the outputs of a version for a chain of n links."""
    s = symbols(q=n, v=n, a=n)
    outputs = version.build(generic(n), *s.values())
    if version.once:
        return function("once", s, outputs)
    dense = [ca.densify(output) for output in outputs.values()]
    return ca.Function("as_written", list(s.values()), dense, list(s), list(outputs))


def measure(longest: int = LONGEST) -> Counts:
    """All versions for all lengths up to ``longest``, or up to the limit of the version."""
    return {
        version: {n: count(graph(version, n)) for n in range(1, min(longest, version.longest) + 1)}
        for version in VERSIONS
    }
