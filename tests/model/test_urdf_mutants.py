"""Damaged URDFs load and agree with Pinocchio, or are refused in words."""

from __future__ import annotations

import sys

import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError
from tests.helpers.urdf_mutants import mutant, outcome, outcomes

GOOD = {"loaded", "refused"}


def test_mutants_load_or_are_refused() -> None:
    found = [outcome(seed) for seed in range(60)]
    assert set(found) == GOOD
    assert mutant(7) == mutant(7) != mutant(8)


@pytest.mark.long
def test_more_mutants_load_or_are_refused() -> None:
    """``python -m tests.helpers.urdf_mutants 2000`` reads as many as one likes."""
    found = dict(outcomes(range(150)))
    assert {seed: what for seed, what in found.items() if what not in GOOD} == {}
    assert list(found) == list(range(150))
    assert sum(what == "loaded" for what in found.values()) > 30


def test_faults_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ArgumentError("x" * 3000)

    def fail(*_: object, **__: object) -> None:
        raise KeyError("joint")

    monkeypatch.setattr(gd, "load_urdf", refuse)
    assert outcome(0) == "a message of 3000 characters"
    monkeypatch.setattr(gd, "load_urdf", fail)
    assert outcome(0) == "KeyError: 'joint'"
    monkeypatch.undo()
    model = gd.load_urdf("puma560")
    other = gd.load_urdf("puma560")
    other.gravity.linear = 2 * model.gravity.linear
    monkeypatch.setattr(gd, "load_urdf", lambda *_, **__: model)
    newton_euler = gd.NewtonEuler
    monkeypatch.setattr(gd, "NewtonEuler", lambda _, **options: newton_euler(other, **options))
    assert outcome(0).startswith("tau differs by ")


def test_a_process_that_crashes_costs_one_mutant() -> None:
    crash = (sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert dict(outcomes([4, 5], crash)) == {4: "exit status -11", 5: "exit status -11"}
