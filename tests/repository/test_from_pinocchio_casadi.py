"""docs/from_pinocchio_casadi.md: every call of pinocchio.casadi in public code has a row, every name of ours exists."""

from __future__ import annotations

import inspect
import re

import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import cpin
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
    assert others == {"ProximalSettings", "pin", "StdVec_…"}
    model = cpin.Model(gd.load_urdf("two_link_arm"))
    data, x = model.createData(), [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]
    cpin.forwardKinematics(model, data, *x)
    cpin.updateFramePlacements(model, data)
    cpin.computeJointJacobiansTimeVariation(model, data, *x[:2])
    assert [name for name in named if name.startswith("data.") and not hasattr(data, name.removeprefix("data."))] == []
