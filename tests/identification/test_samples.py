"""Samples: what they are checked for, and how they are split."""

from __future__ import annotations

import numpy as np
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError
from gdalembert.identification import fit
from tests.helpers import models
from tests.helpers.identification import (
    panda,
    refused,
)


def spoiled(array: np.ndarray, row: int, column: int, value: float) -> np.ndarray:
    array = array.copy()
    array[row, column] = value
    return array


@pytest.mark.long
def test_wrong_samples_are_refused_in_one_sentence() -> None:
    e = panda(600)
    with pytest.raises(ArgumentError, match=r"^fit: q has 600 rows, a has 599; give one row for each sample$"):
        refused(a=e.a[:-1])
    with pytest.raises(ArgumentError, match=r"^fit: tau is inf in row 17, column 3; leave that sample out$"):
        refused(tau=spoiled(e.exact, 17, 3, np.inf))
    with pytest.raises(ArgumentError, match=r"^fit: v is -inf in row 2, column 0; leave that sample out$"):
        refused(v=spoiled(e.v, 2, 0, -np.inf))
    with pytest.raises(ArgumentError, match=r"^fit: q has shape \(600, 6\); give \(N, 7\), one row for each sample$"):
        refused(q=e.q[:, :6])
    with pytest.raises(ArgumentError, match=r"^fit: q has shape \(7,\); give \(N, 7\)"):
        refused(q=e.q[0])
    with pytest.raises(ArgumentError, match=r"^fit: tau: the rows are of unequal lengths$"):
        refused(tau=[[1.0], [1.0, 2.0]])
    with pytest.raises(ArgumentTypeError, match=r"^fit: tau: expected numbers, got 'torques'$"):
        refused(tau="torques")
    few = {name: getattr(e, name)[:8] for name in "qva"}
    with pytest.raises(ArgumentError, match=r"^fit: 8 samples have 56 torques with a weight, for 62 base parameters"):
        refused(**few, tau=e.exact[:8])
    with pytest.raises(ArgumentError, match=r"^fit: weights has shape \(3,\); give \(600,\) or \(600, 7\)$"):
        refused(weights=[1, 2, 3])
    with pytest.raises(ArgumentError, match=r"^fit: the weight of row 4 is negative: -1; give at least 0$"):
        refused(weights=spoiled(np.ones((600, 7)), 4, 2, -1.0))


def test_configurations_off_unit_length_are_refused() -> None:
    model = models.build(np.random.default_rng(0), ["RUBX"], [0])
    dyn = gd.NewtonEuler(model, parameters=["inertia"])
    q = np.tile([1.0, 0.0], (20, 1))
    q[6] = 1.1, 0.0
    with pytest.raises(ArgumentError, match=r"^fit: row 6 of q: the part of joint 'RUBX_0' is off unit length by 0\.1"):
        fit(dyn, q, np.ones((20, 1)), np.ones((20, 1)), np.ones((20, 1)))


def test_wrong_options_are_refused_in_one_sentence() -> None:
    with pytest.raises(ArgumentError, match=r"^fit: method: got 'best'; give 'ordinary', 'weighted' or 'consistent'$"):
        refused(method="best")
    with pytest.raises(ArgumentError, match=r"^fit: held_back=1\.5 of 600 samples leaves none to fit or none to"):
        refused(held_back=1.5)
    with pytest.raises(
        ArgumentTypeError, match=r"^fit: held_back: expected a fraction of the samples or \(q, v, a, ta"
    ):
        refused(held_back="half")
    with pytest.raises(ArgumentError, match=r"^fit: held_back: q has shape \(2, 2\)"):
        refused(held_back=(np.ones((2, 2)),) * 4)
    with pytest.raises(ArgumentError, match=r"^fit: margin: got 0"):
        refused(margin=0)
    with pytest.raises(ArgumentTypeError, match=r"^fit: model: expected a pin\.Model, got str$"):
        refused(model="panda7")
    with pytest.raises(ArgumentError, match=r"has no further joint where 'panda7' has 'joint4'; give a model with"):
        refused(model=gd.load_urdf("shala_likaj_rpr"))
    with pytest.raises(UnknownNameError, match=r"^no parameter named 'joint7\.mass'; nearest: 'joint7\.m"):
        refused(prior={"joint7.mass": 1.0})
    with pytest.raises(ArgumentTypeError, match=r"^fit: prior: expected a mapping of names of parameters, got list$"):
        refused(prior=[1.0])
    with pytest.raises(ArgumentTypeError, match=r"^fit: prior\['joint7\.m'\]: expected a value or \(value, standard"):
        refused(prior={"joint7.m": (1, 2, 3)})
    with pytest.raises(ArgumentError, match=r"^fit: prior\['joint7\.m'\]: standard deviation: got 0; give one finite"):
        refused(prior={"joint7.m": (1.0, 0)})


def test_wrong_bounds_are_refused_in_one_sentence() -> None:
    with pytest.raises(UnknownNameError, match=r"^no parameter named 'joint8\.m'"):
        refused(bounds={"joint8.m": (0, 1)})
    with pytest.raises(ArgumentTypeError, match=r"^fit: bounds\['joint7\.m'\]: expected \(least, largest\), got 3$"):
        refused(bounds={"joint7.m": 3})
    with pytest.raises(ArgumentError, match=r"^fit: bounds\['joint7\.m'\]: nothing lies between 2 and 1$"):
        refused(bounds={"joint7.m": (2, 1)})
    with pytest.raises(ArgumentError, match=r"^fit: bounds\['joint1\.viscous'\]: .* and viscous is at least 0$"):
        refused(bounds={"joint1.viscous": (-2, -1)})
    with pytest.raises(ArgumentError, match=r"^fit: method='weighted' takes no bounds; take method='consistent'$"):
        refused(bounds={"joint7.m": (0, 1)}, method="weighted")


@pytest.mark.long
def test_robots_that_cannot_be_identified_are_refused() -> None:
    model = gd.load_urdf("panda7")
    with pytest.raises(ArgumentError, match=r"has no parameters to identify; make it with parameters=\{'inertia': Tru"):
        refused(dyn=gd.NewtonEuler(model))
    with pytest.raises(ArgumentTypeError, match=r"^fit: expected a Dynamics, got Model$"):
        refused(dyn=model)
    with pytest.raises(
        ArgumentError,
        match=r"^fit: tau is not affine in 'joint1\.mx', .*free only some of them, or say what they are in known$",
    ):
        refused(dyn=gd.NewtonEuler(model, parameters=["inertia", "gravity"]))
