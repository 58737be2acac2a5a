"""C. S. G. Lee, B. H. Lee, R. Nigam, RSD-TR-8-82 (University of Michigan, 1982): the generalized d'Alembert equations.

Section 2 (eqs. 28–33), section 3 (what dominates), section 4 (three-link PUMA in closed form), transcribed by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from tests.helpers.dh_chains import (
    FORMULATIONS,
    Array,
    Chain,
    Rng,
    check,
    check_erratum,
    error,
    evaluate,
    random_chain,
    random_rotary_and_prismatic,
    random_state,
    skew,
    value,
)
from tests.helpers.models import placement
from tests.helpers.sets import quick

SIZES = [1, 2, 3, 4, 5, 6]


def total(vectors: object) -> Array:
    """The sum of 3-vectors, of which there may be none."""
    return sum(vectors, np.zeros(3))


def cross(x: Array, y: Array) -> Array:
    return skew(x) @ y


@dataclass(frozen=True)
class Vectors:
    """Figure 1: all that eqs. 28–33 are written in, 1-based, in base axes (3-vectors) and link axes (I)."""

    r: list[Array]  # R_0 … R_n
    z: list[Array]  # z_0 … z_n
    p: list[Array]  # p_0 … p_n
    p_star: list[Array]  # p_k − p_{k−1}; entry 0 unused, as in all that follow
    com: list[Array]  # r_s
    c: list[Array]  # r_s − p_{s−1}
    rotary: list[bool]
    mass: list[float]
    inertia: list[Array]
    gravity: Array

    @property
    def links(self) -> range:
        return range(1, len(self.rotary))

    def axis(self, j: int) -> Array:
        """Angular velocity for unit speed of joint j: z_{j−1}, 0 of a prismatic joint (ours)."""
        return self.z[j - 1] if self.rotary[j] else np.zeros(3)

    def partial(self, i: int, s: int) -> Array:
        """Velocity of r_s for unit speed of joint i: z_{i−1} × (r_s − p_{i−1}); z_{i−1} of a prismatic one (ours)."""
        return cross(self.z[i - 1], self.com[s] - self.p[i - 1]) if self.rotary[i] else self.z[i - 1]


def vectors(chain: Chain, q: Array) -> Vectors:
    placed = chain.placements(q)
    r, p = [a[:3, :3] for a in placed], [a[:3, 3] for a in placed]
    com = [np.zeros(3), *(p[s] + r[s] @ chain.com[s - 1] for s in range(1, chain.n + 1))]
    return Vectors(
        r=r,
        z=[a[:, 2] for a in r],
        p=p,
        p_star=[np.zeros(3), *(p[k] - p[k - 1] for k in range(1, chain.n + 1))],
        com=com,
        c=[np.zeros(3), *(com[s] - p[s - 1] for s in range(1, chain.n + 1))],
        rotary=[True, *chain.rotary],
        mass=[0.0, *chain.mass],
        inertia=[np.zeros((3, 3)), *chain.inertia],
        gravity=chain.gravity,
    )


def eq_30(chain: Chain, q: Array) -> dict[str, Array]:
    """Eq. 30: D^rot and D^tra."""
    w = vectors(chain, q)
    rot, tra = np.zeros((chain.n, chain.n)), np.zeros((chain.n, chain.n))
    for i in w.links:
        for j in range(i, chain.n + 1):
            for s in range(j, chain.n + 1):
                in_link = w.r[s].T
                rot[i - 1, j - 1] += (in_link @ w.axis(i)) @ w.inertia[s] @ (in_link @ w.axis(j))
                tra[i - 1, j - 1] += w.mass[s] * w.partial(j, s) @ w.partial(i, s)
            rot[j - 1, i - 1], tra[j - 1, i - 1] = rot[i - 1, j - 1], tra[i - 1, j - 1]
    return {"D_rot": rot, "D_tra": tra}


def eq_31(chain: Chain, q: Array, v: Array, first: int = 1) -> Array:
    """Eq. 31: the terms of H^tra, 5 × n; the fifth is ours, and 0 without prismatic joints.

    The sums over p and q in terms 1 and 3 start at ``first``.
    """
    w = vectors(chain, q)
    rate = [0.0, *v]

    def turning(p: int) -> Array:
        return rate[p] * w.axis(p)

    def pairs(k: int) -> Array:
        return total(cross(total(turning(q) for q in range(1, p)), turning(p)) for p in range(2, k + 1))

    terms = np.zeros((5, chain.n))
    for i in w.links:
        for s in range(i, chain.n + 1):
            below = range(1, s)
            parts = (
                total(
                    cross(
                        total(turning(p) for p in range(first, k + 1)),
                        cross(total(turning(q) for q in range(first, k + 1)), w.p_star[k]),
                    )
                    for k in below
                ),
                total(cross(pairs(k), w.p_star[k]) for k in below),
                cross(
                    total(turning(p) for p in range(first, s + 1)),
                    cross(total(turning(q) for q in range(first, s + 1)), w.c[s]),
                ),
                cross(pairs(s), w.c[s]),
                total(
                    2 * cross(total(turning(p) for p in range(1, k + 1)), rate[k] * w.z[k - 1])
                    for k in range(1, s + 1)
                    if not w.rotary[k]
                ),
            )
            for term, part in zip(terms, parts, strict=True):
                term[i - 1] += w.mass[s] * part @ w.partial(i, s)
    return terms


def eq_32(chain: Chain, q: Array, v: Array, first: int = 1) -> Array:
    """Eq. 32: the two terms of H^rot, 2 × n; the sums over p and q in term 2 start at ``first``."""
    w = vectors(chain, q)
    rate = [0.0, *v]
    terms = np.zeros((2, chain.n))
    for i in w.links:
        for s in range(i, chain.n + 1):
            axis = [w.r[s].T @ w.axis(j) for j in range(1, s + 1)]
            axis.insert(0, np.zeros(3))
            precession = total(
                cross(rate[j] * axis[j], total(rate[k] * axis[k] for k in range(j + 1, s + 1))) for j in range(1, s + 1)
            )
            omega = total(rate[p] * axis[p] for p in range(first, s + 1))
            terms[0, i - 1] += axis[i] @ w.inertia[s] @ precession
            terms[1, i - 1] += cross(axis[i], omega) @ w.inertia[s] @ omega
    return terms


def eq_33(chain: Chain, q: Array) -> Array:
    """Eq. 33: G."""
    w = vectors(chain, q)
    return np.array([-w.gravity @ total(w.mass[j] * w.partial(i, j) for j in range(i, chain.n + 1)) for i in w.links])


def general_terms(chain: Chain, q: Array, v: Array) -> dict[str, Array]:
    """Eqs. 30–33."""
    return {
        **eq_30(chain, q),
        "H_tra": eq_31(chain, q, v).sum(axis=0),
        "H_rot": eq_32(chain, q, v).sum(axis=0),
        "G": eq_33(chain, q),
    }


def product_tensors(chain: Chain, q: Array) -> tuple[Array, Array]:
    """Christoffel's symbols h_ipq of D^tra and of D^rot (ours; 0-based indices in the arrays)."""
    w = vectors(chain, q)
    tra, rot = np.zeros((2, chain.n, chain.n, chain.n))
    for i in w.links:
        for p in w.links:
            for j in w.links:
                at = i - 1, p - 1, j - 1
                a, b = sorted((p, j))
                for s in range(max(i, b), chain.n + 1):
                    inertia = w.r[s] @ w.inertia[s] @ w.r[s].T
                    a_i, a_p, a_j = w.axis(i), w.axis(p), w.axis(j)
                    tra[at] += w.mass[s] * w.partial(i, s) @ cross(w.axis(a), w.partial(b, s))
                    rot[at] += 0.5 * (
                        a_i @ inertia @ cross(w.axis(a), w.axis(b))
                        + cross(a_i, a_p) @ inertia @ a_j
                        + cross(a_i, a_j) @ inertia @ a_p
                    )
    return tra, rot


