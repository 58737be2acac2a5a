"""The sizes of quantities that have a Function of their own, beside those that a user composes of other Functions.

    python -m benchmarks.graph_size.composed

A composition is what one writes where the Function is missing: a derivative by CasADi, or a sum over links. Both are
compared at a random state before they are counted. Counts are exact and the same on every machine. The table goes to
standard output and to ``benchmarks/results``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd
from benchmarks.common.robots import load
from benchmarks.common.tables import RESULTS, markdown

REFERENCES = {"LOCAL": pin.LOCAL, "WORLD": pin.WORLD, "LOCAL_WORLD_ALIGNED": pin.LOCAL_WORLD_ALIGNED}
FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")
SOLES = ("left_sole_link", "right_sole_link")
TOLERANCE = 1e-9  # relative, between two graphs with cleaned constants

Expressions = Callable[..., Sequence[ca.SX] | ca.SX]


class Row(NamedTuple):
    """A quantity of a robot: its Function, how it is composed, and that composition as expressions of its inputs."""

    quantity: str
    robot: str
    own: ca.Function
    how: str
    composed: Expressions


class Robot:
    """What rows of one robot share."""

    def __init__(self, name: str) -> None:
        self.name, self.model = name, load(name)
        self.kin, self.dyn = gd.Kinematics(self.model), gd.NewtonEuler(self.model)

    def row(self, quantity: str, own: ca.Function, how: str, composed: Expressions) -> Row:
        return Row(quantity, self.name, own, how, composed)

    def along(self, expression: ca.SX, q: ca.SX, v: ca.SX) -> ca.SX:
        """The rate of an expression of q."""
        return ca.jtimes(expression, q, self.kin.tree.configuration_rate(q, v))

    def by_q(self, expression: Callable[[ca.SX], ca.SX], q: ca.SX) -> ca.SX:
        """The derivative in the tangent space, nv columns."""
        basis = [self.kin.tree.configuration_rate(q, column) for column in ca.horzsplit(ca.DM.eye(self.model.nv))]
        return ca.jacobian(expression(q), q) @ ca.horzcat(*basis)

    def map_link_by_link(self, q: ca.SX) -> ca.SX:
        """The centroidal map as a sum over links: inertia times Jacobian, seen from the centre of mass."""
        to_com = ca.SX.eye(4)
        to_com[:3, 3] = -self.kin.center_of_mass(q)
        total = ca.SX(6, self.model.nv)
        for joint in range(1, self.model.njoints):
            name = self.model.names[joint]
            seen = gd.lie.adjoint_dual(to_com @ self.kin.joint_placement(name)(q))
            jacobian = self.kin.frame_jacobian(name, pin.LOCAL)(q)
            total += seen @ ca.DM(self.model.inertias[joint].matrix()) @ jacobian
        return total

    def map_of_mass_matrix(self, q: ca.SX) -> ca.SX:
        """The centroidal map of a robot with a free-flyer: six rows of M, seen from the centre of mass."""
        base = self.kin.joint_placement(1)(q)
        base[:3, 3] -= self.kin.center_of_mass(q)
        return gd.lie.adjoint_dual(base) @ self.dyn.mass_matrix(q)[:6, :]


def rows_of_panda7(robot: Robot) -> Iterator[Row]:
    kin, dyn = robot.kin, robot.dyn
    for name, reference in REFERENCES.items():
        jacobian, rate = kin.frame_jacobian("flange", reference), kin.frame_jacobian_rate("flange", reference)
        yield robot.row(
            f"`frame_jacobian_rate`, {name}", rate, "`ca.jtimes` of J", lambda q, v, J=jacobian: robot.along(J(q), q, v)
        )
    velocity = kin.frame_velocity("flange", pin.LOCAL)
    yield robot.row(
        "`frame_velocity_derivatives`, LOCAL",
        kin.frame_velocity_derivatives("flange", pin.LOCAL),
        "`ca.jacobian` of the velocity",
        lambda q, v: [ca.jacobian(velocity(q, v), x) for x in (q, v)],
    )
    yield robot.row(
        "`frame_error`",
        kin.frame_error("flange"),
        "log6 of inverse placement times target",
        lambda q, T: gd.lie.log6(gd.lie.inverse(kin.frame_placement("flange")(q)) @ T),
    )
    yield robot.row(
        "`mass_matrix_inverse`",
        dyn.mass_matrix_inverse,
        "`ca.jacobian` of `forward_dynamics` by tau",
        lambda q: by_tau(dyn, q),
    )
    yield from rows_of_momentum_derivatives(robot)
    regressor = gd.NewtonEuler(robot.model, parameters=["inertia"])
    yield robot.row(
        "`torque_regressor`",
        dyn.torque_regressor,
        "`ca.jacobian` of tau(q, v, a, p) by p",
        lambda q, v, a: by_parameters(regressor, q, v, a),
    )


def rows_of_solo12(robot: Robot) -> Iterator[Row]:
    kin, dyn = robot.kin, robot.dyn
    placements = [kin.frame_placement(foot) for foot in FEET]
    yield robot.row(
        "`frame_placements`, four feet",
        kin.frame_placements(FEET),
        "four `frame_placement`",
        lambda q: [f(q) for f in placements],
    )
    pushed = gd.NewtonEuler(robot.model, wrenches=dict.fromkeys(FEET, pin.LOCAL))
    pushes = [gd.joint_torques(robot.model, foot, pin.LOCAL, exerted_by="environment") for foot in FEET]

    def loaded(q: ca.SX, v: ca.SX, a: ca.SX, wrenches: ca.SX) -> ca.SX:
        own = dyn.inverse_dynamics(q, v, a)
        return own + sum(push(q, w) for push, w in zip(pushes, ca.horzsplit(wrenches), strict=True))

    yield robot.row(
        "`inverse_dynamics`, `wrenches` at four feet", pushed.inverse_dynamics, "four `joint_torques`", loaded
    )
    yield from rows_of_momentum(robot)
    yield constrained(robot, "three feet (3D)", [gd.Contact(foot, "3D") for foot in FEET[:3]])


def rows_of_talos(robot: Robot) -> Iterator[Row]:
    yield from rows_of_momentum(robot)
    dyn = robot.dyn
    yield robot.row(
        "`mass_matrix_inverse`",
        dyn.mass_matrix_inverse,
        "`ca.jacobian` of `forward_dynamics` by tau",
        lambda q: by_tau(dyn, q),
    )
    yield constrained(robot, "two soles (6D)", [gd.Contact(sole, "6D") for sole in SOLES])


def constrained(robot: Robot, what: str, contacts: Sequence[gd.Contact]) -> Row:
    """Forward dynamics of a robot on the ground."""
    con = gd.ConstrainedDynamics(robot.dyn, contacts)
    return robot.row(
        f"`ConstrainedDynamics.forward_dynamics`, {what}",
        con.forward_dynamics,
        "`ca.solve` of M, then of J M⁻¹ Jᵀ",
        lambda q, v, tau: by_elimination(con, q, v, tau),
    )


def rows_of_momentum(robot: Robot) -> Iterator[Row]:
    kin = robot.kin
    com = kin.center_of_mass
    yield robot.row(
        "`center_of_mass_jacobian`",
        kin.center_of_mass_jacobian,
        "`ca.jacobian` of the centre of mass",
        lambda q: robot.by_q(com, q),
    )
    ways = {"a sum over links": robot.map_link_by_link, "six rows of M": robot.map_of_mass_matrix}
    for how, composed in ways.items():
        yield robot.row("`centroidal_map`", kin.centroidal_map, how, composed)
    for how, composed in ways.items():
        yield robot.row(
            "`centroidal_momentum`", kin.centroidal_momentum, f"{how}, times v", lambda q, v, f=composed: f(q) @ v
        )
    for how, composed in ways.items():
        yield robot.row(
            "`centroidal_momentum_rate`",
            kin.centroidal_momentum_rate,
            f"{how}, `ca.jtimes` of the momentum",
            lambda q, v, a, f=composed: robot.along(f(q) @ v, q, v) + f(q) @ a,
        )
    yield from rows_of_momentum_derivatives(robot)


def rows_of_momentum_derivatives(robot: Robot) -> Iterator[Row]:
    kin = robot.kin
    yield robot.row(
        "`centroidal_map_rate`",
        kin.centroidal_map_rate,
        "`ca.jtimes` of the map",
        lambda q, v: ca.reshape(robot.along(ca.vec(kin.centroidal_map(q)), q, v), 6, robot.model.nv),
    )
    yield robot.row(
        "`centroidal_dynamics_derivatives`",
        kin.centroidal_dynamics_derivatives,
        "`ca.jacobian` of the momentum and its rate",
        lambda q, v, a: [
            robot.by_q(lambda x: kin.centroidal_momentum(x, v), q),
            robot.by_q(lambda x: kin.centroidal_momentum_rate(x, v, a), q),
            ca.jacobian(kin.centroidal_momentum_rate(q, v, a), v),
            kin.centroidal_map(q),
        ],
    )


def by_tau(dyn: gd.Dynamics, q: ca.SX) -> ca.SX:
    n = dyn.tree.nv
    v, tau = ca.SX(n, 1), ca.SX.sym("tau", n)
    return ca.jacobian(dyn.forward_dynamics(q, v, tau), tau)


def by_elimination(con: gd.ConstrainedDynamics, q: ca.SX, v: ca.SX, tau: ca.SX) -> list[ca.SX]:
    dyn, J = con.dynamics, con.jacobian(q)
    solved = ca.solve(dyn.mass_matrix(q), ca.horzcat(J.T, tau - dyn.nle(q, v)))
    by_forces, free = solved[:, :-1], solved[:, -1]
    forces = ca.solve(J @ by_forces, -con.bias_acceleration(q, v) - J @ free)
    return [free + by_forces @ forces, forces]


def by_parameters(dyn: gd.Dynamics, q: ca.SX, v: ca.SX, a: ca.SX) -> ca.SX:
    p = ca.SX.sym("p", len(dyn.parameters))
    return ca.jacobian(dyn.inverse_dynamics(q, v, a, p), p)


ROBOTS = {"panda7": rows_of_panda7, "solo12": rows_of_solo12, "talos": rows_of_talos}


def rows(name: str) -> Iterator[Row]:
    """The rows of a robot."""
    return ROBOTS[name](Robot(name))


def composition(row: Row, *, shared: bool) -> ca.Function:
    """The composition as a Function with dense outputs; ``shared``: common subexpressions are computed once."""
    inputs = row.own.sx_in()
    expressions = row.composed(*inputs)
    outputs = [ca.densify(x) for x in ([expressions] if isinstance(expressions, ca.SX) else expressions)]
    return ca.Function("composed", inputs, ca.cse(outputs) if shared else outputs)


def compare(row: Row, composed: ca.Function) -> None:
    """Refuse a composition that is not the same quantity."""
    model, rng = load(row.robot), np.random.default_rng(0)
    values = [rng.normal(size=row.own.size_in(k)) for k in range(row.own.n_in())]
    values[0] = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
    if "T" in row.own.name_in():
        values[row.own.index_in("T")] = gd.lie.exp6(rng.normal(size=6))
    for own, other in zip(row.own.call(values), composed.call(values), strict=True):
        error = float(ca.norm_inf(ca.vec(own - other))) / max(1.0, float(ca.norm_inf(ca.vec(other))))
        if not error < TOLERANCE:
            raise SystemExit(f"{row.robot}: {row.quantity} as {row.how}: they differ by {error:.1e}")


def counted(row: Row) -> tuple[str, str, int, int, int, str]:
    """A line of the table."""
    composed, shared = (composition(row, shared=shared) for shared in (False, True))
    compare(row, shared)
    own, alone, less = (graph.n_instructions() for graph in (row.own, composed, shared))
    return row.quantity, row.how, own, alone, less, f"{less / own:.2f}"


NOTES = """\
# Beside compositions

Instructions of SX Functions that give a quantity by its name, and of what one composes of other Functions of this
package where a name is missing: a derivative by CasADi, or a sum over links. The last column is the composition after
`ca.cse` over ours. Derivatives are in the tangent space.
"""


def table(names: Sequence[str]) -> str:
    """One section for each robot."""
    lines = [NOTES.rstrip()]
    for name in names:
        head = ["quantity", "composed of", "ours", "composed", "after `ca.cse`", "composed / ours"]
        lines += ["", f"## {name} (nv = {load(name).nv})", "", *markdown(head, map(counted, rows(name)))]
    return "\n".join(lines) + "\n"


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    text = table(list(ROBOTS))
    print(text)
    (RESULTS / "composed.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
