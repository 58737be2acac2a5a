"""The Functions of a filter: the rate of a robot's state and its outputs, with derivatives in the tangent space.

    x = (q, v, s), s the parameters and offsets that vary slowly;  x ⊕ δ = (pin.integrate(q, δq), v + δv, s + δs)
    f = (v, a, 0), A = ∂f/∂δ = [D 1 0; ∂a/∂q ∂a/∂v ∂a/∂s; 0 0 0], a = forward dynamics
    y = outputs at (q, v, a, u, p) + offsets,  H = ∂y/∂δ + ∂y/∂a ∂a/∂δ

D is the rate of δq at constant v: 0, but −[ω×] for a ball and −ad v for a free-flyer. ∂a/∂s = −M⁻¹ ∂tau/∂s at a.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import UnsupportedError
from gdalembert.model.configuration import integrate, integrate_derivatives
from gdalembert.model.tree import Tree
from gdalembert.spatial.instructions import eliminate_common_subexpressions


class FilterModel:
    """A robot with slow states, as a filter takes it.

    Args:
        dyn: the robot. ``outputs``: Functions (q, v, a, u[, p]) → (y) by name.
        chosen: entries of p that are states. ``shifted``: entries of y with an offset that is a state.
        driven: what has noise, and a column in G, among efforts on v (nv), accelerations (nv) and slow states.

    Attributes:
        nx, n: lengths of x and of its tangent space.
        rate: (x, u, p) → (f, A, G), matrices row by row. ``outputs``: (x, u, p) → (y, H).
        retract: (x, delta) → (x ⊕ δ).
    """

    def __init__(
        self,
        dyn: Dynamics,
        outputs: Mapping[str, ca.Function],
        chosen: Sequence[int],
        shifted: Sequence[int],
        driven: Sequence[int],
    ) -> None:
        if mixed := next((name for name, function in outputs.items() if not function.is_a("SXFunction")), None):
            raise UnsupportedError(
                f"Estimator: output {mixed!r} cannot be written in scalar operations, which C code needs; give one "
                "without interpolants and external code"
            )
        nq, nv, slow = dyn.tree.nq, dyn.tree.nv, len(chosen) + len(shifted)
        self.nx, self.n = nq + nv + slow, 2 * nv + slow
        self._inputs = {"x": ca.SX.sym("x", self.nx), "u": ca.SX.sym("u", dyn.nu)}
        self._inputs["p"] = ca.SX.sym("p", len(dyn.parameters))
        q, v, s, shifts = ca.vertsplit(self._inputs["x"], [0, nq, nq + nv, nq + nv + len(chosen), self.nx])
        p = ca.SX(self._inputs["p"])
        for k, index in enumerate(chosen):
            p[index] = s[k]
        motion = [q, v, self._inputs["u"], *([p] if len(dyn.parameters) else [])]
        a, by_x, inverse = _acceleration(dyn, motion, chosen, self.n)
        columns = ca.diagcat(ca.SX(nv, 0), ca.horzcat(inverse, ca.SX.eye(nv)), ca.SX.eye(slow))[:, list(driven)]
        top = ca.horzcat(_drift(dyn.tree, v), ca.SX.eye(nv), ca.SX(nv, slow))
        rate = {"f": ca.vertcat(v, a, ca.SX(slow, 1)), "A": ca.vertcat(top, by_x, ca.SX(slow, self.n))}
        self.rate = self._function("rate", rate | {"G": columns})
        y, slopes, by_a = _values(dyn, outputs, [q, v, a, *motion[2:]], chosen)
        offsets = ca.SX(y.shape[0], len(shifted))
        for k, row in enumerate(shifted):
            offsets[row, k] = 1
        y, slopes = y + offsets @ shifts, ca.horzcat(slopes, offsets) + by_a @ by_x
        self.outputs = self._function("outputs", {"y": y, "H": slopes})
        delta = ca.SX.sym("delta", self.n)
        moved = ca.vertcat(integrate(dyn.tree, q, delta[:nv]), self._inputs["x"][nq:] + delta[nv:])
        self.retract = ca.Function("retract", [self._inputs["x"], delta], [ca.densify(moved)])

    def _function(self, name: str, results: Mapping[str, ca.SX]) -> ca.Function:
        """(x, u, p) → the results, matrices row by row."""
        inputs = list(self._inputs.values())
        rows = eliminate_common_subexpressions(inputs, [ca.vec(ca.densify(result).T) for result in results.values()])
        return ca.Function(name, inputs, rows, list(self._inputs), list(results))


def _acceleration(dyn: Dynamics, motion: Sequence[ca.SX], chosen: Sequence[int], n: int) -> tuple[ca.SX, ca.SX, ca.SX]:
    """a (nv), its derivative by the tangent space (nv × n), and that by tau (nv × nv)."""
    q, v, u, *p = motion
    tau = dyn.actuators.tau(q, u)
    by_q, by_v, inverse = dyn.forward_dynamics_derivatives(q, v, tau, *p)
    by_q += inverse @ (ca.jacobian(tau, q) @ dyn.tree.tangent_map(q))
    # with M⁻¹, which is there already: the rate of an arm of 3 joints and 8 modes has 20,125 instructions, not 21,493
    a = dyn.forward_dynamics(q, v, tau, *p) if dyn.has_load_friction else inverse @ (tau - dyn.nle(q, v, *p))
    by_s = ca.SX(dyn.tree.nv, 0)
    if chosen:
        symbols = [ca.SX.sym(name, x.shape[0]) for name, x in zip("qvap", (q, v, a, *p), strict=True)]
        slopes = ca.jacobian(dyn.inverse_dynamics(*symbols), symbols[-1])[:, list(chosen)]
        by_s = -inverse @ ca.Function("by_p", symbols, [slopes])(q, v, a, *p)
    by_x = ca.horzcat(by_q, by_v, by_s)
    return a, ca.horzcat(by_x, ca.SX(dyn.tree.nv, n - by_x.shape[1])), inverse


def _values(
    dyn: Dynamics, outputs: Mapping[str, ca.Function], motion: Sequence[ca.SX], chosen: Sequence[int]
) -> tuple[ca.SX, ca.SX, ca.SX]:
    """y, its derivative by (δq, δv, parameters that are states) at constant a, and that by a."""
    symbols = [ca.SX.sym(name, x.shape[0]) for name, x in zip("qvaup", motion, strict=False)]
    y = ca.vertcat(*(function(*symbols) for function in outputs.values()))
    by_p = ca.jacobian(y, symbols[-1])[:, list(chosen)]
    slopes = ca.horzcat(ca.jacobian(y, symbols[0]) @ dyn.tree.tangent_map(symbols[0]), ca.jacobian(y, symbols[1]), by_p)
    graph = ca.Function("outputs", symbols, [y, slopes, ca.jacobian(y, symbols[2])])
    values, slopes, by_a = graph(*motion)
    return values, slopes, by_a


def _drift(tree: Tree, v: ca.SX) -> ca.SX:
    """D (nv × nv)."""
    step, time = ca.SX.sym("v", tree.nv), ca.SX.sym("t")
    by_q, _ = integrate_derivatives(tree, time * step)
    rate = ca.reshape(ca.jacobian(ca.vec(ca.SX(by_q)), time), tree.nv, tree.nv)
    drift: ca.SX = ca.sparsify(ca.substitute(rate, ca.vertcat(step, time), ca.vertcat(v, 0)))
    return drift
