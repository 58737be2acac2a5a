"""The Panda arm in packages of environments of their own: frax, biorbd-casadi, figaroh and colmpc.

    python3 -m venv a && a/bin/pip install frax "jax==0.4.31" "jaxlib==0.4.31"
    python3 -m venv b && b/bin/pip install biorbd-casadi
    python3 -m venv c && c/bin/pip install figaroh
    python3 -m venv d && d/bin/pip install colmpc
    python -m benchmarks.peers.beside --frax a/bin/python --biorbd b/bin/python --figaroh c/bin/python \\
        --colmpc d/bin/python

Each one first gives the numbers of gdalembert, or the command ends. Then instructions and base parameters are counted,
and batches of frax timed, in ``--rounds`` rounds (0, the default, times nothing). With all four, the page goes to
``benchmarks/results``.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
import time
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import coal
import numpy as np
import pinocchio as pin

import gdalembert as gd
from benchmarks.common.robots import HERE, load, path
from benchmarks.common.tables import RESULTS, markdown
from benchmarks.speed.speed import machine, states
from gdalembert.spatial.arrays import Array

ROBOT = "panda7"
COMPARED = 50
"""The random states in which values are compared."""
BATCH = 4096
QUANTITIES = {"tau": "τ", "mass_matrix": "M", "placement": "placement", "jacobian": "Jacobian"}
"""The placement is that of the last joint, and the Jacobian its own, linear over angular, LOCAL_WORLD_ALIGNED."""
TOLERANCE = 1e-9
"""Of the largest entry; our constants are cleaned, which changes torques by up to as much."""


@cache
def functions() -> dict[str, ca.Function]:
    """Our Functions of the quantities."""
    model = load(ROBOT)
    dyn, kin, last = gd.NewtonEuler(model), gd.Kinematics(model), model.names[model.njoints - 1]
    jacobian = kin.frame_jacobian(last, pin.LOCAL_WORLD_ALIGNED)
    ours = (dyn.inverse_dynamics, dyn.mass_matrix, kin.frame_placement(last), jacobian)
    return dict(zip(QUANTITIES, ours, strict=True))


def answer(python: str, script: str, question: dict[str, Any]) -> dict[str, Any]:
    """What a script of this folder says, run by the Python of a package's environment."""
    command = [python, "-I", str(HERE / "peers" / script)]
    run = subprocess.run(command, input=json.dumps(question), capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"{python}: {(run.stderr.strip().splitlines() or ['it ended without a word'])[-1]}")
    return dict(json.loads(run.stdout.splitlines()[-1]))


def difference(package: str, values: dict[str, Any], given: dict[str, Array]) -> float:
    """The largest difference from our values, of the largest entry of each; ends with a sentence if it is not small."""
    worst = 0.0
    for name, theirs in values.items():
        function, reference = functions()[name], np.array(theirs)
        inputs = [given[letter] for letter in "qva"[: function.n_in()]]
        ours = np.array([function(*state).full() for state in zip(*inputs, strict=True)]).reshape(reference.shape)
        error = float(np.abs(reference - ours).max() / np.abs(ours).max())
        if not error <= TOLERANCE:
            raise SystemExit(f"{package}: {name} differs by {error:.1g} of its largest entry from gdalembert's")
        worst = max(worst, error)
    return worst


def biomod(model: pin.Model) -> str:
    """A model whose joints turn about x, y or z as the text of a .bioMod, with every digit."""
    lines = ["version 4", f"gravity {_row(model.gravity.linear)}"]
    for j in range(1, model.njoints):
        parent, body, kind = model.parents[j], model.inertias[j], model.joints[j].shortname()
        if kind not in ("JointModelRX", "JointModelRY", "JointModelRZ"):
            raise SystemExit(f"{model.names[j]}: a .bioMod is written for RX, RY and RZ, not for {kind}")
        lines += [f"segment s{j}", f"parent {f's{parent}' if parent else 'root'}", "RTinMatrix 1", "RT"]
        lines += [*map(_row, model.jointPlacements[j].homogeneous), f"rotations {kind[-1].lower()}"]
        lines += [f"mass {body.mass!r}", f"com {_row(body.lever)}", "inertia", *map(_row, body.inertia), "endsegment"]
    return "\n".join(lines) + "\n"


def _row(values: Array) -> str:
    return " ".join(f"{x:.17g}" for x in values)


