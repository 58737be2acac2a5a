"""The sizes of the graphs: instructions of every Function of each formulation, and beside other packages.

    python -m benchmarks.graph_size.sizes                          all robots
    python -m benchmarks.graph_size.sizes panda7 ur5               these
    python -m benchmarks.graph_size.sizes --without-peers panda7   our own Functions only, which needs no adam-robotics
    python -m benchmarks.graph_size.sizes --redraw                 the figure alone, from the results

Counts are exact and the same on every machine. The tables go to standard output and, for all robots, with a figure to
``benchmarks/results``.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import gdalembert as gd
from benchmarks.common import peers
from benchmarks.common.robots import NAMES, TITLES, known, load
from benchmarks.common.tables import BLUE, ORANGE, PURPLE, RESULTS, SKY, heading, label, markdown, panels, save, write
from gdalembert.spatial.instructions import count

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FUNCTIONS = (
    "inverse_dynamics",
    "nle",
    "generalized_gravity",
    "mass_matrix",
    "coriolis_matrix",
    "forward_dynamics",
    "state_derivative",
    "kinetic_energy",
    "potential_energy",
    "terms",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
    "inverse_dynamics_hessian",
)

COMPARED = {
    "inverse_dynamics": ("inverse_dynamics", "Inverse dynamics: τ(q, v, a)"),
    "mass_matrix": ("mass_matrix", "Mass matrix: M(q)"),
    "nle": ("nle", "Bias: C v + g (q, v)"),
    "generalized_gravity": ("generalized_gravity", "Gravity: g(q)"),
    "coriolis_matrix": ("coriolis_matrix", "Coriolis matrix: C(q, v)"),
    "forward_dynamics": ("forward_dynamics", "Forward dynamics: a(q, v, τ)"),
    "inverse_dynamics_derivatives": (
        "inverse_dynamics_derivatives",
        "Derivatives of inverse dynamics: ∂τ/∂(q, v); Pinocchio's by its analytic recursion",
    ),
    "jacobian_of_inverse_dynamics": (
        "inverse_dynamics_derivatives",
        "Derivatives of inverse dynamics: ∂τ/∂(q, v); the others' by ca.jacobian",
    ),
    "forward_dynamics_derivatives": (
        "forward_dynamics_derivatives",
        "Derivatives of forward dynamics: ∂a/∂(q, v) and M⁻¹; Pinocchio's with a",
    ),
}
"""What is compared: our Function, and the name of the quantity."""

SHORT = {"N–E": gd.NewtonEuler, "G–D": gd.GeneralizedDAlembert, "L–E": gd.LagrangeEuler}

PACKAGES = {"Pinocchio": BLUE, "casadi-kin-dyn": SKY, "urdf2casadi": ORANGE, "adam": PURPLE}
"""The packages that the figure shows beside Newton–Euler."""

DRAWN = {
    "Inverse dynamics  τ(q, v, a)": ("inverse_dynamics",),
    "Mass matrix  M(q)": ("mass_matrix",),
    "Forward dynamics  a(q, v, τ)": ("forward_dynamics",),
    "Derivatives  ∂τ/∂(q, v), Pinocchio's analytic, the others' by ca.jacobian": (
        "inverse_dynamics_derivatives",
        "jacobian_of_inverse_dynamics",
    ),
}
"""The panels of the figure; where a package has two graphs of a quantity, the smaller one is drawn."""

NOTES = """\
# Beside other packages

