"""Rotors: exact coupling by mimic joints, against Pinocchio, a projection, and the equations of the source."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, ArgumentTypeError, ModelError, UnknownNameError
from gdalembert.model import read_tree
from tests.helpers.models import JOINTS, build, inertia, placement, relative_error, states, unit
from tests.helpers.sets import quick

TIGHT = 1e-12
Rotors = dict[str, gd.Rotor]
GEARED = [name for name in JOINTS if name[0] in "RPH" and name != "Planar"]


def puma(rng: np.random.Generator) -> tuple[pin.Model, Rotors]:
    """As built: joints 2 and 3 are driven from the links before them, the wrist from the forearm."""
    model = gd.load_urdf("puma560")
    rotors = {f"joint{k}": gd.Rotor(2e-4, 60.0 + k) for k in (1, 2, 3)}
    for k in (4, 5, 6):
        rotors[f"joint{k}"] = gd.Rotor(3e-5, -70.0 - k, carrier="link3", axis=unit(rng))
    return model, rotors


def panda(rng: np.random.Generator) -> tuple[pin.Model, Rotors]:
    model = gd.load_urdf("panda7")
    return model, {name: gd.Rotor(1e-4, 100.0) for name in model.names[1:]}


def floating_tree(rng: np.random.Generator) -> tuple[pin.Model, Rotors]:
    """Every kind of joint that can have a rotor, and every kind of carrier."""
    names = ["FreeFlyer", "RX", "PrismaticUnaligned", "RUBZ", "RevoluteUnaligned", "PX", "Spherical", "RZ", "HY"]
    model = build(rng, names, [0, 1, 2, 3, 1, 5, 5, 7, 8], mimic=2)
    return model, {
        "RX_1": gd.Rotor(0.02, 9.0),
        "PrismaticUnaligned_2": gd.Rotor(0.03, -7.0),
        "RUBZ_3": gd.Rotor(0.05, 3.5, carrier="body_0", axis=unit(rng)),  # in the axes of a frame
        "RevoluteUnaligned_4": gd.Rotor(0.01, 6.0, carrier="universe"),
        "PX_5": gd.Rotor(0.02, 8.0, carrier="RUBZ_3"),  # in another branch
        "RZ_7": gd.Rotor(0.04, 5.0, carrier="FreeFlyer_0"),  # further up
        "HY_8": gd.Rotor(0.02, 6.0),
        "mimic": gd.Rotor(0.02, 4.0),
    }


ROBOTS: dict[str, Callable[[np.random.Generator], tuple[pin.Model, Rotors]]] = {
    "puma560": puma,
    "panda7": panda,
    "floating_tree": floating_tree,
}


def robot(name: str) -> tuple[pin.Model, Rotors]:
    return ROBOTS[name](np.random.default_rng(5))


def spin(model: pin.Model, name: str, rotor: gd.Rotor) -> tuple[int, np.ndarray]:
    """The joint of the carrier b, and u in its axes: read from the model at q = 0, in a way of its own."""
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    joint = model.getJointId(name)
    if rotor.carrier is None:
        carrier, given = model.parents[joint], data.oMi[model.parents[joint]]
    elif model.existJointName(rotor.carrier):
        carrier, given = model.getJointId(rotor.carrier), data.oMi[model.getJointId(rotor.carrier)]
    else:
        frame = model.getFrameId(rotor.carrier)
        carrier, given = model.frames[frame].parentJoint, data.oMf[frame]
    if rotor.axis is not None:
        u = given.rotation @ np.array(rotor.axis)
    else:
        tree = read_tree(model)
        own = tree.joints[tree.links[joint - 1]].type.axis
        u = data.oMi[model.parents[joint]].rotation @ model.jointPlacements[joint].rotation @ np.array(own)
    return carrier, data.oMi[carrier].rotation.T @ u


def locked(model: pin.Model, rotors: Mapping[str, gd.Rotor]) -> pin.Model:
    """The axial inertia of each rotor as a part of its carrier."""
    result = model.copy()
    for name, rotor in rotors.items():
        carrier, u = spin(model, name, rotor)
        if carrier:
            result.appendBodyToJoint(
                carrier, pin.Inertia(0, np.zeros(3), rotor.inertia * np.outer(u, u)), pin.SE3.Identity()
            )
    return result


def motors(
    model: pin.Model, rotors: Mapping[str, gd.Rotor], q: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """D_act and H_act, equation by equation: generalized d'Alembert, third part "act".

    z_j, the axes of the rotary joints between the base and b, are the angular rows of b's Jacobian. A joint that mimics
    has k times its own scaling for k.
    """
    d, h = np.zeros((model.nv, model.nv)), np.zeros(model.nv)
    tree, data = read_tree(model), model.createData()
    pin.computeJointJacobians(model, data, q)
    pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
    for name, rotor in rotors.items():
        b, own = spin(model, name, rotor)
        joint = tree.joints[tree.links[model.getJointId(name) - 1]]
        i, k = joint.idx_v, rotor.ratio * (joint.scaling or 1.0)
        z = pin.getJointJacobian(model, data, b, pin.WORLD)[3:] if b else np.zeros((3, model.nv))
        u = data.oMi[b].rotation @ own
        omega = pin.getFrameVelocity(model, data, 0).angular if not b else data.oMi[b].rotation @ data.v[b].angular
        alpha = data.oMi[b].rotation @ data.a[b].angular
        coupling = k * rotor.inertia * (u @ z)
        d[i, i] += k**2 * rotor.inertia
        d[i] += coupling
        d[:, i] += coupling
        h[i] += k * rotor.inertia * (u @ alpha)
        h += k * rotor.inertia * v[i] * (z.T @ np.cross(omega, u))
    return d, h


def check_equations(model: pin.Model, rotors: Rotors) -> None:
    bodies, geared = locked(model, rotors), gd.with_rotors(model, rotors)
    for q, v, a in states(model, np.random.default_rng(0), 5):
        d, h = motors(model, rotors, q, v)
        tau = pin.rnea(bodies, bodies.createData(), q, v, a) + d @ a + h
        assert np.abs(h).max() > 1e-4  # gyroscopic, far above the tolerance
        assert relative_error(pin.rnea(geared, geared.createData(), q, v, a), tau) < TIGHT


@pytest.mark.long
@pytest.mark.parametrize("name", quick(ROBOTS, "floating_tree"))
def test_rotors_obey_the_equations_of_the_source(name: str) -> None:
    check_equations(*robot(name))


def test_a_rotor_with_mass_equals_a_free_body_that_is_projected() -> None:
    """tau = Gᵀ rnea(G v) of the model in which every rotor moves freely, with G = [1; diag(k)]."""
    rng = np.random.default_rng(2)
    model = build(rng, ["FreeFlyer", "RX", "RevoluteUnaligned", "PX", "RY"], [0, 1, 2, 3, 1])
    ratios = {"RX_1": 7.0, "RevoluteUnaligned_2": -11.0, "PX_3": 5.0, "RY_4": 3.0}
    rotors, free = {}, model.copy()
    carriers = {"RX_1": 1, "RevoluteUnaligned_2": 0, "PX_3": 5, "RY_4": 4}
    for name, carrier in carriers.items():
        body, at, axis = inertia(rng), placement(rng), unit(rng)
        rotors[name] = gd.Rotor(body, ratios[name], model.names[carrier], axis, at)
        own = pin.JointModelRevoluteUnaligned(at.rotation.T @ axis)
        free.appendBodyToJoint(free.addJoint(carrier, own, at, f"free_{name}"), body, pin.SE3.Identity())
    armature, bare = model.armature, free.copy()
    free.armature, bare.armature = np.append(armature, np.zeros(4)), np.zeros(free.nv)
    coupling = np.zeros((4, model.nv))
    for row, (name, ratio) in enumerate(ratios.items()):
        coupling[row, model.joints[model.getJointId(name)].idx_v] = ratio
    coupled = np.vstack([np.eye(model.nv), coupling])
    geared = gd.with_rotors(model, rotors)
    dyn = gd.NewtonEuler(geared, clean=0)
    for q, v, a in states(model, rng, 3):
        q_free = np.append(q, coupling @ np.append(np.zeros(6), q[7:]))
        tau = coupled.T @ pin.rnea(free, free.createData(), q_free, coupled @ v, coupled @ a)
        potential = pin.computePotentialEnergy(free, free.createData(), q_free)
        kinetic = pin.computeKineticEnergy(bare, bare.createData(), q_free, coupled @ v) + 0.5 * v @ (armature * v)
        assert relative_error(pin.rnea(geared, geared.createData(), q, v, a), tau) < TIGHT
        assert relative_error(dyn.inverse_dynamics(q, v, a).full().ravel(), tau) < TIGHT
        assert relative_error(float(dyn.potential_energy(q)), potential) < TIGHT
        assert relative_error(float(dyn.kinetic_energy(q, v)), kinetic) < TIGHT


@pytest.mark.long
def test_rotors_are_cheap() -> None:
    """docs/rotors.md says how many instructions they add."""
    model, _ = robot("puma560")
    geared = gd.with_rotors(model, {name: gd.Rotor(1e-4, 50.0) for name in model.names[1:]})
    assert gd.NewtonEuler(model).inverse_dynamics.n_instructions() <= 365
    assert gd.NewtonEuler(geared).inverse_dynamics.n_instructions() <= 448


def test_a_rotor_on_the_base_is_an_armature() -> None:
    """Where nothing turns the carrier, D_act is its diagonal; H_act is zero."""
    model, _ = robot("puma560")
    geared = gd.with_rotors(model, {"joint2": gd.Rotor(2e-3, 30.0, carrier="universe")})
    armature = model.copy()
    armature.armature = model.armature + 2e-3 * 30.0**2 * np.eye(6)[1]
    for q, v, a in states(model, np.random.default_rng(4), 3):
        tau = pin.rnea(armature, armature.createData(), q, v, a)
        assert relative_error(pin.rnea(geared, geared.createData(), q, v, a), tau) < TIGHT


def test_all_else_stays_as_it_is() -> None:
    model, rotors = robot("floating_tree")
    model.upperPositionLimit = np.arange(model.nq, dtype=float)
    model.upperEffortLimit = np.arange(model.nv, dtype=float)
    model.referenceConfigurations["rest"] = pin.neutral(model)
    before, count = model.copy(), len(rotors)
    geared = gd.with_rotors(model, rotors)
    assert model == before
    assert (geared.nq, geared.nv, geared.njoints) == (model.nq, model.nv, model.njoints + count)
    for name in ("armature", "damping", "upperPositionLimit", "lowerPositionLimit", "upperEffortLimit", "gravity"):
        assert np.array_equal(getattr(geared, name), getattr(model, name)), name
    for name in ("names", "joints", "parents", "jointPlacements", "inertias", "frames"):
        kept = list(getattr(geared, name))[: len(getattr(model, name))]
        assert kept == list(getattr(model, name)), name
    assert np.array_equal(geared.referenceConfigurations["rest"], pin.neutral(model))
    assert [frame.name for frame in list(geared.frames)[model.nframes :]] == [f"{name}_rotor" for name in rotors]
    assert gd.with_rotors(model, {}) == model


def test_a_joint_with_two_motors() -> None:
    """Rotors add: a second call gives the joint another one."""
    model, _ = robot("puma560")
    once = gd.with_rotors(model, {"joint3": gd.Rotor(4e-4, 50.0)})
    half = {"joint3": gd.Rotor(2e-4, 50.0)}
    twice = gd.with_rotors(gd.with_rotors(model, half), half)
    assert list(twice.names)[-2:] == ["joint3_rotor", "joint3_rotor2"]
    for q, v, a in states(model, np.random.default_rng(6), 2):
        tau = pin.rnea(once, once.createData(), q, v, a)
        assert relative_error(pin.rnea(twice, twice.createData(), q, v, a), tau) < TIGHT


def test_the_place_of_an_axial_inertia_is_irrelevant_that_of_a_mass_is_not() -> None:
    model, _ = robot("puma560")
    q, v, a = states(model, np.random.default_rng(7), 1)[0]

    def tau(rotor: gd.Rotor) -> np.ndarray:
        geared = gd.with_rotors(model, {"joint3": rotor})
        return np.asarray(pin.rnea(geared, geared.createData(), q, v, a))

    there = pin.SE3(np.eye(3), np.array([0.1, 0.2, 0.3]))
    axial, heavy = gd.Rotor(2e-4, 50.0), gd.Rotor(pin.Inertia(0.5, np.zeros(3), 1e-4 * np.diag([1, 1, 2])), 50.0)
    assert relative_error(tau(replace(axial, placement=there)), tau(axial)) < TIGHT
    assert relative_error(tau(replace(heavy, placement=there)), tau(heavy)) > 1e-3


def test_the_default_placement_is_the_frame_of_the_joint() -> None:
    """Also where other joints lie between it and its carrier, whatever the axis."""
    model, _ = robot("floating_tree")
    body = pin.Inertia(0.5, np.array([0.01, 0.02, 0.03]), 1e-2 * np.diag([1.0, 1.5, 2.0]))
    geared = gd.with_rotors(model, {"RZ_7": gd.Rotor(body, 5.0, carrier="FreeFlyer_0")})
    data = geared.createData()
    pin.forwardKinematics(geared, data, pin.neutral(geared))
    joint, rotor = geared.getJointId("RZ_7"), geared.getJointId("RZ_7_rotor")
    assert data.oMi[rotor].isApprox(data.oMi[joint], 1e-12)
    assert geared.inertias[rotor].isApprox(body, 1e-12)


def test_an_uneven_rotor_of_a_continuous_joint_needs_an_integer_ratio() -> None:
    """(cos, sin) does not tell how often the joint has turned."""
    model = build(np.random.default_rng(0), ["RX", "RUBX", "RX"], [0, 1, 2])
    uneven = pin.Inertia(0.5, np.zeros(3), np.diag([1.0, 1.5, 2.0]))
    even = pin.Inertia(0.5, np.array([0.1, 0.0, 0.0]), np.diag([2.0, 1.0, 1.0]))
    message = (
        "with_rotors: joint 'RUBX_1': is continuous, and its q does not tell the angle of a rotor with the ratio 2.5; "
        "give a rotor that is symmetric about its axis, or an integer ratio"
    )
    with pytest.raises(ArgumentError, match=message):
        gd.with_rotors(model, {"RUBX_1": gd.Rotor(uneven, 2.5)})
    for rotor in (gd.Rotor(uneven, 3.0), gd.Rotor(even, 2.5)):
        geared = gd.with_rotors(model, {"RUBX_1": rotor})
        dyn = gd.NewtonEuler(geared, clean=0)
        for q, v, a in states(model, np.random.default_rng(8), 3):
            tau = pin.rnea(geared, geared.createData(), q, v, a)
            assert relative_error(dyn.inverse_dynamics(q, v, a).full().ravel(), tau) < TIGHT


def test_an_armature_that_counts_the_rotor_is_refused() -> None:
    model, _ = robot("puma560")
    message = (
        r"with_rotors: joint 'joint2': its armature 4.71 already counts the rotor \(ratio² × inertia is 4.7\); "
        "set it to zero in the model"
    )
    with pytest.raises(ArgumentError, match=message):
        gd.with_rotors(model, {"joint2": gd.Rotor(4.7e-4, 100.0)})
    model.armature = np.where(np.arange(6) == 1, 0.0, model.armature)
    assert gd.with_rotors(model, {"joint2": gd.Rotor(4.7e-4, 100.0)}).armature[1] == 0


def test_a_rotor_is_a_value() -> None:
    body = pin.Inertia(0.5, np.zeros(3), np.diag([1.0, 1.5, 2.0]))
    rotor = gd.Rotor(body, 5.0, "link1", [0, 0, 1], np.eye(4))
    body.mass = 7.0
    assert rotor.inertia.mass == 0.5
    assert rotor == gd.Rotor(rotor.inertia, 5.0, "link1", (0, 0, 1), pin.SE3.Identity())
    assert pickle.loads(pickle.dumps(rotor)) == rotor
    assert rotor != replace(rotor, ratio=6.0)


ROTOR = gd.Rotor(1e-4, 50.0)
NEGATIVE_MASS, NEGATIVE_MOMENT = pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.Inertia(1.0, np.zeros(3), np.eye(3))
NEGATIVE_MASS.mass, NEGATIVE_MOMENT.inertia = -1.0, np.diag([1.0, 1.0, -2.0])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"inertia": -1e-4}, ArgumentError, "Rotor: inertia: got -0.0001; give one finite number"),
        ({"inertia": np.nan}, ArgumentError, "Rotor: inertia: got nan; give one finite number"),
        ({"inertia": "1e-4"}, ArgumentTypeError, r"Rotor: inertia: expected a number \[kg m², or a pin.Inertia\], got"),
        ({"inertia": NEGATIVE_MASS}, ModelError, "Rotor: inertia: the rotor has the negative mass -1 kg; give a mass"),
        ({"inertia": NEGATIVE_MOMENT}, ModelError, "Rotor: inertia: the rotor has the negative principal moment -2 kg"),
        ({"ratio": 0}, ArgumentError, r"Rotor: ratio: got 0; give one number other than 0 \[rad/rad, or rad/m\]"),
        ({"ratio": np.inf}, ArgumentError, "Rotor: ratio: it is inf; give finite numbers"),
        ({"ratio": [1.0, 2.0]}, ArgumentError, r"Rotor: ratio: got \[1.0, 2.0\]; give one number other than 0"),
        ({"ratio": "50"}, ArgumentTypeError, "Rotor: ratio: expected a number, got '50'"),
        ({"carrier": 3}, ArgumentTypeError, "Rotor: carrier: expected the name of a joint or frame, got 3"),
        ({"axis": [0, 0, 2]}, ArgumentError, r"Rotor: axis \[0.0, 0.0, 2.0\] has length 2; give a unit vector"),
        ({"axis": [0, 1]}, ArgumentError, r"Rotor: axis has shape \(2,\); give \(3,\)"),
        ({"placement": np.diag([2, 1, 1, 1])}, ArgumentError, "Rotor: placement: its columns n, o, a are not"),
        ({"placement": "here"}, ArgumentTypeError, "Rotor: placement: expected a pin.SE3 or 4 × 4 numbers, got 'here'"),
    ],
)
def test_arguments_of_a_rotor_are_checked(arguments: dict[str, object], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        gd.Rotor(**{"inertia": 1e-4, "ratio": 50.0, **arguments})


@pytest.mark.parametrize(
    ("rotors", "error", "message"),
    [
        ({"joint9": ROTOR}, UnknownNameError, "no joint named 'joint9'; nearest: 'joint"),
        ({"joint2": 50.0}, ArgumentTypeError, "with_rotors: joint 'joint2': expected a Rotor, got float"),
        ([ROTOR], ArgumentTypeError, r"with_rotors: expected {joint: Rotor}, got list"),
        (
            {"joint2": replace(ROTOR, carrier="link0")},
            UnknownNameError,
            "no carrier of the rotor of joint 'joint2' named 'link0'; nearest: 'link",
        ),
        (
            {"joint2": replace(ROTOR, carrier="link4")},
            ArgumentError,
            "with_rotors: joint 'joint2': moves the carrier of its rotor, 'link4'; give a link that it does not move",
        ),
        ({"joint2": replace(ROTOR, carrier="joint2")}, ArgumentError, "joint 'joint2': moves the carrier of its rotor"),
    ],
)
def test_rotors_that_fit_nowhere_are_refused(rotors: Rotors, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        gd.with_rotors(gd.load_urdf("puma560"), rotors)


def test_models_that_are_none_are_refused() -> None:
    model = gd.load_urdf("puma560")
    with pytest.raises(ArgumentTypeError, match=r"with_rotors: expected a pin.Model, got a Tree; pass the model that"):
        gd.with_rotors(read_tree(model), {"joint2": ROTOR})
    with pytest.raises(ArgumentTypeError, match=r"expected a pin.Model, got str"):
        gd.with_rotors("puma560", {"joint2": ROTOR})


def test_a_carrier_of_two_meanings_is_refused() -> None:
    model = gd.load_urdf("puma560")
    model.addBodyFrame("joint1", model.getJointId("joint2"), pin.SE3.Identity(), 0)
    message = (
        "with_rotors: joint 'joint3': several joints or frames are named 'joint1', as the carrier of its rotor; re"
    )
    with pytest.raises(ArgumentError, match=message):
        gd.with_rotors(model, {"joint3": replace(ROTOR, carrier="joint1")})


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in JOINTS if name not in GEARED])
def test_other_joints_have_no_rotor(name: str) -> None:
    model = build(np.random.default_rng(0), ["RX", name], [0, 1])
    message = f"with_rotors: joint '{name}_1': is of type {name}; a rotor needs a revolute, continuous, prismatic or "
    with pytest.raises(ArgumentError, match=message):
        gd.with_rotors(model, {f"{name}_1": ROTOR})


def test_pinocchios_coriolis_matrix_is_wrong_with_mimic_joints() -> None:
    """If this fails, Pinocchio has been mended, and docs/conventions.md too must be."""
    geared = gd.with_rotors(*robot("puma560"))
    q, v, _ = states(geared, np.random.default_rng(9), 1)[0]
    data, zero = geared.createData(), np.zeros(6)
    nle = pin.rnea(geared, data, q, v, zero) - pin.rnea(geared, geared.createData(), q, zero, zero)
    assert relative_error(pin.computeCoriolisMatrix(geared, geared.createData(), q, v) @ v, nle) > 1e-3
