"""A Gauss–Newton step as one C file with its header, which needs no library: for controllers without Python."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.compilation.compiled_function import CompiledFunction
from gdalembert.compilation.machine_code import REALS, source_of
from gdalembert.compilation.scalar_code import angles_code, engine_in, literal, scalar_code
from gdalembert.nlp.gauss_newton import ARRAYS, LARGEST, GaussNewton, macros_of
from gdalembert.nlp.step_text import Described, ExportedArray, example, head, header

Numbers = npt.NDArray[np.float64] | npt.NDArray[np.int64]
_PER_LINE = 6
_BEGUN = ("weights", "off", "t", "combined", "free", "w1", "w2", "order", "set", "lands")
"""The arrays that begin with the numbers that they have, beside those that are exported."""
_WIDE, _LIMITS = ("A", "H", "g", "G", "K", "S", "z"), ("lower", "upper", "w1", "w2")
"""The arrays whose rows are filled up to whole vectors: those as wide as z, and those of limits of z and of rows."""
_SIDE, _BLOCKS = 15, 5
"""Vectors of limits of a ``Side`` of c/stage_qp.c, and of a ``Stage`` without its sides."""
_INTEGER = "int32_t"
_APART = "apart"
"""Functions of each set, and what they find: how far the start is off what holds there, over what is tolerated."""


class _Widths(NamedTuple):
    """The sizes of rows that are filled up to whole vectors of so many numbers.

    Attributes:
        vector: the numbers of a vector. ``entries``: of z. ``rows``: of G.
    """

    vector: int
    entries: int
    rows: int

    @property
    def wide(self) -> int:
        return -(-self.entries // self.vector) * self.vector

    @property
    def limits(self) -> int:
        return self.wide - (-self.rows // self.vector) * self.vector

    def shape(self, key: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of an array whose rows were as wide as elsewhere."""
        if key in _WIDE:
            return (*shape[:-1], self.wide)
        return (*shape[:-1], self.limits) if key in _LIMITS else shape

    def moved(self, key: str, columns: Sequence[int], former: _Widths) -> list[int]:
        """Where entries of rows stand here, that stood in these columns; −1 of those that fill them up."""
        places = {k: k for k in range(self.entries)} if key in (*_WIDE, *_LIMITS) else {k: k for k in columns}
        if key in _LIMITS:
            places |= {former.wide + k: self.wide + k for k in range(self.rows)}
        return [places.get(k, -1) for k in columns]


