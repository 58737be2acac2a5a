"""Constraints that cannot be: one sentence each, with the constraint, the number and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, ArgumentTypeError, GdalembertError, UnknownNameError, UnsupportedError

PUMA = gd.load_urdf("puma560")
TWO_LINKS = gd.load_urdf("two_link_arm")
FLEXIBLE = gd.load_urdf("two_link_flexible")
NAN = float("nan")
HAND = gd.Contact("link6")
LISTS = "give a list of gd.Contact and gd.Loop, or of Pinocchio's constraint models"


def held(*constraints: Any, model: pin.Model = PUMA, **options: Any) -> gd.ConstrainedDynamics:
    return gd.ConstrainedDynamics(gd.NewtonEuler(model), list(constraints), **options)


def rigid(kind: pin.ContactType = pin.ContactType.CONTACT_6D, **changed: Any) -> pin.RigidConstraintModel:
    given = pin.RigidConstraintModel(kind, PUMA, 6)
    for name, value in changed.items():
        setattr(given, name, value)
    return given


def corrected(Kp: float, Kd: float = 0.0) -> pin.RigidConstraintModel:
    given = rigid()
    given.m_baumgarte_parameters.Kp, given.m_baumgarte_parameters.Kd = Kp, Kd
    return given


Case = tuple[Callable[[], object], type[GdalembertError], str]

LISTED: dict[str, Case] = {
    "a step": (
        lambda: gd.ocp.collocation(held(HAND)),
        ArgumentTypeError,
        "collocation takes a Dynamics, not ConstrainedDynamics, which gd.ocp.Problem takes; in a transcription of "
        "your own its inverse_dynamics and acceleration_error take a and forces as variables",
    ),
    "a validation": (
        lambda: gd.validate(held(HAND)),
        ArgumentTypeError,
        "validate takes a Dynamics, a Function or a callable, not ConstrainedDynamics; validate its dynamics, and "
        "compare its forward_dynamics with pin.constraintDynamics",
    ),
    "a model": (
        lambda: gd.ConstrainedDynamics(PUMA, [HAND]),
        ArgumentTypeError,
        "ConstrainedDynamics takes a Dynamics, as gd.NewtonEuler(model), not Model",
    ),
    "no list": (
        lambda: gd.ConstrainedDynamics(gd.NewtonEuler(PUMA), HAND),
        ArgumentTypeError,
        f"constraints: got Contact('link6', '6D') alone; {LISTS}",
    ),
    "no list of Pinocchio's": (
        lambda: gd.ConstrainedDynamics(gd.NewtonEuler(PUMA), rigid()),
        ArgumentTypeError,
        f"constraints: got one RigidConstraintModel alone; {LISTS}",
    ),
    "a name": (
        lambda: gd.ConstrainedDynamics(gd.NewtonEuler(PUMA), "link6"),
        ArgumentTypeError,
        f"constraints: got 'link6'; {LISTS}",
    ),
    "names": (lambda: held("link6"), ArgumentTypeError, f"constraints: got 'link6'; {LISTS}"),
    "twice": (
        lambda: held(gd.Contact("link6", "3D"), gd.Contact(PUMA.getFrameId("link6"))),
        ArgumentError,
        "constraints: Contact('link6', '3D') and Contact(13, '6D') hold the same frames; give each constraint once",
    ),
    "a loop twice": (
        lambda: held(gd.Loop("link6", "link1", "3D"), gd.Loop("link1", "joint6", "3D")),
        ArgumentError,
        "constraints: Loop('link6', 'link1', '3D') and Loop('link1', 'joint6', '3D') hold the same frames; give each "
        "constraint once",
    ),
}

FRAMES: dict[str, Case] = {
    "unknown": (lambda: held(gd.Contact("link7")), UnknownNameError, "no frame named 'link7'; nearest: 'link6', "),
    "unknown in a loop": (lambda: held(gd.Loop("link6", "lnk1")), UnknownNameError, "no frame named 'lnk1'; nearest: "),
    "index": (lambda: held(gd.Contact(99)), ArgumentError, "puma560: frame 99: give an index from 0 to 15"),
    "no frame": (
        lambda: held(gd.Contact(1.5)),  # type: ignore[arg-type]
        ArgumentTypeError,
        "frame: expected a name or an index in model.frames, got float",
    ),
    "fixed": (
        lambda: held(gd.Contact("base")),
        ArgumentError,
        "Contact('base', '6D'): no joint moves this frame; give a frame of a link that moves",
    ),
    "a loop of the universe": (
        lambda: held(gd.Loop("universe", "base")),
        ArgumentError,
        "Loop('universe', 'base', '6D'): both frames are fixed in the universe; give frames of two links",
    ),
    "a loop of one link": (
        lambda: held(gd.Loop("tool", "link6", "3D")),
        ArgumentError,
        "Loop('tool', 'link6', '3D'): both frames are fixed in the same link; give frames of two links",
    ),
    "kind": (
        lambda: gd.Contact("link6", "4D"),
        ArgumentError,
        "Contact('link6', '4D'): kind: got '4D'; give '1D', '2D', '3D', '6D'",
    ),
    "kind of a loop": (
        lambda: gd.Loop("link6", "link1", "point"),
        ArgumentError,
        "Loop('link6', 'link1', 'point'): kind: got 'point'; give '1D', '2D', '3D', '6D'",
    ),
}

ANCHORS: dict[str, Case] = {
    "short": (
        lambda: gd.Contact("link6", "3D", [1, 2]),
        ArgumentError,
        "Contact('link6', '3D'): anchor has shape (2,); give (3,)",
    ),
    "ragged": (
        lambda: gd.Contact("link6", "3D", [[1, 2], [3]]),
        ArgumentError,
        "Contact('link6', '3D'): anchor: the rows are of unequal lengths",
    ),
    "a point for a frame": (
        lambda: gd.Contact("link6", "6D", [1, 2, 3]),
        ArgumentError,
        "Contact('link6', '6D'): anchor: got numbers of shape (3,); give 4 × 4, [n o a p; 0 0 0 1]",
    ),
    "not finite": (
        lambda: gd.Contact("link6", "3D", [1, 2, NAN]),
        ArgumentError,
        "Contact('link6', '3D'): anchor: z is nan; give finite numbers",
    ),
    "no rotation": (
        lambda: gd.Contact("link6", "6D", np.diag([1, 2, 1, 1])),
        ArgumentError,
        "Contact('link6', '6D'): anchor: its columns n, o, a are not orthonormal: o·o is 4, not 1; give the axes",
    ),
    "words": (
        lambda: gd.Contact("link6", "6D", "here"),
        ArgumentTypeError,
        "Contact('link6', '6D'): anchor: expected a pin.SE3 or 4 × 4 numbers, got 'here'",
    ),
    "none for a stiffness": (
        lambda: held(HAND, stiffness=1.0).forward_dynamics,
        ArgumentError,
        "Contact('link6', '6D') has no anchor, so that its residual is not known; take anchored(q)",
    ),
    "none for a residual": (
        lambda: held(HAND).residual,
        ArgumentError,
        "Contact('link6', '6D') has no anchor, so that its residual is not known; take anchored(q)",
    ),
}

GAINS: dict[str, Case] = {
    "NaN": (
        lambda: held(HAND, stiffness=NAN),
        ArgumentError,
        "stiffness of Contact('link6', '6D'): got nan; give one finite number, at least 0",
    ),
    "NaN in a row": (
        lambda: held(HAND, damping=[[NAN, 0, 0, 0, 0, 0]]),
        ArgumentError,
        "damping of Contact('link6', '6D'): entry [0] is nan; give finite numbers",
    ),
    "negative": (
        lambda: held(HAND, damping=[[-1, 0, 0, 0, 0, 0]]),
        ArgumentError,
        "damping of Contact('link6', '6D'): got -1; give numbers of at least 0",
    ),
    "rows": (
        lambda: held(HAND, damping=[[1, 2]]),
        ArgumentError,
        "damping of Contact('link6', '6D') has shape (2,); give (6,)",
    ),
    "constraints": (
        lambda: held(HAND, stiffness=[1, 2]),
        ArgumentError,
        "stiffness: got [1, 2]; give one number, or one for each of the 1 constraints",
    ),
    "a word": (
        lambda: held(HAND, stiffness="high"),
        ArgumentError,
        "stiffness: got 'high'; give one number, or one for each of the 1 constraints",
    ),
    "None": (
        lambda: held(HAND, damping=None),
        ArgumentTypeError,
        "damping of Contact('link6', '6D'): expected a number, got None",
    ),
    "restitution": (
        lambda: held(HAND, restitution=1.5),
        ArgumentError,
        "restitution of Contact('link6', '6D'): got 1.5; give numbers from 0 to 1",
    ),
    "regularization": (
        lambda: held(HAND, regularization=-1e-6),
        ArgumentError,
        "regularization: got -1e-06; give one finite number, at least 0",
    ),
    "two stiffnesses": (
        lambda: held(corrected(4.0), stiffness=2.0),
        ArgumentError,
        "stiffness of RigidConstraintModel('joint6', 'universe', '6D'): got 2, its own corrector has 4; give one of "
        "them, 0 for the other",
    ),
    "a corrector": (
        lambda: held(corrected(0.0, -4.0)),
        ArgumentError,
        "RigidConstraintModel('joint6', 'universe', '6D'): Kd: got -4.0; give one finite number, at least 0",
    ),
}


def bricard() -> pin.Model:
    """A loop of six hinges, each across the next (Bricard), which moves although it has no degree to spare."""
    model, parent, at = pin.Model(), 0, pin.SE3.Identity()
    for k in range(6):
        parent = model.addJoint(parent, pin.JointModelRZ(), at, f"hinge{k}")
        model.appendBodyToJoint(parent, pin.Inertia.FromBox(1.0, 0.5, 0.1, 0.1), pin.SE3.Identity())
        turn = pin.utils.rotate("x", (-1) ** k * np.pi / 2)
        at = pin.SE3(turn, np.array([1.0, 0, 0]))
    model.addFrame(pin.Frame("end", parent, 0, at, pin.OP_FRAME))
    return model


SETS: dict[str, Case] = {
    "an overconstrained linkage": (
        lambda: gd.ConstrainedDynamics(gd.NewtonEuler(bricard()), [gd.Loop("end", "universe")]),
        ArgumentError,
        "Loop('end', 'universe', '6D'): 1 of its 6 rows is redundant wherever it is closed, so that its forces are "
        "not determined; give regularization=1e-6 (mu of ProximalSettings) for the smallest forces",
    ),
    "too many rows for a link": (
        lambda: held(gd.Contact("link3")),
        ArgumentError,
        "Contact('link3', '6D'): 3 of its 6 rows are redundant, so that its forces are not determined; hold less "
        "('3D'), or give regularization=1e-6 (mu of ProximalSettings) for the smallest forces",
    ),
    "more rows than degrees of freedom": (
        lambda: held(HAND, gd.Loop("link5", "link1", "3D")),
        ArgumentError,
        "Loop('link5', 'link1', '3D'): 3 of its 3 rows are redundant beside Contact('link6', '6D'), so that its forces "
        "are not determined; leave it out, or give regularization=1e-6 "
        "(mu of ProximalSettings) for the smallest forces",
    ),
    "one of three": (
        lambda: held(gd.Contact("link1", "3D", [0, 0, 0]), HAND),
        ArgumentError,
        "Contact('link1', '3D'): no joint moves what it holds; give frames that move, or leave it out",
    ),
    "a point on the axis": (
        lambda: held(HAND, gd.Contact("link1", "3D"), regularization=1e-6),
        ArgumentError,
        "Contact('link1', '3D'): no joint moves what it holds; give frames that move, or leave it out",
    ),
    "points on one axis": (
        lambda: held(gd.Loop("joint1", "universe", "3D"), regularization=1e-6),
        ArgumentError,
        "Loop('joint1', 'universe', '3D'): no joint moves what it holds; give frames that move, or leave it out",
    ),
    "a frame and a point": (
        lambda: held(gd.Contact("link6", "6D", np.eye(4)), gd.Contact("tool", "3D", [0, 0, 3]), regularization=1e-6),
        ArgumentError,
        "constraints: Contact('link6', '6D') and Contact('tool', '3D') contradict each other by 2.94: no placement of "
        "the two links that they hold satisfies both; correct one of them, or leave it out",
    ),
    "two points": (
        lambda: held(gd.Contact("tool", "3D", [0, 0, 3]), gd.Contact("link6", "3D", [0, 0, 0]), regularization=1e-6),
        ArgumentError,
        "constraints: Contact('tool', '3D') and Contact('link6', '3D') contradict each other by 2.94: no placement",
    ),
    "two loops": (
        lambda: held(gd.Loop("link2", "link6"), gd.Loop("tool", "link2"), regularization=1e-6),
        ArgumentError,
        "constraints: Loop('link2', 'link6', '6D') and Loop('tool', 'link2', '6D') contradict each other by 0.0563: no",
    ),
}

RIGID = "RigidConstraintModel('joint6', 'universe', '6D')"

PINOCCHIO: dict[str, Case] = {
    "velocity": (
        lambda: held(rigid(desired_contact_velocity=pin.Motion(np.arange(6.0)))),
        UnsupportedError,
        f"{RIGID}: its desired_contact_velocity is [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]; only zero is known here",
    ),
    "acceleration": (
        lambda: held(rigid(desired_contact_acceleration=pin.Motion(np.ones(6)))),
        UnsupportedError,
        f"{RIGID}: its desired_contact_acceleration is [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]; only zero is known here",
    ),
    "placement": (
        lambda: held(rigid(desired_contact_placement=pin.SE3(np.eye(3), np.ones(3)))),
        UnsupportedError,
        f"{RIGID}: its desired_contact_placement is ",
    ),
    "offset": (
        lambda: held(anchor(desired_constraint_offset=np.array([0.0, 0.0, 0.5]))),
        UnsupportedError,
        "PointAnchorConstraintModel 'hook': its desired_constraint_offset is [0.0, 0.0, 0.5]; only zero is known here",
    ),
    "compliance": (
        lambda: held(compliant()),
        UnsupportedError,
        "PointAnchorConstraintModel 'hook': its compliance is [0.1, 0.1, 0.1]; only zero is known here",
    ),
    "reference": (
        lambda: held(rigid(reference_frame=pin.WORLD)),
        UnsupportedError,
        f"{RIGID}: reference_frame is WORLD; give pin.LOCAL or pin.LOCAL_WORLD_ALIGNED",
    ),
    "type": (
        lambda: held(rigid(pin.ContactType.CONTACT_UNDEFINED)),
        ArgumentError,
        "constraints: RigidConstraintModel: its type is CONTACT_UNDEFINED; give CONTACT_3D or CONTACT_6D",
    ),
    "limits": (
        lambda: held(pin.ConstraintModel(pin.JointLimitConstraintModel(PUMA))),
        UnsupportedError,
        "constraints: JointLimitConstraintModel: its forces have bounds, which a ConstrainedDynamics does not know; "
        "leave it out",
    ),
    "friction": (
        lambda: held(pin.JointFrictionConstraintModel(PUMA)),
        UnsupportedError,
        "constraints: JointFrictionConstraintModel: its forces have bounds",
    ),
    "a contact that opens": (
        lambda: held(pin.PointContactConstraintModel(PUMA, 6)),
        UnsupportedError,
        "constraints: PointContactConstraintModel: its forces have bounds",
    ),
    "another model's joint": (
        lambda: held(rigid(), model=TWO_LINKS),
        ArgumentError,
        "constraints: RigidConstraintModel: joint1_id is 6, the last joint of two_link_arm is 2; give a constraint of "
        "this model",
    ),
    "another model's anchor": (
        lambda: held(pin.PointAnchorConstraintModel(PUMA, 2), model=TWO_LINKS),
        ArgumentError,
        "PointAnchorConstraintModel('joint2', 'universe', '3D'): it is of a model with nv=6, two_link_arm has nv=2",
    ),
    "one link": (
        lambda: held(pin.FrameAnchorConstraintModel(PUMA, 2, 2)),
        ArgumentError,
        "FrameAnchorConstraintModel('joint2', 'joint2', '6D'): both frames are fixed in the same link; give frames",
    ),
    "a placement": (
        lambda: held(rigid(joint1_placement=pin.SE3(2 * np.eye(3), np.zeros(3)))),
        ArgumentError,
        f"{RIGID}: joint1_placement: its columns n, o, a are not orthonormal: n·n is 4, not 1; give the axes",
    ),
    "a flexible link": (
        lambda: gd.ConstrainedDynamics(flexible_arm(), [pin.PointAnchorConstraintModel(FLEXIBLE, 1)]),
        UnsupportedError,
        "PointAnchorConstraintModel('joint1', 'universe', '3D'): the body of joint 'joint1' is flexible, so that a "
        "placement on it is not one frame; give gd.Contact or gd.Loop with frames of the arm",
    ),
}


def anchor(**changed: Any) -> pin.PointAnchorConstraintModel:
    given = pin.PointAnchorConstraintModel(PUMA, 6)
    given.name = "hook"
    for name, value in changed.items():
        setattr(given, name, value)
    return given


def compliant() -> pin.PointAnchorConstraintModel:
    given = anchor()
    given.setCompliance(np.full(3, 0.1))
    return given


def flexible_arm() -> gd.FlexibleArm:
    link = gd.FlexibleLink(gd.Beam(1.0, 0.6, EI_z=10.0), bending_y=gd.modes.clamped_free(1))
    return gd.FlexibleArm(FLEXIBLE, {"link1": link})


CASES = {
    f"{topic}: {name}": case
    for topic, cases in {
        "list": LISTED,
        "frame": FRAMES,
        "anchor": ANCHORS,
        "gain": GAINS,
        "set": SETS,
        "Pinocchio's": PINOCCHIO,
    }.items()
    for name, case in cases.items()
}


@pytest.mark.parametrize("case", CASES)
def test_a_sentence_says_what_cannot_be(case: str) -> None:
    make, kind, message = CASES[case]
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value).startswith(message)


def test_what_the_robot_has_without_constraints_is_found_there() -> None:
    con = held(HAND)
    assert (con.nq, con.nv, con.nu) == (con.dynamics.nq, con.dynamics.nv, con.dynamics.nu) == (6, 6, 6)
    for name in ("mass_matrix", "linearize", "actuation"):
        with pytest.raises(AttributeError) as caught:
            getattr(con, name)
        there = f"; that of the robot without constraints is con.dynamics.{name}"
        assert str(caught.value) == f"ConstrainedDynamics has no {name}{there}"
        assert hasattr(con.dynamics, name)
    with pytest.raises(AttributeError, match=r"^ConstrainedDynamics has no mass$"):
        con.mass  # type: ignore[attr-defined]  # noqa: B018


def test_a_robot_without_parameters_takes_no_p() -> None:
    for robot in (held(HAND), held(HAND).dynamics):
        assert robot.at() is robot.at({}) is robot
        with pytest.raises(ArgumentError, match=r"^at: p is given, but puma560 has no parameters; drop p, or make the"):
            robot.at([1.0])


def test_constraints_are_equal_by_value() -> None:
    assert gd.Contact("link6", "3D", [1, 2, 3]) == gd.Contact("link6", "3D", np.array([1.0, 2.0, 3.0]))
    assert gd.Contact("link6", "3D", [1, 2, 3]) != gd.Contact("link6", "3D", [1, 2, 4])
    assert len({gd.Contact("link6"), gd.Contact("link6"), gd.Loop("link6", "link1"), gd.Loop("link6", "link1")}) == 2


def test_a_gain_of_one_constraint_and_of_each_row_of_another() -> None:
    gains = {"stiffness": [1.0, [1, 2, 3]], "damping": [[1, 2, 3, 4, 5, 6], [0, 1, 2]]}
    con = held(HAND, gd.Contact("link3", "3D", anchor=np.zeros((3, 1))), regularization=1e-6, **gains)
    assert con._set.stiffness.tolist() == [1.0] * 6 + [1, 2, 3]
    assert con._set.damping.tolist() == [1, 2, 3, 4, 5, 6, 0, 1, 2]
