"""Simplified models: exact expansion, a bound that holds, and a Lagrangian system whatever is left out."""

from __future__ import annotations

import itertools
import pickle
import re
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.simplification import simplification
from gdalembert import modes
from gdalembert.dynamics.simplified import series
from gdalembert.dynamics.simplified.dynamics import (
    PrunedDynamics,
    SimplifiedDynamics,
    SimplifiedOptions,
    TranslationalRotational,
)
from gdalembert.dynamics.simplified.series import Harmonic, SeriesTerm, contributions, droppable
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.model.joints import Prismatic
from tests.helpers import models
from tests.helpers.models import relative_error
from tests.helpers.paths import ROOT
from tests.helpers.sets import quick

A_MAX = simplification.A_MAX
KINDS = ("RX", "RUBY", "PrismaticUnaligned", "RevoluteUnaligned", "PX", "Universal")
LONG_ENTRIES = [pytest.param(entry, marks=pytest.mark.long) for entry in ((0, 0), (0, 1), (2, 2), None)]
BEAMS = {
    "link1": gd.FlexibleLink(gd.Beam(None, 0.6, EI_z=10.0), modes.clamped_free(1)),
    "link2": gd.FlexibleLink(gd.Beam(0.8, 0.45, EI_z=10.0), modes.clamped_free(1)),
}
LIMITS = {
    "a_max": [5.0, 5.0, 50.0, 50.0],
    "v_max": [2.0, 2.0, 1.0, 1.0],
    "tau_max": [20.0, 10.0, 50.0, 50.0],
    "q_range": (-0.1, 0.1),
}


@cache
def plain_puma(error: float) -> PrunedDynamics:
    return PrunedDynamics(gd.load_urdf("puma560"), error, a_max=A_MAX)


def puma(error: float, **options: object) -> PrunedDynamics:
    return PrunedDynamics(gd.load_urdf("puma560"), error, a_max=A_MAX, **options) if options else plain_puma(error)


def random_model(seed: int, *, kinds: tuple[str, ...] = KINDS, mimic: bool = False) -> pin.Model:
    """A tree of four of these joints."""
    rng = np.random.default_rng(seed)
    names = [str(name) for name in rng.permutation(kinds)[:4]]
    parents = [0] + [int(rng.integers(0, k + 1)) for k in range(1, 4)]
    model = models.build(rng, names, parents)
    if mimic:
        follower = pin.JointModelMimic(model.joints[model.getJointId(f"RX_{names.index('RX')}")], -2.0, 0.3)
        joint = model.addJoint(model.njoints - 1, follower, models.placement(rng), "mimic")
        model.appendBodyToJoint(joint, models.inertia(rng), models.placement(rng))
    return model


def some(model: pin.Model, error: float, **options: object) -> PrunedDynamics:
    given = {"a_max": 5.0, "v_max": 1.5, "tau_max": 50.0, "q_range": (-0.3, 0.8)}
    return PrunedDynamics(model, error, **{**given, **options})


# The expansion


@pytest.mark.long
def test_puma_has_212_terms() -> None:
    dyn = puma(0)
    assert simplification.counts(dyn) == (187, 8, 25)
    assert dyn.dropped == ()
    assert not np.any(dyn.bound)


@pytest.mark.long
def test_the_sum_reproduces_the_graph() -> None:
    model = gd.load_urdf("puma560")
    dyn, exact = puma(0), gd.NewtonEuler(model)
    for q, v, a in models.states(model, np.random.default_rng(1), 20):
        for name, state in (("mass_matrix", (q,)), ("generalized_gravity", (q,)), ("inverse_dynamics", (q, v, a))):
            found, true = (getattr(d, name)(*state).full() for d in (dyn, exact))
            assert models.relative_error(found, true) < 1e-13, name


@pytest.mark.parametrize("seed", quick(range(6), 1))
def test_without_error_every_law_holds(seed: int) -> None:
    """Against Pinocchio: revolute, continuous and prismatic joints in trees; energies and derivatives too."""
    model = random_model(seed)
    gd.validate(some(model, 0), model, samples=20).raise_for_failure()


@pytest.mark.long
def test_joints_that_mimic_have_higher_frequencies() -> None:
    model = random_model(3, kinds=("RX", "PX", "RY", "PY"), mimic=True)
    dyn = some(model, 0)
    assert max(max(map(abs, term.shape.frequencies)) for term in dyn.kept) > 2
    gd.validate(dyn, model, samples=20).raise_for_failure()


