"""Talos balances on its left foot while the right one reaches a target, in 0.2 s (20 steps of 10 ms).

python examples/talos_on_one_foot.py    needs example-robot-data

The unknowns are the motion and the wrench of the ground on the left sole. The inverse dynamics of the constrained robot
gives the torques; those of the floating base are zero, those of the legs within their limits. The ground does not pull,
the sole does not slip, and the centre of pressure is below it. The arms and the torso are locked. The problem is posed
with casadi.Opti alone, in steps of first order, and with gd.ocp.
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

ROBOT, POSES = "talos_data/robots/talos_reduced.urdf", "talos_data/srdf/talos.srdf"
SOLE, TIP = "left_sole_link", "right_sole_link"
REACH = np.array([0.1, 0.0, 0.1])  # m, from where the right sole is
STEPS, STEP = 20, 0.01  # s
FRICTION, HALF_LENGTH, HALF_WIDTH = 0.7, 0.09, 0.05  # of the sole [m]
BOUNDED = {
    0: FRICTION,
    1: FRICTION,
    3: HALF_WIDTH,
    4: HALF_LENGTH,
}  # entries of the wrench, by how much of the normal force
SMALL_ACCELERATION = 0.1  # weight of squares, beside that of v
QUIET = {"expand": True, "print_time": False, "ipopt": {"print_level": 0, "sb": "yes", "mu_strategy": "adaptive"}}


class Plan(NamedTuple):
    """Columns of q (19), v (18), a (18), the wrench on the sole (6) and tau (18), and the iterations of IPOPT."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    wrench: np.ndarray
    tau: np.ndarray
    iterations: int


def build() -> tuple[pin.Model, np.ndarray]:
    """The legs of the Talos of example-robot-data, and the configuration in which it stands."""
    folder = metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    whole = gd.load_urdf(Path(str(folder)) / ROBOT, root_joint=pin.JointModelFreeFlyer(), mimic=False, check="off")
    pin.loadReferenceConfigurations(whole, str(Path(str(folder)) / POSES), False)
    locked = [j for j in range(2, whole.njoints) if not whole.names[j].startswith("leg")]
    model = pin.buildReducedModel(whole, locked, whole.referenceConfigurations["half_sitting"])
    return model, model.referenceConfigurations["half_sitting"]


def held(model: pin.Model, start: np.ndarray) -> gd.ConstrainedDynamics:
    """The robot whose left sole stays where it is at the start."""
    return gd.ConstrainedDynamics(gd.NewtonEuler(model), [gd.Contact(SOLE, "6D")]).anchored(start)


def balanced(model: pin.Model, standing: np.ndarray) -> np.ndarray:
    """The configuration near the given one with the centre of mass above the left sole, the base upright."""
    kin, opti = gd.Kinematics(model), ca.Opti()
    way = opti.variable(model.nv)
    q, sole = kin.integrate(standing, way), kin.frame_placement(SOLE)(standing)
    opti.subject_to([held(model, standing).residual(q) == 0, kin.center_of_mass(q)[:2] == sole[:2, 3], way[3:6] == 0])
    opti.minimize(ca.sumsqr(way))
    opti.solver("ipopt", QUIET)
    return np.asarray(opti.solve().value(q))


