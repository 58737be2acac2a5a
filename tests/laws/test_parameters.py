"""Laws of parameters: at p, every Function equals that of the robot of numbers which has p."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given

import gdalembert as gd
from gdalembert.dynamics.equations_of_motion import FUNCTIONS
from gdalembert.errors import UnsupportedError
from gdalembert.model.from_pinocchio import read_tree
from tests.helpers.models import JOINTS, MIMICABLE, QUICK_JOINTS, build, inertia, relative_error, states
from tests.helpers.sets import quick
from tests.laws.test_laws import FORMULATIONS, TIGHT, every_tree, models

Check = Callable[..., None]

SOLVED = ("forward_dynamics", "state_derivative", "forward_dynamics_derivatives")
"""Functions that lose as many digits as M has in its condition number; derivatives of accelerations twice as many."""
WRITTEN = ("inverse_dynamics", "mass_matrix", "coriolis_matrix", "kinetic_energy", "potential_energy")
"""Functions that a formulation writes itself; it has the others from them by code that all share."""
WITH_DERIVATIVES = (*WRITTEN, "forward_dynamics", "inverse_dynamics_derivatives")
"""Functions with a recursion of their own in Newton–Euler."""
NOMINAL = ("inverse_dynamics", "kinetic_energy", "potential_energy")
"""Functions whose graphs have all numbers of a robot in them."""


def springs_of(model: pin.Model) -> dict[str, tuple[float, float]]:
    """A spring at the first joint that can have one."""
    joints = (j for j in read_tree(model).independent_joints if j.type.velocity_is_rate and not j.name.endswith("]"))
    return {joint.name: (2.0, 0.3) for joint in list(joints)[:1]}


def everything(model: pin.Model) -> dict[str, Any]:
    frames = [frame.name for frame in model.frames if frame.name.startswith("body_")]
    kinds = {"inertia": True, "payload": frames[-2:], "armature": True, "gravity": True}
    return kinds | ({"springs": True} if springs_of(model) else {})


def check_equal(
    dyn: gd.Dynamics, p: np.ndarray, numeric: gd.Dynamics, model: pin.Model, functions: Iterable[str] = FUNCTIONS
) -> None:
    """Every Function at p equals that of numbers; V may differ by a constant, since base parameters leave it open."""
    rng = np.random.default_rng(0)
    potential: list[float] = []
    constant: list[float] = []
    for q, v, a in states(model, rng, 2):
        lam = rng.normal(size=model.nv)
        given = {"q": q, "v": v, "a": a, "lam": lam, "tau": pin.rnea(model, model.createData(), q, v, a).copy()}
        given |= {"x": np.concatenate([q, v]), "u": given["tau"]}
        condition = np.linalg.cond(numeric.mass_matrix(q).full())
        for name in functions:
            try:
                expected = getattr(numeric, name)
            except UnsupportedError:
                continue
            inputs = {key: given[key] for key in expected.name_in()}
            own = getattr(dyn, name)
            assert own.name_in() == [*expected.name_in(), "p"]
            found, wanted = own(**inputs, p=p), expected(**inputs)
            power = 2 if name.endswith("derivatives") else 1
            allowed = max(TIGHT, 1e-14 * condition**power) if name in SOLVED else TIGHT
            for key in wanted:
                if key == "potential":
                    potential.append(float(wanted[key]))
                    constant.append(float(found[key] - wanted[key]))
                else:
                    assert relative_error(found[key].full(), wanted[key].full()) < allowed, (name, key)
    scale = max(1.0, np.abs(potential).max())
    assert abs(constant[0] - constant[1]) < TIGHT * scale
    if "gravity.z" in dyn.parameters:  # no base parameters
        assert max(map(abs, constant)) < TIGHT * scale


def check_parameters(model: pin.Model, name: str, functions: Iterable[str] = FUNCTIONS) -> None:
    of, springs = gd.formulations()[name], springs_of(model)
    dyn = of(model, clean=0, parameters=everything(model), springs=springs)
    check_equal(dyn, dyn.parameters.values, of(model, clean=0, springs=springs), model, NOMINAL)
    p = dyn.parameters.random(np.random.default_rng(1))
    of_springs = [x for name, x in zip(dyn.parameters.names, p, strict=True) if name.endswith((".stiffness", ".rest"))]
    changed = dict.fromkeys(springs, (of_springs[::2], of_springs[1::2]))
    written = dyn.parameters.write(model, p)
    check_equal(dyn, p, of(written, clean=0, springs=changed), written, functions)
    assert relative_error(written.gravity.linear, p[[dyn.parameters.index(f"gravity.{x}") for x in "xyz"]]) == 0


def check_base_parameters(model: pin.Model, name: str, functions: Iterable[str] = FUNCTIONS) -> None:
    """p is that of a model with other bodies, so that no way back from base parameters to bodies is needed."""
    of = gd.formulations()[name]
    dyn = of(model, clean=0, parameters=["base"])
    check_equal(dyn, dyn.parameters.values, of(model, clean=0), model, NOMINAL)
    other, rng = model.copy(), np.random.default_rng(2)
    for k in range(1, model.njoints):
        other.inertias[k] = inertia(rng)
    check_equal(dyn, dyn.parameters.of(other), of(other, clean=0), other, functions)


CHECKS = quick([check_parameters, check_base_parameters], check_parameters)


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", quick(FORMULATIONS, "newton_euler"))
@pytest.mark.parametrize("joint", quick(sorted(JOINTS), "RUBX"))
def test_each_joint_type_alone(joint: str, name: str, check: Check) -> None:
    check(build(np.random.default_rng(8), [joint], [0]), name, FUNCTIONS if name == "newton_euler" else WRITTEN)


def with_newton_euler(all_joints: Iterable[str], joints: Iterable[str]) -> list[tuple[str, str]]:
    """Joints and formulations: Newton–Euler, which prepares its tree, with all of them, the others with some."""
    others = [name for name in FORMULATIONS if name != "newton_euler"]
    return [(x, "newton_euler") for x in all_joints] + [(x, name) for x in joints for name in others]


@pytest.mark.long
@pytest.mark.parametrize(("joint", "name"), with_newton_euler(sorted(JOINTS), QUICK_JOINTS))
def test_each_joint_type_in_a_chain_on_a_free_flyer(joint: str, name: str) -> None:
    functions = FUNCTIONS if joint in QUICK_JOINTS else WITH_DERIVATIVES
    model = build(np.random.default_rng(7), ["FreeFlyer", joint, "RevoluteUnaligned"], [0, 1, 2])
    check_parameters(model, name, functions)


@pytest.mark.long
@pytest.mark.parametrize("joint", QUICK_JOINTS)
def test_base_parameters_of_a_chain_on_a_free_flyer(joint: str) -> None:
    model = build(np.random.default_rng(7), ["FreeFlyer", joint, "RevoluteUnaligned"], [0, 1, 2])
    check_base_parameters(model, "newton_euler")


@pytest.mark.parametrize("name", quick(FORMULATIONS, "newton_euler"))
def test_a_mimicked_joint(name: str) -> None:
    check_parameters(build(np.random.default_rng(10), ["RX"], [0], mimic=1), name)


@pytest.mark.long
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(("joint", "name"), with_newton_euler(MIMICABLE, MIMICABLE[:1]))
def test_each_joint_type_mimicked(joint: str, name: str, check: Check) -> None:
    model = build(np.random.default_rng(10), ["RX", joint, "Spherical"], [0, 1, 2], mimic=2)
    check(model, name, FUNCTIONS if joint in QUICK_JOINTS else WITH_DERIVATIVES)


@pytest.mark.long
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", FORMULATIONS)
@every_tree(max_examples=3)
@given(model=models())
def test_random_trees(model: pin.Model, name: str, check: Check) -> None:
    check(model, name)