@pytest.mark.long
def test_a_prismatic_joint_has_powers_up_to_two() -> None:
    dyn = PrunedDynamics(gd.load_urdf("shala_likaj_rpr"), 0, a_max=1)
    assert {max(term.shape.powers) for term in dyn.kept} == {0, 1}
    powers = {max(term.shape.powers) for seed in range(4) for term in some(random_model(seed), 0).kept}
    assert powers == {0, 1, 2}


def test_terms_can_be_read() -> None:
    shape = Harmonic((1, -2, 0), (0, 0, 2))
    assert str(SeriesTerm((0, 1), shape, 0.5, 0.0)) == "D_1_2: 0.5 x3^2 cos(q1 - 2 q2)"
    assert str(SeriesTerm((0, 0), Harmonic((0, 1, 0), (0, 0, 1)), 0.0, -2.0)) == "D_1_1: -2 x3 sin(q2)"
    assert str(SeriesTerm(None, Harmonic((0, 1, 1), (0, 0, 0)), 3.0, 4.0)) == "V: 5 cos(q2 + q3 - 0.9273)"
    assert str(SeriesTerm((2, 2), Harmonic((0, 0, 0), (0, 0, 0)), 1.5, 0.0)) == "D_3_3: 1.5"
    two_link = PrunedDynamics(gd.load_urdf("two_link_arm"), 0, a_max=1)
    assert [str(term) for term in two_link.kept] == [
        "D_1_1: 0.705",
        "D_1_1: 0.3 cos(q2)",
        "D_1_2: 0.08",
        "D_1_2: 0.15 cos(q2)",
        "D_2_2: 0.08",
        "V: 14.715 sin(q1)",
        "V: 2.943 sin(q1 + q2)",
    ]


# The bound


@pytest.mark.long
@pytest.mark.parametrize("error", [0.002, 0.01, 0.1])
@pytest.mark.parametrize("corners", [False, True])
def test_the_bound_of_the_puma_is_not_exceeded(error: float, corners: bool) -> None:
    dyn = puma(error)
    assert dyn.dropped
    assert np.all(dyn.bound <= error * dyn.limits.tau)
    check = dyn.check(3000, corners=corners)
    assert check.ok
    assert np.all(check.observed <= check.bound)
    assert check.observed.max() > 1e-6


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_the_bound_of_random_robots_is_not_exceeded(seed: int) -> None:
    dyn = some(random_model(seed), 0.1)
    assert dyn.dropped
    assert dyn.check(3000, corners=True).ok


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_the_bound_holds_against_pinocchio_over_the_range_that_is_given(seed: int) -> None:
    """Distances at the ends of [−0.3, 0.8] m, which is not centred; states that ``check`` does not draw."""
    rng, model = np.random.default_rng(5), random_model(seed)
    dyn, data = some(model, 0.1), model.createData()
    worst = np.zeros(model.nv)
    slides = [joint.idx_q for joint in dyn.tree.joints if isinstance(joint.type, Prismatic)]
    for _ in range(500):
        q = pin.integrate(model, pin.neutral(model), rng.uniform(-np.pi, np.pi, size=model.nv))
        q[slides] = rng.choice([-0.3, 0.8], size=len(slides))
        v, a = 1.5 * rng.choice([-1, 1], size=model.nv), 5.0 * rng.choice([-1, 1], size=model.nv)
        error = dyn.inverse_dynamics(q, v, a).full().ravel() - pin.rnea(model, data, q, v, a)
        worst = np.maximum(worst, np.abs(error))
    assert np.all(worst <= dyn.bound + 1e-9)  # constants are cleaned
    assert worst.max() > 0.1


@pytest.mark.long
def test_rates_at_their_limits_make_larger_errors() -> None:
    dyn = puma(0.03)
    inside, corners = dyn.check(2000), dyn.check(2000, corners=True)
    assert np.all(corners.rms > 1.2 * inside.rms)


