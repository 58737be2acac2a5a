"""Trees whose constants are formulas, and the formulations on them.

A formulation is a set of plain functions of (tree, q, v, a). Here the masses, lengths and inertias of the tree are
CasADi symbols, each of which stands for a formula; the Functions of the formulation have one more input,
``parameters``, with the values of the symbols. Nothing is derived a second time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
import sympy

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.forces import Force
from gdalembert.dynamics.newton_euler import NewtonEuler
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from gdalembert.model.tree import Tree
from gdalembert.spatial.arrays import Array


@dataclass(frozen=True, eq=False)
class SymbolicTree(Tree):
    """A tree whose constants are formulas: wherever ``Tree`` has an array, this has an ``SX``.

    :func:`~gdalembert.symbolic.parameters.symbolic_tree` makes one of a model,
    :func:`~gdalembert.symbolic.denavit_hartenberg.from_denavit_hartenberg` of rows.

    Attributes:
        parameters: the symbols (n × 1) that the constants are written in.
        formulas: the formula that each of them stands for.
        numbers: the value of each SymPy symbol in the robot, where it is known.
        springs: (stiffness, rest) by joint, as :class:`~gdalembert.Dynamics` takes them.
    """

    parameters: ca.SX
    formulas: tuple[sympy.Expr, ...]
    numbers: Mapping[str, float]
    springs: Mapping[str, tuple[ca.SX, ca.SX]]

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def parameter_values(self, **numbers: float) -> Array:
        """The input ``parameters`` of the Functions: the value of every formula.

        Args:
            numbers: values by the names of the SymPy symbols; those of ``self.numbers`` need not be given.

        Raises:
            ArgumentError: if a symbol has no number; the message names it.
        """
        known = dict(self.numbers) | numbers
        symbols = sorted({x for each in self.formulas for x in each.free_symbols}, key=str)
        if missing := [x.name for x in symbols if x.name not in known]:
            raise ArgumentError(f"{self.name}: no number for {', '.join(missing)}; give it by name")
        values = sympy.lambdify(symbols, list(self.formulas), "math")(*(known[x.name] for x in symbols))
        return np.array(values, dtype=float)

    def inputs(self) -> dict[str, Sequence[sympy.Expr]]:
        """The formulas that the entries of the input ``parameters`` stand for."""
        return {"parameters": self.formulas}

    def dynamics(self, formulation: type[Dynamics], forces: Sequence[Force] | None = None) -> Dynamics:
        """The formulation on this tree; each of its Functions has ``parameters`` as its last input.

        Derivatives of the dynamics are not among them.

        Args:
            formulation: ``GeneralizedDAlembert``, ``LagrangeEuler``, or a subclass of ``Dynamics`` that takes the
                constants of a tree by :func:`gdalembert.spatial.algebra.constant`.
            forces: further force elements.

        Raises:
            ArgumentTypeError: if it is not a formulation.
            UnsupportedError: if it is Newton–Euler, which chooses its link frames by numbers.
        """
        if not isinstance(formulation, type) or not issubclass(formulation, Dynamics):
            raise ArgumentTypeError(f"{formulation!r} is not a formulation; give gd.LagrangeEuler, for example")
        if issubclass(formulation, NewtonEuler):
            raise UnsupportedError(
                f"{formulation.__name__}: chooses its link frames by numbers and takes no symbols; use "
                "GeneralizedDAlembert or LagrangeEuler"
            )
        dynamics: Dynamics = type(formulation.__name__, (_Parametric, formulation), {})(
            self, clean=0, springs=self.springs, forces=forces
        )
        return dynamics


class _Parametric(Dynamics):
    """Base class, before a formulation, that makes the parameters of its tree inputs."""

    tree: SymbolicTree

    def symbols(self, *names: str) -> dict[str, ca.SX]:
        return super().symbols(*names) | {"parameters": self.tree.parameters}

    def _require_regular_mass_matrix(self) -> None:
        """Nothing to require: symbols are generic."""
