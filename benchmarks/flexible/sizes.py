"""The sizes of the graphs of a flexible arm: a spatial arm of N = 1 … 6 links with two modes in each plane of bending.

    python -m benchmarks.flexible.sizes             N = 1 … 6, about two minutes
    python -m benchmarks.flexible.sizes --links 2   arms of one and two links only

The links are equal tubes along x, 1 m long, with Hermite's two shapes in y and in z; the joints turn alternately about
z and y. Counts are exact and the same on every machine; the time of building each graph is printed beside them. The
tables go to standard output and, for all lengths, without the times and with a figure to ``benchmarks/results``.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import casadi as ca

import gdalembert as gd
from benchmarks.common.tables import BLUE, GREEN, INK, ORANGE, heading, label, markdown, panels, write
from gdalembert import spatial
from gdalembert.flexible.reference import cetinkunt_book_1988 as explicit
from gdalembert.spatial.functions import function, symbols

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINKS = 6
TUBE = gd.Beam.tube(1.0, 0.04, 0.002, density=2700.0, youngs_modulus=70e9)


def arm(links: int, *, foreshortening: bool) -> gd.FlexibleArm:
    """The arm with this number of links."""
    transverse = TUBE.pseudo_inertia[0, 0] - TUBE.mass * TUBE.center_of_mass[0] ** 2
    chain = "".join(
        f'<link name="link{i}"><inertial><origin xyz="0.5 0 0"/><mass value="{TUBE.mass}"/>'
        f'<inertia ixx="0" ixy="0" ixz="0" iyy="{transverse}" iyz="0" izz="{transverse}"/></inertial></link>'
        f'<joint name="joint{i}" type="revolute"><parent link="link{i - 1}"/><child link="link{i}"/>'
        f'<origin xyz="{min(i - 1, 1)} 0 0"/><axis xyz="{"0 0 1" if i % 2 else "0 1 0"}"/>'
        '<limit lower="-3" upper="3" effort="10" velocity="3"/></joint>'
        for i in range(1, links + 1)
    )
    model = gd.load_urdf(
        f'<robot name="row"><link name="link0"/>{chain}<link name="tip"/><joint name="end" type="fixed">'
        f'<parent link="link{links}"/><child link="tip"/><origin xyz="1 0 0"/></joint></robot>'
    )
    modes = gd.modes.hermite()
    link = gd.FlexibleLink(TUBE, bending_y=modes, bending_z=modes, foreshortening=foreshortening)
    return gd.FlexibleArm(model, {f"link{i}": link for i in range(1, links + 1)})


def by_recursion(dyn: gd.FlexibleArm) -> ca.Function:
    """(q, v) → (M, nle) of the arm itself."""
    s = symbols(q=dyn.tree.nq, v=dyn.tree.nv)
    return function("recursion", s, {"M": dyn.mass_matrix(s["q"]), "nle": dyn.nle(*s.values())})


def by_formula(dyn: gd.FlexibleArm) -> ca.Function:
    """(q, v) → (M, nle) by the explicit equations CB32–CB34."""
    s = symbols(q=dyn.tree.nq, v=dyn.tree.nv)
    q, v = s.values()
    elastic = spatial.constant(dyn.stiffness_matrix) @ q
    bias = explicit.coriolis_vector(dyn.tree, q, v) + explicit.gravity_vector(dyn.tree, q)
    return function("formula", s, {"M": explicit.mass_matrix(dyn.tree, q), "nle": bias + elastic})


def by_differentiation(dyn: gd.FlexibleArm) -> ca.Function:
    """(q, v) → (M, nle) by Lagrange's equations, with both energies differentiated by CasADi."""
    s = symbols(q=dyn.tree.nq, v=dyn.tree.nv)
    q, v = s.values()
    kinetic = dyn.kinetic_energy(q, v)
    m, momentum = ca.hessian(kinetic, v)
    nle = ca.jtimes(momentum, q, v) - ca.gradient(kinetic - dyn.potential_energy(q), q)
    return function("differentiation", s, {"M": m, "nle": nle})


class Graph(NamedTuple):
    """A counted graph: its section of the table, its name there, how it is built, and up to which number of links."""

    section: str
    way: str
    build: Callable[[gd.FlexibleArm], ca.Function]
    links: int = LINKS


