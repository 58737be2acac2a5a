"""Simulation: the motion of a robot from an initial state under a control."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.constrained.constrained_dynamics import ConstrainedDynamics
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.dynamics.physical_parameters import check_mass_matrix, physical_parameters
from gdalembert.errors import ArgumentError, ArgumentTypeError, SimulationError, SimulationWarning, shown
from gdalembert.model.configuration import Blocks, check_unit_lengths, projected, unit_blocks
from gdalembert.model.tree import Tree
from gdalembert.simulation import integration
from gdalembert.simulation.control import Control, ControlFailure, Grid, Law, control, is_python
from gdalembert.simulation.integration import ADAPTIVE, FIXED, INTEGRALS, Integrator, PartialMotion, Plant, plant
from gdalembert.simulation.result import Simulation
from gdalembert.spatial.arguments import choice, flag, number, numbers
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.interrupts import Interrupts
from gdalembert.spatial.progress import progress as show_progress

_UNBALANCED, _UNBALANCED_IN_TOLERANCES, _UNBALANCED_IN_FIXED_STEPS = 1e-5, 1e3, 1e-3
"""Part of the energy exchanged, the second times ``reltol + abstol / max|v|``, the third with fixed steps: a larger
imbalance is worth a warning."""
_FAST = 1e3
"""Rate [1/s]: errors of constraints that decay faster ask for a method with Newton's iteration."""
_ACCURACY = 0.01
"""Part of the usual tolerances where constraints hold the robot: stabilised ones then drift by less than 1e-9 m."""
_DRIFTED = 1e-4
"""Drift of constraints [m, rad]: a larger one is worth a warning."""
_ROUNDING = 1e-12
"""Part of the energies themselves: a smaller imbalance is rounding, of a robot that hardly moves."""
_AT_REST = 1e-6
"""Speed [rad/s, m/s]: a robot that is never faster is at rest, and its energies are errors of its configuration."""
_STEPS_PER_RADIAN = {"adams": 2.0, "dop853": 0.2}
"""Steps while the fastest vibration turns by one radian, at the default tolerances: measured on flexible arms."""
_LARGE = 3000
"""Instructions of the equations of motion from which on their evaluation costs more than a step of radau itself.

With fewer, as of assumed modes and springs at joints, radau pays where nothing shakes what is stiff, and loses more
where something does, which frequencies do not say. Times of a second of motion, Adams' method and radau: a link of
steel (default modes up to 7,420 rad/s) under 5 sin t N m 0.28 and 0.34 s, under a constant 5 N m 0.54 and 8.4 s; a
spring of 10 MN m/rad (5,350 rad/s) 0.11 and 0.02 s, and 0.14 and 3.5 s; flexible joints of 100 kN m/rad at a panda7
(4,480 rad/s) 0.30 and 1.8 s, and 0.28 and 1.5 s.
"""
_APART, _FOLLOWED = 30.0, 100.0
"""The fastest frequency over the slowest, and the phase [rad] in which a method's own steps are few: where both are
more, radau takes a third to an eighth of the time of Adams' method (rods, arms with tubes; with fewer instructions it
takes up to twice its time)."""
_MANY = 1e5
"""More steps are worth a warning."""
_MAX_STEPS = {"radau": 10_000, "dop853": 100_000}
"""Between two output times, by default: a diverging motion must fail within seconds."""
METHODS = ("auto", *ADAPTIVE, "radau", "dop853", *FIXED)
_STABLE = 2.8
"""The longest step of the classical Runge–Kutta method times ω."""


