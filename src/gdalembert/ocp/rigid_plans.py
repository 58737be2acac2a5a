"""The plan of a rigid robot as a guess for the flexible one: modes and rotors follow their loads."""

from __future__ import annotations

import numpy as np

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.parameters.physical import columns
from gdalembert.model.configuration import unit_blocks
from gdalembert.ocp.guess import Guess
from gdalembert.ocp.systems import System
from gdalembert.spatial.arrays import Array


def is_rigid_plan(motion: Guess, dyn: Dynamics) -> bool:
    """Whether a motion has the coordinates of the joints alone, and the robot others."""
    flexible = dyn.tree.nv - dyn.modes.start
    joints = dyn.tree.nq - flexible, dyn.tree.nv - flexible
    return flexible > 0 and (motion.q.shape[1], motion.v.shape[1]) == joints


def with_deflections(system: System, plan: Guess, p: Array) -> Guess:
    """A motion of the joints with the deflections x = −K⁻¹ f, f being the forces that it exerts on modes and rotors.

    Modes have no velocities, which differences would make of every jump of a plan; those of rotors are differences. u
    is the plan's, if it has as many entries.
    """
    dyn = system.dynamics
    flexible, nv, nq, n = dyn.modes.start, dyn.tree.nv, dyn.tree.nq, len(plan.t)
    q, v, a = (
        np.hstack([rows, np.zeros((n, width - rows.shape[1]))])
        for rows, width in ((plan.q, nq), (plan.v, nv), (plan.a, nv))
    )
    stiffness = dyn.force_stiffness(q[0], p)[flexible:, flexible:]
    forces = dyn.inverse_dynamics(q.T, v.T, a.T, *columns(p, n)).full()[flexible:]
    deflections = -np.linalg.lstsq(stiffness, forces, rcond=None)[0].T
    q[:, flexible + nq - nv :] = deflections
    rotors = slice(dyn.modes.stop, nv)
    v[:, rotors] = np.gradient(deflections[:, dyn.modes.stop - flexible :], plan.t, axis=0)
    a[:, rotors] = np.gradient(v[:, rotors], plan.t, axis=0)
    u = plan.u if plan.u.shape[1] == dyn.nu else system.efforts(q, v, a, p)[0]
    return Guess(plan.t, q, v, a, u, unit_blocks(dyn.tree))