@pytest.mark.parametrize("entry", [(1, 2), *LONG_ENTRIES])
@pytest.mark.parametrize("shape", [((1, -2, 0), (0, 0, 2)), ((0, 1, 0), (0, 0, 1)), ((2, 1, 0), (0, 0, 0))])
def test_no_single_term_adds_more_than_its_bound(
    entry: tuple[int, int] | None, shape: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    """Lagrange's equations of one term, by algorithmic differentiation; searched for the worst state."""
    rng, term = np.random.default_rng(0), SeriesTerm(entry, Harmonic(*shape), 0.6, -0.8)
    dyn = PrunedDynamics(gd.load_urdf("shala_likaj_rpr"), 0, a_max=3, v_max=[2, 1, 3])
    joints = tuple(dyn.tree.joints[k] for k in (0, 2, 1))  # the distance last
    coordinates = series.Coordinates(dyn.tree, joints, np.zeros(3), np.array([np.pi, np.pi, 0.25]))
    limits = dyn.limits
    x, v, a = (ca.SX.sym(name, 3) for name in "xva")
    phase, power = ca.dot(x, ca.DM(shape[0])), ca.DM(1)
    for k, m in enumerate(shape[1]):
        power = power * x[k] ** m
    delta = power * (0.6 * ca.cos(phase) - 0.8 * ca.sin(phase))
    d = ca.SX(3, 3)
    if entry is not None:
        d[entry] = d[entry[::-1]] = delta
    energy = 0.5 * ca.dot(v, d @ v) - (delta if entry is None else 0)
    tau = d @ a + ca.jtimes(d @ v, x, v) - ca.gradient(energy, x)
    bound = contributions(coordinates, limits, [term])[0]
    n = 20_000
    states = (
        rng.uniform(-1, 1, size=(n, 3)) * coordinates.half,
        rng.choice([-1, 1], size=(n, 3)) * limits.v,
        rng.choice([-1, 1], size=(n, 3)) * limits.a,
    )
    states[0][::2, 2] = 0.25  # the end of the range
    found = np.abs(ca.Function("tau", [x, v, a], [tau]).map(n)(*(s.T for s in states)).full()).max(axis=1)
    assert np.all(found <= bound * (1 + 1e-12))
    if entry is None or not any(shape[1]):
        assert np.all(found >= 0.98 * bound)  # and no larger than it must be
    else:
        assert np.all(found >= 0.5 * bound)


def test_the_least_go_first_and_no_row_is_overdrawn() -> None:
    parts = np.array([[3.0, 0], [0, 1], [1, 0], [0, 1.5], [2, 2]])
    assert droppable(parts, np.array([2.5, 2.0])).tolist() == [False, True, True, False, False]
    assert droppable(parts, np.array([9.0, 9.0])).all()
    assert not droppable(parts, np.zeros(2)).any()


@pytest.mark.long
def test_more_error_keeps_less() -> None:
    sizes = [len(puma(error).kept) for error in simplification.ERRORS]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(sizes)


# What is left is a robot


@pytest.fixture(scope="module")
def simple() -> PrunedDynamics:
    return puma(0.03, springs={"joint2": (5.0, 0.1)})


def test_laws_hold_for_what_is_left(simple: PrunedDynamics) -> None:
    """M a + nle = tau, dM/dt − 2 C skew, C v + g = nle, g = ∂V/∂q, fd ∘ id = 1, to rounding."""
    tree, model = simple.tree, gd.load_urdf("puma560")
    s, v_s = ca.SX.sym("q", tree.nq), ca.SX.sym("v", tree.nv)
    rate = ca.Function("rate", [s, v_s], [simple.mass_matrix_rate(s, v_s)])
    slope = ca.Function("slope", [s], [ca.gradient(simple.potential_energy(s), s)])
    for q, v, a in models.states(model, np.random.default_rng(2), 5):
        m, c, g = simple.mass_matrix(q).full(), simple.coriolis_matrix(q, v).full(), simple.generalized_gravity(q)
        tau, nle = simple.inverse_dynamics(q, v, a).full(), simple.nle(q, v).full()
        springs = np.eye(6)[:, [1]] * 5.0 * (q[1] - 0.1)
        assert np.array_equal(m, m.T)
        assert np.linalg.eigvalsh(m)[0] > 0
        assert models.relative_error(m @ a[:, None] + nle, tau) < 1e-14
        assert models.relative_error(c @ v[:, None] + g.full() + springs, nle) < 1e-14
        assert models.relative_error(c + c.T, rate(q, v)) < 1e-14
        assert models.relative_error(slope(q), g.full() + springs) < 1e-14
        assert models.relative_error(simple.forward_dynamics(q, v, tau).full().ravel(), a) < 1e-12
        kinetic = float(simple.kinetic_energy(q, v))
        assert models.relative_error(kinetic, 0.5 * v @ m @ v) < 1e-14
    assert len(simple.dropped) > 100


def test_armature_and_springs_are_exact(simple: PrunedDynamics) -> None:
    q, none = np.full(6, 0.3), np.zeros(6)
    without = puma(0.03)
    assert np.allclose(simple.terms(q)[2].full().ravel(), simple.tree.armature, rtol=0, atol=0)
    m, d = simple.mass_matrix(q).full(), simple.terms(q)[0].full()
    assert np.allclose(m - d, np.diag(simple.tree.armature), rtol=0, atol=1e-15)
    spring = simple.inverse_dynamics(q, none, none) - without.inverse_dynamics(q, none, none)
    assert spring.full().ravel() == pytest.approx([0, 5.0 * 0.2, 0, 0, 0, 0], abs=1e-14)


@pytest.mark.long
def test_the_derivatives_are_there(simple: PrunedDynamics) -> None:
    q, v, a = np.random.default_rng(0).normal(size=(3, 6))
    dtau_dq, dtau_dv = simple.inverse_dynamics_derivatives(q, v, a)
    step = 1e-6
    for k in range(6):
        ahead, behind = (simple.inverse_dynamics(q + h * np.eye(6)[k], v, a) for h in (step, -step))
        assert models.relative_error((ahead - behind) / (2 * step), dtau_dq[:, k]) < 1e-8
    ahead, behind = (simple.inverse_dynamics(q, v + h * np.eye(6)[0], a) for h in (step, -step))
    assert models.relative_error((ahead - behind) / (2 * step), dtau_dv[:, 0]) < 1e-8


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 4])
def test_c_is_christoffels_for_continuous_joints_too(seed: int) -> None:
    dyn = some(random_model(seed, kinds=("RX", "RUBY", "PX", "RUBZ")), 0.05)
    s, v_s = ca.SX.sym("q", dyn.tree.nq), ca.SX.sym("v", dyn.tree.nv)
    rate = ca.Function("rate", [s, v_s], [dyn.mass_matrix_rate(s, v_s)])
    model = random_model(seed, kinds=("RX", "RUBY", "PX", "RUBZ"))
    for q, v, _ in models.states(model, np.random.default_rng(2), 5):
        c = dyn.coriolis_matrix(q, v).full()
        nle = dyn.nle(q, v) - dyn.generalized_gravity(q)
        assert models.relative_error(c + c.T, rate(q, v)) < 1e-13
        assert models.relative_error(c @ v[:, None], nle) < 1e-13
    assert dyn.dropped


