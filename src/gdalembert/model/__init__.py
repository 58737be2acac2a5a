"""Models of robots: from a URDF to a ``pin.Model``, and from that to the :class:`Tree` that all else is made of.

from gdalembert.model import read_tree

tree = read_tree(model)  # read and checked once
dyn, kin = gd.NewtonEuler(tree), gd.Kinematics(tree)
"""

from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.tree import Frame, Joint, Tree

__all__ = ["Frame", "Joint", "Tree", "read_tree"]