@dataclass
class StepCode:
    """C99 of ``int name(int shift)``: shift the plan, and take a step from the state in ``name_x_0`` on.

    It returns 0; 1 or 2 if the plan is not moved, as :meth:`GaussNewton.step`; 4 if it is, but more than ``unmet`` of
    violations are left; 3 if it is, from a start of which a Function ``apart`` of the steps is above 1; −1 and −2 if it
    refuses the shift, or an exported schedule. ``name_step``, ``name_gap`` and ``name_infeasibility`` are what was
    found.

    Args:
        steps: of which it is; the plan begins as theirs.
        name: a C identifier, with which all names begin.
        exported: arrays that a caller reads and writes.
        impacts: of a schedule, whether contacts take hold from one set (row) to another (column); empty without one.
        near: how near to contacts and loops a start should be; "" if no Function ``apart`` says how far it is.
        about: what it is. ``remarks``: what its sets or its rows are. Names in both are ``comment_text``.
        most: the largest shift.
        iterations: of the interior point. ``unmet``: the part of violations that may be left.
        width: numbers of a vector; 1: no vectors. ``dtype``: ``"float64"`` or ``"float32"``.
    """

    steps: GaussNewton
    name: str
    exported: Mapping[str, ExportedArray]
    impacts: Sequence[Sequence[bool]]
    near: str
    about: str
    remarks: str
    most: int
    iterations: int
    unmet: float
    width: int
    dtype: str

    def texts(self) -> tuple[str, str]:
        """The text of the file, and of its header."""
        steps, sizes = self.steps, self.steps.sizes
        self._former = _Widths(steps.qp.vector, sizes.nx + sizes.nu, sizes.rows)
        self._widths = self._former._replace(vector=self.width)
        arrays = self._arrays()
        self._names = {key: self._name_of(key) for key in arrays}
        functions, count = self._functions()
        described = self._described(arrays, count)
        text = [
            *head(described),
            f'#include "{self.name}.h"',
            self._engine(),
            *([angles_code(self.dtype)] if any("sin_cos(" in text for text in functions) else []),
            *(self._array(key, array) for key, array in arrays.items()),
            *functions,
            self._tick(arrays),
            example(described),
        ]
        return "\n".join(text), header(described)

    def _name_of(self, key: str) -> str:
        return f"{self.name}_{self.exported[key].name}" if key in self.exported else f"own_{key}"

    def _arrays(self) -> dict[str, Numbers]:
        """The arrays that the engine and its Functions read or write, with rows as wide as here."""
        steps, qp = self.steps, self.steps.qp.memory
        functions = [function for functions in steps.functions.values() for function in functions if function]
        written = {name for function in functions for name in function.outputs}
        used = arrays_read(steps) | written | {*ARRAYS, *steps.patterns, "x_0", "delta"}
        arrays: dict[str, Numbers] = {
            key: array for key, array in steps.arrays.items() if key in used and not key.endswith("_next")
        }
        arrays |= {"qp_x_0": qp["x_0"]} | {key: qp[key] for key in ("free", "w1", "w2")}
        arrays |= {"set": steps.set, "lands": steps.lands, "order": steps.order}
        self._ended = [key for key in arrays if key != "x" and f"{key}_next" in steps.arrays]
        for key in self._ended:  # a row behind the last one, which is read as its next one
            arrays[key] = np.vstack([steps.arrays[key], steps.arrays[key][-1:]])
        return {key: self._relaid(key, array) for key, array in arrays.items()}

    def _relaid(self, key: str, array: Numbers) -> Numbers:
        if key not in (*_WIDE, *_LIMITS):
            return array
        relaid = np.zeros(self._widths.shape(key, array.shape))
        places = self._widths.moved(key, range(array.shape[-1]), self._former)
        for k, place in enumerate(places):
            if place >= 0:
                relaid[..., place] = array[..., k]
        return relaid

    def _engine(self) -> str:
        """The engine for these sizes and this type."""
        macros = {**macros_of(self.steps.sizes), "WIDE": self.width}
        text = source_of(__package__, macros, "stage_qp.c", "gauss_newton.c")
        text = re.sub(r"^int64_t stage_qp_layout.*\n", "", text, flags=re.M)
        text = re.sub(r"^(int|int64_t|void) (stage_qp|gauss_newton_\w+)\(", r"static \1 \2(", text, flags=re.M)
        calls = f"""typedef {_INTEGER} (*Function)({_INTEGER} first, {_INTEGER} count);
static {_INTEGER} evaluate(const Function* f, {_INTEGER} first, {_INTEGER} count) {{ return (*f)(first, count); }}

"""
        engine = text.index("/* One Gauss-Newton")
        text = (text[:engine] + calls + text[engine:]).replace("int64_t", _INTEGER)
        return engine_in(self.dtype, text)

    def _array(self, key: str, values: Numbers) -> str:
        """An array with the numbers with which it begins."""
        integers, exported = values.dtype == np.int64, key in self.exported
        shape = "".join(f"[{n}]" for n in values.shape) if exported else f"[{max(1, values.size)}]"
        kind = _INTEGER if integers else REALS[self.dtype]
        alignment = max(64, self.width * np.dtype(self.dtype).itemsize)
        aligned = f" __attribute__((aligned({alignment})))" if self.width > 1 and not exported and not integers else ""
        constant = "const " if key == "order" or key.startswith("places_") else ""
        declared = f"{'' if exported else 'static '}{constant}{kind} {self._name_of(key)}{shape}{aligned}"
        if not (exported or key in _BEGUN or constant) or not (np.any(values) or constant):
            return f"{declared};"
        texts = [str(x) if integers else literal(float(x), self.dtype) for x in values.ravel()] or ["0"]
        if exported and values.ndim > 1:
            return f"{declared} = {_braced(values.shape, texts)};"
        rows = [", ".join(texts[k : k + _PER_LINE]) for k in range(0, len(texts), _PER_LINE)]
        return f"{declared} = {{\n  " + ",\n  ".join(rows) + "};"

    def _functions(self) -> tuple[list[str], int]:
        """C code of the Functions and sparse matrices, and the number of operations."""
        text, count = [], 0
        for kind, functions in self.steps.functions.items():
            names = []
            for k, function in enumerate(functions):
                names.append("0" if function is None else f"{self.name}_{kind}_{k}")
                if function is not None:
                    code, operations = self._function(names[-1], function)
                    text.append(code)
                    count += operations
            text.append(f"static const Function of_{kind}[{len(names)}] = {{{', '.join(names)}}};")
        for key, patterns in self.steps.patterns.items():
            entries = []
            for k, pattern in enumerate(patterns):
                places = np.column_stack(pattern.get_triplet()).astype(np.int64)
                text.append(self._array(f"places_{key}_{k}", places.ravel()))
                entries.append(f"{{{len(places)}, own_places_{key}_{k}, {self._names[key]}}}")
            text.append(f"static const Sparse of_{key}[{len(entries)}] = {{{', '.join(entries)}}};")
        return text, count

    def _function(self, name: str, compiled: CompiledFunction) -> tuple[str, int]:
        """C code of a Function of one stage, and of many, and the number of its operations."""
        graph = self._at_these_widths(name, compiled.function)
        code = scalar_code(f"{name}_at", graph, self.dtype)
        places = ", ".join(self._place(key, compiled) for key in code.arguments)
        return (
            f"""
{code.text}

static {_INTEGER} {name}({_INTEGER} first, {_INTEGER} count) {{
  for ({_INTEGER} k = first; k < first + count; ++k) {name}_at({places});
  return 0;
}}
""",
            code.operations,
        )

    def _place(self, key: str, compiled: CompiledFunction) -> str:
        """The address of an array at stage k."""
        shape = {**compiled.inputs, **compiled.outputs}[key]
        array = key.removesuffix("_next") if key not in self._names else key
        many, row = self.steps.arrays[key].ndim > 1, "k" if key == array else "k + 1"
        if array in self.exported:
            return f"{self._names[array]}[{row}]" if many else self._names[array]
        step = math.prod(self._widths.shape(key, shape))
        return f"{self._names[array]} + {step} * ({row})" if many else self._names[array]

    def _at_these_widths(self, name: str, function: ca.Function) -> ca.Function:
        """The Function, with rows as wide as here."""
        inputs, values = [], []
        for i, key in enumerate(function.name_in()):
            rows, columns = function.size_in(i)
            x = ca.SX.sym(key, *(self._widths.shape(key, (rows,)) if key in _WIDE else (rows, columns)))
            inputs.append(x)
            values.append(self._filled(key, x, rows) if key in _WIDE else x)
        outputs = []
        for key, y in zip(function.name_out(), function.call(values), strict=True):
            outputs.append(self._filled_here(key, y) if key in (*_WIDE, *_LIMITS) else y)
        return ca.Function(name, inputs, outputs, function.name_in(), function.name_out())

    def _filled(self, key: str, x: ca.SX, size: int) -> ca.SX:
        """A row as wide as elsewhere."""
        places = self._widths.moved(key, range(size), self._former)
        return ca.vertcat(*(x[k] if k >= 0 else ca.SX(0) for k in places))

    def _filled_here(self, key: str, y: ca.SX) -> ca.SX:
        """A column, or the rows of a matrix, as wide as here."""
        is_column = y.shape[1] == 1
        columns = y.T if is_column else y
        places = self._widths.moved(key, range(columns.shape[1]), self._former)
        filling = {"lower": -ca.inf, "upper": ca.inf}.get(key, 0.0)
        width = self._widths.limits if key in _LIMITS else self._widths.wide
        row = [ca.SX(ca.DM([filling] * columns.shape[0]))] * width
        for k, place in enumerate(places):
            if place >= 0:
                row[place] = columns[:, k]
        filled = ca.horzcat(*row)
        return filled.T if is_column else filled

    def _tick(self, arrays: Mapping[str, Numbers]) -> str:
        """The function that a caller calls, and what it has."""
        names, n, steps, real = self._names, self.steps.sizes.intervals, self.steps, REALS[self.dtype]
        program = [f".{key} = (const Row*) {names[key]}" for key in ("A", "H", "g", "G")]
        program += [f".{key} = {names[key]}" for key in ("b", "lower", "upper", "w1", "w2", "free")]
        program.append(f".x_0 = {names['qp_x_0']}")
        first = {key: f"&{names[key]}{'[0]' * arrays[key].ndim}" for key in self.exported if key in names}
        fields = [f".{key} = {first.get(key, names[key])}" for key in (*ARRAYS, "w1", "w2", "order", "set", "lands")]
        fields += [f".{key} = of_{key}" for key in (*steps.functions, *steps.patterns) if key != _APART]
        fields += [f".n = {n}", f".x_0 = {names['qp_x_0']}", ".program = &program", ".memory = memory"]
        fields += [
            f".{key} = {literal(getattr(steps.tick, key), self.dtype)}"
            for key in ("penalty", "first_gap", "weight", "raised")
        ]
        unmet, largest = literal(self.unmet, self.dtype), literal(LARGEST, self.dtype)
        results, schedule, check, far = ("step", "gap", "infeasibility"), "", "", ""
        if self.impacts:
            schedule, check = _schedule(names["set"], names["lands"], n, self.impacts)
        if self.near:
            check += f"""
  {names[_APART]}[0] = 0;
  if (of_{_APART}[{names["set"]}[0]]) (void) of_{_APART}[{names["set"]}[0]](0, 1);"""
            far = f"  if (!outcome && self.infeasibility <= {unmet} && {names[_APART]}[0] > 1) return 3;\n"
        pairs = ((self._row(key, n + 1), self._row(key, n), self._bytes(key)) for key in self._ended)
        copies = "".join(f"\n  (void) memcpy({', '.join(pair)});" for pair in pairs)
        declared = "\n".join(f"{real} {self.name}_{key};" for key in results)
        told = "\n  ".join(f"{self.name}_{key} = self.{key};" for key in results)
        return f"""
static Stage memory[{n + 1}];
static const Program program = {{
  {", ".join(program)}}};
static Tick self = {{
  {", ".join(fields)}}};
{declared}
{schedule}
int {self.name}(int shift) {{
  if (shift < 0 || shift > {self.most}) return -1;{check}{copies}
  int outcome = (int) gauss_newton_tick(&self, {names["delta"]}, shift, {self.iterations}, {largest});
  {told}
{far}  return !outcome && self.infeasibility > {unmet} ? 4 : outcome;
}}
"""

    def _row(self, key: str, row: int) -> str:
        size = math.prod(self.steps.arrays[key].shape[1:])
        return f"{self._names[key]}[{row}]" if key in self.exported else f"{self._names[key]} + {row * size}"

    def _bytes(self, key: str) -> str:
        return f"{math.prod(self.steps.arrays[key].shape[1:])} * sizeof({REALS[self.dtype]})"

    def _described(self, arrays: Mapping[str, Numbers], operations: int) -> Described:
        sizes, size = self.steps.sizes, np.dtype(self.dtype).itemsize
        places = sum(2 * pattern.nnz() for patterns in self.steps.patterns.values() for pattern in patterns)
        constants = 4 * (places + len(self.steps.order))
        numbers = sum(x.size * (4 if x.dtype == np.int64 else size) for key, x in arrays.items() if key != "order")
        variables = numbers + (sizes.intervals + 1) * self._alignmentof_stage(size)
        shapes = {key: arrays[key].shape for key in self.exported}
        return Described(
            self.name,
            self.exported,
            shapes,
            REALS[self.dtype],
            self.about,
            self.remarks,
            self.most,
            self.unmet,
            self.width,
            self.near,
            variables,
            constants,
            operations,
        )

    def _alignmentof_stage(self, size: int) -> int:
        """The size of a Stage of c/stage_qp.c."""
        sizes, vector = self.steps.sizes, self.width * size
        inputs, wide, limits = max(1, sizes.nu), self._widths.wide, self._widths.limits
        count = wide * (inputs + 2) + limits * _BLOCKS
        integers, others = 4 * (sizes.rows + 3), 2 * (inputs + sizes.nx)
        start = _up(_up(count * size + integers, size) + others * size, vector)
        end = start + 2 * _SIDE * limits * size + (2 * sizes.nx**2 * size if sizes.free else 0)
        return _up(end, vector)


