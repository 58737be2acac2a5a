"""Centroidal quantities of flexible arms: the laws between them, and two other ways to compute them."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import UnsupportedError
from gdalembert.model.configuration import random_configuration
from tests.helpers.models import relative_error
from tests.helpers.sets import quick
from tests.helpers.validated_arms import ARMS, bending, planar, robot

TIGHT = 1e-12
FUNCTIONS = ("centroidal_map", "centroidal_momentum", "centroidal_momentum_rate")


@pytest.mark.filterwarnings("ignore:link .*is now a beam")
@pytest.mark.parametrize("name", quick([name for name in ARMS if "first order" not in name], "planar"))
def test_rates_and_sums(name: str) -> None:
    """dh/dt is the rate of h along the motion, h = Ag v, and the linear halves are those of the centre of mass."""
    arm, _ = ARMS[name]()
    kin, tree, rng = gd.Kinematics(arm.tree, clean=0), arm.tree, np.random.default_rng(0)
    q, v, a = (ca.SX.sym(x, n) for x, n in (("q", tree.nq), ("v", tree.nv), ("a", tree.nv)))
    h, rate = kin.centroidal_momentum(q, v), kin.centroidal_momentum_rate(q, v, a)
    pairs = [
        (ca.jtimes(h, q, tree.configuration_rate(q, v)) + ca.jtimes(h, v, a), rate),
        (kin.centroidal_map(q) @ v, h),
        (kin.total_mass * kin.center_of_mass_velocity(q, v), h[:3]),
        (kin.total_mass * kin.center_of_mass_acceleration(q, v, a), rate[:3]),
    ]
    laws = ca.Function("laws", [q, v, a], [ca.vertcat(*side) for side in zip(*pairs, strict=True)])
    state = random_configuration(tree, rng), rng.normal(size=tree.nv), rng.normal(size=tree.nv)
    left, right = (x.full() for x in laws(*state))
    assert relative_error(left, right) < TIGHT


@pytest.mark.filterwarnings("ignore:link .*is now a beam")
def test_a_free_base_bears_the_momentum() -> None:
    """M has the momentum in its first six rows, in the axes of the base about its origin."""
    model = robot(("revolute", "base"), ("revolute", "l0"), root_joint=pin.JointModelFreeFlyer())
    arm = gd.FlexibleArm(model, {"l0": bending(foreshortening=True)}, clean=0)
    kin, rng = gd.Kinematics(arm.tree, clean=0), np.random.default_rng(1)
    q = random_configuration(arm.tree, rng).full().ravel()
    m = arm.mass_matrix(q).full() - np.diag(arm.tree.armature)
    base = kin.joint_placement("root_joint")(q).full()
    away = pin.SE3(np.eye(3), kin.center_of_mass(q).full().ravel()).actInv(pin.SE3(base))
    columns = np.column_stack([away.act(pin.Force(column)).vector for column in m[:6].T])
    assert relative_error(kin.centroidal_map(q).full(), columns) < TIGHT


def test_a_robot_without_modes_has_that_of_pinocchio() -> None:
    model = gd.load_urdf("panda7")
    kin, data, rng = gd.Kinematics(gd.FlexibleArm(model).tree), model.createData(), np.random.default_rng(2)
    q, v, a = rng.normal(size=(3, model.nv))
    pin.computeCentroidalMomentumTimeVariation(model, data, q, v, a)
    found = kin.centroidal_momentum(q, v), kin.centroidal_momentum_rate(q, v, a)
    for value, expected in zip(found, (data.hg, data.dhg), strict=True):
        assert relative_error(value.full().ravel(), expected.vector) < 1e-11  # cleaned constants


@pytest.mark.parametrize("name", FUNCTIONS)
def test_first_order_rotations_have_no_angular_momentum(name: str) -> None:
    with pytest.raises(UnsupportedError) as raised:
        getattr(gd.Kinematics(planar(exact=False).tree), name)
    assert str(raised.value) == (
        "two_link_flexible: its links turn to first order only, and have no angular momentum; take FlexibleArm, or "
        "total_mass times center_of_mass_velocity for the linear momentum"
    )
