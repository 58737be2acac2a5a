"""Slots of data: what fills them, when they are forgotten, and what is said of those that are empty."""

from __future__ import annotations

import subprocess
import sys

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import cpin
from gdalembert.errors import ArgumentError, ArgumentTypeError
from tests.helpers.models import relative_error


@pytest.fixture
def model() -> cpin.Model:
    return cpin.Model(gd.load_urdf("two_link_arm"))


@pytest.mark.parametrize(
    ("slot", "call"),
    [
        ("oMf", r"framesForwardKinematics\(model, data, q\)"),
        ("oMi", r"forwardKinematics\(model, data, q\)"),
        ("M", r"crba\(model, data, q\)"),
        ("tau", r"rnea\(model, data, q, v, a\)"),
        ("vcom", r"centerOfMass\(model, data, q, v\)"),
        ("dAg", r"dccrba\(model, data, q, v\)"),
        ("lambda_c", r"constraintDynamics\(model, data, q, v, tau, contact_models"),
    ],
)
def test_an_empty_slot_names_the_call_that_fills_it(model: cpin.Model, slot: str, call: str) -> None:
    with pytest.raises(cpin.MissingAttributeError, match=rf"data.{slot}: nothing has computed it; call {call}"):
        getattr(model.createData(), slot)


def test_slots_belong_to_the_state_of_their_call(model: cpin.Model) -> None:
    data, (q, other, v) = model.createData(), (ca.SX.sym(name, 2) for name in "qov")
    cpin.forwardKinematics(model, data, q, v, v)
    cpin.framesForwardKinematics(model, data, q)
    assert data.v[1].vector.shape == (6, 1)  # q is the same
    placed = data.oMf[1]
    cpin.crba(model, data, other)
    assert data.oMf[1] is placed  # which the mass matrix has no part in
    cpin.forwardKinematics(model, data, other)
    for slot in ("oMf", "v", "a"):
        with pytest.raises(cpin.MissingAttributeError, match="nothing has computed it"):
            getattr(data, slot)
    cpin.centerOfMass(model, data, q, v)
    cpin.centerOfMass(model, data, other)
    with pytest.raises(cpin.MissingAttributeError, match=r"data.vcom: nothing has computed it"):
        data.vcom  # noqa: B018


def test_what_was_read_before_does_not_change(model: cpin.Model) -> None:
    data, q = model.createData(), ca.SX.sym("q", 2)
    cpin.framesForwardKinematics(model, data, q)
    before, tip = data.oMf, model.nframes - 1
    cpin.framesForwardKinematics(model, data, [0.1, 0.2])
    there = ca.Function("there", [q], [before[tip].translation])([0.1, 0.2])  # read now, and still of q
    assert relative_error(there.full(), data.oMf[tip].translation.full()) < 1e-15


def test_readers_ask_for_the_sweep_before_them(model: cpin.Model) -> None:
    data, q = model.createData(), ca.SX.sym("q", 2)
    with pytest.raises(
        cpin.MissingAttributeError, match=r"updateFramePlacements: nothing has computed data.oMi; call forwardK"
    ):
        cpin.updateFramePlacements(model, data)
    cpin.forwardKinematics(model, data, q)
    with pytest.raises(cpin.MissingAttributeError, match=r"getFrameVelocity: .* data.v; call forward.*\(.*q, v\)"):
        cpin.getFrameVelocity(model, data, 1)


