"""Newton–Euler for the complexity study: the recursion as textbooks print it, for tau alone.

J. Y. S. Luh, M. W. Walker, R. P. C. Paul, 1980, as A. Shala and R. Likaj use it. Vectors of link i are in the axes of
frame i, at its distal end; p_i leads there from the origin of frame i − 1, and s_i from there to the centre of mass.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from benchmarks.complexity.chain import Chain
from gdalembert import spatial
from gdalembert.spatial.algebra import Matrix


def textbook(chain: Chain, q: Matrix, v: Matrix, a: Matrix) -> dict[str, Matrix]:
    """tau; forces and moments act at the origin of frame i − 1, gravity is an acceleration of the base."""
    z = spatial.constant([0, 0, 1])
    omega = omega_dot = ca.DM(3, 1)
    v_dot = -ca.DM(chain.gravity)
    rotation = {i: matrix[:3, :3] for i, matrix in chain.matrices(q).items()}
    p, own_force, own_moment = {}, {}, {}
    for i, r in rotation.items():
        link, turning = chain.link(i), z * v[i - 1]
        p[i] = ca.DM([link.a, link.d * np.sin(link.alpha), link.d * np.cos(link.alpha)])
        omega, omega_dot = r.T @ (omega + turning), r.T @ (omega_dot + z * a[i - 1] + ca.cross(omega, turning))
        v_dot = r.T @ v_dot + ca.cross(omega_dot, p[i]) + ca.cross(omega, ca.cross(omega, p[i]))
        s, tensor = ca.DM(link.com), ca.DM(link.inertia)
        own_force[i] = link.mass * (v_dot + ca.cross(omega_dot, s) + ca.cross(omega, ca.cross(omega, s)))
        own_moment[i] = ca.cross(s, own_force[i]) + tensor @ omega_dot + ca.cross(omega, tensor @ omega)
    tau = {}
    force = moment = ca.DM(3, 1)
    for i in reversed(chain.joints):
        force = own_force[i] + force
        moment = own_moment[i] + moment + ca.cross(p[i], force)
        force, moment = rotation[i] @ force, rotation[i] @ moment
        tau[i] = moment[2]
    return {"tau": ca.vertcat(*(tau[i] for i in chain.joints))}