def simulate(
    dyn: Dynamics | ConstrainedDynamics,
    x0: npt.ArrayLike | tuple[npt.ArrayLike, npt.ArrayLike],
    t: npt.ArrayLike,
    u: npt.ArrayLike | ca.Function | Law | None = None,
    *,
    wrenches: npt.ArrayLike | ca.Function | Law | None = None,
    p: Values = None,
    hold: bool = False,
    period: float | None = None,
    method: str = "auto",
    reltol: float | None = None,
    abstol: float | None = None,
    step: float | None = None,
    options: Mapping[str, Any] | None = None,
    compiled: bool = False,
    progress: bool = False,
) -> Simulation:
    """The motion from x0 at ``t[0]``, integrated by SUNDIALS, CasADi or SciPy, with its energies and their balance.

    The work of u and wrenches and the energy dissipated by dampers are integrated too, so that the balance of energies
    checks the motion. q stays on its manifold: the dynamics see unit quaternions, and outputs are projected. The
    integrator is built once for a robot: in a loop, the next calls cost their integration alone.

    Args:
        dyn: rigid or flexible, or a :class:`~gdalembert.ConstrainedDynamics`: its contacts without an anchor are held
            where they are at x0.
        x0: [q; v] (nq + nv), or a pair (q, v).
        t: the end (for 101 output times from 0), or increasing output times (N) [s].
        u: the input of ``dyn.state_derivative`` (nu): joint torques, or the actuators of a flexible arm [N m, N].
            ``None``: zero. Numbers (nu): constant. (N, nu): a row for each output time, linear in between. A
            ``casadi.Function`` (t, x) → u. A Python callable (t, q, v) → u ((nu), (nu, 1) or a ``casadi.DM``), which
            the integrator calls several times a step, and so must have no memory. With nu = 1, one number is u, too.
            Feedback of a robot with parameters may take them as well: (t, x, p) → u, or (t, q, v, p) → u.
        wrenches: the input ``wrenches`` of a robot that takes them (6 × n, or as its Functions take them), given as u:
            numbers (6 × n) or rows (N × 6 × n), a Function or a callable; zero by default. A callable is never held.
        p: the parameters of ``dyn`` in this motion, all values (n_p) or some by name, the others being those of the
            model; by default those of the model. Graphs are built once for all p.
        hold: rows of u and wrenches, or values of a callable u that is called at the output times only, are held until
            the next output time, as by a digital controller.
        period: that of a digital controller with a rate of its own [s]: the callable is called at ``t[0]`` and each
            ``period`` after it, in this order, and its values are held.
        method: ``"adams"``: CVODES, Adams methods with functional iteration, for motions that are not stiff and
            vibrations without damping. ``"radau"``: SciPy's Radau IIA, order 5, with Newton's method: few long steps,
            for Python callables, dampers, stiff feedback and stiff links. ``"bdf"``: CVODES, backward differentiation
            with Newton's method. ``"idas"``: IDAS. ``"rk4"``, ``"collocation"`` (Gauss–Legendre, order 6): steps of
            fixed length. ``"dop853"``: the explicit Runge–Kutta method of Dormand and Prince, order 8, for the same
            motions as Adams' methods, with fewer evaluations, but in Python: for ``compiled`` ones. ``"auto"``: radau
            where the integrator calls Python, a force depends on velocity, constraints are stabilised at more than
            1000/s, or the equations of motion have over 3000 instructions and vibrations 30 times apart (bdf if SciPy
            is not installed), otherwise adams; dop853 where that is ``compiled``, with SciPy.
        reltol, abstol: tolerances of the adaptive methods, 1e-8 and 1e-10 by default; 1e-7 and 1e-9 for radau, whose
            estimate of the error is cautious. Radau and dop853 divide the ``abstol`` of v by the length of the step in
            seconds: an error of v moves q by so much in a step. A hundredth of that where constraints hold the robot.
        step: longest step of the methods with fixed steps [s]; no step passes an output time.
        options: options of the ``casadi.integrator``; they override all others. Radau and dop853 take
            ``"max_num_steps"`` only.
        compiled: evaluate the equations of motion and their Jacobian as machine code, which needs a C compiler: for
            long motions, or many of them. It takes seconds to minutes to compile, the first time; the cache is that of
            :func:`~gdalembert.compile`.
        progress: show the progress on stderr.

    Raises:
        ArgumentTypeError, ArgumentError: if an argument cannot be used, no robot has the parameters p (the inertia of
            a link is not that of a body), x0 violates a constraint, or a is not finite at x0.
        UnknownNameError: if a name in p is not that of a parameter.
        UnsupportedError: if M is singular in every configuration.
        MissingPackageError: if ``method`` is ``"radau"`` or ``"dop853"`` and SciPy is not installed.
        CompilationError: if it cannot be ``compiled``: there is no compiler, or it fails.
        SimulationError: if the integration fails before the end; it has the motion up to there in ``result``.
        KeyboardInterrupt: by Ctrl-C, as any other exception of a signal handler; it has the motion up to there, too.

    Warns:
        SimulationWarning: if the balance is off by more than 1e-5 and 1000 ``(reltol + abstol / max|v|)`` of the
            energy exchanged (1e-3 with fixed steps), constraints drift by more than 1e-4 m or rad or become redundant,
            or a vibration is too fast for an explicit method.
    """
    if not isinstance(options, Mapping | None):
        raise ArgumentTypeError(f"simulate: options={shown(options)}; give a mapping of names to values")
    for name, value in {"hold": hold, "compiled": compiled, "progress": progress}.items():
        flag(f"simulate: {name}", value)
    with Interrupts(f"{__package__}.integration", f"{__package__}.control") as interrupts:
        con = ConstrainedDynamics.of("simulate", dyn)
        robot, tree = con.dynamics, con.tree
        values = physical_parameters("simulate", robot, p)
        start, times = _start(x0, tree, unit_blocks(tree)), _times(t)
        if period is not None and not is_python(u):
            raise ArgumentError("simulate: period takes a Python callable (t, q, v) -> u; drop it, or give one")
        grid = Grid.of(times, period)
        check_mass_matrix("simulate", robot, start[: tree.nq], values)
        if con.nc:
            held = con.at(values) if tree.has_displacements else con
            held.check_state("simulate", start[: tree.nq], start[tree.nq :])
        con, constants = con.with_anchors(start[: tree.nq], values)
        body = plant(con if con.nc else robot, compiled)
        is_called = is_python(wrenches) or (is_python(u) and not hold and period is None)
        failure, duration = ControlFailure(), float(times[-1] - times[0])
        if choice("simulate: method", method, METHODS) == "auto":
            is_stiff = is_called or _is_stiff(con, body, start[: tree.nq], duration, values)
            method = _automatic(is_stiff, compiled)
        settings = _settings(method, reltol, abstol, step, _ACCURACY if con.nc else 1.0) | dict(options or {})
        warn_of_fast_modes(robot, method, step, start[: tree.nq], duration, values)
        unit = "output times" if period is None else "times"
        with show_progress(f"{tree.name}: simulate", shown=progress):
            driven = control(robot, u, wrenches, grid, values, failure, hold=hold, sampled=period is not None)
            integrator = _integrator(body, driven, constants, method, step, settings)
            _check_first(tree.name, integrator, failure, start, float(times[0]))
            motion = integration.integrate(integrator, failure, grid.t, start, unit, interrupts)
        cause, fault, failure.error = failure.error, failure.reason, None  # so that a callable can be called again
        if interrupts.error is None and cause is not None and not isinstance(cause, Exception):
            raise cause
        result = _result(con, method, integrator, grid, motion, values)
    if interrupts.error is not None:
        raise _stopped(result, interrupts.error)
    if motion.failure is not None:
        raise _failure(result, motion.failure, fault, times) from cause
    bending = robot.bending_warnings(result.q)
    warn(result, *(float(settings.get(name, 0)) for name in ("reltol", "abstol")), bending=bending)
    return result


