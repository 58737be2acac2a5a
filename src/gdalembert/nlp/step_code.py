"""A Gauss–Newton step as one C file, which needs no library: for controllers without Python."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Mapping, Sequence

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.compilation.compiled_function import CompiledFunction
from gdalembert.compilation.machine_code import row_major, source_of
from gdalembert.nlp.gauss_newton import ARRAYS, LARGEST, GaussNewton, macros_of
from gdalembert.spatial.source_text import c_comment

Numbers = npt.NDArray[np.float64] | npt.NDArray[np.int64]
_PER_LINE = 6
_GIVEN = ("weights", "off", "t", "combined", "free", "w1", "w2", "order", "set", "lands")
"""The arrays that begin with the numbers that they have, beside those that are exported."""


def function_code(name: str, function: ca.Function) -> tuple[str, str]:
    """C code of a Function (its own, and that of many stages), of matrices row by row; ``static`` but for CasADi's."""
    graph = row_major(function)
    inputs = graph.sx_in()
    named = ca.Function(f"{name}_of_one", inputs, graph.call(inputs))
    generator = ca.CodeGenerator(name)
    generator.add(named)
    n_in, n_out = named.n_in(), named.n_out()
    return (
        f"#undef CASADI_PREFIX\n{generator.dump()}",
        f"""
static int64_t {name}(const int64_t* task) {{
  static double w[{max(1, named.sz_w())}];
  static casadi_int iw[{max(1, named.sz_iw())}];
  const double* arg[{max(1, named.sz_arg())}];
  double* res[{max(1, named.sz_res())}];
  for (int64_t k = 0; k < task[0]; ++k) {{
    for (int i = 0; i < {n_in}; ++i) arg[i] = (const double*) (intptr_t) task[3 * i + 1] + k * task[3 * i + 2];
    for (int i = 0; i < {n_out}; ++i) {{
      const int64_t* place = task + 3 * ({n_in} + i) + 1;
      res[i] = (double*) (intptr_t) place[0] + k * place[1];
    }}
    if ({name}_of_one(arg, res, iw, w, 0)) return k + 1;
  }}
  return 0;
}}
""",
    )


def array_code(name: str, values: Numbers, *, exported: bool) -> str:
    """An array with its numbers, aligned for vectors."""
    integers = values.dtype == np.int64
    shape = "".join(f"[{n}]" for n in values.shape) if values.size else "[1]"
    kind = f"{'' if exported else 'static '}{'int64_t' if integers else 'double'}"
    head = f"{kind} {name}{shape} __attribute__((aligned(64)))"
    if not np.any(values):
        return f"{head};\n"
    texts = [str(x) if integers else _number(float(x)) for x in values.ravel()]
    rows = [", ".join(texts[k : k + _PER_LINE]) for k in range(0, len(texts), _PER_LINE)]
    flat = ",\n  ".join(rows)
    return f"{head} = {_braced(values.shape, texts)};\n" if values.ndim > 1 else f"{head} = {{\n  {flat}}};\n"


def _braced(shape: Sequence[int], texts: Sequence[str]) -> str:
    if len(shape) == 1:
        return f"{{{', '.join(texts)}}}"
    size = len(texts) // shape[0]
    parts = (_braced(shape[1:], texts[k * size : (k + 1) * size]) for k in range(shape[0]))
    return "{\n  " + ",\n  ".join(parts) + "}"


def _number(x: float) -> str:
    if np.isinf(x):
        return "-INFINITY" if x < 0 else "INFINITY"
    return repr(x)


def engine_code(wide: int, sizes: Mapping[str, int]) -> str:
    """The engine for these sizes, with vectors of ``wide`` numbers."""
    text = source_of(__package__, {**sizes, "WIDE": wide}, "stage_qp.c", "gauss_newton.c")
    hidden = re.sub(
        r"^(int|int64_t|void) (stage_qp|stage_qp_layout|gauss_newton_\w+)\(", r"static \1 \2(", text, flags=re.M
    )
    return hidden[: hidden.index("static int64_t stage_qp_layout")] + hidden[hidden.index("/* One Gauss-Newton") :]


def arrays_read(steps: GaussNewton) -> set[str]:
    """The arrays of which Functions read numbers, rather than have them as an input."""
    reading = set()
    for function in _functions_of(steps):
        graph, names = function.function, list(function.inputs)
        reads = (k for k in range(graph.n_instructions()) if graph.instruction_id(k) == ca.OP_INPUT)
        reading |= {names[graph.instruction_input(k)[0]] for k in reads}
    return reading | {name.removesuffix("_next") for name in reading}


