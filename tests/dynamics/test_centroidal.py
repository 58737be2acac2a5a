"""Centre of mass and centroidal momentum: where Pinocchio is wrong, names, sizes and refusals."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common.robots import load
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.errors import ModelError, UnsupportedError
from tests.dynamics.test_kinematics import chain
from tests.helpers.models import JOINTS, relative_error, states
from tests.helpers.sets import quick, with_extras

TIGHT = 1e-12
FUNCTIONS = (
    "center_of_mass_jacobian",
    "center_of_mass_velocity",
    "center_of_mass_acceleration",
    "centroidal_map",
    "centroidal_momentum",
    "centroidal_momentum_rate",
    "centroidal_map_rate",
    "centroidal_dynamics_derivatives",
)

# Instructions of each of FUNCTIONS, at most.
LIMITS = {
    "panda7": (270, 180, 330, 690, 550, 760, 1190, 3210),
    "solo12": (470, 320, 560, 1400, 1000, 1360, 2460, 6740),
    "talos": (1380, 900, 1710, 3800, 2960, 4120, 6800, 18400),
}


def test_pinocchio_takes_the_centre_of_mass_for_resting() -> None:
    """In computeCentroidalMapTimeVariation, unless its velocity was computed before; dccrba computes it."""
    model = load("panda7")
    (q, v, _), data, called_before = (
        states(model, np.random.default_rng(0), 1)[0],
        model.createData(),
        model.createData(),
    )
    alone = np.array(pin.computeCentroidalMapTimeVariation(model, data, q, v))
    pin.centerOfMass(model, called_before, q, v)
    true = np.array(pin.computeCentroidalMapTimeVariation(model, called_before, q, v))
    kin, s = Kinematics(model, clean=0), ca.SX.sym("s")
    along = ca.jacobian(kin.centroidal_map(kin.integrate(q, s * v)), s)
    rate = ca.Function("rate", [s], [ca.reshape(along, 6, model.nv)])(0).full()
    assert relative_error(rate, true) < TIGHT
    assert relative_error(kin.centroidal_map_rate(q, v).full(), true) < TIGHT
    pin.dccrba(model, data, q, v)
    assert relative_error(data.dAg, true) < TIGHT
    assert relative_error(alone[:3], true[:3]) < TIGHT
    assert relative_error(alone, true) > 0.01


@pytest.mark.parametrize("robot", with_extras(LIMITS, "panda7"))
def test_rates_and_derivatives_are_pinocchios(robot: str) -> None:
    model = load(robot)
    kin, data = Kinematics(model, clean=0), model.createData()
    for q, v, a in states(model, np.random.default_rng(2), 3):
        pin.dccrba(model, data, q, v)
        assert relative_error(kin.centroidal_map_rate(q, v).full(), data.dAg) < TIGHT
        wanted = pin.computeCentroidalDynamicsDerivatives(model, model.createData(), q, v, a)
        for found, part in zip(kin.centroidal_dynamics_derivatives(q, v, a), wanted, strict=True):
            assert relative_error(found.full(), part) < TIGHT


@pytest.mark.parametrize("joint", quick(JOINTS, "Planar", "Ellipsoid"))
def test_rates_and_derivatives_are_those_of_casadi(joint: str) -> None:
    """By differentiation along ``kin.integrate``, for joints whose v is not dq/dt or whose columns depend on q too."""
    kin = Kinematics(model := chain(joint))
    s, d = kin.symbols("q", "v", "a"), ca.SX.sym("d", kin.tree.nv)
    ahead = kin.integrate(s["q"], d)

    def by_q(x: ca.SX, along: ca.SX) -> ca.SX:
        return ca.substitute(ca.jtimes(x, d, along), d, 0)

    h, change = kin.centroidal_momentum(ahead, s["v"]), kin.centroidal_momentum_rate(ahead, s["v"], s["a"])
    rate = by_q(kin.centroidal_map(ahead), s["v"])
    tangent = [ca.substitute(ca.jacobian(x, d), d, 0) for x in (h, change)]
    by_v, by_a = (ca.substitute(ca.jacobian(change, s[name]), d, 0) for name in "va")
    wanted = ca.Function("wanted", [*s.values()], [rate, *tangent, by_v, by_a])
    for q, v, a in states(model, np.random.default_rng(3), 2):
        found = (kin.centroidal_map_rate(q, v), *kin.centroidal_dynamics_derivatives(q, v, a))
        for own, reference in zip(found, wanted(q, v, a), strict=True):
            assert relative_error(own.full(), reference.full()) < TIGHT


@pytest.mark.parametrize("robot", with_extras(LIMITS, "panda7"))
def test_graphs_stay_within_their_limits(robot: str) -> None:
    kin = Kinematics(load(robot))
    found = {name: getattr(kin, name).n_instructions() for name in FUNCTIONS}
    limits = dict(zip(FUNCTIONS, LIMITS[robot], strict=True))
    assert {name: n for name, n in found.items() if n > limits[name]} == {}


def test_functions_are_named() -> None:
    kin = Kinematics(chain("PX"))
    inputs = ("q", "q v", "q v a", "q", "q v", "q v a", "q v", "q v a")
    derivatives = "dh_dq dhdot_dq dhdot_dv dhdot_da"
    outputs = ("J", "velocity", "acceleration", "Ag", "h", "hdot", "dAg", derivatives)
    for name, given, result in zip(FUNCTIONS, inputs, outputs, strict=True):
        graph = getattr(kin, name)
        assert (graph.name(), " ".join(graph.name_in()), " ".join(graph.name_out())) == (name, given, result)
        assert all(graph.sparsity_out(k).is_dense() for k in range(graph.n_out()))
        assert getattr(kin, name) is graph


def test_base_parameters_and_no_mass() -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("puma560_3", check="off"), parameters=["base"])
    kin = Kinematics(dyn.at().tree)
    for name in ("center_of_mass", "total_mass", "centroidal_map"):
        with pytest.raises(UnsupportedError, match="base parameters determine torques, but neither masses nor momenta"):
            getattr(kin, name)
    model = pin.Model()
    model.name = "shaft"
    model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "joint")
    model.armature = np.ones(1)
    for name in FUNCTIONS:
        with pytest.raises(ModelError) as raised:
            getattr(Kinematics(model), name)
        assert str(raised.value) == "shaft: its links have no mass; there is no centre of mass"
