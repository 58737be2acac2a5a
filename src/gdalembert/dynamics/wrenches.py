"""External wrenches: joint torques of a wrench at a frame, and the wrenches that are an input of a robot.

A wrench w = (f; m) at a frame k that acts on the robot takes part in the equations of motion by its virtual work,

    tau = M a + nle − Σ_k J_kᵀ w_k

with J_k of the reference that w_k is given in. No Jacobian is needed: the wrench is passed on from link to link, in
link axes, and each joint takes its part Sᵀ F: inward from the frame or outward from the base.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import casadi as ca
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.frame_motion import fixed_placement
from gdalembert.dynamics.frames import check_reference, find_frame
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from gdalembert.model.tree import Frame, Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import numbers
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.spatial_vectors import Wrench

WrenchesByFrame = (
    Mapping[str, pin.ReferenceFrame] | Mapping[int, pin.ReferenceFrame] | Mapping[str | int, pin.ReferenceFrame]
)
"""The reference of the wrench at each frame, by name or index."""

REFERENCES = (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED)

NO_WRENCHES = ca.DM(6, 0)


def torques_of_wrench(tree: Tree, frame: Frame, reference: pin.ReferenceFrame, q: Matrix, wrench: Matrix) -> Matrix:
    """Jᵀ w (nv) of a wrench (6) at a frame, given in the reference."""
    return _TORQUES[reference](tree, frame, q, Wrench(wrench[:3], wrench[3:]))


def _torques_inward(tree: Tree, frame: Frame, q: Matrix, wrench: Wrench) -> Matrix:
    """Jᵀ F (nv) of a wrench in the axes of the frame, about its origin."""
    torques: list[Matrix] = [ca.DM(joint.type.nv, 1) for joint in tree.joints]
    wrench = wrench.to_parent(*fixed_placement(frame))
    for i in reversed(tree.path(frame.joint)):
        torques[i] = wrench.work(*tree.joints[i].subspace(q))
        wrench = wrench.to_parent(*tree.joints[i].placement(q))
    return tree.vector(torques)


def _torques_outward(tree: Tree, frame: Frame, q: Matrix, wrench: Wrench) -> Matrix:
    """Jᵀ F (nv) of a wrench in the axes of the universe, about its origin."""
    torques: list[Matrix] = [ca.DM(joint.type.nv, 1) for joint in tree.joints]
    for i in tree.path(frame.joint):
        wrench = wrench.seen_from(*tree.joints[i].placement(q))
        torques[i] = wrench.work(*tree.joints[i].subspace(q))
    return tree.vector(torques)


def _torques_of_lever(tree: Tree, frame: Frame, q: Matrix, wrench: Wrench) -> Matrix:
    """Jᵀ F (nv) of a wrench in the axes of the universe, about the origin of the frame.

    Force and moment are turned outward, the lever is measured inward; they meet at each joint.
    """
    torques: list[Matrix] = [ca.DM(joint.type.nv, 1) for joint in tree.joints]
    levers: dict[int, Matrix] = {}
    _, lever = fixed_placement(frame)
    for i in reversed(tree.path(frame.joint)):
        levers[i] = lever
        r, p = tree.joints[i].placement(q)
        lever = p + r @ lever
    for i in tree.path(frame.joint):
        r, _ = tree.joints[i].placement(q)
        wrench = Wrench(r.T @ wrench.force, r.T @ wrench.moment)
        torques[i] = wrench.about(-levers[i]).work(*tree.joints[i].subspace(q))
    return tree.vector(torques)


_TORQUES = {pin.LOCAL: _torques_inward, pin.WORLD: _torques_outward, pin.LOCAL_WORLD_ALIGNED: _torques_of_lever}


@dataclass(frozen=True)
class ExternalWrenches:
    """Wrenches (6 × n) that act on a robot, each at a frame, as columns (f; m) [N, N m].

    Attributes:
        frames: indices in ``Tree.frames``. ``references``: what each wrench is given in.
        names: of the frames.
        constant: the wrenches (6 × n) where they are numbers; else they are an input, and this has no columns.
    """

    frames: tuple[int, ...] = ()
    references: tuple[pin.ReferenceFrame, ...] = ()
    names: tuple[str, ...] = ()
    constant: Matrix = field(default_factory=lambda: NO_WRENCHES, compare=False)

    @classmethod
    def of(cls, tree: Tree, given: WrenchesByFrame | None) -> ExternalWrenches:
        """Wrenches of the argument ``wrenches``.

        Raises:
            ArgumentTypeError: if it is not a mapping, or a value is not a ``pin.ReferenceFrame``.
            UnknownNameError: if no frame has a name.
            ArgumentError: if a frame is given twice, several have its name, or its index is out of range.
        """
        if not isinstance(given, Mapping | None):
            raise ArgumentTypeError(
                f"wrenches={given!r}: give a mapping of frames to references, as {{'tool0': pin.LOCAL_WORLD_ALIGNED}}"
            )
        frames: list[int] = []
        for frame, reference in (given or {}).items():
            frames.append(find_frame(tree, frame))
            _check_reference(frame, reference)
            if frames[-1] in frames[:-1]:
                raise ArgumentError(
                    f"wrenches: frame {tree.frames[frames[-1]].name!r} is given twice, by name and by index "
                    f"{frames[-1]}; give each frame once"
                )
        return cls(tuple(frames), tuple((given or {}).values()), tuple(tree.frames[k].name for k in frames))

    def __len__(self) -> int:
        return len(self.frames)

    def check_moved(self, tree: Tree) -> None:
        """Refuse wrenches that no motion feels, at frames that no joint moves."""
        for name, index in zip(self.names, self.frames, strict=True):
            if tree.frames[index].joint < 0:
                raise ArgumentError(
                    f"wrenches: frame {name!r}: no joint moves it, so that a wrench there does nothing; give a frame "
                    "of a link that moves"
                )

    @property
    def is_input(self) -> bool:
        """Whether the robot's Functions take the wrenches."""
        return len(self) > int(self.constant.shape[1])

    def refuse(self, where: str) -> None:
        """Refuse a robot whose wrenches are an input, by an UnsupportedError."""
        if self.is_input:
            raise UnsupportedError(
                f"{where}: the wrenches at {', '.join(self.names)} are an input; give dyn.under(wrenches), the robot "
                "under constant ones (zero by default)"
            )

    def numbers(self, where: str, given: npt.ArrayLike | None) -> Array:
        """Wrenches (6 × n) as numbers; zero by default.

        Raises:
            ArgumentTypeError, ArgumentError: if they are not 6 × n finite numbers.
        """
        n = len(self)
        if not n:
            raise ArgumentError(f"{where}: the robot takes no wrenches; give it wrenches={{frame: reference}}")
        array = numbers(where, ca.DM.zeros(6, n).full() if given is None else given)
        if array.shape == (6,) and n == 1:
            array = array.reshape(6, 1)
        if array.shape != (6, n):
            raise ArgumentError(
                f"{where}: got shape {array.shape}; give (6, {n}), a column (f; m) for each of {', '.join(self.names)}"
            )
        return array

    def fixed(self, values: Matrix) -> ExternalWrenches:
        """Wrenches with numbers (6 × n) in place of an input."""
        return replace(self, constant=values)

    def joined(self, tree: Tree, frames: Sequence[int]) -> ExternalWrenches:
        """The wrenches, and LOCAL ones at further frames, given by their indices."""
        names = (tree.frames[k].name for k in frames)
        return ExternalWrenches(
            (*self.frames, *frames), (*self.references, *[pin.LOCAL] * len(frames)), (*self.names, *names)
        )

    def given_in(self, references: Collection[pin.ReferenceFrame]) -> tuple[ExternalWrenches, list[int]]:
        """Wrenches that are given in some references, as inputs, and which of the n they are."""
        which = [k for k, reference in enumerate(self.references) if reference in references]
        frames, names = tuple(self.frames[k] for k in which), tuple(self.names[k] for k in which)
        return ExternalWrenches(frames, tuple(self.references[k] for k in which), names), which

    def at_frames(self, tree: Tree, wrenches: Matrix) -> Iterator[tuple[Frame, pin.ReferenceFrame, Matrix]]:
        """Each frame in a tree, its reference and its wrench (6)."""
        for k, (frame, reference) in enumerate(zip(self.frames, self.references, strict=True)):
            yield tree.frames[frame], reference, wrenches[:, k]

    def torque(self, tree: Tree, q: Matrix, wrenches: Matrix) -> Matrix:
        """−Σ Jᵀ w (nv): what they add to tau."""
        total: Matrix = ca.DM(tree.nv, 1)
        for frame, reference, wrench in self.at_frames(tree, wrenches):
            total = total - torques_of_wrench(tree, frame, reference, q, wrench)
        return total


def _check_reference(frame: Any, reference: Any) -> None:
    try:
        check_reference(reference)
    except ArgumentTypeError as error:
        raise ArgumentTypeError(f"wrenches: frame {frame!r}: {error}") from None
