"""Laws that hold for every formulation on every tree, over random trees of every joint type.

Pinocchio is the truth where it is right: ``rnea`` always; ``crba``, ``aba`` and the energies for models without mimic
that are built depth first; the Coriolis matrix for those of them whose joints have a constant motion subspace.
"""

from __future__ import annotations

from functools import partial

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gdalembert as gd
from gdalembert.testing import assert_valid
from tests.helpers.models import (
    CONSTANT_SUBSPACE,
    JOINTS,
    MIMICABLE,
    QUICK_JOINTS,
    build,
    is_depth_first,
    relative_error,
    states,
)
from tests.helpers.sets import quick

TIGHT = 1e-12
FORMULATIONS = sorted(gd.formulations())


@st.composite
def models(draw: st.DrawFn) -> pin.Model:
    names = draw(st.lists(st.sampled_from(sorted(JOINTS)), min_size=1, max_size=4))
    parents = [draw(st.integers(0, k)) for k in range(len(names))]
    mimicked = draw(st.sampled_from([None, *(k + 1 for k, name in enumerate(names) if name in MIMICABLE)]))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    return build(rng, names, parents, mimic=mimicked)


every_tree = partial(
    settings, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True, derandomize=True, database=None
)


def check_against_pinocchio(model: pin.Model, name: str) -> None:
    dyn = gd.formulations()[name](model, clean=0)
    data, zero = model.createData(), np.zeros(model.nv)
    has_mimic = model.nvExtended != model.nv
    bare = model.copy()
    bare.armature = zero
    for q, v, a in states(model, np.random.default_rng(0), 2):
        tau = pin.rnea(model, data, q, v, a).copy()
        nle = pin.rnea(model, data, q, v, zero).copy()
        g = pin.rnea(model, data, q, zero, zero).copy()
        m = np.array([pin.rnea(model, data, q, zero, unit) - g for unit in np.eye(model.nv)])
        assert relative_error(dyn.inverse_dynamics(q, v, a).full().ravel(), tau) < TIGHT
        assert relative_error(dyn.nle(q, v).full().ravel(), nle) < TIGHT
        assert relative_error(dyn.generalized_gravity(q).full().ravel(), g) < TIGHT
        assert relative_error(dyn.mass_matrix(q).full(), m) < TIGHT
        assert relative_error(float(dyn.kinetic_energy(q, v)), 0.5 * v @ m @ v) < TIGHT
        # a = M⁻¹ (…) can lose as many digits as M has in its condition number
        conditioned = max(TIGHT, 1e-15 * np.linalg.cond(m))
        assert relative_error(dyn.forward_dynamics(q, v, tau).full().ravel(), a) < conditioned
        if is_depth_first(model) and not has_mimic:
            assert relative_error(dyn.mass_matrix(q).full(), pin.crba(model, data, q)) < TIGHT
        if not has_mimic:
            assert relative_error(dyn.forward_dynamics(q, v, tau).full().ravel(), pin.aba(model, data, q, v, tau)) < (
                conditioned
            )
            potential = pin.computePotentialEnergy(model, data, q)
            assert relative_error(float(dyn.potential_energy(q)), potential) < TIGHT
            # not with armature: Pinocchio leaves out that of unaligned revolute joints
            kinetic = pin.computeKineticEnergy(bare, bare.createData(), q, v)
            assert relative_error(float(dyn.kinetic_energy(q, v)), kinetic + 0.5 * v @ (model.armature * v)) < TIGHT


def check_laws(model: pin.Model, name: str) -> None:
    dyn = gd.formulations()[name](model, clean=0)
    s_q, s_v = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv)
    q_rate = dyn.tree.configuration_rate(s_q, s_v)
    m_rate = ca.Function("m_rate", [s_q, s_v], [dyn.mass_matrix_rate(s_q, s_v)])
    v_rate = ca.Function("v_rate", [s_q, s_v], [ca.jtimes(dyn.potential_energy(s_q), s_q, q_rate)])
    for q, v, a in states(model, np.random.default_rng(1), 2):
        m, c = dyn.mass_matrix(q).full(), dyn.coriolis_matrix(q, v).full()
        g, nle = dyn.generalized_gravity(q).full().ravel(), dyn.nle(q, v).full().ravel()
        tau = dyn.inverse_dynamics(q, v, a).full().ravel()
        assert np.array_equal(m, m.T)
        assert np.linalg.eigvalsh(m)[0] > 0
        assert relative_error(m @ a + nle, tau) < TIGHT
        assert relative_error(c @ v + g, nle) < TIGHT
        assert relative_error(c + c.T, m_rate(q, v).full()) < TIGHT
        assert relative_error(float(v_rate(q, v)), g @ v) < TIGHT
        xdot = dyn.state_derivative(np.concatenate([q, v]), tau).full().ravel()
        assert relative_error(xdot[model.nq :], a) < max(TIGHT, 1e-15 * np.linalg.cond(m))
        step = 1e-6
        ahead, behind = pin.integrate(model, q, step * v), pin.integrate(model, q, -step * v)
        # central differences: error ~ step²
        assert relative_error(xdot[: model.nq], (ahead - behind) / (2 * step)) < 1e-8


