"""B. K. P. Horn, K. Hirokawa, V. V. Vazirani, MIT AI Memo 478 (1977): a three-joint leg or arm, torques link by link.

T_ij is the torque at joint i that moves link j, without gravity. Links 2 and 3 are thin rods, with offsets δ2 and δ3
from the plane of the shoulder axis (0 for the leg) and point loads M2 and M3 at their ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from tests.helpers.dh_chains import FORMULATIONS, Array, Rng, check, check_erratum, random_state, value
from tests.helpers.sets import quick


@dataclass(frozen=True)
class Device:
    """The memo's constants."""

    m1: float
    radius: float
    m2: float
    l2: float
    m3: float
    l3: float
    delta2: float = 0.0
    delta3: float = 0.0
    load2: float = 0.0  # M2
    load3: float = 0.0  # M3

    @staticmethod
    def random(rng: Rng) -> Device:
        return Device(*rng.uniform(0.2, 2, 10))

    @property
    def i1(self) -> float:
        """Of the upright cylinder about its axis (p. 9)."""
        return 0.5 * self.m1 * self.radius**2

    def model(self, gravity: Array) -> pin.Model:
        model = pin.Model()
        column = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "joint1")
        height = 0.7  # of the column, which never counts
        across = self.m1 * (3 * self.radius**2 + height**2) / 12
        body = pin.Inertia(self.m1, np.array([0, 0, -height / 2]), np.diag([across, across, self.i1]))
        model.appendBodyToJoint(column, body, pin.SE3.Identity())
        joint, placement = column, pin.SE3.Identity()
        for i, mass, length, offset, load in (
            (2, self.m2, self.l2, self.delta2, self.load2),
            (3, self.m3, self.l3, self.delta3, self.load3),
        ):
            joint = model.addJoint(joint, pin.JointModelRY(), placement, f"joint{i}")
            moment = mass * length**2 / 12
            rod = pin.Inertia(mass, np.array([0, offset, length / 2]), np.diag([moment, moment, 0]))
            model.appendBodyToJoint(joint, rod, pin.SE3.Identity())
            at_end = pin.Inertia(load, np.array([0, offset, length]), np.zeros((3, 3)))
            model.appendBodyToJoint(joint, at_end, pin.SE3.Identity())
            placement = pin.SE3(np.eye(3), np.array([0, 0, length]))
        model.gravity.linear = gravity
        return model


@dataclass(frozen=True)
class State:
    """Sines and cosines; θ̇ and θ̈ with the memo's indices."""

    q: Array
    v: Array
    a: Array

    def sines(self) -> tuple[float, ...]:
        """s1, c1, s2, c2, s3, c3, s23, c23."""
        pairs = [(np.sin(x), np.cos(x)) for x in (*self.q, self.q[1] + self.q[2])]
        return tuple(x for pair in pairs for x in pair)


def column(x: Device, state: State) -> Array:
    """T_i1, p. 10."""
    return np.array([x.i1 * state.a[0], 0, 0])


def rod_2(x: Device, state: State) -> Array:
    """T_i2 without offsets (p. 13) and what an offset adds (p. 30)."""
    _, _, s2, c2, *_ = state.sines()
    (v1, v2, _), (a1, a2, _) = state.v, state.a
    inertia = x.m2 * x.l2**2 / 3
    plain = [inertia * (s2**2 * a1 + 2 * s2 * c2 * v1 * v2), inertia * (a2 - s2 * c2 * v1**2), 0]
    offset = [
        2 * x.delta2**2 * a1 - x.l2 * x.delta2 * c2 * a2 + x.l2 * x.delta2 * s2 * v2**2,
        -x.l2 * x.delta2 * c2 * a1,
        0,
    ]
    return np.array(plain) + 0.5 * x.m2 * np.array(offset)


