"""Derivatives of tau and the Coriolis matrix of trees with modes and of columns that depend on q, against CasADi's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import robots
from benchmarks.flexible import sizes
from gdalembert import spatial
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.newton_euler.rnea import inverse_dynamics
from gdalembert.dynamics.newton_euler.rnea_derivatives import coriolis_matrix, inverse_dynamics_derivatives
from gdalembert.model.configuration import random_configuration
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.joints import JointType
from gdalembert.model.regrouping import prepare
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from tests.helpers.arms import CASES, QUICK_CASES, case, state, tree_of
from tests.helpers.models import JOINTS, build, inertia, placement, relative_error, states
from tests.helpers.sets import quick, with_extras

EXACT = 1e-12

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]


def symbols_of(tree: Tree) -> list[ca.SX]:
    return [ca.SX.sym(name, n) for name, n in (("q", tree.nq), ("v", tree.nv), ("a", tree.nv))]


def check(tree: Tree, *arrays: Arrays, given: Tree | None = None) -> None:
    """∂tau/∂q and ∂tau/∂v against those of tau by CasADi, and numbers against symbols; v Cᵀ = ½ ∂tau/∂v vᵀ of rates."""
    s = symbols_of(tree)
    tau = inverse_dynamics(tree, *s)
    by_differentiation = ca.Function(
        "d", s, [ca.jacobian(tau, s[0]) @ (given or tree).tangent_map(s[0]), ca.jacobian(tau, s[1])]
    )
    written = ca.Function("w", s, [*inverse_dynamics_derivatives(tree, *s)])
    for at in arrays:
        truth = [x.full() for x in by_differentiation(*at)]
        for found in (written(*at), inverse_dynamics_derivatives(tree, *map(ca.DM, at))):
            for ours, theirs in zip(found, truth, strict=True):
                assert relative_error(ca.DM(ours).full(), theirs) < EXACT


def check_coriolis(tree: Tree, *arrays: Arrays, given: Tree | None = None) -> None:
    """C v = tau(q, v, 0) − tau(q, 0, 0) and C + Cᵀ = dM/dt; where v = dq/dt, C is Christoffel's."""
    s = symbols_of(tree)
    q, v, _ = s
    zero = ca.DM(tree.nv, 1)
    velocity = inverse_dynamics(tree, q, v, zero) - inverse_dynamics(tree, q, zero, zero)
    m = ca.jacobian(inverse_dynamics(tree, *s), s[2])
    rate = ca.reshape(ca.jtimes(ca.vec(m), q, (given or tree).configuration_rate(q, v)), tree.nv, tree.nv)
    truth = ca.Function("truth", s[:2], [velocity, rate, ca.jacobian(velocity, v) / 2])
    c = ca.Function("c", s[:2], [coriolis_matrix(tree, q, v)])
    for at in arrays:
        found, (product, m_rate, christoffel) = c(*at[:2]).full(), (x.full() for x in truth(*at[:2]))
        assert relative_error(found @ at[1], product.ravel()) < EXACT
        assert relative_error(found + found.T, m_rate) < EXACT
        if not any(joint.type.has_quasi_velocities for joint in tree.joints):
            assert relative_error(found, christoffel) < EXACT


def states_of(tree: Tree, seed: int, modes: float = 0.2) -> Arrays:
    """Random, with modal coordinates of the given size."""
    rng = np.random.default_rng(seed)
    q = random_configuration(tree, rng).full().ravel()
    for joint in tree.joints:
        if joint.type.is_modal:
            q[joint.idx_q : joint.idx_q + joint.type.nq] *= modes / max(1e-300, np.abs(q[joint.idx_q]))
    return q, rng.normal(size=tree.nv), rng.normal(size=tree.nv)


@pytest.mark.parametrize("shortening", quick([False, True], True))
@pytest.mark.parametrize("name", quick(CASES, *QUICK_CASES[:1]))
def test_of_arms(name: str, shortening: bool) -> None:
    """Bending, torsion and extension, revolute, continuous and prismatic joints, trees; at f = 0 as well."""
    robot = case(name, shortening=shortening)
    given = tree_of(robot.links, robot.gravity)
    tree = prepare(given)  # whose q has offsets
    arrays = []
    for seed, size in ((1, 1.0), (2, 0.0)):
        x, v, a = state(robot, seed)
        arrays.append((robot.configuration(np.where(robot.modal, size * x, x)), v, a))
    check(tree, *arrays, given=given)
    check_coriolis(tree, *arrays, given=given)


