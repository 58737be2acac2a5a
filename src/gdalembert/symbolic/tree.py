"""Trees whose constants are formulas, and the formulations on them.

A formulation is a set of plain functions of (tree, q, v, a). Here masses, lengths and inertias of the tree are formulas
in symbols, as ``m*l**2/12``; the Functions of the formulation have one more input, p, with the values of the symbols
(:mod:`gdalembert.dynamics.parameters`). Constants whose formula is a number are numbers in the graphs.

Numbers of a graph are floating-point numbers, from which exact closed forms cannot be made. They are made of a second
tree of the same robot, ``exact``, where each formula is a symbol of its own. Nothing is derived a second time.

The symbols are of the user's choice, or one for each number that is not zero. Link i (1, 2, …) gets the mass ``m_i``,
the centre of mass ``c_ix, c_iy, c_iz``, the inertia ``I_ixx, I_ixy, …`` (entries of the tensor about the centre of
mass), the position ``p_ix, p_iy, p_iz`` of its joint on the parent link, the rotor inertia ``I_act_i``; gravity along
an axis is ``g``. The rotation of a joint frame by right angles is exact; by any other angle about x, y or z, it has the
angle ``beta_i``; any other rotation has ``roll_i``, ``pitch_i``, ``yaw_i``, as in URDF.

Denavit–Hartenberg rows, where q_i is added to θ of a revolute joint and to d of a prismatic one:
standard (distal; Lee, Lee and Nigam, RSD-TR-8-82, 1982): frame i is fixed in link i, z_{i−1} is the axis of joint i,
^{i−1}A_i = Rot_z(θ) Trans_z(d) Trans_x(a) Rot_x(α);
modified (proximal; Craig): frame i is fixed in link i, z_i is the axis of joint i,
^{i−1}A_i = Rot_x(α) Trans_x(a) Rot_z(θ) Trans_z(d), α and a being those that Craig numbers i − 1.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import sympy

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError, shown
from gdalembert.flexible.flexible_arm import Arm
from gdalembert.model import joints as jt
from gdalembert.model.cleaning import clean_tree
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.inertia import pseudo_inertia
from gdalembert.model.load_mjcf import load_robot
from gdalembert.model.rounding import CLEANED
from gdalembert.model.tree import Frame, Joint, Tree
from gdalembert.spatial.arguments import listed
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.brief import Brief
from gdalembert.spatial.interrupts import interruptible
from gdalembert.symbolic.constants import AXES, Constants, SymbolicTree, rotation_formula
from gdalembert.symbolic.flexible import ArmFormulas
from gdalembert.symbolic.formula import Formula, Vector, formula, formulas

Given = Mapping[str, Mapping[str, Any]]
_QUANTITIES = ("mass", "com", "inertia", "translation", "rotation", "armature", "spring")
_SYNONYMS = {
    **dict.fromkeys(("position", "origin", "xyz", "offset", "length"), "translation"),
    **dict.fromkeys(("orientation", "rpy", "axis", "angle"), "rotation"),
    **dict.fromkeys(("center_of_mass", "centre_of_mass", "lever", "cog"), "com"),
    **dict.fromkeys(("m", "weight"), "mass"),
    **dict.fromkeys(("stiffness", "springs"), "spring"),
    **dict.fromkeys(("rotor", "rotor_inertia", "I_act"), "armature"),
}
"""Quantities by other names that they have."""
_TYPES: dict[str, jt.JointType] = {"R": jt.Revolute((0.0, 0.0, 1.0)), "P": jt.Prismatic((0.0, 0.0, 1.0))}
_UPPER = tuple(itertools.combinations_with_replacement(range(3), 2))


@interruptible
def symbolic_tree(
    model: str | pin.Model | Tree | Arm,
    parameters: Given | None = None,
    *,
    gravity: Vector | None = None,
    others: str = "symbols",
    clean: float = CLEANED,
) -> SymbolicTree:
    """A robot with formulas for its constants.

    Continuous joints, for which Pinocchio's q has (cos, sin), are ordinary revolute joints here. The frames are those
    of the model; where they stand on their links, they have numbers.

    Args:
        model: a shipped robot's name, a URDF or MJCF file (path or text), a ``pin.Model``, a ``Tree``, or a flexible
            arm, whose symbols :mod:`gdalembert.symbolic.flexible` lists.
        parameters: ``{joint or link: {quantity: formulas}}``; a formula is a number, a string or a SymPy expression.
            Quantities: ``mass``; ``com`` (3); ``inertia`` about the centre of mass (3 principal moments, or 3 × 3);
            ``translation`` (3) and ``rotation`` (``("x", angle)``) of the joint on the parent link; ``armature``;
            ``spring`` (stiffness, rest).
        gravity: acceleration (3) in the universe frame.
        others: the constants that are not in ``parameters``: ``"symbols"``, or ``"numbers"``, which keeps the numbers
            of the robot (angles other than right angles are symbols in closed forms all the same).
        clean: tolerance of the cleaning of constants (:func:`~gdalembert.model.cleaning.clean_tree`).

    Raises:
        ArgumentTypeError: if the model or a formula is not one.
        UnknownNameError: if there is no such joint, link or quantity.
        ArgumentError: if a formula or ``others`` cannot be used.
        UnsupportedError: if a joint has velocities that are not dq/dt (spherical, planar, free-flyer), or a link is a
            Cosserat rod.
    """
    if not isinstance(others, str) or others not in ("symbols", "numbers"):
        raise ArgumentError(f"others={shown(others)}: give 'symbols' or 'numbers'")
    constants = Constants(others=others)
    arm = ArmFormulas(model, constants) if isinstance(model, Arm) else None
    source = arm.tree if arm is not None else _cleaned(model, clean)
    quantities_of = _by_joint(source, {} if parameters is None else parameters)
    springs, joints = dict[str, tuple[ca.SX, ca.SX]](), list[Joint]()
    armature = [constants.number(f"I_act_{k + 1}", x) for k, x in enumerate(source.armature)]
    for i, joint in enumerate(source.joints):
        quantities, number = quantities_of.get(i, {}), str(i + 1) if arm is None else arm.numbers[i]
        rigid = joint if arm is None else arm.rigid_part(i)
        with_formulas = replace(_with_formulas(rigid, number, quantities, constants), idx_q=joint.idx_v)
        joints.append(with_formulas if arm is None else arm.completed(i, with_formulas))
        if "spring" in quantities:
            springs[joint.name] = _spring(joint, quantities["spring"], constants)
        if "armature" in quantities:
            columns = slice(joint.columns.start, joint.columns.stop)
            armature[columns] = formulas(quantities["armature"], joint.type.nv, joint.name)
    g = _gravity(source.gravity, constants) if gravity is None else formulas(gravity, 3, "gravity")
    changed: dict[str, Any] = {"armature": constants.vector(armature), "gravity": constants.vector(g)}
    changed["modal_inertias"] = () if arm is None else tuple((i, link.inertia) for i, link in arm.links.items())
    # what is fixed to a link stays where its numbers say, and is part of the link's body
    frames = tuple(Frame(x.name, x.joint, x.rotation, x.translation, x.type, x.previous) for x in source.frames)
    # v = dq/dt: each joint has its coordinates in q where it has them in v
    whole = replace(source, nq=source.nv, joints=tuple(joints), frames=frames, **changed)
    return constants.tree(whole, springs, None if arm is None else arm.parts())


def _cleaned(model: str | pin.Model | Tree, clean: float) -> Tree:
    return clean_tree(read_tree(load_robot(model) if isinstance(model, str) else model), clean)[0]


def _by_joint(tree: Tree, parameters: Given) -> dict[int, dict[str, Any]]:
    """The given quantities by the index of the joint; a link has the name of its joint or of its frame."""
    if not isinstance(parameters, Mapping):
        raise ArgumentTypeError(f"parameters={shown(parameters)}: give {{joint or link: {{quantity: formulas}}}}")
    index = {frame.name: frame.joint for frame in tree.frames if frame.joint >= 0}
    index |= {joint.name: i for i, joint in enumerate(tree.joints)}
    quantities_of: dict[int, dict[str, Any]] = {}
    for name, quantities in parameters.items():
        if name not in index:
            raise UnknownNameError("joint or link", name, index)
        if not isinstance(quantities, Mapping):
            raise ArgumentTypeError(f"parameters[{name!r}]={shown(quantities)}: give {{quantity: formulas}}")
        for quantity in quantities:
            if quantity not in _QUANTITIES:
                known = [_SYNONYMS[quantity]] if quantity in _SYNONYMS else _QUANTITIES
                raise UnknownNameError("quantity", quantity, known)
        quantities_of.setdefault(index[name], {}).update(quantities)
    return quantities_of


def _with_formulas(joint: Joint, i: str, quantities: Mapping[str, Any], constants: Constants) -> Joint:
    """Joint i (from "1") and its link, with v = dq/dt."""
    context, minimal = f"joint {joint.name!r}", joint.type.in_minimal_coordinates()
    if not minimal.velocity_is_rate:
        raise UnsupportedError(
            f"{context}: its velocities are not dq/dt ({joint.type.kind}), so that its equations "
            "are not trigonometric polynomials in q; put revolute and prismatic joints in a row instead"
        )

    def vector(quantity: str, letter: str, values: Array) -> ca.SX:
        if quantity in quantities:
            return constants.vector(formulas(quantities[quantity], 3, f"{context}: {quantity}"))
        return constants.vector(constants.number(f"{letter}_{i}{x}", v) for x, v in zip(AXES, values, strict=True))

    m = constants.entry(formula(quantities["mass"]) if "mass" in quantities else constants.number(f"m_{i}", joint.mass))
    com = vector("com", "c", joint.com)
    changed: dict[str, Any] = {"type": minimal, "translation": vector("translation", "p", joint.translation)}
    if "inertia" in quantities:
        tensor = inertia_tensor(quantities["inertia"], context)
    else:
        upper = {(r, c): constants.number(f"I_{i}{AXES[r]}{AXES[c]}", joint.inertia[r, c]) for r, c in _UPPER}
        tensor = [[upper[min(r, c), max(r, c)] for c in range(3)] for r in range(3)]
    changed["pseudo_inertia"] = pseudo_inertia(m, com, constants.matrix(tensor))
    rotation = quantities.get("rotation")
    if rotation is None and "rotation" not in quantities:
        turn = rotation_formula(
            joint.rotation, i, constants.named if constants.others == "symbols" else constants.angle
        )
    elif isinstance(rotation, Sequence) and len(rotation) == 2 and rotation[0] in tuple(AXES):
        turn = constants.rotation(rotation[0], rotation[1], f"beta_{i}", f"{context}: rotation")
    else:
        raise ArgumentError(f"{context}: rotation {rotation!r}; give an axis and an angle, as ('x', 'alpha')")
    changed["rotation"] = constants.matrix(turn.tolist())
    if joint.offset:
        changed["offset"] = constants.entry(constants.number(f"offset_{i}", joint.offset))
    return replace(joint, **changed)


def inertia_tensor(values: Any, context: str) -> list[list[sympy.Expr]]:
    """A symmetric tensor from 3 principal moments or from 3 rows."""
    if isinstance(values, sympy.MatrixBase):
        values = list(values) if 1 in values.shape else values.tolist()
    several = isinstance(values, Sequence | np.ndarray | sympy.Tuple) and not isinstance(values, str)
    rows = list(values) if several else []
    if len(rows) == 3 and not any(isinstance(row, Sequence | np.ndarray) and not isinstance(row, str) for row in rows):
        diagonal = formulas(rows, 3, f"{context}: inertia")
        return list(sympy.diag(*diagonal).tolist())
    tensor = [formulas(list(row), 3, f"{context}: row of the inertia") for row in rows]
    if len(tensor) != 3 or any(tensor[r][c] != tensor[c][r] for r, c in itertools.product(range(3), repeat=2)):
        raise ArgumentError(f"{context}: inertia {values!r}; give the 3 principal ones or a symmetric 3 × 3 tensor")
    return tensor


def _spring(joint: Joint, values: Any, constants: Constants) -> tuple[ca.SX, ca.SX]:
    """(stiffness, rest)."""
    if joint.type.nv != 1 or joint.scaling is not None:
        raise ArgumentError(f"joint {joint.name!r}: a spring needs a joint with one coordinate of its own")
    stiffness, rest = (ca.SX(constants.entry(x)) for x in formulas(values, 2, f"spring at {joint.name!r}"))
    return stiffness, rest


def _gravity(gravity: Array, constants: Constants) -> list[sympy.Expr]:
    if np.count_nonzero(gravity) == 1:
        return [int(np.sign(x)) * constants.number("g", abs(x)) if x else sympy.S.Zero for x in gravity]
    return [constants.number(f"g_{axis}", x) for axis, x in zip(AXES, gravity, strict=True)]


@dataclass(frozen=True)
class Row(Brief):
    """A joint and its link, in formulas: numbers, strings, SymPy expressions; angles in rad, the rest in SI units.

    Attributes:
        joint: ``"R"`` (revolute) or ``"P"`` (prismatic).
        theta, d, a, alpha: the row; q is added to θ of a revolute joint and to d of a prismatic one.
        mass: that of the link. ``com``: its centre of mass, from the origin of frame i, at the far end of the link, in
            its axes (3). ``inertia``: about the centre of mass, in the axes of frame i: 3 principal moments, or 3 × 3.
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


