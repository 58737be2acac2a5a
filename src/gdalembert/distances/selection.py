"""Covers and pairs of a robot that pay: told by configurations at random, against the meshes themselves.

All pairs of a link share its capsule at first. It is moved to where it raises fewest false alarms, and cut in two for
those pairs alone that need it: a forearm is one capsule beside the base, and two beside the hand. Flat faces that pass
each other closely need boxes on one side, and slices of the other at the same time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gdalembert.distances.covers import CoveredPart, best_capsule, exact_shape, surface_of, volume, volume_and_gradient
from gdalembert.distances.placed import LinkShape
from gdalembert.distances.sampling import SampledTree, Surroundings
from gdalembert.distances.shapes import Box, Capsule, HalfSpace, Shape, Sphere
from gdalembert.model.tree import Tree
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.progress import current

Parts = tuple[list[CoveredPart], list[CoveredPart]]
Mask = npt.NDArray[np.bool_]

CONFIGURATIONS, TRIED = 20_000, 4_000
"""At which pairs are compared, and those of them at which covers are compared with meshes."""
NEAR = 0.02
"""Covers that never come nearer are left out [m]: meshes are farther apart still."""
_ALWAYS = 0.99
"""The part of configurations in which what touches is said to touch always."""
_FEW = 400
"""The number of configurations that tell so."""
_PAYS = 0.0005
"""The part of false alarms that a further row must save."""
_ROWS = 12
"""The most rows into which a pair is cut whose covers overlap always."""
_CAPSULE = 0.4
"""What a further capsule costs, in rows: about 40 instructions of 100."""
_BOX = 1.7
"""What a row of a box and a capsule costs, in rows of two capsules."""
_MANY, _BEST = 0.05, 4
"""The part of configurations in which one pair alone raises a false alarm, from which boxes are tried, and of these
covers, those that are moved."""
_MOST_PARTS = 8
"""Of a link beside obstacles, at most."""
_SMALLER = 0.6
"""The part of its volume that two halves of a cover may have, so that obstacles are compared with both."""
_OTHERS, _CONTACTS = 0.3, 0.1
"""What a false alarm counts where other pairs raise one too, and where meshes of others touch."""
_SOFT = (0.01, 0.003)
"""Gaps [m] about which a false alarm counts in part, when capsules are moved, one after the other."""
_AROUND, _SMALL = 0.1, 1e-3
"""Then covers nearer than this [m] count, and how much volume does, in false alarms."""
_DEEP = 0.05
"""An overlap as deep [m] is no better than a deeper one."""


class Item(NamedTuple):
    """A geometry object on a link (index in ``Tree.joints``, −1: the universe), placed in the link's frame."""

    name: str
    link: int
    geometry: Any


class Cover(NamedTuple):
    """The capsules and boxes that cover objects of a link, and how far the farthest corner is outside [m], at most 0.

    ``beside_obstacles``: whether they are compared with obstacles, not with other links.
    """

    names: tuple[str, ...]
    shapes: tuple[Shape, ...]
    outside: float
    beside_obstacles: bool = False

    @property
    def name(self) -> str:
        return _joined_name(self.names)

    def __str__(self) -> str:
        radii = ", ".join(f"{shape.radius:.3f}" for shape in self.shapes if isinstance(shape, Capsule))
        boxes = sum(isinstance(shape, Box) for shape in self.shapes)
        kinds = [f"capsules of radius {radii} m"] * bool(radii) + [f"{boxes} box{'es' * (boxes > 1)}"] * bool(boxes)
        proof = "every corner inside" if self.outside <= 0 else f"a corner {self.outside:.1e} m outside"
        return f"in {' and '.join(kinds)}, {proof}"


@dataclass(eq=False)
class _Group:
    """Objects of a link that are covered together, or one that needs no cover."""

    items: tuple[Item, ...]
    whole: CoveredPart

    @property
    def name(self) -> str:
        return _joined_name([item.name for item in self.items])

    @property
    def link(self) -> int:
        return self.items[0].link