BOTH = "M and nle: C v + g + K q"
"""Both in one Function, in three ways."""
RECURSION = "recursion"
GRAPHS = (
    Graph("inverse_dynamics: τ", RECURSION, lambda dyn: dyn.inverse_dynamics),
    Graph("mass_matrix: M", RECURSION, lambda dyn: dyn.mass_matrix),
    Graph("forward_dynamics: a", RECURSION, lambda dyn: dyn.forward_dynamics),
    Graph("inverse_dynamics_derivatives: ∂τ/∂(q, v)", RECURSION, lambda dyn: dyn.inverse_dynamics_derivatives),
    Graph("forward_dynamics_derivatives: ∂a/∂(q, v), M⁻¹", RECURSION, lambda dyn: dyn.forward_dynamics_derivatives),
    Graph(BOTH, RECURSION, by_recursion),
    Graph(BOTH, "differentiated energies", by_differentiation, 4),
    Graph(BOTH, "explicit equations", by_formula, 4),
)
COLOURS = {RECURSION: BLUE, "differentiated energies": GREEN, "explicit equations": ORANGE}


class Size(NamedTuple):
    """Instructions of a graph, and the seconds it took to build it."""

    instructions: int
    seconds: float


Sizes = dict[tuple[str, str, bool], dict[int, Size]]
"""Sizes by the number of links, for each section, way, and whether with foreshortening."""


def measure(links: int = LINKS) -> Sizes:
    """All graphs for arms of 1 … ``links`` links."""
    sizes: Sizes = {}
    for graph, shortened in itertools.product(GRAPHS, (False, True)):
        row = sizes[graph.section, graph.way, shortened] = {}
        for n in range(1, min(links, graph.links) + 1):
            dyn = arm(n, foreshortening=shortened)  # a new one each time: it keeps what it has built
            start = time.perf_counter()
            instructions = graph.build(dyn).n_instructions()
            row[n] = Size(instructions, time.perf_counter() - start)
    return sizes


NOTES = """\
# Graphs of a flexible arm

![instructions over the number of links](flexible_sizes.png)

Instructions of SX Functions for a spatial arm of N equal links with four modes each, two in each plane of bending (nv =
5 N). Joints turn alternately about z and y, and rotations are exact. The last column is what the last link adds. The
energies are differentiated by CasADi (`ca.hessian`, `ca.jtimes`); the explicit equations are CB32–CB34, written for
reading. In every graph common subexpressions are computed once.
"""


def table(sizes: Sizes, *, times: bool = False) -> str:
    """One section for each graph, one row for each way to build it; with ``times``, the seconds of building each."""
    longest = max(n for row in sizes.values() for n in row)
    head = ["", *(f"N = {n}" for n in range(1, longest + 1)), "last link"]
    lines = [NOTES.rstrip()]
    for section in dict.fromkeys(graph.section for graph in GRAPHS):
        rows = []
        for (of, way, shortened), row in sizes.items():
            if of == section:
                counts = [f"{size.instructions}" + f" ({size.seconds:.2f} s)" * times for size in row.values()]
                none = [None] * (longest - len(row))
                kind = "with" if shortened else "without"
                rows.append((f"{way}, {kind} foreshortening", *counts, *none, last_link(row)))
        lines += ["", f"## {section}", "", *markdown(head, rows)]
    return "\n".join(lines) + "\n"


def last_link(row: Mapping[int, Size]) -> int | None:
    """How many instructions the last link adds."""
    return row[max(row)].instructions - row[max(row) - 1].instructions if len(row) > 1 else None


def draw(sizes: Sizes) -> Figure:
    """Instructions over N: a panel for each section, a line for each way, dashed with foreshortening."""
    figure, axes = panels(2, 3, (8.6, 4.8), sharex=True)
    sections = dict.fromkeys(graph.section for graph in GRAPHS)
    for axis, section in zip(axes.flat, sections, strict=True):
        for (of, way, shortened), row in sizes.items():
            if of == section:
                style = {"marker": "o", "markersize": 2.5, "linewidth": 1.3, "linestyle": "--" if shortened else "-"}
                counts = [size.instructions / 1000 for size in row.values()]
                axis.plot(list(row), counts, color=COLOURS[way], label=None if shortened else way, **style)
        axis.set_xticks(sorted({n for row in sizes.values() for n in row}))
        axis.set_ylim(bottom=0)
        axis.locator_params(axis="y", nbins=5)
        below = axis in axes[-1]
        label(axis, section.split(": ")[1] if section != BOTH else "M and nle", x="links N" if below else "")
    for axis in axes[:, 0]:
        axis.set_ylabel("thousand instructions", fontsize=8, color=INK)
    heading(
        figure, axes[-1, -1], "Instructions of the graphs over the number of links; broken lines: with foreshortening"
    )
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--links", type=int, choices=range(1, LINKS + 1), default=LINKS, help=f"the longest arm, by default {LINKS}"
    )
    arguments = parser.parse_args()
    sizes = measure(arguments.links)
    print(table(sizes, times=True))
    if arguments.links == LINKS:
        write("flexible_sizes", table(sizes), lambda: draw(sizes))


if __name__ == "__main__":
    main()
