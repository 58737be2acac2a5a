"""``gdalembert info ROBOT``."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pinocchio as pin

from gdalembert.cli.options import add_clean, add_robot, load
from gdalembert.cli.output import print_table
from gdalembert.dynamics.recursive_newton_euler import NewtonEuler
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.limits import NO_LIMIT
from gdalembert.model.tree import Frame, Joint, Tree


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments that :func:`run` reads."""
    add_robot(parser)
    add_clean(parser)
    parser.add_argument("--json", action="store_true", help="print all of it as JSON, with all digits")


def run(arguments: argparse.Namespace) -> int:
    """Print the joints, links, limits and frames of a robot, and which constants are rounded."""
    model = load(arguments.robot, arguments)
    tree = read_tree(model)
    dynamics = NewtonEuler(tree, clean=arguments.clean)
    robot = {
        "name": tree.name,
        "nq": tree.nq,
        "nv": tree.nv,
        "gravity": tree.gravity.tolist(),
        "joints": [_joint(tree, joint) for joint in tree.joints],
        "limits": [limits for joint in tree.independent_joints for limits in _limits(model, tree, joint)],
        "frames": [_frame(tree, frame) for frame in tree.frames],
        "cleaning": {
            "tolerance": arguments.clean,
            "changes": [str(change) for change in dynamics.changes],
            "change_in_tau": dynamics.change_in_tau if dynamics.changes else 0.0,
        },
    }
    if arguments.json:
        print(json.dumps(robot, indent=2))
    else:
        _print(robot)
    return 0


def _joint(tree: Tree, joint: Joint) -> dict[str, Any]:
    axis = joint.type.axis
    return {
        "name": joint.name,
        "type": joint.type.kind,
        "axis": None if axis is None else [float(x) for x in axis],
        "mimics": None if joint.scaling is None else tree.velocity_names[joint.idx_v],
        "parent": _name(tree, joint.parent),
        "position": joint.translation.tolist(),
        "rotation": joint.rotation.tolist(),
        "mass": float(joint.mass),
        "center_of_mass": joint.com.tolist(),
        "inertia": joint.inertia.tolist(),
        "armature": tree.armature[list(joint.columns)].tolist() if joint.scaling is None else [],
    }


def _limits(model: pin.Model, tree: Tree, joint: Joint) -> Iterable[dict[str, Any]]:
    """The limits of each velocity of a joint, and of the coordinate that it is the rate of."""
    for k, column in enumerate(joint.columns):
        own_q = slice(joint.idx_q + k, joint.idx_q + k + 1) if joint.type.nq == joint.type.nv else slice(0)
        yield {
            "name": tree.velocity_names[column],
            "lower": _limit(*model.lowerPositionLimit[own_q]),
            "upper": _limit(*model.upperPositionLimit[own_q]),
            "velocity": _limit(model.velocityLimit[column]),
            "effort": _limit(model.effortLimit[column]),
        }


def _limit(value: float = math.inf) -> float | None:
    return float(value) if abs(value) < NO_LIMIT else None


def _frame(tree: Tree, frame: Frame) -> dict[str, Any]:
    return {
        "name": frame.name,
        "type": frame.type,
        "joint": _name(tree, frame.joint),
        "position": frame.translation.tolist(),
        "rotation": frame.rotation.tolist(),
    }


def _name(tree: Tree, joint: int) -> str | None:
    """The name of a joint, ``None`` for the universe."""
    return tree.joints[joint].name if joint >= 0 else None


def _print(robot: dict[str, Any]) -> None:
    joints, limits, frames, cleaning = (robot[key] for key in ("joints", "limits", "frames", "cleaning"))
    print(f"{robot['name']}: nq = {robot['nq']}, nv = {robot['nv']}, gravity ({_numbers(robot['gravity'])}) m/s²")
    rows = [(x["name"], _kind(x), x["parent"] or "–", _number(x["mass"]), _armature(x["armature"])) for x in joints]
    print_table(("joint", "type", "parent", "mass [kg]", "armature"), rows, (0, 1, 2))
    print("\ncentres of mass [m] and inertias about them [kg m²], in the axes of the joint")
    rows = [(x["name"], *map(_number, x["center_of_mass"]), *_entries(x["inertia"])) for x in joints]
    print_table(("joint", "x", "y", "z", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz"), rows, (0,))
    print("\nlimits [rad, m; rad/s, m/s; N m, N]")
    keys = ("lower", "upper", "velocity", "effort")
    rows = [(x["name"], *(_number(x[key]) for key in keys)) for x in limits]
    print_table(("joint", *keys), rows, (0,))
    print("\nframes: positions [m], and roll, pitch and yaw [rad], in the joint")
    rows = [
        (x["name"], x["type"], x["joint"] or "–", *map(_number, (*x["position"], *_roll_pitch_yaw(x["rotation"]))))
        for x in frames
    ]
    print_table(("frame", "type", "joint", "x", "y", "z", "roll", "pitch", "yaw"), rows, (0, 1, 2))
    number = len(cleaning["changes"])
    numbers = "1 number" if number == 1 else f"{number} numbers"
    effect = f", and tau by at most {cleaning['change_in_tau']:.1e} (relative)" if number else ""
    print(f"\ncleaning with tolerance {cleaning['tolerance']:g} changes {numbers}{effect}")
    for change in cleaning["changes"]:
        print(f"  {change}")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value + 0.0:.6g}"


def _numbers(values: Iterable[float]) -> str:
    return ", ".join(map(_number, values))


def _kind(joint: dict[str, Any]) -> str:
    axis = "" if joint["axis"] is None else f" ({_numbers(joint['axis'])})"
    mimics = "" if joint["mimics"] is None else f", mimics {joint['mimics']}"
    return f"{joint['type']}{axis}{mimics}"


def _armature(values: list[float]) -> str:
    """The rotor inertias of a joint, written once if they are equal."""
    return _numbers(values if len(set(values)) > 1 else values[:1]) or "–"


def _entries(inertia: list[list[float]]) -> list[str]:
    """Ixx, Ixy, Iyy, Ixz, Iyz, Izz: Pinocchio's order."""
    return [_number(inertia[i][j]) for j in range(3) for i in range(j + 1)]


def _roll_pitch_yaw(rotation: list[list[float]]) -> Iterable[float]:
    return (round(float(x), 9) for x in pin.rpy.matrixToRpy(np.array(rotation)))
