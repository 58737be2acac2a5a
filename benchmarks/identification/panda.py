"""A real Panda from the torques of its joints: a fit beside the published model, on samples that the fit did not see.

    python -m benchmarks.identification.panda FOLDER

The folder is a checkout of marcocognetti/FrankaEmikaPandaDynModel, the repository of Gaz, Cognetti, Oliva, Robuffo
Giordano and De Luca, "Dynamic Identification of the Franka Emika Panda Robot With Retrieval of Feasible Parameters
Using Penalty-Based Optimization", IEEE RA-L 4(4), 2019 (no licence; the data are not part of this package), or holds
``exciting_traj_time.txt``, ``…_positions.txt``, ``…_velocity.txt`` and ``…_torques.txt``, instants [s] and then seven
lines for each of them [rad, rad/s, N m]; and ``get_MassMatrix.m``, ``get_GravityVector.m`` and
``get_FrictionTorque.m``. The page goes to standard output and to ``benchmarks/results/panda.md``.
"""

from __future__ import annotations

import re
import textwrap
import warnings
from pathlib import Path

import casadi as ca
import numpy as np

import gdalembert as gd
from benchmarks.common.tables import markdown
from benchmarks.identification.folders import file_in, relative, row, write_page
from gdalembert.errors import IdentificationWarning
from gdalembert.identification import Experiment, Signals, filtered, fit

CUTOFF, RATE, DECIMATION = 10.0, 1000.0, 20
"""Of the filter [Hz], of the samples after interpolation [Hz], and how many become one row."""
LAST = 0.25
"""The fraction of the samples, in one block, that is predicted and not fitted."""
ARITHMETIC = re.compile(r"((?<![\w.])((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[a-zA-Z]\w*)(?![\w.])|[\s+\-*/()])+")
"""Numbers, names and operators: no attribute of anything, since these files are foreign code."""


def signals(folder: Path) -> Signals:
    """The motion at equal steps."""
    t, *rows = (
        np.loadtxt(file_in(folder, f"exciting_traj_{name}.txt"))
        for name in ("time", "positions", "velocity", "torques")
    )
    if any(len(x) != 7 * len(t) for x in rows):
        raise SystemExit(f"{folder}: {len(t)} instants, but {', '.join(str(len(x)) for x in rows)} lines beside 7 each")
    q, v, tau = (x.reshape(-1, 7) for x in rows)
    return filtered(t, q, tau, v=v, cutoff=CUTOFF, rate=RATE)


def part(of: Signals, rows: slice) -> Experiment:
    """Torques as measured: the fit filters them as it does the regressor."""
    assert of.unfiltered_tau is not None
    return Experiment(of.q[rows], of.v[rows], of.a[rows], of.unfiltered_tau[rows])


def matlab_column(path: Path, name: str, q: ca.SX) -> list[ca.SX]:
    """Elements of a column that a MATLAB function of q computes by lines ``t2 = cos(q2);`` and ``name = […;…];``."""
    text = path.read_text(encoding="utf-8").replace("...", "")
    known: dict[str, object] = {"q": lambda k: q[k - 1], "cos": ca.cos, "sin": ca.sin}

    def value(expression: str) -> ca.SX:
        expression = expression.replace(".*", "*").replace("./", "/").replace(".^", "**").strip()
        if not ARITHMETIC.fullmatch(expression):
            raise SystemExit(f"{path.name}: cannot read {expression[:60]!r}")
        return ca.SX(eval(expression, {"__builtins__": {}}, known))

    for left, right in re.findall(r"^(\w+) = ([^;\[]+);", text, re.MULTILINE):
        known[left] = value(right)
    column = re.search(rf"^{name} = \[([^\]]*)\]", text, re.MULTILINE)
    if column is None:
        raise SystemExit(f"{path.name} has no {name} = […]")
    return [value(expression) for expression in column.group(1).split(";")]


def published(folder: Path) -> ca.Function:
    """Torques of the authors' model by (q, v, a): M a + c + g and friction; c follows from M."""
    q, v, a = (ca.SX.sym(name, 7) for name in "qva")
    upper = matlab_column(file_in(folder, "get_MassMatrix.m"), "Bstack_hat", q)
    mass = ca.SX(7, 7)
    for column in range(7):
        for line in range(column + 1):
            mass[line, column] = mass[column, line] = upper[column * (column + 1) // 2 + line]
    momentum = mass @ v
    coriolis = ca.jtimes(momentum, q, v) - ca.gradient(ca.dot(v, momentum), q) / 2
    gravity = ca.vertcat(*matlab_column(file_in(folder, "get_GravityVector.m"), "g_li_hat", q))
    text = file_in(folder, "get_FrictionTorque.m").read_text(encoding="utf-8").replace("...", "")
    numbers = re.search(r"fp = \[([^\]]*)\]", text)
    if numbers is None:
        raise SystemExit("get_FrictionTorque.m has no fp = […]")
    size, _, shift, steep = (ca.DM([float(x) for x in line.split(",")]) for line in numbers.group(1).split(";"))
    friction = size / (1 + ca.exp(-steep * (v + shift))) - size / (1 + ca.exp(-steep * shift))
    return ca.Function("published", [q, v, a], [mass @ a + coriolis + gravity + friction])


def page(folder: Path) -> str:
    """The table with what it is."""
    motion = signals(folder)
    first = round((1 - LAST) * len(motion.q))
    seen, unseen = slice(0, first), slice(first, None)
    assert motion.tau is not None
    truth, states = motion.tau[unseen], [x[unseen].T for x in (motion.q, motion.v, motion.a)]
    model = gd.load_urdf("panda7")
    shipped = gd.NewtonEuler(model).inverse_dynamics(*states).full().T
    rows = [
        row("the shipped `panda7`, which has the hand", relative(shipped, truth)),
        row("published model and friction", relative(published(folder)(*states).full().T, truth)),
    ]
    for title, smoothing, offsets in (("fit", 0.01, False), ("fit, smoothing 0.1, offsets", 0.1, True)):
        friction = {name: gd.Friction(0.1, 0.3, smoothing=smoothing) for name in model.names[1:]}
        dyn = gd.NewtonEuler(model, friction=friction, parameters={"inertia": True, "friction": True})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IdentificationWarning)  # the page has the remarks
            result = fit(
                dyn, experiments=[part(motion, seen)], held_back=[part(motion, unseen)], offsets=offsets,
                decimation=DECIMATION,
            )  # fmt: skip
        assert result.held_back is not None
        rows.append(row(title, relative(result.held_back.from_motion, truth)))
    return "\n".join(
        [
            "# A real Panda from the torques of its joints",
            "",
            f"{motion.t[-1] - motion.t[0]:.0f} s of one trajectory, measured by Gaz, Cognetti, Oliva, Robuffo Giordano",
            "and De Luca (IEEE RA-L 4(4), 2019; the public repository marcocognetti/FrankaEmikaPandaDynModel, no",
            "licence): `python -m benchmarks.identification.panda` FOLDER. The first three quarters are fitted. Root",
            "mean squares of the residuals of the last quarter, % of those of the torques, which pass a filter of",
            f"{CUTOFF:g} Hz:",
            "",
            *markdown(["%", "joint 1", *"234567"], rows),
            "",
            "The published model is evaluated from its MATLAB text. Whether its authors fitted it to this trajectory",
            "is not known. What the last fit remarks:",
            "",
            *(textwrap.fill(f"* {remark}", 120, subsequent_indent="  ") for remark in result.remarks or ["nothing"]),
            "",
        ]
    )


def main() -> None:
    write_page(__doc__, page, "panda")


if __name__ == "__main__":
    main()
