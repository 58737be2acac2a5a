"""The rigid limit: stiff arms move as rigid ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import modes
from gdalembert.flexible.modes import ModeSet
from gdalembert.spatial.arrays import Array
from tests.helpers.validated_arms import BY_KINEMATICS

LENGTHS = {"link1": (1.0, 0.6), "link2": (0.8, 0.45)}  # m, and kg/m, as in the shipped robot
START = (0.3, -0.5)


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
    for k, rotor in enumerate(arm.flexibility.rotors):
        start[nq - len(arm.flexibility.rotors) + k] = joints[arm.layout.index(rotor)]
    found = np.column_stack([start, solver(x0=start)["xf"].full()])
    return found[:nq], found[nq:-1], found[-1]


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


# Energy.


# Mass matrix.