![instructions of the others in multiples of Newton–Euler's](sizes.png)

Instructions (`n_instructions`) of SX Functions after `ca.cse`. N–E, G–D and L–E are our three formulations with default
options. Columns in *italics* are recorded, with casadi {casadi}; all others are counted when this table is written.

* *Pinocchio*: the SX graphs of {Pinocchio}.
* *Pinocchio, cleaned*: {Pinocchio, cleaned}.
* *casadi-kin-dyn*: {casadi-kin-dyn}.
* *urdf2casadi*: {urdf2casadi}.
  It takes serial robots with a fixed base.
* adam: version {adam}. τ is M a + bias, the only way it offers. For a moving base, a is its articulated-body
  algorithm; for a fixed base, for which it has none, a is M \\ (τ − bias) by CasADi's LDLᵀ. Its base always moves: for
  a robot with a fixed base, the base rests at the origin, as numbers, and the rows and columns of the joints are
  counted; for a moving base, q is Pinocchio's, position and quaternion. Before they are counted, its τ and a are
  compared with Pinocchio's. It fails (–) for prismatic joints.

Outputs are dense. Jacobians by `ca.jacobian` are the exception: they keep CasADi's sparsity, and are with respect to
all nq + nv entries of q and v. Ours are dense, and with respect to the nv tangent directions of q.
"""


@functools.cache
def counts(name: str) -> dict[str, dict[str, dict[str, int]]]:
    """The cost of each Function of each formulation, for one robot."""
    model = load(name)
    return {
        formulation: {function: count(getattr(dyn, function)) for function in FUNCTIONS}
        for formulation, dyn in ((cls.name, cls(model)) for cls in gd.formulations().values())
    }


def table(names: Sequence[str]) -> str:
    """One section for each robot, one row for each Function, one column for each formulation."""
    lines = ["# Graph sizes", "", "Instructions of each SX Function (multiplications + additions), default options."]
    for name in names:
        own = counts(name)
        rows = [
            (function, *(f"{c['instructions']} ({c['multiplications'] + c['additions']})" for c in row))
            for function in FUNCTIONS
            for row in [[own[formulation][function] for formulation in own]]
        ]
        lines += ["", f"## {name} (nv = {load(name).nv})", "", *markdown(["", *own], rows)]
    return "\n".join(lines) + "\n"


Comparison = dict[str, dict[str, dict[str, int]]]
"""Instructions by quantity, robot and column. Packages without the quantity are left out."""


def compare(names: Sequence[str]) -> Comparison:
    """Our three formulations, the recorded counts of other packages, and adam."""
    adam = {name: peers.adam(name) for name in names}
    comparison: Comparison = {}
    for quantity, (function, _) in COMPARED.items():
        comparison[quantity] = {}
        for name in names:
            row = {short: counts(name)[cls.name][function]["instructions"] for short, cls in SHORT.items()}
            row |= peers.recorded(quantity, name)
            if quantity in adam[name]:
                row["adam"] = adam[name][quantity]
            comparison[quantity][name] = row
    return comparison


def comparison_table(comparison: Comparison) -> str:
    """One section for each quantity, one row for each robot; recorded columns are in italics."""
    packages = peers.RECORDED["packages"]
    lines = [NOTES.format_map({**packages, "casadi": peers.RECORDED["casadi"], "adam": peers.adam_version()}).rstrip()]
    for quantity, rows in comparison.items():
        columns = list(dict.fromkeys(column for row in rows.values() for column in row))
        head = [f"*{column}*" if column in packages else column for column in columns]
        body = [
            (name, *(row.get(column) for column in columns), f"{row['N–E'] / row['Pinocchio']:.2f}")
            for name, row in rows.items()
        ]
        lines += ["", f"## {COMPARED[quantity][1]}", "", *markdown(["", *head, "N–E / Pinocchio"], body)]
    return "\n".join(lines) + "\n"


def cells(line: str) -> list[str]:
    """The cells of a row of a Markdown table."""
    return [cell.strip() for cell in line.strip("|").split("|")]


def smallest(comparison: Comparison, quantities: Sequence[str], name: str) -> dict[str, int]:
    """The smallest graph of a robot in each column."""
    found: dict[str, int] = {}
    for quantity in quantities:
        for column, size in comparison[quantity][name].items():
            found[column] = min(size, found.get(column, size))
    return found


def draw(comparison: Comparison) -> Figure:
    """Other packages' graphs in multiples of Newton–Euler's: a panel for each quantity, a group for each robot."""
    from gdalembert import plotting

    names = list(next(iter(comparison.values())))
    figure, axes = panels(len(DRAWN), 1, (8.6, 7.8))
    for axis, (title, quantities) in zip(axes.flat, DRAWN.items(), strict=True):
        rows = {TITLES[name]: smallest(comparison, quantities, name) for name in names}
        plotting.instructions(rows, "N–E", colours=PACKAGES, key=False, ax=axis)
        label(axis, title, y="theirs / ours", grid="y")
    heading(
        figure,
        axes[0, 0],
        "Instructions of others' graphs in multiples of gdalembert's Newton–Euler, whose own stand below each robot",
    )
    return figure


def recorded() -> Comparison:
    """The counts in the tables of ``results/sizes.md``."""
    text = (RESULTS / "sizes.md").read_text(encoding="utf-8")
    comparison: Comparison = {}
    for quantity, (_, title) in COMPARED.items():
        head, _, *rows = text.split(f"\n## {title}\n\n")[1].split("\n\n")[0].splitlines()
        columns = [column.strip("*") for column in cells(head)]
        comparison[quantity] = {
            name: {x: int(size) for x, size in zip(columns[1:-1], sizes, strict=False) if size != "–"}
            for name, *sizes in map(cells, rows)
        }
    return comparison


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "robots", nargs="*", type=known, metavar="ROBOT", default=NAMES, help=f"any of {', '.join(NAMES)}"
    )
    parser.add_argument("--without-peers", action="store_true", help="count our own Functions only")
    parser.add_argument("--redraw", action="store_true", help="count nothing: draw the recorded results again")
    arguments = parser.parse_args()
    if arguments.redraw:
        save(draw(recorded()), RESULTS / "sizes.png")
        return
    if arguments.without_peers:
        print(table(arguments.robots))
        return
    comparison = compare(arguments.robots)
    text = f"{table(arguments.robots)}\n{comparison_table(comparison)}"
    print(text)
    if arguments.robots == NAMES:
        write("sizes", text, lambda: draw(comparison))


if __name__ == "__main__":
    main()
