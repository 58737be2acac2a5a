"""Quantities of Pinocchio, each written once: with ``pin`` it is evaluated in numbers, with ``cpin`` it is a graph."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import cpin
from tests.helpers.models import CONSTANT_SUBSPACE, JOINTS, build, relative_error, states
from tests.helpers.sets import quick

LOCAL, WORLD, ALIGNED = REFERENCES = (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED)
Program = Callable[[ModuleType, Any, Any, SimpleNamespace], Any]
"""A client's program of (library, model, data, state)."""

PROGRAMS: dict[str, Program] = {}
WHERE_PIN_IS_RIGHT = set[str]()
"""Programs that Pinocchio evaluates rightly only where no motion subspace depends on q."""


def program(function: Program) -> Program:
    PROGRAMS[function.__name__] = function
    return function


def constant_subspace(function: Program) -> Program:
    WHERE_PIN_IS_RIGHT.add(function.__name__)
    return program(function)


def swept(lib: ModuleType, model: Any, data: Any, s: SimpleNamespace) -> None:
    lib.forwardKinematics(model, data, s.q, s.v, s.a)
    lib.updateFramePlacements(model, data)


@program
def placements_of_joints(lib, model, data, s):
    lib.forwardKinematics(model, data, s.q)
    return [data.oMi[k] for k in range(1, model.njoints)]


@program
def placements_in_parents(lib, model, data, s):
    lib.forwardKinematics(model, data, s.q)
    return [data.liMi[k] for k in range(1, model.njoints)]


@program
def placements_of_frames(lib, model, data, s):
    lib.framesForwardKinematics(model, data, s.q)
    return list(data.oMf)


@program
def placement_of_one_frame(lib, model, data, s):
    lib.forwardKinematics(model, data, s.q)
    return lib.updateFramePlacement(model, data, s.frame)


@program
def relative_placement_of_two_frames(lib, model, data, s):
    lib.framesForwardKinematics(model, data, s.q)
    return data.oMf[s.frame].actInv(data.oMf[1])


@program
def inverse_kinematics_error(lib, model, data, s):
    lib.framesForwardKinematics(model, data, s.q)
    return lib.log6(data.oMf[s.frame].inverse() * lib.SE3(s.target))


@program
def velocities_of_joints(lib, model, data, s):
    swept(lib, model, data, s)
    return [data.v[k] for k in range(1, model.njoints)]


@program
def accelerations_of_joints(lib, model, data, s):
    swept(lib, model, data, s)
    return [data.a[k] for k in range(1, model.njoints)]


def _of_frames(name: str) -> None:
    def read(lib, model, data, s):
        swept(lib, model, data, s)
        return [getattr(lib, name)(model, data, s.frame, reference) for reference in REFERENCES]

    read.__name__ = name
    program(read)


def _of_joints(name: str) -> None:
    def read(lib, model, data, s):
        swept(lib, model, data, s)
        return [getattr(lib, name)(model, data, s.joint, reference) for reference in REFERENCES]

    read.__name__ = name
    program(read)


for _name in ("getFrameVelocity", "getFrameAcceleration", "getFrameClassicalAcceleration"):
    _of_frames(_name)
for _name in ("getVelocity", "getAcceleration", "getClassicalAcceleration"):
    _of_joints(_name)


@program
def getFrameJacobian(lib, model, data, s):
    lib.computeJointJacobians(model, data, s.q)
    lib.updateFramePlacements(model, data)
    return [lib.getFrameJacobian(model, data, s.frame, reference) for reference in REFERENCES]


@program
def computeFrameJacobian(lib, model, data, s):
    return [lib.computeFrameJacobian(model, data, s.q, s.frame, reference) for reference in REFERENCES]


@program
def getJointJacobian(lib, model, data, s):
    lib.computeJointJacobians(model, data, s.q)
    return [lib.getJointJacobian(model, data, s.joint, reference) for reference in REFERENCES]


@program
def computeJointJacobian(lib, model, data, s):
    return lib.computeJointJacobian(model, data, s.q, s.joint)


@program
def computeJointJacobians(lib, model, data, s):
    lib.computeJointJacobians(model, data, s.q)
    return data.J


@constant_subspace
def computeJointJacobiansTimeVariation(lib, model, data, s):
    lib.computeJointJacobiansTimeVariation(model, data, s.q, s.v)
    return [data.dJ, data.J]


@constant_subspace
def getFrameJacobianTimeVariation(lib, model, data, s):
    lib.computeJointJacobiansTimeVariation(model, data, s.q, s.v)
    lib.updateFramePlacements(model, data)
    return [lib.getFrameJacobianTimeVariation(model, data, s.frame, reference) for reference in REFERENCES]


