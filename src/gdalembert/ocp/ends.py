"""The ends of a motion: entries of q and v that are fixed there, at numbers or at expressions of parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError
from gdalembert.model.configuration import (
    Blocks,
    checked_configuration,
    difference,
    neutral,
    projected,
    unit_blocks,
)
from gdalembert.model.tree import Tree
from gdalembert.ocp.bounds import Bounds
from gdalembert.ocp.constraints import Constraints
from gdalembert.ocp.measured import with_signs_of, with_unit_lengths
from gdalembert.ocp.parameters import Parameters
from gdalembert.ocp.transcription import Motion
from gdalembert.spatial.arguments import number, vector
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.functions import function, symbols

Fixed = npt.ArrayLike | ca.MX | Mapping[str, Any] | None
"""All entries, as numbers or an MX of parameters; some of them by name; or none."""

_FREE = 1e30
"""A slack that solvers take for infinite, where an ``Opti`` takes finite numbers alone."""


class End:
    """The start or the end of a motion: value − slack ≤ [q; v] ≤ value + slack, with a slack of 0 or infinity.

    Value and slack are parameters of the ``Opti``, so that other ends need no other problem.

    Args:
        name: "start" or "end".
        motion: of a robot. ``column``: that of the end. Quaternions and pairs (cos, sin) are fixed as rotations at any
            column but the first, because the motion determines their lengths.
        constraints: where it is added.
        bounds: of the robot.

    Attributes:
        leeway: of paths of q and v there: infinite where parameters give q and v, which may violate them; 0 elsewhere.
        corrections: how far q and v were moved in the last solve where parameters give them, by their names.
    """

    def __init__(
        self,
        name: str,
        motion: Motion,
        column: int,
        constraints: Constraints,
        bounds: Bounds,
    ) -> None:
        self._system = system = motion.system
        self._tree, opti = (tree := system.robot.tree), motion.opti
        self.name, self._opti, self._bounds = name, opti, bounds
        states, x = motion.state[: motion.size, column], motion.x[:, column]
        self._value, self._slack = opti.parameter(x.shape[0]), opti.parameter(x.shape[0])
        self.leeway = opti.parameter()
        self._given: list[Array | ca.MX] = [neutral(tree).full().ravel(), np.zeros(tree.nv)]
        self._fixed = [np.zeros(tree.nq, dtype=bool), np.zeros(tree.nv, dtype=bool)]
        self.corrections: dict[str, float] = {}
        self._measured: Array | None = None
        self._set(self._given)
        nq, blocks = tree.nq, unit_blocks(tree) if column else ()
        turning = [i for _, start, stop in blocks for i in range(start, stop)]
        values, slacks, places = system.states_of(self._value), self._slack[system.fixed_by], nq - system.stiff
        straight = [i for i in range(places) if i not in turning]
        for what, rows in ((f"q of {name}", straight), (f"v of {name}", list(range(places, system.states)))):
            constraints.bound(what, states[rows], values[rows] - slacks[rows], values[rows] + slacks[rows])
        if turning:
            s = symbols(q0=nq, q1=nq)
            apart = function("difference", s, {"v": difference(tree, s["q0"], s["q1"])})(self._value[:nq], x[:nq])
            slack = ca.vertcat(*(self._slack[start] for _, start, stop in blocks for _ in _axes(stop - start)))
            rows = _turning_columns(tree, blocks)
            constraints.bound(f"rotations of {name}", apart[rows], -slack, slack)

    @property
    def pattern(self) -> tuple[bool, ...]:
        """Which entries of [q; v] are fixed, and whether parameters give all of them."""
        return *np.concatenate(self._fixed).tolist(), self.measured == "qv"

    def fix(self, parameters: Parameters, q: Fixed, v: Fixed) -> None:
        """Fix q and v, and free what is not given.

        Raises:
            ArgumentTypeError, ArgumentError, UnknownNameError: if a length is wrong, numbers are not finite or not
                within the bounds, or an expression has symbols that are not parameters.
        """
        tree = self._tree
        rest = neutral(tree).full().ravel(), np.zeros(tree.nv)
        found = [self._entries(key, x, own, parameters) for key, x, own in (("q", q, rest[0]), ("v", v, rest[1]))]
        for key, (_, fixed) in zip("qv", found, strict=True):
            self._system.check_fixed(f"{self.name}: {key}", fixed)
        self._given, self._fixed = [given for given, _ in found], [fixed for _, fixed in found]
        if not any(isinstance(given, ca.MX) for given in self._given):
            self._set(self._given)

    def set(self, parameters: Parameters) -> None:
        """Give a solve the values of the end; what parameters give is moved onto unit lengths.

        Raises:
            FarStateError: if a quaternion has another length.
            ArgumentError: if a value is not finite.
        """
        self.corrections = dict.fromkeys((f"{key} of {self.name}" for key in self.measured), 0.0)
        self._set([self._number(key, given, parameters) for key, given in zip("qv", self._given, strict=True)])

    def move(self, key: str, value: Array, by: float) -> None:
        """Replace q or v of a solve by values that were moved so far."""
        self._set([value if each == key else last for each, last in zip("qv", self._last, strict=True)])
        what = f"{key} of {self.name}"
        self.corrections[what] = max(self.corrections[what], by)

    @property
    def symbols(self) -> tuple[ca.MX, ca.MX, ca.MX]:
        """Value, slack and leeway, as parameters of the ``Opti``."""
        return self._value, self._slack, self.leeway

    @property
    def numbers(self) -> tuple[Array, Array, Array]:
        """Value and slack [q; v] and leeway of the last solve."""
        slack = np.where(np.concatenate(self._fixed), 0.0, np.inf)
        return np.concatenate(self._last), slack, np.array(np.inf if self.measured == "qv" else 0.0)

    @property
    def expression(self) -> ca.MX:
        """The values, as an expression of parameters."""
        return ca.vertcat(*(x if isinstance(x, ca.MX) else ca.DM(x) for x in self._given))

    def filled(self, number: float) -> Array:
        """The values, with a number in place of those that are expressions."""
        parts = [
            np.where(fixed, number, last) if isinstance(given, ca.MX) else last
            for given, fixed, last in zip(self._given, self._fixed, self._last, strict=True)
        ]
        return np.concatenate(parts)

    @property
    def fixed(self) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Which entries of q and of v are fixed."""
        return self._fixed[0], self._fixed[1]

    @property
    def measured(self) -> str:
        """``"q"``, ``"v"``, ``"qv"`` or ``""``: what parameters give as a whole."""
        given = zip("qv", self._given, self._fixed, strict=True)
        return "".join(key for key, x, fixed in given if isinstance(x, ca.MX) and fixed.all())

    @property
    def values(self) -> tuple[Array, Array]:
        """q and v of the last solve, the free entries of no meaning."""
        return self._last[0], self._last[1]

    def configuration(self, otherwise: Array | None) -> Array | None:
        """q at this end, if it is fixed, its free entries those of another configuration."""
        fixed = self._fixed[0]
        if not fixed.any() or (otherwise is None and not fixed.all()):
            return None
        free = self._last[0] if otherwise is None else otherwise
        return projected(np.where(fixed, self._last[0], free), unit_blocks(self._tree))

    def _set(self, given: list[Any]) -> None:
        self._last = [np.asarray(x, dtype=float) for x in given]
        for symbol, x in zip(self.symbols, self.numbers, strict=True):
            self._opti.set_value(symbol, np.minimum(x, _FREE))

    def _entries(self, key: str, given: Any, rest: Array, parameters: Parameters) -> tuple[Any, Any]:
        """The values of all entries of q or v, and which are fixed."""
        what, length = f"{self.name}: {key}", len(rest)
        if given is None:
            return rest, np.zeros(length, dtype=bool)
        if isinstance(given, Mapping):
            return self._some(what, key, given, rest, parameters)
        fixed = np.ones(length, dtype=bool)
        if isinstance(given, ca.MX):
            if given.shape != (length, 1):
                raise ArgumentError(f"{what} has shape {given.shape}; give ({length}, 1)")
            parameters.check(what, given)
            return given, fixed
        if key == "q":
            configuration = checked_configuration(what, given, self._tree)
            self._bounds.check(what, configuration, "q")
            return projected(configuration, unit_blocks(self._tree)), fixed
        speed = vector(what, given, length, repeat=True)
        self._bounds.check(what, speed, "v")
        return speed, fixed

    def _some(
        self, what: str, key: str, given: Mapping[str, Any], rest: Array, parameters: Parameters
    ) -> tuple[Any, Any]:
        names: tuple[str, ...] = getattr(self._bounds, f"{key}_names")
        lower, upper = (getattr(self._bounds, f"{key}_{part}") for part in ("lower", "upper"))
        turning = {i for _, start, stop in unit_blocks(self._tree) for i in range(start, stop)} if key == "q" else set()
        entries, fixed = list(rest), np.zeros(len(rest), dtype=bool)
        for name, value in given.items():
            if name not in names:
                raise UnknownNameError(f"entry of {key}", name, names)
            i = names.index(name)
            if i in turning:
                raise ArgumentError(f"{what}: {name!r} is an entry of a unit vector; give all of q")
            if isinstance(value, ca.MX):
                if not value.is_scalar():
                    raise ArgumentError(f"{what}: {name!r} has shape {value.shape}; give (1, 1)")
                parameters.check(f"{what}: {name!r}", value)
            else:
                value = number(f"{what}: {name!r}", value, least=-np.inf)
                if not lower[i] <= value <= upper[i]:
                    raise ArgumentError(
                        f"{what} of {name!r} is {value:.6g}, outside its bounds ({lower[i]:.6g}, {upper[i]:.6g})"
                    )
            entries[i], fixed[i] = value, True
        symbolic = any(isinstance(entry, ca.MX) for entry in entries)
        return ca.vertcat(*entries) if symbolic else np.array(entries, dtype=float), fixed

    def _number(self, key: str, given: Array | ca.MX, parameters: Parameters) -> Array:
        if not isinstance(given, ca.MX):
            return given
        found = parameters.of(given).ravel()
        if not np.all(np.isfinite(found)):
            raise ArgumentError(f"{self.name}: {key} is {found}; give parameters with which it is finite")
        if key == "v":
            return found
        found, off = with_unit_lengths(f"{self.name}: q", found, self._tree)
        self.corrections[f"q of {self.name}"] = off
        self._measured = found if self._measured is None else with_signs_of(self._measured, found, self._tree)
        return self._measured


def as_fixed(where: str, given: Any) -> Any:
    """What fixes q or v, without symbols of SX.

    Raises:
        ArgumentTypeError: if it is an SX.
    """
    if isinstance(given, ca.SX):
        raise ArgumentTypeError(f"{where}: got an SX; give numbers, or an MX of problem.parameter(name, size)")
    return given


def _axes(length: int) -> range:
    """The rotations that a unit vector stands for: three of a quaternion, one of a pair (cos, sin)."""
    return range(3 if length == 4 else 1)


def _turning_columns(tree: Tree, blocks: Blocks) -> list[int]:
    """The entries of v that rotate quaternions and pairs (cos, sin)."""
    turning = []
    for name, start, stop in blocks:
        joint = next(joint for joint in tree.joints if joint.name == name)
        shifts = joint.type.nq - (stop - start)
        turning += list(joint.columns)[shifts:]
    return turning
