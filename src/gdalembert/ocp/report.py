"""A solution of the variables that a solver found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.model.configuration import lengths, projected, unit_blocks
from gdalembert.ocp.accuracy import Accuracy, FollowedPath
from gdalembert.ocp.bounds import Bounds
from gdalembert.ocp.closing import closure
from gdalembert.ocp.constraints import MOTION, Bound, Constraints
from gdalembert.ocp.ends import End
from gdalembert.ocp.expressions import EvaluatedExpression
from gdalembert.ocp.model_parameters import ModelParameters
from gdalembert.ocp.solution import CLOSED, EXCEPTIONS, Solution, Stages
from gdalembert.ocp.transcription import Motion
from gdalembert.spatial.arrays import Array


@dataclass(frozen=True)
class PathOfStates:
    """A path of q and v: its expression, its bounds, and its inputs besides q, v and t."""

    expression: EvaluatedExpression
    lower: Bound
    upper: Bound
    constants: Mapping[str, ca.MX]


class Report:
    """What a :class:`Solution` says, as one Function of the variables and parameters of an ``Opti``.

    Args:
        motion: of a robot. ``opti``: its problem, baked.
        bounds, constraints: of the problem. ``robot``: the parameters of the robot.
        paths: by name, those that are followed between the stages. ``ends``: start and end.
    """

    def __init__(
        self,
        motion: Motion,
        opti: ca.OptiAdvanced,
        bounds: Bounds,
        constraints: Constraints,
        robot: ModelParameters,
        paths: Mapping[str, PathOfStates],
        ends: Sequence[End],
    ) -> None:
        self._motion, self._bounds, self._ends = motion, bounds, ends
        violations = {MOTION: ca.norm_inf(motion.equations)} | constraints.violations(opti)
        self._names, self._paths = tuple(violations), dict(paths)
        stages = {f"stages_{name}": value for name, value in motion.stages._asdict().items()}
        outputs = {
            "x": motion.x,
            "t": motion.t,
            "u": motion.u,
            "p": robot.p,
            "cost": opti.f,
            **stages,
            "violations": ca.vertcat(*violations.values()),
            "largest": ca.fmax(ca.mmax(ca.fmax(opti.lbg - opti.g, opti.g - opti.ubg)), 0) if opti.ng else ca.MX(0),
        }
        if motion.system.places is not None:
            outputs["drift"] = ca.norm_inf(closure(motion, robot, ca.vertcat(motion.stages.q, motion.stages.v)))
        for name, path in paths.items():
            outputs[f"{name} lower"], outputs[f"{name} upper"] = ca.MX(path.lower), ca.MX(path.upper)
            outputs |= {f"{name} {key}": value for key, value in path.constants.items()}
        self._keys = list(outputs)
        self._graph = ca.Function("report", [opti.x, opti.p], list(outputs.values()))

    def __call__(self, x: Array, p: Array, status: str, stats: Mapping[str, Any], solved: bool) -> Solution:
        """The solution at the values of ``opti.x`` and ``opti.p``."""
        found = dict(zip(self._keys, (each.full() for each in self._graph.call([x, p])), strict=True))
        dyn, states, t, u = self._motion.dyn, found["x"].T, found["t"].ravel(), found["u"].T
        nq, blocks = dyn.tree.nq, unit_blocks(dyn.tree)
        values, control = found["p"].ravel(), self._motion.scheme.control
        paths = {
            name: FollowedPath(
                path.expression.graph,
                found[f"{name} lower"].ravel(),
                found[f"{name} upper"].ravel(),
                {key: found[f"{name} {key}"] for key in path.constants},
            )
            for name, path in self._paths.items()
        }
        named = dict(zip(self._names, found["violations"].ravel().tolist(), strict=True))
        return Solution(
            dyn=dyn,
            bounds=self._bounds,
            control=control,
            status=status,
            iterations=0 if status in ("Invalid_Problem_Definition", *EXCEPTIONS) else int(stats.get("iter_count", 0)),
            cost=float(found["cost"][0, 0]),
            t=t,
            q=projected(states[:, :nq], blocks),
            v=states[:, nq:],
            u=u,
            p=values,
            stages=Stages(*(found[f"stages_{name}"].T for name in Stages._fields)),
            constraint_violation=max(float(found["largest"][0, 0]), named.get(CLOSED, 0.0)),
            length_violation=float(np.abs(lengths(states[:, :nq], blocks) - 1).max(initial=0)),
            constraint_drift=float(found["drift"][0, 0]) if "drift" in found else 0.0,
            violations=named,
            stats=dict(stats),
            accuracy=Accuracy(self._motion.system, self._bounds, control, t, states, u, values, paths),
            solved=solved,
            corrections={name: by for end in self._ends for name, by in end.corrections.items()},
        )
