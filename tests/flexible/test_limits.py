"""Limits and balances: stiff arms move as rigid ones, energy is kept, and M is that of a true kinetic energy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import robots
from gdalembert import modes
from gdalembert.flexible.modes import ModeSet
from gdalembert.spatial.arrays import Array
from tests.helpers.models import relative_error
from tests.helpers.sets import quick
from tests.helpers.validated_arms import BY_KINEMATICS

TIGHT = 1e-12

LENGTHS = {"link1": (1.0, 0.6), "link2": (0.8, 0.45)}  # m, and kg/m, as in the shipped robot
START = (0.3, -0.5)

ROBOT = """<robot name="spatial">
  <link name="base"/>
  <joint name="joint1" type="revolute"><parent link="base"/><child link="link1"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
  <link name="link1"><inertial><origin xyz="0.35 0 0"/><mass value="0.42"/>
    <inertia ixx="1e-4" iyy="0.0172" izz="0.0172" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="joint2" type="revolute"><parent link="link1"/><child link="link2"/><origin xyz="0.7 0 0" rpy="0.4 0 0"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
  <link name="link2"><inertial><origin xyz="0.25 0 0"/><mass value="0.3"/>
    <inertia ixx="1e-4" iyy="0.0063" izz="0.0063" ixy="0" ixz="0" iyz="0"/></inertial></link>
</robot>"""


def planar(
    stiffness: float,
    shapes: ModeSet,
    *,
    gravity: Sequence[float] = (0.0, -9.81, 0.0),
    kinematics: str = "exact",
    foreshortening: bool = True,
    rayleigh: tuple[float, float] | None = None,
) -> tuple[pin.Model, gd.FlexibleArm]:
    """The shipped robot of two thin rods, as a rigid one and with beams."""
    model = gd.load_urdf("two_link_flexible")
    model.gravity = pin.Motion(np.array(gravity), np.zeros(3))
    links = {
        name: gd.FlexibleLink(
            gd.Beam(length, mu, EI_z=stiffness), bending_y=shapes, foreshortening=foreshortening, rayleigh=rayleigh
        )
        for name, (length, mu) in LENGTHS.items()
    }
    return model, BY_KINEMATICS[kinematics](model, links)


def spatial(*, kinematics: str = "exact", damping: float = 0.0) -> gd.FlexibleArm:
    """Two beams that bend in both planes and twist, on flexible joints, with a payload off the axis."""
    beams = [gd.Beam(length, 0.6, EI_y=15.0, EI_z=8.0, GJ=6.0, section_inertia=(8e-5, 6e-5)) for length in (0.7, 0.5)]
    payload = pin.Inertia(0.1, np.array([0.02, 0.03, -0.05]), 1e-4 * np.eye(3))
    links = {
        f"link{k + 1}": gd.FlexibleLink(
            beam,
            bending_y=modes.hermite(),
            bending_z=modes.hermite(),
            torsion=modes.linear(),
            tip_body=payload if k else None,
            foreshortening=kinematics == "exact",
            rayleigh=(0.0, damping),
        )
        for k, beam in enumerate(beams)
    }
    joints = {f"joint{k}": gd.FlexibleJoint(60.0, rotor_inertia=0.02, damping=10 * damping) for k in (1, 2)}
    return BY_KINEMATICS[kinematics](gd.load_urdf(ROBOT), links, joints)


def simulated(
    arm: gd.FlexibleArm, joints: Sequence[float], times: Array, u: Callable[[ca.SX], Any] | None = None
) -> tuple[Array, Array, Array]:
    """q and v at the times (one column each) from rest, and the energy ∫ v·D v dt lost up to then."""
    nq, nv = arm.tree.nq, arm.tree.nv
    x, lost, t = ca.SX.sym("x", nq + nv), ca.SX.sym("lost"), ca.SX.sym("t")
    efforts = ca.DM(arm.actuation.shape[1], 1) if u is None else u(t)
    v = x[nq:]
    power = ca.dot(v, ca.DM(arm.damping_matrix) @ v)
    ode = ca.vertcat(arm.state_derivative(x, efforts), power)
    # of high order and without implicit steps: nothing damps what rings
    options = {
        "abstol": 1e-12,
        "reltol": 1e-12,
        "max_num_steps": 10**6,
        "linear_multistep_method": "adams",
        "nonlinear_solver_iteration": "functional",
    }
    problem = {"x": ca.vertcat(x, lost), "t": t, "ode": ode}
    solver = ca.integrator("solver", "cvodes", problem, 0.0, times[1:].tolist(), options)
    start = np.zeros(nq + nv + 1)
    start[: len(joints)] = joints
    for k, rotor in enumerate(arm.assembly.rotors):
        start[nq - len(arm.assembly.rotors) + k] = joints[arm.layout.index(rotor)]
    found = np.column_stack([start, solver(x0=start)["xf"].full()])
    return found[:nq], found[nq:-1], found[-1]


# Rigid limit.


def torques(t: Any) -> Any:
    return [0.6 * ca.sin(np.pi * t), -0.25 * ca.sin(2 * np.pi * t)]


def rigid_motion(model: pin.Model, times: Array, steps: int) -> Array:
    """q at the times, by the classical Runge–Kutta method with so many steps between two of them."""
    data = model.createData()

    def rate(t: float, x: Array) -> Array:
        return np.concatenate([x[2:], pin.aba(model, data, x[:2], x[2:], np.array(torques(t), dtype=float))])

    h = (times[1] - times[0]) / steps
    x = np.array([*START, 0.0, 0.0])
    found = [x[:2]]
    for start in times[:-1]:
        for k in range(steps):
            t = start + k * h
            k1 = rate(t, x)
            k2 = rate(t + h / 2, x + h / 2 * k1)
            k3 = rate(t + h / 2, x + h / 2 * k2)
            k4 = rate(t + h, x + h * k3)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        found.append(x[:2])
    return np.array(found).T


@pytest.mark.long
@pytest.mark.parametrize("kinematics", ["exact", "first_order"])
def test_stiff_arms_move_as_the_rigid_one(kinematics: str) -> None:
    """Joint angles over a second of torques differ from the rigid robot's by what falls like 1 / EI."""
    times = np.linspace(0, 1, 51)
    differences = []
    for stiffness in (1e2, 1e3, 1e4):
        model, arm = planar(
            stiffness,
            modes.hermite(),
            gravity=(0, 0, 0),
            kinematics=kinematics,
            foreshortening=kinematics == "exact",
        )
        q, _, _ = simulated(arm, START, times, lambda t: ca.vertcat(*torques(t)))
        differences.append(np.abs(q[:2] - rigid_motion(model, times, 10)).max())
    assert differences[0] < 1e-2
    # what is left of the vibrations changes from one to the next
    assert differences[0] / differences[1] == pytest.approx(10, rel=0.02)
    assert differences[1] / differences[2] == pytest.approx(10, rel=0.02)