@interruptible
def from_denavit_hartenberg(
    rows: Sequence[Row],
    *,
    convention: str = "standard",
    gravity: Vector = (0, 0, "-g"),
    name: str = "chain",
) -> SymbolicTree:
    """A serial chain with formulas for its constants; joints are named joint1, joint2, …

    Frame i of the rows is the frame ``frame1``, ``frame2``, …; those of the joints, about whose z axis or along which
    they move, have the joints' names. In the modified convention the two are the same.

    Angles within 1e-11 of a multiple of π/2 are that multiple. Any other number becomes the value of a symbol,
    ``theta_i`` or ``alpha_i``.

    Args:
        rows: the rows, from the base outward.
        convention: ``"standard"`` or ``"modified"``.
        gravity: acceleration (3) in frame 0.
        name: that of the robot.

    Raises:
        ArgumentTypeError: if ``rows`` is not a list, a row is not a :class:`Row`, or a formula is not one.
        ArgumentError: if there are no rows, or a row, the convention or the gravity cannot be used.
    """
    if not isinstance(convention, str) or convention not in ("standard", "modified"):
        raise ArgumentError(f"convention={shown(convention)}: give 'standard' or 'modified'")
    rows = _checked_rows(rows, name)
    constants = Constants()
    joints: list[Joint] = []
    words = set(re.findall(r"\w+", f"{rows} {gravity}"))

    def rotation(axis: str, i: int, quantity: str) -> sympy.Matrix:
        """The rotation about an axis by an angle of row i; a number that is not a multiple of π/2 gets a symbol."""
        angle, symbol_name = getattr(rows[i], quantity), f"{quantity}_{i + 1}"
        turn = constants.rotation(axis, angle, symbol_name, f"{name}: row {i + 1}: {quantity}")
        if symbol_name in constants.numbers and symbol_name in words:
            raise ArgumentError(
                f"{name}: row {i + 1}: {quantity}={shown(angle)} gets the name {symbol_name}, which a formula has "
                "already; rename that one"
            )
        return turn

    frames = [Frame("universe", -1, _UNTURNED, _AT_ORIGIN, "FIXED_JOINT")]
    before = sympy.eye(4)  # standard convention: from the last joint frame to the frame of its link
    for i, row in enumerate(rows):
        along = _homogeneous(rotation("z", i, "theta"), (0, 0, formula(row.d)))
        across = _homogeneous(rotation("x", i, "alpha"), (formula(row.a), 0, 0))
        if convention == "standard":
            placement, to_frame = before, along * across
            before = to_frame
        else:
            placement, to_frame = across * along, sympy.eye(4)
        joints.append(_joint(i, row, placement, to_frame, constants, f"{name}: row {i + 1}"))
        frames += _frames(i, to_frame, constants)
    armature = constants.vector(formula(row.armature) for row in rows)
    down = constants.vector(formulas(gravity, 3, f"{name}: gravity"))
    return constants.tree(_chain(name, joints, frames, armature, down))


