"""JAX: the functions of an export are the graph, one by one, compiled, in batches, differentiated."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from gdalembert.export import derive
from gdalembert.export.formats import NUMERIC
from tests.helpers.exports import TOLERANCE, functions_of, mixed, reference, states
from tests.helpers.models import relative_error

pytestmark = pytest.mark.extras


@pytest.fixture(autouse=True)
def jax() -> Iterator[ModuleType]:
    """In double precision, and without its callback of the garbage collection.

    What signal handlers of later tests in this process raise while a callback runs, Python prints as ignored.
    """
    import jax

    gc.callbacks[:] = [each for each in gc.callbacks if getattr(each, "__name__", "") != "_xla_gc_callback"]
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield jax
    jax.config.update("jax_enable_x64", before)


def exported(robot: Any, **options: Any) -> dict[str, Any]:
    (source,) = derive(robot, "jax", **options).values()
    namespace: dict[str, Any] = {}
    exec(compile(source, "exported", "exec"), namespace)
    return namespace


def test_jax_is_the_graph(jax: ModuleType) -> None:
    """Of a branched robot that flies."""
    dynamics = gd.NewtonEuler(mixed())
    terms = ["terms", *NUMERIC[:7]]
    namespace, rng = exported(dynamics, terms=terms), np.random.default_rng(1)
    for name, function in functions_of(dynamics, terms).items():
        values = states(dynamics, function, rng)
        results = namespace[name](*map(jax.numpy.asarray, values))
        for i, expected in enumerate(reference(function, values)):
            found = results[i] if function.n_out() > 1 else results
            assert found.shape == (() if expected.size == 1 else expected.shape[: 1 + (expected.shape[1] > 1)])
            assert relative_error(np.reshape(found, expected.shape), expected) < TOLERANCE, name


def test_choices_and_parameters(jax: ModuleType) -> None:
    """``ca.if_else`` of a graph, and p: with the derivative where the choice is made, at a rotation by nothing."""
    dynamics = gd.NewtonEuler(gd.load_urdf("two_link_arm"), parameters={"placement": ["joint2"]})
    function, rng = dynamics.inverse_dynamics, np.random.default_rng(2)
    tau = jax.jit(exported(dynamics, terms=["inverse_dynamics"])["inverse_dynamics"])
    assert "jnp.where" in next(iter(derive(dynamics, "jax").values()))
    symbols = function.mx_in()
    derivative = ca.Function("derivative", symbols, [ca.jacobian(function(*symbols), symbols[3])])
    q, v, a = rng.normal(size=(3, 2))
    for p in (np.zeros(6), rng.normal(size=6)):
        assert relative_error(tau(q, v, a, p), reference(function, [q, v, a, p])[0].ravel()) < TOLERANCE
    found = jax.jacobian(tau, argnums=3)(q, v, a, np.zeros(6))
    assert relative_error(found, derivative(q, v, a, np.zeros(6)).full()) < TOLERANCE


def test_batches_and_derivatives(jax: ModuleType) -> None:
    """``jit`` of ``vmap``, and the Jacobian of inverse dynamics, which the graph has by itself."""
    model = gd.load_urdf("puma560_3")
    dynamics, rng = gd.NewtonEuler(model), np.random.default_rng(3)
    tau = exported(dynamics, terms=["inverse_dynamics"])["inverse_dynamics"]
    q, v, a = rng.normal(size=(3, 20, 3))
    batch = [dynamics.inverse_dynamics(*each).full().ravel() for each in zip(q, v, a, strict=True)]
    assert relative_error(jax.jit(jax.vmap(tau))(q, v, a), np.array(batch)) < TOLERANCE
    found = jax.jit(jax.vmap(jax.jacobian(tau, argnums=(0, 1))))(q, v, a)
    for k in (0, 7, 19):
        for each, expected in zip(found, dynamics.inverse_dynamics_derivatives(q[k], v[k], a[k]), strict=True):
            assert relative_error(each[k], expected.full()) < TOLERANCE


def test_arguments_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="unpack"):
        exported("two_link_arm")["mass_matrix"](np.ones(3))
