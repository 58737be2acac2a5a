"""docs/from_pinocchio_casadi.md: what pin 4 changed under programs, row by row: a wrong or missing row fails."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import files
from pathlib import Path
from typing import Any

import coal
import numpy as np
import pinocchio as pin
import pytest

from gdalembert import cpin
from tests.helpers.paths import ROOT

PAGE = (ROOT / "docs" / "from_pinocchio_casadi.md").read_text(encoding="utf-8")
TABLE = re.search(r"^\| a program says \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
SAID = [line.strip("|").split("|")[0].strip() for line in TABLE[1].splitlines()] if TABLE else []
OLD, NEW, HERE = np.array([-1.0]), np.array([1.0]), pin.SE3.Identity()
ROWS: dict[str, Callable[[Any], None]] = {}


def row(said: str) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
    """The check of the row in which a program says this."""

    def keep(check: Callable[[Any], None]) -> Callable[[Any], None]:
        ROWS[said] = check
        return check

    return keep


class Robot:
    def __init__(self) -> None:
        self.model = pin.buildSampleModelManipulator()
        self.data = self.model.createData()
        self.contact = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, self.model, 6, HERE, pin.LOCAL)
        self.datas = [self.contact.createData()]
        self.args = self.model, self.data


def refused(call: Callable[[], Any]) -> None:
    """By Boost.Python, which knows no such arguments."""
    with pytest.raises(Exception, match="did not match C\\+\\+ signature"):
        call()


def deprecated(call: Callable[[], Any], instead: str) -> None:
    with pytest.warns(DeprecationWarning, match=instead):
        call()


@row("`pin.GeometryObject(name, joint, geometry, placement)`")
def geometry(robot: Robot) -> None:
    ball = coal.Sphere(0.1)
    refused(lambda: pin.GeometryObject("ball", 1, ball, HERE))
    assert pin.GeometryObject("ball", 1, HERE, ball).name == "ball"


@row("`contact.corrector.Kp`, `.Kd`: an entry for each row")
def corrector(robot: Robot) -> None:
    assert not hasattr(robot.contact, "corrector")
    refused(lambda: setattr(robot.contact.m_baumgarte_parameters, "Kp", np.ones(3)))
    robot.contact.m_baumgarte_parameters.Kp = 3.0
    ours = cpin.RigidConstraintModel(robot.contact)
    ours.corrector.Kp[:] = np.arange(3)
    assert ours.gains("Kp") == (3, 4, 5)
    with pytest.raises(AttributeError, match="kp"):  # a gain that is misspelt would be one that nothing reads
        ours.corrector.kp = 1.0


@row("`pin.BaumgarteCorrectorParameters(size)`")
def parameters(robot: Robot) -> None:
    refused(lambda: pin.BaumgarteCorrectorParameters(3))
    assert pin.BaumgarteCorrectorParameters(1.0, 2.0).Kd == 2


@row("`contact.size()`")
def size(robot: Robot) -> None:
    assert not hasattr(robot.contact, "size")
    ours = cpin.RigidConstraintModel(robot.contact)
    assert robot.contact.residualSize() == ours.size() == ours.residualSize() == 3


@row("`pin.initConstraintDynamics(model, data, contacts)`")
def initial(robot: Robot) -> None:
    refused(lambda: pin.initConstraintDynamics(*robot.args, [robot.contact]))
    pin.initConstraintDynamics(*robot.args, [robot.contact], robot.datas)
    cmodel = cpin.Model(robot.model)
    for datas in ((), (robot.datas,)):
        cpin.initConstraintDynamics(cmodel, cmodel.createData(), [robot.contact], *datas)


PROGRAM = """
import numpy as np, pinocchio as pin
model = pin.buildSampleModelManipulator()
contact = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, 6, pin.SE3.Identity(), pin.LOCAL)
state = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
settings = pin.ProximalSettings(1e-12, 1e-10, 1)
try:
    pin.constraintDynamics(model, model.createData(), *state, [contact], [contact.createData()], settings)
except Exception:
    pass