def _check_first(robot: str, integrator: Integrator, failure: ControlFailure, x0: Array, t0: float) -> None:
    """Raise what u raises at x0, and refuse an acceleration that is not finite there."""
    u = integrator.control.at(0, t0, x0)
    first, _, forces = integrator.plant.flow_at(x0[None], u[None], integrator.p)
    if failure.error is not None:
        raise failure.error
    if not np.all(np.isfinite(first)):
        redundant = " or constraints redundant" if forces.size else ""
        raise ArgumentError(
            f"simulate: {robot}: a is not finite at x0, where M may be singular{redundant}; start from another x0"
        )


def warn_of_fast_modes(dyn: Dynamics, method: str, step: float | None, q: Array, duration: float, p: Array) -> None:
    """Name the fastest vibration about q if the method takes very many steps for it, or is unstable, and a way out."""
    if method not in (*_STEPS_PER_RADIAN, "rk4"):
        return
    frequencies, shapes = _vibrations(dyn, q, p)
    if not len(frequencies):
        return
    omega, parameters = frequencies[-1], p if len(p) else None
    steps = _STEPS_PER_RADIAN.get(method, 0.0) * omega * duration
    if steps > _MANY:
        reason = f"{method} takes about {steps:.1g} steps to follow that"
    elif method == "rk4" and step is not None and omega * step > _STABLE:
        reason = f"rk4 is unstable with steps above {_STABLE / omega:.2g} s"
    else:
        return
    shape, stiffness = shapes[:, -1], dyn.force_stiffness(q, parameters)
    name = dyn.coordinate_names[int((shape * (stiffness @ shape)).argmax())]  # the share of elastic energy
    fewer = "; or take fewer modes, participation(q) says what each carries" if dyn.modes else ""
    warnings.warn(
        f"simulate: {dyn.tree.name}: {name!r} vibrates at {omega / (2 * np.pi):.4g} Hz, and {reason}; take "
        f"method='radau', whose steps are long where it hardly vibrates{fewer}",
        SimulationWarning,
        stacklevel=3,
    )


