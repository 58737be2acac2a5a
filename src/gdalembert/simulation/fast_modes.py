"""The warning of vibrations that are too fast for an explicit method."""

from __future__ import annotations

import warnings

import numpy as np

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError
from gdalembert.simulation.result import SimulationWarning
from gdalembert.spatial.arrays import Array

_STEPS_PER_RADIAN = {"adams": 2.0, "dop853": 0.2}
"""At the default tolerances: measured on flexible arms."""
_MANY = 1e5
_STABLE = 2.8
"""The longest step of the classical Runge–Kutta method times ω."""


def warn_of_fast_modes(dyn: Dynamics, method: str, step: float | None, q: Array, duration: float, p: Array) -> None:
    """Name the fastest vibration about q if the method takes very many steps for it, or is unstable, and a way out."""
    if method not in (*_STEPS_PER_RADIAN, "rk4") or not dyn.forces:
        return
    given = p if len(p) else None
    try:
        frequencies, shapes = dyn.natural_modes(q, joints="free", p=given)
    except (ArgumentError, np.linalg.LinAlgError):  # these forces have no vibrations
        return
    omega = frequencies[-1]
    steps = _STEPS_PER_RADIAN.get(method, 0.0) * omega * duration
    if steps > _MANY:
        found = f"{method} takes about {steps:.1g} steps to follow that"
    elif method == "rk4" and step is not None and omega * step > _STABLE:
        found = f"rk4 is unstable with steps above {_STABLE / omega:.2g} s"
    else:
        return
    shape, stiffness = shapes[:, -1], dyn.force_stiffness(q, given)
    name = dyn.coordinate_names[int((shape * (stiffness @ shape)).argmax())]  # the share of elastic energy
    fewer = "; or take fewer modes, participation(q) says what each carries" if dyn.modes else ""
    warnings.warn(
        f"simulate: {dyn.tree.name}: {name!r} vibrates at {omega / (2 * np.pi):.4g} Hz, and {found}; take "
        f"method='radau', whose steps are long where it hardly vibrates{fewer}",
        SimulationWarning,
        stacklevel=3,
    )
