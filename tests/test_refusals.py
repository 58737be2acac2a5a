"""Values that nobody means, in each argument of public calls: each works, or is refused in one sentence."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
import sympy

import gdalembert as gd
import gdalembert.symbolic as gs
from gdalembert import ocp
from gdalembert.errors import ArgumentError, ArgumentTypeError, GdalembertError
from gdalembert.identification import Excitation
from tests.helpers.sets import quick

ODD = [
    *(None, float("nan"), "nonsense", "a\0b", b"x", True, -1, 10**40, 10**400, 1j),
    *([], [[1, 2], [3]], {}, {1: 2}, {"": ""}, {"joint1": None}, object(), type, iter([1])),
    *(np.zeros(0), np.zeros((2, 2, 2)), np.array(["a"]), np.ma.masked_array([1, 2], [1, 0])),
    *(ca.SX.sym("x"), ca.MX.sym("x", 3), ca.DM.zeros(3), "\ud800"),
]
MODEL = gd.load_urdf("two_link_arm", check="off")


@functools.cache
def dyn() -> gd.NewtonEuler:
    return gd.NewtonEuler(MODEL)


@functools.cache
def held() -> gd.ConstrainedDynamics:
    return gd.ConstrainedDynamics(dyn(), [gd.Contact("tip", "3D", rows=("x",))])


def problem() -> ocp.Problem:
    stated = ocp.Problem(dyn(), 0.4, 2, degree=1)
    stated.start([0.1, 0.2])
    stated.end([0.2, 0.3])
    stated.minimize(stated.integral(lambda u: ca.sumsqr(u)))
    return stated


@functools.cache
def solved() -> ocp.Solver[ocp.Solution]:
    solver = problem().solver()
    solver()
    return solver


@functools.cache
def pruned() -> gd.PrunedDynamics:
    return gd.PrunedDynamics(MODEL, 0.1, v_max=[1, 1], a_max=[1, 1])


def of(make: Callable[[], Any], name: str) -> Callable[..., Any]:
    return lambda *args, **kwargs: getattr(make(), name)(*args, **kwargs)


def saved_excitation() -> dict[str, Any]:
    condition, of_joint = {"condition_number": 2.0, "first_condition_number": 3.0}, {"q_indices": [1], "v_indices": [1]}
    entries = {"model": "arm", "joints": ["joint2"], "period": 5.0, "coefficients": [[0.1], [0.2], [0.3]], "nv": 2}
    entries |= {"hold": [0.0, 0.0], "parameters": ["joint2.m"], "cost": -1.0, "status": "solved"}
    return entries | condition | of_joint | {"limits": {"velocity of joint2": 0.5}, "excess": {}}


Q = [0.1, 0.2]
STATES = {"0": Q, "1": Q, "2": Q}
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "graph": (of(dyn, "inverse_dynamics"), STATES),
    "sparse graph": (of(dyn, "torque_regressor"), STATES),
    "graph by name": (of(dyn, "inverse_dynamics"), {"q": Q, "v": Q, "a": Q}),
    "NewtonEuler": (gd.NewtonEuler, {"0": MODEL, "motors": None, "friction": None, "springs": None, "wrenches": None}),
    "compile": (
        functools.partial(gd.compile, interpreter=True),
        {"0": dyn().nle, "output": "full", "dtype": "float64"},
    ),
    "batch": (
        lambda *args, **named: gd.compile(dyn().inverse_dynamics, interpreter=True).batch(*args, **named),
        {"0": [Q], "1": [Q], "2": [Q], "threads": 1, "axis": 0, "out": None},
    ),
    "start": (of(problem, "start"), {"0": Q, "1": Q}),
    "path": (of(problem, "path"), {"0": lambda q: q, "1": [-1.0, -1.0], "2": [1.0, 1.0], "at": None}),
    "parameter": (of(problem, "parameter"), {"0": "x", "1": 1, "at": None}),
    "friction": (of(lambda: ocp.Problem(held(), 1.0, 2), "friction"), {"0": 0.5, "contacts": None, "normal": None}),
    "solver": (of(problem, "solver"), {"0": "ipopt", "1": {}}),
    "solver of phases": (of(lambda: ocp.Phases([problem(), problem()]), "solver"), {"0": "ipopt", "1": {}}),
    "solver of a schedule": (of(lambda: ocp.ContactSchedule({"a": problem()}), "solver"), {"1": {}, "0": "ipopt"}),
    "function of a solver": (of(solved, "function"), {"warm": False}),
    "generate": (of(solved, "generate"), {"0": Path("solver.c")}),
    "value": (of(solved, "value"), {"0": 1.0}),
    "a solve": (of(solved, "__call__"), {"shift": 0, "guess": None, "p": None}),
    "Problem": (ocp.Problem, {"0": dyn(), "1": 1.0, "2": 2, "compiled": False, "bounds": None, "p": None}),
    "Guess": (ocp.Guess, {"t": [0.0, 1.0], "q": [Q, Q], "v": [Q, Q], "a": [Q, Q], "u": [Q, Q]}),
    "simulate": (
        gd.simulate,
        {"0": dyn(), "1": (Q, Q), "2": [0.0, 1e-3], "3": None, "hold": False, "compiled": False, "progress": False},
    ),
    "derive": (
        functools.partial(gd.export.derive, terms=["generalized_gravity"]),
        {"0": MODEL, "1": "python", "symbolic": False, "body_only": False},
    ),
    "write": (gd.export.write, {"0": {"a.txt": "text"}, "1": "folder/", "force": True}),
    "citation": (gd.citation, {"0": "bibtex", "sources": False}),
    "excess": (of(lambda: ocp.Bounds.of(dyn(), MODEL), "excess"), {"0": [Q], "1": [Q]}),
    "motion at": (of(lambda: ocp.rest_to_rest(dyn(), Q, Q), "at"), {"0": np.array([0.0, 1.0]), "1": 1.0}),
    "force_stiffness": (of(dyn, "force_stiffness"), {"0": Q}),
    "Beam.round": (
        gd.Beam.round,
        {"0": 0.8, "1": 0.02, "density": 1e3, "youngs_modulus": 1e7, "breaks": ()},
    ),
    "along": (of(lambda: gd.Beam(0.8, 0.45, EI_z=10.0), "along"), {"0": "EI_z", "1": [0.1]}),
    "shapes": (of(lambda: gd.modes.clamped_free(2), "value"), {"0": [0.1], "1": 0.8}),
    "selected": (of(lambda: gd.modes.clamped_free(2), "selected"), {"0": [1]}),
    "abbreviations": (gs.abbreviations, {"0": sympy.Matrix([1])}),
    "to_trigonometric": (gs.to_trigonometric, {"0": dyn().generalized_gravity, "inputs": None, "outputs": None}),
    "symbolic_tree": (gs.symbolic_tree, {"0": MODEL, "1": None, "gravity": None, "others": "symbols"}),
    "from rows": (gs.from_denavit_hartenberg, {"0": [gs.Row("R", 0, 0, "l")], "convention": "standard"}),
    "check": (of(pruned, "check"), {"0": 2, "seed": 0, "corners": False}),
    "saved excitation": (lambda **entries: Excitation.from_dict(entries), saved_excitation()),
}


BUILDING = ("NewtonEuler", "start", "path", "parameter", "friction", "Problem", "simulate", "derive")
BUILDING += ("solver", "solver of phases", "solver of a schedule", "symbolic_tree", "to_trigonometric", "check")


@pytest.mark.parametrize("name", quick(CALLS, *(set(CALLS) - set(BUILDING))))
def test_odd_values_work_or_are_refused_in_one_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call, arguments = CALLS[name]
    raw = []
    for key in arguments:
        for odd in ODD:
            given = arguments | {key: odd}
            positional = [x for k, x in given.items() if k.isdigit()]
            named = {k: x for k, x in given.items() if not k.isdigit()}
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    call(*positional, **named)
            except GdalembertError as error:
                if "\n" in str(error):
                    raw.append(f"{key}={odd!r}: {error}")
            except Exception as error:
                raw.append(f"{key}={odd!r}: {type(error).__name__}: {error}")
    assert not raw, "\n".join(raw)


FLAGS = {
    "compile": ("interpreter", lambda x: gd.compile(dyn().nle, interpreter=x)),
    "Problem": ("compiled", lambda x: ocp.Problem(dyn(), 1.0, 2, compiled=x)),
    "simulate": ("hold", lambda x: gd.simulate(dyn(), (Q, Q), 1e-3, hold=x)),
    "derive": ("body_only", lambda x: gd.export.derive(MODEL, "latex", body_only=x)),
    "write": ("force", lambda x: gd.export.write({"a": ""}, "a", force=x)),
    "solver": ("warm", lambda x: solved().function(warm=x)),
    "citation": ("sources", lambda x: gd.citation(sources=x)),
}


@pytest.mark.parametrize("where", FLAGS)
def test_flags_are_true_or_false(where: str) -> None:
    """Not what Python takes for one of them."""
    name, call = FLAGS[where]
    for odd in ("no", 0, np.nan, []):
        with pytest.raises(ArgumentTypeError, match=f"^{where}: {name} is .*; give True or False$"):
            call(odd)


def failing(*_: Any) -> Any:
    raise LookupError("of the user")


OWN = {
    "simulate: u(t, q, v) at t = 0 s raised this": lambda: gd.simulate(dyn(), (Q, Q), 1e-3, failing),
    "Beam: mass_per_length raised this": lambda: gd.Beam(1.0, failing, EI_z=1.0).along("mass_per_length", 0.1),
    "custom: the value of mode 1 raised this": lambda: gd.modes.custom([[failing] * 3]).value(0.1, 1.0),
    "poses: accept(q) raised this": lambda: gd.calibration.poses(
        gd.Kinematics(MODEL, parameters={"placement": ["joint2"]}), "tip", 9, ([-1, -1], [1, 1]), accept=failing
    ),
}


@pytest.mark.parametrize("note", OWN)
def test_what_a_function_of_the_user_raises_passes_with_its_name(note: str) -> None:
    with pytest.raises(LookupError, match=r"^of the user") as caught:
        OWN[note]()
    assert caught.value.__notes__ == [note]


def test_an_expression_that_fails_is_refused() -> None:
    """Whatever it raises, also without a word."""
    for error, told in ((ZeroDivisionError("of the user"), "of the user"), (RuntimeError(), "RuntimeError")):

        def expression(q: Any, error: Exception = error) -> Any:
            raise error

        with pytest.raises(ArgumentError, match=rf"an expression of \['q'\] fails: {told}$"):
            problem().path(expression, 0.0)


def test_durations_in_which_accelerations_overflow() -> None:
    assert not ocp.rest_to_rest(dyn(), Q, [0.3, 0.4], 1e300).a.any()
    with pytest.raises(ArgumentError, match=r"^rest_to_rest: duration: got 1e-300 s, in which accelerations overflow"):
        ocp.rest_to_rest(dyn(), Q, [0.3, 0.4], 1e-300)


def test_a_saved_excitation_is_the_motion() -> None:
    motion = Excitation.from_dict(saved_excitation())
    assert Excitation.from_dict(motion.to_dict()).q([0.3, 0.4]).tolist() == motion.q([0.3, 0.4]).tolist()
    for key, wrong in (("period", -1.0), ("nv", 0), ("q_indices", [2]), ("condition_number", 0.5), ("joints", [])):
        with pytest.raises((ArgumentError, ArgumentTypeError), match=rf"^Excitation.from_dict: {key}"):
            Excitation.from_dict(saved_excitation() | {key: wrong})
