"""Composite bodies: the mass matrix (Walker and Orin's method 3, 1982).

A subtree that is locked in its pose is one body with m, h = Σ m x and J = Σ m x xᵀ. A column of the motion subspace of
its root joint moves its points x by e(x) = linear + angular × x, which needs the wrench Σ m e, Σ x × m e. With sums
over all points below both joints

    M_ij = Σ m e_i·e_j.

Everything is read and carried in the axes of the joint's frame, before its turn, which leaves the column as it is.
(Ours.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.links import Link, Placing, place
from gdalembert.dynamics.newton_euler.rotations import Rotation
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Motion, Wrench


@dataclass(frozen=True)
class Composite:
    """A subtree locked in its pose: m, h = Σ m x and J = Σ m x xᵀ about the origin of its root link, in its axes."""

    mass: Matrix
    first: Matrix
    second: Matrix

    def __add__(self, other: Composite) -> Composite:
        return Composite(self.mass + other.mass, self.first + other.first, self.second + other.second)

    def turned(self, r: Rotation) -> Composite:
        """The same in other axes, R x for x."""
        return Composite(self.mass, r @ self.first, r.conjugate(self.second))

    def to_parent(self, link: Link) -> Composite:
        """The same masses about the parent's origin, in the parent's axes."""
        return self.turned(link.rotation).shifted(link.origin)

    def shifted(self, p: Matrix) -> Composite:
        """The same masses about a point from which the origin is seen at p."""
        first = self.first + self.mass * p
        second = self.second + self.first @ p.T + p @ first.T
        return Composite(self.mass, first, spatial.symmetric(second))

    def wrench(self, e: Motion) -> Wrench:
        """The wrench that columns e, or other fields e.linear + e.angular × x, need in the subtree."""
        h = spatial.skew(self.first)
        return Wrench(self.mass * e.linear - h @ e.angular, h @ e.linear + spatial.inertia_of(self.second) @ e.angular)


def composites(links: list[Link]) -> list[Composite]:
    """The composite body of each link's subtree."""
    bodies = [Composite(link.mass, link.first, link.second) for link in links]
    for i, link in reversed(list(enumerate(links))):
        if link.joint.parent >= 0:
            bodies[link.joint.parent] += bodies[i].to_parent(link)
    return bodies


def at_rates(links: list[Link], blocks: Iterable[tuple[int, int, Matrix]]) -> Iterator[tuple[int, int, Matrix]]:
    """Blocks (i, j, block) of the velocities v from those per unit of rate."""
    for i, j, block in blocks:
        yield i, j, links[i].rate * links[j].rate * block


def mass_matrix(tree: Tree, q: Matrix, placed: Placing = place) -> Matrix:
    """M by composite bodies, nv × nv."""
    links = placed(tree, q)
    bodies = composites(links)

    def blocks() -> Iterable[tuple[int, int, Matrix]]:
        for j, link in enumerate(links):
            body = bodies[j].turned(link.turn)
            wrench = body.wrench(link.columns)
            yield j, j, link.work(wrench)
            child = link
            for i in reversed(tree.path(j)[:-1]):
                wrench = wrench.to_parent(child.fixed, child.origin).turned(links[i].turn)
                yield i, j, links[i].work(wrench)
                child = links[i]

    return tree.symmetric_matrix(at_rates(links, blocks()))
