"""The quadruped Solo 12 stands up in 0.4 s: its centroidal dynamics, the forces of four feet, its kinematics.

python examples/solo12_stands_up.py    needs example-robot-data

The rate of the centroidal momentum is the sum of the forces, their moments about the centre of mass, and the weight:
exactly the six equations of motion of the floating base. The torques of the joints are no unknowns; they follow from
the plan by inverse dynamics.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd

ROBOT = "solo_description/robots/solo12.urdf"
FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")
LYING, STANDING = 1.3, 0.7  # rad, of the hips; the knees bend twice as far
DURATION = 0.4  # s
FRICTION = 0.7
SMALL_FORCE, SMALL_ACCELERATION = 1e-2, 1e-3  # weights of squares, beside that of v
QUIET = {"expand": True, "print_time": False, "ipopt": {"print_level": 0, "sb": "yes"}}


class Plan(NamedTuple):
    """Columns of q (19), v (18), a (18) and forces of the feet (12) [N], and the iterations of IPOPT."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    forces: np.ndarray
    iterations: int


def build() -> pin.Model:
    """The Solo 12 of example-robot-data, with a free-flyer."""
    folder = metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    return gd.load_urdf(Path(str(folder)) / ROBOT, root_joint=pin.JointModelFreeFlyer(), check="off")


def pose(model: pin.Model, hip: float) -> np.ndarray:
    """The configuration with the feet below the hips and on the ground, z = 0."""
    q = pin.neutral(model)
    for leg, forward in (("FL", 1), ("FR", 1), ("HL", -1), ("HR", -1)):
        q[model.joints[model.getJointId(f"{leg}_HFE")].idx_q] = forward * hip
        q[model.joints[model.getJointId(f"{leg}_KFE")].idx_q] = -2 * forward * hip
    q[2] -= float(gd.Kinematics(model).frame_placement(FEET[0])(q)[2, 3])
    return q


def stand_up(model: pin.Model, lying: np.ndarray, standing: np.ndarray, n: int) -> Plan:
    """The plan with n steps; the feet stay where they are and push, within a pyramid inside their friction cones."""
    kin, opti, h = gd.Kinematics(model), ca.Opti(), DURATION / n
    q, v, a = opti.variable(model.nq, n + 1), opti.variable(model.nv, n + 1), opti.variable(model.nv, n)
    pushes, now = [opti.variable(3, n) for _ in FEET], (q[:, :-1], v[:, :-1])
    feet, com = [T[:3, 3::4] for T in kin.frame_placements(FEET)(now[0])], kin.center_of_mass(now[0])
    moment = sum(ca.cross(foot - com, push, 1) for foot, push in zip(feet, pushes, strict=True))
    weight = ca.repmat(kin.total_mass * model.gravity.vector, 1, n)
    opti.subject_to(kin.centroidal_momentum_rate(*now, a) == ca.vertcat(sum(pushes), moment) + weight)
    opti.subject_to(v[:, 1:] == v[:, :-1] + h * a)
    opti.subject_to(q[:, 1:] == kin.integrate(now[0], h * v[:, 1:]))
    opti.subject_to([ca.diff(foot, 1, 1) == 0 for foot in feet])
    for x, y, z in map(ca.vertsplit, pushes):
        opti.subject_to([side <= FRICTION / 2**0.5 * z for side in (x, -x, y, -y)])
    opti.subject_to([q[:, 0] == lying, v[:, 0] == 0, kin.difference(q[:, n], standing) == 0, v[:, n] == 0])
    opti.minimize(h * (ca.sumsqr(v) + SMALL_ACCELERATION * ca.sumsqr(a) + SMALL_FORCE * sum(map(ca.sumsqr, pushes))))
    return solved(opti, lying, q, v, a, ca.vertcat(*pushes))


def solved(opti: ca.Opti, start: np.ndarray, q: ca.MX, *others: ca.MX) -> Plan:
    """The plan that IPOPT finds from rest at the start."""
    opti.set_initial(q, ca.repmat(start, 1, q.shape[1]))
    opti.solver("ipopt", QUIET)
    found = opti.solve()
    return Plan(*(found.value(x) for x in (q, *others)), found.stats()["iter_count"])


def torques(model: pin.Model, plan: Plan) -> np.ndarray:
    """Generalized forces (18 × n) that the plan asks for besides those of the feet; the first six are zero."""
    wrenches = np.zeros((6, 4 * plan.a.shape[1]))  # four columns for each step
    wrenches[:3] = plan.forces.reshape(4, 3, -1).transpose(1, 2, 0).reshape(3, -1)
    dyn = gd.NewtonEuler(model, wrenches=dict.fromkeys(FEET, pin.LOCAL_WORLD_ALIGNED))
    return dyn.inverse_dynamics(plan.q[:, :-1], plan.v[:, :-1], plan.a, wrenches).full()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coarse", action="store_true", help="8 steps in place of 15")
    given = parser.parse_args(arguments)

    model = build()
    kin, lying, standing = gd.Kinematics(model), pose(model, LYING), pose(model, STANDING)
    plan = stand_up(model, lying, standing, 8 if given.coarse else 15)
    sizes = {name: getattr(kin, name).n_instructions() for name in ("centroidal_map", "centroidal_momentum_rate")}
    print(f"instructions: {sizes}")
    print(f"{plan.iterations} iterations; the base rises from {lying[2]:.3f} m to {plan.q[2, -1]:.3f} m")
    tau = torques(model, plan)
    print(f"a foot pushes with at most {plan.forces[2::3].max():.1f} N, a joint with {np.abs(tau[6:]).max():.2f} N m")
    print(f"equations of motion of the base hold to {np.abs(tau[:6]).max():.1e} N, N m")


if __name__ == "__main__":
    main()
