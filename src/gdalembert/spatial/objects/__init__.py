"""Placements, motions, forces, inertias and quaternions of SX, MX and numbers, with Pinocchio's names and operators.

Each is made of its parts, of one matrix, or of another object, Pinocchio's too. Twists and wrenches are linear first, a
quaternion has the coefficients (x, y, z, w). Numbers stay numbers (DM), so that they meet SX and MX alike.
"""

from gdalembert.spatial.objects.inertias import Inertia as Inertia
from gdalembert.spatial.objects.inertias import LogCholeskyParameters as LogCholeskyParameters
from gdalembert.spatial.objects.inertias import PseudoInertia as PseudoInertia
from gdalembert.spatial.objects.inertias import Symmetric3 as Symmetric3
from gdalembert.spatial.objects.placements import SE3 as SE3
from gdalembert.spatial.objects.placements import Frame as Frame
from gdalembert.spatial.objects.rotations import AngleAxis as AngleAxis
from gdalembert.spatial.objects.rotations import Quaternion as Quaternion
from gdalembert.spatial.objects.vectors import Force as Force
from gdalembert.spatial.objects.vectors import Motion as Motion

__all__ = [
    *("SE3", "AngleAxis", "Force", "Frame", "Inertia", "LogCholeskyParameters", "Motion", "PseudoInertia"),
    *("Quaternion", "Symmetric3"),
]
