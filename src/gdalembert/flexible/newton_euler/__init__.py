"""Newton–Euler recursion with flexible links: a link with its n modes is moved like a joint with n velocities (ours).

The joint moves the link; the modal coordinates f deform it and move its stations, which carry the child joints:

    station    p = p̄ + U f − ½ (fᵀ s f) e_x,  R_E = exp([ϑ×]),  ϑ = Θ f
               ẍ_E = ẍ + U p + 2 ω × ṗ + p̈,   ω_E = R_Eᵀ ω + J ḟ

The motion of a flexible link demands, in trace form, with U = [α×] + [ω×][ω×], Σ and c of the deformed link and
N_r = ∫ h φ_rᵀ,

    f   = m ẍ + U c + 2 ω × P ḟ + P f̈
    n   = vee(Φ − Φᵀ) + c × ẍ,   Φ = U Σ + 2 [ω×] (Σ ḟ_j N_j)ᵀ + (Σ f̈_j N_j)ᵀ
    g_r = tr(U N_r) + P_r·ẍ + 2 tr([ω×] Σ ḟ_k C_kr) + Σ M_rk f̈_k

A rigid link is the case without modes and takes the same code as in :class:`~gdalembert.NewtonEuler`. The mass of a
link that shortens is that of particles, stations of their own (:mod:`gdalembert.flexible.particles`).
"""

from gdalembert.flexible.newton_euler.aba import forward_dynamics
from gdalembert.flexible.newton_euler.crba import mass_matrix
from gdalembert.flexible.newton_euler.rnea import inverse_dynamics

__all__ = ["forward_dynamics", "inverse_dynamics", "mass_matrix"]
