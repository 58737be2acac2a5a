"""The joint types: placement, motion subspace, configuration space, and what callers ask about them.

A joint moves its link against the joint frame by R(q), p(q). The velocity of the link, in its own axes, is S(q) v; the
two halves of the motion subspace S stay apart: ``linear`` and ``angular``, each 3 × nv, with the columns in Pinocchio's
order. Where S depends on q (the ellipsoid alone) the type gives its rate too. A joint that is a sequence of simpler
ones (universal, spherical ZYX, composite) is that sequence in a ``Tree``.

Every type follows Pinocchio's conventions: quaternions (x, y, z, w), a continuous joint as (cos, sin), velocities of
spherical, planar and free-flyer joints in the axes of the moved link.

Code outside this package never tests for a type: it asks :class:`JointType`.
"""

from gdalembert.model.joints.joint_type import JointType as JointType
from gdalembert.model.joints.joint_type import Vector3 as Vector3
from gdalembert.model.joints.standard import Ellipsoid as Ellipsoid
from gdalembert.model.joints.standard import FreeFlyer as FreeFlyer
from gdalembert.model.joints.standard import Helical as Helical
from gdalembert.model.joints.standard import Planar as Planar
from gdalembert.model.joints.standard import Prismatic as Prismatic
from gdalembert.model.joints.standard import Revolute as Revolute
from gdalembert.model.joints.standard import Spherical as Spherical
from gdalembert.model.joints.standard import Translation as Translation
from gdalembert.model.joints.standard import UnboundedRevolute as UnboundedRevolute

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