@pytest.mark.parametrize("n", quick(SIZES, 1, 2, 3))
@pytest.mark.parametrize("rotary", [True, False], ids=["rotary", "rotary and prismatic"])
def test_general_equations(n: int, rotary: bool) -> None:
    rng = np.random.default_rng(n)
    for _ in range(3):
        chain = random_chain(rng, [True] * n) if rotary else random_rotary_and_prismatic(rng, n)
        terms = gd.GeneralizedDAlembert(chain.model(), clean=0).terms
        for _ in range(2):
            q, v, _ = random_state(rng, n)
            found = evaluate(terms, q, v)
            for name, expected in general_terms(chain, q, v).items():
                check(found[name], expected, name)
            check(found["I_act"], chain.armature)


@pytest.mark.parametrize("n", quick(SIZES, 1, 2, 3))
def test_velocity_product_tensor(n: int) -> None:
    """h^tra + h^rot is Lagrange–Euler's h_ikm, each part contracts to its H, and C_ij = Σ_k h_ijk v_k."""
    rng = np.random.default_rng(100 + n)
    chain = random_rotary_and_prismatic(rng, n)
    model = chain.model()
    q, v, _ = random_state(rng, n)
    tra, rot = product_tensors(chain, q)

    parts = evaluate(gd.GeneralizedDAlembert(model, clean=0).terms, q, v)
    check(parts["H_tra"], tra @ v @ v)
    check(parts["H_rot"], rot @ v @ v)
    trace_form = evaluate(gd.LagrangeEuler(model, clean=0).terms, q)
    for i in range(n):
        check(trace_form[f"h_{i + 1}"], tra[i] + rot[i], i)
    for name in FORMULATIONS:
        check(value(gd.formulations()[name](model, clean=0).coriolis_matrix, q, v), (tra + rot) @ v, name)
    check(pin.computeCoriolisMatrix(model, model.createData(), q, v), (tra + rot) @ v)


