"""Robots, motions and lines of the tests of figures."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from matplotlib.axes import Axes

import gdalembert as gd
from tests.helpers import models

BEAM = gd.Beam(0.8, 0.45, EI_z=10.0)


def lines(ax: Axes) -> dict[str, np.ndarray]:
    """What has a label."""
    return {
        str(line.get_label()): np.asarray(line.get_ydata())
        for line in ax.lines
        if not str(line.get_label()).startswith("_")
    }


def swing(model: pin.Model, samples: int = 9) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    states = models.states(model, np.random.default_rng(1), samples)
    return np.linspace(0, 1, samples), *(np.array(part) for part in zip(*states, strict=True))


def tree_with_everything() -> pin.Model:
    rng = np.random.default_rng(3)
    return models.build(rng, ["FreeFlyer", "RevoluteUnaligned", "PrismaticUnaligned", "RUBX"], [0, 1, 1, 2])


def flexible() -> tuple[gd.FlexibleArm, dict[str, gd.FlexibleLink]]:
    links = {"link2": gd.FlexibleLink(BEAM, gd.modes.clamped_free(3))}
    return gd.FlexibleArm(gd.load_urdf("two_link_flexible"), links), links
