"""Random trees of every joint type, and whether a formulation holds all laws on them.

``python -m tests.helpers.random_trees 500`` checks so many trees in every formulation, against Pinocchio and by the
laws, at random states and to 1e-12, and prints those that fail.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert.errors import UnsupportedError
from tests.helpers.models import JOINTS, MIMICABLE, build, inertia
from tests.laws.test_laws import check_against_pinocchio, check_laws


def random_tree(seed: int) -> pin.Model:
    """One to eight joints, mostly few, of any type; some links are massless, others points, and masses span 1e6."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 9, size=3).min())
    names = [str(rng.choice(sorted(JOINTS))) for _ in range(count)]
    parents = [int(rng.integers(0, k + 1)) for k in range(count)]
    mimicable = [k + 1 for k, name in enumerate(names) if name in MIMICABLE]
    mimic = int(rng.choice(mimicable)) if mimicable and rng.random() < 0.3 else None
    model = build(rng, names, parents, mimic=mimic)
    leaves = set(range(1, model.njoints)) - set(model.parents)
    for joint in range(1, model.njoints):
        scale = float(10 ** rng.uniform(-3, 3)) if rng.random() < 0.3 else 1.0
        body = pin.Inertia.FromDynamicParameters(scale * inertia(rng).toDynamicParameters())
        kind = rng.random()
        if kind < 0.1 and joint not in leaves:
            body = pin.Inertia.Zero()
        elif kind < 0.2 and joint not in leaves:
            body = pin.Inertia(body.mass, body.lever, np.zeros((3, 3)))
        model.inertias[joint] = body
    if rng.random() < 0.2:
        model.gravity = pin.Motion.Zero()
    if rng.random() < 0.5:
        model.armature = np.zeros(model.nv)
    return model


def check(seed: int, formulation: str) -> None:
    """Compare a formulation on a tree with Pinocchio, and check the laws."""
    model = random_tree(seed)
    check_against_pinocchio(model, formulation)
    check_laws(model, formulation)


def _main(arguments: Sequence[str]) -> None:
    count, first = int(arguments[0]), int(arguments[1]) if len(arguments) > 1 else 0
    failed = 0
    for seed in range(first, first + count):
        for formulation in gd.formulations():
            try:
                check(seed, formulation)
            except UnsupportedError as error:  # a singular M has no forward dynamics
                print(f"seed {seed}, {formulation}: refused: {error}", flush=True)
            except Exception as error:
                failed += 1
                where = traceback.extract_tb(error.__traceback__)[-1].line
                print(f"seed {seed}, {formulation}: {type(error).__name__}: {error}: {where}", flush=True)
        if (seed + 1 - first) % 50 == 0:
            print(f"{seed + 1 - first} trees, {failed} failures", flush=True)


if __name__ == "__main__":
    _main(sys.argv[1:])
