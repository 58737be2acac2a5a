"""An extended Kalman filter of a robot: its state, and slow parameters, from what its sensors measure.

``c/ekf.c`` has the equations, :mod:`~gdalembert.estimation.filter_model` the Functions. Python and generated C run the
same code.
"""

from __future__ import annotations

import ctypes
import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.compilation.compiled_function import dtype_name
from gdalembert.compilation.machine_code import REALS, aligned, opened, source_of
from gdalembert.compilation.scalar_code import angles_code, engine_in, literal, scalar_code
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.outputs import output_functions
from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.errors import (
    ArgumentError,
    ArgumentTypeError,
    EstimationError,
    EstimationWarning,
    UnknownNameError,
    UnsupportedError,
    shown,
)
from gdalembert.estimation.filter_model import FilterModel
from gdalembert.spatial.arguments import c_file, flag, instance, integer, number, vector, warn
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.expressions import Expression
from gdalembert.spatial.interrupts import interruptible
from gdalembert.spatial.progress import progress as show_progress
from gdalembert.spatial.source_text import c_comment, check_stem, comment_text, compile_lines, write_whole

_DETUNED = 0.05
"""The relative error of the fastest frequency, by the length of a step, that is told."""
_BEYOND = 50
"""So many steps in a row without a sample within the gate are told, and so many samples of one entry of y."""
_MOST_SUBSTEPS = 1000
Deviations = Mapping[str, npt.ArrayLike]


