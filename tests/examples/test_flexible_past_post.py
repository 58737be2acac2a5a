"""``examples/flexible_past_post.py``: the flexible plan passes both posts, the rigid one does not."""

from __future__ import annotations

import numpy as np
import pytest

import gdalembert as gd
from gdalembert.flexible.centreline import centreline
from tests.helpers.scripts import example

pytestmark = [pytest.mark.extras, pytest.mark.long]

SCRIPT = example("flexible_past_post")


def test_the_centreline_of_the_flexible_arm_stays_away_from_the_posts() -> None:
    """By sections of the deformed links, without capsules."""
    model = gd.load_urdf("two_link_flexible")
    plant = SCRIPT.flexible(model)
    arm = SCRIPT.flexible(model, link1=gd.modes.craig_bampton(1), link2=gd.modes.clamped_free(2))
    pairs = [(link, post) for link in SCRIPT.LENGTHS for post in SCRIPT.POSTS]
    plan = SCRIPT.plan_of(arm, model, gd.Distances(arm, None, SCRIPT.POSTS, pairs=pairs), 120)
    motion = SCRIPT.follow(plan, plant)
    least = np.inf
    for name, length in SCRIPT.LENGTHS.items():
        line = centreline(plant, name, np.linspace(0, length, 101))
        for q in motion.q[::5]:
            points = line(q)[0].full().T
            for post in SCRIPT.POSTS.values():
                away = np.linalg.norm((points - post.a)[:, :2], axis=1).min()
                least = min(least, away - post.radius - SCRIPT.RADIUS)
    assert plan.clearance.gap > SCRIPT.MARGIN - 1e-5
    assert least > SCRIPT.MARGIN - 2e-3  # the arm has more modes than the plan
