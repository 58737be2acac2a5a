"""The Panda identified: an exciting motion, measured with noise, filtered and fitted, predicts another motion.

python examples/identification.py
python examples/identification.py --plot torques.png --plot-motion motion.png    needs matplotlib

The "real" robot has other bodies than the data sheet says, and motors and friction that it does not mention. It is
simulated under a servo, and joint angles and torques are measured with noise. What is fitted to one motion predicts the
torques of another one to the noise of the torque sensors.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert import identification

RATE, CUTOFF = 500.0, 30.0  # Hz, of the measurement and of the filter of the angles
DECIMATION = 20  # of the rows of the fit, to 25 Hz
ANGLE_NOISE, TORQUE_NOISE = 2e-6, 0.01  # rad; part of the root mean square of each torque
MARGIN = 0.25  # of the limits of the data sheet, for a robot that may be heavier
STIFFNESS = np.array([800.0, 800, 800, 800, 200, 200, 200])  # of the servo, N m/rad
DAMPING = np.array([80.0, 80, 80, 80, 10, 10, 10])  # N m s/rad
PARAMETERS = {"inertia": True, "armature": True, "friction": True}


class Measurement(NamedTuple):
    """A motion, and what sensors see of it: angles and torques (N × 7), and the noise of the torques (7)."""

    simulation: gd.Simulation
    q: np.ndarray
    tau: np.ndarray
    noise: np.ndarray

    def filtered(self) -> identification.Signals:
        return identification.filtered(self.simulation.t, self.q, self.tau, cutoff=CUTOFF)


class Identified(NamedTuple):
    """The motions, their measurements, the signals of the second one, its torques by the data sheet, and the fit."""

    real: pin.Model
    motions: list[identification.Excitation]
    measured: list[Measurement]
    held_back: identification.Signals
    nominal: np.ndarray
    result: identification.Identification


def data_sheet() -> pin.Model:
    """The model as it is known before, with a guess of the friction."""
    model = gd.load_urdf("panda7")
    model.damping, model.friction = np.full(7, 0.5), np.full(7, 0.5)
    return model


def real_robot(model: pin.Model) -> pin.Model:
    """A robot with other bodies, which exist too, and with motors and another friction."""
    rng, real = np.random.default_rng(0), model.copy()
    for k in range(1, real.njoints):
        change = np.eye(4) + 0.05 * rng.normal(size=(4, 4))
        body = change @ pin.PseudoInertia.FromInertia(model.inertias[k]).toMatrix() @ change.T
        real.inertias[k] = pin.Inertia.FromDynamicParameters(pin.PseudoInertia.FromMatrix(body).toDynamicParameters())
    real.armature = np.array([0.6, 0.6, 0.5, 0.5, 0.2, 0.2, 0.1])
    real.damping = np.array([1.0, 1.2, 0.9, 0.8, 0.4, 0.3, 0.3])
    real.friction = np.array([0.8, 0.9, 0.7, 0.7, 0.4, 0.3, 0.3])
    return real


def simulate(robot: pin.Model, known: gd.Dynamics, motion: identification.Excitation) -> gd.Simulation:
    """A robot under a servo that follows a motion, with the torques of what is known as feed-forward."""
    t, x = ca.SX.sym("t"), ca.SX.sym("x", 14)
    q, v, a = motion.function(t)
    torques = known.inverse_dynamics(q, v, a) + STIFFNESS * (q - x[:7]) + DAMPING * (v - x[7:])
    servo = ca.Function("servo", [t, x], [torques])
    dyn = gd.NewtonEuler(robot, friction="model")
    return gd.simulate(dyn, (motion.q(0), motion.v(0)), motion.samples(RATE)[0], servo, method="bdf")


def measure(simulation: gd.Simulation, seed: int) -> Measurement:
    """What encoders and torque sensors see."""
    rng, (q, u) = np.random.default_rng(seed), (simulation.q, simulation.u)
    noise = TORQUE_NOISE * np.sqrt(np.mean(u**2, axis=0))
    return Measurement(
        simulation, q + ANGLE_NOISE * rng.normal(size=q.shape), u + noise * rng.normal(size=u.shape), noise
    )


def identify(model: pin.Model) -> Identified:
    """The robot behind a data sheet, from one motion; another one is predicted."""
    real = real_robot(model)
    known = gd.NewtonEuler(model, friction="model")
    dyn = gd.NewtonEuler(model, friction="model", parameters=PARAMETERS)
    motions = [
        identification.excitation(dyn, model, period=10.0, harmonics=5, margin=MARGIN, starts=1),
        identification.excitation(known, model, period=8.0, harmonics=4, margin=MARGIN, starts=1, seed=1),
    ]
    measured = [measure(simulate(real, known, motion), seed) for seed, motion in enumerate(motions)]
    fitted, held_back = (each.filtered() for each in measured)
    samples, unseen = ((each.q, each.v, each.a, each.unfiltered_tau) for each in (fitted, held_back))
    result = identification.fit(dyn, *samples, model=model, decimation=DECIMATION, held_back=unseen)
    nominal = known.inverse_dynamics(held_back.q.T, held_back.v.T, held_back.a.T).full().T
    return Identified(real, motions, measured, held_back, nominal, result)


def plot(path: str, found: Identified) -> None:
    """Torques of two joints in the motion held back, measured and predicted, and the residuals below."""
    from matplotlib.figure import Figure

    torques = found.result.held_back
    lines = {
        "data sheet": (found.nominal, "#D55E00"),
        "measured": (torques.measured, "#8A8A8A"),
        "identified": (torques.predicted, "#0072B2"),
    }
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True)
    for (above, below), joint in zip(axes.T, (1, 5), strict=True):
        for name, (tau, colour) in lines.items():
            above.plot(found.held_back.t, tau[:, joint], color=colour, linewidth=1.2, label=name)
            if name != "measured":
                below.plot(found.held_back.t, (torques.measured - tau)[:, joint], color=colour, linewidth=0.8)
        above.set_title(f"joint {joint + 1}", loc="left", fontsize=10)
        below.set_xlabel("time [s]")
        for each in (above, below):
            each.spines[["top", "right"]].set_visible(False)
    axes[0, 0].set_ylabel("torque [N m]")
    axes[1, 0].set_ylabel("measured − predicted [N m]")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    figure.savefig(path, dpi=150)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", metavar="FILE", help="draw measured and predicted torques")
    parser.add_argument("--plot-motion", metavar="FILE", help="draw the exciting motion")
    given = parser.parse_args(arguments)

    model = data_sheet()
    found = identify(model)
    result, noise = found.result, found.measured[1].noise
    print(found.motions[0])
    used = np.abs(found.measured[0].simulation.u / model.effortLimit).max()
    print(f"measured: {len(found.measured[0].q)} samples, at most {used:.0%} of a torque limit")
    print(result)
    print("torques of another motion, root mean square of the residuals over the noise of the sensors:")
    for name, tau in (("data sheet", found.nominal), ("identified", result.held_back.predicted)):
        rms = np.sqrt(np.mean((result.held_back.measured - tau) ** 2, axis=0)) / noise
        print(f"  {name}" + "".join(f"{each:8.2f}" for each in rms))
    known = gd.NewtonEuler(model, friction="model")
    again = simulate(result.model, known, found.motions[1])
    off = np.abs(again.q - found.measured[1].simulation.q).max()
    print(f"under the same servo, the identified model is where the robot is, to {1e3 * off:.2g} mrad")
    if given.plot:
        plot(given.plot, found)
    if given.plot_motion:
        from gdalembert import plotting

        dyn = gd.NewtonEuler(model, friction="model")
        plotting.excitation(found.motions[0], model, dyn)[0].figure.savefig(given.plot_motion, dpi=100)


if __name__ == "__main__":
    main()
