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
from gdalembert.dynamics.newton_euler.displacements import Field, Rates
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
class PlatformAtQ:
    """Where the mass is, at p in its link, and where the body and the motion of the two are."""

    inertia: Suspended
    rest: np.ndarray  # pseudo-inertia of the link without the mass
    origin: Any

    rotation = _ONE
    translations_and_turns = (Motion(_ONE, _NONE), _ONE)

    @property
    def body(self) -> Composite:
        m, p, rest = self.inertia.mass, self.origin, ca.DM(self.rest)
        return Composite(rest[3, 3] + m, rest[:3, 3] + m * p, rest[:3, :3] + m * p @ p.T)

    @property
    def columns(self) -> Wrench:
        return self.wrench(_ONE)

    own = property(lambda self: self.inertia.mass * _ONE)

    def wrench(self, acceleration: Any) -> Wrench:
        """What the mass needs."""
        force = self.inertia.mass * acceleration
        return Wrench(force, spatial.skew(self.origin) @ force)

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

    def rates(self, omega: Any, v: Any, times: float) -> tuple[Any, Any]:
        rest, m, p = ca.DM(self.rest), self.inertia.mass, self.origin
        turning, p_rate = spatial.skew(times * omega), self.lever_rate(omega, v, times)
        return turning @ rest[:3, 3] + m * p_rate, turning @ rest[:3, :3] + m * p_rate @ p.T

    def in_motion(self, link: LinkMotion, v: Any, a: Any) -> PlatformInMotion:
        return PlatformInMotion(self, link, v, a)


@dataclass(frozen=True)
class PlatformInMotion:
    at: PlatformAtQ
    link: LinkMotion
    v: Any
    a: Any

    @property
    def columns(self) -> Wrench:
        return self.at.columns

    def eta(self, times: float) -> Any:
        return self.at.inertia.mass * spatial.skew(self.at.lever_rate(self.link.omega, self.v, times))

    def rates(self, times: float) -> Wrench:
        return self.at.wrench(spatial.skew(times * self.link.omega))

    def second_rates(self) -> Wrench:
        needed, force = self.at.wrench(self.link.spin @ _ONE), self.at.wrench(self._acceleration).force
        return Wrench(needed.force, needed.moment - spatial.skew(force))

    @property
    def _acceleration(self) -> Any:
        return self.at.acceleration(self.link, self.v, self.a)

    def by_v(self, times: float) -> Any:
        return self.at.inertia.mass * spatial.skew(times * self.link.omega)

    def by_f(self, borne: Sequence[Any]) -> Any:
        return self.at.inertia.mass * (self.link.spin @ _ONE)


class SuspendedAtQ(DeformingAtQ):
    """The element."""

    @staticmethod
    def of(element: Element, tree: Tree, q: Any) -> SuspendedAtQ:
        joint, body = tree.joints[element.index], tree.joints[element.carrier].pseudo_inertia.copy()
        at_rest = np.append(joint.translation, 1)
        rest = body - element.inertia.mass * np.outer(at_rest, at_rest)
        at = PlatformAtQ(element.inertia, rest, ca.DM(joint.translation) + joint.configuration(q))
        return SuspendedAtQ(element, joint, at, [at])

    def demanded(self, carrier: LinkMotion, v: Any, a: Any, borne: Sequence[Wrench] = ()) -> tuple[Wrench, Any]:
        at, rates = self.deformed, (self.joint.velocity(v), self.joint.velocity(a))
        rest = ca.DM(at.rest)
        needed = at.wrench(at.acceleration(carrier, *rates))
        wrench, effort = needed + carrier.demanded(rest[3, 3], rest[:3, 3], rest[:3, :3]), needed.force
        for other in borne:
            wrench, effort = wrench + other.about(-at.origin), effort + other.force
        return wrench, effort


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
