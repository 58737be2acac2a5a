"""What the commands read from the texts of their options."""

from __future__ import annotations

import argparse

import numpy as np
import pinocchio as pin

from gdalembert.errors import ArgumentError
from gdalembert.model.configuration import check_unit_lengths
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.spatial.arrays import Array


def numbers(option: str, text: str, example: str) -> list[float]:
    """Numbers with commas between them.

    Raises:
        ArgumentError: if they are none.
    """
    try:
        return [float(x) for x in text.split(",")]
    except ValueError:
        raise ArgumentError(f"{option} {text}: give numbers, as {example}") from None


def add_configuration(parser: argparse.ArgumentParser | argparse._ArgumentGroup, default: str) -> None:
    """``--q``, read by :func:`configuration`."""
    text = f"the configuration, as 0,0.5,-1; --q=-1,0 where it begins with a minus (default: {default})"
    parser.add_argument("--q", metavar="X,Y,…", help=text)


def configuration(model: pin.Model, text: str) -> Array:
    """A configuration (nq) from numbers with commas between them.

    Raises:
        ArgumentError: if it is none.
    """
    q = np.array(numbers("--q", text, "0,0.5,-1"))
    if q.size != model.nq:
        raise ArgumentError(f"--q {text}: {model.name} takes {model.nq} finite numbers, and these are {q.size}")
    if not np.all(np.isfinite(q)):
        k = int(np.isfinite(q).argmin())
        raise ArgumentError(f"--q {text}: number {k + 1} of {q.size} is {q[k]:g}; give finite numbers")
    check_unit_lengths(f"--q {text}", q, read_tree(model, dynamics=False))
    return q
