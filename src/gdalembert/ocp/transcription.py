"""The equations of motion in an ``Opti``: one step for each interval."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from gdalembert.compilation.external import external
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.ocp.model_parameters import ModelParameters, step_of_parts
from gdalembert.ocp.steps import Method, collocation, collocation_method, free_rates, rk4, rk4_method
from gdalembert.spatial.arrays import Array

METHODS = ("collocation", "rk4")


@dataclass(frozen=True)
class Transcription:
    """The variables and expressions that a transcription adds.

    Attributes:
        rule: the Runge–Kutta method.
        stages: q, v, a, u at the stages, a column for each.
        k: the unknowns of implicit steps, a column for each stage: a, and the rates of the entries ``free`` of q.
        equations: residuals of the equations of motion.
    """

    rule: Method
    stages: tuple[ca.MX, ca.MX, ca.MX, ca.MX]
    k: ca.MX | None
    free: list[int]
    equations: ca.MX


def transcribe(
    opti: ca.Opti,
    dyn: Dynamics,
    x: ca.MX,
    u: ca.MX,
    h: ca.MX | float,
    effort: Array,
    method: str,
    degree: int,
    scheme: str,
    control: str,
    parameters: ModelParameters,
    compiled: bool,
) -> Transcription:
    """Connect the columns of x (N + 1) by steps of h under u; ``effort`` (nu) are typical magnitudes of u.

    Raises:
        CompilationError: if the steps cannot be ``compiled``.
    """
    n = x.shape[1] - 1
    p = [ca.repmat(part, 1, n) for part in parameters.parts] if len(parameters) else []
    ends = u if control == "constant" else u[:, (np.repeat(np.arange(n), 2) + np.tile([0, 1], n)).tolist()]
    steps = ca.repmat(ca.MX(h), 1, n)

    def mapped(step: ca.Function) -> ca.Function:
        graph = step_of_parts(step, parameters) if p else step
        return (external(graph, 2, f"Problem: {dyn.tree.name}") if compiled else graph).map(n)

    if method == "rk4":
        rule, k, residual = rk4_method(), None, ca.MX(0, 1)
        free: list[int] = []
        x_next, q, v, a = mapped(rk4(dyn, control=control))(x[:, :-1], ends, steps, *p)
    else:
        rule, free = collocation_method(degree, scheme), free_rates(dyn.tree)[0]
        k = opti.variable(dyn.tree.nv + len(free), n * degree)
        step = collocation(dyn, degree=degree, scheme=scheme, control=control)
        x_next, residual, q, v, a = mapped(step)(x[:, :-1], k, ends, steps, *p)
        forces = np.abs(dyn.actuation) @ effort
        sizes = np.concatenate([np.where(forces > 0, forces, 1.0), np.ones(len(free))])
        opti.subject_to(ca.vec(residual) == 0, np.tile(sizes, n * degree))
    opti.subject_to(ca.vec(x_next - x[:, 1:]) == 0)
    equations = ca.vertcat(ca.vec(residual), ca.vec(x_next - x[:, 1:]))
    return Transcription(rule, (q, v, a, u @ _spread(n, rule.c, control)), k, free, equations)


def _spread(n: int, c: Array, control: str) -> ca.DM:
    """The matrix that turns u into a column for each stage, at fractions c of n intervals."""
    if control == "constant":
        return ca.kron(ca.DM.eye(n), ca.DM.ones(1, len(c)))
    spread = ca.DM(n + 1, n * len(c))
    for k in range(n):
        for i, fraction in enumerate(c):
            spread[k, k * len(c) + i], spread[k + 1, k * len(c) + i] = 1 - fraction, fraction
    return spread