def test_refusals(model: cpin.Model) -> None:
    data, q, rest = model.createData(), ca.SX.sym("q", 2), np.zeros(2)
    with pytest.raises(ArgumentError, match=r"rnea: q: got 3 × 1 entries; give 2 × 1"):
        cpin.rnea(model, data, np.zeros(3), rest, rest)
    with pytest.raises(ArgumentError, match=r"crba: q: entry"):
        cpin.crba(model, data, [np.nan, 0.0])
    with pytest.raises(ArgumentTypeError, match="q is SX and v is MX"):
        cpin.rnea(model, data, q, ca.MX.sym("v", 2), rest)
    with pytest.raises(ArgumentError, match=r"rnea: fext has 1 forces; give njoints = 3 forces, the universe's first"):
        cpin.rnea(model, data, q, rest, rest, [cpin.Force.Zero()])
    cpin.framesForwardKinematics(model, data, q)
    n = model.nframes
    with pytest.raises(ArgumentError, match=rf"data.oMf\[{n}\]: give an index .* an unknown name has this index"):
        data.oMf[model.getFrameId("nowhere")]
    with pytest.raises(ArgumentError, match=rf"model.frames\[{n}\]: give an index from 0 to {n - 1}"):
        cpin.getFrameJacobian(model, data, n)
    with pytest.raises(ArgumentTypeError, match="getFrameJacobian: got 3; give LOCAL, WORLD or LOCAL_WORLD_ALIGNED"):
        cpin.getFrameJacobian(model, data, 1, 3)
    with pytest.raises(AttributeError, match="no algorithm or class of cpin named 'rnaa'; nearest: 'rnea'"):
        cpin.rnaa  # noqa: B018
    assert not hasattr(cpin, "computeCollisions")
    for name in ("buildModelsFromUrdf", "appendModel", "RobotWrapper", "GeometryModel"):
        with pytest.raises(cpin.MissingAttributeError, match=rf"^cpin\.{name}: use pin\.{name}; it takes no symbols$"):
            getattr(cpin, name)
    with pytest.raises(
        cpin.MissingAttributeError, match=r"^no algorithm or class of cpin named 'rnae'; nearest: 'rnea"
    ):
        cpin.rnae  # noqa: B018


WRONG = {
    "model": (lambda m, d, q: cpin.crba(None, d, q), r"crba: model is of type NoneType; give a cpin.Model"),
    "no a": (
        lambda m, d, q: cpin.rnea(m, d, q, q),
        r"rnea: missing a required argument: 'a'; give \(model, d",
    ),
    "no v of two": (
        lambda m, d, q: cpin.computeJointJacobiansTimeVariation(m, d, q),
        r"computeJointJacobiansTimeVariation: no v is given; call .*\(model, data, q, v\)",
    ),
    "order": (lambda m, d, q: cpin.rnea(d, m, q, q, q), r"rnea: model is of type Data; give a cpin.Model"),
    "data": (
        lambda m, d, q: cpin.aba(m, pin.Data(m.pin), q, q, q),
        r"aba: data is of type Data; give model.c",
    ),
    "no q": (lambda m, d, q: cpin.forwardKinematics(m, d, None), r"forwardKinematics: q: expected numbers, SX or MX"),
    "no v": (lambda m, d, q: cpin.computeAllTerms(m, d, q, None), r"computeAllTerms: v: expected numbers, SX or MX"),
    "fext": (lambda m, d, q: cpin.rnea(m, d, q, q, q, 3.0), r"rnea: fext is no list; give njoints = 3 forces"),
    "alpha": (lambda m, d, q: cpin.interpolate(m, q, q, q), r"interpolate: alpha: got 2 × 1 entries; give 1 × 1"),
    "position": (lambda m, d, q: cpin.dIntegrate(m, q, q, 7), r"dIntegrate: got the position 7 .* give ARG0, ARG1"),
    "J": (lambda m, d, q: cpin.forwardDynamics(m, d, q, q, q, None, q), r"forwardDynamics: J: expected numbers"),
    "damping": (
        lambda m, d, q: cpin.forwardDynamics(m, d, q, q, q, np.eye(2), q, -1.0),
        r"forwardDynamics: damping is -1; give 0, or a positive number",
    ),
    "settings": (lambda m, d, q: cpin.constraintDynamics(m, d, q, q, q, [], [], 3.0), r"settings: got a float; give"),
    "datas": (lambda m, d, q: cpin.constraintDynamics(m, d, q, q, q, [], [3.0]), r"contact_datas: got a float; give"),
    "axes": (lambda m, d, q: cpin.rpy.computeRpyJacobian([0, 0, 0], 7), r"computeRpyJacobian: got 7; give LOCAL or W"),
    "angle": (lambda m, d, q: cpin.rpy.rotate("x", "y"), r"rpy.rotate: angle: expected numbers, SX or MX"),
    "factor": (lambda m, d, q: cpin.Motion.Zero() * q, r"Motion: factor: got 2 × 1 entries; give 1 × 1"),
    "solid": (lambda m, d, q: cpin.Inertia.FromBox(1, None, 1, 1), r"Inertia.FromBox: expected numbers, SX or MX"),
    "frame": (lambda m, d, q: m.addFrame(3.0), r"Frame: got a float; give a Frame, or its parts"),
    "parent": (
        lambda m, d, q: m.addJoint("base", cpin.JointModelRX(), cpin.SE3(), "new"),
        r"addJoint: Pinocchio does not take \(str, JointModelRX, SE3, str\)",
    ),
    "lock": (
        lambda m, d, q: cpin.buildReducedModel(m, ["j"], q),
        r"buildReducedModel: no joint j; give indices",
    ),
    "group": (lambda m, d, q: cpin.liegroups.Rn("x"), r"liegroups.Rn: n: expected an integer"),
}
"""Calls with one wrong argument each, of a robot with two joints."""


