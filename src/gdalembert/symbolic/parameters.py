"""Symbols for the constants of a robot: of the user's choice, or one for each number that is not zero.

Link i (1, 2, …) gets, where the number is not zero, the mass ``m_i``, the centre of mass ``c_ix, c_iy, c_iz``, the
inertia ``I_ixx, I_ixy, …`` (entries of the tensor about the centre of mass), the position ``p_ix, p_iy, p_iz`` of its
joint on the parent link, the rotor inertia ``I_act_i``; gravity along an axis is ``g``. The rotation of a joint
frame by right angles is exact; by any other angle about x, y or z, it has the angle ``beta_i``; any other rotation has
``roll_i``, ``pitch_i``, ``yaw_i``, as in URDF.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import sympy

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.model.cleaning import clean_tree
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.inertia import pseudo_inertia
from gdalembert.model.joints import JointType
from gdalembert.model.load_urdf import load_urdf
from gdalembert.model.rounding import CLEANED
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.arrays import Array
from gdalembert.symbolic.formula import Formula, TrigonometricPolynomial, Vector, angle, formula, formulas, symbol
from gdalembert.symbolic.tree import SymbolicTree, in_symbols

Given = Mapping[str, Mapping[str, Any]]
_QUANTITIES = ("mass", "com", "inertia", "translation", "rotation", "armature", "spring")
_AXES = "xyz"


@dataclass
class Constants:
    """Formulas as entries of SX matrices: 0, 1 and −1 are numbers, equal formulas share a symbol.

    Attributes:
        symbols: the symbol of each formula.
        numbers: the values of SymPy symbols.
        fixed: names of those symbols that stand for numbers, and are symbols in closed forms alone.
    """

    symbols: dict[sympy.Expr, ca.SX] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)
    fixed: set[str] = field(default_factory=set)

    def entry(self, expression: sympy.Expr) -> Any:
        """A number, or an SX symbol with a sign."""
        if expression in (0, 1, -1):
            return float(expression)
        if expression.could_extract_minus_sign():
            return -self.entry(-expression)
        return self.symbols.setdefault(expression, ca.SX.sym(f"p_{len(self.symbols) + 1}"))

    def matrix(self, rows: Sequence[Sequence[sympy.Expr]]) -> ca.SX:
        """A sparse SX matrix from rows of formulas."""
        return ca.sparsify(ca.vertcat(*(ca.horzcat(*(ca.SX(self.entry(x)) for x in row)) for row in rows)))

    def vector(self, entries: Iterable[sympy.Expr]) -> ca.SX:
        """A sparse SX column from formulas."""
        return self.matrix([[x] for x in entries])

    def named(self, name: str, value: float) -> sympy.Expr:
        """A symbol for a number, and 0 for 0."""
        if value == 0:
            return sympy.Integer(0)
        self.numbers[name] = float(value)
        return symbol(name)

    def angle(self, name: str, value: float) -> sympy.Expr:
        """A number that closed forms have as a symbol."""
        self.fixed.add(name)
        return self.named(name, value)

    def rotation(self, axis: str, by: Formula, name: str, where: str) -> sympy.Matrix:
        """The exact rotation (3 × 3) about x, y or z; a number that is not a multiple of π/2 gets a symbol.

        Raises:
            ArgumentError: if the sine of the angle is not a trigonometric polynomial.
        """
        x = angle(by)
        if x.is_number and x.is_real:
            right = (2 * x / sympy.pi).is_Integer
            return turned_about(axis, x if right else self.angle(name, float(x)))
        try:
            TrigonometricPolynomial.of(sympy.sin(x))
        except UnsupportedError:
            reason = f"{by!r} is not a sum of whole multiples of symbols and right angles; give it one symbol"
            raise ArgumentError(f"{where}: {reason}, as {name!r}") from None
        return turned_about(axis, x)

    def tree(self, tree: Tree, springs: Mapping[str, tuple[ca.SX, ca.SX]] | None = None) -> SymbolicTree:
        """The tree, whose entries are made here, with all symbols."""
        exact = SymbolicTree(
            **vars(tree),
            p=ca.vertcat(ca.SX(0, 1), *self.symbols.values()),
            formulas=tuple(self.symbols),
            numbers=self.numbers,
            spring_constants=springs or {},
        )
        return in_symbols(exact, self.fixed)


def symbolic_tree(
    model: str | pin.Model | Tree,
    parameters: Given | None = None,
    *,
    gravity: Vector | None = None,
    others: str = "symbols",
    clean: float = CLEANED,
) -> SymbolicTree:
    """A robot with formulas for its constants.

    Continuous joints, for which Pinocchio's q has (cos, sin), are ordinary revolute joints here.

    Args:
        model: a shipped robot's name, a URDF (path or text), a ``pin.Model`` or a ``Tree``.
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
        UnsupportedError: if a joint has velocities that are not dq/dt (spherical, planar, free-flyer).
    """
    if others not in ("symbols", "numbers"):
        raise ArgumentError(f"others={others!r}: give 'symbols' or 'numbers'")
    source, _ = clean_tree(read_tree(load_urdf(model) if isinstance(model, str) else model), clean)
    given = _by_joint(source, parameters or {})
    constants = Constants()
    springs: dict[str, tuple[ca.SX, ca.SX]] = {}
    joints: list[Joint] = []
    idx_q = 0
    armature = [_number(constants, others, f"I_act_{k + 1}", x) for k, x in enumerate(source.armature)]
    for i, joint in enumerate(source.joints):
        at_q = idx_q if joint.scaling is None else next(j.idx_q for j in joints if j.idx_v == joint.idx_v)
        joint = replace(joint, type=_minimal(joint), idx_q=at_q)
        joints.append(_with_formulas(joint, i + 1, given.get(i, {}), constants, others))
        idx_q += joint.type.nq if joint.scaling is None else 0
        if "spring" in given.get(i, {}):
            springs[joint.name] = _spring(joint, given[i]["spring"], constants)
        if "armature" in given.get(i, {}):
            for k, x in zip(joint.columns, formulas(given[i]["armature"], joint.type.nv, joint.name), strict=True):
                armature[k] = x
    g = _gravity(source.gravity, constants, others) if gravity is None else formulas(gravity, 3, "gravity")
    changed: dict[str, Any] = {
        "nq": idx_q,
        "joints": tuple(joints),
        "armature": constants.vector(armature),
        "gravity": constants.vector(g),
        "frames": (),
    }
    return constants.tree(replace(source, **changed), springs)


def _by_joint(tree: Tree, parameters: Given) -> dict[int, dict[str, Any]]:
    """The given quantities by the index of the joint; a link has the name of its joint or of its frame."""
    if not isinstance(parameters, Mapping):
        raise ArgumentTypeError(f"parameters={parameters!r}: give {{joint or link: {{quantity: formulas}}}}")
    index = {frame.name: frame.joint for frame in tree.frames if frame.joint >= 0}
    index |= {joint.name: i for i, joint in enumerate(tree.joints)}
    given: dict[int, dict[str, Any]] = {}
    for name, quantities in parameters.items():
        if name not in index:
            raise UnknownNameError("joint or link", name, index)
        if not isinstance(quantities, Mapping):
            raise ArgumentTypeError(f"parameters[{name!r}]={quantities!r}: give {{quantity: formulas}}")
        for quantity in quantities:
            if quantity not in _QUANTITIES:
                raise UnknownNameError("quantity", quantity, _QUANTITIES)
        given.setdefault(index[name], {}).update(quantities)
    return given


def _minimal(joint: Joint) -> JointType:
    """The type of the joint with v = dq/dt."""
    found = joint.type.in_minimal_coordinates()
    if not found.velocity_is_rate:
        raise UnsupportedError(
            f"joint {joint.name!r}: its velocities are not dq/dt ({joint.type.kind}), so that its equations "
            "are not trigonometric polynomials in q; put revolute and prismatic joints in a row instead"
        )
    return found


def _with_formulas(joint: Joint, i: int, given: Mapping[str, Any], constants: Constants, others: str) -> Joint:
    where = f"joint {joint.name!r}"

    def number(name: str, value: float) -> sympy.Expr:
        return _number(constants, others, name, value)

    def vector(quantity: str, letter: str, values: Array) -> list[sympy.Expr]:
        if quantity in given:
            return formulas(given[quantity], 3, f"{where}: {quantity}")
        return [number(f"{letter}_{i}{axis}", x) for axis, x in zip(_AXES, values, strict=True)]

    mass = formula(given["mass"]) if "mass" in given else number(f"m_{i}", joint.mass)
    m, com = constants.entry(mass), constants.vector(vector("com", "c", joint.com))
    changed: dict[str, Any] = {
        "translation": constants.vector(vector("translation", "p", joint.translation)),
    }
    if "inertia" in given:
        tensor = inertia_tensor(given["inertia"], where)
    else:
        tensor = [
            [number(f"I_{i}{_AXES[min(r, c)]}{_AXES[max(r, c)]}", joint.inertia[r, c]) for c in range(3)]
            for r in range(3)
        ]
    changed["pseudo_inertia"] = pseudo_inertia(m, com, constants.matrix(tensor))
    if "rotation" in given:
        rotation = _given_rotation(given["rotation"], i, constants, where)
    else:
        rotation = _rotation(joint, i, constants.named if others == "symbols" else constants.angle)
    changed["rotation"] = constants.matrix(rotation.tolist())
    if joint.offset:
        changed["offset"] = constants.entry(number(f"offset_{i}", joint.offset))
    return replace(joint, **changed)


def inertia_tensor(values: Any, where: str) -> list[list[sympy.Expr]]:
    """A symmetric tensor from 3 principal moments or from 3 rows.

    Raises:
        ArgumentError: if it is neither, or not symmetric.
    """
    if isinstance(values, sympy.MatrixBase):
        values = list(values) if 1 in values.shape else values.tolist()
    several = isinstance(values, Sequence | np.ndarray | sympy.Tuple) and not isinstance(values, str)
    rows = list(values) if several else []
    if len(rows) == 3 and not any(isinstance(row, Sequence | np.ndarray) and not isinstance(row, str) for row in rows):
        diagonal = formulas(rows, 3, f"{where}: inertia")
        return [[x if r == c else sympy.Integer(0) for c in range(3)] for r, x in enumerate(diagonal)]
    tensor = [formulas(list(row), 3, f"{where}: row of the inertia") for row in rows]
    if len(tensor) != 3 or any(tensor[r][c] != tensor[c][r] for r, c in itertools.product(range(3), repeat=2)):
        raise ArgumentError(f"{where}: inertia {values!r}; give the 3 principal ones or a symmetric 3 × 3 tensor")
    return tensor


def turned_about(axis: str, x: sympy.Expr) -> sympy.Matrix:
    """The rotation (3 × 3) about x, y or z by an angle [rad]."""
    c, s = sympy.cos(x), sympy.sin(x)
    k = _AXES.index(axis)
    i, j = (k + 1) % 3, (k + 2) % 3
    r = sympy.eye(3)
    r[i, i], r[i, j], r[j, i], r[j, j] = c, -s, s, c
    return r


def _given_rotation(value: Any, i: int, constants: Constants, where: str) -> sympy.Matrix:
    if isinstance(value, Sequence) and len(value) == 2 and value[0] in tuple(_AXES):
        return constants.rotation(value[0], value[1], f"beta_{i}", f"{where}: rotation")
    raise ArgumentError(f"{where}: rotation {value!r}; give an axis and an angle, as ('x', 'alpha')")


def _rotation(joint: Joint, i: int, named: Callable[[str, float], sympy.Expr]) -> sympy.Matrix:
    """The rotation of the joint frame: exact for right angles; other angles get names."""
    r = joint.rotation
    if np.all(np.isin(r, (-1, 0, 1))):
        return sympy.Matrix(3, 3, [int(x) for x in r.ravel()])
    for k, axis in enumerate(_AXES):
        if r[k, k] == 1:
            a, b = (k + 1) % 3, (k + 2) % 3
            return turned_about(axis, named(f"beta_{i}", math.atan2(r[b, a], r[a, a])))
    yaw, pitch, roll = pin.rpy.matrixToRpy(r)[::-1]
    parts = zip("zyx", ("yaw", "pitch", "roll"), (yaw, pitch, roll), strict=True)
    z, y, x = (turned_about(axis, named(f"{name}_{i}", value)) for axis, name, value in parts)
    return z * y * x


def _spring(joint: Joint, given: Any, constants: Constants) -> tuple[ca.SX, ca.SX]:
    """(stiffness, rest)."""
    if joint.type.nv != 1 or joint.scaling is not None:
        raise ArgumentError(f"joint {joint.name!r}: a spring needs a joint with one coordinate of its own")
    stiffness, rest = (ca.SX(constants.entry(x)) for x in formulas(given, 2, f"spring at {joint.name!r}"))
    return stiffness, rest


def _gravity(gravity: Array, constants: Constants, others: str) -> list[sympy.Expr]:
    if np.count_nonzero(gravity) == 1:
        size = float(np.abs(gravity).max())
        return [int(np.sign(x)) * _number(constants, others, "g", size) if x else sympy.Integer(0) for x in gravity]
    return [_number(constants, others, f"g_{axis}", x) for axis, x in zip(_AXES, gravity, strict=True)]


def _number(constants: Constants, others: str, name: str, value: float) -> sympy.Expr:
    return constants.named(name, value) if others == "symbols" else formula(float(value))