def bias(model: pin.Model, q: Array, v: Array) -> Array:
    """Pinocchio's C v."""
    data = model.createData()
    return pin.nonLinearEffects(model, data, q, v) - pin.computeGeneralizedGravity(model, data, q)


@pytest.mark.parametrize("n", quick(SIZES, 1, 2, 3))
def test_split(n: int) -> None:
    """Without rotational inertias Pinocchio gives the translational part, without masses the rotational one."""
    rng = np.random.default_rng(200 + n)
    chain = replace(random_rotary_and_prismatic(rng, n), armature=np.zeros(n))
    q, v, _ = random_state(rng, n)
    parts = evaluate(gd.GeneralizedDAlembert(chain.model(), clean=0).terms, q, v)
    for part, alone in (("tra", chain.with_parts(inertia=0)), ("rot", chain.with_parts(mass=0))):
        model = alone.model()
        check(parts[f"D_{part}"], pin.crba(model, model.createData(), q), part)
        check(parts[f"H_{part}"], bias(model, q, v), part)


@pytest.mark.parametrize("n", [2, 4, 6])
def test_each_part_is_lagrangian(n: int) -> None:
    """H_i = Σ_jk (∂D_ij/∂q_k − ½ ∂D_jk/∂q_i) v_j v_k, for the translational and the rotational part separately."""
    rng = np.random.default_rng(300 + n)
    terms = gd.GeneralizedDAlembert(random_rotary_and_prismatic(rng, n).model(), clean=0).terms
    q, v = ca.SX.sym("q", n), ca.SX.sym("v", n)
    out = terms(q=q, v=v)
    state = random_state(rng, n)[:2]
    for part in ("tra", "rot"):
        d = out[f"D_{part}"]
        momentum = d @ v
        lagrange = ca.jacobian(momentum, q) @ v - ca.gradient(0.5 * ca.dot(v, momentum), q)
        check(value(ca.Function("lagrange", [q, v], [lagrange]), *state), evaluate(terms, *state)[f"H_{part}"], part)


@pytest.mark.parametrize("n", [1, 3, 5])
def test_motors(n: int) -> None:
    """Rotors as bodies of their own: the links with locked rotors and, as a third part, D^act and H^act (ours)."""
    rng = np.random.default_rng(400 + n)
    chain = replace(random_rotary_and_prismatic(rng, n), armature=np.zeros(n))
    carrier = [int(rng.integers(0, i)) for i in range(1, n + 1)]  # link b < i, 0 the base
    gear, axial = rng.uniform(5, 20, n), rng.uniform(0.01, 0.05, n)
    with_rotors, locked = chain.model(), chain.model()
    spins = []  # u_i in the axes of frame b
    for i in range(1, n + 1):
        b = carrier[i - 1]
        seat = placement(rng)
        body = pin.Inertia(rng.uniform(0.1, 1), np.array([0, 0, 0.1]), np.diag([0.02, 0.02, axial[i - 1]]))
        joint = with_rotors.addJoint(b, pin.JointModelRZ(), seat, f"rotor{i}")
        with_rotors.appendBodyToJoint(joint, body, pin.SE3.Identity())
        locked.appendBodyToJoint(b, body, seat)
        spins.append((chain.tail(b).rotation.T if b else np.eye(3)) @ seat.rotation[:, 2])

    q, v, _ = random_state(rng, n)
    w = vectors(chain, q)
    d_act, h_act = np.zeros((n, n)), np.zeros(n)
    for i in w.links:
        b, k, inertia = carrier[i - 1], gear[i - 1], axial[i - 1]
        u = w.r[b] @ spins[i - 1]
        omega = [total(v[j - 1] * w.axis(j) for j in range(1, m + 1)) for m in range(b + 1)]
        alpha = total(cross(omega[j - 1], v[j - 1] * w.axis(j)) for j in range(1, b + 1))
        d_act[i - 1, i - 1] += k**2 * inertia
        h_act[i - 1] += k * inertia * u @ alpha
        for j in range(1, b + 1):
            d_act[i - 1, j - 1] += k * inertia * u @ w.axis(j)
            d_act[j - 1, i - 1] = d_act[i - 1, j - 1]
            h_act[j - 1] += k * inertia * v[i - 1] * w.axis(j) @ cross(omega[b], u)

    geared = np.vstack([np.eye(n), np.diag(gear)])
    full = evaluate(
        gd.GeneralizedDAlembert(with_rotors, clean=0).terms, np.concatenate([q, rng.uniform(-3, 3, n)]), geared @ v
    )
    rigid = evaluate(gd.GeneralizedDAlembert(locked, clean=0).terms, q, v)
    check(geared.T @ (full["D_tra"] + full["D_rot"]) @ geared, rigid["D_tra"] + rigid["D_rot"] + d_act)
    check(geared.T @ (full["H_tra"] + full["H_rot"]).ravel(), (rigid["H_tra"] + rigid["H_rot"]).ravel() + h_act)
    check(geared.T @ full["G"], rigid["G"])