def _vibrations(dyn: Dynamics, q: Array, p: Array) -> tuple[Array, Array]:
    """Frequencies [rad/s] and shapes of small vibrations about q; none where the forces have none."""
    if dyn.forces:
        with contextlib.suppress(ArgumentError, np.linalg.LinAlgError):
            return dyn.natural_modes(q, joints="free", p=p if len(p) else None)
    return np.empty(0), np.empty((0, 0))


def _is_stiff(con: ConstrainedDynamics, body: Plant, q: Array, duration: float, p: Array) -> bool:
    """True if a motion from q asks for an implicit method, whose steps cost more and are fewer."""
    if con.dynamics.forces_depend_on_velocity or con.stabilisation_rate > _FAST:
        return True
    flow = body.flow
    if not flow.is_a("SXFunction") or flow.n_instructions() < _LARGE:
        return False
    frequencies, _ = _vibrations(con.dynamics, q, p)
    vibrating = frequencies[frequencies > 0]
    return len(vibrating) > 0 and vibrating[-1] > max(_APART * vibrating[0], _FOLLOWED / duration)


def warn(result: Simulation, reltol: float, abstol: float, *, bending: Sequence[str] = ()) -> None:
    """Warn of energies that do not balance, drifting or redundant constraints, and rods that bend too far."""
    said, fastest = [*bending], float(np.abs(result.v).max(initial=0.0))
    if fastest >= _AT_REST:
        worst, cure = max(_UNBALANCED, _UNBALANCED_IN_TOLERANCES * (reltol + abstol / fastest)), "smaller tolerances"
        if result.method in FIXED:
            worst, cure = _UNBALANCED_IN_FIXED_STEPS, "a shorter step"
        if result.relative_balance > worst and result.max_balance > _ROUNDING * float(np.abs(result.energy).max()):
            said.append(
                f"{result.max_balance:.3g} J of the energies do not balance, {result.relative_balance:.2g} of what is "
                f"exchanged; take {cure}, and if that does not help, the dynamics or the energies may be wrong: "
                "gd.validate compares them"
            )
    if (drift := float(result.constraint_drift.max())) > _DRIFTED:
        said.append(
            f"the constraints drift by {drift:.3g} m or rad; give them stiffness=1/T² and damping=2/T, with the time T "
            "in which an error vanishes"
        )
    if len(unknown := np.flatnonzero(~np.isfinite(result.forces).all(axis=1))):
        said.append(
            f"the constraints are redundant at t = {result.t[unknown[0]]:g} s, so that their forces are not "
            "determined; give them regularization=1e-6 for the smallest forces"
        )
    for sentence in said:
        warnings.warn(f"simulate: {result.model}: {sentence}", SimulationWarning, stacklevel=3)


