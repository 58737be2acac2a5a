"""Distances: gaps between the links of a robot, and between them and obstacles, as graphs of q."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import combinations, product
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.distances.closest import Closest, Placed, closest, on_surfaces
from gdalembert.distances.placed import LinkShape, RobotWithShapes, numbers_of, shape_of, slopes_by_numbers
from gdalembert.distances.sampling import configurations
from gdalembert.distances.selection import NEAR, ChosenPairs, Item, select
from gdalembert.distances.shapes import Box, HalfSpace, Shape
from gdalembert.dynamics.constrained.constrained_dynamics import ConstrainedDynamics
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.errors import (
    ArgumentError,
    ArgumentTypeError,
    DistanceWarning,
    UnknownNameError,
    UnsupportedError,
    shown,
)
from gdalembert.flexible.centreline import axis_pieces
from gdalembert.model.configuration import neutral, random_configuration, unit_and_scale, unit_blocks
from gdalembert.model.limits import NO_LIMIT, Bounds
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.arguments import choice, flag, listed, number, warn
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.functions import Function, function
from gdalembert.spatial.instructions import eliminate_common_subexpressions
from gdalembert.spatial.interrupts import interruptible
from gdalembert.spatial.progress import progress as show_progress

Obstacles = Mapping[str, Shape | type[Shape]]
Pairs = Sequence[tuple[str, str]]
Row = tuple[LinkShape, LinkShape]
_COVERS = ("capsules",)
_SIDES = ("first", "second")
_RESERVED = ("q", "v", "p", "obstacles")
"""Names of inputs beside which obstacles are inputs, here and in a problem."""
_NO_FRAME = 2**63
"""A larger index of a frame is that of none."""
_CONFIGURATIONS, _ALWAYS = 1000, 0.99
"""At which pieces of flexible links are compared with other shapes, and the part in which what touches always does."""


@interruptible
class Distances:
    """Distances between the links of a robot, and between them and obstacles, as ``casadi.Function`` objects.

    Spheres, capsules and half-spaces are exact, and boxes beside them; cylinders, meshes, other convex shapes, and, but
    for ``pairs``, boxes beside boxes or with meshes on one link are covered by capsules, and where flat faces pass
    closely one of them by boxes, so that a distance is at most the true one, and negative in an overlap.

    Args:
        robot: a ``pin.Model``, a :class:`~gdalembert.Kinematics`, or a robot with dynamics.
        geometry: the ``pin.GeometryModel`` of the robot. Its collision pairs are those of the distances; without any,
            all pairs of links are, but for those that are near each other always or never, by configurations at random.
        obstacles: ``{name: shape}`` in the frame of the universe, as ``{"pole": gd.Capsule(a, b, 0.05)}``. A class in
            place of a shape, as ``gd.Sphere``, makes its numbers an input. Each is paired with every shape that moves.
        cover: how what has no closed form is covered: by ``"capsules"``.
        pairs: pairs of names of geometry objects and of obstacles, in place of all of these. Each of these objects has
            a cover to itself.
        bounds: those of q within which configurations are chosen; by default those of the ``pin.Model``.
        near: pairs of links that never come nearer are left out, unless they are asked for [m]: at least the margin
            that is kept.
        progress: show the progress of covers on stderr.

    Attributes:
        kinematics: of the robot. ``pairs``: the two names of each distance; a mesh with several capsules has several
            distances with the same two names.
        near: as the argument; infinite where pairs are asked for, of which none is left out.
        inputs: the number of inputs of each obstacle that is one, by name.

    Raises:
        ArgumentTypeError: if an argument is of another type.
        ArgumentError: if the geometry is of another model, two shapes have one name or an obstacle that of an input,
            a pair that is asked for has no distance, or no shape moves beside the obstacles.
        UnknownNameError: if a pair has a name that no shape has.
        UnsupportedError: if a shape has no cover, or two half-spaces would be a pair.
    """

    kinematics: Kinematics
    pairs: list[tuple[str, str]]

    def __init__(
        self,
        robot: pin.Model | Kinematics | Dynamics | ConstrainedDynamics,
        geometry: pin.GeometryModel | None = None,
        obstacles: Obstacles | None = None,
        *,
        cover: str = "capsules",
        pairs: Pairs | None = None,
        bounds: Bounds | None = None,
        near: float = NEAR,
        progress: bool = False,
    ) -> None:
        choice("Distances: cover", cover, _COVERS)
        self.near = number("Distances: near", near, "m", inclusive=True)
        self.kinematics, self._obstacles = _kinematics_of(robot), _checked_obstacles(obstacles)
        self.tree = self.kinematics.tree
        pieces = [LinkShape(piece.name, piece.link, piece) for piece in axis_pieces(getattr(robot, "dynamics", robot))]
        items = _items_of(self.kinematics, geometry, {piece.link for piece in pieces})
        names = [*(item.name for item in items), *dict.fromkeys(piece.name for piece in pieces)]
        if twice := next((name for k, name in enumerate(names) if name in names[:k]), None):
            raise ArgumentError(f"Distances: two parts of the robot have the name {twice!r}; rename one of them")
        if clash := next((name for name in names if name in self._obstacles), None):
            raise ArgumentError(f"Distances: {clash!r} is an obstacle and a part of the robot; rename the obstacle")
        asked = None if pairs is None else _checked_pairs(pairs, names, self._obstacles)
        chosen = asked
        if asked is None and geometry is not None and len(geometry.collisionPairs):
            objects = geometry.geometryObjects
            chosen = [(objects[pair.first].name, objects[pair.second].name) for pair in geometry.collisionPairs]
        limits = _limits_of(robot, self.tree, bounds)
        with show_progress(f"{self.tree.name}: distances", shown=flag("Distances: progress", progress)) as line:
            links_alone = not self._obstacles and not pieces
            self._selection = self._selected(items, asked, chosen, limits, links_alone=links_alone)
            line.show(f"{len(self._selection.rows)} between links")
        of_pieces = [*combinations(pieces, 2), *product(pieces, self._selection.bodies)]
        self._left_out: list[tuple[str, str]] = []
        if asked is None:
            q = configurations(self.kinematics.parameters.nominal, *limits, _CONFIGURATIONS, seed=0)
            of_pieces = self._chosen_of_pieces(of_pieces, q)
        bodies = [LinkShape(name, -1, shape) for name, shape in self._obstacles.items()]
        rows = [*of_pieces, *((body, obstacle) for obstacle in bodies for body in (*pieces, *self._selection.bodies))]
        self._rows = [*self._selection.rows, *(pair for pair in rows if asked is None or _is_asked(pair, asked))]
        self._check_rows(asked, beside_obstacles=len(rows) > len(of_pieces))
        self.pairs = [(first.name, second.name) for first, second in self._rows]
        if asked is not None:
            self.near = np.inf
        if touching := [f"{first} and {second}" for first, second in self._selection.touching]:
            warn(f"Distances: {'; '.join(touching)}: touch in all configurations, leave them out", DistanceWarning)
        if overlapping := [f"{first} and {second}" for first, second in self._selection.inseparable]:
            do = "are left out" if chosen is None else "leave them out"
            text = "covers overlap in all configurations, though the meshes do not"
            warn(f"Distances: {'; '.join(overlapping)}: {text}; {do}, and bound q instead", DistanceWarning)
        self.inputs = {
            name: sum(shape.sizes.values()) for name, shape in self._obstacles.items() if isinstance(shape, type)
        }

    def _selected(
        self,
        items: list[Item],
        asked: Pairs | None,
        chosen: Pairs | None,
        limits: tuple[Array, Array],
        *,
        links_alone: bool,
    ) -> ChosenPairs:
        """The pairs of geometry objects, and their shapes.

        ``chosen``: pairs of the geometry, or asked for. ``links_alone``: there is nothing else to compare them with.
        """
        index = {item.name: k for k, item in enumerate(items)}
        beside: set[int] | None = set() if links_alone else None
        of_items = [(index[i], index[k]) for i, k in chosen or () if i in index and k in index]
        if asked is not None:
            both = [*asked, *(pair[::-1] for pair in asked)]
            beside = {index[name] for name, other in both if name in index and other not in index}
        tree, of_all = self.kinematics.parameters.nominal, chosen is None
        sampling: dict[str, Any] = {"lower": limits[0], "upper": limits[1], "near": self.near}
        return select(tree, items, None if of_all else of_items, beside=beside, alone=asked is not None, **sampling)

    def _chosen_of_pieces(self, pairs: Sequence[Row], q: Array) -> list[Row]:
        """The pairs with flexible links that may touch, by configurations (rows); others are left out."""
        apart = [pair for pair in pairs if pair[0].link != pair[1].link]
        chosen = [pair for pair in apart if _may_touch(self.kinematics.parameters.nominal, pair, q, self.near)]
        names = {(one.name, other.name) for one, other in chosen}
        self._left_out = sorted({(one.name, other.name) for one, other in apart} - names)
        return chosen

    def _check_rows(self, asked: Pairs | None, *, beside_obstacles: bool) -> None:
        """Refuse pairs that are asked for and have no row, obstacles beside which nothing moves, and half-spaces."""
        for first, second in asked or ():
            if not any(_is_asked(pair, [(first, second)]) for pair in self._rows):
                raise ArgumentError(
                    f"Distances: pairs: {first!r} and {second!r} have no distance, since they stand on one link, or "
                    "neither moves; leave the pair out"
                )
        if asked is None and self._obstacles and not beside_obstacles:
            raise ArgumentError(
                f"Distances: {self.tree.name} has no shapes that move beside the obstacles; give geometry=, as "
                "pin.buildGeomFromUrdf makes one"
            )
        for pair in self._rows:
            if all(body.shape is HalfSpace or isinstance(body.shape, HalfSpace) for body in pair):
                raise UnsupportedError(
                    f"Distances: {pair[0].name!r} and {pair[1].name!r} are half-spaces, which have no gap; leave one "
                    "out by pairs="
                )

    def __repr__(self) -> str:
        return f"Distances({self.tree.name!r}, {len(self.pairs)} distances)"

    def __getstate__(self) -> dict[str, Any]:
        """Without graphs, which are built anew: symbols cannot be pickled alone."""
        graphs = {name for name, value in vars(type(self)).items() if isinstance(value, cached_property)}
        return {name: value for name, value in vars(self).items() if name not in graphs}

    @cached_property
    def _symbols(self) -> dict[str, ca.SX]:
        """The inputs of all Functions, by name."""
        numbers = {"obstacles": ca.SX.sym("obstacles", sum(self.inputs.values()))} if self.inputs else {}
        q, *p = self.kinematics.symbols("q").items()
        return dict([q, *numbers.items(), *p])

    @cached_property
    def _numbers(self) -> dict[str, ca.SX]:
        """The symbols of each obstacle that is an input, by name."""
        parts = ca.vertsplit(self._symbols["obstacles"], np.cumsum([0, *self.inputs.values()]).tolist())
        return dict(zip(self.inputs, parts, strict=True))

    @cached_property
    def _placed(self) -> tuple[RobotWithShapes, dict[LinkShape, Placed]]:
        """The robot at q, and each body of a pair in the universe."""
        robot = RobotWithShapes(self.tree, self._symbols["q"])
        numbers = {name: self._numbers[name] for name in self.inputs}
        bodies = dict.fromkeys(body for pair in self._rows for body in pair)
        return robot, {body: robot.placed(body, numbers.get(body.name)) for body in bodies}

    @cached_property
    def _closest(self) -> tuple[RobotWithShapes, list[Closest]]:
        robot, placed = self._placed
        return robot, [closest(placed[first], placed[second]) for first, second in self._rows]

    @cached_property
    def distance(self) -> ca.Function:
        """(q[, obstacles][, p]) → (d): the gap of each pair of :attr:`pairs` [m].

        Called with MX, its derivatives, and those of a ``map`` of it, are those of :attr:`derivatives`, by the entries
        of q; second derivatives are those of these, exact where the closest points move smoothly.
        """
        gaps = {"d": ca.vertcat(ca.SX(0, 1), *(pair.gap for pair in self._closest[1]))}
        plain = function("distance", self._symbols, gaps)
        options: dict[str, Any] = {"custom_jacobian": self._jacobian(), "jac_penalty": 0}
        options |= {"enable_forward": False, "enable_reverse": False}  # which a map would take
        inputs = plain.sx_in()
        return _Gaps("distance", inputs, plain.call(inputs), plain.name_in(), ["d"], options)

    @cached_property
    def derivatives(self) -> ca.Function:
        """(q[, obstacles][, p]) → (d, dd_dq): gaps and their derivatives along v (n × nv).

        At the points that are closest, fixed in their links: that they move along them does not change the gap to first
        order (the envelope theorem).
        """
        gaps = ca.vertcat(ca.SX(0, 1), *(pair.gap for pair in self._closest[1]))
        return function("distance_derivatives", self._symbols, {"d": gaps, "dd_dq": self._slopes})

    @cached_property
    def closest(self) -> ca.Function:
        """(q[, obstacles][, p]) → (first, second): the points of both surfaces that are closest (3 × n each) [m].

        They are in the frame of the universe, a column for each pair; where shapes overlap, each is within the other.
        """
        placed = self._placed[1]
        pairs = [
            on_surfaces(placed[first], placed[second], pair)
            for (first, second), pair in zip(self._rows, self._closest[1], strict=True)
        ]
        points = {side: ca.horzcat(ca.SX(3, 0), *(pair[k] for pair in pairs)) for k, side in enumerate(_SIDES)}
        return function("closest", self._symbols, points)

    def bodies(self, q: npt.ArrayLike, obstacles: npt.ArrayLike = (), p: npt.ArrayLike = ()) -> list[LinkShape]:
        """The shapes of all pairs, placed in the universe at numbers of the inputs of :attr:`distance`.

        Each is ``(name, link, shape)``: a shape in the frame of the universe, and the index in ``Tree.joints`` of the
        joint that moves it (−1: none). A mesh that several capsules cover has several of the same name.
        """
        placed, inputs = self._placed[1], {"q": q, "obstacles": obstacles, "p": p}
        columns = [numbers_of(place) for place in placed.values()]
        values: Any = self._numbers_of_bodies(*(inputs[name] for name in self._symbols))
        parts = np.split(values.full().ravel(), np.cumsum([column.numel() for column in columns]))[:-1]
        return [
            LinkShape(body.name, body.link, shape_of(place, numbers))
            for (body, place), numbers in zip(placed.items(), parts, strict=True)
        ]

    @cached_property
    def _numbers_of_bodies(self) -> ca.Function:
        columns = [ca.SX(0, 1), *(numbers_of(place) for place in self._placed[1].values())]
        return function("bodies", self._symbols, {"numbers": ca.vertcat(*columns)})

    @cached_property
    def _slopes(self) -> ca.SX:
        robot, pairs = self._closest
        return ca.SX(ca.vertcat(ca.SX(0, self.tree.nv), *(robot.slopes(pair) for pair in pairs)))

    def _jacobian(self) -> ca.Function:
        """The Jacobian of :attr:`distance` as CasADi calls it: by the entries of each input."""
        robot, pairs = self._closest
        slopes = {"q": self._slopes @ _velocity_of_entries(self.tree, self._symbols["q"])}
        if self.inputs:
            by_numbers = ca.SX(len(pairs), self._symbols["obstacles"].numel())
            first = dict(zip(self.inputs, np.cumsum([0, *self.inputs.values()]).tolist(), strict=False))
            for row, ((_, body), pair) in enumerate(zip(self._rows, pairs, strict=True)):
                if isinstance(body.shape, type):
                    columns = slice(first[body.name], first[body.name] + self.inputs[body.name])
                    by_numbers[row, columns] = slopes_by_numbers(body.shape, pair, self._numbers[body.name])
            slopes["obstacles"] = by_numbers
        if "p" in self._symbols:
            slopes["p"] = ca.vertcat(
                ca.SX(0, self._symbols["p"].numel()), *(robot.slopes_by(pair, self._symbols["p"]) for pair in pairs)
            )
        arguments = [*self._symbols.values(), ca.SX.sym("out_d", len(pairs))]
        values = [ca.sparsify(ca.SX(slope)) for slope in slopes.values()]
        if blocks := unit_blocks(self.tree):  # the gradient of d(q / |q|): CasADi takes second derivatives as symmetric
            unit, scale = unit_and_scale(q := self._symbols["q"], blocks)
            values = ca.substitute(values, [q], [unit])
            values[0] = values[0] / ca.repmat(scale.T, len(pairs), 1)
        values = eliminate_common_subexpressions(arguments, values)
        return ca.Function(
            "jac_distance", arguments, values, [*self._symbols, "out_d"], [f"jac_d_{name}" for name in slopes]
        )

    def report(self) -> str:
        """Text on the covers of links and how good they are, the number of distances, and pairs that are left out."""
        beside = sum(second.name in self._obstacles for _, second in self._rows)
        count = f"{len(self._rows) - beside} distances between links, {beside} to obstacles"
        left_out = [f"  {first}, {second}: touch always or never" for first, second in self._left_out]
        return "\n".join([count, str(self._selection), *left_out])

    def check_obstacles(self, values: Mapping[str, Array]) -> None:
        """Refuse numbers of obstacles (columns, by name) that make no shape, by an ArgumentError: a negative radius."""
        for name in self.inputs:
            kind, x = self._obstacles[name], values[name]
            if "radius" in getattr(kind, "sizes", {}) and (x[-1] < 0).any():
                raise ArgumentError(f"obstacle {name!r}: its radius is {x[-1].min():g} m; give at least 0")
            if kind is HalfSpace and not np.linalg.norm(x[:3], axis=0).all():
                raise ArgumentError(f"obstacle {name!r}: its normal is zero; give the direction out of the solid")


class _Gaps(Function):
    """A Function that has a Jacobian and no other derivatives."""

    def factory(self, *args: Any, **kwargs: Any) -> ca.Function:
        """As CasADi has it, of a graph in which this Function is called."""
        inputs = self.mx_in()
        called = ca.Function(self.name(), inputs, self.call(inputs), self.name_in(), self.name_out())
        return called.factory(*args, **kwargs)


def _is_asked(pair: Row, asked: Pairs) -> bool:
    names = pair[0].name, pair[1].name
    return names in asked or names[::-1] in asked


def _kinematics_of(robot: Any) -> Kinematics:
    if isinstance(robot, Kinematics):
        return robot
    dyn = getattr(robot, "dynamics", robot)
    if isinstance(dyn, Dynamics):
        return Kinematics.of(dyn.parameters)
    if not isinstance(robot, pin.Model | Tree):
        raise ArgumentTypeError(f"Distances takes a pin.Model, a Kinematics or a Dynamics, not {type(robot).__name__}")
    return Kinematics(robot)


def _limits_of(robot: Any, tree: Tree, bounds: Any) -> tuple[Array, Array]:
    """The limits of q within which configurations are chosen: infinite where none are known, as those of modes."""
    if bounds is not None and not isinstance(bounds, Bounds):
        raise ArgumentTypeError(f"Distances: bounds: got {shown(bounds)}; give gd.ocp.Bounds")
    known = (bounds.q_lower, bounds.q_upper) if bounds is not None else ()
    if bounds is None and isinstance(robot, pin.Model):
        known = robot.lowerPositionLimit, robot.upperPositionLimit
    if known and len(known[0]) != tree.nq:
        raise ArgumentError(f"Distances: bounds have {len(known[0])} entries of q, and {tree.name} has {tree.nq}")
    lower, upper = known or (np.full(tree.nq, -np.inf), np.full(tree.nq, np.inf))
    return np.where(lower < -NO_LIMIT, -np.inf, lower), np.where(upper > NO_LIMIT, np.inf, upper)


def _may_touch(tree: Tree, pair: tuple[LinkShape, LinkShape], q: Array, near: float) -> bool:
    """True if two shapes come near in some configurations (rows), and do not touch in all, as neighbours do."""
    symbol = ca.SX.sym("q", tree.nq)
    robot = RobotWithShapes(tree, symbol)
    gap = ca.Function("gap", [symbol], [ca.densify(closest(*map(robot.placed, pair)).gap)])
    gaps = gap.map(len(q))(q.T).full()
    return bool(gaps.min() <= near and (gaps < 0).mean() < _ALWAYS)


def _checked_obstacles(obstacles: Any) -> dict[str, Shape | type[Shape]]:
    if obstacles is None:
        return {}
    if not isinstance(obstacles, Mapping):
        raise ArgumentTypeError(f"Distances: obstacles: got {shown(obstacles)}; give {{name: shape}}")
    for name, shape in obstacles.items():
        if not isinstance(name, str):
            raise ArgumentTypeError(f"Distances: obstacles: got the name {shown(name)}; give text")
        if not name or (isinstance(shape, type) and not name.isidentifier()):
            raise ArgumentError(
                f"Distances: an obstacle has the name {name!r}; give letters, digits and _, and no digit first"
            )
        if name in _RESERVED:
            raise ArgumentError(f"Distances: obstacle {name!r} has the name of another input; rename it")
        if shape is Box:
            raise UnsupportedError(
                f"Distances: obstacle {name!r}: the numbers of a box are no inputs; give a gd.Box, or gd.Capsule"
            )
        is_kind = isinstance(shape, type) and issubclass(shape, Shape) and bool(shape.sizes)
        if not is_kind and not isinstance(shape, Shape):
            raise ArgumentTypeError(
                f"Distances: obstacle {name!r} is {shown(shape)}; give a gd.Sphere, gd.Capsule, gd.Box or gd.HalfSpace"
            )
    return dict(obstacles)


def _checked_pairs(pairs: Any, names: Sequence[str], obstacles: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Pairs of names of geometry objects and obstacles, objects first."""
    checked = []
    if (given_pairs := listed(pairs)) is None:
        raise ArgumentTypeError(f"Distances: pairs: got {shown(pairs)}; give [(name, name), …]")
    for pair in given_pairs:
        both = listed(pair)
        if both is None or len(both) != 2:
            raise ArgumentTypeError(f"Distances: pairs: got {shown(pair)}; give (name, name)")
        for name in both:
            if name not in names and name not in obstacles:
                raise UnknownNameError("shape", name, [*names, *obstacles])
        first, second = sorted(both, key=lambda name: name in obstacles)
        if first in obstacles:
            raise ArgumentError(f"Distances: pairs: {first!r} and {second!r} are both obstacles, which do not move")
        checked.append((first, second))
    return checked


