"""A crank drives a rocker through a coupler: a closed loop, rigid and with a flexible coupler.

python examples/four_bar_linkage.py
python examples/four_bar_linkage.py --plot four_bar_linkage.png    needs matplotlib

The URDF is a tree: the crank with the coupler, and the rocker. A gd.Loop pins the end of the coupler to the rocker. The
script closes it over a turn of the crank, computes the torque that turns it at constant speed, and simulates a motor
with a speed servo, with a rigid and with a flexible coupler. A coupler between two pins bends under its own inertia and
weight alone: its middle is off by as much as that of a simply supported beam, and the rocker by much less.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import casadi as ca
import numpy as np

import gdalembert as gd

CRANK, COUPLER, ROCKER, BASE = 0.3, 0.9, 0.6, 1.0  # m
SPEED = 6.0  # rad/s of the crank
BEAM = gd.Beam(COUPLER, 0.63, EI_z=22.0)  # a steel bar of 20 × 4 mm: kg/m, N m²
RIGHT_ANGLE = np.pi / 2  # turns the plane of the joints upright


def bar(name: str, length: float, mass: float) -> str:
    """A uniform bar along x, and the frames "<name> middle" and "<name> end"."""
    inertia = mass * length**2 / 12
    return f"""
    <link name="{name}"><inertial>
      <origin xyz="{length / 2} 0 0"/><mass value="{mass}"/>
      <inertia ixx="1e-6" ixy="0" ixz="0" iyy="{inertia}" iyz="0" izz="{inertia}"/>
    </inertial></link>
    <link name="{name} end"/>
    <joint name="end of {name}" type="fixed">
      <parent link="{name}"/><child link="{name} end"/><origin xyz="{length} 0 0"/>
    </joint>
    <link name="{name} middle"/>
    <joint name="middle of {name}" type="fixed">
      <parent link="{name}"/><child link="{name} middle"/><origin xyz="{length / 2} 0 0"/>
    </joint>"""


def hinge(name: str, parent: str, xyz: str, roll: float = 0.0) -> str:
    return f"""
    <joint name="{name} joint" type="revolute">
      <parent link="{parent}"/><child link="{name}"/><origin xyz="{xyz}" rpy="{roll} 0 0"/><axis xyz="0 0 1"/>
      <limit lower="-100" upper="100" effort="100" velocity="100"/>
    </joint>"""


URDF = f"""<robot name="four_bar_linkage">
    <link name="base"/>
    {bar("crank", CRANK, 1.0)}{bar("coupler", COUPLER, 0.63 * COUPLER)}{bar("rocker", ROCKER, 1.5)}
    {hinge("crank", "base", "0 0 0", RIGHT_ANGLE)}{hinge("coupler", "crank end", "0 0 0")}
    {hinge("rocker", "base", f"{BASE} 0 0", RIGHT_ANGLE)}