def _times(t: npt.ArrayLike) -> Array:
    times = numbers("simulate: t", t)
    if times.ndim == 0:
        times = np.linspace(0, number("simulate: t", float(times), "s"), 101)
    if times.ndim != 1 or len(times) < 2 or np.any(np.diff(times) <= 0):
        raise ArgumentError("simulate: t must be the end [s], or at least two output times, each later than the last")
    return times


def _start(x0: Any, tree: Tree, blocks: Blocks) -> Array:
    """The state x0 (nx), with unit lengths."""
    is_pair = isinstance(x0, tuple | list) and len(x0) == 2 and isinstance(x0[0], ca.DM | np.ndarray | tuple | list)
    wanted = (tree.nq, tree.nv) if is_pair else (tree.nq + tree.nv,)
    parts = x0 if is_pair else [x0]
    vectors = [numbers("simulate: x0", x.full().ravel() if isinstance(x, ca.DM) else x) for x in parts]
    if tuple(vector.shape for vector in vectors) != tuple((n,) for n in wanted):
        shapes = " and ".join(str(vector.shape) for vector in vectors)
        raise ArgumentError(
            f"simulate: x0 has shape {shapes}; give [q; v] ({tree.nq + tree.nv},), or (q, v) with "
            f"({tree.nq},) and ({tree.nv},)"
        )
    x = np.concatenate(vectors)
    check_unit_lengths("simulate: x0", x[: tree.nq], tree)
    return np.concatenate([projected(x[: tree.nq], blocks), x[tree.nq :]])


def _automatic(is_stiff: bool, compiled: bool) -> str:
    """The method that ``"auto"`` takes."""
    if not (is_stiff or compiled):
        return "adams"
    if find_spec("scipy") is None:
        return "bdf" if is_stiff else "adams"
    return "radau" if is_stiff else "dop853"


def _settings(
    method: str, reltol: float | None, abstol: float | None, step: float | None, accuracy: float
) -> dict[str, Any]:
    if method in FIXED:
        if step is None or reltol is not None or abstol is not None:
            raise ArgumentError(f"simulate: method={method!r} has steps of fixed length; give step, and no tolerances")
        number("simulate: step", step, "s")
        return {}
    if step is not None:
        raise ArgumentError(f"simulate: method={method!r} chooses its steps; give reltol and abstol instead of step")
    # Radau's estimate, of order 3, is cautious: errors are as large as those of the other methods at 1e-8
    usual = (1e-7, 1e-9) if method == "radau" else (1e-8, 1e-10)
    return {
        name: number(f"simulate: {name}", accuracy * default if value is None else value)
        for name, value, default in zip(("reltol", "abstol"), (reltol, abstol), usual, strict=True)
    }


