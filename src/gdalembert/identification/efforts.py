"""The efforts that sensors measure as functions of the state and of parameters, with their derivatives.

    f(q, v, a, p, c) = G (tau(q, v, a, p) + C(q, v, a) c)            [Y | C] = ∂(tau + C c)/∂(p, c)

with G of the sensors (:mod:`gdalembert.identification.sensors`), and C the columns of the user beside the regressor Y.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, TypeAlias

import casadi as ca
import numpy as np

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, reason_of, shown
from gdalembert.identification.experiment import Samples
from gdalembert.identification.sensors import Sensors
from gdalembert.model.configuration import reached
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import first_named
from gdalembert.spatial.functions import BatchFunction, function

_RANDOM_STATES = 200
_AFFINE = 1e-9
"""Relative change of a column of Y between two values of p, below which it is rounding."""
_RANDOM_WRENCH = 10.0
"""Standard deviation of random wrenches [N, N m]."""
Columns: TypeAlias = Mapping[str, Callable[..., Any]]
"""Functions (q, v, a) → columns (nv × k), in CasADi, by name."""


class Efforts:
    """The efforts f of sensors and their derivatives, at many states.

    Attributes:
        names: names of p and of the coefficients c (n). ``nominal``: their values in the model, 0 for c.
        sensors: the sensors of these efforts.
        is_affine: whether f is affine in (p, c): where no friction grows with the load.
        random_states: some q, v, a and wrenches, always the same.
    """

    def __init__(self, dyn: Dynamics, sensors: Sensors, columns: Columns | None = None) -> None:
        self.dyn, self.sensors, tree = dyn, sensors, dyn.nominal
        self.is_affine = not dyn.has_load_friction
        self._s = dyn.symbols("q", "v", "a", "wrenches")
        self._own, own_names = _columns(columns, self._s, tree.nv, dyn.parameters.names)
        self.names = (*dyn.parameters.names, *own_names)
        self.nominal = np.concatenate([dyn.parameters.values, np.zeros(len(own_names))])
        rng = np.random.default_rng(0)
        q = reached(tree, rng.normal(size=(_RANDOM_STATES, tree.nv)))
        v, a = (rng.normal(size=(_RANDOM_STATES, tree.nv)) for _ in range(2))
        width = self._s["wrenches"].numel() if "wrenches" in self._s else 0
        self.random_states = q, v, a, _RANDOM_WRENCH * rng.normal(size=(_RANDOM_STATES, width))
        if own_names and not np.isfinite(self.derivatives(self.nominal, *self.random_states)[0]).all():
            raise ArgumentError("fit: columns are not finite in random states; give functions that are")

    @cached_property
    def _inputs(self) -> tuple[dict[str, ca.SX], ca.SX]:
        """The inputs of the graphs, with the wrenches as one column, and tau + C c of them."""
        inputs = {name: self._s[name] for name in ("q", "v", "a")}
        arguments = dict(self._s)
        if "wrenches" in self._s:
            inputs["wrenches"] = ca.SX.sym("wrenches", self._s["wrenches"].numel())
            arguments["wrenches"] = ca.reshape(inputs["wrenches"], *self._s["wrenches"].shape)
        inputs["z"] = ca.SX.sym("z", len(self.names))
        arguments["p"] = inputs["z"][: len(self.dyn.parameters)]
        tau = self.dyn.inverse_dynamics(*(arguments[name] for name in self.dyn.inverse_dynamics.name_in()))
        return inputs, tau + self._own @ inputs["z"][len(self.dyn.parameters) :]

    @cached_property
    def _derivatives(self) -> BatchFunction:
        inputs, tau = self._inputs
        # One graph of both: apart, each would have the kinematics of the robot.
        efforts = ca.DM(self.sensors.matrix) @ ca.horzcat(ca.jacobian(tau, inputs["z"]), tau)
        return BatchFunction(function("efforts", inputs, {"Y_f": efforts}), *efforts.shape)

    @cached_property
    def _values(self) -> BatchFunction:
        inputs, tau = self._inputs
        return BatchFunction(
            function("efforts", inputs, {"f": ca.DM(self.sensors.matrix) @ tau}), len(self.sensors.names)
        )

    def derivatives(self, z: Array, q: Array, v: Array, a: Array, wrenches: Array) -> tuple[Array, Array]:
        """The derivatives [Y | C] in the axes of the sensors (N × m × n) and f (N × m) at z = (p, c)."""
        both = self._derivatives.at(z)(q, v, a, *([wrenches] if wrenches.shape[1] else []))
        return both[..., :-1], both[..., -1]

    def values(self, samples: Samples, z: Array) -> Array:
        """The efforts f (N × m) of samples at z = (p, c)."""
        evaluated = self._values.at(z)
        parts = (part.states for part in samples.parts())
        return np.concatenate([evaluated(q, v, a, *([w] if w.shape[1] else [])) for q, v, a, w in parts])

    def check_affine(self, free: Array, known: Array) -> None:
        """Refuse parameters in which f is not affine, the others being known, but for friction under load.

        Another Y at another p proves that, but for a null set, of a graph of analytic functions.
        """
        loads = np.array([name.endswith(".load") for name in self.names], dtype=bool)
        if not self.is_affine:
            if not loads.any():
                return  # the load is known, and bends f wherever it is free
            free, known = free & ~loads, np.where(loads, 0.0, known)
        other, n = np.random.default_rng(1), len(self.names)
        few = tuple(state[:3] for state in self.random_states)
        # A second derivative by p would prove the same, by a graph for each pair of parameters.
        there = known * other.uniform(0.5, 1.5, n) + other.uniform(0.1, 1, n)
        here, there = (self.derivatives(z, *few)[0] for z in (known, np.where(free, there, known)))
        size = np.abs(here).max(axis=(0, 1), initial=0)
        moved = free & ~(np.abs(there - here).max(axis=(0, 1)) <= _AFFINE * np.maximum(1, size))
        if moved.any():
            wrong = [name for name, is_moved in zip(self.names, moved, strict=True) if is_moved]
            listed = first_named(wrong, most=4)
            if self.dyn.tree.has_displacements:
                raise ArgumentError(
                    f"fit: tau is not affine in {listed}: placements are found from measured poses; leave 'placement' "
                    "out of the parameters, and give the robot a model that has them"
                )
            raise ArgumentError(
                f"fit: tau is not affine in {listed}: products of parameters cannot be identified at once; free only "
                "some of them, or say what they are in known"
            )


def _columns(
    columns: Columns | None, s: Mapping[str, ca.SX], nv: int, taken: tuple[str, ...]
) -> tuple[ca.SX, tuple[str, ...]]:
    """The columns C (nv × k), and a name for each."""
    if not isinstance(columns, Mapping | None):
        raise ArgumentTypeError(f"fit: columns={shown(columns)}; give {{name: function of (q, v, a)}}")
    blocks, names = [ca.SX(nv, 0)], list[str]()
    for name, make in (columns or {}).items():
        if not isinstance(name, str) or not callable(make):
            raise ArgumentTypeError(f"fit: columns[{name!r}] is {shown(make)}; give a function of (q, v, a)")
        try:
            block = ca.SX(make(s["q"], s["v"], s["a"]))
        except Exception as error:
            reason = reason_of(error)
            raise ArgumentTypeError(f"fit: columns[{name!r}] cannot be evaluated in CasADi: {reason}") from error
        if block.shape[0] != nv or not block.shape[1]:
            raise ArgumentError(f"fit: columns[{name!r}] has shape {block.shape}; give ({nv}, k), a row for each v")
        k = block.shape[1]
        labels = [name] if k == 1 else [f"{name}[{i}]" for i in range(k)]
        if twice := next((label for label in labels if label in taken or label in names), None):
            raise ArgumentError(f"fit: columns[{name!r}]: {twice!r} is the name of a parameter; give another one")
        blocks.append(block)
        names += labels
    return ca.horzcat(*blocks), tuple(names)