@constant_subspace
def getJointJacobianTimeVariation(lib, model, data, s):
    lib.computeJointJacobiansTimeVariation(model, data, s.q, s.v)
    return [lib.getJointJacobianTimeVariation(model, data, s.joint, reference) for reference in REFERENCES]


@constant_subspace
def frameJacobianTimeVariation(lib, model, data, s):
    return lib.frameJacobianTimeVariation(model, data, s.q, s.v, s.frame, LOCAL)


@constant_subspace
def getFrameVelocityDerivatives(lib, model, data, s):
    lib.computeForwardKinematicsDerivatives(model, data, s.q, s.v, s.a)
    return [lib.getFrameVelocityDerivatives(model, data, s.frame, reference) for reference in (LOCAL, WORLD)]


@constant_subspace
def getJointVelocityDerivatives(lib, model, data, s):
    lib.computeForwardKinematicsDerivatives(model, data, s.q, s.v, s.a)
    return [lib.getJointVelocityDerivatives(model, data, s.joint, reference) for reference in (LOCAL, WORLD)]


@constant_subspace
def getFrameAccelerationDerivatives(lib, model, data, s):
    lib.computeForwardKinematicsDerivatives(model, data, s.q, s.v, s.a)
    return lib.getFrameAccelerationDerivatives(model, data, s.frame, LOCAL)


@constant_subspace
def getJointAccelerationDerivatives(lib, model, data, s):
    lib.computeForwardKinematicsDerivatives(model, data, s.q, s.v, s.a)
    return lib.getJointAccelerationDerivatives(model, data, s.joint, LOCAL)


@program
def frames_placed_at_joints(lib, model, data, s):
    lib.computeJointJacobians(model, data, s.q)
    lib.forwardKinematics(model, data, s.q, s.v, s.a)
    readers = lib.getFrameVelocity, lib.getFrameAcceleration, lib.getFrameClassicalAcceleration, lib.getFrameJacobian
    placed = [(joint, lib.SE3(s.target)) for joint in (0, 1, s.joint)]
    return [
        *(read(model, data, *at, reference) for read in readers for at in placed for reference in REFERENCES),
        *(lib.computeJointKinematicRegressor(model, data, s.joint, x, placed[-1][1]) for x in REFERENCES),
    ]


@constant_subspace
def derivatives_of_frames_placed_at_joints(lib, model, data, s):
    lib.computeForwardKinematicsDerivatives(model, data, s.q, s.v, s.a)
    at = s.joint, lib.SE3(s.target)
    rates = [lib.getFrameVelocityDerivatives(model, data, *at, reference) for reference in (LOCAL, WORLD)]
    return [*rates, lib.getFrameAccelerationDerivatives(model, data, *at, LOCAL)]


@program
def computeFrameKinematicRegressor(lib, model, data, s):
    swept(lib, model, data, s)
    return [lib.computeFrameKinematicRegressor(model, data, s.frame, reference) for reference in REFERENCES]


@program
def computeJointKinematicRegressor(lib, model, data, s):
    swept(lib, model, data, s)
    return [lib.computeJointKinematicRegressor(model, data, s.joint, reference) for reference in REFERENCES]


@program
def rnea(lib, model, data, s):
    lib.rnea(model, data, s.q, s.v, s.a)
    return data.tau


@program
def rnea_under_forces(lib, model, data, s):
    return lib.rnea(model, data, s.q, s.v, s.a, s.forces(lib))


@program
def forces_on_links(lib, model, data, s):
    lib.rnea(model, data, s.q, s.v, s.a)
    forces = [data.f[k].copy() for k in range(1, model.njoints)]
    lib.rnea(model, data, s.q, s.v, s.a, s.forces(lib))
    return [*forces, *(data.f[k] for k in range(1, model.njoints))]


@program
def aba(lib, model, data, s):
    lib.aba(model, data, s.q, s.v, s.tau)
    return data.ddq


@program
def aba_under_forces(lib, model, data, s):
    return lib.aba(model, data, s.q, s.v, s.tau, s.forces(lib))


@program
def aba_in_world(lib, model, data, s):
    return lib.aba(model, data, s.q, s.v, s.tau, lib.Convention.WORLD)


@program
def crba(lib, model, data, s):
    return lib.crba(model, data, s.q)


@program
def computeMinverse(lib, model, data, s):
    return lib.computeMinverse(model, data, s.q)


