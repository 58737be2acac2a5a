"""The expressions of an AcadosModel: the motion of the robot."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.errors import UnsupportedError
from tests.helpers.models import relative_error
from tests.helpers.ocp import turning


@pytest.mark.long
def test_explicit_and_implicit_dynamics_are_pinocchios(monkeypatch: pytest.MonkeyPatch) -> None:
    model = gd.load_urdf("puma560")
    dyn = gd.NewtonEuler(model, parameters={"armature": True}, actuation=2 * np.eye(6))
    found = ocp.acados_expressions(dyn)
    functions = [
        ca.Function("explicit", [found.x, found.u, found.p], [found.f_expl_expr]),
        ca.Function("implicit", [found.x, found.xdot, found.u, found.p], [found.f_impl_expr]),
    ]
    rng = np.random.default_rng(0)
    q, v, u = rng.normal(size=(3, 6))
    x, p = np.r_[q, v], dyn.parameters.values
    rate = np.r_[v, pin.aba(model, model.createData(), q, v, 2 * u)]
    assert relative_error(functions[0](x, u, p).full().ravel(), rate) < 1e-9  # the default cleaning
    assert np.abs(functions[1](x, rate, u, p).full()).max() < 1e-8  # the same, N m
    assert found.name == "puma560"
    assert found.u_labels == list(model.names[1:])
    assert (len(found.x_labels), found.x_labels[0]) == (12, model.names[1])
    package = ModuleType("acados_template")
    vars(package)["AcadosModel"] = SimpleNamespace
    monkeypatch.setitem(sys.modules, "acados_template", package)
    made = found.model()
    assert made.f_impl_expr is found.f_impl_expr
    assert made.x_labels == found.x_labels


def test_what_acados_cannot_take(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnsupportedError, match=r"^turning: joint 'turn' has unit lengths in q, which acados' integ"):
        ocp.acados_expressions(turning(pin.JointModelSpherical()))
    monkeypatch.setitem(sys.modules, "acados_template", None)
    with pytest.raises(UnsupportedError, match=r"^acados needs the Python package acados_template"):
        ocp.acados_expressions(gd.NewtonEuler(gd.load_urdf("two_link_arm"))).model()
