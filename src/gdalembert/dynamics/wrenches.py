"""Wrenches: the joint torques that belong to them, those that act on a robot, and what another frame sees of them.

A wrench F = (f; m) is a force [N] and a moment [N m] about the origin of the frame it is given in; a twist or a small
displacement is (linear; angular). With the virtual work δW = Fᵀ D = tauᵀ δq (Niku, 4.5 and 4.6),

    tau = Jᵀ F                                            D = J δq                                       (4.5)
    f_B = Rᵀ f,   m_B = Rᵀ (m + f × p)                    F_Bᵀ D_B = Fᵀ D                                (4.6)

and a wrench w at a frame k that acts on the robot, given in the reference of J_k, takes part in its motion by

    tau = M a + nle − Σ_k J_kᵀ w_k

No Jacobian is needed: the wrench is passed on from link to link, in link axes, and each joint takes its part Sᵀ F.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert import spatial
from gdalembert.dynamics.frame_motion import fixed_placement
from gdalembert.dynamics.frames import asked_frame, check_reference
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError, shown
from gdalembert.model.cleaning import clean_tree
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.rounding import CLEANED
from gdalembert.model.tree import Frame, Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import checked_transform, choice, number, numbers, vector
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import Brief
from gdalembert.spatial.functions import function, symbols
from gdalembert.spatial.interrupts import interruptible
from gdalembert.spatial.spatial_vectors import Motion, Wrench

GivenIn: TypeAlias = pin.ReferenceFrame | tuple[pin.ReferenceFrame, Literal["3D", "6D"]]
"""The reference of a wrench, and what is given of it: all of it (6D, as by default), or its force alone (3D)."""

WrenchesByFrame = Mapping[str, GivenIn] | Mapping[int, GivenIn] | Mapping[str | int, GivenIn]
"""The reference of the wrench at each frame, by its name or index."""

_ROWS = {"3D": 3, "6D": 6}

REFERENCES = (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED)

NO_WRENCHES = ca.DM(6, 0)


def torques_of_wrench(tree: Tree, frame: Frame, reference: pin.ReferenceFrame, q: Matrix, wrench: Matrix) -> Matrix:
    """The torque Jᵀ w (nv) of a wrench (6) at a frame, given in the reference."""
    load, path = Wrench(wrench[:3], wrench[3:]), tree.path(frame.joint)
    torques: list[Matrix] = [ca.DM(joint.type.nv, 1) for joint in tree.joints]
    placed = {i: tree.joints[i].placement(q) for i in path}
    # a way for each reference: turned into LOCAL first, a WORLD wrench takes 247 instructions at the hand of a PUMA 560
    # in place of 92, a LOCAL_WORLD_ALIGNED one 209 in place of 119; Jᵀ w takes 170 and 196
    if reference == pin.LOCAL:  # inward from the frame
        load = load.to_parent(*fixed_placement(frame))
        for i in reversed(path):
            torques[i] = load.work(*tree.joints[i].subspace(q))
            load = load.to_parent(*placed[i])
    elif reference == pin.WORLD:  # outward from the base
        for i in path:
            load = load.seen_from(*placed[i])
            torques[i] = load.work(*tree.joints[i].subspace(q))
    else:  # force and moment are turned outward, the lever to the frame is measured inward; they meet at each joint
        levers: dict[int, Matrix] = {}
        _, lever = fixed_placement(frame)
        for i in reversed(path):
            levers[i] = lever
            r, p = placed[i]
            lever = p + r @ lever
        for i in path:
            r, _ = placed[i]
            load = Wrench(r.T @ load.force, r.T @ load.moment)
            torques[i] = load.about(-levers[i]).work(*tree.joints[i].subspace(q))
    return tree.vector(torques)


@dataclass(frozen=True)
class ExternalWrenches(Brief):
    """Wrenches (6 × n) that act on a robot, each at a frame, as columns (f; m) [N, N m].

    The robot's Functions are given those rows of them that are not zero (:attr:`shape`); expressions take all six.

    Attributes:
        frames: indices in ``Tree.frames``. ``references``: what each wrench is given in.
        names: of the frames.
        rows: how many are given of each: 6, or 3 of a force at the origin of the frame.
        constant: the wrenches (6 × n) where they are numbers; else they are an input, and this has no columns.
    """

    frames: tuple[int, ...] = ()
    references: tuple[pin.ReferenceFrame, ...] = ()
    names: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
    constant: Matrix = field(default_factory=lambda: NO_WRENCHES, compare=False)

    @classmethod
    def of(cls, tree: Tree, wrenches: WrenchesByFrame | None) -> ExternalWrenches:
        """Wrenches of the argument ``wrenches``.

        Raises:
            ArgumentTypeError: if it is not a mapping, or a value is neither a ``pin.ReferenceFrame`` nor a pair.
            UnknownNameError: if no frame has a name.
            ArgumentError: if a frame is given twice, several have its name, its index is out of range or a joint's,
                too, or a pair is not of a reference and ``"3D"`` or ``"6D"``.
        """
        if not isinstance(wrenches, Mapping | None):
            raise ArgumentTypeError(
                f"wrenches={shown(wrenches)}: give a mapping of frames to references, as "
                "{'tool0': pin.LOCAL_WORLD_ALIGNED}"
            )
        frames: list[int] = []
        pairs: list[tuple[pin.ReferenceFrame, int]] = []
        for frame, given_in in (wrenches or {}).items():
            frames.append(asked_frame(tree, frame))
            pairs.append(_reference_and_rows(frame, given_in))
            if frames[-1] in frames[:-1]:
                raise ArgumentError(
                    f"wrenches: frame {tree.frames[frames[-1]].name!r} is given twice, by name and by index "
                    f"{frames[-1]}; give each frame once"
                )
        references, rows = zip(*pairs, strict=True) if pairs else ((), ())
        return cls(tuple(frames), references, tuple(tree.frames[k].name for k in frames), rows)

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def is_input(self) -> bool:
        """True if the robot's Functions take the wrenches."""
        return len(self) > int(self.constant.shape[1])

    def refuse(self, context: str) -> None:
        """Refuse a robot whose wrenches are an input, by an UnsupportedError."""
        if self.is_input:
            raise UnsupportedError(
                f"{context}: the wrenches at {', '.join(self.names)} are an input; give dyn.under(wrenches), the robot "
                "under constant ones (zero by default)"
            )

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the input: 6 × n; 3 × n if all are forces; of both, one column, the rows of each in turn."""
        if len(set(self.rows)) > 1:
            return sum(self.rows), 1
        return self.rows[0] if self.rows else 6, len(self)

    def columns(self, inputs: Matrix) -> Matrix:
        """The wrenches (6 × n) of the input of the Functions."""
        if set(self.rows) <= {6}:
            return inputs
        parts = ca.horzsplit(inputs)
        if len(set(self.rows)) > 1:
            parts = ca.vertsplit(inputs, np.cumsum([0, *self.rows]).tolist())
        return ca.horzcat(*(ca.vertcat(part, ca.DM(6 - part.shape[0], 1)) for part in parts))

    def given(self, wrenches: Matrix) -> Matrix:
        """The input of the Functions, of wrenches (6 × n)."""
        parts = [wrenches[:rows, k] for k, rows in enumerate(self.rows)]
        return ca.vertcat(*parts) if len(set(self.rows)) > 1 else ca.horzcat(*parts)

    def numbers(self, context: str, wrenches: npt.ArrayLike | None) -> Array:
        """The input of the Functions as numbers; zero by default.

        Raises:
            ArgumentTypeError, ArgumentError: if they are not finite numbers of the :attr:`shape`.
        """
        if not len(self):
            raise ArgumentError(f"{context}: the robot takes no wrenches; give it wrenches={{frame: reference}}")
        array = numbers(context, np.zeros(self.shape) if wrenches is None else wrenches)
        if array.shape == self.shape[:1] and self.shape[1] == 1:
            array = array.reshape(self.shape)
        if array.shape != self.shape:
            raise ArgumentError(f"{context}: got shape {array.shape}; give {self.shape}, {self.described}")
        return array

    @property
    def described(self) -> str:
        """The input of the Functions in words."""
        if len(set(self.rows)) > 1:
            parts = (f"{name} ({rows})" for name, rows in zip(self.names, self.rows, strict=True))
            return f"one column, the rows of {', '.join(parts)} in turn"
        return f"a column {'f' if 3 in self.rows else '(f; m)'} for each of {', '.join(self.names)}"

    def joined(self, tree: Tree, frames: Sequence[int]) -> ExternalWrenches:
        """The wrenches, and LOCAL ones at further frames, given by their indices."""
        names = (tree.frames[k].name for k in frames)
        references, rows = (pin.LOCAL,) * len(frames), (6,) * len(frames)
        return ExternalWrenches(
            (*self.frames, *frames), (*self.references, *references), (*self.names, *names), (*self.rows, *rows)
        )

    def given_in(self, references: Collection[pin.ReferenceFrame]) -> tuple[ExternalWrenches, list[int]]:
        """Wrenches that are given in some references, as inputs, and which of the n they are."""
        which = [k for k, reference in enumerate(self.references) if reference in references]
        columns: Any = self.frames, self.references, self.names, self.rows
        return ExternalWrenches(*(tuple(column[k] for k in which) for column in columns)), which

    def at_frames(self, tree: Tree, wrenches: Matrix) -> Iterator[tuple[Frame, pin.ReferenceFrame, Matrix]]:
        """Each frame in a tree, its reference and its wrench (6)."""
        for k, (frame, reference) in enumerate(zip(self.frames, self.references, strict=True)):
            yield tree.frames[frame], reference, wrenches[:, k]

    def torque(self, tree: Tree, q: Matrix, wrenches: Matrix) -> Matrix:
        """The torque −Σ Jᵀ w (nv) that they add to tau."""
        total: Matrix = ca.DM(tree.nv, 1)
        for frame, reference, wrench in self.at_frames(tree, wrenches):
            total = total - torques_of_wrench(tree, frame, reference, q, wrench)
        return total


def _reference_and_rows(frame: str | int, value: Any) -> tuple[pin.ReferenceFrame, int]:
    """The reference of a wrench and its number of rows, from a reference, or a pair of it and 3D or 6D."""
    context = f"wrenches: frame {frame!r}"
    reference, kind = value if isinstance(value, tuple) and len(value) == 2 else (value, "6D")
    try:
        check_reference(reference)
    except ArgumentTypeError as error:
        raise ArgumentTypeError(f"{context}: {error}") from None
    rows = _ROWS[choice(context, kind, tuple(_ROWS))]
    if rows == 3 and reference == pin.WORLD:
        raise ArgumentError(
            f"{context}: a 3D force in pin.WORLD would act at the origin of the universe; give "
            "(pin.LOCAL_WORLD_ALIGNED, '3D'), the same axes at the origin of the frame"
        )
    return reference, rows


@interruptible
def joint_torques(
    model: pin.Model | Tree,
    frame: str | int | Sequence[str | int] | WrenchesByFrame,
    reference: pin.ReferenceFrame | None = None,
    *,
    exerted_by: Literal["robot", "environment"] = "robot",
    clean: float = CLEANED,
) -> ca.Function:
    """(q, wrench) → (tau), nv: the joint torques that belong to a wrench at a frame, tau = ± Jᵀ wrench (4.5).

    The wrench (6) is (f_x, f_y, f_z, m_x, m_y, m_z) [N, N m], given in

    * ``pin.LOCAL``: the axes of the frame, moment about its origin;
    * ``pin.LOCAL_WORLD_ALIGNED``: the axes of the universe, moment about the origin of the frame;
    * ``pin.WORLD``: the axes of the universe, moment about the origin of the universe.

    There are two sign conventions:

    * ``exerted_by="robot"``: the wrench with which the robot acts on its surroundings, and the torques that the
      motors have to give for it, besides those for gravity and motion: tau = Jᵀ wrench. The source's.
    * ``exerted_by="environment"``: the wrench that acts on the robot, and the torques that the motors then have to
      give to keep the same motion: tau = −Jᵀ wrench. Pinocchio's ``fext``:
      ``pin.rnea(model, data, q, v, a, fext)`` is ``inverse_dynamics(q, v, a) + tau``, where ``fext`` of the frame's
      joint is the wrench in the axes of that joint (of a LOCAL one: ``frame.placement.act(pin.Force(wrench))``).

    In a singular configuration J loses rank. Then there are wrenches other than zero, those of the null space of Jᵀ,
    that need no torque at all: the structure bears them. Conversely no torque can move the frame along them; and close
    to it, small torques make, and small errors of torque spoil, large forces along them.

    Several frames make (q, wrenches) → (tau), wrenches (6 × n) being a column for each frame, and tau the sum. In a
    mapping, ``(reference, "3D")`` is a force (3) at the origin of the frame, as in :class:`~gdalembert.Dynamics`.

    Args:
        model: any ``pin.Model``, or a :class:`~gdalembert.model.tree.Tree`.
        frame: name, or index in ``model.frames``; a list of them; or a mapping of them to their references.
        reference: of the wrench, or of all wrenches of a list; there is no default.
        exerted_by: ``"robot"`` or ``"environment"``.
        clean: tolerance of the cleaning of constants, as in :class:`~gdalembert.dynamics.kinematics.Kinematics`.

    Raises:
        ArgumentTypeError: if the model, a frame or a reference is of the wrong type.
        ModelError: if the model holds numbers without a meaning.
        UnknownNameError: if no frame has the name.
        ArgumentError: if several have it, the index is out of range, a frame is given twice, or another argument cannot
            be used.
    """
    if not isinstance(exerted_by, str) or exerted_by not in ("robot", "environment"):
        raise ArgumentError(
            f"exerted_by={shown(exerted_by)}: give 'robot' (the wrench on its surroundings, tau = Jᵀ wrench) "
            "or 'environment' (the wrench on the robot, tau = −Jᵀ wrench)"
        )
    tree, _ = clean_tree(read_tree(model), clean)
    several = isinstance(frame, Sequence | Mapping) and not isinstance(frame, str)
    at = _wrenches_at(tree, frame, reference) if several else _wrenches_at(tree, [frame], reference)
    name = "wrenches" if several else "wrench"
    s = symbols(q=tree.nq) | {name: ca.SX.sym(name, *at.shape)}
    exerted = at.columns(s[name] if exerted_by == "robot" else -s[name])
    torques = (torques_of_wrench(tree, k, given_in, s["q"], w) for k, given_in, w in at.at_frames(tree, exerted))
    return function("joint_torques", s, {"tau": sum(torques, ca.DM(tree.nv, 1))})


def _wrenches_at(tree: Tree, frames: Any, reference: Any) -> ExternalWrenches:
    """Wrenches at the frames of a list with one reference, or of a mapping to references."""
    if not frames:
        raise ArgumentError("joint_torques: got no frame; give at least one")
    if isinstance(frames, Mapping):
        if reference is not None:
            raise ArgumentError(
                f"joint_torques: got a mapping and reference={reference}; give references by frame alone"
            )
        return ExternalWrenches.of(tree, frames)
    indices = [asked_frame(tree, frame) for frame in frames]
    check_reference(reference)
    for k, index in enumerate(indices):
        if index in indices[:k]:
            raise ArgumentError(
                f"joint_torques: frames {frames[indices.index(index)]!r} and {frames[k]!r} are the same; give each once"
            )
    return ExternalWrenches.of(tree, dict.fromkeys(indices, reference))


@interruptible
def payload_torques(
    model: pin.Model | Tree,
    frame: str | int,
    mass: float,
    center_of_mass: npt.ArrayLike = (0.0, 0.0, 0.0),
    *,
    clean: float = CLEANED,
) -> ca.Function:
    """(q) → (tau), nv: the joint torques that hold a payload against the model's gravity: tau = J_cᵀ (−m g).

    J_c is the linear half of the Jacobian of the payload's centre of mass, in the axes of the universe. tau plus
    ``generalized_gravity`` of the bare model is that of the loaded model. A payload that moves also has inertia; add
    it to the model before you build the dynamics::

        loaded = model.copy()
        at = loaded.frames[loaded.getFrameId("tool0")]
        loaded.appendBodyToJoint(at.parentJoint, pin.Inertia(mass, center_of_mass, inertia), at.placement)

    Args:
        model: any ``pin.Model``, or a :class:`~gdalembert.model.tree.Tree`.
        frame: that the payload is fixed in: name, or index in ``model.frames``.
        mass: of the payload [kg].
        center_of_mass: of the payload, in the axes of the frame (3, m).
        clean: tolerance of the cleaning of constants, as in :class:`~gdalembert.dynamics.kinematics.Kinematics`.

    Raises:
        ArgumentTypeError: if the model or the frame is of the wrong type, or if mass or centre of mass is not a number.
        ModelError: if the model holds numbers without a meaning.
        UnknownNameError: if no frame has the name.
        ArgumentError: if several have it, the index is out of range, the mass is negative or not finite, or the
            centre of mass is not three finite numbers.
    """
    tree, _ = clean_tree(read_tree(model), clean)
    here = tree.frames[asked_frame(tree, frame)]
    load = number("mass", mass, "kg", inclusive=True)
    com = vector("center_of_mass", center_of_mass, 3, names="xyz")
    s = symbols(q=tree.nq)
    at = Frame("payload", here.joint, np.eye(3), here.rotation @ com + here.translation)
    weight = ca.vertcat(spatial.constant(-load * tree.gravity), ca.DM(3, 1))
    tau = torques_of_wrench(tree, at, pin.LOCAL_WORLD_ALIGNED, s["q"], weight)
    return function("payload_torques", s, {"tau": tau})


@interruptible
def transform_wrench(wrench: Any, T: Any) -> Any:
    """A wrench seen from the frame placed at T = [n o a p]: its axes, and moment about its origin (4.6).

    Column by column of T, n, o, a being the axes and p the origin of the new frame, in the frame the wrench is given
    in:

        f_B = (n·f, o·f, a·f)
        m_B = (n·[(f × p) + m], o·[(f × p) + m], a·[(f × p) + m])

    Equal to ``T.actInv(force)`` in Pinocchio; f·f and f·m do not change, and neither does the work fᵀ d + mᵀ δ on a
    displacement transformed by :func:`transform_twist`.

    Args:
        wrench: (f_x, f_y, f_z, m_x, m_y, m_z) [N, N m]: six numbers, a ``pin.Force``, or a CasADi matrix 6 × 1.
        T: 4 × 4 numbers, a ``pin.SE3``, or a CasADi matrix 4 × 4.

    Returns:
        NumPy (6,) if both are numbers, else SX or MX 6 × 1.

    Raises:
        ArgumentTypeError: if one is of a type that cannot be used (a ``pin.Motion``), or SX meets MX.
        ArgumentError: if there are not six numbers, one is not finite, T is not 4 × 4, or T, given in numbers, is not
            a rigid transformation.
    """
    x, r, p = _read("wrench", wrench, T)
    seen = Wrench(x[:3], x[3:]).seen_from(r, p)
    return _result(ca.vertcat(seen.force, seen.moment))


@interruptible
def transform_twist(twist: Any, T: Any) -> Any:
    """A twist, or small displacement, seen from the frame placed at T = [n o a p] (4.6).

    With (d; δ) = (linear; angular):

        d_B = (n·[(δ × p) + d], o·[(δ × p) + d], a·[(δ × p) + d])
        δ_B = (n·δ, o·δ, a·δ)

    Equal to ``T.actInv(motion)`` in Pinocchio. The matrix of this map is the source's ^BJ, with F = ^BJᵀ F_B.

    Args:
        twist: (linear; angular) [m/s; rad/s]: six numbers, a ``pin.Motion``, or a CasADi matrix 6 × 1.
        T: as of :func:`transform_wrench`, as are what is returned and the errors; a ``pin.Force`` is not a twist.
    """
    x, r, p = _read("twist", twist, T)
    return _result(Motion(x[:3], x[3:]).seen_from(r, p).vector)


_KINDS = {
    "wrench": (("f_x", "f_y", "f_z", "m_x", "m_y", "m_z"), pin.Motion, "transform_twist"),
    "twist": (("v_x", "v_y", "v_z", "w_x", "w_y", "w_z"), pin.Force, "transform_wrench"),
}
"""The names of the six entries, and what is of the other kind: Pinocchio's class, and the function for it."""


