"""The PUMA 560 swings its arm around with the least effort within its torque and velocity limits.

python examples/puma_swing.py
python examples/puma_swing.py --plot puma_swing.png    needs matplotlib

Effort is ∫ Σ (tau_i / limit_i)² dt [s]. The script compares it with that of a naive motion of the same duration, a
polynomial of degree 5 in each joint, which is within the limits only if it is slow.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import casadi as ca
import numpy as np

import gdalembert as gd
from gdalembert import ocp

START = np.array([-1.0, 0.5, 1.9, 0.0, 0.5, 0.0])  # rad
END = np.array([1.0, -0.3, 1.0, 0.6, -0.5, 0.0])
DURATION = 2.0  # s, of the motion that is reported and drawn
DURATIONS = (1.47, 1.5, 1.6, 1.8, 2.0, 2.5, 3.0)  # 1.47 s is nearly the shortest


def swing(dyn: gd.Dynamics, bounds: ocp.Bounds, duration: float, intervals: int) -> ocp.Solution:
    """The plan from rest to rest with the least effort."""
    limit = ca.DM(bounds.u_upper)
    problem = ocp.Problem(dyn, duration, intervals, bounds=bounds, degree=2, control="linear")
    problem.start(START)
    problem.end(END)
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u / limit)))
    return problem.solve()


def naive(dyn: gd.Dynamics, bounds: ocp.Bounds, duration: float) -> tuple[float, float, float]:
    """Effort [s] of the naive motion, and its largest velocity and torque relative to their limits."""
    motion = ocp.rest_to_rest(dyn, START, END, duration, samples=1001)
    torques = motion.u / bounds.u_upper
    rate = (torques**2).sum(axis=1)
    effort = duration * (rate[1:] + rate[:-1]).mean() / 2  # the trapezoidal rule
    return float(effort), float(np.abs(motion.v / bounds.v_upper).max()), float(np.abs(torques).max())


def plot(path: str, dyn: gd.Dynamics, solutions: dict[float, ocp.Solution]) -> None:
    """Velocities and torques of the first three joints on the left, effort over duration on the right."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplot_mosaic([["v", "effort"], ["tau", "effort"]])
    solution = solutions[DURATION]
    bounds = solution.bounds
    plain = ocp.rest_to_rest(dyn, START, END, DURATION, samples=201)
    for name, found, quintic, limit in (
        ("v", solution.v, plain.v, bounds.v_upper),
        ("tau", solution.u, plain.u, bounds.u_upper),
    ):
        for i in range(3):
            axes[name].plot(solution.t, found[:, i] / limit[i], color=f"C{i}", label=f"joint {i + 1}")
            axes[name].plot(plain.t, quintic[:, i] / limit[i], color=f"C{i}", linestyle=":")
    for level in (-1, 1):
        axes["v"].axhline(level, color="0.5", linestyle="--", linewidth=0.8)
    axes["v"].set(title=f"in {DURATION:g} s", ylabel="velocity / limit", ylim=(-1.5, 2.4))
    axes["effort"].set_title("in any duration")
    axes["v"].legend(frameon=False, fontsize=8, ncols=3, loc="upper center", columnspacing=1, handlelength=1.2)
    axes["tau"].set(ylabel="torque / limit", xlabel="time [s]")

    durations = np.array(sorted(solutions))
    fine = np.linspace(durations[0], durations[-1], 25)
    motions = [naive(dyn, bounds, float(t)) for t in fine]
    effort = axes["effort"]
    within = np.array([max(rest) <= 1 for _, *rest in motions])
    quintic = np.array([cost for cost, *_ in motions])
    effort.plot(
        durations, [solutions[t].cost for t in durations], "o-", color="C4", label="least effort, within limits"
    )
    effort.plot(fine[within], quintic[within], color="0.3", label="polynomial, within limits")
    effort.plot(fine[~within], quintic[~within], ":", color="0.3", label="polynomial, too fast")
    effort.set(xlabel="duration [s]", ylabel="effort [s]", ylim=(0, 0.24))
    effort.legend(frameon=False, fontsize=8, loc="lower left")
    figure.savefig(path, dpi=110)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coarse", action="store_true", help="30 intervals in place of 40, and three durations")
    parser.add_argument("--plot", metavar="FILE", help="draw the motion and the effort over the duration")
    given = parser.parse_args(arguments)

    model = gd.load_urdf("puma560")
    dyn = gd.NewtonEuler(model)
    bounds = ocp.Bounds.of(dyn, model)
    durations, intervals = ((1.47, DURATION, 3.0), 30) if given.coarse else (DURATIONS, 40)
    solutions = {t: swing(dyn, bounds, t, intervals) for t in durations}

    print("(velocity, torque: the largest share of a limit)")
    print("           least effort                     polynomial")
    print("duration   effort  velocity  torque         effort  velocity  torque")
    for t, solution in solutions.items():
        velocity, torque = (np.abs(solution.v) / bounds.v_upper).max(), (np.abs(solution.u) / bounds.u_upper).max()
        cost, fastest, strongest = naive(dyn, bounds, t)
        print(
            f"{t:5.2f} s   {solution.cost:6.4f}  {velocity:6.1%}    {torque:6.1%}         "
            f"{cost:6.4f}  {fastest:6.1%}    {strongest:6.1%}"
        )
    for solution in solutions.values():
        print(solution)
    solution = solutions[DURATION]
    motion = solution.simulate()
    excess = bounds.excess(*motion.at(np.linspace(0, DURATION, 2001)))
    print(motion)
    print(f"off the end of the plan by {np.abs(motion.q[-1] - END).max():.1e} rad")
    beyond = (f"{entry} by {x:.1e}" for entry, x in excess.items())
    print("beyond bounds in the simulation:", ", ".join(beyond) or "nowhere")
    if given.plot:
        plot(given.plot, dyn, solutions)


if __name__ == "__main__":
    main()