@pytest.mark.long
def test_validate_shows_the_error(simple: PrunedDynamics) -> None:
    report = gd.validate(simple, gd.load_urdf("puma560"), samples=50)
    failed = {check.name for check in report.checks if not check.ok}
    assert "inverse_dynamics" in failed
    assert not any("skew" in name or "symmetric" in name or "dM/dt" in name for name in failed)


@pytest.mark.long
def test_pickling(simple: PrunedDynamics) -> None:
    q, v, a = np.random.default_rng(0).normal(size=(3, 6))
    for dyn in (simple, TranslationalRotational(gd.load_urdf("puma560"), a_max=A_MAX)):
        copy = pickle.loads(pickle.dumps(dyn))
        assert (copy.kept, copy.dropped) == (dyn.kept, dyn.dropped)
        assert np.array_equal(copy.bound, dyn.bound)
        assert np.array_equal(copy.inverse_dynamics(q, v, a).full(), dyn.inverse_dynamics(q, v, a).full())


@pytest.mark.long
def test_it_is_no_formulation_for_the_command_line() -> None:
    assert not any(issubclass(cls, SimplifiedDynamics) for cls in gd.formulations().values())


def parts_left(dyn: PrunedDynamics, model: pin.Model) -> list[float]:
    """The least eigenvalue of M⁻¹ exact times M in 200 random configurations."""
    exact = gd.NewtonEuler(model)
    return [
        np.linalg.eigvals(np.linalg.solve(exact.mass_matrix(q).full(), dyn.mass_matrix(q).full())).real.min()
        for q in np.random.default_rng(0).uniform(-np.pi, np.pi, size=(200, model.nq))
    ]


@pytest.mark.long
def test_positive_definiteness_is_guaranteed_by_the_motors() -> None:
    dyn = puma(0.1)
    assert dyn.definiteness.guaranteed
    assert min(parts_left(dyn, gd.load_urdf("puma560"))) >= dyn.definiteness.least
    assert "everywhere" in str(dyn.definiteness)


@pytest.mark.long
def test_without_motors_it_is_looked_at_and_said_so() -> None:
    model = gd.load_urdf("two_link_arm")
    dyn = some(model, 0.01)
    assert not dyn.definiteness.guaranteed
    assert "2000 random configurations" in str(dyn.definiteness)
    assert min(parts_left(dyn, model)) == pytest.approx(dyn.definiteness.least, rel=0.05, abs=0)


