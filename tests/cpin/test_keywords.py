"""Every overload of Pinocchio takes its arguments here, by position and by keyword, as its docstring has them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pinocchio as pin
import pytest

from gdalembert import cpin

NOT_THERE = {"geom_model", "list_of_geom_models"}
"""Arguments of the two overloads that are not there: those of geometry."""
REFUSED = re.compile(r"missing a required|unexpected keyword|too many positional|multiple values")


def overloads() -> Iterator[tuple[str, tuple[str, ...]]]:
    """The names of the arguments of each overload of each function that both have."""
    for name in cpin.__all__:
        call = getattr(pin.pinocchio_pywrap_default, name, None)
        if call is None or isinstance(call, type) or not callable(call):
            continue
        for line in (call.__doc__ or "").splitlines():
            signature = re.match(rf"^{name}\((.*)\) ->", line.strip())
            if signature:
                names = re.findall(r"\([^()]*\)(\w+)", re.sub(r"=[^,()]*(\([^()]*\))?", "", signature[1]))
                yield name, tuple(names)


OVERLOADS = sorted({overload for overload in overloads() if not NOT_THERE & set(overload[1])})


class Nothing:
    """What no argument may be."""


def refusal(call: Callable[..., Any], *given: Any, **named: Any) -> str:
    """What a call says of arguments none of which it can use."""
    try:
        call(*given, **named)
    except Exception as error:
        return str(error)
    return ""


def test_overloads_are_found() -> None:
    assert len(OVERLOADS) > 130
    assert ("crba", ("model", "data", "q", "convention")) in OVERLOADS
    assert ("getFrameJacobian", ("model", "data", "joint_id", "placement", "reference_frame")) in OVERLOADS
    assert ("centerOfMass", ("model", "data", "kinematic_level", "compute_subtree_coms")) in OVERLOADS


@pytest.mark.parametrize("name", sorted({name for name, _ in OVERLOADS}))
def test_arguments_of_pinocchio_are_taken(name: str) -> None:
    call = getattr(cpin, name)
    for arguments in (arguments for other, arguments in OVERLOADS if other == name):
        by_position = refusal(call, *(Nothing() for _ in arguments))
        assert not REFUSED.search(by_position), (arguments, by_position)
        if not any(re.fullmatch(r"arg\d+", argument) for argument in arguments):
            by_keyword = refusal(call, **{argument: Nothing() for argument in arguments})
            assert not REFUSED.search(by_keyword), (arguments, by_keyword)


def test_others_are_refused_in_a_sentence() -> None:
    assert refusal(cpin.exp3, v=[0.0, 0.0, 0.0]) == "exp3: missing a required argument: 'w'; give (w)"
    assert refusal(cpin.log6) == "log6: missing a required argument: 'M'; give (M)"
    model = cpin.buildSampleModelManipulator()
    data, q = model.createData(), [0.1] * 6
    assert refusal(cpin.crba, model, data, q, compute_subtree_coms=True) == (
        "crba: got an unexpected keyword argument 'compute_subtree_coms'; give (model, data, q, convention)"
    )
    assert refusal(cpin.crba, model, data, q, convention=7) == (
        "crba: got the convention 7; give Convention.LOCAL or Convention.WORLD"
    )
    assert refusal(cpin.randomConfiguration, model, lower_bound=q) == (
        "randomConfiguration: got one bound; give lower_bound and upper_bound, or none"
    )
    assert refusal(cpin.buildReducedModel, model, None, [1], q) == (
        "buildReducedModel: too many positional arguments; give (model, list_of_joints_to_lock, "
        "reference_configuration)"
    )


READER = "give (model, data, frame_id, reference_frame) or (model, data, joint_id, placement, reference_frame)"


def test_frames_are_given_by_one_of_two_ways() -> None:
    model = cpin.buildSampleModelManipulator()
    data, at = model.createData(), cpin.SE3.Identity()
    cpin.forwardKinematics(model, data, [0.1] * 6, [0.2] * 6)
    read = partial(refusal, cpin.getFrameVelocity, model)
    assert read(data) == f"getFrameVelocity: missing a required argument: 'frame_id'; {READER}"
    assert read() == "getFrameVelocity: missing a required argument: 'data'; give (model, data, …)"
    assert read(data, joint_id=3) == f"getFrameVelocity: missing a required argument: 'placement'; {READER}"
    assert read(data, frame_id=3, placement=at) == (
        f"getFrameVelocity: missing a required argument: 'joint_id'; {READER}"
    )
    assert read(data, 3, at, "LOCAL") == "getFrameVelocity: got 'LOCAL'; give LOCAL, WORLD or LOCAL_WORLD_ALIGNED"
    assert read(data, 3, "LOCAL") == "getFrameVelocity: got 'LOCAL'; give LOCAL, WORLD or LOCAL_WORLD_ALIGNED"
    assert read(data, 9, at) == "model.joints[9]: give an index from 0 to 6"
    assert read(data, joint_id=3, placement=1) == ("frame at a joint: its placement is of type int; give an SE3")
