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
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import sympy
from sympy.core.function import Application

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.forces import Force
from gdalembert.dynamics.parameters.parameters import Parameters, mapped, parameters_of, substituted
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError, shown
from gdalembert.model import joints as jt
from gdalembert.model.cleaning import clean_tree
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.inertia import pseudo_inertia
from gdalembert.model.load_mjcf import load_robot
from gdalembert.model.rounding import CLEANED
from gdalembert.model.tree import Frame, Joint, Tree, TreeOfSymbols
from gdalembert.spatial.arguments import listed
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.brief import Brief
from gdalembert.spatial.interrupts import interruptible
from gdalembert.symbolic.formula import Formula, TrigonometricPolynomial, Vector, angle, formula, formulas, symbol

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
_AXES = "xyz"
_UPPER = tuple(itertools.combinations_with_replacement(range(3), 2))
_CASADI = {name: getattr(ca, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sqrt", "exp", "log")}
_CASADI |= {"Abs": ca.fabs, "pi": math.pi}
"""Functions and constants of CasADi, by the names that SymPy writes in formulas."""


@interruptible
@dataclass(frozen=True, eq=False)
class SymbolicTree(TreeOfSymbols):
    """A tree whose constants are formulas.

    :func:`~gdalembert.symbolic.symbolic_tree` makes one of a model,
    :func:`~gdalembert.symbolic.from_denavit_hartenberg` of rows. Every formulation takes it.

    Attributes:
        formulas: what each symbol of p stands for: a SymPy symbol; in the tree ``exact`` a formula.
        numbers: the value of each SymPy symbol in the robot, where it is known; those of angles, which are symbols in
            closed forms alone, too.
        spring_constants: (stiffness, rest) by joint.
        exact: the tree that closed forms are made of; ``None`` if it is this.
    """

    formulas: tuple[sympy.Expr, ...]
    numbers: Mapping[str, float]
    spring_constants: Mapping[str, tuple[Any, Any]]
    exact: SymbolicTree | None = field(default=None, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        attributes = {
            attribute.name: getattr(self, attribute.name)
            for attribute in fields(self)
            if attribute.name not in ("p", "exact")
        }
        constants: list[ca.SX] = []  # SX keep their symbols only as outputs of one Function

        def numbered(constant: ca.SX) -> _Numbered:
            constants.append(constant)
            return _Numbered(len(constants) - 1)

        skeleton = mapped(attributes, ca.SX, numbered)
        return _restored, (skeleton, ca.Function("constants", [self.p], constants), self.exact)

    @property
    def symbol_names(self) -> tuple[str, ...]:
        return tuple(str(x) for x in self.formulas)

    @property
    def symbol_values(self) -> Array:
        symbols = sorted({x for constant in self.formulas for x in constant.free_symbols}, key=str)
        values = sympy.lambdify(symbols, list(self.formulas), "math")
        return np.array(values(*(self.numbers.get(x.name, math.nan) for x in symbols)), dtype=float)

    @property
    def springs(self) -> Mapping[str, tuple[Any, Any]]:
        return self.spring_constants

    @property
    def parameters(self) -> Parameters:
        """Names and values of p, NaN where no value is known; ``parameters.vector({name: value})`` is p in numbers."""
        return parameters_of(self, (), None, 0.0)

    def inputs(self) -> dict[str, Sequence[sympy.Expr]]:
        """The formulas that the entries of the input p stand for."""
        return {"p": self.formulas} if self.formulas else {}

    def dynamics(self, formulation: type[Dynamics], forces: Sequence[Force] | None = None) -> Dynamics:
        """The formulation on this tree, as ``formulation(tree, forces=forces)`` gives it.

        Each of its Functions has p, the values of the symbols, as its last input; ``dyn.parameters`` has their names.

        Args:
            formulation: any formulation, or a subclass of ``Dynamics`` that takes the constants of a tree by
                :func:`gdalembert.spatial.algebra.constant`.
            forces: further force elements.

        Raises:
            ArgumentTypeError: if it is not a formulation.
        """
        if not isinstance(formulation, type) or not issubclass(formulation, Dynamics):
            raise ArgumentTypeError(f"{formulation!r} is not a formulation; give gd.LagrangeEuler, for example")
        return formulation(self, clean=0, forces=forces)


class _Numbered(int):
    """The place of a constant in a pickle."""


def _restored(skeleton: dict[str, Any], function: ca.Function, exact: SymbolicTree | None) -> SymbolicTree:
    p = _column(ca.SX.sym(str(x)) for x in skeleton["formulas"])
    return SymbolicTree(**mapped(skeleton, _Numbered, function.call([p]).__getitem__), p=p, exact=exact)


@dataclass
class Constants:
    """Formulas as entries of SX matrices: 0, 1 and −1 are numbers, equal formulas share a symbol.

    ``symbols``: the symbol of each formula; ``numbers``: the values of SymPy symbols; ``fixed``: names of those that
    stand for numbers, and are symbols in closed forms alone; ``others``: what numbers of a robot become, "symbols" or
    "numbers".
    """

    symbols: dict[sympy.Expr, ca.SX] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)
    fixed: set[str] = field(default_factory=set)
    others: str = "symbols"

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

    def number(self, name: str, value: float) -> sympy.Expr:
        """A number of a robot, or a symbol for it."""
        return self.named(name, value) if self.others == "symbols" else formula(float(value))

    def rotation(self, axis: str, by: Formula, name: str, context: str) -> sympy.Matrix:
        """The exact rotation (3 × 3) about x, y or z; a number that is not a multiple of π/2 gets a symbol."""
        x = angle(by)
        if x.is_number and x.is_real:
            right = (2 * x / sympy.pi).is_Integer
            return turned_about(axis, x if right else self.angle(name, float(x)))
        try:
            TrigonometricPolynomial.of(sympy.sin(x))
        except UnsupportedError:
            reason = f"{by!r} is not a sum of whole multiples of symbols and right angles; give it one symbol"
            raise ArgumentError(f"{context}: {reason}, as {name!r}") from None
        return turned_about(axis, x)

    def tree(self, tree: Tree, springs: Mapping[str, tuple[ca.SX, ca.SX]] | None = None) -> SymbolicTree:
        """The robot, whose entries are made here, in the symbols that occur in its formulas."""
        exact = SymbolicTree(
            **vars(tree),
            p=_column(self.symbols.values()),
            formulas=tuple(self.symbols),
            numbers=self.numbers,
            spring_constants=springs or {},
        )
        occurring = dict.fromkeys(x for constant in exact.formulas for x in sorted(constant.free_symbols, key=str))
        symbols = tuple(x for x in occurring if x.name not in self.fixed)
        p = _column(ca.SX.sym(x.name) for x in symbols)
        known = dict(zip(symbols, ca.vertsplit(p), strict=True)) if symbols else {}
        known |= {x: self.numbers[x.name] for x in occurring if x.name in self.fixed}
        values = _column(_in_casadi(constant, known, exact.name) for constant in exact.formulas)
        about_symbols = ("p", "formulas", "numbers", "exact")
        attributes = {
            name: substituted(x, exact.p, values) for name, x in vars(exact).items() if name not in about_symbols
        }
        return SymbolicTree(**attributes, p=p, formulas=symbols, numbers=self.numbers, exact=exact)


def _in_casadi(constant: sympy.Expr, known: Mapping[sympy.Symbol, Any], robot: str) -> ca.SX:
    """A formula as an expression of CasADi."""
    if unknown := sorted({x.func.__name__ for x in constant.atoms(Application)} - set(_CASADI)):
        raise ArgumentError(
            f"{robot}: the formula {constant} has {unknown[0]}, which graphs do not; give it one symbol"
        )
    unknowns = sorted(constant.free_symbols, key=str)
    return ca.SX(sympy.lambdify(unknowns, constant, [_CASADI])(*(known[x] for x in unknowns)))


def _column(parts: Iterable[ca.SX]) -> ca.SX:
    return ca.vertcat(ca.SX(0, 1), *parts)


@interruptible
def symbolic_tree(
    model: str | pin.Model | Tree,
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
        model: a shipped robot's name, a URDF or MJCF file (path or text), a ``pin.Model`` or a ``Tree``.
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
    if not isinstance(others, str) or others not in ("symbols", "numbers"):
        raise ArgumentError(f"others={shown(others)}: give 'symbols' or 'numbers'")
    source, _ = clean_tree(read_tree(load_robot(model) if isinstance(model, str) else model), clean)
    quantities_of = _by_joint(source, {} if parameters is None else parameters)
    constants = Constants(others=others)
    springs: dict[str, tuple[ca.SX, ca.SX]] = {}
    joints: list[Joint] = []
    idx_q = 0
    armature = [constants.number(f"I_act_{k + 1}", x) for k, x in enumerate(source.armature)]
    for i, joint in enumerate(source.joints):
        at_q = idx_q if joint.scaling is None else next(j.idx_q for j in joints if j.idx_v == joint.idx_v)
        quantities = quantities_of.get(i, {})
        joints.append(replace(_with_formulas(joint, i + 1, quantities, constants), idx_q=at_q))
        idx_q += joints[-1].type.nq if joint.scaling is None else 0
        if "spring" in quantities:
            springs[joint.name] = _spring(joint, quantities["spring"], constants)
        if "armature" in quantities:
            for k, x in zip(joint.columns, formulas(quantities["armature"], joint.type.nv, joint.name), strict=True):
                armature[k] = x
    g = _gravity(source.gravity, constants) if gravity is None else formulas(gravity, 3, "gravity")
    changed: dict[str, Any] = {"armature": constants.vector(armature), "gravity": constants.vector(g)}
    # what is fixed to a link stays where its numbers say, and is part of the link's body
    frames = tuple(Frame(x.name, x.joint, x.rotation, x.translation, x.type, x.previous) for x in source.frames)
    return constants.tree(replace(source, nq=idx_q, joints=tuple(joints), frames=frames, **changed), springs)


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


def _with_formulas(joint: Joint, i: int, quantities: Mapping[str, Any], constants: Constants) -> Joint:
    """Joint i (from 1) and its link, with v = dq/dt."""
    context, minimal = f"joint {joint.name!r}", joint.type.in_minimal_coordinates()
    if not minimal.velocity_is_rate:
        raise UnsupportedError(
            f"{context}: its velocities are not dq/dt ({joint.type.kind}), so that its equations "
            "are not trigonometric polynomials in q; put revolute and prismatic joints in a row instead"
        )

    def vector(quantity: str, letter: str, values: Array) -> ca.SX:
        if quantity in quantities:
            return constants.vector(formulas(quantities[quantity], 3, f"{context}: {quantity}"))
        return constants.vector(constants.number(f"{letter}_{i}{x}", v) for x, v in zip(_AXES, values, strict=True))

    m = constants.entry(formula(quantities["mass"]) if "mass" in quantities else constants.number(f"m_{i}", joint.mass))
    com = vector("com", "c", joint.com)
    changed: dict[str, Any] = {"type": minimal, "translation": vector("translation", "p", joint.translation)}
    if "inertia" in quantities:
        tensor = inertia_tensor(quantities["inertia"], context)
    else:
        upper = {(r, c): constants.number(f"I_{i}{_AXES[r]}{_AXES[c]}", joint.inertia[r, c]) for r, c in _UPPER}
        tensor = [[upper[min(r, c), max(r, c)] for c in range(3)] for r in range(3)]
    changed["pseudo_inertia"] = pseudo_inertia(m, com, constants.matrix(tensor))
    rotation = quantities.get("rotation")
    if rotation is None and "rotation" not in quantities:
        turn = _rotation(joint, i, constants.named if constants.others == "symbols" else constants.angle)
    elif isinstance(rotation, Sequence) and len(rotation) == 2 and rotation[0] in tuple(_AXES):
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
    return [constants.number(f"g_{axis}", x) for axis, x in zip(_AXES, gravity, strict=True)]


def turned_about(axis: str, x: sympy.Expr) -> sympy.Matrix:
    """The rotation (3 × 3) about x, y or z by an angle [rad]."""
    rotations = (sympy.rot_ccw_axis1, sympy.rot_ccw_axis2, sympy.rot_ccw_axis3)
    return rotations[_AXES.index(axis)](x)


def _rotation(joint: Joint, i: int, named: Callable[[str, float], sympy.Expr]) -> sympy.Matrix:
    """The rotation of the joint frame: exact for right angles; other angles get names."""
    r = joint.rotation
    if np.all(np.isin(r, (-1, 0, 1))):
        return sympy.Matrix(3, 3, [int(x) for x in r.ravel()])
    for k, axis in enumerate(_AXES):
        if r[k, k] == 1:
            a, b = (k + 1) % 3, (k + 2) % 3
            return turned_about(axis, named(f"beta_{i}", math.atan2(r[b, a], r[a, a])))
    parts = zip("zyx", ("yaw", "pitch", "roll"), pin.rpy.matrixToRpy(r)[::-1], strict=True)
    z, y, x = (turned_about(axis, named(f"{name}_{i}", value)) for axis, name, value in parts)
    return z * y * x


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
