"""The joint types, one file each: placement, motion subspace, configuration space, and what callers ask about them.

A joint moves its link against the joint frame by R(q), p(q). The velocity of the link, in its own axes, is S(q) v; the
two halves of the motion subspace S stay apart: ``linear`` and ``angular``, each 3 × nv, with the columns in Pinocchio's
order. Where S depends on q (the ellipsoid alone) the type gives its rate too. A joint that is a sequence of simpler
ones (universal, spherical ZYX, composite) is that sequence in a ``Tree``.

Every type follows Pinocchio's conventions: quaternions (x, y, z, w), a continuous joint as (cos, sin), velocities of
spherical, planar and free-flyer joints in the axes of the moved link.

Code outside this package never tests for a type: it asks :class:`JointType`.
"""

from gdalembert.model.joints.ellipsoid import Ellipsoid
from gdalembert.model.joints.free_flyer import FreeFlyer
from gdalembert.model.joints.helical import Helical
from gdalembert.model.joints.joint_type import JointType, Vector3
from gdalembert.model.joints.planar import Planar
from gdalembert.model.joints.prismatic import Prismatic
from gdalembert.model.joints.revolute import Revolute
from gdalembert.model.joints.spherical import Spherical
from gdalembert.model.joints.translation import Translation
from gdalembert.model.joints.unbounded_revolute import UnboundedRevolute

JOINT_TYPES: tuple[type[JointType], ...] = (
    Revolute,
    UnboundedRevolute,
    Prismatic,
    Helical,
    Translation,
    Planar,
    Spherical,
    FreeFlyer,
    Ellipsoid,
)
"""A new type is added here and is known everywhere."""

__all__ = [
    "JOINT_TYPES",
    "Ellipsoid",
    "FreeFlyer",
    "Helical",
    "JointType",
    "Planar",
    "Prismatic",
    "Revolute",
    "Spherical",
    "Translation",
    "UnboundedRevolute",
    "Vector3",
]
