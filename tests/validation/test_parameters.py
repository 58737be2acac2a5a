"""The validator on systems with parameters: p of the model, random p, and what is said of a wrong parameter."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from gdalembert import symbolic
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.spatial.functions import function
from gdalembert.testing import assert_valid
from gdalembert.validation.validate import validate
from tests.helpers.sets import quick
from tests.helpers.validated_arms import FLEXIBLE_JOINT, PLANAR, bending, planar, robot, twisting

# a beam is not as heavy as the body that it replaces, which does not matter here
pytestmark = pytest.mark.filterwarnings("ignore:link .* its body of")

MODEL = gd.load_urdf("puma560_3")
TOOL = MODEL.frames[-1].name
SPRINGS = {"springs": {"joint2": (3.0, 0.2)}}

GIVEN: dict[str, Any] = {
    "all": {"inertia": True, "payload": [TOOL], "armature": True, "gravity": True, "springs": True},
    "base": {"base": True, "payload": [TOOL], "gravity": True},
    "one joint": {"inertia": ["joint3"], "armature": ["joint1"], "gravity": ["x"]},
}


@pytest.mark.long
@pytest.mark.parametrize("given", quick(GIVEN, "all", "base"))
@pytest.mark.parametrize("name", quick(sorted(gd.formulations()), "newton_euler"))
def test_right_robots_pass(name: str, given: str) -> None:
    dyn = gd.formulations()[name](MODEL, clean=0, parameters=GIVEN[given], **SPRINGS)
    report = assert_valid(dyn, MODEL, samples=100)
    assert str(report).splitlines()[0] == (
        f"puma560_3: {name} against Pinocchio on 100 states at p of the model and 4 random p (seed 0)"
    )
    assert report["inverse_dynamics"].tolerance == 1e-12
    assert len(report.p) == 5
    assert np.array_equal(report.p[0], dyn.parameters.values)
    assert report["mass_matrix"].state.p is not None
    assert json.loads(json.dumps(report.to_dict(), allow_nan=False)) == report.to_dict()


@pytest.mark.long
def test_random_p_is_physical_and_seeded() -> None:
    dyn = gd.NewtonEuler(MODEL, parameters=GIVEN["all"], **SPRINGS)
    p, again, other = (dyn.parameters.random(np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(p, again)
    assert not np.any(p == other)
    written = dyn.parameters.write(MODEL, p)
    for body in list(written.inertias)[1:]:
        assert np.linalg.eigvalsh(body.toPseudoInertia().toMatrix())[0] > 0
    assert min(written.armature) > 0
    first, second = (validate(dyn, MODEL, samples=5, seed=seed).p for seed in (0, 1))
    assert np.array_equal(first[0], second[0])
    assert not np.array_equal(first[1], second[1])


@pytest.mark.long
def test_fewer_states_than_p() -> None:
    report = validate(gd.NewtonEuler(MODEL, parameters=["gravity"]), MODEL, samples=2)
    assert len(report.p) == 2
    assert report.ok


@pytest.mark.long
def test_one_p_that_is_given() -> None:
    dyn = gd.NewtonEuler(MODEL, parameters={"payload": [TOOL]})
    report = assert_valid(dyn, MODEL, samples=10, p={f"{TOOL}.m": 2.0})
    assert "on 10 states at one p (seed 0)" in str(report)
    assert report.p[0][0] == 2.0


class Frozen(gd.NewtonEuler):
    """Some of the parameters are the numbers of the model in inverse dynamics."""

    frozen: Sequence[str] = ()

    @cached_property
    def inverse_dynamics(self) -> ca.Function:
        s = self.symbols("q", "v", "a")
        p = ca.SX(s["p"])
        for name in self.frozen:
            p[self.parameters.index(name)] = self.parameters[name]
        return function("inverse_dynamics", s, {"tau": super().inverse_dynamics(s["q"], s["v"], s["a"], p)})


class FrozenInertia(Frozen):
    frozen = ("joint2.mx", "joint3.Iyz")


class FrozenPayload(Frozen):
    frozen = (f"{TOOL}.mx", f"{TOOL}.my", f"{TOOL}.mz")


class FrozenMass(Frozen):
    frozen = (f"{TOOL}.m",)


@pytest.mark.parametrize("of", quick([FrozenInertia, FrozenPayload, FrozenMass], FrozenMass))
def test_the_parameters_that_a_failure_is_due_to(of: type[Frozen]) -> None:
    report = validate(of(MODEL, parameters=GIVEN["all"], **SPRINGS), MODEL, samples=5)
    failed = [check.name for check in report.checks if not check.ok]
    assert failed[0] == "inverse_dynamics"
    assert all("_derivatives" in name for name in failed[1:])
    names = ", ".join(map(repr, of.frozen))
    assert report.diagnosis[-1] == f"right at p of the model, wrong at other values of {names}"
    assert not np.array_equal(report["inverse_dynamics"].state.p, report.p[0])


class WrongAtEveryP(gd.NewtonEuler):
    @cached_property
    def generalized_gravity(self) -> ca.Function:
        s = self.symbols("q")
        return function("generalized_gravity", s, {"g": -super().generalized_gravity(s["q"], s["p"])})


@pytest.mark.long
def test_what_is_wrong_at_every_p_is_said_once() -> None:
    report = validate(WrongAtEveryP(MODEL, parameters=["inertia"]), MODEL, samples=10)
    assert report.diagnosis == ("gravity has the opposite sign (in generalized_gravity)",)


@pytest.mark.long
def test_functions_and_callables_with_p() -> None:
    dyn = gd.NewtonEuler(MODEL, parameters=["inertia"])
    p = dyn.parameters.random(np.random.default_rng(0))
    written = dyn.parameters.write(MODEL, p)
    assert_valid(dyn.inverse_dynamics, written, samples=10, p=p)
    assert_valid(lambda q, v, a, p: dyn.inverse_dynamics(q, v, a, p), written, samples=10, p=p)
    assert not validate(dyn.inverse_dynamics, MODEL, samples=5, p=p).ok


@pytest.mark.long
def test_a_tree_of_formulas_at_the_p_of_the_model() -> None:
    tree = symbolic.symbolic_tree(MODEL, parameters={"joint3": {"mass": "m3"}})
    dyn = tree.dynamics(gd.NewtonEuler)
    report = assert_valid(dyn, MODEL, samples=10, p={"m3": MODEL.inertias[3].mass})
    assert len(report.p) == 1
    with pytest.raises(ArgumentError, match="validate: p: no value for m3; give it by name"):
        validate(dyn, MODEL, samples=1)
    with pytest.raises(UnsupportedError, match="constants are formulas, of which no range is known; give p"):
        dyn.parameters.random(np.random.default_rng(0))


@pytest.mark.long
def test_a_tree_of_formulas_is_compared_with_the_model_that_is_given() -> None:
    """With its own numbers, and not with those of the tree."""
    known = gd.NewtonEuler(symbolic.symbolic_tree(MODEL))
    assert len(assert_valid(known, MODEL, samples=10).p) == 1
    heavier = MODEL.copy()
    heavier.inertias[3] += MODEL.inertias[3]
    assert not validate(known, heavier, samples=3).ok


REFUSED: dict[str, tuple[Any, Any, type[Exception], str]] = {
    "no parameters": (gd.NewtonEuler(MODEL), [1.0], ArgumentError, "'puma560_3' has no parameters; leave p out"),
    "unknown": (gd.NewtonEuler(MODEL, parameters=["gravity"]), {"gravity.w": 1}, UnknownNameError, "'gravity.w'"),
    "length": (
        gd.NewtonEuler(MODEL, parameters=["gravity"]),
        [1.0],
        ArgumentError,
        r"p has shape \(1,\); give \(3,\)",
    ),
    "Function": (
        gd.NewtonEuler(MODEL, parameters=["gravity"]).inverse_dynamics,
        None,
        ArgumentError,
        r"takes \(q, v, a, p\); give p=, the values that the model has",
    ),
    "Function without p": (
        gd.NewtonEuler(MODEL).inverse_dynamics,
        [1.0],
        ArgumentError,
        r"takes \(q, v, a\); it must take \(q, v, a, p\)",
    ),
    "callable": (lambda q, v, a, p: a, None, ArgumentError, r"takes \(q, v, a, p\); give p="),
    "callable without p": (lambda q, v, a: a, [1.0], ArgumentError, r"takes \(q, v, a\); it must take \(q, v, a, p\)"),
    "no numbers": (lambda q, v, a, p: a, "p", ArgumentTypeError, "validate: p: .*'p'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_p_that_does_not_fit_is_refused(case: str) -> None:
    system, p, error, message = REFUSED[case]
    with pytest.raises(error) as raised:
        validate(system, MODEL, samples=2, p=p)
    assert re.search(message, str(raised.value))
    assert "\n" not in str(raised.value)


# Flexible arms.


@pytest.mark.long
def test_an_arm_passes() -> None:
    given = {"armature": True, "gravity": True, "payload": ["link2 tip", "tip"], "stiffness": True, "damping": True}
    arm = planar(joints=FLEXIBLE_JOINT, parameters=given, springs={"joint1": (2.0, 0.1)})
    report = assert_valid(arm, PLANAR, samples=5)
    assert len(report.p) == 5
    assert report["inverse_dynamics"].tolerance == 1e-12


@pytest.mark.long
def test_the_stiffness_of_a_first_order_arm() -> None:
    arm = planar(exact=False, joints=FLEXIBLE_JOINT, parameters=["stiffness", "damping"])
    assert_valid(arm, PLANAR, samples=5)


@pytest.mark.long
def test_an_arm_of_rigid_and_flexible_links_passes() -> None:
    model = robot(("continuous", "base"), ("revolute", "l0"), ("prismatic", "l1"))
    joints = {"j1": gd.FlexibleJoint(1e3, damping=1.0), "j2": gd.FlexibleJoint(1e4, rotor_inertia=2.0)}
    given = {
        "inertia": True,
        "armature": True,
        "gravity": True,
        "payload": ["l0 tip", "l2 tip", "tool", "l1"],
        "stiffness": True,
        "damping": True,
    }
    arm = gd.FlexibleArm(model, {"l0": bending(), "l2": twisting()}, joints, clean=0, parameters=given)
    assert_valid(arm, model, samples=100)
    assert_valid(arm, samples=10)


class SoftFactor(gd.FlexibleArm):
    """The stiffness factor of link 1 is not in inverse dynamics."""

    @cached_property
    def inverse_dynamics(self) -> ca.Function:
        s = self.symbols("q", "v", "a")
        p = ca.SX(s["p"])
        p[self.parameters.index("link1.stiffness_factor")] = 1.0
        return function("inverse_dynamics", s, {"tau": super().inverse_dynamics(s["q"], s["v"], s["a"], p)})


@pytest.mark.long
def test_the_factor_that_a_failure_is_due_to() -> None:
    report = validate(planar(SoftFactor, parameters=["stiffness"]), samples=5)
    assert report.diagnosis[-1] == "right at p of the model, wrong at other values of 'link1.stiffness_factor'"
