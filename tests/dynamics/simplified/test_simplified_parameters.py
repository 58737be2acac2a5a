"""Simplified models with parameters: the error of every torque is that of the nominal robot, at every p."""

from __future__ import annotations

import pickle
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import spatial
from gdalembert.dynamics.simplified.dynamics import (
    Definiteness,
    PrunedDynamics,
    SimplifiedDynamics,
    TranslationalRotational,
)
from gdalembert.errors import ArgumentError, UnknownNameError
from gdalembert.model.tree import Tree
from tests.dynamics.simplified.test_simplified import LIMITS, arm, random_model
from tests.helpers.models import relative_error
from tests.helpers.sets import quick

OPTIONS: dict[str, Any] = {"a_max": 5.0, "v_max": 1.5, "tau_max": 50.0, "q_range": (-0.3, 0.8)}
STATES = {
    "inverse_dynamics": "qva",
    "mass_matrix": "q",
    "coriolis_matrix": "qv",
    "nle": "qv",
    "generalized_gravity": "q",
    "kinetic_energy": "qv",
    "potential_energy": "q",
}


def sliding() -> pin.Model:
    """A frame and a body on each link of a robot whose third joint slides, with armature."""
    model = gd.load_urdf("shala_likaj_rpr")
    model.armature[:] = 0.3
    placement = pin.SE3(pin.rpy.rpyToMatrix(0.3, -0.2, 0.5), np.array([0.1, 0.2, -0.1]))
    model.addFrame(pin.Frame("tool", model.njoints - 1, 0, placement, pin.FrameType.OP_FRAME))
    return model


MODEL = sliding()
NAMES = tuple(MODEL.names)[1:]
KINDS: dict[str, dict[str, Any]] = {
    "inertia of one link": {"inertia": [NAMES[1]]},
    "inertia of all links": {"inertia": True},
    "payload": {"payload": ["tool"]},
    "payload at a displaced frame": {"payload": ["tool"], "placement": ["tool"]},
    "base": {"base": True, "gravity": True},
    "placement of one joint": {"placement": [NAMES[1]]},
    "placement of the first joint": {"placement": [NAMES[0]], "inertia": [NAMES[2]], "gravity": True},
    "gravity": {"gravity": ["x", "z"]},
    "armature": {"armature": True},
    "force elements": {"springs": True, "friction": True},
    "all": {
        "inertia": True,
        "payload": ["tool"],
        "placement": True,
        "armature": True,
        "gravity": True,
        "friction": True,
    },
}
FORCES: dict[str, Any] = {"springs": {NAMES[0]: (5.0, 0.1)}, "friction": {NAMES[1]: gd.Friction(0.4, 0.3)}}


def pruned(model: pin.Model, parameters: Any = None, error: float = 0.05, **options: Any) -> PrunedDynamics:
    return PrunedDynamics(model, error, **OPTIONS, **options, parameters=parameters)


def compare(dyn: SimplifiedDynamics, plain: SimplifiedDynamics, at_p: gd.Dynamics, exact: gd.Dynamics, p: Any) -> None:
    """What p changes of each Function is what it changes of the exact robot; ``at_p`` and ``exact`` have no p."""
    rng = np.random.default_rng(4)
    for q, v, a in rng.uniform(-0.3, 0.3, size=(3, 3, dyn.nv)):
        state = {"q": q, "v": v, "a": a}
        for name, letters in STATES.items():
            given = [state[x] for x in letters]
            found = getattr(dyn, name)(*given, p) - getattr(plain, name)(*given)
            changed = getattr(at_p, name)(*given)
            change = changed - getattr(exact, name)(*given)
            if name == "potential_energy" and "base" in str(dyn.parameters.names):
                continue  # known but for a constant
            size = max(1.0, np.abs(changed.full()).max())
            assert np.abs((found - change).full()).max() < 1e-12 * size, name