def check_agreement(model: pin.Model) -> None:
    """All formulations agree on every Function, entry by entry; C too, where Pinocchio's own is not a reference."""
    names = ("inverse_dynamics", "mass_matrix", "coriolis_matrix", "nle", "generalized_gravity", "kinetic_energy")
    dynamics = [cls(model, clean=0) for cls in gd.formulations().values()]
    for q, v, a in states(model, np.random.default_rng(2), 2):
        arguments = {"q": q, "v": v, "a": a}
        for name in names:
            values = []
            for dyn in dynamics:
                graph = getattr(dyn, name)
                values.append(graph(*(arguments[graph.name_in(k)] for k in range(graph.n_in()))).full())
            for value in values[1:]:
                assert relative_error(value, values[0]) < TIGHT, name


def check_terms(model: pin.Model) -> None:
    gd_dyn, le_dyn, ne_dyn = (
        cls(model, clean=0) for cls in (gd.GeneralizedDAlembert, gd.LagrangeEuler, gd.NewtonEuler)
    )
    data = model.createData()
    for q, v, a in states(model, np.random.default_rng(3), 2):
        tau = pin.rnea(model, data, q, v, a).copy()
        forces = np.array([f.vector for f in list(data.f)[1:]]).T
        c = gd_dyn.coriolis_matrix(q, v).full()

        parts = {k: x.full() for k, x in gd_dyn.terms.call({"q": q, "v": v}).items()}
        h = (parts["H_tra"] + parts["H_rot"] + parts["G"]).ravel()
        d = parts["D_tra"] + parts["D_rot"] + np.diag(parts["I_act"].ravel())
        assert relative_error(d @ a + h, tau) < TIGHT

        links = gd_dyn.link_torques(q, v, a).full()
        assert links.shape == (model.nv, model.njoints - 1)
        total = links.sum(axis=1) + parts["I_act"].ravel() * a + parts["G"].ravel()
        assert relative_error(total, tau) < TIGHT

        parts = {k: x.full() for k, x in le_dyn.terms.call({"q": q}).items()}
        tensor = np.array([parts[f"h_{i + 1}"] for i in range(model.nv)])
        assert relative_error(tensor @ v, c) < TIGHT
        d = parts["D"] + np.diag(parts["I_act"].ravel())
        assert relative_error(d @ a + tensor @ v @ v + parts["c"].ravel(), tau) < TIGHT
        if model.nq == model.nv:
            assert relative_error(tensor, tensor.transpose(0, 2, 1)) < TIGHT

        parts = {k: x.full() for k, x in ne_dyn.terms.call({"q": q, "v": v, "a": a}).items()}
        assert relative_error(np.vstack([parts["force"], parts["moment"]]), forces) < TIGHT


def check_split(model: pin.Model) -> None:
    """tra and rot are each Lagrangian: Pinocchio without rotational inertias, and without masses."""
    translational, rotational = model.copy(), model.copy()
    for k in range(1, model.njoints):
        body = model.inertias[k]
        translational.inertias[k] = pin.Inertia(body.mass, body.lever, np.zeros((3, 3)))
        rotational.inertias[k] = pin.Inertia(0, body.lever, body.inertia)
    dyn = gd.GeneralizedDAlembert(model, clean=0)
    zero = np.zeros(model.nv)
    for q, v, _ in states(model, np.random.default_rng(4), 2):
        parts = {k: x.full() for k, x in dyn.terms.call({"q": q, "v": v}).items()}
        for part, alone in (("tra", translational), ("rot", rotational)):
            data = alone.createData()
            g = pin.rnea(alone, data, q, zero, zero).copy()
            h = pin.rnea(alone, data, q, v, zero) - g
            d = np.array([pin.rnea(alone, data, q, zero, unit) - g for unit in np.eye(model.nv)])
            assert relative_error(parts[f"D_{part}"], d - np.diag(model.armature)) < TIGHT
            assert relative_error(parts[f"H_{part}"].ravel(), h) < TIGHT


