"""Dynamics and gradients of a batch of Panda arms: compiled, exported to JAX, and MuJoCo's MJX, on the CPU.

    python -m benchmarks.learning.gradients             writes benchmarks/results/learning.md
    python -m benchmarks.learning.gradients --states 256 --rounds 3

It needs ``pip install "jax>=0.4.30" "mujoco>=3.3" mujoco-mjx``. MuJoCo reads the same URDF, without its limits and
contacts; all ways are compared before they are measured. Times are those of the clock, since XLA uses all cores: the
machine must be idle.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib import metadata
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

import gdalembert as gd
from benchmarks.common.robots import load, path
from benchmarks.common.tables import RESULTS, markdown
from benchmarks.speed.speed import machine
from gdalembert.export import derive

ROBOT = "panda7"
COMPILED, THREADED, EXPORTED, MJX = "compiled, 1 thread", "compiled, 2 threads", "exported to JAX", "MJX"
TASKS = {
    "inverse_dynamics": ("τ(q, v, a)", ("q", "v", "a"), "tau"),
    "forward_dynamics": ("a(q, v, τ)", ("q", "v", "tau"), "a"),
}
"""Title, inputs and output by Function; the gradients are those of wᵀ output by all inputs."""
CASES = (("inverse_dynamics", False), ("inverse_dynamics", True), ("forward_dynamics", False))
"""Functions, or gradients of them; XLA takes over ten minutes to compile that of MJX's forward dynamics."""
TOLERANCE = {"float64": 1e-9, "float32": 1e-2}
"""Relative to the largest entry: cleaned constants; rounding of float32 through M⁻¹."""

OPTIONS: tuple[dict[str, Any], ...] = ({}, {"xla_cpu_use_fusion_emitters": False})
"""Of XLA, by jax.jit: each way of JAX is measured with those that make it fastest."""

Results = list[np.ndarray]
Ways = dict[str, Callable[[], Any]]


class Row(NamedTuple):
    """By way the medians of seconds and of ratios to the first in the same round, and seconds until the first result.

    ``error`` is the largest difference from the first, relative.
    """

    task: str
    gradient: bool
    dtype: str
    seconds: dict[str, float]
    ratios: dict[str, float]
    first: dict[str, float]
    error: float


def products(function: ca.Function, output: str) -> ca.Function:
    """(inputs, w) → the gradients of wᵀ output by each input: one reverse sweep."""
    given = function.name_in()
    return function.factory("products", [*given, f"adj:{output}"], [f"adj:{name}" for name in given])


def mjx_functions(dtype: str) -> dict[str, Callable[..., Any]]:
    """Of one state: MuJoCo's own entry points, of which XLA drops what no result needs."""
    import jax
    import mujoco
    from mujoco import mjx

    model = mujoco.MjSpec.from_file(str(path(ROBOT))).compile()
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
    there = mjx.put_model(model)
    empty = mjx.make_data(there)
    assert jax.numpy.result_type(empty.qpos) == dtype

    def inverse(q: Any, v: Any, a: Any) -> Any:
        return mjx.inverse(there, empty.replace(qpos=q, qvel=v, qacc=a)).qfrc_inverse

    def forward(q: Any, v: Any, tau: Any) -> Any:
        return mjx.forward(there, empty.replace(qpos=q, qvel=v, qfrc_applied=tau)).qacc

    return {"inverse_dynamics": inverse, "forward_dynamics": forward}


def exported_functions(dynamics: gd.Dynamics) -> dict[str, Callable[..., Any]]:
    """Of one state: the module that ``derive`` writes."""
    (source,) = derive(dynamics, "jax", terms=list(TASKS)).values()
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    return {name: namespace[name] for name in TASKS}


def in_jax(
    function: Callable[..., Any], inputs: Sequence[np.ndarray], *, gradient: bool
) -> tuple[Callable[[], Any], float]:
    """A batch by ``jit`` of ``vmap``, on arrays that JAX holds already, with the options that make it fastest.

    Behind it the seconds of its first call, which compiles.
    """
    import jax

    def product(*state: Any) -> Any:
        *given, w = state
        return jax.vjp(function, *given)[1](w)

    held = [jax.device_put(x) for x in inputs]

    def batch(options: dict[str, Any]) -> Callable[[], Any]:
        jitted = jax.jit(jax.vmap(product if gradient else function), compiler_options=options)
        return lambda: jax.block_until_ready(jitted(*held))

    def seconds(call: Callable[[], Any]) -> float:
        began = time.perf_counter()
        call()
        return time.perf_counter() - began

    found = []
    for call in map(batch, OPTIONS):
        first = seconds(call)
        found.append((min(seconds(call) for _ in range(3)), first, call))
    _, first, fastest = min(found, key=lambda each: each[0])
    return fastest, first


def ways(
    dynamics: gd.Dynamics, name: str, dtype: str, n: int, *, gradient: bool
) -> tuple[Ways, dict[str, float], float]:
    """The ways to evaluate n states, the seconds of each until its first result, and by how much the results differ."""
    import jax

    jax.config.update("jax_enable_x64", dtype == "float64")
    rng = np.random.default_rng(0)
    inputs = [rng.uniform(-1, 1, (n, 7)).astype(dtype) for _ in range(4 if gradient else 3)]
    began = time.perf_counter()
    function = getattr(dynamics, name)
    compiled = gd.compile(products(function, TASKS[name][2]) if gradient else function, dtype=dtype)
    outputs = compiled.batch(*inputs)
    first = {COMPILED: time.perf_counter() - began}
    found: Ways = {
        COMPILED: partial(compiled.batch, *inputs, out=outputs),
        THREADED: partial(compiled.batch, *inputs, out=outputs, threads=2),
    }
    error = 0.0
    for way, functions in ((EXPORTED, exported_functions(dynamics)), (MJX, mjx_functions(dtype))):
        found[way], first[way] = in_jax(functions[name], inputs, gradient=gradient)
        error = max(error, _difference(_arrays(outputs), _arrays(found[way]())))
        if not error <= TOLERANCE[dtype]:
            raise SystemExit(f"{name}: {way} differs from the compiled batch by {error:.1e}, relative")
    return found, first, error