def _read(kind: str, values: Any, T: Any) -> tuple[Matrix, Matrix, Matrix]:
    """A wrench or twist (6), and R, p of T."""
    entries, other, instead = _KINDS[kind]
    expected = "numbers, or one SX or MX (casadi.vertcat)"
    if isinstance(values, other):
        raise ArgumentTypeError(f"{kind}: got a pin.{other.__name__}; {instead} is for those")
    if isinstance(values, ca.SX | ca.MX):
        if values.shape != (6, 1):
            raise ArgumentError(f"{kind}: got a matrix of {values.shape[0]} × {values.shape[1]}; give 6 × 1")
        x: Matrix = values
    else:
        sequence = values.vector if isinstance(values, pin.Force | pin.Motion) else values
        six = numbers(kind, sequence, expected=expected, names=entries)
        if six.shape not in ((6,), (6, 1)):
            got = f"{six.size} numbers" if six.ndim == 1 else f"numbers of shape {six.shape}"
            raise ArgumentError(f"{kind}: got {got}; a {kind} has six, ({', '.join(entries)})")
        x = ca.DM(six)
    if isinstance(T, ca.SX | ca.MX):
        if T.shape != (4, 4):
            raise ArgumentError(f"T: got a matrix of {T.shape[0]} × {T.shape[1]}; give 4 × 4, [n o a p; 0 0 0 1]")
        t: Matrix = T
    else:
        t = spatial.constant(checked_transform("T", T, expected=expected))
    if {type(x), type(t)} == {ca.SX, ca.MX}:
        raise ArgumentTypeError(
            f"{kind} is {type(x).__name__} and T is {type(t).__name__}, which CasADi cannot mix; give both as one kind"
        )
    return x, t[:3, :3], t[:3, 3]


def _result(x: Matrix) -> Any:
    return x.full().ravel() if isinstance(x, ca.DM) else ca.densify(x)
