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
from tests.helpers.models import relative_error, states
from tests.helpers.sets import with_extras

TIGHT = 1e-12
FUNCTIONS = (
    "center_of_mass_jacobian",
    "center_of_mass_velocity",
    "center_of_mass_acceleration",
    "centroidal_map",
    "centroidal_momentum",
    "centroidal_momentum_rate",
)

# Instructions of each of FUNCTIONS, at most.
LIMITS = {
    "panda7": (270, 180, 330, 690, 550, 760),
    "solo12": (470, 320, 560, 1400, 1000, 1360),
    "talos": (1380, 900, 1710, 3800, 2960, 4120),
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
    s, q_next = ca.SX.sym("s"), gd.Kinematics(model, clean=0).integrate
    along = ca.jacobian(Kinematics(model, clean=0).centroidal_map(q_next(q, s * v)), s)
    rate = ca.Function("rate", [s], [ca.reshape(along, 6, model.nv)])(0).full()
    assert relative_error(rate, true) < TIGHT
    pin.dccrba(model, data, q, v)
    assert relative_error(data.dAg, true) < TIGHT
    assert relative_error(alone[:3], true[:3]) < TIGHT
    assert relative_error(alone, true) > 0.01


@pytest.mark.parametrize("robot", with_extras(LIMITS, "panda7"))
def test_graphs_stay_within_their_limits(robot: str) -> None:
    kin = Kinematics(load(robot))
    found = {name: getattr(kin, name).n_instructions() for name in FUNCTIONS}
    limits = dict(zip(FUNCTIONS, LIMITS[robot], strict=True))
    assert {name: n for name, n in found.items() if n > limits[name]} == {}


def test_functions_are_named() -> None:
    kin = Kinematics(chain("PX"))
    inputs = ("q", "q v", "q v a", "q", "q v", "q v a")
    outputs = ("J", "velocity", "acceleration", "Ag", "h", "hdot")
    for name, given, result in zip(FUNCTIONS, inputs, outputs, strict=True):
        graph = getattr(kin, name)
        assert (graph.name(), " ".join(graph.name_in()), " ".join(graph.name_out())) == (name, given, result)
        assert graph.sparsity_out(0).is_dense()
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
