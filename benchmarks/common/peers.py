"""The graphs of other packages: adam's, and those of packages that pip cannot install beside this one.

The graphs of adam are counted here; the recorded counts are in ``recorded.json``. Both are instructions of SX
Functions after ``ca.cse``.
"""

from __future__ import annotations

import contextlib
import io
import json
import xml.etree.ElementTree as ET
from importlib import metadata
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin

from benchmarks.common.robots import HERE, load, path

RECORDED: dict[str, Any] = json.loads((HERE / "common" / "recorded.json").read_text(encoding="utf-8"))
"""``counts[quantity][package]``, one for each of ``robots``, and the versions of the ``packages``."""


def adam_version() -> str:
    """The installed version of adam."""
    return metadata.version("adam-robotics")


def recorded(quantity: str, name: str) -> dict[str, int]:
    """The recorded counts of a robot by package, for the packages that have the quantity."""
    k = RECORDED["robots"].index(name)
    return {package: counts[k] for package, counts in RECORDED["counts"][quantity].items() if counts[k] is not None}


def adam(name: str) -> dict[str, int]:
    """adam's counts of a robot by quantity; none for a robot whose joints adam does not support.

    Before counting, adam's tau and a are compared with Pinocchio's at a random state.
    """
    model = load(name)
    try:
        inputs, outputs = adam_graphs(name, model)
    except RuntimeError:  # prismatic joints: shapes of matrices do not match
        return {}
    compare(name, model, inputs, outputs)
    return {
        quantity: ca.Function("f", list(inputs.values()), ca.cse([output])).n_instructions()
        for quantity, output in outputs.items()
    }


def adam_graphs(name: str, model: pin.Model) -> tuple[dict[str, ca.SX], dict[str, ca.SX]]:
    """Inputs q, v, a, tau and adam's expressions of them.

    The base of adam always moves. If the base of the robot moves, q begins with Pinocchio's position and quaternion. If
    it is fixed, the base rests at the origin, as numbers, and its rows and columns are dropped. adam has no function
    for tau: it is M a + nle. For a moving base, a is adam's articulated-body algorithm; for a fixed base, for which
    adam has none, a is M \\ (tau − nle) by CasADi's LDLᵀ.
    """
    try:
        from adam import Representations
        from adam.casadi import KinDynComputations
    except ModuleNotFoundError:
        raise SystemExit(
            "the counts of adam need adam-robotics: pip install '.[benchmark]', "
            "or leave the comparison out with --without-peers"
        ) from None
    free = model.joints[1].shortname() == "JointModelFreeFlyer"
    with contextlib.redirect_stderr(io.StringIO()):  # its reader warns of unknown tags of the URDF
        robot = KinDynComputations(
            with_origins(name), list(model.names)[2 if free else 1 :], gravity=np.append(model.gravity.linear, [0] * 3)
        )
    robot.set_frame_velocity_representation(Representations.BODY_FIXED_REPRESENTATION)
    n = robot.NDoF
    base = 6 if free else 0
    q = ca.SX.sym("q", n + (7 if free else 0))
    v, a, tau = (ca.SX.sym(x, n + base) for x in ("v", "a", "tau"))
    placement = _placement(q[:7]) if free else ca.SX.eye(4)
    still = ca.SX(6 - base, 1)
    state = (placement, q[-n:], ca.vertcat(still, v[:base]), v[base:])
    rows = slice(6 - base, None)
    m = robot.mass_matrix(*state[:2])[rows, rows]
    nle = robot.bias_force(*state)[rows]
    torque = m @ a + nle
    outputs = {
        "inverse_dynamics": torque,
        "mass_matrix": m,
        "nle": nle,
        "generalized_gravity": robot.gravity_term(*state[:2])[rows],
        "forward_dynamics": robot.aba(*state, tau[base:]) if free else ca.ldl_solve(tau - nle, *ca.ldl(m)),
    }
    outputs = {quantity: ca.densify(output) for quantity, output in outputs.items()}
    outputs["jacobian_of_inverse_dynamics"] = ca.jacobian(torque, ca.vertcat(q, v))
    return {"q": q, "v": v, "a": a, "tau": tau}, outputs


def with_origins(name: str) -> str:
    """The robot's URDF with every ``<origin>`` written out: adam requires it, URDF does not."""
    root = ET.parse(path(name)).getroot()
    for element in (*root.iterfind("joint"), *root.iterfind("link/inertial")):
        if element.find("origin") is None:
            ET.SubElement(element, "origin", xyz="0 0 0", rpy="0 0 0")
    return ET.tostring(root, encoding="unicode")


def _placement(q: ca.SX) -> ca.SX:
    """The 4 × 4 homogeneous matrix of a position and a quaternion x, y, z, w."""
    x, y, z, w = ca.vertsplit(q[3:])
    rotation = ca.blockcat(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    return ca.blockcat([[rotation, q[:3]], [ca.SX(1, 3), ca.SX.ones(1, 1)]])


def compare(name: str, model: pin.Model, inputs: dict[str, ca.SX], outputs: dict[str, ca.SX]) -> None:
    """End with a sentence unless adam's tau and a equal Pinocchio's."""
    rng = np.random.default_rng(0)
    step, v, a = rng.normal(size=(3, model.nv))
    q = pin.integrate(model, pin.neutral(model), step)
    angles = step if model.joints[1].nv == 1 else np.concatenate([q[:7], step[6:]])
    data = model.createData()
    tau = rng.normal(size=model.nv)
    if model.joints[1].nv == 6:
        tau[:6] = 0  # adam's algorithm has no torque at the base
    both = ca.Function("f", list(inputs.values()), [outputs["inverse_dynamics"], outputs["forward_dynamics"]])
    for found, true in zip(
        both(angles, v, a, tau), (pin.rnea(model, data, q, v, a), pin.aba(model, data, q, v, tau)), strict=True
    ):
        if not np.allclose(found.full().ravel(), true, rtol=1e-9, atol=1e-9 * np.abs(true).max()):
            raise SystemExit(f"{name}: adam does not agree with Pinocchio, so its graphs cannot be compared")
