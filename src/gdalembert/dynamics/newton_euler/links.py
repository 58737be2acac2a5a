"""Links, their motion, outward from the base to the tips, and the wrenches that act on them from outside.

Rotations are applied, not multiplied out: R = F R_z(q) changes two components, then F is constant. They are written
like matrices: ``r @ x``, ``r.T @ x``, and ``r.conjugate(s)`` for R S Rᵀ.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import casadi as ca
import pinocchio as pin

from gdalembert import spatial
from gdalembert.dynamics.wrenches import NO_WRENCHES, ExternalWrenches
from gdalembert.model.regrouping import keeps_joint_axes, sense_of
from gdalembert.model.tree import Frame, Joint, Tree
from gdalembert.spatial.algebra import Matrix, kernel
from gdalembert.spatial.spatial_vectors import Motion, Wrench

_Z = ca.sparsify(ca.DM([0, 0, 1]))


class Rotation(ABC):
    """R, 3 × 3."""

    @abstractmethod
    def __matmul__(self, x: Matrix) -> Matrix:
        """R x, x of 3 × n."""

    @property
    @abstractmethod
    def T(self) -> Rotation:
        """Rᵀ."""

    def conjugate(self, s: Matrix) -> Matrix:
        """R S Rᵀ, S of 3 × 3."""
        return (self @ (self @ s).T).T


@dataclass(frozen=True)
class Full(Rotation):
    """A rotation matrix without structure."""

    matrix: Matrix

    def __matmul__(self, x: Matrix) -> Matrix:
        return self.matrix @ x

    @property
    def T(self) -> Rotation:
        return Full(self.matrix.T)


@dataclass(frozen=True)
class AboutZ(Rotation):
    """Rotation about z by the angle with the given cosine and sine."""

    cosine: Matrix
    sine: Matrix

    def __matmul__(self, x: Matrix) -> Matrix:
        return _turned(self.cosine, self.sine, x)

    def after(self, other: AboutZ) -> AboutZ:
        """The rotation by both angles together."""
        c, s = self.cosine, self.sine
        return AboutZ(c * other.cosine - s * other.sine, s * other.cosine + c * other.sine)

    @property
    def T(self) -> AboutZ:
        return AboutZ(self.cosine, -self.sine)

    def conjugate(self, s: Matrix) -> Matrix:
        """R S Rᵀ."""
        return _conjugated(self.cosine, self.sine, s)


@kernel
def _turned(c: Matrix, s: Matrix, x: Matrix) -> Matrix:
    """R x of the turn about z with the cosine c and the sine s."""
    return ca.vertcat(c * x[0, :] - s * x[1, :], s * x[0, :] + c * x[1, :], x[2, :])


@kernel
def _conjugated(cosine: Matrix, sine: Matrix, s: Matrix) -> Matrix:
    """R S Rᵀ: the 2 × 2 block [[a, b], [d, e]] needs one product t = s (a − e) + c (b + d) instead of four."""
    a, b, d, e = s[0, 0], s[0, 1], s[1, 0], s[1, 1]
    t = sine * (a - e) + cosine * (b + d)
    last_column, last_row = (_turned(cosine, sine, x)[:2] for x in (s[:, 2], s[2, :].T))
    block = spatial.rows((a - sine * t, cosine * t - d), (cosine * t - b, e + sine * t))
    return spatial.rows((block, last_column), (last_row.T, s[2, 2]))


@dataclass(frozen=True)
class Product(Rotation):
    """The outer rotation after the inner one."""

    outer: Rotation
    inner: Rotation

    def __matmul__(self, x: Matrix) -> Matrix:
        return self.outer @ (self.inner @ x)

    @property
    def T(self) -> Rotation:
        return Product(self.inner.T, self.outer.T)

    def conjugate(self, s: Matrix) -> Matrix:
        return self.outer.conjugate(self.inner.conjugate(s))


@dataclass(frozen=True)
class NoTurn(AboutZ):
    """The identity."""

    cosine: Matrix = field(default_factory=lambda: ca.DM(1))
    sine: Matrix = field(default_factory=lambda: ca.DM(1, 1))

    def __matmul__(self, x: Matrix) -> Matrix:
        return x

    @property
    def T(self) -> AboutZ:
        return self

    def conjugate(self, s: Matrix) -> Matrix:
        return s


NO_TURN = NoTurn()


def together(outer: Rotation, inner: Rotation) -> Rotation:
    """The outer rotation after the inner one, multiplied out."""
    return outer if inner is NO_TURN else Full((inner.T @ (outer.T @ ca.DM.eye(3))).T)


def turns_about_z(joint: Joint) -> bool:
    """True if the joint turns about the z axis of its link."""
    axis = joint.type.axis
    return axis is not None and joint.type.can_rotate and axis[:2] == (0.0, 0.0)


def is_parallel(joint: Joint) -> bool:
    """True if the joint's frame and its parent's link frame share the direction of z."""
    z = spatial.constant(joint.rotation)[:, 2]
    return not z[:2].nnz() and z[2].is_constant() and float(z[2]) > 0


def placement_of(joint: Joint, own: Matrix) -> tuple[AboutZ, Rotation, Matrix]:
    """T, F and p of a joint's placement at its part of q, R = F T: T a turn about z, or none.

    Where axes are parallel F is such a turn, too.
    """
    fixed = spatial.constant(joint.rotation)
    turned, moved = joint.type.placement(own)
    origin = spatial.constant(joint.translation) + fixed @ moved
    if not turns_about_z(joint):
        return NO_TURN, Full(fixed @ turned), origin
    around = AboutZ(fixed[0, 0], fixed[1, 0]) if is_parallel(joint) else Full(fixed)
    return AboutZ(turned[0, 0], turned[1, 0]), around, origin


@dataclass(frozen=True)
class Link:
    """A link and the joint that moves it, in link axes."""

    joint: Joint
    configuration: Matrix  # the joint's part of q
    turn: AboutZ  # link axes to joint axes
    fixed: Rotation  # joint axes to the parent's axes
    origin: Matrix  # p: link origin in the parent's axes, from its origin
    columns: Motion  # S, 3 × nv and 3 × nv, per unit of rate
    rate: float  # how many times v the joint moves along them
    held: AboutZ  # the turn of what is fixed in the link, where link axes keep those of the joint
    mass: Matrix  # m
    first: Matrix  # h = ∫ x
    second: Matrix  # J = ∫ x xᵀ

    def frame(self, frame: Frame) -> tuple[Matrix, Matrix]:
        """R and p of an operational frame of the link, in link axes."""
        return self.held @ spatial.constant(frame.rotation), self.held @ spatial.constant(frame.translation)

    @property
    def rotation(self) -> Rotation:
        """R: link axes to the parent's axes."""
        if self.turn is NO_TURN:
            return self.fixed
        return self.turn if self.fixed is NO_TURN else Product(self.fixed, self.turn)

    @property
    def placement(self) -> tuple[Rotation, Matrix]:
        """R and p."""
        return self.rotation, self.origin

    def velocity(self, v: Matrix) -> Motion:
        """S v: the motion against the parent."""
        own = self.rate * self.joint.velocity(v)
        return Motion(self.columns.linear @ own, self.columns.angular @ own)

    def acceleration(self, v: Matrix, a: Matrix) -> Motion:
        """S a + dS/dt v."""
        rates, own = self.column_rates(v), self.joint.velocity(v)
        return self.velocity(a) + Motion(rates.linear @ own, rates.angular @ own)

    def column_rates(self, v: Matrix) -> Motion:
        """dS/dt, which is zero for all joints but the ellipsoid."""
        return Motion(*self.joint.type.subspace_rate(self.configuration, self.joint.velocity(v)))

    def work(self, wrench: Wrench) -> Matrix:
        """Sᵀ (f; n), per unit of rate."""
        return wrench.work(self.columns.linear, self.columns.angular)

    def torque(self, wrench: Wrench) -> Matrix:
        """Sᵀ (f; n)."""
        return self.rate * self.work(wrench)