@pytest.mark.long
@pytest.mark.parametrize("kind", quick(KINDS, "placement of the first joint"))
def test_what_parameters_change_is_exact(kind: str) -> None:
    """Against the exact robot whose model has p, read anew, and Pinocchio."""
    parameters = KINDS[kind]
    dyn, plain = pruned(MODEL, parameters, **FORCES), pruned(MODEL, **FORCES)
    assert [(term.entry, term.shape) for term in dyn.kept] == [(term.entry, term.shape) for term in plain.kept]
    assert dyn.dropped
    np.testing.assert_allclose(dyn.bound, plain.bound, rtol=1e-12, atol=0)
    p = dyn.parameters.random(np.random.default_rng(5))
    exact, with_p = gd.NewtonEuler(MODEL, **FORCES), gd.NewtonEuler(MODEL, **FORCES, parameters=parameters)
    compare(dyn, plain, with_p.at(p), exact, p)
    if kind not in ("force elements", "all"):  # a model has none
        written, data = dyn.parameters.write(MODEL, p), MODEL.createData()
        q, v, a = np.random.default_rng(6).uniform(-0.3, 0.3, size=(3, dyn.nv))
        change = pin.rnea(written, written.createData(), q, v, a) - pin.rnea(MODEL, data, q, v, a)
        found = dyn.inverse_dynamics(q, v, a, p) - plain.inverse_dynamics(q, v, a)
        assert relative_error(found.full().ravel(), change) < 1e-9  # constants are cleaned
    assert dyn.check(200, corners=True, p=p).ok


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_the_laws_hold_at_every_p(seed: int) -> None:
    """M symmetric, dM/dt − 2 C skew, C v + g = nle, g = ∂V/∂q, fd ∘ id = 1: trees, continuous and sliding joints."""
    model = random_model(seed)
    first, last = model.names[1], model.names[model.njoints - 1]
    given = {"inertia": [last], "placement": [last], "gravity": True, "armature": [first]}
    dyn = pruned(model, given, 0.02)
    rng = np.random.default_rng(seed)
    p = dyn.parameters.random(rng)
    s, v_s = ca.SX.sym("q", dyn.nq), ca.SX.sym("v", dyn.nv)
    rate = ca.Function("rate", [s, v_s], [ca.jtimes(dyn.mass_matrix(s, p), s, dyn.tree.configuration_rate(s, v_s))])
    slope = ca.Function("slope", [s], [dyn.tree.tangent_map(s).T @ ca.gradient(dyn.potential_energy(s, p), s)])
    for _ in range(3):
        q = pin.integrate(model, pin.neutral(model), rng.uniform(-0.3, 0.8, size=model.nv))
        v, a = rng.normal(size=(2, model.nv))
        m, c, g = dyn.mass_matrix(q, p).full(), dyn.coriolis_matrix(q, v, p).full(), dyn.generalized_gravity(q, p)
        nle = dyn.nle(q, v, p)
        tau = dyn.inverse_dynamics(q, v, a, p)
        assert np.array_equal(m, m.T)
        assert relative_error(m @ a[:, None] + nle.full(), tau.full()) < 1e-13
        assert relative_error(c @ v[:, None] + g.full(), nle.full()) < 1e-13
        assert relative_error(c + c.T, rate(q, v).full()) < 1e-13
        assert relative_error(slope(q).full(), g.full()) < 1e-13
        assert relative_error(0.5 * v @ m @ v, float(dyn.kinetic_energy(q, v, p))) < 1e-13
        if np.linalg.eigvalsh(m)[0] > 1e-3:
            assert relative_error(dyn.forward_dynamics(q, v, tau, p).full().ravel(), a) < 1e-9


@pytest.mark.parametrize("kind", quick(("base", "placement of one joint"), "base"))
def test_at_p_and_pickles(kind: str) -> None:
    """Numbers in place of p; those of the model leave the kept terms alone. With MX, and derivatives."""
    dyn, plain = pruned(MODEL, KINDS[kind], **FORCES), pruned(MODEL, **FORCES)
    rng = np.random.default_rng(7)
    p = dyn.parameters.random(rng)
    q, v, a = rng.uniform(-0.3, 0.3, size=(3, dyn.nv))
    tau = dyn.inverse_dynamics(q, v, a, p).full()
    at_p = dyn.at(p)
    for each in (at_p, pickle.loads(pickle.dumps(at_p)), pickle.loads(pickle.dumps(dyn)).at(p)):
        assert relative_error(each.inverse_dynamics(q, v, a).full(), tau) < 1e-12
    assert dyn.at().inverse_dynamics.n_instructions() == plain.inverse_dynamics.n_instructions()
    x = ca.MX.sym("q", dyn.nq)
    slope = ca.Function("slope", [x], [ca.jacobian(dyn.inverse_dynamics(x, v, a, p), x)])(q).full()
    assert relative_error(dyn.inverse_dynamics_derivatives(q, v, a, p)[0].full(), slope) < 1e-12
    assert relative_error(at_p.inverse_dynamics_derivatives(q, v, a)[0].full(), slope) < 1e-12


