"""Data: slots that algorithms fill, each computed when it is first read."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from gdalembert.errors import GdalembertError, UnknownNameError
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.matrices import matrix
from gdalembert.spatial.objects import SE3

__all__ = ["Data", "MissingAttributeError"]

FILLED_BY: dict[str, str] = {}
"""Slots, and the call that fills each of them."""

Algorithm = TypeVar("Algorithm", bound=Callable[..., Any])


def fills(*slots: str) -> Callable[[Algorithm], Algorithm]:
    """Declare the slots that an algorithm fills, for the error of those that nothing has filled."""

    def declare(algorithm: Algorithm) -> Algorithm:
        call = f"{algorithm.__name__}({', '.join(inspect.signature(algorithm).parameters)})"
        for slot in slots:
            FILLED_BY.setdefault(slot, call)
        return algorithm

    return declare


_SWEEPS = {"q": "forwardKinematics(model, data, q)", "v": "forwardKinematics(model, data, q, v)"}
_SWEEPS |= {"a": "forwardKinematics(model, data, q, v, a)", "tau": "constraintDynamics"}
"""The calls that keep q, v, a and tau."""
_WITHOUT_FRAMES = {"rnea", "aba", "crba", "nonLinearEffects", "computeGeneralizedGravity", "computeMinverse"}


class MissingAttributeError(GdalembertError, AttributeError):
    """A quantity that no algorithm has computed, where Pinocchio gives zeros; a name that is not there."""


class Data:
    """The results of algorithms: ``data.oMf[k]``, ``data.M`` and so on.

    Attributes:
        state: the q, v, a that algorithms were last called with. ``moved``: those of the last sweeps of frames.
        swept: the tree, the q and the placements of the last sweep.

    Raises:
        MissingAttributeError: by reading what no algorithm has computed; it names the call.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._slots: dict[str, Callable[[], Any]] = {}
        self.state: dict[str, Matrix] = {}
        self.moved: dict[str, Matrix] = {}
        self.swept: tuple[Tree, Matrix, Callable[[int], SE3]] | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._slots:
            value = self.__dict__[name] = self._slots[name]()
            return value
        if name in FILLED_BY:
            raise MissingAttributeError(f"data.{name}: nothing has computed it; call {FILLED_BY[name]} before")
        raise MissingAttributeError(str(UnknownNameError("slot of data", name, FILLED_BY)))

    def fill(self, **slots: Callable[[], Any]) -> None:
        """Take what computes each slot, in place of what was there."""
        self.empty(*slots)
        self._slots |= slots

    def put(self, **values: Any) -> None:
        """Take what is computed already."""
        self.empty(*values)
        self.__dict__.update(values)

    def empty(self, *slots: str) -> None:
        """Forget slots, which belong to another state."""
        for name in slots:
            self.__dict__.pop(name, None)
            self._slots.pop(name, None)

    def keep(self, algorithm: str, **state: Any) -> tuple[Matrix, ...]:
        """Keep q, v or a, checked, as matrices, for the algorithms that read the motion of frames."""
        lengths = {"q": self._model.pin.nq, "v": self._model.pin.nv, "a": self._model.pin.nv}
        kept = {name: matrix(f"{algorithm}: {name}", x, lengths[name]) for name, x in state.items()}
        self.state, self.moved = self.state | kept, self.moved | ({} if algorithm in _WITHOUT_FRAMES else kept)
        return tuple(kept.values())

    def known(self, algorithm: str, *names: str, of_frames: bool = False) -> tuple[Matrix, ...]:
        """The q, v, a that were kept last, by a sweep of frames if one was; a MissingAttributeError if none were."""
        state = self.state | (self.moved if of_frames else {})
        if missing := [name for name in names if name not in state]:
            raise MissingAttributeError(f"{algorithm}: no {missing[0]} is known; call {_SWEEPS[missing[0]]} before")
        return tuple(state[name] for name in names)

    def snapshot(self) -> Data:
        """The same state, for what is computed later."""
        then = Data(self._model)
        then.state, then.moved = dict(self.state), dict(self.moved)
        return then