class _Pair:
    """Two groups with the parts that cover them for this pair, and where covers and meshes touch."""

    def __init__(self, groups: tuple[_Group, _Group], asked: bool, alone: bool) -> None:
        self.groups, self.asked = groups, asked
        self.parts: Parts = ([groups[0].whole], [groups[1].whole])
        if not alone and all(isinstance(group.whole.exact, Box) for group in groups):
            box = CoveredPart([surface_of(item.geometry) for item in groups[0].items])
            self.parts = ([box], self.parts[1])  # of 148 instructions, not 2,464
        self.touches: Mask = np.zeros(TRIED, dtype=bool)
        self.never: set[tuple[CoveredPart, CoveredPart]] = set()
        self.is_always_touching = self.is_inseparable = False

    @property
    def rows(self) -> list[tuple[CoveredPart, CoveredPart]]:
        return [both for both in product(*self.parts) if both not in self.never]

    def with_parts(self, side: int, part: CoveredPart, parts: Sequence[CoveredPart]) -> Parts:
        """Cover with other parts in place of one."""
        k, of_side = self.parts[side].index(part), self.parts[side]
        replaced = [*of_side[:k], *parts, *of_side[k + 1 :]]
        return (replaced, self.parts[1]) if side == 0 else (self.parts[0], replaced)

    @property
    def is_exact(self) -> bool:
        return all(part.exact is not None for part in (*self.parts[0], *self.parts[1]))

    @property
    def names(self) -> tuple[str, str]:
        return self.groups[0].name, self.groups[1].name


@dataclass
class ChosenPairs:
    """The pairs that may touch, with as many capsules as pay.

    Attributes:
        rows: pairs of shapes whose gaps tell whether the pairs touch.
        left_out: (name, name, reason) of pairs that are left out. ``touching``: those that touch always, and were
            asked for. ``inseparable``: those whose covers overlap always, cut or not, though objects touch not always,
            as neighbours with flat faces 0.1 mm apart.
        covers: of objects without a closed form. ``bodies``: what obstacles are compared with, on each moving link.
        false_alarms: the part of configurations in which shapes overlap and no objects touch.
        contacts: the part in which objects of the pairs touch.
    """

    rows: list[tuple[LinkShape, LinkShape]]
    left_out: list[tuple[str, str, str]]
    touching: list[tuple[str, str]]
    inseparable: list[tuple[str, str]]
    covers: list[Cover]
    bodies: list[LinkShape]
    false_alarms: float
    contacts: float

    def __str__(self) -> str:
        lines = [
            f"of configurations at random, objects of pairs with covers touch in {self.contacts:.1%}, and covers "
            f"alone in {self.false_alarms:.1%}"
        ]
        for cover in self.covers:
            other = "obstacles" if cover.beside_obstacles else "links"
            lines.append(f"  {', '.join(cover.names)}, beside {other}: {cover}")
        lines += [f"{first} and {second} touch always, and are kept as asked" for first, second in self.touching]
        lines += [f"{' and '.join(names)} touch not always, but their covers do" for names in self.inseparable]
        lines += ["left out:"] if self.left_out else []
        return "\n".join([*lines, *(f"  {first}, {second}: {reason}" for first, second, reason in self.left_out)])


