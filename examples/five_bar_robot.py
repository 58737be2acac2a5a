"""A five-bar robot picks and places in closed loop, with rigid and with flexible inner bars.

python examples/five_bar_robot.py
python examples/five_bar_robot.py --plot five_bar_robot.png    needs matplotlib

Two arms of two bars, each driven at its shoulder, are pinned together at the hand. The URDF is a tree of both arms; a
gd.Loop closes it. The script finds the angles of the motors for points of the hand, plans a motion between two of them,
computes its torques by the inverse dynamics of the closed loop, and simulates them with a servo at each motor. The
outer bars, between two pins, carry hardly more than tension; the inner bars hold them like cantilevers, and bend.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

import gdalembert as gd

INNER, OUTER, APART = 0.25, 0.38, 0.24  # m: lengths of the bars, distance of the motors
DRIVES, MOTORS = ["left inner joint", "right inner joint"], [0, 2]
PICK, PLACE = np.array([-0.08, 0.42]), np.array([0.30, 0.46])  # m, in the plane of the bars
DURATION = 0.3  # s: of the motion, and of what is observed after it
TOOL = 0.4  # kg at the hand
EI = 18.0  # N m² of the inner bars: aluminium, 20 × 5 mm


def bar(name: str, parent: str, x: float, length: float) -> str:
    """A uniform bar along the x axis of its joint, 0.27 kg/m, and the frame "<name> end"."""
    mass = 0.27 * length
    inertia = mass * length**2 / 12
    return f"""
    <link name="{name}"><inertial>
      <origin xyz="{length / 2} 0 0"/><mass value="{mass}"/>
      <inertia ixx="1e-6" ixy="0" ixz="0" iyy="{inertia}" iyz="0" izz="{inertia}"/>
    </inertial></link>
    <joint name="{name} joint" type="revolute">
      <parent link="{parent}"/><child link="{name}"/><origin xyz="{x} 0 0"/><axis xyz="0 0 1"/>
      <limit lower="-6" upper="6" effort="20" velocity="20"/>
    </joint>
    <link name="{name} end"/>
    <joint name="end of {name}" type="fixed">
      <parent link="{name}"/><child link="{name} end"/><origin xyz="{length} 0 0"/>
    </joint>"""


def arm(name: str, x: float) -> str:
    return bar(f"{name} inner", "base", x, INNER) + bar(f"{name} outer", f"{name} inner", INNER, OUTER)


URDF = f"""<robot name="five_bar_robot">
    <link name="base"/>{arm("left", 0.0)}{arm("right", APART)}
    <link name="tool"><inertial>
      <mass value="{TOOL}"/><inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-4"/>
    </inertial></link>
    <joint name="hand" type="fixed"><parent link="left outer end"/><child link="tool"/></joint>
</robot>"""
LOOP = gd.Loop("left outer end", "right outer end", "3D")


def closed(dyn: gd.Dynamics, *contacts: gd.Contact) -> gd.ConstrainedDynamics:
    """Both arms, pinned at the hand; a pin of planar arms is redundant across the plane."""
    rate = 100.0  # 1/s, of the errors that stabilisation lets vanish
    constraints = [LOOP, *contacts]
    return gd.ConstrainedDynamics(dyn, constraints, regularization=1e-6, stiffness=rate**2, damping=2 * rate)


def rigid() -> gd.Dynamics:
    return gd.NewtonEuler(gd.load_urdf(URDF), actuation=np.eye(4)[:, MOTORS])


def flexible(stiffer: float = 1.0) -> gd.FlexibleArm:
    """With beams that are so many times as stiff for the inner bars."""
    beam = gd.Beam(INNER, 0.27, EI_z=stiffer * EI)
    inner = gd.FlexibleLink(beam, bending_y=gd.modes.clamped_free(2), modal_damping=0.01)
    links = {"left inner": inner, "right inner": inner}
    return gd.FlexibleArm(gd.load_urdf(URDF), links, actuation=np.eye(8)[:, MOTORS])


def inverse_kinematics(hand: np.ndarray) -> np.ndarray:
    """q with the hand at a point and the elbows outside: the configuration that a contact there closes."""
    there = closed(rigid(), gd.Contact("tool", "3D", anchor=[*hand, 0.0]))
    return there.closed_configuration([2.0, -1.2, 1.1, 1.2])


@dataclass(frozen=True)
class Plan:
    """A motion of the motors from rest to rest, and what belongs to it: a row for each time."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    u: np.ndarray

    def servo(self, nq: int, nv: int, stiffness: float = 200.0, damping: float = 3.0) -> ca.Function:
        """(t, x) → u: the planned torques, and what holds the motors to the plan [N m/rad, N m s/rad]."""
        table = np.column_stack([self.u, self.q[:, MOTORS], self.v[:, MOTORS]])
        spline = ca.interpolant("plan", "bspline", [self.t.tolist()], table.ravel().tolist())
        t, x = ca.MX.sym("t"), ca.MX.sym("x", nq + nv)
        u, angle, speed = ca.vertsplit(spline(ca.fmin(t, self.t[-1])), 2)
        q, v = x[MOTORS], x[[nq + k for k in MOTORS]]
        return ca.Function("u", [t, x], [u + stiffness * (angle - q) + damping * (speed - v)])


