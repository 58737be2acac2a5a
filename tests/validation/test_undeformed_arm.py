"""The undeformed arm beside Pinocchio: another model is found, or refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError
from gdalembert.validation.validate import validate
from tests.helpers.validated_arms import chain, planar, robot

# a beam is not as heavy as the body that it replaces, which does not matter here
pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore:link .* its body of")]


OTHERS = (
    "undeformed, the arm is not the model with rigid beams in place of its flexible links: a link, a "
    "placement or gravity is different"
)

UNDEFORMED = {"undeformed tau", "undeformed M", "undeformed nle", "undeformed g"}


def _heavier(model: pin.Model) -> None:
    model.inertias[model.getJointId("j1")].mass *= 1.1


def _moved(model: pin.Model) -> None:
    model.jointPlacements[model.getJointId("j2")].translation += [0.01, 0, 0]


def _armature(model: pin.Model) -> None:
    model.armature = np.add(model.armature, [0.1, 0, 0])


def _gravity(model: pin.Model) -> None:
    model.gravity.linear = np.array([0, 0, -9.8])


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "failed"),
    [
        (_heavier, UNDEFORMED),
        (_moved, UNDEFORMED),
        (_armature, {"undeformed tau", "undeformed M"}),
        (_gravity, {"undeformed tau", "undeformed nle", "undeformed g"}),
    ],
)
def test_other_links(change: Callable[[pin.Model], None], failed: set[str]) -> None:
    """For j0 and j2, whose links are flexible, only the placements and the armature come from the model."""
    arm, model = chain()
    other = model.copy()
    change(other)
    report = validate(arm, other, samples=20)
    assert {check.name for check in report.checks if not check.ok} == failed
    assert all(sentence.startswith(OTHERS) for sentence in report.diagnosis)
    assert len(report.diagnosis) > 0


def test_rods_that_are_bent_at_rest() -> None:
    """What a rod carries stands on the bent rod, and a joint that is moved there is still found."""
    beam = gd.Beam(0.8, 1.5, EI_y=50.0, EI_z=50.0, GJ=20.0, section_inertia=(1e-3, 1e-3))
    rod = gd.CosseratRod(beam, 2, 0, strains=("bending_z",), rest={"bending_z": 0.5, "torsion": 0.4})
    model = robot(("revolute", "base"), ("revolute", "l0"), ("prismatic", "l1"))
    arm = gd.FlexibleArm(model, {"l0": rod})
    report = validate(arm, model, samples=5)
    assert report.ok, report
    other = model.copy()
    _moved(other)
    report = validate(arm, other, samples=5)
    assert {check.name for check in report.checks if not check.ok} == UNDEFORMED


def test_without_a_model() -> None:
    report = validate(planar(), samples=5)
    assert report.ok
    assert str(report).startswith("two_link_flexible: FlexibleArm against a second computation on 5 states (seed 0)")
    assert report.not_checked == ("the undeformed arm against Pinocchio: give against=model",)
    assert [check.name for check in report.checks][-1] == "terms (K_f)"


def sliding() -> pin.Model:
    """Joints of the same names, of which the second slides."""
    model = pin.Model()
    model.name = "slides"
    for k, joint in enumerate((pin.JointModelRZ(), pin.JointModelPZ())):
        model.addJoint(k, joint, pin.SE3.Identity(), f"joint{k + 1}")
        model.appendBodyToJoint(k + 1, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3.Identity())
    return model


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            gd.load_urdf("puma560_3"),
            r"the arm was made from 'two_link_flexible' with the joints 'joint1', 'joint2'; 'puma560_3' has 'joint1', "
            r"'joint2', 'joint3'; give the model that the arm was made from",
        ),
        (
            sliding(),
            r"joint 'joint2' of 'slides' is Prismatic on 'joint1'; that of the arm is Revolute on 'joint1'; give the "
            "model that the arm was made from",
        ),
    ],
)
def test_another_model_is_refused(model: pin.Model, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        validate(planar(), against=model)
