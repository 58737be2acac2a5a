"""No Function of NewtonEuler is larger than that of another formulation, or than what differentiation of tau gives."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import robots
from gdalembert.dynamics.compositions import COMPOSITIONS
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.equations_of_motion import FUNCTIONS
from gdalembert.dynamics.recursive_newton_euler import NewtonEuler
from gdalembert.model.configuration import reached
from gdalembert.spatial.factorization import Factorization, symmetric_solve
from gdalembert.spatial.functions import function
from tests.helpers.models import relative_error
from tests.helpers.sets import quick

ALL = (*FUNCTIONS, *(f"{name}_regressor" for name in ("torque", "base", "kinetic_energy", "potential_energy")))


def limbs(count: int) -> pin.Model:
    """Limbs of two joints side by side."""
    model = pin.Model()
    model.name = f"{count} limbs"
    body = pin.Inertia(1.3, pin.SE3.Random().translation, pin.Inertia.Random().inertia)
    for k in range(count):
        joint = 0
        for part, kind in (("upper", pin.JointModelRY), ("lower", pin.JointModelRX)):
            joint = model.addJoint(joint, kind(), pin.SE3.Random(), f"{part} {k}")
            model.appendBodyToJoint(joint, body, pin.SE3.Identity())
    return model


@pytest.mark.parametrize("name", quick(gd.robots(), "cart_pendulum"))
def test_no_function_is_larger_than_another_formulation_has_it(name: str) -> None:
    check(gd.load_urdf(name))


@pytest.mark.long
@pytest.mark.parametrize("count", [1, 2, 3])
def test_nor_one_of_limbs_side_by_side(count: int) -> None:
    check(limbs(count))


def check(model: pin.Model) -> None:
    own, others = gd.NewtonEuler(model), (gd.LagrangeEuler(model), gd.GeneralizedDAlembert(model))
    for name in ALL:
        least = min(getattr(other, name).n_instructions() for other in others)
        assert getattr(own, name).n_instructions() <= least, name
    s = own.symbols("q", "v", "a")
    found = Dynamics.inverse_dynamics_derivatives_expression(own, s["q"], s["v"], s["a"])
    differentiated = function("derivatives", s, dict(zip(("by_q", "by_v"), found, strict=True)))
    assert own.inverse_dynamics_derivatives.n_instructions() <= differentiated.n_instructions()


def pairs(first: str, second: str, seed: int = 0) -> pin.Model:
    """Two joints, each about or along an axis, as ``RZ`` and ``PX``, with bodies of any inertia."""
    model, kinds = pin.Model(), {"R": "JointModelR", "P": "JointModelP"}
    pin.seed(seed)
    for k, name in enumerate((first, second)):
        joint = getattr(pin, kinds[name[0]] + name[1])()
        added = model.addJoint(k, joint, pin.SE3.Random(), f"{name} {k}")
        model.appendBodyToJoint(added, pin.Inertia.Random(), pin.SE3.Identity())
    return model


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(lambda: pairs("RZ", "PX"), id="RZ PX", marks=pytest.mark.long),
        pytest.param(lambda: pairs("PX", "RY"), id="PX RY"),
        pytest.param(lambda: gd.load_urdf("horn_leg"), id="horn_leg", marks=pytest.mark.long),
        *(
            pytest.param(lambda a=a, b=b, k=k: pairs(a, b, k), id=f"{a} {b} {k}", marks=pytest.mark.long)
            for k, (a, b) in enumerate(itertools.product(("RX", "RZ", "PX", "PY"), repeat=2))
        ),
    ],
)
def test_nor_than_what_is_made_of_its_other_functions(model: Callable[[], pin.Model]) -> None:
    """Also those that are no variant of their own: the gradient of V, tau at rest, M⁻¹ (tau − nle), derivatives."""
    dyn = gd.NewtonEuler(model())
    s, rest, one = dyn.symbols("q", "v", "a"), ca.DM.zeros(dyn.nv), ca.DM.eye(dyn.nv)
    q, v, a = s.values()
    m, nle, acceleration = dyn.mass_matrix(q), dyn.nle(q, v), dyn.forward_dynamics(q, v, a)
    along = ca.vertcat(q, v, a)
    ways: dict[str, list[tuple[ca.SX, ...]]] = {
        "generalized_gravity": [
            (ca.gradient(dyn.potential_energy(q), q),),
            (dyn.nle(q, rest),),
            (dyn.inverse_dynamics(q, rest, rest),),
        ],
        "nle": [(dyn.inverse_dynamics(q, v, rest),), (dyn.coriolis_matrix(q, v) @ v + dyn.generalized_gravity(q),)],
        "mass_matrix": [(ca.hessian(dyn.kinetic_energy(q, v), v)[0],)],
        "kinetic_energy": [(0.5 * ca.dot(v, m @ v),)],
        "forward_dynamics": [(symmetric_solve(m, a - nle),)],
        "mass_matrix_inverse": [(Factorization(m).inverse,)],
        "inverse_dynamics_derivatives": [
            tuple(ca.horzsplit(x, dyn.nv)[:2])
            for x in (
                ca.jtimes(dyn.inverse_dynamics(q, v, a), along, ca.DM.eye(3 * dyn.nv)),
                ca.jtimes(dyn.inverse_dynamics(q, v, a), along, one, True).T,
            )
        ],
        "forward_dynamics_derivatives": [
            tuple(ca.horzsplit(x, dyn.nv))
            for x in (
                ca.jtimes(acceleration, along, ca.DM.eye(3 * dyn.nv)),
                ca.jtimes(acceleration, along, one, True).T,
            )
        ],
    }
    for name, outputs in ways.items():
        inputs = {key: x for key, x in s.items() if any(ca.depends_on(out, x) for way in outputs for out in way)}
        sizes = [function(name, inputs, {f"out_{k}": x for k, x in enumerate(way)}).n_instructions() for way in outputs]
        assert getattr(dyn, name).n_instructions() <= min(sizes), name


@pytest.mark.long
def test_compositions_are_the_functions_that_they_replace() -> None:
    """Of a robot with springs, friction, parameters and wrenches, and of one with a quaternion."""
    model = pairs("RZ", "PX")
    model.addFrame(pin.Frame("tool", 2, pin.SE3.Random(), pin.FrameType.OP_FRAME))
    loaded = gd.NewtonEuler(
        model,
        springs={model.names[1]: (3.0, 0.2)},
        friction={model.names[2]: gd.Friction(0.3, 0.2)},
        parameters={"armature": True, "inertia": True},
        wrenches={"tool": pin.LOCAL},
    )
    free = pin.Model()
    base = free.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Random(), "base")
    body = pin.Inertia(1.2, np.array([0.1, 0.2, -0.1]), np.diag([0.2, 0.3, 0.4]))
    free.appendBodyToJoint(base, body, pin.SE3.Random())
    rng = np.random.default_rng(0)
    for dyn in (loaded, gd.NewtonEuler(free)):
        state = {
            "q": reached(dyn.tree, rng.normal(size=(1, dyn.nv)))[0],
            "wrenches": rng.normal(size=(6, 1)),
            "p": dyn.parameters.values,
            "x": np.concatenate([reached(dyn.tree, rng.normal(size=(1, dyn.nv)))[0], rng.normal(size=dyn.nv)]),
        }
        for name, composed in COMPOSITIONS.items():
            own = getattr(NewtonEuler, name).variant(dyn)
            values = {key: state.get(key, rng.normal(size=own.size_in(key))) for key in own.name_in()}
            expected = own(**values)
            made = list(composed(dyn))
            assert made or name == "forward_dynamics", name  # M and nle have no part of wrenches
            for graph in made:
                assert (graph.name_in(), graph.name_out()) == (own.name_in(), own.name_out())
                for out, value in graph(**values).items():
                    assert relative_error(value, expected[out]) < 1e-12, (name, out)


def test_no_other_variant_of_large_robots_is_built() -> None:
    assert not gd.NewtonEuler(gd.load_urdf("panda7"))._alternatives
    assert gd.NewtonEuler(gd.load_urdf("two_link_arm"))._alternatives


@pytest.mark.long
@pytest.mark.extras
def test_nor_of_a_humanoid() -> None:
    assert not gd.NewtonEuler(robots.load("talos"))._alternatives


def test_a_subclass_keeps_its_own_equations() -> None:
    class Twice(gd.NewtonEuler):
        def mass_matrix_expression(self, q):  # type: ignore[no-untyped-def]
            return 2 * super().mass_matrix_expression(q)

    model = gd.load_urdf("two_link_arm")
    expected = 2 * gd.NewtonEuler(model).mass_matrix([0.1, 0.2]).full()
    assert (abs(Twice(model).mass_matrix([0.1, 0.2]).full() - expected) < 1e-12).all()


def test_no_alternative_divides_by_a_mass_that_p_takes_away() -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"), parameters={"inertia": True, "payload": ["link2"]})
    nothing = np.zeros(len(dyn.parameters))
    assert not dyn.inverse_dynamics(*np.ones((3, 2)), nothing).full().any()


@pytest.mark.parametrize("name", ["generalized_dalembert", "lagrange_euler", "newton_euler"])
def test_every_p_is_right_also_without_masses(name: str) -> None:
    """tau = Y p, whatever p is: no formulation divides by a mass, of which a fit may leave first moments alone."""
    model = gd.load_urdf("puma560_3")
    model.armature = np.zeros(3)
    dyn, rng = gd.formulations()[name](model, parameters={"inertia": True}), np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 3))
    regressor = gd.NewtonEuler(model).torque_regressor(q, v, a).full()
    for p in (np.zeros(30), rng.normal(size=30), rng.normal(size=30) * (np.arange(30) % 10 > 0)):
        tau = dyn.inverse_dynamics(q, v, a, p).full().ravel()
        assert relative_error(tau, regressor @ p) < 1e-12
        energy = 0.5 * v @ dyn.mass_matrix(q, p).full() @ v
        assert relative_error(float(dyn.kinetic_energy(q, v, p)), energy) < 1e-12
        nle = dyn.coriolis_matrix(q, v, p).full() @ v + dyn.generalized_gravity(q, p).full().ravel()
        assert relative_error(nle, dyn.nle(q, v, p).full().ravel()) < 1e-12
