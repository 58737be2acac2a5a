"""A third element in one file, a mass on springs in three directions, beside the same robot with a joint for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from gdalembert import spatial
from gdalembert.dynamics.newton_euler import robot_at_q
from gdalembert.dynamics.newton_euler.aba import forward_dynamics
from gdalembert.dynamics.newton_euler.composite import Composite
from gdalembert.dynamics.newton_euler.crba import mass_matrix
from gdalembert.dynamics.newton_euler.displacements import CompositeRate, Field, Rates
from gdalembert.dynamics.newton_euler.elements import DeformingAtQ
from gdalembert.dynamics.newton_euler.forward_derivatives import forward_dynamics_derivatives
from gdalembert.dynamics.newton_euler.links import LinkMotion
from gdalembert.dynamics.newton_euler.rnea import gravity_torques, inverse_dynamics, kinetic_energy
from gdalembert.dynamics.newton_euler.rnea_derivatives import coriolis_matrix, inverse_dynamics_derivatives
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.joints import Translation
from gdalembert.model.tree import Element, Tree
from gdalembert.spatial.spatial_vectors import Motion, Wrench
from tests.helpers.models import build

_ONE, _NONE = ca.DM.eye(3), ca.DM(3, 3)


@dataclass(frozen=True)
class Suspended:
    """A point mass that three springs hold."""

    mass: float


class Platform(Translation):
    """The place of the mass, with its coordinates."""

    is_modal = True


@dataclass(frozen=True)
class PlatformSection:
    """Where the mass is, at p in its link, and how it moves."""

    origin: Any

    rotation = _ONE
    translations_and_turns = (Motion(_ONE, _NONE), _ONE)

    def acceleration(self, link: LinkMotion, v: Any, a: Any) -> Any:
        return link.acceleration + link.spin @ self.origin + 2 * ca.cross(link.omega, v) + a

    def motion(self, link: LinkMotion, v: Any, a: Any) -> LinkMotion:
        velocity = link.velocity + self.lever_rate(link.omega, v, 1)
        return LinkMotion(link.omega, link.alpha, link.spin, velocity, self.acceleration(link, v, a))

    def lever_rate(self, omega: Any, v: Any, times: float) -> Any:
        return times * (ca.cross(omega, self.origin) + v)

    def fields(self, link: LinkMotion, v: Any, a: Any, times: int) -> tuple[Field, ...]:
        still = Motion(_NONE, _NONE)
        rates = Rates(Motion(_ONE, _NONE), still, still)
        second = rates.second_rate(link.omega, link.spin.__matmul__, self.acceleration(link, v, a))
        return (rates.rate(link.omega, times), second)[:times]


@dataclass(frozen=True)
class SuspendedAtQ(DeformingAtQ):
    """The element, with the pseudo-inertia of the link without the mass."""

    sections: Sequence[PlatformSection]
    rest: Any

    @classmethod
    def of(cls, element: Element, tree: Tree, q: Any) -> SuspendedAtQ:
        joint, body = tree.joints[element.index], tree.joints[element.carrier].pseudo_inertia
        at_rest = np.append(joint.translation, 1)
        rest = ca.DM(body - element.inertia.mass * np.outer(at_rest, at_rest))
        sections = [PlatformSection(ca.DM(joint.translation) + joint.configuration(q))]
        return cls(element, joint, tree, q, sections, rest)

    @property
    def place(self) -> tuple[float, Any]:
        return self.element.inertia.mass, self.sections[0].origin

    @property
    def body(self) -> Composite:
        (m, p), rest = self.place, self.rest
        return Composite(rest[3, 3] + m, rest[:3, 3] + m * p, rest[:3, :3] + m * p @ p.T)

    @property
    def columns(self) -> Wrench:
        m, p = self.place
        return Wrench(m * _ONE, m * spatial.skew(p))

    own = property(lambda self: self.element.inertia.mass * _ONE)

    def body_rate(self, omega: Any, v: Any, times: float) -> CompositeRate:
        (m, p), rest, turning = self.place, self.rest, spatial.skew(times * omega)
        p_rate = self.sections[0].lever_rate(omega, self.joint.velocity(v), times)
        return CompositeRate(turning @ rest[:3, 3] + m * p_rate, turning @ rest[:3, :3] + m * p_rate @ p.T)

    def eta(self, carrier: LinkMotion, v: Any, times: float) -> Any:
        m, _ = self.place
        return m * spatial.skew(self.sections[0].lever_rate(carrier.omega, self.joint.velocity(v), times))

    def demanded(self, carrier: LinkMotion, v: Any, a: Any, borne: Sequence[Wrench] = ()) -> tuple[Wrench, Any]:
        (m, p), rest = self.place, self.rest
        effort = m * self.sections[0].acceleration(carrier, self.joint.velocity(v), self.joint.velocity(a))
        effort = sum((wrench.force for wrench in borne), effort)
        moment = sum((wrench.moment for wrench in borne), ca.cross(p, effort))
        return Wrench(effort, moment) + carrier.demanded(rest[3, 3], rest[:3, 3], rest[:3, :3]), effort


def robots() -> tuple[Tree, Tree]:
    """RX, a mass on springs, RY, RZ: the mass on a joint, and as an element of the link that carries it."""
    model = build(np.random.default_rng(7), ["RX", "Translation", "RY", "RZ"], [0, 1, 2, 3])
    model.jointPlacements[2] = pin.SE3(np.eye(3), model.jointPlacements[2].translation)
    model.inertias[2] = pin.Inertia(1.7, np.zeros(3), np.zeros((3, 3)))
    tree = read_tree(model)
    link, joint, *others = tree.joints
    place = np.append(joint.translation, 1)
    carrier = replace(link, pseudo_inertia=link.pseudo_inertia + 1.7 * np.outer(place, place))
    station = replace(joint, type=Platform(), pseudo_inertia=np.zeros((4, 4)))
    return tree, replace(tree, joints=(carrier, station, *others), modal_inertias=((0, Suspended(1.7)),))


QUANTITIES = {
    "tau": inverse_dynamics,
    "g": lambda tree, q, v, a: gravity_torques(tree, q),
    "T": lambda tree, q, v, a: kinetic_energy(tree, q, v),
    "M": lambda tree, q, v, a: mass_matrix(tree, q),
    "C": lambda tree, q, v, a: coriolis_matrix(tree, q, v),
    "a": forward_dynamics,
    "derivatives of tau": lambda tree, q, v, a: ca.horzcat(*inverse_dynamics_derivatives(tree, q, v, a)),
    "derivatives of a": forward_dynamics_derivatives,
}


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_a_third_element(quantity: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The recursions know it by its protocol alone, and find what they find of the joint."""
    monkeypatch.setitem(robot_at_q.DEFORMING, Suspended, SuspendedAtQ.of)
    rng = np.random.default_rng(1)
    q, v, a = map(ca.DM, rng.normal(size=(3, 6)))
    with_joint, with_element = (ca.DM(QUANTITIES[quantity](tree, q, v, a)).full() for tree in robots())
    assert np.abs(with_element - with_joint).max() <= 1e-12 * np.abs(with_joint).max()
