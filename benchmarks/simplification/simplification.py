"""Simplified models of the PUMA 560: terms, cost and error for a guaranteed bound, and the error of the recipe of 1982.

    python -m benchmarks.simplification.simplification
    python -m benchmarks.simplification.simplification --redraw    the figure alone, from the results

Each simplified model is compared with the exact one in 100,000 random states, and in 100,000 more with all velocities
and accelerations at their limits. The tables go to standard output and with a figure to ``benchmarks/results``.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin

import gdalembert as gd
from benchmarks.common.tables import BLUE, GREEN, GREY, ORANGE, RESULTS, heading, label, markdown, panels, save, write
from gdalembert.dynamics.simplified.dynamics import (
    BoundCheck,
    PrunedDynamics,
    SimplifiedDynamics,
    TranslationalRotational,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ERRORS = (0.0, 0.002, 0.01, 0.03, 0.1)
A_MAX = (8.0, 6.0, 12.0, 25.0, 25.0, 25.0)
"""rad/s², ours: feasible for the motors of a PUMA 560."""

SAMPLES = 100_000
ROBOTS = {
    "puma560_3": 10.0,
    "two_link_arm": 10.0,
    "cart_pendulum": 10.0,
    "shala_likaj_rpr": 10.0,
    "horn_leg": 10.0,
    "horn_arm_offset": 10.0,
    "panda7": 10.0,
}
"""Other robots and the limits of their accelerations."""

COUNTED = 500
"""Graphs with more terms are not counted."""


@dataclass(frozen=True)
class Row:
    """A simplified model, and its errors at random states and at states with all rates at their limits."""

    dynamics: SimplifiedDynamics
    inside: BoundCheck
    corners: BoundCheck

    @property
    def observed(self) -> np.ndarray:
        """The largest errors over all states, relative to tau_max."""
        return np.maximum(self.inside.observed, self.corners.observed) / self.inside.tau_max

    @property
    def rms(self) -> np.ndarray:
        """RMS errors at random states, relative to the RMS torques."""
        return self.inside.rms / self.inside.rms_tau


def checked(dynamics: SimplifiedDynamics, samples: int) -> Row:
    """The model with its errors; a bound that does not hold ends the program."""
    row = Row(dynamics, dynamics.check(samples), dynamics.check(samples, corners=True))
    for check in (row.inside, row.corners):
        if not check.ok:
            raise SystemExit(f"{dynamics.tree.name}: {check}")
    return row


def largest_torques(model: pin.Model, samples: int) -> np.ndarray:
    """The largest torques of the exact model in random states, rounded to two digits."""
    exact = PrunedDynamics(model, 0, a_max=A_MAX)
    return np.array([float(f"{tau:.2g}") for tau in exact.check(samples).largest_tau])


def pruned(model: pin.Model, tau_max: np.ndarray | None, samples: int) -> dict[float, Row]:
    """The pruned models for all allowed errors."""
    return {e: checked(PrunedDynamics(model, e, a_max=A_MAX, tau_max=tau_max), samples) for e in ERRORS}


def counts(dynamics: SimplifiedDynamics) -> tuple[int, int, int]:
    """Terms of D, of V, and of G = ∂V/∂q."""
    energy = [term for term in dynamics.kept if term.entry is None]
    torque = sum(len(term.shape.turns) for term in energy)
    return len(dynamics.kept) - len(energy), len(energy), torque


HEAD = (
    "error allowed",
    "terms of D",
    "of V (of G)",
    "D and G",
    "instructions of τ",
    "mult. / add.",
    "instructions of M",
    "bound",
    "largest error seen",
    "RMS error / RMS τ",
    "M left",
)


def percent(value: float) -> str:
    """Two digits, or zero for rounding noise."""
    return "0" if value < 1e-12 else f"{100 * value:.2g} %"


def pruning_table(rows: dict[float, Row]) -> list[str]:
    """One line for each allowed error."""
    lines = []
    for error, row in rows.items():
        dynamics = row.dynamics
        d, v, g = counts(dynamics)
        cost = dynamics.cost
        definiteness = dynamics.definiteness
        lines.append(
            (
                percent(error),
                d,
                f"{v} ({g})",
                d + g,
                cost["instructions"],
                f"{cost['multiplications']} / {cost['additions']}",
                dynamics.mass_matrix.n_instructions(),
                percent(float((dynamics.bound / dynamics.limits.tau).max())),
                percent(float(row.observed.max())),
                percent(float(row.rms.max())),
                f"{definiteness.least:.2f}" if definiteness.guaranteed else f"({definiteness.least:.2f})",
            )
        )
    return markdown(HEAD, lines)


def recipe_table(row: Row) -> list[str]:
    """One line for each joint."""
    dynamics = row.dynamics
    lines = [
        (name, f"{tau:g}", percent(bound / tau), percent(seen), percent(rms))
        for name, tau, bound, seen, rms in zip(
            dynamics.tree.velocity_names, dynamics.limits.tau, dynamics.bound, row.observed, row.rms, strict=True
        )
    ]
    return markdown(("joint", "limit, N m", "bound", "largest error seen", "RMS error / RMS τ"), lines)


def instructions(dynamics: SimplifiedDynamics) -> int | None:
    """The instructions of tau, unless there are too many terms."""
    return dynamics.cost["instructions"] if len(dynamics.kept) <= COUNTED else None


def robots_table(names: Sequence[str]) -> list[str]:
    """Terms of other robots: all, and those that remain with a bound of 1 %."""
    lines = []
    for name in names:
        model = gd.load_urdf(name)
        exact, simple = (PrunedDynamics(model, error, a_max=ROBOTS[name]) for error in (0, 0.01))
        newton_euler = gd.NewtonEuler(model).inverse_dynamics.n_instructions()
        lines.append((name, len(exact.kept), len(simple.kept), instructions(exact), instructions(simple), newton_euler))
    head = ("robot", "terms of D and V", "of these at 1 %", "instructions, all", "at 1 %", "Newton–Euler")
    return markdown(head, lines)


PARAMETERS: dict[str, tuple[tuple[str, dict[str, Sequence[str] | bool]], ...]] = {
    "puma560": (
        ("none", {}),
        ("payload of the last link", {"payload": ["tool"]}),
        ("inertia of joint1", {"inertia": ["joint1"]}),
        ("inertia of joint3", {"inertia": ["joint3"]}),
        ("placement of joint1", {"placement": ["joint1"]}),
        ("placement of joint6", {"placement": ["joint6"]}),
        ("gravity", {"gravity": True}),
        ("armature", {"armature": True}),
    ),
    "shala_likaj_rpr": (
        ("none", {}),
        ("payload of the last link", {"payload": ["tip"]}),
        ("inertia of joint2", {"inertia": ["joint2"]}),
        ("placement of joint1", {"placement": ["joint1"]}),
        ("placement of joint3", {"placement": ["joint3"]}),
        ("gravity", {"gravity": True}),
        ("armature", {"armature": True}),
    ),
}
"""Parameters of robots, and how they are called."""


def parameters_table(name: str, a_max: float | Sequence[float]) -> list[str]:
    """Instructions of τ and M with parameters, exact and with bounds of 1 % and 10 %."""
    model, lines = gd.load_urdf(name), []
    for called, given in PARAMETERS[name]:
        bounded = [PrunedDynamics(model, error, a_max=a_max, parameters=given) for error in (0.01, 0.1)]
        robots = [*bounded, gd.NewtonEuler(model, parameters=given)]
        sizes = [robot.inverse_dynamics.n_instructions() for robot in robots]
        lines.append((f"{name}: {called}", *sizes, *(robot.mass_matrix.n_instructions() for robot in robots)))
    columns = ("at 1 %", "at 10 %", "Newton–Euler")
    return markdown(("parameters", *(f"{x} {column}" for x in ("τ", "M") for column in columns)), lines)


INTRODUCTION = """\
# Simplified models with a guaranteed bound

