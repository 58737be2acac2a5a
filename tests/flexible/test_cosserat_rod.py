"""Cosserat rods against what is computed apart from the recursion: integrals by exponentials, the elastica, beams."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from scipy.linalg import eigh
from scipy.optimize import brentq

import gdalembert as gd
from benchmarks.flexible import published
from gdalembert.dynamics.newton_euler.forward_derivatives import forward_dynamics_derivatives
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from gdalembert.flexible.centreline import centreline
from gdalembert.flexible.reference import cetinkunt_book_1988
from gdalembert.spatial.functions import function
from tests.helpers import rod_reference, rods_apart
from tests.helpers.sets import quick

pytestmark = pytest.mark.filterwarnings("ignore:link 'rod'. its body of")

LENGTH = 0.8
BEAM = gd.Beam(LENGTH, 1.3, EI_y=2.0, EI_z=3.0, EA=400.0, GJ=1.5, section_inertia=(2e-3, 3e-3), GA_y=150.0, GA_z=180.0)
THREE = ("torsion", "bending_y", "bending_z")
SIX = (*THREE, "elongation", "shear_y", "shear_z")
PLANAR = ("bending_y",)
GRAVITY = np.array([1.0, -9.0, 2.0])

ROD = """
<robot name="soft"><link name="base"/>
  <joint name="shoulder" type="{kind}"><parent link="base"/><child link="rod"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" effort="10" velocity="10"/></joint>
  <link name="rod"><inertial><origin xyz="0.4 0 0"/><mass value="{mass}"/>
    <inertia ixx="0.01" iyy="0.06" izz="0.06" ixy="0" ixz="0" iyz="0"/></inertial></link>{more}
</robot>
"""
TOOL = """
  <joint name="wrist" type="revolute"><parent link="rod"/><child link="tool"/><origin xyz="{at} 0.1 0" rpy="0.1 0.2 0"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="10" velocity="10"/></joint>
  <link name="tool"><inertial><origin xyz="0.1 0 0"/><mass value="0.3"/>
    <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
