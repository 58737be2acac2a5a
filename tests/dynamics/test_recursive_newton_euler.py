"""How large the graphs of Newton–Euler may be, and which forward dynamics it takes."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import robots
from gdalembert.dynamics import recursive_newton_euler
from tests.helpers.models import build
from tests.helpers.sets import quick, with_extras

FUNCTIONS = (
    "inverse_dynamics",
    "nle",
    "generalized_gravity",
    "mass_matrix",
    "coriolis_matrix",
    "forward_dynamics",
    "inverse_dynamics_derivatives",
    "mass_matrix_inverse",
    "forward_dynamics_derivatives",
)


# Instructions of each of FUNCTIONS, at most.
LIMITS = {
    "puma560_benchmark": (389, 352, 88, 262, 1213, 837, 1848, 380, 2243),
    "panda7": (633, 606, 128, 472, 1599, 1197, 3676, 773, 4380),
    "ur5": (317, 275, 54, 189, 1082, 566, 1323, 347, 1817),
    "panda": (768, 705, 147, 622, 2017, 1498, 5050, 1080, 6560),
    "kinova": (512, 489, 137, 385, 1473, 1059, 2263, 502, 2777),
    "solo12": (1273, 1188, 286, 1108, 4656, 3177, 5784, 3790, 15893),
    "go2": (1487, 1405, 304, 1187, 4781, 3353, 6422, 3850, 16297),
    "talos": (3808, 3752, 796, 4853, 13471, 8577, 30337, 18780, 84991),
}
OF_EXTRAS = [name for name in LIMITS if name not in ("puma560_benchmark", "panda7")]


@pytest.mark.parametrize(
    "name", [*quick(["puma560_benchmark", "panda7"], "puma560_benchmark"), *with_extras(OF_EXTRAS)]
)
def test_graphs_stay_within_their_limits(name: str) -> None:
    dyn = gd.NewtonEuler(robots.load(name))
    found = {function: getattr(dyn, function).n_instructions() for function in FUNCTIONS}
    limits = dict(zip(FUNCTIONS, LIMITS[name], strict=True))
    assert {f: n for f, n in found.items() if n > limits[f]} == {}


@pytest.mark.parametrize(("number", "deep"), [(7, False), (20, False), (60, True)])
def test_long_chains_are_deep(number: int, deep: bool) -> None:
    assert gd.NewtonEuler(robots.chain(number))._is_deep == deep


def test_many_short_branches_are_not_deep() -> None:
    model = build(np.random.default_rng(13), ["FreeFlyer"] + ["RX", "RY", "RZ"] * 10, legs_of(10, 3))
    assert not gd.NewtonEuler(model)._is_deep


def legs_of(number: int, length: int) -> list[int]:
    return [0, *(1 if k == 0 else 1 + leg * length + k for leg in range(number) for k in range(length))]


@pytest.mark.long
def test_a_long_chain_needs_no_mass_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("M was built")

    monkeypatch.setattr(recursive_newton_euler, "mass_matrix", refuse)
    with pytest.raises(AssertionError, match="M was built"):
        _ = gd.NewtonEuler(robots.chain(6)).forward_dynamics
    for number in (36, 48):
        chain = build(np.random.default_rng(14), ["RevoluteUnaligned"] * number, range(number))
        assert gd.NewtonEuler(chain).forward_dynamics.n_instructions() < 600 * number


def planar_chain() -> pin.Model:
    """Four links with parallel axes."""
    model = pin.Model()
    for k in range(4):
        placement = pin.SE3(np.eye(3), np.array([0.5 if k else 0.0, 0.0, 0.0]))
        model.addJoint(k, pin.JointModelRZ(), placement, f"joint{k + 1}")
        model.inertias[k + 1] = pin.Inertia(1.0, np.array([0.25, 0.0, 0.0]), np.diag([0.01, 0.02, 0.02]))
    model.gravity.linear = np.array([0.0, -9.81, 0.0])
    return model


SMALL = ("cart_pendulum", "horn_leg", "planar chain")


@pytest.mark.parametrize("name", quick([*gd.robots(), "planar chain"], *SMALL))
@pytest.mark.parametrize("function", ["inverse_dynamics", "mass_matrix", "forward_dynamics"])
def test_no_formulation_is_smaller_on_any_robot(name: str, function: str) -> None:
    model = planar_chain() if name == "planar chain" else gd.load_urdf(name)
    sizes = {key: getattr(each(model), function).n_instructions() for key, each in gd.formulations().items()}
    assert sizes["newton_euler"] == min(sizes.values())


# Instructions of tau, at most: what they are without the search for link frames.
WITHOUT_SEARCH = {
    "two_link_arm": 45,
    "two_link_flexible": 30,
    "cart_pendulum": 26,
    "horn_arm_offset": 118,
    "horn_leg": 91,
    "planar chain": 128,
}


@pytest.mark.parametrize("name", WITHOUT_SEARCH)
def test_the_search_for_link_frames_makes_no_robot_larger(name: str) -> None:
    model = planar_chain() if name == "planar chain" else gd.load_urdf(name)
    assert gd.NewtonEuler(model).inverse_dynamics.n_instructions() <= WITHOUT_SEARCH[name]
