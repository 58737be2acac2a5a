"""Pictures of identifications: what is drawn is what the result says."""

from __future__ import annotations

import numpy as np
import pytest

import gdalembert as gd
from gdalembert import plotting
from gdalembert.errors import ArgumentError, ArgumentTypeError
from tests.helpers.identification import panda
from tests.helpers.plots import lines

pytestmark = [pytest.mark.extras, pytest.mark.usefixtures("clean_matplotlib")]


def result(**arguments: object) -> gd.identification.Identification:
    e = panda()
    return gd.identification.fit(e.dyn, e.q, e.v, e.a, e.measured(0), method="weighted", **arguments)


def test_the_torques_held_back_are_drawn_beside_the_predicted_ones() -> None:
    found = result(held_back=0.25)
    axes = plotting.identification(found)
    assert len(axes) == 7
    for k, ax in enumerate(axes):
        drawn = lines(ax)
        assert list(drawn) == ["measured", "predicted", "residual"]
        assert np.array_equal(drawn["measured"], found.held_back.measured[:, k])
        assert np.array_equal(drawn["predicted"], found.held_back.predicted[:, k])
        assert np.array_equal(drawn["residual"], found.held_back.residuals[:, k])
        assert ax.get_title(loc="left") == f"joint{k + 1}: {found.held_back.relative[k]:.1%}"
    assert axes[-1].get_xlabel() == "sample, held back"
    assert plotting.identification(result())[-1].get_xlabel() == "sample, fitted"


def test_base_parameters_are_drawn_with_their_standard_deviations() -> None:
    found = result()
    ax = plotting.identification(found, "parameters")
    drawn = {str(line.get_label()): np.asarray(line.get_xdata()) for line in ax.lines}
    assert list(drawn) == ["estimate", "nominal", "standard deviation"]
    assert np.array_equal(drawn["estimate"], np.abs(found.base.values))
    assert np.array_equal(drawn["standard deviation"], found.base.standard_deviation)
    known = found.base.nominal != 0
    assert np.array_equal(drawn["nominal"][known], np.abs(found.base.nominal[known]))
    assert np.all(np.isnan(drawn["nominal"][~known]))
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert len(names) == len(found.base)
    for name, formula in zip(names, found.base.names, strict=True):
        assert formula.startswith(name.removesuffix(" …"))


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match=r"expected the result of gd\.identification\.fit, got int$"):
        plotting.identification(3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="show: got 'all'; give 'torques' or 'parameters'"):
        plotting.identification(result(), "all")  # type: ignore[arg-type]
