"""What is known of the derivatives of forward dynamics where nothing holds the base.

Newton's laws are the same in all frames that move at constant velocity, however they are turned, and weight
accelerates all masses alike. So a robot whose base is free moves its joints in the same way in whatever pose the base
is and at whatever linear velocity. The base itself, in its axes and with g in them, accelerates by

    a_lin = g − ω × v_lin + …,   ∂a_lin/∂θ = [g×],   ∂a_lin/∂v_lin = −[ω×],   ∂a_lin/∂ω = [v_lin×] + …

where … is what depends neither on its pose nor on v_lin; only external wrenches and force elements may besides.
(Ours.)
"""

from __future__ import annotations

from collections.abc import Iterable

import casadi as ca

from gdalembert import spatial
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix


class FreeBases:
    """The free-flyers on the universe, without armature."""

    def __init__(self, tree: Tree) -> None:
        armature = spatial.constant(tree.armature)
        roots = (joint for joint in tree.joints if joint.parent < 0 and joint.type.is_free)
        self.tree, self.joints = tree, [root for root in roots if not root.velocity(armature).nnz()]

    @property
    def pose(self) -> ca.DM:
        """The projection (nv × nv) on their poses, among displacements of q."""
        return self._projection(k for joint in self.joints for k in joint.columns)

    @property
    def linear(self) -> ca.DM:
        """The projection (nv × nv) on their linear velocities, among velocities v."""
        return self._projection(k for joint in self.joints for k in joint.columns[:3])

    def derivatives(self, q: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
        """What is known of ∂a/∂q and ∂a/∂v (nv × nv each): all of the columns of their poses and of v_lin."""
        by_q, by_v = (ca.SX(self.tree.nv, self.tree.nv) for _ in range(2))
        for joint in self.joints:
            rotation, _ = joint.placement(q)
            own, linear, angular = joint.velocity(v), joint.columns[:3], joint.columns[3:]
            by_q[linear, angular] = spatial.skew(rotation.T @ spatial.constant(self.tree.gravity))
            by_v[linear, linear] = -spatial.skew(own[3:])
            by_v[linear, angular] = spatial.skew(own[:3])
        return by_q, by_v

    def _projection(self, columns: Iterable[int]) -> ca.DM:
        chosen = ca.DM(self.tree.nv, 1)
        for k in columns:
            chosen[k] = 1
        return ca.diag(chosen)