@program
def nonLinearEffects(lib, model, data, s):
    return [lib.nonLinearEffects(model, data, s.q, s.v), lib.nle(model, data, s.q, s.v)]


@program
def computeGeneralizedGravity(lib, model, data, s):
    lib.computeGeneralizedGravity(model, data, s.q)
    return data.g


@constant_subspace
def computeCoriolisMatrix(lib, model, data, s):
    lib.computeCoriolisMatrix(model, data, s.q, s.v)
    return data.C


@program
def computeStaticTorque(lib, model, data, s):
    return lib.computeStaticTorque(model, data, s.q, s.forces(lib))


@constant_subspace
def computeRNEADerivatives(lib, model, data, s):
    lib.computeRNEADerivatives(model, data, s.q, s.v, s.a)
    return [data.dtau_dq, data.dtau_dv, data.tau]


@constant_subspace
def computeRNEADerivatives_under_forces(lib, model, data, s):
    dtau_dq, dtau_dv, _ = lib.computeRNEADerivatives(model, data, s.q, s.v, s.a, s.forces(lib))
    return [dtau_dq, dtau_dv]


@constant_subspace
def computeABADerivatives(lib, model, data, s):
    lib.computeABADerivatives(model, data, s.q, s.v, s.tau)
    return [data.ddq_dq, data.ddq_dv, data.ddq]


@constant_subspace
def computeABADerivatives_under_forces(lib, model, data, s):
    ddq_dq, ddq_dv, _ = lib.computeABADerivatives(model, data, s.q, s.v, s.tau, s.forces(lib))
    return [ddq_dq, ddq_dv]


@program
def centerOfMass(lib, model, data, s):
    lib.centerOfMass(model, data, s.q, s.v, s.a)
    return [data.com[0], data.vcom[0], data.acom[0]]


@program
def centerOfMass_after_a_sweep(lib, model, data, s):
    lib.forwardKinematics(model, data, s.q)
    return lib.centerOfMass(model, data, False)


@program
def jacobianCenterOfMass(lib, model, data, s):
    lib.jacobianCenterOfMass(model, data, s.q)
    return [data.Jcom, data.com[0]]


@constant_subspace
def getCenterOfMassVelocityDerivatives(lib, model, data, s):
    lib.computeAllTerms(model, data, s.q, s.v)
    lib.computeForwardKinematicsDerivatives(model, data, s.q, s.v, s.a)
    lib.centerOfMass(model, data, s.q, s.v)
    return lib.getCenterOfMassVelocityDerivatives(model, data)


@program
def computeTotalMass(lib, model, data, s):
    return [lib.computeTotalMass(model), lib.computeTotalMass(model, data), data.mass[0]]


@program
def ccrba(lib, model, data, s):
    lib.ccrba(model, data, s.q, s.v)
    return [data.Ag, data.hg]


@program
def computeCentroidalMap(lib, model, data, s):
    return lib.computeCentroidalMap(model, data, s.q)


@constant_subspace
def dccrba(lib, model, data, s):
    lib.dccrba(model, data, s.q, s.v)
    return [data.dAg, data.Ag, data.hg]


@constant_subspace
def computeCentroidalMapTimeVariation(lib, model, data, s):
    lib.centerOfMass(model, data, s.q, s.v)  # without which Pinocchio leaves out that the centre of mass moves
    return lib.computeCentroidalMapTimeVariation(model, data, s.q, s.v)


@program
def computeCentroidalMomentum(lib, model, data, s):
    return lib.computeCentroidalMomentum(model, data, s.q, s.v)


@program
def computeCentroidalMomentumTimeVariation(lib, model, data, s):
    lib.computeCentroidalMomentumTimeVariation(model, data, s.q, s.v, s.a)
    return [data.dhg, data.hg]


@constant_subspace
def computeCentroidalDynamicsDerivatives(lib, model, data, s):
    return lib.computeCentroidalDynamicsDerivatives(model, data, s.q, s.v, s.a)


@program
def energies(lib, model, data, s):
    kinetic, potential = lib.computeKineticEnergy(model, data, s.q, s.v), lib.computePotentialEnergy(model, data, s.q)
    return [kinetic, potential, lib.computeMechanicalEnergy(model, data, s.q, s.v), data.mechanical_energy]


@program
def energies_after_a_sweep(lib, model, data, s):
    lib.forwardKinematics(model, data, s.q, s.v)
    return [lib.computeKineticEnergy(model, data), lib.computePotentialEnergy(model, data)]


@program
def computeJointTorqueRegressor(lib, model, data, s):
    lib.computeJointTorqueRegressor(model, data, s.q, s.v, s.a)
    return data.jointTorqueRegressor