@pytest.mark.long
def test_a_mass_matrix_that_is_not_positive_definite_is_refused() -> None:
    with pytest.raises(ArgumentError, match="M is not positive definite everywhere: in some direction -"):
        some(gd.load_urdf("horn_leg"), 0.1)


# The recipe of the report


@pytest.mark.long
def test_the_recipe_is_translation_for_the_arm_and_rotation_for_the_wrist() -> None:
    model = gd.load_urdf("puma560")
    dyn, parts = TranslationalRotational(model, a_max=A_MAX), gd.GeneralizedDAlembert(model).terms
    for q in np.random.default_rng(0).normal(size=(5, 6)):
        tra, rot, *_ = (x.full() for x in parts(q, np.zeros(6)))
        expected = rot.copy()
        expected[:3, :3] = tra[:3, :3]
        assert models.relative_error(dyn.terms(q)[0].full(), expected) < 1e-14
        g = gd.NewtonEuler(model).generalized_gravity(q)
        assert models.relative_error(dyn.generalized_gravity(q), g) < 1e-13


@pytest.mark.long
def test_the_recipe_is_bad_for_the_arm() -> None:
    dyn = TranslationalRotational(gd.load_urdf("puma560"), a_max=A_MAX)
    check = dyn.check(3000)
    assert check.ok
    relative = check.rms / check.rms_tau
    # RSD-TR-8-82, section 3, says that translation dominates; 0.2 is a fifth of the torque of joint 1
    assert relative[:3] == pytest.approx([0.197, 0.063, 0.067], rel=0.05, abs=0)
    assert np.all(relative[3:] < 0.005)


@pytest.mark.long
def test_the_wrist_can_be_named() -> None:
    model = gd.load_urdf("puma560")
    assert TranslationalRotational(model, a_max=A_MAX).wrist == ("joint4", "joint5", "joint6")
    whole = TranslationalRotational(model, ["joint1", "joint2"], a_max=A_MAX)
    assert whole.wrist == ("joint1", "joint2")
    with pytest.raises(UnknownNameError, match="no joint named 'joint9'"):
        TranslationalRotational(model, ["joint9"], a_max=A_MAX)
    with pytest.raises(ArgumentTypeError, match="give a list of names"):
        TranslationalRotational(model, "joint4", a_max=A_MAX)


# The report of a check


def test_a_broken_bound_is_told() -> None:
    check = puma(0.03).check(100)
    assert str(check).startswith("100 random states: the bound holds\n  joint1  error at most ")
    broken = type(check)(**{**vars(check), "bound": 0.5 * check.observed})
    assert not broken.ok
    assert "IS EXCEEDED" in str(broken)


@pytest.mark.long
def test_samples_are_checked() -> None:
    with pytest.raises(ArgumentError, match="check: samples: got 0; give an integer"):
        puma(0.03).check(0)
    for samples in (1e3, "10", True):
        with pytest.raises(ArgumentTypeError, match=re.escape(f"check: samples: expected an integer, got {samples!r}")):
            puma(0.03).check(samples)
    assert puma(0.03).check(np.int64(3)).samples == 3


@pytest.mark.long
def test_a_range_may_be_an_array() -> None:
    model = random_model(0)
    given, same = (some(model, 0.01, q_range=x) for x in (np.array([-0.3, 0.8]), (-0.3, 0.8)))
    np.testing.assert_array_equal(given.bound, same.bound)


# Limits and errors