def test_rotors_on_the_base_are_armature() -> None:
    """Carried by the base a rotor is k² J on the diagonal: I_act, which is Pinocchio's armature."""
    rng = np.random.default_rng(5)
    chain = random_rotary_and_prismatic(rng, 4)
    model = chain.model()
    dyn = gd.GeneralizedDAlembert(model, clean=0)
    q, v, _ = random_state(rng, 4)
    parts = evaluate(dyn.terms, q, v)
    check(parts["I_act"], chain.armature)
    links = eq_30(chain, q)
    check(value(dyn.mass_matrix, q), links["D_rot"] + links["D_tra"] + np.diag(chain.armature))
    check(value(dyn.mass_matrix, q), pin.crba(model, model.createData(), q))


# Section 4: the first three links of the PUMA in closed form.


def u(q: Array, x: Array) -> float:
    return np.cos(q[0]) * x[0] + np.sin(q[0]) * x[1]


def y(q: Array, a: Array, b: Array) -> float:
    """The combination of horizontal components that multiplies θ̇_2² in H_1^tra."""
    s1, c1 = np.sin(q[0]), np.cos(q[0])
    return s1 * c1 * a[1] * b[1] + c1**2 * a[0] * b[1] - s1**2 * a[1] * b[0] - s1 * c1 * a[0] * b[0]


def puma_chain(rng: Rng) -> Chain:
    """The closed forms' structure with random numbers: diagonal inertias, gravity along z_0."""
    return random_chain(
        rng,
        [True] * 3,
        theta=np.zeros(3),
        d=np.array([0, rng.uniform(-0.5, 0.5), 0]),
        a=np.array([0, *rng.uniform(-0.5, 0.5, 2)]),
        alpha=np.array([-np.pi / 2, 0, np.pi / 2]),
        inertia=np.array([np.diag(rng.uniform(0.05, 1, 3)) for _ in range(3)]),
        gravity=np.array([0, 0, rng.uniform(-10, 10)]),
    )


def puma_560_3() -> Chain:
    """The shipped robot: Pinocchio's frames at the joints, moved to the ends of the links."""
    model = gd.load_urdf("puma560_3")
    a2, a3, d2 = 0.4318, -0.02032, 0.14909
    chain = Chain(
        rotary=(True,) * 3,
        theta=np.zeros(3),
        d=np.array([0, d2, 0]),
        a=np.array([0, a2, a3]),
        alpha=np.array([-np.pi / 2, 0, np.pi / 2]),
        mass=np.array([body.mass for body in model.inertias[1:]]),
        com=np.zeros((3, 3)),
        inertia=np.zeros((3, 3, 3)),
        armature=np.array(model.armature),
        gravity=np.array(model.gravity.linear),
    )
    bodies = [chain.tail(s).actInv(model.inertias[s]) for s in (1, 2, 3)]
    return replace(
        chain, com=np.array([body.lever for body in bodies]), inertia=np.array([body.inertia for body in bodies])
    )


@dataclass(frozen=True)
class Puma:
    """What the closed forms are written in: r_s, c_s (from frame s − 1), P = p_2, in base axes."""

    m: Array
    i: Array  # principal moments, 3 × 3, links in rows
    r: list[Array]
    c: list[Array]
    p: Array
    g_z: float


def puma_vectors(chain: Chain, q: Array) -> Puma:
    w = vectors(chain, q)
    assert max(abs(np.diag(np.diag(inertia)) - inertia).max() for inertia in chain.inertia) < 1e-15
    return Puma(
        m=np.array(w.mass),
        i=np.array([np.zeros(3), *(np.diag(inertia) for inertia in chain.inertia)]),
        r=w.com,
        c=w.c,
        p=w.p[2],
        g_z=chain.gravity[2],
    )


