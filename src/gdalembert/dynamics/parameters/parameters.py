"""The vector p of what varies: names, values, symbols, and the tree, the forces and the ``pin.Model`` that have it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.forces import Force
from gdalembert.dynamics.parameters.base import Base
from gdalembert.dynamics.parameters.groups import (
    Armature,
    GravityVector,
    LinkInertias,
    ParameterGroup,
    Payload,
    Placement,
    inertia_of,
    no_inertia_because,
)
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError, shown
from gdalembert.model.cleaning import clean_tree
from gdalembert.model.from_pinocchio import check_same_joints, idle_joints, is_singular, name_of, read_tree
from gdalembert.model.inertia import DYNAMIC_PARAMETERS, dynamic_parameters
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix, entries
from gdalembert.spatial.arguments import listed, vector
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.brief import brief
from gdalembert.spatial.interrupts import interruptible

T = TypeVar("T")
Given = Mapping[str, bool | Sequence[str]] | Sequence[str]
"""Kinds of parameters, each with ``True`` (all there are) or the names of elements; or a list of kinds."""
Values = npt.ArrayLike | Mapping[str, float] | None
"""Parameters p: all values, or some by name, the others being those of the model; ``None``: those of the model."""
KINDS: dict[str, type[ParameterGroup]] = {
    group.kind: group for group in (Placement, LinkInertias, Payload, Base, Armature, GravityVector)
}
"""The kinds that stand in a tree, in the order in which they are put there: places, bodies, what is added to them."""
_FORCES = {
    "springs": "springs={joint: (stiffness, rest)}",
    "friction": "friction='model' or {joint: gd.Friction(…)}",
    "motors": "motors={actuator: gd.Motor(…)}",
}
"""The arguments that give a robot its force elements."""


def mapped(x: T, kind: type, change: Callable[[Any], Any]) -> T:
    """A copy in which every object of a kind is changed; what has none of them is not copied."""
    value: Any = x
    if isinstance(value, kind):
        value = change(value)
    elif isinstance(value, tuple):
        # the same object where nothing changes, so that nothing that is kept of it is made again
        new = tuple(mapped(item, kind, change) for item in value)
        value = value if all(a is b for a, b in zip(new, value, strict=True)) else new
    elif isinstance(value, Mapping):
        by_name = {name: mapped(item, kind, change) for name, item in value.items()}
        value = value if all(by_name[name] is value[name] for name in value) else by_name
    elif is_dataclass(value) and not isinstance(value, type):
        attributes = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        other = {name: mapped(item, kind, change) for name, item in attributes.items()}
        changed = {name: item for name, item in other.items() if item is not attributes[name]}
        value = replace(value, **changed) if changed else value
    result: T = value
    return result


def substituted(x: T, symbols: ca.SX, values: Matrix) -> T:
    """A copy with values, numbers (DM) or expressions (SX), for the symbols; what becomes a number is an array then."""
    return mapped(x, ca.SX, lambda expression: entries(ca.substitute(expression, symbols, ca.SX(values))))


@interruptible
class Parameters:
    """The parameters of a robot: what its Functions take as p (n_p), their last input.

    ``parameters[name]`` is the value in the model, ``dict(parameters)`` has all of them.

    Attributes:
        names: of the entries of p, ``element.quantity``.
        values: of the model, in SI units.
        symbols: p (SX, n_p) as it stands in the expressions.
        tree: the tree with the symbols in it. ``forces``: the force elements with them.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        interruptible(cls)

    def __init__(
        self, names: Sequence[str], values: npt.ArrayLike, symbols: ca.SX, tree: Tree, forces: Sequence[Force]
    ) -> None:
        self.names, self.values, self.symbols = tuple(names), frozen(values), symbols
        self.tree, self.forces = tree, tuple(forces)
        self._index = {name: i for i, name in enumerate(self.names)}
        if len(self._index) < len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise ArgumentError(f"parameters: {twice!r} occurs twice; give each element once")

    def __len__(self) -> int:
        return len(self.names)

    @property
    def inputs(self) -> dict[str, ca.SX]:
        """The input p of Functions by its name, if there are parameters."""
        return {"p": self.symbols} if self else {}

    def keys(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return self.names

    def items(self) -> list[tuple[str, float]]:
        """Names and values in the model."""
        return list(zip(self.names, self.values.tolist(), strict=True))

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __getitem__(self, name: str) -> float:
        return float(self.values[self.index(name)])

    def __repr__(self) -> str:
        return brief(self, dict(self))

    def index(self, name: str) -> int:
        """The entry of p with this name.

        Raises:
            UnknownNameError: if there is none.
        """
        if name not in self._index:
            element, _, quantity = str(name).rpartition(".")
            reason = no_inertia_because(self.tree, element) if quantity in DYNAMIC_PARAMETERS else ""
            raise UnknownNameError("parameter", name, self.names, reason)
        return self._index[name]

    def vector(self, p: Values = None, argument: str = "p") -> Array:
        """The vector p (n_p) as numbers.

        Args:
            p: all values, or some of them by name, the others being those of the model; by default those of the model.
            argument: its name in errors.

        Raises:
            UnknownNameError: if a name is not that of a parameter.
            ArgumentTypeError: if p does not consist of numbers.
            ArgumentError: if p has another length, or a number that is not finite, or none is known for a symbol.
        """
        if p is not None and not isinstance(p, Mapping):
            return vector(argument, p, len(self))
        values = np.array(self.values)
        for name, value in (p or {}).items():
            values[self.index(name)] = vector(f"{argument}[{name!r}]", [value], 1)[0]
        if unknown := [name for name, value in zip(self.names, values, strict=True) if np.isnan(value)]:
            raise ArgumentError(f"{self.tree.name}: {argument}: no value for {', '.join(unknown)}; give it by name")
        return frozen(values)

    def refuse(self, context: str, p: Values) -> None:
        """Refuse values for a robot without parameters.

        Raises:
            ArgumentError: if there are any.
        """
        if p is not None and (len(p) if isinstance(p, Mapping | list | tuple) else np.size(p)):
            raise ArgumentError(
                f"{context}: p is given, but {self.tree.name} has no parameters; drop p, or make the robot with "
                "parameters={kind: True}"
            )

    def substitute(self, p: Matrix) -> tuple[Tree, tuple[Force, ...]]:
        """The tree and the force elements with p (n_p) in them, symbols (SX) or numbers (DM)."""
        return substituted((self.tree, self.forces), self.symbols, p)

    @property
    def nominal(self) -> Tree:
        """The tree with the values in it; with the symbols if a value is not known."""
        return self.tree if np.isnan(self.values).any() else self.substitute(ca.DM(self.values))[0]

    def parts(self, p: Any) -> list[tuple[ParameterGroup, Any]]:
        """The kinds that stand in the tree, in the order of :data:`KINDS`, each with its part of p."""
        return []

    def idle_joints(self, p: Values = None) -> tuple[str, ...]:
        """The joints that move no inertia with these parameters; without p, those that move none whatever p is.

        Raises:
            UnknownNameError, ArgumentTypeError, ArgumentError: as :meth:`vector`.
        """
        if p is not None:
            return idle_joints(*self._inertia(self.vector(p)))
        if not self.idle_in_model or not self:
            return self.idle_in_model
        return idle_joints(*self._inertia(self._generic))

    @cached_property
    def idle_in_model(self) -> tuple[str, ...]:
        """The joints that move no inertia in the model."""
        return idle_joints(*self._inertia(self._model_values))

    @property
    def tree_with_inertia(self) -> Tree:
        """The tree with the values of the model, or with other ones if joints of the model move no inertia."""
        return self._inertia(self._generic if self.idle_in_model else self._model_values)[0]

    @property
    def is_singular(self) -> bool:
        """True if M is singular in every configuration, whatever p is."""
        return is_singular(*self._inertia(self._model_values)) and is_singular(*self._inertia(self._generic))

    def _inertia(self, p: Array) -> tuple[Tree, Array | None]:
        """The tree with p in it, and the part of M of its motors."""
        tree, forces = self.substitute(ca.DM(p)) if self else (self.tree, self.forces)
        rotors = [ca.DM(inertia).full() for force in forces if (inertia := force.inertia()) is not None]
        return tree, np.sum(rotors, axis=0) if rotors else None

    @property
    def _model_values(self) -> Array:
        """The values of the model; any numbers for those that are not known."""
        unknown = np.isnan(self.values)
        return np.where(unknown, self._generic, self.values) if unknown.any() else self.values

    @property
    def _generic(self) -> Array:
        """A vector p (n_p) at no special place, equal for equal parameters: M is singular there only if always."""
        return np.random.default_rng(20260101).uniform(0.5, 2.0, len(self))

    def random(self, rng: np.random.Generator) -> Array:
        """A random p (n_p) that a robot can have.

        Bodies are about as heavy and large as in the model, and each pseudo-inertia is positive definite; armature is
        positive, gravity has any direction; parameters of forces are 0.5 to 2 times those of the model, or between 0
        and 1 where these are 0; what is below 1 stays there.

        Raises:
            UnsupportedError: if the constants of the tree are formulas.
        """
        raise UnsupportedError(f"{self.tree.name}: its constants are formulas, of which no range is known; give p")

    def of(self, model: pin.Model | Tree) -> Array:
        """The vector p (n_p) of another model of the same tree; what a model does not have keeps its value.

        Raises:
            ArgumentError: if the model has other joints.
            UnsupportedError: if the constants of the tree are formulas.
        """
        raise UnsupportedError(
            f"{self.tree.name}: its constants are formulas, which the numbers of a model do not determine; give values "
            "by name"
        )

    def write(self, model: pin.Model, p: Values = None) -> pin.Model:
        """A copy of the model that has p, but for parameters that a model does not have.

        These are springs, the factors of arms, the armature of rotors of flexible joints, and friction that was given
        by joint: a model has ``friction="model"`` alone. With base parameters the torques of the model are right, but
        its links need not be bodies.

        Raises:
            ArgumentError: if the model has other joints, or as :meth:`vector`.
            UnsupportedError: if the constants of the tree are formulas, and the model has joints of several parts.
        """
        tree, _ = self.substitute(ca.DM(self.vector(p)))
        if tuple(model.names)[1:] != tree.joint_names:
            raise ArgumentError(
                f"parameters: {name_of(model)!r} does not have the joints of {tree.name!r}; give its own model"
            )
        copy = model.copy()
        for k, (name, index) in enumerate(zip(tree.joint_names, tree.links, strict=True), 1):
            joint = tree.joints[index]
            if joint.name != name:
                raise UnsupportedError(
                    f"{tree.name}: joint {name!r} has several parts, which are not written into a model; put single "
                    "joints in a row instead"
                )
            copy.jointPlacements[k] = pin.SE3(joint.rotation, joint.translation)
            copy.inertias[k] = inertia_of(name, dynamic_parameters(joint.pseudo_inertia).full().ravel())
        copy.armature[:] = tree.armature
        copy.gravity.linear = tree.gravity
        return copy


class ModelParameters(Parameters):
    """Constants of a model, and of its force elements, as parameters; ``clean`` is for other models."""

    def __init__(self, tree: Tree, forces: Sequence[Force], request: Given, clean: float) -> None:
        self._nominal, self._nominal_forces, self._clean = tree, tuple(forces), clean
        self._given, chosen = request, _checked(request)
        if Base.kind in chosen and LinkInertias.kind in chosen:
            raise ArgumentError("parameters: 'base' parameters stand in place of 'inertia'; give one of them")
        if Base.kind in chosen and Placement.kind in chosen:
            raise ArgumentError(
                "parameters: 'base' parameters are regrouped by the numbers of the geometry, which 'placement' varies; "
                "give 'inertia' in place of 'base'"
            )
        # base parameters are fewer if gravity has one direction, in numbers
        any_gravity: Any = ca.SX.sym("g", 3)
        seen = replace(tree, gravity=any_gravity) if GravityVector.kind in chosen else tree
        self._kinds = tuple(KINDS[kind].select(seen, names) for kind, names in chosen.items() if kind in KINDS)
        self._of_forces: dict[str, float] = {}
        for kind, names in chosen.items():
            if kind not in KINDS:
                self._of_forces |= _of_forces(kind, names, self._nominal_forces)
        self._chosen_forces = tuple(force for force in self._nominal_forces if force.name in chosen)
        self.names = (*(name for kind in self._kinds for name in kind.names), *self._of_forces)
        symbols = ca.SX.sym("p", len(self.names))
        of_kinds = (kind.values(tree) for kind in self._kinds)
        values = np.concatenate([*of_kinds, list(self._of_forces.values())])
        super().__init__(self.names, values, symbols, *self.substitute(symbols))

    def __reduce__(self) -> tuple[Any, ...]:
        return ModelParameters, (self._nominal, self._nominal_forces, self._given, self._clean)

    @property
    def nominal(self) -> Tree:
        return self._nominal

    def substitute(self, p: Matrix) -> tuple[Tree, tuple[Force, ...]]:
        tree = self._nominal
        for kind, part in self.parts(p):
            tree = kind.substitute(tree, part)
        first = len(self.names) - len(self._of_forces)
        by_name = {name: p[first + k] for k, name in enumerate(self._of_forces)}
        values_by_force = [
            {name: by_name[name] for name in force.parameters if name in by_name} for force in self._nominal_forces
        ]
        forces = zip(self._nominal_forces, values_by_force, strict=True)
        return tree, tuple(force.with_parameters(values) if values else force for force, values in forces)

    def parts(self, p: Any) -> list[tuple[ParameterGroup, Any]]:
        parts, first = {}, 0
        for kind in self._kinds:
            parts[kind.kind] = kind, p[first : first + len(kind.names)]
            first += len(kind.names)
        return [parts[kind] for kind in KINDS if kind in parts]

    def random(self, rng: np.random.Generator) -> Array:
        of_forces = np.array(list(self._of_forces.values()))
        factor = rng.uniform(0.5, 2.0, len(of_forces))
        below_one = {quantity for force in self._chosen_forces for quantity in force.below_one}
        most = [(1 + x) / 2 if name.rpartition(".")[2] in below_one else np.inf for name, x in self._of_forces.items()]
        of_forces = np.minimum(np.where(of_forces == 0, factor / 2, factor * of_forces), most)
        return frozen(np.concatenate([*(kind.random(self._nominal, rng) for kind in self._kinds), of_forces]))

    @property
    def _generic(self) -> Array:
        return self.random(np.random.default_rng(20260101))

    def of(self, model: pin.Model | Tree) -> Array:
        tree, _ = clean_tree(self._checked_tree(model), self._clean)
        of_kinds = (kind.values_of(tree, self._nominal) for kind in self._kinds)
        in_model = {name: x for force in self._chosen_forces for name, x in force.parameters_of(tree).items()}
        return frozen(np.concatenate([*of_kinds, [in_model[name] for name in self._of_forces]]))

    def write(self, model: pin.Model, p: Values = None) -> pin.Model:
        values = self.vector(p)
        self._checked_tree(model)
        copy = model.copy()
        # payloads come last: they are added to the bodies that the others write
        for kind, part in sorted(self.parts(values), key=lambda part: isinstance(part[0], Payload)):
            kind.write_to_model(copy, part)
        by_name = {name: float(values[self.index(name)]) for name in self._of_forces}
        for force in self._chosen_forces:
            force.write_parameters(copy, {name: by_name[name] for name in force.parameters if name in by_name})
        return copy

    def _checked_tree(self, model: pin.Model | Tree) -> Tree:
        tree = read_tree(model)
        check_same_joints("parameters", self._nominal, tree)
        return tree


def parameters_of(tree: Tree, forces: Sequence[Force], request: Given | None, clean: float) -> Parameters:
    """The parameters of a robot: the symbols of its tree, or what is asked for."""
    if not tree.symbols.numel():
        if not tree.is_numeric:
            raise UnsupportedError(
                f"{tree.name}: its constants have symbols, which are no inputs; give parameters=, or a tree of "
                "gdalembert.symbolic"
            )
        return ModelParameters(tree.constants, forces, {} if request is None else request, clean)
    if request:
        raise UnsupportedError(
            f"{tree.name}: parameters={shown(request)}: its constants are formulas, whose symbols are the parameters"
        )
    return Parameters(tree.symbol_names, tree.symbol_values, tree.symbols, tree.constants, forces)


def _checked(request: Given) -> dict[str, Sequence[str] | None]:
    """The names of elements by kind; ``None`` for all."""
    kinds = listed(request)
    if kinds is None or not all(isinstance(kind, str) for kind in kinds):
        raise ArgumentTypeError(f"parameters={shown(request)}: give {{kind: True or names}} or a list of kinds")
    if not isinstance(request, Mapping):
        request = dict.fromkeys(kinds, True)
    chosen: dict[str, Sequence[str] | None] = {}
    for kind, names in request.items():
        if names is True:
            chosen[kind] = None
        elif isinstance(names, Sequence) and not isinstance(names, str) and all(isinstance(x, str) for x in names):
            chosen[kind] = tuple(names)
        elif names is not False:
            raise ArgumentTypeError(f"parameters: {kind!r}: got {shown(names)}; give True or a list of names")
    return chosen


def _of_forces(kind: str, chosen: Sequence[str] | None, forces: Sequence[Force]) -> dict[str, float]:
    """The parameters of the force elements of this name, all or those of the chosen elements."""
    if not any(force.name == kind for force in forces):
        if kind in _FORCES:
            raise ArgumentError(f"parameters: {kind!r}: the robot has none; give {_FORCES[kind]} as well")
        raise UnknownNameError("kind of parameters of this robot", kind, [*KINDS, *(force.name for force in forces)])
    parameters = {name: x for force in forces if force.name == kind for name, x in force.parameters.items()}
    if chosen is None:
        return parameters
    known = list(dict.fromkeys(name.rpartition(".")[0] for name in parameters))
    for name in chosen:
        if name not in known:
            raise UnknownNameError(f"element of {kind}", name, known)
    return {name: x for name, x in parameters.items() if name.rpartition(".")[0] in chosen}
