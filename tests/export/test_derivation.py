"""What is asked for: formats, terms, formulations, and any Dynamics."""

from __future__ import annotations

import re
from typing import Any

import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.export import FORMATS, derive
from gdalembert.export.formats import code_formats
from tests.helpers.exports import executed, pruned

# Python


def test_names_of_joints_harm_no_file() -> None:
    model = gd.load_urdf("two_link_arm")
    model.name, model.names[1], model.names[2] = 'é"""\\*/ 1', "*/ \n }", '"""\\'
    (source,) = derive(model, "python").values()
    executed(source)
    c = derive(model, "c")
    assert list(c) == ["robot_1.c", "robot_1.h"]
    assert all(text.isascii() for text in c.values())
    assert c["robot_1.h"].count("*/") == 1 + 4
    (latex,) = derive(model, "latex", formulation="lagrange_euler").values()
    assert r"\_/ \_ \}" in latex


# What is asked for


@pytest.mark.long
def test_formats_take_the_same_names() -> None:
    for to in FORMATS:
        files = derive("puma560_3", to, formulation="lagrange_euler", terms=["h", "mass_matrix"])
        text = "".join(files.values())
        names = ("h_1", "h_3") if FORMATS[to].closed else ("h_1", "h_2", "h_3", "mass_matrix")
        assert all(name in text or f"{name[0]}_{{{name[2:]}" in text for name in names)


def test_terms_are_functions_of_what_they_depend_on() -> None:
    (source,) = derive("puma560_3", "python", formulation="generalized_dalembert", terms="terms").values()
    heads = re.findall(r"^def (.*):$", source, re.MULTILINE)
    assert heads == ["D_tra(q)", "D_rot(q)", "H_tra(q, v)", "H_rot(q, v)", "G(q)", "I_act()"]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"to": "latx"}, UnknownNameError, "no format named 'latx'; nearest: 'latex'"),
        ({"terms": "D_tar"}, UnknownNameError, "no term of generalized_dalembert named 'D_tar'; nearest: 'D_tra'"),
        ({"terms": "massmatrix"}, UnknownNameError, "nearest: 'mass_matrix'"),
        ({"terms": "forward_dynamics"}, UnknownNameError, "no term of generalized_dalembert named 'forward_dynamics'"),
        ({"terms": []}, ArgumentError, "terms: none are given; name at least one, as 'mass_matrix'"),
        ({"formulation": "newton"}, UnknownNameError, "no formulation named 'newton'; nearest: 'newton_euler'"),
        ({"terms": 3}, ArgumentTypeError, "terms=3: give names, as ['mass_matrix']"),
        ({"terms": [3]}, ArgumentTypeError, "terms=[3]: give names, as ['mass_matrix']"),
        (
            {"terms": "D_tra", "formulation": "lagrange_euler"},
            UnknownNameError,
            "no term of lagrange_euler (generalized_dalembert has it) named 'D_tra'",
        ),
        (
            {"terms": ["D_tra", "D"]},
            UnknownNameError,
            "no term of generalized_dalembert (lagrange_euler has it) named 'D'",
        ),
        ({"to": "c", "body_only": True}, ArgumentError, "only latex has a preamble, and c has none; leave it out"),
        ({"formulation": 3}, ArgumentTypeError, "formulation=3: give a name or a class"),
    ],
)
def test_what_is_not_there(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        derive("puma560_3", **({"to": "latex"} | options))


@pytest.mark.parametrize(
    ("to", "terms", "formulation"),
    [
        ("latex", "D,h,c", "lagrange_euler"),
        ("sympy", "D_tra,mass_matrix", "generalized_dalembert"),
        ("c", "D_tra,mass_matrix", "generalized_dalembert"),
        ("python", "D", "lagrange_euler"),
        ("python", "mass_matrix", "newton_euler"),
    ],
)
def test_the_formulation_that_has_the_terms_is_taken(to: str, terms: str, formulation: str) -> None:
    names = iter(terms.split(","))
    found = derive("two_link_arm", to, terms=names)
    assert found == derive("two_link_arm", to, terms=terms.split(","), formulation=formulation)


# Any Dynamics


@pytest.mark.parametrize(
    ("to", "options", "error", "message"),
    [
        ("latex", {}, UnsupportedError, f"is exported as code alone; choose {code_formats()}"),
        ("sympy", {}, UnsupportedError, "PrunedDynamics('puma560', nq=6, nv=6): is exported as code alone"),
        ("c", {"symbolic": True}, ArgumentError, "give no formulation, no symbolic"),
        ("c", {"formulation": "newton_euler"}, ArgumentError, "give no formulation, no symbolic"),
        ("c", {"terms": "D_tra"}, UnknownNameError, "no term of PrunedDynamics named 'D_tra'"),
    ],
)
def test_what_a_dynamics_has_not(to: str, options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        derive(pruned(), to, **options)


@pytest.mark.long
def test_too_large_for_closed_forms() -> None:
    with pytest.raises(UnsupportedError, match=r"too large for closed forms: its \d+ instructions in \d+ symbols"):
        derive("panda7", "latex", max_terms=100_000)
    with pytest.raises(UnsupportedError, match=r"puma560: too large to be written: its \d+ terms, 100 to be counted"):
        derive("puma560", "sympy", max_terms=600_000)
