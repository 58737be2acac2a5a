"""A cart swings its pendulum up, on a short track with a small force, and a linear regulator holds it there.

python examples/cart_pendulum_swing_up.py
python examples/cart_pendulum_swing_up.py --plot swing_up.png    needs matplotlib

The joint of the pendulum is passive. The initial guess is a simulation of a feedback law that pumps energy: the
pendulum swings, but does not reach the top in time, and the cart leaves the track.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import casadi as ca
import numpy as np

import gdalembert as gd
from gdalembert import ocp

FORCE, TRACK = 12.0, 0.3  # N, m: the cart stays within ± both
DURATION, HOLD = 3.0, 3.0  # s
KNOCK = 0.7  # rad/s, after the swing-up
DOWN, UP = np.array([0.0, 0.0]), np.array([0.0, np.pi])  # slide [m], swing [rad]
WEIGHTS = np.diag([10.0, 10.0, 1.0, 1.0])  # of slide, swing and their rates, relative to the force in units of FORCE


def bounds(dyn: gd.Dynamics, force: float = FORCE, track: float = TRACK) -> ocp.Bounds:
    """The bounds of the cart; the joint of the pendulum is passive and turns freely."""
    return ocp.Bounds.of(
        dyn, gd.load_urdf("cart_pendulum"), q={"slide": track, "swing": 2 * np.pi}, u={"slide": force, "swing": 0}
    )


def pumped(dyn: gd.Dynamics, intervals: int) -> gd.Simulation:
    """A simulation in which the cart, after 0.3 s of full force, pumps the missing energy into the pendulum."""
    needed = dyn.potential_energy(UP)

    def law(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        lacking = float(needed - dyn.potential_energy(q) - dyn.kinetic_energy(q, [0, v[1]]))
        push = FORCE if t < 0.3 else -3 * lacking * np.cos(q[1]) * v[1]
        return np.array([np.clip(push - 20 * q[0] - 2 * v[0], -FORCE, FORCE), 0])

    return gd.simulate(dyn, (DOWN, [0, 0]), np.linspace(0, DURATION, intervals + 1), law, hold=True)


def swing_up(dyn: gd.Dynamics, limits: ocp.Bounds, intervals: int) -> ocp.Solution:
    """The plan with the least ∫ force² dt [N² s] that ends with the pendulum up, at rest in the middle of the track."""
    problem = ocp.Problem(dyn, DURATION, intervals, bounds=limits, control="linear")
    problem.start(DOWN)
    problem.end(UP)
    problem.minimize(problem.integral(lambda u: u[0] ** 2))
    problem.guess(pumped(dyn, intervals))
    return problem.solve()


def regulator(dyn: gd.Dynamics) -> np.ndarray:
    """K (4) of force = −K (x − [UP; 0]), by the stable eigenvectors of the Hamiltonian of the Riccati equation."""
    x, force = ca.SX.sym("x", 4), ca.SX.sym("force")
    rate = dyn.state_derivative(x, ca.vertcat(force, 0))
    linear = ca.Function("linear", [x, force], [ca.jacobian(rate, x), ca.jacobian(rate, force)])
    a, b = (matrix.full() for matrix in linear([*UP, 0, 0], 0))
    values, vectors = np.linalg.eig(np.block([[a, -(FORCE**2) * b @ b.T], [-WEIGHTS, -a.T]]))
    stable = vectors[:, values.real < 0]
    return FORCE**2 * (b.T @ (stable[4:] @ np.linalg.inv(stable[:4])).real).ravel()


def hold(dyn: gd.Dynamics, q: np.ndarray, v: np.ndarray) -> gd.Simulation:
    """A simulation of the regulator from q and v on, with the same limit of the force."""
    gain = regulator(dyn)

    def law(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([np.clip(-gain @ np.concatenate([q - UP, v]), -FORCE, FORCE), 0])

    return gd.simulate(dyn, (q, v), np.linspace(0, HOLD, 201), law, hold=True)


def plot(path: str, solution: ocp.Solution, motion: gd.Simulation, held: gd.Simulation) -> None:
    """The pendulum in space on the left; swing, slide and force over time on the right."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3.8), layout="constrained")
    axes = figure.subplot_mosaic([["space", "swing"], ["space", "slide"], ["space", "force"]], width_ratios=[1, 1.3])
    times = np.linspace(0, DURATION, 601)
    (slide, swing), _ = (rows.T for rows in motion.at(times))
    bob = slide + 0.6 * np.sin(swing), -0.6 * np.cos(swing)
    space = axes["space"]
    space.plot([-TRACK, TRACK], [0, 0], color="0.75", linewidth=5, solid_capstyle="butt")
    space.plot(*bob, color="C0")
    for k in range(0, 601, 20):
        space.plot([slide[k], bob[0][k]], [0, bob[1][k]], color="C0", alpha=0.15 + 0.5 * k / 600, linewidth=0.8)
    space.set(aspect="equal", xlabel="x [m]", ylabel="z [m]", ylim=(-0.72, 0.72))
    for name, over, rows, limit in (
        ("swing", "swing [rad]", (swing, held.q[:, 1]), ()),
        ("slide", "slide [m]", (slide, held.q[:, 0]), (-TRACK, TRACK)),
        ("force", "force [N]", (np.interp(times, solution.t, solution.u[:, 0]), held.u[:, 0]), (-FORCE, FORCE)),
    ):
        axes[name].plot(times, rows[0], color="C0", label="planned, simulated")
        axes[name].plot(DURATION + held.t, rows[1], color="C1", label="regulator")
        for level in limit:
            axes[name].axhline(level, color="0.5", linestyle="--", linewidth=0.8)
        axes[name].set_ylabel(over)
        axes[name].sharex(axes["force"])
        axes[name].tick_params(labelbottom=name == "force")
    axes["swing"].legend(frameon=False, fontsize=8, loc="lower right")
    axes["force"].set_xlabel("time [s]")
    figure.align_ylabels([axes[name] for name in ("swing", "slide", "force")])
    figure.savefig(path, dpi=110)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coarse", action="store_true", help="40 intervals in place of 100")
    parser.add_argument("--plot", metavar="FILE", help="draw the motion")
    given = parser.parse_args(arguments)

    dyn = gd.NewtonEuler(gd.load_urdf("cart_pendulum"))
    solution = swing_up(dyn, bounds(dyn), 40 if given.coarse else 100)
    free = swing_up(dyn, bounds(dyn, force=100, track=2), 40 if given.coarse else 100)
    print(solution)
    print(f"∫ force² dt: {solution.cost:.6g} N² s; with the limits of the model, 100 N and 2 m: {free.cost:.6g} N² s")
    print(f"largest force {np.abs(solution.u[:, 0]).max():.6g} N, farthest {np.abs(solution.q[:, 0]).max():.6g} m")

    motion = solution.simulate()
    excess = solution.bounds.excess(*motion.at(np.linspace(0, DURATION, 2001)))
    print(motion)
    print(f"off the end of the plan by {np.abs(motion.q[-1] - UP).max():.1e} rad or m")
    beyond = (f"{entry} by {x:.1e}" for entry, x in excess.items())
    print("beyond bounds in the simulation:", ", ".join(beyond) or "nowhere")
    held = hold(dyn, motion.q[-1], motion.v[-1] + [0, KNOCK])
    print(f"knocked by {KNOCK:g} rad/s and held: it leans by {np.abs(held.q[:, 1] - np.pi).max():.2g} rad at most,")
    print(f"  and after {HOLD:g} s it is off by {np.abs(held.q[-1] - UP).max():.1e} rad or m")
    print(held)
    if given.plot:
        plot(given.plot, solution, motion, held)


if __name__ == "__main__":
    main()
