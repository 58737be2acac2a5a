"""``examples/two_link_flexible.py``: what it shows is right."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from tests.helpers.scripts import example

pytestmark = pytest.mark.extras

NAME = "two_link_flexible"


def test_it_keeps_its_energy_account(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the torques do is what the arm has."""
    script = example(NAME)
    monkeypatch.setattr(script, "SAMPLES", 4001)
    arm = script.build()
    times, x = script.simulate(arm, script.DURATION)
    nv = arm.tree.nv
    q, v = x[:nv], x[nv:]
    energy = (arm.kinetic_energy(q, v) + arm.potential_energy(q)).full().ravel()
    power = 0.6 * np.sin(np.pi * times) * v[0] - 0.25 * np.sin(2 * np.pi * times) * v[1]
    work = (times[1] - times[0]) / 3 * (power[0] + 4 * power[1:-1:2].sum() + 2 * power[2:-1:2].sum() + power[-1])
    assert energy.max() - energy[0] > 0.2
    # Simpson's rule every 0.5 ms, of joint rates with vibrations of 10 to 500 Hz in them
    assert energy[-1] - energy[0] == pytest.approx(work, abs=2e-7)


def test_it_bends_like_a_cantilever() -> None:
    """Stretched out, F l³ / 3 EI, but of link 2 only what four clamped-free modes have of it."""
    script = example(NAME)
    arm = script.build()
    force = 1e-4
    held = arm.static_deflection(np.zeros(arm.tree.nq), "tip", [0, force, 0, 0, 0, 0], reference=pin.LOCAL)
    tip = script.gd.Kinematics(arm.tree).frame_placement("tip")(held).full()[1, 3]
    compliance = (1.8**3 - 0.8**3) / 3 + 0.8**3 * sum(
        4 / root**4 for root in (1.8751041, 4.6940911, 7.8547574, 10.9955407)
    )
    # large deflections change it by the square of the slope, 3e-10
    assert tip == pytest.approx(force * compliance / 10, rel=1e-7)


def test_the_deflection_it_prints_is_that_of_the_modes(capsys: pytest.CaptureFixture[str]) -> None:
    script = example(NAME)
    script.main(["--coarse"])
    last = float(capsys.readouterr().out.split()[-1])
    arm = script.build()
    _, x = script.simulate(arm, 0.25)
    # link 2 has clamped-free modes, of which each is 2 or −2 at the tip
    assert last == pytest.approx(2 * np.abs(np.array([1, -1, 1, -1]) @ x[6:10]).max(), rel=1e-10)