@pytest.mark.long
def test_limits_come_from_the_model_or_the_arguments() -> None:
    model = gd.load_urdf("puma560")
    limits = puma(0).limits
    assert np.array_equal(limits.tau, model.effortLimit)
    assert np.array_equal(limits.v, model.velocityLimit)
    assert np.array_equal(limits.a, A_MAX)
    assert np.array_equal(puma(0, tau_max=3, v_max=[1, 2, 3, 4, 5, 6]).limits.tau, np.full(6, 3))
    tree = puma(0).tree
    assert PrunedDynamics(tree, 0, a_max=1, v_max=1, tau_max=1).kept == puma(0).kept


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"tau_max": [1, 1, 0, 1, 1, 1]}, ArgumentError, "puma560: joint 'joint3': tau_max is 0; give a positive"),
        ({"v_max": np.inf}, ArgumentError, "joint 'joint1': v_max is inf"),
        ({"a_max": [1, 2]}, ArgumentError, r"a_max has shape \(2,\); give \(6,\), or one number"),
        ({"a_max": "fast"}, ArgumentTypeError, "a_max: expected numbers, got 'fast'"),
        ({"a_max": np.nan}, ArgumentError, "joint 'joint1': a_max is nan"),
        ({"q_range": 3}, ArgumentTypeError, r"q_range=3: give \(lower, upper\)"),
        ({"error": -0.1}, ArgumentError, "error=-0.1: give a number from 0"),
        ({"error": 1}, ArgumentError, "error=1: give a number from 0 to below 1, 0.01 for"),
        ({"error": "1%"}, ArgumentTypeError, "error='1%': give a number from 0"),
    ],
)
def test_wrong_arguments(options: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        PrunedDynamics(gd.load_urdf("puma560"), **{"error": 0.01, "a_max": 1.0, **options})


@pytest.mark.long
def test_a_wrist_that_is_no_list_of_names() -> None:
    for wrist in (3, [3], "joint4"):
        with pytest.raises(ArgumentTypeError, match=re.escape(f"wrist={wrist!r}: give a list of names")):
            TranslationalRotational(gd.load_urdf("puma560"), wrist, a_max=1)


@pytest.mark.long
@pytest.mark.parametrize("make", [lambda model: PrunedDynamics(model, 0.01), TranslationalRotational])
def test_a_missing_a_max_names_the_class(make: Any) -> None:
    with pytest.raises(TypeError, match=r"^(PrunedDynamics|TranslationalRotational)\.__init__\(\) missing .*'a_max'"):
        make(gd.load_urdf("puma560"))


@pytest.mark.long
@pytest.mark.parametrize("cls", [PrunedDynamics, TranslationalRotational])
def test_help_describes_every_argument(cls: type[gd.Dynamics]) -> None:
    for name in ("a_max", *SimplifiedOptions.__optional_keys__):
        assert re.search(rf"\n        (\w+, )*{name}(, \w+)*: ", cls.__doc__ or "")


@pytest.mark.long
def test_missing_limits_name_the_joint() -> None:
    model = gd.load_urdf("puma560")
    model.effortLimit = np.array([1, 1, 1, np.inf, 1, 1])
    with pytest.raises(
        ArgumentError, match=r"joint 'joint4': model.effortLimit is inf; give a positive finite tau_max"
    ):
        PrunedDynamics(model, 0.01, a_max=1)
    with pytest.raises(ArgumentError, match="puma560: tau_max is missing; give 6 positive numbers"):
        PrunedDynamics(puma(0).tree, 0.01, a_max=1, v_max=1)


@pytest.mark.long
def test_a_distance_needs_a_range_where_it_matters() -> None:
    for q_range, shown in (((1, -1), "1 to -1"), ((0, 0), "0 to 0"), ((0, np.inf), "0 to inf")):
        with pytest.raises(ArgumentError, match=f"its range is from {shown} m, and .*give a finite q_range"):
            some(random_model(0), 0.01, q_range=q_range)
    cart = PrunedDynamics(gd.load_urdf("cart_pendulum"), 0.01, a_max=1, q_range=(-np.inf, np.inf))
    assert cart.check(100).ok  # nothing depends on where the cart stands


@pytest.mark.long
@pytest.mark.parametrize(("kind", "name"), [("Spherical", "Spherical"), ("FreeFlyer", "FreeFlyer"), ("HX", "Helical")])
def test_other_joints_are_refused(kind: str, name: str) -> None:
    model = models.build(np.random.default_rng(0), ["RX", kind], [0, 1])
    with pytest.raises(UnsupportedError, match=f"joint '{kind}_1': {name} joints have no Fourier expansion"):
        some(model, 0.01)


@pytest.mark.long
def test_a_fraction_of_another_angle_is_refused() -> None:
    model = models.build(np.random.default_rng(0), ["RX", "RY"], [0, 1], mimic=1)
    with pytest.raises(UnsupportedError, match="times as far as the joint it mimics"):
        some(model, 0.01)


@pytest.mark.long
def test_a_robot_too_large_is_told_its_size() -> None:
    from benchmarks.common.robots import chain

    with pytest.raises(
        UnsupportedError, match="D_1_1 depends on 7 joints, whose grid has 78,125 points, more than 20,"
    ):
        PrunedDynamics(chain(8), 0.01, a_max=1, v_max=1, tau_max=1)


@pytest.mark.long
def test_what_is_no_finite_sum_is_refused() -> None:
    dyn = puma(0)
    x = dyn._coordinates.x
    with pytest.raises(UnsupportedError, match="D_1_2 differs from the sum"):
        series.expand(dyn._coordinates, [series.Expansion((0, 1), ca.cos(3 * x[1]), 1.0)])


# The benchmark and its page


@pytest.fixture(scope="module")
def recorded() -> str:
    return (ROOT / "benchmarks" / "results" / "simplification.md").read_text(encoding="utf-8")


@pytest.mark.long
def test_the_page_shows_the_recorded_tables(recorded: str) -> None:
    page = (ROOT / "docs" / "simplified_models.md").read_text(encoding="utf-8")
    tables = [table for table in recorded.split("\n\n") if table.startswith("|")]
    assert len(tables) == 6
    assert all(table.strip() in page for table in tables)
    sentence = re.search(r"has \d+ instructions for τ and \d+ for M\.", recorded)
    assert sentence is not None
    assert sentence[0] in page
    for title in ("limits of the motors", "largest torques in use"):
        torques = re.search(rf"{title}: ([\d., ]+ N m)", recorded)
        assert torques is not None
        assert f"{title}, {torques[1]}" in page
    assert f"{series.MOST_POINTS:,} points" in page


@pytest.mark.long
def test_the_recorded_counts_are_measured(recorded: str) -> None:
    """Terms, instructions and bounds of every model; errors at fewer states are smaller, but no less than a third."""
    limits = [float(x) for x in re.search(r"in use: ([\d., ]+) N m", recorded)[1].split(", ")]
    tables = [table.splitlines() for table in recorded.split("\n\n") if table.startswith("|")][:2]
    model = gd.load_urdf("puma560")
    for lines, tau_max in zip(tables, (None, np.array(limits)), strict=True):
        rows = simplification.pruned(model, tau_max, 300)
        measured = simplification.pruning_table(rows)
        for true, here in itertools.zip_longest(lines[2:], measured[2:]):
            cells, own = true.strip("| ").split(" | "), here.strip("| ").split(" | ")
            assert (cells[:8], cells[10]) == (own[:8], own[10])
            if cells[0] != "0":
                seen, now = (float(x[8].removesuffix(" %")) for x in (cells, own))
                assert seen / 3 < now <= seen


@pytest.mark.long
def test_the_recorded_recipe_and_robots_are_measured(recorded: str) -> None:
    small = [name for name in simplification.ROBOTS if name != "panda7"]
    for line in (*simplification.robots_table(small), *simplification.parameters_table("shala_likaj_rpr", 10.0)):
        assert line in recorded
    dyn = TranslationalRotational(gd.load_urdf("puma560"), a_max=A_MAX)
    shown = re.findall(r"^\| (joint\d) \| (\S+) \| (.*?) \| ", recorded, re.MULTILINE)
    bounds = [simplification.percent(share) for share in dyn.bound / dyn.limits.tau]
    assert shown == list(zip(dyn.tree.velocity_names, ("100", "190", "90", "25", "20", "20"), bounds, strict=True))
    assert f"{len(dyn.kept)} terms of D and V, {dyn.cost['instructions']} instructions." in recorded


@pytest.mark.long
def test_the_report_has_all_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simplification, "PARAMETERS", dict.fromkeys(simplification.PARAMETERS, ()))
    model = gd.load_urdf("puma560")
    rows = {error: simplification.checked(puma(error), 10) for error in (0.03, 0.1)}
    recipe = simplification.checked(TranslationalRotational(model, a_max=A_MAX), 10)
    text = simplification.report(model, rows, rows, recipe, ["two_link_arm"])
    assert text.count("\n|---|") == 6
    assert "in\n10 random states" in text
    assert "{" not in text
    largest = simplification.largest_torques(model, 100)
    assert np.all(largest > 1)
    assert np.all(largest < 110)