def _chain(name: str, joints: Sequence[Joint], frames: Sequence[Frame], armature: Any, gravity: Any) -> Tree:
    """The tree of joints in a row; armature and gravity are of symbols."""
    n, names = len(joints), tuple(joint.name for joint in joints)
    links, nothing = tuple(range(n)), np.zeros(n)
    return Tree(name, n, n, tuple(joints), links, names, armature, nothing, nothing, gravity, tuple(frames))


_UNTURNED, _AT_ORIGIN = frozen(np.eye(3)), frozen(np.zeros(3))


def _frames(i: int, to_frame: sympy.Matrix, constants: Constants) -> list[Frame]:
    """The frame of a joint, and that of its row, at ``to_frame`` in it."""
    turn: Any = constants.matrix(to_frame[:3, :3].tolist())
    shift: Any = constants.vector(list(to_frame[:3, 3]))
    of_joint = Frame(f"joint{i + 1}", i, _UNTURNED, _AT_ORIGIN, "JOINT")
    return [of_joint, Frame(f"frame{i + 1}", i, turn, shift, "OP_FRAME", 2 * i + 1)]


def _checked_rows(rows: Sequence[Row], name: str) -> list[Row]:
    """The rows, of which there is at least one, each with a joint that is known."""
    checked = listed(rows)
    if checked is None:
        raise ArgumentTypeError(f"{name}: rows={shown(rows)}; give a list of Rows")
    if not checked:
        raise ArgumentError(f"{name}: has no rows; give at least one")
    for i, row in enumerate(checked):
        if not isinstance(row, Row):
            raise ArgumentTypeError(f"{name}: row {i + 1}: got {shown(row)}; give a Row")
        if not isinstance(row.joint, str) or row.joint not in _TYPES:
            raise ArgumentError(f"{name}: row {i + 1}: joint={shown(row.joint)}; give 'R' or 'P'")
    return checked