class Estimator:
    """An extended Kalman filter of (q, v) and of slow parameters, compiled.

    It predicts with forward dynamics and its analytic derivatives, in the tangent space of q, and takes what is
    measured one number after the other; the covariance is kept as a square root, Rᵀ R, so that it cannot lose its sign.
    Steps are stable however fast modes are (a Padé approximant of the exponential).

    Args:
        dyn: the robot, rigid or flexible; its wrenches are no inputs.
        outputs: what sensors measure, ``{name: output}``: a ``casadi.Function`` or a callable whose inputs are named q,
            v, a, u or p, as ``lambda q: q[:3]``, ``arm.strain(…)``, or an accelerometer; a is forward dynamics at u.
        deviations: of the noise of each output, by the same names: one number, or one for each entry, in its units.
        effort_noise: density of the white noise of efforts on v, one number or nv [N m s^½, N s^½]; an error that holds
            for a sample of dt has σ √dt.
        acceleration_noise: density of that of accelerations, likewise [rad/s^1.5].
        parameters: entries of p that are estimated, ``{name: (deviation, walk)}``: the deviation at the beginning, and
            the density of their random walk [unit/s^½].
        offsets: outputs with an unknown offset (zeros of gauges or encoders), ``{name: (deviation, walk)}``.
        p: parameters of the robot; those of ``parameters`` begin there.
        gate: a sample whose innovation is beyond so many of its deviations is left out; ``None`` takes all.
        substeps: predictions in a step, for steps that are long for the motion or the modes.
        progress: show the progress of the build on stderr.

    Attributes:
        names: of the rows of :attr:`covariance`: coordinates, their rates as ``"d … /dt"``, parameters, offsets.

    Raises:
        ArgumentTypeError, ArgumentError, UnknownNameError: if an argument cannot be used.
        UnsupportedError: if an output cannot be written in C, or wrenches are an input.
        CompilationError: if there is no compiler.
    """

    @interruptible
    def __init__(
        self,
        dyn: Dynamics,
        outputs: Mapping[str, Expression],
        deviations: Deviations,
        *,
        effort_noise: npt.ArrayLike = 0.0,
        acceleration_noise: npt.ArrayLike = 0.0,
        parameters: Mapping[str, tuple[float, float]] | None = None,
        offsets: Mapping[str, tuple[float, float]] | None = None,
        p: Values = None,
        gate: float | None = 5.0,
        substeps: int = 1,
        progress: bool = False,
    ) -> None:
        self._dyn = instance("Estimator", dyn, Dynamics, "a robot, as gd.NewtonEuler(model)")
        if dyn.wrenches:
            raise UnsupportedError("Estimator: wrenches are an input of this robot; make it without wrenches=")
        functions = output_functions("Estimator", dyn, outputs)
        sizes = {name: int(function.numel_out(0)) for name, function in functions.items()}
        ends, nv = np.cumsum([0, *sizes.values()]).tolist(), dyn.tree.nv
        self._places = {name: slice(ends[k], ends[k + 1]) for k, name in enumerate(sizes)}
        spread = _named("deviations", deviations, sizes, "{name of output: number}")
        if missing := next((name for name in sizes if name not in spread), None):
            raise ArgumentError(f"Estimator: deviations: there is none of output {missing!r}; give one of each")
        pair = "{name: (deviation, walk)}"
        slow = _named("parameters", parameters or {}, None, pair), _named("offsets", offsets or {}, sizes, pair)
        self._chosen = [dyn.parameters.index(name) for name in slow[0]]
        shifted = [(name, k) for name in slow[1] for k in range(sizes[name])]
        shifts = [f"{name}[{k}]" if sizes[name] > 1 else name for name, k in shifted]
        pairs = [_numbers(f"parameters[{name!r}]", x, 2, repeat=False) for name, x in slow[0].items()]
        pairs += [_numbers(f"offsets[{name!r}]", slow[1][name], 2, repeat=False) for name, _ in shifted]
        self._first, walks = np.reshape(pairs, (-1, 2)).T
        of_v = (_numbers("effort_noise", effort_noise, nv), _numbers("acceleration_noise", acceleration_noise, nv))
        if not np.any(of_v):
            raise ArgumentError("Estimator: a model without noise would learn ever less; give effort_noise")
        densities = np.concatenate([*of_v, walks])
        driven, rows = np.flatnonzero(densities), [self._places[name].start + k for name, k in shifted]
        self._model = FilterModel(dyn, functions, self._chosen, rows, driven.tolist())
        self._substeps = integer("Estimator: substeps", substeps, 1, _MOST_SUBSTEPS)
        self.names = (*dyn.coordinate_names, *(f"d {name}/dt" for name in dyn.coordinate_names), *slow[0], *shifts)
        self._allocate(ends[-1], len(driven))
        self._fields["noise"][:] = densities[driven]
        if dyn.parameters:
            self._p[:] = dyn.parameters.vector(p, "Estimator: p")
        else:
            dyn.parameters.refuse("Estimator", p)
        for name, place in self._places.items():
            x = _numbers(f"deviations[{name!r}]", spread[name], sizes[name], positive=True)
            self._fields["variance"][place] = x**2
        self._gate[:] = 0.0 if gate is None else number("Estimator: gate", gate)
        self._is_reset, self._longest, self._beyond = False, 0.0, 0
        self._library = self._built(progress).estimator_step

    def _built(self, progress: bool) -> ctypes.CDLL:
        """The library of the filter."""
        title = f"{self._dyn.tree.name}: estimator"
        with show_progress(title, shown=flag("Estimator: progress", progress)) as line:
            line.show("derivatives")
            library = opened("Estimator", "\n".join(self._code("estimator")), _usable)
            line.show("")
        return library

    def _allocate(self, ny: int, noises: int) -> None:
        """The state of the filter in the order of C's structure, and what a call reads."""
        model = self._model
        shapes: dict[str, tuple[int, ...]] = {"x": (model.nx,), "R": (model.n, model.n)}
        shapes |= {"p": (max(1, len(self._dyn.parameters)),), "noise": (noises,), "variance": (ny,)}
        shapes |= {"gate": (1,), "innovation": (ny,), "normalised": (ny,), "beyond": (ny,)}
        self._state, first = aligned(sum(map(math.prod, shapes.values()))), 0
        self._fields: dict[str, Array] = {}
        for name, shape in shapes.items():
            last = first + math.prod(shape)
            self._fields[name], first = self._state[first:last].reshape(shape), last
        self._x, self._r, self._gate = (self._fields[name] for name in ("x", "R", "gate"))
        self._p, self._u, self._y = self._fields["p"][: len(self._dyn.parameters)], aligned(self._dyn.nu), aligned(ny)
        self._addresses = [ctypes.c_void_p(array.ctypes.data) for array in (self._state, self._u, self._y)]
        self._counts = self._fields["beyond"].data  # is read faster than an array
        self._told = np.zeros(ny, dtype=bool)  # entries of y that are known to be left out
        nq, nv = self._dyn.tree.nq, self._dyn.tree.nv
        self._q, self._v = self._x[:nq], self._x[nq : nq + nv]

    def __repr__(self) -> str:
        return f"Estimator({self._dyn.tree.name}, {len(self.names)} states, outputs {', '.join(self._places)})"

    def reset(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike | None = None,
        *,
        q_deviation: npt.ArrayLike = 0.01,
        v_deviation: npt.ArrayLike = 0.1,
    ) -> None:
        """Begin at (q, v), and with the parameters that were given.

        Args:
            q: a configuration (nq), or that of the joints alone; a loaded arm begins best at
                ``arm.static_deflection(q)``. ``v``: 0 by default.
            q_deviation, v_deviation: of q in its tangent space and of v, one number or nv.

        Raises:
            ArgumentTypeError, ArgumentError: if an argument cannot be used.
        """
        nv = self._dyn.tree.nv
        configuration = self._dyn.configuration("Estimator.reset: q", q)
        rates = np.zeros(nv) if v is None else vector("Estimator.reset: v", v, nv)
        deviations = _numbers("q_deviation", q_deviation, nv), _numbers("v_deviation", v_deviation, nv)
        self._x[:] = 0.0
        self._q[:], self._v[:] = configuration, rates
        first = len(self._q) + nv
        self._x[first : first + len(self._chosen)] = self._p[self._chosen]
        self._r[:] = np.diag(np.concatenate([*deviations, self._first]))
        for name in ("innovation", "normalised", "beyond"):
            self._fields[name][:] = 0.0
        self._told[:] = False
        self._is_reset, self._beyond = True, 0

    def step(self, u: npt.ArrayLike, y: npt.ArrayLike | Deviations, dt: float) -> tuple[Array, Array]:
        """q and v after a step of dt [s] under u, corrected by what is measured at its end.

        Args:
            u: efforts of the actuators (nu), held over the step.
            y: the outputs one after the other, or by name; NaN, or a name that is left out, is a missing sample, and
                an infinite one is beyond the gate, even where there is none.
            dt: length of the step; it may differ from step to step.

        Raises:
            ArgumentTypeError, ArgumentError: if an argument cannot be used, or before :meth:`reset`.
            EstimationError: if the step is not finite; the state before it stands.
        """
        if type(u) is np.ndarray and u.dtype == np.float64 and u.shape == self._u.shape:
            self._u[:] = u
        else:
            self._u[:] = vector("Estimator.step: u", u, len(self._u))
        if type(y) is np.ndarray and y.dtype == np.float64 and y.shape == self._y.shape:
            self._y[:] = y
        else:
            self._y[:] = self._measured(y)
        if not self._is_reset or type(dt) is not float or not 0 < dt <= self._longest:
            self._check(dt)
        outcome = self._library(*self._addresses, dt)
        if outcome or self._beyond:
            self._tell(outcome, dt)
        return self._q.copy(), self._v.copy()

    @property
    def covariance(self) -> Array:
        """P (n × n) of the errors of q in its tangent space, of v, parameters and offsets, in the order of names."""
        return np.asarray(self._r.T @ self._r)

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters and offsets that are estimated, by name."""
        return dict(zip(self.names[2 * len(self._v) :], self._x[len(self._q) + len(self._v) :].tolist(), strict=True))

    @property
    def innovations(self) -> Array:
        """Innovations of the last step in units of their deviations (ny); NaN where a sample is missing."""
        return self._fields["normalised"].copy()

    @property
    def outliers(self) -> tuple[str, ...]:
        """The outputs with a sample beyond the gate in the last step, which was left out."""
        gate = self._gate[0] or sys.float_info.max  # an infinite sample is beyond any
        return tuple(name for name, place in self._places.items() if (np.abs(self.innovations[place]) > gate).any())

    @interruptible
    def generate(self, path: str | os.PathLike[str], *, dtype: str | type = "float64") -> Path:
        """Write the filter as C99, without a library, with its header beside it.

        The files of ``ekf.c`` have ``ekf_state``, ``ekf_initial``, which is the filter as it is now, and
        ``int ekf_step(ekf_state* self, const double* u, const double* y, double dt)``, which returns the number of
        samples that were left out, or −1 if the step is not finite and the state is as before. Several filters run at
        once, each in its own structure. The header has the lines that compile it.

        Args:
            path: of the file, whose stem is a C identifier; it is returned.
            dtype: the type of all numbers, ``"float64"`` or ``"float32"``, which is ``float`` in C.

        Raises:
            ArgumentTypeError, ArgumentError: if the path is none, its stem no such name, the type none of these, or
                before :meth:`reset`.
            OSError: if it cannot be written.
        """
        target, real = c_file(path, "ekf.c"), dtype_name("generate", dtype)
        if not self._is_reset:
            raise ArgumentError("generate: the filter has no state yet; call reset(q)")
        check_stem(target.stem, lambda stem: self._code(stem, real))
        header, body = self._code(target.stem, real)
        write_whole({target.with_suffix(".h"): header, target: f'#include "{target.stem}.h"\n{body}'})
        return target

    def _code(self, stem: str, dtype: str = "float64") -> tuple[str, str]:
        """The header and the code of the filter."""
        model, real, size = self._model, REALS[dtype], np.dtype(dtype).itemsize
        taken = size * sum(x.size for x in self._fields.values())
        functions = {"rate": model.rate, "outputs": model.outputs, "retract": model.retract}
        about = c_comment(
            [
                f"Extended Kalman filter of {comment_text(self._dyn.tree.name)}: x is q, v and the slow states.",
                "Compile (and link with -lm):",
                *compile_lines(f"{stem}.c", single=real == "float"),
                f"A filter takes {taken:,} bytes, and no memory is allocated.",
                f"u: {', '.join(map(comment_text, self._dyn.actuator_names))}; held over dt [s].",
                f"y, at its end: {', '.join(map(comment_text, self._places))}; NaN where a sample is missing.",
                f"{stem}_step returns the number of samples beyond the gate, which are left out, or -1: it is not",
                "finite, and the state is as before. Its field beyond counts those in a row, for each entry of y.",
            ]
        )
        fields = "\n".join(f"  {real} {name}{''.join(f'[{n}]' for n in x.shape)};" for name, x in self._fields.items())
        call = f"int {stem}_step({stem}_state* self, const {real}* u, const {real}* y, {real} dt)"
        head = f"""#ifndef {stem.upper()}_H
