"""The robots that are counted and timed: ours, and those of the PyPI package example-robot-data."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import numpy as np
import pinocchio as pin

import gdalembert as gd

HERE = Path(__file__).parent

EXAMPLES = {
    "ur5": ("ur_description/urdf/ur5_robot.urdf", False),
    "panda": ("panda_description/urdf/panda.urdf", False),
    "kinova": ("kinova_description/robots/kinova.urdf", False),
    "solo12": ("solo_description/robots/solo12.urdf", True),
    "go2": ("go2_description/urdf/go2.urdf", True),
    "talos": ("talos_data/robots/talos_reduced.urdf", True),
}
"""Name: file, and whether it moves freely."""

NAMES = ("puma560_benchmark", "panda7", *EXAMPLES)


def load(name: str) -> pin.Model:
    """A robot of :data:`NAMES`."""
    if name == "puma560_benchmark":
        return gd.load_urdf(HERE / "robots" / "puma560_benchmark.urdf", check="off")
    if name not in EXAMPLES:
        return gd.load_urdf(name)
    root_joint = pin.JointModelFreeFlyer() if EXAMPLES[name][1] else None
    return gd.load_urdf(path(name), root_joint=root_joint, check="off")


def path(name: str) -> Path:
    """The URDF of a robot of :data:`EXAMPLES`."""
    try:
        package = metadata.distribution("example-robot-data")
    except metadata.PackageNotFoundError:
        raise SystemExit(f"{name} is in the package example-robot-data: pip install 'gdalembert[test]'") from None
    shared = package.locate_file("cmeel.prefix/share/example-robot-data/robots")
    return Path(str(shared)) / EXAMPLES[name][0]


def chain(n: int) -> pin.Model:
    """A serial chain of n revolute joints with skew axes and full inertias: nothing in it is zero."""
    rng = np.random.default_rng(n)
    model = pin.Model()
    model.name = f"chain{n}"
    for k in range(n):
        axis = rng.normal(size=3)
        quaternion = rng.normal(size=4)
        turned = pin.Quaternion(*(quaternion / np.linalg.norm(quaternion))).toRotationMatrix()
        joint = pin.JointModelRevoluteUnaligned(axis / np.linalg.norm(axis))
        index = model.addJoint(k, joint, pin.SE3(turned, rng.normal(size=3)), f"joint{k + 1}")
        b = rng.normal(size=(3, 3))
        body = pin.Inertia(rng.uniform(0.5, 2), rng.normal(size=3), np.trace(b @ b.T) * np.eye(3) - b @ b.T)
        model.appendBodyToJoint(index, body, pin.SE3.Identity())
    return model
