"""The physically consistent fit: bodies that exist, within bounds, as near to the data as possible."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.identification import IdentificationWarning, fit
from tests.helpers import models
from tests.helpers.identification import (
    PARAMETERS,
    experiment,
    fitted,
    panda,
    refused,
    with_friction,
)
from tests.helpers.signals import assert_ends

pytestmark = pytest.mark.extras


@pytest.mark.parametrize("noise", [0.0, 1.0, 30.0])
def test_the_consistent_fit_gives_bodies_that_exist(noise: float) -> None:
    e = panda()
    tau = e.exact + noise * (e.measured(1) - e.exact)
    result = fit(e.dyn, e.q, e.v, e.a, tau, model=e.nominal)
    for k in range(1, result.model.njoints):
        body = pin.PseudoInertia.FromInertia(result.model.inertias[k]).toMatrix()
        assert np.linalg.eigvalsh(body)[0] > 0
    assert all(least > 0 for least in result.least_eigenvalues.values())
    assert list(result.least_eigenvalues) == list(result.model.names)[1:]
    others = [x for name, x in result.parameters.items() if name.endswith(("armature", "viscous", "coulomb"))]
    assert len(others) == 21
    assert min(others) >= 0


def test_with_much_noise_least_squares_give_bodies_that_cannot_exist() -> None:
    e = panda()
    result = fit(e.dyn, e.q, e.v, e.a, e.exact + 30 * (e.measured(1) - e.exact), model=e.nominal, method="weighted")
    assert not result.is_consistent
    with pytest.raises(UnsupportedError, match=r"the estimate for 'joint\d' is that of no body: .*take method='consis"):
        _ = result.model


def test_where_no_constraint_is_active_the_consistent_fit_is_the_weighted_one() -> None:
    truth = gd.load_urdf("puma560_3")
    for k in range(1, truth.njoints):
        truth.inertias[k] = models.inertia(np.random.default_rng(k))
    e = experiment(truth, 400)
    prior = dict(zip(e.dyn.parameters.names, e.p, strict=True))
    tau = e.exact + 0.1 * (e.measured(0) - e.exact)
    results = [fit(e.dyn, e.q, e.v, e.a, tau, method=method, prior=prior) for method in ("weighted", "consistent")]
    assert results[0].is_consistent
    assert models.relative_error(results[1].values, results[0].values) < 1e-7  # the accuracy of the solver


def test_uncertain_directions_are_those_of_the_bodies_that_fit_best() -> None:
    """Least squares are far from any body there; the true bodies, as prior, explain the data no better."""
    e = panda()
    q, v, a = e.q, e.v / 30, e.a / 900
    exact = with_friction(e.truth).inverse_dynamics(q.T, v.T, a.T).full().T
    tau = exact + 3 * e.sigma * np.random.default_rng(0).normal(size=exact.shape)
    dyn = with_friction(e.truth, PARAMETERS)
    with pytest.warns(IdentificationWarning, match="are uncertain"):
        result = fit(dyn, q, v, a, tau, model=e.truth)
    assert result.is_consistent
    squares = [np.sum(((each - tau) / result.noise) ** 2) for each in (result.fitted.predicted, exact)]
    assert squares[0] < squares[1]


@pytest.mark.parametrize("method", ["weighted", "consistent"])
def test_what_data_do_not_see_is_nearest_to_the_prior(method: Any) -> None:
    e = panda()
    dyn = with_friction(e.truth, PARAMETERS)
    result = fit(dyn, e.q, e.v, e.a, e.exact, method=method)
    assert models.relative_error(result.values, e.p) < 1e-8  # accuracy of the solver
    elsewhere = fit(dyn, e.q, e.v, e.a, e.exact, method="weighted", prior={"joint1.m": 7.5})
    assert elsewhere.parameters["joint1.m"] == pytest.approx(7.5, rel=1e-12)  # no torque tells it


def test_what_a_still_joint_hides_stays_as_it_was() -> None:
    e = panda(600, "joint7")
    with pytest.warns(IdentificationWarning, match=r"the speed of 'joint7' is at most 0 in all samples"):
        result = fitted(e)
    for name in ("joint7.armature", "joint7.viscous", "joint7.coulomb"):
        assert result.parameters[name] == pytest.approx(0, abs=1e-4)  # the accuracy of the solver
    assert all(least > 0 for least in result.least_eigenvalues.values())
    assert "not excited by the samples: " in str(result)


def test_bounds_hold() -> None:
    e = panda()
    free = fitted(e)
    mass, least = free.parameters["joint5.m"] - 0.2, free.parameters["joint7.coulomb"] + 0.1
    bounds = {"joint5.m": (None, mass), "joint7.coulomb": (least, np.inf), "joint1.viscous": (0.1, 0.15)}
    with pytest.warns(
        IdentificationWarning, match=r"^fit: the model cannot explain the data: .*'joint1' is .* 3\.05 times"
    ):
        result = fitted(e, bounds=bounds)
    assert result.parameters["joint5.m"] == pytest.approx(mass, abs=1e-6)
    assert result.parameters["joint7.coulomb"] == pytest.approx(least, abs=1e-6)
    assert result.parameters["joint1.viscous"] == pytest.approx(0.15, abs=1e-6)
    assert all(least > 0 for least in result.least_eigenvalues.values())


def test_bounds_that_no_body_has_are_refused() -> None:
    heavy = {"joint7.m": (0, 0.01), "joint7.mx": (1.0, None), "joint7.Iyy": (None, 0.1)}
    with pytest.raises(ArgumentError, match=r"^fit: bounds: no bodies that can exist, .*lie within them; widen the bo"):
        refused(bounds=heavy)


@pytest.mark.parametrize("name", ["cvxpy", "clarabel"])
def test_a_missing_package_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UnsupportedError, match=rf'^fit needs {name}: pip install "gdalembert\[identification\]"$'):
        refused()


def test_a_solver_that_fails_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    import cvxpy

    monkeypatch.setattr(cvxpy.Problem, "solve", lambda *_, **__: None)
    with pytest.raises(
        gd.identification.IdentificationError, match=r"^fit: the solver Clarabel finds no .*: None; check that tau are"
    ):
        refused()


def test_an_inaccurate_solution_is_taken_if_its_bodies_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    """The status that Clarabel gives at times to good data, at each of its accuracies."""
    import cvxpy

    exact = fitted(panda())
    statuses: list[str] = []
    solve = cvxpy.Problem.solve

    def inaccurate(self: Any, **options: Any) -> Any:
        value = solve(self, **options)
        statuses.append(self.status)
        self._status = cvxpy.OPTIMAL_INACCURATE
        return value

    monkeypatch.setattr(cvxpy.Problem, "solve", inaccurate)
    result = fitted(panda())
    assert len(statuses) == 3
    assert all(least > 0 for least in result.least_eigenvalues.values())
    # in units of the standard deviations; the last attempt has the accuracy 1e-6
    off = (result.base.values - exact.base.values) / exact.base.standard_deviation
    assert np.abs(off).max() < 1e-2


def test_signals_end_loops_of_fits() -> None:
    e = panda()
    for after in (0.05, 0.7):
        assert_ends(lambda: fit(e.dyn, e.q, e.v, e.a, e.measured(1), model=e.nominal), after)
