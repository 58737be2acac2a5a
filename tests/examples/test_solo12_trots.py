"""``examples/solo12_trots.py``: its gait, its references, and some ticks on four feet."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from tests.helpers.scripts import example

pytestmark = pytest.mark.extras

SCRIPT = example("solo12_trots")


def test_the_gait_changes_diagonal_feet() -> None:
    """Two steps of 0.2 s in 0.48 s, between which four feet stand; feet rise only where they are in the air."""
    names = [SCRIPT.feet_at(SCRIPT.TICK * k) for k in range(100)]
    assert names[:10] == ["stand"] * 10
    assert names[10:34] == ["left"] * 10 + ["stand"] * 2 + ["right"] * 10 + ["stand"] * 2
    assert names[10:60] == names[34:84]
    for k, name in enumerate(names):
        z = SCRIPT.heights(SCRIPT.TICK * k)
        assert not any(z[i] for i, foot in enumerate(SCRIPT.FEET) if foot in SCRIPT.SETS[name])
        assert 0 <= z.min() <= z.max() <= SCRIPT.LIFT
    assert SCRIPT.heights(SCRIPT.STANCE + SCRIPT.SWING / 2) == pytest.approx([0, SCRIPT.LIFT, SCRIPT.LIFT, 0])


def test_velocities_are_those_of_the_poses() -> None:
    model, standing = SCRIPT.build()
    for trots in (True, False):
        given = SCRIPT.references(model, standing, 0.5, trots=trots)
        q, v = given["q_ref"].T, given["v_ref"].T
        assert q.shape == (SCRIPT.INTERVALS + 1, model.nq)
        for k in range(SCRIPT.INTERVALS):
            assert pin.integrate(model, q[k], SCRIPT.TICK * v[k]) == pytest.approx(q[k + 1], abs=1e-12)
        assert np.linalg.norm(q[:, 3:7], axis=1) == pytest.approx(1)


@pytest.mark.system
@pytest.mark.long
def test_it_shifts_its_body_above_its_feet() -> None:
    model, standing = SCRIPT.build()
    loop = SCRIPT.run(model, standing, 0.3, trots=False)
    assert loop.solved.all()
    assert np.abs(loop.error[-1, :3]).max() < 0.02
    assert np.abs(loop.torque).max() <= SCRIPT.TORQUE
    assert np.abs(loop.q[-1, :3] - standing[:3]).max() > 0.01