FLEXIBLE = {
    "panda7": ("link2", "link4", "link6"),
    "ur5": ("upper_arm_link", "forearm_link", "wrist_2_link"),
}


@pytest.mark.filterwarnings("ignore:link .* is now a beam", "ignore:link .* radius of gyration")
@pytest.mark.parametrize("name", quick(FLEXIBLE))
def test_joints_of_an_undeformed_robot_are_the_rigid_ones(name: str) -> None:
    """Six or seven joints in space, some links of beams: M, tau and g at f = 0 are Pinocchio's, with rigid beams."""
    model = robots.load(name)
    links, equivalent = {}, model.copy()
    for link in FLEXIBLE[name]:
        joint = model.frames[model.getFrameId(link)].parentJoint
        child = next(k for k in range(model.njoints) if model.parents[k] == joint)
        to_child = model.jointPlacements[child].translation
        length = float(np.linalg.norm(to_child))
        mu = model.inertias[joint].mass / length
        beam = gd.Beam(length, mu, EI_y=500.0, EI_z=300.0, GJ=200.0, section_inertia=(1e-3 * mu, 2e-3 * mu))
        # x to the child, turned about it by what it happens to be
        x = to_child / length
        root = pin.SE3(pin.Quaternion.FromTwoVectors(np.array([1.0, 0, 0]), x).toRotationMatrix(), np.zeros(3))
        links[link] = gd.FlexibleLink(
            beam, bending_y=modes.craig_bampton(1), bending_z=modes.hermite(), torsion=modes.linear(), root=root
        )
        equivalent.inertias[joint] = root.act(rigid(beam))
    arm = gd.FlexibleArm(model, links, clean=0)
    place = gd.Kinematics(arm.tree, clean=0).frame_placement(model.frames[-1].name)
    data, nv = equivalent.createData(), model.nv
    assert arm.tree.nv == nv + 6 * 3
    rng = np.random.default_rng(0)
    for _ in range(3):
        q, v, a = np.zeros((3, arm.tree.nv))
        q[:nv], v[:nv], a[:nv] = rng.normal(size=(3, nv))
        m = arm.mass_matrix(q).full()
        pin.crba(equivalent, data, q[:nv])
        assert relative_error(m[:nv, :nv], data.M) < TIGHT
        tau = arm.inverse_dynamics(q, v, a).full().ravel()
        assert relative_error(tau[:nv], pin.rnea(equivalent, data, q[:nv], v[:nv], a[:nv])) < TIGHT
        g = arm.generalized_gravity(q).full().ravel()
        assert relative_error(g[:nv], pin.computeGeneralizedGravity(equivalent, data, q[:nv])) < TIGHT
        energy = pin.computeKineticEnergy(equivalent, data, q[:nv], v[:nv])
        assert relative_error(float(arm.kinetic_energy(q, v)), energy) < TIGHT
        pin.framesForwardKinematics(equivalent, data, q[:nv])
        assert relative_error(place(q).full(), data.oMf[len(model.frames) - 1].homogeneous) < TIGHT


