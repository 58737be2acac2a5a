"""What the tests of the validator share: right torque functions, models, and a formulation to break."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert.dynamics import recursive_newton_euler as newton_euler
from gdalembert.spatial.algebra import Matrix
from tests.helpers.models import build

Array = np.ndarray
Torque = Callable[[Array, Array, Array], Array]

PUMA = gd.load_urdf("puma560")
ZERO = np.zeros(6)
ONE = np.eye(6)


def rnea(model: pin.Model) -> Torque:
    data = model.createData()
    return lambda q, v, a: pin.rnea(model, data, q, v, a)


TRUE = rnea(PUMA)


def gravity(q: Array) -> Array:
    return TRUE(q, ZERO, ZERO)


def velocity(q: Array, v: Array) -> Array:
    return TRUE(q, v, ZERO) - gravity(q)


def changed(change: Callable[[pin.Model], None]) -> Torque:
    model = PUMA.copy()
    change(model)
    return rnea(model)


def tree_model(**options: Any) -> pin.Model:
    """A free-flyer with two branches whose joints are not added depth first."""
    names = ["FreeFlyer", "RX", "Spherical", "PY", "RUBZ"]
    return build(np.random.default_rng(3), names, [0, 1, 1, 2, 3], **options)


def mimic_model() -> pin.Model:
    return build(np.random.default_rng(4), ["RX", "PZ"], [0, 1], mimic=1)


def undefined_beyond(q: Array, v: Array, a: Array) -> Array:
    tau = np.array(TRUE(q, v, a))
    tau[2] = np.nan if q[0] > 1 else tau[2]
    return tau


class Broken(gd.NewtonEuler):
    """Right in everything that a subclass leaves alone; without a name of its own it is not registered."""

    def forward_dynamics_expression(self, q: Matrix, v: Matrix, tau: Matrix) -> Matrix:
        return newton_euler.forward_dynamics(self._prepared[0], q, v, tau)