def rod_3(x: Device, state: State) -> Array:
    """T_i3 without offsets (p. 19) and what offsets add (pp. 35–36)."""
    _, _, s2, c2, s3, c3, s23, c23 = state.sines()
    (v1, v2, v3), (a1, a2, a3), l2, l3, delta = state.v, state.a, x.l2, x.l3, x.delta3
    inertia = l2**2 * s2**2 + l2 * l3 * s2 * s23 + l3**2 * s23**2 / 3
    both = 2 * l2**2 * s2 * c2 + l2 * l3 * (c2 * s23 + s2 * c23) + 2 * l3**2 / 3 * s23 * c23
    outer = l2 * l3 * s2 * c23 + 2 * l3**2 / 3 * s23 * c23
    coupling = l2 * l3 * c3 + 2 * l3**2 / 3
    bend = l2 * l3 * s3
    plain = [
        2 * inertia * a1 + 2 * both * v1 * v2 + 2 * outer * v1 * v3,
        2 * (l2**2 + l2 * l3 * c3 + l3**2 / 3) * a2 + coupling * a3 - both * v1**2 - 2 * bend * v2 * v3 - bend * v3**2,
        coupling * a2 + 2 * l3**2 / 3 * a3 - outer * v1**2 + bend * v2**2,
    ]
    reach = delta * (2 * l2 * c2 + l3 * c23)
    offset = [
        2 * delta**2 * a1
        - reach * a2
        - delta * l3 * c23 * a3
        + delta * (2 * l2 * s2 + l3 * s23) * v2**2
        + 2 * delta * l3 * s23 * v2 * v3
        + delta * l3 * s23 * v3**2,
        -reach * a1,
        -delta * l3 * c23 * a1,
    ]
    return 0.5 * x.m3 * (np.array(plain) + np.array(offset))


def load_2(x: Device, state: State) -> Array:
    """M2 at the end of link 2: p. 23; the offset is ours."""
    _, _, s2, c2, *_ = state.sines()
    (v1, v2, _), (a1, a2, _), l2, delta = state.v, state.a, x.l2, x.delta2
    return x.load2 * np.array(
        [
            (l2**2 * s2**2 + delta**2) * a1
            - l2 * delta * c2 * a2
            + 2 * l2**2 * s2 * c2 * v1 * v2
            + l2 * delta * s2 * v2**2,
            -l2 * delta * c2 * a1 + l2**2 * a2 - l2**2 * s2 * c2 * v1**2,
            0,
        ]
    )


def load_3(x: Device, state: State, turned_by: float | None = None, offset: float | None = None) -> Array:
    """M3 at the end of link 3: pp. 24–25, with offsets 40–42.

    For the errata: the length in 2 δ3 l3 s23 θ̇2 θ̇3 and the δ3 of the term in θ̇2² can be replaced.
    """
    _, _, s2, c2, s3, c3, s23, c23 = state.sines()
    (v1, v2, v3), (a1, a2, a3), l2, l3, delta = state.v, state.a, x.l2, x.l3, x.delta3
    turned_by, offset = (given if given is not None else right for given, right in ((turned_by, l3), (offset, delta)))
    u, w = l2 * s2 + l3 * s23, l2 * c2 + l3 * c23
    return x.load3 * np.array(
        [
            (u**2 + delta**2) * a1
            - delta * w * a2
            - delta * l3 * c23 * a3
            + 2 * u * w * v1 * v2
            + 2 * l3 * c23 * u * v1 * v3
            + offset * u * v2**2
            + 2 * delta * turned_by * s23 * v2 * v3
            + delta * l3 * s23 * v3**2,
            -delta * w * a1
            + (l2**2 + 2 * l2 * l3 * c3 + l3**2) * a2
            + l3 * (l2 * c3 + l3) * a3
            - u * w * v1**2
            - 2 * l2 * l3 * s3 * v2 * v3
            - l2 * l3 * s3 * v3**2,
            -delta * l3 * c23 * a1
            + l3 * (l2 * c3 + l3) * a2
            + l3**2 * a3
            - l3 * c23 * u * v1**2
            + l2 * l3 * s3 * v2**2,
        ]
    )


def link_torques(x: Device, state: State) -> Array:
    """T_ij, 3 × 3; a load moves with the link that carries it."""
    return np.column_stack([column(x, state), rod_2(x, state) + load_2(x, state), rod_3(x, state) + load_3(x, state)])