"""


def model(
    *, gravity: object = GRAVITY, kind: str = "revolute", more: str = "", mass: float = 1.3 * LENGTH
) -> pin.Model:
    found = gd.load_urdf(ROD.format(kind=kind, more=more, mass=mass))
    found.gravity.linear = np.array(gravity)
    return found


def arm(link: gd.CosseratRod, **options: object) -> gd.FlexibleArm:
    return gd.FlexibleArm(model(**options), {"rod": link})


def bent(dyn: gd.FlexibleArm, rng: np.random.Generator, angle: float) -> np.ndarray:
    """A configuration in which each segment turns by about ``angle``, with its other strains at a fifth."""
    link = dyn.links["rod"]
    strains = rng.uniform(-1, 1, (link.segments, len(link.strains), link.degree + 1))
    turning = [k for k, name in enumerate(link.strains) if name in THREE]
    strains[:, turning] *= angle / (LENGTH / link.segments) / np.sqrt(np.sum(strains[:, turning] ** 2))
    strains[:, turning] *= np.sqrt(link.segments)
    strains[:, [k for k in range(len(link.strains)) if k not in turning]] *= 0.2
    q = rng.normal(size=dyn.tree.nq)
    q[list(dyn.modes_of("rod"))] = strains.ravel()
    return q


CASES = [
    ({"segments": 1, "degree": 0}, 1e-6),
    ({"segments": 3, "degree": 0}, 1e-6),
    ({"segments": 1, "degree": 1, "strains": SIX}, 1e-6),
    ({"segments": 2, "degree": 1}, 1e-6),
    ({"segments": 1, "degree": 3}, 1e-6),
    ({"segments": 1, "degree": 3, "strains": PLANAR}, 1e-6),
    ({"segments": 1, "degree": 2, "rest": {"bending_z": 0.5, "torsion": lambda s: 0.6 * s}}, 1e-6),
]


@pytest.mark.long
@pytest.mark.parametrize(("options", "bar"), quick(CASES, *CASES[1:3]))
def test_torque_is_that_of_the_rod(options: dict[str, object], bar: float) -> None:
    """Against ∫ Tr(∂W J (Ẅ − G)ᵀ) ds by matrix exponentials, at half a radian a segment."""
    dyn, rng = arm(gd.CosseratRod(BEAM, **options)), np.random.default_rng(1)
    link = dyn.links["rod"]
    q, v, a = bent(dyn, rng, 0.5), *rng.normal(size=(2, dyn.tree.nv))
    rest = {name: x if callable(x) else (lambda s, x=x: x) for name, x in link.rest.items()}
    rod = {"segments": link.segments, "strains": link.strains, "degree": link.degree, "rest": rest}
    wanted = rod_reference.tau(BEAM, q, v, a, GRAVITY, panels=4, points=6, **rod)
    found = dyn.inverse_dynamics(q, v, a).full().ravel() - dyn.stiffness_matrix @ q
    assert np.abs(found - wanted).max() < bar * np.abs(wanted).max()


@pytest.mark.parametrize(
    ("options", "load", "bar"),
    [
        ({}, 0.5, 1e-7),
        ({"strains": THREE}, 10.0, 5e-5),
        ({"segments": 4, "degree": 0}, 2.0, 1e-2),
    ],
)
def test_elastica(options: dict[str, object], load: float, bar: float) -> None:
    """Other rods than those of the published table (``tests/benchmarks/test_published.py``)."""
    force = load * BEAM.EI_z / LENGTH**2
    u, w, _ = rods_apart.elastica(load)
    dyn = arm(gd.CosseratRod(BEAM, **{"strains": PLANAR, **options}), gravity=np.zeros(3))
    q = dyn.static_deflection([0.0], "rod tip", [0, force, 0, 0, 0, 0], reference=pin.LOCAL_WORLD_ALIGNED)
    found = dyn.tip_placement("rod")(q).full()[:2, 3]
    assert np.linalg.norm(found / LENGTH - [1 - u, w]) < bar


@pytest.mark.long
def test_a_moment_bends_it_to_a_circle() -> None:
    moment = BEAM.EI_y * np.pi / LENGTH
    for options in ({"degree": 0, "segments": 2}, {"degree": 2}):
        dyn = arm(gd.CosseratRod(BEAM, **options), gravity=np.zeros(3))
        q = dyn.static_deflection([0.0], "rod tip", [0, 0, 0, 0, -moment, 0], reference=pin.LOCAL)
        np.testing.assert_allclose(dyn.tip_placement("rod")(q).full()[:3, 3], [0, 0, 2 * LENGTH / np.pi], atol=2e-4)


def test_frequencies_of_a_beam() -> None:
    """Euler and Bernoulli's, with the shoulder locked, in both planes; and with a point mass on the tip."""
    slender = replace(BEAM, section_inertia=(0.0, 1e-9))
    for strain, stiffness in (("bending_y", BEAM.EI_z), ("bending_z", BEAM.EI_y)):
        dyn = arm(gd.CosseratRod(slender, strains=(strain,), degree=5), gravity=np.zeros(3))
        found = dyn.natural_frequencies(np.zeros(dyn.tree.nq))
        wanted = np.array([1.8751040687, 4.6940911330]) ** 2 * np.sqrt(stiffness / 1.3 / LENGTH**4)
        np.testing.assert_allclose(found[:2], wanted, rtol=2e-5)
    body = pin.Inertia(1.3 * LENGTH, np.zeros(3), np.zeros((3, 3)))  # as heavy as the rod
    dyn = arm(gd.CosseratRod(slender, strains=PLANAR, tip_body=body), gravity=np.zeros(3), mass=2 * 1.3 * LENGTH)
    root = brentq(lambda x: 1 + np.cos(x) * np.cosh(x) + x * (np.cos(x) * np.sinh(x) - np.sin(x) * np.cosh(x)), 1, 1.5)
    wanted = root**2 * np.sqrt(BEAM.EI_z / 1.3 / LENGTH**4)
    found = dyn.natural_frequencies(np.zeros(dyn.tree.nq))[0]
    assert found == pytest.approx(wanted, rel=1e-6)