@dataclass(frozen=True)
class Spin:
    """The second derivative of a rotation, U = [α×] + [ω×][ω×]: a point at x accelerates by U x against the origin.

    The diagonal enters moments by its differences (U_zz − U_yy, U_xx − U_zz, U_yy − U_xx) alone.
    """

    matrix: Matrix
    differences: Matrix  # 3

    def __matmul__(self, x: Matrix) -> Matrix:
        """U x, x of 3 × n."""
        return self.matrix @ x

    def moment(self, j: Matrix) -> Matrix:
        """vee(U J − (U J)ᵀ) that a symmetric pseudo-inertia J needs, with 15 products instead of 18."""
        return _moment(self.matrix, self.differences, j)


@kernel
def _moment(u: Matrix, differences: Matrix, j: Matrix) -> Matrix:
    zy, xz, yx = ca.vertsplit(differences)
    return ca.vertcat(
        zy * j[1, 2] + u[2, 0] * j[0, 1] + u[2, 1] * j[1, 1] - u[1, 0] * j[0, 2] - u[1, 2] * j[2, 2],
        xz * j[0, 2] + u[0, 1] * j[1, 2] + u[0, 2] * j[2, 2] - u[2, 0] * j[0, 0] - u[2, 1] * j[0, 1],
        yx * j[0, 1] + u[1, 0] * j[0, 0] + u[1, 2] * j[0, 2] - u[0, 1] * j[1, 1] - u[0, 2] * j[1, 2],
    )