def flexible(kinds: list[str], **options: object) -> gd.FlexibleArm:
    """Rods in a row on joints of the given kinds; all but the last one bend in both planes, twist and stretch."""
    rng, model, parent = np.random.default_rng(4), pin.Model(), 0
    for k, kind in enumerate(kinds):
        place = pin.SE3(placement(rng).rotation, np.array([0.8 * (k > 0), 0, 0]))
        parent = model.addJoint(parent, JOINTS[kind](rng), place, f"joint{k}")
        model.appendBodyToJoint(parent, inertia(rng), pin.SE3.Identity())
        model.addBodyFrame(f"link{k}", parent, pin.SE3.Identity(), 0)
    model.armature = np.linspace(0.1, 0.5, model.nv)
    beam = gd.Beam(0.8, 1.3, EA=500.0, EI_y=20.0, EI_z=30.0, GJ=10.0, section_inertia=(0.006, 0.003))
    hermite, linear = gd.modes.hermite(), gd.modes.linear()
    link = gd.FlexibleLink(beam, hermite, hermite, extension=linear, torsion=linear, root=np.eye(4))
    return gd.FlexibleArm(model, dict.fromkeys([f"link{k}" for k in range(len(kinds) - 1)], link), clean=0, **options)


KINDS = ["FreeFlyer", "Ellipsoid", "RUBX", "HY"]


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:link")
@pytest.mark.parametrize("kind", quick(KINDS, "Ellipsoid"))
def test_of_flexible_links_between_joints_of_any_kind(kind: str) -> None:
    """On the first joint, and on the station of a link with modes; a rigid link at the end."""
    for kinds in ([kind, "RX", "RY"], ["RX", kind]):
        tree = flexible(kinds)._prepared[0]
        check(tree, states_of(tree, 1))
        check_coriolis(tree, states_of(tree, 1))


WRENCHES = {"link0 tip": pin.LOCAL, "link1": pin.LOCAL_WORLD_ALIGNED, "link2": pin.LOCAL, "link1 tip": pin.WORLD}


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:link")
@pytest.mark.parametrize("kind", quick(["RZ", "Ellipsoid"], "Ellipsoid"))
def test_under_wrenches(kind: str) -> None:
    """Of all references at once, on stations and on the links that they carry, with armature."""
    dyn = flexible([kind, "RX", "RY"], wrenches={**WRENCHES, "link0": pin.LOCAL_WORLD_ALIGNED})
    s = [*symbols_of(dyn.tree), ca.SX.sym("w", 6, 5)]
    tau = dyn.inverse_dynamics(*s)
    by_q = ca.Function("by_q", s, [ca.jacobian(tau, s[0]) @ dyn.tree.tangent_map(s[0]), ca.jacobian(tau, s[1])])
    wrenches = np.random.default_rng(3).normal(size=(6, 5))
    at = (*states_of(dyn.tree, 2), wrenches)
    for found, truth in zip(dyn.inverse_dynamics_derivatives(*at), by_q(*at), strict=True):
        assert relative_error(found.full(), truth.full()) < EXACT