@pytest.mark.parametrize("name", FORMULATIONS)
@pytest.mark.parametrize("joint", quick(sorted(JOINTS), *QUICK_JOINTS))
def test_each_joint_type_in_a_chain(joint: str, name: str) -> None:
    model = build(np.random.default_rng(7), ["RX", joint, "RevoluteUnaligned"], [0, 1, 2])
    check_against_pinocchio(model, name)
    check_laws(model, name)


@pytest.mark.parametrize("joint", quick(sorted(JOINTS), *QUICK_JOINTS, "Ellipsoid", "FreeFlyer"))
def test_each_joint_type_alone(joint: str) -> None:
    model = build(np.random.default_rng(8), [joint], [0])
    check_agreement(model)
    check_terms(model)
    check_split(model)


@pytest.mark.parametrize("joint", quick(sorted(CONSTANT_SUBSPACE), *QUICK_JOINTS))
def test_coriolis_matrix_is_pinocchios_for_a_constant_subspace(joint: str) -> None:
    model = build(np.random.default_rng(9), ["RX", joint, joint, "PZ"], [0, 1, 2, 2])
    data = model.createData()
    for cls in gd.formulations().values():
        dyn = cls(model, clean=0)
        for q, v, _ in states(model, np.random.default_rng(5), 2):
            truth = pin.computeCoriolisMatrix(model, data, q, v)
            assert relative_error(dyn.coriolis_matrix(q, v).full(), truth) < TIGHT


@pytest.mark.parametrize("name", FORMULATIONS)
@pytest.mark.parametrize("joint", quick(MIMICABLE, "RUBZ"))
def test_each_joint_type_mimicked(joint: str, name: str) -> None:
    model = build(np.random.default_rng(10), ["RX", joint, "Spherical"], [0, 1, 2], mimic=2)
    check_against_pinocchio(model, name)
    check_laws(model, name)


@pytest.mark.parametrize("name", quick(FORMULATIONS, "newton_euler"))
@pytest.mark.parametrize("joint", quick(["HX", "HelicalUnaligned"], "HX"))
def test_a_mimicked_helical_joint_obeys_the_laws(joint: str, name: str) -> None:
    """Pinocchio is not a reference here: its motion subspace forgets the pitch, or it crashes."""
    model = build(np.random.default_rng(10), ["RX", joint, "Spherical"], [0, 1, 2], mimic=2)
    check_laws(model, name)
    check_agreement(model)


@pytest.mark.long
@pytest.mark.parametrize("name", FORMULATIONS)
@every_tree(max_examples=15)
@given(model=models())
def test_random_trees_against_pinocchio(model: pin.Model, name: str) -> None:
    check_against_pinocchio(model, name)


@pytest.mark.parametrize("name", quick(FORMULATIONS, "newton_euler"))
@every_tree(max_examples=10)
@given(model=models())
def test_laws_on_random_trees(model: pin.Model, name: str) -> None:
    check_laws(model, name)


@pytest.mark.long
@every_tree(max_examples=10)
@given(model=models())
def test_agreement_on_random_trees(model: pin.Model) -> None:
    check_agreement(model)


@pytest.mark.long
@every_tree(max_examples=10)
@given(model=models())
def test_terms_on_random_trees(model: pin.Model) -> None:
    check_terms(model)
    check_split(model)


@pytest.mark.long
def test_a_tree_of_all_joint_types_at_once() -> None:
    rng = np.random.default_rng(11)
    names = list(rng.permutation(sorted(JOINTS)))
    model = build(rng, names, [int(rng.integers(0, k + 1)) for k in range(len(names))])
    assert not is_depth_first(model)
    for name in FORMULATIONS:
        check_against_pinocchio(model, name)
    check_agreement(model)


@pytest.mark.long
def test_a_thousand_states_of_a_tree_of_all_joint_types() -> None:
    rng = np.random.default_rng(13)
    names = list(rng.permutation(sorted(JOINTS)))
    model = build(rng, names, [int(rng.integers(max(0, k - 4), k + 1)) for k in range(len(names))])
    assert_valid(gd.NewtonEuler(model, clean=0), model, samples=1000)


def test_pinocchios_crba_is_wrong_for_joints_added_breadth_first() -> None:
    """If this fails, Pinocchio has been mended and the tests above can trust it."""
    model = build(np.random.default_rng(12), ["RX", "RY", "RZ", "RX"], [0, 1, 1, 2])
    assert not is_depth_first(model)
    q, _, _ = states(model, np.random.default_rng(6), 1)[0]
    ours = gd.NewtonEuler(model, clean=0).mass_matrix(q).full()
    assert relative_error(pin.crba(model, model.createData(), q), ours) > 1e-3
