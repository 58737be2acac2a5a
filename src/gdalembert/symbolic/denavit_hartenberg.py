"""Robots from Denavit–Hartenberg rows.

Standard (distal; Lee, Lee and Nigam, RSD-TR-8-82, 1982): frame i is fixed in link i, z_{i−1} is the axis of joint i,
^{i−1}A_i = Rot_z(θ) Trans_z(d) Trans_x(a) Rot_x(α).

Modified (proximal; Craig): frame i is fixed in link i, z_i is the axis of joint i,
^{i−1}A_i = Rot_x(α) Trans_x(a) Rot_z(θ) Trans_z(d), α and a being those that Craig numbers i − 1.

q_i is added to θ of a revolute joint and to d of a prismatic one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.model import joints as jt
from gdalembert.model.inertia import pseudo_inertia
from gdalembert.model.tree import Joint, Tree
from gdalembert.symbolic.formula import Formula, Vector, formula, formulas
from gdalembert.symbolic.tree import Constants, SymbolicTree, inertia_tensor

_TYPES: dict[str, jt.JointType] = {"R": jt.Revolute((0.0, 0.0, 1.0)), "P": jt.Prismatic((0.0, 0.0, 1.0))}


@dataclass(frozen=True)
class Row:
    """A joint and its link, in formulas: numbers, strings, SymPy expressions; angles in rad, the rest in SI units.

    Attributes:
        joint: ``"R"`` (revolute) or ``"P"`` (prismatic).
        theta, d, a, alpha: the row; q is added to θ of a revolute joint and to d of a prismatic one.
        mass: of the link. ``com``: from the origin of frame i, at the far end of the link, in its axes (3).
            ``inertia``: about the centre of mass, in the axes of frame i: 3 principal moments, or 3 × 3.
        armature: rotor inertia, reflected to the joint.
    """

    joint: str = "R"
    theta: Formula = 0
    d: Formula = 0
    a: Formula = 0
    alpha: Formula = 0
    mass: Formula = 0
    com: Vector = (0, 0, 0)
    inertia: Any = (0, 0, 0)
    armature: Formula = 0


def from_denavit_hartenberg(
    rows: Sequence[Row],
    *,
    convention: str = "standard",
    gravity: Vector = (0, 0, "-g"),
    name: str = "chain",
) -> SymbolicTree:
    """A serial chain with formulas for its constants; joints are named joint1, joint2, …

    Angles within 1e-11 of a multiple of π/2 are that multiple. Any other number becomes the value of a symbol,
    ``theta_i`` or ``alpha_i``.

    Args:
        rows: from the base outward.
        convention: ``"standard"`` or ``"modified"``.
        gravity: acceleration (3) in frame 0.
        name: of the robot.

    Raises:
        ArgumentTypeError: if ``rows`` is not a list, a row is not a :class:`Row`, or a formula is not one.
        ArgumentError: if there are no rows, or a row, the convention or the gravity cannot be used.
    """
    if convention not in ("standard", "modified"):
        raise ArgumentError(f"convention={convention!r}: give 'standard' or 'modified'")
    rows = _checked(rows, name)
    constants = Constants()
    joints: list[Joint] = []
    words = set(re.findall(r"\w+", f"{rows} {gravity}"))

    def rotation(axis: str, i: int, quantity: str) -> sympy.Matrix:
        """The rotation about an axis by an angle of row i; a number that is not a multiple of π/2 gets a symbol."""
        given, symbol_name = getattr(rows[i], quantity), f"{quantity}_{i + 1}"
        turn = constants.rotation(axis, given, symbol_name, f"{name}: row {i + 1}: {quantity}")
        if symbol_name in constants.numbers and symbol_name in words:
            raise ArgumentError(
                f"{name}: row {i + 1}: {quantity}={given!r} gets the name {symbol_name}, which a formula has already; "
                "rename that one"
            )
        return turn

    before = sympy.eye(4)  # standard convention: from the last joint frame to the frame of its link
    for i, row in enumerate(rows):
        own = _homogeneous(rotation("z", i, "theta"), (0, 0, formula(row.d)))
        across = _homogeneous(rotation("x", i, "alpha"), (formula(row.a), 0, 0))
        if convention == "standard":
            placement, to_frame = before, own * across
            before = to_frame
        else:
            placement, to_frame = across * own, sympy.eye(4)
        joints.append(_joint(i, row, placement, to_frame, constants, f"{name}: row {i + 1}"))
    n = len(joints)
    symbols: dict[str, Any] = {
        "armature": constants.vector(formula(row.armature) for row in rows),
        "damping": np.zeros(n),
        "friction": np.zeros(n),
        "gravity": constants.vector(formulas(gravity, 3, f"{name}: gravity")),
    }
    names = tuple(joint.name for joint in joints)
    tree = Tree(name, n, n, tuple(joints), links=tuple(range(n)), joint_names=names, frames=(), **symbols)
    return constants.tree(tree)


def _checked(rows: Sequence[Row], name: str) -> list[Row]:
    """The rows, of which there is at least one, each with a joint that is known."""
    if isinstance(rows, Row | str) or not isinstance(rows, Iterable):
        raise ArgumentTypeError(f"{name}: rows={rows!r}; give a list of Rows")
    found = list(rows)
    if not found:
        raise ArgumentError(f"{name}: has no rows; give at least one")
    for i, row in enumerate(found):
        if not isinstance(row, Row):
            raise ArgumentTypeError(f"{name}: row {i + 1}: got {row!r}; give a Row")
        if row.joint not in _TYPES:
            raise ArgumentError(f"{name}: row {i + 1}: joint={row.joint!r}; give 'R' or 'P'")
    return found


def _homogeneous(rotation: sympy.Matrix, translation: Sequence[sympy.Expr]) -> sympy.Matrix:
    return sympy.Matrix.vstack(sympy.Matrix.hstack(rotation, sympy.Matrix(translation)), sympy.Matrix([[0, 0, 0, 1]]))


def _joint(
    i: int, row: Row, placement: sympy.Matrix, to_frame: sympy.Matrix, constants: Constants, where: str
) -> Joint:
    """A joint whose link has its centre of mass and inertia in the frame at ``to_frame`` in the joint frame."""
    turn, shift = to_frame[:3, :3], to_frame[:3, 3]
    com = turn * sympy.Matrix(formulas(row.com, 3, f"{where}: com")) + shift
    tensor = turn * sympy.Matrix(inertia_tensor(row.inertia, where)) * turn.T
    rotation: Any = constants.matrix(placement[:3, :3].tolist())
    translation: Any = constants.vector(list(placement[:3, 3]))
    mass, at = constants.entry(formula(row.mass)), constants.vector(list(com))
    inertia: Any = pseudo_inertia(mass, at, constants.matrix(tensor.tolist()))
    return Joint(f"joint{i + 1}", _TYPES[row.joint], i - 1, rotation, translation, inertia, idx_q=i, idx_v=i)
