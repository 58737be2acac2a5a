"""A. Shala, R. Likaj, Dynamic modeling of 3 DoF robot manipulator (Acta Tehnica Corviniensis): Newton–Euler.

The recursion of Luh, Walker and Paul in Denavit–Hartenberg frames, and the closed form of an R-P-R robot.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.export import derive
from tests.helpers.dh_chains import (
    FORMULATIONS,
    Array,
    Chain,
    Rng,
    check,
    check_erratum,
    evaluate,
    random_chain,
    random_inertia,
    random_rotary_and_prismatic,
    random_state,
    value,
)

G = 9.81
Z_0 = np.array([0.0, 0.0, 1.0])
RIGHT: frozenset[str] = frozenset()


def recursion(
    chain: Chain, q: Array, v: Array, a: Array, slips: Set[str] = RIGHT
) -> tuple[Array, list[Array], list[Array]]:
    """tau, f_1 … f_n and n_1 … n_n: eqs. 1–9, each link in the axes of its own frame i, n_i about the origin of i − 1.

    ``slips`` are errors in print, to be made on purpose.
    """

    def p_of(i: int) -> Array:
        d = chain.d[i - 1] + (0 if chain.rotary[i - 1] else q[i - 1])
        alpha = chain.alpha[i - 1]
        if "p_i with sin twice" in slips:
            return np.array([chain.a[i - 1], d * np.sin(alpha), d * np.sin(alpha)])
        if "p_2 in frame 1" in slips and i == 2:
            return np.array([0, 0, d])
        return np.array([chain.a[i - 1], d * np.sin(alpha), d * np.cos(alpha)])

    n = chain.n
    r = [np.eye(3), *(matrix[:3, :3] for matrix in chain.matrices(q)), np.eye(3)]
    p = [np.zeros(3), *(p_of(i) for i in range(1, n + 1))]
    s = [np.zeros(3), *chain.com]
    omega, omega_dot = [np.zeros(3)], [np.zeros(3)]
    v_dot = [-chain.gravity]
    if "v̇_0 = 0" in slips:
        v_dot = [np.zeros(3)]
    if "v̇_0 = g" in slips:
        v_dot = [chain.gravity]

    for i in range(1, n + 1):
        to_i = r[i].T
        w, w_dot, rate, acceleration = omega[-1], omega_dot[-1], Z_0 * v[i - 1], Z_0 * a[i - 1]
        if chain.rotary[i - 1]:
            omega.append(to_i @ (w + rate))
            omega_dot.append(
                to_i @ (w_dot + acceleration) + np.cross(w, rate)
                if "product outside R_iᵀ in ω̇" in slips
                else to_i @ (w_dot + acceleration + np.cross(w, rate))
            )
            carried = to_i @ v_dot[-1]
        else:
            omega.append(to_i @ w)
            omega_dot.append(to_i @ w_dot)
            carried = to_i @ (v_dot[-1] + acceleration + 2 * np.cross(w, rate))
        at_end = np.cross(omega_dot[i], p[i]) + np.cross(omega[i], np.cross(omega[i], p[i]))
        if "ω̇ × (ω̇ × p) in v̇" in slips:
            at_end = np.cross(omega_dot[i], p[i]) + np.cross(omega_dot[i], np.cross(omega_dot[i], p[i]))
        if "v̇_2 of the worked case" in slips and not chain.rotary[i - 1]:
            carried = to_i @ v_dot[-1] + rate + 2 * np.cross(w_dot, rate)
            at_end = np.cross(w, p[i - 1])
        v_dot.append(carried + at_end)

    zero = [np.zeros(3)] * (n + 2)
    f, moment, tau = list(zero), list(zero), np.zeros(n)
    for i in range(n, 0, -1):
        a_i = v_dot[i] + np.cross(omega_dot[i], s[i]) + np.cross(omega[i], np.cross(omega[i], s[i]))
        force = chain.mass[i - 1] * a_i
        inertia = chain.inertia[i - 1]
        gyration = omega_dot[i] if "ω̇ × I ω̇ in N_i" in slips else omega[i]
        euler = inertia @ omega_dot[i] + np.cross(gyration, inertia @ gyration)
        from_next = r[i + 1].T if "R_{i+1}ᵀ in eqs. 7, 8" in slips else r[i + 1]
        f[i] = from_next @ f[i + 1] + force
        moment[i] = from_next @ moment[i + 1] + np.cross(p[i], f[i]) + np.cross(s[i], force) + euler
        axis = r[i].T @ Z_0
        if "R_{i+1}ᵀ in eq. 9" in slips:
            axis = r[i + 1].T @ Z_0
        if "R_2 z_0 in τ_2" in slips and i == 2:
            axis = r[i] @ Z_0
        tau[i - 1] = (moment if chain.rotary[i - 1] else f)[i] @ axis
    return tau, f[1:-1], moment[1:-1]


def without_armature(chain: Chain) -> Chain:
    return replace(chain, armature=np.zeros(chain.n))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_recursion(n: int) -> None:
    """Eqs. 1–9 on any chain of rotary and prismatic joints, full inertia tensors, any direction of gravity."""
    rng = np.random.default_rng(n)
    for _ in range(3):
        chain = without_armature(random_rotary_and_prismatic(rng, n))
        dyn = gd.NewtonEuler(chain.model(), clean=0)
        for _ in range(2):
            state = random_state(rng, n)
            tau, _, _ = recursion(chain, *state)
            check(value(dyn.inverse_dynamics, *state), tau)


@pytest.mark.parametrize("n", [1, 3, 6])
def test_forces_and_moments(n: int) -> None:
    """f_i and n_i are the wrenches of ``terms``, which sit in Pinocchio's joint frames, as ``data.f`` of ``rnea`` does.

    A joint frame is at the origin of frame i − 1, a prismatic one further along the axis by q.
    """
    rng = np.random.default_rng(10 + n)
    chain = random_rotary_and_prismatic(rng, n)
    model = chain.model()
    state = random_state(rng, n)
    wrenches = evaluate(gd.NewtonEuler(model, clean=0).terms, *state)
    data = model.createData()
    pin.rnea(model, data, *state)
    _, forces, moments = recursion(chain, *state)
    for i in range(n):
        force, moment = wrenches["force"][:, i], wrenches["moment"][:, i]
        check(force, data.f[i + 1].linear, i)
        check(moment, data.f[i + 1].angular, i)
        to_frame = chain.tail(i + 1).rotation.T
        slid = Z_0 * (0 if chain.rotary[i] else state[0][i])
        check(forces[i], to_frame @ force, i)
        check(moments[i], to_frame @ (moment + np.cross(slid, force)), i)


# The R-P-R robot.


def rpr(rng: Rng, **given: object) -> Chain:
    """d_1 = L_1; α_2 = −β, d_2 = q_2; d_3 = L_3; principal inertias."""
    beta, l_1, l_3 = rng.uniform(0.2, 1.3), *rng.uniform(0.2, 0.8, 2)
    parts = {
        "theta": np.zeros(3),
        "d": np.array([l_1, 0, l_3]),
        "a": np.zeros(3),
        "alpha": np.array([0, -beta, 0]),
        "inertia": np.array([np.diag(np.diag(random_inertia(rng))) for _ in range(3)]),
        "armature": np.zeros(3),
        "gravity": np.array([0, 0, -G]),
    }
    return random_chain(rng, [True, False, True], **(parts | given))


def shipped_rpr() -> Chain:
    """The numbers of the shipped robot, from the distal frames, in their axes."""
    return Chain(
        rotary=(True, False, True),
        theta=np.zeros(3),
        d=np.array([0.4, 0, 0.25]),
        a=np.zeros(3),
        alpha=np.array([0, -0.5, 0]),
        mass=np.array([6.0, 4.0, 2.0]),
        com=np.array([[0.02, -0.015, -0.18], [0.03, -0.02, -0.12], [0.015, 0.025, -0.1]]),
        inertia=np.array([np.diag([0.08, 0.07, 0.03]), np.diag([0.05, 0.045, 0.02]), np.diag([0.012, 0.01, 0.005])]),
        armature=np.zeros(3),
        gravity=np.array([0, 0, -G]),
    )


def closed_form(chain: Chain, q: Array, v: Array, a: Array) -> dict[str, Array]:
    """M, the velocity products and gravity of the R-P-R robot, and tau; g > 0 downward."""
    s, c = np.sin(q[2]), np.cos(q[2])
    s_b, c_b = np.sin(-chain.alpha[1]), np.cos(chain.alpha[1])
    (m_1, m_2, m_3), (s_1, s_2, s_3), g = chain.mass, chain.com, -chain.gravity[2]
    i_1, i_2, i_3 = (np.diag(inertia) for inertia in chain.inertia)
    x, y, z = s_3[0] * c - s_3[1] * s, s_3[0] * s + s_3[1] * c, chain.d[2] + s_3[2]
    rho_2 = s_3[0] ** 2 + s_3[1] ** 2

    m_11 = (
        i_1[2]
        + m_1 * (s_1[0] ** 2 + s_1[1] ** 2)
        + s_b**2 * i_2[1]
        + c_b**2 * i_2[2]
        + m_2 * (s_2[0] ** 2 + (c_b * s_2[1] + s_b * s_2[2]) ** 2)
        + s_b**2 * (s**2 * i_3[0] + c**2 * i_3[1])
        + c_b**2 * i_3[2]
        + m_3 * (x**2 + (c_b * y + s_b * z) ** 2)
    )
    m_13 = c_b * i_3[2] + m_3 * (c_b * rho_2 + s_b * z * y)
    m_23 = -m_3 * s_b * x
    m_33 = i_3[2] + m_3 * rho_2
    # derivatives with respect to q_3
    d_11 = 2 * s_b**2 * s * c * (i_3[0] - i_3[1]) + 2 * m_3 * x * (c_b**2 * y + c_b * s_b * z - y)
    d_13 = m_3 * s_b * z * x
    d_23 = m_3 * s_b * y

    mass = np.array([[m_11, 0, m_13], [0, m_2 + m_3, m_23], [m_13, m_23, m_33]])
    products = np.array([d_11 * v[0] * v[2] + d_13 * v[2] ** 2, d_23 * v[2] ** 2, -0.5 * d_11 * v[0] ** 2])
    gravity = np.array([0, (m_2 + m_3) * g, -m_3 * g * s_b * x])
    return {"M": mass, "products": products, "gravity": gravity, "tau": mass @ a + products + gravity}


def check_closed_form(chain: Chain, model: pin.Model, rng: Rng, states: int) -> None:
    for name in FORMULATIONS:
        dyn = gd.formulations()[name](model, clean=0)
        for _ in range(states):
            q, v, a = random_state(rng, 3)
            expected = closed_form(chain, q, v, a)
            check(value(dyn.inverse_dynamics, q, v, a), expected["tau"], name)
            check(value(dyn.mass_matrix, q), expected["M"], name)
            check(value(dyn.coriolis_matrix, q, v) @ v, expected["products"], name)
            check(value(dyn.generalized_gravity, q), expected["gravity"], name)
            check(value(dyn.nle, q, v), expected["products"] + expected["gravity"], name)
            check(recursion(chain, q, v, a)[0], expected["tau"])


@pytest.mark.long
def test_closed_form_with_random_parameters() -> None:
    rng = np.random.default_rng(20)
    for _ in range(20):
        chain = rpr(rng)
        check_closed_form(chain, chain.model(), rng, states=2)


def test_closed_form_on_the_shipped_robot() -> None:
    check_closed_form(shipped_rpr(), gd.load_urdf("shala_likaj_rpr"), np.random.default_rng(21), states=10)


def test_shipped_robot_is_the_chain() -> None:
    """URDF frames at the joints: s_1 + (0, 0, L_1); Rx(−β) s_2 and Rx(−β) I_2 Rx(−β)ᵀ; s_3 + (0, 0, L_3)."""
    chain, model = shipped_rpr(), gd.load_urdf("shala_likaj_rpr")
    tilt = pin.utils.rotate("x", -0.5)
    levers = [chain.com[0] + [0, 0, 0.4], tilt @ chain.com[1], chain.com[2] + [0, 0, 0.25]]
    inertias = [chain.inertia[0], tilt @ chain.inertia[1] @ tilt.T, chain.inertia[2]]
    for i in (1, 2, 3):
        check(model.inertias[i].mass, chain.mass[i - 1], i)
        check(model.inertias[i].lever, levers[i - 1], i)
        check(model.inertias[i].inertia, inertias[i - 1], i)
    data = model.createData()
    q = np.array([0.3, 0.2, -0.7])
    pin.framesForwardKinematics(model, data, q)
    check(data.oMf[model.getFrameId("tip")].homogeneous, chain.placements(q)[3])


@pytest.mark.parametrize("name", FORMULATIONS)
def test_what_does_not_count(name: str) -> None:
    """q_1, q_2, L_1 and the height of link 1 never appear; with link 3 balanced, no velocity product either."""
    rng = np.random.default_rng(22)
    chain = rpr(rng)
    (q, v, a), other = random_state(rng, 3), rng.uniform(-1, 1, 4)
    tau = closed_form(chain, q, v, a)["tau"]
    moved = replace(
        chain, d=chain.d + other[0] * np.array([1, 0, 0]), com=chain.com + other[1] * np.outer([1, 0, 0], [0, 0, 1])
    )
    dyn = gd.formulations()[name](moved.model(), clean=0)
    check(value(dyn.inverse_dynamics, q + np.array([other[2], other[3], 0]), v, a), tau)

    com, inertia = chain.com.copy(), chain.inertia.copy()
    com[2, :2] = 0
    inertia[2, 0, 0] = inertia[2, 1, 1]
    balanced = gd.formulations()[name](replace(chain, com=com, inertia=inertia).model(), clean=0)
    weight = (chain.mass[1] + chain.mass[2]) * np.array([[0], [G], [0]])
    check(value(balanced.nle, q, v), weight)
    check(value(balanced.inverse_dynamics, q, v, a)[1], (chain.mass[1] + chain.mass[2]) * (a[1:2] + G))


SLIPS = (
    "product outside R_iᵀ in ω̇",
    "p_i with sin twice",
    "p_2 in frame 1",
    "ω̇ × (ω̇ × p) in v̇",
    "v̇_2 of the worked case",
    "v̇_0 = 0",
    "v̇_0 = g",
    "ω̇ × I ω̇ in N_i",
    "R_{i+1}ᵀ in eqs. 7, 8",
    "R_{i+1}ᵀ in eq. 9",
    "R_2 z_0 in τ_2",
)


@pytest.mark.parametrize("slip", SLIPS)
def test_errata(slip: str) -> None:
    """Each slip in print alone makes the torques of the R-P-R robot wrong."""
    rng = np.random.default_rng(23)
    chain = rpr(rng)
    state = random_state(rng, 3)
    tau = value(gd.NewtonEuler(chain.model(), clean=0).inverse_dynamics, *state).ravel()
    check_erratum(recursion(chain, *state, {slip})[0], recursion(chain, *state)[0], tau)


def test_centre_of_mass_from_the_wrong_frame() -> None:
    """s_i is measured from frame i: the paper does not say so, and taken from frame i − 1 it gives other torques."""
    rng = np.random.default_rng(24)
    chain = rpr(rng)
    state = random_state(rng, 3)
    tau = value(gd.NewtonEuler(chain.model(), clean=0).inverse_dynamics, *state).ravel()
    p_at_zero = np.column_stack([chain.a, chain.d * np.sin(chain.alpha), chain.d * np.cos(chain.alpha)])
    misread = closed_form(replace(chain, com=chain.com - p_at_zero), *state)["tau"]
    check_erratum(misread, closed_form(chain, *state)["tau"], tau)


def test_the_equations_as_matlab_are_far_shorter_than_the_paper_says() -> None:
    """It speaks of up to 100 000 characters."""
    files = derive(gd.NewtonEuler(gd.load_urdf("shala_likaj_rpr")), "matlab")
    assert sum(map(len, files.values())) == 6405
    assert len(files["shala_likaj_rpr_inverse_dynamics.m"]) == 2505