def puma_d(x: Puma, q: Array) -> dict[str, Array]:
    s1, c1, s2, c2, s23, c23 = np.sin(q[0]), np.cos(q[0]), np.sin(q[1]), np.cos(q[1]), *sine_and_cosine(q[1] + q[2])
    (_, m1, m2, m3), (_, i1, i2, i3), (_, r1, r2, r3), c3 = x.m, x.i, x.r, x.c[3]
    rot = np.zeros((3, 3))
    rot[0, 0] = i1[1] + s2**2 * i2[0] + c2**2 * i2[1] + s23**2 * i3[0] + c23**2 * i3[2]
    rot[1, 1] = i2[2] + i3[1]
    rot[2, 2] = rot[1, 2] = rot[2, 1] = i3[1]
    tra = np.zeros((3, 3))
    tra[0, 0] = sum(m * (r[0] ** 2 + r[1] ** 2) for m, r in ((m1, r1), (m2, r2), (m3, r3)))
    tra[1, 1] = m2 * (r2[2] ** 2 + u(q, r2) ** 2) + m3 * (r3[2] ** 2 + u(q, r3) ** 2)
    tra[2, 2] = m3 * (c3[2] ** 2 + u(q, c3) ** 2)
    tra[1, 2] = tra[2, 1] = m3 * (r3[2] * c3[2] + u(q, r3) * u(q, c3))
    tra[0, 2] = tra[2, 0] = m3 * c3[2] * (s1 * r3[0] - c1 * r3[1])
    tra[0, 1] = tra[1, 0] = sum(m * r[2] * (s1 * r[0] - c1 * r[1]) for m, r in ((m2, r2), (m3, r3)))
    return {"D_rot": rot, "D_tra": tra}


def sine_and_cosine(x: float) -> tuple[float, float]:
    return np.sin(x), np.cos(x)


def puma_h_rot(x: Puma, q: Array, v: Array) -> Array:
    (s2, c2), (s23, c23) = sine_and_cosine(q[1]), sine_and_cosine(q[1] + q[2])
    _, _, i2, i3 = x.i
    return np.array(
        [
            2 * s2 * c2 * (i2[0] - i2[1]) * v[0] * v[1] + 2 * s23 * c23 * (i3[0] - i3[2]) * v[0] * (v[1] + v[2]),
            (s2 * c2 * (i2[1] - i2[0]) + s23 * c23 * (i3[2] - i3[0])) * v[0] ** 2,
            s23 * c23 * (i3[2] - i3[0]) * v[0] ** 2,
        ]
    )


def puma_h_tra(x: Puma, q: Array, v: Array, factor: float = 2, y: Callable[..., float] = y) -> Array:
    """With the factor of θ̇_1 θ̇_2 of link 3 and the combination Y open, for the errata."""
    (_, _, m2, m3), r3, (_, _, c2, c3) = x.m, x.r[3], x.c
    k = c3[2] * u(q, r3) - r3[2] * u(q, c3)
    link_2 = y(q, c2, c2) * v[1] ** 2 + 2 * u(q, c2) * c2[2] * v[0] * v[1]
    link_3 = (
        y(q, r3, r3) * v[1] ** 2
        + y(q, c3, r3) * (v[2] ** 2 + 2 * v[1] * v[2])
        + factor * u(q, r3) * r3[2] * v[0] * v[1]
        + 2 * u(q, r3) * c3[2] * v[0] * v[2]
    )
    return np.array(
        [
            m2 * link_2 + m3 * link_3,
            -m2 * c2[2] * u(q, c2) * v[0] ** 2
            + m3 * (-r3[2] * u(q, r3) * v[0] ** 2 + k * (2 * v[1] * v[2] + v[2] ** 2)),
            m3 * (-c3[2] * u(q, r3) * v[0] ** 2 - k * v[1] ** 2),
        ]
    )


def puma_g(x: Puma, q: Array, g_z: float) -> Array:
    (_, _, m2, m3), (_, _, r2, r3), c3 = x.m, x.r, x.c[3]
    return np.array([0, g_z * (m2 * u(q, r2) + m3 * u(q, r3)), g_z * m3 * u(q, c3)])


def puma_terms(chain: Chain, q: Array, v: Array) -> dict[str, Array]:
    """Section 4, pp. 19–32."""
    x = puma_vectors(chain, q)
    return {**puma_d(x, q), "H_rot": puma_h_rot(x, q, v), "H_tra": puma_h_tra(x, q, v), "G": puma_g(x, q, x.g_z)}


