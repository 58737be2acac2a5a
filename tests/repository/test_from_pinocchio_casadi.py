"""docs/from_pinocchio_casadi.md: every call of pinocchio.casadi in public code has a row, every name of ours exists."""

from __future__ import annotations

import inspect
import re
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import cpin
from tests.helpers.models import relative_error
from tests.helpers.paths import ROOT

PAGE = (ROOT / "docs" / "from_pinocchio_casadi.md").read_text(encoding="utf-8")
TABLES = re.findall(r"^\| cpin \| here \| notes \|\n\|---\|---\|---\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for table in TABLES for line in table.splitlines()]

CALLS = {
    "configurations": "Model createData integrate difference interpolate distance neutral normalize buildReducedModel",
    "rigid motions": "SO3 SE3 exp3 log3 exp6 log6 log6_quat Jlog6 inverse actInv",
    "placements": "forwardKinematics framesForwardKinematics updateFramePlacements oMf oMi",
    "Jacobians": "computeFrameJacobian getFrameJacobian getJointJacobian getFrameJacobianTimeVariation",
    "velocities": "getFrameVelocity computeForwardKinematicsDerivatives getFrameVelocityDerivatives",
    "accelerations": "getFrameAcceleration getFrameClassicalAcceleration",
    "centre of mass": "centerOfMass jacobianCenterOfMass computeTotalMass",
    "momentum": "computeCentroidalMap ccrba computeCentroidalMomentum computeCentroidalMomentumTimeVariation",
    "rate of its map": "dccrba computeCentroidalMapTimeVariation computeCentroidalDynamicsDerivatives",
    "dynamics": "rnea aba crba computeMinverse nonLinearEffects computeCoriolisMatrix computeAllTerms armature",
    "gravity and energies": "computeGeneralizedGravity computeKineticEnergy computePotentialEnergy computeStaticTorque",
    "derivatives": "computeRNEADerivatives computeABADerivatives",
    "forces": "Force StdVec_Force fext",
    "contacts": "RigidConstraintModel initConstraintDynamics constraintDynamics forwardDynamics impulseDynamics",
    "their derivatives": "getConstraintJacobian computeConstraintDynamicsDerivatives",
    "constants": "Inertia gravity jointPlacements",
    "regressors": "computeJointTorqueRegressor computeKineticEnergyRegressor computePotentialEnergyRegressor",
    "kinematic regressors": "computeFrameKinematicRegressor computeJointKinematicRegressor",
}
"""What public code calls."""


def spans(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_every_row_has_a_call_an_answer_and_notes() -> None:
    assert len(ROWS) > 50
    assert [row for row in ROWS if len(row) != 3 or not spans(row[0]) or not row[1]] == []
    assert [row for row in ROWS if row[1] == "–" and not row[2]] == []


@pytest.mark.parametrize("calls", CALLS.values(), ids=CALLS)
def test_every_call_of_public_code_has_a_row(calls: str) -> None:
    theirs = " ".join(span for row in ROWS for span in spans(row[0]))
    assert [call for call in calls.split() if not re.search(rf"\b{call}\b", theirs)] == []


def test_every_name_of_ours_exists() -> None:
    """Properties are looked up, but no graph is built."""
    model = gd.load_urdf("two_link_arm")
    dyn = gd.NewtonEuler(model, parameters=["gravity"], wrenches={"tip": pin.LOCAL})
    con = gd.ConstrainedDynamics(dyn, [gd.Contact("tip", "3D")], regularization=1e-6)
    objects = {"gd": gd, "kin": gd.Kinematics(model), "dyn": dyn, "con": con}
    names = {name for row in ROWS for cell in row[1:] for name in re.findall(r"\b(?:gd|kin|dyn|con)(?:\.\w+)+", cell)}
    assert len(names) > 60
    for name in sorted(names):
        first, *inner, last = name.split(".")
        thing = objects[first]
        for each in inner:
            thing = getattr(thing, each)
        if thing is gd:
            assert getattr(thing, last)
        else:
            inspect.getattr_static(thing, last)


def test_every_name_of_cpin_is_in_the_table() -> None:
    table = re.search(r"^\| topic \| names of `cpin` \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert table is not None
    named = set(spans(table[1]))
    assert set(cpin.__all__) - named == set()
    others = {name for name in named - set(cpin.__all__) if not name.startswith("data.")}
    beginnings = {"StdVec_…", "buildModelFrom…", "buildSampleModel…"}
    shared = {"BaumgarteCorrectorParameters", "XAxis", "YAxis", "ZAxis"}
    assert others == {"ca.SX", "pin", *shared, *beginnings}
    assert all(getattr(cpin, name) is not None for name in shared)
    for beginning in (name.removesuffix("…") for name in beginnings):
        assert any(name.startswith(beginning) and hasattr(cpin, name) for name in dir(pin))
    model = cpin.Model(gd.load_urdf("two_link_arm"))
    data, x = model.createData(), [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]
    cpin.computeForwardKinematicsDerivatives(model, data, *x)
    cpin.updateFramePlacements(model, data)
    cpin.computeJointJacobiansTimeVariation(model, data, *x[:2])
    cpin.rnea(model, data, *x)
    assert [name for name in named if name.startswith("data.") and not hasattr(data, name.removeprefix("data."))] == []


def rows(head: str) -> list[list[str]]:
    """The cells of the table with this head."""
    found = re.search(rf"^{re.escape(head)}\n\|[-:|]+\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert found is not None
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found[1].splitlines()]


def test_every_function_of_pinocchio_is_in_one_of_the_tables() -> None:
    """Those that ``cpin`` lacks, by name or by how their names begin; and none of these is there."""
    missing = {
        name
        for name in dir(pin)
        if name[0] != "_" and not hasattr(cpin, name) and callable(x := getattr(pin, name)) and not inspect.isclass(x)
    }
    named = {name for row in rows("| not there | in its place |") for name in spans(row[0]) if "." not in name}
    beginnings = tuple(name.removesuffix("…") for name in named if name.endswith("…"))
    absent = {name for name in dir(pin) if not hasattr(cpin, name)}
    parts = {"RigidConstraintData", "contact_force"}
    assert {name for name in missing - named if not name.startswith(beginnings)} == set()
    assert {name for name in named - absent - parts if not name.endswith("…")} == set()
    assert [each for each in beginnings if not any(name.startswith(each) for name in absent)] == []


def test_what_stands_in_place_is_there() -> None:
    named = {name for row in rows("| not there | in its place |") for name in spans(row[1])}
    owners = {"model": cpin.Model(gd.load_urdf("two_link_arm")), "gd": gd, "ca": ca}
    for name in sorted(named):
        first, _, rest = name.partition(".")
        if name.isidentifier() and name != "pin":
            assert name in cpin.__all__, name
        elif first in owners and "(" not in name:
            assert (
                inspect.getattr_static(ca.Function, "map")
                if name == "ca.Function.map"
                else getattr(owners[first], rest)
            )


class Arm:
    """A robot, in numbers by ``pin`` and by ``cpin``."""

    def __init__(self) -> None:
        self.model, rng = gd.load_urdf("puma560_3"), np.random.default_rng(0)
        self.cmodel, self.data = cpin.Model(self.model), self.model.createData()
        self.cdata, self.rest, self.d = self.cmodel.createData(), np.zeros(3), ca.SX.sym("d", 3)
        self.args, self.cargs = (self.model, self.data), (self.cmodel, self.cdata)
        self.q, self.v = rng.normal(size=(2, 3))
        self.fext = [pin.Force(f) for f in rng.normal(size=(4, 6))]
        self.moved = cpin.integrate(self.cmodel, self.q, self.d)
        place = pin.SE3(pin.exp3(rng.normal(size=3)), rng.normal(size=3))
        self.contacts = [pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, self.model, 3, place, pin.LOCAL)]

    def by_motion(self, x: ca.SX) -> Any:
        """The derivative of what depends on the moved configuration."""
        return ca.Function("by_motion", [self.d], [ca.jacobian(x, self.d)])(self.rest).full()


@pytest.fixture
def arm() -> Arm:
    return Arm()


def test_static_derivatives_are_those_of_rnea_at_rest(arm: Arm) -> None:
    by_q, *_ = cpin.computeRNEADerivatives(*arm.cargs, arm.q, arm.rest, arm.rest)
    assert relative_error(by_q.full(), pin.computeGeneralizedGravityDerivatives(*arm.args, arm.q)) < 1e-12
    by_q, *_ = cpin.computeRNEADerivatives(*arm.cargs, arm.q, arm.rest, arm.rest, arm.fext)
    assert relative_error(by_q.full(), pin.computeStaticTorqueDerivatives(*arm.args, arm.q, arm.fext)) < 1e-12


def test_delassus_matrices_are_products(arm: Arm) -> None:
    datas = [each.createData() for each in arm.contacts]
    pin.initConstraintDynamics(*arm.args, arm.contacts, datas)
    cpin.computeJointJacobians(*arm.cargs, arm.q)
    jacobian = cpin.getConstraintsJacobian(*arm.cargs, arm.contacts)
    found = (jacobian @ cpin.computeMinverse(*arm.cargs, arm.q) @ jacobian.T).full()
    assert relative_error(found, pin.computeDelassusMatrix(*arm.args, arm.q, arm.contacts, datas)) < 1e-12


def test_hessians_of_kinematics_are_derivatives_of_jacobians(arm: Arm) -> None:
    wrist = arm.model.getFrameId("wrist")
    pin.computeJointKinematicHessians(*arm.args, arm.q)
    pin.updateFramePlacements(*arm.args)
    expected = pin.getFrameKinematicHessian(*arm.args, wrist, pin.LOCAL)
    expected = expected.ravel().reshape(expected.shape, order="F")  # pin 4.1 gives the entries in the order of C++
    jacobian = cpin.computeFrameJacobian(*arm.cargs, arm.moved, wrist, pin.LOCAL)
    found = arm.by_motion(jacobian).reshape(6, 3, 3, order="F")
    assert relative_error(found, expected) < 1e-12


def test_derivatives_of_impulses_are_those_of_casadi(arm: Arm) -> None:
    def after(q: Any) -> Any:
        return cpin.impulseDynamics(*arm.cargs, q, arm.v, arm.contacts, None, 0.3, pin.ProximalSettings(1e-9, 1e-3, 1))

    step = 1e-6 * np.eye(3)
    ends = [[after(pin.integrate(arm.model, arm.q, sign * h)).full() for h in step] for sign in (1, -1)]
    by_differences = (np.hstack(ends[0]) - np.hstack(ends[1])) / 2e-6
    assert relative_error(arm.by_motion(after(arm.moved)), by_differences) < 1e-6  # what differences leave


SECTIONS = {
    "rnea": "Inverse dynamics: τ(",
    "aba": "Forward dynamics: a(",
    "crba": "Mass matrix: M(",
    "nonLinearEffects": "Bias: ",
    "computeGeneralizedGravity": "Gravity: ",
    "computeCoriolisMatrix": "Coriolis matrix: ",
    "computeRNEADerivatives": "Derivatives of inverse dynamics: ∂τ/∂(q, v); Pinocchio's",
    "computeABADerivatives": "Derivatives of forward dynamics: ",
}


def test_the_sizes_are_the_recorded_ones() -> None:
    """N–E and Pinocchio's own, of the sections of a recorded page."""
    recorded = (ROOT / "benchmarks" / "results" / "sizes.md").read_text(encoding="utf-8").split("\n## ")
    sizes = rows("| call | Panda | original | Solo 12 | original | Talos | original |")
    assert [spans(row[0])[0] for row in sizes] == list(SECTIONS)
    for (_, *numbers), title in zip(sizes, SECTIONS.values(), strict=True):
        (section,) = [each for each in recorded if each.startswith(title)]
        head, _, *table = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
        cells = {
            line[0].strip(): {name.strip(): x.strip() for name, x in zip(head, line, strict=True)} for line in table
        }
        known = [cells[robot][name] for robot in ("panda7", "solo12", "talos") for name in ("N–E", "*Pinocchio*")]
        assert numbers == known
