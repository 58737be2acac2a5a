"""Model: a ``pin.Model`` whose constants may be symbols, and the tree, the kinematics and the dynamics behind it.

An entry of inertias, placements, gravity or armature that is no number becomes an input of the Functions behind. Lists
hand out objects that may be changed in place, so that the model compares them with its tree whenever that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert.cpin.calls import refusing, taken
from gdalembert.cpin.data import Data
from gdalembert.cpin.matrices import LazyList, OwnedVector, index_of, is_constant, is_same, matrix, number_of, owned
from gdalembert.cpin.objects import SE3, Frame, Inertia, Motion
from gdalembert.dynamics.frames import FrameIndex, joint_frame
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from gdalembert.model.cleaning import clean_tree
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.inertia import pseudo_inertia_of
from gdalembert.model.rounding import CLEANED, SAME_PLACE
from gdalembert.model.tree import Tree, TreeOfSymbols
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import instance, listed, numbers
from gdalembert.spatial.arrays import frozen
from gdalembert.spatial.functions import check_one_kind

if TYPE_CHECKING:
    from gdalembert.dynamics.recursive_newton_euler import NewtonEuler

__all__ = ["Model", "buildReducedModel"]

T = TypeVar("T")


_BUILT: list[tuple[pin.Model, float, dict[Any, Any]]] = []
"""The latest robots of numbers, the tolerance of their cleaning, and their objects, which equal robots share."""
_KEPT = 8  # programs make models anew in loops, of few robots


def _built(model: pin.Model, clean: float) -> dict[Any, Any]:
    """The objects that were built of an equal robot."""
    # A dictionary would need a hash of all numbers, which pin.Model has not.
    for robot, tolerance, objects in _BUILT:
        if tolerance == clean and robot == model:
            return objects
    _BUILT.insert(0, (pin.Model(model), clean, {}))
    del _BUILT[_KEPT:]
    return _BUILT[0][2]


_STATE = ("pin", "clean", "_lists", "_seen", "_symbolic", "_cache")


class _Armature:
    """The armature as one of the constants, which have parts."""

    def __init__(self, armature: Any) -> None:
        self.parts = getattr(armature, "parts", None) or (matrix("model.armature", armature, armature.shape[0]),)


_KINDS = {"jointPlacements": SE3, "frames": Frame, "inertias": Inertia, "gravity": Motion, "armature": _Armature}
"""The constants that may have symbols, and the classes that they are handed out in."""


@dataclass(frozen=True)
class LocatedFrame:
    """A frame of a tree, by the kinematics that know it, its index, and the values of the symbols of the tree.

    ``placement`` is that of a frame which a call places at a joint, whose frame has the index.
    """

    kinematics: Kinematics
    index: int
    inputs: list[Matrix]
    placement: SE3 | None = None

    def evaluate(self, quantity: str, reference: pin.ReferenceFrame, *state: Matrix) -> Any:
        """Evaluate a Function of the kinematics at a state."""
        return getattr(self.kinematics, quantity)(self.index, reference)(*state, *self.inputs)


class Model:
    """A robot with Pinocchio's lists, which symbols may stand in: ``Model(pin_model)``, or built joint by joint.

    ``clean`` is the tolerance of numbers that rounding has left, as of every formulation; 0 takes every bit as given.
    Names, parents, limits and ids, which the dynamics does not need, are read from :attr:`pin`. Models of equal numbers
    share the Functions that were built of one of them. They can be pickled where there are no symbols.

    Attributes:
        pin: a ``pin.Model`` of its numbers; where there are symbols, it is as it was before.
    """

    pin: pin.Model

    def __init__(self, model: Any = None, clean: float | None = None) -> None:
        instance("cpin.Model", model, Model | pin.Model | None, "a pin.Model")
        known = model.pin if isinstance(model, Model) else model
        self.__dict__["pin"] = pin.Model() if known is None else pin.Model(known)
        self.__dict__.update(_lists={}, _seen={}, _symbolic={}, _cache=None)
        self.__dict__["clean"] = getattr(model, "clean", CLEANED) if clean is None else clean
        for (name, k), x in model._handed_out() if isinstance(model, Model) else ():
            self._list(name)[k] = x

    def _list(self, name: str) -> LazyList:
        """The constants of one kind; gravity and armature are lists of one."""
        lists: dict[str, LazyList] = self._lists
        if name not in lists:
            many = name in ("jointPlacements", "frames", "inertias")
            length = len(getattr(self.pin, name)) if many else 1

            def read(k: int) -> Any:
                value = getattr(self.pin, name)
                constant = _KINDS[name](value[k] if many else value)
                # Copies: the user may change the parts in place, and nobody is told.
                self._seen[name, k] = tuple(type(part)(part) for part in constant.parts)
                return constant

            lists[name] = LazyList(f"model.{name}", length, read, _KINDS[name])
        return lists[name]

    def _handed_out(self) -> list[tuple[tuple[str, int], Any]]:
        """The constants that somebody has read or set, and may have changed."""
        return [((name, k), x) for name, items in self._lists.items() for k, x in items.made.items()]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "pin" not in self.__dict__:
            raise AttributeError(name)
        if name == "armature":
            return owned(self._list(name)[0].parts[0], self, name)
        if name in _KINDS:
            return self._list(name)[0] if name == "gravity" else self._list(name)
        value = getattr(self.pin, name)
        return OwnedVector(self.pin, name) if isinstance(value, np.ndarray) else value

    def __setattr__(self, name: str, x: Any) -> None:
        if name == "armature":
            self._list(name)[0] = matrix("model.armature", x, self.nv)
        elif name == "gravity":
            self._list(name)[0] = x
        elif isinstance(getattr(self.pin, name, None), np.ndarray):
            OwnedVector(self.pin, name)[:] = x
        else:
            object.__setattr__(self, name, x)

    def __repr__(self) -> str:
        return f"cpin.Model({self.pin.name!r}, nq={self.pin.nq}, nv={self.pin.nv})"

    def copy(self) -> Model:
        return type(self)(self)

    def _attributes(self) -> dict[str, Any]:
        """The attributes that a subclass or a program has added to the model."""
        return {name: x for name, x in self.__dict__.items() if name not in _STATE}

    def __copy__(self) -> Model:
        return _restored(type(self), self, self.clean, self._attributes())

    def __deepcopy__(self, memo: Any) -> Model:
        memo[id(self)] = copied = _restored(type(self), self, self.clean, {})
        copied.__dict__.update(deepcopy(self._attributes(), memo))
        return copied

    def __reduce__(self) -> Any:
        return _restored, (type(self), self.numbers("pickle"), self.clean, self._attributes())

    def createData(self) -> Data:
        """Make data for algorithms to fill."""
        return Data(self)

    def _grow(self, append: Callable[..., Any], *args: Any, placement: Any = None) -> int:
        """Append a joint or a frame with its placement; constants of symbols stay, the others are read anew."""
        self._update()
        kept = [(key, x) for key, x in self._handed_out() if key in self._symbolic]
        index = int(taken(append.__name__, append, *args))
        for constants in (self._lists, self._seen, self._symbolic):
            constants.clear()
        self.__dict__["_cache"] = None
        for (name, k), x in kept:
            self._list(name)[k] = ca.vertcat(x.parts[0], ca.DM.zeros(self.nv))[: self.nv] if name == "armature" else x
        if append.__name__ == "addJoint":
            self.jointPlacements[index] = placement
        elif placement is not None:
            self.frames[index].placement = placement
        return index

    def addJoint(self, parent: int, joint: Any, placement: Any, name: str, *limits: Any) -> int:
        """Append a joint, whose placement may have symbols, with limits in numbers, and return its index."""
        values = (numbers("addJoint: limits", x) for x in limits)
        add = self.pin.addJoint
        return self._grow(add, parent, joint, pin.SE3.Identity(), name, *values, placement=SE3(placement))

    def addFrame(self, frame: Any, *options: bool) -> int:
        """Append a frame, whose placement may have symbols, and return its index."""
        return self._grow(self.pin.addFrame, Frame(frame).pin, *options, placement=Frame(frame).placement)

    def addJointFrame(self, joint: int, *previous: int) -> int:
        return self._grow(self.pin.addJointFrame, joint, *previous)

    def addBodyFrame(self, name: str, parent: int, placement: Any, *previous: int) -> int:
        add = self.pin.addBodyFrame
        return self._grow(add, name, parent, pin.SE3.Identity(), *previous, placement=SE3(placement))

    def appendBodyToJoint(self, joint: int, inertia: Any, placement: Any = None) -> None:
        """Add a body, of symbols or numbers, to the link of a joint."""
        placed = Inertia(inertia).se3Action(SE3() if placement is None else placement)
        self.inertias[joint] = self.inertias[joint] + placed

    def _update(self) -> None:
        """Write the numbers that were changed into :attr:`pin`, and note the constants that have symbols."""
        for key, x in self._handed_out():
            if key in self._seen and all(map(is_same, x.parts, self._seen[key])):
                continue
            self._seen[key] = tuple(type(part)(part) for part in x.parts)
            self.__dict__["_cache"] = None
            if all(map(is_constant, x.parts)):
                self._symbolic.pop(key, None)
                self._write(*key, x)
            else:
                self._symbolic[key] = self._seen[key]

    def _write(self, name: str, k: int, x: Any) -> None:
        if name == "frames":
            self.pin.frames[k].placement = x.placement.numbers()
        elif name == "armature":
            self.pin.armature[:] = ca.evalf(x.parts[0]).full().ravel()
        elif name == "gravity":
            self.pin.gravity = x.numbers()
        else:
            getattr(self.pin, name)[k] = x.numbers()

    def numbers(self, context: str) -> pin.Model:
        """A copy as ``pin.Model``; an UnsupportedError if constants have symbols."""
        self._update()
        if self._symbolic:
            name, k = next(iter(self._symbolic))
            raise UnsupportedError(f"{context}: model.{name}[{k}] has symbols; give a model of numbers")
        return pin.Model(self.pin)

    def cached(self, key: Any, make: Callable[[], T]) -> T:
        """Make an object once for as long as no constant changes; models of equal numbers share it."""
        self._update()
        if self._cache is None:
            self.__dict__["_cache"] = {} if self._symbolic else _built(self.pin, self.clean)
        objects: dict[Any, T] = self._cache
        if key not in objects:
            objects[key] = make()
        return objects[key]

    @property
    def tree(self) -> Tree:
        """The constants after cleaning; the frames of joints stand behind those of the model."""
        return self.cached("tree", self._tree_and_inputs)[0]

    @property
    def inputs(self) -> list[Matrix]:
        """The input [p], the values of the symbols of the tree; [] if there are none."""
        return self.cached("tree", self._tree_and_inputs)[1]

    def _tree_and_inputs(self) -> tuple[Tree, list[Matrix]]:
        tree, _ = clean_tree(read_tree(self.pin), self.clean)
        tree = replace(tree, frames=(*tree.frames, *(joint_frame(tree, k) for k in range(self.pin.njoints))))
        return _with_constants(tree, self.pin, self._symbolic)

    @property
    def total_mass(self) -> float | Matrix:
        """The mass of all links that a joint moves [kg]."""
        total: float | Matrix = sum((body.mass for body in self.inertias[1:]), 0.0)
        return total

    def frame(self, frame_id: int) -> int:
        """The index in the tree of a frame of the model."""
        return index_of("model.frames", frame_id, self.pin.nframes)

    def joint_frame(self, joint_id: int) -> int:
        """The index in the tree of the frame of a joint."""
        return int(self.pin.nframes + index_of("model.joints", joint_id, self.pin.njoints))

    def located_frame(self, index: int, placement: Any = None) -> LocatedFrame:
        """Locate a frame of the tree, or one that is placed in it, whose placement is an input of the Functions."""
        if placement is None:
            return LocatedFrame(self.kinematics, index, self.inputs)
        if not isinstance(placement, SE3 | pin.SE3):
            kind = type(placement).__name__
            raise ArgumentTypeError(f"frame at a joint: its placement is of type {kind}; give an SE3")
        at_joint = SE3(placement)
        parts = dict(zip(("placement.rotation", "placement.translation"), at_joint.parts, strict=True))
        check_one_kind("frame", {"model": ca.vertcat(*self.inputs)} | parts)
        kinematics = self.cached(("placed", index), lambda: Kinematics(_with_placed_frame(self.tree, index), clean=0))
        values = *self.inputs, *(ca.vec(ca.densify(part)) for part in at_joint.parts)
        return LocatedFrame(kinematics.by_index(), index, [ca.vertcat(*values)], at_joint)

    @property
    def kinematics(self) -> Kinematics:
        """The kinematics of the tree, which has been cleaned."""
        return self.cached("kinematics", lambda: Kinematics(self.tree, clean=0).by_index())

    @property
    def configurations(self) -> Kinematics:
        """The kinematics of the joints in numbers, on which alone configurations depend."""
        # Not the kinematics of the tree: with symbols among its constants these would be inputs here, too.
        return self.cached("joints", lambda: Kinematics(self.pin))

    @property
    def dynamics(self) -> NewtonEuler:
        return self.robot()

    def robot(self, joints: Sequence[int] = ()) -> NewtonEuler:
        """The dynamics; wrenches, LOCAL, at the frames of these joints are an input."""
        from gdalembert.dynamics.recursive_newton_euler import NewtonEuler

        wrenches: dict[int, Any] = {FrameIndex(self.joint_frame(k)): pin.LOCAL for k in joints}
        return self.cached(("robot", *joints), lambda: NewtonEuler(self.tree, clean=0, wrenches=wrenches or None))


def _restored(kind: type[Model], model: Any, clean: float, attributes: dict[str, Any]) -> Model:
    """Make a model of a class whose constructor may take other arguments."""
    restored = kind.__new__(kind)
    Model.__init__(restored, model, clean)
    restored.__dict__.update(attributes)
    return restored


@refusing
def buildReducedModel(model: Any, list_of_joints_to_lock: Sequence[int], reference_configuration: Any) -> Any:
    """Lock joints of a Model, or of a ``pin.Model``; an UnsupportedError if it or the configuration has symbols."""
    full = Model(model).numbers("buildReducedModel")
    q = matrix("buildReducedModel: reference_configuration", reference_configuration, full.nq)
    if not is_constant(q):
        raise UnsupportedError("buildReducedModel: the reference configuration has symbols; give numbers")
    indices = listed(list_of_joints_to_lock)
    if indices is None:
        raise ArgumentTypeError("buildReducedModel: give a list of the indices of joints to lock")
    if wrong := [k for k in indices if not isinstance(k, int | np.integer) or not 0 < k < full.njoints]:
        raise ArgumentError(f"buildReducedModel: no joint {wrong[0]}; give indices from 1 to {full.njoints - 1}")
    reduced = pin.buildReducedModel(full, [*map(int, indices)], ca.evalf(q).full().ravel())
    return reduced if isinstance(model, pin.Model) else Model(reduced)


# Trees whose constants are expressions of a user: their entries that are no numbers become inputs.


_Constants = Mapping[tuple[str, int], tuple[Matrix, ...]]
"""Parts of Pinocchio's objects, by the list and the index of each."""


class _Inputs:
    """The entries of constants that are no numbers: symbols for the graphs, and their values, expressions of a user."""

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


def _with_constants(tree: Tree, model: pin.Model, constants: _Constants) -> tuple[Tree, list[Matrix]]:
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


def _with_placed_frame(tree: Tree, k: int) -> TreeOfSymbols:
    """Place frame k of a tree by symbols: the columns of the rotation and the translation, last in p."""
    r, x, frames = ca.SX.sym("R", 3, 3), ca.SX.sym("x", 3), list(tree.frames)
    placed: Any = {"rotation": r, "translation": x}
    frames[k] = replace(frames[k], **placed)
    return _of_symbols(replace(tree, frames=tuple(frames)), ca.vertcat(tree.symbols, ca.vec(r), x))


def _of_symbols(tree: Tree, p: ca.SX) -> TreeOfSymbols:
    return TreeOfSymbols(**{field.name: getattr(tree, field.name) for field in fields(Tree)} | {"p": p})
