"""The sizes of parameters: tiny nominal values, as placeholders in a data sheet, must not hide what the data tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.identification import fit
from tests.helpers.identification import PARAMETERS, Experiment, panda, with_friction

pytestmark = pytest.mark.extras


def held_back(e: Experiment, nominal: pin.Model, method: Any) -> gd.identification.Identification:
    result = fit(with_friction(nominal, PARAMETERS), e.q, e.v, e.a, e.measured(0), method=method, held_back=0.25)
    assert result.held_back is not None
    assert result.held_back.rms == pytest.approx(e.sigma, rel=0.2)
    assert len(result.base) == result.structural_rank == 62
    assert result.not_identifiable.not_excited == ()
    return result


@pytest.mark.parametrize("method", ["weighted", "consistent"])
@pytest.mark.parametrize("tiny", [1e-2, 1e-3, 1e-5])
def test_tiny_nominal_friction_and_armature_are_found(tiny: float, method: Any) -> None:
    e = panda()
    nominal = e.nominal.copy()
    nominal.armature, nominal.damping, nominal.friction = (np.full(7, tiny) for _ in range(3))
    result = held_back(e, nominal, method)
    for k, name in enumerate(result.names):
        if name.endswith(("viscous", "coulomb")):
            assert abs(result.values[k] - e.p[k]) < 5 * result.standard_deviation[k] < np.inf


@pytest.mark.parametrize("part", [1e-4, 1e-7])
def test_a_body_that_nominally_weighs_nothing_is_found(part: float) -> None:
    e = panda()
    nominal = e.nominal.copy()
    last = nominal.inertias[7]
    nominal.inertias[7] = pin.Inertia(part * last.mass, last.lever, part * last.inertia)
    found = held_back(e, nominal, "weighted")
    off = (found.base.values - found.base.matrix @ e.p) / found.base.standard_deviation
    assert np.sqrt(np.mean(off**2)) < 1.4
    assert held_back(e, nominal, "consistent").is_consistent
