"""The robots of the benchmarks: ours, and those of the PyPI package example-robot-data."""

from __future__ import annotations

import argparse
from importlib import metadata
from pathlib import Path

import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert.model.load_urdf import robot_folder

HERE = Path(__file__).parents[1]

EXAMPLES = {
    "ur5": ("ur_description/urdf/ur5_robot.urdf", False),
    "panda": ("panda_description/urdf/panda.urdf", False),
    "kinova": ("kinova_description/robots/kinova.urdf", False),
    "solo12": ("solo_description/robots/solo12.urdf", True),
    "go2": ("go2_description/urdf/go2.urdf", True),
    "talos": ("talos_data/robots/talos_reduced.urdf", True),
}
"""The file of each robot, and whether it has a free-flyer."""

NAMES = ("puma560_benchmark", "panda7", *EXAMPLES)

TITLES = dict(
    zip(NAMES, ("PUMA 560", "Panda arm", "UR5", "Panda + hand", "Kinova", "Solo12", "Go2", "Talos"), strict=True)
)
"""The names of the robots in figures."""


def known(name: str) -> str:
    """A robot of :data:`NAMES`, for argparse."""
    if name not in NAMES:
        raise argparse.ArgumentTypeError(f"no robot {name}; there are {', '.join(NAMES)}")
    return name


def load(name: str) -> pin.Model:
    """A robot of :data:`NAMES`."""
    root_joint = pin.JointModelFreeFlyer() if name in EXAMPLES and EXAMPLES[name][1] else None
    return gd.load_urdf(path(name), root_joint=root_joint, mimic=False, check="off")


def path(name: str) -> Path:
    """The URDF of a robot of :data:`NAMES`, or of a shipped one."""
    if name == "puma560_benchmark":
        return HERE / "robots" / "puma560_benchmark.urdf"
    if name not in EXAMPLES:
        return Path(str(robot_folder())) / f"{name}.urdf"
    return example(EXAMPLES[name][0])


def example(file: str) -> Path:
    """A file of the robots of example-robot-data."""
    try:
        package = metadata.distribution("example-robot-data")
    except metadata.PackageNotFoundError:
        raise SystemExit(f"{file} is in the package example-robot-data: pip install '.[test-all]'") from None
    return Path(str(package.locate_file("cmeel.prefix/share/example-robot-data/robots"))) / file


def chain(n: int) -> pin.Model:
    """A serial chain of n revolute joints with skew axes and full inertias: no constant is zero."""
    return _revolute(f"chain{n}", list(range(n)), np.random.default_rng(n))


def random_tree(n: int, seed: int) -> pin.Model:
    """n revolute joints as in :func:`chain`, added depth first; the parent of each is drawn from all earlier ones."""
    rng = np.random.default_rng((n, seed))
    children: list[list[int]] = [[] for _ in range(n)]
    for k in range(1, n):
        children[rng.integers(k)].append(k)
    parents, stack = [], [(0, 0)]
    while stack:
        k, parent = stack.pop()
        parents.append(parent)
        stack += [(child, len(parents)) for child in children[k]]
    return _revolute(f"tree{n}", parents, rng)


def _revolute(name: str, parents: list[int], rng: np.random.Generator) -> pin.Model:
    """One joint for each of ``parents``, which are Pinocchio's indices: 0 is the universe."""
    model = pin.Model()
    model.name = name
    for k, parent in enumerate(parents):
        axis = rng.normal(size=3)
        quaternion = rng.normal(size=4)
        turned = pin.Quaternion(*(quaternion / np.linalg.norm(quaternion))).toRotationMatrix()
        joint = pin.JointModelRevoluteUnaligned(axis / np.linalg.norm(axis))
        index = model.addJoint(parent, joint, pin.SE3(turned, rng.normal(size=3)), f"joint{k + 1}")
        b = rng.normal(size=(3, 3))
        body = pin.Inertia(rng.uniform(0.5, 2), rng.normal(size=3), np.trace(b @ b.T) * np.eye(3) - b @ b.T)
        model.appendBodyToJoint(index, body, pin.SE3.Identity())
    return model
