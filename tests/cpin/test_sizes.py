"""How large the graphs of clients are, beside those of our own Functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import robots
from gdalembert import cpin
from tests.helpers.sets import quick, with_extras

ALIGNED = pin.LOCAL_WORLD_ALIGNED
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


JOINTS = (
    *("RX", "RY", "RZ", "PX", "PY", "PZ", "RUBX", "Planar", "Translation"),
    *("Spherical", "SphericalZYX", "FreeFlyer"),
)
ROBOTS = {"arm": arm, "quadruped": quadruped, "humanoid": lambda: pin.buildSampleModelHumanoid(True)}


def count(model: pin.Model, expression: Callable[[dict[str, ca.SX]], Any], forces: int = 0) -> int:
    s = {name: ca.SX.sym(name, model.nq if name == "q" else model.nv) for name in ("q", "v", "a")}
    s["f"] = ca.SX.sym("f", 3, forces)
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


@cache
def libraries(robot: str) -> tuple[pin.Model, cpin.Model, gd.NewtonEuler, gd.Kinematics]:
    """A robot of ROBOTS, and its Functions, by Pinocchio's names and by ours."""
    model = ROBOTS[robot]()
    return model, cpin.Model(model), gd.NewtonEuler(model), gd.Kinematics(model).by_index()


@pytest.mark.parametrize("name", quick(ONE, "rnea", "crba", "position"))
@pytest.mark.parametrize("robot", quick(ROBOTS, "arm"))
def test_one_result_is_as_large_as_our_own(name: str, robot: str) -> None:
    model, cmodel, dyn, kin = libraries(robot)
    client, own = ONE[name]
    theirs = count(model, lambda s: client(cmodel, cmodel.createData(), s))
    assert theirs <= 1.02 * count(model, lambda s: own(dyn, kin, s))


def random_tree(seed: int) -> pin.Model:
    """Joints of all types, half of them placed by random rotations, each with a frame placed by another one."""
    pin.seed(seed)
    rng, model = np.random.default_rng(seed), pin.Model()
    for k in range(8):
        joint = getattr(pin, f"JointModel{rng.choice(JOINTS)}")
        at = pin.SE3.Random() if rng.random() < 0.5 else pin.SE3(np.eye(3), rng.normal(size=3))
        model.addJoint(int(rng.integers(0, k + 1)), joint(), at, f"joint{k}")
    for k in range(1, model.njoints):
        model.addFrame(pin.Frame(f"frame{k}", k, pin.SE3.Random(), pin.OP_FRAME))
    return model


def read(cmodel: cpin.Model, s: dict[str, ca.SX], *frames: int) -> list[ca.SX]:
    """R and p of placements, one after another."""
    cpin.framesForwardKinematics(cmodel, data := cmodel.createData(), s["q"])
    return [ca.horzcat(data.oMf[frame].rotation, data.oMf[frame].translation) for frame in frames]


def read_our_own(kin: gd.Kinematics, s: dict[str, ca.SX], *frames: int) -> list[ca.SX]:
    """The same, of one Function."""
    placed = [kin.frame_placement(*frames)(s["q"])] if len(frames) == 1 else kin.frame_placements(frames)(s["q"])
    return [ca.densify(T[:3, :]) for T in placed]


def last_frames(model: pin.Model) -> list[int]:
    """The last frame of each joint."""
    return [*{frame.parentJoint: k for k, frame in enumerate(model.frames) if frame.parentJoint}.values()]


def check_placements_alone(model: pin.Model, frames: Iterable[int]) -> None:
    """Whichever frame is read, its graph is within 2 % of our own Function, or two instructions of small ones."""
    cmodel, kin = cpin.Model(model), gd.Kinematics(model).by_index()
    for frame in frames:
        own = count(model, lambda s, frame=frame: read_our_own(kin, s, frame))
        theirs = count(model, lambda s, frame=frame: read(cmodel, s, frame))
        assert theirs <= max(1.02 * own, own + 2), model.frames[frame].name


@pytest.mark.parametrize(
    "robot",
    [*quick(ROBOTS, "arm", "quadruped"), *with_extras(["ur5", "panda", "kinova", "solo12", "talos"])],
)
def test_a_placement_alone_is_as_large_as_our_own(robot: str) -> None:
    model = ROBOTS[robot]() if robot in ROBOTS else robots.load(robot)
    check_placements_alone(model, last_frames(model))


