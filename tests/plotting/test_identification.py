"""Exciting motions over one period, and identifications: what is drawn is what the result says."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import plotting
from gdalembert.errors import ArgumentError, ArgumentTypeError
from tests.helpers.identification import panda
from tests.helpers.plots import lines

pytestmark = [pytest.mark.extras, pytest.mark.usefixtures("clean_matplotlib")]

MODEL = gd.load_urdf("puma560_3")


@pytest.fixture(scope="module")
def motion() -> gd.identification.Excitation:
    dyn = gd.NewtonEuler(MODEL)
    return gd.identification.excitation(dyn, MODEL, period=4.0, harmonics=2, starts=1, joints=["joint2", "joint3"])


def test_the_motion_is_drawn_with_the_limits_of_the_model(motion: gd.identification.Excitation) -> None:
    axes = plotting.excitation(motion, MODEL)
    assert [ax.get_ylabel() for ax in axes] == ["q [rad]", "v [rad/s]", "a [rad/s²]", "effort [N m]"]
    assert axes[-1].get_xlabel() == "time [s]"
    t = np.linspace(0, 4, 401)
    q, v, a = motion.q(t), motion.v(t), motion.a(t)
    data = MODEL.createData()
    efforts = np.array([pin.rnea(MODEL, data, *state) for state in zip(q, v, a, strict=True)])
    for ax, values in zip(axes, (q, v, a, efforts), strict=True):
        drawn = lines(ax)
        assert list(drawn) == ["joint2", "joint3"]
        for k, name in ((1, "joint2"), (2, "joint3")):
            assert drawn[name] == pytest.approx(values[:, k], rel=1e-9, abs=1e-9)  # constants are cleaned
    bounds = [
        [*MODEL.lowerPositionLimit[1:], *MODEL.upperPositionLimit[1:]],
        [*-MODEL.velocityLimit[1:], *MODEL.velocityLimit[1:]],
        [],
        [*-MODEL.effortLimit[1:], *MODEL.effortLimit[1:]],
    ]
    for ax, expected in zip(axes, bounds, strict=True):
        dashed = [float(np.asarray(line.get_ydata())[0]) for line in ax.lines if line.get_linestyle() == "--"]
        assert sorted(dashed) == pytest.approx(sorted(expected))


def test_the_efforts_are_those_that_excitation_limits() -> None:
    """With friction, as the robot has it; the largest of them are parts of the limits that the motion says."""
    model = MODEL.copy()
    model.damping = np.full(3, 20.0)
    dyn = gd.NewtonEuler(model, friction="model", parameters=["armature"])
    found = gd.identification.excitation(dyn, model, period=4.0, harmonics=2, starts=1)
    for name, values in lines(plotting.excitation(found, model, dyn)[3]).items():
        part = np.abs(values).max() / model.effortLimit[model.getJointId(name) - 1]
        assert part == pytest.approx(found.limits[f"effort of {name}"], abs=2e-3)  # of other instants
    assert plotting.excitation(found, model)[3].get_ylabel() == "effort without friction [N m]"
    with pytest.raises(ArgumentTypeError, match=r"^excitation: expected a Dynamics, got Model$"):
        plotting.excitation(found, model, model)
    with pytest.raises(ArgumentError, match=r"^excitation: the motion is not one of NewtonEuler\('panda7'"):
        plotting.excitation(found, model, gd.NewtonEuler(gd.load_urdf("panda7")))


def test_without_a_model_there_are_no_efforts(motion: gd.identification.Excitation) -> None:
    axes = plotting.excitation(motion)
    assert [ax.get_ylabel() for ax in axes] == ["q [rad or m]", "v [rad/s or m/s]", "a [rad/s² or m/s²]"]
    assert all(line.get_linestyle() == "-" for ax in axes for line in ax.lines)


def test_what_is_no_motion_of_the_model_is_refused(motion: gd.identification.Excitation) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^excitation: expected an Excitation, got str$"):
        plotting.excitation("motion")
    with pytest.raises(ArgumentTypeError, match=r"^excitation: expected a pin.Model, got str$"):
        plotting.excitation(motion, "puma560_3")
    with pytest.raises(
        ArgumentError,
        match=r"^excitation: the motion is of 'puma560_3', the model is 'puma560'; give the one that moves$",
    ):
        plotting.excitation(motion, gd.load_urdf("puma560"))


def result(**arguments: object) -> gd.identification.Identification:
    e = panda()
    return gd.identification.fit(e.dyn, e.q, e.v, e.a, e.measured(0), method="weighted", **arguments)


def test_the_torques_held_back_are_drawn_beside_the_predicted_ones() -> None:
    found = result(held_back=0.25)
    axes = plotting.identification(found)
    assert len(axes) == 7
    for k, ax in enumerate(axes):
        drawn = lines(ax)
        assert list(drawn) == ["measured", "predicted", "residual"]
        assert np.array_equal(drawn["measured"], found.held_back.measured[:, k])
        assert np.array_equal(drawn["predicted"], found.held_back.predicted[:, k])
        assert np.array_equal(drawn["residual"], found.held_back.residuals[:, k])
        assert ax.get_title(loc="left") == f"joint{k + 1}: {found.held_back.relative[k]:.1%}"
    assert axes[-1].get_xlabel() == "sample, held back"
    assert plotting.identification(result())[-1].get_xlabel() == "sample, fitted"


def test_base_parameters_are_drawn_with_their_standard_deviations() -> None:
    found = result()
    ax = plotting.identification(found, "parameters")
    drawn = {str(line.get_label()): np.asarray(line.get_xdata()) for line in ax.lines}
    assert list(drawn) == ["estimate", "nominal", "standard deviation"]
    assert np.array_equal(drawn["estimate"], np.abs(found.base.values))
    assert np.array_equal(drawn["standard deviation"], found.base.standard_deviation)
    known = found.base.nominal != 0
    assert np.array_equal(drawn["nominal"][known], np.abs(found.base.nominal[known]))
    assert np.all(np.isnan(drawn["nominal"][~known]))
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert len(names) == len(found.base)
    for name, formula in zip(names, found.base.names, strict=True):
        assert formula.startswith(name.removesuffix(" …"))


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match=r"expected the result of gd\.identification\.fit, got int$"):
        plotting.identification(3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="show: got 'all'; give 'torques', 'residuals' or 'parameters'"):
        plotting.identification(result(), "all")  # type: ignore[arg-type]


def test_residuals_are_drawn_over_samples_speeds_and_efforts() -> None:
    e = panda()
    result = gd.identification.fit(e.dyn, e.q, e.v, e.a, e.measured(0), method="weighted")
    grid = plotting.identification(result, "residuals")
    assert grid.shape == (7, 3)
    assert [ax.get_xlabel() for ax in grid[-1]] == ["sample, fitted", "speed [rad/s or m/s]", "torque [N m or N]"]
    for ax, x in zip(grid[2], (np.arange(600), e.v[:, 2], result.fitted.measured[:, 2]), strict=True):
        assert np.asarray(ax.lines[0].get_xdata()) == pytest.approx(x)
        assert np.asarray(ax.lines[0].get_ydata()) == pytest.approx(result.fitted.residuals[:, 2])
