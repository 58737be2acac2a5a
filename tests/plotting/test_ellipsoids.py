"""Force and velocity ellipsoids."""

from __future__ import annotations

import re

import numpy as np
import pinocchio as pin
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import gdalembert as gd
from gdalembert import plotting
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError
from gdalembert.plotting import ellipsoids

pytestmark = [pytest.mark.extras, pytest.mark.usefixtures("clean_matplotlib")]

POSE = np.array([0.3, -0.6, 0.9, 0.2, 0.8, 0.1])


REFERENCES = (pin.LOCAL, pin.LOCAL_WORLD_ALIGNED, pin.WORLD)


def linear_jacobian(model: pin.Model, reference: pin.ReferenceFrame) -> np.ndarray:
    return pin.computeFrameJacobian(model, model.createData(), POSE, model.getFrameId("tool"), reference)[:3]


def outline(ax: Axes) -> np.ndarray:
    """Its points, from the centre, in metres of the picture."""
    (line,) = (line for line in ax.lines if len(line.get_xdata()) == 181)
    points = np.array(line.get_data())
    return points - (points.max(axis=1, keepdims=True) + points.min(axis=1, keepdims=True)) / 2


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("reference", REFERENCES)
def test_the_forces_on_the_outline_need_torques_of_unit_norm(reference: pin.ReferenceFrame, limited: bool) -> None:
    model = gd.load_urdf("puma560")
    limits = model.effortLimit if limited else None
    ax = plotting.force_ellipsoid(model, "tool", POSE, reference, plane="zx", limits=limits, scale=1e3)
    force = np.zeros((3, 181))
    force[[2, 0]] = 1e3 * outline(ax)
    torque = linear_jacobian(model, reference).T @ force / (1 if limits is None else limits[:, None])
    # the centre that is subtracted is that of 181 points
    assert np.abs(np.linalg.norm(torque, axis=0) - 1).max() < 1e-3
    jacobian = gd.Kinematics(model).frame_jacobian("tool", reference)(POSE).full()
    found = ellipsoids._semi_axes(ellipsoids._FORCE, jacobian, model.names[1:], "xyz", limits)
    torque = linear_jacobian(model, reference).T @ found / (1 if limits is None else limits[:, None])
    assert np.linalg.norm(torque, axis=0) == pytest.approx(np.ones(3), rel=1e-9)  # cleaning, 1e-11
    assert torque.T @ torque == pytest.approx(np.eye(3), abs=1e-8)


@pytest.mark.parametrize("reference", REFERENCES)
def test_the_velocities_on_the_outline_are_the_largest_of_unit_rates(reference: pin.ReferenceFrame) -> None:
    model = gd.load_urdf("puma560")
    ax = plotting.velocity_ellipsoid(model, "tool", POSE, reference, plane="xy", limits=model.velocityLimit, scale=2.0)
    jacobian = linear_jacobian(model, reference)[:2] * model.velocityLimit
    points = 2 * outline(ax)
    for angle in np.linspace(0, np.pi, 7):
        direction = np.array([np.cos(angle), np.sin(angle)])
        # the largest of d·J v over |v| ≤ 1 is |Jᵀ d|; 181 points miss it by 1 − cos 1°
        assert (direction @ points).max() == pytest.approx(np.linalg.norm(jacobian.T @ direction), rel=2e-4)


def test_the_robot_stands_in_the_axes_of_the_reference() -> None:
    model = gd.load_urdf("puma560")
    data = model.createData()
    pin.framesForwardKinematics(model, data, POSE)
    tool = data.oMf[model.getFrameId("tool")]
    elbow = data.oMi[3].translation

    def drawn(reference: pin.ReferenceFrame) -> np.ndarray:
        ax = plotting.force_ellipsoid(model, "tool", POSE, reference, plane="xz")
        assert ax.get_aspect() == 1
        return np.hstack([line.get_data() for line in ax.lines if line.get_marker() == "o"])

    for reference, point, end in (
        (pin.LOCAL_WORLD_ALIGNED, elbow, tool.translation),
        (pin.LOCAL, tool.actInv(elbow), np.zeros(3)),
    ):
        points = drawn(reference)
        assert np.abs(points - point[[0, 2], None]).max(axis=0).min() < 1e-9
        assert points[:, -1] == pytest.approx(end[[0, 2]], abs=1e-9)


