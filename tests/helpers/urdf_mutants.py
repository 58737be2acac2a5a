"""URDFs damaged at random, and what becomes of them.

``python -m tests.helpers.urdf_mutants 2000`` reads so many in processes of their own and prints what became of them:
each must load, and agree with Pinocchio, or be refused in words. Anything else is a fault: another exception, a warning
of NumPy, a message of more than 2000 characters, a crash, or more than 20 seconds.
"""

from __future__ import annotations

import collections
import json
import re
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from subprocess import DEVNULL, PIPE, Popen

import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert.errors import GdalembertError, UrdfWarning
from gdalembert.model.load_urdf import robot_folder
from tests.helpers.paths import ROOT

Rng = np.random.Generator
Mutation = Callable[[str, Rng], str]

LONGEST_MESSAGE = 2000
TIME_LIMIT = 20.0
CLOSE = 1e-8
"""Of tau, relative to the largest of its terms: the model may hold any numbers."""

NUMBERS = (
    *("nan", "inf", "-inf", "1e308", "-1e308", "1e155", "1e30", "1e-320", "1e12", "-1", "0", "-0", "1e3", "0.5"),
    *("1,5", "1.5kg", "0x10", "1e", "1e+", "--", "٣", "1_0", "None", "true", "", " ", "1 2", "1 2 3 4"),
    *("9" * 5000, "0." + "0" * 400 + "1", "\x00", "½"),
)
TEXTS = (
    "<!DOCTYPE r [<!ENTITY a 'b'>]>",
    "<!-- -- -->",
    "<![CDATA[<link name='x'/>]]>",
    "<?xml version='1.1'?>",
    "&a;",
    "&#0;",
    "&#x10FFFF;",
    "<xi:include href='/etc/passwd'/>",
    "<joint/>",
    "<link/>",
    "<robot>",
    "</robot>",
    "\ufeff",
    "\ud800",
    '<link name="alone"/>',
    "<inertial/>",
    '<mimic joint="joint1"/>',
    '<mimic joint="joint2" multiplier="0"/>',
    '<mimic joint="joint1" multiplier="1e9" offset="x"/>',
    '<origin xyz="1 2 3"/>',
    '<dynamics damping="1" friction="-1" armature="2"/>',
    '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="3" ixy="0" ixz="0" iyz="0"/></inertial>',
)
KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical", "Revolute", "")


def _at(text: str, rng: Rng) -> int:
    return int(rng.integers(len(text) + 1))


def _one(pattern: str, text: str, rng: Rng) -> re.Match[str] | None:
    found = list(re.finditer(pattern, text, re.DOTALL))
    return found[int(rng.integers(len(found)))] if found else None


def _replaced(pattern: str, by: Callable[[re.Match[str], Rng], str]) -> Mutation:
    def mutate(text: str, rng: Rng) -> str:
        found = _one(pattern, text, rng)
        return text if found is None else text[: found.start()] + by(found, rng) + text[found.end() :]

    return mutate


def _cut(text: str, rng: Rng) -> str:
    start = _at(text, rng)
    return text[:start] + text[start + int(rng.integers(1, 200)) :]


def _truncated(text: str, rng: Rng) -> str:
    return text[: _at(text, rng)]


def _inserted(text: str, rng: Rng) -> str:
    at = _at(text, rng) if rng.random() < 0.3 else text.find(">", _at(text, rng)) + 1
    return text[:at] + str(rng.choice(TEXTS)) + text[at:]


def _other_character(text: str, rng: Rng) -> str:
    at = _at(text, rng)
    return text[:at] + chr(int(rng.integers(1, 0x250))) + text[at + 1 :]


def _swapped_names(text: str, rng: Rng) -> str:
    names = sorted(set(re.findall(r'"([A-Za-z]\w*)"', text))) or [""]
    old, new = (str(rng.choice(names)) for _ in range(2))
    return text.replace(f'"{old}"', f'"{new}"', int(rng.integers(1, 4)))


def _many(text: str, rng: Rng) -> str:
    """A long attribute, many elements, or a deep nest."""
    at = text.find(">", _at(text, rng)) + 1
    n = int(rng.integers(100, 3000))
    what = (f'<x a="{"y" * 1000 * n}"/>', '<link name="l"/>' * n, "<a>" * n + "</a>" * n)
    return text[:at] + what[int(rng.integers(3))] + text[at:]


