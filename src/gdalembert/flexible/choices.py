"""What links leave to their arm: modes only in directions in which something bends them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert.dynamics.newton_euler.external import Loads
from gdalembert.dynamics.newton_euler.rnea import inverse_dynamics
from gdalembert.dynamics.wrenches import ExternalWrenches, WrenchesByFrame
from gdalembert.flexible.assembly import Assembly, assemble
from gdalembert.flexible.beams.modal_integrals import DIRECTIONS
from gdalembert.flexible.flexible_joint import FlexibleJoint
from gdalembert.flexible.flexible_link import FlexibleLink
from gdalembert.flexible.tree import flexible_tree
from gdalembert.model.configuration import random_configuration
from gdalembert.model.tree import Tree
from gdalembert.spatial.arrays import Array

_REST = 1e-10
"""The force on a mode that nothing excites, relative to that in a motion of all modes."""
_SMALL = 0.01
"""Of modal coordinates, where joints turn by a radian."""


def assembled(
    tree: Tree,
    links: Mapping[str, FlexibleLink],
    joints: Mapping[str, FlexibleJoint],
    fixed_bodies: Mapping[str, pin.Inertia],
    wrenches: WrenchesByFrame | None,
) -> tuple[Assembly, Mapping[str, FlexibleLink]]:
    """The assembly, as of :func:`~gdalembert.flexible.assembly.assemble`, and the links that it is made of.

    A link whose modes are chosen by role gets none in a direction in which neither the joints nor gravity nor other
    modes nor the wrenches that the arm takes excite it, as those of a planar arm across its plane.
    """
    if not isinstance(links, Mapping) or not any(_choices(link) for link in links.values()):
        return assemble(tree, links, joints, fixed_bodies), links
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are repeated
        whole = assemble(tree, links, joints, fixed_bodies)
    links = dict(links)
    left_out = _at_rest(whole, [(link, each) for link in links for each in _choices(links[link])], wrenches)
    for name, direction in left_out:
        links[name] = links[name].with_modes(**{direction: None})
    return replace(assemble(tree, links, joints, fixed_bodies), left_out=tuple(left_out)), links


def _choices(link: FlexibleLink) -> tuple[str, ...]:
    """The two directions of a link of which one may be left out."""
    directions = link.directions_by_role if isinstance(link, FlexibleLink) else ()
    return directions if len(directions) > 1 else ()


def _at_rest(
    assembly: Assembly, candidates: list[tuple[str, str]], wrenches: WrenchesByFrame | None
) -> list[tuple[str, str]]:
    """The (link, direction) among candidates whose modes stay at rest, whatever joints, wrenches and other modes do.

    A link of which that is true in both directions keeps both.
    """
    tree, rng = flexible_tree(assembly), np.random.default_rng(0)
    modes = sum(link.type.nv for link in assembly.links)
    q = random_configuration(tree, rng).full().ravel()
    behind = tree.nq - tree.nv
    motions = rng.normal(size=(3, tree.nv)) * np.where(np.arange(tree.nv) < modes, 1.0, _SMALL)
    external = ExternalWrenches.of(tree, wrenches)
    loads = Loads(external, ca.DM(rng.normal(size=(6, len(external)))))

    def forces(resting: list[int]) -> Array:
        deflection, v, a = motions.copy()
        deflection[resting] = v[resting] = a[resting] = 0
        q[modes + behind :] = deflection[modes:]
        return np.asarray(inverse_dynamics(tree, ca.DM(q), ca.DM(v), ca.DM(a), loads).full().ravel())

    columns = {each: _columns(assembly, *each) for each in candidates}
    moving, resting = np.abs(forces([])), list(candidates)
    while True:
        tau = forces([k for each in resting for k in columns[each]])
        excited = [each for each in resting if np.abs(tau[columns[each]]).max() > _REST * moving[columns[each]].max()]
        links = [name for name, _ in resting]
        if not (excited := excited or [each for each in resting if links.count(each[0]) > 1]):
            return resting
        resting = [each for each in resting if each not in excited]


def _columns(assembly: Assembly, name: str, direction: str) -> list[int]:
    link = assembly.links[assembly.beams[name].link]
    letters = [mode[0] for mode in link.mode_names]
    return [k for k, letter in zip(link.mode_columns, letters, strict=True) if letter == DIRECTIONS[direction]]
