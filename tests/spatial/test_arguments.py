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
    held_back_counts,
    instance,
    integer,
    listed,
    number,
    numbers,
    sample_rows,
    sample_weights,
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


def test_samples_are_rows_and_their_weights_numbers_or_rows() -> None:
    same(sample_rows("fit: q", [[1, 2], [3, 4]], 2), [[1.0, 2.0], [3.0, 4.0]])
    assert np.isnan(sample_rows("fit: q", [[np.nan, 2]], 2, finite=False)[0, 0])
    for value in ([1.0, 2.0], [[1.0, 2.0, 3.0]], np.zeros((0, 2))):
        with pytest.raises(ArgumentError, match=r"fit: q has shape .*; give \(N, 2\), one row for each sample"):
            sample_rows("fit: q", value, 2)
    assert sample_weights("fit", None, 2, 3).tolist() == [[1.0] * 3] * 2
    assert sample_weights("fit", [1, 2], 2, 3).tolist() == [[1.0] * 3, [2.0] * 3]
    assert sample_weights("fit", [[1, 0], [0, 2]], 2, 2).tolist() == [[1.0, 0.0], [0.0, 2.0]]
    with pytest.raises(ArgumentError, match=r"fit: weights has shape \(3,\); give \(2,\) or \(2, 3\)"):
        sample_weights("fit", [1, 2, 3], 2, 3)
    with pytest.raises(ArgumentError, match="fit: the weight of row 1 is negative: -2; give at least 0"):
        sample_weights("fit", [1, -2], 2, 3)


def test_a_fraction_holds_samples_of_each_run_back() -> None:
    assert held_back_counts("fit: held_back", 0.25, [8, 20], "(q, measured)") == [2, 5]
    for part, count in ((0.0, 8), (1, 8), (0.01, 8), (np.nan, 8)):
        with pytest.raises(ArgumentError, match=rf"held_back={part} of {count} samples leaves none to fit or none to"):
            held_back_counts("fit: held_back", part, [count], "(q, measured)")
    for wrong in (True, "all", None):
        with pytest.raises(ArgumentTypeError, match=r"expected a fraction of the samples or \(q, measured\), got"):
            held_back_counts("fit: held_back", wrong, [8], "(q, measured)")


def test_an_instance_is_returned_and_others_are_named() -> None:
    assert instance("fit: names", {"a": 1}, dict | list, "a mapping") == {"a": 1}
    with pytest.raises(ArgumentTypeError, match="fit: names: expected a mapping, got int"):
        instance("fit: names", 1, dict | list, "a mapping")
