"""Kinematics of frames: placements, Jacobians, velocities, accelerations; and motion on the configuration space.

A twist V = (linear; angular) of a frame is passed on from link to link in link axes, S v and S a + Ṡ v being what a
joint adds to it and to its rate, X the change of axes and origin between a link and its parent. LOCAL goes outward,

    V_i = X⁻¹ V_λ + S v            A_i = X⁻¹ A_λ + S a + Ṡ v + V_i × S v

and WORLD goes inward over what the joints from i to the frame add, in the axes of the parent λ of link i (ours: the
rate of X is X (S v ×), so that no placement in the universe is ever needed),

    V_λ = X (S v + V_i)            A_λ = X (S a + Ṡ v + A_i + S v × V_i)

LOCAL_WORLD_ALIGNED follows the origin x of the frame inward, all in the axes of link i and turned by R to those of λ,

    x_λ = p + R x       ω_λ = R (s + ω)              ẋ_λ = R (s_x + ẋ)              s = S v about x, linear part s_x
                        ω̇_λ = R (ṡ + ω̇ + s × ω)      ẍ_λ = R (ṡ_x + ẍ + s × (2 ẋ + s_x))

whose rates make the classical acceleration; the spatial one is that of WORLD about x.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any

import casadi as ca
import pinocchio as pin

from gdalembert import spatial
from gdalembert.errors import ArgumentError, ArgumentTypeError, ModelError, UnknownNameError
from gdalembert.model.cleaning import Change, clean_tree
from gdalembert.model.configuration import difference, integrate
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.rounding import CLEANED
from gdalembert.model.tree import Frame, Joint, Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.functions import function, symbols
from gdalembert.spatial.spatial_vectors import Motion

_NULL = ca.DM(3, 1)
_AT_REST = Motion(_NULL, _NULL)


def fixed_placement(frame: Frame) -> tuple[ca.DM, ca.DM]:
    """R and p of a frame in its link."""
    return spatial.constant(frame.rotation), spatial.constant(frame.translation)


def placement(tree: Tree, frame: Frame, q: Matrix) -> tuple[Matrix, Matrix]:
    """R (3 × 3) and p (3) of a frame in the universe."""
    r, p = fixed_placement(frame)
    for i in reversed(tree.path(frame.joint)):
        r_i, p_i = tree.joints[i].placement(q)
        r, p = r_i @ r, p_i + r_i @ p
    return r, p


def _added(joint: Joint, q: Matrix, v: Matrix, a: Matrix) -> tuple[Motion, Motion]:
    """S v and S a + Ṡ v of a joint, in the axes of its link."""
    v_i, a_i = joint.velocity(v), joint.velocity(a)
    (linear, angular), (linear_rate, angular_rate) = joint.subspace(q), joint.subspace_rate(q, v)
    return (
        Motion(linear @ v_i, angular @ v_i),
        Motion(linear @ a_i + linear_rate @ v_i, angular @ a_i + angular_rate @ v_i),
    )


def _outward(tree: Tree, frame: Frame, q: Matrix, v: Matrix, a: Matrix) -> tuple[Motion, Motion]:
    """V and A of a frame, LOCAL."""
    twist, rate = _AT_REST, _AT_REST
    for i in tree.path(frame.joint):
        at = tree.joints[i].placement(q)
        added, added_rate = _added(tree.joints[i], q, v, a)
        carried = twist.seen_from(*at)
        rate = rate.seen_from(*at) + added_rate + carried.cross(added)
        twist = carried + added
    at = fixed_placement(frame)
    return twist.seen_from(*at), rate.seen_from(*at)


def _inward(tree: Tree, frame: Frame, q: Matrix, v: Matrix, a: Matrix) -> tuple[Motion, Motion]:
    """V and A of a frame, WORLD."""
    twist, rate = _AT_REST, _AT_REST
    for i in reversed(tree.path(frame.joint)):
        at = tree.joints[i].placement(q)
        added, added_rate = _added(tree.joints[i], q, v, a)
        rate = (rate + added_rate + added.cross(twist)).to_parent(*at)
        twist = (twist + added).to_parent(*at)
    return twist, rate


def _of_origin(tree: Tree, frame: Frame, q: Matrix, v: Matrix, a: Matrix) -> tuple[Motion, Motion]:
    """V and its rate of a frame, LOCAL_WORLD_ALIGNED: that rate is the classical acceleration."""
    twist, rate = _AT_REST, _AT_REST
    _, x = fixed_placement(frame)
    for i in reversed(tree.path(frame.joint)):
        r, p = tree.joints[i].placement(q)
        added, added_rate = (change.about(x) for change in _added(tree.joints[i], q, v, a))
        total = twist + added
        turning = Motion(_NULL, added.angular)
        rate = rate + added_rate + turning.cross(Motion(twist.linear + total.linear, twist.angular))
        twist, rate, x = total.turned(r), rate.turned(r), p + r @ x
    return twist, rate


_MOTION = {pin.LOCAL: _outward, pin.WORLD: _inward, pin.LOCAL_WORLD_ALIGNED: _of_origin}


def _links_seen_from(
    tree: Tree, frame: Frame, reference: pin.ReferenceFrame, q: Matrix
) -> Iterator[tuple[Joint, Matrix, Matrix]]:
    """The joints on the path to a frame, with R and p of their links in the reference."""
    path = [tree.joints[i] for i in tree.path(frame.joint)]
    fixed_r, fixed_p = fixed_placement(frame)
    if reference == pin.LOCAL:
        r, p = fixed_r.T, -fixed_r.T @ fixed_p
        for joint in reversed(path):
            yield joint, r, p
            r_i, p_i = joint.placement(q)
            r = r @ r_i.T
            p = p - r @ p_i
        return
    r, p = ca.DM.eye(3), _NULL
    links = []
    for joint in path:
        r_i, p_i = joint.placement(q)
        r, p = r @ r_i, p + r @ p_i
        links.append((joint, r, p))
    origin = _NULL if reference == pin.WORLD else p + r @ fixed_p
    for joint, r, p in links:
        yield joint, r, p - origin


def jacobian(tree: Tree, frame: Frame, reference: pin.ReferenceFrame, q: Matrix) -> Matrix:
    """J (6 × nv) of a frame: its columns are those of S, seen from the reference."""
    columns: list[Matrix] = [ca.DM(6, 1)] * tree.nv
    for joint, r, p in _links_seen_from(tree, frame, reference, q):
        block = Motion(*joint.subspace(q)).to_parent(r, p).vector
        for k, column in enumerate(joint.columns):
            columns[column] = columns[column] + block[:, k]
    return ca.horzcat(*columns)


def velocity(tree: Tree, frame: Frame, reference: pin.ReferenceFrame, q: Matrix, v: Matrix) -> Matrix:
    """V (6)."""
    return _MOTION[reference](tree, frame, q, v, ca.DM(tree.nv, 1))[0].vector


def acceleration(tree: Tree, frame: Frame, reference: pin.ReferenceFrame, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
    """The spatial acceleration (6)."""
    if reference == pin.LOCAL_WORLD_ALIGNED:
        _, rate = _inward(tree, frame, q, v, a)
        return rate.about(placement(tree, frame, q)[1]).vector
    return _MOTION[reference](tree, frame, q, v, a)[1].vector


def classical_acceleration(
    tree: Tree, frame: Frame, reference: pin.ReferenceFrame, q: Matrix, v: Matrix, a: Matrix
) -> Matrix:
    """The classical acceleration (6)."""
    twist, rate = _MOTION[reference](tree, frame, q, v, a)
    if reference == pin.LOCAL_WORLD_ALIGNED:
        return rate.vector
    return ca.vertcat(rate.linear + ca.cross(twist.angular, twist.linear), rate.angular)


def bias_acceleration(tree: Tree, frame: Frame, reference: pin.ReferenceFrame, q: Matrix, v: Matrix) -> Matrix:
    """The spatial acceleration (6) at a = 0."""
    return acceleration(tree, frame, reference, q, v, ca.DM(tree.nv, 1))


def find_frame(tree: Tree, frame: str | int) -> int:
    """The index in ``tree.frames`` of a frame given by name or index.

    Raises:
        UnknownNameError: if no frame has the name.
        ArgumentError: if several have it, or if the index is out of range.
        ArgumentTypeError: if it is neither a name nor an index.
    """
    if isinstance(frame, str):
        found = [k for k, known in enumerate(tree.frames) if known.name == frame]
        if not found:
            raise UnknownNameError("frame", frame, (known.name for known in tree.frames))
        if len(found) > 1:
            listed = ", ".join(f"{k} (on {_link_name(tree, tree.frames[k])})" for k in found)
            raise ArgumentError(
                f"{tree.name}: frame {frame!r}: {len(found)} frames have this name: {listed}; pass the index"
            )
        return found[0]
    try:
        if isinstance(frame, bool | pin.ReferenceFrame):
            raise TypeError
        index = operator.index(frame)
    except TypeError:
        raise ArgumentTypeError(
            f"frame: expected a name or an index in model.frames, got {type(frame).__name__}"
        ) from None
    last = len(tree.frames) - 1
    if not 0 <= index <= last:
        hint = "; model.getFrameId gives this number for an unknown name" if index == last + 1 else ""
        raise ArgumentError(f"{tree.name}: frame {index}: give an index from 0 to {last}{hint}")
    return index


def _link_name(tree: Tree, frame: Frame) -> str:
    return "the universe" if frame.joint < 0 else f"joint {tree.joints[frame.joint].name!r}"


def check_reference(reference: pin.ReferenceFrame) -> None:
    """Refuse anything but the three reference frames: none of them is common enough to be the default.

    Raises:
        ArgumentTypeError: if it is not a ``pin.ReferenceFrame``.
    """
    if not isinstance(reference, pin.ReferenceFrame):
        raise ArgumentTypeError(
            f"reference: expected pin.LOCAL, pin.WORLD or pin.LOCAL_WORLD_ALIGNED, got {reference!r}"
        )


class Kinematics:
    """Kinematics of a model as ``casadi.Function`` objects, each built when it is first asked for.

    q, v, a are Pinocchio's: lengths nq, nv, nv; rad, m, s. Twists and accelerations have 6 entries, linear first. A
    twist (linear; angular) and everything that follows from it can be seen from three references:

    * ``pin.LOCAL``: velocity of the frame's origin, and angular velocity, both in the axes of the frame itself.
    * ``pin.LOCAL_WORLD_ALIGNED``: velocity of the frame's origin, and angular velocity, both in the axes of the
      universe: what most people mean by "the velocity of the tool".
    * ``pin.WORLD``: in the axes of the universe too, but the linear part is the velocity of that point of the moving
      body (thought of as extended without limit) that just passes the origin of the *universe*.

    The *spatial* acceleration is the rate of the twist at a place fixed in the reference; the *classical* one has the
    acceleration of a point of the body as its linear part. They differ by ω × v there, in all three references.

    A frame is given by its name or its index in ``model.frames``; frames on the universe stand still.

    Args:
        model: any ``pin.Model``, or a :class:`~gdalembert.model.tree.Tree`.
        clean: tolerance of the cleaning of constants (:func:`~gdalembert.model.cleaning.clean_tree`); 0 takes every
            bit as given. What was cleaned is in ``changes``.

    Attributes:
        tree: the numbers that stand in the graphs, after cleaning.
        changes: what cleaning changed.

    Raises:
        ArgumentTypeError: if the model is not one; by the methods, if a frame is neither a name nor an index, or a
            reference is not a ``pin.ReferenceFrame``.
        ModelError: if the model holds numbers without a meaning (:func:`~gdalembert.model.from_pinocchio.read_tree`).
        ArgumentError: if ``clean`` cannot be used; by the methods, if several frames have the name that is asked for,
            or if an index is out of range.
        UnknownNameError: by the methods, if no frame has the name.
    """

    tree: Tree
    changes: tuple[Change, ...]

    def __init__(self, model: pin.Model | Tree, *, clean: float = CLEANED) -> None:
        self._given = read_tree(model, dynamics=False)
        self._clean = clean
        self.tree, self.changes = clean_tree(self._given, clean)
        self._functions: dict[tuple[str, int, pin.ReferenceFrame | None], ca.Function] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), clean=self._clean), (self._given,)

    def __repr__(self) -> str:
        tree = self.tree
        return f"{type(self).__name__}({tree.name!r}, nq={tree.nq}, nv={tree.nv}, {len(tree.frames)} frames)"

    def frame_placement(self, frame: str | int) -> ca.Function:
        """(q) → (T), 4 × 4: the frame in the universe, T = [R p; 0 1]; equals ``data.oMf``, a ``pin.SE3``."""
        index = find_frame(self.tree, frame)
        key = "frame_placement", index, None
        if key not in self._functions:
            s = self.symbols("q")
            r, p = placement(self.tree, self.tree.frames[index], s["q"])
            self._functions[key] = function("frame_placement", s, {"T": spatial.transform(r, p)})
        return self._functions[key]

    def frame_jacobian(self, frame: str | int, reference: pin.ReferenceFrame) -> ca.Function:
        """(q) → (J), 6 × nv: twist = J v; equals ``pin.computeFrameJacobian``."""
        return self._function(jacobian, frame, reference, "J", "q")

    def frame_velocity(self, frame: str | int, reference: pin.ReferenceFrame) -> ca.Function:
        """(q, v) → (twist), 6 [m/s; rad/s]: equals ``pin.getFrameVelocity``."""
        return self._function(velocity, frame, reference, "twist", "q", "v")

    def frame_acceleration(self, frame: str | int, reference: pin.ReferenceFrame) -> ca.Function:
        """(q, v, a) → (acceleration), 6 [m/s²; rad/s²], spatial: equals ``pin.getFrameAcceleration``, without gravity.

        LOCAL and WORLD: the rate of the entries of the twist, J a + J̇ v. LOCAL_WORLD_ALIGNED: the LOCAL one in other
        axes; there the rate of the entries of the twist is the classical acceleration.
        """
        return self._function(acceleration, frame, reference, "acceleration", "q", "v", "a")

    def frame_classical_acceleration(self, frame: str | int, reference: pin.ReferenceFrame) -> ca.Function:
        """(q, v, a) → (acceleration), 6 [m/s²; rad/s²], classical: equals ``pin.getFrameClassicalAcceleration``.

        LOCAL and LOCAL_WORLD_ALIGNED: the linear part is what an accelerometer at the frame's origin measures, without
        gravity.
        """
        return self._function(classical_acceleration, frame, reference, "acceleration", "q", "v", "a")

    def frame_bias_acceleration(self, frame: str | int, reference: pin.ReferenceFrame) -> ca.Function:
        """(q, v) → (bias), 6 [m/s²; rad/s²]: the spatial acceleration at a = 0, so that acceleration = J a + bias.

        LOCAL and WORLD: bias = J̇ v, with J̇ the rate of the entries of J.
        """
        return self._function(bias_acceleration, frame, reference, "bias", "q", "v")

    @cached_property
    def center_of_mass(self) -> ca.Function:
        """(q) → (com), 3 [m]: of all links that a joint moves, in the universe; equals ``pin.centerOfMass``.

        Raises:
            ModelError: if the links have no mass.
        """
        mass = sum(joint.mass for joint in self.tree.joints)
        if mass == 0:
            raise ModelError(f"{self.tree.name}: its links have no mass; there is no centre of mass")
        s = self.symbols("q")
        return function("center_of_mass", s, {"com": self.tree.first_moment(s["q"]) / mass})

    @cached_property
    def integrate(self) -> ca.Function:
        """(q, v) → (q_next), nq: where the constant velocity v leads from q in unit time; equals ``pin.integrate``.

        Exact with all derivatives at and near v = 0. q must be a configuration (unit quaternions, cos² + sin² = 1): it
        is not normalised. Two quaternions
        describe a rotation: this one is continuous in v. For a free-flyer Pinocchio gives the one nearer to q, which
        is the other one where it turns by more than π.
        """
        s = self.symbols("q", "v")
        return function("integrate", s, {"q_next": integrate(self.tree, s["q"], s["v"])})

    @cached_property
    def difference(self) -> ca.Function:
        """(q0, q1) → (v), nv: the velocity that leads from q0 to q1 in unit time; equals ``pin.difference``.

        The shortest way: rotations by at most π. Exact with all derivatives at and near q0 = q1; it jumps at a
        rotation by π.
        """
        s = symbols(q0=self.tree.nq, q1=self.tree.nq)
        return function("difference", s, {"v": difference(self.tree, s["q0"], s["q1"])})

    def _function(
        self,
        expression: Callable[..., Matrix],
        frame: str | int,
        reference: pin.ReferenceFrame,
        output: str,
        *inputs: str,
    ) -> ca.Function:
        index = find_frame(self.tree, frame)
        check_reference(reference)
        name = f"frame_{expression.__name__}"
        key = name, index, reference
        if key not in self._functions:
            s = self.symbols(*inputs)
            value = expression(self.tree, self.tree.frames[index], reference, **s)
            self._functions[key] = function(name, s, {output: value})
        return self._functions[key]

    def symbols(self, *names: str) -> dict[str, ca.SX]:
        return symbols(**{name: self.tree.nq if name == "q" else self.tree.nv for name in names})
