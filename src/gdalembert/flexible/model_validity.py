"""Whether a motion stays where the model of a beam holds: how far it bends, how fast it turns, what presses on it.

The load P on a beam counts everything by the share ξ = η / l of the beam that it presses on: what stands on the tip
with its whole force, the beam's own mass at its abscissa. So it is the force that belongs to a uniform shortening of
the undeformed beam, by virtual work,

    P = e_x · Σ ∫ ξ (r̈ − g) dm

over the beam and all that it carries; e_x is the x axis of the clamped frame, and what presses counts as positive.
The load under which the beam buckles with its root clamped is the least P with K_f − P s singular, s = s(l) being the
shortening of the tip: π² EI / 4 l² of a uniform beam.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert.dynamics.kinematics import find_frame, placement, velocity
from gdalembert.flexible.beams import modal_integrals as it
from gdalembert.flexible.beams.modal_mass import modal_mass
from gdalembert.flexible.beams.nodes import Nodes
from gdalembert.flexible.element import Element
from gdalembert.flexible.flexible_link import FlexibleLink
from gdalembert.flexible.tree import FlexibleTree, ModalTree
from gdalembert.model.tree import Frame
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.functions import directional_derivative, function

STEEP = 0.2
"""Tip slope [rad]. A cantilever with a force on its tip then is off the elastica by 2.4e-3 of its length, and by 1.1e-2
without foreshortening; the one grows with the cube of the slope, the other with its square."""
FAST, FAST_STRAIGHT = 3.0, 0.3
"""Spin over first frequency, with foreshortening and without. Up to the one, the frequency of flapping with four
modes is right to 2e-3; at the other, a beam that does not stiffen as it spins flaps 5 % too slowly."""
LOADED, LOADED_STRAIGHT = 0.5, 0.1
"""Axial load over buckling load, with foreshortening and without. The one doubles every deflection, so that a beam that
is not quite straight is another one; the other makes deflections larger by 11 %, which a beam that does not shorten
does not know of."""


@dataclass(frozen=True, eq=False)
class Span:
    """A flexible link as the indicators see it.

    Attributes:
        link: name of its body frame. ``element``: its index. ``root``, ``tip``: names of the frames there.
        length: l [m].
        slopes: ϑ_y and ϑ_z of the tip per unit of each modal coordinate (2 × n). ``first_mode``: of them in v.
        frequency: the first, root clamped, with the bodies that stand on the link but without child joints [rad/s].
        buckling_load: of the bare beam, root clamped [N]; nan of nodes without shortening, which do not know it.
        foreshortening: whether the beam shortens as it bends.
    """

    link: str
    element: int
    root: str
    tip: str
    length: float
    slopes: Array
    first_mode: int
    frequency: float
    buckling_load: float
    foreshortening: bool


def span_of(name: str, index: int, link: FlexibleLink, element: Element, *, root: str, tip: str) -> Span:
    """The span of a link that has its place."""
    stiffness = element.inertia.stiffness
    if isinstance(link.beam, Nodes):
        known = link.beam.shortening is not None
        shortening = (
            np.zeros_like(stiffness) if link.beam.shortening is None else link.beam.shortening[..., link.beam.tip]
        )
    else:
        known, shortening = True, it.beam_station(link.beam, link.families, link.length).shortening
    flexibility = _largest(stiffness, shortening)
    buckling_load = 1 / flexibility if flexibility > 0 else np.inf
    return Span(
        link=name,
        element=index,
        root=root,
        tip=tip,
        length=link.length,
        slopes=frozen(element.stations[1].rotation[1:]),
        first_mode=element.first_mode,
        frequency=_largest(stiffness, modal_mass(element.inertia, *element.stations)) ** -0.5,
        buckling_load=buckling_load if known else np.nan,
        foreshortening=bool(element.stations[1].shortening.any()),
    )


def _largest(stiffness: Array, load: Array) -> float:
    """The largest λ with λ K − A singular."""
    half = np.linalg.inv(np.linalg.cholesky(stiffness))
    return float(np.linalg.eigvalsh(half @ load @ half.T)[-1])


@dataclass(frozen=True)
class Validity:
    """How far a motion strains the assumptions of a flexible link.

    Attributes:
        link: its name.
        slope: the largest slope of the tip against the root [rad].
        spin: the largest angular velocity of the root over the first frequency of the clamped link.
        load: the largest axial load over the buckling load; negative where the beam is only pulled; nan of nodes
            without shortening.
        frequency: that first frequency [rad/s]. ``buckling_load``: that load [N].
        foreshortening: whether the link shortens as it bends.
    """

    link: str
    slope: float
    spin: float
    load: float
    frequency: float
    buckling_load: float
    foreshortening: bool

    @classmethod
    def of(cls, span: Span, slope: float, spin: float, load: float) -> Validity:
        """From the largest indicators of a motion: slope [rad], spin [rad/s], load [N]."""
        return cls(
            link=span.link,
            slope=float(slope),
            spin=float(spin) / span.frequency,
            load=float(load) / span.buckling_load,
            frequency=span.frequency,
            buckling_load=span.buckling_load,
            foreshortening=span.foreshortening,
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """A sentence for each indicator that is large; none if all is well."""
        fast, loaded = (FAST, LOADED) if self.foreshortening else (FAST_STRAIGHT, LOADED_STRAIGHT)
        remedy = "" if self.foreshortening else ", or let it shorten: foreshortening=True"
        found = []
        if self.slope > STEEP:
            found.append(
                f"link {self.link!r}: its tip slopes by {self.slope:.3g} rad, and beams are taken to bend by less than "
                f"{STEEP:g} rad; divide the link into two, or take it stiffer"
            )
        if self.spin > fast:
            found.append(
                f"link {self.link!r}: it turns at {self.spin:.3g} of its first frequency, {self.frequency:.4g} rad/s; "
                f"turn it at less than {fast:g} of that{remedy}"
            )
        if self.load > loaded:
            found.append(
                f"link {self.link!r}: it carries {self.load:.3g} of the {self.buckling_load:.4g} N under which it "
                f"buckles; load it with less than {loaded:g} of that{remedy}"
            )
        return tuple(found)

    def __str__(self) -> str:
        line = (
            f"link {self.link!r}: tip slope {self.slope:.3g} rad; spin {self.spin:.3g} of the first frequency "
            f"({self.frequency:.4g} rad/s); axial load {self.load:.3g} of that of buckling ({self.buckling_load:.4g} N)"
        )
        return "\n".join([line, *self.warnings])


def indicators(flexible: FlexibleTree, elements: Sequence[Element], spans: Mapping[str, Span]) -> ca.Function:
    """(q, v, a) → (slope, spin, load): of each span the slope of the tip, |ω| of the root, and P."""
    tree = flexible.tree
    s = {"q": ca.SX.sym("q", tree.nq), "v": ca.SX.sym("v", tree.nv), "a": ca.SX.sym("a", tree.nv)}
    q, v, a = s.values()
    state, rate = ca.vertcat(q, v), ca.vertcat(tree.configuration_rate(q, v), a)
    slopes: list[ca.SX] = []
    spins: list[ca.SX] = []
    loads: list[ca.SX] = []
    for span in spans.values():
        first = span.first_mode + tree.nq - tree.nv
        slopes.append(ca.norm_2(ca.DM(span.slopes) @ q[first : first + span.slopes.shape[1]]))
        root = tree.frames[find_frame(tree, span.root)]
        spins.append(ca.norm_2(velocity(tree, root, pin.LOCAL, q, v)[3:]))
        borne = _borne(flexible, elements[span.element], span, root)
        moment = ca.SX(borne.first_moment(q))
        mass = sum(float(joint.mass) for joint in borne.joints)
        force = directional_derivative(directional_derivative(moment, state, rate), state, rate)
        force = force - mass * ca.DM(tree.gravity)
        loads.append(ca.dot(placement(tree, root, q)[0][:, 0], force))
    return function(
        "indicators", s, {"slope": ca.vertcat(*slopes), "spin": ca.vertcat(*spins), "load": ca.vertcat(*loads)}
    )


def _borne(flexible: FlexibleTree, element: Element, span: Span, root: Frame) -> ModalTree:
    """The robot with each mass counted by its share ξ of the span."""
    tree = flexible.tree
    own = flexible.links[span.element]
    shares = [0.0] * len(tree.joints)
    for joint, station in zip(flexible.stations[span.element], element.stations[1:], strict=True):
        shares[joint] = float(station.position[0]) / span.length
    for i, each in enumerate(tree.joints):
        if each.parent >= 0 and each.parent != own:
            shares[i] = shares[each.parent]
    # ∫ ξ r̂ dm of the undeformed beam as the moment of one point
    point = np.zeros((4, 4))
    point[:3, 3] = root.rotation @ element.inertia.rigid[:3, 0] + root.translation * element.inertia.rigid[3, 0]
    point[3, 3] = element.inertia.rigid[3, 0]
    bodies = [share * each.pseudo_inertia for share, each in zip(shares, tree.joints, strict=True)]
    bodies[own] = point / span.length
    joints = tuple(replace(each, pseudo_inertia=frozen(body)) for each, body in zip(tree.joints, bodies, strict=True))
    modal = tuple(
        (
            i,
            replace(
                inertia,
                rigid=shares[i] * inertia.rigid,
                first=shares[i] * inertia.first,
                second=shares[i] * inertia.second,
            ),
        )
        for i, inertia in tree.modal_inertias
        if i != own
    )
    return ModalTree(
        name=tree.name,
        nq=tree.nq,
        nv=tree.nv,
        joints=joints,
        links=tree.links,
        joint_names=tree.joint_names,
        armature=tree.armature,
        gravity=tree.gravity,
        frames=tree.frames,
        modal_inertias=modal,
    )