def _functions_of(steps: GaussNewton) -> list[CompiledFunction]:
    return [function for functions in steps.functions.values() for function in functions if function]


def _used(steps: GaussNewton) -> set[str]:
    """The arrays that the engine and its Functions read or write."""
    written = {name for function in _functions_of(steps) for name in function.outputs}
    return arrays_read(steps) | written | {*ARRAYS, *steps.patterns, "x_0", "delta"}


def _names(
    steps: GaussNewton, arrays: dict[str, Numbers], name: str, exported: Mapping[str, str]
) -> tuple[dict[str, str], str]:
    """The names of arrays in C, and code that fills their additional last row, of those whose next rows are read."""
    names = {key: f"{name}_{exported[key]}" if key in exported else f"own_{key}" for key in arrays}
    n = steps.sizes.intervals
    ended = [key for key in arrays if key != "x" and f"{key}_next" in steps.arrays]
    for key in ended:
        arrays[key] = np.vstack([steps.arrays[key], steps.arrays[key][-1:]])
    copies = (f"\n  memcpy({names[key]}[{n + 1}], {names[key]}[{n}], sizeof {names[key]}[0]);" for key in ended)
    return names | {f"{key}_next": f"{of_c}[1]" for key, of_c in names.items()}, "".join(copies)


def _functions_code(steps: GaussNewton, name: str, names: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """C code of the Functions and sparse matrices, and what fills their tables of arrays."""
    text, fill = [], []
    for kind, functions in steps.functions.items():
        text.append(f"static Function of_{kind}[{len(functions)}];")
        for k, function in enumerate(functions):
            if function is None:
                continue
            ports = {**function.inputs, **function.outputs}
            text += [*function_code(f"{name}_{kind}_{k}", function.function)]
            text.append(f"static int64_t ports_{kind}_{k}[{2 * len(ports)}];")
            for i, (port, shape) in enumerate(ports.items()):
                step = math.prod(shape) if steps.arrays[port].ndim > 1 else 0
                if port not in names:
                    continue  # an input that is not read, whose address stays 0
                fill.append(f"ports_{kind}_{k}[{2 * i}] = (int64_t) (intptr_t) {names[port]};")
                fill.append(f"ports_{kind}_{k}[{2 * i + 1}] = {step};")
            fill.append(f"of_{kind}[{k}] = (Function) {{{name}_{kind}_{k}, {len(ports)}, ports_{kind}_{k}}};")
        fill.append(f"self.{kind} = of_{kind};")
    for key, patterns in steps.patterns.items():
        text.append(f"static Sparse of_{key}[{len(patterns)}];")
        for k, pattern in enumerate(patterns):
            places = np.column_stack(pattern.get_triplet()).astype(np.int64)
            text.append(array_code(f"places_{key}_{k}", places.ravel(), exported=False))
            fill.append(f"of_{key}[{k}] = (Sparse) {{{len(places)}, places_{key}_{k}, (double*) {names[key]}}};")
        fill.append(f"self.{key} = of_{key};")
    return text, fill


def _engine_fill(steps: GaussNewton, names: Mapping[str, str]) -> list[str]:
    """C code that gives the engine its arrays and numbers."""
    fill = [f"self.{key} = (double*) {names[key]};" for key in (*ARRAYS, "w1", "w2")]
    fill += [f"self.{key} = {names[key]};" for key in ("order", "set", "lands")]
    fill += [f"program.{key} = (const Row*) {names[key]};" for key in ("A", "H", "g", "G")]
    fill += [f"program.{key} = (double*) {names[key]};" for key in ("b", "lower", "upper", "w1", "w2", "free")]
    fill += [f"self.x_0 = {names['qp_x_0']};", f"program.x_0 = {names['qp_x_0']};"]
    fill += [f"self.{key} = {getattr(steps.tick, key)!r};" for key in ("penalty", "first_gap", "weight", "raised")]
    return fill


def _check_of_schedule(names: Mapping[str, str], n: int, sets: int) -> str:
    """C code that returns −2 where there is no such set, or no jump to it."""
    stage, lands = names["set"], names["lands"]
    return f"""
  for (int k = 0; k <= {n}; ++k)
    if ({stage}[k] < 0 || {stage}[k] >= {sets}) return -2;
  for (int k = 0; k < {n}; ++k)
    if ({lands}[k] != -1 && ({lands}[k] != {stage}[k + 1] || !of_jump[{lands}[k]].of)) return -2;"""


def _head(
    steps: GaussNewton, name: str, exported: Mapping[str, str], about: str, remarks: str, most: int, unmet: float
) -> str:
    """The comment at the head of a file, for its callers."""
    shapes = {exported[key]: array.shape for key, array in steps.arrays.items() if key in exported}
    listed = "; ".join(f"{name}_{key} ({' x '.join(map(str, shape))})" for key, shape in shapes.items())
    refused = f"-1  if shift is not from 0 to {most}; then nothing is done"
    if "set" in exported:
        refused += "\n     -2  if the schedule is none, as below; then nothing is done"
    text = f"""{about}.

   int {name}(int shift) cuts off the first intervals of the plan and takes one step. It returns

      0  if the step is taken
      1, 2, 3  if the last plan, shifted, stands for it: the step is not finite, is out of all proportion, or cannot be
               evaluated
      4  if the step is taken, but more than {unmet:.0%} of the violations are left
     {refused}

   Before it, write {name}_x_0, [q; v] as measured (and behind it u before, where rates of u are read), and the
   parameters; behind it, {name}_x and {name}_u are the plan.
   {textwrap.fill(f"Arrays of double: {listed}.", 117, subsequent_indent="   ", break_long_words=False)}
   Of the last step: double {name}_step, its size relative to the plan; {name}_gap and {name}_infeasibility, what the
   interior point left of its gap and of violations (0 to 1)."""
    text += f"\n\n   {remarks}" if remarks else ""
    return "\n".join(c_comment(line.removeprefix("   ") for line in text.splitlines()))


def step_code(
    steps: GaussNewton,
    name: str,
    exported: Mapping[str, str],
    about: str,
    remarks: str,
    most: int,
    iterations: int,
    unmet: float,
) -> str:
    """C99 of ``int name(int shift)``: shift the plan, and take a step from the state in ``name_x_0`` on.

    It returns 0; 1, 2 or 3 if the plan is not moved, as :meth:`GaussNewton.step`; 4 if it is, but more than ``unmet``
    of violations are left; −1 and −2 if it refuses the shift, or an exported schedule. ``name_step``, ``name_gap`` and
    ``name_infeasibility`` are what was found.

    Args:
        steps: of which it is; the plan begins as theirs.
        name: a C identifier, with which all names begin.
        exported: arrays that a caller reads and writes, by their names in C without that beginning.
        about: what it is. ``remarks``: what its sets or its rows are. Names in both are ``comment_text``.
        most: the largest shift.
        iterations: of the interior point. ``unmet``: the part of violations that may be left.
    """
    qp, n = steps.qp.memory, steps.sizes.intervals
    used = _used(steps)
    arrays: dict[str, Numbers] = {
        key: array for key, array in steps.arrays.items() if key in used and not key.endswith("_next")
    }
    arrays |= {"qp_x_0": qp["x_0"]} | {key: qp[key] for key in ("free", "w1", "w2")}
    arrays |= {"set": steps.set, "lands": steps.lands, "order": steps.order}
    names, repeated = _names(steps, arrays, name, exported)
    engine = engine_code(steps.qp.vector, macros_of(steps.sizes))
    text = [_head(steps, name, exported, about, remarks, most, unmet), engine]
    for key, array in arrays.items():
        begins = key in exported or key in _GIVEN
        text.append(array_code(names[key], array if begins else np.zeros_like(array), exported=key in exported))
    functions, fill = _functions_code(steps, name, names)
    text += functions
    fill += _engine_fill(steps, names)
    filled = "\n    ".join([*fill, "self.program = &program;", "self.memory = memory;", f"self.n = {n};"])
    check = _check_of_schedule(names, n, len(steps.functions["stage"])) if "set" in exported else ""
    results = ("step", "gap", "infeasibility")
    text.append(f"""static Stage memory[{n + 1}];
static Program program;
static Tick self;
double {", ".join(f"{name}_{key}" for key in results)};

int {name}(int shift) {{
  if (!self.n) {{
    {filled}
  }}
  if (shift < 0 || shift > {most}) return -1;{check}{repeated}
  int outcome = (int) gauss_newton_tick(&self, {names["delta"]}, shift, {iterations}, {LARGEST!r});
  {", ".join(f"{name}_{key} = self.{key}" for key in results)};
  return !outcome && self.infeasibility > {unmet!r} ? 4 : outcome;
}}
""")
    return "\n".join(text)