def _up(count: int, of: int) -> int:
    """The next multiple of a number."""
    return -(-count // of) * of


def _braced(shape: Sequence[int], texts: Sequence[str]) -> str:
    if len(shape) == 1:
        return f"{{{', '.join(texts)}}}"
    size = len(texts) // shape[0]
    parts = (_braced(shape[1:], texts[k * size : (k + 1) * size]) for k in range(shape[0]))
    return "{\n  " + ",\n  ".join(parts) + "}"


def arrays_read(steps: GaussNewton) -> set[str]:
    """The arrays of which Functions read numbers, rather than have them as an input."""
    reading = set()
    for functions in steps.functions.values():
        for function in functions:
            if function is not None:
                graph, names = function.function, list(function.inputs)
                reads = (k for k in range(graph.n_instructions()) if graph.instruction_id(k) == ca.OP_INPUT)
                reading |= {names[graph.instruction_input(k)[0]] for k in reads}
    return reading | {name.removesuffix("_next") for name in reading}


def _schedule(stage: str, lands: str, n: int, impacts: Sequence[Sequence[bool]]) -> tuple[str, str]:
    """A table of impacts, and code that returns −2 where there is no such set, and finds the jumps."""
    sets, rows = len(impacts), [", ".join(str(int(hits)) for hits in row) for row in impacts]
    return (
        f"\nstatic const {_INTEGER} impacts[{sets}][{sets}] = {{{{{'}, {'.join(rows)}}}}};\n",
        f"""
  for (int k = 0; k <= {n}; ++k)
    if ({stage}[k] < 0 || {stage}[k] >= {sets}) return -2;
  if ({stage}[{n}] != {stage}[{n - 1}]) return -2;
  for (int k = 0; k < {n}; ++k) {lands}[k] = impacts[{stage}[k]][{stage}[k + 1]] ? {stage}[k + 1] : -1;""",
    )
