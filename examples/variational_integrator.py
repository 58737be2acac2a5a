"""A variational integrator: two links swing for 5 s, and their energy stays within a narrow band.

python examples/variational_integrator.py
python examples/variational_integrator.py --coarse

The action of one step is h L at its middle, L the kinetic less the potential energy. Three configurations in a row make
the action of two steps stationary in the one between (the discrete Euler–Lagrange equations; Marsden and West,
Discrete mechanics and variational integrators, 2001): a third one follows from two, by Newton's method. All variations
are in the tangent space, so that joints with quaternions need nothing else.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

import gdalembert as gd

ROBOT = "two_link_arm"
START = np.array([1.0, 0.5])  # rad, at rest
DURATION = 5.0  # s
STEP = 0.005  # s


class Motion(NamedTuple):
    """Rows of q, and the energy in the middle of each step [J]."""

    q: np.ndarray
    energy: np.ndarray


def stepper(model: pin.Model, h: float) -> ca.Function:
    """(q0, q1) → (q2): the configuration that follows two, h [s] apart."""
    dyn, kin = gd.NewtonEuler(model), gd.Kinematics(model)

    def action(q: ca.SX, q_next: ca.SX) -> ca.SX:
        way = kin.difference(q, q_next)
        middle = kin.integrate(q, way / 2)
        return h * (dyn.kinetic_energy(middle, way / h) - dyn.potential_energy(middle))

    q0, q1, q2, d1, d2 = (ca.SX.sym(f"x{k}", n) for k, n in enumerate([model.nq] * 3 + [model.nv] * 2))
    moved = kin.integrate(q1, d1)
    total = action(q0, moved) + action(moved, kin.integrate(q2, d2))
    equations = ca.Function("equations", [d2, q0, q1, q2], [ca.substitute(ca.gradient(total, d1), d1, 0)])
    solve = ca.rootfinder("solve", "newton", equations, {"abstol": 1e-12})
    before, now = ca.MX.sym("q0", model.nq), ca.MX.sym("q1", model.nq)
    guess = kin.integrate(now, kin.difference(before, now))
    return ca.Function("step", [before, now], [kin.integrate(guess, solve(0, before, now, guess))])


def swing(model: pin.Model, q: npt.ArrayLike, v: npt.ArrayLike, duration: float, h: float) -> Motion:
    """The motion from q with the velocity v of the first step."""
    dyn, kin, step = gd.NewtonEuler(model), gd.Kinematics(model), stepper(model, h)
    rows = [ca.DM(q), kin.integrate(q, h * np.asarray(v))]
    for _ in range(round(duration / h) - 1):
        rows.append(step(rows[-2], rows[-1]))
    q = ca.horzcat(*rows)
    way = kin.difference(q[:, :-1], q[:, 1:])
    middle = kin.integrate(q[:, :-1], way / 2)
    return Motion(q.full().T, (dyn.kinetic_energy(middle, way / h) + dyn.potential_energy(middle)).full().ravel())


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coarse", action="store_true", help="steps twice as long")
    given = parser.parse_args(arguments)

    model, h = gd.load_urdf(ROBOT), STEP * (2 if given.coarse else 1)
    exact = gd.simulate(gd.NewtonEuler(model), (START, [0, 0]), DURATION)
    exchanged = float(np.ptp(exact.kinetic))
    print(f"kinetic energy between 0 and {exchanged:.3g} J")
    for length in (2 * h, h):
        motion = swing(model, START, [0, 0], DURATION, length)
        early, late = np.array_split(motion.energy, 2)
        print(f"h = {1000 * length:g} ms: energy within {np.ptp(motion.energy):.3g} J,", end=" ")
        print(f"{np.ptp(early):.3g} J in the first half, {np.ptp(late):.3g} J in the second")


if __name__ == "__main__":
    main()
