"""What validate takes, refuses and shows, and validation at several p."""

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
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.spatial.functions import function
from gdalembert.testing import assert_valid
from gdalembert.validation.validate import validate
from tests.helpers.sets import quick
from tests.helpers.terminals import without_seconds
from tests.helpers.torque_functions import PUMA, TRUE, Array, rnea
from tests.helpers.validated_arms import FLEXIBLE_JOINT, PLANAR, bending, planar, robot, twisting

NEWTON_EULER = gd.NewtonEuler(PUMA)
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


def test_seed_decides() -> None:
    model = gd.load_urdf("two_link_arm")
    dyn = gd.NewtonEuler(model)

    def run(seed: int) -> dict[str, Any]:
        return validate(dyn, model, samples=20, seed=seed).to_dict()

    assert run(3) == run(3)
    assert run(3)["checks"] != run(4)["checks"]


@pytest.mark.long
@pytest.mark.parametrize("samples", [1, 2, 499, 500, 501, 1003])
def test_batches_with_a_remainder(samples: int) -> None:
    model = gd.load_urdf("two_link_arm")
    seen: list[Array] = []

    def system(q: Array, v: Array, a: Array) -> Array:
        seen.append(q)
        return TRUE_ARM(q, v, a)

    TRUE_ARM = rnea(model)
    assert assert_valid(gd.NewtonEuler(model), model, samples=samples).samples == samples
    assert_valid(system, model, samples=min(samples, 45))
    assert len({q.tobytes() for q in seen}) == min(samples, 44)  # two of 45 states are at the neutral configuration


@pytest.mark.long
def test_more_samples_only_add() -> None:
    few, many = (validate(NEWTON_EULER, PUMA, samples=n) for n in (40, 700))
    for check in few.checks:
        assert many[check.name].error >= check.error


@pytest.mark.long
def test_progress(capfd: pytest.CaptureFixture[str]) -> None:
    validate(NEWTON_EULER, PUMA, samples=700, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert without_seconds(err.strip()) == "puma560: newton_euler: 700 of 700 states"
    validate(NEWTON_EULER, PUMA, samples=3)
    assert capfd.readouterr() == ("", "")


def test_the_calls_of_a_slow_callable_are_announced(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before all but the first of them, and no state is asked for twice: a clock that counts calls as seconds."""
    seen: list[bytes] = []
    monkeypatch.setattr("gdalembert.validation.systems.perf_counter", lambda: float(len(seen)))
    monkeypatch.setattr("gdalembert.validation.validate.is_watched", lambda: True)

    def system(q: Array, v: Array, a: Array) -> Array:
        seen.append(b"".join(x.tobytes() for x in (q, v, a)))
        return 2 * TRUE(q, v, a)

    report = validate(system, PUMA, samples=4)
    assert not report.ok  # and the diagnosis needs no further call
    assert len(set(seen)) == len(seen) < 4 * 9
    assert capfd.readouterr().err.startswith("puma560: system: at most 36 calls, about 36 s: 4 of 4 states")
    validate(system, PUMA, samples=4, progress=False)
    assert capfd.readouterr().err == ""
    monkeypatch.undo()
    monkeypatch.setattr("gdalembert.validation.systems.perf_counter", lambda: float(len(seen)))
    validate(system, PUMA, samples=4)  # into a file, as the log of a test
    assert capfd.readouterr().err == ""


@pytest.mark.long
def test_tolerance_overrides_all() -> None:
    report = validate(NEWTON_EULER, PUMA, samples=5, tolerance=1e-3)
    assert {check.tolerance for check in report.checks} == {1e-3}
    report = validate(NEWTON_EULER, PUMA, samples=5, tolerance=1e-18)
    assert not report.ok
    assert report.diagnosis[0].startswith("differences are small, at most ")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"samples": 0}, ArgumentError, "validate: samples: got 0; give an integer of at least 1"),
        ({"samples": 2.5}, ArgumentTypeError, "validate: samples: expected an integer, got 2.5"),
        ({"samples": True}, ArgumentTypeError, "validate: samples: expected an integer, got True"),
        ({"seed": -1}, ArgumentError, "validate: seed: got -1; give an integer of at least 0"),
        ({"seed": None}, ArgumentTypeError, "validate: seed: expected an integer, got None"),
        ({"tolerance": 0}, ArgumentError, "validate: tolerance: got 0; give one finite number, above 0"),
        ({"tolerance": -1e-9}, ArgumentError, "validate: tolerance: got -1e-09; give one finite number, above 0"),
        ({"tolerance": float("nan")}, ArgumentError, "validate: tolerance: got nan; give one finite number, above 0"),
        ({"tolerance": float("inf")}, ArgumentError, "validate: tolerance: got inf; give one finite number, above 0"),
        ({"tolerance": "1e-9"}, ArgumentTypeError, "validate: tolerance: expected a number, got '1e-9'"),
        ({"progress": 1}, ArgumentTypeError, "validate: progress: expected True, False or None, got 1"),
    ],
)
def test_bad_options(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        validate(TRUE, PUMA, **options)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("against", "message"),
    [
        (None, "against is None; give the pin.Model to compare with"),
        (PUMA.createData(), "expected a pin.Model, got a pin.Data; pass the model that it was created from"),
        (read_tree(PUMA), "against must be the pin.Model, got a Tree; Pinocchio's rnea needs the model"),
        ("puma560", "expected a pin.Model, got str; load_urdf makes one from a URDF"),
    ],
    ids=["None", "Data", "Tree", "str"],
)
def test_bad_models(against: Any, message: str) -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        validate(TRUE, against)
    assert str(caught.value) == message


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


@pytest.mark.long
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
