"""Changes of a robot by parameters, as the dynamics of other trees, which are exact and as small as they can be.

Energy is a sum over the bodies: ½ v·D v = Σ tr(Ȧ J Ȧᵀ) / 2 and V = −Σ g·(A J)₄. Each summand is linear in the
pseudo-inertia J of its body and depends on the placements of the joints between the body and the base alone. So, with
J₀, A₀ and g₀ by which terms were chosen,

    body behind a joint on a link that is displaced      E(A, J, g) − E(A₀, J₀, g₀)
    any other body                                       E(A, J − J₀, g) + E(A, J₀, g) − E(A₀, J₀, g₀)

The last two have the same kinetic energy: they are a weight. Where the first joint of a branch stands at (R, t) instead
of (R₀, t₀), it is that of J₀ and A₀ in the gravity R₀ Rᵀ g − g₀, but for the constant −m g·(t − R R₀ᵀ t₀). Bodies
without a change have no part in E(A, J − J₀, g): its recursion ends at the last body that varies. The trees that are
added and subtracted have these bodies, which need not be those of a robot, and no others. All of it is ours.
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
from gdalembert.spatial.algebra import Matrix, entries
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.functions import smaller

_NOTHING = frozen(np.zeros((4, 4)))
Bodies = Mapping[int, Array | ca.SX]
"""Pseudo-inertias by the index of their joint."""


@dataclass(frozen=True, eq=False)
class Variation:
    """The difference of two robots: the dynamics of ``added`` without those of ``removed``, and weights.

    Attributes:
        added, removed: trees whose torques are added and subtracted; ``None`` if there is nothing in them.
        weighed: trees of whose torques and energy only those of gravity are added, and constants of the energy [J].
    """

    added: Tree | None
    removed: Tree | None
    weighed: tuple[tuple[Tree, Matrix], ...]

    @staticmethod
    def of(tree: Tree, nominal: Tree, parameters: Parameters) -> Variation:
        """The change from a robot in numbers to the same with other ones, or with the symbols of the parameters."""
        bodies, displaced = _changes(tree, nominal, parameters), _displaced(tree, nominal)
        roots = [i for i in displaced if tree.joints[i].parent < 0]
        displaced_links = _behind(tree, [i for i in displaced if i not in roots])
        if isinstance(tree, RegroupedTree) and isinstance(nominal, RegroupedTree):
            prepared = _with(tree.prepared, _changes(tree.prepared, nominal.prepared, parameters), ())
            added = replace(_with(tree, bodies, ()), prepared=prepared)
        else:
            displaced_links |= _sliding(tree, bodies)
            added = _with(tree, bodies | _bodies(tree, displaced_links), displaced_links)
        branches: list[tuple[set[int], int | None]] = [(_behind(tree, [i]) - displaced_links, i) for i in roots]
        if _differs(tree.gravity, nominal.gravity):
            branches.append((set(range(len(tree.joints))) - _behind(tree, roots) - displaced_links, None))
        return Variation(
            added if displaced_links or bodies else None,
            _with(nominal, _bodies(nominal, displaced_links), displaced_links) if displaced_links else None,
            tuple(_weight(tree, nominal, links, root) for links, root in branches if links),
        )


def _bodies(tree: Tree, links: Iterable[int]) -> dict[int, Array | ca.SX]:
    return {i: tree.joints[i].pseudo_inertia for i in links}


def _weight(tree: Tree, nominal: Tree, links: set[int], root: int | None) -> tuple[Tree, Matrix]:
    """The nominal tree with some of its links, in the gravity that is added, and what is constant of their energy."""
    g, g_0 = spatial.constant(tree.gravity), spatial.constant(nominal.gravity)
    seen, constant = g, ca.DM(1, 1)
    if root is not None:
        joint, before = tree.joints[root], nominal.joints[root]
        turned = spatial.constant(before.rotation) @ spatial.constant(joint.rotation).T
        seen = turned @ g
        moved = spatial.constant(joint.translation) - turned.T @ spatial.constant(before.translation)
        constant = -sum(nominal.joints[i].mass for i in links) * ca.dot(g, moved)
    changed: Any = {"gravity": entries(seen - g_0)}
    return replace(_with(nominal, _bodies(nominal, links), links), **changed), constant


def _with(tree: Tree, bodies: Bodies, modes: Iterable[int]) -> Any:
    """The tree with these bodies and no others, with the modal inertia of some links, and without armature."""
    bodies_by_link: Mapping[int, Any] = bodies
    joints = (replace(joint, pseudo_inertia=bodies_by_link.get(i, _NOTHING)) for i, joint in enumerate(tree.joints))
    kept = set(modes)
    inertias = ((i, modal if i in kept else modal.scaled(0.0)) for i, modal in tree.assumed_modes.items())
    armature = frozen(np.zeros(tree.nv))
    changed: Any = {"joints": tuple(joints), "modal_inertias": tuple(inertias), "armature": armature, "frames": ()}
    return replace(tree, **changed)


def _differs(one: Array | ca.SX, other: Array) -> bool:
    return isinstance(one, ca.SX) or not np.array_equal(one, other)


def _displaced(tree: Tree, nominal: Tree) -> list[int]:
    """The joints that are placed elsewhere."""
    pairs = enumerate(zip(tree.joints, nominal.joints, strict=True))
    return [i for i, (x, y) in pairs if _differs(x.rotation, y.rotation) or _differs(x.translation, y.translation)]


def _behind(tree: Tree, displaced: list[int]) -> set[int]:
    """The links that some of the joints move."""
    return {i for i in range(len(tree.joints)) if set(displaced) & set(tree.path(i))}


def _sliding(tree: Tree, bodies: Bodies) -> set[int]:
    """Links that slide and whose change is a number: their frames are put at their centres of mass, which it lacks."""
    return {i for i, body in bodies.items() if not isinstance(body, ca.SX) and not tree.joints[i].type.can_rotate}


def _changes(tree: Tree, nominal: Tree, parameters: Parameters) -> dict[int, Array | ca.SX]:
    """Changes J − J₀ of the bodies that differ."""
    pairs = enumerate(zip(tree.joints, nominal.joints, strict=True))
    changes = {i: _change(joint, before, parameters) for i, (joint, before) in pairs}
    return {i: change for i, change in changes.items() if isinstance(change, ca.SX) or np.any(change)}


def _change(after: Joint, before: Joint, parameters: Parameters) -> Array | ca.SX:
    """Change J − J₀ of a body; where J is linear in p, the smaller of that and of ∂J/∂p (p − p₀)."""
    body: Any = after.pseudo_inertia
    if not isinstance(body, ca.SX):
        return frozen(body - before.pseudo_inertia)
    change: ca.SX = ca.SX(body) - spatial.constant(before.pseudo_inertia)
    slope = ca.jacobian(ca.vec(ca.SX(body)), parameters.symbols)
    if slope.is_constant():
        linear = spatial.constant(ca.evalf(slope).full()) @ (parameters.symbols - ca.DM(parameters.values))
        change = smaller(change, ca.reshape(linear, 4, 4))
    result: ca.SX = entries(spatial.symmetric(ca.densify(change)))
    return result
