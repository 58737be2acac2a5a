"""Placements, motions, forces, inertias and quaternions of SX, MX and numbers, with Pinocchio's names and operators.

Each is made of its parts, of one matrix, or of another object, Pinocchio's too. Twists and wrenches are linear first, a
quaternion has the coefficients (x, y, z, w). Numbers stay numbers (DM), so that they meet SX and MX alike.
"""

from gdalembert.cpin.objects.inertias import Inertia as Inertia
from gdalembert.cpin.objects.inertias import LogCholeskyParameters as LogCholeskyParameters
from gdalembert.cpin.objects.inertias import PseudoInertia as PseudoInertia
from gdalembert.cpin.objects.inertias import Symmetric3 as Symmetric3
from gdalembert.cpin.objects.placements import SE3 as SE3
from gdalembert.cpin.objects.placements import Frame as Frame
from gdalembert.cpin.objects.rotations import AngleAxis as AngleAxis
from gdalembert.cpin.objects.rotations import Quaternion as Quaternion
from gdalembert.cpin.objects.vectors import Force as Force
from gdalembert.cpin.objects.vectors import Motion as Motion

__all__ = [
    *("SE3", "AngleAxis", "Force", "Frame", "Inertia", "LogCholeskyParameters", "Motion", "PseudoInertia"),
    *("Quaternion", "Symmetric3"),
]
