"""Centre of mass and centroidal momentum: equal to Pinocchio for every joint type, and the laws between them."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common.robots import load
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.errors import ModelError, UnsupportedError
from tests.dynamics.test_kinematics import branched, chain
from tests.helpers.models import JOINTS, QUICK_JOINTS, relative_error, states
from tests.helpers.sets import quick, with_extras

TIGHT = 1e-12
ROBOTS = ("panda7", "panda", "ur5", "solo12", "talos")
FUNCTIONS = (
    "center_of_mass_jacobian",
    "center_of_mass_velocity",
    "center_of_mass_acceleration",
    "centroidal_map",
    "centroidal_momentum",
    "centroidal_momentum_rate",
)

# Instructions of each of FUNCTIONS, at most.
LIMITS = {
    "panda7": (270, 180, 330, 690, 550, 760),
    "solo12": (470, 320, 560, 1400, 1000, 1360),
    "talos": (1380, 900, 1710, 3800, 2960, 4120),
}


def check(model: pin.Model, kin: Kinematics, tolerance: float) -> None:
    data = model.createData()
    for q, v, a in states(model, np.random.default_rng(5), 2):
        pin.computeCentroidalMap(model, data, q)
        pin.computeCentroidalMomentumTimeVariation(model, data, q, v, a)
        pin.centerOfMass(model, data, q, v, a)
        pairs = {
            "center_of_mass": (kin.center_of_mass(q), data.com[0]),
            "center_of_mass_jacobian": (kin.center_of_mass_jacobian(q), pin.jacobianCenterOfMass(model, data, q)),
            "center_of_mass_velocity": (kin.center_of_mass_velocity(q, v), data.vcom[0]),
            "center_of_mass_acceleration": (kin.center_of_mass_acceleration(q, v, a), data.acom[0]),
            "centroidal_map": (kin.centroidal_map(q), data.Ag),
            "centroidal_momentum": (kin.centroidal_momentum(q, v), data.hg.vector),
            "centroidal_momentum_rate": (kin.centroidal_momentum_rate(q, v, a), data.dhg.vector),
        }
        errors = {
            name: relative_error(own.full().reshape(np.shape(wanted)), wanted) for name, (own, wanted) in pairs.items()
        }
        assert max(errors.values()) < tolerance, errors
    assert kin.total_mass == pytest.approx(pin.computeTotalMass(model), rel=1e-15)


@pytest.mark.parametrize("joint", quick(sorted(JOINTS), *QUICK_JOINTS))
def test_equals_pinocchio_for_each_joint_type(joint: str) -> None:
    model = chain(joint)
    check(model, Kinematics(model, clean=0), TIGHT)


@pytest.mark.parametrize("seed", quick(range(3)))
def test_equals_pinocchio_in_any_order_of_joints_and_with_mimic(seed: int) -> None:
    model = branched(seed)
    check(model, Kinematics(model, clean=0), TIGHT)


@pytest.mark.parametrize("robot", with_extras(ROBOTS, "panda7"))
def test_equals_pinocchio_for_robots(robot: str) -> None:
    model = load(robot)
    check(model, Kinematics(model, clean=0), TIGHT)
    check(model, Kinematics(model), 1e-9)


@pytest.mark.parametrize("model", [*map(chain, ("Ellipsoid", "Spherical", "RY")), branched(0)])
def test_laws_between_the_functions(model: pin.Model) -> None:
    """Rates by differentiation, and ḣ is what gravity and the base exert."""
    kin = Kinematics(model, clean=0)
    q, v, a = (ca.SX.sym(name, n) for name, n in (("q", model.nq), ("v", model.nv), ("a", model.nv)))
    q_rate = kin.tree.configuration_rate(q, v)

    def rate(expression: ca.SX) -> ca.SX:
        return ca.jtimes(expression, q, q_rate) + ca.jtimes(expression, v, a)

    com, velocity = kin.center_of_mass(q), kin.center_of_mass_velocity(q, v)
    h, hdot = kin.centroidal_momentum(q, v), kin.centroidal_momentum_rate(q, v, a)
    acceleration = kin.center_of_mass_acceleration(q, v, a)
    pairs = [
        (rate(com), velocity),
        (rate(velocity), acceleration),
        (kin.center_of_mass_jacobian(q) @ v, velocity),
        (kin.centroidal_map(q) @ v, h),
        (kin.total_mass * velocity, h[:3]),
        (rate(h), hdot),
    ]
    laws = ca.Function("laws", [q, v, a], [ca.vertcat(*side) for side in zip(*pairs, strict=True)])
    for state in states(model, np.random.default_rng(1), 3):
        left, right = (x.full() for x in laws(*state))
        assert relative_error(left, right) < TIGHT


def test_pinocchio_takes_the_centre_of_mass_for_resting() -> None:
    """In computeCentroidalMapTimeVariation, unless its velocity was computed before; dccrba computes it."""
    model = load("panda7")
    (q, v, _), data, called_before = (
        states(model, np.random.default_rng(0), 1)[0],
        model.createData(),
        model.createData(),
    )
    alone = np.array(pin.computeCentroidalMapTimeVariation(model, data, q, v))
    pin.centerOfMass(model, called_before, q, v)
    true = np.array(pin.computeCentroidalMapTimeVariation(model, called_before, q, v))
    s, q_next = ca.SX.sym("s"), gd.Kinematics(model, clean=0).integrate
    along = ca.jacobian(Kinematics(model, clean=0).centroidal_map(q_next(q, s * v)), s)
    rate = ca.Function("rate", [s], [ca.reshape(along, 6, model.nv)])(0).full()
    assert relative_error(rate, true) < TIGHT
    pin.dccrba(model, data, q, v)
    assert relative_error(data.dAg, true) < TIGHT
    assert relative_error(alone[:3], true[:3]) < TIGHT
    assert relative_error(alone, true) > 0.01


@pytest.mark.parametrize("robot", with_extras(LIMITS, "panda7"))
def test_graphs_stay_within_their_limits(robot: str) -> None:
    kin = Kinematics(load(robot))
    found = {name: getattr(kin, name).n_instructions() for name in FUNCTIONS}
    limits = dict(zip(FUNCTIONS, LIMITS[robot], strict=True))
    assert {name: n for name, n in found.items() if n > limits[name]} == {}


def test_functions_are_named() -> None:
    kin = Kinematics(chain("PX"))
    inputs = ("q", "q v", "q v a", "q", "q v", "q v a")
    outputs = ("J", "velocity", "acceleration", "Ag", "h", "hdot")
    for name, given, result in zip(FUNCTIONS, inputs, outputs, strict=True):
        graph = getattr(kin, name)
        assert (graph.name(), " ".join(graph.name_in()), " ".join(graph.name_out())) == (name, given, result)
        assert graph.sparsity_out(0).is_dense()
        assert getattr(kin, name) is graph


def test_flexible_arms() -> None:
    beam = gd.Beam.tube(None, outer_diameter=0.1, wall=0.003, density=2700, youngs_modulus=70e9)
    arm = gd.FlexibleArm(gd.load_urdf("two_link_arm"), {"link1": gd.FlexibleLink(beam, keep_body=True)})
    kin, rng = Kinematics(arm.tree), np.random.default_rng(0)
    n = arm.tree.nv
    q, v, a = ca.SX.sym("q", n), ca.SX.sym("v", n), ca.SX.sym("a", n)
    com, velocity = kin.center_of_mass(q), kin.center_of_mass_velocity(q, v)
    pairs = [
        (ca.jtimes(com, q, v), velocity),
        (kin.center_of_mass_jacobian(q) @ v, velocity),
        (ca.jtimes(velocity, q, v) + ca.jtimes(velocity, v, a), kin.center_of_mass_acceleration(q, v, a)),
    ]
    laws = ca.Function("laws", [q, v, a], [ca.vertcat(*side) for side in zip(*pairs, strict=True)])
    left, right = (x.full() for x in laws(0.1 * rng.normal(size=n), rng.normal(size=n), rng.normal(size=n)))
    assert relative_error(left, right) < TIGHT
    # what moves all masses alike: gravity's generalized force is m g times the Jacobian
    state = 0.1 * rng.normal(size=n)
    weight = -kin.total_mass * arm.tree.gravity @ kin.center_of_mass_jacobian(state).full()
    assert relative_error(weight, arm.generalized_gravity(state).full().ravel()) < TIGHT


def test_base_parameters_and_no_mass() -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("puma560_3", check="off"), parameters=["base"])
    kin = Kinematics(dyn.at().tree)
    for name in ("center_of_mass", "total_mass", "centroidal_map"):
        with pytest.raises(UnsupportedError, match="base parameters determine torques, but neither masses nor momenta"):
            getattr(kin, name)
    model = pin.Model()
    model.name = "shaft"
    model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "joint")
    model.armature = np.ones(1)
    for name in FUNCTIONS:
        with pytest.raises(ModelError) as raised:
            getattr(Kinematics(model), name)
        assert str(raised.value) == "shaft: its links have no mass; there is no centre of mass"
