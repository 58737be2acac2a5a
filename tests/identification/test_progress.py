"""Fits and excitation tell how far they are, and find the same."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentTypeError
from tests.helpers.identification import fitted, panda
from tests.helpers.terminals import Terminal
from tests.identification import test_fit_outputs as outputs
from tests.identification.test_excitation import excitation

pytestmark = pytest.mark.extras


@pytest.fixture(autouse=True)
def _moves_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gdalembert.spatial.progress._MOVES", 0.0)
    monkeypatch.setenv("COLUMNS", "120")


def seen(monkeypatch: pytest.MonkeyPatch, work: Callable[..., Any]) -> tuple[Any, list[str]]:
    """The result of some work that shows its progress, and what it shows."""
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    result = work(progress=True)
    assert terminal.getvalue().count("\n") == 1
    return result, terminal.states


def test_a_fit_tells_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    e = panda()
    result, states = seen(monkeypatch, lambda **shown: fitted(e, **shown))
    np.testing.assert_array_equal(result.values, fitted(e).values)
    parts = ["", ": regressor of 600 samples", ": physically consistent parameters", ": residuals and remarks"]
    assert [f"{result.robot}: fit{part}" for part in parts] == states[:4]


def test_a_fit_of_outputs_tells_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    record = outputs.driven(outputs.motion())

    def work(**options: Any) -> Any:
        p = {"tip.m": 0.2}
        return outputs.quiet(
            outputs.ARM, [record], outputs.OUTPUTS, parameters=outputs.CHOSEN, others={"gain": 1.0}, p=p, **options
        )

    result, states = seen(monkeypatch, work)
    np.testing.assert_array_equal(result.values, work().values)
    assert states[1] == "beam: fit_outputs: step 1"
    assert states[2].startswith("beam: fit_outputs: step 2, the sum of squares fell by ")


def test_excitation_tells_its_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    motion, states = seen(monkeypatch, lambda **shown: excitation(starts=2, **shown))
    np.testing.assert_array_equal(motion.coefficients, excitation(starts=2).coefficients)
    assert "puma560_3: excitation: start 1 of 2, round 1" in states
    assert "puma560_3: excitation: start 2 of 2, round 1" in states


@pytest.mark.parametrize(
    ("call", "where"),
    [
        (lambda: fitted(panda(), progress="yes"), "fit: progress is 'yes'"),
        (lambda: gd.identification.fit_outputs(outputs.ARM, [], {}, progress=1), "fit_outputs: progress is 1"),
        (lambda: excitation(progress=1), "excitation: progress is 1"),
    ],
)
def test_progress_is_true_or_false(call: Callable[[], object], where: str) -> None:
    with pytest.raises(ArgumentTypeError, match=rf"^{where}; give True or False$"):
        call()