@kernel
def _differences(omega: Matrix) -> Matrix:
    xx, yy, zz = omega[0] * omega[0], omega[1] * omega[1], omega[2] * omega[2]
    return ca.vertcat(zz - yy, xx - zz, yy - xx)


def spin_of(alpha: Matrix, omega: Matrix, on_axis: Matrix | None = None) -> Spin:
    """U of a link that turns with ω and α, where U e_z may be given."""
    matrix = spatial.spin(alpha, omega)
    if on_axis is not None:
        matrix = ca.horzcat(matrix[:, :2], on_axis)
    return Spin(matrix, _differences(omega))


@dataclass(frozen=True)
class LinkMotion:
    """Motion of a link, in link axes."""

    omega: Matrix  # ω
    alpha: Matrix  # α
    spin: Spin  # U
    velocity: Matrix  # of the origin
    acceleration: Matrix  # ẍ of the origin

    def demanded(self, mass: Matrix, first: Matrix, second: Matrix) -> Wrench:
        """The wrench that a body needs to move so: Newton's and Euler's equations in trace form."""
        force = mass * self.acceleration + self.spin @ first
        return Wrench(force, self.spin.moment(second) + ca.cross(first, self.acceleration))


Placing: TypeAlias = Callable[[Tree, Matrix], list[Link]]
"""All links of a tree at q, in axes of a choice."""

Motions = dict[int, LinkMotion]
"""Motions by the index of the link; −1 is the base."""


def place(tree: Tree, q: Matrix) -> list[Link]:
    """All links at q.

    The axes of a link that keeps those of its joint do not turn with the link: its constants and the placements of its
    children turn instead. At the base, where nothing is passed on, link axes and joint axes are the same.
    """
    links: list[Link] = []
    held: list[AboutZ] = []  # the turn of each link whose axes do not turn with it
    for joint in tree.joints:
        own = joint.configuration(q)
        turn, fixed, origin = placement_of(joint, own)
        above = held[joint.parent] if joint.parent >= 0 else NO_TURN
        if isinstance(fixed, AboutZ):
            turn, fixed = above.after(fixed).after(turn), NO_TURN
        else:
            fixed = Product(above, fixed)
        keeps = keeps_joint_axes(joint)
        held.append(turn if keeps else NO_TURN)
        if keeps:
            turn = NO_TURN
        if joint.parent < 0:
            turn, fixed = NO_TURN, Product(fixed, turn)
        body = spatial.constant(joint.pseudo_inertia)
        sense = sense_of(joint.type)
        linear, angular = joint.type.subspace(own)
        links.append(
            Link(
                joint=joint,
                configuration=own,
                turn=turn,
                fixed=fixed,
                origin=above @ origin,
                columns=Motion(sense * linear, sense * angular),
                rate=sense if joint.scaling is None else sense * joint.scaling,
                held=held[-1],
                mass=body[3, 3],
                first=held[-1] @ body[:3, 3],
                second=held[-1].conjugate(body[:3, :3]),
            )
        )
    return links


def moved(link: Link, parent: LinkMotion, v: Matrix, a: Matrix) -> LinkMotion:
    """The motion of a link, from that of what it is joined to.

    Where both turn about the z axis of the link, the points of that axis move with the parent: U e_z = (ω_x ω_z + α_y,
    ω_y ω_z − α_x, −ω_x² − ω_y²) is the parent's, and α_x and α_y follow from it.
    """
    own, own_rate = link.velocity(v), link.acceleration(v, a)
    to_link, on_axis = link.rotation.T, None

    carried = to_link @ parent.omega
    omega = carried + own.angular
    alpha = to_link @ parent.alpha + own_rate.angular + ca.cross(carried, own.angular)
    if turns_about_z(link.joint) and link.columns.angular.sparsity() == _Z.sparsity():
        on_axis = to_link @ (parent.spin @ (link.rotation @ _Z))
        alpha = ca.vertcat(omega[1] * omega[2] - on_axis[1], on_axis[0] - omega[0] * omega[2], alpha[2])
    pull = parent.acceleration + parent.spin @ link.origin
    acceleration = to_link @ pull + own_rate.linear + ca.cross(carried + omega, own.linear)
    velocity = to_link @ (parent.velocity + ca.cross(parent.omega, link.origin)) + own.linear
    return LinkMotion(omega, alpha, spin_of(alpha, omega, on_axis), velocity, acceleration)


