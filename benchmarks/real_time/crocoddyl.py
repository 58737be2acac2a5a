"""Ticks of crocoddyl for the standing quadruped, in an environment of its own: it needs an older ``pin``.

    python3 -m venv peer && peer/bin/pip install crocoddyl==3.0.1 pin==3.4.0 cmeel-urdfdom==4.0.1 cmeel-tinyxml2==10.0.0
    python -m benchmarks.real_time.loops --crocoddyl peer/bin/python

(From crocoddyl 3.2.1 beside pin 4.1 gravity is lost.)
"""

from __future__ import annotations

import json
import subprocess

import numpy as np

from benchmarks.common.robots import HERE, path
from benchmarks.common.tables import markdown
from benchmarks.real_time.tasks import EASY, FEET, INTERVALS, OF_Q, OF_U, OF_V, Standing

NOTES = """\
## Beside crocoddyl

The standing quadruped, easy, with crocoddyl {version} and pin {pin}, one thread: one iteration a tick, warm-started and
shifted, the same weights, intervals of {interval} s with semi-implicit Euler steps, and a loop that moves to the second
state of each plan. Friction is a penalty there, and limits of torques are boxes of BoxFDDP alone.

{table}
"""


def section(python: str | None, ticks: int) -> str:
    """Of the page; without the Python of its environment it says so."""
    if python is None:
        return "## Beside crocoddyl\n\nNot measured: no environment with crocoddyl was given (`--crocoddyl`)."
    task = Standing()
    motion, h = task.cases[EASY], task.interval
    references = [task.base(h * k, motion)[0].tolist() for k in range(ticks + INTERVALS + 1)]
    given = {"urdf": str(path("solo12")), "feet": FEET, "start": task.start.tolist(), "references": references}
    given |= {"n": INTERVALS, "h": h, "q": OF_Q.tolist(), "v": OF_V.tolist(), "u": OF_U, "mu": task.friction}
    given |= {"most": task.bounds.u_upper.tolist()}
    script = HERE / "real_time" / "crocoddyl_ticks.py"
    done = subprocess.run([python, "-I", script], input=json.dumps(given), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{python}: {done.stderr.strip().splitlines()[-1]}")
    answer = json.loads(done.stdout)
    rows = []
    for name, own in answer["ticks"].items():
        micro = 1e6 * np.array(own["seconds"][1:])
        error = 1e3 * np.sqrt(np.mean(np.square(own["errors"][task.skipped :])))
        rows.append([name, f"{np.median(micro):,.0f}", f"{micro.max():,.0f}", f"{error:.2f}"])
    table = "\n".join(markdown(["", "µs a tick (median)", "worst", "error [mm]"], rows))
    return NOTES.format(version=answer["crocoddyl"], pin=answer["pin"], interval=h, table=table)
