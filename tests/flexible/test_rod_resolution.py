"""How far rods are off that bend further than their nodes resolve."""

from __future__ import annotations

import pickle
import re
import warnings

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from scipy.linalg import expm

import gdalembert as gd
from gdalembert import ocp, simulation
from gdalembert.flexible.rod_resolution import RESOLVED, RodResolution
from tests.helpers.sets import quick

LENGTH = 0.8


def arm(*, strains: tuple[str, ...] = ("bending_y",), **options: object) -> gd.FlexibleArm:
    """A rod on a joint, without gravity."""
    model = pin.Model()
    model.name = "spiral"
    joint = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "turn")
    body = pin.Inertia(0.8, np.array([LENGTH / 2, 0, 0]), np.diag([1e-3, 0.05, 0.05]))
    model.appendBodyToJoint(joint, body, pin.SE3.Identity())
    model.addBodyFrame("rod", joint, pin.SE3.Identity(), 0)
    model.gravity.linear = np.zeros(3)
    beam = gd.Beam(LENGTH, 1.0, EI_z=1.0, EI_y=1.0, GJ=0.8, section_inertia=(1e-4, 1e-4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the body that the rod replaces
        return gd.FlexibleArm(model, {"rod": gd.CosseratRod(beam, strains=strains, **options)})


def apart(dyn: gd.FlexibleArm, q: np.ndarray, screw: np.ndarray) -> float:
    """The distance of the tip over the length from the end of a curve of constant strain (κ; ν)."""
    kx, ky, kz = screw
    twist = np.array([[0, -kz, ky, 1], [kz, 0, -kx, 0], [-ky, kx, 0, 0], [0, 0, 0, 0]])
    return float(np.linalg.norm((dyn.tip_placement("rod")(q).full() - expm(twist * LENGTH))[:3, 3]) / LENGTH)


@pytest.mark.parametrize(
    ("degree", "turns"), quick([(0, 1.0), (0, 2.0), (1, 2.0), (3, 2.0), (3, 4.0)], (0, 2.0), (1, 2.0), (3, 4.0))
)
def test_a_circle_of_several_turns(degree: int, turns: float) -> None:
    """Constant curvature, which each degree has: what is off is the nodes' alone, from 1e-4 to 0.19 of the length."""
    dyn, curvature = arm(degree=degree), 2 * np.pi * turns / LENGTH
    q = np.array([0.0, curvature, *[0.0] * degree])
    found = dyn.validity(q)["rod"]
    wanted = apart(dyn, q, np.array([0, 0, curvature]))
    assert wanted > 9e-5
    assert found.error == pytest.approx(wanted, rel=1e-3)
    assert bool(found.warnings) == (wanted > RESOLVED)
    restored = pickle.loads(pickle.dumps(dyn))
    assert restored.validity(np.array([np.zeros_like(q), q]))["rod"] == found


@pytest.mark.parametrize(("segments", "degree"), [(1, 0), (2, 0), (1, 2)])
def test_the_error_of_a_helix_is_bounded(segments: int, degree: int) -> None:
    """With several segments the bound is the sum of theirs, which point in several directions."""
    dyn = arm(strains=("torsion", "bending_y", "bending_z"), segments=segments, degree=degree)
    q = np.zeros(dyn.tree.nq)
    for name, strain in (("torsion", 4.0), ("bending_y", 8.0), ("bending_z", -3.0)):
        for k, coordinate in enumerate(dyn.layout):
            q[k] = strain if coordinate.endswith(f"{name} P0") else q[k]
    wanted = apart(dyn, q, np.array([4.0, 3.0, 8.0]))
    assert wanted > 1e-8
    assert wanted * 0.999 <= dyn.validity(q)["rod"].error <= 4 * wanted


def test_a_rod_that_hardly_bends_is_resolved() -> None:
    dyn = arm()
    assert dyn.validity(np.full(5, 0.3))["rod"].error < 1e-8
    assert str(RodResolution("rod", 2e-5)) == "link 'rod': its tip is off by up to 2e-05 of its length"
    assert dyn.bending_warnings(np.zeros((1, 5))) == ()
    assert gd.NewtonEuler(dyn.rigid_tree).bending_warnings(np.zeros((1, 1))) == ()


def test_results_of_rods_that_are_not_resolved_say_so() -> None:
    """A rod of constant strain that is rolled up by one and a half turns: at rest, in a motion, in a plan."""
    dyn, curvature = arm(degree=0), 3 * np.pi / LENGTH
    message = (
        r"link 'rod': it bends further than its nodes resolve, and its tip is off by up to 0\.02.* of its length; give"
    )
    q = [0.0, curvature]
    with pytest.warns(UserWarning, match=rf"^static_deflection: {message}"):
        rest = dyn.static_deflection(q, "rod tip", [0, 0, 0, 0, 0, curvature], reference=pin.LOCAL)
    assert rest[1] == pytest.approx(curvature, rel=1e-9)
    with pytest.warns(simulation.SimulationWarning, match=rf"^simulate: spiral: {message}"):
        gd.simulate(dyn, (q, [0, 0]), 1e-3, method="rk4", step=1e-3)
    problem = ocp.Problem(dyn, 0.1, 1, degree=1)
    problem.start(q)
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    with pytest.warns(ocp.SolutionWarning) as caught:
        problem.solve()
    assert any(re.search(message, str(each.message)) for each in caught)
