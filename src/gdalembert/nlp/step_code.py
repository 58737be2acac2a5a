"""A Gauss–Newton step as one C file, which needs no library: for controllers without Python."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.compilation.machine_code import row_major, source_of
from gdalembert.nlp.gauss_newton import ARRAYS, LARGEST, GaussNewton, macros_of

Numbers = npt.NDArray[np.float64] | npt.NDArray[np.int64]
_PER_LINE = 6


def function_code(name: str, function: ca.Function) -> tuple[str, str]:
    """C code of a Function (its own, and that of many stages), of matrices row by row; ``static`` but for CasADi's."""
    graph = row_major(function)
    inputs = graph.sx_in()
    named = ca.Function(f"{name}_of_one", inputs, graph.call(inputs))
    generator = ca.CodeGenerator(name)
    generator.add(named)
    n_in, n_out = named.n_in(), named.n_out()
    return (
        generator.dump(),
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


def _names(
    steps: GaussNewton, arrays: dict[str, Numbers], name: str, exported: Mapping[str, str]
) -> tuple[dict[str, str], str]:
    """The names of arrays in C, and code that fills their additional last row, of those whose next rows are read."""
    names, n = {key: f"{name}_{exported.get(key, key)}" for key in arrays}, steps.sizes.intervals
    ended = [key for key in arrays if key != "x" and f"{key}_next" in steps.arrays]
    for key in ended:
        arrays[key] = np.vstack([steps.arrays[key], steps.arrays[key][-1:]])
    copies = (f"\n  memcpy({names[key]}[{n + 1}], {names[key]}[{n}], sizeof {names[key]}[0]);" for key in ended)
    return names | {f"{key}_next": f"{own}[1]" for key, own in names.items()}, "".join(copies)


def step_code(steps: GaussNewton, name: str, exported: Mapping[str, str], about: str, iterations: int) -> str:
    """C99 of ``int name(int shift)``: shift the plan, and take a step from the state in ``name_x_0`` on.

    Args:
        steps: of which it is; the plan begins as theirs.
        name: a C identifier, with which all names begin.
        exported: arrays that a caller reads and writes, by their names in C without that beginning.
        about: a comment on them.
        iterations: of the interior point.
    """
    qp, n = steps.qp.memory, steps.sizes.intervals
    arrays: dict[str, Numbers] = {key: array for key, array in steps.arrays.items() if not key.endswith("_next")}
    arrays |= {"qp_x_0": qp["x_0"], "w1": qp["w1"], "w2": qp["w2"], "set": steps.set, "lands": steps.lands}
    arrays["order"] = steps.order
    names, repeated = _names(steps, arrays, name, exported)
    text, fill = [f"/* {about} */", engine_code(steps.qp.vector, macros_of(steps.sizes))], []
    for key, array in arrays.items():
        begins = key in exported or key in ("weights", "t", "w1", "w2", "order")
        text.append(array_code(names[key], array if begins else np.zeros_like(array), exported=key in exported))
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
    fill += [f"self.{key} = (double*) {names[key]};" for key in (*ARRAYS, "w1", "w2")]
    fill += [f"self.{key} = {names[key]};" for key in ("order", "set", "lands")]
    fill += [f"program.{key} = (const Row*) {names[key]};" for key in ("A", "H", "g", "G")]
    fill += [f"program.{key} = (double*) {names[key]};" for key in ("b", "lower", "upper", "w1", "w2")]
    fill += [f"self.x_0 = {names['qp_x_0']};", f"program.x_0 = {names['qp_x_0']};"]
    fill += [f"self.{key} = {getattr(steps.tick, key)!r};" for key in ("penalty", "first_gap", "weight")]
    filled = "\n    ".join([*fill, "self.program = &program;", "self.memory = memory;", f"self.n = {n};"])
    text.append(f"""static Stage memory[{n + 1}];
static Program program;
static Tick self;

int {name}(int shift) {{
  if (!self.n) {{
    {filled}
  }}
  if (shift < 0 || shift > {n}) return 4;{repeated}
  return (int) gauss_newton_tick(&self, {names["delta"]}, shift, {iterations}, {LARGEST!r});
}}
""")
    return "\n".join(text)