@dataclass
class _Search:
    """The choice of pairs and parts."""

    sampled: SampledTree
    pairs: list[_Pair]
    pays: float = _PAYS
    near: float = NEAR
    left_out: list[tuple[str, str, str]] = field(default_factory=list)
    inseparable: list[tuple[str, str]] = field(default_factory=list)
    _gaps: dict[tuple[CoveredPart, CoveredPart], Array] = field(default_factory=dict)

    def gap(self, pair: _Pair, both: tuple[CoveredPart, CoveredPart], count: int) -> Array:
        first, second = ((group.link, part.shape) for group, part in zip(pair.groups, both, strict=True))
        return self.sampled.gap(first, second, count)

    def least(self, pair: _Pair, rows: Sequence[tuple[CoveredPart, CoveredPart]] | None = None) -> Array:
        """The least gap of a pair."""
        for both in (rows := pair.rows if rows is None else rows):
            if both not in self._gaps:
                self._gaps[both] = self.gap(pair, both, TRIED)
        return reduce(np.minimum, (self._gaps[both] for both in rows), np.full(TRIED, np.inf))

    def said(self, pair: _Pair) -> Mask:
        """Mask of configurations in which shapes of a pair overlap."""
        return np.asarray(self.least(pair) < 0)

    def leave_out(self) -> None:
        """Leave out pairs that always touch, that never come near, or whose meshes never touch where covers do."""
        for k, pair in enumerate(every := list(self.pairs), start=1):
            current().show(f"pair {k} of {len(every)}: {' and '.join(pair.names)}")
            gap = self.gap(pair, (pair.parts[0][0], pair.parts[1][0]), CONFIGURATIONS)
            if gap.min() > self.near and not pair.asked:
                self._drop(pair, f"never nearer than {gap.min():.3g} m in {len(gap)} configurations")
                continue
            overlapping = np.flatnonzero(gap < 0)
            tried, more = overlapping[overlapping < TRIED], overlapping[overlapping >= TRIED]
            first = tried[tried < _FEW]
            pair.is_always_touching = len(first) >= _ALWAYS * _FEW and self._touch(pair, first).mean() > _ALWAYS
            if not pair.is_always_touching:
                pair.touches[tried] = self._touch(pair, tried)
            if pair.asked:
                continue
            if pair.is_always_touching:
                self._drop(pair, f"touch in more than {_ALWAYS:.0%} of {_FEW} configurations")
            elif not pair.touches.any() and not self._touch(pair, more).any():
                share = f", though covers do in {len(overlapping) / len(gap):.2%}" if len(overlapping) else ""
                self._drop(pair, f"never touch in {len(gap)} configurations{share}")

    def _drop(self, pair: _Pair, reason: str) -> None:
        self.pairs.remove(pair)
        self.left_out.append((*pair.names, reason))

    @property
    def told(self) -> list[_Pair]:
        """The pairs that tell something: those that were asked for may touch or overlap always, or need no cover."""
        varying = [pair for pair in self.pairs if not (pair.is_always_touching or pair.is_inseparable)]
        return [pair for pair in varying if not (pair.asked and pair.is_exact)]

    def _touch(self, pair: _Pair, chosen: npt.NDArray[np.int64]) -> Mask:
        """Mask of configurations, chosen where shapes overlap, in which objects of both groups collide, by coal."""
        import coal

        if pair.is_exact:
            return np.ones(len(chosen), dtype=bool)
        touching, request = np.zeros(len(chosen), dtype=bool), coal.CollisionRequest()
        solids = []
        for group in pair.groups:
            r, x = self.sampled.placement(group.link, chosen)
            objects = [(item.geometry.geometry, item.geometry.placement) for item in group.items]
            solids.append([(o, r @ m.rotation, r @ m.translation + x) for o, m in objects])
        for (one, r, x), (other, s, y) in product(*solids):
            for k in np.flatnonzero(~touching):
                places = coal.Transform3s(r[k], x[k]), coal.Transform3s(s[k], y[k])
                result = coal.CollisionResult()
                touching[k] = bool(coal.collide(one, places[0], other, places[1], request, result))
        return touching

    @property
    def contacts(self) -> Mask:
        """Mask of configurations in which meshes of any pair touch."""
        return np.asarray(np.any([np.zeros(TRIED, dtype=bool), *(pair.touches for pair in self.told)], axis=0))

    @property
    def alarms(self) -> Mask:
        """Mask of configurations in which covers overlap and no meshes touch."""
        return np.asarray(np.any([np.zeros(TRIED, dtype=bool), *map(self.said, self.told)], axis=0) & ~self.contacts)

    def move(self, part: CoveredPart) -> None:
        """Move the capsule of a part to where it raises fewest false alarms."""
        rows = [(pair, both) for pair in self.told for both in pair.rows if part in both]
        clear, raised = ~self.contacts, np.sum([self.said(pair) for pair in self.told], axis=0)
        around, weights = Surroundings(), []
        for pair, both in sorted(rows, key=lambda row: row[1][0].in_box or row[1][1].in_box):  # as gaps come from there
            side = both.index(part)
            other = both[1 - side]
            if not (other.in_box or isinstance(other.shape, Capsule | Sphere)):
                return
            said, here = self.said(pair), self.least(pair, [both])
            chosen = np.flatnonzero(clear & ((here < 0) | ~said) & (here < _AROUND))
            around.add(self.sampled, pair.groups[side].link, pair.groups[1 - side].link, other.shape, chosen)
            weights.append(1 / (raised + ~said)[chosen])
        if not rows:
            return
        weight, scale = np.concatenate(weights) / TRIED, volume(part.capsule)
        for soft in _SOFT:

            def cost(x: Array, soft: float = soft) -> tuple[float, Array]:
                gap, share, normal = around.gaps(x)
                alarm = 1 / (1 + np.exp(np.minimum(gap / soft, 50.0)))
                push = -weight * alarm * (1 - alarm) / soft
                slopes = np.hstack([(push * (1 - share)) @ normal, (push * share) @ normal, -push.sum()])
                size, by_size = volume_and_gradient(x)
                return float(weight @ alarm) + _SMALL * size / scale, slopes + _SMALL / scale * by_size

            old = part.capsule
            new = best_capsule(part.corners, old, cost)
            old_cost, new_cost = (cost(np.concatenate([c.a, c.b, [c.radius]]))[0] for c in (old, new))
            if new_cost < old_cost:
                part.capsule = new
        for _, both in rows:
            self._gaps.pop(both, None)

    def parts(self) -> list[CoveredPart]:
        """The parts that have capsules."""
        used = dict.fromkeys(part for pair in self.told for both in pair.rows for part in both)
        return [part for part in used if part.exact is None and not part.in_box]

    def refine(self) -> None:
        """Cut the part that saves most false alarms for a further row, as long as one pays."""
        self._move_all()
        for pair in self.told:
            current().show(f"parts that overlap: {' and '.join(pair.names)}")
            self.separate(pair)
        ahead = self.told
        while ahead:
            rows = sum(len(pair.rows) for pair in self.told)
            current().show(f"{len(self.told) - len(ahead)} of {len(self.told)} pairs refined, {rows} distances")
            alarms = self.alarms
            pair = max(ahead, key=lambda pair: int((self.said(pair) & alarms).sum()))
            if not (self.said(pair) & alarms).any() or not self._refine(pair):
                ahead.remove(pair)  # not tried again when others were refined: that takes ten times as long
        for pair in self.told:
            if (self.said(pair) & (self._weight(pair) * TRIED > _OTHERS)).mean() > _MANY:  # the only false alarms
                current().show(f"boxes: {' and '.join(pair.names)}")
                self._box(pair)
        self._move_all()

    def _move_all(self) -> None:
        for _ in range(2):
            for k, part in enumerate(parts := self.parts(), start=1):
                current().show(f"capsule {k} of {len(parts)}")
                self.move(part)

    def _refine(self, pair: _Pair) -> bool:
        """Cut a part of a pair, or give it a capsule for this pair alone; False if nothing pays."""
        weight = self._weight(pair)
        known, before, parts_before = set(self.parts()), self.least(pair), pair.parts
        if float(weight @ _depth(before)) < self.pays * _CAPSULE:
            return False

        def worth(parts: Parts) -> float:
            """The false alarms that are saved for a row, counting half those that become less deep."""
            rows = [both for both in product(*parts) if self.least(pair, [both]).min() <= self.near]
            cost = max(len(rows) - len(pair.rows), 0) + _CAPSULE * len({p for both in rows for p in both} - known)
            return float(weight @ (_depth(before) - _depth(self.least(pair, rows)))) / max(cost, _CAPSULE)

        cuts = max(self._finer(pair), key=worth, default=parts_before)
        tried = [cuts, *self._unshared(pair)]
        for parts in tried:
            pair.parts = parts
            for part in (*parts[0], *parts[1]):
                if part.exact is None and part not in known:
                    self.move(part)
        pair.parts = parts_before
        best = max(tried, key=worth)
        if worth(best) < self.pays:
            return False
        self._take(pair, best)
        return True

    def _weight(self, pair: _Pair) -> Array:
        """What a false alarm of a pair counts, by configuration."""
        clear = ~self.contacts
        others = np.any([np.zeros(TRIED, dtype=bool), *(self.said(p) for p in self.told if p is not pair)], axis=0)
        return np.asarray(np.where(clear, np.where(others, _OTHERS, 1.0), ~pair.touches * _CONTACTS) / TRIED)

    def _box(self, pair: _Pair) -> None:
        """Cover one body of a pair by boxes and the other by capsules around slices, where that pays."""
        weight, before, gaps = self._weight(pair), (pair.parts, pair.never), dict(self._gaps)

        def loss(parts: Parts) -> float:
            rows = [both for both in product(*parts) if self.least(pair, [both]).min() <= self.near]
            size = sum(_BOX if both[0].in_box or both[1].in_box else 1.0 for both in rows)
            return float(weight @ (self.least(pair, rows) < 0)) + self.pays * size

        first, second = (group.whole for group in pair.groups)
        if not (first.exact is second.exact is None):
            return
        boxed = [*product(first.boxes, second.lengths), *product(first.lengths, second.boxes)]
        pair.never = set()
        for parts in (tried := sorted(boxed, key=loss)[:_BEST]):
            pair.parts = parts
            for part in self.parts():
                if part in (*parts[0], *parts[1]):
                    self.move(part)
        pair.parts, pair.never = before
        best = min(tried, key=loss)
        pays, self._gaps = loss(best) < float(weight @ self.said(pair)) + self.pays * len(pair.rows), gaps
        if pays:
            pair.never = set()
            self._take(pair, best)

    def _take(self, pair: _Pair, parts: Parts) -> None:
        """Give a pair parts, without rows that never come near."""
        pair.parts = parts
        for both in pair.rows:
            if self.gap(pair, both, CONFIGURATIONS).min() > self.near:
                pair.never.add(both)

    def separate(self, pair: _Pair) -> None:
        """Cut parts that overlap always, though meshes do not, until they do not; whole again if they still do."""
        free, whole = ~pair.touches, pair.parts

        def overlaps() -> bool:
            return bool(self.said(pair)[free].mean() > _ALWAYS)

        def depth(parts: Parts) -> float:
            return float(np.maximum(-self.least(pair, list(product(*parts))), 0.0)[free].mean())

        while overlaps() and len(pair.rows) < _ROWS:
            finer = min(self._finer(pair), key=depth, default=None)
            if finer is None:
                break
            self._take(pair, finer)
        if overlaps():
            pair.parts, pair.is_inseparable = whole, True
            self.inseparable.append(pair.names)
            if not pair.asked:
                self._drop(pair, f"covers overlap always, objects in {pair.touches.mean():.1%} of configurations")

    def _finer(self, pair: _Pair) -> Iterator[Parts]:
        """The parts of a pair with one of them cut, by each of its cuts."""
        for side in (0, 1):
            for part in pair.parts[side]:
                rows = [both for both in pair.rows if both[side] is part]
                if ((self.least(pair, rows) < 0) & ~pair.touches).any():
                    yield from (pair.with_parts(side, part, cut) for cut in part.cuts)

    def _unshared(self, pair: _Pair) -> Iterator[Parts]:
        """The parts of a pair with a capsule for this pair alone in place of one that others have too."""
        shared = {part for other in self.told if other is not pair for both in other.rows for part in both}
        for side in (0, 1):
            for part in pair.parts[side]:
                if part in shared and part.exact is None:
                    yield pair.with_parts(side, part, [copy(part)])


