"""Base parameters: the fewest combinations of the links' inertia that joint torques depend on.

tau = Y(q, v, a) π is linear in the dynamic parameters π of the links, but many columns of Y depend on each other. With
base parameters β = B π and the base regressor Y_β

    Y = Y_β B,    tau = Y_β β.

B is found in two steps. By geometry, which is exact: what moves with the parent link as well as with its own goes to
the parent (:mod:`gdalembert.model.regrouping`). Where columns still depend on each other (links at
a fixed base, parallel axes, an axis along gravity), they are completed by Y at random states: columns that are linear
combinations of those that are kept are dropped, and the coefficients go to B (Gautier 1991).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import ClassVar

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.rnea import inverse_dynamics
from gdalembert.dynamics.parameters.groups import LinkInertias, ParameterGroup, selected
from gdalembert.errors import UnsupportedError
from gdalembert.model.configuration import reached
from gdalembert.model.from_pinocchio import check_same_joints, read_tree
from gdalembert.model.regrouping import PreparedTree, RegroupedTree, prepare
from gdalembert.model.rounding import PRODUCT_ERROR, drop
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix, entries
from gdalembert.spatial.arrays import Array, frozen, independent_columns, unit_columns
from gdalembert.spatial.brief import Brief
from gdalembert.spatial.functions import symbols
from gdalembert.spatial.interrupts import interruptible

_STATES = 200
"""Random states, whose torques tell whether columns of Y depend on each other."""
_DEPENDENT = 1e-9
"""The most that rounding leaves of a column that depends on others, relative to its size."""
_ILL_CONDITIONED = 100.0
"""Coefficients of unit columns above which a column that is kept is exchanged for the one that depends on it."""
_NEGLIGIBLE = 1e-10
"""Coefficients of B that rounding makes of zeros, relative to the largest in their row."""
_GRAVITY = 9.81

Entry = tuple[int, int, int]
"""A number of a pseudo-inertia: the index of the joint, the row and the column."""

_LETTERS = {(0, 3): "hx", (1, 3): "hy", (2, 3): "hz", (3, 3): "m"}


@interruptible
@dataclass(frozen=True)
class BaseParameters(Brief):
    """The base parameters of a robot.

    They are numbers of the pseudo-inertias of the links in link frames of our own, after regrouping: ``Jxx`` = ∫ x²,
    ``Jxy`` …, first moments ``hx`` = ∫ x and masses ``m``. If nothing slides, ``hx`` and ``m`` are multiplied by the
    unit of length of these frames and by its square, so that all of them are in kg m².

    Attributes:
        labels: a short name for each, ``joint.Jxx``.
        names: formulas that say what each of them is in the dynamic parameters of the links.
        matrix: B (n_b × 10 (njoints − 1)): base parameters = B π, with π in Pinocchio's order.
        bodies: R (10 (njoints − 1) × n_b), B R = 1: dynamic parameters that have given base parameters; the base
            regressor is the torque regressor times R.
        completed: the labels of those numbers that geometry left, and that random states showed to depend on others.
        geometry: the robot that they belong to.
    """

    labels: tuple[str, ...]
    names: tuple[str, ...]
    matrix: Array
    bodies: Array
    completed: tuple[str, ...]
    geometry: Tree = field(repr=False)

    def __len__(self) -> int:
        return len(self.labels)

    def of(self, model: pin.Model | Tree) -> Array:
        """The base parameters (n_b) of a model with the same geometry.

        Raises:
            ArgumentError: if the model has other joints.
        """
        tree = read_tree(model)
        check_same_joints("base_parameters", self.geometry, tree)
        return frozen(self.matrix @ _dynamic_parameters(tree))

    def latex(self) -> str:
        """The regrouping as LaTeX, a line ``β_k = …`` for each base parameter, in an ``aligned`` environment."""
        lines = (
            rf"\beta_{{{k}}} &= {name.replace('_', chr(92) + '_').replace('*', chr(92) + ',')}"
            for k, name in enumerate(self.names, 1)
        )
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}\n"


class Base(ParameterGroup):
    """Base parameters in place of the inertia of all links: the smallest graph.

    In the tree of the recursion, ``_geometry``, numbers of the bodies stand at ``_entries``: L (base parameters). L,
    ``_spread``, is 1 but for joints that are a sequence, where massless links between its parts take shares of a body.

    Attributes:
        found: the base parameters.
    """

    kind: ClassVar[str] = "base"
    elements: tuple[str, ...] = ()

    def __init__(self, tree: Tree) -> None:
        any_gravity = isinstance(tree.gravity, ca.SX)
        gravity = np.zeros(3) if any_gravity else tree.gravity
        regrouped = _regrouping(replace(tree, gravity=gravity, armature=np.zeros(tree.nv)), any_gravity)
        self.found, self._geometry, self._entries, self._spread = regrouped
        self._nominal = tree

    @property
    def names(self) -> tuple[str, ...]:
        return self.found.labels

    def regrouped(self, p: Matrix) -> PreparedTree:
        """The tree of the recursion with the base parameters p."""
        return _with_entries(self._geometry, self._entries, spatial.constant(self._spread) @ p)

    @classmethod
    def select(cls, tree: Tree, chosen: Sequence[str] | None) -> Base:
        if chosen:
            selected("element of base (give True)", chosen, ())
        return cls(tree)

    def values(self, tree: Tree) -> Array:
        return np.asarray(self.found.matrix @ _dynamic_parameters(tree))

    def values_of(self, tree: Tree, nominal: Tree) -> Array:
        return self.values(tree)

    def random(self, tree: Tree, rng: np.random.Generator) -> Array:
        return np.asarray(self.found.matrix @ LinkInertias.select(tree, None).random(tree, rng))

    def substitute(self, tree: Tree, p: Matrix) -> Tree:
        inertia = LinkInertias.select(tree, None)
        added = inertia.dynamic_parameters(tree) - ca.DM(_dynamic_parameters(self._nominal))  # payloads
        change = spatial.constant(self.found.bodies) @ (p - ca.DM(self.values(self._nominal)))
        # with 1 kg for each link without mass: its centre of mass has a meaning, whatever first moment p gives it
        bodies_of_model = _dynamic_parameters(self._nominal)
        massless = np.where(np.arange(len(bodies_of_model)) % 10 == 0, bodies_of_model == 0, 0.0)
        heavier = bodies_of_model + massless - self.found.bodies @ (self.found.matrix @ massless)
        bodies = inertia.substitute(tree, ca.DM(heavier) + added + change)
        regrouped = self.regrouped(p + spatial.constant(self.found.matrix) @ ca.sparsify(added))
        return RegroupedTree(**vars(bodies), prepared=regrouped)

    def write_to_model(self, model: pin.Model, p: Array) -> None:
        """Bodies near those of the model; those that get a first moment have a mass."""
        inertia = LinkInertias.select(self._nominal, None)
        bodies_of_model = np.concatenate([body.toDynamicParameters() for body in list(model.inertias)[1:]])

        def missing(pi: Array) -> Array:
            """The difference p − B π, zero where it is rounding."""
            size = np.abs(p) + np.abs(self.found.matrix) @ np.abs(pi)
            return drop(p - self.found.matrix @ pi, PRODUCT_ERROR * size)

        changed = bodies_of_model + self.found.bodies @ missing(bodies_of_model)
        bodies = changed.reshape(-1, 10)
        massless = np.flatnonzero((bodies[:, 0] == 0) & bodies[:, 1:4].any(axis=1))
        if len(massless):
            bodies_of_model[10 * massless] = 1.0
            changed = bodies_of_model + self.found.bodies @ missing(bodies_of_model)
        inertia.write_to_model(model, changed)


def _dynamic_parameters(tree: Tree) -> Array:
    return LinkInertias.select(tree, None).values(tree)


@lru_cache(maxsize=16)
def _regrouping(tree: Tree, any_gravity: bool) -> tuple[BaseParameters, PreparedTree, list[Entry], Array]:
    """Base parameters of a tree, whose bodies do not matter, the prepared tree, its entries and L, as of a Base."""
    inertia = LinkInertias.select(tree, None)
    pi = ca.SX.sym("pi", len(inertia.names))
    prepared = prepare(inertia.substitute(tree, pi), regroup_symbols=True)
    if not isinstance(prepared, PreparedTree):
        raise UnsupportedError(
            f"{tree.name}: base parameters are regrouped from rigid link to rigid link; take 'inertia' or 'payload'"
        )
    places = _entries(prepared)
    inertias = [spatial.constant(joint.pseudo_inertia) for joint in prepared.joints]
    by_geometry = ca.jacobian(ca.vertcat(*(inertias[i][row, column] for i, row, column in places)), pi)
    g = ca.evalf(by_geometry).full()
    kept, dropped, coefficients = _independent(prepared, places, any_gravity)
    numbers = _cleaned(g[kept] + coefficients @ g[dropped])
    rows, _ = independent_columns(unit_columns(numbers.T, _DEPENDENT), _DEPENDENT, order=range(len(kept)))
    matrix = numbers[rows]
    spread = np.eye(len(kept)) if len(rows) == len(kept) else _cleaned(numbers @ np.linalg.pinv(matrix))
    quantities = (_LETTERS.get((row, column)) or "J" + "xyz"[row] + "xyz"[column] for _, row, column in places)
    labels = [f"{prepared.joints[i].name}.{x}" for (i, *_), x in zip(places, quantities, strict=True)]
    # R leaves the masses of links as they are where it can, so that a centre of mass has a meaning
    order = np.argsort(np.arange(matrix.shape[1]) % 10 == 0, kind="stable").tolist()
    chosen, _ = independent_columns(unit_columns(matrix), _DEPENDENT, order=order)
    bodies = np.zeros((matrix.shape[1], len(matrix)))
    bodies[chosen] = np.linalg.inv(matrix[:, chosen])
    base = BaseParameters(
        labels=tuple(labels[kept[k]] for k in rows),
        names=tuple(formula(row, inertia.names) for row in matrix),
        matrix=frozen(matrix),
        bodies=frozen(_cleaned(bodies)),
        completed=tuple(labels[k] for k in dropped),
        geometry=tree,
    )
    return base, prepared, [places[k] for k in kept], frozen(spread)


def _entries(tree: Tree) -> list[Entry]:
    """The numbers of the bodies that are not structurally zero, from the tips to the base."""
    return [
        (i, row, column)
        for i, joint in reversed(list(enumerate(tree.joints)))
        for row in range(4)
        for column in range(row, 4)
        if spatial.constant(joint.pseudo_inertia).sparsity().has_nz(row, column)
    ]


def _with_entries(tree: PreparedTree, places: Sequence[Entry], p: Matrix) -> PreparedTree:
    """The tree with p at these places of its bodies, and zeros elsewhere."""
    bodies = [type(p)(4, 4) for _ in tree.joints]
    for k, (i, row, column) in enumerate(places):
        bodies[i][row, column] = p[k]
        bodies[i][column, row] = p[k]
    joints = (replace(joint, pseudo_inertia=entries(body)) for joint, body in zip(tree.joints, bodies, strict=True))
    return replace(tree, joints=tuple(joints))


def _independent(tree: PreparedTree, places: Sequence[Entry], any_gravity: bool) -> tuple[list[int], list[int], Array]:
    """Columns of Y that are kept, those that depend on them, and X of Y_dropped = Y_kept X."""
    s = symbols(q=tree.nq, v=tree.nv, a=tree.nv, p=len(places), g=3)
    down = s["g"] if any_gravity else ca.DM(tree.gravity)
    tau = inverse_dynamics(replace(_with_entries(tree, places, s["p"]), gravity=entries(down)), s["q"], s["v"], s["a"])
    regressor = ca.Function("regressor", [s["q"], s["v"], s["a"], s["g"]], [ca.jacobian(tau, s["p"])])
    random = np.random.default_rng(0).normal(size=(_STATES, 3 * tree.nv + 3))
    x, v, a, g = np.split(random, [tree.nv, 2 * tree.nv, 3 * tree.nv], axis=1)
    states = zip(reached(tree, x), v, a, _GRAVITY / tree.unit * g, strict=True)
    y = np.vstack([regressor(*state).full() for state in states])
    size = np.linalg.norm(y, axis=0)
    scale = np.where(size > _DEPENDENT * size.max(), size, np.inf)
    # R of Y has the dependencies of its columns; YᵀY, as small, would square them
    r: Array = np.asarray(np.linalg.qr(y / scale, mode="r"))
    # in the order of the bodies: by pivots, rounding would choose among columns of a size, and so the names
    kept, _ = independent_columns(r, _DEPENDENT, order=range(len(places)))
    dropped = [k for k in range(len(places)) if k not in kept]
    combination = np.linalg.lstsq(r[:, kept], r[:, dropped], rcond=None)[0]
    while np.abs(combination).max(initial=0) > _ILL_CONDITIONED:  # each exchange makes the kept columns less dependent
        i, j = np.unravel_index(np.argmax(np.abs(combination)), combination.shape)
        kept[i], dropped[j] = dropped[j], kept[i]
        combination = np.linalg.lstsq(r[:, kept], r[:, dropped], rcond=None)[0]
    return kept, dropped, combination * np.where(np.isfinite(scale[dropped]), scale[dropped], 0.0) / scale[kept, None]


def _cleaned(matrix: Array) -> Array:
    largest = np.abs(matrix).max(axis=1, initial=0, keepdims=True)
    return np.where(np.abs(matrix) > _NEGLIGIBLE * largest, matrix, 0.0)


def formula(row: Array, names: Sequence[str]) -> str:
    """A linear combination of parameters, to six digits."""
    terms = []
    for x, name in zip(row, names, strict=True):
        if x:
            factor = "" if f"{abs(x):.6g}" == "1" else f"{abs(x):.6g}*"
            terms.append(f"{'-' if x < 0 else '+'} {factor}{name}")
    text = " ".join(terms)
    return text[2:] if text[0] == "+" else f"-{text[2:]}"