def test_ellipsoids_have_axes_units_and_a_scale() -> None:
    model = gd.load_urdf("puma560")
    ax = plotting.force_ellipsoid(model, "tool", POSE, pin.LOCAL)
    assert ax.name == "3d"
    assert [ax.get_xlabel(), ax.get_ylabel(), ax.get_zlabel()] == [f"{x} of tool [m]" for x in "xyz"]
    flat = plotting.velocity_ellipsoid(gd.load_urdf("two_link_arm"), "tip", [0.5, 1.4], pin.WORLD, plane="xz", scale=5)
    assert (flat.get_xlabel(), flat.get_ylabel()) == ("x [m]", "z [m]")
    assert re.fullmatch(
        r"semi-axes \S+, \S+ m/s; 0\.1 m of the picture: 0\.5 m/s", flat.get_legend().get_title().get_text()
    )
    assert flat.get_legend().get_texts()[1].get_text() == "velocities by joint rates of norm 1 [rad/s]"


def test_forces_that_need_no_torque_are_refused_and_flat_velocities_drawn() -> None:
    model = gd.load_urdf("two_link_arm")
    with pytest.raises(ArgumentError, match=r"forces along \(0, -?1, 0\) in xyz need no torque"):
        plotting.force_ellipsoid(model, "tip", [0.5, 1.4], pin.WORLD)
    with pytest.raises(ArgumentError, match=r"forces along \(-?1, 0\) in xz need no torque"):
        plotting.force_ellipsoid(model, "tip", [0, 0], pin.WORLD, plane="xz")
    assert isinstance(plotting.velocity_ellipsoid(model, "tip", [0.5, 1.4], pin.WORLD), Axes)


def test_wrong_ellipsoids_are_refused() -> None:
    model = gd.load_urdf("puma560")
    draw = plotting.force_ellipsoid
    for plane in ("xx", "x", "xw", 1):
        with pytest.raises(ArgumentError, match=f"plane={plane!r}; give two axes, as 'xy', or None for all three"):
            draw(model, "tool", POSE, pin.LOCAL, plane=plane)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="no frame named 'tol'; nearest: 'tool'"):
        draw(model, "tol", POSE, pin.LOCAL)
    with pytest.raises(ArgumentTypeError, match=r"reference: expected pin\.LOCAL"):
        draw(model, "tool", POSE, "LOCAL")
    with pytest.raises(ArgumentError, match=r"force_ellipsoid: q has shape \(2,\); give \(6,\)"):
        draw(model, "tool", [0, 0], pin.LOCAL)
    with pytest.raises(ArgumentError, match="limits: 0 of 'joint3'; give positive numbers"):
        draw(model, "tool", POSE, pin.LOCAL, limits=[1, 1, 0, 1, 1, 1])
    with pytest.raises(ArgumentError, match=r"scale: got -1; give one finite number \[N/m\], above 0"):
        draw(model, "tool", POSE, pin.LOCAL, plane="xy", scale=-1)
    with pytest.raises(ArgumentError, match="ax must be 3-D Axes"):
        draw(model, "tool", POSE, pin.LOCAL, ax=Figure().subplots())
    with pytest.raises(ArgumentError, match="ax must be plane Axes"):
        draw(model, "tool", POSE, pin.LOCAL, plane="xy", ax=Figure().add_subplot(projection="3d"))


def test_a_frame_that_no_joint_moves_has_no_ellipsoid() -> None:
    model = gd.load_urdf("two_link_arm")
    for draw in (plotting.velocity_ellipsoid, plotting.force_ellipsoid):
        with pytest.raises(ArgumentError, match=r"at q no joint moves the frame in xyz; give another frame or plane"):
            draw(model, 0, [0.5, 1.4], pin.WORLD)