def with_inertials(urdf: Path) -> str:
    """The URDF with an ``<inertial>`` in every link: frax requires one of the base, URDF does not."""
    root = ET.parse(urdf).getroot()
    for link in root.iterfind("link"):
        if link.find("inertial") is None:
            inertial = ET.SubElement(link, "inertial")
            ET.SubElement(inertial, "origin", xyz="0 0 0", rpy="0 0 0")
            ET.SubElement(inertial, "mass", value="0")
            ET.SubElement(inertial, "inertia", dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), "0"))
    return ET.tostring(root, encoding="unicode")


BIORBD = """\
## biorbd-casadi

Version {version}, with casadi {casadi}. It reads no URDF: the arm was written as a .bioMod. Its values differ from
ours by at most {difference:.0e} of the largest entry. Its graphs are of MX; here they are expanded to SX, and
instructions counted after `ca.cse`, as ours are:

{table}
"""


def biorbd(python: str, given: dict[str, Array]) -> str:
    """The section of biorbd-casadi."""
    few = {letter: given[letter][:COMPARED].tolist() for letter in "qva"}
    found = answer(python, "biorbd_graphs.py", {"bioMod": biomod(load(ROBOT)), **few})
    worst = difference("biorbd-casadi", found["values"], {k: np.array(x) for k, x in few.items()})
    rows = []
    for name, theirs in found["instructions"].items():
        ours = functions()[name].n_instructions()
        rows.append((QUANTITIES[name], ours, theirs, f"{ours / theirs:.2f}"))
    table = "\n".join(markdown(("", "gdalembert", "biorbd-casadi", "ratio"), rows))
    return BIORBD.format(version=found["version"], casadi=found["casadi"], difference=worst, table=table)


FIGAROH = """\
## figaroh

Version {version}, whose `QRDecomposer` was given its regressor of {samples} random states. It finds {theirs} base
parameters, and `gd.NewtonEuler(model).base_parameters`, from the geometry, {ours}. The columns of our base regressor
are combinations of those of theirs but for {difference:.0e} of their norm, and the torques of both are the same but for
{torques:.0e} of the largest.
"""


def figaroh(python: str, given: dict[str, Array]) -> str:
    """The section of figaroh."""
    model = load(ROBOT)
    few = {letter: given[letter][:COMPARED] for letter in "qva"}
    question = {"urdf": str(path(ROBOT)), **{letter: x.tolist() for letter, x in few.items()}}
    found = answer(python, "figaroh_regressor.py", question)
    dyn = gd.NewtonEuler(model)
    # their rows are sorted by joint, then by sample
    of_states = np.array([dyn.base_regressor(*state).full() for state in zip(*few.values(), strict=True)])
    ours = of_states.swapaxes(0, 1).reshape(-1, of_states.shape[-1])
    theirs = np.array(found["regressor"])
    rest = ours - theirs @ np.linalg.lstsq(theirs, ours, rcond=None)[0]
    spans = float((np.linalg.norm(rest, axis=0) / np.linalg.norm(ours, axis=0)).max())
    tau = ours @ dyn.base_parameters.of(model)
    torques = float(np.abs(theirs @ found["values"] - tau).max() / np.abs(tau).max())
    if ours.shape != theirs.shape or spans > TOLERANCE or torques > TOLERANCE:
        raise SystemExit(f"figaroh: {theirs.shape[1]} base parameters, ours {ours.shape[1]}, spans differ by {spans:g}")
    counts = {"theirs": theirs.shape[1], "ours": ours.shape[1], "samples": COMPARED}
    return FIGAROH.format(version=found["version"], **counts, difference=spans, torques=torques)


COLMPC = """\
## colmpc

Version {version}, with crocoddyl {crocoddyl}; `pinocchio` is imported first, without which its module finds no
libraries. Its `ResidualDistanceCollision` of a capsule at the last joint and a ball differs from `gd.Distances` by at
most {distance:.0e} m, and the derivatives by q by {derivative:.0e} m/rad.
"""


