"""Trees whose constants are expressions of a user: their entries that are no numbers become inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import casadi as ca
import pinocchio as pin

from gdalembert.cpin.matrices import is_constant, number_of
from gdalembert.cpin.objects import SE3, Inertia
from gdalembert.model.inertia import pseudo_inertia_of
from gdalembert.model.rounding import SAME_PLACE
from gdalembert.model.tree import Tree, TreeOfSymbols
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import frozen
from gdalembert.spatial.functions import check_one_kind

Constants = Mapping[tuple[str, int], tuple[Matrix, ...]]
"""Parts of Pinocchio's objects, by the list and the index of each."""


class _Inputs:
    """The entries of constants that are no numbers: symbols for the graphs, and their values, a user's expressions."""

    def __init__(self) -> None:
        self.symbols: list[ca.SX] = []
        self.values: list[Matrix] = []

    def constant(self, x: Matrix) -> Any:
        """A constant of a tree: an array, or SX whose symbols are inputs."""
        if is_constant(x):
            return frozen(ca.evalf(x).full() if x.shape[1] > 1 else ca.evalf(x).full().ravel())
        return ca.sparsify(ca.reshape(ca.vertcat(*map(self._entry, ca.vertsplit(ca.vec(ca.densify(x))))), *x.shape))

    def _entry(self, x: Matrix) -> Any:
        if is_constant(x):
            return number_of(x)
        self.symbols.append(ca.SX.sym(f"p{len(self.symbols)}"))
        self.values.append(x)
        return self.symbols[-1]


def with_constants(tree: Tree, model: pin.Model, constants: Constants) -> tuple[Tree, list[Matrix]]:
    """Make the tree of a model with other constants, and [p], the values of its symbols; [] if there are none.

    Args:
        constants: rotation and translation of ``("jointPlacements", k)`` and ``("frames", k)``, mass, lever and inertia
            of ``("inertias", k)``, the vectors ``("gravity", 0)`` and ``("armature", 0)``: numbers, or SX or MX.
    """
    symbolic = {f"{name}[{k}]": x for (name, k), parts in constants.items() for x in parts if not is_constant(x)}
    check_one_kind("model", symbolic)
    inputs, joints, frames, changed = _Inputs(), list(tree.joints), list(tree.frames), dict[str, Any]()
    for (name, k), parts in constants.items():
        if name in ("armature", "gravity"):
            changed[name] = inputs.constant(parts[0])
        elif name == "frames":
            r, p = map(inputs.constant, parts)
            frames[k] = replace(frames[k], rotation=r, translation=p)
        elif k > 0 and name == "inertias":
            body = pseudo_inertia_of(ca.SX(inputs.constant(Inertia(*parts).toDynamicParameters())))
            joints[tree.links[k - 1]] = replace(joints[tree.links[k - 1]], pseudo_inertia=body)
        elif k > 0:  # the first elementary joint, which has a placement of its own inside a composite joint
            first = tree.links[k - 2] + 1 if k > 1 else 0
            old = pin.SE3(tree.joints[first].rotation, tree.joints[first].translation)
            inside, placed = model.jointPlacements[k].actInv(old), SE3(*parts)
            # A product with the identity, up to rounding, would add it to the graph.
            placed = placed if inside.isIdentity(SAME_PLACE) else placed * inside
            r, p = map(inputs.constant, placed.parts)
            joints[first] = replace(joints[first], rotation=r, translation=p)
    tree = replace(tree, joints=tuple(joints), frames=tuple(frames), **changed)
    if not inputs.symbols:
        return tree, []
    return _of_symbols(tree, ca.vertcat(*inputs.symbols)), [ca.vertcat(*inputs.values)]


def with_placed_frame(tree: Tree, k: int) -> TreeOfSymbols:
    """LocatedFrame frame k of a tree by symbols: the columns of the rotation and the translation, last in p."""
    r, x, frames = ca.SX.sym("R", 3, 3), ca.SX.sym("x", 3), list(tree.frames)
    placed: Any = {"rotation": r, "translation": x}
    frames[k] = replace(frames[k], **placed)
    return _of_symbols(replace(tree, frames=tuple(frames)), ca.vertcat(tree.symbols, ca.vec(r), x))


def _of_symbols(tree: Tree, p: ca.SX) -> TreeOfSymbols:
    return TreeOfSymbols(**{field.name: getattr(tree, field.name) for field in fields(Tree)} | {"p": p})