@program
def computeKineticEnergyRegressor(lib, model, data, s):
    return lib.computeKineticEnergyRegressor(model, data, s.q, s.v)


@program
def computePotentialEnergyRegressor(lib, model, data, s):
    return lib.computePotentialEnergyRegressor(model, data, s.q)


@constant_subspace
def computeAllTerms(lib, model, data, s):
    lib.computeAllTerms(model, data, s.q, s.v)
    return [data.nle, data.g, data.com[0], data.vcom[0], data.Jcom, data.J, data.dJ, data.Ag, data.hg, data.oMi[1]]


@program
def configuration_space(lib, model, data, s):
    moved = lib.integrate(model, s.q, s.v)
    between = lib.interpolate(model, s.q, s.q_other, 0.3)
    apart = [lib.distance(model, s.q, s.q_other), lib.squaredDistance(model, s.q, s.q_other)]
    return [lib.difference(model, s.q, moved), lib.difference(model, s.q, s.q_other), between, *apart]


@program
def derivatives_of_the_configuration_space(lib, model, data, s):
    both = *lib.dIntegrate(model, s.q, 0.3 * s.v), *lib.dDifference(model, s.q, s.q_other)
    return [*both, lib.dIntegrate(model, s.q, 0.3 * s.v, lib.ARG1), lib.dDifference(model, s.q, s.q_other, lib.ARG0)]


@program
def neutral_and_normalize(lib, model, data, s):
    return (
        [lib.neutral(model), lib.normalize(model, 2 * s.q)]
        if lib is cpin
        else [
            lib.neutral(model),
            lib.normalize(model, np.asarray(2 * s.q)),
        ]
    )


@program
def forwardDynamics(lib, model, data, s):
    jacobian = lib.computeFrameJacobian(model, data, s.q, s.frame, LOCAL)[:2, :]
    lib.forwardDynamics(model, data, s.q, s.v, s.tau, jacobian, s.drift, 1e-3)
    return [data.ddq, data.lambda_c]


@program
def forwardDynamics_after_all_terms(lib, model, data, s):
    jacobian = lib.computeFrameJacobian(model, data, s.q, s.frame, LOCAL)[:2, :]
    lib.computeAllTerms(model, data, s.q, s.v)
    lib.forwardDynamics(model, data, s.tau, jacobian, s.drift, 1e-3)
    found = [data.ddq, data.lambda_c]
    named = {"constraint_jacobian": jacobian, "constraint_drift": s.drift, "damping": 1e-3}
    return [*found, lib.forwardDynamics(model, data, tau=s.tau, **named)]


@program
def impulseDynamics_after_crba(lib, model, data, s):
    jacobian = lib.computeFrameJacobian(model, data, s.q, s.frame, LOCAL)[:2, :]
    lib.crba(model, data, s.q)
    lib.impulseDynamics(model, data, s.v, jacobian, 0.3, 1e-3)
    found = [data.dq_after, data.impulse_c]
    named = {"v_before": s.v, "constraint_jacobian": jacobian, "restitution_coefficient": 0.3, "damping": 1e-3}
    return [*found, lib.impulseDynamics(model, data, **named), lib.impulseDynamics(model, data, q=s.q, **named)]


@constant_subspace
def computeABADerivatives_after_aba(lib, model, data, s):
    lib.aba(model, data, s.q, s.v, s.tau, pin.Convention.WORLD)
    by_q, by_v, by_tau = lib.computeABADerivatives(model, data)
    return [by_q, by_v, np.triu(by_tau) if lib is pin else ca.triu(by_tau)]


@program
def impulseDynamics(lib, model, data, s):
    jacobian = lib.computeFrameJacobian(model, data, s.q, s.frame, LOCAL)[:2, :]
    lib.impulseDynamics(model, data, s.q, s.v, jacobian, 0.3, 1e-3)
    return [data.dq_after, data.impulse_c]


def value(x: Any) -> Any:
    """The entries of a result, as one column; numbers or symbols."""
    if isinstance(x, list | tuple) or type(x).__name__.startswith("StdVec"):
        return ca.vertcat(*(value(each) for each in x))
    x = getattr(x, "vector", getattr(x, "homogeneous", x))
    return ca.vec(ca.DM(x) if isinstance(x, np.ndarray | float) else x)