@pytest.mark.extras
def test_the_figure_shows_the_rows() -> None:
    model = gd.load_urdf("puma560")
    rows = {error: simplification.checked(puma(error), 10) for error in (0.03, 0.1)}
    axes = simplification.draw(rows, rows, model).axes
    costs = [row.dynamics.cost["instructions"] for row in rows.values()]
    assert axes[0].lines[0].get_ydata() == pytest.approx(costs)


@pytest.mark.long
def test_a_bound_that_does_not_hold_ends_the_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    dyn = puma(0.03)
    dyn.__dict__["bound"] = np.zeros(6)
    with pytest.raises(SystemExit, match="IS EXCEEDED"):
        simplification.checked(dyn, 10)


def arm(**options: object) -> gd.FirstOrderArm:
    return gd.FirstOrderArm(gd.load_urdf("two_link_flexible"), BEAMS, **options)


def states(count: int, nv: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(-1, 1, size=(count, 3, nv)) * np.array([[1, 1, 0.1, 0.1]])


def test_no_error_keeps_all() -> None:
    """The expansion in angles and modal coordinates is the arm, K q and D v included."""
    exact = arm(friction={"joint1": gd.Friction(0.3)})
    found = gd.PrunedDynamics(exact, 0.0, **LIMITS)
    assert found.dropped == ()
    assert found.modes == exact.modes
    for q, v, a in states(5, 4):
        for name, arguments in (("inverse_dynamics", (q, v, a)), ("mass_matrix", (q,)), ("nle", (q, v))):
            own, other = (getattr(dyn, name)(*arguments).full() for dyn in (found, exact))
            assert relative_error(own, other) < 1e-12
        energies = [float(dyn.kinetic_energy(q, v) + dyn.potential_energy(q)) for dyn in (found, exact)]
        assert relative_error(energies[0], energies[1]) < 1e-12


def test_a_bound_that_holds() -> None:
    exact = arm()
    found = gd.PrunedDynamics(exact, 0.02, **LIMITS)
    assert len(found.dropped) > 0
    assert np.all(found.bound <= 0.02 * np.array(LIMITS["tau_max"]))
    assert found.check(2000, corners=True).ok
    whole = gd.PrunedDynamics(exact, 0.0, **LIMITS)
    assert found.inverse_dynamics.n_instructions() < whole.inverse_dynamics.n_instructions()
    again = pickle.loads(pickle.dumps(found))
    assert again.kept == found.kept


def test_what_is_refused() -> None:
    model = gd.load_urdf("two_link_flexible")
    with pytest.raises(UnsupportedError, match=r"differs from the sum of its .* take FirstOrderArm"):
        gd.PrunedDynamics(gd.FlexibleArm(model, BEAMS), 0.01, **LIMITS)
    with pytest.raises(ArgumentError, match=r"^PrunedDynamics: .* is given with options of its own; give it none"):
        gd.PrunedDynamics(arm(), 0.01, friction="model", **LIMITS)
    with pytest.raises(UnsupportedError, match="its links are flexible, and TranslationalRotational takes them for"):
        gd.TranslationalRotational(arm(), ["joint2"], **LIMITS)


@pytest.mark.parametrize("load", [0.5, "parameter"])
def test_the_bound_holds_under_friction_that_grows_with_the_load_and_with_motors(load: float | str) -> None:
    """An error of the transmitted torque is at most 1 + load times as large in tau; of a parameter, twice."""
    model = gd.load_urdf("puma560_3")
    friction = {name: gd.Friction(1.0, 0.5, load=0.5) for name in model.names if name != "universe"}
    columns = {"motor1": [1.0, 0, 0], "motor2": [0, 1.0, 0], "motor3": [0, 1.0, -1.5]}
    given = {"friction": friction, "actuation": columns, "motors": {"motor3": gd.Motor(0.2, 0.4, 0.6)}}
    limits = {"a_max": 5.0, "v_max": 2.0, "tau_max": 100.0}
    if load == "parameter":
        pruned = PrunedDynamics(model, 0.02, **given, parameters=["friction"], **limits)
        free = contributions(pruned._coordinates, pruned.limits, pruned.dropped)
        assert np.array_equal(pruned.contributions, 2 * free)
        return
    pruned = PrunedDynamics(gd.NewtonEuler(model, **given), 0.02, **limits)
    check = pruned.check(2000, corners=True)
    assert check.ok
    assert np.max(check.observed / pruned.bound) > 0.9
    q, v, a = np.random.default_rng(0).normal(size=(3, 3))
    assert relative_error(pruned.forward_dynamics(q, v, pruned.inverse_dynamics(q, v, a)).full().ravel(), a) < 1e-12


def test_a_choice_of_terms_speaks(capfd: pytest.CaptureFixture[str]) -> None:
    model = gd.load_urdf("two_link_arm")
    for shown in (False, True):
        PrunedDynamics(model, 0.01, a_max=1.0, v_max=1.0, tau_max=1.0, progress=shown)
        assert capfd.readouterr().err.startswith("two_link_arm: choice of terms, " if shown else "")
    with pytest.raises(ArgumentTypeError, match=r"^PrunedDynamics: progress is 1; give True or False$"):
        PrunedDynamics(model, 0.01, a_max=1.0, v_max=1.0, tau_max=1.0, progress=1)  # type: ignore[typeddict-item]
