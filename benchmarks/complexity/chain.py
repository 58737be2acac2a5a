"""The chains of the complexity study: revolute joints in standard Denavit–Hartenberg form, without zero constants.

Frame i is fixed in link i, z_{i−1} is the axis of joint i, ^{i−1}A_i = Rot_z(θ_i) Trans_z(d_i) Trans_x(a_i) Rot_x(α_i).
Links, joints and frames are counted from 1, as in the sources; the base is 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert import spatial
from gdalembert.spatial.algebra import Matrix

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Link:
    """A link: its row of the Denavit–Hartenberg table (m, rad), mass [kg], com (3, m) and inertia (3 × 3, kg m²).

    The centre of mass is measured from the origin of the link's own frame, the inertia is about the centre of mass,
    and both are in the axes of that frame.
    """

    d: float
    a: float
    alpha: float
    mass: float
    com: Array
    inertia: Array

    def matrix(self, theta: Matrix) -> Matrix:
        """^{i−1}A_i, 4 × 4."""
        c, s, c_alpha, s_alpha = ca.cos(theta), ca.sin(theta), np.cos(self.alpha), np.sin(self.alpha)
        return spatial.rows(
            (c, -c_alpha * s, s_alpha * s, self.a * c),
            (s, c_alpha * c, -s_alpha * c, self.a * s),
            (_ZERO, s_alpha, c_alpha, self.d),
            (_ZERO, _ZERO, _ZERO, 1),
        )

    @property
    def pseudo_inertia(self) -> ca.DM:
        """J_i = ∫ r rᵀ dm, r = (x, y, z, 1), about the origin of the link's frame, 4 × 4."""
        return ca.DM(self._body.toPseudoInertia().toMatrix())

    @property
    def _body(self) -> pin.Inertia:
        return pin.Inertia(self.mass, self.com, self.inertia)


_ZERO = ca.DM(1, 1)  # structurally zero


@dataclass(frozen=True)
class Chain:
    """The links, beginning with link 1, and gravity (3, m/s²) in base axes."""

    links: tuple[Link, ...]
    gravity: Array

    @property
    def joints(self) -> range:
        """1 … n."""
        return range(1, len(self.links) + 1)

    def link(self, i: int) -> Link:
        """Link i, from 1."""
        return self.links[i - 1]

    def matrices(self, q: Matrix) -> dict[int, Matrix]:
        """^{i−1}A_i by i."""
        return {i: self.link(i).matrix(q[i - 1]) for i in self.joints}

    def model(self) -> pin.Model:
        """The same chain for Pinocchio, whose frames sit at the joints."""
        model = pin.Model()
        model.name = f"chain{len(self.links)}"
        placement = pin.SE3.Identity()
        for i in self.joints:
            joint = model.addJoint(i - 1, pin.JointModelRZ(), placement, f"joint{i}")
            at_rest = np.array(ca.evalf(self.link(i).matrix(ca.DM(0.0))))
            placement = pin.SE3(at_rest[:3, :3], at_rest[:3, 3])
            model.appendBodyToJoint(joint, placement.act(self.link(i)._body), pin.SE3.Identity())
        model.gravity.linear = self.gravity
        return model


def generic(n: int) -> Chain:
    """n links without zero constants, the first n of any longer chain; gravity has three components."""
    rng = np.random.default_rng(1982)
    gravity = rng.uniform(-10, 10, 3)
    return Chain(tuple(_link(rng) for _ in range(n)), gravity)


def _link(rng: np.random.Generator) -> Link:
    b = rng.normal(size=(3, 3))
    return Link(
        d=rng.uniform(0.1, 0.5),
        a=rng.uniform(0.1, 0.5),
        alpha=rng.uniform(0.3, 1.2),
        mass=rng.uniform(0.5, 3),
        com=rng.uniform(-0.3, 0.3, 3),
        inertia=0.1 * (np.trace(b @ b.T) * np.eye(3) - b @ b.T),
    )