def _integrator(
    body: Plant, driven: Control, p: Array, method: str, step: float | None, settings: dict[str, Any]
) -> Integrator:
    # SciPy's and ours, since CasADi has no Runge–Kutta method that chooses its steps
    if method not in _MAX_STEPS:
        return integration.Integrators(body, driven, p, method, step, settings)
    options = {"max_num_steps": _MAX_STEPS[method]} | settings
    reltol, abstol, most = (options.pop(name) for name in ("reltol", "abstol", "max_num_steps"))
    steps = number("simulate: options['max_num_steps']", most)
    if options:
        raise ArgumentError(
            f"simulate: options={options}: method={method!r} takes 'max_num_steps' only; drop the others"
        )
    made = integration.Radau if method == "radau" else integration.Dop853
    return made(body, driven, p, reltol, abstol, steps)


def _result(
    con: ConstrainedDynamics, method: str, integrator: Integrator, grid: Grid, motion: PartialMotion, p: Array
) -> Simulation:
    dyn, body, driven = con.dynamics, integrator.plant, integrator.control
    nq, count = body.nq, motion.reached + 1
    u = np.array([driven.at(k, float(grid.t[k]), motion.x[k]) for k in range(count)])
    rows = np.flatnonzero(grid.is_output[:count])
    t, x, u, before = grid.t[rows], motion.x[rows], u[rows], driven.before(u)[rows]
    rates, power, forces = body.flow_at(x, u, integrator.p)
    left = rates if np.array_equal(u, before) else body.flow_at(x, before, integrator.p)[0]
    potential, residual = body.observed_at(x, integrator.p)
    q, v = x[:, :nq], x[:, nq:]
    columns = {
        "t": t,
        "q": q,
        "v": v,
        "a": rates[:, nq:],
        "dq": rates[:, :nq],
        "a_before": left[:, nq:],
        "u": u[:, : dyn.nu],
        "wrenches": u[:, dyn.nu :].reshape(len(rows), -1, dyn.external_wrenches.shape[0]).swapaxes(1, 2),
        "kinetic": power[:, INTEGRALS.index("action")],
        "potential": potential.ravel(),
        "forces": forces,
        "residual": residual,
        "length_drift": motion.drift[rows],
        "p": p,
    } | dict(zip(INTEGRALS, motion.integrals[rows].T, strict=True))
    arrays = {name: np.ascontiguousarray(values) for name, values in columns.items()}
    for array in arrays.values():
        array.setflags(write=False)
    return Simulation(model=dyn.tree.name, method=method, steps=motion.steps, blocks=body.blocks, **arrays)


def _stopped(result: Simulation, error: BaseException) -> BaseException:
    """The exception of a signal handler, with the motion up to there."""
    error.add_note(f"simulate: {result.model}: stopped after {result.t[-1]:g} s; the motion up to there is in .result")
    error.result = result  # type: ignore[attr-defined]  # exceptions take attributes
    return error.with_traceback(None)


def _failure(result: Simulation, message: str, fault_of_u: str, times: Array) -> SimulationError:
    """The error that says why the integration failed, and what to do."""
    if message == integration.U_FAILED:
        reason = fault_of_u
    elif message == integration.RUNS_AWAY:
        fastest = f"{integration.FASTEST:g} m/s or rad/s"
        reason = f"the motion runs away: its velocities grow beyond {fastest}; look at the sign of u"
    elif "TOO_MUCH_WORK" in message:
        reason = (
            "too many steps: the motion runs away, or give another method ('radau' for what is stiff), larger "
            "tolerances, or more of them by options={'max_num_steps': …}"
        )
    elif result.method in FIXED:
        reason = "the steps diverge, or the motion runs away: give a shorter step, or more damping; look at u"
    else:
        reason = "no step is short enough: the motion runs away or M becomes singular; look at u and the model there"
    reached, until = float(result.t[-1]), float(times[len(result.t)])
    return SimulationError(
        f"simulate: {result.model}: {result.method} stops between {reached:g} and {until:g} s, with entries of x up to "
        f"{np.abs(result.x[-1]).max():.3g}; {reason}; the motion up to {reached:g} s is in .result",
        reached,
        result,
    )
