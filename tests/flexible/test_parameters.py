"""Parameters of flexible arms: at p, an arm equals one that was built from numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import modes
from gdalembert.dynamics.equations_of_motion import FUNCTIONS
from gdalembert.errors import UnsupportedError
from tests.helpers.models import relative_error
from tests.helpers.validated_arms import robot

# a beam is not as heavy as the body that it replaces, which does not matter here
pytestmark = pytest.mark.filterwarnings("ignore:link .* its body of")

TIGHT = 1e-12
MODEL = robot(("continuous", "base"), ("revolute", "l0"), ("revolute", "l1"))


def beam(stiffness: float = 1.0, damping: float = 1.0, **options: Any) -> gd.FlexibleLink:
    own = gd.Beam(0.8, 1.5, EI_y=stiffness * 3000.0, EI_z=stiffness * 5000.0, EA=1e6, GJ=2000.0)
    bending = {"bending_y": modes.hermite(), "bending_z": modes.hermite()}
    return gd.FlexibleLink(own, rayleigh=(0.0, 1e-3 * damping / stiffness), **bending, **options)


def arm(
    model: pin.Model = MODEL,
    factors: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0),
    **options: Any,
) -> gd.FlexibleArm:
    """Factors of the stiffness of the link and of the joint, then of their damping."""
    k_link, k_joint, d_link, d_joint = factors
    joint = gd.FlexibleJoint(1e3 * k_joint, rotor_inertia=0.4, damping=d_joint)
    return gd.FlexibleArm(model, {"l0": beam(k_link, d_link)}, {"j1": joint}, clean=0, **options)


def check_equal(
    given: gd.FlexibleArm, p: np.ndarray, numbers: gd.FlexibleArm, functions: Sequence[str] = FUNCTIONS
) -> None:
    rng = np.random.default_rng(5)
    nv = given.tree.nv
    scale = np.where(np.isin(np.arange(nv), given.modes), 0.02, 1.0)
    q = np.concatenate([[np.cos(0.4), np.sin(0.4)], rng.normal(size=nv - 1) * scale[1:]])
    values = {"q": q, "v": rng.normal(size=nv) * scale, "a": rng.normal(size=nv) * scale, "lam": rng.normal(size=nv)}
    values["tau"] = numbers.inverse_dynamics(q, values["v"], values["a"]).full().ravel()
    values |= {"x": np.concatenate([q, values["v"]]), "u": rng.normal(size=given.nu)}
    condition = np.linalg.cond(numbers.mass_matrix(q).full())
    for name in (*functions, "elastic_energy", "terms"):
        expected, own = getattr(numbers, name), getattr(given, name)
        inputs = {key: values[key] for key in expected.name_in()}
        assert own.name_in() == [*expected.name_in(), "p"]
        found, wanted = own(**inputs, p=p), expected(**inputs)
        solved = name.startswith(("forward", "state"))
        tolerance = max(TIGHT, 1e-14 * condition) if solved else TIGHT
        for key in wanted:
            assert relative_error(found[key].full(), wanted[key].full()) < tolerance, (name, key)


def random_p(given: gd.FlexibleArm) -> np.ndarray:
    return np.array(given.parameters.random(np.random.default_rng(6)))


@pytest.mark.long
def test_equations_of_motion_at_all_kinds_at_once() -> None:
    """Those without derivatives; the other tests compare all Functions."""
    joint_and_link = ("j1", "l0")
    factors = {"stiffness": joint_and_link, "damping": joint_and_link}
    given = arm(parameters={"inertia": True, "payload": ["tool"], "armature": ["j0", "j1", "j2"], **factors})
    p = random_p(given)
    model = given.parameters.write(MODEL, p)
    names = [f"{name}.{kind}_factor" for kind in factors for name in ("l0", "j1")]
    of_p = dict(zip(given.parameters.names, p, strict=True))
    numbers = arm(model, tuple(of_p[name] for name in names))
    check_equal(given, p, numbers, ("inverse_dynamics", "mass_matrix", "potential_energy"))


def test_the_regressor_of_the_rigid_bodies() -> None:
    """Changes of the dynamic parameters change tau by Y Δπ; base parameters, which pass through beams, are refused."""
    given, rng = arm(parameters={"inertia": True}), np.random.default_rng(7)
    fixed, state, p = arm(), rng.normal(size=(3, given.tree.nv)) * 0.1, random_p(given)
    q = np.concatenate([[np.cos(0.4), np.sin(0.4)], state[0][1:]])
    y, tau = fixed.torque_regressor(q, *state[1:]).full(), given.inverse_dynamics
    change = (tau(q, *state[1:], p) - tau(q, *state[1:], given.parameters.values)).full().ravel()
    assert y.shape == (given.tree.nv, 20)
    assert relative_error(y @ (p - given.parameters.values), change) < TIGHT
    with pytest.raises(UnsupportedError, match="base parameters are regrouped from rigid link to rigid link; take"):
        _ = fixed.base_regressor


def test_the_body_of_a_beam_is_no_parameter() -> None:
    message = "^parameters: 'inertia': the link of 'j0' is flexible, and its body is that of its beam; give other"
    with pytest.raises(UnsupportedError, match=message):
        arm(parameters={"inertia": ["j1", "j0"]})


def test_the_rotor_of_a_flexible_joint_is_not_written() -> None:
    """No model has it; at(p) has."""
    given = arm(parameters={"armature": True})
    assert "j1 rotor.armature" in given.parameters.names
    p = given.parameters.vector({"j1 rotor.armature": 0.7, "j2.armature": 0.3})
    assert given.parameters.write(MODEL, p).armature.tolist() == [*MODEL.armature[:2], 0.3]
    assert given.at(p).tree.armature.tolist()[-1] == 0.7


@pytest.mark.long
def test_first_order_kinematics_take_all_kinds() -> None:
    """Placements, inertia, payload, armature, gravity and the factors: those of an arm built from the model at p."""
    skeleton = robot(("revolute", "base"), ("revolute", "l0"), ("prismatic", "l1"))

    def first_order(model: pin.Model, **options: Any) -> gd.FirstOrderArm:
        return gd.FirstOrderArm(model, {"l0": beam()}, clean=0, **options)

    kinds = {"placement": ["j0", "j2"], "inertia": True, "payload": ["tool"], "armature": True, "gravity": True}
    given = first_order(skeleton, parameters=kinds | {"stiffness": True, "damping": True})
    p = random_p(given)
    of_p = dict(zip(given.parameters.names, p, strict=True))
    factors = [name for name in of_p if name.endswith("_factor")]
    p = np.array([1.0 if name in factors else x for name, x in of_p.items()])
    numbers = first_order(given.parameters.write(skeleton, p))
    rng, nv = np.random.default_rng(5), given.tree.nv
    q, v, a = (0.1 * rng.normal(size=nv) for _ in range(3))
    for name, state in (
        ("inverse_dynamics", (q, v, a)),
        ("mass_matrix", (q,)),
        ("coriolis_matrix", (q, v)),
        ("forward_dynamics", (q, v, a)),
        ("potential_energy", (q,)),
        ("inverse_dynamics_derivatives", (q, v, a)),
    ):
        found, expected = (f(*state) for f in (getattr(given.at(p), name), getattr(numbers, name)))
        own = getattr(given, name)(*state, p)
        for x, at_p, wanted in zip(*(y if isinstance(y, tuple) else (y,) for y in (own, found, expected)), strict=True):
            assert relative_error(x.full(), wanted.full()) < TIGHT, name
            assert relative_error(at_p.full(), wanted.full()) < TIGHT, name