def test_check_is_at_p() -> None:
    dyn = pruned(MODEL, ["gravity"])
    nominal, heavier = dyn.check(200), dyn.check(200, p={"gravity.z": -30.0})
    assert nominal.ok
    assert heavier.ok
    np.testing.assert_allclose(heavier.observed, nominal.observed, rtol=1e-9, atol=1e-9)
    assert heavier.largest_tau.max() > 2 * nominal.largest_tau.max()
    fixed = dyn.at({"gravity.z": -30.0}).check(200)
    np.testing.assert_allclose(fixed.observed, heavier.observed, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(fixed.largest_tau, heavier.largest_tau, rtol=1e-12, atol=1e-12)
    with pytest.raises(UnknownNameError, match=r"no parameter named 'gravity\.w'"):
        dyn.check(200, p={"gravity.w": 1.0})
    with pytest.raises(ArgumentError, match=r"check: p is given, but .* has no parameters"):
        pruned(MODEL).check(200, p=[1.0])


def test_definiteness_is_that_of_the_armature_at_p() -> None:
    """λ of B in units of the armature; what is dropped does not depend on p."""
    dyn = pruned(MODEL, ["armature"])
    assert dyn.definiteness.guaranteed
    stronger = dyn.at(2 * dyn.parameters.values).definiteness
    assert stronger.guaranteed
    assert 1 - stronger.least == pytest.approx((1 - dyn.definiteness.least) / 2, rel=1e-12, abs=0)
    weaker = dyn.at(1e-3 * dyn.parameters.values).definiteness
    assert not weaker.guaranteed
    heavy = pruned(MODEL, {"inertia": [NAMES[1]]})
    found = heavy.at(heavy.parameters.random(np.random.default_rng(0))).definiteness
    assert found == heavy.definiteness


def heavy(tree: Tree) -> list[int]:
    """The links of a tree that have a body."""
    return [i for i, joint in enumerate(tree.joints) if spatial.constant(joint.pseudo_inertia).nnz()]


@pytest.mark.long
def test_only_what_varies_is_computed() -> None:
    """The bodies in what is added and subtracted: nothing for armature, which is exact already."""
    given: Any = ([], ["armature"], *({"inertia": [name]} for name in NAMES), ["inertia"])
    plain, armature, *links, together = (pruned(MODEL, each)._variation for each in given)
    for each in (plain, armature):
        assert (each.added, each.removed, each.weighed) == (None, None, ())
    for k, each in enumerate(links):
        assert (each.removed, each.weighed) == (None, ())
        assert heavy(each.added) == [k]
    assert heavy(together.added) == [0, 1, 2]
    displaced = pruned(MODEL, {"placement": [NAMES[1]], "gravity": True})._variation
    for tree, bodies in ((displaced.added, [1, 2]), (displaced.removed, [1, 2]), (displaced.weighed[0][0], [0])):
        assert heavy(tree) == bodies
    mounted = pruned(MODEL, {"placement": [NAMES[0]]})
    assert (mounted._variation.added, mounted._variation.removed) == (None, None)
    assert heavy(mounted._variation.weighed[0][0]) == [0, 1, 2]
    assert mounted.mass_matrix.n_instructions() == pruned(MODEL).mass_matrix.n_instructions()


@pytest.mark.long
def test_other_dynamics_with_parameters_and_wrenches() -> None:
    """A first-order arm with a payload on a flexible link, and a wrench; its parameters and wrenches are taken."""
    tip = "link2 tip"
    given: Any = {
        "parameters": {"payload": [tip], "stiffness": True, "placement": ["joint1"], "gravity": True},
        "wrenches": {tip: pin.LOCAL},
    }
    exact = arm(**given)
    dyn, plain = gd.PrunedDynamics(exact, 0.02, **LIMITS), gd.PrunedDynamics(arm(), 0.02, **LIMITS)
    p = dyn.parameters.random(np.random.default_rng(8))
    compare(dyn.under(), plain, exact.at(p).under(), arm(), p)
    q, v, a = np.random.default_rng(9).uniform(-0.1, 0.1, size=(3, dyn.nv))
    w = np.arange(6.0)[:, None]
    change = [each.inverse_dynamics(q, v, a, w, p) - each.under().inverse_dynamics(q, v, a, p) for each in (dyn, exact)]
    assert relative_error(change[0].full(), change[1].full()) < 1e-12
    for each in (dyn, dyn.under(w)):
        assert each.check(200, corners=True, p=p).ok
    fixed = dyn.under(w).at(p)
    assert fixed.check(200, corners=True).ok
    for each in (fixed, pickle.loads(pickle.dumps(fixed))):
        assert relative_error(each.inverse_dynamics(q, v, a).full(), dyn.inverse_dynamics(q, v, a, w, p).full()) < 1e-12
    again = pickle.loads(pickle.dumps(dyn))
    assert relative_error(again.nle(q, v, p).full(), dyn.nle(q, v, p).full()) < 1e-12


@pytest.mark.long
def test_the_recipe_takes_parameters() -> None:
    model = gd.load_urdf("puma560_3")
    parameters: Any = {"payload": ["wrist"], "placement": ["joint3"]}
    options: Any = {"wrist": ["joint3"], "a_max": 5.0, "v_max": 2.0, "tau_max": 100.0}
    dyn, plain = (
        TranslationalRotational(model, parameters=parameters, **options),
        TranslationalRotational(model, **options),
    )
    p = dyn.parameters.random(np.random.default_rng(10))
    compare(dyn, plain, gd.NewtonEuler(model, parameters=parameters).at(p), gd.NewtonEuler(model), p)
    assert dyn.check(500, corners=True, p=p).ok


def test_constant_wrenches_of_other_dynamics_are_taken() -> None:
    w = np.arange(6.0)[:, None]
    exact = gd.NewtonEuler(MODEL, wrenches={"tool": pin.LOCAL}).under(w)
    dyn = PrunedDynamics(exact, 0.0, **OPTIONS)
    q, v, a = np.random.default_rng(13).uniform(-0.3, 0.3, size=(3, dyn.nv))
    assert relative_error(dyn.inverse_dynamics(q, v, a).full(), exact.inverse_dynamics(q, v, a).full()) < 1e-12


def test_numbers_with_which_m_is_not_positive_definite_are_refused() -> None:
    """What is left out is as large as at the nominal numbers, and the exact M may be smaller."""
    arm = gd.load_urdf("two_link_arm", check="off")
    limits = {"a_max": 3, "v_max": 2, "tau_max": 50}
    dyn = PrunedDynamics(arm, 0.3, parameters={"placement": ["joint2"], "inertia": ["joint2"]}, **limits)
    near = dyn.at({"joint2.x": -0.05})
    assert 0 < near.definiteness.least < dyn.definiteness.least
    with pytest.raises(ArgumentError, match=r"two_link_arm: without \d+ terms M is not positive definite everywhere"):
        dyn.at({"joint2.x": -0.5})
    own = dyn.parameters.names[6:]
    with pytest.raises(ArgumentError, match=r"two_link_arm: the exact M is not positive definite in some config"):
        dyn.at({name: -dyn.parameters[name] for name in own})
    with pytest.raises(ArgumentError, match=r"at: two_link_arm: with this p joint 'joint2' moves no inertia"):
        dyn.at(dict.fromkeys(own, 0.0))
    assert str(Definiteness(False, -1.5, 2000)).startswith("M was not positive definite in 2000 random")


def test_formulas_with_values_have_a_bound() -> None:
    """The constants of a symbolic tree are the parameters; terms are chosen by their values."""
    tree = gd.symbolic.symbolic_tree("two_link_arm")
    dyn = PrunedDynamics(tree, 0.05, a_max=5.0, v_max=2.0, tau_max=50.0)
    assert dyn.dropped
    p = dyn.parameters.values * np.random.default_rng(14).uniform(0.8, 1.2, size=len(dyn.parameters))
    check = dyn.check(200, corners=True, p=p)
    assert check.ok
    assert check.observed.max() > 0.1 * check.bound.max()


@pytest.mark.long
@pytest.mark.parametrize("cls", [gd.GeneralizedDAlembert, gd.LagrangeEuler])
def test_other_formulations_with_parameters(cls: type[gd.Dynamics]) -> None:
    parameters: Any = {"payload": ["tool"], "gravity": True}
    dyn = PrunedDynamics(cls(MODEL, parameters=parameters), 0.05, **OPTIONS)
    p = dyn.parameters.random(np.random.default_rng(11))
    compare(dyn, pruned(MODEL), gd.NewtonEuler(MODEL, parameters=parameters).at(p), gd.NewtonEuler(MODEL), p)
    assert dyn.check(500, corners=True, p=p).ok


@pytest.mark.long
def test_joints_that_mimic_are_displaced_with_parameters() -> None:
    model = random_model(3, kinds=("RX", "PX", "RY", "PY"), mimic=True)
    parameters: Any = {"inertia": ["mimic"], "placement": ["mimic"]}
    dyn = pruned(model, parameters)
    p = dyn.parameters.random(np.random.default_rng(12))
    compare(dyn, pruned(model), gd.NewtonEuler(model, parameters=parameters).at(p), gd.NewtonEuler(model), p)
    assert dyn.check(500, corners=True, p=p).ok
