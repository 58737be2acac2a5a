"""Recursive Newton–Euler equations (Luh, Walker and Paul 1980, as used by Shala and Likaj), in link axes.

Outward, from the base to the tips, with Rᵀ to the axes of link i, p its origin in the parent, S_i = (linear; angular):

    ω = Rᵀ ω_λ + angular v        α = Rᵀ α_λ + angular a + Rᵀ ω_λ × (angular v)
    ẍ = Rᵀ (ẍ_λ + U_λ p) + linear a + (Rᵀ ω_λ + ω) × (linear v),         U = [α×] + [ω×][ω×]

Each link, in trace form, with m, h = m c and the pseudo-inertia J = ∫ x xᵀ about the origin of its axes (ours; of a
prepared tree those that regrouping has left it):

    f = m ẍ + U h                 n = vee(Φ − Φᵀ) + h × ẍ,  Φ = U J

Inward, from the tips to the base:

    f_λ += R f,   n_λ += R n + p × R f,   tau_i = S_iᵀ (f; n)

Gravity is an acceleration −g of the base.

A flexible link is moved like any other; besides, its modal coordinates f deform it and move its stations, which carry
the child joints, like a joint with n velocities (ours):

    station    p = p̄ + U f − ½ (fᵀ s f) e_x,  R_E = exp([ϑ×]),  ϑ = Θ f
               ẍ_E = ẍ + U p + 2 ω × ṗ + p̈,   ω_E = R_Eᵀ ω + J ḟ

With Σ and c of the deformed link, N_r = ∫ h φ_rᵀ, P_r = ∫ φ_r and C_kr = ∫ φ_k φ_rᵀ, it needs

    f   = m ẍ + U c + 2 ω × P ḟ + P f̈
    n   = vee(Φ − Φᵀ) + c × ẍ,   Φ = U Σ + 2 [ω×] (Σ ḟ_j N_j)ᵀ + (Σ f̈_j N_j)ᵀ
    g_r = tr(U N_r) + P_r·ẍ + 2 tr([ω×] Σ ḟ_k C_kr) + Σ M_rk f̈_k

A rigid link is a link without modes: the first terms alone. The mass of a link that shortens is that of particles,
stations of their own. What is computed where:

    links         R, p, S, m, h, J of the links at q, their motion outward, U and the moment it makes; external
                  wrenches on links, that need so much less from their joints
    composite, displacements  bodies locked in their pose; fields on bodies in motion
    elements      what a recursion knows of whatever has coordinates: its stations, its own mass, its wrench and efforts
    joint_at_q, assumed_modes, strained_segment  the three elements: joints, modes of links, segments of rods; what
                  modes demand is differentiated by CasADi, joints and segments are by hand, which is smaller
    robot_at_q    the elements of a tree at q, from the base to the tips; motions of stations, composite bodies
    rnea          inward; tau, nle, g
    crba          M, from composite bodies; links in the axes of the root
    rnea_derivatives  C and the derivatives of tau, from composite bodies in motion
    aba           forward dynamics, from articulated bodies (Featherstone); or M a = tau − nle, if that is smaller; with
                  the forces of constraints, under several biases
    forward_derivatives  derivatives of a, from how articulated bodies answer to displacements

All sweeps are loops over elements, and ask none what it is.

All of it runs on a prepared tree (:mod:`gdalembert.model.regrouping`) with z on the joints' axes. A turn then changes
two components only, and U e_z, the acceleration of the axis, is the parent's.
"""
