"""``pin.buildModelFromMJCF`` beside what the files say: if one of these fails, Pinocchio has been mended there, and the
rows of docs/conventions.md must be, too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import cpin
from gdalembert.errors import ModelError


def mjcf(
    ball: str = 'mass="2" size=".1" pos="0 0 -1"',
    body: str = "",
    joint: str = "",
    before: str = "",
    after: str = "",
    compiler: str = "",
) -> str:
    """A ball of 2 kg in the distance of 1 m from a hinge about y."""
    return f"""<mujoco><compiler angle="radian" {compiler}/>{before}<worldbody>
      <body name="a" {body}><joint name="j" axis="0 1 0" {joint}/><geom type="sphere" {ball}/></body></worldbody>{after}
    </mujoco>"""


DEFAULT = '<default><default class="k">{}</default></default>'

Read = Callable[[str], pin.Model]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def by_pinocchio(text: str) -> pin.Model:
        path = tmp_path / "robot.xml"
        path.write_text(text, encoding="utf-8")
        return pin.buildModelFromMJCF(str(path))

    return by_pinocchio


def gravity_torque(model: pin.Model) -> float:
    """With the ball beside the hinge."""
    return float(pin.computeGeneralizedGravity(model, model.createData(), np.array([np.pi / 2]))[0])


def test_the_plain_pendulum_is_right(read: Read) -> None:
    assert gravity_torque(read(mjcf())) == pytest.approx(2 * 9.81, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        (mjcf(before='<option gravity="0 0 -1.62"/>'), 2 * 1.62),
        (mjcf(before='<option><flag gravity="disable"/></option>'), 0.0),
        (mjcf('class="k" size=".1" pos="0 0 -1"', before=DEFAULT.format('<geom mass="2"/>')), 2 * 9.81),
        (mjcf('class="k" size=".1" mass="2"', before=DEFAULT.format('<geom pos="0 0 -1"/>')), 2 * 9.81),
        (mjcf(compiler='settotalmass="5"'), 5 * 9.81),
        (mjcf(compiler='boundmass="7"'), 7 * 9.81),
        (mjcf(body='gravcomp="1"'), 0.0),
    ],
    ids=["option", "flag", "mass of a class", "pose of a class", "settotalmass", "boundmass", "gravcomp"],
)
def test_torques_are_wrong(text: str, right: float, read: Read) -> None:
    assert abs(gravity_torque(read(text)) - right) > 0.1


def test_the_pose_of_a_root_body_without_a_joint_is_lost(read: Read) -> None:
    fixed = (
        mjcf().replace('<body name="a" ', '<body euler="0 .3 0"><body name="a" ').replace("</body>", "</body></body>")
    )
    assert gravity_torque(read(fixed)) == pytest.approx(2 * 9.81, rel=1e-12)
    assert 2 * 9.81 * np.cos(0.3) < 2 * 9.4  # which is right


def test_the_order_of_extrinsic_angles_is_wrong(read: Read) -> None:
    model = read(mjcf(body='euler=".1 .2 .3"', compiler='eulerseq="XYZ"'))
    right = pin.utils.rotate("z", 0.3) @ pin.utils.rotate("y", 0.2) @ pin.utils.rotate("x", 0.1)
    assert np.abs(model.jointPlacements[1].rotation - right).max() > 0.01


def test_all_root_bodies_but_one_are_lost(read: Read) -> None:
    more = '<body name="b"><joint name="k" axis="0 1 0"/><geom size=".1" mass="1"/></body></worldbody>'
    assert read(mjcf().replace("</worldbody>", more)).nv == 1


def test_the_damping_of_a_free_joint_is_lost(read: Read) -> None:
    model = read(mjcf().replace('name="j" axis="0 1 0"', 'name="j" type="free" damping="1"'))
    assert (model.nv, float(np.abs(model.damping).max())) == (6, 0.0)


def test_a_second_worldbody_doubles_the_robot(read: Read) -> None:
    """Whoever takes it says so: formulations, kinematics and ``cpin``."""
    model = read(mjcf(after='<worldbody><light pos="0 0 3"/></worldbody>'))
    assert list(model.names) == ["universe", "j", "j"]
    for take in (
        gd.NewtonEuler,
        gd.LagrangeEuler,
        gd.Kinematics,
        lambda m: gd.joint_torques(m, "a", pin.LOCAL),
        lambda m: cpin.forwardKinematics(cpin.Model(m), cpin.Model(m).createData(), [0, 0]),
        lambda m: cpin.rnea(cpin.Model(m), cpin.Model(m).createData(), [0, 0], [0, 0], [0, 0]),
    ):
        with pytest.raises(
            ModelError, match=r"joint 'j': 2 joints have this name; rename them, or read an MJCF file by"
        ):
            take(model)