def plan(samples: int = 151) -> Plan:
    """Polynomials of degree 5 for the motors; the loop moves the other joints, inverse dynamics gives the torques."""
    con, start, end = closed(rigid()), inverse_kinematics(PICK), inverse_kinematics(PLACE)
    t, way, q, rows = np.linspace(0, DURATION, samples), end - start, start, []
    for s in t / DURATION:
        here = q.copy()
        here[MOTORS] = (start + (10 * s**3 - 15 * s**4 + 6 * s**5) * way)[MOTORS]
        q = con.closed_configuration(here, hold=DRIVES)
        v = con.consistent_velocity(q, 30 * s**2 * (1 - s) ** 2 * way / DURATION, hold=DRIVES)
        a = con.consistent_acceleration(q, v, 60 * s * (1 - s) * (1 - 2 * s) * way / DURATION**2, hold=DRIVES)
        rows.append((q, v, motor_torques(con, q, v, a)))
    return Plan(t, *(np.array(column) for column in zip(*rows, strict=True)))


def least_effort(intervals: int) -> gd.ocp.Solution:
    """The motion from rest to rest with the least ∫ |u|² dt, between the same points."""
    con = gd.ConstrainedDynamics(rigid(), [LOOP], regularization=1e-6)
    problem = gd.ocp.Problem(con, DURATION, intervals)
    problem.start(inverse_kinematics(PICK))
    problem.end(inverse_kinematics(PLACE))
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    return problem.solve()


def motor_torques(con: gd.ConstrainedDynamics, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """u of B u + Jᵀ f = M a + nle, where the motors and the pin together move the robot."""
    efforts = con.inverse_dynamics(q, v, a, np.zeros(con.nc)).full().ravel()
    both = np.hstack([con.dynamics.actuation, con.jacobian(q).full().T])
    return np.asarray(np.linalg.lstsq(both, efforts, rcond=None)[0][: con.dynamics.nu])


def follow(dyn: gd.Dynamics, planned: Plan) -> gd.Simulation:
    """The planned motion and a rest after it, from rest; flexible bars are straight at first."""
    q = np.concatenate([planned.q[0], np.zeros(dyn.tree.nq - 4)])
    t = np.concatenate([planned.t, DURATION + planned.t[1:]])
    return gd.simulate(closed(dyn), (q, np.zeros(dyn.tree.nv)), t, planned.servo(dyn.tree.nq, dyn.tree.nv))


def hand(dyn: gd.Dynamics, q: np.ndarray) -> np.ndarray:
    """The hand in the plane (n × 2) [m], at configurations (n × nq)."""
    placement = gd.Kinematics(dyn.tree).frame_placement("tool")
    return np.array([placement(each).full()[:2, 3] for each in q])


def errors(dyn: gd.Dynamics, motion: gd.Simulation, planned: Plan) -> tuple[np.ndarray, float]:
    """How far the hand is from the plan (n) [m], and the largest of it after the motion."""
    wanted = hand(rigid(), planned.q)
    wanted = np.vstack([wanted, np.tile(wanted[-1], (len(motion.t) - len(wanted), 1))])
    off = np.linalg.norm(hand(dyn, motion.q) - wanted, axis=1)
    return off, float(off[len(planned.t) :].max())


def plot(path: str, planned: Plan, errors_by_name: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    """The robot at both ends and the path of the hand; the torques; how far the hand is off."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplot_mosaic([["robot", "torque"], ["robot", "error"]])
    for q, color in ((planned.q[0], "0.75"), (planned.q[-1], "0.2")):
        left, right = INNER * np.exp(1j * q[0]), APART + INNER * np.exp(1j * q[2])
        line = np.array([0, left, left + OUTER * np.exp(1j * (q[0] + q[1])), right, APART])
        axes["robot"].plot(line.real, line.imag, "o-", color=color, markersize=4)
    path_of_hand = hand(rigid(), planned.q)
    axes["robot"].plot(*path_of_hand.T, "C0")
    axes["robot"].set(aspect="equal", xlabel="x [m]", ylabel="y [m]")
    for k, name in enumerate(("left", "right")):
        axes["torque"].plot(planned.t, planned.u[:, k], label=name)
    axes["torque"].set(ylabel="torque [N m]")
    for name, (t, off) in errors_by_name.items():
        axes["error"].semilogy(t, 1e3 * np.maximum(off, 1e-9), label=name)
    axes["error"].axvline(DURATION, color="0.6", linestyle="--", linewidth=0.8)
    axes["error"].set(xlabel="time [s]", ylabel="hand off [mm]")
    for name in ("torque", "error"):
        axes[name].legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=110)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", metavar="FILE", help="draw the robot, the torques and the errors of the hand")
    given = parser.parse_args(arguments)

    planned = plan()
    print(f"degrees of freedom: {closed(rigid()).degrees_of_freedom(planned.q[0])} of {rigid().tree.nv} joints")
    print(f"torques up to {np.abs(planned.u).max():.3f} N m, in {DURATION:g} s")
    effort, best = np.trapezoid((planned.u**2).sum(axis=1), planned.t), least_effort(10)
    print(f"∫ |u|² dt: {effort:.3f} N² m² s; the least: {best.cost:.3f}, torques up to {np.abs(best.u).max():.3f} N m")
    print(best)
    robots = {"rigid": rigid(), "flexible": flexible(), "ten times as stiff": flexible(10.0)}
    drawn = {}
    for name, dyn in robots.items():
        motion = follow(dyn, planned)
        off, after = errors(dyn, motion, planned)
        drawn[name] = motion.t, off
        print(f"{name}: the hand is off by up to {1e3 * off.max():.2g} mm, after the motion {1e3 * after:.2g} mm")
        print(motion)
    if given.plot:
        plot(given.plot, planned, drawn)


if __name__ == "__main__":
    main()