def plan(model: pin.Model, start: np.ndarray, target: np.ndarray, n: int = STEPS, h: float = STEP) -> Plan:
    """The plan from rest at the start: after n steps of h the right sole is at the target (3), and the legs rest."""
    con, kin, opti = held(model, start), gd.Kinematics(model), ca.Opti()
    q, v, a = opti.variable(model.nq, n + 1), opti.variable(model.nv, n + 1), opti.variable(model.nv, n)
    wrench, limits = opti.variable(6, n), ca.repmat(model.effortLimit[6:], 1, n)
    tau = con.inverse_dynamics(q[:, :-1], v[:, :-1], a, wrench)
    opti.subject_to([tau[:6, :] == 0, con.residual(q[:, 1:]) == 0])
    opti.subject_to(opti.bounded(-limits, tau[6:, :], limits))
    opti.subject_to([v[:, 1:] == v[:, :-1] + h * a, q[:, 1:] == kin.integrate(q[:, :-1], h * v[:, 1:])])
    opti.subject_to([q[:, 0] == start, v[:, 0] == 0, v[6:, n] == 0])
    opti.subject_to(kin.frame_placement(TIP)(q[:, n])[:3, 3] == target)
    for i, share in BOUNDED.items():
        opti.subject_to([side <= share * wrench[2, :] for side in (wrench[i, :], -wrench[i, :])])
    opti.minimize(h * (ca.sumsqr(v) + SMALL_ACCELERATION * ca.sumsqr(a)))
    opti.set_initial(q, ca.repmat(start, 1, n + 1))
    opti.set_initial(wrench[2, :], -pin.computeTotalMass(model) * model.gravity.linear[2])
    opti.solver("ipopt", QUIET)
    return read(opti.solve(), q, v, a, wrench, tau)


def plan_with_ocp(model: pin.Model, start: np.ndarray, target: np.ndarray, intervals: int) -> gd.ocp.Solution:
    """The same problem by the package's transcription."""
    con, place = held(model, start), gd.Kinematics(model).frame_placement(TIP)
    joints = con.dynamics.coordinate_names[6:]
    limits = gd.ocp.Bounds.of(con, u=dict(zip(joints, model.effortLimit[6:], strict=True)))
    problem = gd.ocp.Problem(con, STEPS * STEP, intervals, bounds=limits, degree=2)
    problem.start(start)
    problem.end(v=dict.fromkeys(joints, 0.0))
    problem.path(lambda q: place(q)[:3, 3], target, target, at="end")
    for i, share in BOUNDED.items():
        problem.path(lambda forces, i=i, share=share: share * forces[2] - forces[i], 0.0)
        problem.path(lambda forces, i=i, share=share: share * forces[2] + forces[i], 0.0)
    problem.minimize(problem.integral(lambda v, a: ca.sumsqr(v) + SMALL_ACCELERATION * ca.sumsqr(a)))
    return problem.solve()


def read(found: ca.OptiSol, *expressions: ca.MX) -> Plan:
    return Plan(*(found.value(x) for x in expressions), found.stats()["iter_count"])


def instructions(model: pin.Model, start: np.ndarray) -> int:
    """Of all graphs of the problem, in one step."""
    con, kin = held(model, start), gd.Kinematics(model)
    graphs = con.inverse_dynamics, con.residual, kin.integrate, kin.frame_placement(TIP)
    return sum(graph.n_instructions() for graph in graphs)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coarse", action="store_true", help="10 steps of 20 ms")
    given = parser.parse_args(arguments)

    model, standing = build()
    start = balanced(model, standing)
    print(f"graphs of a step: {instructions(model, start)} instructions")
    place = gd.Kinematics(model).frame_placement(TIP)
    target = place(start).full()[:3, 3] + REACH
    found = plan(model, start, target, *((STEPS // 2, 2 * STEP) if given.coarse else (STEPS, STEP)))
    print(f"{found.iterations} iterations; the tip misses its target", end=" ")
    print(f"by {np.linalg.norm(place(found.q[:, -1]).full()[:3, 3] - target):.1e} m")
    places = gd.Kinematics(model).frame_placement(SOLE)(found.q).full()[:3, 3::4]
    print(f"the left sole slips by {np.abs(places - places[:, :1]).max():.1e} m")
    share = np.abs(found.tau[6:] / model.effortLimit[6:, None]).max()
    print(f"at most {share:.0%} of a torque limit; normal force", end=" ")
    print(f"{found.wrench[2].min():.0f} to {found.wrench[2].max():.0f} N")
    print(plan_with_ocp(model, start, target, 5 if given.coarse else 10))


if __name__ == "__main__":
    main()
