"""The Functions of a filter beside differences of the flow in the tangent space, and what an estimator refuses."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.dynamics.outputs import output_functions
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.estimation.filter_model import FilterModel
from gdalembert.model.configuration import neutral
from tests.helpers.models import inertia, placement, relative_error
from tests.helpers.sets import quick


def robot(*joints: pin.JointModel, **options: Any) -> gd.NewtonEuler:
    """A chain of these joints, with a frame at its end."""
    rng, model, parent = np.random.default_rng(5), pin.Model(), 0
    for k, joint in enumerate(joints):
        parent = model.addJoint(parent, joint, placement(rng), f"joint{k}")
        model.appendBodyToJoint(parent, inertia(rng), pin.SE3.Identity())
    model.addFrame(pin.Frame("tool", parent, placement(rng), pin.FrameType.OP_FRAME))
    return gd.NewtonEuler(model, **options)


ROBOTS = {
    "revolute, continuous": (pin.JointModelRX(), pin.JointModelRUBZ()),
    "ball": (pin.JointModelSpherical(), pin.JointModelRY()),
    "free": (pin.JointModelFreeFlyer(), pin.JointModelRZ()),
}


def acceleration(dyn: gd.Dynamics) -> Any:
    return gd.Kinematics.of(dyn.parameters).frame_classical_acceleration("tool", pin.LOCAL)


@pytest.mark.parametrize("name", quick(ROBOTS, "revolute, continuous"))
def test_derivatives_are_those_of_the_flow(name: str) -> None:
    """A and H, by central differences of integrated states; the drift of quasi-velocities among them."""
    dyn = robot(*ROBOTS[name], parameters={"payload": ["tool"]})
    kin, nq, nv = gd.Kinematics.of(dyn.parameters), dyn.tree.nq, dyn.tree.nv
    imu = acceleration(dyn)
    outputs = output_functions(
        "test", dyn, {"imu": lambda q, v, a, p: imu(q, v, a, p), "effort": lambda u, v: u[0] + v[0] ** 2}
    )
    model = FilterModel(dyn, outputs, [0, 1], [6], [0, nv, 2 * nv])
    assert (model.nx, model.n) == (nq + nv + 3, 2 * nv + 3)
    rng = np.random.default_rng(1)
    q = ca.DM(kin.integrate(neutral(dyn.tree), rng.normal(size=nv)))
    x = np.r_[q.full().ravel(), rng.normal(size=nv), 0.7, 0.1, 0.05]
    u, p = rng.normal(size=dyn.nu), np.array([0.0] * len(dyn.parameters))

    def flow(delta: np.ndarray, h: float) -> np.ndarray:
        """δ after h, relative to the motion without it: of an Euler step, whose error is the same on both sides."""

        def after(start: ca.DM) -> ca.DM:
            f = model.rate(start, u, p)[0]
            return model.retract(start, h * f)

        one, other = after(ca.DM(x)), after(model.retract(x, delta))
        dq = kin.difference(one[:nq], other[:nq]).full().ravel()
        return np.r_[dq, (other[nq:] - one[nq:]).full().ravel()]

    slope = model.rate(x, u, p)[1].full().reshape(model.n, model.n)
    h, size = 1e-4, 1e-5
    for k, direction in enumerate(np.eye(model.n)):
        moved = (flow(size * direction, h) - flow(-size * direction, h)) / (2 * size)
        rate = (moved - direction) / h
        assert relative_error(slope[:, k], rate) < 2e-3  # h² of the second order, and rounding 1e-16 / (size h)
    expected, h_rows = (part.full().ravel() for part in model.outputs(x, u, p))
    for k, direction in enumerate(np.eye(model.n)):
        both = [model.outputs(model.retract(x, sign * size * direction), u, p)[0].full().ravel() for sign in (1, -1)]
        assert relative_error(h_rows.reshape(7, -1)[:, k], (both[0] - both[1]) / (2 * size)) < 1e-7
    a = model.rate(x, u, p)[0].full().ravel()[nv : 2 * nv]
    values = np.r_[0.7, 0.1, p[2:]]
    assert (
        relative_error(a, dyn.forward_dynamics(x[:nq], x[nq : nq + nv], dyn.actuation @ u, values).full().ravel())
        < 1e-9
    )
    assert expected[6] == pytest.approx(u[0] + x[nq] ** 2 + 0.05)
    columns = model.rate(x, u, p)[2].full().reshape(model.n, 3)
    assert relative_error(columns[nv : 2 * nv, 0], dyn.mass_matrix_inverse(x[:nq], values).full()[:, 0]) < 1e-9
    assert columns[nv, 1] == columns[2 * nv, 2] == 1


ARM = robot(pin.JointModelRX(), pin.JointModelRY(), parameters={"payload": ["tool"]})
GOOD: dict[str, Any] = {"outputs": {"joints": lambda q: q}, "deviations": {"joints": 1e-3}, "effort_noise": 1.0}


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"effort_noise": 0.0}, ArgumentError, "learn ever less"),
        ({"effort_noise": -1.0}, ArgumentError, "effort_noise: got -1; give numbers of at least 0"),
        ({"deviations": {"joints": 0.0}}, ArgumentError, "above 0"),
        ({"deviations": {"joint": 1.0}}, UnknownNameError, "no output named 'joint'"),
        ({"deviations": {}}, ArgumentError, "none of output 'joints'"),
        ({"deviations": 1.0}, ArgumentTypeError, "name of output"),
        ({"parameters": {"tool.n": (1, 1)}}, UnknownNameError, "tool.m"),
        ({"parameters": {"tool.m": 1}}, ArgumentError, "tool.m"),
        ({"offsets": {"joint": (1, 1)}}, UnknownNameError, "no output named 'joint'"),
        ({"outputs": {}}, ArgumentError, "give at least one"),
        ({"substeps": 0}, ArgumentError, "substeps"),
        ({"gate": 0.0}, ArgumentError, "gate"),
    ],
)
def test_what_is_refused_in_a_sentence(arguments: Any, error: type[Exception], words: str) -> None:
    """Before anything is compiled."""
    with pytest.raises(error, match=words):
        gd.Estimator(ARM, **(GOOD | arguments))


def test_wrenches_are_refused() -> None:
    dyn = robot(pin.JointModelRX(), wrenches={"tool": pin.LOCAL})
    with pytest.raises(UnsupportedError, match="without wrenches"):
        gd.Estimator(dyn, **GOOD)
    with pytest.raises(ArgumentTypeError, match="a robot"):
        gd.Estimator(pin.Model(), **GOOD)  # type: ignore[arg-type]


def test_an_output_that_is_no_arithmetic_is_refused() -> None:
    q, rest = ca.MX.sym("q", 2), [ca.MX.sym(name, 2) for name in "vau"]
    output = ca.Function("y", [q, *rest, ca.MX.sym("p", len(ARM.parameters))], [ca.norm_2(q)])
    with pytest.raises(UnsupportedError, match="'joints' cannot be written in scalar operations"):
        FilterModel(ARM, {"joints": output}, [], [], [0])