@pytest.mark.long
@pytest.mark.parametrize(
    "options", [{"segments": 2, "degree": 1, "strains": PLANAR}, {"segments": 1, "degree": 1, "strains": THREE}]
)
def test_frequencies_of_the_same_segments(options: dict[str, Any]) -> None:
    """Against the mass of the reference and ½ ∫ strain² stiffness ds of Legendre's polynomials."""
    dyn = arm(gd.CosseratRod(BEAM, **options), gravity=np.zeros(3))
    rest, modes = np.zeros(dyn.tree.nv), dyn.modes_of("rod")
    columns = np.eye(dyn.tree.nv)[list(modes)]
    mass = [
        rod_reference.tau(BEAM, rest, rest, a, np.zeros(3), panels=4, points=6, **options)[list(modes)] for a in columns
    ]
    of_strains = {"torsion": BEAM.GJ, "bending_y": BEAM.EI_z, "bending_z": BEAM.EI_y}
    squares = LENGTH / options["segments"] / (2 * np.arange(options["degree"] + 1) + 1)
    stiffness = np.concatenate([of_strains[strain] * squares for strain in options["strains"]])
    wanted = np.sqrt(eigh(np.diag(np.tile(stiffness, options["segments"])), np.array(mass), eigvals_only=True))
    np.testing.assert_allclose(dyn.natural_frequencies(rest), wanted, rtol=1e-7)


def test_a_rod_stiffens_as_it_spins() -> None:
    """Flapping frequencies of a cantilever that spins at its root, in √(EI / μ l⁴) (Wright and others 1982)."""
    slender = replace(BEAM, section_inertia=(0.0, 0.0))
    dyn = arm(gd.CosseratRod(slender, strains=("bending_z",), degree=5), gravity=np.zeros(3))
    unit = np.sqrt(BEAM.EI_y / 1.3 / LENGTH**4)
    found = published.spinning_frequencies(dyn, unit * np.arange(1, 4))[:, 0]
    wanted = [float(published.FLAPPING[spin].split()[0]) for spin in (1, 2, 3)]
    np.testing.assert_allclose(found / unit, wanted, rtol=0, atol=6e-5)


@pytest.mark.long
def test_a_swing_keeps_its_energy() -> None:
    dyn = arm(gd.CosseratRod(BEAM, strains=PLANAR, degree=2), gravity=(0, -9.81, 0))
    run = gd.simulate(dyn, (np.zeros(dyn.tree.nq), np.zeros(dyn.tree.nv)), 0.5, np.zeros(dyn.nu))
    kinetic = np.array([float(dyn.kinetic_energy(q, v)) for q, v in zip(run.q, run.v, strict=True)])
    potential = np.array([float(dyn.potential_energy(q)) for q in run.q])
    assert kinetic.max() > 1.0
    np.testing.assert_allclose(kinetic + potential, potential[0], atol=1e-6 * kinetic.max())


@pytest.mark.long
def test_a_curved_rod_at_rest() -> None:
    """q = 0 has no stress; it is an arc, and the function of the abscissa is the same arc."""
    for curvature in (2.0, lambda s: 2.0 + 0 * s):
        dyn = arm(gd.CosseratRod(BEAM, strains=("bending_z",), rest={"bending_y": curvature}), gravity=np.zeros(3))
        tip = dyn.tip_placement("rod")(np.zeros(dyn.tree.nq)).full()[:3, 3]
        np.testing.assert_allclose(tip, [np.sin(1.6) / 2, (1 - np.cos(1.6)) / 2, 0], atol=1e-8)
        assert np.abs(dyn.nle(np.zeros(dyn.tree.nq), np.zeros(dyn.tree.nv)).full()).max() < 1e-12