"""


@row("`pin.constraintDynamics(…)` before that")
def uninitialized(robot: Robot) -> None:
    assert subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=False).returncode < 0
    cmodel, rest = cpin.Model(robot.model), np.zeros(robot.model.nv)
    state = pin.neutral(robot.model), rest, rest
    settings = pin.ProximalSettings(1e-12, 1e-10, 1)
    found = cpin.constraintDynamics(cmodel, cmodel.createData(), *state, [robot.contact], None, settings)
    assert np.isfinite(found.full()).all()


@row("`pin.ContactCholeskyDecomposition(model, contacts)`")
def cholesky(robot: Robot) -> None:
    refused(lambda: pin.ContactCholeskyDecomposition(robot.model, [robot.contact]))
    assert pin.ConstraintCholeskyDecomposition(*robot.args, [robot.contact], robot.datas)


@row("`pin.contactInverseDynamics` of `pin.RigidConstraintModel` and cones")
def inverse(robot: Robot) -> None:
    said = pin.contactInverseDynamics.__doc__
    assert "StdVec_PointContactConstraintModel" in said
    assert "RigidConstraintModel" not in said


@row("`pin.computeContactForces`")
def forces(robot: Robot) -> None:
    assert not hasattr(pin, "computeContactForces")
    assert hasattr(pin, "computeInverseDynamicsConstraintForces")


@row("`pin.ADMMContactSolver`, `pin.PGSContactSolver`")
def solvers(robot: Robot) -> None:
    for name in ("ADMM", "PGS"):
        assert not hasattr(pin, f"{name}ContactSolver")
        assert hasattr(pin, f"{name}ConstraintSolver")


@row("`model.addJoint(…, friction, damping)`")
def limits(robot: Robot) -> None:
    joint = 0, pin.JointModelRX(), HERE
    refused(lambda: robot.model.addJoint(*joint, "old", NEW, NEW, OLD, NEW, NEW, NEW))
    index = robot.model.addJoint(*joint, "new", OLD, NEW, OLD, NEW, OLD, NEW, OLD, NEW, 3 * NEW)
    column = robot.model.idx_vs[index]
    assert robot.model.upperVelocityLimit[column] == 1
    assert robot.model.lowerVelocityLimit[column] == 1  # which a sentence below the table says
    ends = [x for name in ("Effort", "Position", "DryFriction") for x in (f"lower{name}", f"upper{name}")]
    assert [getattr(robot.model, f"{name}Limit")[column] for name in ends] == [-1, 1] * 3
    assert robot.model.damping[column] == 3


@row("`model.effortLimit = x`, `model.friction = x`")
def one_side(robot: Robot) -> None:
    for name, quantity in (("effortLimit", "Effort"), ("friction", "DryFriction")):
        before = getattr(robot.model, f"lower{quantity}Limit").copy()
        setattr(robot.model, name, np.full(robot.model.nv, 7.0))
        assert np.all(getattr(robot.model, f"upper{quantity}Limit") == 7)
        assert np.all(getattr(robot.model, f"lower{quantity}Limit") == before)


@row("`pin.buildModelFromMJCF(file, root_joint)`")
def mujoco(robot: Robot) -> None:
    root = pin.JointModelFreeFlyer()
    refused(lambda: pin.buildModelFromMJCF("robot.xml", root))
    with pytest.raises(RuntimeError, match="cannot open file"):  # with these arguments
        pin.buildModelFromMJCFAndRootJoint("robot.xml", root)


@row("`frame.parent`, `frame.previousFrame`")
def frames(robot: Robot) -> None:
    frame = robot.model.frames[2]
    deprecated(lambda: frame.parent, "Use Frame.parentJoint instead")
    deprecated(lambda: frame.previousFrame, "Use Frame.parentFrame instead")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (frame.parentJoint, frame.parentFrame) == (1, 1)


@row("`import hppfcl`, `pin.WITH_HPP_FCL`")
def collision(robot: Robot) -> None:
    deprecated(lambda: bool(pin.WITH_HPP_FCL), "marked as deprecated")
    run = [sys.executable, "-W", "error::DeprecationWarning", "-c", "import hppfcl"]
    assert b"Please update your 'hppfcl' imports" in subprocess.run(run, capture_output=True, check=False).stderr
    assert pin.WITH_COLLISION is True


LOADERS = "`import example_robot_data`"


@pytest.mark.parametrize("said", ROWS)
def test_a_row_says_what_pin_does(said: str) -> None:
    assert int(pin.__version__.split(".")[0]) >= 4
    ROWS[said](Robot())


def test_every_row_is_checked() -> None:
    assert [*ROWS, LOADERS] == SAID


@pytest.mark.extras
def test_the_files_of_robots_come_without_their_loaders() -> None:
    installed = files("example-robot-data")
    assert installed is not None
    assert [each for each in installed if Path(each).suffix == ".py"] == []
