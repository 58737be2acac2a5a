"""Options that several commands take."""

from __future__ import annotations

import numpy as np
import pytest

import gdalembert as gd
from gdalembert.cli.options import configuration
from gdalembert.errors import ArgumentError


def test_configurations_of_the_command_line() -> None:
    model = gd.load_urdf("cart_pendulum")
    assert np.array_equal(configuration(model, "1,-0.5"), [1, -0.5])
    for text, message in (("1", "takes 2 finite numbers, and these are 1"), ("a,b", "give numbers, as 0,0.5,-1")):
        with pytest.raises(ArgumentError, match=message):
            configuration(model, text)