#define {stem.upper()}_H
#ifdef __cplusplus
extern "C" {{
#endif
typedef struct {{
{fields}
}} {stem}_state;
extern const {stem}_state {stem}_initial;
{call};
#ifdef __cplusplus
}}
#endif
#endif
"""
        sizes = {"N": model.n, "NX": model.nx, "NY": len(self._y), "M": len(self._fields["noise"])}
        engine = source_of(__package__, sizes | {"SUBSTEPS": self._substeps}, "ekf.c")
        values = ["{0}"]  # one library for all deviations
        if self._is_reset:
            values = [_braced(np.nan_to_num(x).tolist(), dtype) for x in self._fields.values()]
        includes = f"#include <math.h>\n#include <stdint.h>\n#include <string.h>\ntypedef {stem}_state State;"
        initial = f"const {stem}_state {stem}_initial = {{{', '.join(values)}}};"
        texts = [_function(name, graph, dtype) for name, graph in functions.items()]
        angles = [angles_code(dtype)] if any("sin_cos(" in text for text in texts) else []
        code = [includes, *angles, *texts, engine_in(dtype, engine), initial]
        code.append(f"{call} {{ return step(self, u, y, dt); }}\n")
        return "\n".join([*about, head]), "\n".join(code)

    def _measured(self, y: Any) -> Array:
        """The samples of a step, one after the other."""
        if not isinstance(y, Mapping):
            return vector("Estimator.step: y", y, len(self._y), finite=False)
        values = np.full(len(self._y), np.nan)
        for name, samples in y.items():
            place = self._places[_known("output", name, self._places)]
            size = place.stop - place.start
            values[place] = vector(f"Estimator.step: y[{name!r}]", samples, size, finite=False, repeat=size == 1)
        return values

    def _check(self, dt: Any) -> None:
        """Refuse a length of steps, and warn if modes are too fast for it."""
        if not self._is_reset:
            raise ArgumentError("Estimator.step: there is no state yet; call reset(q)")
        dt = number("Estimator.step: dt", dt, "s")
        if dt <= self._longest:
            return
        self._longest = min(1.1 * dt, sys.float_info.max)  # clocks waver; eigenvalues take longer than a step
        slope = np.reshape(self._model.rate(self._x, self._u, self._p)[1].full(), (self._model.n, self._model.n))
        fastest = float(np.abs(np.linalg.eigvals(slope).imag).max()) if np.isfinite(slope).all() else 0.0
        turn = fastest * (dt / self._substeps)
        if not math.isfinite(turn * turn):
            return  # nor is the step, which tells so
        error = 1 - 2 * math.atan2(turn / 2, 1 - turn * turn / 12) / turn if turn else 0.0
        if error > _DETUNED:
            count = math.ceil(fastest * dt / 2)
            enough = f"substeps={count}, " if count <= _MOST_SUBSTEPS else ""
            warn(
                f"Estimator: the fastest mode, {fastest / (2 * math.pi):.4g} Hz, turns by {turn:.3g} rad in a step, "
                f"which makes it {error:.0%} too slow; give {enough}a shorter dt or fewer modes, unless it is of no "
                "interest",
                EstimationWarning,
            )

    def _tell(self, outcome: int, dt: float) -> None:
        """Raise if a step failed; warn if no sample of many steps was taken, or none of an entry of y."""
        if outcome < 0:
            vector("Estimator.step: u", self._u, len(self._u))
            raise EstimationError(
                f"{self._dyn.tree.name}: the step of {dt:.6g} s is not finite, and the state before it stands; look "
                "for a singular M, or a length of the step, noise, deviations and parameters out of all proportion"
            )
        self._beyond = self._beyond + 1 if outcome and outcome == np.count_nonzero(~np.isnan(self._y)) else 0
        if self._beyond == _BEYOND:
            self._told |= self._fields["beyond"] >= _BEYOND
            warn(
                f"Estimator: no sample of {_BEYOND} steps in a row is within the gate of {self._gate[0]:g} deviations; "
                "compare model, units and deviations with the sensors, give more effort_noise, or call reset(q)",
                EstimationWarning,
            )
        if _BEYOND in self._counts and (new := (self._fields["beyond"] == _BEYOND) & ~self._told).any():
            self._told |= new
            warn(
                f"Estimator: output {', '.join(self._entry_names(new))}: {_BEYOND} samples in a row are left out, the "
                f"last {np.nanmax(np.abs(self.innovations[new])):.4g} deviations off, where the gate is "
                f"{self._gate[0]:g}; compare model, units and sign with the sensor, and with those that are taken",
                EstimationWarning,
            )

    def _entry_names(self, chosen: npt.NDArray[np.bool_]) -> list[str]:
        """The names of entries of y, as ``"encoders[1]"``, or of the output if it has one."""
        names = []
        for name, place in self._places.items():
            size = place.stop - place.start
            names += [f"{name}[{k}]" if size > 1 else name for k in range(size) if chosen[place.start + k]]
        return names


def _known(kind: str, name: str, names: Mapping[str, Any]) -> str:
    if name not in names:
        raise UnknownNameError(kind, name, tuple(names))
    return name


def _numbers(argument: str, values: Any, size: int, *, positive: bool = False, repeat: bool = True) -> Array:
    """Deviations or densities: one number, or one for each entry."""
    x = vector(f"Estimator: {argument}", values, size, repeat=repeat)
    if (x < 0).any() or (positive and not x.all()):
        limit = "above 0" if positive else "of at least 0"
        raise ArgumentError(f"Estimator: {argument}: got {x.min():g}; give numbers {limit}")
    return x


def _named(argument: str, values: Any, sizes: Mapping[str, int] | None, hint: str) -> Mapping[str, Any]:
    """A mapping whose names are known."""
    if not isinstance(values, Mapping):
        raise ArgumentTypeError(f"Estimator: {argument}: got {shown(values)}; give {hint}")
    for name in values:
        if sizes is not None:
            _known("output", name, sizes)
    return values


def _braced(numbers: Any, dtype: str) -> str:
    """An initializer in C: braces around each array, and around each of its rows."""
    if isinstance(numbers, list):
        return f"{{{', '.join(_braced(x, dtype) for x in numbers)}}}"
    return literal(numbers, dtype)


def _function(name: str, function: ca.Function, dtype: str) -> str:
    """C code of a Function; it shares nothing, so that filters in several threads do not."""
    code, real = scalar_code(f"{name}_of", function, dtype), REALS[dtype]
    inputs, outputs = function.name_in(), function.name_out()
    declared = ", ".join([*(f"const {real}* {x}" for x in inputs), *(f"{real}* {y}" for y in outputs)])
    unread = "".join(f"\n  (void) {x};" for x in (*inputs, *outputs) if x not in code.arguments)
    return f"""{code.text}

static int {name}({declared}) {{{unread}
  {name}_of({", ".join(code.arguments)});
  return 0;
}}
"""


def _usable(path: Path) -> ctypes.CDLL:
    library = ctypes.CDLL(str(path))
    pointer = ctypes.c_void_p
    library.estimator_step.argtypes, library.estimator_step.restype = (pointer,) * 3 + (ctypes.c_double,), ctypes.c_int
    return library