def test_a_placement_of_a_random_tree_is_as_large_as_our_own() -> None:
    model = random_tree(0)
    check_placements_alone(model, last_frames(model)[:4])


@pytest.mark.long
@pytest.mark.parametrize("seed", [18, 28, 31])
def test_placements_of_random_trees_are_as_large_as_our_own(seed: int) -> None:
    model = random_tree(seed)
    check_placements_alone(model, range(1, model.nframes))
    cmodel, kin, frames = cpin.Model(model), gd.Kinematics(model).by_index(), last_frames(model)
    rng = np.random.default_rng(seed)
    for number in (2, 3, len(frames)):
        chosen = [int(k) for k in rng.permutation(frames)[:number]]
        own = count(model, lambda s, chosen=chosen: read_our_own(kin, s, *chosen))
        assert count(model, lambda s, chosen=chosen: read(cmodel, s, *chosen)) <= 1.1 * own


@pytest.mark.parametrize("frame", [-1, 4])
def test_the_error_of_a_pose_is_up_to_a_tenth_larger_than_our_own(frame: int) -> None:
    """As the page says: it is of several calls, two objects between them."""
    model = gd.load_urdf("panda7")
    cmodel, k, q, target = cpin.Model(model), range(model.nframes)[frame], ca.SX.sym("q", 7), ca.SX.sym("T", 4, 4)
    data, own = cmodel.createData(), gd.Kinematics(model).by_index().frame_error(k).n_instructions()
    cpin.framesForwardKinematics(cmodel, data, q)
    for apart in (data.oMf[k].actInv(cpin.SE3(target)), data.oMf[k].inverse() * cpin.SE3(target)):
        composed = ca.Function("error", [q, target], [cpin.log6(apart).vector]).n_instructions()
        assert own < composed <= 1.1 * own


Several = Callable[[cpin.Model, Any, list[int], dict[str, ca.SX]], Any]


def tips(model: pin.Model) -> list[int]:
    """The last frame of each limb; of an arm, its last three."""
    ends = [k for k in range(1, model.njoints) if k not in list(model.parents)]
    last = [max(i for i, frame in enumerate(model.frames) if frame.parentJoint == k) for k in ends]
    return last if len(last) > 1 else [model.nframes - 1, model.nframes - 3, model.nframes - 5]


def placements(m: cpin.Model, d: cpin.Data, frames: list[int], s: dict[str, ca.SX]) -> list[Any]:
    cpin.framesForwardKinematics(m, d, s["q"])
    return [d.oMf[k] for k in frames]


def jacobians(m: cpin.Model, d: cpin.Data, frames: list[int], s: dict[str, ca.SX]) -> list[ca.SX]:
    cpin.computeJointJacobians(m, d, s["q"])
    cpin.updateFramePlacements(m, d)
    return [cpin.getFrameJacobian(m, d, k, ALIGNED) for k in frames]


def terms(m: cpin.Model, d: cpin.Data, frames: list[int], s: dict[str, ca.SX]) -> list[ca.SX]:
    cpin.computeAllTerms(m, d, s["q"], s["v"])
    return [d.M, d.nle]


def pushed(m: cpin.Model, d: cpin.Data, frames: list[int], s: dict[str, ca.SX]) -> ca.SX:
    """tau under forces in the axes of the universe, as legged robots have them at their feet."""
    cpin.framesForwardKinematics(m, d, s["q"])
    fext = [cpin.Force.Zero() for _ in range(m.njoints)]
    for column, k in enumerate(frames):
        force = cpin.Force(d.oMf[k].rotation.T @ s["f"][:, column], ca.SX(3, 1))
        fext[m.frames[k].parentJoint] += m.frames[k].placement.act(force)
    return cpin.rnea(m, d, s["q"], s["v"], s["a"], fext)


def by_rotations(m: pin.Model, kin: gd.Kinematics, frames: list[int], s: dict[str, ca.SX]) -> ca.SX:
    """The same tau by our own Functions of what the client reads: the rotations of its feet."""
    placed = kin.frame_placements(frames)(s["q"])
    forces = ca.horzcat(*(T[:3, :3].T @ s["f"][:, column] for column, T in enumerate(placed)))
    dyn = gd.NewtonEuler(m, wrenches={m.frames[k].name: (pin.LOCAL, "3D") for k in frames})
    return dyn.inverse_dynamics(s["q"], s["v"], s["a"], forces)


