"""The C code of batches, read as Python: the parts, what they leave to each other, and what cannot be written."""

from __future__ import annotations

import re

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from gdalembert.compilation.machine_code import AT_ONCE, angles_apart, row_major, vector_code
from tests.helpers.models import relative_error

DYN = gd.NewtonEuler(gd.load_urdf("puma560"))


def run(code: str, inputs: list[np.ndarray]) -> tuple[np.ndarray, int]:
    """Execute the C code as Python on vectors of states; returns the outputs and the number of parts."""
    x_size, y_size, shared_size = map(int, re.findall(r"(?:X|Y|SHARED) = (\d+)", code))
    x, y = np.hstack(inputs).T, np.full((y_size, len(inputs[0])), np.nan)
    assert len(x) == x_size
    functions = {"sqrt": np.sqrt, "if_else_zero": lambda c, a: (c != 0) * a, "lt": np.less}
    known = {"ALL": float, "NAN": np.nan, "INFINITY": np.inf, **{f"v_{name}": f for name, f in functions.items()}}
    vectors = {"x": x, "y": y, "shared": np.full((shared_size, len(inputs[0])), np.nan)}
    parts = re.findall(r"void (part_\d+)\([^)]*\) \{\n(.*?)\n\}", code, re.DOTALL)
    assert re.findall(r"  (part_\d+)\(x, y, shared, large\);", code) == [name for name, _ in parts]
    for _, body in parts:
        text = re.sub(r"V s\d+, c\d+; SINCOS\((.*), &(s\d+), &(c\d+), large\);", r"\2, \3 = sin(\1), cos(\1)", body)
        text = re.sub(r"^ *(const V )?(.*?);?$", r"\2", text, flags=re.MULTILINE)
        exec(text, known | vectors | {"sin": np.sin, "cos": np.cos})
    (source,) = re.findall(r"source\[\] = \{(.*)\};", code)
    return y[[int(k) for k in source.split(", ")]], len(parts)


@pytest.mark.parametrize("length", [100_000, 100, 7, 1])
def test_parts_of_any_length_compute_the_function(length: int) -> None:
    graph = row_major(DYN.forward_dynamics)
    code = vector_code(graph, length)
    assert code is not None
    states = [np.random.default_rng(k).normal(size=(5, 6)) for k in range(3)]
    y, found = run(code, states)
    assert (found == 1) == (length == 100_000)
    assert relative_error(y, graph.map(5)(*(x.T for x in states)).full()) < 1e-14


def test_places_of_values_that_later_parts_need_are_used_again() -> None:
    x = ca.SX.sym("x")
    value = x
    for _ in range(200):
        value = 2 * value + 1
    graph = ca.Function("chain", [x], [value])
    code = vector_code(graph, 10)
    assert code is not None
    assert "SHARED = 2 " in code
    assert np.array_equal(run(code, [np.array([[-1.0], [-0.5]])])[0][0], [-1, graph(-0.5).full()[0, 0]])


def test_inputs_and_constants_that_are_outputs_are_stored() -> None:
    x = ca.SX.sym("x", 2)
    constants = ca.SX([0.5, -np.inf, np.inf, 0, -1e-300])
    graph = ca.Function("constants", [x], [ca.vertcat(constants, x[1], x[1]), x])
    code = vector_code(graph)
    assert code is not None
    y, _ = run(code, [np.array([[3.0, 4.0]])])
    assert y[:, 0].tolist() == [0.5, -np.inf, np.inf, 0, -1e-300, 4, 4, 3, 4]
    nothing = vector_code(ca.Function("nothing", [x], [ca.SX.nan(1), ca.SX(0, 1)]))
    assert nothing is not None
    assert np.isnan(run(nothing, [np.zeros((1, 2))])[0][0, 0])


def test_what_is_written_twice_is_kept_once() -> None:
    code = vector_code(row_major(DYN.mass_matrix))
    assert code is not None
    source = np.array(re.findall(r"source\[\] = \{(.*)\};", code)[0].split(", "), dtype=int).reshape(6, 6)
    assert np.array_equal(source, source.T)
    assert f"Y = {len(np.unique(source))}," in code


def test_sine_and_cosine_of_an_angle_are_computed_once() -> None:
    x = ca.SX.sym("x", 2)
    code = vector_code(ca.Function("f", [x], [ca.sin(x) * ca.cos(x), ca.cos(x[0] + x[1])]))
    assert code is not None
    assert code.count("SINCOS(") == 3


def test_what_is_no_number_for_each_state_is_not_written() -> None:
    x, y = ca.SX.sym("x"), ca.MX.sym("y")
    inner = ca.Function("inner", [x], [x], {"never_inline": True})
    for graph in (
        ca.Function("of_mx", [y], [y]),
        ca.Function("calls", [x], [inner(x)]),
        ca.Function("prints", [x], [x.printme(1)]),
        ca.Function("erfinv", [x], [ca.erfinv(x)]),
    ):
        assert vector_code(graph) is None


# All sines and cosines of a state at once


def test_angles_apart_are_the_function() -> None:
    graph = row_major(DYN.mass_matrix)
    split = angles_apart(graph)
    assert split is not None
    angles, rest = split
    q = np.random.default_rng(3).normal(size=6)
    x = angles(q)
    assert angles.numel_out(0) <= 6
    assert relative_error(rest(q, ca.sin(x), ca.cos(x)).full(), graph(q).full()) < 1e-15
    assert not {ca.OP_SIN, ca.OP_COS} & {rest.instruction_id(k) for k in range(rest.n_instructions())}


def test_an_angle_of_two_instructions_is_taken_once() -> None:
    x = ca.SX.sym("x", 2)
    split = angles_apart(
        ca.Function("f", [x], [ca.sin(x[0]) * ca.cos(x[0]) + ca.cos(x[0] + x[1]), ca.SX(2, 1), ca.SX(0, 1)])
    )
    assert split is not None
    assert split[0].numel_out(0) == 2
    assert [split[1].nnz_out(i) for i in range(3)] == [1, 2, 0]  # zeros are written, too


def test_graphs_whose_angles_stay_where_they_are() -> None:
    """No angle, an angle of sines, as many instructions as there may be, and none of SX."""
    x, y = ca.SX.sym("x"), ca.MX.sym("y")
    long = x
    for _ in range(AT_ONCE // 2):
        long = 0.5 * long + 1
    for output in (x**2, ca.sin(ca.cos(x)), ca.sin(long)):
        assert angles_apart(ca.Function("f", [x], [output])) is None
    assert angles_apart(ca.Function("f", [y], [ca.sin(y)])) is None
