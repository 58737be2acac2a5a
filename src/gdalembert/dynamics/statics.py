"""Statics: joint torques of a wrench, and the same wrench or twist seen from another frame (Niku, 4.5 and 4.6).

A wrench F = (f; m) is a force [N] and a moment [N m] about the origin of the frame it is given in; a twist or a small
displacement is (linear; angular). With the virtual work δW = Fᵀ D = tauᵀ δq,

    tau = Jᵀ F                                            D = J δq                                       (4.5)
    f_B = Rᵀ f,   m_B = Rᵀ (m + f × p)                    F_Bᵀ D_B = Fᵀ D                                (4.6)

Joint torques need no Jacobian: the wrench is passed on from link to link, in link axes, and each joint takes its part
Sᵀ F: inward from the frame or outward from the base, wherever the wrench is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert import spatial
from gdalembert.dynamics.frames import check_reference, find_frame
from gdalembert.dynamics.wrenches import ExternalWrenches, WrenchesByFrame, torques_of_wrench
from gdalembert.errors import ArgumentError, ArgumentTypeError, shown
from gdalembert.model.cleaning import clean_tree
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.rounding import CLEANED
from gdalembert.model.tree import Frame, Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import checked_transform, number, numbers, vector
from gdalembert.spatial.functions import function, symbols
from gdalembert.spatial.spatial_vectors import Motion, Wrench


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

    A ``casadi.Function`` takes no ``pin.Force``: pass ``force.vector``.

    Several frames make (q, wrenches) → (tau), wrenches (6 × n) being a column for each frame, and tau the sum.

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
    tree, _ = clean_tree(read_tree(model, dynamics=False), clean)
    several = isinstance(frame, Sequence | Mapping) and not isinstance(frame, str)
    at = _frames(tree, frame, reference) if several else _frame(tree, frame, reference)
    name = "wrenches" if several else "wrench"
    s = symbols(q=tree.nq) | {name: ca.SX.sym(name, 6, len(at))}
    exerted = s[name] if exerted_by == "robot" else -s[name]
    torques = (torques_of_wrench(tree, k, given_in, s["q"], w) for k, given_in, w in at.at_frames(tree, exerted))
    return function("joint_torques", s, {"tau": sum(torques, ca.DM(tree.nv, 1))})


def _frame(tree: Tree, frame: Any, reference: Any) -> ExternalWrenches:
    here = find_frame(tree, frame)
    check_reference(reference)
    return ExternalWrenches((here,), (reference,))


def _frames(tree: Tree, frames: Any, reference: Any) -> ExternalWrenches:
    """Wrenches at the frames of a list with one reference, or of a mapping to references."""
    if not frames:
        raise ArgumentError("joint_torques: got no frame; give at least one")
    if isinstance(frames, Mapping):
        if reference is not None:
            raise ArgumentError(
                f"joint_torques: got a mapping and reference={reference}; give references by frame alone"
            )
        return ExternalWrenches.of(tree, frames)
    check_reference(reference)
    found = [find_frame(tree, frame) for frame in frames]
    for k, index in enumerate(found):
        if index in found[:k]:
            raise ArgumentError(
                f"joint_torques: frames {frames[found.index(index)]!r} and {frames[k]!r} are the same; give each once"
            )
    return ExternalWrenches.of(tree, dict.fromkeys(found, reference))


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
    tree, _ = clean_tree(read_tree(model, dynamics=False), clean)
    here = tree.frames[find_frame(tree, frame)]
    load = number("mass", mass, "kg", inclusive=True)
    com = vector("center_of_mass", center_of_mass, 3, names="xyz")
    s = symbols(q=tree.nq)
    at = Frame("payload", here.joint, np.eye(3), here.rotation @ com + here.translation)
    weight = ca.vertcat(spatial.constant(-load * tree.gravity), ca.DM(3, 1))
    tau = torques_of_wrench(tree, at, pin.LOCAL_WORLD_ALIGNED, s["q"], weight)
    return function("payload_torques", s, {"tau": tau})


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

_NUMBERS_OR_SYMBOLS = "numbers, or one SX or MX (casadi.vertcat)"


def _read(what: str, values: Any, T: Any) -> tuple[Matrix, Matrix, Matrix]:
    """A wrench or twist (6), and R, p of T."""
    x, t = _six(what, values), _transform(T)
    if {type(x), type(t)} == {ca.SX, ca.MX}:
        raise ArgumentTypeError(
            f"{what} is {type(x).__name__} and T is {type(t).__name__}, which CasADi cannot mix; give both as one kind"
        )
    return x, t[:3, :3], t[:3, 3]


def _result(x: Matrix) -> Any:
    return x.full().ravel() if isinstance(x, ca.DM) else ca.densify(x)


def _six(what: str, values: Any) -> Matrix:
    entries, other, instead = _KINDS[what]
    if isinstance(values, other):
        raise ArgumentTypeError(f"{what}: got a pin.{other.__name__}; {instead} is for those")
    if isinstance(values, ca.SX | ca.MX):
        if values.shape != (6, 1):
            raise ArgumentError(f"{what}: got a matrix of {values.shape[0]} × {values.shape[1]}; give 6 × 1")
        return values
    if isinstance(values, pin.Force | pin.Motion):
        values = values.vector
    array = numbers(what, values, expected=_NUMBERS_OR_SYMBOLS, names=entries)
    if array.shape not in ((6,), (6, 1)):
        got = f"{array.size} numbers" if array.ndim == 1 else f"numbers of shape {array.shape}"
        raise ArgumentError(f"{what}: got {got}; a {what} has six, ({', '.join(entries)})")
    return ca.DM(array)


def _transform(T: Any) -> Matrix:
    if isinstance(T, ca.SX | ca.MX):
        if T.shape != (4, 4):
            raise ArgumentError(f"T: got a matrix of {T.shape[0]} × {T.shape[1]}; give 4 × 4, [n o a p; 0 0 0 1]")
        return T
    return spatial.constant(checked_transform("T", T, expected=_NUMBERS_OR_SYMBOLS))