def maps(m: cpin.Model, d: cpin.Data, frames: list[int], s: dict[str, ca.SX]) -> list[ca.SX]:
    cpin.dccrba(m, d, s["q"], s["v"])
    return [d.Ag, d.dAg]


SEVERAL: dict[str, tuple[Several, Several, float]] = {
    "placements": (
        lambda *given: [placed.homogeneous for placed in placements(*given)],
        lambda m, kin, frames, s: list(kin.frame_placements(frames)(s["q"])),
        1.02,
    ),
    "positions": (
        lambda *given: [placed.translation for placed in placements(*given)],
        lambda m, kin, frames, s: [placed[:3, 3] for placed in kin.frame_placements(frames)(s["q"])],
        1.02,
    ),
    "jacobians": (  # what frames of one chain share is left to ca.cse, here as there
        jacobians,
        lambda m, kin, frames, s: [kin.frame_jacobian(k, ALIGNED)(s["q"]) for k in frames],
        1.0,
    ),
    "mass matrix and nle": (
        terms,
        lambda m, kin, frames, s: ca.cse([(dyn := gd.NewtonEuler(m)).mass_matrix(s["q"]), dyn.nle(s["q"], s["v"])]),
        1.1,
    ),
    "rnea under forces": (
        pushed,
        lambda m, kin, frames, s: ca.cse([by_rotations(m, kin, frames, s)]),
        1.03,
    ),
    "centroidal maps": (
        maps,
        lambda m, kin, frames, s: ca.cse([kin.centroidal_map(s["q"]), kin.centroidal_map_rate(s["q"], s["v"])]),
        0.95,  # which does not see that x - y is y - x
    ),
}
"""Several results, by the client and by our own Functions, and how much larger the first may be."""


@pytest.mark.parametrize("name", quick(SEVERAL, "placements", "positions"))
@pytest.mark.parametrize("robot", quick(ROBOTS, "quadruped"))
def test_several_results_are_hardly_larger_than_our_own(name: str, robot: str) -> None:
    (model, cmodel, _, kin), (client, own, bound) = libraries(robot), SEVERAL[name]
    frames = tips(model)
    theirs = count(model, lambda s: client(cmodel, cmodel.createData(), frames, s), len(frames))
    assert theirs <= bound * count(model, lambda s: own(model, kin, frames, s), len(frames))


@pytest.mark.long
@pytest.mark.parametrize("robot", ROBOTS)
def test_forces_at_feet_are_smaller_by_their_own_name(robot: str) -> None:
    """A client turns them by whole rotations of its feet; ``wrenches`` turn one vector from link to link."""
    model, frames = ROBOTS[robot](), tips(ROBOTS[robot]())
    feet = [model.frames[k].name for k in frames]
    cmodel, dyn = cpin.Model(model), gd.NewtonEuler(model, wrenches=dict.fromkeys(feet, (ALIGNED, "3D")))
    theirs = count(model, lambda s: pushed(cmodel, cmodel.createData(), frames, s), len(frames))
    own = count(model, lambda s: dyn.inverse_dynamics(s["q"], s["v"], s["a"], s["f"]), len(frames))
    assert own < theirs <= 1.21 * own


@pytest.mark.long
@pytest.mark.parametrize("robot", quick(ROBOTS, "quadruped"))
def test_the_rate_of_the_momentum_alone_is_smaller_by_its_own_name(robot: str) -> None:
    model, kin = ROBOTS[robot](), gd.Kinematics(ROBOTS[robot]()).by_index()
    cmodel = cpin.Model(model)

    def by_maps(s: dict[str, ca.SX]) -> ca.SX:
        ag, dag = maps(cmodel, cmodel.createData(), [], s)
        return ag @ s["a"] + dag @ s["v"]

    def by_name(s: dict[str, ca.SX]) -> ca.SX:
        data = cmodel.createData()
        return cpin.computeCentroidalMomentumTimeVariation(cmodel, data, s["q"], s["v"], s["a"]).vector

    own = count(model, lambda s: kin.centroidal_momentum_rate(s["q"], s["v"], s["a"]))
    assert count(model, by_name) <= 1.02 * own
    assert count(model, by_maps) > 2 * own