def test_a_tapered_and_stepped_rod() -> None:
    """Mass and stiffness are integrals; a step is found with its break."""
    stepped = gd.Beam(
        LENGTH,
        lambda s: np.where(s < 0.3, 2.0, 1.0),
        EI_z=lambda s: np.where(s < 0.3, 5.0, 1.0 + s),
        breaks=(0.3,),
    )
    dyn = arm(gd.CosseratRod(stepped, strains=PLANAR, degree=4), mass=1.1)
    assert float(gd.Kinematics(dyn.tree).total_mass) == pytest.approx(1.1, rel=1e-12)
    compliance = np.linalg.inv(dyn.stiffness_matrix[1:, 1:])
    assert compliance[0, 0] > 0
    found = dyn.stiffness_matrix[1, 1]
    assert found == pytest.approx(0.3 * 5 + 0.5 + (0.64 - 0.09) / 2, rel=1e-12)


PUSHED = {"rod tip": pin.LOCAL, "tool": pin.LOCAL_WORLD_ALIGNED, "rod": pin.WORLD}
TAPERED = replace(BEAM, mass_per_length=lambda s: 1.5 - 0.5 * s, EI_z=lambda s: 3.0 - s)


@pytest.mark.long
@pytest.mark.parametrize(
    ("beam", "options", "at"),
    [
        (BEAM, {"segments": 2, "degree": 0, "strains": PLANAR}, 0.5),
        pytest.param(
            TAPERED,
            {"degree": 2, "rest": {"bending_z": 0.5, "torsion": lambda s: 0.6 * s}},
            LENGTH,
            marks=pytest.mark.long,
        ),
    ],
)
def test_derivatives_of_the_recursion(beam: gd.Beam, options: dict[str, object], at: float) -> None:
    """∂tau under wrenches beside algorithmic differentiation, which is larger, and ∂a of articulated bodies beside it.

    The law machine compares C, and all of them under joints of any type.
    """
    link = gd.CosseratRod(beam, root=np.eye(4), children={"wrist": at}, **options)
    dyn = gd.FlexibleArm(model(more=TOOL.format(at=at)), {"rod": link}, wrenches=PUSHED)
    rng, n = np.random.default_rng(6), dyn.tree.nv
    given = bent(dyn, rng, 0.7), *rng.normal(size=(2, n)), rng.normal(size=(6, 3))
    by_q, by_v = (x.full() for x in dyn.inverse_dynamics_derivatives(*given))
    s = dyn.symbols("q", "v", "a", "wrenches")
    tau = dyn.inverse_dynamics(*s.values())
    wanted = function("wanted", s, {f"by_{x}": ca.jacobian(tau, s[x]) for x in "qv"})
    for found, truth in zip((by_q, by_v), wanted(*given), strict=True):
        np.testing.assert_allclose(found, truth.full(), rtol=0, atol=1e-12 * np.abs(truth.full()).max())
    assert dyn.inverse_dynamics_derivatives.n_instructions() < wanted.n_instructions()
    free = gd.FlexibleArm(model(more=TOOL.format(at=at)), {"rod": link})
    by_q, by_v = (x.full() for x in free.inverse_dynamics_derivatives(*given[:3]))
    effort = free.inverse_dynamics(*given[:3]).full() - free.stiffness_matrix @ given[0][:, None]
    s = free.symbols("q", "v", "tau")
    swept = ca.Function("swept", list(s.values()), [forward_dynamics_derivatives(free.tree, *s.values())])
    m = free.mass_matrix(given[0]).full()
    wanted = -np.hstack([by_q - free.stiffness_matrix, by_v, -np.eye(n)])
    found = m @ swept(*given[:2], effort).full()
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-11 * np.abs(wanted).max())


@pytest.mark.long
def test_zero_strain_has_derivatives() -> None:
    dyn = arm(gd.CosseratRod(BEAM, 1, 1, strains=SIX))
    zero = np.zeros(dyn.tree.nv)
    for x in dyn.inverse_dynamics_derivatives(zero, zero, zero):
        assert np.all(np.isfinite(x.full()))


