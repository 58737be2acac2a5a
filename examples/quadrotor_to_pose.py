"""A quadrotor flies to a pose in 1.6 s with little thrust: posed with casadi.Opti alone, and with gd.ocp.

python examples/quadrotor_to_pose.py
python examples/quadrotor_to_pose.py --coarse

Four rotors drive a free-flyer with six velocities: B of tau = B u is the argument ``actuation`` of the dynamics. With
Opti, a step holds the thrusts for 20 ms: v changes first, and q follows along the configuration space, so that the
length of the quaternion stays 1. gd.ocp holds them for 80 ms, and integrates by collocation.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert import ocp

MASS, INERTIA = 1.5, np.diag([0.012, 0.012, 0.022])  # kg, kg m²
ARM, DRAG = 0.15, 0.015  # m from the centre to a rotor; N m of drag for each N of thrust
THRUST = 0.0, 5.0  # N, of a rotor, least and largest; a quarter of the weight is 3.7 N
B = np.array([[0, 0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1], [0, ARM, 0, -ARM], [-ARM, 0, ARM, 0], [-DRAG, DRAG] * 2])
START, GOAL = np.array([0, 0, 0, 0, 0, 0, 1.0]), np.array([1.0, 0, 1.5, 0, 0, 0, 1])  # position [m], quaternion
DURATION = 1.6  # s
QUIET = {"expand": True, "print_time": False, "ipopt": {"print_level": 0, "sb": "yes"}}


class Plan(NamedTuple):
    """Columns of q (7), v (6) and thrusts u (4) [N], and the iterations of IPOPT."""

    q: np.ndarray
    v: np.ndarray
    u: np.ndarray
    iterations: int


def build() -> pin.Model:
    """A rigid body that moves freely."""
    model = pin.Model()
    model.name = "quadrotor"
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    model.appendBodyToJoint(joint, pin.Inertia(MASS, np.zeros(3), INERTIA), pin.SE3.Identity())
    return model


def with_opti(model: pin.Model, n: int) -> Plan:
    """The plan with n steps, written out."""
    dyn, kin, opti, h = gd.NewtonEuler(model), gd.Kinematics(model), ca.Opti(), DURATION / n
    q, v, u = opti.variable(7, n + 1), opti.variable(6, n + 1), opti.variable(4, n)
    a = dyn.forward_dynamics(q[:, :-1], v[:, :-1], B @ u)
    opti.subject_to(v[:, 1:] == v[:, :-1] + h * a)
    opti.subject_to(q[:, 1:] == kin.integrate(q[:, :-1], h * v[:, 1:]))
    opti.subject_to(q[:, 0] == START)
    opti.subject_to(kin.difference(q[:, -1], GOAL) == 0)
    opti.subject_to(v[:, [0, n]] == 0)
    opti.subject_to(opti.bounded(THRUST[0], u, THRUST[1]))
    opti.minimize(h * ca.sumsqr(u))
    opti.set_initial(q, ca.repmat(START, 1, n + 1))
    opti.set_initial(u, MASS * 9.81 / 4)
    opti.solver("ipopt", QUIET)
    found = opti.solve()
    return Plan(*(found.value(x) for x in (q, v, u)), found.stats()["iter_count"])


def with_ocp(dyn: gd.Dynamics, n: int) -> ocp.Solution:
    """The plan with n intervals, by the package's transcription."""
    problem = ocp.Problem(dyn, DURATION, n, bounds=ocp.Bounds.of(dyn, u=dict.fromkeys(dyn.actuator_names, THRUST)))
    problem.start(START)
    problem.end(GOAL)
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    return problem.solve()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coarse", action="store_true", help="half as many intervals")
    given = parser.parse_args(arguments)
    less = 2 if given.coarse else 1

    model = build()
    plan = with_opti(model, 80 // less)
    print(
        f"casadi.Opti: {plan.iterations} iterations, thrusts from {plan.u.min():.3g} to {plan.u.max():.3g} N,", end=" "
    )
    print(f"unit length off by {np.abs(np.linalg.norm(plan.q[3:], axis=0) - 1).max():.1e}")
    solution = with_ocp(gd.NewtonEuler(model, actuation=B), 20 // less)
    print(solution)
    motion = solution.simulate()
    print(motion)
    print(f"simulated, it ends {np.linalg.norm(motion.q[-1, :3] - GOAL[:3]):.1e} m off the goal")


if __name__ == "__main__":
    main()