def gravity_of(x: Device, q: Array, g: Array, mass2: float, b2: float, mass3: float, b3: float) -> Array:
    """+∂P/∂θ of masses at b2 and b3 along the links: what the actuators hold; g is the vector of acceleration."""
    s1, c1, s2, c2, _, _, s23, c23 = State(q, q, q).sines()
    l2, delta2, delta3 = x.l2, x.delta2, x.delta3
    radial = g[0] * c1 + g[1] * s1
    return np.array(
        [
            g[0] * (mass2 * (b2 * s1 * s2 + delta2 * c1) + mass3 * ((l2 * s2 + b3 * s23) * s1 + delta3 * c1))
            - g[1] * (mass2 * (b2 * c1 * s2 - delta2 * s1) + mass3 * ((l2 * s2 + b3 * s23) * c1 - delta3 * s1)),
            -radial * (mass2 * b2 * c2 + mass3 * (l2 * c2 + b3 * c23))
            + g[2] * (mass2 * b2 * s2 + mass3 * (l2 * s2 + b3 * s23)),
            mass3 * b3 * (-radial * c23 + g[2] * s23),
        ]
    )


def gravity_torques(x: Device, q: Array, g: Array) -> Array:
    """G_i of rods and loads, pp. 22, 26–27, 38, 43, with the sign that the equations of motion need."""
    rods = gravity_of(x, q, g, x.m2, x.l2 / 2, x.m3, x.l3 / 2)
    return rods + gravity_of(x, q, g, x.load2, x.l2, x.load3, x.l3)


def kinetic_energy(x: Device, state: State) -> float:
    """K1 + K2 + K3 (pp. 8, 29, 34), without loads."""
    _, _, s2, c2, _, c3, s23, c23 = state.sines()
    (v1, v2, v3), l2, l3, delta2, delta3 = state.v, x.l2, x.l3, x.delta2, x.delta3
    k2 = (delta2**2 + l2**2 * s2**2 / 3) * v1**2 - l2 * delta2 * c2 * v1 * v2 + l2**2 * v2**2 / 3
    inertia = l2**2 * s2**2 + l2 * l3 * s2 * s23 + l3**2 * s23**2 / 3
    k3 = (
        (inertia + delta3**2) * v1**2
        - delta3 * (2 * l2 * c2 + l3 * c23) * v1 * v2
        - delta3 * l3 * c23 * v1 * v3
        + (l2**2 + l2 * l3 * c3 + l3**2 / 3) * v2**2
        + (l2 * l3 * c3 + 2 / 3 * l3**2) * v2 * v3
        + l3**2 / 3 * v3**2
    )
    return 0.25 * x.m1 * x.radius**2 * v1**2 + 0.5 * x.m2 * k2 + 0.5 * x.m3 * k3


LEG = Device(m1=8, radius=0.1, m2=3, l2=0.5, m3=2, l3=0.6)
SHIPPED = {
    "horn_leg": LEG,
    "horn_leg_loads": replace(LEG, load2=1.5, load3=0.8),
    "horn_arm_offset": replace(LEG, delta2=0.15, delta3=0.1),
}


def check_device(x: Device, model: pin.Model, rng: Rng, states: int) -> None:
    g = np.array(model.gravity.linear)
    by_link = gd.GeneralizedDAlembert(model, clean=0).link_torques
    total = {name: gd.formulations()[name](model, clean=0) for name in FORMULATIONS}
    for _ in range(states):
        state = State(*random_state(rng, 3))
        expected = link_torques(x, state)
        check(value(by_link, state.q, state.v, state.a), expected)
        for name, dyn in total.items():
            gravity = gravity_torques(x, state.q, g)
            check(value(dyn.generalized_gravity, state.q), gravity, name)
            check(value(dyn.inverse_dynamics, state.q, state.v, state.a), expected.sum(axis=1) + gravity, name)


@pytest.mark.parametrize("robot", quick(SHIPPED, "horn_leg_loads", "horn_arm_offset"))
def test_shipped_robots(robot: str) -> None:
    """T_ij link by link, G_i and their sum; gravity downwards, then in another direction."""
    rng = np.random.default_rng(1)
    model = gd.load_urdf(robot)
    check(model.gravity.linear, np.array([0, 0, -9.81]))
    check_device(SHIPPED[robot], model, rng, states=5)
    model.gravity.linear = rng.uniform(-10, 10, 3)
    check_device(SHIPPED[robot], model, rng, states=6)


