"""``gdalembert robots``, ``info ROBOT``, ``count ROBOT``, ``cache``: what is there, in tables."""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from gdalembert.cli.options import (
    add_clean,
    add_dynamics,
    add_robot,
    chosen_formulations,
    load,
    options,
    print_table,
    several,
)
from gdalembert.compilation.cache import MAX_SIZE, Cache, CachedLibrary
from gdalembert.dynamics.equations_of_motion import FUNCTIONS
from gdalembert.dynamics.recursive_newton_euler import NewtonEuler
from gdalembert.errors import UnsupportedError
from gdalembert.model.from_pinocchio import idle_joints, read_tree
from gdalembert.model.limits import NO_LIMIT
from gdalembert.model.load_urdf import MEANT, load_urdf, robot_folder, robots
from gdalembert.model.rounding import CLEANED
from gdalembert.model.tree import Frame, Joint, Tree
from gdalembert.spatial.instructions import count
from gdalembert.spatial.progress import is_watched, progress

_ROUNDED = ("inverse_dynamics", "mass_matrix", "forward_dynamics")
"""Functions whose instructions tell what rounding of angles saves."""


def add_robots(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def run_robots(arguments: argparse.Namespace) -> int:
    """Print the shipped robots, one a line, with the first line of the comment at the head of each file."""
    rows = []
    for name in robots():
        model, text = load_urdf(name), (robot_folder() / f"{name}.urdf").read_text(encoding="utf-8")
        headline = text.partition("<!--")[2].strip().partition("\n")[0]
        rows.append((name, str(model.njoints - 1), str(model.nq), str(model.nv), headline))
    print_table(("robot", "joints", "nq", "nv", ""), rows, left=(0, 4))
    return 0


def add_info(parser: argparse.ArgumentParser) -> None:
    """The arguments that :func:`run_info` reads."""
    add_robot(parser)
    add_clean(parser)
    parser.add_argument("--json", action="store_true", help="print all of it as JSON, with all digits")


def run_info(arguments: argparse.Namespace) -> int:
    """Print the joints, links, limits and frames of a robot, and which constants are rounded."""
    robot = description(load(arguments.robot, arguments), arguments.clean)
    robot["angles"] = rounded_angles(arguments.robot, arguments)
    if arguments.json:
        print(json.dumps(robot, indent=2))
    else:
        _print_robot(robot)
    return 0


def description(model: pin.Model, clean: float) -> dict[str, Any]:
    """Joints, limits and frames of a robot, and which constants are rounded, as ``json.dumps`` takes it."""
    tree = read_tree(model)
    dynamics = _formulation(tree, clean)
    changes = [str(change) for change in dynamics.changes]
    largest = dynamics.change_in_tau if changes else 0.0
    names = [*(joint.name for joint in tree.joints), None]  # −1 is the universe
    return {
        "name": tree.name,
        "nq": tree.nq,
        "nv": tree.nv,
        "gravity": tree.gravity.tolist(),
        "joints": [_joint(tree, joint, names[joint.parent]) for joint in tree.joints],
        "limits": [limits for joint in tree.independent_joints for limits in _limits(model, tree, joint)],
        "frames": [{"name": x.name, "type": x.type, "joint": names[x.joint], **_placement(x)} for x in tree.frames],
        "without_inertia": list(dynamics.parameters.idle_in_model),
        "cleaning": {"tolerance": clean, "changes": changes, "change_in_tau": largest},
    }


def _formulation(model: pin.Model | Tree, clean: float) -> NewtonEuler:
    """The formulation that speaks for a robot; if its joints move no inertia, with the inertia as an input."""
    tree = read_tree(model)
    return NewtonEuler(tree, clean=clean, parameters={"inertia": bool(idle_joints(tree))})


def rounded_angles(robot: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Count the savings of ``--round-angles``: the joints, and the instructions of Functions without and with it.

    Without that option the tolerance is the one that ``load_urdf`` tells. If no joint changes, nothing is counted.
    """
    tolerance = arguments.round_angles or MEANT
    exact, rounded = (load(robot, arguments, "off", angle_tolerance) for angle_tolerance in (0.0, tolerance))
    pairs = zip(exact.names, exact.jointPlacements, rounded.jointPlacements, strict=True)
    joints = [name for name, one, other in pairs if np.abs(one.homogeneous - other.homogeneous).max() > CLEANED]
    both = [_formulation(model, arguments.clean) for model in (exact, rounded) if joints]
    counts = {name: [getattr(dynamics, name).n_instructions() for dynamics in both] for name in _ROUNDED if joints}
    return {"tolerance": tolerance, "joints": joints, "instructions": counts}


def about_rounded_angles(rounding: dict[str, Any]) -> str:
    """The same in a sentence; "" if it changes no joint."""
    if not rounding["joints"]:
        return ""
    counts = [f"{after} of {before} in {name}" for name, (before, after) in rounding["instructions"].items()]
    return (
        f"--round-angles {rounding['tolerance']:g} takes angles of {', '.join(rounding['joints'])} for multiples "
        f"of π/4 or π/6, which leaves instructions: {', '.join(counts)}"
    )


def _joint(tree: Tree, joint: Joint, parent: str | None) -> dict[str, Any]:
    axis = joint.type.axis
    return {
        "name": joint.name,
        "type": joint.type.kind,
        "axis": None if axis is None else [float(x) for x in axis],
        "mimics": None if joint.scaling is None else tree.velocity_names[joint.idx_v],
        "parent": parent,
        **_placement(joint),
        "mass": float(joint.mass),
        "center_of_mass": joint.com.tolist(),
        "inertia": joint.inertia.tolist(),
        "armature": tree.armature[list(joint.columns)].tolist() if joint.scaling is None else [],
    }


def _placement(x: Joint | Frame) -> dict[str, Any]:
    return {"position": x.translation.tolist(), "rotation": x.rotation.tolist()}


def _limits(model: pin.Model, tree: Tree, joint: Joint) -> Iterable[dict[str, Any]]:
    """The limits of each velocity of a joint, and of the coordinate that it is the rate of."""

    def limit(value: float = math.inf) -> float | None:
        return float(value) if abs(value) < NO_LIMIT else None

    for k, column in enumerate(joint.columns):
        own_q = slice(joint.idx_q + k, joint.idx_q + k + 1) if joint.type.nq == joint.type.nv else slice(0)
        yield {
            "name": tree.velocity_names[column],
            "lower": limit(*model.lowerPositionLimit[own_q]),
            "upper": limit(*model.upperPositionLimit[own_q]),
            "velocity": limit(model.velocityLimit[column]),
            "effort": limit(model.effortLimit[column]),
        }


class Table(NamedTuple):
    """A table of texts; columns in ``left`` are flush left."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    left: tuple[int, ...] = (0,)


def robot_tables(robot: Mapping[str, Any]) -> list[Table]:
    """The joints, inertias, limits and frames of a description, in six digits."""
    joints = []
    for x in robot["joints"]:
        axis = "" if x["axis"] is None else f" ({_numbers(x['axis'])})"
        mimics = "" if x["mimics"] is None else f", mimics {x['mimics']}"
        armature = x["armature"] if len(set(x["armature"])) > 1 else x["armature"][:1]  # once if they are equal
        kind = f"{x['type']}{axis}{mimics}"
        joints.append((x["name"], kind, x["parent"] or "–", _number(x["mass"]), _numbers(armature) or "–"))
    entries = [(i, j) for j in range(3) for i in range(j + 1)]  # Ixx, Ixy, Iyy, Ixz, Iyz, Izz: Pinocchio's order
    inertias = [
        (x["name"], *map(_number, (*x["center_of_mass"], *(x["inertia"][i][j] for i, j in entries))))
        for x in robot["joints"]
    ]
    keys = ("lower", "upper", "velocity", "effort")
    limits = [(x["name"], *(_number(x[key]) for key in keys)) for x in robot["limits"]]
    frames = []
    for x in robot["frames"]:
        angles = np.round(pin.rpy.matrixToRpy(np.array(x["rotation"])), 9)
        frames.append((x["name"], x["type"], x["joint"] or "–", *map(_number, (*x["position"], *angles))))
    axes = ("x", "y", "z")
    about = "centres of mass [m] and inertias about them [kg m²], in the axes of the joint"
    at = "frames: positions [m], and roll, pitch and yaw [rad], in the joint"
    return [
        Table("joints", ("joint", "type", "parent", "mass [kg]", "armature"), joints, (0, 1, 2)),
        Table(about, ("joint", *axes, *(f"I{axes[i]}{axes[j]}" for i, j in entries)), inertias),
        Table("limits [rad, m; rad/s, m/s; N m, N]", ("joint", *keys), limits),
        Table(at, ("frame", "type", "joint", *axes, "roll", "pitch", "yaw"), frames, (0, 1, 2)),
    ]


def _print_robot(robot: dict[str, Any]) -> None:
    cleaning = robot["cleaning"]
    print(f"{robot['name']}: nq = {robot['nq']}, nv = {robot['nv']}, gravity ({_numbers(robot['gravity'])}) m/s²")
    for k, (title, head, rows, left) in enumerate(robot_tables(robot)):
        if k:
            print(f"\n{title}")
        print_table(head, rows, left)
    number = len(cleaning["changes"])
    effect = f", and tau by at most {cleaning['change_in_tau']:.1e} (relative)" if number else ""
    print(f"\ncleaning with tolerance {cleaning['tolerance']:g} changes {several(number, 'number', 'numbers')}{effect}")
    for change in cleaning["changes"]:
        print(f"  {change}")
    if about := about_rounded_angles(robot["angles"]):
        print(about)
    if names := robot["without_inertia"]:
        print(f"\nwithout inertia, so that there is kinematics and statics, but no dynamics: {', '.join(names)}")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value + 0.0:.6g}"


def _numbers(values: Iterable[float]) -> str:
    return ", ".join(map(_number, values))


def add_count(parser: argparse.ArgumentParser) -> None:
    """The arguments that :func:`run_count` reads."""
    add_dynamics(parser)


def run_count(arguments: argparse.Namespace) -> int:
    """Print the instructions, multiplications and additions of every Function of the formulations."""
    chosen, settings = chosen_formulations(arguments), options(arguments)
    model = load(arguments.robot, arguments)
    rows = []
    with progress(f"{model.name}: count", shown=is_watched()) as line:
        for name, formulation in chosen.items():
            dynamics = formulation(model, **settings)
            for function in (*FUNCTIONS, "terms"):
                line.show(f"{function} of {name}")
                try:
                    costs = [str(number) for number in count(getattr(dynamics, function)).values()]
                except UnsupportedError:
                    costs = ["–"] * 3
                rows.append((name, function, *costs))
        line.show("")
    print_table((f"{model.name}", "Function", "instructions", "multiplications", "additions"), rows, left=(0, 1))
    return 0


def add_cache(parser: argparse.ArgumentParser) -> None:
    """The arguments that :func:`run_cache` reads."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--clear", action="store_true", help="remove the libraries, and what killed builds left")
    what.add_argument("--list", action="store_true", help="list the libraries, the last used first")


def run_cache(arguments: argparse.Namespace) -> int:
    """Sum up, list or remove the libraries that ``gd.compile`` has built."""
    cache = Cache()
    if arguments.clear:
        print(f"{cache.folder}: removed {_total(cache.clear())}")
        return 0
    entries = cache.entries()
    print(f"{cache.folder}: {_total(entries)}, of at most {_size(MAX_SIZE)}")
    dates = [time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.used)) for entry in entries]
    if entries and not arguments.list:
        print(f"used between {dates[-1]} and {dates[0]}; --list shows all, --clear removes them")
    elif entries:
        rows = [
            (entry.folder.name[:12], entry.name, _size(entry.size), date)
            for entry, date in zip(entries, dates, strict=True)
        ]
        print_table(("library", "function", "size", "last used"), rows, left=(0, 1, 3))
    return 0


def _total(entries: Sequence[CachedLibrary]) -> str:
    return f"{several(len(entries), 'library', 'libraries')}, {_size(sum(entry.size for entry in entries))}"


def _size(number: float) -> str:
    """Bytes, with the unit that suits them."""
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} GB"