def _joined_name(names: Sequence[str]) -> str:
    """The name of a cover of several objects."""
    first, *others = names
    return first if not others else f"{first} and {others[0] if len(others) == 1 else f'{len(others)} more'}"


def _depth(gap: Array) -> Array:
    return 0.5 * (gap < 0) + 0.5 * np.clip(-gap / _DEEP, 0.0, 1.0)


def select(
    tree: Tree,
    items: Sequence[Item],
    pairs: Sequence[tuple[int, int]] | None = None,
    *,
    lower: Array,
    upper: Array,
    beside: Collection[int] | None = None,
    alone: bool = False,
    near: float = NEAR,
    pays: float = _PAYS,
    seed: int = 0,
) -> ChosenPairs:
    """The pairs of a robot's geometry that may touch, and shapes for them.

    Args:
        tree: the robot, of numbers. ``items``: its geometry. ``pairs``: by index in ``items``; by default all those on
            different links that are no neighbours, without those that are near each other always or never.
        lower, upper: limits of q (nq) of the configurations at random, infinite if there are none.
        beside: those of ``items`` that are compared with obstacles, by index; by default all that move.
        alone: no object shares a cover with others of its link, and what has a closed form stays as it is.
        near: pairs that never come nearer are left out [m].
        pays: the part of false alarms that a further row must save. ``seed``: of the configurations.
    """
    sampled = SampledTree(tree, lower, upper, CONFIGURATIONS, seed)
    groups: dict[tuple[Item, ...], list[_Group]] = {}
    left_out = list[tuple[str, str, str]]()
    chosen = list[_Pair]()
    joined = _joined(tree, items, pairs, left_out)
    if alone:
        joined = (((one,), (other,)) for first, second in joined for one, other in product(first, second))
    for first, second in joined:
        for side in (first, second):
            if side not in groups:
                groups[side] = _groups(side)
        for both in product(groups[first], groups[second]):
            if all(isinstance(group.whole.exact, HalfSpace) for group in both):
                left_out.append((both[0].name, both[1].name, "two half-spaces have no gap"))
            else:
                chosen.append(_Pair(both, pairs is not None, alone))
    search = _Search(sampled, chosen, pays, near, left_out)
    search.leave_out()
    search.refine()
    return _selected(search, [item for k, item in enumerate(items) if beside is None or k in beside], alone)