@pytest.mark.long
def test_random_devices() -> None:
    """Offsets and loads at once, any direction of gravity."""
    rng = np.random.default_rng(2)
    for _ in range(10):
        x = Device.random(rng)
        check_device(x, x.model(rng.uniform(-10, 10, 3)), rng, states=2)


def test_each_rod_and_load_alone() -> None:
    """Rods and loads one at a time, the others weightless: none can make up for another."""
    rng = np.random.default_rng(3)
    x = Device.random(rng)
    none = replace(x, m2=0, m3=0, load2=0, load3=0)
    state = State(*random_state(rng, 3))
    for given, torques, link in (
        ({"m2": x.m2}, rod_2, 1),
        ({"m3": x.m3}, rod_3, 2),
        ({"load2": x.load2}, load_2, 1),
        ({"load3": x.load3}, load_3, 2),
    ):
        model = replace(none, **given).model(np.zeros(3))
        model.armature = np.ones(3)  # a link without inertia could not be moved; no part of the torques by link
        found = value(gd.GeneralizedDAlembert(model, clean=0).link_torques, state.q, state.v, state.a)
        check(found[:, 0], column(x, state), given)
        check(found[:, link], torques(x, state), given)
        check(found[:, 3 - link], np.zeros(3), given)


def test_zeros() -> None:
    """T_21 = T_31 = T_32 = 0: a link asks nothing of the joints beyond it, the column nothing of joints 2 and 3."""
    rng = np.random.default_rng(4)
    found = value(gd.GeneralizedDAlembert(gd.load_urdf("horn_leg"), clean=0).link_torques, *random_state(rng, 3))
    assert found[1, 0] == found[2, 0] == found[2, 1] == 0


@pytest.mark.parametrize("name", FORMULATIONS)
def test_kinetic_energy(name: str) -> None:
    rng = np.random.default_rng(5)
    x = replace(Device.random(rng), load2=0, load3=0)
    dyn = gd.formulations()[name](x.model(np.zeros(3)), clean=0)
    state = State(*random_state(rng, 3))
    check(value(dyn.kinetic_energy, state.q, state.v), [[kinetic_energy(x, state)]])
    # p. 8: the column's share has a second factor ½
    without = kinetic_energy(replace(x, m1=0), state)
    column_alone = value(dyn.kinetic_energy, state.q, state.v).item() - without
    check_erratum(0.5 * x.m1 * x.radius**2 * state.v[0] ** 2, 0.25 * x.m1 * x.radius**2 * state.v[0] ** 2, column_alone)


def test_upright_link_falls_outward() -> None:
    """Beyond the vertical the actuator holds back: G_2, G_3 < 0 for links that lean outward, gravity down."""
    gravity = value(gd.NewtonEuler(gd.load_urdf("horn_leg"), clean=0).generalized_gravity, [0.4, 0.5, 0.3]).ravel()
    assert gravity[0] == pytest.approx(0, abs=1e-14)
    assert gravity[1] < 0
    assert gravity[2] < 0


def torque_of_gravity_1(x: Device, q: Array, g: Array, sign: int, outer: int = -1) -> float:
    """T_1g of the rods without offsets (p. 22): one minus sign, and that before it (p. 43), were lost."""
    s1, c1, s2, *_, s23, _ = State(q, q, q).sines()
    rod2, rod3 = x.m2 * x.l2 / 2 * s2, x.m3 * (x.l2 * s2 + x.l3 / 2 * s23)
    return outer * s1 * (rod2 + sign * rod3) * g[0] + c1 * (rod2 + rod3) * g[1]


Erratum = Callable[[Device, State, Array], Array]

ERRATA: dict[str, tuple[Erratum, Erratum, str]] = {
    "pp. 20–43: T_ig = −∂P/∂θ_i 'may simply be added'": (
        lambda x, state, g: link_torques(x, state).sum(axis=1) - gravity_torques(x, state.q, g),
        lambda x, state, g: link_torques(x, state).sum(axis=1) + gravity_torques(x, state.q, g),
        "tau",
    ),
    "pp. 40, 41: 2 δ3 l2 s23 θ̇2 θ̇3 of the load": (
        lambda x, state, g: rod_3(x, state) + load_3(x, state, turned_by=x.l2),
        lambda x, state, g: rod_3(x, state) + load_3(x, state),
        "link 3",
    ),
    "p. 40: s3 for δ3": (
        lambda x, state, g: rod_3(x, state) + load_3(x, state, offset=np.sin(state.q[2])),
        lambda x, state, g: rod_3(x, state) + load_3(x, state),
        "link 3",
    ),
}


