"""What acts on a robot: one small class for each force element."""

from gdalembert.dynamics.forces.force import Force
from gdalembert.dynamics.forces.friction import Friction, JointFriction
from gdalembert.dynamics.forces.springs import Damping, Gravity, Springs

__all__ = ["Damping", "Force", "Friction", "Gravity", "JointFriction", "Springs"]