def rigid(beam: gd.Beam) -> pin.Inertia:
    """A beam that does not deform."""
    pseudo = beam.pseudo_inertia
    com = pseudo[:3, 3] / pseudo[3, 3]
    second = pseudo[:3, :3] - pseudo[3, 3] * np.outer(com, com)
    return pin.Inertia(pseudo[3, 3], com, np.trace(second) * np.eye(3) - second)


# Energy.


def energies(arm: gd.FlexibleArm, q: Array, v: Array) -> tuple[Array, Array]:
    """Kinetic and potential at each column."""
    kinetic, potential = arm.kinetic_energy(q, v).full().ravel(), arm.potential_energy(q).full().ravel()
    return kinetic, potential


FIVE_SECONDS = np.linspace(0, 5, 101)

SWINGS: dict[str, Callable[[], gd.FlexibleArm]] = {
    "very soft": lambda: planar(2.0, modes.hermite())[1],
    "soft": lambda: planar(10.0, modes.hermite())[1],
    "three modes": lambda: planar(10.0, modes.craig_bampton(1))[1],
    "stiffer": lambda: planar(100.0, modes.hermite())[1],
    "without foreshortening": lambda: planar(100.0, modes.hermite(), foreshortening=False)[1],
    "first order": lambda: planar(100.0, modes.hermite(), kinematics="first_order", foreshortening=False)[1],
    "spatial, flexible joints": lambda: spatial(),
}


@pytest.mark.parametrize("name", quick(SWINGS, "soft"))
def test_energy_of_a_free_swing_is_kept(name: str) -> None:
    """Over five seconds under gravity, relative to the kinetic energy that is exchanged."""
    arm = SWINGS[name]()
    q, v, _ = simulated(arm, START, FIVE_SECONDS)
    kinetic, potential = energies(arm, q, v)
    total = kinetic + potential
    assert kinetic.max() > 1
    assert np.abs(total - total[0]).max() < 1e-10 * kinetic.max()  # steps are right to 1e-12


DAMPED: dict[str, Callable[[], gd.FlexibleArm]] = {
    "planar": lambda: planar(10.0, modes.hermite(), rayleigh=(0.5, 2e-2))[1],
    "first order": lambda: planar(
        100.0, modes.hermite(), kinematics="first_order", foreshortening=False, rayleigh=(0.5, 2e-2)
    )[1],
    "spatial, flexible joints": lambda: spatial(damping=2e-3),
}


@pytest.mark.long
@pytest.mark.parametrize("name", DAMPED)
def test_what_dampers_take_is_what_is_lost(name: str) -> None:
    """Kinetic and potential energy fall by ∫ v·D v dt."""
    arm = DAMPED[name]()
    q, v, lost = simulated(arm, START, FIVE_SECONDS)
    kinetic, potential = energies(arm, q, v)
    total = kinetic + potential + lost
    assert np.all(np.diff(lost) > 0)
    assert lost[-1] > 1e-3 * kinetic.max()  # far more than the balance allows
    assert np.abs(total - total[0]).max() < 1e-8 * kinetic.max()  # strong dampers make the steps small, and many


# Mass matrix.

ARMS: dict[str, Callable[[], gd.FlexibleArm]] = {
    "planar": lambda: planar(10.0, modes.craig_bampton(2))[1],
    "clamped-free": lambda: planar(10.0, modes.clamped_free(2))[1],
    "without foreshortening": lambda: planar(10.0, modes.craig_bampton(2), foreshortening=False)[1],
    "first order": lambda: planar(10.0, modes.craig_bampton(2), kinematics="first_order", foreshortening=False)[1],
    "spatial": lambda: spatial(),
    "spatial, first order": lambda: spatial(kinematics="first_order"),
}


@pytest.mark.parametrize("size", quick([0.01, 0.1, 0.5, 1.0], 0.5))
@pytest.mark.parametrize("name", ARMS)
def test_mass_matrix_is_positive_definite(name: str, size: float) -> None:
    """At random deflections of that size in m and rad, up to far beyond what a beam bears."""
    arm = ARMS[name]()
    rng = np.random.default_rng(0)
    scale = np.ones(arm.tree.nv)
    scale[arm.modes] = size
    configurations = rng.normal(size=(500, arm.tree.nv)) * scale
    least = math.inf
    for m in np.hsplit(arm.mass_matrix(configurations.T).full(), len(configurations)):
        assert relative_error(m, m.T) < TIGHT
        d = 1 / np.sqrt(np.diag(m))  # coordinates of one size
        least = min(least, float(np.linalg.eigvalsh(d[:, None] * m * d)[0]))
    assert least > 0