def _items_of(kinematics: Kinematics, geometry: Any, flexible: Collection[int]) -> list[Item]:
    """The objects of a geometry on links of the tree, but for those of links whose axes stand for them."""
    if geometry is None:
        return []
    if not isinstance(geometry, pin.GeometryModel):
        raise ArgumentTypeError(
            f"Distances: geometry: got {shown(geometry)}; give a pin.GeometryModel, as pin.buildGeomFromUrdf makes one"
        )
    tree, items, unknown = kinematics.parameters.nominal, list[Item](), list[bool]()
    bodies = {frame.name for frame in tree.frames}
    for item in geometry.geometryObjects:
        frame = item.parentFrame if item.parentFrame < _NO_FRAME else None
        if item.parentJoint > len(tree.links) or (frame is not None and frame >= len(tree.frames)):
            raise ArgumentError(
                f"Distances: {item.name!r} is on joint {item.parentJoint} and frame {frame}, and {tree.name} has "
                f"{len(tree.links)} and {len(tree.frames)}; give the geometry of this model"
            )
        link = tree.links[item.parentJoint - 1] if item.parentJoint else -1
        on = link if frame is None or tree.springs_at_frames else tree.frames[frame].joint
        if on != link and {on, link} <= {-1, *tree.links}:
            raise ArgumentError(
                f"Distances: {item.name!r} is on joint {item.parentJoint}, and frame {frame} of {tree.name} is not; "
                "give the geometry of this model"
            )
        body, k = item.name.rpartition("_")[::2]  # as Pinocchio names the objects of a URDF
        name = item.name if frame is None else tree.frames[frame].name
        if k.isdigit() and name not in (body, item.name) and body in bodies:
            raise ArgumentError(
                f"Distances: {item.name!r} is on frame {frame}, which is {name!r} in {tree.name}; give the geometry of "
                "this model"
            )
        unknown.append(frame is not None and k.isdigit() and body not in bodies)
        if link not in flexible:
            items.append(Item(item.name, link, item))
        elif frame is not None and (carrier := tree.frames[frame].joint) != link:
            items.append(Item(item.name, carrier, _on_station(item, tree.joints[carrier], tree)))
    if unknown and all(unknown):
        name = geometry.geometryObjects[0].name
        text = (
            f"Distances: no object, as {name!r}, has the name of a body of {tree.name}; give the geometry of this model"
        )
        warn(text, DistanceWarning)
    return items


def _on_station(item: Any, station: Joint, tree: Tree) -> Any:
    """An object of a flexible link, which is placed in the frame of the link at rest, in that of a station of it."""
    rotation, translation = (ca.DM(x).full() for x in station.placement(neutral(tree)))
    moved = item.copy()
    moved.placement = pin.SE3(rotation, translation).inverse() * item.placement
    return moved


def _velocity_of_entries(tree: Tree, q: ca.SX) -> Any:
    """The matrix (nv × nq) of v = T⁺ dq/dt, for entries of unit length: T⁺ = (Tᵀ T)⁻¹ Tᵀ of dq/dt = T v."""
    slopes = tree.tangent_map(q)
    squares = ca.Function("squares", [q], [slopes.T @ slopes])
    rng = np.random.default_rng(0)
    first, second = (squares(random_configuration(tree, rng)).full() for _ in range(2))
    if np.allclose(first, second, rtol=1e-9, atol=1e-12):  # of all joints but those whose v is no rate on a manifold
        return ca.sparsify(ca.DM(np.linalg.inv(first)), 1e-9) @ slopes.T
    return ca.solve(slopes.T @ slopes, slopes.T)
