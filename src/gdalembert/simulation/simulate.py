"""simulate: the motion of a robot from a state, under what drives it."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from gdalembert.flexible.flexible_arm import FlexibleArm
from gdalembert.model.configuration import Blocks, check_unit_lengths, projected, unit_blocks
from gdalembert.model.tree import Tree
from gdalembert.simulation.control import Control, Law, Sampled, control
from gdalembert.simulation.integration import ADAPTIVE, FIXED, U_FAILED, Course, Plant, integrate, plant
from gdalembert.simulation.result import Simulation, SimulationError, SimulationWarning
from gdalembert.spatial.arguments import choice, number, numbers
from gdalembert.spatial.arrays import Array

_UNBALANCED = 1e-3
"""Of the energy exchanged: what is worth a warning."""
_ROUNDING = 1e-12
"""Of the energies themselves: what says nothing of a robot that hardly moves."""


def simulate(
    dyn: Dynamics,
    x0: npt.ArrayLike | tuple[npt.ArrayLike, npt.ArrayLike],
    t: npt.ArrayLike,
    u: npt.ArrayLike | ca.Function | Law | None = None,
    *,
    hold: bool = False,
    method: str = "auto",
    reltol: float | None = None,
    abstol: float | None = None,
    step: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: bool = False,
) -> Simulation:
    """The motion from x0 at ``t[0]``, integrated by SUNDIALS or CasADi, with its energies and their balance.

    The work of u and of dampers is integrated along, so that the balance of energies checks the motion. q stays on its
    manifold: the dynamics see unit quaternions, outputs are projected, and how far they were off is in the result.

    Args:
        dyn: rigid or flexible.
        x0: [q; v] (nq + nv), or a pair (q, v).
        t: the end (then there are 101 output times from 0), or increasing output times (N) [s].
        u: what ``dyn.state_derivative`` takes (nu): the torques of the joints, of a flexible arm the actuators [N m,
            N]. ``None``: none. Numbers (nu): constant. (N, nu): a row for each output time, with straight lines between
            them. A ``casadi.Function`` (t, x) → u. A Python callable (t, q, v) → u of arrays ((nu), (nu, 1) or a
            ``casadi.DM``), which is asked wherever the integrator looks, up to several times a step, and so must not
            remember.
        hold: rows of u, or the answers of a callable at the output times alone, are held until the next output time,
            as a digital controller does.
        method: ``"adams"``: CVODES, Adams' methods with functional iteration, for what is not stiff, and vibrations
            that nothing damps. ``"bdf"``: CVODES, backward differences with Newton's method, for dampers and stiff
            feedback. ``"idas"``: IDAS. ``"rk4"``, ``"collocation"`` (Gauss–Legendre, order 6): steps of fixed length.
            ``"auto"``: bdf for a flexible arm with dampers, else adams.
        reltol, abstol: of the adaptive methods, 1e-8 and 1e-10.
        step: of the methods with fixed steps, the longest [s]; no step passes an output time.
        options: of the ``casadi.integrator``; they go before all others.
        progress: a bar, by ``tqdm``.

    Raises:
        ArgumentTypeError, ArgumentError: if an argument cannot be used, or a is not finite at x0.
        UnsupportedError: if M is singular in every configuration, or there is no ``tqdm`` for the progress.
        SimulationError: if the integration does not get to its end; with the motion up to there.

    Warns:
        SimulationWarning: if the balance is off by more than a thousandth of the energy exchanged.
    """
    if not isinstance(options, Mapping | None):
        raise ArgumentTypeError(f"simulate: options={options!r}; give a mapping of names to values")
    if not isinstance(dyn, Dynamics):
        raise ArgumentTypeError(f"simulate takes a Dynamics, as gd.NewtonEuler(model), not {type(dyn).__name__}")
    times, blocks = _times(t), unit_blocks(dyn.tree)
    start = _start(x0, dyn.tree, blocks)
    body = plant(dyn, blocks)
    driven, feedback = control(u, times, dyn.tree.nq, dyn.tree.nv, body.nu, hold)
    method = _method(dyn, method)
    settings = _settings(method, reltol, abstol, step) | dict(options or {})
    first = body.flow(start, driven.at(0, float(times[0]), start))[0].full()
    if feedback is not None and feedback.error is not None:
        raise feedback.error
    if not np.all(np.isfinite(first)):
        raise ArgumentError(
            f"simulate: {dyn.tree.name}: a is not finite at x0, where M may be singular; start from another x0"
        )
    bar = _bar(len(times) - 1) if progress else None
    tick = (lambda _: None) if bar is None else bar.update
    try:
        course = integrate(
            body, driven, feedback, times, start, method, step, settings, tick, isinstance(driven, Sampled)
        )
    finally:
        if bar is not None:
            bar.close()
    cause, failure = None, course.failure
    if feedback is not None:
        cause, feedback.error = feedback.error, None
        failure = feedback.reason if failure == U_FAILED else failure
    if cause is not None and not isinstance(cause, Exception):
        raise cause
    result = _result(dyn, body, driven, method, times[: course.reached + 1], course)
    if failure is not None:
        raise _failure(result, failure, times, u_failed=course.failure == U_FAILED) from cause
    rounding = _ROUNDING * float(np.abs(result.energy).max())
    if result.relative_balance > _UNBALANCED and result.max_balance > rounding:
        cure = "a shorter step" if method in FIXED else "smaller tolerances"
        warnings.warn(
            f"simulate: {dyn.tree.name}: {result.max_balance:.3g} J of the energies do not balance, "
            f"{result.relative_balance:.1%} of what is exchanged; take {cure}",
            SimulationWarning,
            stacklevel=2,
        )
    return result


def _times(t: npt.ArrayLike) -> Array:
    times = numbers("simulate: t", t)
    if times.ndim == 0:
        times = np.linspace(0, number("simulate: t", float(times), "s"), 101)
    if times.ndim != 1 or len(times) < 2 or np.any(np.diff(times) <= 0):
        raise ArgumentError("simulate: t must be the end [s], or at least two output times, each later than the last")
    return times


def _start(x0: Any, tree: Tree, blocks: Blocks) -> Array:
    """x0 (nx), with unit lengths."""
    is_pair = isinstance(x0, tuple | list) and len(x0) == 2 and np.ndim(_flat(x0[0])) > 0
    wanted = (tree.nq, tree.nv) if is_pair else (tree.nq + tree.nv,)
    vectors = [numbers("simulate: x0", _flat(part)) for part in (x0 if is_pair else [x0])]
    if tuple(vector.shape for vector in vectors) != tuple((n,) for n in wanted):
        given = " and ".join(str(vector.shape) for vector in vectors)
        raise ArgumentError(
            f"simulate: x0 has shape {given}; give [q; v] ({tree.nq + tree.nv},), or (q, v) with "
            f"({tree.nq},) and ({tree.nv},)"
        )
    x = np.concatenate(vectors)
    check_unit_lengths("simulate: x0", x[: tree.nq], tree)
    return np.concatenate([projected(x[: tree.nq], blocks), x[tree.nq :]])


def _flat(values: Any) -> Any:
    """A ``casadi.DM`` as a vector, everything else as it is."""
    return values.full().ravel() if isinstance(values, ca.DM) else values


def _method(dyn: Dynamics, method: str) -> str:
    if method == "auto":
        return "bdf" if isinstance(dyn, FlexibleArm) and dyn.damping_matrix.any() else "adams"
    return choice("simulate: method", method, ("auto", *ADAPTIVE, *FIXED))


def _settings(method: str, reltol: float | None, abstol: float | None, step: float | None) -> dict[str, Any]:
    if method in FIXED:
        if step is None or reltol is not None or abstol is not None:
            raise ArgumentError(f"simulate: method={method!r} has steps of fixed length; give step, and no tolerances")
        number("simulate: step", step, "s")
        return {}
    if step is not None:
        raise ArgumentError(f"simulate: method={method!r} chooses its steps; give reltol and abstol instead of step")
    return {
        "reltol": number("simulate: reltol", 1e-8 if reltol is None else reltol),
        "abstol": number("simulate: abstol", 1e-10 if abstol is None else abstol),
    }


def _bar(total: int) -> Any:
    try:
        return importlib.import_module("tqdm").tqdm(total=total, unit="times")
    except ImportError:
        raise UnsupportedError("simulate: progress=True needs tqdm; pip install tqdm, or drop progress") from None


def _result(dyn: Dynamics, body: Plant, driven: Control, method: str, t: Array, course: Course) -> Simulation:
    nq, count = body.nq, len(t)
    x = course.x[:count]
    u = np.array([driven.at(k, float(t[k]), x[k]) for k in range(count)])
    before = np.array([u[0], *(driven.before(k, u) for k in range(1, count))])
    rates, left = (body.flow(x.T, each.T)[0].full().T for each in (u, before))
    q, v = x[:, :nq], x[:, nq:]
    found = {
        "t": t,
        "q": q,
        "v": v,
        "a": rates[:, nq:],
        "dq": rates[:, :nq],
        "a_before": left[:, nq:],
        "u": u,
        "kinetic": dyn.kinetic_energy(q.T, v.T).full().ravel(),
        "potential": dyn.potential_energy(q.T).full().ravel(),
        "work": course.energies[:count, 0],
        "dissipated": course.energies[:count, 1],
        "action": course.energies[:count, 2],
        "constraint_violation": course.drift[:count],
    }
    arrays = {name: np.ascontiguousarray(values) for name, values in found.items()}
    for array in arrays.values():
        array.setflags(write=False)
    return Simulation(model=dyn.tree.name, method=method, steps=course.steps, blocks=body.blocks, **arrays)


def _failure(result: Simulation, said: str, times: Array, *, u_failed: bool) -> SimulationError:
    reached = float(result.t[-1])
    until = float(times[len(result.t)])
    largest = float(np.abs(result.x[-1]).max())
    if "TOO_MUCH_WORK" in said:
        reason = (
            "too many steps: give another method ('bdf' for what is stiff), larger tolerances, or more of them by "
            "options={'max_num_steps': …}"
        )
    elif u_failed:
        reason = said
    elif result.method in FIXED:
        reason = "the steps diverge: give a shorter step, or more damping"
    else:
        reason = "no step is short enough: the motion runs away or M becomes singular; look at u and the model there"
    return SimulationError(
        f"simulate: {result.model}: {result.method} stops between {reached:g} and {until:g} s, with entries of x up to "
        f"{largest:.3g}; {reason}; the motion up to {reached:g} s is in .result",
        reached,
        result,
    )