![instructions and errors over the bound](simplification.png)

`puma560`, motors included, |v| ≤ ({v}) rad/s, |a| ≤ ({a}) rad/s².
Bounds and errors are relative to the limits of the torques, for the worst joint. Errors are the largest in
{samples:,} random states and in {samples:,} more with all velocities and accelerations at their limits; the RMS error
is that of the former. "M left" is the fraction of the exact mass matrix that is guaranteed in every direction.
Exact Newton–Euler has {newton_euler} instructions for τ and {mass_matrix} for M.
"""


def report(
    model: pin.Model, by_limit: dict[float, Row], by_use: dict[float, Row], recipe: Row, others: Sequence[str]
) -> str:
    """All tables."""
    limits = recipe.dynamics.limits
    used = next(iter(by_use.values())).dynamics.limits.tau
    introduction = INTRODUCTION.format(
        v=", ".join(f"{x:g}" for x in limits.v),
        a=", ".join(f"{x:g}" for x in limits.a),
        samples=recipe.inside.samples,
        newton_euler=gd.NewtonEuler(model).inverse_dynamics.n_instructions(),
        mass_matrix=gd.NewtonEuler(model).mass_matrix.n_instructions(),
    )
    return "\n".join(
        [
            introduction,
            f"## Relative to the limits of the motors: {', '.join(f'{x:g}' for x in limits.tau)} N m",
            "",
            *pruning_table(by_limit),
            "",
            f"## Relative to the largest torques in use: {', '.join(f'{x:g}' for x in used)} N m",
            "",
            *pruning_table(by_use),
            "",
            "## The recipe of RSD-TR-8-82, section 3",
            "",
            f"Translation alone for joints 1–3, rotation alone for joints 4–6: {len(recipe.dynamics.kept)} terms of D "
            f"and V, {recipe.dynamics.cost['instructions']} instructions.",
            "",
            *recipe_table(recipe),
            "",
            "## Other robots",
            "",
            "With their own limits and |a| ≤ 10 rad/s² or m/s².",
            "",
            *robots_table(others),
            "",
            "## Parameters",
            "",
            "Instructions of τ and M if the robot has parameters, with the limits above.",
            "",
            *parameters_table("puma560", A_MAX),
            "",
            *parameters_table("shala_likaj_rpr", ROBOTS["shala_likaj_rpr"]),
            "",
        ]
    )


Points = dict[float, tuple[float, float]]
"""Error allowed [%]: instructions of τ, and the largest error seen [%]."""


def points(rows: dict[float, Row]) -> Points:
    """The points of the pruned models, without the exact one."""
    return {
        100 * error: (row.dynamics.cost["instructions"], 100 * float(row.observed.max()))
        for error, row in rows.items()
        if error
    }


def draw(by_limit: dict[float, Row], by_use: dict[float, Row], model: pin.Model) -> Figure:
    """Instructions, and errors seen, over the error allowed."""
    return picture(points(by_limit), points(by_use), gd.NewtonEuler(model).inverse_dynamics.n_instructions())


def picture(by_limit: Points, by_use: Points, newton_euler: int) -> Figure:
    """The figure of :func:`draw`."""
    from gdalembert import plotting

    figure, axes = panels(1, 2, (8.2, 3.4))
    found = {"relative to the limits of the motors": by_limit, "relative to the torques in use": by_use}
    common = {"linewidth": 1.3, "markersize": 3}
    styles = {name: {"color": colour, **common} for name, colour in zip(found, (BLUE, ORANGE), strict=True)}
    for k, axis in enumerate(axes[0]):
        rows = {name: {allowed: point[k] for allowed, point in own.items()} for name, own in found.items()}
        plotting.scaling(rows, styles=styles, key=False, ax=axis)
        axis.set_xticks([0.2, 1, 3, 10], ["0.2", "1", "3", "10"])
    axes[0, 0].axhline(newton_euler, color=GREEN, linewidth=1.3, label="Newton–Euler, exact")
    axes[0, 1].plot([0.2, 10], [0.2, 10], color=GREY, linewidth=1.3, linestyle=":")
    axes[0, 1].text(1, 1.3, "error allowed", color=GREY, fontsize=8, ha="right")
    axes[0, 0].set_yticks([200, 500, 1000], ["200", "500", "1000"])
    axes[0, 1].set_yticks([0.1, 1, 10], ["0.1", "1", "10"])
    label(axes[0, 0], "instructions of τ", x="error allowed, %")
    label(axes[0, 1], "largest error seen, %", x="error allowed, %")
    heading(figure, axes[0, 0], "PUMA 560: what simplified models cost, and what they get wrong")
    return figure


def recorded() -> tuple[Points, Points, int]:
    """The numbers in ``results/simplification.md``, with the digits there."""
    text = (RESULTS / "simplification.md").read_text(encoding="utf-8")
    found: list[Points] = []
    for table in [part.splitlines() for part in text.split("\n\n") if part.startswith("| error allowed")]:
        columns = [(cells[0], cells[4], cells[8]) for cells in (row.strip("| ").split(" | ") for row in table[2:])]
        numbers = [[float(cell.removesuffix(" %")) for cell in row] for row in columns]
        found.append({allowed: (cost, seen) for allowed, cost, seen in numbers if allowed})
    newton_euler = re.search(r"has (\d+) instructions for τ", text)
    return found[0], found[1], int(newton_euler[1] if newton_euler else 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--redraw", action="store_true", help="compute nothing: draw the recorded results again")
    if parser.parse_args().redraw:
        save(picture(*recorded()), RESULTS / "simplification.png")
        return
    model = gd.load_urdf("puma560")
    by_limit = pruned(model, None, SAMPLES)
    by_use = pruned(model, largest_torques(model, SAMPLES), SAMPLES)
    recipe = checked(TranslationalRotational(model, a_max=A_MAX), SAMPLES)
    text = report(model, by_limit, by_use, recipe, list(ROBOTS))
    print(text)
    write("simplification", text, lambda: draw(by_limit, by_use, model))


if __name__ == "__main__":
    main()
