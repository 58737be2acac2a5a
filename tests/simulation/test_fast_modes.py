"""The warning that names the fastest vibration and a way out."""

from __future__ import annotations

import re
import warnings

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from benchmarks.flexible.case_study import DEFAULT, arm
from gdalembert.dynamics.forces import Damping, Force
from gdalembert.errors import SimulationError, SimulationWarning
from gdalembert.simulation.simulate import warn_of_fast_modes
from gdalembert.spatial.algebra import Matrix

NONE = np.empty(0)


def test_the_fastest_mode_is_named() -> None:
    dyn = arm(DEFAULT, 1e4)
    omega, shapes = dyn.natural_modes(np.zeros(10), joints="free")
    with pytest.warns(SimulationWarning) as caught:
        warn_of_fast_modes(dyn, "adams", None, np.zeros(10), 2.0, NONE)
    (said,) = (str(warning.message) for warning in caught)
    assert f"vibrates at {omega[-1] / (2 * np.pi):.4g} Hz, and adams takes about 2e+05 steps" in said
    assert "take method='radau'" in said
    assert "or take fewer modes" in said
    name = re.search("'(link. y.)' vibrates", said)
    assert name is not None
    energies = shapes[:, -1] * (dyn.stiffness_matrix @ shapes[:, -1])
    assert energies.sum() == pytest.approx(omega[-1] ** 2, rel=1e-9)
    assert dyn.layout[int(energies.argmax())] == name[1]


def test_simulate_warns_before_it_begins() -> None:
    """A spring of 1 GN m/rad: the wanted end is never reached."""
    dyn = gd.NewtonEuler(gd.load_urdf("cart_pendulum"), springs={"swing": (1e9, 0.0)})
    said = "'swing' vibrates at .* Hz, and adams takes about"
    with pytest.warns(SimulationWarning, match=said) as caught, pytest.raises(SimulationError):
        gd.simulate(dyn, [0, 0.01, 0, 0], [0.0, 100.0], options={"max_num_steps": 10})
    assert caught[0].filename == __file__
    assert "fewer modes" not in str(caught[0].message)
    with (
        pytest.warns(SimulationWarning, match=r"and rk4 is unstable with steps above \d"),
        pytest.raises(SimulationError),
    ):
        gd.simulate(dyn, [0, 0.01, 0, 0], [0.0, 1.0], method="rk4", step=0.01)


class Away(Force):
    """Drives the first coordinate away from zero."""

    name = "away"

    def torque(self, q: Matrix, v: Matrix) -> Matrix:
        return ca.vertcat(-1e6 * q[0], 0)


@pytest.mark.parametrize("forces", [(), (Damping(np.eye(2)),), (Away(),)], ids=["none", "damping", "away"])
def test_what_does_not_vibrate_is_no_matter(forces: tuple[Force, ...]) -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("cart_pendulum"), forces=forces)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for method in ("adams", "dop853", "rk4", "radau"):
            warn_of_fast_modes(dyn, method, 1.0, np.zeros(2), 1e6, NONE)


def automatic(dyn: gd.Dynamics, phase: float) -> str:
    """The method of a motion in which the fastest vibration turns by so much [rad]."""
    duration = phase / dyn.natural_frequencies(np.zeros(dyn.nq), joints="free")[-1]
    return gd.simulate(dyn, np.zeros(dyn.nq + dyn.nv), [0.0, duration]).method


def test_the_automatic_method_depends_on_size_and_frequencies(monkeypatch: pytest.MonkeyPatch) -> None:
    """The arm has 1742 instructions, and its frequencies are 33 times apart."""
    dyn = arm(DEFAULT, 1e4)
    assert automatic(dyn, 150.0) == "adams"
    monkeypatch.setattr("gdalembert.simulation.simulate._LARGE", 1000)
    assert automatic(dyn, 150.0) == "radau"
    assert automatic(dyn, 50.0) == "adams"
    monkeypatch.setattr("gdalembert.simulation.simulate._APART", 35.0)
    assert automatic(dyn, 150.0) == "adams"


@pytest.mark.long
def test_the_automatic_method_of_rods_that_stretch_is_implicit() -> None:
    rod = gd.Beam(0.8, 0.45, EI_z=100.0, EA=2.8e6, section_inertia=(0, 6e-4))
    model, strains = gd.load_urdf("two_link_flexible"), ("bending_y", "elongation")
    assert automatic(gd.FlexibleArm(model, {"link2": gd.CosseratRod(rod, strains=strains)}), 150.0) == "radau"
