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
from tests.helpers.models import relative_error
from tests.helpers.validated_arms import robot

# a beam is not as heavy as the body that it replaces, which does not matter here
pytestmark = pytest.mark.filterwarnings("ignore:link .* its body of")

TIGHT = 1e-12
MODEL = robot(("continuous", "base"), ("revolute", "l0"), ("revolute", "l1"))
JOINT = gd.FlexibleJoint(1e3, rotor_inertia=0.4, damping=1.0)


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


@pytest.mark.long
def test_p_of_the_model() -> None:
    kinds = {"inertia": True, "payload": ["l0 tip"], "armature": True, "gravity": True, "stiffness": True}
    given = arm(parameters=kinds | {"damping": True})
    check_equal(given, given.parameters.values, arm())


@pytest.mark.long
def test_inertia_of_rigid_links_armature_and_gravity() -> None:
    """As an arm of a model that has them."""
    given = arm(parameters={"inertia": True, "armature": ["j0", "j1", "j2"], "gravity": True})
    p = random_p(given)
    assert {name.rpartition(".")[0] for name in given.parameters.names} == {"j0", "j1", "j2", "gravity"}
    assert "j0.m" not in given.parameters.names  # the beam's inertia is no parameter
    check_equal(given, p, arm(given.parameters.write(MODEL, p)))


@pytest.mark.long
def test_factors_of_stiffness_and_damping() -> None:
    given = arm(parameters=["stiffness", "damping"])
    assert given.parameters.names == (
        "l0.stiffness_factor",
        "j1.stiffness_factor",
        "l0.damping_factor",
        "j1.damping_factor",
    )
    p = random_p(given)
    check_equal(given, p, arm(factors=tuple(p)))


@pytest.mark.long
@pytest.mark.parametrize("frame", ["l0 tip", "l1", "tool"])
def test_a_payload(frame: str) -> None:
    """As a body of the model: on a rigid link, beside what is there; on the tip, with what the tip carries."""
    given = arm(parameters={"payload": [frame]})
    p = random_p(given)
    if frame != "l0 tip":
        check_equal(given, p, arm(given.parameters.write(MODEL, p)))
        return
    tip = pin.Inertia.FromDynamicParameters(p)
    numbers = gd.FlexibleArm(MODEL, {"l0": beam(tip_body=tip)}, {"j1": JOINT}, clean=0)
    check_equal(given, p, numbers)