def _homogeneous(rotation: sympy.Matrix, translation: Sequence[sympy.Expr]) -> sympy.Matrix:
    return sympy.Matrix.vstack(sympy.Matrix.hstack(rotation, sympy.Matrix(translation)), sympy.Matrix([[0, 0, 0, 1]]))


def _joint(
    i: int, row: Row, placement: sympy.Matrix, to_frame: sympy.Matrix, constants: Constants, context: str
) -> Joint:
    """A joint whose link has its centre of mass and inertia in the frame at ``to_frame`` in the joint frame."""
    turn, shift = to_frame[:3, :3], to_frame[:3, 3]
    com = turn * sympy.Matrix(formulas(row.com, 3, f"{context}: com")) + shift
    tensor = turn * sympy.Matrix(inertia_tensor(row.inertia, context)) * turn.T
    rotation: Any = constants.matrix(placement[:3, :3].tolist())
    translation: Any = constants.vector(list(placement[:3, 3]))
    mass, at = constants.entry(formula(row.mass)), constants.vector(list(com))
    inertia: Any = pseudo_inertia(mass, at, constants.matrix(tensor.tolist()))
    return Joint(f"joint{i + 1}", _TYPES[row.joint], i - 1, rotation, translation, inertia, idx_q=i, idx_v=i)
