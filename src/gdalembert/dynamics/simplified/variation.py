"""What parameters change of a robot, as the dynamics of other trees, which are exact and as small as they can be.

Energy is a sum over the bodies: ½ v·D v = Σ tr(Ȧ J Ȧᵀ) / 2 and V = −Σ g·(A J)₄. Each summand is linear in the
pseudo-inertia J of its body and depends on the placements of the joints between the body and the base alone. So, with
J₀, A₀ and g₀ by which terms were chosen,

    body behind a joint that is displaced      E(A, J, g) − E(A₀, J₀, g₀)
    any other body                             E(A₀, J − J₀, g) + E(A₀, J₀, g − g₀)

the second with its weight alone, since the acceleration of gravity has no kinetic energy. Bodies without a change have
no part in the first of its two summands: its recursion ends at the last body that varies. The trees that are added and
subtracted have these bodies, which need not be those of a robot, and no others. All of it is ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.dynamics.parameters.parameters import Parameters
from gdalembert.model.regrouping import RegroupedTree
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.algebra import entries
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.functions import smaller

_NOTHING = frozen(np.zeros((4, 4)))
Bodies = Mapping[int, Array | ca.SX]
"""Pseudo-inertias by the index of their joint."""


@dataclass(frozen=True, eq=False)
class Variation:
    """The difference of two robots: the dynamics of ``added`` without those of ``removed``, and a weight.

    Attributes:
        added, removed: trees whose torques are added and subtracted; ``None`` if there is nothing in them.
        weighed: a tree of whose torques and energy only those of gravity are added.
    """

    added: Tree | None
    removed: Tree | None
    weighed: Tree | None

    @staticmethod
    def of(tree: Tree, nominal: Tree, parameters: Parameters) -> Variation:
        """From a robot in numbers to the same robot with others, or with the symbols of the parameters."""
        if isinstance(tree, RegroupedTree) and isinstance(nominal, RegroupedTree):
            bodies = _changes(tree, nominal, parameters)
            prepared = _with(tree.prepared, _changes(tree.prepared, nominal.prepared, parameters), ())
            added: Tree | None = replace(_with(tree, bodies, ()), prepared=prepared) if bodies else None
            own: set[int] = set()
        else:
            bodies = _changes(tree, nominal, parameters)
            own = _behind(tree, _displaced(tree, nominal)) | _sliding(tree, bodies)
            whole = {i: tree.joints[i].pseudo_inertia for i in own}
            added = _with(tree, {**bodies, **whole}, own) if own or bodies else None
        removed = _with(nominal, {i: nominal.joints[i].pseudo_inertia for i in own}, own) if own else None
        weighed = None
        if isinstance(tree.gravity, ca.SX) or not np.array_equal(tree.gravity, nominal.gravity):
            others = [i for i in range(len(nominal.joints)) if i not in own]
            change: Any = entries(spatial.constant(tree.gravity) - spatial.constant(nominal.gravity))
            rest = _with(nominal, {i: nominal.joints[i].pseudo_inertia for i in others}, others)
            weighed = replace(rest, gravity=change)
        return Variation(added, removed, weighed)


def _with(tree: Tree, bodies: Bodies, modes: Iterable[int]) -> Any:
    """The tree with these bodies and no others, with the modal inertia of some links, and without armature."""
    joints = (replace(joint, pseudo_inertia=bodies.get(i, _NOTHING)) for i, joint in enumerate(tree.joints))
    kept = set(modes)
    inertias = ((i, own if i in kept else own.scaled(0.0)) for i, own in tree.assumed_modes.items())
    armature = frozen(np.zeros(tree.nv))
    changed: Any = {"joints": tuple(joints), "modal_inertias": tuple(inertias), "armature": armature, "frames": ()}
    return replace(tree, **changed)


def _displaced(tree: Tree, nominal: Tree) -> list[int]:
    """The joints that are placed elsewhere."""

    def differs(one: Array | ca.SX, other: Array) -> bool:
        return isinstance(one, ca.SX) or not np.array_equal(one, other)

    pairs = zip(tree.joints, nominal.joints, strict=True)
    return [
        i for i, (x, y) in enumerate(pairs) if differs(x.rotation, y.rotation) or differs(x.translation, y.translation)
    ]


def _behind(tree: Tree, displaced: list[int]) -> set[int]:
    """The links that some of the joints move."""
    return {i for i in range(len(tree.joints)) if set(displaced) & set(tree.path(i))}


def _sliding(tree: Tree, bodies: Bodies) -> set[int]:
    """Links that slide and whose change is a number: their frames are put at their centres of mass, which it lacks."""
    return {i for i, body in bodies.items() if not isinstance(body, ca.SX) and not tree.joints[i].type.can_rotate}


def _changes(tree: Tree, nominal: Tree, parameters: Parameters) -> dict[int, Array | ca.SX]:
    """J − J₀ of the bodies that differ."""
    pairs = enumerate(zip(tree.joints, nominal.joints, strict=True))
    found = {i: _change(own, before, parameters) for i, (own, before) in pairs}
    return {i: change for i, change in found.items() if isinstance(change, ca.SX) or np.any(change)}


def _change(own: Joint, before: Joint, parameters: Parameters) -> Array | ca.SX:
    """J − J₀ of a body; where J is linear in p, the smaller of that and of ∂J/∂p (p − p₀)."""
    body: Any = own.pseudo_inertia
    if not isinstance(body, ca.SX):
        return frozen(body - before.pseudo_inertia)
    change: ca.SX = ca.SX(body) - spatial.constant(before.pseudo_inertia)
    slope = ca.jacobian(ca.vec(ca.SX(body)), parameters.symbols)
    if slope.is_constant():
        linear = spatial.constant(ca.evalf(slope).full()) @ (parameters.symbols - ca.DM(parameters.values))
        change = smaller(change, ca.reshape(linear, 4, 4))
    result: Any = entries(spatial.symmetric(ca.densify(change)))
    return result