def _joined(
    tree: Tree, items: Sequence[Item], pairs: Sequence[tuple[int, int]] | None, left_out: list[tuple[str, str, str]]
) -> Iterator[tuple[tuple[Item, ...], tuple[Item, ...]]]:
    """Objects of one link and of another of which every pair is asked for."""
    by_links: dict[tuple[int, int], dict[int, list[int]]] = {}
    for i, k in combinations(range(len(items)), 2) if pairs is None else pairs:
        if (items[k].link, k) < (items[i].link, i):
            i, k = k, i
        links = items[i].link, items[k].link
        if links[0] == links[1]:
            if pairs is not None:
                left_out.append((items[i].name, items[k].name, "are on the same link"))
        elif pairs is None and _are_neighbours(tree, *links):
            left_out.append((items[i].name, items[k].name, "are on neighbours"))
        else:
            by_links.setdefault(links, {}).setdefault(i, []).append(k)
    for partners in by_links.values():
        alike: dict[tuple[int, ...], list[int]] = {}
        for i, others in partners.items():
            alike.setdefault(tuple(sorted(set(others))), []).append(i)
        for same, those in alike.items():
            yield tuple(items[i] for i in those), tuple(items[k] for k in same)


def _are_neighbours(tree: Tree, first: int, second: int) -> bool:
    """True if one joint, or one row of joints without bodies between, connects two links."""
    above = tree.joints[second].parent
    while above != first and above >= 0 and above not in tree.links:
        above = tree.joints[above].parent
    return above == first