def check_puma(chain: Chain, model: pin.Model, rng: Rng, states: int) -> None:
    terms = gd.GeneralizedDAlembert(model, clean=0).terms
    for _ in range(states):
        q, v, _ = random_state(rng, 3)
        found = evaluate(terms, q, v)
        for name, expected in puma_terms(chain, q, v).items():
            check(found[name], expected, name)


def test_puma_closed_form_with_random_parameters() -> None:
    rng = np.random.default_rng(6)
    for _ in range(20):
        chain = puma_chain(rng)
        check_puma(chain, chain.model(), rng, states=2)


def test_puma_closed_form_on_the_shipped_robot() -> None:
    check_puma(puma_560_3(), gd.load_urdf("puma560_3"), np.random.default_rng(7), states=50)


def test_puma_vectors_and_rotations() -> None:
    """Rotation matrices and p_2, p_3* of pp. 19–20."""
    rng = np.random.default_rng(8)
    chain = puma_chain(rng)
    (_, a2, a3), d2 = chain.a, chain.d[1]
    q = rng.uniform(-3, 3, 3)
    (s1, s2), (c1, c2), (s23, c23) = np.sin(q[:2]), np.cos(q[:2]), sine_and_cosine(q[1] + q[2])
    placed = chain.placements(q)
    check(placed[1][:3, :3], np.array([[c1, 0, -s1], [s1, 0, c1], [0, -1, 0]]))
    check(placed[2][:3, :3], np.array([[c1 * c2, -c1 * s2, -s1], [s1 * c2, -s1 * s2, c1], [-s2, -c2, 0]]))
    check(placed[3][:3, :3], np.array([[c1 * c23, -s1, c1 * s23], [s1 * c23, c1, s1 * s23], [-s23, 0, c23]]))
    p_2 = np.array([a2 * c1 * c2 - d2 * s1, a2 * s1 * c2 + d2 * c1, -a2 * s2])
    check(placed[2][:3, 3], p_2)
    check(placed[3][:3, 3] - p_2, a3 * np.array([c1 * c23, s1 * c23, -s23]))
    model = chain.model()
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    check((data.oMi[3] * chain.tail(3)).homogeneous, placed[3])


# The PUMA's numbers: geometry of the report's link table, inertias and motors of Armstrong, Khatib and Burdick.

PUMA_ORIGINS = [  # joint frames in the frame before: position in m, angle about x
    ((0, 0, 0), 0),
    ((0, 0, 0), -np.pi / 2),
    ((0.4318, 0, 0.14909), 0),
    ((-0.02032, -0.43307, 0), np.pi / 2),
    ((0, 0, 0), -np.pi / 2),
    ((0, 0, 0), np.pi / 2),
]
PUMA_BODIES = [  # mass, centre of mass, principal moments about it in kg m², armature
    (0.0, (0, 0, 0), (0, 0, 0.35), 1.14),
    (17.40, (0.068, 0.006, -0.016 + 0.2435), (0.130, 0.524, 0.539), 4.71),
    (4.80, (0, -0.070, 0.014), (0.066, 0.0125, 0.086), 0.83),
    (0.82, (0, 0, -0.019), (1.8e-3, 1.8e-3, 1.3e-3), 0.200),
    (0.34, (0, 0, 0), (0.3e-3, 0.3e-3, 0.4e-3), 0.179),
    (0.09, (0, 0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3), 0.193),
]


@pytest.mark.parametrize(("robot", "n"), [("puma560", 6), ("puma560_3", 3)])
def test_puma_numbers(robot: str, n: int) -> None:
    model = gd.load_urdf(robot)
    assert model.nv == n
    for i, ((origin, angle), (mass, com, moments, armature)) in enumerate(
        zip(PUMA_ORIGINS[:n], PUMA_BODIES[:n], strict=True), start=1
    ):
        check(model.jointPlacements[i].translation, np.array(origin, dtype=float), i)
        check(model.jointPlacements[i].rotation, pin.utils.rotate("x", angle), i)
        body = model.inertias[i]
        check(body.mass, mass, i)
        check(body.lever, np.array(com, dtype=float), i)
        check(body.inertia, np.diag(moments), i)
        check(model.armature[i - 1], armature, i)


