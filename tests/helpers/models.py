"""Random models with every joint type that a ``pin.Model`` can hold, and how errors are measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pinocchio as pin

Rng = np.random.Generator


def relative_error(value: object, reference: object) -> float:
    """max|Δ| / max(1, max|reference|); infinite where a value is not finite."""
    value, reference = np.asarray(value, dtype=float), np.asarray(reference, dtype=float)
    assert value.shape == reference.shape, (value.shape, reference.shape)
    error = np.abs(value - reference).max(initial=0) / max(1.0, np.abs(reference).max(initial=0))
    return float(error) if np.isfinite(error) else np.inf


def unit(rng: Rng) -> np.ndarray:
    x = rng.normal(size=3)
    return x / np.linalg.norm(x)


def placement(rng: Rng) -> pin.SE3:
    x = rng.normal(size=4)
    return pin.SE3(pin.Quaternion(*(x / np.linalg.norm(x))).toRotationMatrix(), rng.normal(size=3))


def inertia(rng: Rng) -> pin.Inertia:
    """Physical and full: from a random positive definite pseudo-inertia."""
    b = rng.normal(size=(3, 3))
    second = b @ b.T
    return pin.Inertia(rng.uniform(0.5, 3), rng.normal(size=3), np.trace(second) * np.eye(3) - second)


def _universal(rng: Rng) -> pin.JointModel:
    a = unit(rng)
    b = np.cross(a, unit(rng))
    return pin.JointModelUniversal(a, b / np.linalg.norm(b))


def _composite(rng: Rng) -> pin.JointModel:
    joint = pin.JointModelComposite(pin.JointModelRY(), placement(rng))
    joint.addJoint(pin.JointModelPZ(), placement(rng))
    joint.addJoint(pin.JointModelSphericalZYX(), placement(rng))
    joint.addJoint(pin.JointModelRUBX(), placement(rng))
    return joint


JOINTS: dict[str, Callable[[Rng], pin.JointModel]] = {
    "RX": lambda _: pin.JointModelRX(),
    "RY": lambda _: pin.JointModelRY(),
    "RZ": lambda _: pin.JointModelRZ(),
    "RevoluteUnaligned": lambda rng: pin.JointModelRevoluteUnaligned(unit(rng)),
    "RUBX": lambda _: pin.JointModelRUBX(),
    "RUBY": lambda _: pin.JointModelRUBY(),
    "RUBZ": lambda _: pin.JointModelRUBZ(),
    "PX": lambda _: pin.JointModelPX(),
    "PY": lambda _: pin.JointModelPY(),
    "PZ": lambda _: pin.JointModelPZ(),
    "PrismaticUnaligned": lambda rng: pin.JointModelPrismaticUnaligned(unit(rng)),
    "HX": lambda rng: pin.JointModelHX(rng.normal()),
    "HY": lambda rng: pin.JointModelHY(rng.normal()),
    "HZ": lambda rng: pin.JointModelHZ(rng.normal()),
    "HelicalUnaligned": lambda rng: pin.JointModelHelicalUnaligned(unit(rng), rng.normal()),
    "Spherical": lambda _: pin.JointModelSpherical(),
    "SphericalZYX": lambda _: pin.JointModelSphericalZYX(),
    "Translation": lambda _: pin.JointModelTranslation(),
    "Planar": lambda _: pin.JointModelPlanar(),
    "FreeFlyer": lambda _: pin.JointModelFreeFlyer(),
    "Universal": _universal,
    "Ellipsoid": lambda rng: pin.JointModelEllipsoid(*rng.uniform(0.1, 1, size=3)),
    "Composite": _composite,
}

MIMICABLE = ("RX", "RevoluteUnaligned", "RUBZ", "PX", "PrismaticUnaligned")
"""Joints that can be mimicked, but for the helical ones: Pinocchio forgets their pitch then, or crashes."""

QUICK_JOINTS = ("HelicalUnaligned", "RUBX", "SphericalZYX")
"""Joints of the quick tests: an axis of any direction, nq of 2, and columns that depend on q."""

CONSTANT_SUBSPACE = tuple(k for k in JOINTS if k not in ("SphericalZYX", "Universal", "Ellipsoid", "Composite"))
"""Joints for which Pinocchio's Coriolis matrix is right."""


def build(rng: Rng, names: Sequence[str], parents: Sequence[int], *, mimic: int | None = None) -> pin.Model:
    """A model with the named joints; ``parents`` are Pinocchio's joint ids, ``mimic`` the id of one to be mimicked."""
    model = pin.Model()
    model.name = "random"
    for k, (name, parent) in enumerate(zip(names, parents, strict=True)):
        joint = model.addJoint(parent, JOINTS[name](rng), placement(rng), f"{name}_{k}")
        model.appendBodyToJoint(joint, inertia(rng), placement(rng))
        model.addBodyFrame(f"body_{k}", joint, placement(rng), 0)
    if mimic is not None:
        follower = pin.JointModelMimic(model.joints[mimic], rng.uniform(-2, -0.5), rng.normal())
        joint = model.addJoint(model.njoints - 1, follower, placement(rng), "mimic")
        model.appendBodyToJoint(joint, inertia(rng), placement(rng))
    model.gravity = pin.Motion(5 * rng.normal(size=3), np.zeros(3))
    model.armature = rng.uniform(0, 1, size=model.nv)
    return model


def states(model: pin.Model, rng: Rng, number: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Random (q, v, a) on the configuration manifold."""
    neutral = pin.neutral(model)
    return [
        (pin.integrate(model, neutral, rng.normal(size=model.nv)), rng.normal(size=model.nv), rng.normal(size=model.nv))
        for _ in range(number)
    ]


def is_depth_first(model: pin.Model) -> bool:
    """Whether the joints were added depth first, which Pinocchio's crba and Coriolis matrix take for granted."""
    stack = [0]
    for joint in range(1, model.njoints):
        while stack[-1] != model.parents[joint]:
            stack.pop()
            if not stack:
                return False
        stack.append(joint)
    return True