def _groups(items: tuple[Item, ...], alone: bool = False) -> list[_Group]:
    """Objects of a link: those with a closed form alone, but boxes beside meshes, which one capsule covers with them.

    The Panda's eight boxes of fingers would make nine pairs of each that its hand has. On the universe all are alone:
    they may be far from each other.
    """
    if len(items) > 1 and (alone or items[0].link < 0):
        return [group for item in items for group in _groups((item,))]
    shapes = {item: exact_shape(item.geometry) for item in items}
    covered = [item for item, shape in shapes.items() if shape is None or isinstance(shape, Box)]
    if len(covered) == 1:
        covered = [item for item in covered if shapes[item] is None]
    surfaces = {item: surface_of(item.geometry) for item in covered}
    groups = [_Group((item,), CoveredPart([], shape)) for item, shape in shapes.items() if item not in surfaces]
    return [*groups, _Group(tuple(covered), CoveredPart([*surfaces.values()]))] if covered else groups


def _selected(search: _Search, items: Sequence[Item], alone: bool) -> ChosenPairs:
    rows, covered = [], dict[_Group, dict[CoveredPart, None]]()
    for pair in search.pairs:
        for both in pair.rows:
            first, second = (
                LinkShape(group.name, group.link, part.shape) for group, part in zip(pair.groups, both, strict=True)
            )
            rows.append((first, second))
            for group, part in zip(pair.groups, both, strict=True):
                if part.exact is None:
                    covered.setdefault(group, {})[part] = None
    by_link: dict[int, list[Item]] = {}
    for item in items:
        if item.link >= 0:
            by_link.setdefault(item.link, []).append(item)
    bodies, beside = [], set[_Group]()
    for link in sorted(by_link):
        for group in _groups(tuple(by_link[link]), alone):
            current().show(f"cover of {group.name} beside obstacles")
            parts = [group.whole] if group.whole.exact is not None else _paying(group.whole)
            bodies += [LinkShape(group.name, link, part.shape) for part in parts]
            if group.whole.exact is None:
                covered[group], beside = dict.fromkeys(parts), {*beside, group}
    covers = [
        Cover(
            tuple(item.name for item in group.items),
            tuple(part.shape for part in parts),
            max(part.outside for part in parts),
            group in beside,
        )
        for group, parts in covered.items()
    ]
    touching = [pair.names for pair in search.pairs if pair.is_always_touching]
    return ChosenPairs(
        rows=rows,
        left_out=search.left_out,
        touching=touching,
        inseparable=search.inseparable,
        covers=covers,
        bodies=bodies,
        false_alarms=float(search.alarms.mean()),
        contacts=float(search.contacts.mean()),
    )


def _paying(part: CoveredPart, most: int = _MOST_PARTS) -> list[CoveredPart]:
    """A part, or both sides of its best cut if their capsules are much smaller, and so on, to so many parts at most."""
    parts = [part]
    while len(parts) < most:  # the largest first: of a flat body, every cut makes capsules smaller
        parts.sort(key=lambda part: -volume(part.capsule))
        for k, one in enumerate(parts):
            cut = min(one.cuts[:2], key=lambda halves: sum(volume(half.capsule) for half in halves), default=())
            if cut and sum(volume(half.capsule) for half in cut) < _SMALLER * volume(one.capsule):
                parts[k : k + 1] = cut
                break
        else:
            break
    return parts