def test_puma_is_the_report_s_link_table() -> None:
    """Standard Denavit–Hartenberg with θ_i the joint coordinates themselves, out to the flange."""
    model = gd.load_urdf("puma560")
    data = model.createData()
    rows = [  # α (degrees), a, d
        (-90, 0, 0),
        (0, 0.4318, 0.14909),
        (90, -0.02032, 0),
        (-90, 0, 0.43307),
        (90, 0, 0),
        (0, 0, 0.05625),
    ]
    alpha, a, d = np.array(rows).T
    chain = random_chain(np.random.default_rng(0), [True] * 6, theta=np.zeros(6), d=d, a=a, alpha=np.deg2rad(alpha))
    for q in np.random.default_rng(9).uniform(-3, 3, (5, 6)):
        pin.framesForwardKinematics(model, data, q)
        check(data.oMf[model.getFrameId("tool")].homogeneous, chain.placements(q)[6])


def test_link_3_with_wrist() -> None:
    """With the wrist locked to it link 3 has the moments that Armstrong et al. print: so its I_zz is 0.086, not 0.066.

    I_yy comes out 4 % below theirs; the others are right to their three figures.
    """
    locked = pin.buildReducedModel(gd.load_urdf("puma560"), [4, 5, 6], np.zeros(6))
    i_xx, i_yy, i_zz = np.diag(locked.inertias[3].inertia)
    assert i_xx == pytest.approx(0.192, rel=3e-3)
    assert i_yy == pytest.approx(0.0154, rel=0.05)
    assert i_zz == pytest.approx(0.212, rel=3e-3)


def test_puma_motors_are_in_the_mass_matrix() -> None:
    model = gd.load_urdf("puma560")
    dyn = gd.GeneralizedDAlembert(model, clean=0)
    for q in np.random.default_rng(10).uniform(model.lowerPositionLimit, model.upperPositionLimit, (10, 6)):
        parts = evaluate(dyn.terms, q, np.zeros(6))
        motors = np.array([1.14, 4.71, 0.83, 0.200, 0.179, 0.193])
        check(parts["I_act"], motors)
        check(value(dyn.mass_matrix, q), parts["D_tra"] + parts["D_rot"] + np.diag(motors))
        check(value(dyn.mass_matrix, q), pin.crba(model, model.createData(), q))


def test_translation_dominates_the_arm_joints() -> None:
    """Section 3 says so of joints 1 to 3, and that rotation dominates the wrist, which is right for D alone."""
    model, rng = gd.load_urdf("puma560"), np.random.default_rng(0)
    terms = gd.GeneralizedDAlembert(model).terms
    sums = {name: np.zeros(6) for name in ("D_tra", "D_rot", "H_tra", "H_rot")}
    for _ in range(500):
        found = evaluate(terms, rng.uniform(model.lowerPositionLimit, model.upperPositionLimit), rng.uniform(-1, 1, 6))
        for name in sums:
            sums[name] += np.abs(np.diag(found[name]) if name.startswith("D") else found[name].ravel())
    shares = {of: sums[f"{of}_tra"] / (sums[f"{of}_tra"] + sums[f"{of}_rot"]) for of in "DH"}
    np.testing.assert_allclose(shares["D"], [0.73, 0.73, 0.74, 0.03, 0.14, 0.00], atol=0.005)  # as the page prints them
    np.testing.assert_allclose(shares["H"], [0.84, 0.86, 0.97, 0.55, 0.86, 0.00], atol=0.005)


def test_storage_grows_with_the_number_of_joints() -> None:
    """Figure 2 counts the places of storage of each block."""
    for n in (2, 6, 12):
        terms = gd.GeneralizedDAlembert(random_chain(np.random.default_rng(n), [True] * n).model()).terms
        assert terms.sz_w() < 35 * n


# What has to be corrected in print, or is easily read wrongly.


def by_formulation(chain: Chain, q: Array, v: Array) -> dict[str, Array]:
    return evaluate(gd.GeneralizedDAlembert(chain.model(), clean=0).terms, q, v)


def without(terms: Array, *left_out: int) -> Array:
    return np.delete(terms, left_out, axis=0).sum(axis=0)


GENERAL_ERRATA = {
    **{
        f"eq. 31 without term {k + 1}": ("H_tra", lambda chain, q, v, k=k: without(eq_31(chain, q, v), k))
        for k in range(4)
    },
    **{
        f"eq. 32 without term {k + 1}": ("H_rot", lambda chain, q, v, k=k: without(eq_32(chain, q, v), k))
        for k in range(2)
    },
    "eq. 31 with sums from 2": ("H_tra", lambda chain, q, v: eq_31(chain, q, v, first=2).sum(axis=0)),
    "eq. 32 with sums from 2": ("H_rot", lambda chain, q, v: eq_32(chain, q, v, first=2).sum(axis=0)),
    "c_s from frame s, in D": ("D_tra", lambda chain, q, v: eq_30(com_from_frame_s(chain), q)["D_tra"]),
    "c_s from frame s, in H": ("H_tra", lambda chain, q, v: eq_31(com_from_frame_s(chain), q, v).sum(axis=0)),
    "c_s from frame s, in G": ("G", lambda chain, q, v: eq_33(com_from_frame_s(chain), q)),
}


