"""Instructions that have no text are refused."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from gdalembert.errors import UnsupportedError
from gdalembert.export import derive


def test_operations_that_have_no_text() -> None:
    class Strange(gd.NewtonEuler):
        @property
        def nle(self) -> ca.Function:
            q = ca.SX.sym("q")
            return ca.Function("nle", [q], [ca.erf(q)], ["q"], ["nle"])

    with pytest.raises(UnsupportedError, match="nle: its operation OP_ERF cannot be written in MATLAB; export it to C"):
        derive("two_link_arm", "matlab", formulation=Strange, terms="nle")
    Strange.nle = property(lambda _: ca.Function("nle", [ca.SX.sym("q")], [ca.SX(np.inf)], ["q"], ["nle"]))
    with pytest.raises(UnsupportedError, match="the constant inf, which is not finite"):
        derive("two_link_arm", "python", formulation=Strange, terms="nle")