def colmpc(python: str, given: dict[str, Array]) -> str:
    """The section of colmpc."""
    model, tool, ball = load(ROBOT), (0.05, 0.2), (0.5, 0.2, 0.4, 0.1)
    last, q = model.njoints - 1, given["q"][:COMPARED]
    question = {"urdf": str(path(ROBOT)), "frame": model.names[last], "tool": tool, "ball": ball, "q": q.tolist()}
    found = answer(python, "colmpc_distances.py", question)
    geometry = pin.GeometryModel()
    geometry.addGeometryObject(pin.GeometryObject("tool", last, pin.SE3.Identity(), coal.Capsule(*tool)))
    shapes = gd.Distances(model, geometry, {"ball": gd.Sphere(ball[:3], ball[3])})
    ours = np.array([np.hstack([y.full().ravel() for y in shapes.derivatives(state)]) for state in q])
    theirs = np.column_stack([found["distances"], found["derivatives"]])
    distance, *rest = np.abs(ours - theirs).max(axis=0)
    if not max(distance, *rest) <= TOLERANCE:
        raise SystemExit(f"colmpc: distances differ by {distance:.1g} m, derivatives by {max(rest):.1g} m/rad")
    versions = {name: found[name] for name in ("version", "crocoddyl")}
    return COLMPC.format(**versions, distance=distance, derivative=max(rest))


FRAX = """\
## frax

Version {version}, with jax {jax}, in float64. It reads the URDF where every link has an `<inertial>`, which were
added. Its values differ from ours by at most {difference:.0e} of the largest entry.

{timed}
"""
TIMED = """\
Nanoseconds for a state, in batches of {batch:,}: `jax.jit(jax.vmap(…))` on the processor, in one thread, and
`gd.compile(…).batch`, medians of {rounds} rounds, of the time that the process has had a processor, one after the
other. The flags of XLA are those that frax recommends, and so is a jax before 0.4.32 for the processor.

{machine}

{table}"""


def frax(python: str, given: dict[str, Array], rounds: int) -> str:
    """The section of frax."""
    with tempfile.TemporaryDirectory() as folder:
        urdf = Path(folder) / "robot.urdf"
        urdf.write_text(with_inertials(path(ROBOT)), encoding="utf-8")
        question = {"urdf": str(urdf), "compared": COMPARED, "rounds": rounds}
        found = answer(python, "frax_batches.py", question | {letter: given[letter].tolist() for letter in "qva"})
    worst = difference("frax", found["values"], {letter: x[:COMPARED] for letter, x in given.items()})
    timed = "Its batches were not timed (`--rounds`)."
    if rounds:
        rows = []
        for name, theirs in found["seconds"].items():
            ours, reference = (1e9 * statistics.median(x) / BATCH for x in (seconds(name, given, rounds), theirs))
            rows.append((QUANTITIES[name], f"{ours:,.0f}", f"{reference:,.0f}", f"{reference / ours:.1f}×"))
        table = "\n".join(markdown(("", "gdalembert [ns]", "frax [ns]", "ratio"), rows))
        timed = TIMED.format(batch=BATCH, rounds=rounds, machine=machine(), table=table)
    return FRAX.format(version=found["version"], jax=found["jax"], difference=worst, timed=timed)


def seconds(name: str, given: dict[str, Array], rounds: int) -> list[float]:
    """Of the processor, for our batch in each round."""
    compiled = gd.compile(functions()[name])
    inputs = [given[letter] for letter in "qva"[: functions()[name].n_in()]]
    out = compiled.batch(*inputs)
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        compiled.batch(*inputs, out=out)
        times.append(time.process_time() - begin)
    return times


NOTES = """\
# Packages in environments of their own

The Panda arm, in packages whose versions of pin, casadi or jax are their own. Each was first compared with gdalembert
in {compared} random states. `placement` is that of the last joint, and *Jacobian* is of its origin, in
`LOCAL_WORLD_ALIGNED`.

{sections}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for package in ("frax", "biorbd", "figaroh", "colmpc"):
        parser.add_argument(f"--{package}", metavar="PYTHON", help=f"the Python of an environment with {package}")
    parser.add_argument("--rounds", type=int, default=0, metavar="N", help="time frax in so many rounds")
    asked = parser.parse_args()
    given = states(load(ROBOT), BATCH)
    counted = ((biorbd, asked.biorbd), (figaroh, asked.figaroh), (colmpc, asked.colmpc))
    sections = [section(python, given) for section, python in counted if python]
    if asked.frax:
        sections.append(frax(asked.frax, given, asked.rounds))
    text = NOTES.format(compared=COMPARED, sections="\n".join(sections))
    print(text)
    if len(sections) == 4:
        (RESULTS / "peers.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