def test_joints_give_numbers_for_numbers() -> None:
    dyn = arm(gd.CosseratRod(BEAM, 2, 2, strains=SIX))
    rng, step = np.random.default_rng(3), 1e-6
    for joint in dyn.tree.joints[1:]:
        if not joint.type.is_modal:  # the root of a segment
            assert joint.type.nv == 0
            continue
        q, v = rng.normal(size=(2, joint.type.nv))
        linear, angular = joint.type.subspace(ca.DM(q))
        assert isinstance(linear, ca.DM)
        rates = joint.type.subspace_rate(ca.DM(q), ca.DM(v))
        ahead, behind = (joint.type.subspace(ca.DM(q + h * v)) for h in (step, -step))
        for rate, after, before in zip(rates, ahead, behind, strict=True):
            np.testing.assert_allclose(rate.full(), (after - before).full() / (2 * step), atol=1e-8)
        (r, p), (_, p_after), (_, p_before) = (joint.type.placement(ca.DM(q + h * v)) for h in (0, step, -step))
        np.testing.assert_allclose((r @ linear @ v).full(), (p_after - p_before).full() / (2 * step), atol=1e-8)
        assert p.shape == angular[:, 0].shape == (3, 1)


@pytest.mark.long
def test_a_rod_shares_coordinates_but_mimics_nothing() -> None:
    dyn = arm(
        gd.CosseratRod(BEAM, 2, 1, root=np.eye(4), children={"wrist": 0.3}, rayleigh=(0.0, 1e-3)),
        more=TOOL.format(at=0.3),
    )
    assert not dyn.tree.has_mimic
    assert dyn.tree.nv == 2 + 2 * 3 * 2
    assert dyn.modes_of("rod") == range(2, 14)
    assert dyn.layout[:4] == ("shoulder", "wrist", "rod segment 1 torsion P0", "rod segment 1 torsion P1")
    again = pickle.loads(pickle.dumps(dyn))
    q = np.linspace(-0.5, 0.5, dyn.tree.nq)
    np.testing.assert_array_equal(again.nle(q, q).full(), dyn.nle(q, q).full())
    np.testing.assert_allclose(dyn.damping_matrix[2:, 2:], 1e-3 * dyn.stiffness_matrix[2:, 2:], rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: gd.CosseratRod(1), ArgumentTypeError, r"^CosseratRod: expected a Beam, got 1$"),
        (
            lambda: gd.CosseratRod(BEAM, 0),
            ArgumentError,
            r"^CosseratRod: segments: got 0; give an integer from 1 to 1000$",
        ),
        (lambda: gd.CosseratRod(BEAM, 1, -1), ArgumentError, r"^CosseratRod: degree: got -1; give an integer"),
        (lambda: gd.CosseratRod(BEAM, strains=()), ArgumentError, r"^CosseratRod: strains: got none; give some of"),
        (
            lambda: gd.CosseratRod(BEAM, strains="torsion"),
            ArgumentTypeError,
            r"^CosseratRod: strains: got 'torsion'; give",
        ),
        (
            lambda: gd.CosseratRod(BEAM, strains=("twist",)),
            ArgumentError,
            r"^CosseratRod: strains: got 'twist'; give some",
        ),
        (
            lambda: gd.CosseratRod(BEAM, strains=("torsion",) * 2),
            ArgumentError,
            r"got 'torsion' 2 times; give it once$",
        ),
        (
            lambda: gd.CosseratRod(replace(BEAM, GA_y=None), strains=("shear_y",)),
            ArgumentError,
            r"^CosseratRod: strains: 'shear_y' needs the stiffness GA_y of the beam; give it, as by dataclasses",
        ),
        (
            lambda: gd.CosseratRod(BEAM, rest={"twist": 1}),
            ArgumentError,
            r"^CosseratRod: rest: got 'twist'; give some of",
        ),
        (
            lambda: gd.CosseratRod(BEAM, rest={"torsion": np.nan}),
            ArgumentError,
            r"^CosseratRod: rest\['torsion'\]: got nan",
        ),
        (
            lambda: gd.FlexibleArm(
                model(), {"rod": gd.CosseratRod(gd.Beam(None, 1.3, EI_z=1.0), strains=PLANAR, root=np.eye(4))}
            ),
            ArgumentError,
            r"^link 'rod': it has no child joint; say with to= on which",
        ),
        (
            lambda: gd.FirstOrderArm(model(), {"rod": gd.CosseratRod(BEAM)}),
            UnsupportedError,
            r"^link 'rod': a Cosserat rod turns by exact rotations only; take FlexibleArm$",
        ),
    ],
)
def test_what_is_wrong_is_refused(make: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


@pytest.mark.long
def test_a_second_computation_agrees() -> None:
    """Book's 4 × 4 recursion, with the mass of the rod on points that share its coordinates; by ``gd.validate``."""
    link = gd.CosseratRod(
        BEAM, 2, 0, strains=("bending_y", "shear_y"), rest={"bending_z": 0.5, "torsion": 1.0}, root=np.eye(4)
    )
    gd.validate(arm(link, more=TOOL.format(at=LENGTH)), samples=3).raise_for_failure()


def test_stiffness_is_a_parameter() -> None:
    link = gd.CosseratRod(BEAM, 1, 1, strains=PLANAR)
    dyn = gd.FlexibleArm(model(), {"rod": link}, parameters={"stiffness": ["rod"]})
    q = np.array([0.1, 0.4, -0.3])
    change = dyn.nle(q, 0 * q, [3.0]) - dyn.nle(q, 0 * q, [1.0])
    np.testing.assert_allclose(change.full().ravel(), 2 * dyn.stiffness_matrix @ q, rtol=0, atol=1e-13)


def test_centreline_ends_at_the_tip() -> None:
    dyn = arm(gd.CosseratRod(BEAM, 3, 1))
    q = np.random.default_rng(5).normal(size=dyn.tree.nq)
    positions, rotations = (x.full() for x in centreline(dyn, "rod", np.linspace(0, LENGTH, 5))(q))
    tip = dyn.tip_placement("rod")(q).full()
    np.testing.assert_allclose(positions[:, -1], tip[:3, 3], atol=1e-14)
    np.testing.assert_allclose(rotations[:, -3:], tip[:3, :3], atol=1e-14)
    np.testing.assert_allclose(positions[:, 0], 0, atol=1e-14)


@pytest.mark.long
def test_sizes() -> None:
    """Constant strain, 4 segments, on a revolute joint."""
    for strains, beam, bars in (
        (PLANAR, replace(BEAM, section_inertia=(0.0, 3e-3)), (1150, 1500, 2200)),
        (THREE, BEAM, (6000, 10000, 17000)),
    ):
        dyn = arm(gd.CosseratRod(beam, 4, 0, strains=strains))
        sizes = [f.n_instructions() for f in (dyn.inverse_dynamics, dyn.mass_matrix, dyn.forward_dynamics)]
        assert all(size <= bar for size, bar in zip(sizes, bars, strict=True)), sizes


def test_a_large_load_is_followed_from_the_rod_at_rest() -> None:
    """Beyond loads at which Newton's method finds another equilibrium; each step of load begins at the last one."""
    dyn = arm(gd.CosseratRod(BEAM, strains=PLANAR), gravity=(0, 0, 0))
    push = {"frame": "rod tip", "reference": pin.LOCAL_WORLD_ALIGNED}
    unit = 3.0 / LENGTH**2  # EI / l²
    q = np.zeros(dyn.tree.nq)
    for load in (5, 10, 20, 40):
        q = dyn.static_deflection(q, wrench=[0, load * unit, 0, 0, 0, 0], **push)
    found = dyn.static_deflection(0 * q, wrench=[0, 40 * unit, 0, 0, 0, 0], **push)
    np.testing.assert_allclose(found, q, rtol=0, atol=1e-9)


@pytest.mark.long
def test_two_segments_are_validated_beside_the_model() -> None:
    """All segments are on the link of the undeformed arm."""
    given = model()
    dyn = gd.FlexibleArm(given, {"rod": gd.CosseratRod(BEAM, 2, 1, strains=PLANAR)})
    assert gd.validate(dyn, against=given, samples=10).ok


def test_reference_equations_of_modes_refuse_rods() -> None:
    dyn = arm(gd.CosseratRod(BEAM, 1, 1))
    with pytest.raises(UnsupportedError, match="are those of links in assumed modes, and one of its links is a rod"):
        cetinkunt_book_1988.mass_matrix(dyn.tree, ca.DM(dyn.tree.nq, 1))
