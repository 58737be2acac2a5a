"""Checks that a motion stays within the assumptions on a beam: its slope, its spin and its axial load.

The axial load P on a beam counts every mass by the share ξ = η / l of the beam on which it presses: what the tip
carries with its whole force, the beam's own mass at its abscissa. P is the force that belongs to a uniform shortening
of the undeformed beam, by virtual work,

    P = e_x · Σ ∫ ξ (r̈ − g) dm

over the beam and all that it carries; e_x is the x axis of the clamped frame, and compression is positive.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.frame_motion import placement, velocity
from gdalembert.dynamics.frames import find_frame
from gdalembert.errors import ArgumentError
from gdalembert.flexible.assembly import Flexibility, PlacedBeam
from gdalembert.model.rounding import clean_matrix
from gdalembert.model.tree import Frame, Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import table
from gdalembert.spatial.arrays import frozen
from gdalembert.spatial.brief import Brief
from gdalembert.spatial.functions import directional_derivative, function

STEEP = 0.2
"""Tip slope [rad]. A cantilever with a force on its tip then differs from the elastica by 2.4e-3 of its length, and by
1.1e-2 without foreshortening; the former grows with the cube of the slope, the latter with its square."""
FAST, FAST_STRAIGHT = 3.0, 0.3
"""Spin over first frequency, with foreshortening and without. Up to the former, the flapping frequency with four
modes is right to 2e-3; at the latter, a beam that does not stiffen as it spins flaps 5 % too slowly."""
LOADED, LOADED_STRAIGHT = 0.5, 0.1
"""Axial load over buckling load, with foreshortening and without. The former doubles every deflection, so that an
initial curvature matters; the latter makes deflections larger by 11 %, which a beam without foreshortening misses."""
_ROUNDING = 1e-9
"""A smaller indicator is printed as 0."""


@dataclass(frozen=True)
class Validity(Brief):
    """Indicators of how far a motion strains the assumptions of a flexible link.

    Attributes:
        link: its name.
        slope: the largest slope of the tip relative to the root [rad].
        spin: the largest angular velocity of the root over the first frequency of the clamped link.
        load: the largest axial load over the buckling load; negative where the beam is only in tension; nan for nodes
            without shortening.
        frequency: the first frequency of the clamped link [rad/s]. ``buckling_load``: the buckling load [N].
        foreshortening: whether the link shortens as it bends.
    """

    link: str
    slope: float
    spin: float
    load: float
    frequency: float
    buckling_load: float
    foreshortening: bool

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence for each indicator that is too large."""
        fast, loaded = (FAST, LOADED) if self.foreshortening else (FAST_STRAIGHT, LOADED_STRAIGHT)
        remedy = "" if self.foreshortening else ", or let it shorten: foreshortening=True"
        sentences = []
        if self.slope > STEEP:
            sentences.append(
                f"link {self.link!r}: its tip slopes by {self.slope:.3g} rad, and beams are taken to bend by less than "
                f"{STEEP:g} rad; divide the link into two, or take it as a gd.CosseratRod"
            )
        if self.spin > fast:
            sentences.append(
                f"link {self.link!r}: it turns at {self.spin:.3g} of its first frequency, {self.frequency:.4g} rad/s; "
                f"turn it at less than {fast:g} of that{remedy}"
            )
        if self.load > loaded:
            sentences.append(
                f"link {self.link!r}: it carries {self.load:.3g} of the {self.buckling_load:.4g} N under which it "
                f"buckles; load it with less than {loaded:g} of that{remedy}"
            )
        return tuple(sentences)

    def __str__(self) -> str:
        slope, spin, load = (f"{x if abs(x) > _ROUNDING else 0.0:.3g}" for x in (self.slope, self.spin, self.load))
        line = (
            f"link {self.link!r}: tip slope {slope} rad; spin {spin} of the first frequency "
            f"({self.frequency:.4g} rad/s); axial load {load} of that of buckling ({self.buckling_load:.4g} N)"
        )
        return "\n".join([line, *self.warnings])


