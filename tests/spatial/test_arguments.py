"""Checks of arguments: what is taken, and what is refused in which words."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.spatial.arguments import (
    MASKED,
    choice,
    evaluate,
    file_path,
    flag,
    integer,
    listed,
    number,
    numbers,
    table,
    vector,
)


def same(found: Any, wanted: Any) -> None:
    np.testing.assert_array_equal(found, wanted)
    assert found.shape == np.shape(wanted)
    assert found.dtype == float
    assert not found.flags.writeable


def test_number() -> None:
    for given in (2, 2.0, np.float32(2), np.int64(2)):
        found = number("x", given)
        assert (found, type(found)) == (2.0, float)
    assert number("x", 0, inclusive=True) == 0
    assert number("x", -1, least=-2) == -1


def test_integer() -> None:
    for given in (2, np.int64(2)):
        found = integer("x", given, 2, 2)
        assert (found, type(found)) == (2, int)
    assert integer("x", 10**9, 0) == 10**9


def test_choice() -> None:
    assert choice("x", "a", ("a", "b")) == "a"


def test_flag() -> None:
    assert [flag("x", given) for given in (True, False, np.True_)] == [True, False, True]


def test_file_path(tmp_path: Path) -> None:
    for given in (str(tmp_path), tmp_path, os.fsencode(tmp_path).decode()):
        assert file_path("x", given, "a file") == tmp_path


def test_listed() -> None:
    assert listed({"a": 1}) == listed(iter("a")) == ["a"]
    assert listed("a") is listed(3) is listed(ca.SX.sym("x")) is None


def test_numbers() -> None:
    same(numbers("x", [[1, 2], [3, 4]]), [[1, 2], [3, 4]])
    same(numbers("x", 1), 1)
    same(numbers("x", np.ma.masked_array([1, 2], [0, 0])), [1, 2])
    same(numbers("x", ca.DM([1, 0])), [[1], [0]])
    same(numbers("x", [np.nan, np.inf], finite=False), [np.nan, np.inf])


def test_numbers_are_copied() -> None:
    given = np.ones(2)
    found = numbers("x", given)
    given[0] = 7
    assert found[0] == 1


def test_vector() -> None:
    same(vector("x", (1, 2), 2), [1, 2])
    same(vector("x", ca.DM([1, 2]), 2), [1, 2])
    same(vector("x", [[1], [2]], 2), [1, 2])
    same(vector("x", 3, 2, repeat=True), [3, 3])
    same(vector("x", [3], 2, repeat=True), [3, 3])
    same(vector("x", [], 0), [])


def test_table() -> None:
    same(table("x", [[1, 2], [3, 4]], 2), [[1, 2], [3, 4]])
    same(table("x", [1, 2], 2), [[1, 2]])
    same(table("x", ca.DM([[1, 2]]), 2, 1), [[1, 2]])


def test_properties() -> None:
    eta = np.array([0.0, 0.5])
    for given in (lambda x: 1 + x, lambda x: 1 + float(x)):
        np.testing.assert_array_equal(evaluate("x", "m", given, eta), [1, 1.5])
    np.testing.assert_array_equal(evaluate("x", "m", 3.0, eta), [3, 3])
    np.testing.assert_array_equal(evaluate("x", "m", lambda x: 2, eta), [2, 2])
    assert evaluate("x", "m", lambda x: 0 * x, eta, inclusive=True).max() == 0


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: number("x", 0), "x: got 0; give one finite number, above 0"),
        (lambda: number("x", -0.5, "m", inclusive=True), "x: got -0.5; give one finite number [m], at least 0"),
        (lambda: number("x", np.inf, least=2), "x: got inf; give one finite number, above 2"),
        (lambda: number("x", float("nan")), "x: got nan; give one finite number, above 0"),
        (lambda: integer("x", 0, 1), "x: got 0; give an integer of at least 1"),
        (lambda: integer("x", 10, 1, 9), "x: got 10; give an integer from 1 to 9"),
        (lambda: integer("x", 10**40, 1), f"x: got {10**40}; give an integer from 1 to {2**63 - 1}"),
        (lambda: number("x", 10**40000), "x: got a value of type int; give one finite number, above 0"),
        (
            lambda: number("x", -(10**400), least=-np.inf),
            f"x: got -1{'0' * 78}… (402 characters); give one finite number",
        ),
        (
            lambda: numbers("x", [1, 10**40, 10**400]),
            f"x: [1, 1{'0' * 40}, 1{'0' * 32}… (449 characters) is beyond floating point; give finite numbers",
        ),
        (lambda: numbers("x", np.ma.masked_array([1, 2], [0, 1])), f"x: {MASKED}"),
        (lambda: numbers("x", [[np.ma.masked_array([1, 2], [0, 1])]], finite=False), f"x: {MASKED}"),
        (lambda: choice("x", np.array([]), ("a", "b")), "x: got array([], dtype=float64); give 'a' or 'b'"),
        (lambda: choice("x", "c", ("a", "b")), "x: got 'c'; give 'a' or 'b'"),
        (lambda: choice("x", ["a"], ("a", "b", "c")), "x: got ['a']; give 'a', 'b' or 'c'"),
        (lambda: file_path("x", "", "a file"), "x: got '', which no file can be called; give a file"),
        (lambda: file_path("x", "a\0b", "a file"), r"x: got 'a\x00b', which no file can be called; give a file"),
        (lambda: file_path("x", "\ud800", "a file"), r"x: got '\ud800', which no file can be called; give a file"),
        (lambda: numbers("x", [[1, 2], [3]]), "x: the rows are of unequal lengths"),
        (lambda: numbers("x", np.nan), "x: it is nan; give finite numbers"),
        (lambda: numbers("x", [0, -np.inf]), "x: entry [1] is -inf; give finite numbers"),
        (lambda: numbers("x", [[0, np.nan]]), "x: entry [0, 1] is nan; give finite numbers"),
        (lambda: numbers("x", [0, np.nan], names="yz"), "x: z is nan; give finite numbers"),
        (lambda: vector("x", [1, 2], 3), "x has shape (2,); give (3,)"),
        (lambda: vector("x", [[1, 2, 3]], 3), "x has shape (1, 3); give (3,)"),
        (lambda: vector("x", 1, 1), "x has shape (); give (1,)"),
        (lambda: vector("x", [1, 2], 3, repeat=True), "x has shape (2,); give (3,), or one number"),
        (lambda: table("x", [1, 2], 3), "x has shape (2,); give (N, 3), one row for each time"),
        (lambda: table("x", [[1, 2]], 2, 3), "x has shape (1, 2); give (3, 2), one row for each time"),
        (lambda: table("x", np.ones((0, 2)), 2), "x has shape (0, 2); give (N, 2), one row for each time"),
        (lambda: table("x", np.ones((1, 1, 2)), 2), "x has shape (1, 1, 2); give (N, 2), one row for each time"),
        (lambda: evaluate("x", "m", lambda x: x, np.zeros(1)), "x: 0 at 0 m; it must be finite [m] and above 0"),
    ],
)
def test_values_that_are_refused(check: Callable[[], object], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        check()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: number("x", True), "x: expected a number, got True"),
        (lambda: number("x", "1", "m"), "x: expected a number [m], got '1'"),
        (lambda: number("x", [1]), "x: expected a number, got [1]"),
        (lambda: integer("x", 1.0, 0), "x: expected an integer, got 1.0"),
        (lambda: integer("x", True, 0), "x: expected an integer, got True"),
        (lambda: flag("x", "yes"), "x is 'yes'; give True or False"),
        (lambda: flag("x", 1), "x is 1; give True or False"),
        (lambda: flag("x", np.zeros(0)), "x is array([], dtype=float64); give True or False"),
        (lambda: file_path("x", None, "a file"), "x: got None; give a file"),
        (lambda: numbers("x", "12"), "x: expected numbers, got '12'"),
        (lambda: numbers("x", None), "x: expected numbers, got None"),
        (lambda: numbers("x", [1, None]), "x: expected numbers, got [1, None]"),
        (lambda: numbers("x", [True]), "x: expected numbers, got [True]"),
        (lambda: numbers("x", 1j), "x: expected numbers, got 1j"),
        (lambda: numbers("x", [Fraction(1, 2)]), "x: expected numbers, got [Fraction(1, 2)]"),
        (lambda: numbers("x", ca.SX.sym("s")), "x: expected numbers, got SX(s)"),
        (lambda: numbers("x", {}, expected="six numbers"), "x: expected six numbers, got {}"),
        (
            lambda: evaluate("x", "m", lambda x: "stiff", np.zeros(2)),
            "x: expected one number [m] for each abscissa, got 'stiff'",
        ),
    ],
)
def test_types_that_are_refused(check: Callable[[], object], message: str) -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        check()
    assert str(caught.value) == message
