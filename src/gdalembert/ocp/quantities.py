"""What the expressions of a problem may depend on, at the stages and at the instants of the grid."""

from __future__ import annotations

from gdalembert.ocp.expressions import EvaluatedExpression, Expression, evaluate
from gdalembert.ocp.model_parameters import ModelParameters
from gdalembert.ocp.parameters import Parameters
from gdalembert.ocp.transcription import Motion
from gdalembert.spatial.interrupts import interruptible


class Quantities:
    """q, v, a, u, t, p and the parameters of a problem, a column for each place where an expression holds.

    Args:
        motion: of a robot.
        parameters: of the problem. ``robot``: those of the robot.
    """

    def __init__(self, motion: Motion, parameters: Parameters, robot: ModelParameters) -> None:
        self._motion, self._parameters, self._robot = motion, parameters, robot

    @interruptible
    def evaluate(self, expression: Expression, at: str) -> EvaluatedExpression:
        """An expression at each stage, at each instant of the grid, or at its first or last one (``at``).

        Raises:
            As :func:`~gdalembert.ocp.expressions.evaluate`.
        """
        motion, named = self._motion, self._parameters.symbols
        compile_for = f"Problem: {motion.dyn.tree.name}" if motion.scheme.compiled else None
        p = {"p": self._robot.along} if motion.dyn.parameters else {}
        if at == "stages":
            names = ("q", "v", "a", "u", "t", *["forces"][: motion.system.nc])
            states = {name: getattr(motion.stages, name) for name in names}
            p = {name: motion.at_stages(x) if x.shape[1] > 1 else x for name, x in p.items()}
            others = {name: motion.between(x) if x.shape[1] > 1 else x for name, x in named.items()}
            return evaluate(expression, states | p | others, at, named, compile_for=compile_for)
        nq, column = motion.dyn.tree.nq, {"start": [0], "end": [motion.intervals]}.get(at, slice(None))
        x = motion.x[:, column]
        states = {"q": x[:nq, :], "v": x[nq:, :], "t": motion.t[:, column]}
        others = {name: x[:, column] if x.shape[1] > 1 else x for name, x in (p | named).items()}
        return evaluate(expression, states | others, at, named, compile_for=compile_for)
