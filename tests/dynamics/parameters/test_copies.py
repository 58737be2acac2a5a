"""Robots with parameters, and robots at p, can be pickled and copied."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest

import gdalembert as gd
from tests.helpers.sets import quick
from tests.helpers.validated_arms import FLEXIBLE_JOINT, planar

# a beam is not as heavy as the body that it replaces, which does not matter here
pytestmark = pytest.mark.filterwarnings("ignore:link .* its body of")

MODEL = gd.load_urdf("puma560_3")
GIVEN = {"payload": [MODEL.frames[-1].name], "armature": True, "gravity": ["z"], "springs": True}

ROBOTS: dict[str, Callable[[], gd.Dynamics]] = {
    **{
        name: lambda of=of: of(MODEL, parameters=GIVEN | {"inertia": ["joint3"]}, springs={"joint2": (3.0, 0.2)})
        for name, of in gd.formulations().items()
    },
    "base": lambda: gd.NewtonEuler(MODEL, parameters=["base", "gravity"]),
    "arm": lambda: planar(joints=FLEXIBLE_JOINT, parameters=["stiffness", "armature", "gravity"]),
}
COPIES: dict[str, Callable[[gd.Dynamics], gd.Dynamics]] = {
    "pickle": lambda dyn: pickle.loads(pickle.dumps(dyn)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def state(dyn: gd.Dynamics) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(0)
    return rng.normal(size=dyn.tree.nq), rng.normal(size=dyn.tree.nv), rng.normal(size=dyn.tree.nv)


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("robot", quick(ROBOTS, "newton_euler", "base", "arm"))
def test_a_copy_has_the_parameters(robot: str, how: str) -> None:
    dyn = ROBOTS[robot]()
    twin = COPIES[how](dyn)
    assert twin.parameters.names == dyn.parameters.names
    assert np.array_equal(twin.parameters.values, dyn.parameters.values)
    p = dyn.parameters.random(np.random.default_rng(1))
    for name, arguments in (("inverse_dynamics", state(dyn)), ("mass_matrix", state(dyn)[:1])):
        found, wanted = (getattr(each, name).call([*arguments, p]) for each in (twin, dyn))
        for x, y in zip(found, wanted, strict=True):
            assert np.array_equal(x.full(), y.full())


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("robot", quick(ROBOTS, "newton_euler", "base", "arm"))
def test_a_copy_of_a_robot_at_p_has_p(robot: str, how: str) -> None:
    dyn = ROBOTS[robot]()
    p = dyn.parameters.random(np.random.default_rng(1))
    at_p = dyn.at(p)
    twin = COPIES[how](at_p)
    assert not twin.parameters
    assert twin.inverse_dynamics.name_in() == ["q", "v", "a"]
    tau = at_p.inverse_dynamics(*state(dyn)).full()
    assert np.array_equal(twin.inverse_dynamics(*state(dyn)).full(), tau)
    expected = dyn.inverse_dynamics(*state(dyn), p).full()
    assert np.abs(tau - expected).max() < 1e-12 * max(1.0, np.abs(expected).max())


def test_a_robot_at_some_values_by_name() -> None:
    dyn = ROBOTS["newton_euler"]()
    at_p = dyn.at({"gravity.z": 0.0})
    p = np.array(dyn.parameters.values)
    p[dyn.parameters.index("gravity.z")] = 0.0
    q, _, _ = state(dyn)
    assert np.array_equal(at_p.generalized_gravity(q).full(), dyn.at(p).generalized_gravity(q).full())
    assert not at_p.generalized_gravity(q).full().any()