class Aligned(NamedTuple):
    """A wrench that keeps its direction, and the point that it acts at, seen from the origin of a link."""

    lever: Matrix
    wrench: Wrench

    def turned(self, r: Rotation) -> Aligned:
        """A rotation into other axes, R x for x."""
        return Aligned(r @ self.lever, self.wrench.turned(r))


@dataclass(frozen=True)
class Loads:
    """Wrenches (6 × n) at frames: a link needs so much less from its joint (ours).

    They enter the inward sums in link axes, about the link's origin. A LOCAL one is placed there by a constant, and a
    LOCAL_WORLD_ALIGNED one is turned outward from the universe. A WORLD one, whose lever would be shifted outward only
    to be shifted inward again, gives each joint on its way its part Sᵀ w.
    """

    at: ExternalWrenches = field(default_factory=ExternalWrenches)
    wrenches: Matrix = field(default_factory=lambda: NO_WRENCHES)

    @staticmethod
    def of(at: ExternalWrenches, wrenches: Matrix) -> Loads:
        """Wrenches at frames; none if there are no columns."""
        return Loads(at, wrenches) if wrenches.shape[1] else UNLOADED

    def given_in(self, references: Collection[pin.ReferenceFrame]) -> Loads:
        """Wrenches given in some references."""
        at, which = self.at.given_in(references)
        return Loads(at, self.wrenches[:, which])

    def _given_as(self, reference: pin.ReferenceFrame, tree: Tree) -> Iterator[tuple[Frame, Wrench]]:
        for frame, given, w in self.at.at_frames(tree, self.wrenches):
            if frame.joint >= 0 and given == reference:
                yield frame, Wrench(tree.unit * w[:3], w[3:])

    def on(self, tree: Tree, links: Sequence[Link], world: bool = False) -> list[Wrench]:
        """Wrenches on each link at its frames, in link axes about its origin, WORLD wrenches apart or with them."""
        acting = [Wrench(ca.DM(3, 1), ca.DM(3, 1)) for _ in links]
        for frame, wrench in self._given_as(pin.LOCAL, tree):
            acting[frame.joint] += wrench.to_parent(*links[frame.joint].frame(frame))
        for frame, wrench in self._given_as(pin.LOCAL_WORLD_ALIGNED, tree):
            for i in tree.path(frame.joint):
                wrench = wrench.turned(links[i].rotation.T)
            acting[frame.joint] += wrench.about(-links[frame.joint].frame(frame)[1])
        for frame, wrench in self._given_as(pin.WORLD, tree) if world else ():
            for i in tree.path(frame.joint):
                wrench = wrench.seen_from(*links[i].placement)
            acting[frame.joint] += wrench
        return acting

    def aligned(self, tree: Tree, links: Sequence[Link]) -> list[list[Aligned]]:
        """The LOCAL_WORLD_ALIGNED wrenches that each joint bears, in joint axes."""
        borne: list[list[Aligned]] = [[] for _ in links]
        for frame, wrench in self._given_as(pin.LOCAL_WORLD_ALIGNED, tree):
            path, (_, lever) = tree.path(frame.joint), links[frame.joint].frame(frame)
            levers: dict[int, Matrix] = {}
            for i in reversed(path):
                levers[i] = links[i].turn @ lever
                lever = links[i].origin + links[i].fixed @ levers[i]
            for i in path:
                at_joint = wrench.turned(links[i].fixed.T)
                borne[i].append(Aligned(levers[i], at_joint))
                wrench = at_joint.turned(links[i].turn.T)
        return borne

    def world_torques(self, tree: Tree, links: Sequence[Link]) -> Matrix:
        """Sᵀ w of the WORLD wrenches (nv)."""
        torques: list[Matrix] = [ca.DM(link.joint.type.nv, 1) for link in links]
        for frame, wrench in self._given_as(pin.WORLD, tree):
            for i in tree.path(frame.joint):
                wrench = wrench.seen_from(*links[i].placement)
                torques[i] = torques[i] + links[i].torque(wrench)
        return tree.vector(torques)


UNLOADED = Loads()