def validity(
    arm: Dynamics,
    flexibility: Flexibility,
    indicators: ca.Function,
    q: npt.ArrayLike,
    v: npt.ArrayLike | None,
    a: npt.ArrayLike | None,
    u: npt.ArrayLike | None,
) -> dict[str, Validity]:
    """The largest indicators of a motion by flexible link, see :meth:`~gdalembert.FlexibleArm.validity`."""
    if a is not None and u is not None:
        raise ArgumentError("validity: got a and u; give one of them")
    configurations = table("validity: q", q, arm.tree.nq)
    at_rest = np.zeros((len(configurations), arm.tree.nv))
    rates = at_rest if v is None else table("validity: v", v, arm.tree.nv, len(at_rest))
    if u is not None:
        states = np.hstack([configurations, rates]).T
        efforts = table("validity: u", u, arm.nu, len(at_rest))
        accelerations = arm.state_derivative(states, efforts.T).full()[arm.tree.nq :].T
    else:
        accelerations = at_rest if a is None else table("validity: a", a, arm.tree.nv, len(at_rest))
    if not flexibility.beams:
        return {}
    largest = (x.full().max(axis=1) for x in indicators(configurations.T, rates.T, accelerations.T))
    return {
        beam.name: Validity(
            link=beam.name,
            slope=float(slope),
            spin=float(spin) / beam.frequency,
            load=float(load) / beam.buckling_load,
            frequency=beam.frequency,
            buckling_load=beam.buckling_load,
            foreshortening=bool(arm.tree.sections(beam.link)[0].shortening.any()),
        )
        for beam, slope, spin, load in zip(flexibility.beams.values(), *largest, strict=True)
    }


def indicators(tree: Tree, flexibility: Flexibility) -> ca.Function:
    """(q, v, a) → (slope, spin, load): for each beam the slope of its tip, |ω| of its root, and P."""
    s = {"q": ca.SX.sym("q", tree.nq), "v": ca.SX.sym("v", tree.nv), "a": ca.SX.sym("a", tree.nv)}
    q, v, a = s.values()
    state, rate = ca.vertcat(q, v), ca.vertcat(tree.configuration_rate(q, v), a)
    slopes, spins, loads = list[Matrix](), list[Matrix](), list[Matrix]()
    for beam in flexibility.beams.values():
        root = tree.frames[find_frame(tree, beam.root)]
        slopes.append(tip_slope(tree, beam, q))
        spins.append(ca.norm_2(velocity(tree, root, pin.LOCAL, q, v)[3:]))
        pressing = _shares(tree, beam, root)
        moment = ca.SX(pressing.first_moment(q))
        mass = sum(float(joint.mass) for joint in pressing.joints)
        force = directional_derivative(directional_derivative(moment, state, rate), state, rate)
        force = force - mass * ca.DM(tree.gravity)
        loads.append(ca.dot(placement(tree, root, q)[0][:, 0], force))
    return function(
        "indicators", s, {"slope": ca.vertcat(*slopes), "spin": ca.vertcat(*spins), "load": ca.vertcat(*loads)}
    )


def tip_slope(tree: Tree, beam: PlacedBeam, q: Matrix) -> Matrix:
    """The slope of the tip of a beam relative to its root [rad]."""
    tip, root = tree.joints[tree.first_station(beam.link)], tree.frames[find_frame(tree, beam.root)]
    slope = clean_matrix(root.rotation.T @ tree.sections(beam.link)[0].rotation)[1:]
    return ca.norm_2(ca.DM(slope) @ tip.configuration(q))


def _shares(tree: Tree, beam: PlacedBeam, root: Frame) -> Tree:
    """The robot with every mass multiplied by its share ξ of the beam."""
    link, e_x = beam.link, root.rotation[:, 0]
    shares = [0.0] * len(tree.joints)
    for station, section in zip(tree.stations(link), tree.sections(link), strict=True):
        shares[station] = float(e_x @ (section.origin - root.translation)) / beam.length
    for i, joint in enumerate(tree.joints):
        if joint.parent >= 0 and joint.parent != link:
            shares[i] = shares[joint.parent]
    # ∫ ξ r̂ dm of the undeformed beam as the moment of one point
    point = np.zeros((4, 4))
    point[:, 3] = tree.modal[link].rigid @ np.append(e_x, -e_x @ root.translation) / beam.length
    bodies = [share * joint.pseudo_inertia for share, joint in zip(shares, tree.joints, strict=True)]
    bodies[link] = point
    joints = tuple(replace(joint, pseudo_inertia=frozen(body)) for joint, body in zip(tree.joints, bodies, strict=True))
    modal = tuple((i, inertia.scaled(shares[i])) for i, inertia in tree.modal_inertias if i != link)
    return replace(tree, joints=joints, modal_inertias=modal)
