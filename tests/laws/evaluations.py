"""Ways to evaluate a robot, and the law that its Functions have the same values in all of them."""

from __future__ import annotations

import copy
import pickle
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import casadi as ca
import numpy as np

import gdalembert as gd
from gdalembert.dynamics.equations_of_motion import FUNCTIONS
from gdalembert.export import derive
from tests.helpers.exports import as_matrices, call_c, compiled, executed
from tests.laws.cases import COMPILED
from tests.laws.laws import EXACT, Compared, law
from tests.laws.robots import Robot, Vector


@law
def evaluation(robot: Robot) -> Iterator[Compared]:
    """Evaluated in another way, Functions have the values of their graphs."""
    way = robot.case.evaluation
    if not way:
        return
    names = ["inverse_dynamics", "mass_matrix", "nle", "kinetic_energy", "inverse_dynamics_derivatives"]
    names += ["forward_dynamics", "state_derivative"] if robot.is_regular else []
    if way in COMPILED:
        names = list(np.random.default_rng([robot.case.state, 7]).permutation(names)[:2])
    assert set(names) <= set(FUNCTIONS)
    for name, values in EVALUATIONS[way](robot, names):
        graph = getattr(robot.dyn, name)
        for s, found in zip(robot.states, values, strict=True):
            wanted = graph.call(robot.given(s, graph.name_in(), tau=s.lam))
            exactly = way in ("map", "pickle", "copy", "interpreter")
            for value, x in zip(found, wanted, strict=True):
                scale = max(1.0, np.abs(x.full()).max())
                full = np.asarray(value, dtype=float).reshape(x.shape)
                yield name, full / scale, x.full() / scale, 0.0 if exactly else EXACT


Values = Iterator[tuple[str, list[list[Vector]]]]
"""The outputs of a Function, by name, at each state."""


def _inputs(robot: Robot, graph: ca.Function) -> list[list[Vector]]:
    return [[np.asarray(x, dtype=float) for x in robot.given(s, graph.name_in(), tau=s.lam)] for s in robot.states]


def _compiled(robot: Robot, names: list[str], *, interpreter: bool, batch: bool) -> Values:
    for name in names:
        function = gd.compile(getattr(robot.dyn, name), **({"interpreter": True} if interpreter else {}))
        shapes = function.inputs.values()
        inputs = [[x.reshape(n) for x, n in zip(one, shapes, strict=True)] for one in _inputs(robot, function.function)]
        if batch:
            whole = function.batch(*(np.array(column) for column in zip(*inputs, strict=True)))
            parts = whole if isinstance(whole, tuple) else (whole,)
            yield name, [[part[k] for part in parts] for k in range(len(inputs))]
        else:
            each = [function(*one) for one in inputs]
            yield name, [list(x) if isinstance(x, tuple) else [x] for x in each]


def _mapped(robot: Robot, names: list[str]) -> Values:
    for name in names:
        graph = getattr(robot.dyn, name)
        inputs = _inputs(robot, graph)
        columns = [np.hstack([np.atleast_2d(x.T).T for x in column]) for column in zip(*inputs, strict=True)]
        outputs = [x.full() for x in graph.map(len(inputs)).call(columns)]
        yield name, [[np.hsplit(x, len(inputs))[k] for x in outputs] for k in range(len(inputs))]


def _in_mx(robot: Robot, names: list[str]) -> Values:
    for name in names:
        graph = getattr(robot.dyn, name)
        symbols = [ca.MX.sym(each, *graph.size_in(each)) for each in graph.name_in()]
        again = ca.Function("again", symbols, graph.call([2 * x for x in symbols]))
        yield name, [[x.full() for x in again.call([x / 2 for x in one])] for one in _inputs(robot, graph)]


def _copied(robot: Robot, names: list[str], how: Callable[[gd.Dynamics], gd.Dynamics]) -> Values:
    twin = how(robot.dyn)
    for name in names:
        graph = getattr(twin, name)
        yield name, [[x.full() for x in graph.call(one)] for one in _inputs(robot, graph)]


def _python(robot: Robot, names: list[str]) -> Values:
    namespace = executed(*derive(robot.dyn, "python", terms=names).values())
    for name in names:
        graph = getattr(robot.dyn, name)
        given = [[x.ravel(order="F").tolist() for x in one] for one in _inputs(robot, graph)]
        yield name, [as_matrices(namespace[name](*one), graph) for one in given]


def _c(robot: Robot, names: list[str]) -> Values:
    folder = Path(tempfile.mkdtemp())
    try:
        files = derive(robot.dyn, "c", terms=names)
        library, stem = compiled(files, folder), Path(next(iter(files))).stem
        for name in names:
            graph = getattr(robot.dyn, name)
            given = [[np.asfortranarray(x) for x in one] for one in _inputs(robot, graph)]
            yield name, [call_c(library, f"{stem}_{name}", graph, one) for one in given]
    finally:
        shutil.rmtree(folder)


EVALUATIONS: dict[str, Callable[[Robot, list[str]], Values]] = {
    "interpreter": lambda robot, names: _compiled(robot, names, interpreter=True, batch=False),
    "batch": lambda robot, names: _compiled(robot, names, interpreter=True, batch=True),
    "machine code": lambda robot, names: _compiled(robot, names, interpreter=False, batch=False),
    "batch of machine code": lambda robot, names: _compiled(robot, names, interpreter=False, batch=True),
    "map": _mapped,
    "MX": _in_mx,
    "pickle": lambda robot, names: _copied(robot, names, lambda dyn: pickle.loads(pickle.dumps(dyn))),
    "copy": lambda robot, names: _copied(robot, names, copy.deepcopy),
    "python": _python,
    "C": _c,
}