@pytest.mark.parametrize("erratum", ERRATA)
def test_errata(erratum: str) -> None:
    rng = np.random.default_rng(6)
    x, g = Device.random(rng), rng.uniform(-10, 10, 3)
    state = State(*random_state(rng, 3))
    dyn = gd.GeneralizedDAlembert(x.model(g), clean=0)
    references = {
        "tau": lambda: value(dyn.inverse_dynamics, state.q, state.v, state.a).ravel(),
        "link 3": lambda: value(dyn.link_torques, state.q, state.v, state.a)[:, 2],
    }
    printed, corrected, kind = ERRATA[erratum]
    check_erratum(printed(x, state, g), corrected(x, state, g), references[kind]())


@pytest.mark.parametrize(("sign", "outer"), [(-1, -1), (1, 1), (-1, 1)])
def test_lost_signs_of_gravity(sign: int, outer: int) -> None:
    """T_1g, the torque that gravity exerts, is minus the actuator's; any of its signs lost makes it wrong."""
    rng = np.random.default_rng(7)
    x, g = replace(Device.random(rng), delta2=0, delta3=0, load2=0, load3=0), rng.uniform(-10, 10, 3)
    q, _, _ = random_state(rng, 3)
    holding = value(gd.NewtonEuler(x.model(g), clean=0).generalized_gravity, q)[0, 0]
    check_erratum(torque_of_gravity_1(x, q, g, sign, outer), torque_of_gravity_1(x, q, g, sign=1), -holding)


def test_momentum_of_the_load() -> None:
    """P. 39: ∂K/∂θ̇1 has δ3 (l2 c2 + l3 c23) θ̇2, not δ3 (δ2 c2 + l3 c23) θ̇2."""
    rng = np.random.default_rng(8)
    x = replace(Device.random(rng), m2=0, m3=0, load2=0)
    state = State(*random_state(rng, 3))
    _, _, s2, c2, _, _, s23, c23 = state.sines()
    v1, v2, v3 = state.v

    def momentum(length: float) -> float:
        u = x.l2 * s2 + x.l3 * s23
        return x.i1 * v1 + x.load3 * (
            (u**2 + x.delta3**2) * v1 - x.delta3 * (length * c2 + x.l3 * c23) * v2 - x.delta3 * x.l3 * c23 * v3
        )

    mass = value(gd.LagrangeEuler(x.model(np.zeros(3)), clean=0).mass_matrix, state.q)
    check_erratum(momentum(x.delta2), momentum(x.l2), mass[0] @ state.v)


def test_positions() -> None:
    """Points along the links; p. 26 prints 2 c1 s2 for l2 c1 s2, p. 43 l2 s2 + l2 s23 for l2 s2 + l3 s23."""
    rng = np.random.default_rng(9)
    x = Device.random(rng)
    q, _, _ = random_state(rng, 3)
    s1, c1, s2, c2, _, _, s23, c23 = State(q, q, q).sines()
    model = x.model(np.zeros(3))
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    at_2 = data.oMi[2].act(np.array([0, x.delta2, x.l2]))
    at_3 = data.oMi[3].act(np.array([0, x.delta3, x.l3]))

    def end_2(length: float) -> list[float]:
        return [length * s2 * c1 - x.delta2 * s1, x.l2 * s2 * s1 + x.delta2 * c1, x.l2 * c2]

    def end_3(length: float) -> list[float]:
        return [
            (x.l2 * s2 + x.l3 * s23) * c1 - x.delta3 * s1,
            (x.l2 * s2 + length * s23) * s1 + x.delta3 * c1,
            x.l2 * c2 + x.l3 * c23,
        ]

    check_erratum(end_2(2), end_2(x.l2), at_2)
    check_erratum(end_3(x.l2), end_3(x.l3), at_3)