MUTATIONS: tuple[Mutation, ...] = (
    _replaced(r"-?\d+\.?\d*(?:e-?\d+)?", lambda _, rng: str(rng.choice(NUMBERS))),
    _replaced(r"-?\d+\.?\d*(?:e-?\d+)?", lambda m, rng: repr(float(m[0]) * 10 ** float(rng.normal(0, 8)))),
    _replaced(r' \w+="[^"]*"', lambda m, rng: m[0] * int(rng.choice([0, 2]))),
    _replaced(r'(?<= )\w+(?==")', lambda _, rng: str(rng.choice(["name", "xyz", "rpy", "value", "ixx", "joint"]))),
    _replaced(r"</?\w+", lambda _, rng: str(rng.choice(["<link", "<joint", "</link", "<mass", "<limit", "<axis"]))),
    _replaced(r"<(\w+)[^<>]*/>", lambda m, rng: m[0] * int(rng.choice([0, 2, 3]))),
    _replaced(r"<(joint|link)\b.*?</\1>", lambda m, rng: m[0] * int(rng.choice([0, 2]))),
    _replaced(r'(?<=type=")\w+', lambda _, rng: str(rng.choice(KINDS))),
    _swapped_names,
    _inserted,
    _other_character,
    _cut,
    _truncated,
    _many,
)
WEIGHTS = np.array([5, 9, 3, 1, 1, 3, 2, 3, 4, 4, 2, 2, 0.5, 0.5])


def mutant(seed: int) -> str:
    """A shipped robot with one to three mutations, more often with one."""
    rng = np.random.default_rng(seed)
    text = (robot_folder() / f"{rng.choice(gd.robots())}.urdf").read_text(encoding="utf-8")
    for _ in range(int(rng.choice([1, 1, 2, 3]))):
        text = MUTATIONS[int(rng.choice(len(MUTATIONS), p=WEIGHTS / WEIGHTS.sum()))](text, rng)
    return text


def outcome(seed: int) -> str:
    """``"loaded"``, ``"refused"``, or what is wrong."""
    rng = np.random.default_rng(seed)
    root = pin.JointModelFreeFlyer() if seed % 4 == 0 else None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UrdfWarning)
        try:
            model = gd.load_urdf(mutant(seed), root_joint=root)
            return _compared(model, rng) if model.nv else "loaded"
        except GdalembertError as error:
            length = len(str(error))
            return "refused" if length <= LONGEST_MESSAGE else f"a message of {length} characters"
        except Exception as error:
            return f"{type(error).__name__}: {str(error)[:200]}"


def _compared(model: pin.Model, rng: Rng) -> str:
    """Whether tau is Pinocchio's, to rounding of the largest of its terms."""
    dynamics, data = gd.NewtonEuler(model, clean=0), model.createData()
    q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
    v, a = rng.normal(size=(2, model.nv))
    with np.errstate(all="ignore"):
        expected = pin.rnea(model, data, q, v, a)
        if not np.all(np.isfinite(expected)):
            return f"loaded with tau = {expected.max()}"
        off = np.abs(dynamics.inverse_dynamics(q, v, a).full().ravel() - expected).max()
        size = max(1.0, np.abs(expected).max(), *(np.abs(np.array(i.inertia)).max() for i in model.inertias))
    return "loaded" if off <= CLOSE * size else f"tau differs by {off:.1e} N m of {size:.1e}"


CHILD = (sys.executable, "-m", "tests.helpers.urdf_mutants", "--child")


def outcomes(seeds: Sequence[int], child: Sequence[str] = CHILD) -> Iterator[tuple[int, str]]:
    """Each in turn, in processes that may crash or hang: ``child`` is the command that takes the seeds."""
    left = list(seeds)
    while left:
        with Popen([*child, json.dumps(left)], cwd=ROOT, stdout=PIPE, stderr=DEVNULL, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                seed, found, seconds = json.loads(line)
                left.remove(seed)
                yield seed, found if seconds < TIME_LIMIT else f"{seconds:.0f} s"
        if left:  # the first of them ended the process
            yield left.pop(0), f"exit status {process.returncode}"


def _child(seeds: Sequence[int]) -> None:
    for seed in seeds:
        signal.alarm(int(3 * TIME_LIMIT))  # ends the process
        begun = time.process_time()
        found = outcome(seed)
        print(json.dumps([seed, found, time.process_time() - begun]), flush=True)


def _main(arguments: Sequence[str]) -> None:
    if arguments[0] == "--child":
        _child(json.loads(arguments[1]))
        return
    count, first = int(arguments[0]), int(arguments[1]) if len(arguments) > 1 else 0
    found = collections.Counter[str]()
    for seed, what in outcomes(range(first, first + count)):
        found[what if what in ("loaded", "refused") else "at fault"] += 1
        if what not in ("loaded", "refused"):
            print(f"seed {seed}: {what}", flush=True)
    print(", ".join(f"{number} {what}" for what, number in found.most_common()))


if __name__ == "__main__":
    _main(sys.argv[1:])