def _arrays(results: Any) -> Results:
    return [np.asarray(x) for x in (results if isinstance(results, tuple) else (results,))]


def _difference(ours: Results, theirs: Results) -> float:
    pairs = zip(ours, theirs, strict=True)
    return max(float(np.abs(own - other).max() / max(1.0, np.abs(own).max())) for own, other in pairs)


def measure(n: int, rounds: int, dtypes: Sequence[str]) -> list[Row]:
    """All tasks, in rounds in which the ways take turns."""
    rows, dynamics = [], gd.NewtonEuler(load(ROBOT))
    for dtype in dtypes:
        for name, gradient in CASES:
            found, first, error = ways(dynamics, name, dtype, n, gradient=gradient)
            taken: dict[str, list[float]] = {way: [] for way in found}
            for _ in range(rounds):
                for way, call in found.items():
                    began = time.perf_counter()
                    call()
                    taken[way].append(time.perf_counter() - began)
            seconds = {way: statistics.median(each) for way, each in taken.items()}
            ratios = {
                way: statistics.median(x / y for x, y in zip(each, taken[COMPILED], strict=True))
                for way, each in taken.items()
            }
            rows.append(Row(name, gradient, dtype, seconds, ratios, first, error))
    return rows


def table(rows: Sequence[Row], n: int) -> list[str]:
    """Nanoseconds for a state, and how many times as long JAX takes as one thread of compiled code."""
    cells = []
    for row in rows:
        nanoseconds = [f"{1e9 * row.seconds[way] / n:,.0f}" for way in (COMPILED, THREADED, EXPORTED, MJX)]
        ratios = [f"{row.ratios[way]:.1f}×" for way in (EXPORTED, MJX)]
        cells.append((_title(row), row.dtype, *nanoseconds, *ratios))
    head = ("", "", *(f"{way} [ns]" for way in (COMPILED, THREADED, EXPORTED, MJX)))
    return markdown((*head, f"{EXPORTED} / compiled", f"{MJX} / compiled"), cells)


def first_table(rows: Sequence[Row]) -> list[str]:
    """Seconds until the first result."""
    cells = [(_title(row), row.dtype, *(f"{row.first[way]:.1f}" for way in (COMPILED, EXPORTED, MJX))) for row in rows]
    return markdown(("", "", *(f"{way} [s]" for way in ("compiled", EXPORTED, MJX))), cells)


def _title(row: Row) -> str:
    return f"gradient of wᵀ {TASKS[row.task][0]}" if row.gradient else TASKS[row.task][0]


PAGE = """\
# Batches and gradients beside JAX

Nanoseconds for a state of a batch of {n:,} Panda arms, on the CPU: `gd.compile(…).batch(…, out=…)` of Newton–Euler
with default options; what `derive(dyn, "jax")` writes, by `jax.jit(jax.vmap(…))`; and `mjx.inverse` and `mjx.forward`
of MuJoCo's MJX, on the model that MuJoCo reads from the same URDF, with constraints and contacts disabled, by the same
`jit` of `vmap`. A gradient is that of wᵀ output by all three inputs, for a w of each state: one reverse sweep of
CasADi's, compiled, and `jax.vjp`. Each way of JAX has XLA's options as they are, or `xla_cpu_use_fusion_emitters` off,
whichever is faster: with it on, as it is by default, MJX's τ takes over a hundred times as long on this machine. Times
are those of the clock, medians of {rounds} rounds that take turns in one process on {cores} cores, of which XLA uses
what it likes; a ratio is the median of the ratios to one thread in a round.
All ways agree to {errors}, relative to the largest entry.

{machine} JAX {jax}, MuJoCo {mujoco}, MJX {mjx}.

{table}

## Until the first result

Seconds to write, compile and run once; those of machine code are nothing where it is in the cache already.

{first}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--states", type=int, default=4096, metavar="N")
    parser.add_argument("--rounds", type=int, default=31, metavar="N")
    parser.add_argument("--dtypes", nargs="+", choices=list(TOLERANCE), default=list(TOLERANCE))
    arguments = parser.parse_args()
    n, rounds, dtypes = arguments.states, arguments.rounds, arguments.dtypes
    rows = measure(n, rounds, dtypes)
    versions = {name.removeprefix("mujoco-"): metadata.version(name) for name in ("jax", "mujoco", "mujoco-mjx")}
    tables = {"table": "\n".join(table(rows, n)), "first": "\n".join(first_table(rows))}
    about = {"n": n, "rounds": rounds, "cores": os.cpu_count(), "machine": machine()}
    worst = {dtype: max(row.error for row in rows if row.dtype == dtype) for dtype in dtypes}
    errors = " and ".join(f"{error:.0e} in {dtype}" for dtype, error in worst.items())
    text = PAGE.format(**about, **versions, **tables, errors=errors)
    print(text)
    if vars(arguments) == vars(parser.parse_args([])):
        (RESULTS / "learning.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
