"""The contract of a force element."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from gdalembert.model.configuration import random_configuration
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix

_BALANCED = 1e-9
"""What vᵀ torque may differ from d energy/dt + power by, relative to the largest of the three."""


class Force(ABC):
    """A force element: what acts on a robot beside the inertia of its links.

    Its torque stands on the left-hand side of the equations of motion,

        tau = M a + C v + g + Σ torque(q, v),

    and splits into a conservative part, the gradient of ``energy``, and a dissipative part, which takes ``power`` out
    of the robot:

        vᵀ torque(q, v) = d energy(q)/dt + power(q, v).

    Arguments q (nq) and v (nv) are CasADi matrices of any kind: numbers, SX or MX. Derivatives of the torque follow by
    algorithmic differentiation.

    Attributes:
        name: what a decomposition of torques calls the element.
        not_negative: the quantities among the parameters that no robot has below 0, as ``viscous``.
    """

    name: ClassVar[str]
    not_negative: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def torque(self, q: Matrix, v: Matrix) -> Matrix:
        """The torque (nv) [N m, N]."""

    @property
    def parameters(self) -> Mapping[str, float]:
        """What can vary, ``element.quantity``, with its values: ``parameters={name of the force: True}`` makes inputs
        of them; none by default."""
        return {}

    def with_parameters(self, values: Mapping[str, Matrix]) -> Force:
        """The element with other values of some of its parameters, numbers or symbols."""
        raise UnsupportedError(f"force {self.name!r}: it has parameters, but no with_parameters(values)")

    def parameters_of(self, tree: Tree) -> Mapping[str, float]:
        """The parameters in another model of the robot, by default those of the element: a model does not have them."""
        return self.parameters

    def write_parameters(self, model: pin.Model, values: Mapping[str, float]) -> None:
        """Set the parameters in a model, by default none: a model does not have them."""
        return

    def damping_matrix(self, tree: Tree) -> Matrix:
        """D (nv × nv) of viscous damping D v, a part of the torque: by default the constant entries of ∂torque/∂v."""
        q, v = ca.SX.sym("q", tree.nq), ca.SX.sym("v", tree.nv)
        by_v = ca.jacobian(ca.SX(self.torque(q, v)), v)
        constant = [x if (x := by_v[k]).is_constant() else 0 for k in range(by_v.numel())]
        return ca.evalf(ca.reshape(ca.vertcat(*constant), *by_v.shape))

    def energy(self, q: Matrix) -> Matrix:
        """The potential energy [J]; 0 for an element that stores none."""
        return ca.DM(0)

    def power(self, q: Matrix, v: Matrix) -> Matrix | None:
        """The power that the element dissipates [W]; ``None``: vᵀ torque − d energy/dt."""
        return None


def dissipated_power(force: Force, tree: Tree, q: Matrix, v: Matrix) -> Matrix:
    """The power that a force element takes out of a robot [W]."""
    given = force.power(q, v)
    if given is not None:
        return given
    x = ca.SX.sym("q", tree.nq)
    gradient: Matrix = ca.gradient(ca.SX(force.energy(x)), x)
    slope = ca.substitute(gradient, x, q) if isinstance(q, ca.SX) else ca.Function("slope", [x], [gradient])(q)
    return ca.dot(v, force.torque(q, v)) - ca.dot(slope, tree.configuration_rate(q, v))


def check_forces(forces: Iterable[Force] | None, tree: Tree) -> tuple[Force, ...]:
    """The force elements as a tuple, each evaluated once.

    Raises:
        ArgumentTypeError: if it is not a list of force elements, or one of them cannot be evaluated.
        ArgumentError: if a torque, an energy or a power has another shape, or they contradict each other.
    """
    if forces is None:
        return ()
    if not isinstance(forces, list | tuple):
        raise ArgumentTypeError(
            f"forces: expected a list of force elements, got {type(forces).__name__}; give [force, …]"
        )
    for each in forces:
        if not isinstance(each, Force):
            raise ArgumentTypeError(f"forces: expected force elements of gdalembert.dynamics.forces, got {each!r}")
        if not isinstance(getattr(each, "name", None), str):
            raise ArgumentTypeError(f"forces: {type(each).__name__} has no name; give the class name = '…'")
        if each.name == "gravity":
            raise ArgumentError("forces: gravity acts on every robot already; change the gravity of the model")
        _check(each, tree)
    return tuple(forces)


def _check(force: Force, tree: Tree) -> None:
    """Refuse shapes that CasADi would broadcast, and an energy or power that the torque contradicts."""
    q, v = ca.SX.sym("q", tree.nq), ca.SX.sym("v", tree.nv)
    parts: list[tuple[str, tuple[int, int], Callable[[], Matrix]]] = [
        ("torque(q, v)", (tree.nv, 1), lambda: force.torque(q, v)),
        ("energy(q)", (1, 1), lambda: force.energy(q)),
        ("power(q, v)", (1, 1), lambda: ca.DM(0) if (power := force.power(q, v)) is None else power),
    ]
    for what, shape, evaluate in parts:
        try:
            found = ca.SX(evaluate()).shape
        except Exception as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[-1]
            raise ArgumentTypeError(f"force {force.name!r}: {what} cannot be evaluated in CasADi: {reason}") from error
        if found != shape:
            raise ArgumentError(f"force {force.name!r}: {what} has shape {found}; give {shape}")
    rate = ca.jtimes(ca.SX(force.energy(q)), q, tree.configuration_rate(q, v))
    terms = ca.vertcat(ca.dot(v, force.torque(q, v)), rate, dissipated_power(force, tree, q, v))
    power = ca.Function("power", [q, v], [terms], {"allow_free": True})
    if power.has_free():
        known = set(map(str, ca.symvar(tree.symbols)))
        if unknown := [name for name in dict.fromkeys(power.get_free()) if name not in known]:
            raise ArgumentError(
                f"force {force.name!r}: its symbols {', '.join(unknown)} are no entries of q or v; give numbers, or "
                "name what varies in its parameters and write with_parameters(values)"
            )
        return  # symbols of a symbolic tree
    rng = np.random.default_rng(0)
    work, stored, dissipated = power(random_configuration(tree, rng), rng.normal(size=tree.nv)).full()[:, 0]
    if abs(work - stored - dissipated) > _BALANCED * max(1.0, abs(work), abs(stored), abs(dissipated)):
        raise ArgumentError(
            f"force {force.name!r}: vᵀ torque is {work:.6g} W in some state, where its energy changes by "
            f"{stored:.6g} W and its power is {dissipated:.6g} W; correct energy(q) or power(q, v), or leave power out"
        )