def com_from_frame_s(chain: Chain) -> Chain:
    """p. 6 misread: c_s laid off from p_{s−1} although it was measured from p_s."""
    p_star = np.column_stack([chain.a, chain.d * np.sin(chain.alpha), chain.d * np.cos(chain.alpha)])
    return replace(chain, com=chain.com - p_star)


@pytest.mark.parametrize("erratum", GENERAL_ERRATA)
def test_errata_of_the_general_equations(erratum: str) -> None:
    rng = np.random.default_rng(12)
    chain = random_chain(rng, [True] * 5)
    q, v, _ = random_state(rng, 5)
    name, printed = GENERAL_ERRATA[erratum]
    check_erratum(printed(chain, q, v), general_terms(chain, q, v)[name], by_formulation(chain, q, v)[name])


PUMA_ERRATA = {
    "H_1^tra, no factor 2": ("H_tra", lambda chain, q, v: puma_h_tra(puma_vectors(chain, q), q, v, factor=1)),
    "H_1^tra, x and y exchanged": (
        "H_tra",
        lambda chain, q, v: puma_h_tra(puma_vectors(chain, q), q, v, y=lambda q, a, b: y(q, b, a)),
    ),
    "G with the magnitude of g": (
        "G",
        lambda chain, q, v: puma_g(puma_vectors(chain, q), q, float(np.linalg.norm(chain.gravity))),
    ),
    "link table's θ as offsets": (
        "D_tra",
        lambda chain, q, v: puma_terms(chain, q + np.array([np.pi / 2, 0, np.pi / 2]), v)["D_tra"],
    ),
}


@pytest.mark.parametrize("erratum", PUMA_ERRATA)
def test_errata_of_the_puma(erratum: str) -> None:
    rng = np.random.default_rng(13)
    chain = puma_560_3()
    q, v, _ = random_state(rng, 3)
    name, printed = PUMA_ERRATA[erratum]
    check_erratum(printed(chain, q, v), puma_terms(chain, q, v)[name], by_formulation(chain, q, v)[name])


def test_superfluous_terms_of_the_puma() -> None:
    """Terms of H^tra in print that are identically zero: they can only be deleted."""
    rng = np.random.default_rng(14)
    chain = puma_chain(rng)
    q, _, _ = random_state(rng, 3)
    x = puma_vectors(chain, q)
    p, r3, c3 = x.p, x.r[3], x.c[3]
    assert abs(p[0] * r3[1] - p[1] * r3[0] + c3[0] * r3[1] - c3[1] * r3[0]) < 1e-15  # of θ̇_1² in H_1
    h = evaluate(gd.LagrangeEuler(chain.model(), clean=0).terms, q)
    for i, k, m in ((1, 1, 1), (2, 1, 2), (2, 1, 3), (2, 2, 2), (3, 1, 2), (3, 1, 3), (3, 2, 3), (3, 3, 3)):
        assert abs(h[f"h_{i}"][k - 1, m - 1]) < 1e-14, (i, k, m)


def axis_in_link(chain: Chain, q: Array, j: int, s: int) -> Array:
    """^sR_0 z_{j−1}."""
    placed = chain.placements(q)
    return placed[s][:3, :3].T @ placed[j - 1][:3, 2]


def test_derivative_of_an_axis() -> None:
    """Eq. 19: the axis of joint j seen from link s turns with joints i = j … s; not at all for i < j. And eq. 20."""
    rng = np.random.default_rng(15)
    n = s = 5
    chain = random_chain(rng, [True] * n)
    q, v, _ = random_state(rng, n)
    axes = [axis_in_link(chain, q, j, s) for j in range(1, n + 1)]
    for j in range(1, n + 1):
        rate = np.zeros(3)
        for i in range(1, n + 1):
            derivative = axis_in_link(chain, q + 1e-30j * np.eye(n)[i - 1], j, s).imag / 1e-30
            rule = cross(axes[j - 1], axes[i - 1])
            if i < j:
                check_erratum(rule, np.zeros(3), derivative)
            else:
                check(rule, derivative)
            rate += derivative * v[i - 1]
        from_next = cross(axes[j - 1], total(v[i - 1] * axes[i - 1] for i in range(j + 1, s + 1)))
        from_first = cross(axes[j - 1], total(v[i - 1] * axes[i - 1] for i in range(1, s + 1)))
        check(from_next, rate)
        assert j == 1 or error(from_first, rate) > 1e-3