@pytest.mark.parametrize("call", WRONG)
def test_wrong_arguments_are_refused_in_one_sentence(model: cpin.Model, call: str) -> None:
    wrong, message = WRONG[call]
    with pytest.raises((ArgumentError, ArgumentTypeError), match=message) as refused:
        wrong(model, model.createData(), np.zeros(2))
    assert "\n" not in str(refused.value)
    assert model.njoints == 3


@pytest.mark.parametrize("slot", ["mass", "com", "vcom", "acom"])
def test_subtrees_are_refused_by_name(model: cpin.Model, slot: str) -> None:
    data, q = model.createData(), ca.SX.sym("q", 2)
    cpin.centerOfMass(model, data, q, q, q)
    for k in (1, -1, 9):
        with pytest.raises(
            ArgumentError, match=rf"data.{slot}\[{k}\]: subtrees are not computed; read data.{slot}\[0\]"
        ):
            getattr(data, slot)[k]
    assert len(list(getattr(data, slot))) == 1


def test_install_gives_programs_their_import(tmp_path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\nfrom pinocchio import casadi as cpin\nimport pinocchio.casadi as other\n"
        "assert other is cpin\nprint(cpin.__name__, sys.argv[1:], __name__)\n"
    )
    run = [sys.executable, "-m", "gdalembert.cpin", str(program), "a", "b"]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == "gdalembert.cpin ['a', 'b'] __main__"
    module = subprocess.run([*run[:3], "-m", "nothing.here"], capture_output=True, text=True, check=False)
    assert (module.returncode, module.stderr.split(";")[0]) == (1, "nothing.here: there is no such module")
    missing = subprocess.run([*run[:3], "nothing.py"], capture_output=True, text=True, check=False)
    assert (missing.returncode, missing.stderr) == (
        1,
        "nothing.py: there is no such file; give the path of a Python script\n",
    )


def test_install_refuses_where_pinocchio_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pinocchio.casadi", pin)
    with pytest.raises(gd.errors.UnsupportedError, match=r"pinocchio 4.* has its own pinocchio.casadi; import that"):
        cpin.install()


def test_slices_of_a_state_that_are_made_anew_are_the_same_q(model: cpin.Model) -> None:
    data, x = model.createData(), ca.MX.sym("x", 4)
    cpin.forwardKinematics(model, data, x[:2], x[2:])
    cpin.framesForwardKinematics(model, data, x[:2])
    assert data.v[1].vector.shape == (6, 1)
    cpin.forwardKinematics(model, data, x[1:3])
    with pytest.raises(cpin.MissingAttributeError, match=r"data.v: nothing has computed it"):
        data.v  # noqa: B018


def test_nothing_is_filled_where_arguments_are_refused(model: cpin.Model) -> None:
    data, q = model.createData(), ca.SX.sym("q", 2)
    with pytest.raises(ArgumentTypeError, match=r"rnea: v is SX and a is MX|rnea: q is SX and a is MX"):
        cpin.rnea(model, data, q, q, ca.MX.sym("a", 2))
    with pytest.raises(ArgumentError, match="fext has 1 forces"):
        cpin.rnea(model, data, q, q, q, [cpin.Force()])
    for slot in ("v", "liMi", "tau"):
        with pytest.raises(cpin.MissingAttributeError):
            getattr(data, slot)
