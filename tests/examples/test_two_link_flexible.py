"""The scripts in ``examples``: they run, and what they show is right."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pinocchio as pin
import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


def loaded(name: str) -> ModuleType:
    """An example as a module."""
    path = next(path for path in EXAMPLES if path.stem == name)
    spec = importlib.util.spec_from_file_location(f"example_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", [path.stem for path in EXAMPLES])
def test_every_example_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    loaded(name).main([])
    out = capsys.readouterr().out
    assert out
    assert "nan" not in out


def test_two_link_flexible_keeps_its_energy_account(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the torques do is what the arm has."""
    example = loaded("two_link_flexible")
    monkeypatch.setattr(example, "SAMPLES", 4001)
    arm = example.build()
    times, x = example.simulate(arm)
    nv = arm.tree.nv
    q, v = x[:nv], x[nv:]
    energy = (arm.kinetic_energy(q, v) + arm.potential_energy(q)).full().ravel()
    power = 0.6 * np.sin(np.pi * times) * v[0] - 0.25 * np.sin(2 * np.pi * times) * v[1]
    work = (times[1] - times[0]) / 3 * (power[0] + 4 * power[1:-1:2].sum() + 2 * power[2:-1:2].sum() + power[-1])
    assert energy.max() - energy[0] > 0.2
    # Simpson's rule every 0.5 ms, of joint rates with vibrations of 10 to 500 Hz in them
    assert energy[-1] - energy[0] == pytest.approx(work, abs=2e-7)


def test_two_link_flexible_bends_like_a_cantilever() -> None:
    """Stretched out, F l³ / 3 EI, but of link 2 only what four clamped-free modes have of it."""
    example = loaded("two_link_flexible")
    arm = example.build()
    force = 1e-4
    held = arm.static_deflection(np.zeros(arm.tree.nq), "tip", [0, force, 0, 0, 0, 0], reference=pin.LOCAL)
    tip = example.gd.Kinematics(arm.tree).frame_placement("tip")(held).full()[1, 3]
    compliance = (1.8**3 - 0.8**3) / 3 + 0.8**3 * sum(
        4 / root**4 for root in (1.8751041, 4.6940911, 7.8547574, 10.9955407)
    )
    # large deflections change it by the square of the slope, 3e-10
    assert tip == pytest.approx(force * compliance / 10, rel=1e-7)


def test_two_link_flexible_draws(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    example = loaded("two_link_flexible")
    monkeypatch.setattr(example, "DURATION", 0.1)
    example.main(["--plot", str(tmp_path / "motion.png")])
    assert (tmp_path / "motion.png").read_bytes().startswith(b"\x89PNG")
    last = float(capsys.readouterr().out.split()[-1])
    arm = example.build()
    _, x = example.simulate(arm)
    # link 2 has clamped-free modes, of which each is 2 or −2 at the tip
    assert last == pytest.approx(2 * np.abs(np.array([1, -1, 1, -1]) @ x[6:10]).max(), rel=1e-10)