def state_of(model: pin.Model, rng: np.random.Generator) -> SimpleNamespace:
    """A state in numbers, and what programs ask for besides."""
    (q, v, a), (other, tau, _) = states(model, rng, 2)
    forces = rng.normal(size=(model.njoints, 6)) * (np.arange(model.njoints) % 2)[:, None]
    return SimpleNamespace(
        q=q,
        v=v,
        a=a,
        tau=tau,
        q_other=other,
        frame=model.nframes - 1,
        joint=model.njoints - 1,
        target=pin.SE3.Random(),
        drift=rng.normal(size=2),
        forces=lambda lib: [lib.Force(f) for f in forces],
    )


SYMBOLIC = ("q", "v", "a", "tau", "q_other")


def symbolic(kind: type, s: SimpleNamespace) -> SimpleNamespace:
    return SimpleNamespace(**vars(s) | {name: kind.sym(name, len(getattr(s, name))) for name in SYMBOLIC})


CLIENTS: dict[int, tuple[pin.Model, cpin.Model]] = {}
"""One for each robot, so that its Functions are built once."""


def client(model: pin.Model) -> cpin.Model:
    if id(model) not in CLIENTS:
        CLIENTS[id(model)] = model, cpin.Model(model)
    return CLIENTS[id(model)][1]


def graph(kind: type, name: str, model: pin.Model, s: SimpleNamespace) -> ca.Function:
    """The program in symbols, as a Function of the state."""
    cmodel, x = client(model), symbolic(kind, s)
    result = value(PROGRAMS[name](cpin, cmodel, cmodel.createData(), x))
    return ca.Function(name, [getattr(x, each) for each in SYMBOLIC], [result])


def error(name: str, model: pin.Model, s: SimpleNamespace, kind: type = ca.SX) -> float:
    data = model.createData()  # what Pinocchio returns are views of it
    expected = value(PROGRAMS[name](pin, model, data, s)).full()
    found = graph(kind, name, model, s)(*(getattr(s, each) for each in SYMBOLIC)).full()
    return relative_error(found, expected)


def named_arm() -> pin.Model:
    return gd.load_urdf("panda7")


def legged() -> pin.Model:
    model = pin.buildSampleModelHumanoidRandom(True)
    model.armature = np.random.default_rng(0).uniform(0, 0.1, model.nv)
    return model


ROBOTS: dict[str, Callable[[], pin.Model]] = {"arm": named_arm, "legged": legged}


@pytest.fixture(scope="module", params=quick(ROBOTS, "arm"))
def robot(request: pytest.FixtureRequest) -> tuple[pin.Model, SimpleNamespace]:
    model = ROBOTS[request.param]()
    return model, state_of(model, np.random.default_rng(1))


@pytest.mark.parametrize("name", quick(PROGRAMS, *[*PROGRAMS][::4]))
def test_programs_agree_in_sx(name: str, robot: tuple[pin.Model, SimpleNamespace]) -> None:
    assert error(name, *robot) < 1e-11


def test_there_are_64_quantities() -> None:
    assert len(PROGRAMS) >= 64


MIXED = ("placements_of_frames", "inverse_kinematics_error", "rnea_under_forces", "ccrba", "forwardDynamics")


@pytest.mark.parametrize("name", quick(dict.fromkeys([*MIXED, *[*PROGRAMS][1::4]]), *MIXED))
def test_programs_agree_in_mx(name: str) -> None:
    model = named_arm()
    assert error(name, model, state_of(model, np.random.default_rng(2)), ca.MX) < 1e-11


WITHOUT_ARMATURE = ["RevoluteUnaligned", "HelicalUnaligned"]
"""Joints whose armature Pinocchio leaves out of the energy."""
CONSTANT = [joint for joint in CONSTANT_SUBSPACE if joint not in WITHOUT_ARMATURE]
TREES = [CONSTANT[k::6] for k in range(6)] + [WITHOUT_ARMATURE, [k for k in JOINTS if k not in CONSTANT_SUBSPACE]]


@pytest.mark.parametrize("joints", quick(TREES), ids=", ".join)
def test_programs_agree_on_all_joints(joints: list[str]) -> None:
    rng = np.random.default_rng(3)
    model = build(rng, ["RX", *joints], [0, 1, 2, 1, 4][: 1 + len(joints)])  # depth first, or Pinocchio's M is wrong
    s, names = state_of(model, rng), list(PROGRAMS)
    if not set(joints) <= set(CONSTANT_SUBSPACE):
        names = [name for name in names if name not in WHERE_PIN_IS_RIGHT]
    if joints == WITHOUT_ARMATURE:
        names = [name for name in names if not name.startswith("energies")]
    errors = {name: error(name, model, s) for name in names}
    assert {name: each for name, each in errors.items() if not each < 1e-11} == {}