@dataclass(frozen=True)
class Gimbal(JointType):
    """Two turns, about x and then about y, with a velocity v of which dq/dt = B(q) v: no rates of any coordinates."""

    nq: ClassVar[int] = 2
    nv: ClassVar[int] = 2
    can_translate: ClassVar[bool] = False
    has_constant_subspace: ClassVar[bool] = False
    has_quasi_velocities: ClassVar[bool] = True

    def configuration_rate(self, q: Matrix, v: Matrix) -> Matrix:
        return ca.vertcat(v[0] + 0.3 * ca.sin(q[1]) * v[1], 0.5 * q[0] * v[0] + v[1])

    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        (cx, cy), (sx, sy) = ca.vertsplit(ca.cos(q)), ca.vertsplit(ca.sin(q))
        x, y = ([(1, 0, 0), cx, sx], [(0, 1, 0), cy, sy])
        return spatial.axis_rotation(*x) @ spatial.axis_rotation(*y), ca.DM(3, 1)

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return ca.DM(3, 2), self._angular(q)

    def subspace_rate(self, q: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
        x, rate = ca.SX.sym("q", 2), ca.SX.sym("rate", 2)
        slope = ca.reshape(ca.jtimes(ca.vec(self._angular(x)), x, rate), 3, 2)
        return ca.DM(3, 2), ca.Function("slope", [x, rate], [slope])(q, self.configuration_rate(q, v))

    def _angular(self, q: Matrix) -> Matrix:
        angular = spatial.rows((ca.cos(q[1]), 0), (0, 1), (ca.sin(q[1]), 0))
        one = ca.DM.eye(2)
        return angular @ ca.horzcat(*(self.configuration_rate(q, one[:, k]) for k in range(2)))


def test_of_columns_of_velocities_that_are_no_rates() -> None:
    tree = read_tree(build(np.random.default_rng(6), ["RX", "RX", "RZ", "RY"], [0, 1, 2, 3]))
    joints = [replace(joint, idx_q=k + (k > 1), idx_v=k + (k > 1)) for k, joint in enumerate(tree.joints)]
    joints[1] = replace(joints[1], type=Gimbal())
    armature = np.zeros(5)
    tree = replace(tree, nq=5, nv=5, joints=tuple(joints), armature=armature, damping=armature, friction=armature)
    rng = np.random.default_rng(7)
    at = tuple(rng.normal(size=(3, 5)))
    check(tree, at)
    check_coriolis(tree, at)


def test_joints_with_columns_that_depend_on_q_are_not_differentiated_over_the_chain() -> None:
    """Smaller than what CasADi makes of tau."""
    model = build(np.random.default_rng(12), ["RX", "Ellipsoid", "Spherical"], [0, 1, 2])
    dyn = gd.NewtonEuler(model, clean=0)
    s = symbols_of(dyn.tree)
    own = ca.Function("own", s, Dynamics.inverse_dynamics_derivatives_expression(dyn, *s))
    assert dyn.inverse_dynamics_derivatives.n_instructions() < 0.8 * own.n_instructions()
    for at in states(model, np.random.default_rng(3), 2):
        for found, truth in zip(dyn.inverse_dynamics_derivatives(*at), own(*at), strict=True):
            assert relative_error(found.full(), truth.full()) < EXACT


FUNCTIONS = (
    "inverse_dynamics_derivatives",
    "coriolis_matrix",
    "mass_matrix",
    "kinetic_energy",
    "generalized_gravity",
)
LIMITS = {"one": (192, 92, 84, 96, 8), "three": (12740, 6380, 2517, 1030, 547), "z1": (8050, 4070, 1490, 790, 414)}
"""Instructions of each of FUNCTIONS, at most; those of M of three links depend on the processor, by one."""


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:link")
@pytest.mark.parametrize("name", ["one", *quick(["three"]), *with_extras(["z1"])])
def test_graphs_of_arms_stay_within_their_limits(name: str) -> None:
    """Of arms of one and of three flexible links in a row, and of an arm with one flexible link among seven."""
    if name == "z1":
        hermite = gd.modes.hermite()
        tube = gd.Beam.tube(None, 0.04, 0.002, density=2700.0, youngs_modulus=70e9)
        model = gd.load_urdf(robots.path("ur5").parents[2] / "z1_description" / "urdf" / "z1.urdf", check="off")
        dyn = gd.FlexibleArm(model, {"link02": gd.FlexibleLink(tube, bending_y=hermite, bending_z=hermite)})
    else:
        dyn = sizes.arm({"one": 1, "three": 3}[name], foreshortening=name == "three")
    found = {function: getattr(dyn, function).n_instructions() for function in FUNCTIONS}
    limits = dict(zip(FUNCTIONS, LIMITS[name], strict=True))
    assert {f: (n, limits[f]) for f, n in found.items() if n > limits[f]} == {}
