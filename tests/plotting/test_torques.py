"""Torques by kind and by link: what is drawn adds up, and each part is Pinocchio's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from matplotlib.figure import Figure

import gdalembert as gd
from gdalembert import plotting
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError
from tests.helpers import models
from tests.helpers.plots import lines, swing, tree_with_everything

pytestmark = [pytest.mark.extras, pytest.mark.usefixtures("clean_matplotlib")]


def rnea(model: pin.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    data = model.createData()
    return np.array([pin.rnea(model, data, *state).copy() for state in zip(q, v, a, strict=True)])


@pytest.mark.parametrize("by", ["kind", "link"])
@pytest.mark.parametrize("name", ["puma560", "shala_likaj_rpr", "tree"])
def test_the_sum_that_is_drawn_is_the_torque(name: str, by: Any) -> None:
    model = tree_with_everything() if name == "tree" else gd.load_urdf(name)
    sprung = "RevoluteUnaligned_1" if name == "tree" else model.names[2]
    dyn = gd.GeneralizedDAlembert(model, springs={sprung: (30.0, 0.2)}, clean=0)
    t, q, v, a = swing(model)
    axes = plotting.torque_decomposition(dyn, (t, q, v, a), by=by)
    assert len(axes) == model.nv
    joint = model.joints[model.getJointId(sprung)]
    tau = rnea(model, q, v, a)
    tau[:, joint.idx_v] += 30 * (q[:, joint.idx_q] - 0.2)
    for k, ax in enumerate(axes):
        drawn = lines(ax)
        whole = drawn.pop("sum, τ")
        assert models.relative_error(whole, tau[:, k]) < 1e-12
        assert models.relative_error(whole, dyn.inverse_dynamics(q.T, v.T, a.T).full()[k]) < 1e-12
        assert models.relative_error(sum(drawn.values()), tau[:, k]) < 1e-12
        assert np.all(ax.lines[0].get_xdata() == t)
        assert ax.get_title(loc="left") == dyn.tree.velocity_names[k]


def test_the_kinds_are_those_of_point_masses_and_of_pure_inertia() -> None:
    model = gd.load_urdf("puma560")
    t, q, v, a = swing(model)
    drawn = lines(plotting.torque_decomposition(gd.GeneralizedDAlembert(model, clean=0), (t, q, v, a), joint="joint2"))
    assert list(drawn) == ["sum, τ", "translational", "rotational", "gravity", "motors"]
    points = model.copy()
    for k in range(1, model.njoints):
        points.inertias[k] = pin.Inertia(model.inertias[k].mass, model.inertias[k].lever, np.zeros((3, 3)))
    points.armature = np.zeros(6)
    gravity = rnea(model, q, 0 * v, 0 * a)[:, 1]
    translational = rnea(points, q, v, a)[:, 1] - gravity
    motors = 4.71 * a[:, 1]
    assert models.relative_error(drawn["gravity"], gravity) < 1e-12
    assert models.relative_error(drawn["translational"], translational) < 1e-12
    assert models.relative_error(drawn["motors"], motors) < 1e-12
    rotational = rnea(model, q, v, a)[:, 1] - gravity - translational - motors
    assert models.relative_error(drawn["rotational"], rotational) < 1e-12


def test_the_links_are_those_of_robots_with_one_link() -> None:
    model = gd.load_urdf("puma560")
    t, q, v, a = swing(model)
    dyn = gd.GeneralizedDAlembert(model, clean=0)
    drawn = lines(plotting.torque_decomposition(dyn, (t, q, v, a), joint="joint2", by="link"))
    assert list(drawn) == ["sum, τ", *(f"link of joint{k}" for k in range(2, 7)), "gravity", "motors"]  # 1 is below
    for k in range(2, 7):
        alone = model.copy()
        alone.gravity.linear = np.zeros(3)
        alone.armature = np.zeros(6)
        for other in set(range(1, 7)) - {k}:
            alone.inertias[other] = pin.Inertia.Zero()
        assert models.relative_error(drawn[f"link of joint{k}"], rnea(alone, q, v, a)[:, 1]) < 1e-12


def test_torques_have_the_units_of_their_joints() -> None:
    model = gd.load_urdf("shala_likaj_rpr")
    axes = plotting.torque_decomposition(model, swing(model))
    assert [ax.get_ylabel() for ax in axes] == ["torque [N m]", "torque [N]", "torque [N m]"]
    assert axes[-1].get_xlabel() == "time [s]"
    ax = plotting.torque_decomposition(model, swing(model), joint=1)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time [s]", "torque of joint2 [N]")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(lines(ax))


def test_a_simulation_is_decomposed_too() -> None:
    model = gd.load_urdf("two_link_arm")
    motion = gd.simulate(gd.NewtonEuler(model), [0.3, 0.2, 0, 0], [0, 0.1, 0.2], [3.0, 1.0])
    ax = plotting.torque_decomposition(model, motion, joint="joint1")
    assert lines(ax)["sum, τ"] == pytest.approx(3 * np.ones(3), abs=1e-9)  # the default cleaning, 1e-11


def test_wrong_decompositions_are_refused() -> None:
    model = gd.load_urdf("two_link_arm")
    t, q, v, a = swing(model)
    draw = plotting.torque_decomposition
    with pytest.raises(ArgumentError, match=r"by='kind': parts of GeneralizedDAlembert; give it, its model, or"):
        draw(gd.NewtonEuler(model), (t, q, v, a), by="kind")
    for by in ("sort", [], np.zeros(0)):
        with pytest.raises(ArgumentError, match=r"by: got .*; give 'kind', 'link' or 'equation'"):
            draw(model, (t, q, v, a), by=by)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="no joint named 'joint3'; nearest: 'joint2', 'joint1'"):
        draw(model, (t, q, v, a), joint="joint3")
    with pytest.raises(ArgumentError, match="index of the joint: got 2; give an integer from 0 to 1"):
        draw(model, (t, q, v, a), joint=2)
    with pytest.raises(ArgumentTypeError, match=r"index of the joint: expected an integer, got 1\.5"):
        draw(model, (t, q, v, a), joint=1.5)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="ax takes one joint"):
        draw(model, (t, q, v, a), ax=Figure().subplots())
    with pytest.raises(ArgumentTypeError, match=r"a Simulation, a Solution or \(t, q, v, a\), got 3 of them"):
        draw(model, (t, q, v))
    with pytest.raises(ArgumentError, match=r"v of two_link_arm has shape \(9, 1\); give \(9, 2\)"):
        draw(model, (t, q, v[:, :1], a))
    with pytest.raises(ArgumentError, match=r"t has shape \(9, 2\); give the times"):
        draw(model, (q, q, v, a))
