"""Regressors: torques and energies as linear functions of the inertia of the links."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Self

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.dynamics.equations_of_motion import EquationsOfMotion
from gdalembert.dynamics.parameters.base import Base, BaseParameters
from gdalembert.dynamics.parameters.groups import Inertia
from gdalembert.errors import UnsupportedError
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.common_subexpressions import eliminate_common_subexpressions

_BODY = np.array([1.0, 0, 0, 0, 1, 0, 1, 0, 0, 1])
"""Dynamic parameters of a body, any whose mass is not zero."""


class Regressors(EquationsOfMotion, ABC):
    """Derivatives with respect to the dynamic parameters π of the links; a part of :class:`~gdalembert.Dynamics`.

    π has ten numbers for each of Pinocchio's joints 1, 2, … that carries a rigid body: m, m c, and the inertia tensor
    about the joint frame's origin as Ixx, Ixy, Iyy, Ixz, Iyz, Izz (``pin.Inertia.toDynamicParameters``). Armature,
    force elements and flexible links are not in the regressors: tau of an arm is Y π beside what its beams need.
    Outputs are sparse: a column is zero where the body does not load the joint.
    """

    @cached_property
    def torque_regressor(self) -> ca.Function:
        """(q, v, a) → (Y), nv × 10 (njoints − 1), sparse: tau = Y π; equals ``pin.computeJointTorqueRegressor``."""
        return self._regressor(
            "torque_regressor", ("q", "v", "a"), lambda twin, q, v, a: twin.inverse_dynamics_expression(q, v, a)
        )

    @cached_property
    def kinetic_energy_regressor(self) -> ca.Function:
        """(q, v) → (Y), 1 × 10 (njoints − 1): T = Y π; equals ``pin.computeKineticEnergyRegressor``."""
        return self._regressor(
            "kinetic_energy_regressor", ("q", "v"), lambda twin, q, v: twin.kinetic_energy_expression(q, v)
        )

    @cached_property
    def potential_energy_regressor(self) -> ca.Function:
        """(q) → (Y), 1 × 10 (njoints − 1): V = Y π of gravity; equals ``pin.computePotentialEnergyRegressor``."""
        return self._regressor(
            "potential_energy_regressor", ("q",), lambda twin, q: twin.gravitational_energy_expression(q)
        )

    @cached_property
    def base_regressor(self) -> ca.Function:
        """(q, v, a) → (Y), nv × n_b, sparse: tau = Y β with β = ``base_parameters.of(model)``.

        ``base_regressor @ base_parameters.matrix`` is ``torque_regressor``.
        """
        s = self.symbols("q", "v", "a")
        return _sparse("base_regressor", s, self.base_regressor_expression(s["q"], s["v"], s["a"]))

    @cached_property
    def base_parameters(self) -> BaseParameters:
        """The fewest combinations of π that joint torques depend on (:mod:`gdalembert.dynamics.parameters.base`)."""
        return self._base.found

    def base_regressor_expression(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        """Y (nv × n_b) of the base parameters."""
        return self.torque_regressor(q, v, a, *self._p.values()) @ spatial.constant(self._base.bodies)

    @cached_property
    def _base(self) -> Base:
        if any(isinstance(x, ca.SX) for joint in self.tree.joints for x in (joint.rotation, joint.translation)):
            raise UnsupportedError(
                f"{self.tree.name}: its lengths or angles are symbols, and base parameters are those of a geometry in "
                "numbers; give them, as dyn.at(p) does"
            )
        return Base.select(replace(self.nominal, gravity=self.tree.gravity), None)

    def _regressor(self, name: str, inputs: tuple[str, ...], expression: Callable[..., Matrix]) -> ca.Function:
        """The derivative of an expression by π; of some formulations it has π in it, and any value will do."""
        s, inertia = self.symbols(*inputs), Inertia.select(self.nominal, None)
        pi = ca.SX.sym("pi", len(inertia.names))
        twin = self._on(inertia.substitute(self.tree, pi))
        y = ca.jacobian(ca.SX(expression(twin, *(s[name] for name in inputs))), pi)
        if ca.depends_on(y, pi):
            y = ca.substitute(y, pi, ca.DM(np.tile(_BODY, len(inertia.places))))
        return _sparse(name, s, y)

    def _on(self, tree: Tree) -> Self:
        """The formulation with another tree in its expressions."""
        twin = object.__new__(type(self))  # a copy would have symbols of its own
        for name, value in vars(self).items():
            if not isinstance(getattr(type(self), name, None), cached_property):
                vars(twin)[name] = value
        twin.tree = tree
        return twin


def _sparse(name: str, inputs: dict[str, ca.SX], y: Matrix) -> ca.Function:
    y = ca.sparsify(ca.SX(y))
    small = eliminate_common_subexpressions(list(inputs.values()), [y])
    return ca.Function(name, list(inputs.values()), small, list(inputs), ["Y"])