</robot>"""


def closed(dyn: gd.Dynamics) -> gd.ConstrainedDynamics:
    """The linkage, closed by a pin; a pin of a planar linkage is redundant across the plane."""
    loop = gd.Loop("coupler end", "rocker end", "3D")
    rate = 100.0  # 1/s, of the errors that stabilisation lets vanish
    return gd.ConstrainedDynamics(dyn, [loop], regularization=1e-6, stiffness=rate**2, damping=2 * rate)


def rigid() -> gd.ConstrainedDynamics:
    return closed(gd.NewtonEuler(gd.load_urdf(URDF), actuation=np.eye(3)[:, :1]))


def flexible(stiffer: float = 1.0) -> gd.ConstrainedDynamics:
    """With the coupler as a beam that is so many times as stiff."""
    beam = gd.Beam(BEAM.length, BEAM.mass_per_length, EI_z=stiffer * BEAM.EI_z)
    coupler = gd.FlexibleLink(beam, bending_y=gd.modes.clamped_free(3), modal_damping=0.02)
    return closed(gd.FlexibleArm(gd.load_urdf(URDF), {"coupler": coupler}, actuation=np.eye(6)[:, :1]))


def angles(crank: np.ndarray) -> np.ndarray:
    """q in closed form (n × 3), the coupler above the line from the end of the crank to the joint of the rocker."""
    end = CRANK * np.exp(1j * crank)
    line = BASE - end
    opening = np.arccos((COUPLER**2 + abs(line) ** 2 - ROCKER**2) / (2 * COUPLER * abs(line)))
    coupler = np.angle(line) + opening
    rocker = np.angle(end + COUPLER * np.exp(1j * coupler) - BASE)
    return np.column_stack([crank, coupler - crank, rocker])


def turn(con: gd.ConstrainedDynamics, crank: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """q (n × 3) and the torque of the motor (n) at constant speed, over angles of the crank."""
    q, drive = angles(crank[:1])[0], ["crank joint"]
    configurations, torques = [], []
    for angle in crank:
        q = con.closed_configuration([angle, *q[1:]], hold=drive)
        v = con.consistent_velocity(q, [SPEED, 0, 0], hold=drive)
        a = con.consistent_acceleration(q, v, np.zeros(3), hold=drive)
        configurations.append(q)
        torques.append(motor_torque(con, q, v, a))
    return np.array(configurations), np.array(torques)


def motor_torque(con: gd.ConstrainedDynamics, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> float:
    """u of B u + Jᵀ f = M a + nle, where the motor and the pin together move the linkage."""
    efforts = con.inverse_dynamics(q, v, a, np.zeros(con.nc)).full().ravel()
    both = np.hstack([con.dynamics.actuation, con.jacobian(q).full().T])
    return float(np.linalg.lstsq(both, efforts, rcond=None)[0][0])


def driven(con: gd.ConstrainedDynamics, duration: float, gain: float = 20.0) -> gd.Simulation:
    """The motor with a speed servo, from the speed that it is to keep; a flexible coupler is straight at first."""
    tree = con.tree
    q = np.zeros(tree.nq)
    q[:3] = angles(np.zeros(1))[0]
    v = con.consistent_velocity(q, SPEED * np.eye(tree.nv)[0], hold=["crank joint", *modes(con)])
    t, x = ca.MX.sym("t"), ca.MX.sym("x", tree.nq + tree.nv)
    servo = ca.Function("u", [t, x], [gain * (SPEED - x[tree.nq])])
    return gd.simulate(con, (q, v), np.linspace(0, duration, 301), servo)


def modes(con: gd.ConstrainedDynamics) -> list[str]:
    return [con.dynamics.coordinate_names[k] for k in con.dynamics.modes]


def rocker_error(motion: gd.Simulation) -> np.ndarray:
    """How far the rocker is from where the angle of the crank puts it (n) [rad]."""
    return np.asarray(motion.q[:, 2] - angles(motion.q[:, 0])[:, 2])


def middle(crank: np.ndarray) -> np.ndarray:
    """The middle of a rigid coupler (n) as complex numbers x + i z [m]."""
    q = angles(crank)
    return np.asarray(CRANK * np.exp(1j * crank) + COUPLER / 2 * np.exp(1j * (q[:, 0] + q[:, 1])))


def deflection(con: gd.ConstrainedDynamics, motion: gd.Simulation) -> np.ndarray:
    """How far the middle of the coupler is from there, across the coupler (n) [m]."""
    placement = gd.Kinematics(con.tree).frame_placement("coupler middle")
    x, z = np.array([placement(q).full()[[0, 2], 3] for q in motion.q]).T
    rigid_q = angles(motion.q[:, 0])
    return np.asarray(((x + 1j * z - middle(motion.q[:, 0])) * np.exp(-1j * (rigid_q[:, 0] + rigid_q[:, 1]))).imag)


def simply_supported(motion: gd.Simulation, stiffer: float = 1.0) -> np.ndarray:
    """The deflection of the coupler's middle under its inertia and weight (n) [m]: 5 w l⁴ / 384 EI.

    The load w across the beam [N/m] is linear along it; the deflection in the middle is that of its mean.
    """
    h, crank, v, a = 1e-3, motion.q[:, 0], motion.v[:, 0], motion.a[:, 0]
    before, here, after = (middle(crank + x) for x in (-h, 0, h))
    acceleration = (after - before) / (2 * h) * a + (after - 2 * here + before) / h**2 * v**2
    q = angles(crank)
    across = ((acceleration + 9.81j) * np.exp(-1j * (q[:, 0] + q[:, 1]))).imag
    return np.asarray(-5 * BEAM.mass_per_length * across * COUPLER**4 / (384 * stiffer * BEAM.EI_z))


def plot(path: str, crank: np.ndarray, torque: np.ndarray, con: gd.ConstrainedDynamics, motion: gd.Simulation) -> None:
    """The linkage and the curve of the coupler's middle; torque of the motor; deflection of the coupler."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplot_mosaic([["linkage", "torque"], ["linkage", "deflection"]])
    for angle, color in ((0.9, "0.2"), (2.9, "0.75")):
        end = CRANK * np.exp(1j * angle)
        line = np.array([0, end, 2 * middle(np.array([angle]))[0] - end, BASE])
        axes["linkage"].plot(line.real, line.imag, "o-", color=color, markersize=4)
    curve = middle(crank)
    axes["linkage"].plot(curve.real, curve.imag, "C0", label="middle of the coupler")
    axes["linkage"].set(aspect="equal", xlabel="x [m]", ylabel="z [m]", ylim=(-0.05, 0.75))
    axes["linkage"].legend(frameon=False, fontsize=8, loc="upper left")
    axes["torque"].plot(np.degrees(crank), torque)
    axes["torque"].set(xlabel="angle of the crank [°]", ylabel=f"torque at {SPEED:g} rad/s [N m]")
    axes["deflection"].plot(motion.t, 1e3 * deflection(con, motion), label="simulated")
    axes["deflection"].plot(motion.t, 1e3 * simply_supported(motion), "k:", label="simply supported beam")
    axes["deflection"].set(xlabel="time [s]", ylabel="deflection [mm]")
    axes["deflection"].legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=110)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", metavar="FILE", help="draw the linkage, the torque and the deflection")
    given = parser.parse_args(arguments)

    con, crank = rigid(), np.linspace(0, 2 * np.pi, 121)
    q, torque = turn(con, crank)
    print(f"degrees of freedom: {con.degrees_of_freedom(q[0])} of {con.tree.nv} joints")
    print(f"off the closed form by {np.abs(q - angles(crank)).max():.1e} rad in a turn of the crank")
    print(f"torque at {SPEED:g} rad/s: {torque.min():.3f} to {torque.max():.3f} N m, mean {torque[:-1].mean():.1e} N m")
    print(driven(con, 2.0))
    print("a flexible coupler        middle off by up to   rocker off by up to")
    for stiffer in (1.0, 10.0, 100.0):
        arm = flexible(stiffer)
        motion = driven(arm, 2.0)
        across, error = 1e3 * np.abs(deflection(arm, motion)).max(), 1e3 * np.abs(rocker_error(motion)).max()
        print(f"EI = {stiffer * BEAM.EI_z:6g} N m², {motion.steps:3d} steps {across:12.4f} mm {error:15.6f} mrad")
        if given.plot and stiffer == 1.0:
            plot(given.plot, crank, torque, arm, motion)


if __name__ == "__main__":
    main()
