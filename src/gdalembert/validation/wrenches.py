"""External wrenches at many states: random ones, Pinocchio's fext for them, and their virtual work."""

from __future__ import annotations

from copy import copy
from typing import Self

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.frame_motion import placement
from gdalembert.dynamics.wrenches import ExternalWrenches
from gdalembert.errors import ArgumentError
from gdalembert.model.from_pinocchio import name_of
from gdalembert.model.tree import Tree
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.batch import BatchFunction
from gdalembert.validation.states import States

LOADED = ("inverse_dynamics", "forward_dynamics", "state_derivative")
"""The Functions that are compared under wrenches."""


def under_some(dynamics: Dynamics) -> Dynamics:
    """The robot under constant random wrenches, if they are an input."""
    external = dynamics.external_wrenches
    if not external.is_input:
        return dynamics
    return dynamics.under(np.random.default_rng(0).normal(size=(6, len(external))))


class WrenchesUnderTest:
    """The wrenches of a robot at many states, and its Functions under them.

    Where the wrenches are an input, they are a fixed random combination of v and a: normally distributed, and the same
    in the same state.

    Attributes:
        external: the frames.
        functions: by name, of the inputs without wrenches, then the wrenches as a vector (6 n), column by column.
    """

    def __init__(
        self, dynamics: Dynamics, functions: dict[str, ca.Function], shapes: dict[str, tuple[int, ...]]
    ) -> None:
        self.external, nv = dynamics.external_wrenches, dynamics.tree.nv
        size = 6 * len(self.external)
        self._combination = np.random.default_rng(size).normal(size=(2 * nv, size)) / np.sqrt(2 * nv)
        self.functions = {
            name: BatchFunction(self._of_vector(graph), *shapes[name]) for name, graph in functions.items()
        }

    def at(self, p: Array | None) -> Self:
        """The same at p."""
        twin = copy(self)
        twin.functions = {name: function.at(p) for name, function in self.functions.items()}
        return twin

    def of(self, states: States) -> Array:
        """The wrenches at n states (n × 6 n_frames)."""
        if self.external.is_input:
            return np.asarray(np.hstack([states.v, states.a]) @ self._combination)
        return np.tile(ca.DM(self.external.constant).full().ravel(order="F"), (len(states), 1))

    def _of_vector(self, graph: ca.Function) -> ca.Function:
        s = {name: ca.SX.sym(name, *graph.size_in(name)) for name in graph.name_in()}
        w = ca.SX.sym("w", 6 * len(self.external))
        given = s | ({"wrenches": ca.reshape(w, 6, -1)} if "wrenches" in s else {})
        first = [x for name, x in s.items() if name not in ("wrenches", "p")]
        last = [x for name, x in s.items() if name == "p"]
        return ca.Function(graph.name(), [*first, w, *last], [graph(*given.values())])


class FextOfModel:
    """tau of ``pin.rnea`` with Pinocchio's fext: on each joint, in the axes and about the origin of its frame.

    Raises:
        ArgumentError: if the model has no such frame.
    """

    def __init__(self, model: pin.Model, external: ExternalWrenches) -> None:
        self._model, self._data, self._references = model, model.createData(), external.references
        self._frames = [_index(model, k, name) for k, name in zip(external.frames, external.names, strict=True)]

    def torque(self, states: States, wrenches: Array) -> Array:
        """tau (n × nv) under wrenches (n × 6 n_frames)."""
        each = zip(states.q, states.v, states.a, wrenches.reshape(len(states), -1, 6), strict=True)
        return np.array([pin.rnea(self._model, self._data, q, v, a, self._fext(q, w)) for q, v, a, w in each])

    def _fext(self, q: Array, wrenches: Array) -> pin.StdVec_Force:
        pin.framesForwardKinematics(self._model, self._data, q)
        forces = [pin.Force.Zero() for _ in range(self._model.njoints)]
        for index, reference, wrench in zip(self._frames, self._references, wrenches, strict=True):
            frame, placed, force = self._model.frames[index], self._data.oMf[index], pin.Force(wrench)
            if reference == pin.WORLD:
                force = placed.actInv(force)
            elif reference == pin.LOCAL_WORLD_ALIGNED:
                force = pin.SE3(placed.rotation, np.zeros(3)).actInv(force)
            forces[frame.parentJoint] += frame.placement.act(force)
        return pin.StdVec_Force(forces)


def _index(model: pin.Model, index: int, name: str) -> int:
    if index < model.nframes and model.frames[index].name == name:
        return index
    if not model.existFrame(name):
        raise ArgumentError(f"{name_of(model)!r} has no frame {name!r}, at which wrenches act on the system under test")
    return int(model.getFrameId(name))


def virtual_work(tree: Tree, external: ExternalWrenches) -> BatchFunction:
    """(q, wrenches) → −Σ Jᵀ w (nv), by differentiating the placements of the frames.

    w does the work f·ẋ + m·ω, ẋ and [ω×] = Ṙ Rᵀ being the rates of the placement.
    """
    q, v, w = ca.SX.sym("q", tree.nq), ca.SX.sym("v", tree.nv), ca.SX.sym("w", 6, len(external))
    rate, power = tree.configuration_rate(q, v), ca.SX(0)
    for frame, reference, wrench in external.at_frames(tree, w):
        r, x = (ca.SX(each) for each in placement(tree, frame, q))
        x_rate, r_rate = ca.jtimes(x, q, rate), ca.reshape(ca.jtimes(ca.vec(r), q, rate), 3, 3)
        turning = r_rate @ r.T
        omega = ca.vertcat(turning[2, 1], turning[0, 2], turning[1, 0])
        force, moment = wrench[:3], wrench[3:]
        if reference == pin.LOCAL:
            force, moment = r @ force, r @ moment
        elif reference == pin.WORLD:
            moment = moment - ca.cross(x, force)
        power = power + ca.dot(force, x_rate) + ca.dot(moment, omega)
    torque = -ca.jtimes(power, v, ca.DM.eye(tree.nv)).T
    return BatchFunction(ca.Function("virtual_work", [q, ca.vec(w)], [ca.densify(torque)]), tree.nv)
