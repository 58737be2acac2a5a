"""Ticks of crocoddyl in the loops of the arm and of the quadruped, in an environment of its own, with an older ``pin``.

    python3 -m venv peer && peer/bin/pip install crocoddyl==3.0.1 pin==3.4.0 cmeel-urdfdom==4.0.1 cmeel-tinyxml2==10.0.0
    python -m benchmarks.real_time.loops --crocoddyl peer/bin/python

(From crocoddyl 3.2.1 beside pin 4.1 gravity is lost.)
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks.common.robots import HERE, path
from benchmarks.common.tables import markdown
from benchmarks.real_time.tasks import FEET, INTERVALS, OF_Q, OF_U, OF_V, PandaArm, Standing, Task
from gdalembert.spatial.arrays import Array

if TYPE_CHECKING:
    from benchmarks.real_time.loops import Row

NAME = "BoxFDDP"
TASKS = (PandaArm, Standing)
"""Rigid robots without obstacles, whose limits are boxes and pyramids: what crocoddyl has."""
BARRIER = 100.0
"""The weight of limits of q, v and friction, which are penalties there."""


class Plan(NamedTuple):
    """What a loop reads of a plan of a peer, with the seconds that it says it took."""

    u: Array
    v: Array
    solved: bool
    seconds: float
    violations: Mapping[str, float]


class Peer:
    """A process of another Python with the solver of a task, which is called as ours are.

    Attributes:
        last: the last plan; a loop begins where it is ``None``.
    """

    def __init__(self, python: str, task: Task) -> None:
        script = HERE / "real_time" / "crocoddyl_ticks.py"
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self._process = subprocess.Popen([python, "-I", str(script)], text=True, **pipes)
        self._python, self._nv = python, task.dyn.tree.nv
        self.last: Plan | None = None
        self._asked(_description(task))

    def __call__(self, *, q0: Array, v0: Array, shift: int, **references: Array) -> Plan:
        """A tick, shifted by an interval."""
        of_nodes = np.vstack(list(references.values())).T
        asked = {"x": [*q0, *v0], "references": of_nodes.tolist(), "begins": self.last is None}
        answer = self._asked(asked)
        u = np.zeros((INTERVALS, self._nv))
        driven = np.array(answer["u"])
        u[:, -driven.shape[1] :] = driven
        self.last = Plan(u, np.array(answer["v"]), *(answer[name] for name in Plan._fields[2:]))
        return self.last

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.communicate()

    def _asked(self, question: dict[str, Any]) -> dict[str, Any]:
        with suppress(BrokenPipeError):  # its words follow
            print(json.dumps(question), file=self._process.stdin, flush=True)
        if not (line := self._process.stdout.readline()):
            told = self._process.communicate()[1].strip().splitlines()
            raise SystemExit(f"{self._python}: {told[-1] if told else 'it ended without a word'}")
        return dict(json.loads(line))


def _description(task: Task) -> dict[str, Any]:
    """The problem of a task, for ``crocoddyl_ticks.py``."""
    given: dict[str, Any] = {"n": INTERVALS, "h": task.interval, "most": task.bounds.u_upper.tolist()}
    given |= {"armature": task.model.armature.tolist(), "barrier": BARRIER, "urdf": str(path(task.robot))}
    given |= dict.fromkeys(("feet", "limits", "frame"))
    if isinstance(task, Standing):
        return given | {"feet": FEET, "mu": task.friction, "of_x": [*50 * OF_Q, *50 * OF_V], "of_u": 50 * OF_U}
    bounds, nv = task.bounds, task.dyn.tree.nv
    limits = [[*q, *v] for q, v in ((bounds.q_lower, bounds.v_lower), (bounds.q_upper, bounds.v_upper))]
    weights = {"of_x": [0.0] * nv + [task.of_v] * nv, "of_frame": task.of_target, "of_u": task.of_u}
    return given | {"limits": limits, "frame": task.frame} | weights


NOTES = """\
## Beside crocoddyl

The same loops, with the same references, kicks and robots between the ticks, by `SolverBoxFDDP` of crocoddyl {version}
with pin {pin}, on one thread: one iteration a tick, warm-started and shifted, the same weights and intervals,
semi-implicit Euler steps, each taken whole (`th_acceptNegStep`, without which it loses the kicked quadruped). Limits of
torques are boxes; those of q and v and friction pyramids are penalties there, of weight {barrier:g}: *friction* is the
most by which a force of a plan leaves its pyramid [N]. Its times are of `solve` alone; ours, as above, are of the whole
tick. (It has no flexible links; a sphere would be one more penalty.)

{table}
"""
HEAD = (
    *("", "rti [µs]", "worst [µs]", f"{NAME} [µs]", "worst [µs]", "ratio", "error of rti [mm]", f"of {NAME} [mm]"),
    *(f"most u / limit of {NAME}", "friction by rti [N]", f"by {NAME} [N]", "not finite"),
)


def section(rows: Sequence[Row], python: str | None) -> str:
    """Of the page; without the Python of the environment it says so."""
    if python is None:
        return "## Beside crocoddyl\n\nNot measured: no environment with crocoddyl was given (`--crocoddyl`)."
    asked = "from importlib.metadata import version; print(version('crocoddyl'), version('pin'))"
    own, pin = subprocess.run([python, "-I", "-c", asked], capture_output=True, text=True, check=True).stdout.split()
    return NOTES.format(version=own, pin=pin, barrier=BARRIER, table="\n".join(table(rows)))


def table(rows: Sequence[Row]) -> list[str]:
    """The lines of those that crocoddyl has."""
    cells = []
    for row in (row for row in rows if NAME in row.loops):
        both = [row.loops[name] for name in ("rti", NAME)]
        micro = [1e6 * loop.seconds[1:] for loop in both]
        times = [f"{each:,.0f}" for x in micro for each in (np.median(x), x.max())]
        errors, has_friction = [f"{row.error(name):.2f}" for name in ("rti", NAME)], row.task is Standing
        friction = [f"{loop.friction[1:].max():.2g}" if has_friction else None for loop in both]
        ratio, most = f"{np.median(micro[0]) / np.median(micro[1]):.2f}", f"{both[1].used.max():.6g}"
        lost = int((~both[1].solved).sum())
        cells.append([f"{row.task.title}, {row.case}", *times, ratio, *errors, most, *friction, lost])
    return markdown(HEAD, cells)
