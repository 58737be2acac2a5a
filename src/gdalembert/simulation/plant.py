"""A robot as an integrator sees it: ẋ = f(x, u), and the powers that the balance of energies is made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import casadi as ca

from gdalembert.compilation.machine_code import external
from gdalembert.dynamics.constrained.constrained_dynamics import ConstrainedDynamics
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.model.configuration import Blocks, unit_and_scale, unit_blocks
from gdalembert.spatial.functions import function, symbols

INTEGRALS = ("work", "dissipated", "constraint_work", "action")
"""What is integrated beside the state: power of the actuators and wrenches, of the dampers and of the constraints'
forces [W], and the kinetic energy [J]."""


@dataclass(frozen=True)
class Plant:
    """A robot, alone or held by constraints.

    Attributes:
        unit: (x) → (projection), x with unit lengths in q.
        flow: (x, u) → (xdot, power): the rates of x and of ``INTEGRALS``. Behind the efforts of the actuators u has the
            wrenches that are an input, column by column. If the robot has parameters, p is the last input.
        forces: (x, u) → (forces) of the constraints, with the same inputs.
    """

    nq: int
    blocks: Blocks
    unit: ca.Function
    flow: ca.Function
    forces: ca.Function


_PLANTS: WeakKeyDictionary[Dynamics | ConstrainedDynamics, Plant] = WeakKeyDictionary()
_COMPILED: WeakKeyDictionary[Dynamics | ConstrainedDynamics, Plant] = WeakKeyDictionary()


def plant(robot: Dynamics | ConstrainedDynamics, compiled: bool = False) -> Plant:
    """The plant of a robot, built once, its ``flow`` also as machine code: its dynamics see unit lengths.

    dq/dt of a quaternion, or of a pair (cos, sin), is linear in it, so that a drift of its length does not change the
    rate of its direction.

    Raises:
        CompilationError: if it cannot be ``compiled``.
    """
    if robot not in _PLANTS:
        _PLANTS[robot] = _new_plant(ConstrainedDynamics.of("simulate", robot))
    if compiled and robot not in _COMPILED:
        graphs = _PLANTS[robot]
        _COMPILED[robot] = replace(graphs, flow=external(graphs.flow, 1, f"simulate: {robot.tree.name}"))
    return (_COMPILED if compiled else _PLANTS)[robot]


def _new_plant(con: ConstrainedDynamics) -> Plant:
    dyn, outside = con.dynamics, con.dynamics.external_wrenches
    tree, nq, nu, blocks = dyn.tree, dyn.tree.nq, dyn.nu, unit_blocks(dyn.tree)
    s = symbols(x=nq + tree.nv, u=nu + 6 * len(outside) * outside.is_input) | (named := dyn.symbols())
    p = list(named.values())
    wrenches = [ca.reshape(s["u"][nu:], 6, len(outside))] if outside.is_input else []
    q, scale = unit_and_scale(s["x"][:nq], blocks)
    v, tau = s["x"][nq:], dyn.actuators.tau(q, s["u"][:nu])
    a, forces = con.forward_dynamics(q, v, tau, *wrenches, *p)
    pushed = dyn.wrench_torque_expression(q, *(wrenches or [outside.constant]))
    power = (
        ca.dot(v, tau - pushed),
        dyn.dissipated_power_expression(q, v),
        ca.dot(forces, con.velocity(q, v, *p)),
        dyn.kinetic_energy(q, v, *p),
    )
    outputs = {"xdot": ca.vertcat(scale * tree.configuration_rate(q, v), a), "power": ca.vertcat(*power)}
    unit = function("unit", {"x": s["x"]}, {"projection": ca.vertcat(q, v)})
    return Plant(nq, blocks, unit, function("flow", s, outputs), function("forces", s, {"forces": forces}))
