"""How large the graphs are: instructions of every Function, formulation by formulation, and beside other packages.

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
"""What is compared: our Function, and how the quantity is called."""

SHORT = {"N–E": gd.NewtonEuler, "G–D": gd.GeneralizedDAlembert, "L–E": gd.LagrangeEuler}

PACKAGES = {"Pinocchio": BLUE, "casadi-kin-dyn": SKY, "urdf2casadi": ORANGE, "adam": PURPLE}
"""What the figure shows beside Newton-Euler."""

DRAWN = {
    "Inverse dynamics  τ(q, v, a)": ("inverse_dynamics",),
    "Mass matrix  M(q)": ("mass_matrix",),
    "Forward dynamics  a(q, v, τ)": ("forward_dynamics",),
    "Derivatives  ∂τ/∂(q, v), Pinocchio's analytic, the others' by ca.jacobian": (
        "inverse_dynamics_derivatives",
        "jacobian_of_inverse_dynamics",
    ),
}
"""Its panels; where there are two ways to a quantity, each package has its smaller graph."""

NOTES = """\
# Beside other packages

![instructions of the others in multiples of Newton–Euler's](sizes.png)

Instructions (`n_instructions`) of SX Functions after `ca.cse`. N–E, G–D and L–E are our three formulations with default
options. *Slanted* columns are recorded, with casadi {casadi}; all others are counted when this table is written.

* *Pinocchio*: the SX graphs of {Pinocchio}.
* *Pinocchio, cleaned*: {Pinocchio, cleaned}.
* *casadi-kin-dyn*: {casadi-kin-dyn}.
* *urdf2casadi*: {urdf2casadi}.
  It takes serial robots with a fixed base.
* adam: version {adam}. τ is M a + bias, the one way it offers. a is its articulated-body algorithm where the base
  moves, and M \\ (τ − bias) by CasADi's LDLᵀ where the base is fixed, for which it has none. Its base always moves: for
  a robot with a fixed base it rests in the origin, as numbers, and the rows and columns of the joints are counted; for
  a moving one q is Pinocchio's, position and quaternion. Before they are counted, its τ and a are compared with
  Pinocchio's. It fails (–) where a joint is prismatic.

Outputs are dense, but Jacobians by `ca.jacobian` are left as sparse as CasADi makes them, with respect to all nq + nv
entries of q and v. Ours are with respect to the nv directions of q, dense.
"""


@functools.cache
def counts(name: str) -> dict[str, dict[str, dict[str, int]]]:
    """Of one robot: the cost of each Function of each formulation."""
    model = load(name)
    return {
        formulation: {function: count(getattr(dyn, function)) for function in FUNCTIONS}
        for formulation, dyn in ((cls.name, cls(model)) for cls in gd.formulations().values())
    }


def table(names: Sequence[str]) -> str:
    """One section a robot, one row a Function, one column a formulation."""
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
"""Quantity, robot, column: instructions. Who has no answer is left out."""


def compare(names: Sequence[str]) -> Comparison:
    """Our three formulations, what is recorded of other packages, and adam."""
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
    """One section a quantity, one row a robot; recorded columns are slanted."""
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
    """Of a row of a Markdown table."""
    return [cell.strip() for cell in line.strip("|").split("|")]


def smallest(comparison: Comparison, quantities: Sequence[str], name: str) -> dict[str, int]:
    """A robot's smallest graph in each column."""
    found: dict[str, int] = {}
    for quantity in quantities:
        for column, size in comparison[quantity][name].items():
            found[column] = min(size, found.get(column, size))
    return found


def draw(comparison: Comparison) -> Figure:
    """The size of the others' graphs in multiples of Newton-Euler's: a panel a quantity, a group a robot."""
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
    """What stands in the tables of ``results/sizes.md``."""
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
