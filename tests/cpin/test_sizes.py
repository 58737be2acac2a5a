"""How large the graphs of clients are, beside those of our own Functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import cpin
from tests.helpers.sets import quick

Read = Callable[[Any, Any, dict[str, Any]], Any]


def arm() -> pin.Model:
    return gd.load_urdf("panda7")


def quadruped() -> pin.Model:
    """A free base on four legs of three joints."""
    model = pin.Model()
    base = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    model.appendBodyToJoint(base, pin.Inertia.FromBox(6.0, 0.5, 0.3, 0.1), pin.SE3.Identity())
    for leg, (x, y) in enumerate(((0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1))):
        parent, place = base, pin.SE3(np.eye(3), np.array([x, y, 0]))
        for name, joint, down in (("hip", "RX", 0.03), ("thigh", "RY", 0.16), ("shank", "RY", 0.16)):
            parent = model.addJoint(parent, getattr(pin, f"JointModel{joint}")(), place, f"{name}{leg}")
            place = pin.SE3(np.eye(3), np.array([0, 0.01, -down]))
            model.appendBodyToJoint(parent, pin.Inertia.Random(), pin.SE3.Identity())
        model.addFrame(pin.Frame(f"foot{leg}", parent, place, pin.OP_FRAME))
    return model


ROBOTS = {"arm": arm, "quadruped": quadruped, "humanoid": lambda: pin.buildSampleModelHumanoid(True)}


def count(model: pin.Model, expression: Callable[[dict[str, ca.SX]], Any]) -> int:
    s = {name: ca.SX.sym(name, model.nq if name == "q" else model.nv) for name in ("q", "v", "a")}
    found = expression(s)
    found = found if isinstance(found, list | tuple) else [found]
    return int(ca.Function("f", [*s.values()], [ca.densify(x) for x in found]).n_instructions())


ONE: dict[str, tuple[Read, Read]] = {
    "rnea": (
        lambda m, d, s: cpin.rnea(m, d, s["q"], s["v"], s["a"]),
        lambda dyn, kin, s: dyn.inverse_dynamics(s["q"], s["v"], s["a"]),
    ),
    "aba": (
        lambda m, d, s: cpin.aba(m, d, s["q"], s["v"], s["a"]),
        lambda dyn, kin, s: dyn.forward_dynamics(s["q"], s["v"], s["a"]),
    ),
    "crba": (lambda m, d, s: cpin.crba(m, d, s["q"]), lambda dyn, kin, s: dyn.mass_matrix(s["q"])),
    "nle": (lambda m, d, s: cpin.nle(m, d, s["q"], s["v"]), lambda dyn, kin, s: dyn.nle(s["q"], s["v"])),
    "com": (lambda m, d, s: cpin.centerOfMass(m, d, s["q"]), lambda dyn, kin, s: kin.center_of_mass(s["q"])),
    "Ag": (lambda m, d, s: cpin.computeCentroidalMap(m, d, s["q"]), lambda dyn, kin, s: kin.centroidal_map(s["q"])),
    "dAg": (
        lambda m, d, s: cpin.dccrba(m, d, s["q"], s["v"]),
        lambda dyn, kin, s: kin.centroidal_map_rate(s["q"], s["v"]),
    ),
    "J": (
        lambda m, d, s: cpin.computeFrameJacobian(m, d, s["q"], m.nframes - 1, pin.LOCAL),
        lambda dyn, kin, s: kin.frame_jacobian(len(kin.tree.frames) - 1, pin.LOCAL)(s["q"]),
    ),
    "integrate": (
        lambda m, d, s: cpin.integrate(m, s["q"], s["v"]),
        lambda dyn, kin, s: kin.integrate(s["q"], s["v"]),
    ),
    "position": (
        lambda m, d, s: (cpin.framesForwardKinematics(m, d, s["q"]), d.oMf[m.nframes - 1].translation)[1],
        lambda dyn, kin, s: kin.frame_placement(len(kin.tree.frames) - 1)(s["q"])[:3, 3],
    ),
}
"""One result, by the client and by our own Functions."""


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("robot", quick(ROBOTS, "arm"))
def test_one_result_is_as_large_as_our_own(name: str, robot: str) -> None:
    model = ROBOTS[robot]()
    cmodel, client, own = cpin.Model(model), *ONE[name]
    dyn, kin = gd.NewtonEuler(model), gd.Kinematics(model)
    theirs = count(model, lambda s: client(cmodel, cmodel.createData(), s))
    assert theirs <= 1.02 * count(model, lambda s: own(dyn, kin, s))


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_placement_alone_is_as_large_as_our_own(robot: str) -> None:
    model = ROBOTS[robot]()
    cmodel, kin = cpin.Model(model), gd.Kinematics(model)
    data, frame = cmodel.createData(), model.nframes - 1

    def read(s: dict[str, ca.SX]) -> ca.SX:
        cpin.framesForwardKinematics(cmodel, data, s["q"])
        return data.oMf[frame].homogeneous

    own = count(model, lambda s: kin.frame_placement(frame)(s["q"]))
    assert count(model, read) <= 1.02 * own


def test_several_results_are_at_most_a_tenth_larger() -> None:
    model = quadruped()
    cmodel, dyn, kin = cpin.Model(model), gd.NewtonEuler(model), gd.Kinematics(model)
    feet, data = [model.getFrameId(f"foot{k}") for k in range(4)], cmodel.createData()

    def client(s: dict[str, ca.SX]) -> list[ca.SX]:
        cpin.framesForwardKinematics(cmodel, data, s["q"])
        return [data.oMf[foot].homogeneous for foot in feet]

    own = count(model, lambda s: list(kin.frame_placements(feet)(s["q"])))
    assert count(model, client) <= 1.1 * own

    def terms(s: dict[str, ca.SX]) -> list[ca.SX]:
        cpin.computeAllTerms(cmodel, data, s["q"], s["v"])
        return [data.M, data.nle]

    def together(s: dict[str, ca.SX]) -> list[ca.SX]:
        return ca.cse([dyn.mass_matrix(s["q"]), dyn.nle(s["q"], s["v"])])

    assert count(model, terms) <= 1.1 * count(model, together)
    loaded = gd.NewtonEuler(model, wrenches=dict.fromkeys(feet, pin.LOCAL_WORLD_ALIGNED))

    def pushed(s: dict[str, ca.SX]) -> ca.SX:
        cpin.forwardKinematics(cmodel, data, s["q"])
        cpin.updateFramePlacements(cmodel, data)
        fext = [cpin.Force.Zero() for _ in range(model.njoints)]
        for k, foot in enumerate(feet):
            joint, force = model.frames[foot].parentJoint, s["a"][3 * k : 3 * k + 3]
            turned = data.oMi[joint].rotation.T @ force  # the axes of a foot are those of its shank
            fext[joint] = cpin.SE3(model.frames[foot].placement).act(cpin.Force(turned, [0.0, 0.0, 0.0]))
        return cpin.rnea(cmodel, data, s["q"], s["v"], s["a"], fext)

    own = loaded.inverse_dynamics.n_instructions()  # of any wrenches at the feet
    assert count(model, pushed) <= 1.1 * own
